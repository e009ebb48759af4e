"""Simulated coverage of worths and ranks by graded answers, `prefcal rank --ordinal`, and of comparisons of measures by them.

    python -m benchmarks.coverage_graded [STUDIES [DESIGN ...]] [--jobs 1] [--scheduler ADDRESS] | python benchmarks/keep_rows.py docs/evidence/rank-graded.csv
    python -m benchmarks.coverage_graded --measures [STUDIES] | python benchmarks/keep_rows.py docs/evidence/agreement-graded.csv

With --measures those of the comparison of two measures by graded answers, `prefcal agree --ordinal`, beside that by choices alone.

People answer by the cumulative-link model; systems are better or worse by topic and by person than they are on the whole, as in
`benchmarks.coverage_rank`, whose designs these are. The true worths are those of one very large study of the same sort.
"""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.coverage_rank import (
    REGIMES,
    Floats,
    Regime,
    Rng,
    _held,
    drawn_design,
    worths,
)
from benchmarks.replications import designs_parser, few, opened, print_head, print_row, replicated
from calibration.agree.slopes import graded_slope_difference, slope_difference
from calibration.rank.graded import fit_graded_worths
from calibration.rank.judgments import JudgedSystems, win_rates
from calibration.rank.ranking import ranks_left_open
from metrics.parallel import Executor
from tests.metrics.simulated_votes import judged_measures

CUTS = (0.4, 1.5)
"""Five grades: neither within the first, much better beyond the second."""
DESIGNS = {
    name: REGIMES[name]
    for name in (
        "own people per topic",
        "same 12 people",
        "same 12 people, all alike",
        "6 topics, same 12 people",
        "12 people, one gave half",
    )
}


def drawn_study(regime: Regime, rng: Rng) -> JudgedSystems:
    """Draw the graded judgments of one study."""
    topic, worker, left, right, systems = drawn_design(regime, rng)
    own = worths(regime, systems)
    on_topic = rng.normal(0, regime.by_topic, (int(topic.max()) + 1, systems))
    of_person = rng.normal(0, regime.by_person, (int(worker.max()) + 1, systems))
    value = [own[side] + on_topic[topic, side] + of_person[worker, side] for side in (left, right)]
    latent = value[0] - value[1] + regime.side + rng.logistic(size=len(topic))
    strength = np.sign(latent) * (np.abs(latent)[:, None] > CUTS).sum(axis=1)
    return JudgedSystems(
        task="drawn",
        systems=tuple(f"s{number:02d}" for number in range(systems)),
        left=left,
        right=right,
        for_left=np.sign(strength) / 2 + 0.5,
        topic=topic,
        worker=worker,
        strength=strength,
    )


def true_worths(regime: Regime, rng: Rng) -> Floats:
    """Return the worths of a study of the same sort in which chance plays hardly any part."""
    couples = regime.systems * (regime.systems - 1) // 2
    large = replace(regime, topics=600_000 // (couples * 3), votes=3, people=None, busiest=0.0)
    return fit_graded_worths(drawn_study(large, rng)).worth


def held(regime: Regime, truth: Floats, place: int, number: int) -> dict[str, float]:
    """Return the share of one study's intervals that hold the truth, and whether all of its ranks do."""
    study = drawn_study(regime, np.random.default_rng([place, number]))
    fitted = fit_graded_worths(study)
    reach = fitted.variances.errors().half_width(0.95)
    own = worths(regime, len(study.systems))
    best = 1 + (own[:, None] < own[None] - 1e-9).sum(axis=1)
    worst = len(own) - (own[:, None] > own[None] + 1e-9).sum(axis=1)
    low, high = ranks_left_open(fitted.worth, fitted.covariances, 0.95)
    rates = win_rates(study)
    of_choices = ranks_left_open(rates.value, rates.influence.covariances(), 0.95)
    return {
        "worth": _held(fitted.worth - truth, reach),
        "error": float(fitted.worth[0] - truth[0]),
        "width": float(2 * np.median(reach)),
        "all ranks": float(((low <= best) & (high >= worst)).all()),
        "open": float((high - low + 1).mean()),
        "open by choices": float((of_choices[1] - of_choices[0] + 1).mean()),
    }


PEOPLE: dict[str, dict[str, Any]] = {
    "8 people": {},
    "14 people": {"workers": 14},
    "7 people of its own per query": {"workers": 7, "own_people": True},
}
"""Studies of 20 queries, as `tests.metrics.simulated_votes.judged_measures` draws them."""


def compared(place: int, number: int) -> dict[str, float]:
    """Return whether one study finds a difference of two equal measures, and of two that differ, by grades and by choices."""
    rng, found = np.random.default_rng([place, number, 5]), dict[str, float]()
    for what, slopes in (("equal", (0.5, 0.5)), ("differ", (0.8, 0.3))):
        study = judged_measures(rng, slopes=slopes, **list(PEOPLE.values())[place])
        strength = study.graded(rng)
        chosen = replace(study.votes, for_a=np.sign(strength) / 2 + 0.5)
        ways = {
            "grades": graded_slope_difference(study.votes, strength, study.first, study.second),
            "choices": slope_difference(chosen, study.first, study.second),
        }
        found |= {
            f"{what}, {way}": float(each.error.p_value(each.difference) < 0.05) for way, each in ways.items()
        }
    return found


def print_measures(studies: int, engine: Executor) -> None:
    print_head(
        "people", "R", "equal, by grades", "equal, by choices", "differ, by grades", "differ, by choices"
    )
    for place, name in enumerate(PEOPLE):
        mean = pd.DataFrame(replicated(engine, partial(compared, place), studies)).mean()
        print_row(name, str(studies), *(f"{value:.3f}" for value in mean))


def print_worths(names: Iterable[str], studies: int, engine: Executor) -> None:
    print_head(
        "design", "R", "worth covered", "all ranks right", "width / good", "ranks open", "by choices alone"
    )
    for name in names:
        design, place = DESIGNS[name], list(DESIGNS).index(name)
        truth = true_worths(design, np.random.default_rng(place))
        rows = pd.DataFrame(replicated(engine, partial(held, design, truth, place), studies))
        people = np.inf if design.people is None else design.people
        good = 2 * 1.96 * few(people, design.topics) * rows["error"].std()
        mean = rows.mean()
        cells = (
            *(f"{mean[what]:.3f}" for what in ("worth", "all ranks")),
            f"{rows['width'].median() / good:.2f}",
            *(f"{mean[what]:.2f}" for what in ("open", "open by choices")),
        )
        print_row(name, str(studies), *cells)


if __name__ == "__main__":
    parser = designs_parser(__doc__, 1000, "DESIGN")
    parser.add_argument("--measures", action="store_true", help="comparisons of two measures")
    with opened(parser) as (options, engine):
        if options.measures:
            print_measures(options.studies, engine)
        else:
            print_worths(options.names or DESIGNS, options.studies, engine)
