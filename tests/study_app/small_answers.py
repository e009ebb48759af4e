"""A small study of pairs of answers: systems answer questions in a line each, so that texts and topics are easy to change."""

from pathlib import Path
from typing import Any, TypeAlias

import yaml

Texts: TypeAlias = dict[str, dict[str, str]]
"""System -> topic -> answer."""


def answers(topics: int, systems: str = "abc") -> Texts:
    """Return system -> topic -> an answer that no other has."""
    return {
        f"sys{name}": {f"T{number}": f"Answer {name} to {number}." for number in range(1, topics + 1)}
        for name in systems
    }


def write_answers(
    folder: Path, texts: Texts, *, questions: dict[str, str] | None = None, **task: Any
) -> Path:
    """Write a study of pairs of answers: a file of questions, a file of each system."""
    topics = sorted(
        {topic for of_topic in texts.values() for topic in of_topic}, key=lambda name: int(name[1:])
    )
    words = {topic: f"What about {topic}?" for topic in topics} | (questions or {})
    (folder / "topics.tsv").write_text("".join(f"{topic}\t{words[topic]}\n" for topic in topics))
    for system, of_topic in texts.items():
        (folder / f"{system}.tsv").write_text(
            "".join(f"{topic}\t{text}\n" for topic, text in of_topic.items())
        )
    entry = {
        "kind": "answer_pairs",
        "name": "answers",
        "collection": {"topics": "topics.tsv"},
        "systems": {system: f"{system}.tsv" for system in texts},
        "judgments_per_pair": 4,
        "pairs_per_worker": 4,
        **task,
    }
    if isinstance(entry.get("pairs"), dict):
        del entry["judgments_per_pair"]  # the budget limits adaptive pairs
    study = {"study": "small", "title": "Answers", "consent": "Words.", "tasks": [entry]}
    (folder / "study.yaml").write_text(yaml.safe_dump(study, sort_keys=False))
    return folder / "study.yaml"
