"""What a study file may say: one typed entry for the study, one for each kind of task, one for each kind of collection."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    StringConstraints,
    Tag,
)
from pydantic_core import PydanticCustomError

from study_app.study.platforms import PLATFORMS

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
Text = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]
Code = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9-]{2,64}$")]
Address = Annotated[str, StringConstraints(pattern=r"^https?://[^\s]+$")]
Host = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9.-]*(:[0-9]{1,5})?$")]
Seconds = Annotated[float, Field(ge=0, le=86_400)]
Count = Annotated[int, Field(ge=1)]
Repeats = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]


def _day_as_text(value: Any) -> Any:
    """YAML reads 20150720 as a number; a day is text."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


Day = Annotated[str, BeforeValidator(_day_as_text), StringConstraints(pattern=r"^\d{8}$")]


class Entry(BaseModel):
    """Base of all: unknown keys are faults, nothing is converted in silence."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class SummaryFiles(Entry):
    """Files of a MobileClick collection, relative to the study file."""

    queries: Text
    iunits: Text
    intents: Text
    importance: Text | None = None
    probability: Text | None = None


class EventFiles(Entry):
    """Files of a Temporal Summarization collection, relative to the study file."""

    topics: Text
    nuggets: Text
    matches: Text
    updates: Text


class PushFiles(Entry):
    """Files of a Microblog or Real-Time Summarization collection, relative to the study file."""

    topics: Text
    qrels: Text
    clusters: Text
    epochs: Text
    texts: Text


class RankedFiles(Entry):
    """Files of a collection of documents with time windows, relative to the study file."""

    topics: Text
    qrels: Text
    windows: Text
    texts: Text
    intents: Text | None = None


FILES_OF_FORM: dict[str, type[Entry]] = {"events": EventFiles, "push": PushFiles}
"""Form of a collection of streams -> its files."""


def form_of_streams(given: Any) -> str:
    """Say whether a collection of streams, read or not, is one of events or one of pushes."""
    has_nuggets = "nuggets" in given if isinstance(given, Mapping) else isinstance(given, EventFiles)
    return "events" if has_nuggets else "push"


class CheckQuestion(Entry):
    """A question of a comprehension check; ``answer`` is the number of the right option, from 1."""

    question: Text
    options: Annotated[tuple[Text, ...], Field(min_length=2, max_length=8, strict=False)]
    answer: Count


class TaskEntry(Entry):
    """What every task has.

    ``instructions``: the page before the task; ``standard`` for prefcal's own words, None for no page. On that page stand an
    ``example`` and the questions of ``check`` (None for prefcal's own beside its own words and for none beside others, () for none).
    """

    name: Name | None = None
    language: Literal["en", "ja"] = "en"
    instructions: Text | None = None
    example: bool = True
    check: Annotated[tuple[CheckQuestion, ...], Field(max_length=10, strict=False)] | None = None


class JudgedTask(TaskEntry):
    """What every task has in which pairs are judged; ``compare`` and ``primary`` are for the analysis."""

    min_consistency: Share = 0.4
    validation_swapped: bool = True
    criteria: Annotated[tuple[Text, ...], Field(strict=False)] | None = None
    compare: Annotated[tuple[Text, ...], Field(strict=False)] = ()
    primary: Annotated[tuple[Text, Text], Field(strict=False)] | None = None


class IntentVotes(TaskEntry):
    """Tick every intent of a query one is interested in (two-layered-summaries §4.1)."""

    kind: Literal["intent_votes"]
    collection: SummaryFiles
    votes_per_query: Count | None = 10
    queries_per_worker: Count = 1


class IUnitImportance(TaskEntry):
    """Rate iUnits for an intent, assuming that interest (two-layered-summaries §4.1)."""

    kind: Literal["iunit_importance"]
    collection: SummaryFiles
    assessors_per_iunit: Count | None = 2
    intents_per_worker: Count = 4
    iunits_per_page: Annotated[int, Field(ge=1, le=100)] = 20


class SummaryPairs(JudgedTask):
    """Judge pairs of two-layered summaries of the query one cares about (two-layered-summaries §4.2)."""

    kind: Literal["summary_pairs"]
    collection: SummaryFiles
    systems: dict[Name, Text] = Field(min_length=2)
    search_seconds: Seconds = 180
    min_search_seconds: Seconds = 200
    workers_per_query: Count | None = 14
    queries_per_worker: Count = 1
    pairs: Literal["all"] | Count = "all"
    validation_pairs: Repeats = 3


class StreamPairs(JudgedTask):
    """Judge pairs of push streams for an interest profile (push-notification-metrics, its closing question)."""

    kind: Literal["stream_pairs"]
    collection: Annotated[
        Annotated[EventFiles, Tag("events")] | Annotated[PushFiles, Tag("push")],
        Discriminator(form_of_streams),
    ]
    systems: dict[Name, Text] = Field(min_length=2)
    days: Annotated[tuple[Day, Day], Field(strict=False)] | None = None
    judgments_per_pair: Count | None = 10
    pairs_per_worker: Count = 10
    reveal_silent_days: Literal["random"] | bool = False
    validation_pairs: Repeats = 0


class StreamVisits(TaskEntry):
    """Follow one system's stream of an event for days (modeled-stream-utility §3)."""

    kind: Literal["stream_visits"]
    collection: EventFiles
    systems: dict[Name, Text] = Field(min_length=1)
    days: Annotated[float, Field(gt=0, le=366)]
    clock_factor: Annotated[float, Field(gt=0, le=10_000)] = 1
    topics_per_worker: Count = 1
    workers_per_stream: Count | None = None
    ask_per_visit: Annotated[int, Field(ge=0, le=20)] = 3
    idle_seconds: Annotated[float, Field(ge=30, le=86_400)] = 300
    updates_per_page: Annotated[int, Field(ge=1, le=200)] = 20


class RankedPairs(JudgedTask):
    """Judge pairs of ranked lists for a historical query (time-aware-measures)."""

    kind: Literal["ranked_pairs"]
    collection: RankedFiles
    systems: dict[Name, Text] = Field(min_length=2)
    judgments_per_pair: Count | None = 10
    queries_per_worker: Count = 1
    pairs: Literal["all"] | Count = "all"
    validation_pairs: Repeats = 3
    depth: Annotated[int, Field(ge=1, le=100)] = 10


class Question(Entry):
    """One question; ``options`` of single and multiple, ``screen_out`` those of them that end the worker's part."""

    id: Name
    text: Text
    type: Literal["text", "single", "multiple", "number"]
    required: bool = True
    options: Annotated[tuple[Text, ...], Field(max_length=50, strict=False)] = ()
    screen_out: Annotated[tuple[Text, ...], Field(strict=False)] = ()
    min: float | None = None
    max: float | None = None


class Questions(TaskEntry):
    """Answer questions, before other tasks or after."""

    kind: Literal["questions"]
    title: Text | None = None
    questions: Annotated[tuple[Question, ...], Field(min_length=1, max_length=100, strict=False)]

    @property
    def screens(self) -> bool:
        """Whether some answer ends the worker's part."""
        return any(question.screen_out for question in self.questions)


AnyTask: TypeAlias = (
    IntentVotes | IUnitImportance | SummaryPairs | StreamPairs | StreamVisits | RankedPairs | Questions
)
Task: TypeAlias = Annotated[AnyTask, Field(discriminator="kind")]


class Codes(Entry):
    """Codes of those who do not finish."""

    screened_out: Code | None = None
    failed_checks: Code | None = None
    partial: Code | None = None


def _known_platform(name: str) -> str:
    """Take the names of the table of platforms."""
    if name not in PLATFORMS:
        *others, last = (repr(known) for known in PLATFORMS)
        expected = f"{', '.join(others)} or {last}"
        raise PydanticCustomError("literal_error", "must be {expected}", {"expected": expected})
    return name


class StudyEntry(Entry):
    """A whole study file."""

    study: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{0,39}$")]
    title: Text
    consent: Text
    platform: Annotated[str, AfterValidator(_known_platform)] = "generic"
    id_parameter: Name = "id"
    extra_parameters: Annotated[tuple[Name, ...], Field(max_length=20, strict=False)] = ("session", "batch")
    submit_hosts: Annotated[tuple[Host, ...], Field(strict=False)] = (
        "www.mturk.com",
        "workersandbox.mturk.com",
    )
    device: Literal["any", "phone", "desktop"] = "any"
    seed: Annotated[int, Field(ge=0)] = 1
    completion_code: Code | None = None
    codes: Codes = Codes()
    visit_code: Code | None = None
    return_url: Address | None = None
    early_return_url: Address | None = None
    return_at_once: bool = True
    reward: Annotated[float, Field(ge=0)] | None = None
    currency: Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$")] = "USD"
    platform_fee: Share = 0
    lease_minutes: Annotated[int, Field(ge=1, le=1440)] = 45
    tasks: Annotated[tuple[Task, ...], Field(min_length=1, strict=False)]


DEFAULT_CRITERIA = {
    ("summary_pairs", "en"): (
        "How much useful information can you get from the summary?",
        "How quickly can you get it?",
    ),
    ("summary_pairs", "ja"): (
        "その要約から、役に立つ情報をどれだけ得られますか",
        "その情報を、どれだけ早く得られますか",
    ),
    ("stream_pairs", "en"): (
        "How much of what you would want to know did the notifications tell you?",
        "How rarely did they disturb you for nothing?",
    ),
    ("stream_pairs", "ja"): (
        "知りたいことを、通知がどれだけ知らせてくれましたか",
        "不要な通知に邪魔されることが、どれだけ少なかったですか",
    ),
    ("ranked_pairs", "en"): (
        "How much useful information can you get from the list?",
        "How quickly can you get it?",
    ),
    ("ranked_pairs", "ja"): (
        "その一覧から、役に立つ情報をどれだけ得られますか",
        "その情報を、どれだけ早く得られますか",
    ),
}
"""What workers are asked to think of when the study file does not say (two-layered-summaries §4.2), by kind and language."""

COLLECTIONS: dict[str, type[Entry]] = {
    "intent_votes": SummaryFiles,
    "iunit_importance": SummaryFiles,
    "summary_pairs": SummaryFiles,
    "stream_visits": EventFiles,
    "ranked_pairs": RankedFiles,
}
"""Kind of task -> the files of its collection, where there is but one form of them."""

KINDS: dict[str, type[TaskEntry]] = {
    "intent_votes": IntentVotes,
    "iunit_importance": IUnitImportance,
    "summary_pairs": SummaryPairs,
    "stream_pairs": StreamPairs,
    "stream_visits": StreamVisits,
    "ranked_pairs": RankedPairs,
    "questions": Questions,
}
"""Kind of task -> its schema."""


def collection_paths(task: AnyTask) -> dict[str, str]:
    """Return kind -> path as written, of the files that the task's collection has; {} for a task without one."""
    if isinstance(task, Questions):
        return {}
    return {kind: path for kind, path in task.collection.model_dump().items() if path is not None}


def system_paths(task: AnyTask) -> dict[str, str]:
    """Return name -> path as written, of the task's systems; {} for a task without any."""
    return dict(getattr(task, "systems", {}))
