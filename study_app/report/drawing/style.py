"""Style of the report: colours, fonts, matplotlib's settings, and the style file."""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import matplotlib as mpl
import yaml
from matplotlib.font_manager import fontManager

from metrics.errors import FaultLog, closest_name, input_fault, join_names, raise_all
from metrics.file_limits import MAX_DOCUMENT_BYTES, check_bytes
from study_app.study.yaml_values import PatientLoader

HEX = re.compile(r"#[0-9a-fA-F]{6}")
FONTS = re.compile(r"[\w ,'\"-]+")
LIGHT: Mapping[str, str] = MappingProxyType(
    {
        "ink": "#1b1e23",
        "muted": "#5b626c",
        "grid": "#d9dde2",
        "shade": "#fbf3d5",
        "paper": "#ffffff",
        "raised": "#f5f6f8",
        "agree": "#0a5fa5",
        "disagree": "#b3450f",
        "accent": "#8a8f98",
    }
)
"""Colour of each role, on paper and in figures.

Blue and orange are distinct with every kind of colour vision, and differ in grey; markers and dashes differ as well.
"""

DARK: Mapping[str, str] = MappingProxyType(
    {
        "ink": "#e8eaee",
        "muted": "#a4abb6",
        "grid": "#3a4049",
        "shade": "#33301f",
        "paper": "#15181d",
        "raised": "#1f242b",
        "agree": "#6db6f2",
        "disagree": "#f0976a",
        "accent": "#7d8590",
    }
)
"""Colour of each role on a dark screen."""

PAGE_FONT = 'system-ui, "Noto Sans", "Noto Sans CJK JP", sans-serif'
OURS = ("svg.", "pdf.", "savefig.", "text.usetex", "text.parse_math")
"""Prefixes of matplotlib settings that a style file cannot change.

They make a file fit for the page, and the same every time.
"""

POINTS = (4.0, 30.0)
KEYS = ("colours", "dark", "font", "font_points", "page_font", "matplotlib")
"""Keys of a style file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportStyle:
    """Colours, fonts and matplotlib settings of page and figures.

    Attributes
    ----------
    light, dark : mapping of str to str
        Role -> colour ``#rrggbb``; every role of `LIGHT`. No two roles of ``light`` have the same colour.
    font : str or None
        Font of the figures' files; None for matplotlib's own. Figures on the page have the page's.
    font_points : float
        Its size.
    page_font : str
        The page's, as CSS names it.
    matplotlib : mapping of str to object
        Settings of matplotlib, by its names.
    """

    light: Mapping[str, str] = field(default_factory=lambda: LIGHT)
    dark: Mapping[str, str] = field(default_factory=lambda: DARK)
    font: str | None = None
    font_points: float = 8.5
    page_font: str = PAGE_FONT
    matplotlib: Mapping[str, object] = field(default_factory=dict)

    def __getitem__(self, role: str) -> str:
        """Return the colour of a role in figures."""
        return self.light[role]


def distinct_colours(colours: Mapping[str, str]) -> Mapping[str, str]:
    """Return colours of which no two are equal and none is black.

    Equal ones are changed by less than people can see.

    On the page a drawing's colours are found again by their values; matplotlib does not write pure black.
    """
    taken = {"#000000"}
    apart = {}
    for role, colour in colours.items():
        shade = int(colour[1:], 16)
        while f"#{shade:06x}" in taken:
            shade += 1 if shade & 0xFF < 0xFF else -1
        apart[role] = f"#{shade:06x}"
        taken.add(apart[role])
    return MappingProxyType(apart)


def read_look(path: str | Path) -> ReportStyle:
    """Read a style file.

    Raises
    ------
    InputError
        With every fault and its line: not YAML, an unknown key, role or setting, a value that is none.
    """
    log = FaultLog(path)
    root = _composed(Path(path))
    fields: dict[str, Any] = {}
    for key, node in _entries(log, "the file", root, KEYS, "write keys such as colours: and font:"):
        if key in {"colours", "dark"}:
            roles = _entries(log, key, node, LIGHT, 'write ROLE: "#rrggbb" below it')
            fields[key] = {role: _value(log, role, value) for role, value in roles}
        elif key == "matplotlib":
            settings = _entries(log, key, node, mpl.rcParams, "write SETTING: VALUE below it")
            fields[key] = {name: _setting(log, name, value) for name, value in settings}
        else:
            fields[key] = _value(log, key, node)
    raise_all([log])
    light = distinct_colours({**LIGHT, **fields.pop("colours", {})})
    return ReportStyle(light=light, dark={**DARK, **fields.pop("dark", {})}, **fields)


def _composed(path: Path) -> yaml.Node:
    try:
        check_bytes(path, path.stat().st_size, most=MAX_DOCUMENT_BYTES)
        node = yaml.compose(path.read_bytes().decode("utf-8-sig"), Loader=PatientLoader)
    except OSError as error:
        raise input_fault(
            f"cannot be read ({error.strerror})", path=path, cure="name a style file, see docs/report.md"
        ) from None
    except UnicodeDecodeError:
        raise input_fault("not UTF-8", path=path, cure="save the file as UTF-8") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark is not None else 1
        problem = f"not YAML ({getattr(error, 'problem', None) or 'unreadable'})"
        raise input_fault(problem, path=path, line=line, cure="write KEY: VALUE on each line") from None
    except RecursionError:
        raise input_fault("nested too deeply", path=path, cure="see docs/report.md for the form") from None
    return node if node is not None else yaml.MappingNode("tag:yaml.org,2002:map", [])


def _fault(log: FaultLog, node: yaml.Node, problem: str, cure: str) -> None:
    log.add(problem, line=node.start_mark.line + 1, cure=cure)


def _entries(
    log: FaultLog, key: str, node: yaml.Node, known: Iterable[str], cure: str
) -> Iterator[tuple[str, yaml.Node]]:
    """Yield the known keys of a mapping with their values.

    Unknown and duplicate keys are noted as faults.
    """
    if not isinstance(node, yaml.MappingNode):
        _fault(log, node, f"{key} is no group of keys", cure)
        return
    names = [str(name.value) for name, _ in node.value]
    for number, (name, (_, value)) in enumerate(zip(names, node.value, strict=True)):
        if name in names[:number]:
            _fault(log, value, f"{name} stands twice", "delete one of the two")
        elif name.startswith(OURS):
            _fault(log, value, f"{name} is set by the report", "leave it out")
        elif name in known:
            yield name, value
        else:
            near = closest_name(name, known)
            _fault(
                log,
                value,
                f"{name} is not known",
                f"did you mean {near!r}?" if near else f"known are {join_names(known, most=12)}",
            )


def _value(log: FaultLog, key: str, node: yaml.Node) -> Any:
    """Return a colour, a font, a size or a list of fonts; a fault for what is none."""
    text = str(node.value) if isinstance(node, yaml.ScalarNode) else ""
    if key == "font":
        installed = fontManager.get_font_names()
        if text in installed:
            return text
        near = closest_name(text, installed)
        cure = f"did you mean {near!r}?" if near else "install it, or leave font out"
        problem = "is no font of this machine"
    elif key == "font_points":
        with suppress(ValueError):
            if POINTS[0] <= float(text) <= POINTS[1]:
                return float(text)
        problem, cure = "is no size of a font", f"write a number from {POINTS[0]:g} to {POINTS[1]:g}"
    elif key == "page_font":
        if FONTS.fullmatch(text):
            return text
        problem, cure = "is no list of fonts", "write names with commas between them, such as Georgia, serif"
    elif HEX.fullmatch(text):
        return text.lower()
    else:
        problem, cure = "is no colour", 'write "#rrggbb", in quotes'
    _fault(log, node, f"{key} {problem}", cure)
    return None


def _setting(log: FaultLog, name: str, node: yaml.Node) -> object:
    plain = None
    try:
        plain = PatientLoader("").construct_document(node)
        [value] = mpl.RcParams({name: plain}).values()
    except (ValueError, TypeError, yaml.YAMLError) as error:
        _fault(log, node, f"{name} cannot be {plain!r} ({error})", "see matplotlib's own list of settings")
        return None
    return value
