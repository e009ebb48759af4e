"""Drawings: empty ones in a style, and their files and inline forms.

A file has its own colours and font; a drawing on the page has the page's.
"""

import io
import re
import warnings
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

import matplotlib as mpl
from fontTools.ttLib import TTFont
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from matplotlib.font_manager import FontProperties, findfont, findSystemFonts, fontManager
from matplotlib.ft2font import FT2Font
from matplotlib.text import Text

from study_app.report.drawing.style import ReportStyle

Draw: TypeAlias = Callable[[ReportStyle], Drawing]
"""Makes a drawing in a look."""
MAX_TICKS = 5
"""Largest number of ticks along a horizontal axis; long numbers fit then."""
OTHER_SCRIPTS = MappingProxyType(
    {
        "IPAexGothic": "ipaexg",
        "IPAGothic": "ipag",
        "TakaoPGothic": "TakaoPGothic",
        "VL Gothic": "VL-Gothic-Regular",
        "Yu Gothic": "YuGothM",
        "MS Gothic": "msgothic",
        "Arial Unicode MS": "Arial Unicode",
        "Noto Sans JP": "NotoSansJP-Regular",
        "Noto Sans CJK JP": "NotoSansCJK-Regular",
    }
)
"""Fonts for scripts that the first font lacks, best first, with file stems."""
SIGNS_TOLD = 20
_TRUETYPE, _OUTLINES = 42, 3
"""Types of fonts in a PDF: TrueType, and drawn characters (type 3).

Fonts with other outlines become type 3.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedDrawing:
    """A drawing in every form.

    Attributes
    ----------
    svg : str
        A file of its own.
    pdf : bytes
        A file of its own, fonts embedded.
    inline : Markup
        For the page.
    missing : str
        The signs that no font here has: the PDF shows boxes for them.
    """

    svg: str
    pdf: bytes
    inline: Markup
    missing: str = ""


def new_drawing(width_inches: float, height_inches: float) -> tuple[Drawing, Axes]:
    """Return an empty drawing and its axes.

    Axis labels longer than the drawing are wrapped.
    """
    drawing = Drawing(figsize=(width_inches, height_inches), layout="constrained")
    axes = drawing.add_subplot()
    axes.locator_params(axis="x", nbins=MAX_TICKS)
    for axis in (axes.xaxis, axes.yaxis):
        axis.label.set_wrap(True)
    return drawing, axes


def render_drawing(draw: Draw, report_style: ReportStyle, *, name: str, title: str) -> RenderedDrawing:
    """Render a drawing in all its forms.

    The same drawing gives the same bytes.

    Parameters
    ----------
    draw : callable
        Makes it.
    report_style : ReportStyle
        Colours, fonts and settings.
    name : str
        Unique on the page: it begins every id inside.
    title : str
        What the files say of themselves.
    """
    with style(report_style), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        drawing = draw(report_style)
        svg = _saved(drawing, title, "svg")
        missing = _missing_signs(drawing)
        if missing and (other := _other_font()) is not None:
            missing -= _add_font(drawing, other)
            svg = _saved(drawing, title, "svg")
        families = "".join(f"'{name}', " for name in _families(report_style)) + "sans-serif"
        svg_text = re.sub(r"font-family: [^;\"]*", f"font-family: {families}", svg.decode())
        drawing.set_layout_engine("none")
        pdf = _saved(drawing, title, "pdf")
    inline = _inline(svg_text, name, report_style)
    return RenderedDrawing(svg=svg_text, pdf=pdf, inline=inline, missing="".join(sorted(missing)))


def missing_signs_message(drawings: Iterable[RenderedDrawing]) -> str | None:
    """Return a sentence on characters that no font has, with a hint, or None."""
    missing = "".join(sorted({sign for drawing in drawings for sign in drawing.missing}))
    if not missing:
        return None
    return (
        f"no font of this machine has {missing[:SIGNS_TOLD]}: the PDF files of figures show boxes for them; install one, such as"
        " Noto Sans CJK, or name one of yours as font in a --style file"
    )


def style(report_style: ReportStyle) -> AbstractContextManager[None]:
    """Return the settings of matplotlib in which a drawing has a look."""
    settings: Any = {
        "font.family": _families(report_style),
        "font.size": report_style.font_points,
        "axes.titlesize": report_style.font_points,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.edgecolor": report_style["muted"],
        "axes.labelcolor": report_style["ink"],
        "axes.facecolor": "none",
        "figure.facecolor": "none",
        "savefig.facecolor": "none",
        "text.color": report_style["ink"],
        "xtick.color": report_style["muted"],
        "ytick.color": report_style["muted"],
        "xtick.labelcolor": report_style["ink"],
        "ytick.labelcolor": report_style["ink"],
        "axes.linewidth": 0.8,
        "grid.color": report_style["grid"],
        "grid.linewidth": 0.6,
        "legend.frameon": False,
        "lines.markersize": 3.5,
        **report_style.matplotlib,
        "svg.fonttype": "none",
        "svg.hashsalt": "prefcal",
        "pdf.fonttype": _TRUETYPE,
        "text.parse_math": False,
        "text.usetex": False,
    }
    return mpl.rc_context(settings)


def _families(report_style: ReportStyle) -> list[str]:
    return [*([report_style.font] if report_style.font else []), "DejaVu Sans"]


def _missing_signs(drawing: Drawing) -> set[str]:
    """Return the signs in a drawing's texts that the style's fonts lack."""
    signs = {sign for text in drawing.findobj(Text) for sign in text.get_text() if not sign.isspace()}
    families = mpl.rcParams["font.family"]
    return signs - _signs_of(*(findfont(FontProperties(family=name)) for name in families))


def _add_font(drawing: Drawing, path: Path) -> set[str]:
    """Add a font for characters that a drawing lacks; return those that it has."""
    name = next(entry.name for entry in fontManager.ttflist if entry.fname == str(path))
    for text in drawing.findobj(Text):
        text.set_fontfamily([*mpl.rcParams["font.family"], name])
    if not has_truetype_outlines(path):
        mpl.rcParams["pdf.fonttype"] = _OUTLINES
    return _signs_of(str(path))


def _signs_of(*paths: str) -> set[str]:
    return {chr(code) for path in paths for code in FT2Font(path).get_charmap()}


@cache
def _other_font() -> Path | None:
    """Return the best installed font of `OTHER_SCRIPTS`.

    It may be newer than matplotlib's own list.
    """
    files = {Path(path).stem: Path(path) for path in findSystemFonts()}
    known = {entry.name: Path(entry.fname) for entry in fontManager.ttflist}
    for name, stem in OTHER_SCRIPTS.items():
        path = known.get(name) or files.get(stem)
        if path is not None and path.is_file():
            if name not in known:
                fontManager.addfont(path)
            return path
    return None


def has_truetype_outlines(path: Path) -> bool:
    """Return whether a font has TrueType outlines.

    A collection is judged by its first font. Other outlines cannot be TrueType in a PDF.
    """
    with TTFont(path, fontNumber=0, lazy=True) as font:
        return "glyf" in font


def _saved(drawing: Drawing, title: str, form: str) -> bytes:
    """Return a drawing as a file without the time it was made at."""
    file = io.BytesIO()
    undated = {"Date": None} if form == "svg" else {"CreationDate": None, "Producer": None}
    drawing.savefig(file, format=form, metadata={"Title": title, "Creator": "prefcal", **undated})
    return file.getvalue()


def _inline(svg: str, name: str, report_style: ReportStyle) -> Markup:
    """Return a drawing as SVG for the page, in its colours and font.

    Elements that only a file needs are left out.
    """
    svg = re.sub(
        r"<metadata>.*?</metadata>|<title>.*?</title>", "", svg[svg.index("<svg") :], flags=re.DOTALL
    )
    head, body = svg.split(">", 1)
    used = sorted(set(re.findall(r'(?:href="#|url\(#)([^")]+)', body)))
    ids = {old: f"{name}-{number}" for number, old in enumerate(used)}

    def short(tag: re.Match[str]) -> str:
        text = re.sub(r' id="([^"]+)"', lambda id_: f' id="{ids[id_[1]]}"' if id_[1] in ids else "", tag[0])
        text = re.sub(
            r'xlink:(href="#)([^"]+)|(url\(#)([^)]+)',
            lambda to: f"{to[1] or to[3]}{ids[to[2] or to[4]]}",
            text,
        )
        text = re.sub(r"font-family: [^;\"]*; ", "", text)
        text = re.sub(r' transform="rotate\(-0 [^"]*"', "", text)
        text = re.sub(
            r"-?\d+\.\d{3,}", lambda number: f"{float(number[0]):.2f}".rstrip("0").rstrip("."), text
        )
        for role, colour in report_style.light.items():
            text = text.replace(colour, f"var(--{role})")
        return re.sub(r"(?<=[:;]) | (?=/>)", "", " ".join(text.split()))

    body = re.sub(r">\s+<", "><", re.sub(r"<[^>]*>", short, body))
    body = re.sub(
        r'(?:<use [^>]*?)( style="[^"]*")/>(?:<use [^>]*?\1/>)+',
        lambda alike: f"<g{alike[1]}>{alike[0].replace(alike[1], '')}</g>",
        body,
    )
    box = re.search(r'viewBox="([^"]+)"', head)
    head = f'<svg viewBox="{box[1] if box else ""}" aria-hidden="true" focusable="false">'
    return Markup(head + body.strip())  # noqa: S704 - our own drawing; matplotlib escapes its texts
