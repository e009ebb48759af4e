"""What a side shows, as plain text: for a judge that opens no page.

Blocks follow each other as on a page, with an empty line between two; what opens below a link is indented. Formatted text becomes Markdown.
A picture is a mark that `picture_mark` makes and `MARK` finds; no text of a study can hold the character that surrounds it.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from textwrap import indent
from typing import TYPE_CHECKING, Any, TypeAlias

from study_app.protocol.sides import Block, Media, Side

if TYPE_CHECKING:
    from lxml.html import HtmlElement

Words: TypeAlias = Callable[..., str]
"""From a key of the catalogue, and the values in it, to the words in the language of a task."""
MARK = re.compile("\0([0-9a-f]{64})\0")
INSIDE = "    "
INLINE = {"strong": "**", "em": "*", "code": "`"}
HEADINGS = {"h3": "#", "h4": "##", "h5": "###", "h6": "####"}
BLOCKS = frozenset({"p", "ul", "ol", "blockquote", "pre", "table", "hr", *HEADINGS})


def side_text(
    side: Side,
    _detail: Mapping[str, Any],
    _reveals: bool,  # noqa: FBT001 - as `SideForm.text`
    words: Words,
    *,
    numbered: bool = False,
) -> str:
    """Return what a side shows as text, empty if nothing; ``numbered`` gives each block its rank."""
    return "\n\n".join(
        _hanging(f"{number}. " if numbered else _list_mark(side.blocks, number), block_text(block, words))
        for number, block in enumerate(side.blocks, start=1)
    )


def block_text(block: Block, words: Words) -> str:
    """Return what a block shows as text, with what opens below it."""
    lines = [
        f"{words('ranking.window')} {block.window}" if block.window is not None else "",
        block.title,
        markdown(block.html) if block.html else block.text,
        "" if block.media is None else picture_mark(block.media),
        block.url or "",
        *(indent(block_text(below, words), INSIDE) for below in block.inside),
    ]
    return "\n".join(line for line in lines if line)


def picture_mark(media: Media) -> str:
    """Return the mark that stands for a picture in a text."""
    return f"\0{media.sha256}\0"


def _list_mark(blocks: tuple[Block, ...], number: int) -> str:
    """Return the bullet or number of a block that is an item of a list, else nothing."""
    place = blocks[number - 1].list_place
    if place is None:
        return ""
    before = sum(block.list_place == place for block in blocks[: number - 1])
    return f"{place.start + before}. " if place.tag == "ol" else "- "


def _hanging(mark: str, text: str) -> str:
    """Return a text behind a mark, its further lines below its first."""
    return mark + indent(text, " " * len(mark)).lstrip(" ") if mark else text


def markdown(html: str) -> str:
    """Return safe HTML of an answer as Markdown, as `study_app.tasks.reading.answers` writes such HTML."""
    from lxml.html import fragment_fromstring  # noqa: PLC0415 - slow to import, and only a judge reads text so

    return "\n\n".join(_paragraphs(fragment_fromstring(html, create_parent="div")))


def _paragraphs(element: "HtmlElement") -> Iterator[str]:
    """Yield the paragraphs in an element: what stands between its blocks, and each of these."""
    line = element.text or ""
    for child in element:
        if child.tag in BLOCKS:
            yield from filter(None, (line.strip(), _block(child)))
            line = child.tail or ""
        else:
            line += _inline(child) + (child.tail or "")
    yield from filter(None, (line.strip(),))


def _block(element: "HtmlElement") -> str:
    if element.tag in HEADINGS:
        return f"{HEADINGS[element.tag]} {_words(element)}"
    if element.tag in {"ul", "ol"}:
        first = int(element.get("start") or 1)
        items = enumerate(element, start=first)
        marks = ((f"{number}. " if element.tag == "ol" else "- ", item) for number, item in items)
        return "\n".join(_hanging(mark, "\n".join(_paragraphs(item))) for mark, item in marks)
    if element.tag == "blockquote":
        return indent("\n\n".join(_paragraphs(element)), "> ", lambda _line: True)
    if element.tag == "pre":
        return f"```\n{element.text_content().rstrip()}\n```"
    if element.tag == "table":
        return "\n".join(_rows(element.iter("tr")))
    return "---" if element.tag == "hr" else _words(element)


def _rows(rows: "Iterable[HtmlElement]") -> Iterator[str]:
    for number, row in enumerate(rows):
        cells = [_words(cell).replace("|", "\\|") for cell in row]
        yield f"| {' | '.join(cells)} |"
        if number == 0:
            yield f"|{' --- |' * len(cells)}"


def _words(element: "HtmlElement") -> str:
    """Return the text in an element without blocks."""
    return ((element.text or "") + "".join(_inline(child) + (child.tail or "") for child in element)).strip()


def _inline(element: "HtmlElement") -> str:
    if element.tag == "br":
        return "\n"
    mark = INLINE.get(element.tag, "")
    inner = (element.text or "") + "".join(_inline(child) + (child.tail or "") for child in element)
    return f"{mark}{inner}{mark}"
