"""Schema of a study file, without the entries of single kinds of tasks.

The entry of each kind of task is in its module in `study_app.tasks`; the reader of a study file brings the
table of kinds.
"""

import math
import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from typing import Annotated, Any, Literal, TypeAlias, TypeVar, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    SerializeAsAny,
    StringConstraints,
    TypeAdapter,
    ValidationInfo,
    model_validator,
)
from pydantic_core import PydanticCustomError, PydanticKnownError

from study_app.study.demographics import demographics_paragraph
from study_app.study.platforms import PLATFORMS

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
Text = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]
Code = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9-]{2,64}$")]
Address = Annotated[str, StringConstraints(pattern=r"^https?://[^\s]+$")]
Host = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9.-]*(:[0-9]{1,5})?$")]
ColumnName = Annotated[str, StringConstraints(pattern=r"^[^\s;\p{C}]([^;\p{C}]{0,98}[^\s;\p{C}])?$")]
Seconds = Annotated[float, Field(ge=0, le=86_400)]
Count = Annotated[int, Field(ge=1, le=1_000_000_000)]
Repeats = Annotated[int, Field(ge=0, le=1_000_000_000)]
Share = Annotated[float, Field(ge=0, le=1)]
BEFORE_FIRST_ANSWER = timedelta(minutes=15)
"""Time of a slot for the first answer, beside the time for the search."""

ALL: Literal["all"] = "all"
"""Value of ``pairs`` for all pairs of a topic's systems."""


class StudyFileModel(BaseModel):
    """Base of all entries: unknown keys are faults, values are not converted."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


def _unexpected(expected: str) -> PydanticCustomError:
    """Return the fault of a value that is not what is expected."""
    return PydanticCustomError("literal_error", "must be {expected}", {"expected": expected})


class CheckQuestion(StudyFileModel):
    """Question of a comprehension check; ``answer`` is the right option, from 1."""

    question: Text
    options: Annotated[tuple[Text, ...], Field(min_length=2, max_length=8, strict=False)]
    answer: Count


class TaskEntry(StudyFileModel):
    """Task of any kind.

    ``instructions``: the page before the task; ``standard`` for prefcal's own words, None for no page. On that page stand an
    ``example`` and the questions of ``check`` (None for prefcal's own beside its own words and for none beside others, () for none).
    """

    kind: str
    name: Name | None = None
    language: Literal["en", "ja"] = "en"
    instructions: Text | None = None
    example: bool = True
    check: Annotated[tuple[CheckQuestion, ...], Field(max_length=10, strict=False)] | None = None


class TaskWithSearch(TaskEntry):
    """Task whose workers first search for the query on their own."""

    search_seconds: Seconds = 180
    min_search_seconds: Seconds = 200

    @property
    def whole_search_seconds(self) -> float:
        """Seconds of search that the page requires.

        A worker who leaves as soon as the button lights is never excluded for a short search.
        """
        return max(self.search_seconds, self.min_search_seconds)


class Criterion(StudyFileModel):
    """Criterion that workers are asked about, beside the overall question."""

    name: Name
    text: Text


_TEXT = TypeAdapter(Text)


def _criterion(value: Any) -> str | Criterion:
    """Read an entry of ``criteria``: a text is shown, a group of keys is asked."""
    if isinstance(value, Criterion):
        return value
    return Criterion.model_validate(value) if isinstance(value, Mapping) else _TEXT.validate_python(value)


Scale: TypeAlias = Literal["four", "graded5", "graded7"]
"""Scale of a pair's answers: four options, or how much better a side is in five or seven steps."""

SCALES: Mapping[Scale, tuple[tuple[str, int | None], ...]] = {
    "four": tuple((choice, None) for choice in ("left", "right", "equally_good", "equally_bad")),
    "graded5": (("left", 2), ("left", 1), ("equally_good", 0), ("right", 1), ("right", 2)),
    "graded7": (
        *(("left", 3), ("left", 2), ("left", 1)),
        ("equally_good", 0),
        *(("right", 1), ("right", 2), ("right", 3)),
    ),
}
"""Options of each scale in the order of a page: choice, and how much better that side is."""

MAX_REASON = 500
"""Most characters of a reason."""


class JudgingTask(TaskEntry):
    """Task of judging pairs; ``compare`` and ``primary`` are for the analysis.

    ``gold_pairs``: file of pairs with a known answer, of which a worker sees ``gold_per_worker``.
    """

    systems: dict[Name, Text] = Field(min_length=2)
    min_consistency: Share = 0.4
    validation_swapped: bool = True
    validation_pairs: Repeats = 0
    gold_pairs: Text | None = None
    gold_per_worker: Count = 3
    min_gold: Share = 0.5
    choices: Scale = "four"
    criteria: (
        Annotated[tuple[Annotated[Any, PlainValidator(_criterion)], ...], Field(strict=False)] | None
    ) = None
    reason: Literal["optional", "required"] | None = None
    compare: Annotated[tuple[Text, ...], Field(strict=False)] = ()
    primary: Annotated[tuple[Text, Text], Field(strict=False)] | None = None

    @property
    def shown_criteria(self) -> tuple[str, ...]:
        """Criteria that workers are told to think of."""
        return tuple(criterion for criterion in self.criteria or () if isinstance(criterion, str))

    @property
    def asked_criteria(self) -> tuple[Criterion, ...]:
        """Criteria that workers are asked about."""
        return tuple(criterion for criterion in self.criteria or () if isinstance(criterion, Criterion))

    @property
    def pairs_of_a_topic(self) -> int:
        """Number of pairs of all its systems."""
        return math.comb(len(self.systems), 2)

    @property
    def pairs_file(self) -> str | None:
        """File of the pairs to judge, or None for the pairs of all systems.

        The path is relative to the study file.
        """
        pairs = getattr(self, "pairs", ALL)
        return pairs if isinstance(pairs, str) and pairs != ALL else None

    @property
    def revealed(self) -> Literal["random"] | bool | None:
        """True, False or "random" for showing the silent days; None without days."""
        return None

    @abstractmethod
    def pairs_of_a_worker(self, of_topics: Sequence[int]) -> int:
        """Return the most pairs that a worker judges, without repeats.

        ``of_topics`` has the number of pairs of each topic.
        """

    @abstractmethod
    def repeats_of_a_worker(self, of_topics: Sequence[int]) -> int:
        """Return the number of pairs that a worker judges once more."""


class AdaptivePairs(StudyFileModel):
    """Pairs chosen by the answers so far, to find the best system with few judgments.

    ``budget``: most judgments of the task, repeats not counted. ``uniform_share``: share of the pairs drawn whatever the answers
    are. ``stop_at``: probability of the best system at which nobody gets another pair; None for never.
    """

    adaptive: Literal["best"]
    budget: Count
    uniform_share: Annotated[float, Field(ge=0.05, le=1)] = 0.25
    stop_at: Annotated[float, Field(gt=0.5, lt=1)] | None = 0.95


def _assigned_pairs(value: Any) -> str | AdaptivePairs:
    """Read ``pairs`` of a task whose pairs are assigned: all, a file, or keys of `AdaptivePairs`."""
    if isinstance(value, AdaptivePairs):
        return value
    if isinstance(value, Mapping):
        return AdaptivePairs.model_validate(value)
    if isinstance(value, str) and value.strip():
        return value.strip()
    raise _unexpected("all, the name of a file, or a group of keys")


def _chosen_pairs(value: Any) -> Any:
    """Refuse `AdaptivePairs` where workers choose a topic and judge its pairs."""
    if isinstance(value, Mapping):
        raise _unexpected("all, a number or a file in tasks of this kind")
    return value


class ChosenTopicTask(JudgingTask):
    """Task of judging the pairs of a topic that the worker chooses."""

    queries_per_worker: Count = 1
    pairs: Annotated[Literal["all"] | Count | Text, BeforeValidator(_chosen_pairs)] = ALL
    validation_pairs: Repeats = 3

    @property
    def pairs_each(self) -> int | None:
        """Pairs of a topic that a worker judges; None for all."""
        return self.pairs if isinstance(self.pairs, int) else None

    def pairs_and_repeats(self, possible: int) -> tuple[int, int]:
        """Return (pairs, repeats) per worker for a topic with ``possible`` pairs."""
        pairs = possible if self.pairs_each is None else min(self.pairs_each, possible)
        return pairs, min(self.validation_pairs, pairs if pairs > 1 else 0)

    def pairs_of_a_worker(self, of_topics: Sequence[int]) -> int:
        """Return the most pairs that a worker judges, without repeats.

        ``of_topics`` has the number of pairs of each topic.
        """
        return sum(self.pairs_and_repeats(pairs)[0] for pairs in self._most(of_topics))

    def repeats_of_a_worker(self, of_topics: Sequence[int]) -> int:
        """Return the number of pairs that a worker judges once more."""
        return sum(self.pairs_and_repeats(pairs)[1] for pairs in self._most(of_topics))

    def _most(self, of_topics: Sequence[int]) -> list[int]:
        """Return the largest numbers of pairs, of as many topics as a worker chooses."""
        return sorted(of_topics, reverse=True)[: self.queries_per_worker]


class AssignedPairTask(JudgingTask):
    """Task of judging pairs that are assigned one after another."""

    judgments_per_pair: Count | None = 10
    pairs_per_worker: Count = 10
    pairs: Annotated[Any, PlainValidator(_assigned_pairs)] = ALL

    @model_validator(mode="before")
    @classmethod
    def _without_limit(cls, values: Any) -> Any:
        """Set no limit of a pair where the budget of all pairs is the limit."""
        if isinstance(values, Mapping) and isinstance(values.get("pairs"), Mapping):
            return {"judgments_per_pair": None, **values}
        return values

    @property
    def adaptive(self) -> AdaptivePairs | None:
        """How pairs are chosen by the answers so far; None where they are not."""
        return self.pairs if isinstance(self.pairs, AdaptivePairs) else None

    def pairs_of_a_worker(self, of_topics: Sequence[int]) -> int:
        """Return the most pairs that a worker judges, without repeats.

        ``of_topics`` has the number of pairs of each topic.
        """
        return min(self.pairs_per_worker, sum(of_topics))

    def repeats_of_a_worker(self, of_topics: Sequence[int]) -> int:
        """Return the number of pairs that a worker judges a second time.

        Repeats come with the last pairs, and are drawn from those before.
        """
        return min(self.validation_pairs, max(0, self.pairs_of_a_worker(of_topics) - 1))


class RatedTask(TaskEntry):
    """Task of rating iUnits for an intent."""

    iunits_per_page: Annotated[int, Field(ge=1, le=100)] = 20


class FollowedTask(TaskEntry):
    """Task of following a system's stream of an event."""

    systems: dict[Name, Text] = Field(min_length=1)
    days: Annotated[float, Field(gt=0, le=366)]
    clock_factor: Annotated[float, Field(gt=0, le=10_000)] = 1
    topics_per_worker: Count = 1
    workers_per_stream: Count | None = None
    ask_per_visit: Annotated[int, Field(ge=0, le=20)] = 3
    idle_seconds: Annotated[float, Field(ge=30, le=86_400)] = 300
    updates_per_page: Annotated[int, Field(ge=1, le=200)] = 20


class Question(StudyFileModel):
    """Question to workers.

    ``options`` are those of single and multiple; ``screen_out`` are those that end the worker's part.
    """

    id: Name
    text: Text
    type: Literal["text", "single", "multiple", "number"]
    required: bool = True
    options: Annotated[tuple[Text, ...], Field(max_length=50, strict=False)] = ()
    screen_out: Annotated[tuple[Text, ...], Field(strict=False)] = ()
    min: float | None = None
    max: float | None = None


class QuestionTask(TaskEntry):
    """Task of answering questions."""

    title: Text | None = None
    questions: Annotated[tuple[Question, ...], Field(min_length=1, max_length=100, strict=False)]

    @property
    def screens(self) -> bool:
        """True if some answer ends the worker's part."""
        return any(question.screen_out for question in self.questions)


KeyPath: TypeAlias = tuple[str | int, ...]
Contradiction: TypeAlias = tuple[KeyPath, str, str]
"""Key path, fault and hint of a contradiction between keys."""


@dataclass(frozen=True, kw_only=True)
class EntryKind:
    """Kind of task as a study file has it.

    Attributes
    ----------
    entry : type of TaskEntry
        Its schema.
    files : callable or None
        Function from a study file's collection to the schema of its files, where they have several forms.
    parts : mapping of str to type of StudyFileModel
        Schema of the groups of keys in a list, by the list's key.
    criteria : mapping of str to tuple of str
        Criteria that workers are asked to think of by default, by language.
    cures : mapping of str to str
        Hint by key, where the key means something else than in other kinds.
    rules : callable
        Function from an entry to the contradictions in it.
    same_in_all : tuple of str
        Keys that all tasks of the kind must have alike.
    """

    entry: type[TaskEntry]
    files: Callable[[Any], type[StudyFileModel]] | None = None
    parts: Mapping[str, type[StudyFileModel]] = field(default_factory=dict)
    criteria: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    cures: Mapping[str, str] = field(default_factory=dict)
    rules: Callable[[Any], Iterable[Contradiction]] = lambda _entry: ()
    same_in_all: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Name of the kind in study files and tables."""
        return str(get_args(self.entry.model_fields["kind"].annotation)[0])

    def schema_of(self, key: str, given: Any) -> type[StudyFileModel]:
        """Return the schema of the group of keys below ``key``.

        ``given`` is its value in the study file.
        """
        if key in {"pairs", "criteria"}:
            return AdaptivePairs if key == "pairs" else Criterion
        if key == "collection":
            return self.entry.model_fields[key].annotation if self.files is None else self.files(given)  # type: ignore[return-value]
        return self.parts.get(key, self.entry)


Kinds: TypeAlias = Mapping[str, EntryKind]
"""Kinds of task by name."""


def _task(value: Any, info: ValidationInfo) -> TaskEntry:
    """Read a task by the schema of its kind."""
    if isinstance(value, TaskEntry):
        return value
    if not isinstance(value, Mapping):
        raise PydanticKnownError("model_attributes_type")
    kind, kinds = value.get("kind"), (info.context or {})["kinds"]
    if not isinstance(kind, str) or kind not in kinds:
        raise PydanticCustomError("unknown_kind", "no such kind of task")
    entry: TaskEntry = kinds[kind].entry.model_validate(value)
    return entry


Task: TypeAlias = Annotated[SerializeAsAny[TaskEntry], PlainValidator(_task)]


class Codes(StudyFileModel):
    """Codes of workers who do not finish."""

    screened_out: Code | None = None
    failed_checks: Code | None = None
    partial: Code | None = None


def _known_platform(name: str) -> str:
    """Check that a platform is known."""
    if name not in PLATFORMS:
        *others, last = (repr(known) for known in PLATFORMS)
        raise _unexpected(f"{', '.join(others)} or {last}")
    return name


_FILE_NAME = re.compile(r"[^<>&\"'\s][^<>&\"'\n]{0,999}")
_SHARED = re.compile(rf"shared +{_FILE_NAME.pattern}")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_FINGERPRINT = re.compile(r"[0-9a-f]{16}")
_ANYTHING = re.compile(r".*", re.DOTALL)


def _file_or(
    stored: re.Pattern[str], expected: str, *, named: re.Pattern[str] = _FILE_NAME, is_single: bool = True
) -> PlainValidator:
    """Return a validator of the name of a file, or of what a database has of its content.

    Parameters
    ----------
    stored : Pattern
        Form of each text in the database.
    expected : str
        What a study file is to have.
    named : Pattern
        Form of the value in a study file.
    is_single : bool
        The database has one text.
    """

    def checked(value: Any) -> str | tuple[str, ...] | None:
        if value is None or (isinstance(value, str) and named.fullmatch(value)):
            return value
        is_list = isinstance(value, list | tuple) and (len(value) == 1 or not is_single)
        if is_list and all(isinstance(each, str) and stored.fullmatch(each) for each in value):
            return tuple(value)
        raise _unexpected(expected)

    return PlainValidator(checked)


_EARLIER = re.compile(r"study +([a-z0-9][a-z0-9-]{0,39})")
_KEPT_OUT = re.compile(r"[a-z0-9][a-z0-9-]{0,39} ([0-9a-f]{64}|\*)")


def _keep_out(value: Any) -> tuple[str, ...] | None:
    """Check whom a study keeps out: files and earlier studies, or what a database has of them (`StudyEntry`)."""
    listed = [value] if isinstance(value, str) else value
    if listed is None:
        return None
    if isinstance(listed, list | tuple) and listed:
        forms = (_EARLIER, _KEPT_OUT, _FILE_NAME)
        if all(isinstance(each, str) and any(form.fullmatch(each) for form in forms) for each in listed):
            return tuple(listed)
    raise _unexpected(
        "the name of a file of ids, or study and the name of an earlier study, or a list of these"
    )


class StudyEntry(StudyFileModel):
    """Entry of a whole study file.

    Once loaded, ``keep_out`` has a text for each id, "STUDY DIGEST" (the digest is `study_app.study.id_list.digest_of` of that study), and
    "STUDY *" for each earlier study whose people are looked up as somebody comes; ``ids`` and ``signing_keys`` hold the contents of the files of these names, and ``pseudonyms`` the fingerprint of the key
    of that file; the key is elsewhere (`study_app.store.pseudonym_keys`).
    """

    study: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{0,39}$")]
    title: Text
    consent: Text
    platform: Annotated[str, AfterValidator(_known_platform)] = "generic"
    id_parameter: Name = "id"
    extra_parameters: Annotated[tuple[Name, ...], Field(max_length=20, strict=False)] = ("session", "batch")
    ids: Annotated[Any, _file_or(_DIGEST, "the name of a file of ids", is_single=False)] = None
    keep_out: Annotated[Any, PlainValidator(_keep_out)] = None
    signing_keys: Annotated[Any, _file_or(_ANYTHING, "the name of a file of public keys")] = None
    pseudonyms: Annotated[Any, _file_or(_FINGERPRINT, "shared and a file name", named=_SHARED)] = None
    demographics: Annotated[tuple[ColumnName, ...], Field(max_length=50, strict=False)] = ()
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

    @cached_property
    def kept_out(self) -> Mapping[str, frozenset[str]]:
        """Digests of ``keep_out`` by the study that they are of, with ``*`` where its people are looked up; {} until loaded."""
        digests: dict[str, set[str]] = {}
        for each in self.keep_out or ():
            if _KEPT_OUT.fullmatch(each):
                study, _, digest = each.partition(" ")
                digests.setdefault(study, set()).add(digest)
        return {study: frozenset(known) for study, known in digests.items()}

    @property
    def whole_consent(self) -> str:
        """The text that workers agree to: ``consent``, and which of ``demographics`` are kept."""
        if not self.demographics:
            return self.consent
        return f"{self.consent}\n\n{demographics_paragraph(self.demographics, self.tasks[0].language)}"

    @property
    def lease(self) -> timedelta:
        """Time for which a slot is held without activity, after the first answer."""
        return timedelta(minutes=self.lease_minutes)

    @property
    def first_lease(self) -> timedelta:
        """Time for which a slot is held before the first answer.

        It is the search and a margin, whatever the activity.
        """
        searches = [
            task.whole_search_seconds
            for task in self.tasks
            if isinstance(task, TaskWithSearch) and task.search_seconds
        ]
        return min(self.lease, BEFORE_FIRST_ANSWER + timedelta(seconds=max(searches, default=0)))


def read_study_entry(plain: Any, kinds: Kinds) -> StudyEntry:
    """Read a study from YAML's or a database's values; raises ValidationError."""
    return StudyEntry.model_validate(plain, context={"kinds": kinds})


Form = TypeVar("Form", bound=TaskEntry)


def expect_entry_type(entry: TaskEntry, form: type[Form]) -> Form:
    """Return an entry as an entry of a common form; raises TypeError if it is none."""
    if not isinstance(entry, form):
        raise TypeError(f"expected a {form.__name__}, got a task of kind {entry.kind}")
    return entry


def collection_paths(task: TaskEntry) -> dict[str, str]:
    """Return the paths of a task's collection by kind of file; {} without one."""
    files: StudyFileModel | None = getattr(task, "collection", None)
    return (
        {} if files is None else {kind: path for kind, path in files.model_dump().items() if path is not None}
    )
