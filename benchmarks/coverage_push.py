"""How often the intervals of the contingency weights and of alpha hold the truth: the tables of docs/calibration.md.

    python -m benchmarks.coverage_push [--replications 1000] [--jobs 1] [--scheduler ADDRESS]

Each line is one regime. First table: the median and robust standard deviation of each weight relative to G_E, and the share
of default 95 % intervals that hold the truth; the same for alpha. Second table: the share for intervals by Fieller and for
judgments taken as independent, and how often the one-sided test calls a reward for silent days supported. The
Monte-Carlo error of a share of .95 is .007 at 1000 replications.
"""

import argparse
from functools import partial
from typing import NamedTuple

import numpy as np

from benchmarks.replications import engine_arguments, replicated
from calibration.inference.results import CalibrationResult, NotIdentifiedError
from calibration.inference.uncertainty import Interval
from calibration.push.fit import fit_weights_to
from calibration.push.notes import unclustered
from calibration.push.pain import NAME as ALPHA
from calibration.push.pain import fit_alpha_to
from calibration.push.simulate import TRUTH, PushJudges, simulate_push_judgments
from metrics.parallel import Engine, open_engine

NAMES = ("push_P_E", "push_S_E", "push_P_0", "push_S_0")


class Regime(NamedTuple):
    workers: int
    topics: int
    unexplained: float = 0.0
    s_0: float = 0.4
    p: float = 0.5
    pairs: int = 20
    law: str = "davidson"
    nu: float = 0.6


REGIMES = (
    *(Regime(20, topics, unexplained) for topics in (10, 40) for unexplained in (0.0, 0.6)),
    *(Regime(50, topics, unexplained) for topics in (10, 40, 100) for unexplained in (0.0, 0.3, 0.6)),
    *(Regime(100, topics, unexplained) for topics in (40, 100) for unexplained in (0.0, 0.6)),
    Regime(50, 40, 0.3, s_0=0.0),
    Regime(100, 100, 0.3, s_0=0.0),
    Regime(50, 40, 0.3, law="rao_kupper", nu=1.6),
    Regime(15, 10, 0.6, pairs=8),
    Regime(50, 40, 0.3, p=0.02),
)


def holds(interval: Interval, truth: float) -> bool:
    low, high = interval
    return (low is None or low <= truth) and (high is None or truth <= high)


def truth_of(regime: Regime) -> dict[str, float]:
    return {**TRUTH, "S_0": regime.s_0, "P_E": regime.p, "P_0": regime.p}


def held(fit: CalibrationResult, truth: dict[str, float], method: str | None = None) -> list[float]:
    """Whether each interval holds the truth; nan for a weight that could not be told."""
    ends = fit.conf_int(method=method)
    return [float(holds(ends[name], truth[name[5:]])) if name in ends else np.nan for name in NAMES]


def replication(regime: Regime, seed: int) -> list[float] | None:
    rng = np.random.default_rng([seed, *(int(100 * value) for value in regime if not isinstance(value, str))])
    truth = truth_of(regime)
    judges = PushJudges(
        weights=truth,
        workers=regime.workers,
        pairs_per_worker=regime.pairs,
        unexplained_sd=regime.unexplained,
        tie_law=regime.law,
        tie_weight=regime.nu,
    )
    judgments = simulate_push_judgments(regime.topics, judges, rng)
    try:
        fit, alpha = fit_weights_to(judgments), fit_alpha_to(judgments)
    except NotIdentifiedError:
        return None
    alpha_truth = 1 / (1 + regime.p)
    return [
        *(fit.parameters.get(name, np.nan) for name in NAMES),
        alpha.parameters[ALPHA],
        *held(fit, truth),
        float(holds(alpha.conf_int()[ALPHA], alpha_truth)),
        *held(fit, truth, "fieller"),
        *(held(unclustered(judgments), truth) if len(fit.parameters) == len(NAMES) else [np.nan] * 4),
        float(fit.silent is not None and fit.silent.verdict == "supported"),
        float(None in [end for interval in fit.conf_int().values() for end in interval]),
    ]


def label(regime: Regime) -> str:
    extra = "" if regime.s_0 == 0.4 else f", S_0 = {regime.s_0:g}"
    extra += "" if regime.p == 0.5 else f", P = {regime.p}"
    extra += "" if regime.law == "davidson" else ", Rao-Kupper"
    return f"{regime.workers} x {regime.pairs}, {regime.topics}, {regime.unexplained}{extra}"


def lines(regime: Regime, replications: int, engine: Engine) -> tuple[str, str]:
    found = replicated(engine, partial(replication, regime), replications)
    rows = np.array([row for row in found if row is not None])
    estimates, shares = rows[:, :5], np.nanmean(rows[:, 5:], axis=0)
    spread = np.subtract(*np.nanquantile(estimates, [0.75, 0.25], axis=0)) / 1.349
    middle = np.nanmedian(estimates, axis=0)
    cells = [f"{m:.3f} ({s:.2f}) {c:.3f}" for m, s, c in zip(middle, spread, shares[:5], strict=True)]
    refused = sum(row is None for row in found) / len(found)
    others = [f"{share:.3f}" for share in shares[5:]]
    return (
        f"| {label(regime)} | {' | '.join(cells)} | {refused:.3f} |",
        f"| {label(regime)} | {' | '.join(others)} |",
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replications", type=int, default=1000)
    engine_arguments(parser)
    options = parser.parse_args()
    second = []
    print("| workers x pairs, topics, unexplained | P_E | S_E | P_0 | S_0 | alpha | refused |")
    print("|---|---|---|---|---|---|---|")
    with open_engine(jobs=options.jobs, scheduler=options.scheduler) as engine:
        for regime in REGIMES:
            first, other = lines(regime, options.replications, engine)
            print(first, flush=True)
            second.append(other)
    shown = [f"{method} {name[5:]}" for method in ("Fieller", "unclustered") for name in NAMES]
    print(f"\n| workers x pairs, topics, unexplained | {' | '.join(shown)} | reward supported | open ends |")
    print("|" + "---|" * (len(shown) + 3))
    print("\n".join(second))
