"""Users of a population whose means are not log-normal, or whose visits and absences go together."""

from dataclasses import replace

import numpy as np
import pytest

from metrics.msu.score import Population

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


def test_a_law_gives_the_form_and_m_and_s_give_place_and_width():
    """Two kinds of people, of whatever scale the quantiles are."""
    kinds = tuple(np.repeat([1.0, 2.5], 20) + 1e-3 * np.arange(40))
    away = drawn(replace(PEOPLE, away_law=kinds))[:, 0]

    assert away.mean() == pytest.approx(3600, rel=0.03)
    assert away.std() == pytest.approx(1800, rel=0.05)
    assert np.mean((away > 2500) & (away < 4500)) < 0.1


@pytest.mark.parametrize(
    ("changed", "message"),
    [({"away_session_correlation": 1.5}, "must lie in"), ({"session_law": (2.0, 1.0)}, "that rise")],
)
def test_what_is_no_population_is_refused(changed, message):
    """By its name."""
    with pytest.raises(ValueError, match=message):
        replace(PEOPLE, **changed)
