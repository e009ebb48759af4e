"""The silence that ends a visit: told by the log where it can be, and how far the fits hang on it."""

import math
import re

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from calibration.inference.results import NotIdentifiedError
from calibration.models.durations.simulate import ObservationDesign, simulate_visits
from calibration.visits.simulate import ActivityLog, simulate_activity
from calibration.visits.threshold import (
    IDLE_SECONDS,
    idle_threshold,
    sensitivity_notes,
    threshold_sensitivity,
)
from metrics.msu.trails import Population
from tests.calibration.logs import activity, stays

HOURS = Population(
    away_mean_seconds=24 * 3600, away_sd_seconds=12 * 3600, session_mean_seconds=300, session_sd_seconds=150
)


def clicks(gaps: np.ndarray) -> pd.DataFrame:
    return activity(*(("a", float(seconds), "open") for seconds in np.cumsum(gaps)))


def test_the_threshold_lies_where_both_kinds_of_silence_are_as_likely():
    """Two normals on log seconds, 900 of median 5 s and 100 of median 5 h: against the equation solved by search."""
    rng = np.random.default_rng(1)
    gaps = np.concatenate([rng.lognormal(math.log(5), 1, 900), rng.lognormal(math.log(18_000), 1, 100)])
    found = idle_threshold(clicks(rng.permutation(gaps)))
    x = np.linspace(math.log(5), math.log(18_000), 100_001)
    short = 0.9 * norm.pdf(x, math.log(5), 1)
    long = 0.1 * norm.pdf(x, math.log(18_000), 1)
    assert found.source == "mixture"
    assert math.log(found.seconds) == pytest.approx(x[np.abs(short - long).argmin()], abs=0.15)
    long, short = (
        float(median.replace(",", "")) for median in re.findall(r"median ([\d,.]+) s", found.sentence)
    )
    assert math.log(short) == pytest.approx(math.log(5), abs=0.15)
    assert math.log(long) == pytest.approx(math.log(18_000), abs=0.3)


def test_clicks_of_simulated_visits_tell_their_threshold():
    """Events 20 s apart within visits, a day between them: some minutes, as measured elsewhere (623 s)."""
    rng = np.random.default_rng(2)
    visits = simulate_visits(HOURS, ObservationDesign(workers=60), rng)["visits"]
    log = simulate_activity(visits, rng, ActivityLog(heartbeat_seconds=None, event_gap_seconds=20))
    found = idle_threshold(log)
    assert found.source == "mixture"
    assert 200 < found.seconds < 2000
    assert "more likely of those between visits" in found.sentence


def test_silences_of_one_kind_have_no_threshold():
    """There is no valley: the stated convention is used and said to be one."""
    gaps = np.random.default_rng(3).lognormal(4, 1.5, 1000)
    found = idle_threshold(clicks(gaps), fallback_seconds=120)
    assert (found.seconds, found.source) == (120, "fallback")
    assert "no valley" in found.sentence


def test_two_kinds_that_overlap_have_no_valley():
    """Their means lie 1.6 standard deviations apart: a point of equal odds there is, but nothing to see in the log."""
    quantiles = norm.ppf((np.arange(1000) + 0.5) / 1000)
    found = idle_threshold(clicks(np.exp(np.concatenate([quantiles, quantiles + 1.6])) * 100))
    assert found.source == "fallback"
    assert "no valley" in found.sentence


def test_few_silences_have_no_threshold():
    """A mixture of a handful of numbers says nothing."""
    assert idle_threshold(clicks(np.array([1, 2, 9000, 2, 1]))).source == "fallback"


def test_heartbeats_are_no_silences_of_people():
    """Their period would be taken for one kind of silence; with them, a threshold is chosen, not found."""
    beats = activity(*(("a", 5.0 * n, "beat") for n in range(200)))
    found = idle_threshold(beats)
    assert (found.seconds, found.source) == (IDLE_SECONDS, "fallback")
    assert "heartbeats" in found.sentence


# --- sensitivity


def mean_length(tables, seconds):
    lengths = [end - start for start, end, _ in stays(tables["visits"])]
    return {"session_mean_seconds": float(np.mean(lengths)), "away_mean_seconds": 1000.0 + seconds / 100}


LOG = activity(
    ("a", 0, "open"),
    ("a", 10, "close"),
    ("b", 50, "open"),
    ("b", 60, "close"),
    ("c", 160, "open"),
    ("c", 170, "close"),
)


def test_fits_are_made_at_half_and_twice_the_threshold():
    """Each with its own visits; the threshold is handed on, since every time away exceeds it."""
    found = threshold_sensitivity({"activity": LOG}, mean_length, idle_seconds=50)
    assert found.to_dict("list") == {
        "idle_seconds": [25.0, 50.0, 100.0],
        "visits": [3, 2, 1],
        "session_mean_seconds": [10.0, 35.0, 170.0],
        "away_mean_seconds": [1000.25, 1000.5, 1001.0],
    }


def test_an_estimate_that_moves_with_the_threshold_is_a_warning():
    """From ten percent on; it says by how much in the words of a paper."""
    notes = sensitivity_notes(threshold_sensitivity({"activity": LOG}, mean_length, idle_seconds=50))
    assert notes["session_mean_seconds"].severity == "warning"
    assert notes["away_mean_seconds"].severity == "info"
    assert notes["session_mean_seconds"].sentence == (
        "With visits cut at silences of 25, 50, 100 s, session, mean: 10, 35, 170 seconds."
    )
    assert notes["away_mean_seconds"].sentence.endswith("s, time away, mean: 1,000 stream seconds each time.")


def test_what_cannot_be_fitted_at_a_threshold_is_missing_there():
    """A refusal at one threshold does not keep the others from being shown."""

    def fit(tables, seconds):
        if seconds > 60:
            raise NotIdentifiedError("too few visits")
        return mean_length(tables, seconds)

    found = threshold_sensitivity({"activity": LOG}, fit, idle_seconds=50)
    assert found["session_mean_seconds"].isna().tolist() == [False, False, True]


def test_without_activity_there_is_nothing_to_cut():
    """Exported visits alone cannot be cut anew."""
    with pytest.raises(NotIdentifiedError, match="no table activity"):
        threshold_sensitivity({}, mean_length)
