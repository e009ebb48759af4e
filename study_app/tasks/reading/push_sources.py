"""The two forms of collection that push streams can come from, as one value: push judgments, and events made into them.

Temporal Summarization is converted by `metrics.readers.convert`: an update is a push, a nugget a cluster, the days are the UTC days of
the event.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from metrics.errors import Fault, FaultLog
from metrics.events import EventCollection
from metrics.push.streams import PushCollection, PushRun, days_between
from metrics.readers.convert import push_from_events, push_run_from_updates
from metrics.readers.profiles import Profile, read_profiles
from metrics.readers.push import read_push_collection, read_push_run
from metrics.readers.tempsum import read_events
from metrics.readers.tempsum_runs import read_update_run
from metrics.readers.texts import read_texts
from metrics.topics import TopicNames
from study_app.study.entries import collection_paths
from study_app.tasks.content import EventFiles, tried
from study_app.tasks.reading.event_streams import event_words
from study_app.tasks.stream_pairs import StreamPairs


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownProfile:
    """What workers see of an interest: a few words, and what was wanted, None where nothing says so."""

    title: str
    description: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PushSource:
    """A collection of push streams.

    Attributes
    ----------
    judged : PushCollection
        The judgments, perhaps converted.
    profiles : mapping of str to ShownProfile
        Judged topic -> its profile, in the order of the topics file.
    text : callable
        From a topic as the judgments name it and a tweet or update to its text, empty without one.
    read_run : callable
        From a path and a name to a run.
    notes : tuple of str
        What of the files no worker will see.
    """

    judged: PushCollection
    profiles: Mapping[str, ShownProfile]
    text: Callable[[str, str], str]
    read_run: Callable[[Path, str], PushRun]
    notes: tuple[str, ...]


def read_push_source(folder: Path, task: StreamPairs, faults: list[Fault]) -> PushSource | None:
    """Read the collection of a task; adds what is wrong with it to ``faults`` and returns None then."""
    names = collection_paths(task)
    paths = {kind: folder / name for kind, name in names.items()}
    if isinstance(task.collection, EventFiles):
        return tried(faults, lambda: _from_events(paths, names))
    return _from_pushes(paths, names, days_between(*task.days) if task.days else (), faults)


def _from_pushes(
    paths: Mapping[str, Path], names: Mapping[str, str], days: tuple[str, ...], faults: list[Fault]
) -> PushSource | None:
    judgments = {kind: paths[kind] for kind in ("qrels", "clusters", "epochs")}
    judged = tried(faults, partial(read_push_collection, **judgments, days=days))
    written = tried(faults, partial(read_profiles, paths["topics"]))
    texts = tried(faults, partial(read_texts, paths["texts"]))
    if judged is None or written is None or texts is None:
        return None
    profiles = tried(faults, partial(_profiles, paths["topics"], judged, written))
    if profiles is None:
        return None
    without = [topic for topic in judged.days if topic not in profiles]
    note = f"{names['topics']}: {len(without)} of {len(judged.days)} judged topics have no profile there and are not shown"
    return PushSource(
        judged=judged,
        profiles=profiles,
        text=lambda _topic, tweet: texts.get(tweet, "").strip(),
        read_run=lambda path, name: read_push_run(path, name=name),
        notes=(f"{note}, such as {without[0]}",) if without else (),
    )


def _profiles(path: Path, judged: PushCollection, written: Mapping[str, Profile]) -> dict[str, ShownProfile]:
    """Return the profiles that were judged, by the names that the judgments have for them."""
    names, log = TopicNames(judged.days), FaultLog(path)
    found: dict[str, ShownProfile] = {}
    for topic, profile in written.items():
        name = names.find(topic)
        if name in found:
            log.add(f"{topic} is {name}, which stands above already", line=1, cure="delete one of the two")
        elif name is not None:
            words = (profile.description, profile.narrative)
            found[name] = ShownProfile(
                title=profile.title, description="\n".join(filter(None, words)) or None
            )
    if not found:
        cure = f"name topics as the judgments do, such as {next(iter(judged.days))!r}"
        log.add("none of these topics is judged", line=1, cure=cure)
    log.raise_if_any()
    return found


def _from_events(paths: Mapping[str, Path], names: Mapping[str, str]) -> PushSource:
    """Read events and convert them; raises InputError."""
    events = read_events(**paths)
    words = event_words(paths["topics"], events)
    skipped = events.skipped.sentence(nuggets=names["nuggets"], updates=names["updates"])
    return PushSource(
        judged=push_from_events(events),
        profiles={topic: _event_profile(topic, words.get(topic, {})) for topic in events.topics},
        text=partial(_update_text, events),
        read_run=lambda path, name: push_run_from_updates(read_update_run(path, name=name)),
        notes=(f"{names['matches']}: {skipped}",) if skipped else (),
    )


def _event_profile(topic: str, words: Mapping[str, str]) -> ShownProfile:
    """Take title and description; a description that is only an address says nothing to a reader."""
    description = words.get("description", "")
    is_address = "://" in description and " " not in description
    return ShownProfile(
        title=words.get("title") or words.get("query") or topic,
        description=None if is_address else description or None,
    )


def _update_text(events: EventCollection, topic: str, update: str) -> str:
    sampled = events.topics[topic].updates.get(update)
    return "" if sampled is None else sampled.text.strip()
