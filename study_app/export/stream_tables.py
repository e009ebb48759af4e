"""Tables follows, visits, activity, reads, stops, lateness and prompts of streams."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pandas as pd
from sqlalchemy import select
from sqlalchemy.orm import Session

from calibration.tables.tables import TABLES
from study_app.export.answers import of_study
from study_app.export.event_log import flags, milliseconds, text_column, times
from study_app.export.readings import items_by_page, items_read
from study_app.export.stream_logs import FollowLog, StreamLogs, ViewRow
from study_app.logs.activity_kernels import AT, EVENT, FOLLOW, PAGE
from study_app.logs.event_arrays import FIRST_SEEN, KINDS, WHOLLY_SEEN, Int64s
from study_app.protocol.domain import stream_time
from study_app.protocol.items import text_stop
from study_app.store.models import EPOCH, MILLISECOND, Slot, Task, Topic, Worker
from study_app.store.revisions import is_newest
from study_app.store.task_models import Follow, Prompt, UsefulAnswer, UsefulQuestion


def follows_rows(logs: StreamLogs) -> pd.DataFrame:
    """Return rows of table follows: every enrolment, with or without visits."""
    rows = [
        (
            follow.worker,
            follow.topic,
            follow.system,
            follow.started_at,
            follow.ended_at,
            _time(follow.visits[-1][0].end) if follow.visits else follow.started_at,
        )
        for follow in logs.follows
    ]
    return _frame("follows", rows)


def visits_rows(logs: StreamLogs) -> pd.DataFrame:
    """Return rows of table visits."""
    return _frame("visits", [row for follow in logs.follows for row in _visits(follow, logs.views)])


def stream_activity_rows(logs: StreamLogs) -> pd.DataFrame:
    """Return rows of table activity, from which visits are cut."""
    signs, kinds = logs.activity
    return pd.DataFrame(
        {
            **_follow_columns(logs, signs[:, FOLLOW]),
            "page": text_column([view.key for view in logs.views], signs[:, PAGE]),
            "at": times(signs[:, AT]),
            "kind": text_column(KINDS, kinds),
        }
    )


def stream_reads_rows(logs: StreamLogs) -> pd.DataFrame:
    """Return rows of table reads: each seen update of each page."""
    notes, screens = logs.read.notes, logs.screens
    seen = np.flatnonzero(notes[:, FIRST_SEEN] >= 0)
    page, first_seen = screens.page_of_item[seen], logs.happened_ms[notes[seen, FIRST_SEEN]]
    follow = logs.follow[page]
    is_interrupted = np.zeros(len(notes), bool)
    is_interrupted[_interrupted(logs)] = True
    return pd.DataFrame(
        {
            **_follow_columns(logs, follow),
            "page": text_column([view.key for view in logs.views], page),
            "visit": _visit_numbers(logs, follow, first_seen),
            **items_read(screens, logs.read, seen),
            "end_offset_chars": _end_offsets(logs, seen, page),
            "first_seen": times(first_seen),
            "stream_at": _stream_times(logs, follow, first_seen),
            "interrupted": flags(is_interrupted[seen]),
            "language": text_column([follow.clock.language for follow in logs.follows], follow),
        }
    )


def stream_stops_rows(logs: StreamLogs) -> pd.DataFrame:
    """Return rows of table stops: reading depth of visits in new updates.

    A visit whose pages logged nothing of their screen has no row.
    """
    seen = defaultdict[int, list[tuple[str, float]]](list)
    for page, key, share in items_by_page(logs.screens, logs.read):
        seen[page].append((key, share))
    return _frame("stops", [row for follow in logs.follows for row in _stops(follow, logs, seen)])


def lateness_table(session: Session, study_id: int) -> pd.DataFrame:
    """Return table lateness: the newest answers about the use of late updates."""
    rows = of_study(
        select(
            Worker.pseudonym,
            Topic.name,
            UsefulQuestion.nugget,
            UsefulQuestion.visits_late,
            UsefulAnswer.useful,
        )
        .join(UsefulQuestion.answers)
        .join(Follow, Follow.id == UsefulQuestion.follow_id)
        .join(Follow.slot)
        .where(is_newest(UsefulAnswer)),
        study_id,
    ).order_by(Worker.pseudonym, Task.position, Slot.position, UsefulQuestion.asked_at, UsefulQuestion.place)
    return _frame("lateness", session.execute(rows).all())


def prompts_table(session: Session, study_id: int) -> pd.DataFrame:
    """Return table prompts: the reminders written for the researcher to send."""
    asked = select(Worker.pseudonym, Topic.name, Prompt.sent_at).join(Follow, Follow.id == Prompt.follow_id)
    rows = of_study(asked.join(Follow.slot), study_id).order_by(
        Worker.pseudonym, Task.position, Slot.position, Prompt.sent_at
    )
    return _frame("prompts", session.execute(rows).all())


def _visits(follow: FollowLog, views: Sequence[ViewRow]) -> Iterator[tuple[Any, ...]]:
    """Yield the cells of each row of table visits."""
    earlier_pages: set[int] = set()
    for number, (visit, exhausted) in enumerate(follow.visits, start=1):
        first = int(visit.signs[0, PAGE])
        yield (
            follow.worker,
            follow.topic,
            follow.system,
            number,
            _time(visit.start),
            _time(visit.end),
            _stream_time(follow, visit.start),
            visit.end_reason(exhausted=exhausted),
            "own" if first in earlier_pages else views[first].entry,
        )
        earlier_pages |= visit.pages


def _follow_columns(logs: StreamLogs, follow: Int64s) -> dict[str, Any]:
    """Return the columns worker, topic and system of rows."""
    return {
        "worker": text_column([follow_log.worker for follow_log in logs.follows], follow),
        "topic": text_column([follow_log.topic for follow_log in logs.follows], follow),
        "system": text_column([follow_log.system for follow_log in logs.follows], follow),
    }


def _visit_numbers(logs: StreamLogs, follow: Int64s, at: Int64s) -> Int64s:
    """Return the numbers (from 1) of the visits at some moments."""
    numbers = np.zeros(len(at), np.int64)
    for index, follow_log in enumerate(logs.follows):
        mine = follow == index
        numbers[mine] = np.searchsorted(
            [visit.start for visit, _ in follow_log.visits], at[mine], side="right"
        )
    return numbers


def _end_offsets(logs: StreamLogs, seen: Int64s, page: Int64s) -> Int64s:
    """Return the counted characters from the newest update to the end of each item."""
    texts = [follow.text for follow in logs.follows]
    begins = np.cumsum([0, *(len(text.end_chars) for text in texts)])[logs.follow[page]]
    end_chars = np.concatenate([text.end_chars for text in texts] or [np.zeros(0, np.int64)])
    newest = np.array([len(text.items) for text in texts], np.int64)[logs.follow[page]]
    position = newest - logs.screens.place_in_text(seen)
    upto = np.array([view.upto for view in logs.views], np.int64)[page]
    offsets: Int64s = end_chars[begins + upto] - end_chars[begins + position - 1]
    return offsets


def _stream_times(logs: StreamLogs, follow: Int64s, at: Int64s) -> Any:
    """Return the stream times of some moments, as function `stream_time` does."""
    start = np.array([follow_log.text.start for follow_log in logs.follows])[follow]
    factor = np.array([follow_log.clock.factor for follow_log in logs.follows])[follow]
    started = np.array([milliseconds(follow_log.started_at) for follow_log in logs.follows], np.int64)[follow]
    part, whole = np.modf(start + factor * ((at - started) / 1000))
    return pd.to_datetime(
        whole.astype(np.int64) * 10**6 + np.rint(part * 1e6).astype(np.int64), unit="us", utc=True
    )


def _interrupted(logs: StreamLogs) -> list[int]:
    """Return the items being read when a visit ended, without those read to the end."""
    ends = [
        (visit, exhausted, int(visit.signs[-1, EVENT]))
        for follow in logs.follows
        for visit, exhausted in follow.visits
    ]
    broken_off, notes = logs.read.broken_off, logs.read.notes
    return [
        item
        for visit, exhausted, last in ends
        if last >= 0
        and (item := int(broken_off[last])) >= 0
        and not (notes[item, WHOLLY_SEEN] >= 0 and (exhausted or visit.is_left_by_form))
    ]


def _stops(
    follow: FollowLog, logs: StreamLogs, seen: Mapping[int, Sequence[tuple[str, float]]]
) -> Iterator[tuple[Any, ...]]:
    """Yield the cells of each row of table stops.

    A page belongs to the visit that opened it, whatever was read on it later.
    """
    earlier_pages: set[int] = set()
    for visit, _ in follow.visits:
        pages = [page for page in sorted(visit.pages - earlier_pages) if page in seen]
        earlier_pages |= visit.pages
        if pages:
            yield _stop(follow, pages, logs, seen)


def _stop(
    follow: FollowLog, pages: Sequence[int], logs: StreamLogs, seen: Mapping[int, Sequence[tuple[str, float]]]
) -> tuple[Any, ...]:
    views = [logs.views[page] for page in pages]
    shares: defaultdict[str, float] = defaultdict(float)
    for page in pages:
        for key, share in seen[page]:
            shares[key] = max(shares[key], share)
    text, begin, end = follow.text.shown(
        1 + min(view.after for view in views), max(view.upto for view in views)
    )
    tops = {
        follow.text.items[item].key for item in logs.screens.place_in_text(logs.read.top[pages, 1]).tolist()
    }
    stop = text_stop(text.items[begin:end], shares, frozenset(), tops)
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
