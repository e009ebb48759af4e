"""The people of a study as a table: where each is, for how long, how it ended, with what care, and what is missing of the log.

A line costs several questions to the database; so only what is asked for is looked up of everybody (what the table is sorted and
filtered by), and the rest of those who stand on the page. Nobody's id on the platform is in it, nor which system anybody preferred.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from study_app.services.console.facts import FACTS, Care, Consistency, Gaps, Reached, Window, Workers
from study_app.services.researcher.completion import unpressed_workers
from study_app.store.models import Worker
from study_app.store.plan import Plans, StudyPlan

FEW = 100
"""Up to so many workers are named in a statement; of more the whole study is asked about, which costs a database less."""

AT_WORK = timedelta(minutes=10)

"""Who was not heard of for longer is away."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonState:
    """What is stored of a worker by itself; the other columns are in `FACTS`.

    Attributes
    ----------
    state : str
        door (came, no consent), work (heard of within `AT_WORK`), away, complete (every required answer is stored, the last
        button pressed or not), screened_out, failed_checks, partial, withdrawn.
    minutes : float or None
        From consent to the end, or to the last sign of life; None without consent.
    """

    id: int
    number: int
    pseudonym: str
    state: str
    arrived_at: datetime
    last_seen_at: datetime
    ended_at: datetime | None
    minutes: float | None


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


def people_of(
    session: Session, plans: Plans, study: int, *, now: datetime, pseudonym: str | None = None
) -> list[PersonState]:
    """Return everybody who ever came, in order of arrival; with ``pseudonym`` only who has it."""
    wanted = select(*_OWN).where(Worker.study_id == study).order_by(Worker.number)
    if pseudonym is not None:
        wanted = wanted.where(Worker.pseudonym == pseudonym)
    rows = session.execute(wanted).all()
    undecided = [row for row in rows if row.consented_at is not None and row.withdrawn_at is None]
    unpressed = unpressed_workers(session, plans, undecided, now=now)
    return [_person(row, row.completed_at or unpressed.get(row.id), now) for row in rows]


def _person(row: Any, complete_at: datetime | None, now: datetime) -> PersonState:
    ended_at = row.withdrawn_at or complete_at or row.stopped_at
    until = complete_at or row.stopped_at or row.last_seen_at
    spent = None if row.consented_at is None else max(0.0, (until - row.consented_at).total_seconds() / 60)
    return PersonState(
        id=row.id,
        number=row.number,
        pseudonym=row.pseudonym,
        state=_state(row, complete_at, now),
        arrived_at=row.arrived_at,
        last_seen_at=row.last_seen_at,
        ended_at=ended_at,
        minutes=spent if row.withdrawn_at is None else None,
    )


def _state(row: Any, complete_at: datetime | None, now: datetime) -> str:
    if row.withdrawn_at is not None:
        return "withdrawn"
    if complete_at is not None:
        return "complete"
    if row.stopped_as is not None:
        return str(row.stopped_as)
    if row.consented_at is None:
        return "door"
    return "work" if now - row.last_seen_at <= AT_WORK else "away"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line of the table; ``reached`` and ``window`` are None of whom nothing is known, as all is of who withdrew."""

    person: PersonState
    reached: Reached | None = None
    consistency: Consistency = field(default_factory=Consistency)
    care: Care = field(default_factory=Care)
    window: Window | None = None
    gaps: Gaps = field(default_factory=Gaps)


@dataclass(frozen=True, slots=True, kw_only=True)
class PeoplePart:
    """A part of the table: its lines, how many there are in all, and which part of how many it is (from 1)."""

    lines: Sequence[Line]
    total: int
    page: int
    pages: int


SORTS: Mapping[str, tuple[str | None, Callable[[Line], Any]]] = {
    "number": (None, lambda line: line.person.number),
    "pseudonym": (None, lambda line: line.person.pseudonym),
    "minutes": (None, lambda line: line.person.minutes),
    "state": (None, lambda line: line.person.state),
    "reached": ("reached", lambda line: line.reached and (line.reached.task, line.reached.done)),
    "consistency": ("consistency", lambda line: line.consistency.share),
    "flags": ("care", lambda line: len(line.care.flags) + len(line.care.excluded)),
    "device": ("window", lambda line: line.window and (line.window.width, line.window.height)),
    "gaps": ("gaps", lambda line: line.gaps.pages + line.gaps.answers),
}

"""What the table can be sorted by -> the fact that takes, and its value; None comes last either way."""

FILTERS: Mapping[str, tuple[str | None, Callable[[Line], bool]]] = {
    "all": (None, lambda _line: True),
    "work": (None, lambda line: line.person.state == "work"),
    "away": (None, lambda line: line.person.state == "away"),
    "door": (None, lambda line: line.person.state == "door"),
    "complete": (None, lambda line: line.person.state == "complete"),
    "early": (None, lambda line: line.person.state in {"screened_out", "failed_checks", "partial"}),
    "withdrawn": (None, lambda line: line.person.state == "withdrawn"),
    "flagged": ("care", lambda line: bool(line.care.flags or line.care.excluded)),
    "gaps": ("gaps", lambda line: line.gaps != Gaps()),
}

"""Who is shown -> the fact that takes, and the condition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleAsked:
    """Which part of the table is asked for.

    Attributes
    ----------
    show, sort : str
        Keys of `FILTERS` and `SORTS`.
    part : str
        What is in the pseudonym.
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


def table(
    session: Session,
    plans: Plans,
    plan: StudyPlan,
    asked: PeopleAsked,
    *,
    now: datetime,
    size: int | None = 50,
) -> PeoplePart:
    """Return a part of the people of a study, of so many lines; all in one for a size of None."""
    lines = [
        Line(person=one)
        for one in people_of(session, plans, plan.id, now=now)
        if asked.part.strip().lower() in one.pseudonym
    ]
    (needed, is_wanted), (ranking, value) = FILTERS[asked.show], SORTS[asked.sort]
    lines = _learned(session, plan, lines, {needed}, now=now)
    lines = _learned(
        session, plan, [line for line in lines if is_wanted(line)], {ranking} - {needed}, now=now
    )
    known = sorted((one for one in lines if value(one) is not None), key=value, reverse=asked.descending)
    lines = [*known, *(one for one in lines if value(one) is None)]
    total, size = len(lines), size or max(1, len(lines))
    pages = max(1, -(-total // size))
    page = min(max(1, asked.page), pages)
    shown = lines[(page - 1) * size : page * size]
    shown = _learned(session, plan, shown, FACTS.keys() - {needed, ranking}, now=now)
    return PeoplePart(lines=shown, total=total, page=page, pages=pages)


def line_of(session: Session, plan: StudyPlan, person: PersonState, *, now: datetime) -> Line:
    """Return one worker's line."""
    return _learned(session, plan, [Line(person=person)], FACTS.keys(), now=now)[0]


def _learned(
    session: Session, plan: StudyPlan, lines: Sequence[Line], facts: Iterable[str | None], *, now: datetime
) -> list[Line]:
    """Return lines with some facts; of who withdrew nothing is looked up."""
    if not (facts := set(facts) - {None}):
        return list(lines)
    present = [line.person.id for line in lines if line.person.state != "withdrawn"]
    everybody = select(Worker.id).where(Worker.study_id == plan.id, Worker.withdrawn_at.is_(None))
    asked: Workers = present if len(present) <= FEW else everybody
    known = {fact: FACTS[fact](session, plan, asked, now) for fact in facts if fact is not None}
    wanted = set(present)
    return [
        _with(line, {fact: found[line.person.id] for fact, found in known.items() if line.person.id in found})
        if line.person.id in wanted
        else line
        for line in lines
    ]


def _with(line: Line, found: Mapping[str, Any]) -> Line:
    values = {name: getattr(line, name) for name in ("person", *FACTS)} | dict(found)
    return Line(**values)
