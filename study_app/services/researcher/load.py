"""Putting a study into the database, and replacing a loaded one where no answer can be harmed."""

import hashlib
from dataclasses import asdict, dataclass
from datetime import datetime
from itertools import combinations

from sqlalchemy import delete, exists, or_, select
from sqlalchemy.orm import Session

from metrics.errors import InputError
from study_app.estimate.content import StudyContent
from study_app.services.researcher.load_changes import changes_of, refused_changes
from study_app.store.models import (
    Assignment,
    Base,
    Intent,
    Pair,
    Study,
    Summary,
    System,
    Task,
    TaskTable,
    Topic,
    Worker,
)
from study_app.store.stream_models import Stream
from study_app.store.task_models import ConsentText, Introduction
from study_app.tasks.content import TaskContent, TopicContent
from study_app.tasks.kinds import kind_of


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadReport:
    """What `load_study` did.

    Attributes
    ----------
    study : str
        Name of the study.
    outcome : str
        new, unchanged or changed.
    changes : tuple of str
        One line for each thing that changed.
    """

    study: str
    outcome: str
    changes: tuple[str, ...] = ()


def load_study(session: Session, content: StudyContent, *, now: datetime) -> LoadReport:
    """Store a study; loading the same again changes nothing.

    Before the first worker took a query, or tried a check, everything may change; later only what harms no answer.

    Raises
    ------
    InputError
        With a line for each change that would corrupt answers; nothing is stored then.
    """
    entry = content.file.entry
    study = session.scalars(select(Study).where(Study.name == entry.study).with_for_update()).one_or_none()
    if study is None:
        study = Study(name=entry.study)
        _fill(study, content, now=now)
        session.add(study)
        session.flush()
        _keep_consent_text(session, study, now=now)
        _add_tasks(session, study, content)
        return LoadReport(study=entry.study, outcome="new")
    changes = changes_of(study, content)
    if not changes and study.sha256 == content.file.sha256:
        return LoadReport(study=entry.study, outcome="unchanged")
    has_answers = _has_answers(session, study)
    refused = refused_changes(
        changes, content.file, has_workers=_has_workers(session, study), has_answers=has_answers
    )
    if refused:
        raise InputError(refused)
    _fill(study, content, now=now)
    _keep_consent_text(session, study, now=now)
    if has_answers:
        _update_tasks(study, content)
    else:
        _delete_tasks(session, study)
        _add_tasks(session, study, content)
    return LoadReport(study=entry.study, outcome="changed", changes=tuple(map(str, changes)))


def _fill(study: Study, content: StudyContent, *, now: datetime) -> None:
    file = content.file
    study.sha256 = file.sha256
    study.source = file.source
    study.folder = str(file.path.absolute().parent)
    study.config = file.entry.model_dump(mode="json")
    study.consent_sha256 = hashlib.sha256(file.entry.consent.encode()).hexdigest()
    study.loaded_at = now
    study.version = (study.version or 0) + 1


def _keep_consent_text(session: Session, study: Study, *, now: datetime) -> None:
    """Keep every consent text that the study ever had."""
    known = select(ConsentText.id).where(
        ConsentText.study_id == study.id, ConsentText.sha256 == study.consent_sha256
    )
    if session.scalar(known) is None:
        session.add(
            ConsentText(
                study_id=study.id,
                sha256=study.consent_sha256,
                text=study.config["consent"],
                loaded_at=now,
            )
        )


def _has_workers(session: Session, study: Study) -> bool:
    return bool(session.scalar(select(exists().where(Worker.study_id == study.id))))


def _has_answers(session: Session, study: Study) -> bool:
    """Say whether anything refers to a task: work that was given out, or a try at its check."""
    given, tried = (
        exists().where(model.task_id == Task.id, Task.study_id == study.id)
        for model in (Assignment, Introduction)
    )
    return bool(session.scalar(select(or_(given, tried))))


def _update_tasks(study: Study, content: StudyContent) -> None:
    """Take over what may change while answers exist: numbers of the protocol, and where files stand."""
    for task, given in zip(study.tasks, content.tasks, strict=True):
        task.config = given.entry.model_dump(mode="json")
        task.files = {kind: asdict(file) for kind, file in given.files.items()}
        for system in task.systems:
            system.path = given.systems[system.name].path


def _delete_tasks(session: Session, study: Study) -> None:
    tasks = select(Task.id).where(Task.study_id == study.id)
    topics = select(Topic.id).where(Topic.task_id.in_(tasks))
    for model in (Summary, Stream, Pair, Intent):
        session.execute(delete(model).where(model.topic_id.in_(topics)))
    for child in (Topic, System, TaskTable):
        session.execute(delete(child).where(child.task_id.in_(tasks)))
    session.execute(delete(Task).where(Task.study_id == study.id))
    session.expire(study, ["tasks"])


def _add_tasks(session: Session, study: Study, content: StudyContent) -> None:
    for position, given in enumerate(content.tasks, start=1):
        task = Task(
            study_id=study.id,
            position=position,
            name=given.entry.name,
            kind=given.entry.kind,
            language=given.entry.language,
            config=given.entry.model_dump(mode="json"),
            files={kind: asdict(file) for kind, file in given.files.items()},
        )
        session.add(task)
        session.flush()
        systems = _add_systems(session, given, task.id)
        _add_topics(session, given, task.id, systems)


def _add_systems(session: Session, given: TaskContent, task: int) -> dict[str, int]:
    systems = [
        System(task_id=task, position=position, name=name, path=file.path, sha256=file.sha256)
        for position, (name, file) in enumerate(given.systems.items(), start=1)
    ]
    session.add_all(systems)
    session.flush()
    return {system.name: system.id for system in systems}


def _add_topics(session: Session, given: TaskContent, task: int, systems: dict[str, int]) -> None:
    session.add_all(TaskTable(task_id=task, name=name, content=table) for name, table in given.tables.items())
    for position, one in enumerate(given.topics, start=1):
        topic = Topic(task_id=task, position=position, name=one.id, text=one.text, detail=one.detail)
        session.add(topic)
        session.flush()
        session.add_all(_parts_of(one, topic.id, given, systems))
    session.flush()


def _parts_of(one: TopicContent, topic: int, given: TaskContent, systems: dict[str, int]) -> list[Base]:
    """Return the rows below a topic: intents, what the systems show, pairs."""
    page = kind_of(given.entry).page
    intents = [
        Intent(topic_id=topic, position=position, name=name, text=text, probability=one.probability(name))
        for position, (name, text) in enumerate(one.intents.items(), start=1)
    ]
    shown = [
        (Stream if page == "stream" else Summary)(
            topic_id=topic, system_id=row, content=given.shown[one.id, name]
        )
        for name, row in systems.items()
    ]
    pairs = [
        Pair(topic_id=topic, system_a_id=systems[a], system_b_id=systems[b], name=f"{one.id}:{a}~{b}")
        for a, b in combinations(systems if page == "pair" else (), 2)
    ]
    return [*intents, *shown, *pairs]
