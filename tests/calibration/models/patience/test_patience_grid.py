"""Patience as the paper chose it: the highest agreement on a grid."""

import numpy as np
import pytest

from calibration.inference.results import CalibrationResult, NotIdentifiedError
from calibration.models.patience.grid import (
    NAME,
    credit_by_topic,
    fit_patience_on_grid,
    patience_grid,
    without_each_topic,
)
from calibration.models.patience.pairs import JudgedSummaries, summary_pairs
from calibration.models.patience.simulate import SimulatedJudges
from metrics.agreement.agreement import agreement
from tests.calibration.studies import ONE_INTENT, drawn_pairs, positions, votes


def fitted(pairs: JudgedSummaries, **more) -> CalibrationResult:
    return fit_patience_on_grid(pairs, n_workers=5, rng=np.random.default_rng(0), **more)


def crossing(topics: int = 1) -> JudgedSummaries:
    """Return pairs in which A (2 at 100) is better than B (3 at 400) below L = 1000, and people prefer A."""
    names = [f"q{number}" for number in range(topics)]
    rows = [(q, s, "u", g, x) for q in names for s, g, x in (("A", 2, 100), ("B", 3, 400))]
    return summary_pairs(votes(*[(q, "A", "B", 3, 1, 0) for q in names]), positions(*rows), ONE_INTENT)


def test_the_grid_goes_from_a_sixteenth_to_sixteen_times_the_papers_patience():
    """1500 characters for English, 500 for Japanese; other languages as English."""
    for language, middle in (("en", 1500), (None, 1500), ("ja", 500), ("de", 1500)):
        grid = patience_grid(language)
        assert grid[[0, 64, -1]] == pytest.approx([middle / 16, middle, 16 * middle])
        assert np.diff(np.log(grid)) == pytest.approx(np.full(128, np.log(2) / 16))


def test_the_whole_set_of_best_patiences_is_kept_and_its_middle_is_the_estimate():
    """A is preferred and wins for L from just above 100 to 1000; the middle is taken on the log scale."""
    fit = fitted(crossing())
    inside = patience_grid("en")[(patience_grid("en") > 100) & (patience_grid("en") < 1000)]

    assert (fit.details["best_from"], fit.details["best_to"]) == pytest.approx((inside[0], inside[-1]))
    assert fit.details["best_points"] == len(inside)
    assert fit.params[NAME] == pytest.approx(np.sqrt(inside[0] * inside[-1]))
    assert fit.details["agreement"] == 1


def test_agreement_is_that_of_the_metrics_package():
    """Ties count against, as in the paper; sums of topics add up to the agreement over all pairs."""
    pairs = drawn_pairs(SimulatedJudges(patience_chars=840, per_topic=7))
    patiences = np.array([200.0, 840.0, np.inf])
    share = (pairs.votes.first + pairs.votes.ties / 2) / pairs.votes.total
    names = np.array(pairs.topics)[pairs.topic]
    expected = [agreement(row, share, names).value for row in pairs.differences(1 / patiences)]

    credit = credit_by_topic(pairs, patiences)
    assert credit.shape == (8, 3)
    assert credit.sum(axis=0) / len(pairs.topic) == pytest.approx(expected)


def test_a_known_patience_is_found_again_though_less_exactly(seeds):
    """A step function moves more by chance: within a factor of two where the likelihood is within a tenth."""
    truth = SimulatedJudges(patience_chars=840, per_topic=7, effect=3.0, unexplained_sd=0.4)
    fits = [fitted(drawn_pairs(truth, seed=seed)) for seed in seeds(40)]
    errors = np.log2([fit.params[NAME] / 840 for fit in fits])

    assert abs(np.median(errors)) < 0.15
    assert np.quantile(np.abs(errors), 0.9) < 1
    held = [low <= 840 <= high for low, high in (fit.conf_int()[NAME] for fit in fits)]
    assert np.mean(held) >= 0.75


def test_the_end_of_the_grid_is_named():
    """The paper's own best value lay at the end of its sweep: a patience there may be longer still."""
    table = positions(("q1", "A", "u", 2, 100), ("q1", "B", "u", 3, 400))
    fit = fitted(summary_pairs(votes(("q1", "A", "B", 1, 3, 0)), table, ONE_INTENT))

    assert fit.details["best_to"] == pytest.approx(24_000)
    assert "end_of_grid" in [note.name for note in fit.diagnostics]


def test_the_interval_holds_every_patience_that_is_equally_best():
    """The middles of all resamples may be one number; the data cannot tell it from the rest of the best."""
    fit = fitted(crossing(topics=3))
    low, high = fit.conf_int()[NAME]

    assert low <= fit.details["best_from"] < fit.params[NAME] < fit.details["best_to"] <= high


def test_the_interval_is_open_where_an_end_of_the_grid_is_among_the_best():
    """B, later and of more worth, wins from L = 1000 on, however patient people are."""
    rows = [(q, s, "u", g, x) for q in ("q1", "q2") for s, g, x in (("A", 2, 100), ("B", 3, 400))]
    later = votes(*[(q, "A", "B", 1, 3, 0) for q in ("q1", "q2")])
    fit = fitted(summary_pairs(later, positions(*rows), ONE_INTENT))
    low, high = fit.conf_int()[NAME]

    assert low == pytest.approx(fit.details["best_from"])
    assert high is None
    assert fit.entries()[NAME].interval == (pytest.approx(low), None)


def test_a_single_topic_gives_an_estimate_without_an_interval():
    """The bootstrap draws topics; there is nothing to draw from one."""
    assert fitted(crossing()).conf_int()[NAME] == (None, None)
    assert None not in fitted(crossing(topics=3)).conf_int()[NAME]


def test_a_metric_that_agrees_nowhere_is_refused():
    """The highest of nothing is no choice."""
    table = positions(("q1", "A", "u", 2, 100), ("q1", "B", "u", 2, 100))

    with pytest.raises(NotIdentifiedError, match="agrees with no pair's majority"):
        fitted(summary_pairs(votes(("q1", "A", "B", 3, 1, 0)), table, ONE_INTENT))


def test_leaving_a_topic_out_is_choosing_by_the_others():
    """So that no topic is judged by a patience it helped to choose."""
    shallow = [(f"q{n}", s, "u", g, x) for n in range(2) for s, g, x in (("A", 2, 100), ("B", 3, 400))]
    deep = [("q2", s, "u", g, x) for s, g, x in (("A", 2, 1000), ("B", 3, 4000))]
    judged = votes(*[(f"q{n}", "A", "B", 3, 1, 0) for n in range(3)])
    pairs = summary_pairs(judged, positions(*shallow, *deep), ONE_INTENT)

    alone = without_each_topic(pairs)
    assert alone["q2"] == pytest.approx(fitted(crossing()).params[NAME])
    assert alone["q0"] == alone["q1"] > 1000 * 0.9
    with pytest.raises(NotIdentifiedError, match="a single topic"):
        without_each_topic(crossing())
