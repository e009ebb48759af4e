"""What the folder raw of an export holds: its tables, column by column."""

from types import MappingProxyType

from calibration.tables.definition import Column, Kind, Table


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
"""What `--raw` adds; no contract with other stages."""
