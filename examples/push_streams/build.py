"""Derive the collection and the runs from `facts.yaml`.

    python build.py            write collection/* and runs/* beside this file
    python build.py --check    write nothing; exit 1 and name the files that are not what would be written

Four systems are written, one rule each, so that they differ in kind and the kind is known. Everything is deterministic.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).resolve().parent
DAYS = range(8, 15)
DAILY_AT = timedelta(hours=20)
"""When the daily system sends its one notification."""

LATE = timedelta(minutes=75)
"""How long after the first message the late system sends it on."""

FIRST, NEXT = timedelta(minutes=1), timedelta(minutes=20)
"""From a fact to the first message about it, and from there to each further one that says the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """What somebody posted: `fact` is the number of what it says, None for nothing; `is_first`: nobody had said it before."""

    topic: str
    id: str
    at: datetime
    text: str
    grade: int
    fact: int | None
    is_first: bool

    @property
    def day(self) -> str:
        """The UTC day, YYYYMMDD."""
        return f"{self.at:%Y%m%d}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """An interest and what was posted about it, the oldest first."""

    id: str
    title: str
    description: str
    narrative: str
    messages: tuple[Message, ...]


def careful(profile: Profile) -> Iterator[tuple[datetime, Message]]:
    """Send at once what the person surely wants to know, once, and nothing else."""
    for message in profile.messages:
        if message.grade == 2 and message.is_first:
            yield message.at + timedelta(minutes=1), message


def eager(profile: Profile) -> Iterator[tuple[datetime, Message]]:
    """Send everything at once."""
    for message in profile.messages:
        yield message.at, message


def late(profile: Profile) -> Iterator[tuple[datetime, Message]]:
    """Send everything new once, more than an hour after it was posted."""
    for message in profile.messages:
        if message.is_first:
            yield message.at + LATE, message


def daily(profile: Profile) -> Iterator[tuple[datetime, Message]]:
    """Send one notification every evening: the best of the day so far, of equal ones the first, whatever it is."""
    for day in DAYS:
        evening = datetime(2012, 10, day, tzinfo=UTC) + DAILY_AT
        posted = [one for one in profile.messages if evening - DAILY_AT <= one.at <= evening]
        if posted:
            yield evening, max(posted, key=lambda one: one.grade)


SYSTEMS = {"careful": careful, "eager": eager, "late": late, "daily": daily}


def read_profiles() -> list[Profile]:
    """Read the facts."""
    facts = yaml.safe_load((FOLDER / "facts.yaml").read_text(encoding="utf-8"))
    return [
        Profile(
            id=name,
            title=of["title"],
            description=of["description"],
            narrative=of["narrative"],
            messages=tuple(sorted(_messages(name, of), key=lambda message: message.at)),
        )
        for name, of in facts.items()
    ]


def _messages(topic: str, of: dict[str, Any]) -> Iterator[Message]:
    said: list[tuple[datetime, str, int, int | None, bool]] = [
        (_time(when) + FIRST + place * NEXT, text, grade, number, place == 0)
        for number, (when, grade, texts) in enumerate(of["facts"])
        for place, text in enumerate(texts)
    ]
    said += [(_time(when), text, 0, None, False) for when, text in of["chatter"]]
    for number, (at, text, grade, fact, is_first) in enumerate(said, start=1):
        yield Message(
            topic=topic,
            id=f"{topic[2:]}{at:%d%H%M}{number:03}",
            at=at,
            text=text,
            grade=grade,
            fact=fact,
            is_first=is_first,
        )


def _time(text: str) -> datetime:
    """Read a day of October and a time: ``8 15:10``."""
    day, clock = text.split()
    hour, minute = map(int, clock.split(":"))
    return datetime(2012, 10, int(day), hour, minute, tzinfo=UTC)


def files(profiles: list[Profile]) -> dict[str, str]:
    """Return path -> content of every file that is derived."""
    messages = [message for profile in profiles for message in profile.messages]
    clusters = {profile.id: {"clusters": _clusters(profile)} for profile in profiles}
    contents = {
        "collection/topics.txt": "\n".join(map(_block, profiles)),
        "collection/qrels.txt": _lines(f"{one.topic} Q0 {one.id} {one.grade}" for one in messages),
        "collection/clusters.json": json.dumps({"topics": clusters}, indent=1) + "\n",
        "collection/epochs.txt": _lines(f"{one.id} {one.day} {one.at.timestamp():.0f}" for one in messages),
        "collection/texts.tsv": _lines(f"{one.id}\t{one.text}" for one in messages),
    }
    for name, system in SYSTEMS.items():
        contents[f"runs/{name}.txt"] = _lines(
            f"{message.topic} {message.id} {at.timestamp():.0f} {name}"
            for profile in profiles
            for at, message in system(profile)
        )
    return contents


def _block(profile: Profile) -> str:
    return (
        f"<top>\n<num> Number: {profile.id}\n\n<title>\n{profile.title}\n\n<desc> Description:\n{profile.description}\n\n"
        f"<narr> Narrative:\n{profile.narrative}\n</top>\n"
    )


def _clusters(profile: Profile) -> list[list[str]]:
    """Return the messages that say each fact."""
    facts = sorted({message.fact for message in profile.messages if message.fact is not None})
    return [[message.id for message in profile.messages if message.fact == fact] for fact in facts]


def _lines(lines: Iterator[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def main() -> None:
    """Write the files, or say which of them are not what they should be."""
    parser = argparse.ArgumentParser(description="Derive the collection and the runs from facts.yaml.")
    parser.add_argument("--check", action="store_true", help="write nothing, name what differs")
    check = parser.parse_args().check
    wrong = []
    for name, content in files(read_profiles()).items():
        path = FOLDER / name
        if check:
            if not path.is_file() or path.read_text(encoding="utf-8") != content:
                wrong.append(name)
        else:
            path.parent.mkdir(exist_ok=True)
            path.write_text(content, encoding="utf-8", newline="\n")
    if wrong:
        sys.exit("not what build.py would write: " + ", ".join(wrong))


if __name__ == "__main__":
    main()
