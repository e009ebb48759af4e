"""What every reader of a run's summaries meets, as rows and as arrays, and how probable each reader is.

A reader is a user with one intent of one topic. What one reader meets is worked out in `metrics.summaries.trailtext`; what that
is worth is said by the measures in `metrics.summaries.score`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from metrics.errors import Fault, InputError, input_fault
from metrics.summaries.trailtext import Layers, first_meetings, trailtext, truncated
from metrics.summaries.two_layered import Collection, Query, Run
from metrics.wording import listed

FloatArray: TypeAlias = NDArray[np.float64]
Discount: TypeAlias = Callable[[FloatArray], FloatArray]
Intents: TypeAlias = Literal["given", "uniform", "fitted"]
Probabilities: TypeAlias = Mapping[str, Mapping[str, float]]
"""Topic -> intent -> P(i|q)."""


class Position(NamedTuple):
    """One iUnit that the trailtext of one intent meets: a row of the table positions.

    importance is g_i(u), 0 when the collection has none; offset_chars the counted characters up to and including the
    iUnit when it is met for the first time.
    """

    topic: str
    system: str
    intent: str
    iunit: str
    importance: float
    offset_chars: int


def positions(
    collection: Collection, run: Run, *, truncate: int | None = None, layers: Layers = "both"
) -> list[Position]:
    """Return every first meeting of a run's summaries.

    Queries and intents come in the collection's order, iUnits in reading order.

    Raises
    ------
    ValueError
        If the run has no summary of one of the queries.
    """
    found: list[Position] = []
    for query in collection.queries.values():
        if query.id not in run.summaries:
            raise ValueError(f"run {run.name!r} has no summary of query {query.id!r}")
        summary = truncated(run.summaries[query.id], query, truncate)
        for intent in query.intents:
            met = first_meetings(trailtext(summary, intent, layers=layers), query)
            found += [
                Position(
                    query.id, run.name, intent, iunit, query.importance.get((intent, iunit), 0.0), offset
                )
                for iunit, offset in met.items()
            ]
    return found


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Readings:
    """One run's first meetings as arrays, ready for any number of measures with one truncation and ablation.

    A reader is a user with one intent of one topic; readers stand in the collection's order.

    Attributes
    ----------
    topics : (T,) tuple of str
    topic : (R,) ndarray of int
        Each reader's topic, as an index into ``topics``.
    reader : (n,) ndarray of int
        Who meets: an index into ``topic``.
    importance : (n,) ndarray of float
        g_i(u) of what is met.
    offset_chars : (n,) ndarray of float
        Where it ends.
    """

    topics: tuple[str, ...]
    topic: NDArray[np.intp]
    reader: NDArray[np.intp]
    importance: FloatArray
    offset_chars: FloatArray

    def utilities(self, discount: Discount) -> FloatArray:
        """Return U_i of every reader, (R,): sum_j g_i(u_j) d(u_j)."""
        gain = self.importance * discount(self.offset_chars)
        return summed(gain, self.reader, self.topic.size)

    def expectations(self, discount: Discount, probability: FloatArray) -> FloatArray:
        """Return M of every topic, (T,), given P(i|q) of every reader, (R,): sum_i P(i|q) U_i."""
        return summed(probability * self.utilities(discount), self.topic, len(self.topics))


def readings(
    collection: Collection, run: Run, *, truncate: int | None = None, layers: Layers = "both"
) -> Readings:
    """Return what every reader meets in a run; see `positions`."""
    met = positions(collection, run, truncate=truncate, layers=layers)
    readers = {pair: index for index, pair in enumerate(readers_of(collection))}
    topics = {topic: index for index, topic in enumerate(collection.queries)}
    found = Readings(
        topics=tuple(topics),
        topic=np.array([topics[topic] for topic, _ in readers], dtype=np.intp),
        reader=np.array([readers[one.topic, one.intent] for one in met], dtype=np.intp),
        importance=np.array([one.importance for one in met], dtype=np.float64),
        offset_chars=np.array([one.offset_chars for one in met], dtype=np.float64),
    )
    for array in (found.topic, found.reader, found.importance, found.offset_chars):
        array.setflags(write=False)
    return found


def intent_probabilities(
    collection: Collection, intents: Intents = "given", fitted: Probabilities | None = None
) -> FloatArray:
    """Return P(i|q) of every reader, (R,), in the order of `Readings`.

    Parameters
    ----------
    collection : Collection
        With R intents in all.
    intents : {'given', 'uniform', 'fitted'}
        See `MMeasure`.
    fitted : mapping of topic to mapping of intent to float, optional
        For ``fitted``: every intent of every query.

    Raises
    ------
    InputError
        If the collection has no probabilities, or the fitted ones lack an intent.
    """
    queries = collection.queries.values()
    if intents == "given" and any(query.probability is None for query in queries):
        raise input_fault(
            "there are no intent probabilities",
            path=collection.name,
            cure="add probability.tsv, or use uniform ones (--intents uniform)",
        )
    if intents == "fitted":
        _check_fitted(collection, fitted or {})
    return np.array([share for query in queries for share in _shares(query, intents, fitted or {})])


def summed(values: FloatArray, group: NDArray[np.intp], groups: int) -> FloatArray:
    """Add up values, (n,), by group, (n,) indices into (groups,); an empty group has 0."""
    return np.bincount(group, values, minlength=groups).astype(np.float64, copy=False)


def readers_of(collection: Collection) -> list[tuple[str, str]]:
    """Return every (topic, intent), in the collection's order."""
    return [(query.id, intent) for query in collection.queries.values() for intent in query.intents]


def _check_fitted(collection: Collection, fitted: Probabilities) -> None:
    """Raise when a query's fitted intents are not exactly its intents."""
    faults = [
        Fault(
            problem=f"the fitted intents of query {query.id!r} are {listed(fitted.get(query.id, ())) or 'none'}, "
            f"those of the collection {listed(query.intents)}",
            cure="fit them to this collection",
        )
        for query in collection.queries.values()
        if set(fitted.get(query.id, ())) != set(query.intents)
    ]
    if faults:
        raise InputError(faults)


def _shares(query: Query, intents: Intents, fitted: Probabilities) -> list[float]:
    """Return P(i|q) of a query's intents, in order; a given one that is missing is 0."""
    if intents == "uniform":
        return [1 / len(query.intents)] * len(query.intents)
    shares = fitted[query.id] if intents == "fitted" else query.probability or {}
    return [shares.get(intent, 0.0) for intent in query.intents]
