"""The first page of the console: how far the study is, with a drawing, and what is wrong; and the audit.

Where the lines and ticks of the drawing lie is worked out here; `templates/console/charts.html` draws them as SVG, without a script.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from flask import Blueprint, Response, request

from metrics.errors import counted
from study_app.services.console.access import acts, end_sign_in, sign_ins
from study_app.services.console.overview import FEW, SHORTEST, Curve, Minutes, Outlook, StudyGlance
from study_app.services.researcher.studies import pause, resume
from study_app.store.database import room_left
from study_app.store.models import LoadedStudy
from study_app.web.console.figures import latest_figures
from study_app.web.console.frame import NotDone, Seat, manage, own_token, page, watch
from study_app.web.serving import server

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


UNITS = (("days", 1440, 2880), ("hours", 60, 120), ("minutes", 1, 2), ("seconds", 1 / 60, 0))
"""Unit, its minutes, and from how many minutes on it is used."""


def minutes_words(minutes: Minutes) -> str:
    """Say how long people took who finished, in the unit that suits half of them."""
    unit, length, _ = next(one for one in UNITS if minutes.middle >= one[2])
    low, middle, high = (_number(one / length) for one in (minutes.low, minutes.middle, minutes.high))
    if minutes.workers == 1:
        return f"The one worker who finished took {middle} {unit} from consent to the end."
    who = f"of the {minutes.workers} workers who finished"
    if low == high:
        return f"{'Each' if minutes.workers < FEW else 'At least half'} {who} took about {middle} {unit} from consent to the end."
    if minutes.workers < FEW:
        return f"Each {who} took {low} to {high} {unit} from consent to the end."
    return f"Half {who} took less than {middle} {unit} from consent to the end; the middle half took {low} to {high}."


def _number(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def outlook_words(ahead: Outlook) -> str:
    """Say for how many there is room, how many came, and when the study will be full."""
    if ahead.left == 0:
        return "The study is full."
    said = ["The number of workers has no limit."]
    if ahead.left is not None:
        said = [f"There is room for {counted(ahead.left, 'more worker')}."]
    if ahead.consented is not None:
        said.append(f"{ahead.consented} consented in the last {_time(ahead.seen)}{_rate(ahead)}.")
    elif ahead.left is not None:
        said.append("Too few came within the last day to say when it will be full.")
    return " ".join(said)


def _rate(ahead: Outlook) -> str:
    """Say how many came an hour where it was longer than one, and when the study is full at this rate."""
    hours = ahead.seen / timedelta(hours=1)
    rate = f", which is {(ahead.consented or 0) / hours:.2g} an hour" if hours > 1 else ""
    if ahead.full_at is None:
        return rate
    return f"{rate}; if it goes on so, the study is full on {ahead.full_at:%Y-%m-%d %H:%M} UTC"


def _time(seen: timedelta) -> str:
    """Return a time that has passed: minutes below an hour, hours from then on."""
    if seen < SHORTEST:
        minutes = max(1, math.ceil(seen / timedelta(minutes=1)))
        return "minute" if minutes == 1 else f"{minutes} minutes"
    hours = f"{seen / timedelta(hours=1):.2g}"
    return "hour" if hours == "1" else f"{hours} hours"


blueprint = Blueprint("overview", __name__)
LINES = 50
"""Of the audit on a page."""


@blueprint.get("/r/<study>/")
@watch
def overview(seat: Seat) -> Response:
    """Show how far a study is, and what is wrong with it."""
    found = latest_figures().of(
        seat.session, seat.plan, free_bytes=room_left(server().database), now=seat.now
    )
    curve, paused_at = found.glance.curve, _row(seat).paused_at
    shown = "-".join(
        str(one) for one in (found.at.timestamp(), paused_at and paused_at.timestamp(), seat.may_act)
    )
    if request.if_none_match.contains_weak(shown):
        return Response(status=304)
    response = page(
        "console/overview.html",
        seat,
        figures=found,
        paused_at=paused_at,
        shown=shown,
        chart=None if curve is None else people_chart(curve),
        said=tuple(_said(found.glance)),
    )
    response.set_etag(shown, weak=True)
    return response


@blueprint.post("/r/<study>/pause")
@manage("pause")
def post_pause(seat: Seat) -> Response:
    """Let nobody new in."""
    if not pause(seat.session, _row(seat), now=seat.now):
        raise NotDone("The study is paused already.", 409)
    seat.note("nobody new is let in; whoever has begun goes on")
    return seat.back()


@blueprint.post("/r/<study>/resume")
@manage("resume")
def post_resume(seat: Seat) -> Response:
    """Let new workers in again."""
    if not resume(seat.session, _row(seat)):
        raise NotDone("The study is not paused.", 409)
    seat.note("new workers are let in again")
    return seat.back()


def _said(glance: StudyGlance) -> Iterator[str]:
    yield outlook_words(glance.outlook)
    if glance.minutes is not None:
        yield minutes_words(glance.minutes)


def _row(seat: Seat) -> LoadedStudy:
    return seat.session.get_one(LoadedStudy, seat.plan.id)


@blueprint.get("/r/<study>/audit")
@watch
def audit(seat: Seat) -> Response:
    """List who is signed in, and what was done to this study, and by whom."""
    before = request.args.get("before", "")
    number = int(before) if before.isascii() and before.isdecimal() and len(before) < 10 else None
    shown = acts(seat.session, seat.plan.id, limit=LINES + 1, before=number)
    older = shown[LINES - 1].number if len(shown) > LINES else None
    signed_in = sign_ins(seat.session, seat.plan.id, own_token(), now=seat.now)
    return page("console/audit.html", seat, acts=shown[:LINES], older=older, signed_in=signed_in)


@blueprint.post("/r/<study>/audit/end")
@manage("end a sign-in")
def post_end(seat: Seat) -> Response:
    """End one sign-in to this console: its browser is signed out."""
    number = request.form.get("sign_in", "")
    known = number.isascii() and number.isdecimal() and len(number) < 10
    ended = end_sign_in(seat.session, seat.plan.id, int(number), now=seat.now) if known else None
    if ended is None:
        raise NotDone(
            "There is no such sign-in any more. Open the audit again: it lists those there are.", 409
        )
    seat.note(f"{ended.name}, of {ended.began_at:%Y-%m-%d %H:%M} UTC")
    return seat.back("audit")
