"""Loading of a study, and replacement of a loaded one without harm to answers."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, TypeAlias

from sqlalchemy import delete, exists, or_, select
from sqlalchemy.orm import Session, object_session

from metrics.errors import Fault, InputError
from study_app.estimate.content import StudyContent
from study_app.protocol.sides import Media
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
from study_app.store.task_models import ConsentText, Introduction, StoredStream
from study_app.study.entries import read_study_entry
from study_app.study.file import StudyFile
from study_app.tasks.content import TaskContent, TopicContent
from study_app.tasks.kinds import KINDS, kind_of
from study_app.tasks.task_kind import TaskKind

Place: TypeAlias = tuple[str | int, ...]
Leaf: TypeAlias = tuple[Place, Any]
FREE_OF_STUDY = {
    *("title", "consent", "completion_code", "codes", "visit_code", "return_url", "early_return_url"),
    *("return_at_once", "extra_parameters", "submit_hosts", "lease_minutes", "device", "folder", "ids"),
    "signing_keys",
    *("reward", "currency", "platform_fee"),
}
FREE_OF_TASK = {"min_consistency", "min_gold", "compare", "primary"}
"""Keys of a task that may change at any time.

A change touches no answer, or its rule is applied at analysis.
"""

OF_IDENTITY = {("platform",), ("id_parameter",), ("pseudonyms",)}
"""Keys that identify workers; fixed once there is one."""

EQUAL, SIDES = "equally_good", ("a", "b")
"""Known answers of gold pairs, as `models.Pair` has them."""

_OF_FILES = ("ids", "signing_keys", "pseudonyms")
ABSENT = "nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Difference of one value; ``old`` or ``new`` is `ABSENT` where it is missing.

    ``kind`` is the name of the kind of task, or None where the change concerns none or a new one.
    """

    place: Place
    old: Any
    new: Any
    kind: str | None = None

    @property
    def key(self) -> str:
        """The place as people write it: ``tasks.2.systems.good`` (tasks from 1)."""
        return ".".join(str(part + 1) if isinstance(part, int) else part for part in self.place)

    def __str__(self) -> str:
        """Format as ``title: Old -> New``, with long texts and hashes shortened."""
        return f"{self.key}: {_short(self.old)} -> {_short(self.new)}"

    @property
    def harms_answers(self) -> bool:
        """True if answers before and after could not be analysed together."""
        match self.place:
            case (str(key),):
                return key not in FREE_OF_STUDY
            case ("tasks", _, str(key)) if self.kind is not None:
                return self._harms_in(KINDS[self.kind], key)
            case ("tasks", _, "collection" | "systems", _, "path"):
                return False
        return True

    def _harms_in(self, kind: TaskKind, key: str) -> bool:
        """Return whether a changed key of a task harms answers.

        A limit may be raised at any time.
        """
        if key == kind.limit_key:
            return self.new is not None and (self.old is None or self.new < self.old)
        return key not in FREE_OF_TASK | kind.free_keys


def changes_of(study: LoadedStudy, content: StudyContent) -> list[Change]:
    """Return the differences between a study file and the loaded study.

    They include those of the files that it names.
    """
    old, new = dict(_loaded(study)), dict(_given(content))
    places = [*new, *(key_path for key_path in old if key_path not in new)]
    changes = [
        Change(
            place=key_path,
            old=old.get(key_path, ABSENT),
            new=new.get(key_path, ABSENT),
            kind=new.get(key_path[:2]) if key_path[0] == "tasks" else None,
        )
        for key_path in places
        if old.get(key_path, ABSENT) != new.get(key_path, ABSENT)
    ]
    absent = {change.place for change in changes if ABSENT in (change.old, change.new)}
    return [change for change in changes if not absent & set(_around(change.place))]


def refused_changes(
    changes: Sequence[Change], file: StudyFile, *, has_workers: bool, has_answers: bool
) -> list[Fault]:
    """Return a fault for each change that must not happen any more."""
    return [
        Fault(
            problem=f"{change} would corrupt answers already given",
            cure="undo it, or load the file as another study (change study:)",
            path=str(file.path),
            line=file.line(*change.place),
        )
        for change in changes
        if (has_answers and change.harms_answers) or (has_workers and change.place in OF_IDENTITY)
    ]


def _loaded(study: LoadedStudy) -> Iterator[Leaf]:
    """Return the loaded values, with today's defaults for later keys."""
    config = read_study_entry(study.config, KINDS).model_dump(mode="json")
    yield from _study_leaves(config, study.folder)
    for number, task in enumerate(study.tasks):
        systems = {system.name: (system.path, system.sha256) for system in task.systems}
        files = {kind: (file["path"], file["sha256"]) for kind, file in task.files.items()}
        yield from _task_leaves(number, config["tasks"][number], files, systems)
        session = object_session(study)
        if session is not None:
            stored = shown_media(session, task.id)
            yield from _media_leaves(number, ((topic, system, media) for _, topic, system, media in stored))


def _given(content: StudyContent) -> Iterator[Leaf]:
    file = content.file
    yield from _study_leaves(file.entry.model_dump(mode="json"), str(file.path.absolute().parent))
    for number, task in enumerate(content.tasks):
        files, systems = (
            {name: (source.path, source.sha256) for name, source in sources.items()}
            for sources in (task.files, task.systems)
        )
        yield from _task_leaves(number, task.entry.model_dump(mode="json"), files, systems)
        shown = (
            (topic, system, media) for (topic, system), side in task.sides.items() for media in side.media()
        )
        yield from _media_leaves(number, shown)


def _study_leaves(config: Mapping[str, Any], folder: str) -> Iterator[Leaf]:
    yield from (((key,), value) for key, value in config.items() if key not in {"tasks", *_OF_FILES})
    yield from (((key,), _of_file(config.get(key))) for key in _OF_FILES)
    yield ("folder",), folder


def _of_file(value: Any) -> Any:
    """Return a summary of a value from a file: its size, and a digest."""
    if not isinstance(value, list | tuple):
        return value
    return f"{len(value)} in all, content {hashlib.sha256(''.join(value).encode()).hexdigest()[:8]}"


def _task_leaves(
    number: int,
    config: Mapping[str, Any],
    files: Mapping[str, tuple[str, str]],
    systems: Mapping[str, tuple[str, str]],
) -> Iterator[Leaf]:
    yield ("tasks", number), config["kind"]
    for key, value in config.items():
        if key not in {"kind", "collection", "systems"}:
            yield ("tasks", number, key), value
    for part, sources in (("collection", files), ("systems", systems)):
        for name, (path, sha256) in sources.items():
            yield ("tasks", number, part, name), f"content {sha256[:8]}"
            yield ("tasks", number, part, name, "path"), path


def _media_leaves(number: int, shown: Iterable[tuple[str, str, Media]]) -> Iterator[Leaf]:
    """Yield a digest of the pictures of each system, whose file has only names."""
    pictures: dict[str, list[str]] = {}
    for topic, system, media in shown:
        pictures.setdefault(system, []).append(f"{topic} {media.sha256}")
    for system, lines in pictures.items():
        digest = hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()
        yield ("tasks", number, "systems", system, "media"), f"content {digest[:8]}"


def _around(key_path: Place) -> Iterator[Place]:
    return (key_path[:end] for end in range(1, len(key_path)))


def _short(value: Any) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= 40 else f"{text[:39]}…"


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
        One line for each thing that changed.
    """

    study: str
    outcome: str
    changes: tuple[str, ...] = ()


def load_study(
    session: Session, content: StudyContent, *, now: datetime, keeps_media: bool = True
) -> LoadReport:
    """Store a study; loading the same again changes nothing.

    Before the first worker took a query, or tried a check, everything may change; later only what harms no answer.
    ``keeps_media`` False: a new study is stored without the bytes of its pictures, for who has these elsewhere.

    Raises
    ------
    InputError
        With a line for each change that would corrupt answers; nothing is stored then.
    """
    entry = content.file.entry
    study = session.scalars(
        select(LoadedStudy).where(LoadedStudy.name == entry.study).with_for_update()
    ).one_or_none()
    if study is None:
        study = LoadedStudy(name=entry.study)
        _fill(study, content, now=now)
        session.add(study)
        session.flush()
        keep_pseudonym_key(session, study.id, content.file.pseudonym_key)
        _keep_consent_text(session, study, now=now)
        _add_tasks(session, study, content)
        if keeps_media:
            _keep_media(session, content)
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
    keep_pseudonym_key(session, study.id, content.file.pseudonym_key)
    _keep_consent_text(session, study, now=now)
    if has_answers:
        _update_tasks(study, content)
    else:
        _delete_tasks(session, study)
        _add_tasks(session, study, content)
    _keep_media(session, content)
    return LoadReport(study=entry.study, outcome="changed", changes=tuple(map(str, changes)))


def _fill(study: LoadedStudy, content: StudyContent, *, now: datetime) -> None:
    file = content.file
    study.sha256 = file.sha256
    study.source = file.source
    study.folder = str(file.path.absolute().parent)
    study.config = file.entry.model_dump(mode="json")
    study.consent_sha256 = hashlib.sha256(file.entry.consent.encode()).hexdigest()
    study.loaded_at = now
    study.version = (study.version or 0) + 1


def _keep_consent_text(session: Session, study: LoadedStudy, *, now: datetime) -> None:
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


def _has_workers(session: Session, study: LoadedStudy) -> bool:
    return bool(session.scalar(select(exists().where(Worker.study_id == study.id))))


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


def _update_tasks(study: LoadedStudy, content: StudyContent) -> None:
    """Update what may change while answers exist: limits, and paths of files."""
    for task, task_content in zip(study.tasks, content.tasks, strict=True):
        task.config = task_content.entry.model_dump(mode="json")
        task.files = {kind: asdict(file) for kind, file in task_content.files.items()}
        for system in task.systems:
            system.path = task_content.systems[system.name].path


def _delete_tasks(session: Session, study: LoadedStudy) -> None:
    tasks = select(Task.id).where(Task.study_id == study.id)
    topics = select(Topic.id).where(Topic.task_id.in_(tasks))
    for model in (StoredSummary, StoredStream, Pair, Intent):
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
        systems = _add_systems(session, task_content, task.id)
        _add_topics(session, task_content, task.id, systems)


def _add_systems(session: Session, task_content: TaskContent, task: int) -> dict[str, int]:
    systems = [
        System(task_id=task, position=position, name=name, path=file.path, sha256=file.sha256)
        for position, (name, file) in enumerate(task_content.systems.items(), start=1)
    ]
    session.add_all(systems)
    session.flush()
    return {system.name: system.id for system in systems}


def _add_topics(session: Session, task_content: TaskContent, task: int, systems: dict[str, int]) -> None:
    session.add_all(
        TaskTable(task_id=task, name=name, content=table) for name, table in task_content.tables.items()
    )
    for position, content in enumerate(task_content.topics, start=1):
        topic = Topic(
            task_id=task,
            position=position,
            name=content.id,
            text=content.text,
            detail=_detail(content, task_content),
        )
        session.add(topic)
        session.flush()
        session.add_all(_parts_of(content, topic.id, task_content, systems))
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
    content: TopicContent, topic: int, task_content: TaskContent, systems: dict[str, int]
) -> list[Base]:
    """Return the rows below a topic: intents, what the systems show, pairs."""
    page = kind_of(task_content.entry).page
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
    gold = {
        pair.systems: EQUAL if pair.better is None else SIDES[pair.systems.index(pair.better)]
        for pair in task_content.gold.get(content.id, ())
    }
    pairs = [
        Pair(
            topic_id=topic,
            system_a_id=systems[a],
            system_b_id=systems[b],
            name=f"{content.id}:{a}~{b}",
            gold=gold.get((a, b)),
        )
        for a, b in (task_content.shown_pairs[content.id] if page == "pair" else ())
    ]
    return [*intents, *shown, *pairs]
