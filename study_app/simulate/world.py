"""What a simulated person can know of a study: the texts, and what M-measure says of them at a patience.

A person sees a summary as text only. `World.recognised` finds the text among the systems' summaries, so a page that
shows anything else than what a system wrote is noticed at once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from metrics.summaries import MMeasure, score_summaries
from metrics.two_layered import Collection, IUnit, Query, Run, Summary
from study_app.simulate.mind import PREFERENCE_SLOPE
from study_app.simulate.site import Element, PageError, as_read

Content = tuple[object, ...]
"""The texts of a summary in order: (text, texts of the second layer or None) of each element."""


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Texts and true scores of one task.

    Attributes
    ----------
    queries : mapping of str to Query
        Query text -> query.
    scores : mapping
        (topic, content) -> M at the true patience.
    slope : float
        Of Davidson's model, per unit of M.
    middle : float
        Median of M(R) + M(R') over all pairs.
    """

    queries: Mapping[str, Query]
    scores: Mapping[tuple[str, Content], float]
    slope: float
    middle: float

    def score(self, topic: str, elements: Sequence[Element]) -> float:
        """Return the true M of a summary as it stands on a page; `PageError` when no system wrote it."""
        content = tuple(element.texts for element in elements)
        try:
            return self.scores[topic, content]
        except KeyError:
            raise PageError(f"{topic}: the page shows a summary that no system wrote: {content}") from None


def build_world(collection: Collection, runs: Sequence[Run], *, patience: float) -> World:
    """Score every summary once and note its texts."""
    frame = score_summaries(collection, runs, [MMeasure(patience=patience)])
    value = frame.set_index(["run", "topic"])["value"]
    scores: dict[tuple[str, Content], float] = {}
    differences, totals = [], []
    for topic, query in collection.queries.items():
        of_query = [float(value[run.name, topic]) for run in runs]
        for run, score in zip(runs, of_query, strict=True):
            scores[topic, _content(run.summaries[topic], query)] = score
        differences += [a - b for a, b in combinations(of_query, 2)]
        totals += [a + b for a, b in combinations(of_query, 2)]
    spread = float(np.std(differences)) or 1.0
    return World(
        queries={query.text: query for query in collection.queries.values()},
        scores=scores,
        slope=PREFERENCE_SLOPE / spread,
        middle=float(np.median(totals)),
    )


def _content(summary: Summary, query: Query) -> Content:
    """Return what can be read of a summary, in the form of `Element.texts`."""
    return tuple(
        (as_read(query.iunits[element.id]), None)
        if isinstance(element, IUnit)
        else (
            as_read(query.intents[element.intent]),
            tuple(as_read(query.iunits[item.id]) for item in summary.second[element.intent]),
        )
        for element in summary.first
    )
