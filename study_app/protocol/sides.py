"""Side of a system for a topic: blocks, known by a digest; pure.

Pages, logs, crowds and exports read it. A value here knows nothing of who made it: names of systems are never in a side, so whoever has one
may send it to a browser, but for the ids of its blocks and the paths of its media.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, NamedTuple

from metrics.summaries.trailtext import counted_chars
from study_app.protocol.items import WITHOUT_SPACES, Item

WORDS_PER_SECOND = 4.0
"""Silent reading speed of English.

It is near the 238 words a minute of Brysbaert's meta-analysis (Journal of Memory and Language, 2019).
"""

CHARS_PER_SECOND = 6.0
"""Silent reading of Japanese; assumed."""

LOOK_SECONDS = 5.0
"""Seconds to look at a picture or at media of unknown length; assumed.

When time is shared, it counts as the words read in that time.
"""

UNSEEN = frozenset({"key", "id", "words", "chars", "alt"})
"""Invisible fields of a block, and those that follow from others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Media:
    """Picture, sound or other file of a block; its bytes are kept by ``sha256``.

    Attributes
    ----------
    sha256 : str
        Of the bytes that are served, which tell nothing of who made them.
    source_sha256 : str
        Of the file as it was given.
    mime : str
        Type of the bytes, such as ``image/png``.
    path : str
        Of the file, relative to the study file; never sent to a browser.
    width, height : int or None
        Of a picture, in pixels.
    seconds : float or None
        How long a sound or film lasts; without it `LOOK_SECONDS` are counted.
    """

    sha256: str
    source_sha256: str
    mime: str
    path: str
    width: int | None = None
    height: int | None = None
    seconds: float | None = None

    def json(self) -> dict[str, Any]:
        """Return its JSON: what is known of it."""
        return {name: value for name, value in asdict(self).items() if value is not None}


class ListPlace(NamedTuple):
    """List of a block: its number in the text, tag, and number of the first item."""

    number: int
    tag: str
    start: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Displayed thing: iUnit, link, push, entry, part of an answer, or picture.

    Attributes
    ----------
    key : str
        Its name on the page, such as ``f3``, ``s3.1``, ``p12``, ``r1`` or ``m1``.
    id : str
        Its name in the tables: of the iUnit, of the intent or document that a link leads to, of the update, of the picture.
    kind : str
        iunit, link, update or media.
    text : str
        Its words; empty where it has none.
    words, chars : int
        Whitespace tokens and counted characters of the text.
    inside : tuple of Block
        The layer that opens below a link.
    media : Media or None
        What it shows instead of words, or with them.
    alt : str
        What a picture shows, in words, for whoever does not see it.
    at : float or None
        When it came, in seconds since 1970; pages tell the minute.
    title : str
        Of an entry of a ranked list.
    window : str or None
        The time that it is about.
    html : str
        Safe HTML of the text, where it has any.
    url : str or None
        Address that stands below it, as text.
    list_place : ListPlace or None
        The list in which it stands.
    """

    key: str
    id: str
    kind: str
    text: str = ""
    words: int = 0
    chars: int = 0
    inside: "tuple[Block, ...]" = ()
    media: Media | None = None
    alt: str = ""
    at: float | None = None
    title: str = ""
    window: str | None = None
    html: str = ""
    url: str | None = None
    list_place: ListPlace | None = None

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> "Block":
        """Return a block from its JSON."""
        given = dict(content)
        if "inside" in given:
            given["inside"] = tuple(map(cls.of, given["inside"]))
        if "media" in given:
            given["media"] = Media(**given["media"])
        if "list_place" in given:
            given["list_place"] = ListPlace._make(given["list_place"])
        return cls(**given)

    def json(self) -> dict[str, Any]:
        """Return its JSON: what differs from the defaults."""
        given = {name: getattr(self, name) for name in _DEFAULTS}
        content = {name: value for name, value in given.items() if value != _DEFAULTS[name]}
        if self.inside:
            content["inside"] = [block.json() for block in self.inside]
        if self.media is not None:
            content["media"] = self.media.json()
        if self.list_place is not None:
            content["list_place"] = list(self.list_place)
        return content

    @property
    def is_visible(self) -> bool:
        """True if something of the block can be seen."""
        return bool(self.text.strip() or self.title.strip() or self.html or self.media)

    def seconds(self, language: str) -> float:
        """Return the time to read or look at the block, with its inside."""
        own = self.weight(language) / _in_a_second(language)
        return own + sum(block.seconds(language) for block in self.inside)

    def weight(self, language: str) -> float:
        """Return the number of words, in Japanese of characters.

        Media count as the words that are read in their time.
        """
        length = self.chars if language in WITHOUT_SPACES else self.words
        if self.media is None:
            return length
        lasts = LOOK_SECONDS if self.media.seconds is None else self.media.seconds
        return length + lasts * _in_a_second(language)

    def item(self, language: str, layer: str | None = None) -> Item:
        """Return the block as an item to read.

        ``layer`` is the key of the link that contains it.
        """
        return Item(
            key=self.key,
            id=self.id,
            kind=self.kind,
            words=self.words,
            chars=self.chars,
            layer=layer,
            weight=self.weight(language),
        )

    def visible(self) -> dict[str, Any]:
        """Return the visible content as JSON."""
        seen = {name: value for name, value in self.json().items() if name not in UNSEEN}
        if self.inside:
            seen["inside"] = [block.visible() for block in self.inside]
        if self.media is not None:
            seen["media"] = self.media.sha256
        if self.at is not None:
            seen["at"] = int(self.at // 60)
        return seen


def _in_a_second(language: str) -> float:
    return CHARS_PER_SECOND if language in WITHOUT_SPACES else WORDS_PER_SECOND


_DEFAULTS = {field.name: field.default for field in fields(Block)}


def text_block(text: str, *, key: str, id: str, kind: str, title: str = "", **more: Any) -> Block:  # noqa: A002 - the block's field
    """Return a block of words, counted as the metrics count them.

    Title and text are counted; ``more`` are further fields.
    """
    counted = {
        "words": len(title.split()) + len(text.split()),
        "chars": counted_chars(title) + counted_chars(text),
    }
    return Block(key=key, id=id, kind=kind, text=text, title=title, **{**counted, **more})


@dataclass(frozen=True, slots=True)
class Side:
    """Content of one system for one topic: blocks, in reading order."""

    blocks: tuple[Block, ...]

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> "Side":
        """Return a side from its JSON, as `study_app.store.models.StoredSummary` holds it."""
        return cls(tuple(map(Block.of, content["blocks"])))

    def json(self) -> dict[str, Any]:
        """Return its JSON."""
        return {"blocks": [block.json() for block in self.blocks]}

    def layers(self) -> Iterator[tuple[Block, str | None]]:
        """Yield each block with the key of the link that contains it.

        The inside of a link comes right after it.
        """
        for block in self.blocks:
            yield block, None
            yield from ((below, block.key) for below in block.inside)

    @property
    def is_visible(self) -> bool:
        """True if something of the side can be seen."""
        return any(block.is_visible for block, _ in self.layers())

    def texts(self) -> Iterator[str]:
        """Yield the words of each block that has some; not those that stand for a picture."""
        return (block.text for block, _ in self.layers() if block.text)

    def media(self) -> Iterator[Media]:
        """Yield what is shown instead of words."""
        return (block.media for block, _ in self.layers() if block.media is not None)

    def items(self, language: str) -> tuple[Item, ...]:
        """Return the items to read or look at, in reading order."""
        return tuple(block.item(language, layer) for block, layer in self.layers())

    def seconds(self, language: str) -> float:
        """Return the time to read and look at all layers."""
        return sum(block.seconds(language) for block in self.blocks)

    def digest(self, topic: str) -> str:
        """Return the id of a side of a topic: SHA-256 of all visible content.

        It is the same in every process.

        Words, titles, addresses, marks, minutes, time windows and hashes of media are in it; ids and words that stand for a picture
        are not. Two systems that show the same of a topic have one digest.
        """
        seen = [topic, [block.visible() for block in self.blocks]]
        return hashlib.sha256(json.dumps(seen, sort_keys=True).encode()).hexdigest()
