"""Users of a population whose means are not log-normal, or whose visits and absences go together."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from metrics.msu.trails import Population

PEOPLE = Population(
    away_mean_seconds=3600, away_sd_seconds=1800, session_mean_seconds=60, session_sd_seconds=60
)


def drawn(people: Population, count: int = 4000) -> np.ndarray:
    """(count, 3) A, D and V."""
    rng = np.random.default_rng(1)
    return np.array([people.user(rng) for _ in range(count)])


def test_a_and_d_are_drawn_with_their_correlation():
    """A is the same as without it."""
    apart, together = drawn(PEOPLE), drawn(replace(PEOPLE, away_session_correlation=-0.8))

    np.testing.assert_array_equal(apart[:, 0], together[:, 0])
    assert np.corrcoef(np.log(apart[:, :2]).T)[0, 1] == pytest.approx(0, abs=0.05)
    assert np.corrcoef(np.log(together[:, :2]).T)[0, 1] == pytest.approx(-0.8, abs=0.02)


def test_gamma_rates_have_this_mean_and_this_deviation():
    """1 / A is gamma with shape 2 + M^2 / S^2 = 6: A is inverse gamma; a longer wait where a log-normal one is longer."""
    away = drawn(replace(PEOPLE, away_law="gamma"))[:, 0]
    law = stats.invgamma(6, scale=5 * 3600)

    assert (law.mean(), law.std()) == (pytest.approx(3600), pytest.approx(1800))
    assert stats.kstest(away, law.cdf).pvalue > 0.01
    assert (np.argsort(away) == np.argsort(drawn(PEOPLE)[:, 0])).all()


def test_gamma_rates_of_people_who_are_alike_are_one_rate():
    """S of 0 has no shape."""
    assert drawn(replace(PEOPLE, away_law="gamma", away_sd_seconds=0), 5)[:, 0] == pytest.approx(3600)


@pytest.mark.parametrize(
    ("changed", "message"),
    [({"away_session_correlation": 1.5}, "must lie in"), ({"session_law": "weibull"}, "lognormal or gamma")],
)
def test_what_is_no_population_is_refused(changed, message):
    """By its name."""
    with pytest.raises(ValueError, match=message):
        replace(PEOPLE, **changed)
