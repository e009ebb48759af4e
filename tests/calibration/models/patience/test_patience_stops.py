"""Patience from stops: the curve, the line closest to it, and whose stops count."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from statsmodels.duration.survfunc import SurvfuncRight

from calibration.fit.findings import checked as with_findings
from calibration.inference.results import CalibrationResult, NotIdentifiedError
from calibration.models.patience.simulate import Habits, simulate_stops
from calibration.models.patience.stops import (
    NAME,
    SCREEN_CHARS,
    fit_patience_from_stops,
    line_fits,
    longest_versions,
    stops_of_texts,
    survival_curves,
)
from calibration.tables.files import check_frame
from calibration.tables.tables import TABLES


def fitted(stops: pd.DataFrame, *, seed: int = 0, resamples: int = 300, **more) -> CalibrationResult:
    rng = np.random.default_rng(seed)
    return fit_patience_from_stops(stops_of_texts(stops, **more), rng=rng, resamples=resamples)


def stops(*rows: dict[str, object]) -> pd.DataFrame:
    """Return table stops; each row stopped at 600 of 1500 characters unless it says otherwise."""
    usual = {"topic": "q", "system": "A", "chars_read": 600, "text_chars": 1500, "reached_end": False}
    named = [usual | {"worker": f"w{number}"} | row for number, row in enumerate(rows)]
    return check_frame(pd.DataFrame(named), TABLES["stops"])


def notes(table: pd.DataFrame) -> dict[str, str]:
    """Return the sentences of a fit and of its checks by name."""
    data = stops_of_texts(table)
    fit, _ = with_findings(fit_patience_from_stops(data, rng=np.random.default_rng(0), resamples=20), data)
    return {note.name: note.sentence for note in fit.diagnostics}


# --- the curve and the line


@given(
    st.lists(st.tuples(st.integers(1, 9), st.booleans(), st.integers(1, 3)), min_size=1, max_size=20),
)
def test_the_curve_is_that_of_kaplan_and_meier(rows):
    """Against statsmodels, with ties between stops and ends of texts, and with rows that count several times."""
    rows.sort(key=lambda row: (row[0], not row[1]))
    read, stopped, times = (np.array(column) for column in zip(*rows, strict=True))
    reference = SurvfuncRight(np.repeat(read, times), np.repeat(stopped, times).astype(int))
    positions = np.arange(0.5, 10)
    expected = [np.append(1.0, reference.surv_prob)[(reference.surv_times <= x).sum()] for x in positions]

    curve = survival_curves(read.astype(float), stopped, times[None].astype(float), positions)[0]
    # statsmodels ends its curve where nobody is left at risk; ours stays as it was
    np.testing.assert_allclose(curve, expected, atol=1e-12)


@given(st.lists(st.floats(0, 1), min_size=5, max_size=30), st.integers(0, 3))
def test_the_line_is_the_closest_of_all(drops, seed):
    """The exact minimum over parabolas against a fine search over kappa."""
    positions = np.linspace(10, 900, len(drops))
    curve = np.sort(drops)[::-1]

    def distance(kappa: float) -> float:
        return float(((curve - np.maximum(0, 1 - kappa * positions)) ** 2).sum())

    found = line_fits(curve[None], positions)[0]
    tried = np.concatenate([np.linspace(0, 1 / positions[0], 2000), 1 / positions])
    best = min(tried, key=distance)
    finer = minimize_scalar(distance, bounds=(max(0, best - 1e-4), best + 1e-4), method="bounded").x
    assert distance(found) <= min(distance(best), distance(finer)) + 1e-9


def test_a_curve_that_is_a_line_gives_its_end():
    """S(x) = 1 - x / 1500 is the decay of a patience of 1500, seen to its end or only to the middle."""
    for last in (700.0, 1500.0, 4000.0):
        positions = np.linspace(last / 200, last, 200)
        assert 1 / line_fits(np.maximum(0, 1 - positions / 1500)[None], positions) == pytest.approx(1500)


# --- recovery


@pytest.mark.parametrize(("workers", "texts"), [(60, 4), (20, 20)])
def test_a_known_patience_is_found_again_and_its_interval_holds_it(workers, texts, seeds):
    """Uniform stops on texts from .2 to 1.6 times the patience, many of them read to the end."""
    fits = [
        fitted(
            simulate_stops(1500, np.random.default_rng([seed, 7]), workers=workers, texts_per_worker=texts)
        )
        for seed in seeds(100)
    ]
    errors = np.log([fit.parameters[NAME] / 1500 for fit in fits])

    assert abs(errors.mean()) < 3 * errors.std() / math.sqrt(len(fits))
    held = [low <= 1500 <= high for low, high in (fit.conf_int()[NAME] for fit in fits)]
    assert np.mean(held) >= 0.88


def test_the_unit_of_the_interval_is_the_worker():
    """A person's texts are alike: fifty texts of six people are no three hundred stops."""
    rng = np.random.default_rng(3)
    own = rng.uniform(500, 3000, 6).repeat(50)
    rows = stops(
        *[
            {"worker": f"w{n // 50}", "chars_read": x, "text_chars": 3000}
            for n, x in enumerate(rng.random(300) * own)
        ]
    )
    as_rows = rows.assign(worker=[f"row{n}" for n in range(len(rows))])

    def width(table: pd.DataFrame) -> float:
        low, high = fitted(table).conf_int()[NAME]
        return math.log(high / low)

    assert width(rows) > 2 * width(as_rows)


def test_dropping_texts_read_to_the_end_would_halve_the_patience():
    """The naive way, twice the median of those who stopped, against the censored curve."""
    table = simulate_stops(1500, np.random.default_rng(1), workers=300, longest=0.8)
    naive = 2 * table.loc[~table["reached_end"].astype(bool), "chars_read"].median()

    assert fitted(table).parameters[NAME] == pytest.approx(1500, rel=0.1)
    assert naive < 0.6 * 1500


# --- whose stops count


def test_texts_side_by_side_and_texts_of_one_screen_do_not_count():
    """There a stop measures the screen; how many were left out is said."""
    counted = [{"chars_read": x} for x in range(100, 1500, 100)]
    others = [
        {"chars_read": 1, "layout": "side_by_side"},
        {"chars_read": 1, "text_chars": SCREEN_CHARS["en"], "system": "B"},
    ]

    with_others, alone = fitted(stops(*counted, *others)), fitted(stops(*counted))
    assert with_others.parameters == alone.parameters
    assert with_others.n_rows == len(counted)
    assert (
        "1 texts stood side by side, 1 fit on one screen" in notes(stops(*counted, *others))["stops_not_used"]
    )


def test_visits_to_streams_count_only_where_no_text_was_judged():
    """How far somebody comes in a stream is a matter of time, too; in a study of both it would pull L."""
    judged = [{"chars_read": x, "judgment": f"J{x}"} for x in range(100, 1500, 100)]
    visits = [{"chars_read": x} for x in range(50, 400, 50)]

    both = fitted(stops(*judged, *visits))
    assert both.parameters == fitted(stops(*judged)).parameters
    assert "7 are visits to streams beside judged texts" in notes(stops(*judged, *visits))["stops_not_used"]
    assert fitted(stops(*visits)).n_rows == len(visits)


def test_stops_of_visits_alone_are_no_patience_with_texts():
    """Time ends a visit, too; rows that name a judgment or a layout are texts."""
    visits = [{"chars_read": x} for x in range(50, 400, 50)]

    assert "from_visits" in notes(stops(*visits))
    for text in ({"judgment": "J"}, {"layout": "stacked"}):
        assert "from_visits" not in notes(stops(*[visit | text for visit in visits]))


def test_nothing_is_said_of_left_out_texts_where_all_count():
    """A sentence of zeros tells nobody anything."""
    rows = [{"chars_read": x} for x in range(100, 1500, 100)]

    assert "stops_not_used" not in notes(stops(*rows))
    assert "stops_not_used" in notes(stops(*rows, {"layout": "side_by_side"}))


def test_an_absent_layout_counts_as_one_text_at_a_time():
    """Logs from elsewhere need not say how a text was shown; stacked ones count."""
    rows = [{"chars_read": x} for x in range(100, 1500, 100)]
    stacked = [row | {"layout": "stacked"} for row in rows]

    assert fitted(stops(*rows)).parameters == fitted(stops(*stacked)).parameters


def test_early_stops_in_a_two_layered_text_count():
    """Who stops before the link sees a short text: chosen by its own length, early stops would be missing."""
    rows = [{"text_chars": 300, "chars_read": 150}, {"text_chars": 900, "chars_read": 800}]

    assert longest_versions(stops(*rows)).to_list() == [900, 900]
    assert longest_versions(stops(*[row | {"system": None} for row in rows])).to_list() == [300, 900]


def test_a_screen_of_japanese_holds_fewer_characters():
    """300 characters are more than a screen in Japanese and less than one in English."""
    rows = stops(*[{"chars_read": x, "text_chars": 300} for x in range(20, 300, 20)])

    assert fitted(rows, language="ja").n_rows == len(rows)
    with pytest.raises(NotIdentifiedError, match="0 texts stood side by side, 14 fit on one screen"):
        fitted(rows, language="en")


def test_the_flag_says_whether_a_text_was_read_to_its_end():
    """chars_read may fall short of text_chars by rounding; the flag decides what is censored."""
    finished = [{"chars_read": 1499, "reached_end": True}] * 10
    stopped = [{"chars_read": x} for x in range(200, 1500, 300)]
    fit = fitted(stops(*finished, *stopped))

    assert fit.details["share_reading"] == pytest.approx(10 / 15)


def test_who_stops_where_a_text_ends_was_still_at_risk():
    """At equal positions stops come before ends of texts, whoever's row comes first."""
    end, stop = {"chars_read": 800, "text_chars": 800, "reached_end": True}, {"chars_read": 800}
    others = [{"chars_read": x} for x in (300, 1400)]

    fits = [fitted(stops(*rows, *others)).details for rows in ([end, stop], [stop, end])]
    curve = survival_curves(
        np.array([300.0, 800, 800, 1400]), np.array([1, 1, 0, 1], bool), np.ones((1, 4)), np.array([1000.0])
    )
    assert fits[0] == fits[1]
    assert curve == pytest.approx(np.array([[3 / 4 * 2 / 3]]))


# --- what cannot be told


def test_where_nobody_stopped_the_patience_is_infinite():
    """Null with a diagnostic; both ends of the interval are open."""
    fit = fitted(stops(*[{"chars_read": 1500, "reached_end": True}] * 5))

    assert fit.parameters[NAME] == math.inf
    assert fit.conf_int()[NAME] == (None, None)
    assert [note.name for note in fit.diagnostics] == ["infinite_patience"]


def test_a_patience_beyond_the_texts_is_called_extrapolated():
    """Above 30 % still reading at the end of the texts, L is a guess about text that was not there."""
    short = simulate_stops(1500, np.random.default_rng(1), workers=100, shortest=0.3, longest=0.4)

    assert "extrapolated" in notes(short)
    assert "extrapolated" not in notes(simulate_stops(1500, np.random.default_rng(1)))


def test_a_single_worker_gives_an_estimate_without_an_interval():
    """What differs between people cannot be seen in one."""
    fit = fitted(stops(*[{"worker": "w", "chars_read": x} for x in range(100, 1500, 100)]))

    assert fit.conf_int()[NAME] == (None, None)
    assert [note.name for note in fit.diagnostics] == ["one_worker"]


def test_a_fit_does_not_depend_on_the_order_of_rows():
    """The same people and stops give the same interval, however the file is sorted."""
    table = simulate_stops(1500, np.random.default_rng(5))
    shuffled = table.sample(frac=1, random_state=1)

    assert fitted(shuffled).conf_int() == fitted(table).conf_int()


def test_the_unit_of_length_goes_through():
    """Everything three times as long gives a patience three times as long, screens aside."""
    table = simulate_stops(1500, np.random.default_rng(5), shortest=0.9)
    longer = table.assign(chars_read=3 * table["chars_read"], text_chars=3 * table["text_chars"])

    assert fitted(longer).parameters[NAME] == pytest.approx(3 * fitted(table).parameters[NAME])


# --- what the fit offers


def test_a_fit_simulates_stops_of_its_own_kind():
    """Fitted again, they give the patience back."""
    fit = fitted(simulate_stops(1500, np.random.default_rng(4), workers=100), resamples=2)
    again = fitted(fit.simulate(1500, np.random.default_rng(1)), resamples=2)

    assert again.parameters[NAME] == pytest.approx(fit.parameters[NAME], rel=0.05)


def test_the_curve_is_drawn_with_its_line():
    """On axes of the caller's."""
    ax = pytest.importorskip("matplotlib.figure").Figure().subplots()
    fitted(simulate_stops(1500, np.random.default_rng(4)), resamples=2).plot_survival(ax)

    assert next(line.get_label() for line in ax.lines) == "Kaplan-Meier"
    assert ax.get_xlabel() == "position (counted characters)"


def test_the_envelope_holds_the_curve_of_a_study_from_the_model_and_no_other():
    """Half of the readers finish whatever the line says: their curve leaves the envelope."""
    figure = pytest.importorskip("matplotlib.figure")
    held = []
    for finishers in (0.0, 0.5):
        fit = fitted(
            simulate_stops(1500, np.random.default_rng(4), habits=Habits(finishers=finishers), workers=200),
            resamples=2,
        )
        ax = figure.Figure().subplots()
        fit.plot_survival(ax)
        around = (
            ax.collections[0]
            .get_paths()[0]
            .contains_points(np.column_stack([fit.positions, fit.curve]), radius=1e-9)
        )
        held.append(around.mean())

    assert held[0] > 0.9
    assert held[1] < 0.7
