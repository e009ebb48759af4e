"""Simulated coverage and warnings of push weights and alpha.

Tables of docs/evidence.md.

    python -m benchmarks.coverage_push [--replications 200] [--named PART] [--jobs 1] [--scheduler ADDRESS]

Each line is one regime, each cell one parameter: the share of 95 % intervals that hold the truth; in brackets their median width over that
of a good estimator, 2 x 1.96 x the standard deviation of the estimate over the same studies (with fewer than 30 people or 20 topics times
t / 1.96); and the share in which the interval holds the truth, or the range of other laws does, or a warning names the cause, or the number is refused. Then the share of studies with any warning but few_workers and few_topics, that with
an open interval, and that refused. A share of .95 is known to .015 at 200, one of .9 to .021.
"""

import argparse
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from benchmarks.people_pushes import pushes
from benchmarks.replications import few, holds, hull, opened, print_head, print_row, replicated, warned
from calibration.checks.registry import run_checks
from calibration.inference.results import CalibrationResult, NotIdentifiedError
from calibration.models.push.alpha import NAME as ALPHA
from calibration.models.push.alpha import fit_push_alpha
from calibration.models.push.judgments import PushJudgments, push_judgments
from calibration.models.push.simulate import TRUTH, PushJudges, simulate_push_judgments
from calibration.models.push.weights import fit_push_weights
from calibration.tables.files import check_frame
from calibration.tables.tables import TABLES
from metrics.parallel import Executor

NAMES = ("push_P_E", "push_S_E", "push_P_0", "push_S_0", ALPHA)
Draw = Callable[[np.random.Generator], PushJudgments]


FORM = frozenset({"pain_form", "gain_form", "own_weights"})
SIDE = frozenset({"side_bias"})
CAUSES = {
    "pain": FORM,
    "gain": FORM,
    "left side .5": SIDE,
    "a fifth always takes left": SIDE,
    "one topic has 70 %": frozenset({"few_topics"}),
}
"""How the labels of regimes begin -> the names under which a warning says why an interval misses."""


class Regime(NamedTuple):
    """What is drawn, the truth of each parameter, people and topics, and the names of the cause."""

    label: str
    draw: Draw
    truth: dict[str, float]
    people: int
    topics: int
    causes: frozenset[str]


def judged(
    label: str, workers: int, topics: int, change: Callable[..., PushJudgments] | None = None, **judges: Any
) -> Regime:
    """Return a regime of people of the package's simulator, 20 pairs each; ``update_rows`` does something to their judgments."""
    options = {name: judges.pop(name) for name in ("days", "p", "s_0") if name in judges}
    p = options.get("p", 0.5)
    weights = TRUTH | {"P_E": p, "P_0": p, "S_0": options.get("s_0", 0.4)}
    people = PushJudges(**{"weights": weights, "workers": workers, **judges})
    truth = {f"push_{name}": weight for name, weight in weights.items()} | {ALPHA: 1 / (1 + p)}

    def draw(rng: np.random.Generator) -> PushJudgments:
        drawn = simulate_push_judgments(topics, people, rng, days=options.get("days", 10))
        return drawn if change is None else change(drawn, rng)

    if people.pain == "day":  # what was drawn has P_0 in S_0
        truth |= {"push_P_0": 0.5, "push_S_0": 0.4}
    return Regime(label, draw, truth, workers, topics, CAUSES.get(label.partition(":")[0], frozenset()))


def tabled(label: str, **settings: Any) -> Regime:
    """Return a regime of tables that are drawn apart from the package."""
    settings = MANY | settings
    weights = settings["weights"]

    def draw(rng: np.random.Generator) -> PushJudgments:
        made = {name: check_frame(table, TABLES[name]) for name, table in pushes(rng, **settings).items()}
        return push_judgments(made["preferences"], made["push_cells"])

    truth = dict(zip(NAMES[:4], weights[1:], strict=True))
    if weights[1] == weights[3]:
        truth[ALPHA] = 1 / (1 + weights[1])
    causes = CAUSES.get(label.partition(":")[0], frozenset())
    return Regime(label, draw, truth, settings["people"], settings["topics"], causes)


def kept(judgments: PushJudgments, rows: np.ndarray) -> PushJudgments:
    """Return some judgments, in this order."""
    columns = {
        name: getattr(judgments, name)[rows] for name in ("left", "right", "vote", "good", "first_is_left")
    }
    codes = {
        name: np.unique(getattr(judgments, name)[rows], return_inverse=True)[1]
        for name in ("worker", "topic", "pair")
    }
    return replace(judgments, **columns, **codes)


def one_heavy_topic(judgments: PushJudgments, rng: np.random.Generator) -> PushJudgments:
    """Leave judgments of which one topic has 70 %."""
    heavy = np.flatnonzero(judgments.topic == 0)
    others = np.flatnonzero(judgments.topic > 0)
    return kept(
        judgments, np.concatenate([heavy, rng.choice(others, round(len(heavy) * 3 / 7), replace=False)])
    )


def three_copies(judgments: PushJudgments, rng: np.random.Generator) -> PushJudgments:  # noqa: ARG001 - as all changes
    """Add three copies of the first person under other names."""
    own = np.flatnonzero(judgments.worker == 0)
    made = kept(judgments, np.concatenate([np.arange(len(judgments.vote)), *[own] * 3]))
    names = np.concatenate(
        [judgments.worker, *(np.full(len(own), judgments.workers + copy) for copy in range(3))]
    )
    return replace(made, worker=names)


MANY: dict[str, Any] = {
    "topics": 30,
    "people": 40,
    "each": 25,
    "days": 8,
    "sharp": 0.4,
    "noise": 1.1,
    "weights": (1.0, 0.6, 0.2, 0.6, 0.3),
}
RARE = (1.0, 0.3, 0.2, 0.3, 0.3)
REGIMES = (
    *(judged(f"right: 20, 10, {sd}", 20, 10, unexplained_sd=sd) for sd in (0.0, 0.6)),
    judged("right: 20, 40, 0", 20, 40),
    *(judged(f"right: 40, 20, {sd}", 40, 20, unexplained_sd=sd) for sd in (0.0, 0.3)),
    *(judged(f"right: 50, 40, {sd}", 50, 40, unexplained_sd=sd) for sd in (0.0, 0.3, 0.6)),
    *(judged(f"right: 100, 100, {sd}", 100, 100, unexplained_sd=sd) for sd in (0.0, 0.3)),
    judged(
        "right: 50, 40, 0.3, five days, sharper people", 50, 40, unexplained_sd=0.3, days=5, sharpness=0.8
    ),
    judged("right: 50, 40, 0.3, P = .02", 50, 40, unexplained_sd=0.3, p=0.02),
    judged("right: 50, 40, 0.3, S_0 = 0", 50, 40, unexplained_sd=0.3, s_0=0.0),
    judged("right: 15, 10, 0.6, 8 pairs each", 15, 10, unexplained_sd=0.6, pairs_per_worker=8),
    tabled("right: other tables"),
    judged("ties by Rao and Kupper", 50, 40, unexplained_sd=0.3, tie_law="rao_kupper", tie_weight=1.6),
    judged("left side .5", 50, 40, left_bias=0.5),
    tabled("a fifth always takes left", always_left=0.2),
    judged("one topic has 70 %", 50, 20, one_heavy_topic, pairs_per_worker=300),
    judged("three copies of one of 12 people", 12, 30, three_copies, pairs_per_worker=60),
    *(judged(f"pain: {form}", 50, 40, pain=form) for form in ("root", "any", "three_quarters")),
    judged("pain: root, five days, sharper people", 50, 40, days=5, sharpness=0.8, pain="root"),
    judged("pain: square, P = .1", 80, 40, p=0.1, pain="square", weight_cv=0.1),
    tabled("pain: power 3/4", power=0.75),
    tabled("pain: power 3/2", power=1.5, weights=RARE),
    tabled("pain: square", power=2.0, weights=RARE),
    tabled("pain: days with a push", power=0.0, by_day=True),
    tabled("pain: root of each day's pushes", power=0.5, by_day=True),
    judged("gain: root, five days", 50, 40, days=5, sharpness=0.5, gain="root"),
    tabled("gain: root", gain_power=0.5),
    tabled("gain: power 3/4", gain_power=0.75),
    tabled("gain: power 3/2", gain_power=1.5),
    tabled("gain: days with anything", gain_by_day=True),
)


class Study(NamedTuple):
    """One study: (5,) estimates, whether intervals hold the truth, widths; whether anything holds it; any warning; refused."""

    estimate: list[float]
    covers: list[float]
    width: list[float]
    right: list[float]
    warned: float
    refused: float


REFUSED = Study([np.nan] * 5, [np.nan] * 5, [np.nan] * 5, [1.0] * 5, np.nan, 1.0)


def replication(regime: Regime, seed: int) -> Study:
    judgments = regime.draw(np.random.default_rng([seed, 77]))
    try:
        fits: list[CalibrationResult] = [fit_push_weights(judgments), fit_push_alpha(judgments)]
    except NotIdentifiedError:
        return REFUSED
    findings = [run_checks(fit, judgments) for fit in fits]
    columns: list[list[float]] = []
    for name in NAMES:
        place = next((place for place, fit in enumerate(fits) if name in fit.parameters), None)
        if place is None or name not in regime.truth:
            columns.append([np.nan, np.nan, np.nan, np.nan if place is not None else 1.0])
            continue
        truth, (low, high) = regime.truth[name], fits[place].conf_int()[name]
        laws = [law for finding in findings[place] for law in finding.sensitivity.get(name, ())]
        named = any(
            finding.severity == "warning" and finding.name in regime.causes for finding in findings[place]
        )
        whole = hull([(low, high), *((law.low, law.high) for law in laws)])
        width = np.inf if low is None or high is None else high - low
        covers = holds((low, high), truth)
        columns.append([fits[place].parameters[name], covers, width, covers or named or holds(whole, truth)])
    estimate, covers_all, widths, right = (list(column) for column in zip(*columns, strict=True))
    return Study(estimate, covers_all, widths, right, float(bool(warned(chain(*findings)))), 0.0)


def row(regime: Regime, replications: int, engine: Executor) -> list[str]:
    found = replicated(engine, partial(replication, regime), replications)
    estimate, covers, width, right = (
        np.array([getattr(study, name) for study in found], dtype=float) for name in Study._fields[:4]
    )
    reference = 2 * 1.96 * np.nanstd(estimate, axis=0) * few(regime.people, regime.topics)
    with np.errstate(invalid="ignore"):
        shares = (np.nanmean(covers, axis=0), np.nanmedian(width, axis=0) / reference)
    cells = [
        "-" if np.isnan(of_name) else f"{of_name:.3f} ({ratio:.2f}) {any_way:.2f}"
        for of_name, ratio, any_way in zip(*shares, np.nanmean(right, axis=0), strict=True)
    ]
    warns = np.nanmean([study.warned for study in found])
    open_ends = np.mean(np.isinf(width).any(axis=1))
    refused = np.mean([study.refused for study in found])
    return [regime.label, str(replications), *cells, f"{warns:.2f}", f"{open_ends:.2f}", f"{refused:.2f}"]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replications", type=int, default=200)
    parser.add_argument("--named", action="append", help="only regimes whose label has this")
    parameters = ("P_E", "S_E", "P_0", "S_0", "alpha")
    print_head("people, topics, unexplained", "R", *parameters, "any warning", "open", "refused")
    with opened(parser) as (options, engine):
        for regime in REGIMES:
            if not options.named or any(part in regime.label for part in options.named):
                print_row(*row(regime, options.replications, engine))
