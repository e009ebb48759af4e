"""Time and memory of an export, by the size of the study.

    python benchmarks/export.py [WORKERS ...]

Fills a SQLite file with the bundled study and people who each judge 24 pairs on 25 pages of 100 events and visit a
stream 25 times on pages of 100 events, then exports it in a process of its own. After 40 people the same come again under other
names, by SQL. benchmarks/README.md has the figures.
"""

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import combinations
from pathlib import Path
from typing import Any

from sqlalchemy import Column, ColumnElement, func, insert, select
from sqlalchemy.orm import Session
from tabulate import tabulate

from study_app.estimate.content import read_whole_study
from study_app.export import export_study
from study_app.protocol.items import Item, reading_order
from study_app.protocol.sides import Side
from study_app.services.researcher.load import load_study
from study_app.store.database import migrate, open_database, transaction
from study_app.store.models import (
    EPOCH,
    MILLISECOND,
    Assignment,
    Judgment,
    LoadedStudy,
    PageLoad,
    Pair,
    Showing,
    Slot,
    StoredEvent,
    StoredSummary,
    System,
    Task,
    Topic,
    Worker,
)
from study_app.store.task_models import Follow, StoredStream, StreamView

STUDY = Path(__file__).resolve().parents[1] / "examples" / "two_layered" / "study.yaml"
START = datetime(2026, 3, 1, tzinfo=UTC)
END = START + timedelta(days=30)
PAIRS, PAGES, EVENTS, VISITS = 24, 25, 100, 25
SHOWN = 10
"""Updates on a page of a stream."""


def events_of_page(texts: dict[str, tuple[Item, ...]]) -> list[tuple[int, str, dict[str, object]]]:
    """A page that is scrolled from top to bottom and up again until it has its number of events."""
    events: list[tuple[int, str, dict[str, object]]] = [
        (0, "open", {"layout": "stacked", "width": 390, "height": 844, "restored": False})
    ]
    places = [(side, item.key) for side, items in texts.items() for item in reading_order(items, set())]
    while len(events) < EVENTS - 2:
        side, key = places[len(events) // 2 % len(places)]
        ms = 250 * len(events)
        events += [
            (ms, "see", {"side": side, "item": key, "share": 1}),
            (ms, "see", {"side": side, "item": key, "share": 0.25}),
        ]
    last = 250 * EVENTS
    return [*events[: EVENTS - 2], (last, "submit", {"choice": "left"}), (last, "close", {})]


def events_of_visit() -> list[tuple[int, str, dict[str, object]]]:
    """Read updates one after the other until the page has its number of events; the numbers of items are left open."""
    events: list[tuple[int, str, dict[str, object]]] = [
        (0, "open", {"layout": "stacked", "width": 390, "height": 844, "restored": False}),
        (0, "visible", {}),
    ]
    place, shares = 0, (0.25, 0.5, 1, 0.5, 0)
    while len(events) < EVENTS - 2:
        events += [(250 * len(events), "see", {"place": place, "share": share}) for share in shares]
        events.append((250 * len(events), "beat", {}))
        place = (place + 1) % SHOWN
    last = 250 * EVENTS
    return [*events[: EVENTS - 2], (last, "leave", {}), (last, "close", {})]


def fill(session: Session, workers: int) -> None:
    """Load the bundled study and put people into it, table by table."""
    load_study(session, read_whole_study(STUDY), now=START)
    study = session.scalars(select(LoadedStudy)).one()
    task = session.scalars(select(Task).where(Task.kind == "summary_pairs")).one()
    topics = session.scalars(select(Topic.id).where(Topic.task_id == task.id)).all()
    systems = session.scalars(
        select(System.id).where(System.task_id == task.id).order_by(System.position)
    ).all()
    texts = {
        (topic, system): Side.of(content).items("en")
        for topic, system, content in session.execute(
            select(StoredSummary.topic_id, StoredSummary.system_id, StoredSummary.content)
        )
    }
    pairs = {
        (pair.topic_id, pair.system_a_id, pair.system_b_id): pair.id for pair in session.scalars(select(Pair))
    }
    couples = list(combinations(systems, 2))
    logs = {
        (topic, left, right): events_of_page({"left": texts[topic, left], "right": texts[topic, right]})
        for topic in topics
        for left, right in couples
    }
    follow_streams = follower(session, workers)
    for number in range(1, workers + 1):
        topic = topics[number % len(topics)]
        session.execute(insert(Worker), [worker_row(study.id, number)])
        session.execute(
            insert(Assignment), [{"id": number, "worker_id": number, "task_id": task.id, "started_at": START}]
        )
        session.execute(insert(Slot), [slot_row(number, topic)])
        shown = [couples[place % len(couples)] for place in range(PAIRS)]
        showings = [
            showing_row(number, place, pairs[topic, *couple], couple) for place, couple in enumerate(shown)
        ]
        session.execute(insert(Showing), showings)
        session.execute(insert(Judgment), [judgment_row(showing) for showing in showings])
        for page in range(PAGES):
            log = logs[topic, *shown[page % PAIRS]]
            session.execute(insert(PageLoad), [page_row(number, page, showings[page % PAIRS]["id"])])
            session.execute(insert(StoredEvent), list(event_rows((number - 1) * PAGES + page + 1, page, log)))
        follow_streams(number)


def follower(session: Session, workers: int) -> Callable[[int], None]:
    """Return what lets one worker follow a stream: a visit an hour, with something new each time."""
    task = session.scalars(select(Task).where(Task.kind == "stream_visits")).one()
    streams = session.scalars(select(StoredStream).join(Topic).where(Topic.task_id == task.id)).all()
    sizes = [(one.topic_id, one.system_id, len(one.content["updates"])) for one in streams]
    visit = events_of_visit()

    def follow(number: int) -> None:
        topic, system, updates = sizes[number % len(sizes)]
        row = workers + number
        session.execute(
            insert(Assignment), [{"id": row, "worker_id": number, "task_id": task.id, "started_at": START}]
        )
        times = {"leased_at": START, "expires_at": END, "done_at": END}
        session.execute(
            insert(Slot), [{"id": row, "assignment_id": row, "topic_id": topic, "position": 1, **times}]
        )
        session.execute(
            insert(Follow),
            [{"id": number, "slot_id": row, "system_id": system, "started_at": START, "ends_at": END}],
        )
        for place in range(VISITS):
            upto = min(updates, SHOWN * (place + 1))
            page = workers * PAGES + (number - 1) * VISITS + place + 1
            load = page_row(number, PAGES + 60 * (place + 1), None) | {"id": page, "step": "3/1/stream"}
            view = {"key": load["key"], "follow_id": number, "visit": place + 1, "entry": "own", "read": []}
            shown = {
                "after": max(0, upto - SHOWN),
                "upto": upto,
                "first": max(1, upto - SHOWN + 1),
                "last": upto,
            }
            session.execute(insert(PageLoad), [load])
            session.execute(insert(StreamView), [{**view, **shown, "served_at": load["served_at"]}])
            log = [(ms, kind, seen(detail, upto)) for ms, kind, detail in visit]
            session.execute(insert(StoredEvent), list(event_rows(page, PAGES + 60 * (place + 1), log)))

    return follow


def seen(detail: dict[str, object], upto: int) -> dict[str, object]:
    """Name the update that came into sight."""
    if "place" not in detail:
        return detail
    return {
        "side": "stream",
        "item": f"u{max(1, upto - int(str(detail['place'])))}",
        "share": detail["share"],
    }


COPIED = (Worker, Assignment, Slot, Showing, Judgment, Follow, PageLoad, StreamView, StoredEvent)
NAMES = {
    ("worker", "pseudonym"),
    ("worker", "withdrawal_code"),
    ("showing", "name"),
    ("page_load", "key"),
    ("stream_view", "key"),
}


def come_again(session: Session, workers: int) -> None:
    """Let the people who are there come again under other names until there are so many."""
    there = session.scalars(select(func.count(Worker.id))).one()
    highest = {model.__tablename__: session.scalar(select(func.max(model.id))) or 0 for model in COPIED}
    for turn in range(1, workers // there):
        for model in COPIED:
            table: Any = model.__table__
            columns = [_again(column, turn, there, highest) for column in table.columns]
            rows = select(*columns).where(table.c.id <= highest[table.name])
            session.execute(insert(table).from_select(table.columns.keys(), rows))


def _again(column: Column[Any], turn: int, there: int, highest: dict[str, int]) -> ColumnElement[Any]:
    """Return the value of a column in a copy of a row."""
    refers = {key.column.table.name for key in column.foreign_keys} & highest.keys()
    if column.primary_key or refers:
        return column + turn * highest[refers.pop() if refers else column.table.name]
    if (column.table.name, column.name) in NAMES:
        return column + f".{turn}"
    return column + turn * there if (column.table.name, column.name) == ("worker", "number") else column


def worker_row(study: int, number: int) -> dict[str, object]:
    return {
        "id": number,
        "study_id": study,
        "number": number,
        "pseudonym": f"worker{number:06}",
        "withdrawal_code": f"code{number}",
        "arrived_at": START,
        "last_seen_at": START,
        "consented_at": START,
    }


def slot_row(number: int, topic: int) -> dict[str, object]:
    times = {"leased_at": START, "expires_at": END, "search_shown_at": START}
    left = START + timedelta(seconds=200 + number % 90)
    return {
        "id": number,
        "assignment_id": number,
        "topic_id": topic,
        "position": 1,
        "search_left_at": left,
        **times,
    }


def showing_row(number: int, place: int, pair: int, couple: tuple[int, int]) -> dict[str, object]:
    return {
        "id": (number - 1) * PAIRS + place + 1,
        "slot_id": number,
        "pair_id": pair,
        "position": place + 1,
        "name": f"worker{number:06}.2.1.{place + 1}",
        "left_system_id": couple[0],
        "right_system_id": couple[1],
        "repeats_id": (number - 1) * PAIRS + place - 20 if place > 20 else None,
    }


def judgment_row(showing: dict[str, object]) -> dict[str, object]:
    times = {"shown_at": START, "decided_at": START + timedelta(seconds=25), "decision_ms": 25_000}
    return {
        "showing_id": showing["id"],
        "revision": 1,
        "choice": "left",
        "page_key": "",
        "timing": "browser",
        "layout": "stacked",
        "late": False,
        **times,
    }


def page_row(number: int, page: int, showing: object) -> dict[str, object]:
    served_at = START + timedelta(minutes=page)
    return {
        "id": (number - 1) * PAGES + page + 1,
        "key": f"page{number:06}{page:04}",
        "worker_id": number,
        "step": f"2/1/pair/{page + 1}",
        "showing_id": showing,
        "served_at": served_at,
        "first_received_at": served_at,
        "upto": EVENTS,
    }


def event_rows(
    row: int, page: int, log: list[tuple[int, str, dict[str, object]]]
) -> Iterator[dict[str, object]]:
    served_at = START + timedelta(minutes=page)
    wall = (served_at - EPOCH) // MILLISECOND
    for place, (ms, kind, detail) in enumerate(log, start=1):
        yield {
            "page_load_id": row,
            "number": place,
            "kind": kind,
            "page_ms": ms,
            "wall_ms": wall + ms,
            "received_at": served_at + timedelta(seconds=30),
            "detail": detail,
        }


def export_here(url: str, folder: str, *, raw: bool) -> None:
    """What the process that is measured does; prints seconds, seconds of the processor, peak MB, rows of reads."""
    began, began_working = time.perf_counter(), time.process_time()
    with transaction(open_database(url), write=False) as session:
        study = session.scalars(select(LoadedStudy)).one()
        summary = export_study(session, study, folder, now=END, raw=raw)
    seconds, worked = time.perf_counter() - began, time.process_time() - began_working
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{seconds:.0f} {worked:.0f} {megabytes:.0f} {summary.rows['reads']}")


def main(sizes: list[int]) -> None:
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for workers in sizes:
            url = f"sqlite:///{folder}/{workers}.sqlite3"
            database = open_database(url)
            migrate(database)
            with transaction(database, write=True) as session:
                fill(session, min(workers, 40))
                come_again(session, workers)
            for raw in ("", "--raw"):
                command = [sys.executable, __file__, "--measure", url, f"{folder}/tables", raw]
                done = subprocess.run(command, check=True, capture_output=True, text=True)
                seconds, worked, megabytes, reads = map(int, done.stdout.split())
                rows.append(
                    (workers, workers * (PAGES + VISITS) * EVENTS, raw, reads, seconds, worked, megabytes)
                )
    headers = ["workers", "events", "option", "rows of reads", "seconds", "processor seconds", "peak MB"]
    print(tabulate(rows, headers=headers, intfmt=",", tablefmt="github"))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        export_here(sys.argv[2], sys.argv[3], raw=sys.argv[4] == "--raw")
    else:
        main([int(size) for size in sys.argv[1:]] or [100, 1000])
