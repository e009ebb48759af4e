"""Drawings: the style they are made in, and the forms they are kept in.

A file has its own colours. A drawing on the page follows the page: its colours in light and dark, its font.
"""

import io
import re
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import matplotlib as mpl
from markupsafe import Markup
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure as Drawing
from matplotlib.font_manager import fontManager

from study_app.report.look import Look

Draw: TypeAlias = Callable[[Look], Drawing]
"""Makes a drawing in a look."""

OTHER_SCRIPTS = (
    "IPAexGothic",
    "IPAGothic",
    "TakaoPGothic",
    "VL Gothic",
    "Noto Sans JP",
    "Noto Sans CJK JP",
    "Yu Gothic",
    "MS Gothic",
    "Arial Unicode MS",
)
"""Fonts for names in scripts that the first font lacks, as far as the machine has them."""

TRUETYPE = (b"\x00\x01\x00\x00", b"true")
"""How a file with TrueType outlines begins; others cannot stand in a PDF as TrueType."""

_TRUETYPE = 42


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A drawing in every form.

    Attributes
    ----------
    svg : str
        A file of its own.
    pdf : bytes
        A file of its own, fonts embedded.
    inline : Markup
        For the page.
    """

    svg: str
    pdf: bytes
    inline: Markup


def new_drawing(width_inches: float, height_inches: float) -> Drawing:
    """Return an empty drawing."""
    return Drawing(figsize=(width_inches, height_inches), layout="constrained")


def drawn(draw: Draw, look: Look, *, name: str, title: str) -> Drawn:
    """Make a drawing and turn it into all its forms; the same one gives the same bytes.

    Parameters
    ----------
    draw : callable
        Makes it.
    look : Look
        Colours, fonts and settings.
    name : str
        Unique on the page: it begins every id inside.
    title : str
        What the files say of themselves.
    """
    with _style(look), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font", category=UserWarning)
        drawing = draw(look)
        svg = _svg(drawing, title)
        drawing.set_layout_engine("none")
        return Drawn(svg=svg, pdf=_pdf(drawing, title), inline=_inline(svg, name, look))


def _style(look: Look) -> AbstractContextManager[None]:
    fonts = [*([look.font] if look.font else []), "DejaVu Sans", *_other_fonts()]
    style: Any = {
        "font.family": [*fonts, "sans-serif"],
        "font.size": look.font_points,
        "axes.titlesize": look.font_points,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.edgecolor": look["muted"],
        "axes.labelcolor": look["ink"],
        "axes.facecolor": "none",
        "figure.facecolor": "none",
        "savefig.facecolor": "none",
        "text.color": look["ink"],
        "xtick.color": look["muted"],
        "ytick.color": look["muted"],
        "xtick.labelcolor": look["ink"],
        "ytick.labelcolor": look["ink"],
        "axes.linewidth": 0.8,
        "grid.color": look["grid"],
        "grid.linewidth": 0.6,
        "legend.frameon": False,
        "lines.markersize": 3.5,
        **look.matplotlib,
        "svg.fonttype": "none",
        "svg.hashsalt": "prefcal",
        "pdf.fonttype": _TRUETYPE,
        "text.parse_math": False,
        "text.usetex": False,
    }
    return mpl.rc_context(style)


def _other_fonts() -> list[str]:
    files = {entry.name: Path(entry.fname) for entry in fontManager.ttflist if entry.name in OTHER_SCRIPTS}
    return [name for name in OTHER_SCRIPTS if name in files and has_truetype_outlines(files[name])]


def has_truetype_outlines(path: Path) -> bool:
    """Say whether a font, of a collection its first, has TrueType outlines."""
    with path.open("rb") as file:
        head = file.read(16)
        if head.startswith(b"ttcf"):
            file.seek(int.from_bytes(head[12:16], "big"))
            head = file.read(4)
    return head.startswith(TRUETYPE)


def _svg(drawing: Drawing, title: str) -> str:
    text = io.StringIO()
    FigureCanvasSVG(drawing)
    metadata: dict[str, Any] = {"Title": title, "Date": None, "Creator": "prefcal"}
    drawing.savefig(text, format="svg", metadata=metadata)
    return text.getvalue()


def _pdf(drawing: Drawing, title: str) -> bytes:
    content = io.BytesIO()
    FigureCanvasPdf(drawing)
    metadata: dict[str, Any] = {"Title": title, "CreationDate": None, "Creator": "prefcal", "Producer": None}
    drawing.savefig(content, format="pdf", metadata=metadata)
    return content.getvalue()


def _inline(svg: str, name: str, look: Look) -> Markup:
    """Return the drawing without what makes it a file of its own, in the colours and the font of the page."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<title>.*?</title>\s*", "", svg, count=1, flags=re.DOTALL)
    head, body = svg.split(">", 1)
    box = re.search(r'viewBox="([^"]+)"', head)
    head = f'<svg viewBox="{box.group(1) if box else ""}" aria-hidden="true" focusable="false"'
    svg = f"{head}>{body}".strip()
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', svg)
    svg = re.sub(r'href="#([^"]+)"', rf'href="#{name}-\1"', svg)
    svg = re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-\1)", svg)
    svg = re.sub(r"font: ([^;\"]*?)([\d.]+px) [^;\"]*", r"font-size: \2", svg)
    svg = re.sub(r"font-family: [^;\"]*;? ?", "", svg)
    for role, colour in look.light.items():
        svg = svg.replace(colour, f"var(--{role})")
    return Markup(svg)  # noqa: S704 - our own drawing; matplotlib escapes its texts
