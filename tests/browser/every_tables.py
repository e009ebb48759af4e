"""A walk through a study of any kinds of tasks, and whether the exported tables are what was done on it."""

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd
from playwright.sync_api import Browser, Page
from sqlalchemy import select

from calibration.tables.files import read_tables
from study_app.export import export_study
from study_app.protocol.sides import Side
from study_app.store.models import StoredSummary, System, Task, Topic
from tests.browser.conftest import SCREENS
from tests.browser.every_walk import SEARCH_SECONDS, Judged, Notes, Walk
from tests.browser.study_server import StudyServer, study_server
from tests.study_app.every_task import PROFILES, every_task, write_every_task
from tests.study_app.small_ranked import TOPICS as LISTS
from tests.study_app.small_streams import EVENTS
from tests.study_app.small_study import INTENTS, IUNITS, QUERIES

KINDS = tuple(every_task())
NAMES = {kind: str(task["name"]) for kind, task in every_task().items()}
LAYOUTS = {"phone": "stacked", "desktop": "side_by_side"}
SMALL = {
    "iunit_importance": {"iunits_per_page": 4},
    "summary_pairs": {"search_seconds": SEARCH_SECONDS, "min_search_seconds": SEARCH_SECONDS},
    "stream_pairs": {"pairs_per_worker": 2},
}
"""What makes a task worth walking through, and short."""


Watch = Callable[[Page], None]
"""What is done with a tab before anything is opened in it."""

_LISTS = dict(line.split("\t")[:2] for line in LISTS.splitlines())
_TOPICS = {text: name for texts in (QUERIES, PROFILES, _LISTS, EVENTS) for name, text in texts.items()}
_INTENTS = {text: name for texts in INTENTS.values() for name, text in texts.items()}
_IUNITS = {text: name for texts in IUNITS.values() for name, text in texts.items()}


def walked(
    browser: Browser, folder: Path, screen: str, *, kinds: tuple[str, ...] = KINDS, **way: Any
) -> None:
    """Go through a study of some kinds, and compare what its tables say with what was done; ``way`` as `gone` takes it."""
    with every_server(folder, kinds, way.get("language", "en")) as server:
        gone(browser, server, screen, kinds=kinds, **way)()


def every_server(folder: Path, kinds: tuple[str, ...], language: str) -> AbstractContextManager[StudyServer]:
    """Serve a study of some kinds, all with instructions and in one language."""
    texts = {"language": language, "instructions": "standard"}
    tasks = {kind: texts | SMALL.get(kind, {}) for kind in kinds}
    return study_server(folder, write_every_task(folder, tasks=tasks))


def gone(
    browser: Browser,
    server: StudyServer,
    screen: str,
    *,
    kinds: tuple[str, ...] = KINDS,
    language: str = "en",
    script: bool = True,
    watch: Watch = lambda _page: None,
    **how: Any,
) -> Callable[[], None]:
    """Go through; returns what compares the tables with what was done.

    ``watch`` is called with the new tab, ``how`` is what a `Walk` takes besides.
    """
    with browser.new_context(**SCREENS[screen], java_script_enabled=script) as context:
        page = context.new_page()
        watch(page)
        notes = Walk(page, server, kinds, **how).go()
        assert page.locator("html").get_attribute("lang") == language
    tables = tables_of(server)

    def compared() -> None:
        compare(tables, notes, kinds, layout=LAYOUTS[screen] if script else None, language=language)
        shown_as_stored(server, tables, notes.judged, kinds)

    return compared


def tables_of(server: StudyServer) -> dict[str, pd.DataFrame]:
    """Export what is stored."""
    with TemporaryDirectory() as folder:
        with server.reading() as session:
            export_study(session, server.study(session), Path(folder), now=server())
        return dict(read_tables(Path(folder)))


def compare(
    tables: Mapping[str, pd.DataFrame],
    notes: Notes,
    kinds: tuple[str, ...],
    *,
    layout: str | None,
    language: str,
) -> None:
    """Hold every table of answers against the notes; a study has the tables of its tasks only."""
    assert rows(tables, "preferences", "task", "topic", "choice") == [
        (NAMES[kinds[one.task - 1]], _TOPICS[one.query], one.choice) for one in notes.judged
    ]
    how = (layout, "browser", language) if layout else (None, "server", language)
    shown = rows(tables, "preferences", "layout", "timing", "language")
    assert {(row[0] if isinstance(row[0], str) else None, *row[1:]) for row in shown} <= {how}
    assert rows(tables, "intent_votes", "topic", "intent") == sorted(
        (_TOPICS[query], _INTENTS[intent]) for query, intent in notes.votes
    )
    rated = rows(tables, "importance", "topic", "intent", "iunit", "rating")
    assert {row[:3]: row[3] for row in rated} == {
        (_TOPICS[query], _INTENTS[intent], _IUNITS[iunit]): rating
        for (query, intent, iunit), rating in notes.ratings.items()
    }
    assert len(rated) == len(notes.ratings)
    assert dict(rows(tables, "answers", "question", "value")) == notes.replies
    searches = rows(tables, "searches", "topic", "seconds")
    assert [topic for topic, _ in searches] == [_TOPICS[query] for query in notes.searched]
    assert all(seconds >= SEARCH_SECONDS for _, seconds in searches)
    assert rows(tables, "follows", "topic") == [(_TOPICS[event],) for event in notes.followed]
    assert len(rows(tables, "visits", "visit")) == notes.stays
    useful = Counter(value for (value,) in rows(tables, "lateness", "useful"))
    assert useful == Counter(notes.useful)


def rows(tables: Mapping[str, pd.DataFrame], name: str, *columns: str) -> list[tuple[Any, ...]]:
    """Return some columns of a table as tuples, answers to pairs in the order in which they were given."""
    if name not in tables:
        return []
    table = tables[name].sort_values("decided_at") if name == "preferences" else tables[name]
    return list(table[list(columns)].itertuples(index=False, name=None))


def shown_as_stored(
    server: StudyServer, tables: Mapping[str, pd.DataFrame], judged: list[Judged], kinds: tuple[str, ...]
) -> None:
    """Hold what stood on either side of each pair against what the system that the table names there shows."""
    with server.reading() as session:
        wanted = (
            select(Task.name, Topic.name, System.name, StoredSummary.content)
            .select_from(StoredSummary)
            .join(Topic, StoredSummary.topic_id == Topic.id)
            .join(System, StoredSummary.system_id == System.id)
            .join(Task, Topic.task_id == Task.id)
        )
        stored = {
            (task, topic, system): words(content) for task, topic, system, content in session.execute(wanted)
        }
    for one, (task, topic, *systems) in zip(
        judged, rows(tables, "preferences", "task", "topic", "system_left", "system_right"), strict=True
    ):
        assert task == NAMES[kinds[one.task - 1]]
        for shown, system in zip((one.left, one.right), systems, strict=True):
            expected = stored[task, topic, system]
            assert len(shown) == len(expected)
            assert all(text in item for item, texts in zip(shown, expected, strict=True) for text in texts)


def words(content: Mapping[str, Any]) -> list[list[str]]:
    """Return the words of each item of what a system shows (`study_app.store.models.StoredSummary`), in order."""
    return [
        [block.title, block.text, *(below.text for below in block.inside)]
        for block in Side.of(content).blocks
    ]
