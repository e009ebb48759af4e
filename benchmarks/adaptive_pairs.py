"""How many judgments adaptive pairs need to find the best system, beside least-judged-first, and how often intervals hold.

    python -m benchmarks.adaptive_pairs [STUDIES [CONDITION ...]] [--uniform-share .25] [--jobs 1]

People vote by Davidson's model with ties and a side; each person differs from the worths by .4 a system (normal), and judges ten pairs, drawn at
once. Each study runs twice with the same truth: pairs drawn as an adaptive task draws them (`study_app.protocol.adaptive`, here on arrays; no
stop), and least judged first. Printed: the share of studies whose most likely best system is the best after all judgments, the share of judgments
that adaptive pairs save, with its 95 % interval (bootstrap over studies), how often the 95 % interval of the worth of the best against the
second holds the truth at the end, both being those that the study names, and with what probability the best is right where P(best) first
reached .95. docs/evidence.md has the table.

Saved: how right each way is after each tenth of the judgments is made monotone (isotonic regression), and between tenths it is a straight line.
Adaptive pairs save what they leave over once they are as often right as least-judged-first with all judgments.
"""

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import isotonic_regression

from benchmarks.replications import designs_parser, opened, print_head, print_row, replicated
from calibration.rank.best import best_posterior, couple_chances, couple_votes
from calibration.rank.best_system import best_system
from calibration.rank.judgments import JudgedSystems
from calibration.rank.worths import fit_worths, no_worths
from metrics.arrays import Floats, Ints
from metrics.parallel import Executor

PAIRS_EACH = 10
RESAMPLES = 500
BY_PERSON, SIDE, LOG_TIE = 0.4, 0.15, float(np.log(0.5))
SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


@dataclass(frozen=True, kw_only=True)
class Condition:
    """A sort of study: worths drawn with ``spread``, or ``step`` apart; ``by_topic``: how a system's worth differs by topic (sd)."""

    systems: int
    topics: int = 1
    spread: float = 0.0
    step: float = 0.0
    by_topic: float = 0.0
    budget: int = 1000


CONDITIONS = {
    "31 items, sd .4": Condition(systems=31, spread=0.4),
    "31 items, sd 1.2": Condition(systems=31, spread=1.2),
    "10 systems .2 apart": Condition(systems=10, step=0.2),
    "10 systems, 40 topics": Condition(systems=10, topics=40, spread=0.4, by_topic=0.5),
}


class Study(NamedTuple):
    """Judgments in their order: system on either side, 1, 0 or .5 for the left, topic, person."""

    left: Ints
    right: Ints
    for_left: Floats
    topic: Ints
    worker: Ints


def collected(
    condition: Condition, worth: Floats, on_topic: Floats, seed: int, uniform_share: float | None
) -> Study:
    """Let people judge until the budget is used; least judged first where there is no uniform share."""
    rng, systems, topics = np.random.default_rng([8, seed]), condition.systems, condition.topics
    first, second = np.triu_indices(systems, 1)
    a_left, shown = np.zeros((2, topics, len(first)), dtype=int)
    left, right, topic = np.zeros((3, condition.budget), dtype=int)
    for_left = np.zeros(condition.budget)
    for start in range(0, condition.budget, PAIRS_EACH):
        chances = None
        if uniform_share is not None and start >= systems:
            votes = couple_votes(left[:start], right[:start], for_left[:start], systems)
            chances = couple_chances(best_posterior(votes), rng)[first, second]
        value = worth + rng.normal(0, BY_PERSON, systems) + on_topic
        had = np.zeros(shown.shape, dtype=bool)
        for row in range(start, min(start + PAIRS_EACH, condition.budget)):
            order = np.where(had, np.inf, shown + rng.random(shown.shape))
            place = int(order.argmin())
            if uniform_share is not None and (chances is None or rng.random() < uniform_share):
                place = int(rng.choice(np.flatnonzero(~had)))
            elif chances is not None:
                weight = chances * ~had.all(axis=0)
                couple = int(rng.choice(len(weight), p=weight / weight.sum()))
                place = int(order[:, couple].argmin()) * len(first) + couple
            at, couple = divmod(place, len(first))
            lead = 2 * a_left[at, couple] - shown[at, couple]
            is_a_left = lead < 0 or (lead == 0 and rng.random() < 0.5)
            sides = (first[couple], second[couple]) if is_a_left else (second[couple], first[couple])
            left[row], right[row], topic[row] = *sides, at
            log_odds = value[at, left[row]] - value[at, right[row]] + SIDE
            weights = np.cumsum(np.exp([log_odds / 2, -log_odds / 2, LOG_TIE]))
            for_left[row] = (1.0, 0.0, 0.5)[int(np.searchsorted(weights, rng.random() * weights[-1]))]
            a_left[at, couple] += is_a_left
            shown[at, couple] += 1
            had[at, couple] = True
    return Study(left, right, for_left, topic, np.arange(condition.budget) // PAIRS_EACH)


def held(condition: Condition, uniform_share: float, seed: int) -> dict[str, float]:
    """Return, for one truth, whether each way is right after each share of the budget, and what the interval at the end holds."""
    rng = np.random.default_rng([7, seed])
    worth = (
        np.arange(condition.systems) * condition.step
        if condition.step
        else rng.normal(0, condition.spread, condition.systems)
    )
    on_topic = rng.normal(0, condition.by_topic, (condition.topics, condition.systems))
    values: dict[str, float] = {}
    for way, share_of_lots in (("adaptive", uniform_share), ("least", None)):
        study = collected(condition, worth, on_topic, seed, share_of_lots)
        for share in SHARES:
            some = slice(0, int(share * condition.budget))
            votes = couple_votes(study.left[some], study.right[some], study.for_left[some], condition.systems)
            p_best = best_posterior(votes).probabilities(np.random.default_rng(seed), draws=2000)
            values[f"{way} {share:g}"] = float(p_best.argmax() == worth.argmax())
            if way == "adaptive" and p_best.max() >= 0.95 and "stopped" not in values:
                values |= {"stopped": values[f"{way} {share:g}"], "stop at": float(some.stop)}
        if way == "adaptive":
            values |= _interval(study, worth, condition)
    return values


def _interval(study: Study, worth: Floats, condition: Condition) -> dict[str, float]:
    judged = JudgedSystems(
        task="drawn",
        systems=tuple(f"s{number:02d}" for number in range(condition.systems)),
        left=study.left,
        right=study.right,
        for_left=study.for_left,
        topic=pd.factorize(study.topic)[0],
        worker=study.worker,
        fixed_topic="topic" if condition.topics == 1 else None,
    )
    if len(np.unique([study.left, study.right])) < condition.systems or no_worths(judged):
        return {}
    found = best_system(judged, fit_worths(judged), 0.95, uniform=0)
    best, second = (judged.systems.index(name) for name in (found.system, found.second))
    return {
        "covers": float(found.low <= worth[best] - worth[second] <= found.high),
        "half width": (found.high - found.low) / 2,
        "said": found.probability,
        "is right": float(best == worth.argmax()),
    }


def saved(right: pd.DataFrame) -> float:
    """Return the share of judgments that adaptive pairs save, from columns `WAY SHARE` of some studies."""
    adaptive, least = (
        isotonic_regression(right[[f"{way} {share:g}" for share in SHARES]].mean().to_numpy()).x
        for way in ("adaptive", "least")
    )
    if adaptive[-1] < least[-1]:
        return 0.0
    enough = int(np.argmax(adaptive >= least[-1]))
    before = (0.0, 0.0) if enough == 0 else (SHARES[enough - 1], adaptive[enough - 1])
    part = (least[-1] - before[1]) / (adaptive[enough] - before[1])
    return float(1 - before[0] - part * (SHARES[enough] - before[0]))


def main() -> None:
    parser = designs_parser(__doc__, 200, "CONDITION")
    parser.add_argument("--uniform-share", type=float, default=0.25)
    shares = ("least judged first", "adaptive", "judgments saved", "covers", "half width")
    ends = ("P(best) at the end", "right at .95", "median stop")
    print_head("condition", "uniform share", "R", *shares, *ends)
    with opened(parser) as (options, engine):
        for name in options.names or CONDITIONS:
            print_row(*row(name, options.uniform_share, options.studies, engine))


def row(name: str, uniform_share: float, studies: int, engine: Executor) -> list[str]:
    """Return a row of the table."""
    study = partial(held, CONDITIONS[name], uniform_share)
    frame = pd.DataFrame(replicated(engine, study, studies))
    means, rng = frame.mean(), np.random.default_rng(1)
    resampled = [saved(frame.iloc[rng.integers(studies, size=studies)]) for _ in range(RESAMPLES)]
    low, high = np.quantile(resampled, [0.025, 0.975])
    return [
        name,
        f"{uniform_share:g}",
        str(studies),
        f"{means['least 1']:.2f}",
        f"{means['adaptive 1']:.2f}",
        f"{saved(frame):.0%} ({low:.0%} to {high:.0%})",
        f"{means['covers']:.3f}",
        f"{frame['half width'].median():.2f}",
        f"{means['said']:.2f}, right {means['is right']:.2f}",
        f"{means.get('stopped', np.nan):.2f}",
        f"{frame['stop at'].median():.0f}" if "stop at" in frame else "-",
    ]


if __name__ == "__main__":
    main()
