"""Pure: what is shown as a run of items: a text, the order in which it is read, how far that went; and a stored stream of updates.

Every length is in counted characters, as the metric counts them. The order is that of the trailtext: the first
layer, with the second layer of every link that was opened right after its link.

A stream is a value that can be asked quickly, however long it is.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, NamedTuple

WITHOUT_SPACES = frozenset({"ja"})
"""Languages in which white space does not part words."""

KEY = re.compile(r"u[1-9][0-9]{0,6}")
SIDE = "stream"
"""The side that events of a stream page name."""


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
        What it counts for when the time of a page is shared: its words, where no space parts words its characters; of a picture a
        fixed number.
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
    """How far one text was read; see `text_stop`."""

    chars_read: float
    chars_least: int
    text_chars: int
    reached_end: bool
    opened: int
    place_read: int
    places: int


def list_items(
    texts: Iterable[Mapping[str, Any]], language: str, *, letter: str, kind: str
) -> tuple[Item, ...]:
    """Return the items of a side that is one list of texts.

    Parameters
    ----------
    texts : iterable of mapping
        ``id``, ``words`` and ``chars`` of each, in reading order.
    language : str
        Of the texts, see `summary_items`.
    letter : str
        What begins their keys in the page, before their place from 1.
    kind : str
        What they are in the tables: iunit, link or update.
    """
    return tuple(
        _item({**text, "kind": kind}, f"{letter}{place}", None, by_chars=language in WITHOUT_SPACES)
        for place, text in enumerate(texts, start=1)
    )


def summary_items(content: Mapping[str, Any], language: str) -> tuple[Item, ...]:
    """Return the items of a stored two-layered summary, each second layer right after its link.

    Parameters
    ----------
    content : mapping
        As `study_app.store.models.StoredSummary.content` holds it.
    language : str
        Of its texts: in those of `WITHOUT_SPACES` an item's length is its characters.
    """
    return tuple(_summary_items(content["first"], by_chars=language in WITHOUT_SPACES))


def _summary_items(first: Iterable[Mapping[str, Any]], *, by_chars: bool) -> Iterator[Item]:
    for number, element in enumerate(first):
        key = f"f{number}"
        yield _item(element, key, None, by_chars=by_chars)
        for place, inner in enumerate(element.get("second", ())):
            yield _item(inner, f"s{number}.{place}", key, by_chars=by_chars)


def _item(element: Mapping[str, Any], key: str, layer: str | None, *, by_chars: bool) -> Item:
    return Item(
        key=key,
        id=element["id"],
        kind=element["kind"],
        words=element["words"],
        chars=element["chars"],
        layer=layer,
        weight=element["chars"] if by_chars else element["words"],
    )


def reading_order(items: Iterable[Item], opened: AbstractSet[str]) -> Iterator[Item]:
    """Yield the text as it was read; ``opened`` are the keys of the links that were opened at some time."""
    return (item for item in items if item.layer is None or item.layer in opened)


def end_offsets(items: Iterable[Item], opened: AbstractSet[str]) -> dict[str, int]:
    """Return the counted characters up to and including each item in reading order, by key."""
    offsets, end = {}, 0
    for item in reading_order(items, opened):
        end += item.chars
        offsets[item.key] = end
    return offsets


def text_stop(
    items: Iterable[Item],
    shares: Mapping[str, float],
    opened: AbstractSet[str],
    tops: AbstractSet[str] = frozenset(),
) -> TextStop:
    """Say how far a text was read.

    Parameters
    ----------
    items : iterable of Item
        The whole text, each second layer right after its link.
    shares : mapping of str to float
        Largest share of each item that was seen, by key.
    opened : set of str
        Keys of the links whose second layer was opened.
    tops : set of str
        Keys of the items that began the screen when the furthest item came into view, one for each load of the page.

    Returns
    -------
    TextStop
        ``chars_read`` counts everything before the furthest item seen, whether or not that was on screen, and the
        seen share of its own characters. ``chars_least`` counts everything before the furthest of the tops: the reader came at
        least so far; where the furthest item stood alone on the screen it is ``chars_read``, in whole characters. ``text_chars`` is the whole text with the opened layers.
        ``reached_end``: the last item was fully seen; an empty text is at its end. ``opened`` counts links. ``place_read`` is the
        place of the furthest item seen, from 1, of ``places``.
    """
    chars_read, least, before, last_share, is_alone = 0.0, 0, 0, 1.0, False
    place = place_read = 0
    for place, item in enumerate(reading_order(items, opened), start=1):
        if item.key in tops:
            least = before
        last_share = shares.get(item.key, 0.0)
        if last_share > 0:
            chars_read, is_alone, place_read = before + last_share * item.chars, item.key in tops, place
        before += item.chars
    return TextStop(
        chars_read=chars_read,
        chars_least=int(chars_read) if is_alone else least,
        text_chars=before,
        reached_end=last_share == 1.0,
        opened=len(opened),
        place_read=place_read,
        places=place,
    )


class StoredUpdate(NamedTuple):
    """An update: its id in the run, what is shown, when it came (seconds since 1970), and what it brings.

    ``nuggets`` are (nugget, seconds since 1970 at which it became known).
    """

    id: str
    text: str
    words: int
    chars: int
    at: float
    nuggets: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateStream:
    """A system's updates about one event.

    Attributes
    ----------
    start, end : float
        Of the event, in seconds since 1970.
    updates : tuple of StoredUpdate
        Oldest first; an update's place is its number here, from 1.
    times : tuple of float
        When each came.
    """

    start: float
    end: float
    updates: tuple[StoredUpdate, ...]
    times: tuple[float, ...]

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> "UpdateStream":
        """Return a stream from what `stream_models.Stream` stores."""
        updates = tuple(
            StoredUpdate(
                id=one["id"],
                text=one["text"],
                words=one["words"],
                chars=one["chars"],
                at=one["at"],
                nuggets=tuple((name, known) for name, known in one["nuggets"]),
            )
            for one in content["updates"]
        )
        return cls(
            start=content["start"],
            end=content["end"],
            updates=updates,
            times=tuple(update.at for update in updates),
        )

    def upto(self, at: float) -> int:
        """Return the place of the newest update there is at ``at`` seconds since 1970; 0 for none."""
        return bisect_right(self.times, at)

    def update(self, place: int) -> StoredUpdate:
        """Return the update in a place."""
        return self.updates[place - 1]

    def items(self, first: int, last: int, language: str) -> tuple[Item, ...]:
        """Return the items of a page that shows the places from ``first`` to ``last``, in the order it shows them."""
        if not first:
            return ()
        return tuple(
            Item(
                key=key_of(place),
                id=self.update(place).id,
                kind="update",
                words=self.update(place).words,
                chars=self.update(place).chars,
                weight=self.update(place).chars if language in WITHOUT_SPACES else self.update(place).words,
            )
            for place in range(last, first - 1, -1)
        )


def key_of(place: int) -> str:
    """Return the key of the update in a place, as pages, forms and events name it."""
    return f"u{place}"


def places_of(keys: Iterable[str]) -> set[int]:
    """Return the places that keys name; what is no key of an update is left out."""
    return {int(key[1:]) for key in keys if KEY.fullmatch(key)}
