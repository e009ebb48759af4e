"""A study small enough to go through by hand: 2 queries, 3 systems, so 3 pairs a query. Names are easy to search for."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

SYSTEMS = ("sysalpha", "sysbeta", "sysgamma")
QUERIES = {"SYQ-1": "mount fuji", "SYQ-2": "green tea"}
INTENTS = {
    "SYQ-1": {"SYI-1": "climbing it", "SYI-2": "getting there"},
    "SYQ-2": {"SYI-3": "how to brew it", "SYI-4": "health"},
}
IUNITS = {
    "SYQ-1": {
        "SYU-1": "It is 3776 m high",
        "SYU-2": "Huts are open from July",
        "SYU-3": "Buses leave from Shinjuku",
        "SYU-4": "It last erupted in 1707",
    },
    "SYQ-2": {
        "SYU-5": "Water at 70 degrees is best",
        "SYU-6": "Steep for one minute",
        "SYU-7": "It contains caffeine",
        "SYU-8": "Uji is known for it",
    },
}
SECRETS = (*SYSTEMS, "SYU-", "SYI-", "SYQ-")
"""What no worker's browser may ever get."""

TOKEN = re.compile(r"[\w-]+\.[\w-]{40,}")
"""A signed token: what it says, and its signature."""


def secrets_in(text: str, secrets: Iterable[str] = SECRETS) -> list[str]:
    """Return which of the secrets a text has beside signed tokens: in those of many pages chance alone writes four letters."""
    readable = TOKEN.sub("", text)
    return [secret for secret in secrets if secret in readable]


LAYOUTS = {
    "sysalpha": '<first><iunit uid="{a}"/><link iid="{i}"/><iunit uid="{d}"/></first>'
    '<second iid="{i}"><iunit uid="{b}"/><iunit uid="{c}"/></second>',
    "sysbeta": '<first><link iid="{i}"/><link iid="{j}"/></first>'
    '<second iid="{i}"><iunit uid="{a}"/></second><second iid="{j}"><iunit uid="{c}"/></second>',
    "sysgamma": '<first><iunit uid="{d}"/><iunit uid="{c}"/></first>',
}


def write_small_study(folder: Path, *, task: dict[str, Any] | None = None, **study: Any) -> Path:
    """Write collection, runs and study.yaml into ``folder``; returns the study file.

    ``task`` changes keys of its only task, further arguments change keys of the study.
    """
    _write_collection(folder)
    first = {
        "kind": "summary_pairs",
        "name": "summaries",
        "language": "en",
        "collection": {
            kind: f"{kind}.tsv" for kind in ("queries", "iunits", "intents", "importance", "probability")
        },
        "systems": {name: f"{name}.xml" for name in SYSTEMS},
        "search_seconds": 60,
        "min_search_seconds": 80,
        "workers_per_query": 3,
        "validation_pairs": 1,
        **(task or {}),
    }
    whole = {
        "study": "small",
        "title": "A small study",
        "consent": "First paragraph.\n\nSecond paragraph.",
        "tasks": [first],
        **study,
    }
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump(whole, sort_keys=False, allow_unicode=True), encoding="utf-8")
    return path


def votes_task(**changes: Any) -> dict[str, Any]:
    """Return an intent_votes task on the same collection."""
    return {
        "kind": "intent_votes",
        "name": "votes",
        "collection": {kind: f"{kind}.tsv" for kind in ("queries", "iunits", "intents")},
        **changes,
    }


def pairs_task(**changes: Any) -> dict[str, Any]:
    """Return a summary_pairs task on the same collection, without search and validation."""
    return {
        "kind": "summary_pairs",
        "name": "pairs",
        "collection": {kind: f"{kind}.tsv" for kind in ("queries", "iunits", "intents")},
        "systems": {name: f"{name}.xml" for name in SYSTEMS},
        "search_seconds": 0,
        "validation_pairs": 0,
        **changes,
    }


def _write_collection(folder: Path) -> None:
    rows = {
        "queries": [*QUERIES.items()],
        "iunits": [(query, *row) for query, texts in IUNITS.items() for row in texts.items()],
        "intents": [(query, *row) for query, texts in INTENTS.items() for row in texts.items()],
        "importance": [
            (query, intent, iunit, str(number % 5))
            for query in QUERIES
            for intent in INTENTS[query]
            for number, iunit in enumerate(IUNITS[query], start=1)
        ],
        "probability": [(query, intent, "0.5") for query in QUERIES for intent in INTENTS[query]],
    }
    for kind, table in rows.items():
        text = "".join("\t".join(row) + "\n" for row in table)
        (folder / f"{kind}.tsv").write_text(text, encoding="utf-8")
    for name, layout in LAYOUTS.items():
        results = "".join(
            f'<result qid="{query}">{layout.format(**_ids(query))}</result>\n' for query in QUERIES
        )
        (folder / f"{name}.xml").write_text(
            f"<results><sysdesc>{name}</sysdesc>\n{results}</results>\n", encoding="utf-8"
        )


def _ids(query: str) -> dict[str, str]:
    return dict(zip("abcd", IUNITS[query], strict=True)) | dict(zip("ij", INTENTS[query], strict=True))
