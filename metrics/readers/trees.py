"""JSON and XML files as trees whose values know their lines.

Each fault can then name its line. A DOCTYPE is refused, no entity is ever resolved.
"""

import codecs
import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias, Union
from xml.parsers import expat

from metrics.errors import FaultLog, input_fault
from metrics.file_limits import check_values
from metrics.readers.lines import decoded, read_bytes

PIECE = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}\n]|[^\s\[\]{},:"]+')
TRAILING_COMMA = re.compile(r'("[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z))|,(\s*[\]}])', re.DOTALL)
"""Pattern of a string, or of a comma before a closing bracket.

A string left open extends to the end of the text, so that nothing is scanned twice.
"""
CURE = "mend the JSON here"
MAX_DEPTH = 100
"""Largest depth of nested lists and objects; no supported file has ten.

Python's own limit depends on its version.
"""
TOO_DEEP = "lists nested too deep, or a number with too many digits"
VALUE = json.JSONDecoder().raw_decode
Value: TypeAlias = Union["dict[str, Node]", "list[Node]", str, float, bool, None]


@dataclass(slots=True)
class Node:
    """One value and the line it begins on.

    Attributes
    ----------
    value : dict of str to Node, list of Node, str, int, float, bool or None
        What stands there.
    line : int
        From 1.
    """

    value: Value
    line: int


def read_json(log: FaultLog, *, trailing_commas: bool = False) -> Node:
    """Read the JSON file ``log.path`` (UTF-8, plain or gzip).

    A member that an object has already is noted in the log; the later one counts. ``trailing_commas``: one after the last
    member of an object or list is no fault.

    Raises
    ------
    InputError
        If the file cannot be opened, or is not UTF-8 or not JSON.
    """
    path = log.path
    data = read_bytes(path)
    check_values(path, sum(map(data.count, (b",", b"[", b"{"))))
    text = decoded(data, log.path)
    try:
        if trailing_commas:
            text = TRAILING_COMMA.sub(lambda match: match[1] or match[2], text)
        json.dumps(json.loads(text), ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise input_fault("half of a character (a lone surrogate)", path=path, cure=CURE) from None
    except json.JSONDecodeError as error:
        raise input_fault(f"not JSON ({error.msg})", path=path, line=error.lineno, cure=CURE) from None
    except (RecursionError, ValueError):
        raise input_fault(TOO_DEEP, path=path, cure=CURE) from None
    return _tree(text, log)


def _tree(text: str, log: FaultLog) -> Node:
    """Build the tree of a valid JSON text."""
    document: list[Node] = []
    containers: list[dict[str, Node] | list[Node]] = [document]
    names: list[str | None] = [None]  # of the member to come, for each open container
    line = 1
    for piece in PIECE.findall(text):
        container = containers[-1]
        if piece == "\n":
            line += 1
        elif piece in {"]", "}"}:
            containers.pop()
            names.pop()
        elif isinstance(container, dict) and names[-1] is None:
            names[-1] = _new_name(piece, container, line, log)
        else:
            node = _node(piece, line)
            if isinstance(container, dict):
                container[str(names[-1])] = node
                names[-1] = None
            else:
                container.append(node)
            if isinstance(node.value, dict | list):
                containers.append(node.value)
                names.append(None)
                if len(containers) > MAX_DEPTH:
                    raise input_fault(TOO_DEEP, path=log.path, line=line, cure=CURE)
    return document[0]


def _node(piece: str, line: int) -> Node:
    """Return the value that a token begins, empty for an object or a list."""
    if piece == "{":
        return Node({}, line)
    return Node([] if piece == "[" else VALUE(piece)[0], line)


def _new_name(piece: str, members: dict[str, Node], line: int, log: FaultLog) -> str:
    """Read a member's name; note a repeated one."""
    name: str = VALUE(piece)[0]
    if name in members:
        problem = f"the member {name!r} is on line {members[name].line} already"
        log.add(problem, line=line, cure="delete one of the two")
    return name


def member(node: Node, name: str, log: FaultLog, *, cure: str) -> Node | None:
    """Return a member of an object; note a missing one."""
    found = node.value.get(name) if isinstance(node.value, dict) else None
    if found is None:
        log.add(f"there is no {name!r} here", line=node.line, cure=cure)
    return found


def items(node: Node | None, says: str, log: FaultLog, *, cure: str) -> list[Node]:
    """Return the items of a list, none without a node; note anything else.

    ``says`` begins the message: ``users is``.
    """
    if node is None:
        return []
    if isinstance(node.value, list):
        return node.value
    log.add(f"{says} no list", line=node.line, cure=cure)
    return []


UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
"""First bytes of XML in UTF-16, which is recognised but not read."""
UNCLOSED = {
    expat.errors.codes[expat.errors.XML_ERROR_NO_ELEMENTS],
    expat.errors.codes[expat.errors.XML_ERROR_TAG_MISMATCH],
}


@dataclass(slots=True)
class XmlElement:
    """Element of an XML tree, with its line.

    Attributes
    ----------
    tag : str
        Its name as written.
    attributes : dict of str to str
        In the order written.
    line : int
        Where its start tag begins.
    children : list of XmlElement
        In the order written.
    text : str
        All character data directly inside it.
    """

    tag: str
    attributes: dict[str, str]
    line: int
    children: list["XmlElement"] = field(default_factory=list)
    text: str = ""


def read_xml(path: str | Path, *, hint: str = "name an XML file") -> XmlElement:
    """Read an XML file as UTF-8 and return its root element.

    The encoding in its declaration is ignored.

    Parameters
    ----------
    path : str or Path
        The file.
    hint : str
        Which file is wanted, and which option takes what: the cure where this one is none of XML.

    Raises
    ------
    InputError
        If the file cannot be opened, is no XML or not well formed, or has a DOCTYPE.
    """
    builder, data = _Builder(path), read_bytes(path)
    if not data.lstrip().startswith((b"<", *UTF_16)) and data.strip():
        raise input_fault("this is no XML file: it does not begin with <", path=path, line=1, cure=hint)
    check_values(path, data.count(b"<"))
    try:
        builder.parser.Parse(data, True)  # noqa: FBT003 - expat takes no keywords
    except expat.ExpatError as error:
        problem = f"the XML is not well formed ({builder.reason(error)})"
        raise input_fault(problem, path=path, line=error.lineno, cure="mend the markup here") from None
    return builder.document.children[0]


class _Builder:
    """Builder of the tree from expat's events."""

    def __init__(self, path: str | Path) -> None:
        self.path = path
        self.document = XmlElement("", {}, 1)
        self.open = [self.document]
        self.texts: list[list[str]] = [[]]
        self.parser = expat.ParserCreate("UTF-8")
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.characters
        self.parser.StartDoctypeDeclHandler = self.doctype

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        element = XmlElement(tag, attributes, self.parser.CurrentLineNumber)
        self.open[-1].children.append(element)
        self.open.append(element)
        self.texts.append([])

    def end(self, tag: str) -> None:  # noqa: ARG002 - expat's signature
        self.open.pop().text = "".join(self.texts.pop())

    def characters(self, text: str) -> None:
        self.texts[-1].append(text)

    def doctype(self, *declaration: object) -> None:  # noqa: ARG002 - expat's signature
        raise input_fault(
            "a DOCTYPE is not allowed", path=self.path, line=self.parser.CurrentLineNumber, cure="delete it"
        )

    def reason(self, error: expat.ExpatError) -> str:
        """Return why the markup is broken: an open tag, otherwise expat's own words."""
        innermost = self.open[-1]
        if error.code in UNCLOSED and innermost is not self.document:
            return f"<{innermost.tag}> of line {innermost.line} is not closed"
        return expat.ErrorString(error.code)
