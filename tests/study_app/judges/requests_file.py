"""A file of requests of any length, for tests that need no study."""

import json
from pathlib import Path

PROMPT, STUDY = "c" * 64, "d" * 64


def write_requests(path: Path, count: int, *, text: str = "Which is better?") -> list[str]:
    """Write so many requests; returns their ids."""
    ids = [f"{number:016x}" for number in range(count)]
    lines = [
        {
            "id": name,
            "task": "answers",
            "topic": "t",
            "pair": f"p{number // 2}",
            "order": 1 + number % 2,
            "sample": 1,
            "messages": [{"role": "user", "content": f"{text} {name} <A>long one</A> <B>short</B>"}],
            "choices": ["A", "B", "equally_good", "equally_bad"],
            "prompt_sha256": PROMPT,
            "study_sha256": STUDY,
        }
        for number, name in enumerate(ids)
    ]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return ids


def read_lines(path: Path) -> list[dict]:
    """Return the objects of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
