"""XML files as small trees in which every element knows its line. A DOCTYPE is refused, no entity is ever resolved."""

from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from metrics.errors import input_fault
from metrics.readers.lines import read_bytes

UNCLOSED = {
    expat.errors.codes[expat.errors.XML_ERROR_NO_ELEMENTS],
    expat.errors.codes[expat.errors.XML_ERROR_TAG_MISMATCH],
}


@dataclass(slots=True)
class Element:
    """One element.

    Attributes
    ----------
    tag : str
        Its name as written.
    attributes : dict of str to str
        In the order written.
    line : int
        Where its start tag begins.
    children : list of Element
        In the order written.
    text : str
        All character data directly inside it.
    """

    tag: str
    attributes: dict[str, str]
    line: int
    children: list["Element"] = field(default_factory=list)
    text: str = ""


def read_xml(path: str | Path) -> Element:
    """Read an XML file (UTF-8, whatever its declaration says) and return its root element.

    Raises
    ------
    InputError
        If the file cannot be opened, is not well formed, or has a DOCTYPE.
    """
    builder = _Builder(path)
    try:
        builder.parser.Parse(read_bytes(path), True)  # noqa: FBT003 - expat takes no keywords
    except expat.ExpatError as error:
        problem = f"the XML is not well formed ({builder.reason(error)})"
        raise input_fault(problem, path=path, line=error.lineno, cure="mend the markup here") from None
    return builder.document.children[0]


class _Builder:
    """Grows the tree from expat's events."""

    def __init__(self, path: str | Path) -> None:
        self.path = path
        self.document = Element("", {}, 1)
        self.open = [self.document]
        self.parser = expat.ParserCreate("UTF-8")
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.characters
        self.parser.StartDoctypeDeclHandler = self.doctype

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        element = Element(tag, attributes, self.parser.CurrentLineNumber)
        self.open[-1].children.append(element)
        self.open.append(element)

    def end(self, tag: str) -> None:  # noqa: ARG002 - expat's signature
        self.open.pop()

    def characters(self, text: str) -> None:
        self.open[-1].text += text

    def doctype(self, *declaration: object) -> None:  # noqa: ARG002 - expat's signature
        raise input_fault(
            "a DOCTYPE is not allowed", path=self.path, line=self.parser.CurrentLineNumber, cure="delete it"
        )

    def reason(self, error: expat.ExpatError) -> str:
        """Say what broke the markup: the tag that was left open, otherwise expat's own words."""
        innermost = self.open[-1]
        if error.code in UNCLOSED and innermost is not self.document:
            return f"<{innermost.tag}> of line {innermost.line} is not closed"
        return expat.ErrorString(error.code)
