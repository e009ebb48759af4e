"""From stored follows, pages and logs to the tables of streams, rule by rule; the whole is in test_stream_story."""

from datetime import timedelta

import pytest

from calibration.tables.files import read_tables
from study_app.export import export_study
from tests.study_app.small_streams import START
from tests.study_app.stored_streams import StoredStreams, opening, sees
from tests.study_app.stored_study import LATER, NOON

FROM_STREAMS = ("follows", "visits", "activity", "reads", "stops", "lateness", "prompts")


@pytest.fixture
def streams(tmp_path, stored_in):
    """A stored study of streams, with some changes of its task."""
    made = []

    def make(**task):
        made.append(StoredStreams(tmp_path / "study", url=stored_in(tmp_path), **task))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture
def exported(tmp_path):
    """Export a study and read its tables back."""

    def export(stored, *, now=LATER, **options):
        export_study(
            stored.session, stored.study, tmp_path / "tables", now=now, **{"exact_times": True} | options
        )
        return read_tables(tmp_path / "tables")

    return export


@pytest.fixture
def news(streams):
    return streams()


@pytest.fixture
def ann(news):
    """Somebody who follows since noon."""
    return news.follow(news.worker("ann"))


def cells(table, *columns):
    return list(table[list(columns)].itertuples(index=False, name=None))


def test_whoever_enrolled_is_a_follower_also_without_any_page(news, ann, exported):
    """Until the end of the days, or as far as the export knows."""
    assert cells(exported(news)["follows"], "ended_at", "last_seen_at") == [(NOON + timedelta(days=4), NOON)]
    early = NOON + timedelta(days=1)
    assert cells(exported(news, now=early)["follows"], "ended_at", "last_seen_at") == [(early, NOON)]


def test_a_follow_ends_when_the_worker_stops_for_good(news, exported):
    """Later nobody could come back, so the time after it is no time away."""
    stopped = NOON + timedelta(hours=5)
    news.follow(news.worker("ann", stopped_at=stopped, stopped_as="partial"))
    assert cells(exported(news)["follows"], "ended_at", "last_seen_at") == [(stopped, NOON)]


def test_those_who_withdrew_are_in_no_table_of_streams(news, exported, tmp_path):
    """Consent that was taken back covers follows and visits too, raw or not."""
    gone = news.follow(news.worker("ann", withdrawn_at=LATER))
    news.view(gone, "p1", *opening(), sees(0, 1, 1), (9, "close"), shows=(1, 1), left=3609, read=[1])
    news.answer(gone, "SYN-1", True)

    tables = exported(news, raw=True)

    assert all(tables[name].empty for name in FROM_STREAMS)
    for path in (tmp_path / "tables").rglob("*.csv"):
        assert len(path.read_text().splitlines()) == 1 + (path.stem == "workers"), path.name


def test_a_visit_with_nothing_new_is_exhausted_and_no_text(news, ann, exported):
    """There is nothing whose reading could stop anywhere."""
    news.view(ann, "p1", *opening(), (3, "close"), after=2, upto=2)

    tables = exported(news)

    assert tables["visits"]["end_reason"].tolist() == ["exhausted"]
    assert tables["reads"].empty
    assert tables["stops"].empty


def test_without_script_ticks_tell_what_was_read(news, ann, exported):
    """Up to the oldest: exhausted. Something newer only: left."""
    news.view(ann, "p1", at=3600, shows=(1, 2), read=[2], left=3630)
    news.view(ann, "p2", at=7200, shows=(3, 4), after=2, read=[4, 3], left=7230)

    tables = exported(news)

    assert tables["visits"]["end_reason"].tolist() == ["left", "exhausted"]
    assert tables["reads"].empty


def test_older_updates_are_the_same_text_further_down(news, ann, exported):
    """Two portions of one visit: one stop, and offsets from the newest."""
    news.view(ann, "p1", *opening(), sees(0, 4, 1), sees(0, 3, 1), (9, "close"), shows=(3, 4))
    news.view(ann, "p2", *opening(), sees(0, 2, 1), (9, "close"), at=3609, shows=(1, 2), upto=4)

    tables = exported(news)

    assert cells(tables["reads"], "page", "item", "end_offset_chars") == [
        ("p1", "SYD-news-3", 3),
        ("p1", "SYD-news-2", 20),
        ("p2", "SYD-news-1", 28),
    ]
    assert cells(tables["stops"], "page", "chars_read", "text_chars", "reached_end") == [
        ("p2", 28, 39, False)
    ]
    assert tables["visits"]["end_reason"].tolist() == ["left"]


def test_the_last_of_the_new_updates_on_screen_is_the_end_of_the_material(news, ann, exported):
    """However the visit ends then, its length is no choice of the reader."""
    news.view(
        ann,
        "p1",
        *opening(),
        sees(0, 4, 1),
        sees(1, 4, 0),
        sees(1, 3, 1),
        (9, "hidden"),
        shows=(3, 4),
        after=2,
    )

    tables = exported(news)

    assert tables["visits"]["end_reason"].tolist() == ["exhausted"]
    assert tables["stops"]["reached_end"].tolist() == [True]


@pytest.mark.parametrize(
    ("ends", "share", "interrupted"),
    [
        ([(9, "close")], 1, True),
        ([(9, "leave"), (9, "close")], 1, False),
        ([(9, "leave"), (9, "close")], 0.75, True),
        ([(9, "beat")], 1, True),
    ],
)
def test_what_was_being_read_when_the_visit_ended_was_interrupted(
    news, ann, exported, ends, share, interrupted
):
    """Unless all of it had been seen and the reader pressed "Done for now": who just goes may have been in the middle."""
    news.view(ann, "p1", *opening(), sees(0, 4, 1), sees(5, 4, 0), sees(5, 3, share), *ends, shows=(1, 4))

    assert cells(exported(news)["reads"], "item", "interrupted") == [
        ("SYD-news-3", False),
        ("SYD-news-2", interrupted),
    ]


def test_who_saw_all_there_was_was_not_interrupted(news, ann, exported):
    """Nothing was left to read, so closing the page ended no reading."""
    news.view(ann, "p1", *opening(), sees(0, 1, 1), (9, "close"), shows=(1, 1))

    assert exported(news)["reads"]["interrupted"].tolist() == [False]


def test_a_reload_interrupts_nothing(news, ann, exported):
    """The visit goes on."""
    news.view(ann, "p1", *opening(), sees(0, 4, 0.5), (9, "close"), shows=(1, 4))
    news.view(ann, "p2", *opening(), sees(0, 4, 1), (9, "leave"), (9, "close"), at=3609, shows=(1, 4))

    assert cells(exported(news)["reads"], "page", "visit", "interrupted") == [
        ("p1", 1, False),
        ("p2", 1, False),
    ]


def test_reading_on_in_the_same_page_the_next_day_makes_up_for_the_interruption(news, ann, exported):
    """One row a page and item, of the visit in which it was first seen, with the seconds of both."""
    back = [(80_000, "visible"), sees(80_002, 4, 1), sees(80_004, 4, 0), (80_004, "leave"), (80_004, "close")]
    news.view(ann, "p1", *opening(), sees(0, 4, 0.5), (3, "hidden"), *back, shows=(1, 4), entry="reminder")

    tables = exported(news)

    assert cells(tables["visits"], "start", "end_reason", "entry") == [
        (NOON + timedelta(hours=1), "left", "reminder"),
        (NOON + timedelta(hours=1, seconds=80_000), "left", "own"),
    ]
    assert cells(tables["reads"], "visit", "dwell_seconds", "fully_seen", "interrupted") == [
        (1, 7, True, False)
    ]
    assert len(tables["stops"]) == 1


def test_time_in_front_of_nobody_is_no_reading(streams, exported):
    """A screen that stays on over night, and is taken up again in the morning for three seconds."""
    stored = streams(idle_seconds=60)
    ann = stored.follow(stored.worker("ann"))
    beats = [(at, "beat") for at in range(5, 200, 5)]
    morning = [(200, "scroll", {"depth": 1}), (203, "close")]
    stored.view(ann, "p1", *opening(), sees(2, 4, 1), *beats, *morning, shows=(1, 4))

    tables = exported(stored)

    served = NOON + timedelta(hours=1)
    assert cells(tables["visits"], "start", "end", "end_reason") == [
        (served, served + timedelta(seconds=2), "idle"),
        (served + timedelta(seconds=200), served + timedelta(seconds=203), "left"),
    ]
    assert cells(tables["reads"], "dwell_seconds", "interrupted") == [(3, True)]


def test_stream_time_runs_as_fast_as_the_study_says(streams, exported):
    """From the event's start at enrolment."""
    stored = streams(clock_factor=24.0)
    ann = stored.follow(stored.worker("ann"))
    stored.view(ann, "p1", *opening(0.5), sees(1, 4, 1), (9, "close"), shows=(1, 4))

    tables = exported(stored)

    assert tables["visits"]["stream_at"][0].timestamp() == START + 24 * 3600.5
    assert tables["reads"]["stream_at"][0].timestamp() == START + 24 * 3601


def test_of_every_answer_the_newest_revision_counts(news, ann, exported):
    """A question nobody answered has no row."""
    news.answer(ann, "SYN-1", True, False, late=2)
    news.answer(ann, "SYN-2")

    assert cells(exported(news)["lateness"], "nugget", "visits_late", "useful") == [("SYN-1", 2, False)]
