"""What a task with answers needs: texts with CommonMark as safe blocks, and answers with their sources.

A text becomes blocks that can be shown: safe HTML, the words that can be read, and the sources that it cites.

HTML in the text is text. Nothing leads out of the page and nothing is fetched: a link is its words with the address behind them, an
image its description. ``[LABEL]`` of a source that is known becomes a mark that leads to where the page has the source; so do the parts
of ``[1, 2]``, and ``[1-3]`` is shown as ``[1, 2, 3]``, so that each source has its mark.

A source stands right after each block that cites it, once a block; sources that nothing cites stand at the end.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from lxml.html import fragment_fromstring
from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererProtocol
from markdown_it.token import Token
from markdown_it.utils import OptionsDict

from metrics.errors import Fault, FaultLog, join_names, pluralise
from metrics.readers.answers import AnswerText, Citation, read_answers
from metrics.readers.texts import read_ranked_topics
from metrics.unused_input import TopicNames
from study_app.protocol.sides import Block, ListPlace, Side, text_block
from study_app.study.entries import collection_paths
from study_app.tasks.answer_pairs import UNCITED, AnswerPairs
from study_app.tasks.content import UNSHOWN, TaskContent, TopicContent, collect_faults, source_files

BRACKETS = re.compile(r"\[([^\[\]\n]{1,64})\]")
LIKE_A_MARK = re.compile(
    r"\[[^\[\]\n]{0,20}\d[^\[\]\n]{0,20}\]|[【［][^【】［］\n]{0,20}\d[^【】［］\n]{0,20}[】］]"
)
"""What readers may take for a mark: brackets of some sort around a few words with a digit."""
MAYBE_A_MARK = re.compile(r"\((\d{1,3})\)|(?<!\w)([¹²³⁰⁴-⁹]{1,3})")
"""The same where the number is the label of a source: else it counts something, or is a power."""
SEPARATORS = (re.compile(r"\s*[;；]\s*"), re.compile(r"\s*[,;、，；]\s*"))
"""Between labels in one pair of brackets; where labels have commas themselves, the first."""
RANGE = re.compile(r"(\d{1,4})\s*[-–—‐‑−]\s*(\d{1,4})")
MOST_IN_A_RANGE = 50
"""A longer one is no list of sources."""
LISTS = {"bullet_list_open": "ul", "ordered_list_open": "ol"}
HEADINGS = ("h3", "h4", "h5", "h6")
"""The pages have h1 and h2 themselves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedBlock:
    """A paragraph, heading, table, quotation, piece of code, or item of a list; ``cited`` are labels, each once, in order."""

    tokens: Sequence[Token]
    cited: tuple[str, ...]
    place: ListPlace | None

    def html(self, keys: Mapping[str, str]) -> str:
        """Return its HTML; ``keys`` says under which key the page has each source that it cites."""
        return str(_MARKDOWN.renderer.render(self.tokens, _MARKDOWN.options, {"keys": keys})).strip()


def marked_blocks(text: str, labels: Collection[str]) -> list[MarkedBlock]:
    """Return the blocks of a text in order; ``labels`` are those of the sources that it may cite."""
    tokens = _MARKDOWN.parse(text)
    _plain(tokens)
    return [
        MarkedBlock(tokens=of_block, cited=_mark(of_block, labels), place=place)
        for of_block, place in _blocks(tokens)
    ]


def prose(text: str) -> Iterator[str]:
    """Yield the pieces of a text that are neither code nor HTML, in order."""
    inside = (child for token in _MARKDOWN.parse(text) for child in token.children or ())
    return (child.content for child in inside if child.type == "text")


def brackets(text: str) -> list[str]:
    """Return what stands in brackets outside of code, in order."""
    return [label for piece in prose(text) for label in BRACKETS.findall(piece)]


def labels_in(inside: str, labels: Collection[str]) -> tuple[str, ...]:
    """Return the labels that stand in brackets: ``1``, ``1, 2``, ``1-3``, ``1, 3-5``; () where none of them is a known one.

    Those of a list or range of which some are known may be unknown.
    """
    for separator in SEPARATORS:
        parts = [inside.strip()] if inside.strip() in labels else separator.split(inside.strip())
        named = tuple(dict.fromkeys(label for part in parts for label in _range(part, labels)))
        if set(named) <= set(labels):
            return named
    return named if set(named) & set(labels) else ()


def _range(part: str, labels: Collection[str]) -> Sequence[str]:
    ends = None if part in labels else RANGE.fullmatch(part)
    if ends is None:
        return (part,)
    first, last = int(ends[1]), int(ends[2])
    if not 0 <= last - first < MOST_IN_A_RANGE:
        return (part,)
    return [str(number) for number in range(first, last + 1)]


def words_of(html: str) -> str:
    """Return the text of HTML as it is read: runs of white space are one space, and so is each character that no page can show."""
    return " ".join(fragment_fromstring(UNSHOWN.sub(" ", html), create_parent="div").text_content().split())


def _blocks(tokens: Sequence[Token]) -> Iterator[tuple[list[Token], ListPlace | None]]:
    """Yield the tokens of each block, and the list that it is an item of; a list in a list stays in its item."""
    of_block: list[Token] = []
    place, lists = None, 0
    for token in tokens:
        if token.level == 0 and token.type in LISTS:
            lists += 1
            place = ListPlace(lists, LISTS[token.type], int(token.attrGet("start") or 1))
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
            yield _text_token(f" ({address})" if address else "")
        else:
            yield _text_token(child.content) if child.type == "image" else child


def _parts(child: Token, labels: Collection[str]) -> Iterator[Token]:
    if child.type != "text":
        yield child
        return
    for number, piece in enumerate(BRACKETS.split(child.content)):
        if number % 2 == 0:
            yield _text_token(piece)
            continue
        named = labels_in(piece, labels)
        if not named or not set(named) <= set(labels):
            yield _text_token(f"[{piece}]")
            continue
        for place, label in enumerate(named, start=1):
            before, after = "[" if place == 1 else "", "]" if place == len(named) else ""
            yield Token("citation", "", 0, content=label, meta={"before": before, "after": after})
            if not after:
                yield _text_token("; " if "," in "".join(named) else ", ")


def _text_token(words: str) -> Token:
    return Token("text", "", 0, content=words)


def _citation(
    _renderer: RendererProtocol,
    tokens: Sequence[Token],
    idx: int,
    _options: OptionsDict,
    env: MutableMapping[str, Any],
) -> str:
    """Return a mark that leads to its source."""
    label, meta = tokens[idx].content, tokens[idx].meta
    shown = f"{meta['before']}{escapeHtml(label)}{meta['after']}"
    return f'<a class="cited" href="#side:{env["keys"][label]}">{shown}</a>'


_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table").disable("reference")
_MARKDOWN.add_render_rule("citation", _citation)

DIGITS = re.compile(r"\d+")


def read_answer_content(folder: Path, task: AnswerPairs, faults: list[Fault]) -> TaskContent | None:
    """Read one task's files; adds what is wrong with them to ``faults`` and returns None then."""
    paths = collection_paths(task)
    asked = collect_faults(faults, partial(read_ranked_topics, folder / paths["topics"]))
    if asked is None:
        return None
    found = {
        name: collect_faults(faults, partial(_system, folder / path, TopicNames(asked), paths["topics"]))
        for name, path in task.systems.items()
    }
    whole = {name: answers for name, answers in found.items() if answers is not None}
    if len(whole) < len(found):
        return None
    return TaskContent(
        entry=task,
        files=source_files(folder, paths),
        systems=source_files(folder, task.systems),
        topics=tuple(TopicContent(id=name, text=topic.text) for name, topic in asked.items()),
        sides={
            (topic, name): shown_answer_of(answer)
            for name, answers in whole.items()
            for topic, answer in answers.items()
        },
        notes=tuple(_notes(asked, whole)),
    )


def _system(path: Path, names: TopicNames, topics_file: str) -> dict[str, AnswerText]:
    """Read one system's answers by question.

    Raises
    ------
    InputError
        As `read_answers` does; else with every answer to no question of the collection, and every mark of a source that is not given.
    """
    log = FaultLog(path)
    answers: dict[str, AnswerText] = {}
    for written, answer in read_answers(path).items():
        topic = names.find(written)
        if topic is None:
            cure = f"add it to {topics_file}, or delete the answer"
            log.add(f"there is no topic {written}", line=answer.line, cure=cure)
            continue
        answers[topic] = answer
        for label in _missing(answer):
            log.add(
                f"the answer to topic {written} cites [{label}], which is not among its citations",
                line=answer.line,
                cure="add it there, or take the mark out of the text",
            )
    log.raise_if_any()
    return answers


def _missing(answer: AnswerText) -> list[str]:
    """Return the marks of sources that are not given: whole numbers in brackets, and what looks like a label that is given.

    So it is with each part of a list or range of which another is given. An answer that says nothing of sources may have anything in brackets.
    """
    if answer.citations is None or answer.is_joined:
        return []
    given = {one.label for one in answer.citations}
    shapes = {"0", *(DIGITS.sub("0", label) for label in given)}
    used = dict.fromkeys(
        label for inside in brackets(answer.text) for label in labels_in(inside, given) or (inside.strip(),)
    )
    return [label for label in used if label not in given and DIGITS.sub("0", label) in shapes]


def _lookalikes(answer: AnswerText) -> list[str]:
    """Return what readers may take for the mark of a source and is none, each once, as it is written.

    In an answer without citations that is what would be a mark with them: numbers in brackets, alone or in lists and ranges.
    """
    if answer.citations is None:
        return [f"[{inside}]" for inside in dict.fromkeys(brackets(answer.text)) if _is_numbers(inside)]
    given = {one.label for one in answer.citations}
    found: list[str] = []
    for piece in prose(answer.text):
        found += [
            mark for mark in LIKE_A_MARK.findall(piece) if mark[0] != "[" or not labels_in(mark[1:-1], given)
        ]
        found += [
            match[0]
            for match in MAYBE_A_MARK.finditer(piece)
            if unicodedata.normalize("NFKC", match[1] or match[2]) in given
        ]
    return [*dict.fromkeys(found)]


def _is_numbers(inside: str) -> bool:
    return all(part.isdecimal() or RANGE.fullmatch(part) for part in SEPARATORS[-1].split(inside.strip()))


def shown_answer_of(answer: AnswerText) -> Side:
    """Return an answer: ``f3`` is its element 3, a block or the line of a source; ``s3.0`` the text of source ``f3``."""
    sources = {one.label: one for one in answer.citations or ()}
    shown: list[Block] = []
    cited: set[str] = set()
    for number, block in enumerate(marked_blocks(answer.text, sources), start=1):
        keys = {label: f"f{place}" for place, label in enumerate(block.cited, start=len(shown) + 1)}
        html, key, name = block.html(keys), f"f{len(shown)}", f"b{number}"
        shown.append(
            text_block(words_of(html), key=key, id=name, kind="iunit", html=html, list_place=block.place)
        )
        for label in block.cited:
            shown.append(_source(sources[label], name, len(shown)))
        cited |= set(block.cited)
    for source in sources.values():
        if source.label not in cited:
            shown.append(_source(source, UNCITED, len(shown)))
    return Side(tuple(shown))


def _source(source: Citation, block: str, place: int) -> Block:
    """Return the line of a source below a block, with its text below it."""
    name = f"{block}:{source.label}"
    below = text_block(
        source.text.strip(), key=f"s{place}.0", id=f"{name}:text", kind="iunit", url=source.url
    )
    line = f"[{source.label}] {source.title}".strip()
    return text_block(line, key=f"f{place}", id=name, kind="link", inside=(below,))


def _notes(asked: Iterable[str], systems: Mapping[str, Mapping[str, AnswerText]]) -> Iterator[str]:
    """Say which questions a system leaves open, and where marks of sources have no sources."""
    topics = list(asked)
    for name, answers in systems.items():
        silent = [topic for topic in topics if topic not in answers]
        if silent:
            yield f"{name}: no answer to {pluralise(len(silent), 'topic')} of {len(topics)}: {join_names(silent)}"
        textless = sum(not one.has_text for answer in answers.values() for one in answer.citations or ())
        if textless:
            yield f"{name}: {pluralise(textless, 'cited source')} without a text, shown by {'its' if textless == 1 else 'their'} id"
        marked = {topic: _lookalikes(answer) for topic, answer in answers.items()}
        for is_bare, what in ((True, "and no citations"), (False, "that are of none of the citations")):
            of_these = [
                topic
                for topic, marks in marked.items()
                if marks and (answers[topic].citations is None) == is_bare
            ]
            if of_these:
                example = marked[of_these[0]][0]
                yield (
                    f"{name}: marks such as {example} {what} in {pluralise(len(of_these), 'answer')}, shown as text: "
                    f"{join_names(of_these)}"
                )
