"""Loading of a study, and of its changed file into a running one without harm to answers."""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import delete, exists, or_, select
from sqlalchemy.orm import Session

from metrics.errors import Fault, InputError, input_fault
from study_app.estimate.content import StudyContent
from study_app.estimate.estimate import shown_consent
from study_app.protocol.sides import Side
from study_app.services.researcher.completion import release_finished
from study_app.services.researcher.differences import (
    OF_IDENTITY,
    Change,
    accept_problems,
    content_changes,
    file_changes,
    given_texts,
    same_to_read,
    stored_texts,
)
from study_app.store.media import shown_media
from study_app.store.models import (
    Assignment,
    Base,
    Intent,
    LoadedStudy,
    Pair,
    StoredMedia,
    StoredSummary,
    System,
    Task,
    TaskTable,
    Topic,
    Worker,
)
from study_app.store.pseudonym_keys import keep_pseudonym_key
from study_app.store.task_models import ConsentText, Introduction, PastText, StoredStream, StudyLoad
from study_app.study.file import StudyFile
from study_app.study.id_list import LOOKED_UP
from study_app.tasks.content import SourceFile, TaskContent, TopicContent
from study_app.tasks.kinds import kind_of
from study_app.tasks.reading.couples import EQUAL

SIDES = ("a", "b")
"""Known answers of gold pairs for a side, as `models.Pair` has them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadReport:
    """Outcome of `load_study`.

    Attributes
    ----------
    study : str
        Name of the study.
    outcome : str
        new, unchanged or changed.
    changes : tuple of str
        A line for each thing that changed.
    differences : tuple of Change
        The same, with what each does to a running study; empty where nobody has answered anything.
    """

    study: str
    outcome: str
    changes: tuple[str, ...] = ()
    differences: tuple[Change, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadPlan:
    """What loading a study file again would do.

    Attributes
    ----------
    changes : tuple of Change
        What differs.
    faults : tuple of Fault
        What forbids it.
    has_answers : bool
        Somebody has begun a task, so that not everything may change.
    """

    changes: tuple[Change, ...]
    faults: tuple[Fault, ...]
    has_answers: bool


class LoadRefusedError(InputError):
    """Study file that must not be loaded over a running study; ``changes`` has all that differs."""

    def __init__(self, faults: Sequence[Fault], changes: Sequence[Change]) -> None:
        self.changes = tuple(changes)
        super().__init__(faults)


def load_study(
    session: Session,
    content: StudyContent,
    *,
    now: datetime,
    accept_texts: Collection[str] = (),
    keeps_media: bool = True,
) -> LoadReport:
    """Store a study; loading the same again changes nothing.

    Before the first worker took a query, or tried a check, everything may change; later only what harms no answer, as
    `study_app.services.researcher.differences` says. ``accept_texts``: names TASK/TOPIC of the topics whose changed texts are shown from
    now on. ``keeps_media`` False: a new study is stored without the bytes of its pictures, for who has these elsewhere.

    Raises
    ------
    LoadRefusedError
        With a line for each change that would corrupt answers, and each accepted text that does not differ; nothing is stored then.
    """
    entry = content.file.entry
    _check_earlier(session, content.file)
    study = session.scalars(
        select(LoadedStudy).where(LoadedStudy.name == entry.study).with_for_update()
    ).one_or_none()
    if study is None:
        if accept_texts:
            raise LoadRefusedError([_nothing_to_accept(content)], ())
        study, consent = LoadedStudy(name=entry.study), shown_consent(content)
        _fill(study, content, consent, now=now)
        session.add(study)
        session.flush()
        keep_pseudonym_key(session, study.id, content.file.pseudonym_key)
        _keep_consent_text(session, study, consent, now=now)
        _add_tasks(session, study, content)
        if keeps_media:
            _keep_media(session, content)
        return LoadReport(study=entry.study, outcome="new")
    plan = plan_load(session, study, content, accept_texts=accept_texts)
    if plan.faults:
        raise LoadRefusedError(plan.faults, plan.changes)
    if not plan.changes and study.sha256 == content.file.sha256:
        keep_pseudonym_key(session, study.id, content.file.pseudonym_key)  # it may have been deleted
        return LoadReport(study=entry.study, outcome="unchanged")
    if plan.has_answers and any(change.verdict == "extends" for change in plan.changes):
        release_finished(session, study, now=now)
    consent, before = shown_consent(content), study.consent_sha256
    _fill(study, content, consent, now=now)
    keep_pseudonym_key(session, study.id, content.file.pseudonym_key)
    _keep_consent_text(session, study, consent, now=now)
    if plan.has_answers:
        _update_tasks(session, study, content, now=now)
    else:
        _delete_tasks(session, study)
        _add_tasks(session, study, content)
    _keep_media(session, content)
    lines = tuple(map(str, plan.changes))
    if study.consent_sha256 != before and consent != entry.consent:
        lines += ("consent page: … " + consent.rpartition("\n\n")[2],)
    if plan.has_answers:
        changes = [[change.verdict, str(change)] for change in plan.changes]
        session.add(
            StudyLoad(study_id=study.id, version=study.version, sha256=study.sha256, at=now, changes=changes)
        )
    return LoadReport(
        study=entry.study,
        outcome="changed",
        changes=lines,
        differences=plan.changes if plan.has_answers else (),
    )


def load_detail(report: LoadReport, content: StudyContent) -> str:
    """Return what the audit says of a load."""
    return "; ".join([f"{report.outcome}, version {content.file.sha256[:12]} of the file", *report.changes])


def plan_load(
    session: Session, study: LoadedStudy, content: StudyContent, *, accept_texts: Collection[str] = ()
) -> LoadPlan:
    """Return what loading a study file again would change, and what forbids it; nothing is stored."""
    has_answers = _has_answers(session, study)
    changes = file_changes(session, study, content)
    if has_answers:
        changes += content_changes(session, study, content)
    has_workers = bool(session.scalar(select(exists().where(Worker.study_id == study.id))))
    faults = [
        _fault(content, change)
        for change in changes
        if (has_answers and change.verdict == "refused" and change.place not in OF_IDENTITY)
        or (has_answers and change.text is not None and change.text.key not in accept_texts)
        or (has_workers and change.place in OF_IDENTITY)
    ]
    if accept_texts and not has_answers:
        faults.append(_nothing_to_accept(content))
    elif accept_texts:
        problems = accept_problems(accept_texts, changes, study)
        cure = "name topics whose texts differ, as --accept-text TASK/TOPIC"
        faults += [Fault(problem=problem, cure=cure, path=str(content.file.path)) for problem in problems]
    return LoadPlan(changes=tuple(changes), faults=tuple(faults), has_answers=has_answers)


def _fault(content: StudyContent, change: Change) -> Fault:
    file = content.file
    return Fault(
        problem=f"{change}{change.why}",
        cure=change.cure,
        path=str(file.path),
        line=file.line(*change.place),
    )


def _nothing_to_accept(content: StudyContent) -> Fault:
    return Fault(
        problem="nobody has answered anything yet, so that there is no text to accept",
        cure="load the file without --accept-text",
        path=str(content.file.path),
    )


def _check_earlier(session: Session, file: StudyFile) -> None:
    """Refuse to keep out the people of a study that is not here, or on another platform: nobody would be kept out."""
    useless = "take it out: it could keep nobody out"
    for name in [study for study, digests in file.entry.kept_out.items() if LOOKED_UP in digests]:
        config = session.scalar(select(LoadedStudy.config).where(LoadedStudy.name == name))
        problem, cure = "", useless
        if name == file.entry.study:
            problem = "keep_out names this study itself"
            cure = "take it out: who has begun this study comes back as the same person anyway"
        elif config is None:
            problem = f"keep_out: no study {name!r} is loaded here"
            cure = (
                "load that study first, or name a file that prefcal study took-part wrote where it is loaded"
            )
        elif config["platform"] != file.entry.platform:
            problem = f"keep_out: study {name} is on platform {config['platform']}, whose ids are not those of {file.entry.platform}"
        if problem:
            raise input_fault(problem, path=file.path, line=file.line("keep_out"), cure=cure)


def _fill(study: LoadedStudy, content: StudyContent, consent: str, *, now: datetime) -> None:
    file = content.file
    study.sha256 = file.sha256
    study.source = file.source
    study.folder, study.file_name = str(file.path.absolute().parent), file.path.name
    study.config = file.entry.model_dump(mode="json")
    study.consent_sha256 = hashlib.sha256(consent.encode()).hexdigest()
    study.loaded_at = now
    study.version = (study.version or 0) + 1


def _keep_consent_text(session: Session, study: LoadedStudy, consent: str, *, now: datetime) -> None:
    """Keep every consent text that the study ever had."""
    known = select(ConsentText.id).where(
        ConsentText.study_id == study.id, ConsentText.sha256 == study.consent_sha256
    )
    if session.scalar(known) is None:
        session.add(
            ConsentText(
                study_id=study.id,
                sha256=study.consent_sha256,
                text=consent,
                loaded_at=now,
            )
        )


def _has_answers(session: Session, study: LoadedStudy) -> bool:
    """Return whether a task has slots, or tries at its check."""
    task_content, tries = (
        exists().where(model.task_id == Task.id, Task.study_id == study.id)
        for model in (Assignment, Introduction)
    )
    return bool(session.scalar(select(or_(task_content, tries))))


def _keep_media(session: Session, content: StudyContent) -> None:
    """Store new pictures one at a time, and delete unused ones."""
    readers = {sha256: read for task in content.tasks for sha256, read in task.media.items()}
    stored = set(session.scalars(select(StoredMedia.sha256)))
    shown = {
        media.sha256: media
        for task in content.tasks
        for side in task.sides.values()
        for media in side.media()
    }
    for media in shown.values():
        if media.sha256 not in stored:
            row = StoredMedia(
                sha256=media.sha256,
                mime=media.mime,
                width=media.width,
                height=media.height,
                bytes=readers[media.sha256](),
            )
            session.add(row)
            session.flush()
            session.expunge(row)
    lost = stored - {media.sha256 for _, _, _, media in shown_media(session)}
    if lost:
        session.execute(delete(StoredMedia).where(StoredMedia.sha256.in_(lost)))


def _update_tasks(session: Session, study: LoadedStudy, content: StudyContent, *, now: datetime) -> None:
    """Store new keys, paths, texts, systems, topics and pairs; what was there keeps its row."""
    for task, task_content in zip(study.tasks, content.tasks, strict=True):
        task.config = task_content.entry.model_dump(mode="json")
        task.files = {kind: asdict(file) for kind, file in task_content.files.items()}
        session.execute(delete(TaskTable).where(TaskTable.task_id == task.id))
        systems = {system.name: system for system in task.systems}
        for name, file in task_content.systems.items():
            if name in systems:
                systems[name].path, systems[name].sha256 = file.path, file.sha256
        fresh = {name: file for name, file in task_content.systems.items() if name not in systems}
        rows = {name: system.id for name, system in systems.items()}
        rows |= _add_systems(session, fresh, task.id, after=len(systems))
        topics = {topic.name: topic for topic in task.topics}
        for topic in task_content.topics:
            if topic.id in topics:
                _update_topic(
                    session, topics[topic.id], topic, task_content, rows, upto=study.version - 1, now=now
                )
        _add_topics(session, task_content, task.id, rows, besides=topics, now=now)
        session.expire(task, ["systems", "topics"])


def _update_topic(
    session: Session,
    topic: Topic,
    given: TopicContent,
    task_content: TaskContent,
    systems: Mapping[str, int],
    *,
    upto: int,
    now: datetime,
) -> None:
    """Store new texts, sides, streams and pairs of a topic that was there; texts of before are kept."""
    before, after = stored_texts(topic), given_texts(given)
    if before.texts != after.texts:
        content = {
            "text": topic.text,
            "detail": topic.detail,
            "intents": {intent.name: intent.text for intent in topic.intents},
        }
        _keep_text(session, topic, None, before.sha256, after.sha256, content, upto=upto, now=now)
        topic.text = given.text
        for intent in topic.intents:
            intent.text = given.intents[intent.name]
    topic.detail = _detail(given, task_content)
    stored = {
        row.system_id: row
        for row in session.scalars(select(StoredSummary).where(StoredSummary.topic_id == topic.id))
    }
    followed = set(session.scalars(select(StoredStream.system_id).where(StoredStream.topic_id == topic.id)))
    for name, row in systems.items():
        side, stream = task_content.sides.get((given.id, name)), task_content.streams.get((given.id, name))
        if stream is not None and row not in followed:
            session.add(StoredStream(topic_id=topic.id, system_id=row, content=stream.json()))
        if side is None:
            continue
        old = stored.get(row)
        if old is None:
            session.add(StoredSummary(topic_id=topic.id, system_id=row, content=side.json()))
            continue
        before_side = Side.of(old.content)
        if not same_to_read(topic.name, before_side, side):
            digests = (before_side.digest(topic.name), side.digest(topic.name))
            _keep_text(session, topic, row, *digests, old.content, upto=upto, now=now)
        old.content = side.json()
    couples = {
        frozenset(couple)
        for couple in session.execute(
            select(Pair.system_a_id, Pair.system_b_id).where(Pair.topic_id == topic.id)
        ).all()
    }
    session.add_all(
        pair
        for pair in _pairs_of(given, topic.id, task_content, systems, now=now)
        if frozenset((pair.system_a_id, pair.system_b_id)) not in couples
    )
    session.flush()


def _keep_text(
    session: Session,
    topic: Topic,
    system: int | None,
    sha256: str,
    new_sha256: str,
    content: dict[str, Any],
    *,
    upto: int,
    now: datetime,
) -> None:
    session.add(
        PastText(
            topic_id=topic.id,
            system_id=system,
            upto_version=upto,
            mended_at=now,
            sha256=sha256,
            new_sha256=new_sha256,
            content=content,
        )
    )


def _delete_tasks(session: Session, study: LoadedStudy) -> None:
    tasks = select(Task.id).where(Task.study_id == study.id)
    topics = select(Topic.id).where(Topic.task_id.in_(tasks))
    for model in (PastText, StoredSummary, StoredStream, Pair, Intent):
        session.execute(delete(model).where(model.topic_id.in_(topics)))
    for child in (Topic, System, TaskTable):
        session.execute(delete(child).where(child.task_id.in_(tasks)))
    session.execute(delete(Task).where(Task.study_id == study.id))
    session.expire(study, ["tasks"])


def _add_tasks(session: Session, study: LoadedStudy, content: StudyContent) -> None:
    for position, task_content in enumerate(content.tasks, start=1):
        task = Task(
            study_id=study.id,
            position=position,
            name=task_content.entry.name,
            kind=task_content.entry.kind,
            language=task_content.entry.language,
            config=task_content.entry.model_dump(mode="json"),
            files={kind: asdict(file) for kind, file in task_content.files.items()},
        )
        session.add(task)
        session.flush()
        systems = _add_systems(session, task_content.systems, task.id)
        _add_topics(session, task_content, task.id, systems)


def _add_systems(
    session: Session, files: Mapping[str, SourceFile], task: int, *, after: int = 0
) -> dict[str, int]:
    systems = [
        System(task_id=task, position=position, name=name, path=file.path, sha256=file.sha256)
        for position, (name, file) in enumerate(files.items(), start=after + 1)
    ]
    session.add_all(systems)
    session.flush()
    return {system.name: system.id for system in systems}


def _add_topics(
    session: Session,
    task_content: TaskContent,
    task: int,
    systems: Mapping[str, int],
    *,
    besides: Collection[str] = (),
    now: datetime | None = None,
) -> None:
    """Store the derived tables, and the topics that are not there yet, after those that are.

    ``now`` where they come to a running study.
    """
    session.add_all(
        TaskTable(task_id=task, name=name, content=table) for name, table in task_content.tables.items()
    )
    topics = [content for content in task_content.topics if content.id not in besides]
    for position, content in enumerate(topics, start=len(besides) + 1):
        topic = Topic(
            task_id=task,
            position=position,
            name=content.id,
            text=content.text,
            detail=_detail(content, task_content),
            added_at=now,
        )
        session.add(topic)
        session.flush()
        session.add_all(_parts_of(content, topic.id, task_content, systems, now=now))
    session.flush()


def _detail(content: TopicContent, task_content: TaskContent) -> dict[str, Any] | None:
    """Return the details of a topic for its pages.

    A topic of pairs also lists which features of `TaskKind.optional` its judged sides have.
    """
    side = kind_of(task_content.entry).side
    if side is None:
        return content.detail
    detail = content.detail or {}
    judged = {system for couple in task_content.shown_pairs[content.id] for system in couple}
    shows = {name for system in judged for name in side.shows(task_content.sides[content.id, system], detail)}
    return {**detail, "shows": sorted(shows)}


def _parts_of(
    content: TopicContent,
    topic: int,
    task_content: TaskContent,
    systems: Mapping[str, int],
    *,
    now: datetime | None,
) -> list[Base]:
    """Return the rows below a topic: intents, what the systems show, pairs."""
    intents = [
        Intent(topic_id=topic, position=position, name=name, text=text, probability=content.probability(name))
        for position, (name, text) in enumerate(content.intents.items(), start=1)
    ]
    shown = [
        model(topic_id=topic, system_id=row, content=of_kind[content.id, name].json())
        for model, of_kind in ((StoredSummary, task_content.sides), (StoredStream, task_content.streams))
        for name, row in systems.items()
        if (content.id, name) in of_kind
    ]
    return [*intents, *shown, *_pairs_of(content, topic, task_content, systems, now=now)]


def _pairs_of(
    content: TopicContent,
    topic: int,
    task_content: TaskContent,
    systems: Mapping[str, int],
    *,
    now: datetime | None,
) -> list[Pair]:
    """Return the rows of the pairs of a topic, none where no pairs are judged."""
    if kind_of(task_content.entry).page != "pair":
        return []
    gold = {
        pair.systems: EQUAL if pair.better is None else SIDES[pair.systems.index(pair.better)]
        for pair in task_content.gold.get(content.id, ())
    }
    return [
        Pair(
            topic_id=topic,
            system_a_id=systems[a],
            system_b_id=systems[b],
            name=f"{content.id}:{a}~{b}",
            gold=gold.get((a, b)),
            added_at=now,
        )
        for a, b in task_content.shown_pairs[content.id]
    ]
