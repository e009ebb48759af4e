"""Runs of items: order of reading, and depth; pure.

Every length is in counted characters, as the metric counts them. The order is that of the trailtext: the first
layer, with the second layer of every link that was opened right after its link.
"""

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

WITHOUT_SPACES = frozenset({"ja"})
"""Languages without white space between words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One element of a text.

    Attributes
    ----------
    key : str
        Its name in the page, such as ``f3``, ``s3.1``, ``p12`` or ``r1``.
    id : str
        Its name in the tables: the id of the iUnit, of the intent or document that a link leads to, of the update.
    kind : str
        iunit, link, update or media.
    words, chars : int
        Whitespace tokens and counted characters.
    layer : str or None
        Key of the link whose second layer it stands in; None in the first layer.
    weight : float
        Weight in sharing the time of a page: its words, or its characters in a language without spaces; fixed for a picture.
    """

    key: str
    id: str
    kind: str
    words: int
    chars: int
    weight: float
    layer: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TextStop:
    """Depth to which one text was read; see `text_stop`."""

    chars_read: float
    chars_least: int
    text_chars: int
    reached_end: bool
    opened: int
    place_read: int
    places: int


def reading_order(items: Iterable[Item], opened: AbstractSet[str]) -> Iterator[Item]:
    """Yield the blocks in reading order.

    ``opened`` are the keys of the links that were opened at some time.
    """
    return (item for item in items if item.layer is None or item.layer in opened)


def text_stop(
    items: Iterable[Item],
    shares: Mapping[str, float],
    opened: AbstractSet[str],
    tops: AbstractSet[str] = frozenset(),
) -> TextStop:
    """Return the depth to which a text was read.

    Parameters
    ----------
    items : iterable of Item
        The whole text, each second layer right after its link.
    shares : mapping of str to float
        Largest share of each item that was seen, by key.
    opened : set of str
        Keys of the links whose second layer was opened.
    tops : set of str
        Keys of the items at the top of the screen when the furthest item came into view, one for each load of the page.

    Returns
    -------
    TextStop
        ``chars_read`` counts everything before the furthest item seen, on screen or not, and the seen share of that item.
        ``chars_least`` is a lower bound: everything before the furthest of ``tops``; where the furthest item stood alone on the
        screen, it is ``chars_read`` in whole characters. ``text_chars`` is the length of the text with the opened layers.
        ``reached_end`` is True if the last item was fully seen, or the text is empty. ``opened`` counts links. ``place_read`` is
        the position of the furthest item seen, from 1, out of ``places``.
    """
    chars_read, least, before, last_share, is_alone = 0.0, 0, 0, 1.0, False
    position = place_read = 0
    for position, item in enumerate(reading_order(items, opened), start=1):
        if item.key in tops:
            least = before
        last_share = shares.get(item.key, 0.0)
        if last_share > 0:
            chars_read, is_alone, place_read = before + last_share * item.chars, item.key in tops, position
        before += item.chars
    return TextStop(
        chars_read=chars_read,
        chars_least=int(chars_read) if is_alone else least,
        text_chars=before,
        reached_end=last_share == 1.0,
        opened=len(opened),
        place_read=place_read,
        places=position,
    )
