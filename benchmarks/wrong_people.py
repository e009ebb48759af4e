"""How often lateness and push are right, or say why not, where people are not as the models say: tables of their docs.

    python benchmarks/wrong_people.py lateness|push [--replications 300]

Each line is one regime: the share of studies whose default 95 % interval holds the truth, that warn by the name of the cause, that do
either, that warn of anything else (but of few workers, topics or nuggets), and the median estimate. A share of .9 is known to .017 at 300.
"""

import argparse
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from tqdm import tqdm

from calibration.inference.results import CalibrationResult, NotIdentifiedError
from calibration.lateness.fit import DECAY, fit_lateness_counts
from calibration.lateness.likelihood import LatenessCounts, LatenessRaters, counted, simulate_lateness_counts
from calibration.push.fit import fit_weights_to
from calibration.push.simulate import PushJudges, simulate_push_judgments

P_E = "push_P_E"


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


def push(label: str, topics: int, *causes: str, days: int = 10, **judges: Any) -> Regime:
    people = PushJudges(**judges)
    return Regime(
        label,
        lambda rng: fit_weights_to(simulate_push_judgments(topics, people, rng, days=days)),
        P_E,
        0.5,
        frozenset(causes),
    )


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
    "push": (
        push("as the framework says, 50 x 20, 40 topics", 40),
        push("the same, 10 topics, unexplained .6", 10, unexplained_sd=0.6),
        push("the same, 20 x 20, 20 topics", 20, workers=20),
        push("the same, 5 days, sharper people", 40, days=5, sharpness=0.8),
        push("root of the count, 40 topics", 40, "pain_form", pain="root"),
        push(
            "root of the count, 10 topics, unexplained .6", 10, "pain_form", pain="root", unexplained_sd=0.6
        ),
        push("root of the count, 5 days", 40, "pain_form", days=5, pain="root"),
        push(
            "root of the count, 5 days, sharper people", 40, "pain_form", days=5, pain="root", sharpness=0.8
        ),
        push("any push at all, 40 topics", 40, "pain_form", pain="any"),
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


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("family", choices=list(REGIMES))
    parser.add_argument("--replications", type=int, default=300)
    options = parser.parse_args()
    print("| regime | truth | covers | names the cause | either | warns of anything else | median estimate |")
    print("|---|---|---|---|---|---|---|")
    for regime in REGIMES[options.family]:
        print(line(regime, options.replications), flush=True)
