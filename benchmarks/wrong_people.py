"""How often lateness is right, or says why not, where people are not as the model says: a table of its docs.

    python -m benchmarks.wrong_people lateness [--replications 300]

Each line is one regime: the share of studies whose default 95 % interval holds the truth, that warn by the name of the cause, that do
either, that warn of anything else (but of few workers, topics or nuggets), and the median estimate. A share of .9 is known to .017 at 300.
"""

import argparse
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from tqdm import tqdm

from calibration.inference.results import CalibrationResult, NotIdentifiedError
from calibration.models.lateness.answers import LatenessCounts, counted
from calibration.models.lateness.fit import DECAY, fit_lateness_counts
from calibration.models.lateness.simulate import LatenessRaters, simulate_lateness_counts


class Regime(NamedTuple):
    """What is drawn, the parameter and its truth, and the names under which a warning may say why the interval misses it."""

    label: str
    fit: Callable[[np.random.Generator], CalibrationResult]
    name: str
    truth: float
    causes: frozenset[str]


def lateness(label: str, *causes: str, decay: float = 0.5, **raters: Any) -> Regime:
    people = LatenessRaters(decay=decay, **raters)
    return Regime(
        label,
        lambda rng: fit_lateness_counts(simulate_lateness_counts(people, rng)),
        DECAY,
        decay,
        frozenset(causes),
    )


def late_together(label: str, nuggets: int, nugget_sd: float) -> Regime:
    return Regime(
        label,
        lambda rng: fit_lateness_counts(nuggets_late_together(nuggets, nugget_sd, rng)),
        DECAY,
        0.5,
        frozenset({"nuggets_differ"}),
    )


def nuggets_late_together(nuggets: int, nugget_sd: float, rng: np.random.Generator) -> LatenessCounts:
    """50 workers x 20 answers on nuggets that come as late to everybody; logit p0 differs between workers (sd .7) and nuggets."""
    late, own = rng.permutation(np.arange(nuggets) % 5), nugget_sd * rng.standard_normal(nuggets)
    worker, nugget = np.repeat(np.arange(50), 20), rng.integers(0, nuggets, 1000)
    log_odds = np.log(4) + 0.7 * rng.standard_normal(50)[worker] + own[nugget]
    useful = rng.random(1000) < 0.5 ** late[nugget] / (1 + np.exp(-log_odds))
    return counted(worker, late[nugget].astype(float), useful.astype(float), nugget)


CARELESS = ("careless_workers",)
FLOOR = ("lateness_floor", "not_geometric")
REGIMES = {
    "lateness": (
        lateness("as the model says, L .5, 50 x 20"),
        lateness("the same, 20 x 20", workers=20),
        lateness("the same, 20 x 8", workers=20, ratings_per_worker=8),
        lateness("the same, 300 x 20", workers=300),
        lateness("the same, L .8", decay=0.8),
        lateness("the same, L .95", decay=0.95),
        lateness("40 equal nuggets, asked of all", nuggets=40),
        late_together("15 nuggets late together, sd 1", 15, 1.0),
        late_together("30 nuggets late together, sd .5", 30, 0.5),
        lateness("40 nuggets, sd 1", "nuggets_differ", nuggets=40, nugget_sd=1.0),
        lateness("floor .15", *FLOOR, floor=0.15),
        lateness("floor .15, 20 x 20", *FLOOR, floor=0.15, workers=20),
        lateness("floor .15, 300 x 20", *FLOOR, floor=0.15, workers=300),
        lateness("floor .3", *FLOOR, floor=0.3),
        lateness("floor .4, 40 x 15", *FLOOR, floor=0.4, workers=40, ratings_per_worker=15),
        lateness("floor .5, 25 x 15", *FLOOR, floor=0.5, workers=25, ratings_per_worker=15),
        lateness("20 % careless, half of their answers yes", *CARELESS, careless=0.2),
        lateness("20 % careless, .8 yes", *CARELESS, careless=0.2, careless_yes=0.8),
        lateness("10 % careless", *CARELESS, careless=0.1),
        lateness("20 % careless, 8 answers each", *CARELESS, careless=0.2, ratings_per_worker=8),
        lateness("workers' own L, Beta(2, 2)", "workers_decay_differently", decay_concentration=4.0),
    ),
}


def studies(regime: Regime, replications: int) -> Iterator[tuple[float, bool, bool, bool]]:
    """Yield of each study the estimate, whether its interval holds the truth, whether the cause is named, and anything else."""
    for seed in tqdm(range(replications), leave=False, disable=None):
        try:
            fit = regime.fit(np.random.default_rng([seed, 77]))
            low, high = fit.conf_int()[regime.name]
        except (NotIdentifiedError, KeyError):
            continue
        warned = {note.name for note in fit.diagnostics if note.severity == "warning"}
        others = {name for name in warned - regime.causes if not name.startswith("few_")}
        held = (low is None or low <= regime.truth) and (high is None or regime.truth <= high)
        yield fit.parameters[regime.name], held, bool(warned & regime.causes), bool(others)


def line(regime: Regime, replications: int) -> str:
    estimate, held, named, others = np.array(list(studies(regime, replications))).T
    shares = (held.mean(), named.mean(), np.maximum(held, named).mean(), others.mean())
    return f"| {regime.label} | {regime.truth:g} | {' | '.join(f'{share:.3f}' for share in shares)} | {np.median(estimate):.2f} |"


def table(family: str, replications: int) -> None:
    """Print a line for each regime of a family."""
    print("| regime | truth | covers | names the cause | either | warns of anything else | median estimate |")
    print("|---|---|---|---|---|---|---|")
    for regime in REGIMES[family]:
        print(line(regime, replications), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("family", choices=REGIMES)
    parser.add_argument("--replications", type=int, default=300)
    options = parser.parse_args()
    table(options.family, options.replications)
