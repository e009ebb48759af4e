"""People who are not as the model of patience says: the interval holds, or the cause is named, or nothing is said."""

import numpy as np
import pandas as pd
import pytest

from calibration.checks.finding import Finding
from calibration.checks.patience.decay_form import nearest_line
from calibration.checks.patience.patience_differs import stop_residuals
from calibration.fit.findings import checked
from calibration.inference.clusters import p_shared_effect
from calibration.inference.results import CalibrationResult
from calibration.inference.uncertainty import LikelihoodCurve
from calibration.models.patience.preferences import NAME, fit_patience_from_preferences
from calibration.models.patience.simulate import Habits, SimulatedJudges, simulate_stops
from calibration.models.patience.stops import NAME as STOPS
from calibration.models.patience.stops import (
    Stops,
    fit_patience_from_stops,
    reading_curve,
    screen_step,
    stops_of_texts,
)
from tests.calibration.checks.patience_findings import findings
from tests.calibration.studies import drawn_pairs

SEEDS = range(3)
FEW = range(2)
"""Studies of judges take longer."""

Study = tuple[CalibrationResult, dict[str, Finding]]


def judged(seed: int, *, topics: int = 25, patience: float = 840, **people) -> Study:
    """Return the fit to the same 12 people on all topics, and what its checks say."""
    judges = SimulatedJudges(patience_chars=patience, people=12, effect=1.5, **people)
    pairs = drawn_pairs(judges, topics=topics, seed=seed)
    fit = fit_patience_from_preferences(pairs, n_workers=12)
    return fit, findings(fit, pairs)


def stopped(seed: int, *, workers: int = 80, texts_each: int = 5, **habits) -> Study:
    rng = np.random.default_rng([seed, 11])
    table = simulate_stops(1500, rng, workers=workers, texts_per_worker=texts_each, habits=Habits(**habits))
    return of_table(table)


def of_table(table: pd.DataFrame) -> Study:
    stops = stops_of_texts(table)
    fit = fit_patience_from_stops(stops, rng=np.random.default_rng(0), resamples=200)
    return fit, findings(fit, stops)


def warned(study: Study) -> list[str]:
    """Return the names of warnings; 12 people are few in any case."""
    said = [name for name, finding in study[1].items() if finding.severity == "warning"]
    return [name for name in said if name != "few_workers"]


def holds(interval, truth: float) -> bool:
    low, high = interval
    return (low is None or low <= truth) and (high is None or truth <= high)


# --- judges


def test_judges_who_are_as_the_model_says_give_no_warning():
    """Tastes and sensitivities of their own belong to the model: a warning that always speaks is read by nobody."""
    studies = [judged(seed, unexplained_sd=0.3) for seed in FEW]

    assert not any(warned(study) for study in studies)


def test_patience_that_differs_between_judges_is_named_and_measured():
    """Its spread is fitted over people; the interval of the one L holds the median, which stands beside it."""
    studies = [judged(seed, patience_cv=0.6) for seed in FEW]

    assert all(warned(study) == ["patience_differs"] for study in studies)
    assert sum(holds(fit.conf_int()[NAME], 840) for fit, _ in studies) >= 1
    for _, said in studies:
        (law,) = said["patience_differs"].sensitivity[NAME]
        assert law.estimate == pytest.approx(840, rel=0.3)


def test_an_exponential_decay_is_named_beside_the_number():
    """The L stays that of the line; the sentence has the 1/e length, and the line nearest to that form is beside it."""
    studies = [judged(seed, decay="exponential", sensitivity_sd=0.0) for seed in FEW]

    assert sum(warned(study) == ["decay_exponential"] for study in studies) >= 1
    for fit, said in studies:
        (law, *_) = next(one for name, one in said.items() if name.startswith("decay")).sensitivity[NAME]
        low, high = fit.conf_int()[NAME]
        assert fit.params[NAME] > 1.2 * 840
        assert law.law == "exponential decay"
        assert low > 840
        assert low < law.estimate < high


def test_a_decay_in_one_step_is_named_with_its_place():
    """All of 840 characters counts and nothing beyond: the linear L is far longer, the sentence has the step."""
    fit, said = judged(FEW[0], decay="step", sensitivity_sd=0.0)
    sentence = said["decay_step"].sentence

    assert fit.params[NAME] > 1.2 * 840
    assert float(sentence.partition("any more after ")[2].split()[0]) == pytest.approx(840, rel=0.1)


def test_a_hyperbolic_decay_is_named_with_its_half_length():
    """Interest that falls like 1 / (1 + x / L) has a long tail: the linear L is nearly three times the length after which a half is left.

    An exponential decay explains nearly as much, and the sentence has its length too.
    """
    fit, said = judged(FEW[0], patience=300, decay="hyperbolic", sensitivity_sd=0.0)
    sentence = said["decay_hyperbolic"].sentence

    assert fit.params[NAME] > 2 * 300
    assert float(sentence.partition("to a half after ")[2].split()[0]) == pytest.approx(300, rel=0.25)
    assert "An exponential decay: worth falls to 1/e after " in sentence


def test_the_nearest_line_to_a_line_is_itself():
    """And of other forms the L that the linear model finds in the votes that they expect."""
    pairs = drawn_pairs(SimulatedJudges(patience_chars=840, people=12, effect=1.5))
    fit = fit_patience_from_preferences(pairs, n_workers=12)

    assert nearest_line(pairs, fit.place, "linear") == pytest.approx(fit.params[NAME], rel=1e-3)


def test_checks_of_the_form_change_no_number_and_no_interval():
    """An L of another model is no part of an interval for L."""
    pairs = drawn_pairs(
        SimulatedJudges(patience_chars=840, people=12, effect=1.5, decay="exponential"), topics=25
    )
    fit = fit_patience_from_preferences(pairs, n_workers=12)
    noted, _ = checked(fit, pairs)

    assert noted.conf_int() == fit.conf_int()
    assert isinstance(fit.uncertainty["likelihood_ratio"], LikelihoodCurve)
    assert NAME in noted.sensitivity


def test_judges_who_answer_by_chance_are_counted_and_not_left_out():
    """How many they are, and the patience without them."""
    studies = [judged(seed, careless=0.25) for seed in FEW]
    said = [found["answers_by_chance"] for _, found in studies if "answers_by_chance" in found]

    assert len(said) >= 1
    assert all(
        "answer as if by chance" in one.sentence and "without them it is" in one.sentence for one in said
    )
    assert all(one.sensitivity[NAME][0].law.startswith("without ") for one in said)
    assert not any("W0" in one.sentence for one in said)
    assert all(fit.n_rows == 12 * 25 * 21 for fit, _ in studies)


# --- readers


def test_readers_who_are_as_the_model_says_give_no_warning():
    """Texts of their own, or twelve texts that all read."""
    studies = [stopped(seed) for seed in SEEDS] + [_of_texts(seed, texts=12) for seed in SEEDS]

    assert sum(bool(warned(study)) for study in studies) <= 1


def test_patience_that_differs_between_readers_is_named_and_measured():
    """By what a person's stops have in common; other causes of a bent curve are notes."""
    studies = [stopped(seed, patience_cv=0.6) for seed in SEEDS]

    assert all(warned(study) == ["patience_differs"] for study in studies)


def test_texts_of_different_interest_count_as_drawn_from_many():
    """The same twelve texts for all: the interval is by people and texts, whether or not a test says that they differ."""
    studies = [_of_texts(seed, texts=12, text_sd=0.4) for seed in SEEDS]

    assert all(warned(study) == ["texts_differ"] for study in studies)
    assert all(next(iter(fit.uncertainty)) == "worker_and_text" for fit, _ in studies)
    assert sum(holds(fit.conf_int()[STOPS], 1500) for fit, _ in studies) >= 2
    assert next(iter(_of_texts(0, texts=12)[0].uncertainty)) == "worker_and_text"


def _of_texts(seed: int, **habits) -> Study:
    return stopped(seed, workers=60, texts_each=6, **habits)


@pytest.mark.parametrize("habit", ["finishers", "quitters"])
def test_readers_who_always_stop_alike_are_counted_and_not_left_out(habit):
    """Who scroll to the end, or never leave the first lines: the patience without them stands beside."""
    studies = [stopped(seed, **{habit: 0.2}) for seed in SEEDS]

    assert all(warned(study)[:1] == ["alike_stops"] for study in studies)
    without = [said["alike_stops"].sensitivity[STOPS][0].estimate for _, said in studies]
    assert np.median(without) == pytest.approx(1500, rel=0.06)
    assert all(fit.n_workers == 80 for fit, _ in studies)


def test_stops_that_fall_off_exponentially_are_named():
    """The nearest line is far longer than the length after which 1/e still read, and is the L that is given."""
    studies = [stopped(seed, exponential=True) for seed in SEEDS]

    assert sum("decay_exponential" in warned(study) for study in studies) >= 2
    for fit, said in studies:
        assert said["decay_exponential"].sensitivity[STOPS][0].estimate == pytest.approx(
            fit.params[STOPS], rel=0.1
        )


def test_a_straight_curve_is_accepted_and_a_bent_one_is_not():
    """Uniform stops against stops that most people make late: 1 - (x / L)^2 still read."""
    late = simulate_stops(1500, np.random.default_rng(4), workers=100, shortest=1.1)
    late["chars_read"] = 1500 * np.sqrt(np.random.default_rng(5).random(len(late)))
    late["reached_end"] = False
    straight, bent = of_table(simulate_stops(1500, np.random.default_rng(4), workers=100)), of_table(late)

    assert straight[1]["straight_survival_curve"].p_value > 0.05
    assert "straight_survival_curve" in warned(bent)
    never = of_table(late.assign(reached_end=True))
    assert "straight_survival_curve" not in never[1]


def test_stops_known_to_a_screen_are_not_taken_for_exact():
    """A screen of 300 characters shows up to 300 more than was read: 150 too many on average."""
    studies = [stopped(seed, screen_chars=300.0) for seed in SEEDS]

    assert not any(warned(study) for study in studies)
    assert all("multiples of 300 characters" in said["stops_by_screen"].sentence for _, said in studies)
    assert np.mean([fit.params[STOPS] for fit, _ in studies]) == pytest.approx(1500, rel=0.03)
    assert sum(holds(fit.conf_int()[STOPS], 1500) for fit, _ in studies) >= 2


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
    return stops_of_texts(table)


def test_readers_whose_stops_are_ends_of_screens_are_not_taken_for_different_people():
    """Many stops share a place, and the order in which their readers are listed says nothing about these."""
    data = [by_screens_of_500(seed) for seed in range(8)]
    chances = [p_shared_effect(stop_residuals(stops), stops.worker) for stops in data]

    assert sum(chance < 0.01 for chance in chances) <= 1
    assert np.median(chances) > 0.2


def test_the_error_of_stops_by_screen_is_that_of_the_whole_estimate():
    """The last screen is filled up to the patience that is fitted: without an eighth of the readers that end moves too."""
    stops = by_screens_of_500(1)
    curve = reading_curve(stops)
    kappa = curve.line()
    without = [stops.worker % 8 != group for group in range(8)]
    quick = curve.kappas(np.array(without, dtype=np.float64)) - kappa
    whole = np.array([reading_curve(stops.of(rest)).line() for rest in without]) - kappa

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
        fit_patience_from_stops(stops_of_texts(table), rng=np.random.default_rng(0), resamples=2).params[
            STOPS
        ]
        for table in (seen, seen.assign(chars_least=np.nan))
    )

    assert known == pytest.approx(1500, rel=0.05)
    assert taken_as_exact > 1600


def test_stops_in_round_numbers_may_be_rounded_to_the_nearest_or_be_ends_of_screens():
    """Rounded to 300 characters, L is 150 longer than of screens of 300: that stands beside, and a column that says more ends it."""
    exact = simulate_stops(1500, np.random.default_rng(6), workers=150)
    read = np.where(exact["reached_end"], exact["text_chars"], np.round(exact["chars_read"] / 300) * 300)
    read = np.minimum(read, exact["text_chars"])
    rounded = exact.assign(chars_read=read)
    (either, said), (_, told) = (
        of_table(table) for table in (rounded, rounded.assign(chars_least=np.maximum(read - 300, 0)))
    )
    (law,) = said["stops_by_screen"].sensitivity[STOPS]

    assert either.params[STOPS] < 1400
    assert not holds(either.conf_int()[STOPS], 1500)
    assert law.low < 1500 < law.high
    assert not told["stops_by_screen"].sensitivity


def test_the_length_of_a_screen_is_found_from_stops_that_are_its_multiples():
    """Not from a few of them, nor from stops that lie anywhere."""
    assert screen_step(np.array([300.0, 600, 600, 900, 300, 1200, 600, 300])) == 300
    assert screen_step(np.array([300.0, 600, 900])) is None
    assert screen_step(np.array([310.0, 600, 655, 900, 300, 1207, 611, 333])) is None
