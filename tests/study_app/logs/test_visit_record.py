"""Signs of life and visits: where a visit of a stream begins and ends, and why."""

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from calibration.visits.cut import visits_from_activity
from study_app.logs import event_arrays
from study_app.logs.activity_kernels import AT, PAGE, PLAIN
from study_app.logs.event_arrays import OTHER, EventArrays
from study_app.logs.visit_record import FollowTimes, StreamPages, activity_rows, visits_of
from study_app.protocol.domain import VISIT_GAP_SECONDS

NOON = 1_772_366_400_000
DAY = 86_400
IDLE = 300
CODES = {kind: code for code, kind in enumerate(event_arrays.KINDS)}


@dataclass(frozen=True)
class LoggedPage:
    """One page of a stream: when it was served and its form was sent (-1: never), and (number, kind, milliseconds) it logged."""

    served_ms: int
    left_ms: int
    events: tuple[tuple[int, str, int], ...]


def page(served, *happenings, left=None, lost=()):
    """A page served so many seconds after noon; (seconds since serving, kind), numbered from 1, some of them lost."""
    return LoggedPage(
        served_ms=NOON + 1000 * served,
        left_ms=-1 if left is None else NOON + 1000 * left,
        events=tuple(
            (number, kind, round(1000 * at))
            for number, (at, kind) in enumerate(happenings, start=1)
            if number not in lost
        ),
    )


def opening(at=0.0):
    """What every page in sight begins with."""
    return [(at, "open"), (at, "visible"), (at, "focus")]


def beats(start, stop):
    """A heartbeat every five seconds."""
    return [(at, "beat") for at in range(start, stop, 5)]


def cut(*pages, started=-DAY, ended=DAY, idle=IDLE):
    log = [
        (number, CODES.get(kind, OTHER), ms, page.served_ms + ms, DAY * NOON, -1, 0, -1)
        for page in pages
        for number, kind, ms in page.events
    ]
    first = np.cumsum([0, *(len(page.events) for page in pages)])
    events = EventArrays(first, np.array(log, np.int64).reshape(-1, 8), np.zeros(len(log)))
    served, at = np.array([page.served_ms for page in pages]), np.zeros(len(log), np.int64)
    PLAIN.place_in_time(events, served, at)
    stream = StreamPages(np.zeros(len(pages), np.int64), served, np.array([page.left_ms for page in pages]))
    bounds = (NOON + 1000 * started, NOON + 1000 * ended, 1000 * idle)
    return visits_of(events, at, stream, FollowTimes(*(np.array([bound]) for bound in bounds)))


def told(visits, *, exhausted=False):
    """Start and end in seconds after noon, and the reason."""
    return [
        ((visit.start - NOON) / 1000, (visit.end - NOON) / 1000, visit.end_reason(exhausted=exhausted))
        for visit in visits
    ]


def test_a_visit_lasts_from_opening_to_closing():
    """As the page's own clock measured it."""
    one = page(10, *opening(0.4), *beats(5, 60), (61.5, "hidden"), (61.5, "close"))

    assert told(cut(one)) == [(10.4, 71.5, "left")]


def test_with_nothing_new_left_a_visit_is_exhausted_however_it_ended():
    """Its length says nothing about the time there was; only the follow's end comes first."""
    closed = page(0, *opening(), (9, "close"))
    killed = page(0, *opening(), (5, "beat"))

    assert told(cut(closed), exhausted=True) == [(0, 9, "exhausted")]
    assert told(cut(killed), exhausted=True) == [(0, 5, "exhausted")]
    assert told(cut(killed, ended=20), exhausted=True) == [(0, 5, "study_end")]


def test_events_that_just_stop_leave_the_visit_lost_at_the_last_of_them():
    """The battery died; how long the visit would have lasted nobody knows."""
    assert told(cut(page(0, *opening(), *beats(5, 38)))) == [(0, 35, "lost")]


def test_a_reload_and_a_second_tab_are_the_same_visit():
    """Visits are of people, not of pages; the last page says how it ended."""
    first = page(0, *opening(), *beats(5, 30), (30, "hidden"), (30, "close"))
    again = page(30, *opening(0.5), *beats(5, 20), (20, "hidden"))
    tab = page(40, *opening(0.5), *beats(5, 60), (60, "hidden"), (60, "close"))

    assert told(cut(first, again, tab)) == [(0, 100, "left")]


def test_two_devices_at_once_make_one_visit_not_two_that_overlap():
    """The union of what the phone and the desktop tell."""
    desktop = page(0, *opening(), *beats(5, 100), (100, "close"))
    phone = page(50, *opening(), *beats(5, 200), (200, "close"))

    assert told(cut(desktop, phone)) == [(0, 250, "left")]


def test_a_pause_longer_than_the_gap_parts_two_visits_of_one_page():
    """The phone was locked and taken up again, and the page was never loaded anew."""
    locked = [(20, "hidden")]

    together = page(0, *opening(), *locked, (20 + VISIT_GAP_SECONDS, "visible"), (90, "close"))
    apart = page(0, *opening(), *locked, (20.001 + VISIT_GAP_SECONDS, "visible"), (90, "close"))

    assert told(cut(together)) == [(0, 90, "left")]
    assert told(cut(apart)) == [(0, 20, "left"), (80.001, 90, "left")]


def test_closing_a_page_that_was_out_of_sight_is_no_visit():
    """A tab cleared away the next day."""
    assert told(cut(page(0, *opening(), (20, "hidden"), (3600, "close")))) == [(0, 20, "left")]


def test_a_page_that_nobody_looked_at_was_not_visited():
    """A tab opened behind others; a page fetched by something that runs scripts; one that never logged at all."""
    behind = page(0, (0, "open"), (0, "hidden"), (0, "blur"), (500, "close"))
    fetched = page(0)

    assert cut(behind, fetched) == []
    later = page(0, (0, "open"), (0, "hidden"), (0, "blur"), (500, "visible"), (505, "close"))
    assert told(cut(later)) == [(500, 505, "left")]


def test_nothing_but_heartbeats_for_the_idle_time_sets_the_end_back():
    """Somebody went away from a screen that stayed on; that it then goes dark is no sign of life either."""
    away = page(
        0, *opening(), *beats(5, 40), (40, "scroll"), *beats(45, 1000), (1000, "hidden"), (1000, "close")
    )

    assert told(cut(away)) == [(0, 40, "idle")]


def test_who_reads_a_long_update_without_moving_is_not_idle():
    """Up to the idle time heartbeats are enough."""
    still = page(0, *opening(), *beats(5, IDLE), (IDLE, "scroll"), *beats(IDLE + 5, 500), (500, "close"))

    assert told(cut(still)) == [(0, 500, "left")]


def test_who_comes_back_to_an_idle_page_begins_a_visit():
    """With the first thing done there."""
    back = page(0, *opening(), *beats(5, 1000), (1000, "scroll"), (1010, "hidden"))

    assert told(cut(back)) == [(0, 0, "idle"), (1000, 1010, "left")]


def test_another_window_in_use_keeps_the_visit_alive():
    """The desktop's page lies there untouched while the phone is being read."""
    desktop = page(0, *opening(), *beats(5, 1000), (1000, "close"))
    phone = page(50, *opening(), *[(at, "scroll") for at in range(0, 600, 50)], (600, "close"))

    assert told(cut(desktop, phone)) == [(0, 650, "left")]


def test_a_missing_number_may_have_been_anything():
    """So an idle stretch never reaches across it."""
    happenings = [*opening(), *beats(5, 500), (500, "close")]

    assert told(cut(page(0, *happenings))) == [(0, 0, "idle")]
    assert told(cut(page(0, *happenings, lost={50}))) == [(0, 500, "left")]


def test_a_machine_that_slept_ends_the_visit_where_it_fell_asleep():
    """And waking up in front of nobody is no visit."""
    asleep = page(0, *opening(), *beats(5, 20), (3600, "sleep"), (3601, "beat"), (3603, "hidden"))

    assert told(cut(asleep)) == [(0, 15, "lost")]


def test_the_form_is_a_sign_of_life_also_when_the_log_of_it_is_lost():
    """The server has its own time of it."""
    one = page(0, *opening(), *beats(5, 30), left=33)

    assert told(cut(one)) == [(0, 33, "left")]
    assert cut(one)[0].is_left_by_form


def test_a_page_without_script_tells_by_its_form():
    """Who never sent it has left no trace; nobody stays longer than the idle time without a sign."""
    assert told(cut(page(0, left=200))) == [(0, 200, "left")]
    assert cut(page(0)) == []
    assert told(cut(page(0, left=IDLE + 1))) == [(0, 0, "lost")]


def test_a_page_that_follows_a_form_without_script_is_part_of_the_visit():
    """Older updates were asked for; what became of them nobody knows."""
    assert told(cut(page(0, left=40), page(41, left=90))) == [(0, 90, "left")]
    assert told(cut(page(0, left=40), page(41))) == [(0, 41, "lost")]


def test_the_visit_that_begins_with_enrolling_begins_at_the_enrolment():
    """To the millisecond, for it ends no time away."""
    one = page(1, *opening(0.3), (9, "close"))

    assert told(cut(one, started=0)) == [(0, 10, "left")]
    assert told(cut(one, started=-VISIT_GAP_SECONDS - 2)) == [(1.3, 10, "left")]


def test_the_follows_end_cuts_a_visit_and_drops_what_comes_after():
    """The page stays open and goes on logging."""
    across = page(0, *opening(), *beats(5, 200), (200, "close"))
    after = page(500, *opening(), (9, "close"))

    assert told(cut(across, after, ended=102)) == [(0, 102, "study_end")]


def test_a_visit_that_goes_on_at_the_end_is_cut_by_it():
    """Exported while somebody reads: as far as anybody knows the visit goes on."""
    one = page(0, *opening(), *beats(5, 38))

    assert told(cut(one, ended=38)) == [(0, 35, "study_end")]
    assert told(cut(page(0, *opening(), (35, "close")), ended=38)) == [(0, 35, "left")]


KINDS = ("open", "visible", "hidden", "focus", "blur", "beat", "see", "scroll", "sleep", "leave", "close")


@st.composite
def lives(draw):
    """Pages of one follow that do and lose anything."""
    pages = []
    for served in sorted(draw(st.lists(st.integers(0, 1500), min_size=1, max_size=4))):
        steps = draw(
            st.lists(st.tuples(st.sampled_from([0, 1, 4, 5, 20, 59, 61, 301]), st.sampled_from(KINDS)))
        )
        at, happenings = 0, []
        for step, kind in steps:
            at += step
            happenings.append((at, kind))
        lost = draw(st.sets(st.integers(1, 12), max_size=3))
        left = draw(st.none() | st.integers(served, served + 400))
        pages.append(page(served, *happenings, lost=lost, left=left))
    return pages


def activity(visits):
    signs, kinds = activity_rows(visits)
    rows = [
        ("ann", "news", f"p{sign[PAGE]}", sign[AT], event_arrays.KINDS[kind])
        for sign, kind in zip(signs, kinds, strict=True)
    ]
    frame = pd.DataFrame(rows, columns=["worker", "topic", "page", "at", "kind"])
    at = pd.to_datetime(frame["at"].astype("int64"), unit="ms", utc=True).astype("datetime64[ms, UTC]")
    return frame.assign(at=at, system="sys")


@given(lives(), st.integers(0, 2000))
@example([page(0, (0, "visible"), (0, "hidden"), left=1)], 100)
@example([page(0, (0, "visible"), (0, "hidden"), (0, "visible"), (8, "close"))], 100)
@example([page(0, (0, "open"), (1, "hidden"), (1, "open"), (1, "hidden"), (9, "visible"), (9, "close"))], 100)
@example([page(0, (0, "open"), (0, "leave"), (61, "hidden"), (62, "open"))], 62)
def test_visits_are_apart_and_cut_again_from_activity_come_out_the_same(pages, ended):
    """What later stages rely on: no overlap, every time away longer than the gap, and the table that lets them choose another."""
    visits = cut(*pages, started=0, ended=ended)

    for before, after in pairwise(visits):
        assert after.start - before.end > 1000 * VISIT_GAP_SECONDS
    assert all(0 <= visit.start - NOON <= visit.end - NOON <= 1000 * ended for visit in visits)
    again = visits_from_activity(activity(visits), idle_seconds=VISIT_GAP_SECONDS)
    bounds = [
        (start.value // 10**6, end.value // 10**6)
        for start, end in zip(again["start"], again["end"], strict=True)
    ]
    assert bounds == [(visit.start, visit.end) for visit in visits]


@given(lives())
def test_more_pages_that_nobody_saw_change_nothing(pages):
    """Link previews and prefetches."""
    seen = [replace(page, left_ms=-1) for page in pages]
    unseen = [replace(page, events=()) for page in seen]

    assert told(cut(*unseen, *seen)) == told(cut(*seen))


@pytest.mark.parametrize("kind", ["hidden", "close", "blur", "beat", "leave", "sleep"])
def test_going_away_is_no_visit_by_itself(kind):
    """Nor is a heartbeat in front of nobody."""
    assert told(cut(page(0, *opening(), (5, "beat"), (200, kind), (205, "close")))) == [(0, 5, "lost")]
