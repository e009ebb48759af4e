"""Patience from preferences: recovery with honest intervals, boundaries, refusals."""

import math
from dataclasses import replace

import numpy as np
import pytest

from calibration.inference.choice import Votes, choice_probabilities, log_likelihood
from calibration.inference.results import CalibrationResult, NotIdentifiedError
from calibration.models.patience.pairs import JudgedSummaries, summary_pairs
from calibration.models.patience.preferences import (
    NAME,
    ProfileMaximum,
    design,
    fit_patience_from_preferences,
    information,
    kappa_grid,
    maximised,
    profile_at,
    score_rows,
    without_each_group,
)
from calibration.models.patience.simulate import SimulatedJudges
from tests.calibration.checks.patience_findings import findings, warned
from tests.calibration.studies import ONE_INTENT, drawn_pairs, positions, votes


def fitted(pairs: JudgedSummaries) -> CalibrationResult:
    return fit_patience_from_preferences(pairs, n_workers=56)


def holds(interval, truth: float) -> bool:
    low, high = interval
    return (low is None or low <= truth) and (high is None or truth <= high)


@pytest.mark.parametrize("effect", [pytest.param(3.0, marks=pytest.mark.soak), 1.0])
def test_a_known_patience_is_found_again_and_its_interval_holds_it(effect, seeds):
    """A small crowd: 8 topics, 7 systems, 7 judges a topic, with tastes that M does not explain."""
    truth = SimulatedJudges(patience_chars=840, per_topic=7, effect=effect, unexplained_sd=0.4)
    fits = [fitted(drawn_pairs(truth, seed=seed)) for seed in seeds(60)]
    errors = np.log([fit.params[NAME] / 840 for fit in fits])
    spread = np.subtract(*np.quantile(errors, [0.75, 0.25])) / 1.349

    assert abs(np.median(errors)) < 3 * 1.25 * spread / math.sqrt(len(fits))
    assert np.mean([holds(fit.conf_int()[NAME], 840) for fit in fits]) >= 0.88


def test_the_profile_is_the_likelihood_maximised_over_slope_and_ties():
    """The reported log-likelihood is that of the reported parameters, and nothing around is higher."""
    pairs = drawn_pairs(SimulatedJudges(patience_chars=840, per_topic=7))
    fit = fitted(pairs)
    at = {
        "kappa": 1 / fit.params[NAME],
        "slope": fit.details["slope"],
        "tie": math.log(fit.details["tie_weight"]),
    }

    def loglik(kappa: float, slope: float, tie: float) -> float:
        difference = pairs.differences(np.array([kappa]))
        return float(log_likelihood(difference, pairs.votes, np.array([slope]), np.array([tie]))[0])

    assert loglik(**at) == pytest.approx(fit.loglik)
    for name, step in (("kappa", 1e-6), ("slope", 1e-3), ("tie", 1e-3)):
        for sign in (-1, 1):
            assert loglik(**(at | {name: at[name] + sign * step})) < fit.loglik


def test_the_search_for_the_best_patience_looks_on_both_sides_of_it():
    """A point that differs from the best by rounding alone would hide everything beyond it."""
    for seed in range(30):
        pairs = drawn_pairs(SimulatedJudges(patience_chars=840, per_topic=7), seed=seed, topics=4)
        grid = kappa_grid(pairs)
        profile = maximised(pairs, pairs.votes, profile_at(grid, pairs.differences(grid), pairs.votes))

        assert np.diff(profile.kappa).min() > 1e-6 * grid[1]


def test_the_scores_of_judgments_are_the_gradient_of_the_likelihood():
    """Against finite differences; they carry what judgments of a topic, and of a person, have in common."""
    pairs = drawn_pairs(SimulatedJudges(patience_chars=840, per_topic=7), topics=3)
    place = np.array([0.0011, 0.12, -0.4])

    def loglik(kappa: float, slope: float, tie: float) -> float:
        difference = pairs.differences(np.array([kappa]))
        return float(log_likelihood(difference, pairs.votes, np.array([slope]), np.array([tie]))[0])

    steps = np.diag([1e-8, 1e-6, 1e-6])
    numeric = [(loglik(*(place + s)) - loglik(*(place - s))) / (2 * s.max()) for s in steps]
    rows, matrix = score_rows(pairs, ProfileMaximum(*place)), information(pairs, ProfileMaximum(*place))

    assert rows.scores.sum(axis=0) == pytest.approx(numeric, rel=1e-4)
    assert np.linalg.eigvalsh(matrix).min() > 0
    assert matrix == pytest.approx(matrix.T)


def test_the_information_is_the_curvature_where_votes_are_as_expected():
    """Minus the derivative of the score, against finite differences; it sets the scale of the design effect."""
    pairs = drawn_pairs(SimulatedJudges(patience_chars=840, per_topic=7), topics=3)
    place = np.array([0.0011, 0.12, -0.4])
    chances = choice_probabilities(place[1] * pairs.differences(place[:1])[0], place[2:])
    expected = replace(
        pairs, judgments=None, votes=Votes(first=7 * chances[0], second=7 * chances[1], ties=7 * chances[2])
    )

    def score(at: np.ndarray) -> np.ndarray:
        return score_rows(expected, ProfileMaximum(*at)).scores.sum(axis=0)

    steps = np.diag([1e-9, 1e-6, 1e-6])
    numeric = [(score(place + s) - score(place - s)) / (2 * s.max()) for s in steps]
    assert information(expected, ProfileMaximum(*place)) == pytest.approx(-np.array(numeric), rel=1e-3)


def test_the_design_effect_is_the_clustered_variance_over_the_models():
    """Topics are the clusters, with the usual Q / (Q - 1)."""
    pairs = drawn_pairs(SimulatedJudges(patience_chars=840, per_topic=14, unexplained_sd=0.8))
    fit = fitted(pairs)
    place = 1 / fit.params[NAME], fit.details["slope"], math.log(fit.details["tie_weight"])
    place = ProfileMaximum(*place)
    scores = np.zeros((8, 3))
    np.add.at(scores, pairs.topic[pairs.judgments.pair], score_rows(pairs, place).scores)
    model = np.linalg.inv(information(pairs, place))
    clustered = 8 * model @ np.cov(scores, rowvar=False) @ model

    assert fit.details["design_effect"] > 1
    assert fit.details["design_effect"] == pytest.approx(clustered[0, 0] / model[0, 0], rel=1e-3)


def test_patience_is_measured_in_the_characters_of_the_positions():
    """Offsets twice as long give a patience twice as long, with the same evidence."""
    pairs = drawn_pairs(SimulatedJudges(patience_chars=840, per_topic=7))
    summaries = pairs.summaries
    longer = replace(summaries, offset=2 * summaries.offset, weight=7 * summaries.weight)
    scaled = replace(pairs, summaries=longer)

    one, two = fitted(pairs), fitted(scaled)
    assert two.params[NAME] == pytest.approx(2 * one.params[NAME], rel=1e-6)
    assert np.array(two.conf_int()[NAME]) == pytest.approx(2 * np.array(one.conf_int()[NAME]), rel=1e-4)
    assert two.loglik == pytest.approx(one.loglik)


def test_without_decay_the_patience_is_infinite_and_has_a_lower_end():
    """kappa = 0 is an ordinary boundary point: an estimate with an interval that is open above."""
    judges = SimulatedJudges(patience_chars=math.inf, effect=3.0)
    data = [drawn_pairs(judges, seed=seed) for seed in range(3)]
    fits = [fitted(pairs) for pairs in data]
    infinite = [(fit, pairs) for fit, pairs in zip(fits, data, strict=True) if fit.params[NAME] == math.inf]

    assert infinite
    assert all("infinite_patience" in {note.name for note in fit.diagnostics} for fit, _ in infinite)
    assert not any(warned(fit, pairs) for fit, pairs in infinite)
    for low, high in (fit.conf_int()[NAME] for fit in fits):
        assert low > 2000
        assert high is None


def test_a_patience_beyond_all_texts_is_said_to_be_weakly_known(seeds):
    """Below a likelihood ratio of 10 against no decay a patience should not be quoted alone."""
    data = [drawn_pairs(SimulatedJudges(patience_chars=4000, per_topic=7), seed=seed) for seed in seeds(20)]
    fits = [fitted(pairs) for pairs in data]
    weak = [0 < fit.details["lr_no_decay"] < 10 for fit in fits]

    assert any(weak)
    assert weak == ["weak_decay" in warned(fit, pairs) for fit, pairs in zip(fits, data, strict=True)]


def test_preferences_against_the_metric_are_refused():
    """A slope below 0 would make the best patience the one that is wrong in the best way."""
    with pytest.raises(NotIdentifiedError, match="runs against the preferences"):
        fitted(drawn_pairs(SimulatedJudges(patience_chars=840, per_topic=14, effect=-3.0)))


def test_ties_alone_tell_nothing():
    """Nobody preferred a system, so no metric can explain whom."""
    table = positions(("q1", "A", "u1", 2, 100), ("q1", "B", "u1", 2, 300))

    with pytest.raises(NotIdentifiedError, match="every judgment is a tie"):
        fitted(summary_pairs(votes(("q1", "A", "B", 0, 0, 5)), table, ONE_INTENT))


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([("q1", "A", "u1", 2, 100), ("q1", "B", "u1", 2, 100)], "the same for both summaries"),
        ([("q1", "A", "u1", 0, 100), ("q1", "B", "u1", 0, 300)], "no summary has an iUnit of any importance"),
    ],
)
def test_what_tells_no_systems_apart_is_refused_with_the_reason(rows, reason):
    """The line on stderr should tell the researcher what to mend."""
    with pytest.raises(NotIdentifiedError, match=reason):
        fitted(summary_pairs(votes(("q1", "A", "B", 3, 1, 0)), positions(*rows), ONE_INTENT))


def test_a_single_topic_gives_an_estimate_without_an_interval():
    """What differs between topics cannot be seen in one: its spread is not zero but unknown."""
    fit = fitted(drawn_pairs(SimulatedJudges(patience_chars=840, per_topic=30, effect=3.0), topics=1))

    assert fit.params[NAME] == pytest.approx(840, rel=0.3)
    assert fit.conf_int()[NAME] == (None, None)
    assert "one_topic" in [note.name for note in fit.diagnostics]


def test_judgments_that_repeat_within_a_topic_do_not_narrow_the_interval():
    """Ten times the same votes are no ten times the evidence: the design effect takes it back."""
    pairs = drawn_pairs(SimulatedJudges(patience_chars=840, effect=3.0, unexplained_sd=0.8))
    given = pairs.votes
    once = replace(pairs, judgments=None)
    copied = replace(
        once, votes=Votes(first=10 * given.first, second=10 * given.second, ties=10 * given.ties)
    )

    once, ten = fitted(once), fitted(copied)
    assert ten.details["design_effect"] == pytest.approx(10 * once.details["design_effect"])
    assert np.array(ten.conf_int()[NAME]) == pytest.approx(np.array(once.conf_int()[NAME]), rel=1e-6)


def test_leaving_a_topic_out_is_fitting_without_it():
    """The values behind the jackknife, and behind judging a topic by the others."""
    pairs = drawn_pairs(SimulatedJudges(patience_chars=840, per_topic=7), topics=3)
    kept = pairs.topic != 1
    without = type(pairs)(
        topics=("Q000", "Q002"),
        topic=pairs.topic[kept] // 2,
        first=pairs.first[kept],
        second=pairs.second[kept],
        votes=pairs.votes.of(kept),
        summaries=pairs.summaries,
        left_out=0,
    )

    kappa = without_each_group(pairs, pairs.differences(kappa_grid(pairs)))
    assert 1 / kappa[1] == pytest.approx(fitted(without).params[NAME])


def test_pairs_without_positions_are_a_diagnostic():
    """Those left out are named, with how many there are."""
    table = positions(
        *[
            (f"q{n}", s, u, g, o)
            for n in range(4)
            for s, u, g, o in [("A", "u1", 3, 100 + n), ("B", "u1", 3, 900)]
        ]
    )
    rows = [(f"q{n}", "A", "B", 10 + n, 2, 1) for n in range(4)]
    pairs = summary_pairs(votes(*rows, ("q0", "A", "Z", 1, 1, 1)), table, ONE_INTENT)

    assert warned(fitted(pairs), pairs) == ["pairs_without_positions"]
    assert findings(fitted(pairs), pairs)["pairs_without_positions"].sentence.startswith("1 judged pairs")


def test_votes_that_follow_m_without_exception_are_refused_with_the_range():
    """A range of patiences explains everything there is: an interval would say nothing of how far beyond it the truth may lie."""
    perfect = SimulatedJudges(patience_chars=840, per_topic=7, effect=1e4, tie_weight=1e-9, sensitivity_sd=0)

    with pytest.raises(NotIdentifiedError, match=r"at patiences from .* \(complete separation\)"):
        fitted(drawn_pairs(perfect))


@pytest.mark.parametrize("seed", range(3))
def test_people_who_answer_without_reading_give_no_patience(seed):
    """Clicks at random have a best patience too, in half of the studies with the right sign."""
    clicks = SimulatedJudges(patience_chars=840, per_topic=7, effect=0.0)

    with pytest.raises(NotIdentifiedError, match="nothing shows that M matters"):
        fitted(drawn_pairs(clicks, seed=seed))


def test_the_same_people_on_all_topics_are_fewer_than_their_judgments(seeds):
    """Ten people whose patience differs, on 25 topics: the variance by people counts too, with nine degrees of freedom."""
    judges = SimulatedJudges(patience_chars=840, people=10, patience_cv=0.8)
    pairs = [drawn_pairs(judges, topics=25, seed=seed) for seed in seeds(30, least=6)]
    crossed = [fitted(one) for one in pairs]
    by_topic = [fitted(replace(one, judgments=None)) for one in pairs]

    assert np.mean([holds(fit.conf_int()[NAME], 840) for fit in crossed]) >= 0.8
    assert np.mean([holds(fit.conf_int()[NAME], 840) for fit in by_topic]) <= 0.6
    place = ProfileMaximum(
        1 / crossed[0].params[NAME], crossed[0].details["slope"], math.log(crossed[0].details["tie_weight"])
    )
    assert design(pairs[0], place).df == pytest.approx(9)


def test_the_fit_does_not_depend_on_the_order_of_rows():
    """Tables may come sorted by worker or by time."""
    table = positions(
        *[(f"q{n}", s, s, 3, 60 * n + 100 * k) for n in range(4) for k, s in enumerate(("A", "B"))]
    )
    judged = votes(*[(f"q{n}", "A", "B", 20 - 4 * n, 4 * n, 4) for n in range(4)])
    shuffled = judged.sample(frac=1, random_state=1), table.sample(frac=1, random_state=2)

    straight, turned = (fitted(summary_pairs(*tables, ONE_INTENT)) for tables in ((judged, table), shuffled))
    assert straight.params[NAME] == pytest.approx(turned.params[NAME])


def unequal(seed: int) -> JudgedSummaries:
    """Return judgments of eight topics, one of which has some 70 % of them."""
    pairs = drawn_pairs(
        SimulatedJudges(patience_chars=840, per_topic=60, effect=1.5, unexplained_sd=0.4), seed=seed
    )
    judgments = pairs.judgments
    rng = np.random.default_rng(seed)
    kept = (pairs.topic[judgments.pair] == 0) | (rng.random(len(judgments.pair)) < 3 / 49)
    return pairs.of_judgments(kept)


def test_a_topic_with_most_of_the_judgments_is_no_sample_of_topics(seeds):
    """Eight topics that tell as much as two: the degrees of freedom are theirs, the interval is wide, and it is said."""
    data = [unequal(seed) for seed in seeds(60, least=12)]
    fits = [fitted(pairs) for pairs in data]

    assert np.mean([holds(fit.conf_int()[NAME], 840) for fit in fits]) >= 0.9
    assert design(data[0], fits[0].place).df < 3
    said = findings(fits[0], data[0])["few_topics"]
    assert said.severity == "warning"
    assert said.sentence.startswith(
        "8 topics, of which one has 69 % of the judgments, count as 2.0 equal ones"
    )
    even = drawn_pairs(SimulatedJudges(patience_chars=840, per_topic=7))
    assert design(even, fitted(even).place).df == pytest.approx(7)
    assert findings(fitted(even), even)["few_topics"].sentence.startswith("8 topics are few")
