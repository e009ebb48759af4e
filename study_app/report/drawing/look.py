"""What the report looks like: the colours of page and figures, the fonts, the settings of matplotlib.

`study_app.report.drawing.style_file` reads one from a file.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
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
    found = {}
    for role, colour in colours.items():
        shade = int(colour[1:], 16)
        while f"#{shade:06x}" in taken:
            shade += 1 if shade & 0xFF < 0xFF else -1
        found[role] = f"#{shade:06x}"
        taken.add(found[role])
    return MappingProxyType(found)
