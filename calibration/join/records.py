"""study.json of joined tables, and what contradicts itself between those of the folders."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from calibration.join.folders import WaveFolder
from calibration.tables.study_json import (
    Clock,
    FileRecord,
    JoinedStudy,
    MendedText,
    ResultsOpened,
    StudyLoaded,
    StudyRecord,
    TaskRecord,
)
from metrics.errors import Fault, join_names
from metrics.files import relative_path

OF_STREAMS = frozenset({"follows", "visits"})
SAME_IN_ALL = ("depth", "days")
"""Keys of a protocol by which measures are computed."""
FREE_DAYS = "stream_visits"
"""Kind of task whose days may differ: how long each worker followed is in table follows."""


Moment = TypeVar("Moment", ResultsOpened, MendedText, StudyLoaded)


class Named(NamedTuple):
    """Name of a folder, and its study.json."""

    path: Path
    record: StudyRecord


def record_faults(
    folders: Sequence[Path], records: Sequence[StudyRecord | None], *, streams: bool
) -> list[Fault]:
    """Return what in study.json forbids that folders become one.

    ``streams``: several folders have visits or follows, so that how these were made must be the same.
    """
    known = [Named(path, record) for path, record in zip(folders, records, strict=True) if record]
    faults = []
    crowds = {record.simulated if record else False for record in records}
    if len(crowds) > 1:
        simulated = [str(folder.path) for folder in known if folder.record.simulated]
        faults.append(
            Fault(
                problem=f"the workers of {join_names(simulated)} are simulated, and others are not",
                cure="join tables of people with tables of people only",
                path=simulated[0],
            )
        )
    for first, second in pairwise(known):
        faults += _task_faults(first, second)
        faults += _stream_faults(first, second) if streams else []
    return faults


def _task_faults(first: Named, second: Named) -> Iterator[Fault]:
    for name in sorted(first.record.tasks.keys() & second.record.tasks.keys()):
        one, other = first.record.tasks[name], second.record.tasks[name]
        values: dict[str, tuple[Any, Any]] = {
            "kind": (one.kind, other.kind),
            "language": (one.language, other.language),
        }
        values |= {
            key: (one.protocol.get(key), other.protocol.get(key))
            for key in SAME_IN_ALL
            if not (key == "days" and one.kind == FREE_DAYS)
        }
        for key, (here, there) in values.items():
            if here != there:
                yield Fault(
                    problem=f"task {name} has {key} {there}, and {here} in {first.path}",
                    cure="give one of the two tasks another name, in its tables and study.json",
                    path=str(second.path),
                )


def _stream_faults(first: Named, second: Named) -> Iterator[Fault]:
    for name, here, there in (
        ("clock.factor", first.record.clock.factor, second.record.clock.factor),
        ("idle_seconds", first.record.idle_seconds, second.record.idle_seconds),
        ("visit_gap_seconds", first.record.visit_gap_seconds, second.record.visit_gap_seconds),
    ):
        if here != there:
            yield Fault(
                problem=f"{name} is {there}, and {here} in {first.path}: visits of the two were not made alike",
                cure="fit each folder by itself",
                path=str(second.path),
            )


def content_faults(folders: Sequence[WaveFolder]) -> Iterator[Fault]:
    """Yield topics and systems of one name that may not be the same, by the hashes in study.json."""
    for number, second in enumerate(folders):
        for first in folders[:number]:
            tasks = _tasks(first).keys() & _tasks(second).keys()
            for name in sorted(tasks):
                common = first.topics(name) & second.topics(name)
                if common:
                    yield from _differing(name, first, second, common)


def _differing(task: str, first: WaveFolder, second: WaveFolder, common: frozenset[str]) -> Iterator[Fault]:
    one, other = _tasks(first)[task], _tasks(second)[task]
    shown = join_names(sorted(common), most=3)
    cure = (
        "give one of the two another name, or say --same-content if they only stand in other files or places"
    )
    changed = [topic for topic in sorted(common) if _differ(one.topics.get(topic), other.topics.get(topic))]
    if changed:
        yield Fault(
            problem=f"task {task}: topic {join_names(changed, most=3)} has another text than in {first.path}",
            cure=cure,
            path=str(second.path),
        )
    knows_texts = common <= one.topics.keys() and common <= other.topics.keys()
    files = {} if knows_texts else _different_files(one.collection, other.collection)
    for what, names in (
        ("collection", files),
        ("system", _different_files(one.systems, other.systems)),
    ):
        if names:
            yield Fault(
                problem=f"task {task}: {what} {join_names(sorted(names))} is another file than in {first.path}, and both"
                f" have judgments of topic {shown}",
                cure=cure,
                path=str(second.path),
            )


def _differ(first: str | None, second: str | None) -> bool:
    return first is not None and second is not None and first != second


def _different_files(first: Mapping[str, FileRecord], second: Mapping[str, FileRecord]) -> set[str]:
    return {name for name in first.keys() & second.keys() if _differ(first[name].sha256, second[name].sha256)}


def _tasks(folder: WaveFolder) -> Mapping[str, TaskRecord]:
    return folder.record.tasks if folder.record else {}


def joined_record(
    folders: Sequence[WaveFolder],
    place: Path,
    studies: Iterable[JoinedStudy],
    *,
    may_stand_twice: int,
    in_several: int,
) -> tuple[StudyRecord, list[str]]:
    """Return study.json of joined tables, without the records of tables, and notes on what it leaves out.

    Parameters
    ----------
    folders : sequence of WaveFolder
        In the order given.
    place : Path
        Folder of the joined tables.
    studies : iterable of JoinedStudy
        What was joined.
    may_stand_twice, in_several : int
        As in `StudyRecord`.
    """
    known = [folder.record for folder in folders if folder.record]
    times = {folder.record.times if folder.record else None for folder in folders}
    streams = [folder.record for folder in folders if folder.record and folder.names & OF_STREAMS] or known
    tasks, notes = _joined_tasks(folders, place)
    shas = [record.study_sha256 for record in known if record.study_sha256]
    keys = {folder.record.pseudonyms if folder.record else None for folder in folders}
    started = [record.started_at for record in known if record.started_at]
    ended = [record.ended_at for record in known if record.ended_at]
    origins = [record.clock.origin for record in streams if record.clock.origin]
    if len(times) > 1 and "exact" in times:
        notes.append("times of some folders are exact: with the platform's list they identify workers")
    return (
        StudyRecord(
            study="+".join(folder.label for folder in folders),
            title=" + ".join(dict.fromkeys(record.title for record in known if record.title)),
            started_at=min(started, default=None),
            ended_at=max(ended, default=None),
            times="exact" if "exact" in times else times.pop() if len(times) == 1 else None,
            simulated=any(record.simulated for record in known),
            pseudonyms=keys.pop() if len(keys) == 1 else None,
            prefcal_version=version("prefcal"),
            study_sha256=_common_digest(shas) if len(shas) == len(folders) else None,
            clock=Clock(
                origin=min(origins, default=None), factor=streams[0].clock.factor if streams else 1.0
            ),
            idle_seconds=streams[0].idle_seconds if streams else None,
            visit_gap_seconds=streams[0].visit_gap_seconds if streams else 0.0,
            heartbeat_seconds=streams[0].heartbeat_seconds if streams else None,
            tasks=tasks,
            results_opened=_by_time(look for record in known for look in record.results_opened),
            mended_texts=_by_time(text for record in known for text in record.mended_texts),
            loads=_by_time(load for record in known for load in record.loads),
            joined=tuple(studies),
            may_stand_twice=may_stand_twice,
            in_several=in_several,
        ),
        notes,
    )


def _by_time(moments: Iterable[Moment]) -> tuple[Moment, ...]:
    return tuple(sorted(moments, key=lambda moment: moment.at))


def joined_studies(folder: WaveFolder, digest: str, people: int, judgments: int) -> tuple[JoinedStudy, ...]:
    """Return what study.json of joined tables says of a folder; of a joined one what its own says."""
    record = folder.record
    if record is not None and record.joined:
        return record.joined
    return (
        JoinedStudy(
            study=folder.label,
            started_at=record.started_at if record else None,
            ended_at=record.ended_at if record else None,
            times=record.times if record else None,
            pseudonyms=record.pseudonyms if record else None,
            prefcal_version=record.prefcal_version if record else None,
            study_sha256=record.study_sha256 if record else None,
            tables_sha256=digest,
            workers=people,
            judgments=judgments,
        ),
    )


def _joined_tasks(folders: Sequence[WaveFolder], place: Path) -> tuple[dict[str, TaskRecord], list[str]]:
    tasks, notes = {}, []
    for name in dict.fromkeys(task for folder in folders for task in _tasks(folder)):
        own = [(folder, _tasks(folder)[name]) for folder in folders if name in _tasks(folder)]
        keys = dict.fromkeys(key for _, task in own for key in task.protocol)
        same = {
            key: own[0][1].protocol[key]
            for key in keys
            if all(
                key in task.protocol and task.protocol[key] == own[0][1].protocol.get(key) for _, task in own
            )
        }
        gone = [key for key in keys if key not in same]
        named = [folder.record.pairs_file(name) for folder, _ in own if folder.record]
        if "pairs" in gone and any(named):  # pairs that somebody chose are none drawn by lot
            same["pairs"] = next(filter(None, named))
            gone.remove("pairs")
        if gone:
            notes.append(
                f"task {name}: {join_names(gone)} {'differs' if len(gone) == 1 else 'differ'} between the studies, and study.json"
                f" leaves {'it' if len(gone) == 1 else 'them'} out"
            )
        files, split = {}, set[str]()
        for part in ("collection", "systems"):
            files[part], different = _joined_files(
                [(folder, getattr(task, part)) for folder, task in own], place
            )
            split |= different
        if split:
            notes.append(
                f"task {name}: {join_names(sorted(split))} {'is another file' if len(split) == 1 else 'are other files'} in each"
                " folder: give measures that are computed from files one file with all topics (--collection, --run)"
            )
        tasks[name] = TaskRecord(
            kind=own[0][1].kind,
            language=own[0][1].language,
            protocol=same,
            topics={topic: digest for _, task in own for topic, digest in task.topics.items()},
            **files,
        )
    return tasks, notes


def _joined_files(
    own: Sequence[tuple[WaveFolder, Mapping[str, FileRecord]]], place: Path
) -> tuple[dict[str, FileRecord], set[str]]:
    """Return the files of a part of a task, and the names of those that are not the same in all folders.

    Such a name has the digest of no file: nothing is computed from a part of the topics.
    """
    files, different = {}, set()
    for name in dict.fromkeys(name for _, records in own for name in records):
        found = [(folder, records[name]) for folder, records in own if name in records]
        folder, record = found[-1]
        digests = [file.sha256 or "" for _, file in found]
        if len(set(digests)) > 1:
            different.add(name)
        path = Path(record.path)
        if not path.is_absolute():
            path = Path(relative_path((folder.path / path).resolve(), place.resolve()))
        files[name] = FileRecord(
            path=str(path), sha256=_common_digest(digests) if len(set(digests)) > 1 else record.sha256
        )
    return files, different


def _common_digest(digests: Sequence[str]) -> str:
    """Return the digest that all have, or else one of all of them."""
    if len(set(digests)) == 1:
        return digests[0]
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()


def assumptions(folders: Sequence[WaveFolder]) -> Iterator[str]:
    """Yield what is taken for granted of folders without study.json."""
    unknown = [str(folder.path) for folder in folders if folder.record is None]
    if unknown:
        yield (
            f"{join_names(unknown)} {'has' if len(unknown) == 1 else 'have'} no study.json: tasks, topics and systems of the same name are"
            " taken for the same"
        )
    drawn = [str(folder.path) for folder in folders if folder.record and folder.record.study_sha256]
    if drawn and len(drawn) < len(folders):
        yield f"only in {join_names(drawn)} it is known that sides were drawn by lot: win rates are without the effect of the side"


def missing_tables(folders: Sequence[WaveFolder]) -> Iterator[str]:
    """Yield a note on each folder without tables that others have rows of."""
    filled = {name for folder in folders for name, frame in folder.tables.items() if len(frame)}
    for folder in folders:
        missing = sorted(filled - folder.names)
        if missing:
            of = "it" if len(missing) == 1 else "them"
            yield f"{folder.path} has no {join_names(missing, most=20)}: what is computed from {of} is of the others alone"
