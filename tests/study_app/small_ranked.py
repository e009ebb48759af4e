"""A study of ranked lists small enough to go through by hand: 2 queries, 3 systems. Names are easy to search for.

About the moon (SYH-1) people landed on it in 1969 and came with a car in 1971; SYD-n is about nothing, SYD-x has no text. About the
canal (SYH-2) there is one document; `sysgamma` knows nothing of it.
"""

from pathlib import Path
from typing import Any

import yaml

SYSTEMS = ("sysalpha", "sysbeta", "sysgamma")
TOPICS = "SYH-1\tmoon landings\t2015-06-01\nSYH-2\tsuez canal\n"
QRELS = "SYH-1 first SYD-1 2\nSYH-1 car SYD-2 1\nSYH-1 car SYD-n 0\nSYH-2 opening SYD-3 1\n"
WINDOWS = "SYD-1 1969\nSYD-2 1971\nSYD-n 1969\nSYD-3 1869\n"
TEXTS = (
    "SYD-1\tTwo people on the moon\tThey stayed for a day.\n"
    "SYD-2\tA car on the moon\tIt drove 28 km.\n"
    "SYD-3\tThe canal is open\tShips pass.\n"
    "SYD-n\tMoon cake\t\n"
    "SYD-y\t\tA page without a title.\n"
)
RUNS = {
    "sysalpha": "SYH-1 Q0 SYD-1 1 3 t\nSYH-1 Q0 SYD-2 2 2 t\nSYH-1 Q0 SYD-n 3 1 t\nSYH-2 Q0 SYD-3 1 1 t\n",
    "sysbeta": "SYH-1 Q0 SYD-n 1 1 t\nSYH-1 Q0 SYD-x 2 2 t\nSYH-1 Q0 SYD-y 3 3 t\nSYH-2 Q0 SYD-3 1 1 t\n",
    "sysgamma": "SYH-1 Q0 SYD-2 1 2 t\nSYH-1 Q0 SYD-1 2 1 t\n",
}
"""`sysbeta` numbers its entries from the bottom: SYD-y scores highest."""


def ranked_task(**changes: Any) -> dict[str, Any]:
    """Return a ranked_pairs task, without validation."""
    return {
        "kind": "ranked_pairs",
        "name": "lists",
        "language": "en",
        "collection": {
            "topics": "topics.tsv",
            "qrels": "qrels.txt",
            "windows": "windows.txt",
            "texts": "texts.tsv",
        },
        "systems": {name: f"{name}.txt" for name in SYSTEMS},
        "validation_pairs": 0,
        **changes,
    }


def write_ranked_study(
    folder: Path, *, task: dict[str, Any] | None = None, files: dict[str, str] | None = None, **study: Any
) -> Path:
    """Write collection, runs and study.yaml into ``folder``; returns the study file.

    ``task`` changes keys of its only task, ``files`` the content of files, further arguments keys of the study.
    """
    contents = {"topics.tsv": TOPICS, "qrels.txt": QRELS, "windows.txt": WINDOWS, "texts.tsv": TEXTS}
    contents |= {f"{name}.txt": run for name, run in RUNS.items()}
    for name, content in {**contents, **(files or {})}.items():
        (folder / name).write_text(content, encoding="utf-8")
    whole = {
        "study": "small",
        "title": "A small study",
        "consent": "Please take part.",
        "tasks": [ranked_task(**(task or {}))],
        **study,
    }
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump(whole, sort_keys=False, allow_unicode=True), encoding="utf-8")
    return path
