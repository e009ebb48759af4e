"""Folder of exported tables, and the columns of the raw tables.

The folder appears complete or not at all; tables are written piece by piece. The tables that come from
collections alone are here too.
"""

import io
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Self

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pa_parquet

from calibration.tables.definition import Column, Kind, Table
from calibration.tables.files import checked, csv_rows, csv_text
from calibration.tables.tables import TABLES
from metrics.errors import input_fault, listed
from metrics.files import left_behind, sync, sync_names, unfinished
from study_app.estimate.content import StudyContent
from study_app.export.moved_times import MovedTimes

OLD = "old export"
WRITTEN_AT_ONCE = 10_000
"""Rows of a CSV formatted in memory at a time."""


@contextmanager
def fresh_folder(folder: Path, *, is_ours: Callable[[str], bool]) -> Iterator[Path]:
    """Yield an empty folder that replaces ``folder`` when the block succeeds.

    When the block raises, the new folder is removed. It holds what people did, and only its owner may read
    it.

    Parameters
    ----------
    folder : Path
        Where the result is to stand. What stands there is replaced if it holds nothing of others.
    is_ours : callable
        Says of a file's name, relative to the folder, whether an earlier export may have left it.

    Raises
    ------
    InputError
        If ``folder`` is a file, holds anything else, or cannot be written.
    """
    folder = folder.absolute()
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        _put_back(folder)
        _check_replaceable(folder, is_ours)
        with unfinished(folder) as new:
            new.mkdir(mode=0o700)
            yield new
            for path in new.rglob("*"):
                path.chmod(0o700 if path.is_dir() else 0o600)
            sync(new)
            _exchange(folder, new)
    except OSError as error:
        raise input_fault(
            f"cannot be written ({error.strerror})",
            path=folder,
            cure="make room there, or name another folder",
        ) from error


def _exchange(folder: Path, new: Path) -> None:
    """Replace a folder by a new one; put the old one back if that fails."""
    old = new.with_name(OLD)
    if folder.exists():
        folder.rename(old)
    try:
        new.rename(folder)
    except OSError:
        if old.exists():
            old.rename(folder)
        raise
    sync_names(folder.parent)


def _put_back(folder: Path) -> None:
    """Restore the name of an earlier export that a killed command had moved away."""
    for room in left_behind(folder):
        if (room / OLD).is_dir() and not folder.exists():
            (room / OLD).rename(folder)


def _check_replaceable(folder: Path, is_ours: Callable[[str], bool]) -> None:
    if not folder.exists():
        return
    if not folder.is_dir():
        raise input_fault("this is a file", path=folder, cure="name a folder")
    others = sorted(
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if not path.is_dir() and not is_ours(path.relative_to(folder).as_posix())
    )
    if others:
        raise input_fault(
            f"the folder holds what no export wrote: {listed(others)}",
            path=folder,
            cure="name another folder, or move these away",
        )


class TableStream:
    """Table written as CSV and Parquet piece by piece, never whole in memory.

    Use as a context manager. ``moved`` moves the times of the rows; without it they stand as they are. Each piece is checked by itself, so a table with a key must have the worker in it, and
    each piece must hold all rows of its workers.
    """

    def __init__(self, folder: Path, table: Table, moved: MovedTimes | None = None) -> None:
        if table.key and "worker" not in table.key:
            raise ValueError(f"{table.name} has a key over all its rows and cannot be written in pieces")
        self.rows = 0
        self._folder, self._table, self._moved = folder, table, moved
        self._open_files = ExitStack()

    def __enter__(self) -> Self:
        """Open both files and write the header."""
        empty = self._table.empty()
        stem = self._folder / self._table.name
        self._csv = self._open_files.enter_context(
            stem.with_suffix(".csv").open("w", encoding="utf-8", newline="")
        )
        self._csv.write(csv_text(empty))
        self._schema = pa.Schema.from_pandas(empty, preserve_index=False)
        self._parquet = self._open_files.enter_context(
            pa_parquet.ParquetWriter(stem.with_suffix(".parquet"), self._schema)
        )
        return self

    def append(self, frame: pd.DataFrame) -> None:
        """Check some rows and write them; raises `InputError` as `checked` does."""
        if frame.empty:
            return
        piece = checked(frame if self._moved is None else self._moved.move(frame, self._table), self._table)
        for at in range(0, len(piece), WRITTEN_AT_ONCE):
            self._csv.write(csv_rows(piece[at : at + WRITTEN_AT_ONCE]))
        self._parquet.write_table(pa.Table.from_pandas(piece, schema=self._schema, preserve_index=False))
        self.rows += len(piece)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close both files."""
        self._open_files.close()


def feature_tables(content: StudyContent) -> dict[str, pd.DataFrame]:
    """Return tables positions, push_cells and intents of the files of a study.

    Tables without rows are left out.
    """
    derived = [
        (str(task.entry.name), table, rows) for task in content.tasks for table, rows in task.tables.items()
    ]
    offered = [
        (topic.id, intent, topic.probability(intent))
        for task in content.tasks
        for topic in task.topics
        for intent in topic.intents
    ]
    intents = {"intents": intents_table(offered)} if offered else {}
    return intents | derived_tables(derived)


def intents_table(offered: Iterable[tuple[str, str, float | None]]) -> pd.DataFrame:
    """Return table intents, each intent once, with its first known probability."""
    frame = pd.DataFrame(offered, columns=list(TABLES["intents"].column_names))
    return frame.groupby(["topic", "intent"], sort=False, as_index=False)["probability"].first()


def derived_tables(derived: Iterable[tuple[str, str, bytes]]) -> dict[str, pd.DataFrame]:
    """Return the derived tables by name, each over all tasks.

    ``derived`` has (task, table, that task's part as Parquet).
    """
    parts: defaultdict[str, list[pd.DataFrame]] = defaultdict(list)
    for task, table, content in derived:
        parts[table].append(pd.read_parquet(io.BytesIO(content)).assign(task=task))
    return {table: pd.concat(frames) for table, frames in parts.items()}


def _column(name: str, kind: Kind, doc: str) -> Column:
    return Column(name=name, kind=kind, doc=doc)


_WORKER = _column("worker", Kind.TEXT, "Pseudonym of the worker")
_PAGE = _column("page", Kind.TEXT, "Id of the page load")
_STEP = _column("step", Kind.TEXT, "Which page of the worker's way it was")
_JUDGMENT = _column("judgment", Kind.TEXT, "The judgment that the page was for")
_TASK = _column("task", Kind.TEXT, "The task")
_SHEET = _column("sheet", Kind.INTEGER, "Which page of the intent, from 1")
_REVISION = _column("revision", Kind.INTEGER, "1 for the first answer; the highest counts")
_LATE = _column("late", Kind.FLAG, "The worker's lease had expired and gone to someone else")
_EVENTS = _column("events", Kind.INTEGER, "Events stored")
_MISSING = _column("missing", Kind.INTEGER, "Events numbered below the highest stored that never came")
_RAW = (
    Table(
        name="events",
        doc="One row an event that a page logged, in order of worker, page and number.",
        columns=(
            _WORKER,
            _PAGE,
            _STEP,
            _JUDGMENT,
            _column("number", Kind.INTEGER, "Place of the event in its page load, from 1"),
            _column("kind", Kind.TEXT, "What happened"),
            _column("page_ms", Kind.INTEGER, "The page's monotonic clock, in milliseconds since the load"),
            _column("wall_ms", Kind.INTEGER, "The browser's wall clock, in milliseconds since 1970"),
            _column("received_at", Kind.TIME, "When the server stored it"),
            _column("detail", Kind.TEXT, "What the kind adds, as JSON"),
        ),
    ),
    Table(
        name="judgments",
        doc="One row per revision of an answer to a pair.",
        columns=(
            _JUDGMENT,
            _WORKER,
            _REVISION,
            _column("choice", Kind.TEXT, "The answer"),
            _PAGE,
            _column("shown_at", Kind.TIME, "When the page was served"),
            _column("decided_at", Kind.TIME, "When the answer was stored"),
            _column("decision_seconds", Kind.NUMBER, "Seconds from showing to answer"),
            _column("timing", Kind.TEXT, "Whose clock gave decision_seconds"),
            _column("layout", Kind.TEXT, "How the two texts stood on the screen"),
            _column("late", Kind.FLAG, "Answered after its lease had gone to someone else"),
        ),
    ),
    Table(
        name="ballots",
        doc="One row per revision of a worker's intent votes for a query.",
        columns=(
            _WORKER,
            _column("topic", Kind.TEXT, "The query"),
            _REVISION,
            _column("intents", Kind.TEXT, "Intents ticked, as a JSON list"),
            _PAGE,
            _column("decided_at", Kind.TIME, "When the votes were stored"),
            _LATE,
        ),
    ),
    Table(
        name="introductions",
        doc="One row per form of the page before a task: a try at its check.",
        columns=(
            _WORKER,
            _TASK,
            _column("number", Kind.INTEGER, "Which try, from 1"),
            _column("answers", Kind.TEXT, "Options picked, from 1, as a JSON list; [] without a check"),
            _column("passed", Kind.FLAG, "All were right, and the task could begin"),
            _PAGE,
            _column("decided_at", Kind.TIME, "When it was stored"),
        ),
    ),
    Table(
        name="sheets",
        doc="One row per page of iUnits to rate, as it was drawn for a worker; it may have no ratings.",
        columns=(
            _WORKER,
            _TASK,
            _column("topic", Kind.TEXT, "The query"),
            _column("intent", Kind.TEXT, "The intent to assume"),
            _SHEET,
            _column("iunits", Kind.TEXT, "iUnits in the order shown, as a JSON list"),
        ),
    ),
    Table(
        name="ratings",
        doc="One row per revision of the ratings of a sheet.",
        columns=(
            _WORKER,
            _TASK,
            _column("topic", Kind.TEXT, "The query"),
            _column("intent", Kind.TEXT, "The intent to assume"),
            _SHEET,
            _REVISION,
            _column("ratings", Kind.TEXT, "iUnit and rating, 0 to 4, as a JSON object"),
            _PAGE,
            _column("decided_at", Kind.TIME, "When they were stored"),
            _LATE,
        ),
    ),
    Table(
        name="replies",
        doc="One row per revision of a worker's answers to the questions of a task.",
        columns=(
            _WORKER,
            _TASK,
            _REVISION,
            _column(
                "answers", Kind.TEXT, "Question and answer, as a JSON object; what was left out is not in it"
            ),
            _PAGE,
            _column("decided_at", Kind.TIME, "When they were stored"),
        ),
    ),
    Table(
        name="stream_pages",
        doc="One row per page of a stream that was served, whether or not anything came of it.",
        columns=(
            _WORKER,
            _column("topic", Kind.TEXT, "The event"),
            _column("system", Kind.TEXT, "Whose updates"),
            _PAGE,
            _column("visit", Kind.INTEGER, "The visit that the server took it for; table visits knows more"),
            _column("served_at", Kind.TIME, "When it was served"),
            _column("entry", Kind.TEXT, "What had brought the worker"),
            _column(
                "after",
                Kind.INTEGER,
                "Place (from 1, oldest first) of the newest update read before; 0: none",
            ),
            _column("upto", Kind.INTEGER, "Place of the newest update there was"),
            _column("first", Kind.INTEGER, "Place of the oldest update it showed; 0: none"),
            _column("last", Kind.INTEGER, "Place of the newest update it showed; 0: none"),
            _column("read", Kind.TEXT, "Places that its form named as read, as a JSON list"),
            _column("left_at", Kind.TIME, "When its form was sent last"),
        ),
    ),
    Table(
        name="useful_answers",
        doc="One row per revision of an answer whether an update was still of use; a question without one has an empty row.",
        columns=(
            _WORKER,
            _column("topic", Kind.TEXT, "The event"),
            _column("visit", Kind.INTEGER, "The visit after which it was asked, as the server counts"),
            _column("place", Kind.INTEGER, "Place of the update in the stream, from 1"),
            _column("nugget", Kind.TEXT, "What the update told first"),
            _column("visits_late", Kind.INTEGER, "Visits between the nugget's time and the reading"),
            _column("asked_at", Kind.TIME, "When it was first asked"),
            _REVISION,
            _column("useful", Kind.FLAG, "The answer"),
            _PAGE,
            _column("answered_at", Kind.TIME, "When it was stored"),
        ),
    ),
    Table(
        name="page_gaps",
        doc="One row per page load that logged anything, and what is missing of it.",
        columns=(
            _WORKER,
            _PAGE,
            _STEP,
            _JUDGMENT,
            _column("served_at", Kind.TIME, "When the page was served"),
            _column("first_received_at", Kind.TIME, "When its first events came"),
            _EVENTS,
            _column("highest", Kind.INTEGER, "The highest number stored"),
            _MISSING,
            _column("missing_numbers", Kind.TEXT, "Which, such as 4-6 9"),
            _column("has_end", Kind.FLAG, "The page told of its end; if not, its last events may be lost"),
        ),
    ),
    Table(
        name="worker_gaps",
        doc="One row per worker, and what is missing of the pages' logs.",
        columns=(
            _WORKER,
            _column("pages", Kind.INTEGER, "Page loads that logged anything"),
            _column("pages_with_gaps", Kind.INTEGER, "Those with a missing event"),
            _column("pages_without_end", Kind.INTEGER, "Those that did not tell of their end"),
            _EVENTS,
            _MISSING,
            _column(
                "unlogged_answers", Kind.INTEGER, "Answers whose page logged nothing (no script, or all lost)"
            ),
            _column("stream_pages", Kind.INTEGER, "Pages of streams that were served"),
            _column("stream_pages_by_form_only", Kind.INTEGER, "Those without a log of which the form tells"),
            _column("silent_stream_pages", Kind.INTEGER, "Those without log and form: unseen, or all lost"),
        ),
    ),
)
RAW_TABLES: MappingProxyType[str, Table] = MappingProxyType({table.name: table for table in _RAW})
"""Raw tables by name, written with ``--raw``; no contract with other stages."""
