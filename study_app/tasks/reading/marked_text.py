"""A text with CommonMark in it, as blocks that can be shown: safe HTML, the words that can be read, and the sources that it cites.

HTML in the text is text. Nothing leads out of the page and nothing is fetched: a link is its words with the address behind them, an
image its description. ``[LABEL]`` of a source that is known becomes a mark that leads to where the page has the source.
"""

import re
from collections.abc import Collection, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any

from lxml.html import fragment_fromstring
from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererProtocol
from markdown_it.token import Token
from markdown_it.utils import OptionsDict

BRACKETS = re.compile(r"\[([^\[\]\n]{1,64})\]")
LISTS = {"bullet_list_open": "ul", "ordered_list_open": "ol"}
HEADINGS = ("h3", "h4", "h5", "h6")
"""The pages have h1 and h2 themselves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListPlace:
    """The list in which a block is an item: its number in the text, its tag, and the number that its first item has."""

    number: int
    tag: str
    start: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A paragraph, heading, table, quotation, piece of code, or item of a list; ``cited`` are labels, each once, in order."""

    tokens: Sequence[Token]
    cited: tuple[str, ...]
    place: ListPlace | None

    def html(self, keys: Mapping[str, str]) -> str:
        """Return its HTML; ``keys`` says under which key the page has each source that it cites."""
        return str(_MARKDOWN.renderer.render(self.tokens, _MARKDOWN.options, {"keys": keys})).strip()


def marked_blocks(text: str, labels: Collection[str]) -> list[Block]:
    """Return the blocks of a text in order; ``labels`` are those of the sources that it may cite."""
    tokens = _MARKDOWN.parse(text)
    _plain(tokens)
    return [
        Block(tokens=of_block, cited=_mark(of_block, labels), place=place)
        for of_block, place in _blocks(tokens)
    ]


def brackets(text: str) -> list[str]:
    """Return what stands in brackets outside of code, in order."""
    inside = (child for token in _MARKDOWN.parse(text) for child in token.children or ())
    return [label for child in inside if child.type == "text" for label in BRACKETS.findall(child.content)]


def words_of(html: str) -> str:
    """Return the text of HTML as it is read: runs of white space are one space."""
    return " ".join(fragment_fromstring(html, create_parent="div").text_content().split())


def _blocks(tokens: Sequence[Token]) -> Iterator[tuple[list[Token], ListPlace | None]]:
    """Yield the tokens of each block, and the list that it is an item of; a list in a list stays in its item."""
    of_block: list[Token] = []
    place, lists = None, 0
    for token in tokens:
        if token.level == 0 and token.type in LISTS:
            lists += 1
            place = ListPlace(number=lists, tag=LISTS[token.type], start=int(token.attrGet("start") or 1))
        elif token.level == 0 and token.type in {"bullet_list_close", "ordered_list_close", "hr"}:
            place = None
        elif place is None or token.level > 1 or not token.type.startswith("list_item"):
            of_block.append(token)
        inside = 0 if place is None else 2
        is_end = token.type == "list_item_close" and token.level == 1 if place else token.level == inside
        if is_end and token.nesting <= 0 and of_block:
            yield of_block, place
            of_block = []


def _plain(tokens: Sequence[Token]) -> None:
    """Let the highest headings of a text follow on the page's own, and drop what no reader sees: styles, names of languages."""
    used = sorted({token.tag for token in tokens if token.type == "heading_open"})
    for token in tokens:
        token.info = ""
        if token.type.startswith("heading"):
            token.tag = HEADINGS[min(used.index(token.tag), len(HEADINGS) - 1)]
        if token.tag in {"td", "th"}:
            token.attrs = {}


def _mark(tokens: Sequence[Token], labels: Collection[str]) -> tuple[str, ...]:
    """Cut out the marks of known sources as tokens of their own, and leave the words of links; returns the labels."""
    cited: dict[str, None] = {}
    for token in tokens:
        if token.children:
            token.children = [
                part for child in _without_links(token.children) for part in _parts(child, labels)
            ]
            cited |= dict.fromkeys(part.content for part in token.children if part.type == "citation")
    return tuple(cited)


def _without_links(children: Sequence[Token]) -> Iterator[Token]:
    """Yield the words of links, the address behind them where they do not say it, and the descriptions of images."""
    address = ""
    for child in children:
        if child.type == "link_open":
            address = "" if child.info == "auto" else str(child.attrGet("href"))
        elif child.type == "link_close":
            yield _text(f" ({address})" if address else "")
        else:
            yield _text(child.content) if child.type == "image" else child


def _parts(child: Token, labels: Collection[str]) -> Iterator[Token]:
    if child.type != "text":
        yield child
        return
    for number, piece in enumerate(BRACKETS.split(child.content)):
        if number % 2 == 0:
            yield _text(piece)
        elif piece in labels:
            yield Token("citation", "", 0, content=piece)
        else:
            yield _text(f"[{piece}]")


def _text(words: str) -> Token:
    return Token("text", "", 0, content=words)


def _citation(
    _renderer: RendererProtocol,
    tokens: Sequence[Token],
    idx: int,
    _options: OptionsDict,
    env: MutableMapping[str, Any],
) -> str:
    """Return a mark that leads to its source."""
    label = tokens[idx].content
    return f'<a class="cited" href="#side:{env["keys"][label]}">[{escapeHtml(label)}]</a>'


_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table").disable("reference")
_MARKDOWN.add_render_rule("citation", _citation)
