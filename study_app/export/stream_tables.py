"""Rows of the tables that come from streams: follows, visits, activity, reads, stops; lateness and prompts."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

import pandas as pd
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from calibration.tables.tables import TABLES
from study_app.export.people import takes_part
from study_app.export.readings import whole_milliseconds
from study_app.export.stream_logs import FollowLog, ViewLog
from study_app.logs.visit_record import activity_rows
from study_app.protocol.domain import stream_time
from study_app.protocol.items import places_of, text_stop
from study_app.store.models import EPOCH, MILLISECOND, Assignment, Slot, Task, Topic, Worker
from study_app.store.task_models import Follow, Prompt, UsefulAnswer, UsefulQuestion


def follows_rows(follows: Sequence[FollowLog]) -> pd.DataFrame:
    """Return rows of table follows: everybody who enrolled, whether or not they came back."""
    rows = [
        (
            follow.worker,
            follow.topic,
            follow.system,
            follow.started_at,
            follow.ended_at,
            _time(follow.visits[-1].end) if follow.visits else follow.started_at,
        )
        for follow in follows
    ]
    return _frame("follows", rows)


def visits_rows(follows: Sequence[FollowLog]) -> pd.DataFrame:
    """Return rows of table visits."""
    return _frame("visits", [row for follow in follows for row in _visits(follow)])


def stream_activity_rows(follows: Sequence[FollowLog]) -> pd.DataFrame:
    """Return rows of table activity: the signs of life that make the visits, and no others."""
    rows = [
        (follow.worker, follow.topic, follow.system, follow.views[page].key, _time(at), kind)
        for follow in follows
        for page, at, kind in activity_rows(follow.visits)
    ]
    return _frame("activity", rows)


def stream_reads_rows(follows: Sequence[FollowLog]) -> pd.DataFrame:
    """Return rows of table reads: each update of each page that was seen."""
    return _frame("reads", [row for follow in follows for row in _reads(follow)])


def stream_stops_rows(follows: Sequence[FollowLog]) -> pd.DataFrame:
    """Return rows of table stops: how far each visit that told what was on its screen read into what was new."""
    return _frame("stops", [row for follow in follows for row in _stops(follow)])


def lateness_table(session: Session, study_id: int) -> pd.DataFrame:
    """Return table lateness: the newest revision of every answer to the question whether an update was still of use."""
    newest = (
        select(UsefulAnswer.question_id, func.max(UsefulAnswer.revision).label("revision"))
        .group_by(UsefulAnswer.question_id)
        .subquery()
    )
    rows = (
        select(
            Worker.pseudonym,
            Topic.name,
            UsefulQuestion.nugget,
            UsefulQuestion.visits_late,
            UsefulAnswer.useful,
        )
        .join(UsefulQuestion.answers)
        .join(
            newest,
            (newest.c.question_id == UsefulQuestion.id) & (newest.c.revision == UsefulAnswer.revision),
        )
        .join(Follow, Follow.id == UsefulQuestion.follow_id)
        .join(Follow.slot)
        .join(Slot.assignment)
        .join(Assignment.worker)
        .join(Slot.topic)
        .join(Topic.task)
        .where(takes_part(study_id))
        .order_by(Worker.number, Task.position, Slot.position, UsefulQuestion.asked_at, UsefulQuestion.place)
    )
    return _frame("lateness", session.execute(rows).all())


def prompts_table(session: Session, study_id: int) -> pd.DataFrame:
    """Return table prompts: the reminders that the researcher was given to send."""
    rows = (
        select(Worker.pseudonym, Topic.name, Prompt.sent_at)
        .join(Follow, Follow.id == Prompt.follow_id)
        .join(Follow.slot)
        .join(Slot.assignment)
        .join(Assignment.worker)
        .join(Slot.topic)
        .join(Topic.task)
        .where(takes_part(study_id))
        .order_by(Worker.number, Task.position, Slot.position, Prompt.sent_at)
    )
    return _frame("prompts", session.execute(rows).all())


def _visits(follow: FollowLog) -> Iterator[tuple[Any, ...]]:
    """Cells in the order of table visits."""
    came: set[int] = set()
    for number, (visit, exhausted) in enumerate(zip(follow.visits, follow.exhausted, strict=True), start=1):
        first = visit.signs[0].page
        yield (
            follow.worker,
            follow.topic,
            follow.system,
            number,
            _time(visit.start),
            _time(visit.end),
            _stream_time(follow, visit.start),
            visit.end_reason(exhausted=exhausted),
            "own" if first in came else follow.views[first].entry,
        )
        came |= visit.pages


def _reads(follow: FollowLog) -> Iterator[tuple[Any, ...]]:
    """Cells in the order of table reads."""
    interrupted = _interrupted(follow)
    for page, view in enumerate(follow.views):
        for (_, key), read in view.reading.items.items():
            first_seen, (place,) = view.times[read.first_seen], places_of([key])
            item = follow.text.update(place)
            yield (
                follow.worker,
                follow.topic,
                follow.system,
                view.key,
                follow.visit_number(first_seen),
                None,
                None,
                item.id,
                item.kind,
                item.words,
                item.chars,
                follow.text.end_offset(place, view.upto),
                _time(first_seen),
                _stream_time(follow, first_seen),
                whole_milliseconds(read.dwell_seconds),
                read.fully_seen,
                (page, key) in interrupted,
                follow.clock.language,
            )


def _interrupted(follow: FollowLog) -> set[tuple[int, str]]:
    """Return (page, item) of what was being read when a visit ended, unless its reader was through with it."""
    interrupted = set()
    for visit, exhausted in zip(follow.visits, follow.exhausted, strict=True):
        last = visit.signs[-1]
        reading = follow.views[last.page].reading
        if last.number in reading.broken_off:
            item = reading.broken_off[last.number]
            if not (reading.items[item].fully_seen and (exhausted or visit.is_left_by_form)):
                interrupted.add((last.page, item[1]))
    return interrupted


def _stops(follow: FollowLog) -> Iterator[tuple[Any, ...]]:
    """Cells in the order of table stops. A page belongs to the visit that opened it, whatever was read on it later."""
    came: set[int] = set()
    for visit in follow.visits:
        views = [follow.views[page] for page in sorted(visit.pages - came)]
        came |= visit.pages
        views_read = [view for view in views if view.reading.items]
        if views_read:
            yield _stop(follow, views_read)


def _stop(follow: FollowLog, views: Sequence[ViewLog]) -> tuple[Any, ...]:
    oldest, newest = 1 + min(view.after for view in views), max(view.upto for view in views)
    shares: defaultdict[str, float] = defaultdict(float)
    for view in views:
        for (_, key), item in view.reading.items.items():
            shares[key] = max(shares[key], item.share)
    tops = {key for view in views for _, key in view.reading.tops.values()}
    stop = text_stop(follow.text.shown(oldest, newest), shares, frozenset(), tops)
    return (
        follow.worker,
        follow.topic,
        follow.system,
        views[-1].key,
        None,
        None,
        None,
        round(stop.chars_read, 3),
        stop.chars_least,
        stop.text_chars,
        stop.reached_end,
        None,
        None,
        None,
        follow.clock.language,
    )


def _time(at: int) -> datetime:
    return EPOCH + at * MILLISECOND


def _stream_time(follow: FollowLog, at: int) -> datetime:
    return EPOCH + timedelta(
        seconds=stream_time(follow.started_at, follow.text.start, follow.clock.factor, _time(at))
    )


def _frame(table: str, rows: Sequence[Any]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=list(TABLES[table].column_names))
