"""Curve of a plan as a figure: SVG, PDF or PNG."""

import io
import textwrap
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator, FuncFormatter, NullLocator

from calibration.inference.formatting import put_legend_below
from calibration.plan.search import Plan, PrecisionGoal
from metrics.errors import percent
from study_app.cli.plan.text import headline
from study_app.cli.plan.wording import PlanWording

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INCHES = (6.0, 4.5)
DOTS_PER_INCH = 200
BLUE, BAND = "#0072B2", "0.85"
TITLE_CHARS = 68
STYLE = {"svg.fonttype": "none", "svg.hashsalt": "prefcal", "pdf.fonttype": 42}


def figure_bytes(result: Plan, question: PlanWording, wish: PrecisionGoal, kind: str) -> bytes:
    """Draw width or power over size, with the answer as title.

    The same plan gives the same bytes.

    Parameters
    ----------
    result, question, wish
        As for `study_app.cli.plan.text.plan_text`.
    kind : {'svg', 'pdf', 'png'}
        The format.
    """
    content = io.BytesIO()
    style: Any = STYLE
    metadata: Any = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {"Software": None}}[kind]
    with mpl.rc_context(style):
        figure = Figure(figsize=INCHES, layout="constrained")
        _draw(figure.add_subplot(), result, question, wish)
        figure.savefig(content, format=kind, dpi=DOTS_PER_INCH, metadata=metadata)
    return content.getvalue()


def _draw(ax: "Axes", result: Plan, question: PlanWording, wish: PrecisionGoal) -> None:
    if wish.power is None:
        _widths(ax, result, question, wish)
    else:
        _chances(ax, result, wish)
    if result.needed is not None:
        ax.axvline(
            result.needed, color=BLUE, linestyle=":", linewidth=1.2, label=f"enough: {result.needed:,}"
        )
    ax.axvline(result.asked, color="0.4", linestyle="-.", linewidth=1, label=f"as planned: {result.asked:,}")
    sizes = [row.size for row in result.rows]
    shown = _apart(sizes, [result.asked, *([result.needed] if result.needed else [])])
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(FixedLocator(shown))
    ax.xaxis.set_major_formatter(FixedFormatter([f"{size:,}" for size in shown]))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xlabel(question.sizes[result.vary][1])
    ax.set_ylim(bottom=0)
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_title(textwrap.fill(headline(result, question, wish), TITLE_CHARS), fontsize="medium", loc="left")
    put_legend_below(ax)


def _widths(ax: "Axes", result: Plan, question: PlanWording, wish: PrecisionGoal) -> None:
    rows = [row for row in result.rows if question.is_bounded(row.width_of(0.9))]
    sizes = [row.size for row in rows]
    low, high = ([question.scale * row.width_of(share) for row in rows] for share in (0.1, 0.9))
    ax.fill_between(sizes, low, high, color=BAND, linewidth=0, label="eight of ten studies")
    widths = [question.scale * row.width for row in rows]
    ax.plot(sizes, widths, "o-", color="black", markersize=4, label="typical study")
    if wish.width is not None:
        ax.axhline(question.scale * wish.width, color=BLUE, linestyle="--", linewidth=1.2, label="wanted")
    unit = f" ({question.unit.strip()})" if question.unit else ""
    ax.set_ylabel(f"width of the 95 % interval{unit}")


def _chances(ax: "Axes", result: Plan, wish: PrecisionGoal) -> None:
    sizes = [row.size for row in result.rows]
    chances = np.array([row.power for row in result.rows])
    reach = 1.96 * np.sqrt(chances * (1 - chances) / len(result.rows[0].widths))
    low, high = np.clip([chances - reach, chances + reach], 0, 1)
    ax.fill_between(sizes, low, high, color=BAND, linewidth=0, label="error of the simulation")
    ax.plot(sizes, chances, "o-", color="black", markersize=4, label="simulated")
    ax.axhline(wish.power or 0, color=BLUE, linestyle="--", linewidth=1.2, label="wanted")
    ax.set_ylabel("chance that the study finds it")
    ax.yaxis.set_major_formatter(FuncFormatter(lambda share, _: percent(share)))


def _apart(sizes: list[int], first: list[int]) -> list[int]:
    """Return sizes whose labels do not overlap on a log axis, preferring ``first``."""
    spread = np.log(sizes[-1] / sizes[0]) or 1.0
    kept: list[int] = []
    for size in [*first, sizes[0], sizes[-1], *sizes]:
        if all(abs(np.log(size / other)) > 0.07 * spread for other in kept):
            kept.append(size)
    return sorted(kept)
