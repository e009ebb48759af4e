"""What each disturbance of a simulated crowd did to the data: how often it happened, and what the database says of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from study_app.simulate.crowd import CrowdReport
from study_app.store.models import Event, Judgment, PageLoad, Study, Worker
from study_app.store.task_models import StreamView, UsefulAnswer


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """One disturbance, how often it happened, and what it did to the data."""

    habit: str
    times: int
    said: str


def effects(session: Session, report: CrowdReport) -> list[Effect]:
    """Return the disturbances that happened, by name, each with what the stored data say of it.

    Parameters
    ----------
    session : Session
        Of a database that holds this crowd alone.
    report : CrowdReport
        What the crowd did.
    """
    return [
        Effect(habit=habit.replace("_", " "), times=times, said=_SAID[habit](session, report))
        for habit, times in sorted(report.habits.items())
        if times and habit in _SAID
    ]


def _unfinished(session: Session, report: CrowdReport) -> str:  # noqa: ARG001 - one form for all
    left = _count(session, select(Worker.id).where(Worker.completed_at.is_(None)))
    return f"{left} workers have no completion code; what they answered is kept"


def _refused(session: Session, report: CrowdReport) -> str:  # noqa: ARG001
    devices = {config["device"] for config in session.scalars(select(Study.config))}
    reason = "the study was full" if devices == {"any"} else "the study was full, or not for their device"
    return f"{reason}; they were not asked for consent, and nothing of theirs is stored"


def _turned_away(session: Session, report: CrowdReport) -> str:
    ends = {"failed_checks": "failed a check twice", "screened_out": "were screened out by an answer"}
    stopped = {end: _count(session, select(Worker.id).where(Worker.stopped_as == end)) for end in ends}
    said = [f"{stopped[end]} {words}" for end, words in ends.items() if stopped[end]]
    left = report.habits["turned_away"] - sum(stopped.values())
    if left > 0:
        said.append(f"for {left} nothing was left to do")
    return "; ".join(said)


def _loaded_again(session: Session, report: CrowdReport) -> str:  # noqa: ARG001
    loads = _count(session, select(PageLoad.id))
    visits = _count(session, select(StreamView.follow_id, StreamView.visit).distinct())
    return f"{loads} page loads were logged, each by itself" + (
        f", in {visits} visits to streams" if visits else ""
    )


def _sent_again(session: Session, report: CrowdReport) -> str:
    stored = _count(session, select(Event.id))
    highest = select(func.max(Event.number)).group_by(Event.page_load_id).subquery()
    holes = int(session.scalar(select(func.sum(highest.c[0]))) or 0) - stored
    again = report.events_sent - stored
    return f"{report.events_sent:,} events were sent, {again:,} of them again; {stored:,} are stored once, {holes} missing"


def _answers(session: Session, report: CrowdReport) -> str:  # noqa: ARG001
    stored = [_count(session, select(model.id)) for model in (Judgment, UsefulAnswer)]
    changed = [
        _count(session, select(model.id).where(model.revision > 1)) for model in (Judgment, UsefulAnswer)
    ]
    return f"{sum(stored)} answers to pairs and on updates are stored, {sum(changed)} of them as changes"


def _clock(session: Session, report: CrowdReport) -> str:  # noqa: ARG001
    steps = _count(session, select(Event.id).where(Event.kind == "sleep"))
    return f"{steps} steps of the clock are in the logs; times are those of the page's own clock"


def _unlogged(session: Session, report: CrowdReport) -> str:  # noqa: ARG001
    views = _count(
        session,
        select(StreamView.id)
        .outerjoin(PageLoad, PageLoad.key == StreamView.key)
        .where(PageLoad.id.is_(None)),
    )
    return f"{views} stream pages have no log; what is known of their visits comes from the forms"


_SAID: Mapping[str, Callable[[Session, CrowdReport], str]] = MappingProxyType(
    {
        "quit": _unfinished,
        "refused_at_the_door": _refused,
        "turned_away": _turned_away,
        "reload": _loaded_again,
        "two_tabs": _loaded_again,
        "offline": _sent_again,
        "retry": _sent_again,
        "double_click": _answers,
        "careless": _answers,
        "left_bias": _answers,
        "clock_jump": _clock,
        "no_script": _unlogged,
    }
)
"""Name of a habit -> what the data say of it."""


def _count(session: Session, query: Select[*tuple[Any, ...]]) -> int:
    return session.scalar(select(func.count()).select_from(query.subquery())) or 0
