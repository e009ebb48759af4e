"""One person's five visits to a stream, told moment by moment through the real server, and every row that comes of it.

She enrols on her phone at noon. At ten past one she reads, reloads, looks at the page in a second tab and locks the
phone. At twenty to three she reads in the underground, without a network; the phone dies, and its log arrives in the
evening. At four she uses a browser without script. At five past eight a reminder brings her, and she falls asleep over
the screen. In between a messenger fetches a preview of the link.
"""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner
from sqlalchemy import select

from calibration.tables.files import read_table, read_tables
from calibration.tables.study_json import read_study
from calibration.visits.cut import visits_from_activity
from study_app.cli.tables.folder import export
from study_app.export import export_study
from study_app.export.raw_tables import RAW_TABLES
from study_app.store.database import transaction
from study_app.store.models import EPOCH, MILLISECOND, LoadedStudy, Worker
from study_app.store.task_models import Follow, Prompt
from tests.study_app.conftest import Campaign
from tests.study_app.small_streams import Told, write_stream_study
from tests.study_app.stream_visits import ONE_EVENT, keys

NEWS = {
    "sysnews": (
        Told("The ferry turned back", 0, ["SYN-1"]),
        Told("Wind is rising fast over the western islands now", 0.5),
        Told("Two roads are flooded", 1),
        Told("A tree fell on the church of the second village", 2),
        Told("The harbour is closed", 2.5),
        Told("Power is back", 7),
        Told("The ferry sails again tomorrow at six", 8),
    )
}
"""u1 to u7: 4, 9, 4, 10, 4, 3 and 7 words; 18, 40, 18, 38, 18, 11 and 31 characters."""

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
EVENT_BEGAN = datetime(2012, 1, 1, tzinfo=UTC)


class Browser:
    """A browser on the study's clock: opens pages, lets time pass on them, sends what they logged."""

    def __init__(self, study, visitor):
        self.study, self.visitor = study, visitor

    def at(self, clock):
        """Wait until a time of day: hours, minutes."""
        hours, minutes = clock
        self.study.clock.time = NOON.replace(hour=hours, minute=minutes)

    def read(self, *happenings, beats_until=0.0):
        """Live through (seconds since the page was served, kind, detail); return what the page logged of it."""
        served = self.study.clock()
        wall = (served - EPOCH) // MILLISECOND
        end = max(happenings[-1][0], beats_until)
        beats = [(float(at), "beat") for at in range(5, int(end) + 1, 5) if _in_sight(happenings, at)]
        moments = sorted([*happenings, *beats], key=lambda moment: moment[0])
        self.study.clock.time = served + timedelta(seconds=end)
        events = [
            {"n": n, "ms": round(1000 * at), "wall": wall + round(1000 * at), "kind": kind, **dict(*detail)}
            for n, (at, kind, *detail) in enumerate(moments, start=1)
        ]
        return {"page": self.visitor.page_token, "sent_ms": 0, "sent_wall_ms": 0, "events": events}

    def send(self, batch):
        """Let a log arrive now."""
        answer = self.visitor.client.post(f"/e/{self.visitor.token}", json=batch)
        assert answer.json == {"upto": len(batch["events"])}

    def open(self, address=None):
        """Load a page."""
        self.visitor.open(address or self.visitor.home)


def _in_sight(happenings, at):
    told = [
        kind for when, kind, *_ in happenings if kind in {"open", "visible", "hidden", "close"} and when < at
    ]
    return bool(told) and told[-1] in {"open", "visible"}


def opening(at):
    detail = {"layout": "stacked", "width": 390, "height": 844, "restored": False}
    return [(at, "open", detail), (at, "visible"), (at, "focus")]


def sees(at, item, share):
    return (at, "see", {"side": "stream", "item": item, "share": share})


def clock(hours, minutes, seconds=0.0):
    return NOON.replace(hour=hours, minute=minutes) + timedelta(seconds=seconds)


def streamed(hours, minutes, seconds=0.0):
    """Stream time: the event began when she enrolled, and runs as fast as the clock."""
    return EVENT_BEGAN + (clock(hours, minutes, seconds) - NOON)


def live(study):
    """Live through the story."""
    ann = study.arrive("ann").send()
    ann.send()
    phone = Browser(study, ann)
    stream = ann.path
    # the enrolment visit
    assert keys(ann) == ["u1"]
    batch = phone.read(*opening(0.5), sees(0.5, "u1", 1), (5.5, "leave"), (5.6, "hidden"), (5.6, "close"))
    phone.send(batch)
    ann.send(read=["u1"], done="1")
    assert ann.step == "1/1/useful"
    ann.send(**{"useful-1": "no"}).open(stream.replace("stream", "useful"))
    # a preview is fetched
    phone.at((12, 30))
    study.visitor().open(stream)
    # reload, second tab, locked phone
    phone.at((13, 10))
    phone.open()
    assert keys(ann) == ["u3", "u2"]
    phone.send(phone.read(*opening(0.4), sees(0.4, "u3", 1), (10.4, "hidden"), (10.4, "close")))
    phone.open(stream)
    first_tab = phone.read(
        *opening(0.6), sees(0.6, "u3", 1), sees(2.6, "u3", 0), sees(2.6, "u2", 0.5), (6.6, "hidden")
    )
    phone.send(first_tab)
    phone.open(stream)
    phone.send(
        phone.read(
            *opening(0.4), sees(0.4, "u3", 1), sees(1.4, "u3", 0), sees(1.4, "u2", 0.75), (9.4, "hidden")
        )
    )
    # without a network, until the phone dies
    phone.at((14, 40))
    phone.open(stream)
    assert keys(ann) == ["u5", "u4"]
    unsent = phone.read(
        *opening(0.5), sees(0.5, "u5", 1), sees(4.5, "u5", 0), sees(4.5, "u4", 0.5), beats_until=20
    )
    # without script
    phone.at((16, 0))
    phone.open(stream)
    assert keys(ann) == ["u5", "u4"]
    study.clock.forward(90)
    ann.send(read=["u5"], done="1")
    # the log of the underground arrives
    phone.at((18, 30))
    phone.send(unsent)
    # reminded, and fallen asleep
    with transaction(study.database, write=True) as session:
        follow = session.scalars(select(Follow)).one()
        session.add(Prompt(follow_id=follow.id, sent_at=clock(20, 0)))
    phone.at((20, 5))
    phone.open(ann.home + "?via=reminder")
    assert keys(ann) == ["u7", "u6"]
    asleep = phone.read(
        *opening(0.5), sees(0.5, "u7", 1), sees(7.5, "u7", 0), sees(7.5, "u6", 0.25), (1800, "hidden")
    )
    phone.send(asleep)
    study.arrive("bob").send().send()


class Exported(NamedTuple):
    """What an export two days later wrote: tables, those of the folder raw, study.json, summary; and where it all is."""

    tables: Any
    raw: Any
    record: Any
    summary: Any
    url: str
    folder: Path


def told(folder, url):
    """Tell the story in a database at ``url`` and export it into ``folder``; return the summary, and who came in which order."""
    study = Campaign(folder, url)
    study.load_file(write_stream_study(folder, systems=NEWS, events=ONE_EVENT, days=1))
    live(study.serve())
    with transaction(study.database, write=False) as session:
        stored = session.scalars(select(LoadedStudy)).one()
        summary = export_study(
            session, stored, folder / "tables", now=NOON + timedelta(days=2), raw=True, exact_times=True
        )
        came = session.scalars(select(Worker.pseudonym).order_by(Worker.number)).all()
    study.database.engine.dispose()
    return summary, came


def as_they_came(table, came):
    """Put the rows of a table, which are in the order of pseudonyms, into the order in which people came."""
    if "worker" not in table or table.empty:
        return table
    places = {worker: place for place, worker in enumerate(came)}
    order = table["worker"].astype("object").map(places).sort_values(kind="stable").index
    return table.loc[order].reset_index(drop=True)


@pytest.fixture(scope="module")
def exported(tmp_path_factory, database_in):
    folder = tmp_path_factory.mktemp("story")
    url = database_in(folder)
    summary, came = told(folder, url)
    tables = folder / "tables"
    raw = {
        name: as_they_came(read_table(tables / "raw" / f"{name}.csv", RAW_TABLES[name]), came)
        for name in RAW_TABLES
    }
    read = {name: as_they_came(table, came) for name, table in read_tables(tables).items()}
    return Exported(read, raw, read_study(tables), summary, url, tables)


@pytest.fixture(scope="module")
def tables(exported):
    return exported.tables


def rows(table, *columns):
    return list(table[list(columns)].itertuples(index=False, name=None))


def test_everybody_who_enrolled_is_followed_to_the_end_of_the_days(tables):
    """Also who never looked at a page; the last visit is never the end."""
    follows = tables["follows"]

    assert follows["system"].tolist() == ["sysnews", "sysnews"]
    assert rows(follows, "started_at", "ended_at", "last_seen_at") == [
        (NOON, NOON + timedelta(days=1), clock(20, 5, 7.5)),
        (clock(20, 35), clock(20, 35) + timedelta(days=1), clock(20, 35)),
    ]


def test_the_visits_are_what_happened(tables):
    """Five, and no sixth for the preview, the late log or the screen that went dark."""
    visits = tables["visits"]

    assert rows(visits, "visit", "start", "end", "end_reason", "entry") == [
        (1, clock(12, 0), clock(12, 0, 5.6), "exhausted", "own"),
        (2, clock(13, 10, 0.4), clock(13, 10, 10.4 + 6.6 + 9.4), "left", "own"),
        (3, clock(14, 40, 0.5), clock(14, 40, 20), "lost", "own"),
        (4, clock(16, 0), clock(16, 0, 90), "left", "own"),
        (5, clock(20, 5, 0.5), clock(20, 5, 7.5), "idle", "reminder"),
    ]
    assert visits["stream_at"].tolist() == [
        streamed(12, 0),
        streamed(13, 10, 0.4),
        streamed(14, 40, 0.5),
        streamed(16, 0),
        streamed(20, 5, 0.5),
    ]


def test_what_was_read_has_its_seconds(tables):
    """By page; the page without script is missing, and nobody reads in their sleep."""
    reads = tables["reads"]

    assert rows(
        reads, "visit", "item", "kind", "words", "chars", "dwell_seconds", "fully_seen", "interrupted"
    ) == [
        (1, "SYD-news-0", "update", 4, 18, 5.1, True, False),
        (2, "SYD-news-2", "update", 4, 18, 10.0, True, False),
        (2, "SYD-news-2", "update", 4, 18, 2.0, True, False),
        (2, "SYD-news-1", "update", 9, 40, 4.0, False, False),
        (2, "SYD-news-2", "update", 4, 18, 1.0, True, False),
        (2, "SYD-news-1", "update", 9, 40, 8.0, False, True),
        (3, "SYD-news-4", "update", 4, 18, 4.0, True, False),
        (3, "SYD-news-3", "update", 10, 38, 15.5, False, True),
        (5, "SYD-news-6", "update", 7, 31, 7.0, True, False),
        (5, "SYD-news-5", "update", 3, 11, 0.0, False, True),
    ]
    assert reads["end_offset_chars"].tolist() == [18, 18, 18, 58, 18, 58, 18, 56, 31, 42]
    assert rows(reads.iloc[[0, 3, 9]], "first_seen", "stream_at") == [
        (clock(12, 0, 0.5), streamed(12, 0, 0.5)),
        (clock(13, 10, 10.4 + 2.6), streamed(13, 10, 10.4 + 2.6)),
        (clock(20, 5, 7.5), streamed(20, 5, 7.5)),
    ]
    assert reads["page"].nunique() == 6
    assert set(reads["language"]) == {"en"}
    assert reads[["side", "judgment"]].isna().all(axis=None)


def test_each_visit_stops_somewhere_in_what_was_new(tables):
    """Newest first; over all pages of the visit, and none for a visit that did not tell what was on its screen."""
    stops = tables["stops"]

    assert rows(stops, "chars_read", "text_chars", "reached_end") == [
        (18, 18, True),
        (18 + 0.75 * 40, 58, False),
        (18 + 0.5 * 38, 56, False),
        (31 + 0.25 * 11, 42, False),
    ]
    assert stops[["layout", "judgment", "side"]].isna().all(axis=None)


def test_activity_holds_the_signs_of_life_and_gives_the_same_visits(tables, exported):
    """Without the heartbeats of a screen nobody looked at."""
    activity, visits = tables["activity"], tables["visits"]
    last = activity[activity["at"] >= clock(20, 0)]

    assert rows(last, "at", "kind") == [
        (clock(20, 5, 0.5), "open"),
        (clock(20, 5, 0.5), "visible"),
        (clock(20, 5, 5), "beat"),
        (clock(20, 5, 7.5), "beat"),
    ]
    record = exported.record
    assert (record.visit_gap_seconds, record.idle_seconds, record.clock.factor) == (60, 300, 1)
    again = visits_from_activity(activity, idle_seconds=record.visit_gap_seconds)
    assert rows(again, "visit", "start", "end") == rows(visits, "visit", "start", "end")
    known = visits_from_activity(
        activity, idle_seconds=record.visit_gap_seconds, follows=tables["follows"], visits=visits
    )
    assert known.equals(visits)


def test_answers_and_prompts(tables):
    """One question, about the one update that brought a nugget; one reminder."""
    assert rows(tables["lateness"], "topic", "nugget", "visits_late", "useful") == [
        ("TS14.91", "SYN-1", 0, False)
    ]
    assert rows(tables["prompts"], "topic", "sent_at") == [("TS14.91", clock(20, 0))]


def test_raw_keeps_every_page_that_was_served(exported):
    """Seven that she opened, one fetched for a preview, one of bob's; how the server took them, and what forms said."""
    pages = exported.raw["stream_pages"]

    assert rows(pages, "visit", "after", "upto", "first", "last", "read", "entry") == [
        (1, 0, 1, 1, 1, "[1]", "own"),
        (2, 1, 2, 2, 2, "[]", "own"),
        (3, 1, 3, 2, 3, "[]", "own"),
        (3, 1, 3, 2, 3, "[]", "own"),
        (3, 1, 3, 2, 3, "[]", "own"),
        (4, 3, 5, 4, 5, "[]", "own"),
        (5, 3, 5, 4, 5, "[5]", "own"),
        (6, 5, 7, 6, 7, "[]", "reminder"),
        (1, 0, 1, 1, 1, "[]", "own"),
    ]
    assert pages["left_at"].dropna().tolist() == [clock(12, 0, 5.6), clock(16, 1, 30)]
    assert rows(exported.raw["useful_answers"], "place", "nugget", "revision", "useful") == [
        (1, "SYN-1", 1, False)
    ]


def test_what_is_missing_is_counted(exported):
    """By worker; the page without script told by its form, the preview and bob's page not at all."""
    gaps = exported.raw["worker_gaps"]
    columns = [
        "pages",
        "pages_without_end",
        "missing",
        "stream_pages",
        "stream_pages_by_form_only",
        "silent_stream_pages",
    ]

    assert rows(gaps, *columns) == [(6, 4, 0, 8, 1, 1), (0, 0, 0, 1, 0, 1)]
    total = exported.summary.gaps
    assert (total.stream_pages, total.stream_pages_by_form_only, total.silent_stream_pages) == (9, 1, 2)


def test_the_command_says_of_how_many_pages_nothing_is_known(exported, tmp_path):
    """Only a study with streams has them."""
    done = CliRunner().invoke(export, [str(tmp_path / "tables"), "--database", exported.url])

    assert done.stdout.splitlines()[-1] == (
        "pages of streams served: 9; known by their form only: 1; silent (unseen, or all lost): 2"
    )


def test_another_database_gives_the_same_bytes(exported, postgres, tmp_path):
    """What is stored is the same wherever it is stored."""
    told(tmp_path, postgres.new_database("story"))

    ours = {path.relative_to(exported.folder): path for path in exported.folder.rglob("*.csv")}
    assert len(ours) > 10
    for name, path in ours.items():
        assert (tmp_path / "tables" / name).read_bytes() == path.read_bytes(), name
