"""How many judgments adaptive pairs need to find the best system, beside least-judged-first, and how often intervals hold.

    python -m benchmarks.adaptive_pairs [STUDIES [CONDITION ...]] [--jobs 1]

People vote by Davidson's model with ties and a side; each person differs from the worths by .4 a system (normal), and judges ten pairs. Each
study runs twice with the same truth: pairs drawn as an adaptive task draws them (`study_app.protocol.adaptive`; uniform share .25, no
stop), and least judged first. Printed: the share of studies whose most likely best system is the best after so many judgments, the share
of judgments that adaptive pairs save (the fewest judgments with which they are right as often as least-judged-first with all), how often the
95 % interval of the worth of the best against the second holds the truth at the end, and with what probability the best is right
where P(best) first reached .95. docs/evidence.md has the table.
"""

import argparse
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import NamedTuple

import numpy as np
import pandas as pd

from benchmarks.replications import engine_arguments, replicated
from calibration.rank.best import best_posterior, couple_votes
from calibration.rank.judgments import JudgedSystems
from calibration.rank.worths import fit_worths, no_worths
from metrics.arrays import Floats, Ints
from metrics.parallel import Executor, open_engine
from study_app.protocol.adaptive import best_searches, draw_pairs
from study_app.protocol.domain import PairTally, balanced_sides

PAIRS_EACH, AT_ONCE = 10, 4
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


def vote(log_odds: float, rng: np.random.Generator) -> float:
    weights = np.exp([log_odds / 2, -log_odds / 2, LOG_TIE])
    return float(rng.choice([1.0, 0.0, 0.5], p=weights / weights.sum()))


def collected(condition: Condition, worth: Floats, on_topic: Floats, seed: int, *, adaptive: bool) -> Study:
    """Let people judge until the budget is used."""
    rng, draw = np.random.default_rng(seed), Random(seed)
    first, second = np.triu_indices(condition.systems, 1)
    couples = len(first)
    shown = np.zeros((condition.topics * couples, 2), dtype=int)
    votes: dict[tuple[int, int], tuple[int, int, int]] = {}
    topics = {unit: unit // couples for unit in range(len(shown))}
    rows: list[tuple[int, int, float, int, int]] = []
    while len(rows) < condition.budget:
        person = rng.normal(0, BY_PERSON, condition.systems)
        had: set[int] = set()
        worker = rows[-1][4] + 1 if rows else 0
        while len(had) < PAIRS_EACH and len(rows) < condition.budget:
            count = min(AT_ONCE, PAIRS_EACH - len(had), condition.budget - len(rows))
            tallies = [
                PairTally(
                    pair=unit,
                    system_a=int(first[unit % couples]),
                    system_b=int(second[unit % couples]),
                    a_left=int(shown[unit, 0]),
                    b_left=int(shown[unit, 1]),
                )
                for unit in range(len(shown))
            ]
            if adaptive:
                searches = best_searches(tallies, topics, votes)
                drawn = draw_pairs(
                    searches, besides=had, count=count, uniform_share=0.25, stop_at=None, rng=draw
                )
                units = [each.pair for each in drawn]
            else:
                open_units = [unit for unit in range(len(shown)) if unit not in had]
                order = sorted(open_units, key=lambda unit: (shown[unit].sum(), draw.random()))
                units = order[:count]
            for unit in units:
                left, right = balanced_sides(tallies[unit], draw)
                value = worth + person + on_topic[topics[unit]]
                choice = vote(value[left] - value[right] + SIDE, rng)
                counts = list(votes.get((unit, left), (0, 0, 0)))
                counts[{1.0: 0, 0.0: 1, 0.5: 2}[choice]] += 1
                votes[unit, left] = (counts[0], counts[1], counts[2])
                shown[unit, int(left != tallies[unit].system_a)] += 1
                rows.append((left, right, choice, topics[unit], worker))
                had.add(unit)
    frame = pd.DataFrame(rows, columns=list(Study._fields))
    return Study(*(frame[name].to_numpy() for name in Study._fields))


def held(condition: Condition, seed: int) -> dict[str, float]:
    """Return, for one truth, whether each way is right after each share of the budget, and what the interval at the end holds."""
    rng = np.random.default_rng([7, seed])
    worth = (
        np.arange(condition.systems) * condition.step
        if condition.step
        else rng.normal(0, condition.spread, condition.systems)
    )
    on_topic = rng.normal(0, condition.by_topic, (condition.topics, condition.systems))
    values: dict[str, float] = {}
    for way, adaptive in (("adaptive", True), ("least", False)):
        study = collected(condition, worth, on_topic, seed, adaptive=adaptive)
        for share in SHARES:
            some = slice(0, int(share * condition.budget))
            votes = couple_votes(study.left[some], study.right[some], study.for_left[some], condition.systems)
            posterior = best_posterior(votes)
            p_best = posterior.probabilities(np.random.default_rng(seed), draws=4000)
            is_right = float(posterior.worth.argmax() == worth.argmax())
            values[f"{way} {share:g}"] = is_right
            if adaptive and p_best.max() >= 0.95 and "stopped" not in values:
                values |= {"stopped": is_right, "stop at": float(some.stop)}
        if adaptive:
            values |= _interval(study, worth, posterior.worth, condition)
    return values


def _interval(study: Study, worth: Floats, estimate: Floats, condition: Condition) -> dict[str, float]:
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
        return {"refused": 1.0}
    fitted = fit_worths(judged)
    best, second = np.argsort(-estimate)[:2]
    reach = fitted.covariances.of_differences().errors().half_width(0.95)[best, second]
    error = (fitted.worth[best] - fitted.worth[second]) - (worth[best] - worth[second])
    return {"refused": 0.0, "covers": float(abs(error) <= reach), "half width": float(reach)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("studies", nargs="?", type=int, default=100)
    parser.add_argument("conditions", nargs="*", metavar="CONDITION")
    engine_arguments(parser)
    options = parser.parse_args()
    print(
        "| condition | R | least judged first | adaptive | judgments saved | covers | half width | right at .95 | median stop |"
    )
    print("|---" * 9 + "|")
    with open_engine(jobs=options.jobs, scheduler=options.scheduler) as engine:
        for name in options.conditions or CONDITIONS:
            print(line(name, options.studies, engine), flush=True)


def line(name: str, studies: int, engine: Executor) -> str:
    """Return a row of the table."""
    frame = pd.DataFrame(replicated(engine, partial(held, CONDITIONS[name]), studies))
    means = frame.mean()
    right = means["least 1"]
    enough = next((share for share in SHARES if means[f"adaptive {share:g}"] >= right), 1.0)
    cells = [
        name,
        str(studies),
        f"{right:.2f}",
        f"{means['adaptive 1']:.2f}",
        f"{1 - enough:.0%}",
        f"{means['covers']:.3f}",
        f"{frame['half width'].median():.2f}",
        f"{means.get('stopped', np.nan):.2f}",
        f"{frame['stop at'].median():.0f}" if "stop at" in frame else "-",
    ]
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
