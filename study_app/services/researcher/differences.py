"""Differences of a study file from a running study, and which of them may happen.

A key may change where it touches no answer. A text may change where the researcher accepts it by name, since answers before and after were
given to different words. New topics, systems and pairs, more answers and a longer budget extend the study. What would change what given
answers compare is refused.
"""

import difflib
import hashlib
import io
import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from sqlalchemy import select
from sqlalchemy.orm import Session

from metrics.errors import closest_name, join_names, pluralise
from study_app.estimate.content import StudyContent
from study_app.protocol.sides import Side
from study_app.protocol.texts import TopicTexts, side_lines
from study_app.store.media import shown_media
from study_app.store.models import LoadedStudy, Pair, StoredSummary, System, Task, TaskTable, Topic
from study_app.store.task_models import StoredStream
from study_app.study.entries import read_study_entry
from study_app.tasks.content import TaskContent, TopicContent
from study_app.tasks.kinds import KINDS, kind_of
from study_app.tasks.reading.couples import EQUAL
from study_app.tasks.task_kind import TaskKind

if TYPE_CHECKING:
    import pandas as pd

Place: TypeAlias = tuple[str | int, ...]
Leaf: TypeAlias = tuple[Place, Any]
Verdict: TypeAlias = Literal["allowed", "extends", "text", "refused"]
"""Whether a change may happen while answers exist.

``allowed``: it touches no answer. ``extends``: something is added. ``text``: a text that the researcher has to accept by name.
"""

FREE_OF_STUDY = {
    *("title", "consent", "completion_code", "codes", "visit_code", "return_url", "early_return_url"),
    *("return_at_once", "extra_parameters", "submit_hosts", "lease_minutes", "device", "folder", "ids"),
    "keep_out",
    "signing_keys",
    *("reward", "currency", "platform_fee", "demographics"),
}
FREE_OF_TASK = {"min_consistency", "min_gold", "compare", "primary"}
"""Keys of a task that may change at any time.

A change touches no answer, or its rule is applied at analysis.
"""

OF_IDENTITY = {("platform",), ("id_parameter",), ("pseudonyms",)}
"""Keys that identify workers; fixed once there is one."""

_OF_FILES = ("ids", "keep_out", "signing_keys", "pseudonyms")
ABSENT = "nothing"
MAX_LINES = 6
"""Most differing lines of one text that are shown."""
_PLACES_OF_FILES = {("collection",), ("systems",)}
_NOT_OF_ANSWERS = ["path", "source_sha256"]
_OF_TEXTS = ["offset_chars", "alt"]
"""Columns of derived tables that a moved file, and a mended text, change."""
_CORRUPTS = " would corrupt answers already given"
_UNDO = "undo it, or load the file as another study (change study:)"


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDifference:
    """Text that differs from what workers have seen.

    Attributes
    ----------
    task, topic : str
        Their names.
    system : str or None
        The system that shows it; None for the texts of the topic itself.
    sha256, new_sha256 : str
        Digests of what is seen before and after.
    """

    task: str
    topic: str
    system: str | None
    sha256: str
    new_sha256: str

    @property
    def key(self) -> str:
        """Name by which it is accepted: ``TASK/TOPIC``."""
        return f"{self.task}/{self.topic}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Difference of a study file from the loaded study.

    Attributes
    ----------
    line : str
        What differs, such as ``title: Old -> New``.
    verdict : str
        What it may do while answers exist.
    place : tuple
        Key path of the study file.
    why : str
        Of a change that is refused, or a text that nobody has accepted: how the sentence goes on.
    cure : str
        What to do instead.
    text : TextDifference or None
        Of a changed text.
    """

    line: str
    verdict: Verdict
    place: Place = ()
    why: str = _CORRUPTS
    cure: str = _UNDO
    text: TextDifference | None = None

    def __str__(self) -> str:
        """Return what differs."""
        return self.line


def file_changes(session: Session, study: LoadedStudy, content: StudyContent) -> list[Change]:
    """Return the differences between a study file and the loaded one, with those of the files that it names by their hashes."""
    old, new = dict(_loaded(session, study)), dict(_given(content))
    places = [*new, *(place for place in old if place not in new)]
    pairs = [(place, old.get(place, ABSENT), new.get(place, ABSENT)) for place in places]
    differing = [(place, before, after) for place, before, after in pairs if before != after]
    absent = {place for place, *values in differing if ABSENT in values}
    names = [task.name for task in study.tasks]
    return [
        Change(
            line=_of_a_file(names, place, before, after)
            or f"{_key(place)}: {_short(before)} -> {_short(after)}",
            verdict=_verdict(place, before, after, new.get(place[:2]) if place[0] == "tasks" else None),
            place=place,
            why=f", which{_CORRUPTS}" if place[2:3] in _PLACES_OF_FILES else _CORRUPTS,
        )
        for place, before, after in differing
        if not absent & {place[:end] for end in range(1, len(place))}
    ]


def _of_a_file(names: Sequence[str], place: Place, before: Any, after: Any) -> str | None:
    """Return what happened to a file of a task in words, None for another difference; what that changes has lines of its own."""
    if place[2:3] not in _PLACES_OF_FILES or not isinstance(place[1], int) or place[1] >= len(names):
        return None
    is_system, name = place[2] == "systems", place[3]
    if place[-1] == "media":
        happened = f"pictures or sounds of system {name} have changed"
    elif place[-1] == "path" and len(place) > 4:
        happened = f"the file of {'system ' * is_system}{name} was {before}, and is {after} now"
    elif ABSENT in {before, after}:
        what = f"system {name}" if is_system else f"a file of {name}"
        happened = f"{what} is {'added' if before == ABSENT else 'no longer named'}"
    else:
        happened = f"the file of {'system ' * is_system}{name} has changed"
    return f"{names[place[1]]}: {happened}"


def content_changes(session: Session, study: LoadedStudy, content: StudyContent) -> list[Change]:
    """Return what differs in topics, systems, texts and pairs of the tasks that were there before."""
    return [
        change
        for number, (task, given) in enumerate(zip(study.tasks, content.tasks, strict=False))
        if task.kind == given.entry.kind
        for change in _Comparison(session, task, given, number).changes()
    ]


def accept_problems(accepted: Collection[str], changes: Iterable[Change], study: LoadedStudy) -> list[str]:
    """Return a sentence for each accepted name that is no changed text."""
    changed = {change.text.key for change in changes if change.text}
    topics = [f"{task.name}/{topic.name}" for task in study.tasks for topic in task.topics]
    return [
        f"{name}: its texts are those that workers see already"
        if name in topics
        else f"{name}: there is no such topic; {_like(name, topics, sorted(changed))}"
        for name in accepted
        if name not in changed
    ]


def _like(name: str, names: Sequence[str], changed: Sequence[str]) -> str:
    near = closest_name(name, names) if "/" in name else None
    return (
        f"did you mean {near}?"
        if near
        else f"texts of {join_names(changed)} differ"
        if changed
        else f"the topics are {join_names(names)}"
    )


def _verdict(place: Place, old: Any, new: Any, kind: str | None) -> Verdict:
    match place:
        case (str(key),):
            return "allowed" if key in FREE_OF_STUDY else "refused"
        case ("tasks", _, "systems", _):
            return "extends" if old == ABSENT else "refused" if new == ABSENT else "allowed"
        case ("tasks", _, "collection", _) | ("tasks", _, "collection" | "systems", _, "path" | "media"):
            return "allowed"  # what it changes for workers and answers is compared by itself
        case ("tasks", _, str(key)) if kind is not None:
            return _verdict_of_task(KINDS[kind], key, old, new)
    return "refused"


def _verdict_of_task(kind: TaskKind, key: str, old: Any, new: Any) -> Verdict:
    """Return the verdict of a changed key of a task; a limit may be raised at any time."""
    if key == kind.limit_key:
        is_raised = isinstance(old, int) and (new is None or (isinstance(new, int) and new > old))
        return "extends" if is_raised else "refused"
    if key == "pairs":
        return _verdict_of_pairs(old, new)
    if key == "gold_pairs":
        return "refused" if new is None else "allowed"  # what the file names is compared by itself
    return "allowed" if key in FREE_OF_TASK | kind.free_keys else "refused"


def _verdict_of_pairs(old: Any, new: Any) -> Verdict:
    """Return the verdict of a changed key ``pairs``: of a file what it names is compared by itself."""
    if isinstance(old, str) and isinstance(new, str):
        return "allowed"
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        is_longer = {**old, "budget": new["budget"]} == dict(new) and new["budget"] > old["budget"]
        return "extends" if is_longer else "refused"
    return "refused"


def _key(place: Place) -> str:
    """Return a place as people write it: ``tasks.2.systems.good`` (tasks from 1)."""
    return ".".join(str(part + 1) if isinstance(part, int) else part for part in place)


def _loaded(session: Session, study: LoadedStudy) -> Iterator[Leaf]:
    """Return the loaded values, with today's defaults for later keys."""
    config = read_study_entry(study.config, KINDS).model_dump(mode="json")
    yield from _study_leaves(config, study.folder)
    for number, task in enumerate(study.tasks):
        systems = {system.name: (system.path, system.sha256) for system in task.systems}
        files = {kind: (file["path"], file["sha256"]) for kind, file in task.files.items()}
        yield from _task_leaves(number, config["tasks"][number], files, systems)
        stored = shown_media(session, task.id)
        yield from _media_leaves(
            number, ((topic, system, media.sha256) for _, topic, system, media in stored)
        )


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
            (topic, system, media.sha256)
            for (topic, system), side in task.sides.items()
            for media in side.media()
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


def _media_leaves(number: int, shown: Iterable[tuple[str, str, str]]) -> Iterator[Leaf]:
    """Yield a digest of the pictures of each system, whose file has only names."""
    pictures: dict[str, list[str]] = {}
    for topic, system, sha256 in shown:
        pictures.setdefault(system, []).append(f"{topic} {sha256}")
    for system, lines in pictures.items():
        digest = hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()
        yield ("tasks", number, "systems", system, "media"), f"content {digest[:8]}"


def _short(value: Any) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= 40 else f"{text[:39]}…"


def given_texts(topic: TopicContent) -> TopicTexts:
    """Return the texts of a topic of a study file."""
    intents = [(name, text, topic.probability(name)) for name, text in topic.intents.items()]
    return TopicTexts.of(topic.text, topic.detail, intents)


def stored_texts(topic: Topic) -> TopicTexts:
    """Return the texts of a loaded topic."""
    intents = [(intent.name, intent.text, intent.probability) for intent in topic.intents]
    return TopicTexts.of(topic.text, topic.detail, intents)


def same_to_read(topic: str, side: Side, other: Side) -> bool:
    """Return whether two sides of a topic are the same to workers and in the tables, whatever the files of their pictures."""
    parts = [
        (each.digest(topic), [(block.id, block.alt, block.words, block.chars) for block, _ in each.layers()])
        for each in (side, other)
    ]
    return parts[0] == parts[1]


class _Comparison:
    """Comparison of one task of a study file with the loaded one."""

    def __init__(self, session: Session, task: Task, given: TaskContent, number: int) -> None:
        self._session, self._task, self._given = session, task, given
        self._place: Place = ("tasks", number)
        self._name = task.name
        self._topics = {topic.name: topic for topic in task.topics}
        self._systems = {system.name for system in task.systems}
        rows = (
            select(Topic.name, System.name, StoredSummary.content)
            .join(Topic, Topic.id == StoredSummary.topic_id)
            .join(System, System.id == StoredSummary.system_id)
            .where(Topic.task_id == task.id)
        )
        self._sides = {(topic, system): content for topic, system, content in session.execute(rows)}
        self._given_topics = {topic.id: topic for topic in given.topics}

    def changes(self) -> Iterator[Change]:
        """Yield what differs, refused changes of topics first."""
        texts = [*self._topic_changes(), *self._side_changes()]
        yield from texts
        yield from self._stream_changes()
        yield from self._pair_changes()
        mended = {change.text.topic for change in texts if change.text}
        yield from self._table_changes(mended) if all(change.verdict != "refused" for change in texts) else ()
        new = [topic for topic in self._given_topics if topic not in self._topics]
        if new:
            pairs = sum(len(self._given.system_pairs.get(topic, ())) for topic in new)
            of_pairs = f" ({pluralise(pairs, 'pair')})" if pairs else ""
            what = f"{pluralise(len(new), 'new topic')}{of_pairs}: {join_names(new)}"
            yield self._change(what, "extends")

    def _change(
        self,
        what: str,
        verdict: Verdict,
        *,
        why: str = f"which{_CORRUPTS}",
        cure: str = _UNDO,
        system: str | None = None,
    ) -> Change:
        return Change(
            line=f"{self._name}: {what}",
            verdict=verdict,
            place=self._place_of(system),
            why=f", {why}",
            cure=cure,
        )

    def _place_of(self, system: str | None) -> Place:
        return (*self._place, "systems", system) if system else (*self._place, "collection")

    def _topic_changes(self) -> Iterator[Change]:
        before = {name: stored_texts(topic) for name, topic in self._topics.items()}
        after = {name: given_texts(topic) for name, topic in self._given_topics.items()}
        for name in before:
            if name not in after:
                cure = "leave it in the files; the console's page of limits closes a topic to new workers"
                yield self._change(f"topic {name} vanishes", "refused", cure=cure)
        owners = {texts.texts["question"]: name for name, texts in before.items()}
        for name in [name for name in after if name in before]:
            old, new = before[name], after[name]
            if json.dumps(old.rest, sort_keys=True) != json.dumps(new.rest, sort_keys=True):
                fields = [
                    key for key in new.rest if old.rest.get(key) != json.loads(json.dumps(new.rest[key]))
                ]
                yield self._change(f"{', '.join(fields)} of topic {name} changes", "refused")
            if old.texts == new.texts:
                continue
            question = new.texts["question"]
            other = owners.get(question, name)
            if set(old.texts) - {"description"} != set(new.texts) - {"description"}:
                yield self._change(f"topic {name} has other intents or iUnits", "refused")
            elif question != old.texts["question"] and other != name:
                yield self._change(f"topic {name} gets the text of topic {other}", "refused")
            else:
                yield self._text(name, None, old.lines(), new.lines(), old.sha256, new.sha256)

    def _text(
        self,
        topic: str,
        system: str | None,
        before: Sequence[str],
        after: Sequence[str],
        sha256: str,
        new_sha256: str,
    ) -> Change:
        who = f", system {system}" if system else ""
        return Change(
            line=f"{self._name}/{topic}{who}: {_differing(before, after)}",
            verdict="text",
            place=self._place_of(system),
            why=": workers have judged another text",
            cure=f"to show the new one from now on, with both on record: --accept-text {self._name}/{topic}",
            text=TextDifference(
                task=self._name, topic=topic, system=system, sha256=sha256, new_sha256=new_sha256
            ),
        )

    def _side_changes(self) -> Iterator[Change]:
        """Yield changed, new and vanished sides of the topics that were there before."""
        given = {
            key: side
            for key, side in self._given.sides.items()
            if key[0] in self._topics and key[1] in self._systems
        }
        old = {key: Side.of(content) for key, content in self._sides.items() if key[0] in self._given_topics}
        before, after = ({key: side.digest(key[0]) for key, side in sides.items()} for sides in (old, given))
        for (topic, system), side in old.items():
            key = (topic, system)
            if key not in given:
                if system in self._given.systems:
                    yield self._change(f"{system} shows nothing of topic {topic} any more", "refused")
            elif not same_to_read(topic, given[key], side):
                others = [other for name, other in old if name == topic and other != system]
                problem = self._other_comparison(side, given[key]) or _taken(
                    system, others, {o: (before[topic, o], after.get((topic, o))) for o in [*others, system]}
                )
                if problem:
                    yield self._change(f"topic {topic}, system {system}: {problem}", "refused", system=system)
                else:
                    yield self._text(
                        topic, system, side_lines(side), side_lines(given[key]), before[key], after[key]
                    )
        for topic, system in given:
            if (topic, system) not in old:
                yield self._change(f"{system} now shows something of topic {topic}", "extends")

    def _other_comparison(self, old: Side, new: Side) -> str | None:
        """Return what makes a changed side another thing to compare, None where only its words differ."""
        if [media.sha256 for media in old.media()] != [media.sha256 for media in new.media()]:
            return "a picture or sound is another one, and only texts can be mended"
        form = kind_of(self._given.entry).side
        if form is not None and form.is_free_text:
            return None
        ids = [
            [(block.id, block.kind, block.at, layer) for block, layer in side.layers()] for side in (old, new)
        ]
        return "other things are shown, or in another order" if ids[0] != ids[1] else None

    def _stream_changes(self) -> Iterator[Change]:
        stored = (
            select(Topic.name, System.name, StoredStream.content)
            .join(Topic, Topic.id == StoredStream.topic_id)
            .join(System, System.id == StoredStream.system_id)
            .where(Topic.task_id == self._task.id)
        )
        for topic, system, content in self._session.execute(stored):
            stream = self._given.streams.get((topic, system))
            if stream is not None and _plain(stream.json()) != _plain(content):
                why = "which changes what followers have read over days"
                yield self._change(f"the stream of {system} about {topic} differs", "refused", why=why)

    def _pair_changes(self) -> Iterator[Change]:
        rows = (
            select(Topic.name, Pair.system_a_id, Pair.system_b_id, Pair.gold)
            .join(Topic)
            .where(Topic.task_id == self._task.id)
        )
        names = {system.id: system.name for system in self._task.systems}
        answers = {
            (topic, frozenset((names[a], names[b]))): {None: None, "a": names[a], "b": names[b]}.get(
                gold, EQUAL
            )
            for topic, a, b, gold in self._session.execute(rows)
        }
        before = set(answers)
        after = (
            {
                (topic, frozenset(couple))
                for topic, couples in self._given.shown_pairs.items()
                for couple in couples
                if topic in self._topics
            }
            if before
            else set()
        )
        gone: dict[str, list[str]] = {}
        for topic, couple in sorted(before - after, key=lambda pair: (pair[0], sorted(pair[1]))):
            if topic in self._given_topics and couple <= set(self._given.systems):
                gone.setdefault(topic, []).append(" and ".join(sorted(couple)))
        for topic, couples in gone.items():
            yield self._change(f"topic {topic}: the pair of {join_names(couples)} vanishes", "refused")
        known = {
            (topic, frozenset(pair.systems)): pair.better or EQUAL
            for topic, golds in self._given.gold.items()
            for pair in golds
        }
        for topic, couple in sorted(before & after, key=lambda pair: (pair[0], sorted(pair[1]))):
            if answers[topic, couple] != known.get((topic, couple)):
                what = f"topic {topic}: the known answer of {join_names(sorted(couple))} differs"
                yield self._change(what, "refused")
        if after - before:
            topics = {topic for topic, _ in after - before}
            yield self._change(
                f"{pluralise(len(after - before), 'new pair')} of {pluralise(len(topics), 'topic')} there already",
                "extends",
            )

    def _table_changes(self, mended: Collection[str]) -> Iterator[Change]:
        """Yield topics of which collection and runs now give other numbers for the same systems."""
        import pandas as pd  # noqa: PLC0415 - slow to import, and only `load` needs it

        stored = select(TaskTable.name, TaskTable.content).where(TaskTable.task_id == self._task.id)
        for name, content in self._session.execute(stored):
            old = pd.read_parquet(io.BytesIO(content))
            given = self._given.tables.get(name)
            new = old.head(0) if given is None else pd.read_parquet(io.BytesIO(given))
            before, after = self._rows(old, mended), self._rows(new, mended)
            why = f"which changes what measures say of what was judged (table {name})"
            for topic in self._given_topics:
                if topic in before and before[topic] != after.get(topic):
                    line = f"judgments of the collection differ for topic {topic}"
                    yield self._change(line, "refused", why=why)

    def _rows(self, frame: "pd.DataFrame", mended: Collection[str]) -> dict[str, Counter[Any]]:
        """Return the rows of each topic that was there before, of the systems that were."""
        rows: dict[str, Counter[Any]] = defaultdict(Counter)
        columns = [name for name in frame.columns if name not in _NOT_OF_ANSWERS]
        kept = [name not in _OF_TEXTS for name in columns]
        topics, systems = frame["topic"].astype(str), frame["system"].astype(str)
        for topic, system, row in zip(
            topics, systems, frame[columns].itertuples(index=False, name=None), strict=True
        ):
            if topic in self._topics and system in self._systems:
                cells = tuple(compress(row, kept)) if topic in mended else row
                rows[topic][tuple(map(str, cells))] += 1
        return rows


def _taken(system: str, others: Sequence[str], digests: Mapping[str, tuple[str, str | None]]) -> str | None:
    """Return the problem of a side that becomes another system's, None where it does not.

    ``digests``: before and after, of each system of the topic.
    """
    before, after = digests[system]
    for other in others:
        old, new = digests[other]
        if old == before:
            continue
        if after == old:
            return f"it would show what {other} showed"
        if after == new:
            return f"it would show the same as {other}"
    return None


def _plain(content: Any) -> Any:
    """Return a value as the database gives it back."""
    return json.loads(json.dumps(content))


def _differing(before: Sequence[str], after: Sequence[str]) -> str:
    """Return the lines that differ, old and new."""
    parts = []
    matcher = difflib.SequenceMatcher(a=before, b=after, autojunk=False)
    for kind, old_from, old_to, new_from, new_to in matcher.get_opcodes():
        if kind != "equal":
            old, new = (
                " / ".join(_around(lines, other)) or ABSENT
                for lines, other in (
                    (before[old_from:old_to], after[new_from:new_to]),
                    (after[new_from:new_to], before[old_from:old_to]),
                )
            )
            parts.append(f"{old} -> {new}")
    rest = len(parts) - MAX_LINES
    more = f"; and {pluralise(rest, 'line')} more" if rest > 0 else ""
    return "; ".join(parts[:MAX_LINES]) + more if parts else "its marks, not its words"


def _around(lines: Sequence[str], others: Sequence[str]) -> Iterator[str]:
    """Yield lines shortened to where they differ from the others in their places."""
    for number, line in enumerate(lines):
        other = others[number] if number < len(others) else ""
        same = next((at for at, (a, b) in enumerate(zip(line, other, strict=False)) if a != b), 0)
        begin = max(0, same - 30)
        yield ("…" if begin else "") + line[begin : begin + 90] + ("…" if len(line) > begin + 90 else "")
