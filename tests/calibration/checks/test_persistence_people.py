"""Readers of ranked lists who are not as the geometric law says: the cause is named, and says which p is given."""

import numpy as np
import pytest

from calibration.checks.persistence.one_beta import beta_geometric
from calibration.models.persistence import (
    ContinuationCounts,
    ListReaders,
    fit_persistence,
    list_steps,
    simulate_list_stops,
)
from tests.calibration.checks.patience_findings import findings, warned


def drawn(seed: int = 0, p: float = 0.8, **readers) -> ContinuationCounts:
    return list_steps(simulate_list_stops(p, np.random.default_rng(seed), ListReaders(**readers)))


@pytest.mark.parametrize(
    ("readers", "said"),
    [
        ({"people_sd": 1.5}, "patience_differs"),
        ({"finishers": 0.2}, "always_to_the_end"),
        ({"tiring": True}, "same_persistence_at_every_depth"),
    ],
)
def test_people_who_are_not_as_the_law_says_are_named(readers, said):
    """One cause warns; what it explains too is a note."""
    steps = drawn(**readers)
    causes = {"patience_differs", "texts_differ", "always_to_the_end", "same_persistence_at_every_depth"}

    assert causes & {*warned(fit_persistence(steps), steps)} == {said}


def test_people_of_one_persistence_are_hardly_ever_warned_of():
    """Forty studies, tests of four causes."""
    data = [drawn(seed) for seed in range(40)]

    assert sum(bool(warned(fit_persistence(steps), steps)) for steps in data) <= 5


def test_who_always_goes_to_the_end_stands_beside_the_number():
    """The persistence without them is that of the others, and they are in the one that is given."""
    steps = drawn(finishers=0.2)
    fit = fit_persistence(steps)
    (law,) = findings(fit, steps)["always_to_the_end"].sensitivity["rbp_p"]

    assert fit.n_workers == len(steps.people)
    assert law.high < fit.estimates[0]
    assert law.estimate == pytest.approx(0.8, abs=0.05)


def two_kinds(seed: int, *, by: str = "worker") -> ContinuationCounts:
    """Draw readings of 60 people x 6 lists of 40 entries whose p is .82 for half of the people (lists), and .942 for the others."""
    rng = np.random.default_rng(seed)
    worker, text = np.repeat(np.arange(60), 6), np.tile(np.arange(360) % 36, 1)
    text = rng.permutation(text)
    kind = (worker if by == "worker" else text) % 2
    taken = rng.geometric(1 - np.where(kind, 0.942, 0.82)) - 1
    possible = np.full(360, 40)
    return ContinuationCounts(
        people=tuple(f"w{n}" for n in range(60)),
        worker=worker,
        text=text,
        taken=np.minimum(taken, possible),
        possible=possible,
    )


@pytest.mark.parametrize(("by", "name"), [("worker", "patience_differs"), ("text", "texts_differ")])
def test_two_kinds_of_readers_or_lists_have_no_single_p_and_it_is_said_which_is_given(by, name):
    """The p of all steps is that of the mean depth (.91), above the mean of people's own (.88)."""
    steps = two_kinds(1, by=by)
    fit = fit_persistence(steps)
    said = findings(fit, steps)[name]
    (law,) = said.sensitivity["rbp_p"]

    assert name in warned(fit, steps)
    assert law.estimate == pytest.approx(fit.estimates[0], abs=0.015)
    mean = beta_geometric(steps, by).mean_p
    assert mean == pytest.approx(0.881, abs=0.02)
    assert mean < fit.estimates[0]
    assert said.sentence.endswith(f" is {mean:.3f}.")


def test_lists_that_several_people_read_are_clusters_whatever_a_test_says():
    """Lists differ or not: what they share belongs to the error, and never makes it smaller than that by people."""
    for seed in range(5):
        fit = fit_persistence(
            list_steps(simulate_list_stops(0.8, np.random.default_rng(seed), ListReaders(lists=6)))
        )
        crossed, alone = (fit.uncertainty[how] for how in ("worker_and_text", "worker"))

        assert crossed.cov[0, 0] >= alone.cov[0, 0]
