"""Whatever the network does to batches of several pages: the same rows, the true gaps, the same tables."""

import json
from collections.abc import Callable
from datetime import timedelta
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import delete, select

from study_app.export import export_study
from study_app.export.event_log import EventLog
from study_app.export.log_gaps import page_gaps
from study_app.store.database import transaction
from study_app.store.models import EPOCH, MILLISECOND, LoadedStudy, PageLoad, StoredEvent, Worker
from tests.study_app.conftest import Campaign
from tests.study_app.small_streams import PROMPT, streams_task, write_stream_study
from tests.study_app.small_study import pairs_task, write_small_study
from tests.study_app.visitor import Visitor

OPEN = {"kind": "open", "layout": "stacked", "width": 390, "height": 844, "restored": False}
HOUR_MS = 3_600_000


class Page(NamedTuple):
    """A page as a browser has it: its token, and everything it logged."""

    token: str
    events: list[dict[str, Any]]


class Session(NamedTuple):
    """A served study, somebody's browser on the last page of a stream, and the pages there were."""

    study: Campaign
    ann: Visitor
    pages: list[Page]


def logged(study: Campaign, ann: Visitor, items: list[tuple[str, str]]) -> Page:
    """Read a page item by item, two seconds each, after an hour's sleep, and close it; the clock goes on."""
    wall = (study.clock() - EPOCH) // MILLISECOND
    happenings: list[tuple[int, int, dict[str, Any]]] = [(100, 0, OPEN), (100, 0, {"kind": "visible"})]
    happenings.append((900, HOUR_MS, {"kind": "sleep", "lost_ms": HOUR_MS}))
    for number, (side, item) in enumerate(items):
        for ms, share in ((0, 0.5), (1500, 1), (2000, 0)):
            event = {"kind": "see", "side": side, "item": item, "share": share}
            happenings.append((1000 + 2000 * number + ms, HOUR_MS, event))
    ms = happenings[-1][0]
    happenings += [(ms, HOUR_MS, {"kind": "beat"}), (ms + 10, HOUR_MS, {"kind": "close"})]
    study.clock.forward(3600 + ms / 1000)
    numbered = [
        {"n": n, "ms": ms, "wall": wall + ms + slept, **event}
        for n, (ms, slept, event) in enumerate(happenings, start=1)
    ]
    return Page(ann.page_token, numbered)


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory, database_in: Callable[[Path], str]) -> Any:
    """Ann judged pairs, enrolled in a stream and looked at it three times; nothing of her log has arrived yet."""
    folder = tmp_path_factory.mktemp("ingest")
    study = Campaign(folder, database_in(folder))
    write_small_study(folder)
    tasks = [pairs_task(), streams_task({"sysprompt": PROMPT})]
    study.load_file(
        write_stream_study(folder, systems={"sysprompt": PROMPT}, events={"TS14.91": "Storm"}, tasks=tasks)
    )
    study.serve()
    ann = study.at_pairs()
    pages = [logged(study, ann, [("left", "f0"), ("right", "f0"), ("left", "f1")])]
    study.judge_all(ann).send()
    assert ann.step == "2/1/stream"
    for hours in (22, 40):
        study.clock.forward(3600 * hours)
        ann.open(ann.home)
        keys = [("stream", str(item["data-item"])) for item in ann.html.select("li[data-item]")]
        pages.append(logged(study, ann, keys))
    study.clock.forward(3600)
    ann.open(ann.home)
    yield Session(study, ann, pages)
    study.database.engine.dispose()


def forget(session: Session) -> None:
    with transaction(session.study.database, write=True) as database:
        database.execute(delete(StoredEvent))
        database.execute(delete(PageLoad))


def body(page: Page, events: list[dict[str, Any]]) -> str:
    return json.dumps({"page": page.token, "sent_ms": 0, "sent_wall_ms": 0, "events": events})


def post(session: Session, text: str) -> Any:
    address = f"/e/{session.ann.token}"
    return session.ann.client.post(address, data=text, content_type="application/json")


def arrived(session: Session) -> dict[str, list[tuple[Any, ...]]]:
    """Return page key -> (number, kind, both clocks, detail) of what is stored."""
    found = session.study.rows(
        select(
            PageLoad.key,
            StoredEvent.number,
            StoredEvent.kind,
            StoredEvent.page_ms,
            StoredEvent.wall_ms,
            StoredEvent.detail,
        )
        .join(StoredEvent, StoredEvent.page_load_id == PageLoad.id)
        .order_by(PageLoad.key, StoredEvent.number)
    )
    rows: dict[str, list[tuple[Any, ...]]] = {}
    for key, *event in found:
        rows.setdefault(key, []).append(tuple(event))
    return rows


def key_of(session: Session, page: Page) -> str:
    return session.study.app.extensions["prefcal"].signer.page(page.token).key


def as_stored(event: dict[str, Any]) -> tuple[Any, ...]:
    detail = {name: value for name, value in event.items() if name not in {"n", "kind", "ms", "wall"}}
    return (event["n"], event["kind"], event["ms"], event["wall"], detail)


def holes(numbers: set[int]) -> str:
    """Write what is missing below the highest number as a raw export does."""
    missing = sorted(set(range(1, max(numbers, default=0))) - numbers)
    runs: list[list[int]] = []
    for number in missing:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return " ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


FAULTS = (None, None, None, "cut short", "too big", "one event is malformed", "an answer instead")


@st.composite
def deliveries(draw: st.DrawFn) -> list[tuple[int, int, int, str | None]]:
    """Pieces of the pages' logs in any order, overlapping and repeated, some of them spoilt."""
    piece = st.tuples(st.integers(0, 2), st.integers(0, 16), st.integers(1, 16), st.sampled_from(FAULTS)).map(
        lambda one: (one[0], one[1], one[1] + one[2], one[3])
    )
    return draw(st.lists(piece, max_size=15))


def deliver(session: Session, pieces: list[tuple[int, int, int, str | None]]) -> list[set[int]]:
    """Post pieces; return the numbers of each page that must be stored then."""
    have: list[set[int]] = [set() for _ in session.pages]
    for place, start, stop, fault in pieces:
        page = session.pages[place]
        some = list(islice(page.events, start, stop))
        text = body(page, some)
        if fault == "cut short":
            assert post(session, text[: len(text) * 2 // 3]).status_code == 400
        elif fault == "too big":
            assert post(session, text + " " * (64 * 1024)).status_code == 413
        elif fault == "one event is malformed":
            assert post(session, body(page, [*some, {"n": 1, "kind": "keypress"}])).status_code == 400
        elif fault == "an answer instead":
            form = session.ann.form()
            assert session.ann.client.post(session.ann.path, data={**form, "done": "1"}).status_code == 303
        else:
            have[place] |= {event["n"] for event in some}
            first_hole = min(set(range(1, 10**3)) - have[place])
            assert post(session, text).json == {"upto": first_hole - 1}
    return have


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(deliveries())
def test_any_fate_of_the_batches_ends_in_the_same_rows_and_the_true_gaps(session, pieces):
    """Retried, reordered, overlapping, truncated and malformed: what came well is there once, what did not is a gap."""
    forget(session)
    have = deliver(session, pieces)

    with transaction(session.study.database, write=False) as database:
        workers = database.scalars(select(Worker.id)).all()
        gaps = page_gaps(database, workers, EventLog(database, workers)).set_index("page")
    stored = arrived(session)
    for page, numbers in zip(session.pages, have, strict=True):
        key = key_of(session, page)
        wanted = [as_stored(event) for event in page.events if event["n"] in numbers]
        assert stored.get(key, []) == wanted
        found = ["missing_numbers", "events"]
        assert not wanted or gaps.loc[key, found].tolist() == [holes(numbers), len(numbers)]

    for page in session.pages:
        assert post(session, body(page, page.events)).json == {"upto": len(page.events)}
    assert arrived(session) == {
        key_of(session, page): [as_stored(event) for event in page.events] for page in session.pages
    }


@settings(max_examples=3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_the_same_events_give_the_same_tables_in_whatever_order_and_however_late_they_come(
    session, tmp_path_factory, data
):
    """With gaps or without; to the byte."""
    numbers = [(place, n) for place, page in enumerate(session.pages) for n in range(len(page.events))]
    lost = data.draw(st.sets(st.sampled_from(numbers), max_size=3))
    in_order = [one for one in numbers if one not in lost]
    shuffled = data.draw(st.permutations(in_order))
    files = []
    for order, minutes in ((in_order, 0), (shuffled, 1)):
        forget(session)
        began = session.study.clock.time
        for start in range(0, len(order), 7):
            for place, n in order[start : start + 7]:
                page = session.pages[place]
                post(session, body(page, [page.events[n]]))
            session.study.clock.forward(60 * minutes)
        session.study.clock.time = began
        folder = tmp_path_factory.mktemp("tables") / "tables"
        with transaction(session.study.database, write=False) as database:
            study = database.scalars(select(LoadedStudy)).one()
            export_study(database, study, folder, now=began + timedelta(days=1))
        files.append({path.name: path.read_bytes() for path in folder.rglob("*.*")})

    assert files[0] == files[1]
    assert len(files[0]["visits.csv"].splitlines()) > 1
