"""People who are not as the model of patience says: the interval holds, or the cause is named, or nothing is said."""

from dataclasses import replace

import numpy as np
import pytest

from calibration.inference.results import CalibrationResult
from calibration.patience.preferences import NAME, fit_patience_from_preferences
from calibration.patience.profile import DecayForm, KappaProfile
from calibration.patience.readers import Stops, chance_that_readers_alike, read_stops, screen_step
from calibration.patience.simulate import Judges
from calibration.patience.stops import NAME as STOPS
from calibration.patience.stops import _curve, fit_patience_from_stops
from calibration.patience.stops_result import Habits, simulate_stops
from tests.calibration.studies import drawn_pairs

SEEDS = range(3)
FEW = range(2)
"""Studies of judges take longer."""

NOTHING = KappaProfile(kappa=np.zeros(1), slope=np.zeros(1), log_tie=np.zeros(1), loglik=np.zeros(1))


def warned(fit: CalibrationResult) -> list[str]:
    return [note.name for note in fit.diagnostics if note.severity == "warning"]


def judged(seed: int, *, topics: int = 25, patience: float = 840, **people) -> CalibrationResult:
    """Return the fit to the same 12 people on all topics."""
    judges = Judges(patience_chars=patience, people=12, effect=1.5, **people)
    pairs = drawn_pairs(judges, topics=topics, seed=seed)
    return fit_patience_from_preferences(pairs, n_workers=12, with_jackknife=False)


def stopped(seed: int, *, workers: int = 80, texts: int = 5, **habits) -> CalibrationResult:
    table = simulate_stops(
        1500,
        np.random.default_rng([seed, 11]),
        workers=workers,
        texts_per_worker=texts,
        habits=Habits(**habits),
    )
    return fit_patience_from_stops(table, rng=np.random.default_rng(0), resamples=200)


def holds(interval, truth: float) -> bool:
    low, high = interval
    return (low is None or low <= truth) and (high is None or truth <= high)


# --- judges


def test_judges_who_are_as_the_model_says_give_no_warning():
    """Tastes and sensitivities of their own belong to the model: a warning that always speaks is read by nobody."""
    fits = [judged(seed, unexplained_sd=0.3) for seed in FEW]

    assert sum(bool(warned(fit)) for fit in fits) == 0
    assert all(fit.spread.best < 0.2 for fit in fits)


def test_patience_that_differs_between_judges_is_named_and_measured():
    """Its spread is fitted over people; the interval of the one L holds the median."""
    fits = [judged(seed, patience_cv=0.6) for seed in FEW]

    assert all(warned(fit) == ["patience_differs"] for fit in fits)
    assert np.mean([fit.spread.best for fit in fits]) == pytest.approx(0.6, abs=0.2)
    spreads = [fit.spread.result("preferences").conf_int()["patience_chars_spread"] for fit in fits]
    assert sum(holds(interval, 0.6) for interval in spreads) >= 1
    assert sum(holds(fit.conf_int()[NAME], 840) for fit in fits) >= 1


def test_an_exponential_decay_is_named():
    """The linear L of such people is about 1.5 times the length after which worth has fallen to 1/e, which the sentence has."""
    fits = [judged(seed, decay="exponential", sensitivity_sd=0.0) for seed in FEW]

    assert [warned(fit) for fit in fits].count(["decay_exponential"]) >= 1
    assert all(fit.params[NAME] > 1.2 * 840 for fit in fits)


def test_a_decay_in_one_step_is_named_with_its_place():
    """All of 840 characters counts and nothing beyond: the linear L is far longer, the sentence has the step."""
    fit = judged(FEW[0], decay="step", sensitivity_sd=0.0)
    (sentence,) = (note.sentence for note in fit.diagnostics if note.name == "decay_step")

    assert fit.params[NAME] > 1.2 * 840
    assert float(sentence.partition("any more after ")[2].split()[0]) == pytest.approx(840, rel=0.1)


def test_a_hyperbolic_decay_is_named_with_its_half_length():
    """Interest that falls like 1 / (1 + x / L) has a long tail: the linear L is nearly three times the length after which a half is left.

    An exponential decay explains nearly as much, and the sentence has its length too.
    """
    fit = judged(FEW[0], patience=300, decay="hyperbolic", sensitivity_sd=0.0)
    (sentence,) = (note.sentence for note in fit.diagnostics if note.name == "decay_hyperbolic")

    assert fit.params[NAME] > 2 * 300
    assert float(sentence.partition("to a half after ")[2].split()[0]) == pytest.approx(300, rel=0.25)
    assert "An exponential decay does nearly as well: worth falls to 1/e after " in sentence


def test_judges_who_answer_by_chance_are_named_and_not_left_out():
    """Who they are, and the patience without them; who excludes them does so in the table workers."""
    fits = [judged(seed, careless=0.25) for seed in FEW]
    sentences = [note.sentence for fit in fits for note in fit.diagnostics if note.name == "careless_workers"]

    assert len(sentences) >= 1
    assert all("answer as if by chance" in text and "without them it is" in text for text in sentences)
    assert all(fit.n_rows == 12 * 25 * 21 for fit in fits)


# --- readers


def test_readers_who_are_as_the_model_says_give_no_warning():
    """Texts of their own, or twelve texts that all read."""
    fits = [stopped(seed) for seed in SEEDS]
    shared = [_of_texts(seed, texts=12) for seed in SEEDS]

    assert sum(bool(warned(fit)) for fit in [*fits, *shared]) <= 1


def test_patience_that_differs_between_readers_is_named_and_measured():
    """By what a person's stops have in common."""
    fits = [stopped(seed, patience_cv=0.6) for seed in SEEDS]

    assert all(warned(fit) == ["patience_differs"] for fit in fits)
    assert np.mean([fit.spread.best for fit in fits]) == pytest.approx(0.6, abs=0.1)
    assert all(fit.goodness_of_fit(9) == () for fit in fits)


def test_texts_of_different_interest_count_as_drawn_from_many():
    """The same twelve texts for all: the interval is by people and texts, and says so."""
    read = {"texts": 12, "text_sd": 0.4}
    fits = [_of_texts(seed, **read) for seed in SEEDS]

    assert all(warned(fit) == ["texts_differ"] for fit in fits)
    assert all(next(iter(fit.uncertainty)) == "worker_and_text" for fit in fits)
    assert sum(holds(fit.conf_int()[STOPS], 1500) for fit in fits) >= 2


def _of_texts(seed: int, **habits) -> CalibrationResult:
    table = simulate_stops(
        1500, np.random.default_rng([seed, 11]), workers=60, texts_per_worker=6, habits=Habits(**habits)
    )
    return fit_patience_from_stops(table, rng=np.random.default_rng(0), resamples=200)


@pytest.mark.parametrize("habit", ["finishers", "quitters"])
def test_readers_who_do_not_read_are_named_and_not_left_out(habit):
    """Who scroll to the end, or never leave the first lines: the sentence has the patience without them."""
    fits = [stopped(seed, **{habit: 0.2}) for seed in SEEDS]
    sentences = [note.sentence for fit in fits for note in fit.diagnostics if note.name == "careless_workers"]

    assert all(warned(fit)[:1] == ["careless_workers"] for fit in fits)
    without = [float(text.rstrip(".").rpartition(" ")[2]) for text in sentences]
    assert np.median(without) == pytest.approx(1500, rel=0.06)
    assert all(fit.n_workers == 80 for fit in fits)


def test_stops_that_fall_off_exponentially_are_named():
    """The closest line is far longer than the length after which 1/e still read."""
    assert sum("decay_exponential" in warned(stopped(seed, exponential=True)) for seed in SEEDS) >= 2


def test_stops_known_to_a_screen_are_not_taken_for_exact():
    """A screen of 300 characters shows up to 300 more than was read: 150 too many on average."""
    fits = [stopped(seed, screen_chars=300.0) for seed in SEEDS]

    assert not any(warned(fit) for fit in fits)
    assert all(
        any("multiples of 300 characters" in note.sentence for note in fit.diagnostics) for fit in fits
    )
    assert np.mean([fit.params[STOPS] for fit in fits]) == pytest.approx(1500, rel=0.03)
    assert sum(holds(fit.conf_int()[STOPS], 1500) for fit in fits) >= 2


def by_screens_of_500(seed: int) -> Stops:
    table = simulate_stops(
        1500,
        np.random.default_rng([seed, 12]),
        workers=80,
        texts_per_worker=5,
        shortest=0.6,
        longest=2.2,
        habits=Habits(screen_chars=500.0),
    )
    return read_stops(table.assign(longest=table["text_chars"]))


def test_readers_whose_stops_are_ends_of_screens_are_not_taken_for_different_people():
    """Many stops share a place, and the order in which their readers are listed says nothing about these."""
    chances = [chance_that_readers_alike(by_screens_of_500(seed)) for seed in range(8)]

    assert sum(chance < 0.01 for chance in chances) <= 1
    assert np.median(chances) > 0.2


def test_the_error_of_stops_by_screen_is_that_of_the_whole_estimate():
    """The last screen is filled up to the patience that is fitted: without an eighth of the readers that end moves too."""
    stops = by_screens_of_500(1)
    curve = _curve(stops)
    kappa = curve.line(with_finishers=False)[0]
    without = [stops.worker % 8 != group for group in range(8)]
    quick = curve.kappas(np.array(without, dtype=np.float64)) - kappa
    whole = np.array([_curve(stops.of(rest)).line(with_finishers=False)[0] for rest in without]) - kappa

    assert quick.std() == pytest.approx(whole.std(), rel=0.15)


def test_a_column_says_how_far_the_reader_surely_came():
    """As an export writes it; the longest screens may differ from page to page."""
    rng = np.random.default_rng(5)
    exact = simulate_stops(1500, rng, workers=150)
    screen = rng.uniform(200, 500, len(exact))
    read = np.minimum(np.ceil(exact["chars_read"] / screen) * screen, exact["text_chars"])
    seen = exact.assign(
        chars_read=read,
        chars_least=np.minimum(np.floor(exact["chars_read"] / screen) * screen, read),
        reached_end=read == exact["text_chars"],
    )
    known, taken_as_exact = (
        fit_patience_from_stops(table, rng=np.random.default_rng(0), resamples=2).params[STOPS]
        for table in (seen, seen.assign(chars_least=np.nan))
    )

    assert known == pytest.approx(1500, rel=0.05)
    assert taken_as_exact > 1600


def test_stops_in_round_numbers_may_be_rounded_to_the_nearest_or_be_ends_of_screens():
    """Rounded to 300 characters, L is 150 longer than of screens of 300: the interval holds both, and a column that says more ends it."""
    exact = simulate_stops(1500, np.random.default_rng(6), workers=150)
    read = np.where(exact["reached_end"], exact["text_chars"], np.round(exact["chars_read"] / 300) * 300)
    read = np.minimum(read, exact["text_chars"])
    rounded = exact.assign(chars_read=read)
    told = rounded.assign(chars_least=np.maximum(read - 300, 0))

    either, screens = (
        fit_patience_from_stops(table, rng=np.random.default_rng(0), resamples=100)
        for table in (rounded, told)
    )

    assert either.params[STOPS] < 1400
    assert holds(either.conf_int()[STOPS], 1500)
    assert not holds(screens.conf_int()[STOPS], 1500)
    assert any("the interval holds both" in note.sentence for note in either.diagnostics)


def test_the_length_of_a_screen_is_found_from_stops_that_are_its_multiples():
    """Not from a few of them, nor from stops that lie anywhere."""
    assert screen_step(np.array([300.0, 600, 600, 900, 300, 1200, 600, 300])) == 300
    assert screen_step(np.array([300.0, 600, 900])) is None
    assert screen_step(np.array([310.0, 600, 655, 900, 300, 1207, 611, 333])) is None


@pytest.mark.parametrize(
    ("gain", "p_value", "design_effect", "is_open"),
    [
        (1.0, 0.3, 1.0, True),
        (-1.5, 0.3, 1.0, True),
        (-2.5, 0.3, 1.0, False),
        (-2.5, 0.3, 2.0, True),
        (4.0, 0.001, 1.0, False),
        (4.0, 0.01, 1.0, True),
        (4.0, 0.001, 2.0, True),
    ],
)
def test_a_decay_in_one_step_that_explains_nearly_as_well_is_left_open(gain, p_value, design_effect, is_open):
    """Then the interval holds its length too; decisively better it is a warning, clearly worse it is out."""
    assert DecayForm("step", 500.0, gain, p_value, NOTHING, design_effect).is_open is is_open


@pytest.mark.parametrize(("lost", "is_open"), [(5.0, True), (3.0, False)])
def test_a_hyperbolic_decay_is_left_open_only_where_the_votes_bound_its_half_length(lost, is_open):
    """Few votes never exclude it with any half-length: it would leave the lower end of every small study open."""
    profile = replace(NOTHING, kappa=np.arange(2.0), loglik=np.array([0.0, -lost]))

    assert DecayForm("hyperbolic", 500.0, -1.0, 0.5, profile, 1.0).is_open is is_open
