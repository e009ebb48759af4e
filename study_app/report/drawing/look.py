"""How the figures look: colours, fonts and settings of matplotlib, and the user's file of them."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

import yaml

from metrics.errors import FaultLog, input_fault, listed, nearest, raise_all
from metrics.files import MAX_DOCUMENT_BYTES, check_bytes
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
"""Role -> colour, on paper and in figures. Blue and orange are told apart with every kind of colour vision, and differ in
grey; signs and dashes differ as well."""

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
"""The same on a dark screen."""

PAGE_FONT = 'system-ui, "Noto Sans", "Noto Sans CJK JP", sans-serif'
OURS = ("svg.", "pdf.", "savefig.", "text.usetex", "text.parse_math")
"""Beginnings of settings that make a file fit for the page and the same every time."""

POINTS = (4.0, 30.0)
Check: TypeAlias = Callable[[Any, "_Place"], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportLook:
    """What page and figures look like.

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


def told_apart(colours: Mapping[str, str]) -> Mapping[str, str]:
    """Return the same colours, changed where needed by less than anybody sees, so that no two are equal and none is black.

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


class _Place:
    """Where a value stands, for its fault."""

    def __init__(self, log: FaultLog, node: yaml.Node, key: str) -> None:
        self.log, self.node, self.key = log, node, key

    def fault(self, problem: str, cure: str) -> None:
        """Note that the value is wrong."""
        self.log.add(f"{self.key} {problem}", line=self.node.start_mark.line + 1, cure=cure)

    def unknown(self, known: Mapping[str, object]) -> None:
        """Note that there is no such key."""
        near = nearest(self.key, known)
        self.fault(
            "is not known", f"did you mean {near!r}?" if near else f"known are {listed(known, most=12)}"
        )


def read_look(path: str | Path) -> ReportLook:
    """Read a style file.

    Raises
    ------
    InputError
        With every fault and its line: not YAML, an unknown key, role or setting, a value that is none.
    """
    log = FaultLog(path)
    root = _composed(Path(path))
    fields: dict[str, Any] = {}
    for key, node in _entries(root, _Place(log, root, "the file"), "write keys such as colours: and font:"):
        place = _Place(log, node, key)
        if key in CHECKS:
            fields[key] = CHECKS[key](node, place)
        else:
            place.unknown(CHECKS)
    raise_all([log])
    light = told_apart({**LIGHT, **fields.pop("colours", {})})
    return ReportLook(light=light, dark={**DARK, **fields.pop("dark", {})}, **fields)


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


def _entries(node: yaml.Node, place: _Place, cure: str) -> list[tuple[str, yaml.Node]]:
    """Return the keys and values of a mapping; a fault for anything else, and for a key that stands twice."""
    if not isinstance(node, yaml.MappingNode):
        place.fault("is no group of keys", cure)
        return []
    entries = [(str(key.value), value) for key, value in node.value]
    names = [name for name, _ in entries]
    for number, (name, value) in enumerate(entries):
        if name in names[:number]:
            _Place(place.log, value, name).fault("stands twice", "delete one of the two")
    return entries


def _scalar(node: yaml.Node) -> str | None:
    """Return a value as it is written, None for a list or a group."""
    return str(node.value) if isinstance(node, yaml.ScalarNode) else None


def _colours(node: yaml.Node, place: _Place) -> dict[str, str]:
    colours = {}
    for role, value in _entries(node, place, 'write ROLE: "#rrggbb" below it'):
        here, colour = _Place(place.log, value, role), _scalar(value)
        if role not in LIGHT:
            here.unknown(LIGHT)
        elif colour is None or not HEX.fullmatch(colour):
            here.fault("is no colour", 'write "#rrggbb", in quotes')
        else:
            colours[role] = colour.lower()
    return colours


def _font(node: yaml.Node, place: _Place) -> str | None:
    from matplotlib.font_manager import fontManager  # noqa: PLC0415 - slow to load

    name, installed = _scalar(node), fontManager.get_font_names()
    if name in installed:
        return name
    near = nearest(str(name), installed)
    place.fault(
        "is no font of this machine", f"did you mean {near!r}?" if near else "install it, or leave font out"
    )
    return None


def _points(node: yaml.Node, place: _Place) -> float | None:
    try:
        points = float(_scalar(node) or "")
    except ValueError:
        points = -1.0
    if POINTS[0] <= points <= POINTS[1]:
        return points
    place.fault("is no size of a font", f"write a number from {POINTS[0]:g} to {POINTS[1]:g}")
    return None


def _page_font(node: yaml.Node, place: _Place) -> str | None:
    names = _scalar(node)
    if names is not None and FONTS.fullmatch(names):
        return names
    place.fault("is no list of fonts", "write names with commas between them, such as Georgia, serif")
    return None


def _matplotlib(node: yaml.Node, place: _Place) -> dict[str, object]:
    import matplotlib as mpl  # noqa: PLC0415 - slow to load

    settings = {}
    for name, value in _entries(node, place, "write SETTING: VALUE below it"):
        here = _Place(place.log, value, name)
        if name.startswith(OURS):
            here.fault("is set by the report", "leave it out")
        elif name not in mpl.rcParams:
            here.unknown(dict.fromkeys(mpl.rcParams))
        else:
            plain = None
            try:
                plain = PatientLoader("").construct_document(value)
                [settings[name]] = mpl.RcParams({name: plain}).values()
            except (ValueError, TypeError, yaml.YAMLError) as error:
                here.fault(f"cannot be {plain!r} ({error})", "see matplotlib's own list of settings")
    return settings


CHECKS: Mapping[str, Check] = {
    "colours": _colours,
    "dark": _colours,
    "font": _font,
    "font_points": _points,
    "page_font": _page_font,
    "matplotlib": _matplotlib,
}
"""Key -> what reads its value and notes its faults."""
