"""A loaded study as immutable values, read from the database once and kept until the study is loaded again."""

from dataclasses import dataclass
from threading import Lock
from typing import Any, TypeAlias

from sqlalchemy import select
from sqlalchemy.orm import Session, selectinload

from study_app.models import Study, Summary, Task, Topic
from study_app.study_file import IntentVotes, StudyEntry, SummaryPairs

Content: TypeAlias = dict[str, Any]
"""A summary ready to show, as `models.Summary` describes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicPlan:
    """A query: ``intents`` are (name, text) in order."""

    id: int
    name: str
    text: str
    intents: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskPlan:
    """A task: ``entry`` is what the study file says of it, ``systems`` maps rows to names in order."""

    id: int
    number: int
    entry: IntentVotes | SummaryPairs
    topics: tuple[TopicPlan, ...]
    systems: dict[int, str]

    @property
    def limit(self) -> int | None:
        """How many slots a query has; None for no limit."""
        entry = self.entry
        return entry.votes_per_query if isinstance(entry, IntentVotes) else entry.workers_per_query

    @property
    def wanted(self) -> int:
        """How many queries a worker is asked to do."""
        return min(self.entry.queries_per_worker, len(self.topics))

    @property
    def has_search(self) -> bool:
        """Whether a search page comes before the answers."""
        return isinstance(self.entry, SummaryPairs) and self.entry.search_seconds > 0

    def topic(self, topic: int) -> TopicPlan:
        """Return the query in row ``topic``."""
        return next(one for one in self.topics if one.id == topic)


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyPlan:
    """A study: what its file says, and its tasks with what they are made of."""

    id: int
    name: str
    entry: StudyEntry
    consent_sha256: str
    version: int
    tasks: tuple[TaskPlan, ...]

    @property
    def language(self) -> str:
        """Language of the pages that belong to no task: that of the first."""
        return self.tasks[0].entry.language

    def task(self, task: int) -> TaskPlan:
        """Return the task in row ``task``."""
        return next(one for one in self.tasks if one.id == task)


class Plans:
    """The plans of one server; read again when a study was loaded anew."""

    def __init__(self) -> None:
        self._plans: dict[int, StudyPlan] = {}
        self._contents: dict[int, dict[tuple[int, int], Content]] = {}
        self._lock = Lock()

    def of(self, session: Session, study: int, version: int) -> StudyPlan:
        """Return the plan of a study in a version."""
        plan = self._plans.get(study)
        if plan is None or plan.version != version:
            plan = read_plan(session, study)
            with self._lock:
                self._plans[study], self._contents[study] = plan, {}
        return plan

    def content(self, session: Session, plan: StudyPlan, topic: int, system: int) -> Content:
        """Return what a system shows for a query."""
        contents = self._contents[plan.id]
        if (topic, system) not in contents:
            wanted = select(Summary.content).where(Summary.topic_id == topic, Summary.system_id == system)
            contents[topic, system] = session.scalars(wanted).one()
        return contents[topic, system]


def read_plan(session: Session, study_id: int) -> StudyPlan:
    """Read a study from the database."""
    deep = selectinload(Study.tasks)
    found = session.scalars(
        select(Study)
        .where(Study.id == study_id)
        .options(deep.selectinload(Task.systems), deep.selectinload(Task.topics).selectinload(Topic.intents))
    ).one()
    entry = StudyEntry.model_validate(found.config)
    return StudyPlan(
        id=found.id,
        name=found.name,
        entry=entry,
        consent_sha256=found.consent_sha256,
        version=found.version,
        tasks=tuple(
            _task_plan(task, number, entry.tasks[number - 1])
            for number, task in enumerate(found.tasks, start=1)
        ),
    )


def _task_plan(task: Task, number: int, entry: IntentVotes | SummaryPairs) -> TaskPlan:
    return TaskPlan(
        id=task.id,
        number=number,
        entry=entry,
        systems={system.id: system.name for system in task.systems},
        topics=tuple(
            TopicPlan(
                id=topic.id,
                name=topic.name,
                text=topic.text,
                intents=tuple((intent.name, intent.text) for intent in topic.intents),
            )
            for topic in task.topics
        ),
    )
