"""What a simulated person can know of a task: the texts, and what M-measure says of them at the true patience.

A person sees a summary as text only. `World.score` finds the text among the systems' summaries, so a page that shows
anything else than what a system wrote is noticed at once.
"""

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from metrics.errors import input_fault
from metrics.summaries.score import m_from_positions
from metrics.summaries.two_layered import Query
from study_app.simulate.people.mind import PREFERENCE_SLOPE
from study_app.simulate.site import Element, PageError, as_read
from study_app.tasks.summary_pairs import SummaryContent

Content: TypeAlias = tuple[Any, ...]
"""The texts of a summary in order: (text, texts of the second layer or None) of each element."""

Intents: TypeAlias = Mapping[str, Mapping[str, float]]
"""topic -> intent -> P(i|q)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Texts and true scores of one task.

    Attributes
    ----------
    queries : mapping of str to Query
        Query text -> query.
    chances : mapping of str to mapping of str to float
        Query text -> intent text -> P(i|q).
    scores : mapping
        (query text, content) -> M at the true patience; empty for a task without systems.
    slope : float
        Of Davidson's model, per unit of M.
    middle : float
        Median of M(R) + M(R') over all pairs.
    iunits : mapping of str to set of str
        Query text -> texts of its iUnits.
    importance : mapping
        (query text, intent text, iUnit text) -> importance, as the collection has it; what is missing has 0.
    """

    queries: Mapping[str, Query]
    chances: Mapping[str, Mapping[str, float]]
    scores: Mapping[tuple[str, Content], float]
    slope: float
    middle: float
    iunits: Mapping[str, frozenset[str]]
    importance: Mapping[tuple[str, str, str], float]

    def score(self, query: str, elements: Sequence[Element]) -> float:
        """Return the true M of a summary as it stands on a page; `PageError` when no system wrote it."""
        content = tuple(element.texts for element in elements)
        if (query, content) not in self.scores:
            raise PageError(f"{query!r}: the page shows a summary that no system wrote: {content}")
        return self.scores[query, content]


def summary_world(task: SummaryContent, *, patience: float, intents: Intents, path: Path) -> World:
    """Return what can be known of a task with queries at the true patience.

    Raises
    ------
    InputError
        If the collection of a task with systems has no importance: nobody could prefer anything.
    """
    chances = {
        query.id: intents.get(query.id)
        or query.probability
        or dict.fromkeys(query.intents, 1 / len(query.intents))
        for query in task.queries
    }
    scores = _scores(task, path, patience, chances) if task.systems else {}
    by_query = [[scores[query.id, system] for system in task.systems] for query in task.queries]
    pairs = [pair for values in by_query for pair in combinations(values, 2)]
    spread = float(np.std([a - b for a, b in pairs])) if pairs else 0.0
    text = {query.id: as_read(query.text) for query in task.queries}
    return World(
        queries={text[query.id]: query for query in task.queries},
        chances={
            text[query.id]: {as_read(query.intents[name]): p for name, p in chances[query.id].items()}
            for query in task.queries
        },
        scores={
            (text[topic], _content(shown)): scores[topic, system]
            for (topic, system), shown in task.summaries.items()
        },
        slope=PREFERENCE_SLOPE / (spread or 1.0),
        middle=float(np.median([a + b for a, b in pairs])) if pairs else 0.0,
        iunits={text[query.id]: frozenset(map(as_read, query.iunits.values())) for query in task.queries},
        importance={
            (text[query.id], as_read(query.intents[intent]), as_read(query.iunits[iunit])): value
            for query in task.queries
            for (intent, iunit), value in query.importance.items()
        },
    )


def _scores(
    task: SummaryContent, path: Path, patience: float, chances: Intents
) -> dict[tuple[str, str], float]:
    """Return (topic, system) -> M at the true patience."""
    if "positions" not in task.tables:
        raise input_fault(
            f"task {task.entry.name}: the collection has no importance, so nobody can prefer anything",
            path=path,
            cure="name an importance file in the collection",
        )
    positions = pd.read_parquet(io.BytesIO(task.tables["positions"]))
    table = m_from_positions(positions, chances, [patience])[patience]
    return {key: float(table.get(key, 0.0)) for key in task.summaries}


def _content(shown: Mapping[str, Any]) -> Content:
    """Return what can be read of a summary, in the form of `Element.texts`."""
    return tuple(
        (
            as_read(element["text"]),
            tuple(as_read(item["text"]) for item in element["second"]) if element["kind"] == "link" else None,
        )
        for element in shown["first"]
    )
