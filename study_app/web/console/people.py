"""The people of a study: a table by pseudonym, as a page and as CSV, and one person's way through the study.

Everything works by addresses alone: what is shown, in which order, and which part of it stands in the address.
"""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from urllib.parse import urlencode

from flask import Blueprint, Response, request

from metrics.errors import counted, plain_cell
from study_app.protocol.steps import Step
from study_app.services.console.people import (
    FILTERS,
    SORTS,
    PeopleAsked,
    PersonState,
    line_of,
    people_of,
    table,
)
from study_app.services.console.way import MOST_SITTINGS, Sitting, sittings, way
from study_app.store.plan import StudyPlan
from study_app.web.console.frame import Seat, download, page, plain, watch
from study_app.web.serving import server
from study_app.web.show.show import SHOW_SYSTEMS

blueprint = Blueprint("people", __name__)
ROWS = 50
"""Lines of a page."""

STATES = {
    "door": "came, has not agreed",
    "work": "at work",
    "away": "away",
    "complete": "finished",
    "screened_out": "screened out",
    "failed_checks": "failed the checks",
    "partial": "stopped early",
    "withdrawn": "withdrew",
}
SHOWN = {
    "all": "everybody",
    "work": "at work now",
    "away": "away, not finished",
    "door": "came, has not agreed",
    "complete": "finished",
    "early": "ended early",
    "withdrawn": "withdrew",
    "flagged": "flagged or left out",
    "gaps": "with gaps in the log",
}
"""Keys of `FILTERS` in words."""

COLUMNS = {
    "number": "No.",
    "pseudonym": "Worker",
    "reached": "Where",
    "minutes": "Minutes",
    "state": "How it stands",
    "consistency": "Consistency",
    "flags": "Flags",
    "device": "Device",
    "gaps": "Log gaps",
}
"""Keys of `SORTS` in words, in the order of the columns."""

KINDS = {
    "vote": "votes",
    "rate": "sheet",
    "useful": "still of use?",
    "intro": "instructions",
    "choose": "choice",
    "enrol": "enrolment",
    "streams": "list of streams",
    "away": "see you",
    "task": "",
}
"""What a kind of page is called where that is not its name."""

SORTED_BY = {"all": "everything", "stage": "stages", "answer": "answers", "page": "pages"}


def asked_here() -> PeopleAsked:
    """Return what the address of this request asks; what it says wrongly is as if it were not there."""
    show, sort = request.args.get("show", ""), request.args.get("sort", "")
    return PeopleAsked(
        show=show if show in FILTERS else "all",
        part=request.args.get("part", "")[:40],
        sort=sort if sort in SORTS else "number",
        descending=request.args.get("order") == "down",
        page=request.args.get("page", 1, type=int),
    )


def query(asked: PeopleAsked, **changes: Any) -> str:
    """Return the query of an address that asks the same but for some changes; by the same column again: the other way round."""
    turned = changes.get("sort") == asked.sort and not asked.descending
    wanted = {
        "show": asked.show,
        "part": asked.part,
        "sort": changes.get("sort", asked.sort),
        "order": "down" if turned or (asked.descending and "sort" not in changes) else "",
        "page": changes.get("page", 1),
    }
    usual = {"show": "all", "part": "", "sort": "number", "order": "", "page": 1}
    return "?" + urlencode({name: value for name, value in wanted.items() if value != usual[name]})


@blueprint.get("/r/<study>/people")
@watch
def people(seat: Seat) -> Response:
    """Show who takes part: where each is, for how long, how it ended, and with what care."""
    asked = asked_here()
    return page(
        "console/people.html",
        seat,
        asked=asked,
        query=partial(query, asked),
        table=table(seat.session, server().plans, seat.plan, asked, now=seat.now, size=ROWS),
        columns=COLUMNS,
        filters=SHOWN,
        states=STATES,
    )


@blueprint.get("/r/<study>/people.csv")
@download("take the list of people")
def people_csv(seat: Seat) -> Response:
    """Return the whole table, as it is filtered and sorted, as CSV."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(CSV), lineterminator="\n")
    writer.writeheader()
    lines = table(seat.session, server().plans, seat.plan, asked_here(), now=seat.now, size=None).lines
    for line in lines:
        writer.writerow({name: plain_cell(str(cell(line))) for name, cell in CSV.items()})
    seat.note(counted(len(lines), "line"))
    response = Response(text.getvalue(), mimetype="text/csv")
    response.headers["Content-Disposition"] = f'attachment; filename="{seat.plan.name}-people.csv"'
    return response


CSV: Mapping[str, Any] = {
    "number": lambda line: line.person.number,
    "worker": lambda line: line.person.pseudonym,
    "state": lambda line: line.person.state,
    "arrived_at": lambda line: _hour(line.person.arrived_at),
    "last_seen_at": lambda line: _hour(line.person.last_seen_at),
    "minutes": lambda line: "" if line.person.minutes is None else f"{line.person.minutes:.2f}",
    "task": lambda line: line.reached.name if line.reached else "",
    "done": lambda line: line.reached.done if line.reached else "",
    "held": lambda line: line.reached.held if line.reached else "",
    "repeats": lambda line: line.consistency.repeats,
    "consistent": lambda line: line.consistency.consistent,
    "flags": lambda line: ", ".join(line.care.flags),
    "excluded": lambda line: ", ".join(line.care.excluded),
    "device": lambda line: line.window.device if line.window else "",
    "width": lambda line: line.window.width if line.window else "",
    "height": lambda line: line.window.height if line.window else "",
    "pages_with_gaps": lambda line: line.gaps.pages,
    "answers_without_log": lambda line: line.gaps.answers,
}
"""Column of the CSV -> its value in a line."""


def _hour(time: datetime) -> str:
    """Return a time rounded down to the hour: to the second it would lead back to a platform's list."""
    return time.replace(minute=0, second=0, microsecond=0).isoformat(timespec="milliseconds")


@blueprint.get("/r/<study>/people/<pseudonym>")
@watch
def person(seat: Seat, pseudonym: str) -> Response:
    """Show one person: the way through the study in time, answers with their revisions, and when pages were open."""
    known = known_person(seat, pseudonym)
    if known is None:
        return nobody(seat, pseudonym)
    if known.state == "withdrawn":
        text = "Their answers and logs are shown nowhere any more, and stand in no table."
        return plain(seat.plan.name, f"{pseudonym} took the answers back", text, 200)
    everything = way(seat.session, seat.plan, known.id, with_sides=seat.may_act)
    happened = [one for one in everything if one.at <= seat.now]
    sort = request.args.get("of", "all")
    wanted = [one for one in happened if sort not in SORTED_BY or sort in ("all", one.sort)]
    pages = max(1, -(-len(wanted) // ROWS))
    number = min(max(1, request.args.get("page", 1, type=int)), pages)
    drawn = sittings(seat.session, known.id, happened)
    return page(
        "console/person.html",
        seat,
        line=line_of(seat.session, seat.plan, known, now=seat.now),
        states=STATES,
        happened=wanted[(number - 1) * ROWS : number * ROWS],
        total=len(wanted),
        sort=sort if sort in SORTED_BY else "all",
        sorts=SORTED_BY,
        number=number,
        pages=pages,
        strips=list(strips(seat.plan, drawn[:MOST_SITTINGS])),
        sittings=len(drawn),
        place=lambda step: place(seat.plan, step),
        may_replay=lambda step: seat.may_act or step.kind not in SHOW_SYSTEMS,
    )


def known_person(seat: Seat, pseudonym: str) -> PersonState | None:
    """Return who has a pseudonym in the study of a seat, None for nobody."""
    known = people_of(seat.session, server().plans, seat.plan.id, now=seat.now, pseudonym=pseudonym)
    return known[0] if known else None


def nobody(seat: Seat, pseudonym: str) -> Response:
    """Return the page for a pseudonym that nobody has."""
    return plain(
        seat.plan.name,
        "No such worker",
        f"No worker of this study is {pseudonym}. See the table of people.",
        404,
    )


def place(plan: StudyPlan, step: Step | None) -> str:
    """Return a step in words: task 2 (summaries), query 1, pair 3."""
    if step is None:
        return ""
    kind = KINDS.get(step.kind, step.kind)
    if not step.task:
        return kind
    task = plan.tasks[step.task - 1]
    words = [f"task {step.task} ({task.entry.name})"]
    if step.query and task.kind.unit != "all":
        words.append(f"{task.kind.topic.lower() if task.kind.is_chosen else 'place'} {step.query}")
    return ", ".join([*words, f"{kind} {step.pair}" if step.pair else kind]).rstrip(", ")


WIDTH = 1_000
"""Of a strip, in its own units."""

LEAST = 2
"""Of a bar, so that it can be seen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StripMark:
    """A rectangle of a strip, and what it is."""

    x: float
    width: float
    kind: str
    title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Strip:
    """A sitting as it is drawn: its beginning, its minutes, and its marks, all strips to one scale."""

    start: datetime
    minutes: float
    pages: int
    answers: int
    marks: Sequence[StripMark]


def strips(plan: StudyPlan, drawn: Sequence[Sitting]) -> Iterator[Strip]:
    """Yield the strip of each sitting; the longest is as long as the chart is wide."""
    longest = max((one.end - one.start for one in drawn), default=timedelta()) or timedelta(seconds=1)
    for sitting in drawn:
        yield Strip(
            start=sitting.start,
            minutes=(sitting.end - sitting.start).total_seconds() / 60,
            pages=len(sitting.bars),
            answers=len(sitting.answers),
            marks=list(_marks(plan, sitting, longest)),
        )


def _marks(plan: StudyPlan, sitting: Sitting, longest: timedelta) -> Iterator[StripMark]:
    def x(at: datetime) -> float:
        return round(WIDTH * ((at - sitting.start) / longest), 1)

    for number, bar in enumerate(sitting.bars):
        title = (
            f"{place(plan, bar.step)}, {bar.start:%H:%M:%S} for {(bar.end - bar.start).total_seconds():.0f} s"
        )
        width = max(LEAST, x(bar.end) - x(bar.start) - 0.5)
        yield StripMark(x=x(bar.start), width=width, kind="odd" if number % 2 else "even", title=title)
        for start, end in bar.hidden:
            yield StripMark(
                x=x(start), width=max(0.5, x(end) - x(start)), kind="hidden", title="not looked at"
            )
    for at in sitting.answers:
        yield StripMark(x=x(at), width=1.5, kind="answer", title=f"answer, {at:%H:%M:%S}")
