"""Columns of the raw tables of an export."""

from types import MappingProxyType

from calibration.tables.definition import Column, Kind, Table


def _column(name: str, kind: Kind, doc: str) -> Column:
    return Column(name=name, kind=kind, doc=doc)


_WORKER = _column("worker", Kind.TEXT, "Pseudonym of the worker")
_PAGE = _column("page", Kind.TEXT, "Id of the page load")
_STEP = _column("step", Kind.TEXT, "Step of the study that the page was for")
_JUDGMENT = _column("judgment", Kind.TEXT, "Judgment that the page was for")
_TASK = _column("task", Kind.TEXT, "Task")
_SHEET = _column("sheet", Kind.INTEGER, "Number of the page of the intent, from 1")
_REVISION = _column("revision", Kind.INTEGER, "1 for the first answer; the highest counts")
_LATE = _column("late", Kind.FLAG, "The worker's lease had expired and gone to another worker")
_EVENTS = _column("events", Kind.INTEGER, "Events stored")
_MISSING = _column("missing", Kind.INTEGER, "Events numbered below the highest stored that never arrived")
_RAW = (
    Table(
        name="events",
        doc="One row per event that a page logged, in order of worker, page and number.",
        columns=(
            _WORKER,
            _PAGE,
            _STEP,
            _JUDGMENT,
            _column("number", Kind.INTEGER, "Number of the event in its page load, from 1"),
            _column("kind", Kind.TEXT, "Kind of event"),
            _column("page_ms", Kind.INTEGER, "The page's monotonic clock, in milliseconds since the load"),
            _column("wall_ms", Kind.INTEGER, "The browser's wall clock, in milliseconds since 1970"),
            _column("received_at", Kind.TIME, "Time at which the server stored it"),
            _column("detail", Kind.TEXT, "Details of the event, as JSON"),
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
            _column("timing", Kind.TEXT, "Clock of decision_seconds"),
            _column("layout", Kind.TEXT, "Layout of the two sides on the screen"),
            _column("late", Kind.FLAG, "Answered after its lease had gone to another worker"),
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
            _column("number", Kind.INTEGER, "Number of the try, from 1"),
            _column("answers", Kind.TEXT, "Options picked, from 1, as a JSON list; [] without a check"),
            _column("passed", Kind.FLAG, "All answers were right, and the task could begin"),
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
                "answers",
                Kind.TEXT,
                "Question and answer, as a JSON object; questions without an answer are left out",
            ),
            _PAGE,
            _column("decided_at", Kind.TIME, "When they were stored"),
        ),
    ),
    Table(
        name="stream_pages",
        doc="One row per page of a stream that was served, whether or not it logged anything.",
        columns=(
            _WORKER,
            _column("topic", Kind.TEXT, "The event"),
            _column("system", Kind.TEXT, "System of the updates"),
            _PAGE,
            _column("visit", Kind.INTEGER, "Visit as the server counts; table visits is more exact"),
            _column("served_at", Kind.TIME, "When it was served"),
            _column("entry", Kind.TEXT, "Source of the arrival"),
            _column(
                "after",
                Kind.INTEGER,
                "Index (from 1, oldest first) of the newest update read before; 0: none",
            ),
            _column("upto", Kind.INTEGER, "Index of the newest update there was"),
            _column("first", Kind.INTEGER, "Index of the oldest update on it; 0: none"),
            _column("last", Kind.INTEGER, "Index of the newest update on it; 0: none"),
            _column("read", Kind.TEXT, "Indices of the updates read, by its form, as a JSON list"),
            _column("left_at", Kind.TIME, "Time at which its form was sent last"),
        ),
    ),
    Table(
        name="useful_answers",
        doc="One row per revision of an answer about the use of an update; an unanswered question has an empty row.",
        columns=(
            _WORKER,
            _column("topic", Kind.TEXT, "The event"),
            _column("visit", Kind.INTEGER, "Visit after which it was asked, as the server counts"),
            _column("place", Kind.INTEGER, "Index of the update in the stream, from 1"),
            _column("nugget", Kind.TEXT, "New nugget of the update"),
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
        doc="One row per page load that logged anything, with its gaps.",
        columns=(
            _WORKER,
            _PAGE,
            _STEP,
            _JUDGMENT,
            _column("served_at", Kind.TIME, "When the page was served"),
            _column("first_received_at", Kind.TIME, "Time at which its first events arrived"),
            _EVENTS,
            _column("highest", Kind.INTEGER, "Highest number stored"),
            _MISSING,
            _column("missing_numbers", Kind.TEXT, "Missing numbers, such as 4-6 9"),
            _column("has_end", Kind.FLAG, "The page reported its end; if not, its last events may be lost"),
        ),
    ),
    Table(
        name="worker_gaps",
        doc="One row per worker, with the gaps of the pages' logs.",
        columns=(
            _WORKER,
            _column("pages", Kind.INTEGER, "Page loads that logged anything"),
            _column("pages_with_gaps", Kind.INTEGER, "Page loads with a missing event"),
            _column("pages_without_end", Kind.INTEGER, "Page loads that did not report their end"),
            _EVENTS,
            _MISSING,
            _column(
                "unlogged_answers", Kind.INTEGER, "Answers whose page logged nothing (no script, or all lost)"
            ),
            _column("stream_pages", Kind.INTEGER, "Pages of streams that were served"),
            _column("stream_pages_by_form_only", Kind.INTEGER, "Pages of streams with a form but no log"),
            _column(
                "silent_stream_pages",
                Kind.INTEGER,
                "Pages of streams without log and form: unseen, or all lost",
            ),
        ),
    ),
)
RAW_TABLES: MappingProxyType[str, Table] = MappingProxyType({table.name: table for table in _RAW})
"""Raw tables by name, written with ``--raw``; no contract with other stages."""
