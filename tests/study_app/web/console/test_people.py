"""The people of a study as a table, and one person's way: the same figures as the exported tables, and no names of systems."""

from datetime import timedelta

import pytest
from sqlalchemy import select

from study_app.export.people import workers_table
from study_app.logs.logged_events import LoggedEvent
from study_app.logs.screen import ScreenMoment
from study_app.store.models import Worker
from study_app.store.study_cache import StudyCache, read_plan
from study_app.web.console.facts import WorkerLogGaps
from study_app.web.console.people import COLUMNS, FILTERS, PeopleQuery, people_part
from study_app.web.console.replay import moment_words, past_page
from study_app.web.console.timeline import timeline_events
from tests.study_app.stored_study import LATER, NOON, StoredStudy, opened, sees

MINUTE = timedelta(minutes=1)


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """Ann finished and was not careful, Bob stopped, Cleo is at work, Dan withdrew, Eve only came."""
    made = StoredStudy(tmp_path_factory.mktemp("people") / "study")
    ann = made.worker("ann", completed_at=NOON + 30 * MINUTE)
    slot = made.slot(ann, search_seconds=60)
    first = made.showing(slot, "good", "flat")
    others = [made.showing(slot, "good", "none"), made.showing(slot, "flat", "none")]
    repeats = [
        made.showing(slot, "flat", "good", repeats=first),
        *(
            made.showing(slot, "none", "good", repeats=others[0]),
            made.showing(slot, "none", "flat", repeats=others[1]),
        ),
    ]
    made.judge(first, "right", seconds=1)
    made.judge(first, "left", revision=2, seconds=90)
    for showing in others:
        made.judge(showing, "left", seconds=2)
    for showing, choice in zip(repeats, ("right", "left", "equally_good"), strict=True):
        made.judge(showing, choice, page_key="seen")
    hidden = (
        (0, "open", opened()),
        (10, "see", sees("left", "f0", 1)),
        (4_000, "hidden"),
        (9_000, "visible"),
        (9_900, "close"),
    )
    made.page(
        ann, repeats[0], "seen", *hidden, lost={2}, served_at=NOON + 11 * MINUTE, received_after=99
    ).upto = 1
    late = {"served_at": NOON + 29 * MINUTE, "received_after": 99}
    made.page(ann, first, "later", (0, "open", opened()), (60_000, "close"), **late).upto = 2
    made.session.flush()
    made.worker("bob", stopped_at=NOON + 5 * MINUTE, stopped_as="partial")
    made.vote(made.slot(made.worker("cleo"), task="votes"), ["I1"])
    made.judge(made.showing(made.slot(made.worker("dan", withdrawn_at=NOON)), "good", "flat"), "left")
    made.worker("eve", consented_at=None)
    yield made
    made.close()


@pytest.fixture(scope="module")
def plan(stored):
    return read_plan(stored.session, stored.study.id)


def rows(stored, plan, **asked):
    return people_part(stored.session, StudyCache(), plan, PeopleQuery(**asked), now=NOON + 9 * MINUTE).rows


def names(stored, plan, **asked):
    return [row.pseudonym for row in rows(stored, plan, **asked)]


def test_everybody_has_a_state_and_the_minutes_that_they_spent(stored, plan):
    told = {row.pseudonym: (row.state, row.minutes) for row in rows(stored, plan)}
    assert told == {
        "ann": ("complete", 30),
        "bob": ("partial", 5),
        "cleo": ("work", 0),
        "dan": ("withdrawn", None),
        "eve": ("door", None),
    }
    [late] = people_part(stored.session, StudyCache(), plan, PeopleQuery(part="CLEO"), now=LATER).rows
    assert late.state == "away"


def test_flags_consistency_and_exclusion_are_those_of_table_workers(stored, plan):
    """One rule, one result."""
    known = workers_table(stored.session, plan).set_index("worker")
    for row in rows(stored, plan):
        if row.pseudonym in {"ann", "bob", "cleo"}:
            expected, share = known.loc[row.pseudonym], row.care.repeats.share
            assert share == expected["consistency"] or (share is None and expected.isna()["consistency"])
            assert (", ".join(row.care.flags) or None) == expected["flags"]
            assert bool(row.care.excluded) == expected["excluded"]
    ann = rows(stored, plan, part="ann")[0]
    assert (ann.care.repeats.passed, ann.care.repeats.pairs) == (1, 3)
    assert ann.care.excluded == ("search", "consistency")


def test_log_gaps_are_pages_with_missing_events_and_answers_that_told_nothing(stored, plan):
    """Ann's first three answers came from pages without a log; of one page a number is missing. Dan's are nobody's business any more."""
    gaps = {row.pseudonym: row.gaps for row in rows(stored, plan, show="gaps")}
    assert gaps == {"ann": WorkerLogGaps(pages=1, answers=3)}


@pytest.mark.parametrize("sort", COLUMNS)
def test_every_order_has_everybody_once_and_those_without_a_value_last(stored, plan, sort):
    up, down = (names(stored, plan, sort=sort, descending=way) for way in (False, True))
    assert sorted(up) == sorted(down) == ["ann", "bob", "cleo", "dan", "eve"]
    if sort == "consistency":
        assert up[0] == down[0] == "ann"


def test_every_filter_shows_those_whom_it_names(stored, plan):
    shown = {show: names(stored, plan, show=show) for show in FILTERS}
    assert shown.pop("all") == ["ann", "bob", "cleo", "dan", "eve"]
    assert shown == {
        "work": ["cleo"],
        "away": [],
        "door": ["eve"],
        "complete": ["ann"],
        "early": ["bob"],
        "withdrawn": ["dan"],
        "flagged": ["ann"],
        "gaps": ["ann"],
    }


def test_a_part_beyond_the_last_is_the_last(stored, plan):
    found = people_part(stored.session, StudyCache(), plan, PeopleQuery(page=9), now=NOON, size=2)
    assert ([row.pseudonym for row in found.rows], found.page, found.pages) == (["eve"], 3, 3)


def worker(stored, pseudonym):
    return stored.session.scalars(select(Worker.id).where(Worker.pseudonym == pseudonym)).one()


def test_the_timeline_has_every_revision_in_order_of_time(stored, plan):
    events = timeline_events(stored.session, plan, worker(stored, "ann"), with_sides=True)
    told = [one.what for one in events]
    assert [one.at for one in events] == sorted(one.at for one in events)
    assert told[0] == "came"
    assert told[-1] == "finished"
    assert {"searched for 60 s", "right, after 1.0 s", "changed to: left, after 90.0 s (revision 2)"} <= set(
        told
    )
    assert [one.page for one in events if one.what.startswith("equally good")] == ["seen"]


def test_without_sides_the_timeline_says_that_and_when_a_pair_was_answered(stored, plan):
    """Every other line is the same."""
    told, untold = (
        [
            one.what
            for one in timeline_events(stored.session, plan, worker(stored, "ann"), with_sides=with_sides)
        ]
        for with_sides in (True, False)
    )
    assert {"answered, after 1.0 s", "changed to: answered, after 90.0 s (revision 2)"} <= set(untold)
    assert not [what for what in untold if "left" in what or "right" in what or "equally" in what]
    assert [what for what in told if ", after" not in what] == [
        what for what in untold if ", after" not in what
    ]


def test_a_page_is_found_by_its_worker_alone_with_its_neighbours(stored, plan):
    found = past_page(stored.session, plan.id, "ann", "seen")
    assert (found.before, found.after, found.step.path) == (None, "later", "2/1/pair/1")
    assert past_page(stored.session, plan.id, "bob", "seen") is None
    assert past_page(stored.session, plan.id + 1, "ann", "seen") is None


@pytest.mark.parametrize(
    ("choice", "words"), [("left_2", "left by 2"), ("equally_good", "equally good"), ("right", "right")]
)
def test_a_moment_says_by_how_much_a_side_was_picked(choice, words):
    """In the words of the timeline, not in those of the form."""
    act = LoggedEvent(1, "choice", 5, 5, {"choice": choice}, 5)
    moment = ScreenMoment(at_ms=5, acts=(act,), changed={}, shown=0, missing=0)
    assert moment_words(moment) == f"picked {words}"
