"""What a user with one intent reads of a two-layered summary, and how far into the text each iUnit ends.

Source: Kato et al., Two-layered Summaries for Mobile Search (EVIA 2016), section 3. Scores over trailtexts are in
`metrics.summaries.score`.

Every offset and every layer limit rests on which characters are counted. NTCIR's evaluation leaves out a fixed set of
284 code points: ASCII space and punctuation, and some Japanese marks, arrows and shapes. Everything else counts, also what
looks like a symbol or like nothing: tab, no-break space, en and em dash, bullet, combining marks, emoji. No Unicode category
and no normal form says the same.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Literal, TypeAlias, TypeVar

from metrics.summaries.two_layered import Element, IUnit, Link, Query, Summary

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
"""First and last code point of each range that does not count."""


def counted_chars(text: str) -> int:
    """Count the characters of a text that are read: its code points without those of `NOT_COUNTED`.

    chars(u) of Kato et al. (EVIA 2016), section 3, by the fixed set of the NTCIR programs. An empty text has 0.
    """
    return len(_not_counted().sub("", text))


@cache
def _not_counted() -> re.Pattern[str]:
    """Return a pattern that matches what does not count."""
    return re.compile("[" + "".join(rf"\U{first:08x}-\U{last:08x}" for first, last in NOT_COUNTED) + "]+")


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
