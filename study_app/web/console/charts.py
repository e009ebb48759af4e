"""Where the lines and ticks of a drawing lie; `templates/console/charts.html` draws them as SVG, without a script."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from study_app.services.console.overview import Curve

WIDTH, HEIGHT = 640, 220
LEFT, RIGHT, TOP, BOTTOM = 60, 12, 14, 28
"""Of the drawing in units of its own, and what its edges leave free for the ticks."""
ROUND_STEPS = (1, 2, 5)
TIME_TICKS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnLine:
    """A line: what it counts, its points as SVG has them, and the last number."""

    name: str
    points: str
    last: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnChart:
    """A drawing of counts over time: lines, and (place, text) of the ticks of either axis."""

    lines: tuple[DrawnLine, ...]
    x_ticks: tuple[tuple[float, str], ...]
    y_ticks: tuple[tuple[float, str], ...]
    rows: tuple[tuple[str, int, int], ...]


def people_chart(curve: Curve) -> DrawnChart:
    """Return the drawing of how many had arrived and finished over time."""
    top = max(curve.arrived[-1], 1)
    step = round_step(top / 4)
    shown = range(0, len(curve.times), len(curve.times) // 6)
    return DrawnChart(
        lines=(
            _line("arrived", curve.times, curve.arrived, top),
            _line("finished", curve.times, curve.finished, top),
        ),
        x_ticks=tuple(_time_ticks(curve.times)),
        y_ticks=tuple((_y(number / top), f"{number:,}") for number in range(0, top + 1, step)),
        rows=tuple(
            (f"{curve.times[place]:%Y-%m-%d %H:%M}", curve.arrived[place], curve.finished[place])
            for place in shown
        ),
    )


def _time_ticks(times: Sequence[datetime]) -> Iterator[tuple[float, str]]:
    """Yield few ticks, so that their texts do not meet on a phone; what a tick before it says already is not said again."""
    said = ""
    for place in range(0, len(times), max(1, (len(times) - 1) // TIME_TICKS)):
        text = _moment(times[place], times)
        if text != said:
            yield _x(place / (len(times) - 1)), text
        said = text


def round_step(least: float) -> int:
    """Return the smallest of 1, 2, 5, 10, 20, 50 and so on that is not below ``least``."""
    power: int = 10 ** max(0, math.floor(math.log10(max(least, 1))))
    return next(step * power for step in (*ROUND_STEPS, 10) if step * power >= least)


def _line(name: str, times: Sequence[datetime], counts: Sequence[int], top: int) -> DrawnLine:
    places = (
        f"{_x(place / (len(times) - 1)):.1f},{_y(number / top):.1f}" for place, number in enumerate(counts)
    )
    return DrawnLine(name=name, points=" ".join(places), last=counts[-1])


def _x(share: float) -> float:
    return LEFT + share * (WIDTH - LEFT - RIGHT)


def _y(share: float) -> float:
    return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)


def _moment(time: datetime, times: Sequence[datetime]) -> str:
    """Return the time of day, or the day where the drawing spans several."""
    days = (times[-1] - times[0]).days
    return f"{time:%H:%M}" if days < 2 else f"{time:%d %b}"
