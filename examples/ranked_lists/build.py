"""Derive the collection and the runs from `facts.yaml`.

    python build.py            write collection/* and runs/* beside this file
    python build.py --check    write nothing; exit 1 and name the files that are not what would be written

Four systems are written, one rule each, so that they differ in kind and the kind is known. Everything is deterministic.
"""

import argparse
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import yaml

FOLDER = Path(__file__).resolve().parent
LENGTH = 12
"""Entries of a run for a query."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A document: what happened in a year, and how much it matters for each subtopic; about something else without any."""

    id: str
    year: int
    title: str
    text: str
    grades: dict[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """A query with the shares of its subtopics, P(c|q), and its notes."""

    id: str
    text: str
    subtopics: dict[str, float]
    notes: tuple[Note, ...]

    @property
    def relevant(self) -> list[Note]:
        """What is about the query."""
        return [note for note in self.notes if note.grades]

    @property
    def others(self) -> list[Note]:
        """What bears a similar name only."""
        return [note for note in self.notes if not note.grades]

    @property
    def years(self) -> Counter[int]:
        """How many relevant notes each year has: P(t|q), times their number."""
        return Counter(note.year for note in self.relevant)


def spread(topic: Topic) -> list[Note]:
    """Take what brings most that was not there yet: a grade counts half for each note of its subtopic or year above it."""
    left, listed = list(topic.relevant), []
    above: Counter[str | int] = Counter()
    while left:
        best = max(left, key=lambda note: (_gain(topic, note, above), -note.year))
        left.remove(best)
        listed.append(best)
        above.update([best.year, *best.grades])
    return listed


def _gain(topic: Topic, note: Note, above: Counter[str | int]) -> float:
    worth = sum(topic.subtopics[one] * grade / 2 ** above[one] for one, grade in note.grades.items())
    return float(topic.years[note.year] * worth / 2 ** above[note.year])


def newest(topic: Topic) -> list[Note]:
    """Put what happened last first, whatever it matters."""
    return sorted(topic.relevant, key=lambda note: -note.year)


def heyday(topic: Topic) -> list[Note]:
    """Put the years of which there is most first, everything of a year together."""
    return sorted(topic.relevant, key=lambda note: (-topic.years[note.year], note.year))


def noisy(topic: Topic) -> list[Note]:
    """As `spread`, but the second, fourth and sixth entry only bear a similar name."""
    listed = spread(topic)
    for place, note in enumerate(topic.others):
        listed.insert(2 * place + 1, note)
    return listed


SYSTEMS = {"spread": spread, "newest": newest, "heyday": heyday, "noisy": noisy}


def read_topics() -> list[Topic]:
    """Read the facts."""
    facts = yaml.safe_load((FOLDER / "facts.yaml").read_text(encoding="utf-8"))
    return [
        Topic(
            id=name,
            text=of["text"],
            subtopics=of["subtopics"],
            notes=tuple(
                Note(id=f"{name.lower()}-{number:02}", year=year, title=title, text=text, grades=grades)
                for number, (year, title, text, grades) in enumerate(of["notes"], start=1)
            ),
        )
        for name, of in facts.items()
    ]


def files(topics: list[Topic]) -> dict[str, str]:
    """Return path -> content of every file that is derived."""
    tables = {
        "collection/topics.tsv": [f"{topic.id}\t{topic.text}\t2025-06-01" for topic in topics],
        "collection/qrels.txt": [
            f"{topic.id} {subtopic} {note.id} {note.grades.get(subtopic, 0)}"
            for topic in topics
            for note in topic.notes
            for subtopic in (note.grades or topic.subtopics)
        ],
        "collection/intents.txt": [
            f"{topic.id} {subtopic} {share}"
            for topic in topics
            for subtopic, share in topic.subtopics.items()
        ],
        "collection/windows.txt": [f"{note.id} {note.year}" for topic in topics for note in topic.notes],
        "collection/texts.tsv": [
            f"{note.id}\t{note.title}\t{note.text}" for topic in topics for note in topic.notes
        ],
    }
    for name, system in SYSTEMS.items():
        tables[f"runs/{name}.txt"] = [
            f"{topic.id} Q0 {note.id} {rank} {LENGTH + 1 - rank} {name}"
            for topic in topics
            for rank, note in enumerate(system(topic)[:LENGTH], start=1)
        ]
    return {path: "\n".join([*lines, ""]) for path, lines in tables.items()}


def main() -> None:
    """Write the files, or say which of them are not what they should be."""
    parser = argparse.ArgumentParser(description="Derive the collection and the runs from facts.yaml.")
    parser.add_argument("--check", action="store_true", help="write nothing, name what differs")
    check = parser.parse_args().check
    wrong = []
    for name, content in files(read_topics()).items():
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
