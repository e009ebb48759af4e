"""The bundled study's events, from the facts in `streams/facts/`, and what four systems give out about them.

The systems differ in one rule each, and the rule is known. Everything is deterministic: what looks drawn by lot comes
from SHA-256 digests. `build_stream_files` puts all of it into files.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import yaml

MINUTE, HOUR = 60, 3600

PROMPT_SECONDS = (3 * MINUTE, 15 * MINUTE)
"""Shortest and longest time from a fact to a prompt update of it."""

LATE_SECONDS = (10 * HOUR, 30 * HOUR)
"""The same of a late system."""

IMPORTANT = 2
"""Importance of what the sparse system tells, at least; 3 is the most."""

MAIN = 3
"""Importance of what the chatty system repeats each hour."""

COPIES = 2
"""How often the chatty system passes on each update once more, from other places."""

ASIDES_AN_HOUR = 8
"""How many lines without a fact the chatty system writes in an hour."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A nugget, when it became known (seconds since 1970-01-01 UTC), the update that tells it and those that explain it."""

    nugget: str
    seconds: int
    importance: int
    text: str
    update: "Update"
    details: list["Update"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """A sentence of a document; `told` is the fact that stands in it, `nugget` that fact's nugget."""

    doc: str
    sentence: int
    text: str
    nugget: str | None = None
    told: str = ""
    original: str | None = None

    @property
    def id(self) -> str:
        """``document-sentence``, as in the judgments."""
        return f"{self.doc}-{self.sentence}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Emission:
    """An update given out by a system."""

    update: Update
    seconds: int
    confidence: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One topic: its words for topics.xml, its span, its facts, and what is said besides."""

    id: str
    words: dict[str, str]
    start: int
    end: int
    facts: list[Fact]
    asides: list[str]
    openers: list[str]


def read_events(folder: Path) -> list[Event]:
    """Read the facts of all events, by the id of the event."""
    chatter = _yaml(folder / "chatter.yaml")
    paths = [path for path in sorted(folder.glob("*.yaml")) if path.name != "chatter.yaml"]
    return sorted((_event(_yaml(path), chatter) for path in paths), key=lambda event: event.id)


def _yaml(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return content


def _event(entry: dict[str, Any], chatter: dict[str, list[str]]) -> Event:
    return Event(
        id=entry["id"],
        words={name: entry[name] for name in ("title", "description", "query", "type")},
        start=_seconds(entry["start"]),
        end=_seconds(entry["end"]),
        facts=[_fact(entry["id"], number, fact) for number, fact in enumerate(entry["facts"], start=1)],
        asides=entry["asides"] + chatter["asides"],
        openers=chatter["openers"],
    )


def _fact(topic: str, number: int, entry: dict[str, Any]) -> Fact:
    seconds, nugget = _seconds(entry["at"]), f"{topic}-N{number:03}"
    doc = f"{seconds}-fact{number:03}"
    return Fact(
        nugget=nugget,
        seconds=seconds,
        importance=entry["importance"],
        text=entry["fact"],
        update=Update(doc=doc, sentence=0, text=entry["update"], nugget=nugget, told=entry["update"]),
        details=[Update(doc=doc, sentence=n, text=text) for n, text in enumerate(entry["details"], start=1)],
    )


def _seconds(time: str) -> int:
    return int(datetime.fromisoformat(time).replace(tzinfo=UTC).timestamp())


def _drawn(lot: str, least: int, most: int) -> int:
    """Draw a whole number from `least` up to, not including, `most`; the same lot draws the same number."""
    return least + int.from_bytes(sha256(lot.encode()).digest()[:6], "big") % (most - least)


def prompt(event: Event) -> list[Emission]:
    """Tell each fact some minutes after it became known, then what explains it."""
    return _told(event, event.facts, PROMPT_SECONDS)


def late(event: Event) -> list[Emission]:
    """Say what prompt says, ten to thirty hours after the facts became known."""
    return _told(event, event.facts, LATE_SECONDS)


def sparse(event: Event) -> list[Emission]:
    """Say what prompt says, but of the important facts only."""
    return _told(event, [fact for fact in event.facts if fact.importance >= IMPORTANT], PROMPT_SECONDS)


def chatty(event: Event) -> list[Emission]:
    """Say what prompt says, then twice more, and each hour the latest main fact again and eight lines without any."""
    told = prompt(event)
    return [*told, *_copies(told), *_repeated(event), *_asides(event)]


SYSTEMS: dict[str, Callable[[Event], list[Emission]]] = {
    "prompt": prompt,
    "late": late,
    "chatty": chatty,
    "sparse": sparse,
}


def _told(event: Event, facts: list[Fact], delays: tuple[int, int]) -> list[Emission]:
    """Give out all updates of a fact at one time, the fact itself with the highest confidence, so that it is shown first.

    What was known before the event's start comes at the start, the most important and then the oldest first.
    """
    emitted = []
    for number, fact in enumerate(facts, start=1):
        seconds = max(event.start, fact.seconds + _drawn(f"{fact.nugget} {delays}", *delays))
        for place, update in enumerate([fact.update, *fact.details]):
            confidence = fact.importance + 1 - number / 1000 - place / 10_000
            emitted.append(Emission(update=update, seconds=seconds, confidence=confidence))
    return emitted


def _copies(told: list[Emission]) -> list[Emission]:
    """Pass on each fact again within two hours, word for word, from other documents."""
    emitted = []
    for one in told:
        for number in range(1, COPIES + 1) if one.update.nugget else ():
            seconds = one.seconds + _drawn(f"{one.update.id} copy {number}", 10 * MINUTE, 2 * HOUR)
            doc = f"{seconds}-{one.update.doc.partition('-')[2]}copy{number}"
            copy = Update(doc=doc, sentence=0, text=one.update.text, original=one.update.id)
            emitted.append(Emission(update=copy, seconds=seconds, confidence=1))
    return emitted


def _repeated(event: Event) -> list[Emission]:
    """Tell the latest main fact once more in each hour."""
    emitted = []
    for hour, start in enumerate(range(event.start, event.end, HOUR), start=1):
        known = [fact for fact in event.facts if fact.importance == MAIN and fact.seconds < start]
        if known:
            seconds = start + _drawn(f"{event.id} repeat {hour}", 20 * MINUTE, HOUR)
            text = f"{event.openers[hour % len(event.openers)]} {known[-1].text}."
            again = Update(
                doc=f"{seconds}-repeat{hour:03}",
                sentence=0,
                text=text,
                nugget=known[-1].nugget,
                told=known[-1].text,
            )
            emitted.append(Emission(update=again, seconds=seconds, confidence=1))
    return emitted


def _asides(event: Event) -> list[Emission]:
    """Go round and round the lines without a fact, in an order drawn by lot; from the second time on they are copies."""
    lines = sorted(event.asides, key=lambda text: sha256(f"{event.id} {text}".encode()).digest())
    first: dict[str, Update] = {}
    emitted = []
    for number, start in enumerate(range(event.start, event.end, HOUR // ASIDES_AN_HOUR)):
        seconds = start + _drawn(f"{event.id} aside {number}", 0, HOUR // ASIDES_AN_HOUR)
        aside = Update(doc=f"{seconds}-aside{number:03}", sentence=0, text=lines[number % len(lines)])
        original = first.setdefault(aside.text, aside)
        if original is not aside:
            aside = replace(aside, original=original.id)
        emitted.append(Emission(update=aside, seconds=seconds, confidence=0.5))
    return emitted
