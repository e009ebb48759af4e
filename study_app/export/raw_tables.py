"""Columns of the raw tables of an export."""

from types import MappingProxyType

from calibration.tables.definition import Column, ColumnType, Table


def _column(name: str, kind: ColumnType, doc: str) -> Column:
    return Column(name=name, kind=kind, doc=doc)


_WORKER = _column("worker", ColumnType.TEXT, "Pseudonym of the worker")
_PAGE = _column("page", ColumnType.TEXT, "Id of the page load")
_STEP = _column("step", ColumnType.TEXT, "Step of the study that the page was for")
_JUDGMENT = _column("judgment", ColumnType.TEXT, "Judgment that the page was for")
_TASK = _column("task", ColumnType.TEXT, "Task")
_SHEET = _column("sheet", ColumnType.INTEGER, "Number of the page of the intent, from 1")
_REVISION = _column("revision", ColumnType.INTEGER, "1 for the first answer; the highest counts")
_LATE = _column("late", ColumnType.FLAG, "The worker's lease had expired and gone to another worker")
_EVENTS = _column("events", ColumnType.INTEGER, "Events stored")
_MISSING = _column(
    "missing", ColumnType.INTEGER, "Events numbered below the highest stored that never arrived"
)
_RAW = (
    Table(
        name="events",
        doc="One row per event that a page logged, in order of worker, page and number.",
        columns=(
            _WORKER,
            _PAGE,
            _STEP,
            _JUDGMENT,
            _column("number", ColumnType.INTEGER, "Number of the event in its page load, from 1"),
            _column("kind", ColumnType.TEXT, "Kind of event"),
            _column(
                "page_ms", ColumnType.INTEGER, "The page's monotonic clock, in milliseconds since the load"
            ),
            _column("wall_ms", ColumnType.INTEGER, "The browser's wall clock, in milliseconds since 1970"),
            _column("received_at", ColumnType.TIME, "Time at which the server stored it"),
            _column("detail", ColumnType.TEXT, "Details of the event, as JSON"),
        ),
    ),
    Table(
        name="judgments",
        doc="One row per revision of an answer to a pair.",
        columns=(
            _JUDGMENT,
            _WORKER,
            _REVISION,
            _column("choice", ColumnType.TEXT, "The answer"),
            _PAGE,
            _column("shown_at", ColumnType.TIME, "When the page was served"),
            _column("decided_at", ColumnType.TIME, "When the answer was stored"),
            _column("decision_seconds", ColumnType.NUMBER, "Seconds from showing to answer"),
            _column("timing", ColumnType.TEXT, "Clock of decision_seconds"),
            _column("layout", ColumnType.TEXT, "Layout of the two sides on the screen"),
            _column("late", ColumnType.FLAG, "Answered after its lease had gone to another worker"),
            _column("strength", ColumnType.INTEGER, "Of graded choices: how much better the chosen side is"),
            _column(
                "criteria",
                ColumnType.TEXT,
                "Criterion and answer, [choice, strength], as a JSON object; empty without criteria",
            ),
            _column("reason", ColumnType.TEXT, "Why, in the worker's words; empty without --texts"),
        ),
    ),
    Table(
        name="ballots",
        doc="One row per revision of a worker's intent votes for a query.",
        columns=(
            _WORKER,
            _column("topic", ColumnType.TEXT, "The query"),
            _REVISION,
            _column("intents", ColumnType.TEXT, "Intents ticked, as a JSON list"),
            _PAGE,
            _column("decided_at", ColumnType.TIME, "When the votes were stored"),
            _LATE,
        ),
    ),
    Table(
        name="introductions",
        doc="One row per form of the page before a task: a try at its check.",
        columns=(
            _WORKER,
            _TASK,
            _column("number", ColumnType.INTEGER, "Number of the try, from 1"),
            _column("answers", ColumnType.TEXT, "Options picked, from 1, as a JSON list; [] without a check"),
            _column("passed", ColumnType.FLAG, "All answers were right, and the task could begin"),
            _PAGE,
            _column("decided_at", ColumnType.TIME, "When it was stored"),
        ),
    ),
    Table(
        name="sheets",
        doc="One row per page of iUnits to rate, as it was drawn for a worker; it may have no ratings.",
        columns=(
            _WORKER,
            _TASK,
            _column("topic", ColumnType.TEXT, "The query"),
            _column("intent", ColumnType.TEXT, "The intent to assume"),
            _SHEET,
            _column("iunits", ColumnType.TEXT, "iUnits in the order shown, as a JSON list"),
        ),
    ),
    Table(
        name="ratings",
        doc="One row per revision of the ratings of a sheet.",
        columns=(
            _WORKER,
            _TASK,
            _column("topic", ColumnType.TEXT, "The query"),
            _column("intent", ColumnType.TEXT, "The intent to assume"),
            _SHEET,
            _REVISION,
            _column("ratings", ColumnType.TEXT, "iUnit and rating, 0 to 4, as a JSON object"),
            _PAGE,
            _column("decided_at", ColumnType.TIME, "When they were stored"),
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
                "answers",
                ColumnType.TEXT,
                "Question and answer, as a JSON object; questions without an answer are left out",
            ),
            _PAGE,
            _column("decided_at", ColumnType.TIME, "When they were stored"),
        ),
    ),
    Table(
        name="stream_pages",
        doc="One row per page of a stream that was served, whether or not it logged anything.",
        columns=(
            _WORKER,
            _column("topic", ColumnType.TEXT, "The event"),
            _column("system", ColumnType.TEXT, "System of the updates"),
            _PAGE,
            _column("visit", ColumnType.INTEGER, "Visit as the server counts; table visits is more exact"),
            _column("served_at", ColumnType.TIME, "When it was served"),
            _column("entry", ColumnType.TEXT, "Source of the arrival"),
            _column(
                "after",
                ColumnType.INTEGER,
                "Index (from 1, oldest first) of the newest update read before; 0: none",
            ),
            _column("upto", ColumnType.INTEGER, "Index of the newest update there was"),
            _column("first", ColumnType.INTEGER, "Index of the oldest update on it; 0: none"),
            _column("last", ColumnType.INTEGER, "Index of the newest update on it; 0: none"),
            _column("read", ColumnType.TEXT, "Indices of the updates read, by its form, as a JSON list"),
            _column("left_at", ColumnType.TIME, "Time at which its form was sent last"),
        ),
    ),
    Table(
        name="useful_answers",
        doc="One row per revision of an answer about the use of an update; an unanswered question has an empty row.",
        columns=(
            _WORKER,
            _column("topic", ColumnType.TEXT, "The event"),
            _column("visit", ColumnType.INTEGER, "Visit after which it was asked, as the server counts"),
            _column("place", ColumnType.INTEGER, "Index of the update in the stream, from 1"),
            _column("nugget", ColumnType.TEXT, "New nugget of the update"),
            _column("visits_late", ColumnType.INTEGER, "Visits between the nugget's time and the reading"),
            _column("asked_at", ColumnType.TIME, "When it was first asked"),
            _REVISION,
            _column("useful", ColumnType.FLAG, "The answer"),
            _PAGE,
            _column("answered_at", ColumnType.TIME, "When it was stored"),
        ),
    ),
    Table(
        name="page_gaps",
        doc="One row per page load that logged anything, with its gaps.",
        columns=(
            _WORKER,
            _PAGE,
            _STEP,
            _JUDGMENT,
            _column("served_at", ColumnType.TIME, "When the page was served"),
            _column("first_received_at", ColumnType.TIME, "Time at which its first events arrived"),
            _EVENTS,
            _column("highest", ColumnType.INTEGER, "Highest number stored"),
            _MISSING,
            _column("missing_numbers", ColumnType.TEXT, "Missing numbers, such as 4-6 9"),
            _column(
                "has_end", ColumnType.FLAG, "The page reported its end; if not, its last events may be lost"
            ),
        ),
    ),
    Table(
        name="worker_gaps",
        doc="One row per worker, with the gaps of the pages' logs.",
        columns=(
            _WORKER,
            _column("pages", ColumnType.INTEGER, "Page loads that logged anything"),
            _column("pages_with_gaps", ColumnType.INTEGER, "Page loads with a missing event"),
            _column("pages_without_end", ColumnType.INTEGER, "Page loads that did not report their end"),
            _EVENTS,
            _MISSING,
            _column(
                "unlogged_answers",
                ColumnType.INTEGER,
                "Answers whose page logged nothing (no script, or all lost)",
            ),
            _column("stream_pages", ColumnType.INTEGER, "Pages of streams that were served"),
            _column(
                "stream_pages_by_form_only", ColumnType.INTEGER, "Pages of streams with a form but no log"
            ),
            _column(
                "silent_stream_pages",
                ColumnType.INTEGER,
                "Pages of streams without log and form: unseen, or all lost",
            ),
        ),
    ),
)
RAW_TABLES: MappingProxyType[str, Table] = MappingProxyType({table.name: table for table in _RAW})
"""Raw tables by name, written with ``--raw``; no contract with other stages."""
