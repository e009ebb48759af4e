"""Drawings as inline SVG that follows the page: its colours in light and dark, its font, no outside reference."""

import io
import re
from collections.abc import Mapping
from contextlib import AbstractContextManager
from types import MappingProxyType
from typing import Any

import matplotlib as mpl
from markupsafe import Markup
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure as Drawing

COLOURS: MappingProxyType[str, str] = MappingProxyType(
    {
        "ink": "#010203",
        "muted": "#020304",
        "grid": "#030405",
        "shade": "#040506",
        "paper": "#050607",
        "agree": "#060708",
        "disagree": "#070809",
        "accent": "#08090a",
    }
)
"""Role -> the colour to draw in, which becomes the page's colour of that name: ``var(--ink)``."""

STYLE: Mapping[str, object] = MappingProxyType(
    {
        "svg.fonttype": "none",
        "svg.hashsalt": "prefcal",
        "text.parse_math": False,
        "font.family": "sans-serif",
        "font.size": 8.5,
        "axes.titlesize": 8.5,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.edgecolor": COLOURS["muted"],
        "axes.labelcolor": COLOURS["ink"],
        "axes.facecolor": "none",
        "figure.facecolor": "none",
        "text.color": COLOURS["ink"],
        "xtick.color": COLOURS["muted"],
        "ytick.color": COLOURS["muted"],
        "xtick.labelcolor": COLOURS["ink"],
        "ytick.labelcolor": COLOURS["ink"],
        "axes.linewidth": 0.8,
        "grid.color": COLOURS["grid"],
        "grid.linewidth": 0.6,
        "legend.frameon": False,
    }
)


def new_drawing(width_inches: float, height_inches: float) -> Drawing:
    """Return an empty drawing; to be made and drawn on inside `drawing_style`."""
    return Drawing(figsize=(width_inches, height_inches), layout="constrained")


def drawing_style() -> AbstractContextManager[None]:
    """Return the context in which drawings are made and turned into SVG."""
    style: Any = dict(STYLE)
    return mpl.rc_context(style)


def inline_svg(drawing: Drawing, key: str) -> Markup:
    """Turn a drawing into SVG for a page.

    Parameters
    ----------
    drawing : matplotlib Figure
        Drawn with `COLOURS`.
    key : str
        Unique on the page: it begins every id inside.
    """
    text = io.StringIO()
    FigureCanvasSVG(drawing)
    drawing.savefig(text, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    return Markup(_inlined(text.getvalue(), key))  # noqa: S704 - our own drawing; matplotlib escapes its texts


def _inlined(svg: str, key: str) -> str:
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, flags=re.DOTALL)
    head, body = svg.split(">", 1)
    box = re.search(r'viewBox="([^"]+)"', head)
    head = f'<svg viewBox="{box.group(1) if box else ""}" aria-hidden="true" focusable="false"'
    svg = f"{head}>{body}".strip()
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{key}-\1"', svg)
    svg = re.sub(r'href="#([^"]+)"', rf'href="#{key}-\1"', svg)
    svg = re.sub(r"url\(#([^)]+)\)", rf"url(#{key}-\1)", svg)
    svg = re.sub(r"font: ([\d.]+)px [^;\"]*", r"font-size: \1px", svg)
    for role, colour in COLOURS.items():
        svg = svg.replace(colour, f"var(--{role})")
    return svg
