"""From signs of life to visits: where one ends, what ends it, which signs count, and what a threshold can do."""

from itertools import pairwise
from random import Random

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from calibration.models.durations.fit import fit_exposure
from calibration.models.durations.from_tables import away_exposure, session_exposure
from calibration.models.durations.simulate import ObservationDesign, simulate_visits
from calibration.tables.files import check_frame
from calibration.tables.tables import TABLES
from calibration.visits.cut import visits_from_activity
from calibration.visits.simulate import ActivityLog, simulate_activity
from calibration.visits.threshold import silences_seconds
from metrics.msu.trails import Population
from tests.calibration.logs import activity, at, follow, stays

PAGE = (("a", 0, "open"), ("a", 5, "beat"), ("a", 10, "beat"), ("a", 12, "close"))


def cut(signs: pd.DataFrame, idle_seconds: float = 60, **more) -> list[tuple[float, float, str]]:
    return stays(visits_from_activity(signs, idle_seconds=idle_seconds, **more))


# --- where a visit ends


def test_a_silence_longer_than_the_threshold_parts_two_visits():
    """At the threshold itself it is still one visit, so that every time away exceeds the threshold."""
    signs = activity(*PAGE, ("b", 72, "open"), ("b", 75, "close"))
    assert cut(signs, 60) == [(0, 75, "left")]
    assert cut(signs, 59.999) == [(0, 12, "left"), (72, 75, "left")]


def test_a_page_hidden_for_longer_than_the_threshold_ends_the_visit():
    """A shorter look elsewhere does not; the visit ends where the page was hidden."""
    signs = activity(("a", 0, "open"), ("a", 10, "hidden"), ("a", 100, "visible"), ("a", 130, "close"))
    assert cut(signs, 90) == [(0, 130, "left")]
    assert cut(signs, 89) == [(0, 10, "left"), (100, 130, "left")]


def test_closing_a_page_that_was_out_of_sight_is_no_sign_of_life():
    """A tab closed the next day, or by the phone, is no visit."""
    signs = activity(("a", 0, "open"), ("a", 10, "hidden"), ("a", 5000, "close"))
    assert cut(signs) == [(0, 10, "left")]


def test_a_beat_after_hiding_says_that_the_page_is_back():
    """The event `visible` may be lost; what follows it tells of it all the same."""
    signs = activity(("a", 0, "open"), ("a", 10, "hidden"), ("a", 20, "beat"), ("a", 22, "close"))
    assert cut(signs) == [(0, 22, "left")]


def test_pages_and_tabs_of_one_worker_are_united():
    """Two tabs at once are one visit, from the first opening to the last closing."""
    second = (("b", 8, "open"), ("b", 13, "beat"), ("b", 18, "beat"), ("b", 20, "close"))
    assert cut(activity(*PAGE, *second)) == [(0, 20, "left")]


def test_streams_and_workers_are_cut_apart():
    """Each worker and topic has visits of its own, numbered from 1."""
    signs = pd.concat([activity(*PAGE), activity(*PAGE, topic="r"), activity(*PAGE, worker="v")])
    visits = visits_from_activity(signs, idle_seconds=60)
    assert visits[["worker", "topic", "visit"]].to_numpy().tolist() == [
        ["v", "q", 1],
        ["w", "q", 1],
        ["w", "r", 1],
    ]


# --- what ended it


def test_events_that_just_stop_are_a_visit_that_was_lost():
    """Nobody knows how long it went on: it is censored at the last sign."""
    assert cut(activity(*PAGE[:3], ("z", 5000, "open"), ("z", 5001, "close")))[0] == (0, 10, "lost")


def test_a_page_in_sight_that_is_heard_of_again_was_idle():
    """The machine slept, the page lived on: its visit ended about when it fell silent, and is complete."""
    assert cut(activity(*PAGE[:3], ("a", 5000, "beat"), ("a", 5001, "close")))[0] == (0, 10, "idle")


def test_a_log_that_never_says_that_a_page_was_left_has_complete_visits():
    """In a log of clicks every visit ends by events stopping; were they all censored, nothing would be left to fit."""
    clicks = activity(("a", 0, "open"), ("b", 40, "open"), ("c", 5000, "open"))
    assert cut(clicks) == [(0, 40, "idle"), (5000, 5000, "idle")]


def test_an_idle_visit_ends_half_a_heartbeat_after_its_last_sign():
    """It ended somewhere between this beat and the next one, which did not come; what ended otherwise did not move."""
    signs = activity(*PAGE[:3], ("a", 5000, "beat"), ("a", 5001, "close"))
    assert cut(signs, heartbeat_seconds=5) == [(0, 12.5, "idle"), (5000, 5001, "left")]
    assert cut(activity(*PAGE[:3], ("b", 5000, "close")), heartbeat_seconds=5)[0] == (0, 10, "lost")


def test_a_visit_that_goes_on_at_the_end_of_the_follow_is_cut_there():
    """What begins later is no part of the study."""
    signs = activity(*PAGE, ("b", 5000, "open"))
    assert cut(signs, follows=follow(-500, 7)) == [(0, 7, "study_end")]
    assert cut(signs, follows=follow(-500, 12)) == [(0, 12, "left")]


# --- enrolment


def test_a_first_visit_soon_after_enrolment_is_the_enrolment_visit():
    """It starts with the enrolment to the millisecond, which is how the fits know that it ended no time away."""
    assert cut(activity(*PAGE), follows=follow(-60, 9000)) == [(-60, 12, "left")]
    assert cut(activity(*PAGE), follows=follow(-61, 9000)) == [(0, 12, "left")]


def test_only_the_first_visit_can_be_the_enrolment_visit():
    """A late follow of an early log: what came before enrolment does not count."""
    before = (("z", -500, "open"), ("z", -490, "close"))
    signs = activity(*before, *PAGE, ("b", 300, "open"), ("b", 310, "close"))
    assert cut(signs, follows=follow(5, 9000)) == [(5, 12, "left"), (300, 310, "left")]


def test_streams_that_nobody_follows_do_not_count():
    """Without a follow there is no time at risk to set visits against."""
    assert cut(activity(*PAGE), follows=follow(0, 900, topic="r")) == []


# --- what activity does not tell


def exported(*rows: tuple[float, float, str, str]) -> pd.DataFrame:
    frame = pd.DataFrame(
        [
            {"start": at(start), "end": at(end), "end_reason": reason, "entry": entry, "stream_at": at(start)}
            for start, end, reason, entry in rows
        ]
    )
    return check_frame(
        frame.assign(worker="w", topic="q", system="A", visit=range(1, len(rows) + 1)), TABLES["visits"]
    )


def test_exhausted_visits_stay_exhausted_when_they_are_cut_anew():
    """Taken as complete they would make sessions far too short; nothing in activity tells that all was read."""
    signs = activity(*PAGE, ("b", 72, "open"), ("b", 75, "close"))
    old = exported((0, 12, "left", "own"), (72, 75, "exhausted", "reminder"))
    merged = visits_from_activity(signs, idle_seconds=60, visits=old)
    assert stays(merged) == [(0, 75, "exhausted")]
    assert merged["entry"].tolist() == ["own"]

    split = visits_from_activity(signs, idle_seconds=4.5, visits=exported((0, 75, "exhausted", "own")))
    assert stays(split) == [
        (0, 0, "idle"),
        (5, 5, "idle"),
        (10, 12, "left"),
        (72, 75, "exhausted"),
    ]
    assert split["entry"].fillna("").tolist() == ["own", "", "", ""]


def test_optional_columns_may_be_missing():
    """Of logs from elsewhere there may be no more than what the definition requires."""
    least = visits_from_activity(
        activity(*PAGE).drop(columns="system"),
        idle_seconds=60,
        visits=exported((0, 12, "exhausted", "own")).drop(columns=["system", "entry", "stream_at"]),
    )
    assert stays(least) == [(0, 12, "exhausted")]


# --- properties

kinds = st.sampled_from(["open", "beat", "hidden", "visible", "close"])
signs_of_life = st.lists(
    st.tuples(st.sampled_from("abc"), st.integers(0, 400), kinds), min_size=1, max_size=25
)


@given(signs_of_life, st.integers(1, 60), st.integers(1, 60))
def test_a_longer_threshold_never_parts_what_a_shorter_one_unites(signs, one, other):
    """Each visit at the longer threshold is made of whole visits at the shorter one; so their number never grows."""
    short, long = sorted((one, other))
    parts, wholes = (cut(activity(*signs), idle) for idle in (short, long))
    assert len(wholes) <= len(parts)
    for start, end, _ in parts:
        assert any(first <= start and end <= last for first, last, _ in wholes)


@given(signs_of_life, st.integers(1, 60))
def test_times_away_exceed_the_threshold_and_silences_within_visits_do_not(signs, idle):
    """This is what the memoryless repair of times away rests on."""
    table = activity(*signs)
    visits = cut(table, idle)
    away = [after[0] - before[1] for before, after in pairwise(visits)]
    assert all(gap > idle for gap in away)
    assert sorted(gap for gap in silences_seconds(table) if gap > idle) == sorted(away)


@example(
    [("a", 1, "open"), ("b", 62, "open"), ("a", 0, "open"), ("a", 0, "hidden"), ("b", 1, "open")],
    Random(3),
)
@given(signs_of_life, st.randoms(use_true_random=False))
def test_order_and_repeats_of_the_rows_change_nothing(signs, random):
    """Batches are retried and arrive in any order."""
    shuffled = signs + random.sample(signs, len(signs) // 2)
    random.shuffle(shuffled)
    assert cut(activity(*shuffled)) == cut(activity(*signs))


@given(signs_of_life, st.integers(1, 60))
def test_the_visits_are_a_valid_table(signs, idle):
    """They never overlap, whatever the pages do."""
    check_frame(visits_from_activity(activity(*signs), idle_seconds=idle), TABLES["visits"])


def test_an_empty_log_has_no_visits():
    """The table has its columns all the same."""
    empty = TABLES["activity"].empty()
    assert visits_from_activity(empty, idle_seconds=60).columns.tolist() == list(
        TABLES["visits"].column_names
    )
    assert silences_seconds(empty).size == 0


@pytest.mark.parametrize(("idle", "beat"), [(0, None), (-1, None), (float("nan"), None), (5, 5), (5, 15)])
def test_a_threshold_must_be_longer_than_a_heartbeat(idle, beat):
    """Else each beat is a visit."""
    with pytest.raises(ValueError, match="idle_seconds must be"):
        visits_from_activity(activity(*PAGE), idle_seconds=idle, heartbeat_seconds=beat)


# --- simulated logs


MINUTES = Population(
    away_mean_seconds=3 * 3600, away_sd_seconds=1.5 * 3600, session_mean_seconds=120, session_sd_seconds=60
)


def test_visits_more_than_the_threshold_apart_come_back_from_their_log():
    """Tabs and short looks elsewhere included; to the millisecond."""
    rng = np.random.default_rng(5)
    diary = ObservationDesign(workers=20, topics=2, days=3, gap_seconds=300, enrol_by_visit=1.0, late_by=0.3)
    tables = simulate_visits(MINUTES, diary, rng)
    log = simulate_activity(tables["visits"], rng, ActivityLog(second_tab=0.3))
    again = visits_from_activity(log, idle_seconds=300, follows=tables["follows"])
    known = tables["visits"]["end_reason"] == "left"
    pd.testing.assert_frame_equal(
        again.loc[known, ["worker", "topic", "visit", "start", "end", "end_reason"]],
        tables["visits"].loc[known, ["worker", "topic", "visit", "start", "end", "end_reason"]],
    )


def test_half_an_hour_of_silence_makes_visits_of_minutes_three_times_as_long():
    """What web analytics does: sessions +190 %, times away +15 %, of which the fit takes the latter back."""
    rng = np.random.default_rng(7)
    tables = simulate_visits(MINUTES, ObservationDesign(workers=60, days=5), rng)
    log = simulate_activity(tables["visits"], rng)
    naive = {**tables, "visits": visits_from_activity(log, idle_seconds=1800, follows=tables["follows"])}
    fine = {
        **tables,
        "visits": visits_from_activity(
            log, idle_seconds=30, follows=tables["follows"], visits=tables["visits"]
        ),
    }

    true = fit_exposure(session_exposure(tables)).estimates[0]
    assert fit_exposure(session_exposure(naive)).estimates[0] / true > 2.5
    assert fit_exposure(session_exposure(fine)).estimates[0] / true == pytest.approx(1, abs=0.02)
    true = fit_exposure(away_exposure(tables)).estimates[0]
    assert fit_exposure(away_exposure(naive)).estimates[0] / true == pytest.approx(1.15, abs=0.06)
    assert fit_exposure(away_exposure(naive, gap_seconds=1800)).estimates[0] / true == pytest.approx(
        1, abs=0.05
    )
    assert fit_exposure(away_exposure(fine, gap_seconds=30)).estimates[0] / true == pytest.approx(1, abs=0.01)
