"""Content of a task with answers: CommonMark texts as safe blocks, with sources.

Each block has safe HTML, its words in reading order, and the sources that it cites. HTML in a text is displayed as text. No link leaves the
page and nothing is fetched: a link becomes its words followed by the address, an image its description. ``[LABEL]`` of a known source
becomes a mark that links to the source on the page; so does each part of ``[1, 2]``, and ``[1-3]`` is displayed as ``[1, 2, 3]``, so that
each source has its mark. A source follows each block that cites it, once a block; sources that no block cites come last.
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

from metrics.answers.judged import JUDGMENT_KINDS, AnswerCollection, answer_judgments_left_out
from metrics.errors import Fault, FaultLog, InputError, join_names, pluralise
from metrics.readers.answer_judgments import read_answer_collection
from metrics.readers.answers import (
    BRACKETS,
    RANGE,
    SEPARATORS,
    AnswerText,
    Citation,
    answer_run,
    cited_without_text,
    labels_in,
    read_answers,
    with_texts,
)
from metrics.readers.texts import read_cited_texts, read_ranked_topics
from metrics.topic_ids import TopicNames
from study_app.protocol.sides import Block, ListPlace, Side, text_block
from study_app.study.entries import collection_paths
from study_app.tasks.answer_pairs import UNCITED, AnswerPairs
from study_app.tasks.content import (
    UNSHOWN,
    TaskContent,
    TopicContent,
    collect_faults,
    read_systems,
    source_files,
)

LIKE_A_MARK = re.compile(
    r"\[[^\[\]\n]{0,20}\d[^\[\]\n]{0,20}\]|[【［][^【】［］\n]{0,20}\d[^【】［］\n]{0,20}[】］]"
)
"""Text that readers may take for a mark: short brackets with a digit.

It is any brackets around a few characters.
"""
MAYBE_A_MARK = re.compile(r"\((\d{1,3})\)|(?<!\w)([¹²³⁰⁴-⁹]{1,3})")
"""Number that readers may take for a mark if a source has that label.

Otherwise it is a count or a power.
"""
LISTS = {"bullet_list_open": "ul", "ordered_list_open": "ol"}
HEADINGS = ("h3", "h4", "h5", "h6")
"""Headings of texts; h1 and h2 are those of the page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedBlock:
    """Block of a text: paragraph, heading, table, quotation, code or list item.

    ``cited`` has the labels of its sources, each once, in order.
    """

    tokens: Sequence[Token]
    cited: tuple[str, ...]
    place: ListPlace | None

    def html(self, keys: Mapping[str, str]) -> str:
        """Return its HTML; ``keys`` has the page's key of each cited source, by label."""
        return str(_MARKDOWN.renderer.render(self.tokens, _MARKDOWN.options, {"keys": keys})).strip()


def marked_blocks(text: str, labels: Collection[str]) -> list[MarkedBlock]:
    """Return the blocks of a text in order; ``labels`` are those of its sources."""
    tokens = _MARKDOWN.parse(text)
    _plain(tokens)
    return [
        MarkedBlock(tokens=block, cited=_mark(block, labels), place=list_place)
        for block, list_place in _blocks(tokens)
    ]


def prose(text: str) -> Iterator[str]:
    """Yield the pieces of a text that are neither code nor HTML, in order."""
    children = (child for token in _MARKDOWN.parse(text) for child in token.children or ())
    return (child.content for child in children if child.type == "text")


def brackets(text: str) -> list[str]:
    """Return the text of each pair of brackets outside code, in order."""
    return [label for piece in prose(text) for label in BRACKETS.findall(piece)]


def words_of(html: str) -> str:
    """Return the words of HTML, separated by single spaces.

    White space, and each character that no page can display, separates words.
    """
    return " ".join(fragment_fromstring(UNSHOWN.sub(" ", html), create_parent="div").text_content().split())


def _blocks(tokens: Sequence[Token]) -> Iterator[tuple[list[Token], ListPlace | None]]:
    """Yield the tokens of each block, and the list of which it is an item, if any.

    A list within a list stays in its item.
    """
    block: list[Token] = []
    list_place, lists = None, 0
    for token in tokens:
        if token.level == 0 and token.type in LISTS:
            lists += 1
            list_place = ListPlace(lists, LISTS[token.type], int(token.attrGet("start") or 1))
        elif token.level == 0 and token.type in {"bullet_list_close", "ordered_list_close", "hr"}:
            list_place = None
        elif list_place is None or token.level > 1 or not token.type.startswith("list_item"):
            block.append(token)
        level = 0 if list_place is None else 2
        is_end = token.type == "list_item_close" and token.level == 1 if list_place else token.level == level
        if is_end and token.nesting <= 0 and block:
            yield block, list_place
            block = []


def _plain(tokens: Sequence[Token]) -> None:
    """Map headings to levels below the page's own; drop styles and code languages."""
    tags = sorted({token.tag for token in tokens if token.type == "heading_open"})
    for token in tokens:
        token.info = ""
        if token.type.startswith("heading"):
            token.tag = HEADINGS[min(tags.index(token.tag), len(HEADINGS) - 1)]
        if token.tag in {"td", "th"}:
            token.attrs = {}


def _mark(tokens: Sequence[Token], labels: Collection[str]) -> tuple[str, ...]:
    """Split off marks of known sources, replace links by words; return the labels."""
    cited: dict[str, None] = {}
    for token in tokens:
        if token.children:
            token.children = [
                part for child in _without_links(token.children) for part in _parts(child, labels)
            ]
            cited |= dict.fromkeys(part.content for part in token.children if part.type == "citation")
    return tuple(cited)


def _without_links(children: Sequence[Token]) -> Iterator[Token]:
    """Yield links as words and address, images as descriptions, other tokens as is."""
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
        cited = labels_in(piece, labels)
        if not cited or not set(cited) <= set(labels):
            yield _text_token(f"[{piece}]")
            continue
        for position, label in enumerate(cited, start=1):
            before, after = "[" if position == 1 else "", "]" if position == len(cited) else ""
            yield Token("citation", "", 0, content=label, meta={"before": before, "after": after})
            if not after:
                yield _text_token("; " if "," in "".join(cited) else ", ")


def _text_token(words: str) -> Token:
    return Token("text", "", 0, content=words)


def _citation(
    _renderer: RendererProtocol,
    tokens: Sequence[Token],
    idx: int,
    _options: OptionsDict,
    env: MutableMapping[str, Any],
) -> str:
    """Return the HTML of a mark, a link to its source."""
    label, meta = tokens[idx].content, tokens[idx].meta
    words = f"{meta['before']}{escapeHtml(label)}{meta['after']}"
    return f'<a class="cited" href="#side:{env["keys"][label]}">{words}</a>'


_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table").disable("reference")
_MARKDOWN.add_render_rule("citation", _citation)

DIGITS = re.compile(r"\d+")


def read_answer_content(folder: Path, task: AnswerPairs, faults: list[Fault]) -> TaskContent | None:
    """Read the files of one task; add faults to ``faults`` and return None then."""
    paths = collection_paths(task)
    topics = collect_faults(faults, partial(read_ranked_topics, folder / paths["topics"]))
    if topics is None:
        return None
    judgments = {kind: folder / paths[kind] for kind in JUDGMENT_KINDS if kind in paths}
    judged = collect_faults(faults, partial(read_answer_collection, folder / paths["topics"], **judgments))
    if judged is None:
        return None
    names = TopicNames(topics)
    sound = read_systems(
        folder, task.systems, faults, lambda path, _name: _system(path, names, paths["topics"])
    )
    if sound is None:
        return None
    if "texts" in paths:
        cited = cited_without_text(answer for answers in sound.values() for answer in answers.values())
        texts = collect_faults(faults, partial(read_cited_texts, folder / paths["texts"], cited))
        if texts is None:
            return None
        sound = {
            name: {topic: with_texts(answer, texts) for topic, answer in answers.items()}
            for name, answers in sound.items()
        }
    return TaskContent(
        entry=task,
        files=source_files(folder, paths),
        systems=source_files(folder, task.systems),
        topics=tuple(TopicContent(id=name, text=topic.text) for name, topic in topics.items()),
        sides={
            (topic, name): shown_answer_of(answer)
            for name, answers in sound.items()
            for topic, answer in answers.items()
        },
        notes=(*_notes(topics, sound), *_judgment_notes(judged, sound, paths)),
    )


def _system(path: Path, names: TopicNames, topics_file: str) -> dict[str, AnswerText]:
    """Read one system's answers by topic.

    Raises
    ------
    InputError
        As by `read_answers`; else for every answer to an unknown topic, and every mark without a citation.
    """
    log = FaultLog(path)
    answers: dict[str, AnswerText] = {}
    for topic_name, answer in read_answers(path).items():
        topic = names.find(topic_name)
        if topic is None:
            cure = f"add it to {topics_file}, or delete the answer"
            log.add(f"there is no topic {topic_name}", line=answer.line, cure=cure, kind="topic")
            continue
        answers[topic] = answer
        for label in _missing(answer):
            log.add(
                f"the answer to topic {topic_name} cites [{label}], which is not among its citations",
                line=answer.line,
                cure="add it there, or take the mark out of the text",
                kind="mark",
            )
    log.raise_if_any()
    return answers


def _missing(answer: AnswerText) -> list[str]:
    """Return the marks without a citation, as labels.

    A mark is a whole number in brackets, text in brackets of the shape of a given label, or a part of a list or range with a given label.
    An answer without citations may have any text in brackets.
    """
    if answer.citations is None or answer.is_joined:
        return []
    given = {citation.label for citation in answer.citations}
    shapes = {"0", *(DIGITS.sub("0", label) for label in given)}
    used = dict.fromkeys(
        label for inside in brackets(answer.text) for label in labels_in(inside, given) or (inside.strip(),)
    )
    return [label for label in used if label not in given and DIGITS.sub("0", label) in shapes]


def _lookalikes(answer: AnswerText) -> list[str]:
    """Return texts that readers may take for marks of sources, each once, as written.

    In an answer without citations they are numbers in brackets, alone or in lists and ranges.
    """
    if answer.citations is None:
        return [f"[{inside}]" for inside in dict.fromkeys(brackets(answer.text)) if _is_numbers(inside)]
    given = {citation.label for citation in answer.citations}
    lookalikes: list[str] = []
    for piece in prose(answer.text):
        lookalikes += [
            mark for mark in LIKE_A_MARK.findall(piece) if mark[0] != "[" or not labels_in(mark[1:-1], given)
        ]
        lookalikes += [
            match[0]
            for match in MAYBE_A_MARK.finditer(piece)
            if unicodedata.normalize("NFKC", match[1] or match[2]) in given
        ]
    return [*dict.fromkeys(lookalikes)]


def _is_numbers(inside: str) -> bool:
    return all(part.isdecimal() or RANGE.fullmatch(part) for part in SEPARATORS[-1].split(inside.strip()))


def shown_answer_of(answer: AnswerText) -> Side:
    """Return the side of an answer.

    Key ``f3`` is its element 3, a block or the line of a source; ``s3.0`` is the text of source ``f3``.
    """
    sources = {citation.label: citation for citation in answer.citations or ()}
    elements: list[Block] = []
    cited: set[str] = set()
    for number, block in enumerate(marked_blocks(answer.text, sources), start=1):
        keys = {label: f"f{index}" for index, label in enumerate(block.cited, start=len(elements) + 1)}
        html, key, name = block.html(keys), f"f{len(elements)}", f"b{number}"
        elements.append(
            text_block(words_of(html), key=key, id=name, kind="iunit", html=html, list_place=block.place)
        )
        for label in block.cited:
            elements.append(_source(sources[label], name, len(elements)))
        cited |= set(block.cited)
    for source in sources.values():
        if source.label not in cited:
            elements.append(_source(source, UNCITED, len(elements)))
    return Side(tuple(elements))


def _source(source: Citation, block: str, place: int) -> Block:
    """Return the line of a source below a block, with the source's text inside."""
    name = f"{block}:{source.label}"
    text = text_block(source.text.strip(), key=f"s{place}.0", id=f"{name}:text", kind="iunit", url=source.url)
    line = f"[{source.label}] {source.title}".strip()
    return text_block(line, key=f"f{place}", id=name, kind="link", inside=(text,))


def _judgment_notes(
    collection: AnswerCollection,
    systems: Mapping[str, Mapping[str, AnswerText]],
    paths: Mapping[str, str],
) -> Iterator[str]:
    """Yield a note on each file of judgments that measures will not be able to use."""
    yield from (part.sentence() for part in answer_judgments_left_out(collection))
    runs = [answer_run(answers, name) for name, answers in systems.items()]
    for kind in JUDGMENT_KINDS:
        try:
            if collection.judgments(kind):
                collection.check(kind, runs)
        except InputError as error:
            fault = error.faults[0]
            yield f"{paths[kind]} will give no measure: {fault.problem}; {fault.cure}"


def _notes(asked: Iterable[str], systems: Mapping[str, Mapping[str, AnswerText]]) -> Iterator[str]:
    """Yield notes on unanswered topics, sources without text, and unmatched marks."""
    topics = list(asked)
    for name, answers in systems.items():
        silent = [topic for topic in topics if topic not in answers]
        if silent:
            yield f"{name}: no answer to {pluralise(len(silent), 'topic')} of {len(topics)}: {join_names(silent)}"
        textless = sum(
            not citation.has_text for answer in answers.values() for citation in answer.citations or ()
        )
        if textless:
            yield f"{name}: {pluralise(textless, 'cited source')} without a text, shown by {'its' if textless == 1 else 'their'} id"
        marked = {topic: _lookalikes(answer) for topic, answer in answers.items()}
        for is_bare, what in ((True, "without citations"), (False, "that match no citation")):
            marked_topics = [
                topic
                for topic, marks in marked.items()
                if marks and (answers[topic].citations is None) == is_bare
            ]
            if marked_topics:
                example = marked[marked_topics[0]][0]
                yield (
                    f"{name}: marks such as {example} {what} in {pluralise(len(marked_topics), 'answer')}, shown as text: "
                    f"{join_names(marked_topics)}"
                )
