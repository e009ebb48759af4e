"""The curve of a plan in characters: what a study yields against how large it is."""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from calibration.plan.search import Plan, Wish
from metrics.arrays import Floats

if TYPE_CHECKING:
    from study_app.cli.plan.question import PlanQuestion

WIDE, HIGH = 60, 12


def text_curve(found: Plan, question: "PlanQuestion", wish: Wish) -> str:
    """Draw width, or chance where a power is wished, over size; sizes are spaced by their ratios.

    ``o`` is a size that was simulated, ``.`` lies between two of them, ``-`` is what is wished.
    """
    sizes, values = curve(found, question, wish)
    name = "width" if wish.power is None else "chance"
    if len(sizes) < 2:
        return f"(fewer than two sizes have a bounded {name}: there is no curve)"
    wished = wish.width if wish.power is None else wish.power
    step = _step(max(*values, wished or 0.0) / HIGH)
    place = np.log(sizes / sizes[0]) / math.log(sizes[-1] / sizes[0]) * (WIDE - 1)
    canvas = [[" "] * WIDE for _ in range(round(max(*values, wished or 0.0) / step) + 1)]
    if wished is not None:
        canvas[round(wished / step)] = ["-"] * WIDE
    for column, value in enumerate(np.interp(np.arange(WIDE), place, values)):
        canvas[round(value / step)][column] = "."
    for column, value in zip(np.rint(place).astype(int), values, strict=True):
        canvas[round(value / step)][column] = "o"
    labels = [_label(question, wish, step * line) for line in range(len(canvas))]
    return "\n".join(_framed(canvas, labels, sizes, (name, question.sizes[found.vary][1])))


def percent(share: float) -> str:
    """Return `80 %`."""
    return f"{100 * share:.0f} %"


def _framed(
    canvas: list[list[str]], labels: list[str], sizes: Floats, names: tuple[str, str]
) -> Iterator[str]:
    """Yield the lines of a drawing with its axes; the canvas begins with the lowest line."""
    margin = max(map(len, labels))
    first, last = f"{sizes[0]:,.0f}", f"{sizes[-1]:,.0f}"
    yield " over ".join(names)
    for label, row in zip(reversed(labels), reversed(canvas), strict=True):
        yield f"{label:>{margin}} |{''.join(row)}".rstrip()
    yield f"{'':{margin}} +{'-' * WIDE}"
    yield f"{'':{margin}}  {first}{names[1]:^{WIDE - len(first) - len(last)}}{last}"


def _step(least: float) -> float:
    """Return the smallest of 1, 2, 5, 10, 20, ... (or .1, .2, .5, ...) that is not below."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least)


def curve(found: Plan, question: "PlanQuestion", wish: Wish) -> tuple[Floats, Floats]:
    """Return the sizes with a bounded value, and the values: the width wished about, or the chance."""
    points = [(row.size, row.width_of(wish.sure) if wish.power is None else row.power) for row in found.rows]
    kept = np.array([point for point in points if question.is_bounded(point[1])], dtype=np.float64).reshape(
        -1, 2
    )
    return kept[:, 0], kept[:, 1]


def _label(question: "PlanQuestion", wish: Wish, value: float) -> str:
    return question.number(value) if wish.power is None else percent(value)
