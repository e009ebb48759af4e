"""Trailtexts of two-layered summaries, and the probability of each reader.

Source: Kato et al., Two-layered Summaries for Mobile Search (EVIA 2016), section 3. A reader is a user with one intent of one topic;
how far into the text each iUnit ends for them is worked out here, what that is worth by the measures in `metrics.summaries.score`.

Every offset and every layer limit rests on which characters are counted. NTCIR's evaluation leaves out a fixed set of
284 code points: ASCII space and punctuation, and some Japanese marks, arrows and shapes. Everything else counts, also what
looks like a symbol or like nothing: tab, no-break space, en and em dash, bullet, combining marks, emoji. No Unicode category
and no normal form says the same.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal, NamedTuple, TypeAlias, TypeVar

import numpy as np

from metrics.arrays import Floats, Indices, summed
from metrics.errors import Fault, InputError, input_fault, join_names
from metrics.summaries.two_layered import Collection, Element, IUnit, Link, Query, Run, Summary

NOT_COUNTED = (
    (0x0020, 0x002F),  # space ! " # $ % & ' ( ) * + , - . /
    (0x003A, 0x0040),  # : ; < = > ? @
    (0x005B, 0x0060),  # [ \ ] ^ _ `
    (0x007B, 0x007E),  # { | } ~
    (0x00A7, 0x00A8),  # section sign, diaeresis
    (0x00B0, 0x00B1),  # degree, plus-minus
    (0x00B4, 0x00B4),  # acute accent
    (0x00D7, 0x00D7),  # multiplication sign
    (0x00F7, 0x00F7),  # division sign
    (0x2010, 0x2010),  # hyphen, but not the dashes
    (0x2015, 0x2015),  # horizontal bar
    (0x2018, 0x2019),  # single quotation marks
    (0x201C, 0x201D),  # double quotation marks
    (0x2025, 0x2026),  # two and three dots
    (0x2032, 0x2033),  # primes
    (0x203B, 0x203B),  # reference mark
    (0x2103, 0x2103),  # degree Celsius
    (0x2190, 0x2193),  # arrows
    (0x2212, 0x2212),  # minus
    (0x221E, 0x221E),  # infinity
    (0x2225, 0x2225),  # parallel
    (0x2234, 0x2234),  # therefore
    (0x2260, 0x2260),  # not equal
    (0x2266, 0x2267),  # less and greater over equal
    (0x2570, 0x25FF),  # the last box drawings, blocks, geometric shapes
    (0x2605, 0x2606),  # stars
    (0x2640, 0x2640),  # female
    (0x2642, 0x2642),  # male
    (0x3000, 0x3003),  # ideographic space, comma, full stop, ditto
    (0x3005, 0x3015),  # iteration mark, closing mark, number zero (letters all three), brackets, geta
    (0x301C, 0x301C),  # wave dash
    (0x309B, 0x309E),  # kana voicing and iteration marks
    (0x30FB, 0x30FE),  # middle dot, the long-vowel letter, iteration marks
    (0x4EDD, 0x4EDD),  # the letter "same as above"
    (0xFF01, 0xFF01),  # fullwidth ! and so on
    (0xFF03, 0xFF06),
    (0xFF08, 0xFF0F),
    (0xFF1A, 0xFF20),
    (0xFF3B, 0xFF40),
    (0xFF5B, 0xFF5E),
    (0xFF61, 0xFF65),  # halfwidth brackets, dots
    (0xFF70, 0xFF70),  # halfwidth long vowel
    (0xFF9E, 0xFF9F),  # halfwidth voicing marks
    (0xFFE0, 0xFFE1),  # fullwidth cent, pound
    (0xFFE3, 0xFFE3),  # fullwidth macron
    (0xFFE5, 0xFFE5),  # fullwidth yen
)
"""First and last code point of each range of characters that do not count."""


def counted_chars(text: str) -> int:
    """Count the characters (code points) of a text, without those of `NOT_COUNTED`.

    chars(u) of Kato et al. (EVIA 2016), section 3, by the fixed set of the NTCIR programs. An empty text has 0.
    """
    return len(_not_counted().sub("", text))


@cache
def _not_counted() -> re.Pattern[str]:
    """Return a pattern of the characters that do not count."""
    return re.compile("[" + "".join(rf"\U{first:08x}-\U{last:08x}" for first, last in NOT_COUNTED) + "]+")


Layers: TypeAlias = Literal["both", "first", "second"]
E = TypeVar("E", bound=Element)


def trailtext(summary: Summary, intent: str, *, layers: Layers = "both") -> tuple[Element, ...]:
    """Return the elements that a user interested in ``intent`` reads, in order.

    That is the first layer, with the intent's whole second layer put in after each link to it. Links to other intents
    stay as text. A user without a link of their own reads the first layer alone.

    Parameters
    ----------
    summary : Summary
        Truncated, where truncation is wanted.
    intent : str
        One of the query's intents.
    layers : {'both', 'first', 'second'}
        Ablations of the paper's Fig. 4: ``first`` puts in no second layer; ``second`` leaves out the first layer's
        iUnits, and their cost with them, while links stay.
    """
    own, read = Link(intent), list[Element]()
    for element in summary.first:
        if layers != "second" or isinstance(element, Link):
            read.append(element)
        if layers != "first" and element == own:
            read.extend(summary.second[intent])
    return tuple(read)


def truncated(summary: Summary, query: Query, limit: int | None) -> Summary:
    """Cut each layer before the first element that would pass ``limit``.

    The limit is in counted characters; links count too.

    A layer that ends exactly at the limit stays; nothing shorter that stands later is taken instead. A second layer
    whose link was cut off is never read. None cuts nothing.
    """
    if limit is None:
        return summary
    return Summary(
        first=tuple(_within(summary.first, query, limit)),
        second={intent: tuple(_within(layer, query, limit)) for intent, layer in summary.second.items()},
    )


def first_meetings(trail: Iterable[Element], query: Query) -> dict[str, int]:
    """Return the end offset of each iUnit at its first occurrence in a trailtext.

    pos(u_j) = sum of chars(u_1) .. chars(u_j)

    Returns
    -------
    dict of str to int
        iUnit -> counted characters up to and including it, in reading order. A repeat costs characters and has no
        entry; links cost characters and have none.
    """
    offset = 0
    ends: dict[str, int] = {}
    for element in trail:
        offset += _length(element, query)
        if isinstance(element, IUnit):
            ends.setdefault(element.id, offset)
    return ends


def _within(layer: Iterable[E], query: Query, limit: int) -> Iterator[E]:
    """Yield the elements before the first that would pass the limit."""
    used = 0
    for element in layer:
        used += _length(element, query)
        if used > limit:
            return
        yield element


def _length(element: Element, query: Query) -> int:
    """Return chars(u), of an iUnit's text or of a link's anchor text."""
    return counted_chars(
        query.iunits[element.id] if isinstance(element, IUnit) else query.intents[element.intent]
    )


Discount: TypeAlias = Callable[[Floats], Floats]
Intents: TypeAlias = Literal["given", "uniform", "fitted"]
Probabilities: TypeAlias = Mapping[str, Mapping[str, float]]
"""P(i|q) by topic and intent."""


class Position(NamedTuple):
    """First occurrence of an iUnit in one intent's trailtext, a row of positions.

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
    """Return the first occurrences in the trailtexts of a run's summaries.

    Queries and intents come in the collection's order, iUnits in reading order.

    Raises
    ------
    ValueError
        If the run has no summary of one of the queries.
    """
    rows: list[Position] = []
    for query in collection.queries.values():
        if query.id not in run.summaries:
            raise ValueError(f"run {run.name!r} has no summary of query {query.id!r}")
        summary = truncated(run.summaries[query.id], query, truncate)
        for intent in query.intents:
            ends = first_meetings(trailtext(summary, intent, layers=layers), query)
            rows += [
                Position(
                    query.id, run.name, intent, iunit, query.importance.get((intent, iunit), 0.0), offset
                )
                for iunit, offset in ends.items()
            ]
    return rows


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FirstOccurrences:
    """First occurrences of one run as arrays, for any number of measures.

    All the measures share the truncation and ablation.

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
    topic: Indices
    reader: Indices
    importance: Floats
    offset_chars: Floats

    def utilities(self, discount: Discount) -> Floats:
        """Return U_i of every reader, (R,): sum_j g_i(u_j) d(u_j)."""
        gain = self.importance * discount(self.offset_chars)
        return summed(gain, self.reader, self.topic.size)

    def expectations(self, discount: Discount, probability: Floats) -> Floats:
        """Return M = sum_i P(i|q) U_i of every topic, (T,), given P(i|q) of readers, (R,)."""
        return summed(probability * self.utilities(discount), self.topic, len(self.topics))


def readings(
    collection: Collection, run: Run, *, truncate: int | None = None, layers: Layers = "both"
) -> FirstOccurrences:
    """Return the first occurrences of every reader in a run; see `positions`."""
    rows = positions(collection, run, truncate=truncate, layers=layers)
    readers = {pair: index for index, pair in enumerate(readers_of(collection))}
    topics = {topic: index for index, topic in enumerate(collection.queries)}
    occurrences = FirstOccurrences(
        topics=tuple(topics),
        topic=np.array([topics[topic] for topic, _ in readers], dtype=np.intp),
        reader=np.array([readers[position.topic, position.intent] for position in rows], dtype=np.intp),
        importance=np.array([position.importance for position in rows], dtype=np.float64),
        offset_chars=np.array([position.offset_chars for position in rows], dtype=np.float64),
    )
    for array in (occurrences.topic, occurrences.reader, occurrences.importance, occurrences.offset_chars):
        array.setflags(write=False)
    return occurrences


def intent_probabilities(
    collection: Collection, intents: Intents = "given", fitted: Probabilities | None = None
) -> Floats:
    """Return P(i|q) of every reader, (R,), in the order of `FirstOccurrences`.

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


def readers_of(collection: Collection) -> list[tuple[str, str]]:
    """Return every (topic, intent), in the collection's order."""
    return [(query.id, intent) for query in collection.queries.values() for intent in query.intents]


def _check_fitted(collection: Collection, fitted: Probabilities) -> None:
    """Raise if a query's fitted intents are not exactly its intents."""
    faults = [
        Fault(
            problem=f"the fitted intents of query {query.id!r} are {join_names(fitted.get(query.id, ())) or 'none'}, "
            f"those of the collection {join_names(query.intents)}",
            cure="fit them to this collection",
        )
        for query in collection.queries.values()
        if set(fitted.get(query.id, ())) != set(query.intents)
    ]
    if faults:
        raise InputError(faults)


def _shares(query: Query, intents: Intents, fitted: Probabilities) -> list[float]:
    """Return P(i|q) of a query's intents, in order; 0 where a given one is missing."""
    if intents == "uniform":
        return [1 / len(query.intents)] * len(query.intents)
    shares = fitted[query.id] if intents == "fitted" else query.probability or {}
    return [shares.get(intent, 0.0) for intent in query.intents]
