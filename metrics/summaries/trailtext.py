"""What a user with one intent reads of a two-layered summary, and how far into the text each iUnit ends.

Source: Kato et al., Two-layered Summaries for Mobile Search (EVIA 2016), section 3. Scores over trailtexts are in
`metrics.summaries.score`.
"""

from collections.abc import Iterable, Iterator
from typing import Literal, TypeAlias, TypeVar

from metrics.summaries.counting import counted_chars
from metrics.summaries.two_layered import Element, IUnit, Link, Query, Summary

Layers: TypeAlias = Literal["both", "first", "second"]
E = TypeVar("E", bound=Element)


def trailtext(summary: Summary, intent: str, *, layers: Layers = "both") -> tuple[Element, ...]:
    """Return what a user interested in ``intent`` reads, in order.

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
    read: list[Element] = []
    for element in summary.first:
        if layers != "second" or isinstance(element, Link):
            read.append(element)
        if layers != "first" and element == Link(intent):
            read.extend(summary.second[intent])
    return tuple(read)


def truncated(summary: Summary, query: Query, limit: int | None) -> Summary:
    """Cut each layer before the first element that would pass ``limit`` counted characters, links counted too.

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
    """Return where each iUnit of a trailtext ends when it is met for the first time.

    pos(u_j) = sum of chars(u_1) .. chars(u_j)

    Returns
    -------
    dict of str to int
        iUnit -> counted characters up to and including it, in reading order. A repeat costs characters and has no
        entry; links cost characters and have none.
    """
    offset = 0
    met: dict[str, int] = {}
    for element in trail:
        offset += _length(element, query)
        if isinstance(element, IUnit):
            met.setdefault(element.id, offset)
    return met


def _within(layer: Iterable[E], query: Query, limit: int) -> Iterator[E]:
    """Yield the elements before the first that would pass the limit."""
    used = 0
    for element in layer:
        used += _length(element, query)
        if used > limit:
            return
        yield element


def _length(element: Element, query: Query) -> int:
    """Return chars(u): of an iUnit's text, or of a link's anchor text."""
    return counted_chars(
        query.iunits[element.id] if isinstance(element, IUnit) else query.intents[element.intent]
    )
