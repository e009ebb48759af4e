"""The search for the size that a study needs."""

import math
import os
import signal
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pytest

from calibration.plan.agreement import AgreementDesign
from calibration.plan.search import PrecisionGoal, plan, plan_row
from calibration.plan.simulation import NO_ESTIMATE, Design, SimulatedEstimate
from metrics.errors import InputError


@dataclass(frozen=True, kw_only=True)
class SquareRoot(Design):
    """A study whose interval shrinks with the square root of its size and is never narrower than a floor."""

    number: int = 25
    floor: float = 0.0
    most: int = 10**6
    truth = 1.0
    varies = ("number",)

    def bounds(self, vary):
        return 2, self.most

    def people(self):
        return 3 * self.number

    def judgments(self):
        return None

    def simulated(self, rng):
        half = max(1 / math.sqrt(self.number), self.floor) / 2
        estimate = rng.normal(1, half / 1.96)
        told = rng.random() < 1 - 8 / self.number
        return SimulatedEstimate(estimate=estimate, low=estimate - half, high=estimate + half, told=told)


def smallest(width, **study):
    return plan(SquareRoot(**study), "number", PrecisionGoal(width=width), studies=2500).needed


@pytest.mark.parametrize(("width", "needed"), [(0.1, 100), (0.201, 25), (0.5, 4), (0.9, 2), (0.05, 400)])
def test_the_search_finds_the_smallest_size_however_far_it_is(width, needed):
    """Up, down, at the start, and at the smallest size that makes sense; to the precision of the simulation."""
    assert smallest(width) == pytest.approx(needed, rel=1 / math.sqrt(2500), abs=0)


@pytest.mark.parametrize("study", [{"floor": 0.15}, {"most": 90}])
def test_what_no_size_gives_is_said_and_not_searched_for_ever(study):
    """A floor that more of this size does not lower, or a size of which there is no more."""
    assert smallest(0.1, **study) is None


def test_a_chance_is_searched_as_a_width_is():
    """1 - 8/n of the studies find it: 90 % at 80."""
    found = plan(SquareRoot(), "number", PrecisionGoal(power=0.9), studies=900)

    assert found.needed == pytest.approx(80, rel=0.15)
    assert found.row(found.needed).power >= 0.9


@pytest.mark.parametrize("seed", range(6))
def test_a_plan_does_not_contradict_its_table(seed):
    """Few studies are noisy: still every size in the table from the answer on meets the wish, the one below not."""
    wish = PrecisionGoal(power=0.7)
    found = plan(SquareRoot(), "number", wish, studies=25, seed=seed)
    met = [wish.met(row) for row in found.rows]
    place = [row.size for row in found.rows].index(found.needed)

    assert all(met[place:])
    assert place == 0 or not met[place - 1]


def test_a_row_is_the_same_whatever_other_rows_are_made():
    """Seed and size decide it, so that a table does not change with what was asked."""
    design = SquareRoot()
    row = plan(design, "number", PrecisionGoal(width=0.05), studies=50, seed=4).row(50)

    assert row.detectable == plan_row(replace(design, number=50), "number", studies=50, seed=4).detectable
    assert row.detectable != plan_row(replace(design, number=50), "number", studies=50, seed=5).detectable


def test_widths_are_quantiles_and_what_tells_nothing_has_no_bound():
    """Of the 10 studies 3 tell nothing: the typical width is known, that of four in five is not."""

    class Sometimes(SquareRoot):
        def simulated(self, rng):
            return NO_ESTIMATE if next(self.turn) < 3 else super().simulated(rng)

    Sometimes.turn = iter(range(10))
    row = plan_row(Sometimes(), "number", studies=10, seed=1)

    assert row.width == pytest.approx(0.2)
    assert row.width_most == row.detectable == math.inf
    assert row.nothing == 0.3


def test_what_is_detectable_follows_from_the_spread_of_the_estimates():
    """(1.96 + .84) standard errors, here of 0.1/1.96."""
    row = plan_row(SquareRoot(number=100), "number", studies=4000, seed=1)

    assert row.detectable == pytest.approx(2.8 * 0.05 / 1.96, rel=0.05)


@dataclass(frozen=True, kw_only=True)
class Detected(SquareRoot):
    """A study with a z test whose chance is 80 % at 100."""

    def simulated(self, rng):
        told = rng.normal(0.28 * math.sqrt(self.number)) > 1.96
        return replace(super().simulated(rng), told=told)


def test_how_sure_a_size_is_can_be_relied_on():
    """With 25 studies a size the answer is far off at times, and it says between what the truth lies."""
    wish = PrecisionGoal(power=0.8)
    found = [plan(Detected(), "number", wish, studies=25, seed=seed) for seed in range(60)]
    unsure = [wish.unsure(one.row(one.needed)) for one in found]
    held = [
        one.needed * (1 - far) <= 100 <= one.needed * (1 + far)
        for one, far in zip(found, unsure, strict=True)
    ]

    assert np.median(unsure) > 0.25
    assert np.mean(held) > 0.85
    assert wish.unsure(plan(Detected(), "number", wish, studies=2500).row(50)) < 0.1


def test_a_width_is_as_sure_as_the_studies_between_which_it_lies():
    """The interval of a median from order statistics, doubled: errors shrink with the square root of the size."""
    row = plan_row(SquareRoot(), "number", studies=100, seed=1)
    spread = replace(row, widths=np.linspace(1, 2, 100))

    assert PrecisionGoal(width=1.5).unsure(row) == 0.1  # all widths are one; the search is no more precise
    assert PrecisionGoal(width=1.5).unsure(spread) == pytest.approx(math.log(1.6 / 1.4), abs=0.02)
    assert (
        PrecisionGoal(width=1.5, sure=0.99).unsure(replace(row, widths=np.append(row.widths[1:], math.inf)))
        == math.inf
    )


def test_a_spread_that_is_estimated_as_nothing_has_no_detectable_distance():
    """With five workers S_A is 0 at times, and nothing is a multiple of it."""

    class Flat(SquareRoot):
        log_scale = True

        def simulated(self, rng):
            return SimulatedEstimate(estimate=max(rng.normal(), 0.0), low=0.0, high=1.0)

    assert plan_row(Flat(), "number", studies=40, seed=1).detectable == math.inf


def test_a_chance_never_falls_with_the_size():
    """What the simulation does beyond that is noise, and no second `enough` stands in the table."""
    found = plan(SquareRoot(), "number", PrecisionGoal(power=0.7), studies=25, seed=3)
    chances = [row.power for row in found.rows]

    assert chances == sorted(chances)


def test_a_plan_is_the_same_whoever_draws_its_studies(monkeypatch):
    """Each study has its own seed: a process that begins in the middle draws what one alone would have drawn, width and power."""
    monkeypatch.setattr("metrics.parallel.ALONE_SECONDS", 0.001)
    wish = PrecisionGoal(power=0.6)
    alone, two = (plan(SquareRoot(), "number", wish, studies=40, jobs=jobs).frame() for jobs in (1, 2))

    pd.testing.assert_frame_equal(alone, two, check_exact=True)


@pytest.mark.soak
def test_a_cluster_whose_worker_is_killed_gives_the_same_plan():
    """Two worker processes, one of them killed in the middle: its studies go to the other."""
    from distributed import LocalCluster

    design = AgreementDesign(queries=12, pairs=21, workers=10, true=0.75).ready()
    wish = PrecisionGoal(width=0.12)
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:

        def kill_one(studies, _label):
            for number, study in enumerate(studies):
                if number == 50 and len(killed) == 0:
                    killed.append(next(iter(cluster.workers.values())).process.process.pid)
                    os.kill(killed[0], signal.SIGKILL)
                yield study

        killed = []
        found = plan(
            design, "queries", wish, studies=100, scheduler=cluster.scheduler_address, track=kill_one
        )

    assert killed
    pd.testing.assert_frame_equal(
        found.frame(), plan(design, "queries", wish, studies=100).frame(), check_exact=True
    )


DESIGN = AgreementDesign(queries=4, pairs=3, workers=10, true=0.7)


def test_a_plan_searches_the_measure_of_its_design_itself():
    """Without that the first study ended in a NaN."""
    planned = plan(DESIGN, "queries", studies=5)
    searched = plan(DESIGN.ready(), "queries", PrecisionGoal(), studies=5)

    pd.testing.assert_frame_equal(planned.frame(), searched.frame())


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (
            {"vary": "quries"},
            "'quries' is no size of AgreementDesign; use one of queries, pairs, workers",
        ),
        (
            {"design": replace(DESIGN, workers=0)},
            "AgreementDesign: workers is 0; give a whole number, 1 or more",
        ),
        (
            {"design": replace(DESIGN, pairs=2.5)},
            "AgreementDesign: pairs is 2.5; give a whole number, 1 or more",
        ),
        (
            {"design": replace(DESIGN, queries="4")},
            "AgreementDesign: queries is '4'; give a whole number, 1 or more",
        ),
        (
            {"design": 12},
            "12 is no design of a study; give one, such as AgreementDesign(queries=12, pairs=21, workers=10, true=0.75)",
        ),
        ({"wish": 0.1}, "0.1 is no Wish; give one, such as Wish(width=0.1) or Wish(power=0.8)"),
        ({"studies": 0}, "studies is 0; give a whole number, 1 or more; 200 is usual"),
    ],
)
def test_what_cannot_be_planned_is_one_sentence(given, sentence):
    """No trace out of a simulation."""
    asked = {"design": DESIGN, "vary": "queries", "wish": PrecisionGoal(), "studies": 5} | given
    with pytest.raises(InputError) as raised:
        plan(asked.pop("design"), asked.pop("vary"), asked.pop("wish"), **asked)

    assert str(raised.value) == sentence


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"width": 0.1, "power": 0.8}, "a wish has a width or a power, and not both; plan once for each"),
        ({"width": -0.1}, "Wish: width is -0.1; give a number above 0"),
        ({"width": "wide"}, "Wish: width is 'wide'; give a number above 0"),
        ({"power": 80}, "Wish: power is 80; give a share between 0 and 1"),
        ({"power": float("nan")}, "Wish: power is nan; give a share between 0 and 1"),
        ({"width": 0.1, "sure": 0}, "Wish: sure is 0; give a share between 0 and 1"),
    ],
)
def test_a_wish_that_is_none_is_one_sentence(given, sentence):
    """Both together were one of them, in silence."""
    with pytest.raises(InputError) as raised:
        PrecisionGoal(**given)

    assert str(raised.value) == sentence
