"""Drawings: the style they are made in, and the forms they are kept in.

A file has its own colours. A drawing on the page follows the page: its colours in light and dark, its font. Whatever names
and numbers it has, labels can be read: on an axis as many stay as fit beside each other, evenly, and the name of an
axis is broken where it is longer than the drawing has room for.
"""

import atexit
import io
import logging
import os
import re
import signal
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from multiprocessing import Pipe, get_context
from multiprocessing.connection import Connection as PipeEnd
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from textwrap import fill
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

import matplotlib as mpl
from fontTools import subset
from markupsafe import Markup
from matplotlib.axis import Axis, YAxis
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure as Drawing
from matplotlib.font_manager import findfont, findSystemFonts, fontManager
from matplotlib.text import Text

from study_app.report.drawing.look import ReportLook

WIDER = 1.1
"""So much wider than the figure's own font may that of the page be."""
GAP_POINTS = 4.0
"""Room between two labels."""
FEWEST_CHARS = 8
Draw: TypeAlias = Callable[[ReportLook], Drawing]
"""Makes a drawing in a look."""
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
"""Fonts for names in scripts that the first font lacks, best first, each with the stem of its file."""
MISSING = re.compile(r"Glyph (\d+) .* missing from font")
"""How matplotlib says that no font has a sign."""
TRUETYPE = (b"\x00\x01\x00\x00", b"true")
"""How a file with TrueType outlines begins; others cannot stand in a PDF as TrueType."""
SIGNS_TOLD = 20
FEWEST_FOR_TWO = 4
"""So many drawings take longer than to start a second process for half of them."""
LONGEST_WAIT = 60.0
"""Seconds after which nothing is expected of that process any more."""
FIGURES_FONT = "prefcal figures"
"""DejaVu Sans with the signs of Latin and Greek, punctuation and mathematics alone."""
FIGURES_SIGNS = (
    range(0x20, 0x250),
    range(0x370, 0x400),
    range(0x2000, 0x20D0),
    range(0x2100, 0x2300),
)
_TRUETYPE, _OUTLINES = 42, 3
"""Types of fonts in a PDF: TrueType, and drawings of the signs (type 3), which fonts with other outlines become."""


class _Stretch(NamedTuple):
    """From where to where something reaches along its axis, in pixels."""

    low: float
    high: float


def fit_labels(drawing: Drawing) -> None:
    """Leave out tick labels that would run into each other, and break the names of axes that are too long."""
    drawing.draw_without_rendering()
    for axes in drawing.axes:
        for axis in (axes.xaxis, axes.yaxis):
            _thin(axis, GAP_POINTS * drawing.dpi / 72)
            _break_name(drawing, axis)


def _thin(axis: Axis, gap: float) -> None:
    """Keep every label, every second, every third, ...: the first choice in which none meets its neighbour."""
    low, high = sorted(axis.get_view_interval())
    shown = [
        (place, label)
        for place, label in zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=False)
        if low <= place <= high and label.get_visible() and label.get_text()
    ]
    stretches = [_stretch(label, axis) for _, label in shown]
    step = next((one for one in range(1, len(shown)) if _apart(stretches[::one], gap)), max(1, len(shown)))
    if step > 1:
        kept = shown[::step]
        axis.set_ticks([place for place, _ in kept], labels=[label.get_text() for _, label in kept])


def _apart(stretches: Sequence[_Stretch], gap: float) -> bool:
    """Say whether no two neighbours, in either direction along the axis, are nearer than the gap."""
    ordered = sorted(stretches)
    return all(one.high + gap <= other.low for one, other in pairwise(ordered))


def _stretch(label: Text, axis: Axis) -> _Stretch:
    box = label.get_window_extent()
    if isinstance(axis, YAxis):
        return _Stretch(box.y0, box.y1)
    more = (WIDER - 1) * box.width / 2
    return _Stretch(box.x0 - more, box.x1 + more)


def _break_name(drawing: Drawing, axis: Axis) -> None:
    """Break the name of an axis, whose middle is the axis' own, where it would leave the drawing."""
    box, whole = axis.label.get_window_extent(), drawing.bbox
    if isinstance(axis, YAxis):
        middle, length, end = (box.y0 + box.y1) / 2, box.height, whole.height
    else:
        middle, length, end = (box.x0 + box.x1) / 2, box.width, whole.width
    room, needed = 2 * min(middle, end - middle), WIDER * length
    name = axis.label.get_text()
    if needed > room:
        longest = max(map(len, name.splitlines()))
        axis.label.set_text(fill(name, max(FEWEST_CHARS, int(longest * room / needed))))


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
    missing : str
        The signs that no font here has: the PDF shows boxes for them.
    """

    svg: str
    pdf: bytes
    inline: Markup
    missing: str = ""


def new_drawing(width_inches: float, height_inches: float) -> Drawing:
    """Return an empty drawing."""
    return Drawing(figsize=(width_inches, height_inches), layout="constrained")


def drawn(draw: Draw, look: ReportLook, *, name: str, title: str) -> Drawn:
    """Make a drawing and turn it into all its forms; the same one gives the same bytes.

    Parameters
    ----------
    draw : callable
        Makes it.
    look : ReportLook
        Colours, fonts and settings.
    name : str
        Unique on the page: it begins every id inside.
    title : str
        What the files say of themselves.
    """
    made, missing = _made(draw, look, name, title)
    other = _other_font() if missing else None
    if other is not None:
        made, missing = _made(draw, look, name, title, other)
    return replace(made, missing=missing)


class Named(NamedTuple):
    """What `drawn` needs to make a drawing."""

    name: str
    title: str
    draw: Draw


def all_drawn(figures: Sequence[Named], look: ReportLook) -> dict[str, Drawn]:
    """Make drawings, by name; where there is a second core, a copy of this process makes half of them meanwhile.

    What the copy fails at, or has not made after a minute more, is made here: so a fault is met where it can be told.
    """

    def made(some: Iterable[Named]) -> dict[str, Drawn]:
        return {one.name: drawn(one.draw, look, name=one.name, title=one.title) for one in some}

    if len(figures) < FEWEST_FOR_TWO or not _has_second_core():
        return made(figures)
    _figures_font()
    receiving, sending = Pipe(duplex=False)
    copy = get_context("fork").Process(target=_make_there, args=(made, figures[1::2], sending), daemon=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads that the copy does not have
        copy.start()
    sending.close()
    try:
        drawings = made(figures[::2])
        with suppress(EOFError):
            drawings |= receiving.recv() if receiving.poll(LONGEST_WAIT) else {}
    finally:
        copy.terminate()
        copy.join()
        receiving.close()
    drawings |= made(one for one in figures if one.name not in drawings)
    return {one.name: drawings[one.name] for one in figures}


def _has_second_core() -> bool:
    return sys.platform == "linux" and len(os.sched_getaffinity(0)) > 1


def _make_there(
    made: Callable[[Iterable[Named]], dict[str, Drawn]], some: Sequence[Named], sending: PipeEnd
) -> None:
    """Make drawings in a copy of the process that wants them; Ctrl-C is that one's to hear."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(Exception):
        sending.send(made(some))


def told_missing(drawings: Iterable[Drawn]) -> str | None:
    """Return a sentence on the signs that no font here has and what to do about it, None where every sign is drawn."""
    missing = "".join(sorted({sign for drawing in drawings for sign in drawing.missing}))
    if not missing:
        return None
    return (
        f"no font of this machine has {missing[:SIGNS_TOLD]}: the PDF files of figures show boxes for them; install one, such as"
        " Noto Sans CJK, or name one of yours as font in a --style file"
    )


def _made(
    draw: Draw, look: ReportLook, name: str, title: str, other: Path | None = None
) -> tuple[Drawn, str]:
    """Make a drawing in all its forms, with one more font; return it and the signs that no font has."""
    with style(look, other), warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        drawing = draw(look)
        fit_labels(drawing)
        svg = _svg(drawing, title)
        drawing.set_layout_engine("none")
        made = Drawn(svg=svg, pdf=_pdf(drawing, title), inline=_inline(svg, name, look))
    missing = set()
    for one in warned:
        sign = MISSING.match(str(one.message))
        if sign is None:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
        else:
            missing.add(chr(int(sign[1])))
    return made, "".join(sorted(missing))


def style(look: ReportLook, other: Path | None = None) -> AbstractContextManager[None]:
    """Return the settings of matplotlib in which a drawing has a look, with one more font."""
    fonts = [*([look.font] if look.font else []), _figures_font(), "DejaVu Sans"]
    is_truetype = other is None or has_truetype_outlines(other)
    if other is not None:
        fonts.append(next(entry.name for entry in fontManager.ttflist if entry.fname == str(other)))
    settings: Any = {
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
        "pdf.fonttype": _TRUETYPE if is_truetype else _OUTLINES,
        "text.parse_math": False,
        "text.usetex": False,
    }
    return mpl.rc_context(settings)


@cache
def _figures_font() -> str:
    """Return the name of `FIGURES_FONT`, made once: each PDF takes its signs from a font of 1,500 in a fifth of the time of one of 6,000."""
    options = subset.Options(
        layout_features=["*"], legacy_kern=True, glyph_names=True, recommended_glyphs=True
    )
    options.drop_tables += ["FFTM"]
    logging.getLogger(subset.__name__).setLevel(
        logging.WARNING
    )  # it would tell whoever listens what it leaves out
    cutter = subset.Subsetter(options)
    cutter.populate(unicodes=[sign for signs in FIGURES_SIGNS for sign in signs])
    folder = mkdtemp(prefix="prefcal-")
    atexit.register(rmtree, folder, ignore_errors=True)
    path = Path(folder, "figures.ttf")
    with subset.load_font(findfont("DejaVu Sans"), options) as font:
        cutter.subset(font)
        font.save(path)
    whole = next(entry for entry in fontManager.ttflist if entry.fname == findfont("DejaVu Sans"))
    fontManager.ttflist.append(replace(whole, fname=str(path), name=FIGURES_FONT))
    return FIGURES_FONT


@cache
def _other_font() -> Path | None:
    """Return the best font of `OTHER_SCRIPTS` that the machine has, also one that matplotlib's own list is too old for."""
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
    return text.getvalue().replace(f"'{FIGURES_FONT}', ", "")


def _pdf(drawing: Drawing, title: str) -> bytes:
    content = io.BytesIO()
    FigureCanvasPdf(drawing)
    metadata: dict[str, Any] = {"Title": title, "CreationDate": None, "Creator": "prefcal", "Producer": None}
    drawing.savefig(content, format="pdf", metadata=metadata)
    return content.getvalue()


def _inline(svg: str, name: str, look: ReportLook) -> Markup:
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
