"""What a simulated person can know of push streams and ranked lists: the texts, and what they are truly worth.

As with summaries, a side is known by what can be read of it, so a page that shows anything else than what a system wrote is
noticed at once. A stream is worth its contingency utility under the true weights (Tan et al., SIGIR 2016, Table 1), a
list its TIA-nDCG at the depth that is shown (Singh et al., CHIIR 2016).
"""

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from metrics.errors import input_fault
from metrics.ranked.measures import TIANDCG
from metrics.ranked.score import ranked_scores
from metrics.readers.ranked import read_ranked_collection, read_ranked_run
from study_app.simulate.people.mind import PREFERENCE_SLOPE
from study_app.simulate.site import Element, PageError, as_read
from study_app.study.entries import RankedPairs, collection_paths
from study_app.tasks.content import TaskContent

MOST_SHOWN = 300
"""Characters of a page that an error tells."""

Texts = tuple[Any, ...]
"""What can be read of a side, in order: `Element.texts` of each of its elements."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedWorld:
    """Texts and true worth of what one task's systems show.

    Attributes
    ----------
    scores : mapping
        (topic's text, texts of a side) -> what it is worth.
    slope : float
        Of Davidson's model, per unit of worth.
    middle : float
        Median of the sum of both sides' worth over all pairs.
    """

    scores: Mapping[tuple[str, Texts], float]
    slope: float
    middle: float

    def score(self, topic: str, elements: Sequence[Element]) -> float:
        """Return what a side as it stands on a page is worth; `PageError` when no system wrote it."""
        texts = tuple(element.texts for element in elements)
        if (topic, texts) not in self.scores:
            raise PageError(f"{topic!r}: the page shows what no system wrote: {str(texts)[:MOST_SHOWN]}")
        return self.scores[topic, texts]


def push_world(task: TaskContent, weights: Mapping[str, float], *, path: Path) -> JudgedWorld:
    """Return what is known of push streams under the weights P_E, S_E, P_0, S_0 of one unit of gain.

    Raises
    ------
    InputError
        If the streams' cells are not known: nobody could prefer anything.
    """
    if "push_cells" not in task.tables:
        raise input_fault(
            f"task {task.entry.name}: the collection has no judgments, so nobody can prefer anything",
            path=path,
            cure="name qrels and clusters in the collection",
        )
    cells = pd.read_parquet(io.BytesIO(task.tables["push_cells"]))
    worth = (
        cells["gain"]
        - weights["P_E"] * cells["nonrelevant_eventful"]
        - weights["S_E"] * cells["silent_eventful"]
        - weights["P_0"] * cells["nonrelevant_silent"]
        + weights["S_0"] * cells["silent_silent"]
    )
    keys = zip(cells["topic"], cells["system"], strict=True)
    return _world(task, dict(zip(keys, worth.astype(float), strict=True)), _pushes)


def ranked_world(task: TaskContent, entry: RankedPairs, folder: Path) -> JudgedWorld:
    """Return what is known of ranked lists; the judgments are read again from the files of the collection."""
    paths = {kind: folder / name for kind, name in collection_paths(entry).items()}
    collection = read_ranked_collection(
        qrels=paths["qrels"], windows=paths["windows"], intents=paths.get("intents")
    )
    runs = [
        read_ranked_run(folder / path, collection.grades, name=name) for name, path in entry.systems.items()
    ]
    found = ranked_scores(collection, runs, {"worth": TIANDCG(k=entry.depth)})
    return _world(task, {(score.topic, score.run): score.value for score in found}, _ranking)


def _world(
    task: TaskContent,
    worth: Mapping[tuple[str, str], float],
    texts: Callable[[Mapping[str, Any]], Texts],
) -> JudgedWorld:
    values = [[worth[topic.id, system] for system in task.systems] for topic in task.topics]
    pairs = [pair for of_topic in values for pair in combinations(of_topic, 2)]
    spread = float(np.std([a - b for a, b in pairs])) if pairs else 0.0
    text = {topic.id: as_read(topic.text) for topic in task.topics}
    return JudgedWorld(
        scores={
            (text[topic], texts(shown)): worth[topic, system] for (topic, system), shown in task.shown.items()
        },
        slope=PREFERENCE_SLOPE / (spread or 1.0),
        middle=float(np.median([a + b for a, b in pairs])) if pairs else 0.0,
    )


def _pushes(shown: Mapping[str, Any]) -> Texts:
    """Return what can be read of a stream: the page tells the minute at which a push came, not the second."""
    minutes = (datetime.fromtimestamp(push["at"], UTC).replace(second=0) for push in shown["pushes"])
    return tuple(
        Element(key="", text=as_read(push["text"]), at=at).texts
        for push, at in zip(shown["pushes"], minutes, strict=True)
    )


def _ranking(shown: Mapping[str, Any]) -> Texts:
    return tuple(
        Element(key="", text=as_read(f"{entry['title']} {entry['text']}")).texts for entry in shown["list"]
    )
