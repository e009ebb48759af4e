"""People of a study: a table as page and CSV, and one person's timeline.

A row of the table costs several questions to the database; so what the table is sorted and filtered by is looked up of everybody, and
the rest of those who stand on the page. Nobody's id on the platform is in it, nor which system anybody preferred. What is shown, in
which order, and which part of it stands in the address.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any
from urllib.parse import urlencode

from flask import Blueprint, Response, request
from sqlalchemy import select
from sqlalchemy.orm import Session

from metrics.errors import pluralise
from study_app.protocol.steps import Step
from study_app.services.researcher.audit import LOOK_UP, NOBODY
from study_app.services.researcher.completion import unpressed_workers
from study_app.services.researcher.find import match_of
from study_app.services.researcher.standing import STATES, codes_shown, payments_of, state_of
from study_app.services.worker.ends import withdraw
from study_app.store.care import CareChecks, Workers
from study_app.store.models import Worker
from study_app.store.study_cache import CachedStudy, StudyCache
from study_app.web.console.auth import (
    ConsoleRequest,
    RefusedAction,
    download,
    manager_required,
    message_page,
    viewer_required,
)
from study_app.web.console.facts import FACTS, LastTask, Window, WorkerLogGaps
from study_app.web.console.layout import csv_response, page
from study_app.web.console.summary import format_minutes
from study_app.web.console.timeline import EVENT_GROUPS, SHOW_SYSTEMS, timeline_events
from study_app.web.serving import server

blueprint = Blueprint("people", __name__)
ROWS = 50
"""Rows of a page."""
MAX_NAMED = 100
"""Most workers named in a statement.

For more, the whole study is queried, which costs a database less.
"""
PAGE_NAMES = {
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
"""Words for a kind of page, where they are not its name."""


@dataclass(slots=True, kw_only=True)
class PersonRow:
    """A row of the table; `FACTS` are set apart, none of workers who withdrew.

    Attributes
    ----------
    state : str
        A key of `STATES`. At work: with a sign of life within `AT_WORK`; finished: every required answer is stored, the last button
        pressed or not.
    minutes : float or None
        From consent to the end, or to the last sign of life; None without consent.
    last_task, care, window, gaps
        Values of `FACTS`; ``last_task`` and ``window`` are None where nothing is known.
    """

    id: int
    number: int
    pseudonym: str
    state: str
    arrived_at: datetime
    last_seen_at: datetime
    minutes: float | None
    last_task: LastTask | None = None
    care: CareChecks = field(default_factory=CareChecks)
    window: Window | None = None
    gaps: WorkerLogGaps = field(default_factory=WorkerLogGaps)


@dataclass(frozen=True, slots=True)
class PeopleKey:
    """What sorts the table or filters it: words, the fact that it needs, and its value of a row (None sorts last)."""

    words: str
    fact: str | None
    value: Callable[[PersonRow], Any]


COLUMNS: Mapping[str, PeopleKey] = {
    "number": PeopleKey("No.", None, lambda row: row.number),
    "pseudonym": PeopleKey("Worker", None, lambda row: row.pseudonym),
    "reached": PeopleKey(
        "Where", "last_task", lambda row: row.last_task and (row.last_task.number, row.last_task.done)
    ),
    "minutes": PeopleKey("Time", None, lambda row: row.minutes),
    "state": PeopleKey("State", None, lambda row: row.state),
    "consistency": PeopleKey("Consistency", "care", lambda row: row.care.repeats.share),
    "flags": PeopleKey("Flags", "care", lambda row: len(row.care.flags) + len(row.care.excluded)),
    "device": PeopleKey("Device", "window", lambda row: row.window and (row.window.width, row.window.height)),
    "gaps": PeopleKey("Log gaps", "gaps", lambda row: row.gaps.pages + row.gaps.answers),
}


def _is_in(*states: str) -> Callable[[PersonRow], bool]:
    return lambda row: row.state in states


FILTERS: Mapping[str, PeopleKey] = {
    "all": PeopleKey("everybody", None, lambda _row: True),
    "work": PeopleKey("at work now", None, _is_in("work")),
    "away": PeopleKey("away, not finished", None, _is_in("away")),
    "door": PeopleKey("came, has not agreed", None, _is_in("door")),
    "complete": PeopleKey("finished", None, _is_in("complete")),
    "early": PeopleKey("ended early", None, _is_in("screened_out", "failed_checks", "partial")),
    "withdrawn": PeopleKey("withdrew", None, _is_in("withdrawn")),
    "flagged": PeopleKey(
        "flagged or left out", "care", lambda row: bool(row.care.flags or row.care.excluded)
    ),
    "gaps": PeopleKey("with gaps in the log", "gaps", lambda row: row.gaps != WorkerLogGaps()),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleQuery:
    """The part of the table that an address asks for.

    Attributes
    ----------
    show, sort : str
        Keys of `FILTERS` and `COLUMNS`.
    part : str
        Part of the pseudonym.
    descending : bool
        The highest first.
    page : int
        From 1; what is beyond the last is the last.
    """

    show: str = "all"
    part: str = ""
    sort: str = "number"
    descending: bool = False
    page: int = 1

    def address(self, **changes: Any) -> str:
        """Return the query of an address; the same column again turns the order."""
        is_turned = changes.get("sort") == self.sort and not self.descending
        params = {
            "show": self.show,
            "part": self.part,
            "sort": changes.get("sort", self.sort),
            "order": "down" if is_turned or (self.descending and "sort" not in changes) else "",
            "page": changes.get("page", 1),
        }
        default = {"show": "all", "part": "", "sort": "number", "order": "", "page": 1}
        return "?" + urlencode({name: value for name, value in params.items() if value != default[name]})


def _people_query() -> PeopleQuery:
    """Parse the query of this request; unknown values count as absent."""
    show, sort = request.args.get("show", ""), request.args.get("sort", "")
    return PeopleQuery(
        show=show if show in FILTERS else "all",
        part=request.args.get("part", "")[:40],
        sort=sort if sort in COLUMNS else "number",
        descending=request.args.get("order") == "down",
        page=request.args.get("page", 1, type=int),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PeoplePart:
    """A part of the table: rows, number in all, and which part of how many."""

    rows: Sequence[PersonRow]
    total: int
    page: int
    pages: int


@blueprint.get("/r/<study>/people")
@viewer_required
def people(console_request: ConsoleRequest) -> Response:
    """Show everybody who came, with progress, time, state and quality checks."""
    query = _people_query()
    return page(
        "console/people.html",
        console_request,
        query=query,
        table=people_part(
            console_request.session, server().plans, console_request.study, query, now=console_request.now
        ),
        columns=COLUMNS,
        filters=FILTERS,
        states=STATES,
        format_minutes=format_minutes,
    )


@blueprint.get("/r/<study>/people.csv")
@download("take the list of people")
def people_csv(console_request: ConsoleRequest) -> Response:
    """Return the whole table, as it is filtered and sorted, as CSV."""
    session, study, now = console_request.session, console_request.study, console_request.now
    rows = people_part(session, server().plans, study, _people_query(), now=now, size=None).rows
    console_request.note(f"{pluralise(len(rows), 'person', 'people')}, under pseudonyms")
    return csv_response(f"{study.name}-people", CSV, ([cell(row) for cell in CSV.values()] for row in rows))


CSV: Mapping[str, Callable[[PersonRow], Any]] = {
    "number": lambda row: row.number,
    "worker": lambda row: row.pseudonym,
    "state": lambda row: row.state,
    "arrived_at": lambda row: _hour(row.arrived_at),
    "last_seen_at": lambda row: _hour(row.last_seen_at),
    "minutes": lambda row: "" if row.minutes is None else f"{row.minutes:.2f}",
    "task": lambda row: row.last_task.name if row.last_task else "",
    "done": lambda row: row.last_task.done if row.last_task else "",
    "held": lambda row: row.last_task.slots if row.last_task else "",
    "repeats": lambda row: row.care.repeats.pairs,
    "consistent": lambda row: row.care.repeats.passed,
    "gold_pairs": lambda row: row.care.gold.pairs,
    "gold_right": lambda row: row.care.gold.passed,
    "flags": lambda row: ", ".join(row.care.flags),
    "excluded": lambda row: ", ".join(row.care.excluded),
    "device": lambda row: row.window.device if row.window else "",
    "width": lambda row: row.window.width if row.window else "",
    "height": lambda row: row.window.height if row.window else "",
    "pages_with_gaps": lambda row: row.gaps.pages,
    "answers_without_log": lambda row: row.gaps.answers,
}
"""Values of a row by column of the CSV."""


def _hour(time: datetime) -> str:
    """Format a time rounded down to the hour, for privacy."""
    return time.replace(minute=0, second=0, microsecond=0).isoformat(timespec="milliseconds")


@blueprint.get("/r/<study>/people/<pseudonym>")
@viewer_required
def person(console_request: ConsoleRequest, pseudonym: str) -> Response:
    """Show one person's timeline: stages, pages, and answers with revisions."""
    session, study, now = console_request.session, console_request.study, console_request.now
    known = people_of(session, server().plans, study.id, now=now, pseudonym=pseudonym)
    if not known:
        text = f"No worker of this study is {pseudonym}. See the table of people."
        return message_page(study.name, "No such worker", text, 404)
    payments = payments_of(session, known[0].id) if console_request.may_act else ()
    if known[0].state == "withdrawn":
        text = "Their answers and logs are shown nowhere any more, and stand in no table."
        text += "".join(f"\nPayment: {payment.words}." for payment in payments)
        return message_page(study.name, f"{pseudonym} took the answers back", text, 200)
    group = request.args.get("of", "all")
    group = group if group in EVENT_GROUPS else "all"
    events = [
        event
        for event in timeline_events(session, study, known[0].id, with_sides=console_request.may_act)
        if event.at <= now and group in {"all", event.group}
    ]
    pages = max(1, -(-len(events) // ROWS))
    number = min(max(1, request.args.get("page", 1, type=int)), pages)
    _add_facts(session, study, known, FACTS, now=now)
    return page(
        "console/person.html",
        console_request,
        row=known[0],
        states=STATES,
        format_minutes=format_minutes,
        events=events[(number - 1) * ROWS : number * ROWS],
        total=len(events),
        group=group,
        groups=EVENT_GROUPS,
        codes=codes_shown(session, known[0].id),
        payments=payments,
        number=number,
        pages=pages,
        step_words=partial(step_words, study),
        may_replay=lambda step: console_request.may_act or step.kind not in SHOW_SYSTEMS,
    )


@blueprint.post("/r/<study>/people/find")
@manager_required(LOOK_UP)
def post_find(console_request: ConsoleRequest) -> Response:
    """Find a person by the id at the platform; the id stands in no address and not in the audit."""
    platform_id = request.form.get("platform_id", "")
    match = match_of(console_request.session, console_request.stored_study, platform_id)
    if match is None:
        console_request.note(NOBODY)
        return console_request.back("people")
    console_request.note(match.pseudonym)
    return console_request.back(f"people/{match.pseudonym}")


@blueprint.post("/r/<study>/people/<pseudonym>/withdraw")
@manager_required("withdraw")
def post_withdraw(console_request: ConsoleRequest, pseudonym: str) -> Response:
    """Withdraw a person who asked for it: no later export has their answers."""
    code = console_request.session.scalar(
        select(Worker.withdrawal_code).where(
            Worker.study_id == console_request.study.id, Worker.pseudonym == pseudonym
        )
    )
    if code is None or request.form.get("sure") != "yes":
        raise RefusedAction(
            "Nobody was withdrawn. Open the person's page, and tick the box before you press the button."
        )
    done = withdraw(console_request.session, code, now=console_request.now)
    if done is None or done.again:
        raise RefusedAction("This person had withdrawn already.", 409)
    console_request.note(pseudonym)
    return console_request.back("people")


def step_words(study: CachedStudy, step: Step | None) -> str:
    """Format a step: task 2 (summaries), query 1, pair 3."""
    if step is None:
        return ""
    name = PAGE_NAMES.get(step.kind, step.kind)
    if not step.task:
        return name
    task = study.tasks[step.task - 1]
    words = [f"task {step.task} ({task.entry.name})"]
    if step.query and task.kind.unit != "all":
        words.append(f"{task.kind.topic.lower() if task.kind.is_chosen else 'place'} {step.query}")
    return ", ".join([*words, f"{name} {step.pair}" if step.pair else name]).rstrip(", ")


def people_of(
    session: Session, plans: StudyCache, study_id: int, *, now: datetime, pseudonym: str | None = None
) -> list[PersonRow]:
    """Return everybody who ever came, or the worker of a pseudonym, by arrival."""
    workers = select(*_OWN).where(Worker.study_id == study_id).order_by(Worker.number)
    if pseudonym is not None:
        workers = workers.where(Worker.pseudonym == pseudonym)
    rows = session.execute(workers).all()
    undecided = [row for row in rows if row.consented_at is not None and row.withdrawn_at is None]
    unpressed = unpressed_workers(session, plans, undecided, now=now)
    return [_person(row, row.completed_at or unpressed.get(row.id), now) for row in rows]


_OWN = (
    Worker.id,
    Worker.number,
    Worker.pseudonym,
    Worker.arrived_at,
    Worker.last_seen_at,
    Worker.consented_at,
    Worker.completed_at,
    Worker.stopped_at,
    Worker.stopped_as,
    Worker.withdrawn_at,
)


def _person(row: Any, complete_at: datetime | None, now: datetime) -> PersonRow:
    until = complete_at or row.stopped_at or row.last_seen_at
    has_minutes = row.consented_at is not None and row.withdrawn_at is None
    return PersonRow(
        id=row.id,
        number=row.number,
        pseudonym=row.pseudonym,
        state=state_of(row, complete_at, now),
        arrived_at=row.arrived_at,
        last_seen_at=row.last_seen_at,
        minutes=max(0.0, (until - row.consented_at).total_seconds() / 60) if has_minutes else None,
    )


def people_part(
    session: Session,
    plans: StudyCache,
    study: CachedStudy,
    query: PeopleQuery,
    *,
    now: datetime,
    size: int | None = ROWS,
) -> PeoplePart:
    """Return a part of the table with at most ``size`` rows; None for all."""
    people = people_of(session, plans, study.id, now=now)
    rows = [row for row in people if query.part.strip().lower() in row.pseudonym]
    shown, column = FILTERS[query.show], COLUMNS[query.sort]
    _add_facts(session, study, rows, {shown.fact}, now=now)
    rows = [row for row in rows if shown.value(row)]
    _add_facts(session, study, rows, {column.fact} - {shown.fact}, now=now)
    known = [row for row in rows if column.value(row) is not None]
    rows = [
        *sorted(known, key=column.value, reverse=query.descending),
        *(row for row in rows if column.value(row) is None),
    ]
    total, size = len(rows), size or max(1, len(rows))
    pages = max(1, -(-total // size))
    number = min(max(1, query.page), pages)
    rows = rows[(number - 1) * size : number * size]
    _add_facts(session, study, rows, FACTS.keys() - {shown.fact, column.fact}, now=now)
    return PeoplePart(rows=rows, total=total, page=number, pages=pages)


def _add_facts(
    session: Session,
    study: CachedStudy,
    rows: Sequence[PersonRow],
    facts: Iterable[str | None],
    *,
    now: datetime,
) -> None:
    """Look up some facts and set them in the rows of those who did not withdraw."""
    present = {row.id: row for row in rows if row.state != "withdrawn"}
    everybody = select(Worker.id).where(Worker.study_id == study.id, Worker.withdrawn_at.is_(None))
    workers: Workers = present.keys() if len(present) <= MAX_NAMED else everybody
    for fact in set(facts) - {None}:
        for worker, value in FACTS[str(fact)](session, study, workers, now).items():
            if worker in present:
                setattr(present[worker], str(fact), value)
