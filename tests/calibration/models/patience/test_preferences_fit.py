"""What a patience fitted to preferences offers: a test, a simulator, plots."""

from functools import lru_cache

import numpy as np
import pytest

from calibration.inference.choice import Votes
from calibration.models.patience.grid import fit_patience_on_grid
from calibration.models.patience.pairs import JudgedSummaries, summary_pairs
from calibration.models.patience.preferences import fit_patience_from_preferences, misfit
from calibration.models.patience.simulate import SimulatedJudges, simulate_preferences, simulate_summaries
from calibration.tables.preferences import pair_votes


@lru_cache
def pairs(*, unexplained: float = 0.0, tie_weight: float = 0.6) -> JudgedSummaries:
    rng = np.random.default_rng(3)
    tables, probabilities = simulate_summaries(6, rng)
    judges = SimulatedJudges(
        patience_chars=840,
        per_topic=10,
        effect=2.0,
        unexplained_sd=unexplained,
        tie_weight=tie_weight,
        sensitivity_sd=0.0,
    )
    votes = pair_votes(simulate_preferences(tables["positions"], probabilities, judges, rng))
    return summary_pairs(votes, tables["positions"], probabilities)


def test_what_people_like_beyond_m_is_said_and_is_no_warning():
    """It is there in every real study, and the intervals allow for it."""
    fine, beyond = (fit_patience_from_preferences(pairs(unexplained=sd), n_workers=60) for sd in (0.0, 1.5))

    assert fine.details["misfit"] == pytest.approx(1, abs=0.25)
    assert beyond.details["misfit"] > 2
    (note,) = (note for note in beyond.diagnostics if note.name == "beyond_m")
    assert note.severity == "info"


def test_the_misfit_is_pearsons_chi_squared():
    """Two pairs by hand: 6 of 8 against an even chance, 5 of 10 likewise; ties do not count."""
    votes = Votes(first=np.array([6.0, 5, 0]), second=np.array([2.0, 5, 0]), ties=np.array([3.0, 0, 4]))

    assert misfit(np.zeros(3), votes) == pytest.approx((6 - 2) ** 2 / 8 / 1)


def test_simulated_votes_are_as_many_as_the_real_ones():
    """Pair by pair; without ties in the data there are none in the simulation."""
    fit = fit_patience_from_preferences(pairs(), n_workers=60)
    without = fit_patience_from_preferences(pairs(tie_weight=1e-9), n_workers=60)

    assert fit.simulate(np.random.default_rng(1)).total == pytest.approx(pairs().votes.total)
    assert without.simulate(np.random.default_rng(1)).ties.sum() == 0


def test_the_profile_is_drawn_over_patience():
    """With the ends of the interval."""
    ax = pytest.importorskip("matplotlib.figure").Figure().subplots()
    fit_patience_from_preferences(pairs(), n_workers=60).plot_profile(ax)

    curve, *ends = ax.lines
    assert min(curve.get_ydata()) == 0
    assert len(ends) == 2


def test_a_curve_of_agreement_lies_in_its_band():
    """The band holds the whole curve at once, so it is wider than an interval at one patience."""
    fit = fit_patience_on_grid(pairs(unexplained=1.5), n_workers=60, rng=np.random.default_rng(1))
    agreement, low, high = fit.agreement_curve(np.random.default_rng(2))

    assert agreement.max() == pytest.approx(fit.details["agreement"])
    known = ~np.isnan(low)
    assert known.any()
    assert (low[known] <= agreement[known]).all()
    assert (agreement[known] <= high[known]).all()

    ax = pytest.importorskip("matplotlib.figure").Figure().subplots()
    fit.plot_agreement(ax)
    assert ax.get_xlabel() == "patience L (counted characters)"
