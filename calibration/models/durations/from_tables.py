"""Times at risk from the tables follows, visits and prompts.

The tables show when each event could have happened. Away: a worker who follows a stream and is not in it may come back at any moment. Such
a stretch begins where the last visit ended (at enrolment, where there was none) and ends with the next visit, or is cut by a prompt or by
the end of the follow. Sessions: a worker who is in the stream may leave at any moment. Times away are in stream seconds (wall seconds x the
clock's factor), sessions in wall seconds.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal, TypeAlias

import numpy as np
import pandas as pd

from calibration.inference.results import NotIdentifiedError
from calibration.models.durations.exposure import DAY_SECONDS, CensoredDurations, Pieces, VisitsRead
from calibration.visits.followed_visits import (
    Ends,
    FollowedVisits,
    VisitTimes,
    compare_follow_ends,
    join_follows,
)
from metrics.arrays import Bools, Indices, Ints
from metrics.errors import percent

Unit: TypeAlias = Literal["worker", "follow"]
Inclusion: TypeAlias = Literal["all_enrolled", "at_least_one_visit"]
Dropout: TypeAlias = Literal["study_end", "last_seen"]
Window: TypeAlias = tuple[datetime, datetime]

MAX_PROMPTED_SHARE = 0.5
MAX_EXHAUSTED_SHARE = 0.9
MILLISECONDS = 1000


def away_exposure(
    tables: Mapping[str, pd.DataFrame],
    *,
    factor: float = 1.0,
    gap_seconds: float = 0.0,
    unit: Unit = "worker",
    inclusion: Inclusion = "all_enrolled",
    dropout: Dropout = "study_end",
    window: Window | None = None,
    joined: FollowedVisits | None = None,
) -> CensoredDurations:
    """Return the times at risk of coming back, from follows, visits and prompts.

    A visit ends a time away if it begins after the follow does: the visit in which somebody enrols is a session, but
    nobody came back for it. A visit that a prompt brought ends none either: the time is cut at the last prompt before it.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        visits; follows; prompts where there were any.
    factor : float
        Stream seconds in a wall second.
    gap_seconds : float
        Wall seconds; page views closer than that are one visit, so that nobody can come back sooner. That time is not
        at risk; an exponential time away has no memory, so what remains of it is distributed as the whole.
    unit : {'worker', 'follow'}
        Whose times away have one mean: a worker's over all topics, as the users of MSU, or each follow's.
    inclusion : {'all_enrolled', 'at_least_one_visit'}
        Who is in the tables: everybody who could come, or only who came. The second needs no table follows.
    dropout : {'study_end', 'last_seen'}
        Where the last time away is cut: at the follow's end, or at ``last_seen_at`` where that is given. Only for a
        sign of life that does not depend on visits, such as the removal of an app.
    window : (datetime, datetime), optional
        What was watched; used where there is no table follows.
    joined : FollowedVisits, optional
        What `calibration.visits.followed_visits.followed` makes of these tables, where it is known.

    Returns
    -------
    Exposure
        Of design ``window``.

    Raises
    ------
    NotIdentifiedError
        If the tables cannot tell times away; the message says why.
    """
    _check_watched(tables, inclusion, window)
    joined = joined or join_follows(tables, window)
    follows, stays = joined.follows, joined.stays
    gap = round(gap_seconds * MILLISECONDS)
    enrolment = stays.is_first & (stays.start <= follows.start[stays.follow])
    away_since = np.where(stays.is_first, follows.start[stays.follow], stays.previous_end)
    until, unknown = _until(joined, away_since, tables.get("prompts"))
    counted = ~enrolment
    tail_since, tail_until = _tails(joined, gap, last_seen=dropout == "last_seen")
    follow = np.concatenate([stays.follow[counted], np.arange(len(follows), dtype=np.intp)])
    stop = np.concatenate([until[counted], tail_until])
    start = np.concatenate([(away_since + gap * ~stays.is_first)[counted], tail_since])
    begun, rate = follows.start[follow], factor / MILLISECONDS
    seen_anyway = np.bincount(stays.follow[enrolment | stays.prompted], minlength=len(follows)) > 0
    return CensoredDurations.from_intervals(
        Pieces(
            follow=follow,
            start=(np.minimum(start, stop) - begun) * rate,
            stop=(stop - begun) * rate,
            event=np.concatenate([~stays.prompted[counted], np.zeros(len(follows), dtype=bool)]),
        ),
        follow_unit=_units(joined, unit),
        follow_seconds=(follows.end - follows.start).astype(np.float64) * rate,
        seen_anyway=seen_anyway if inclusion == "at_least_one_visit" else None,
        design="window",
        read=VisitsRead(
            left_out=joined.left_out,
            ends=compare_follow_ends(tables["visits"], tables["follows"]) if "follows" in tables else Ends(),
            prompted=float(stays.prompted.mean()) if len(stays) else 0.0,
            prompts_unknown=unknown,
            gap_seconds=gap / MILLISECONDS,
            closer_than_gap=int((~stays.is_first & (stays.start - stays.previous_end < gap)).sum()),
            only_who_came=inclusion == "at_least_one_visit",
            several_topics=bool(joined.streams["worker"].duplicated().any()),
        ),
        follow_begun=(follows.start - _midnight(follows.start)).astype(np.float64) * rate,
        day_seconds=DAY_SECONDS * factor,
    )


def session_exposure(
    tables: Mapping[str, pd.DataFrame], *, unit: Unit = "worker", joined: FollowedVisits | None = None
) -> CensoredDurations:
    """Return the times at risk of leaving, from visits.

    Complete are visits that ended ``left`` or ``idle``. Where nothing was left to read (``exhausted``), where events
    just stop (``lost``) and at the end of the study the session was cut: it would have been longer.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        visits; follows where there are any: visits are cut at their ends.
    unit : {'worker', 'follow'}
        Whose sessions have one mean.
    joined : FollowedVisits, optional
        As for `away_exposure`.

    Returns
    -------
    Exposure
        Of design ``count``; who made no visit is not in it.

    Raises
    ------
    NotIdentifiedError
        If there are no visits, more than a tenth belongs to no follow, or nearly all ended because nothing was left to read.
    """
    if "visits" not in tables:
        raise NotIdentifiedError("there is no table visits")
    if tables["visits"].empty:
        raise NotIdentifiedError("there is no visit in the tables")
    joined = joined or join_follows(tables)
    stays = joined.stays
    counted = stays.complete | (stays.end > stays.start)
    exhausted = _exhausted_share(stays, counted)
    begun = joined.follows.start[stays.follow]
    return CensoredDurations.from_intervals(
        Pieces(
            follow=stays.follow,
            start=(stays.start - begun) / MILLISECONDS,
            stop=(stays.end - begun) / MILLISECONDS,
            event=stays.complete,
        ),
        follow_unit=_units(joined, unit),
        follow_seconds=(joined.follows.end - joined.follows.start) / MILLISECONDS,
        seen_anyway=None,
        design="count",
        read=VisitsRead(
            left_out=joined.left_out,
            visits=len(stays),
            without_length=int((~counted).sum()),
            without_length_exhausted=int((stays.exhausted & ~counted).sum()),
            exhausted=exhausted,
        ),
    )


def _check_watched(tables: Mapping[str, pd.DataFrame], inclusion: Inclusion, window: Window | None) -> None:
    """Raise if the tables do not say who was watched, and how long."""
    if "visits" not in tables:
        raise NotIdentifiedError("there is no table visits")
    if "follows" not in tables and inclusion == "all_enrolled":
        raise NotIdentifiedError(
            "there is no table follows, so who never came and how long each was watched is unknown "
            "(if only people who came are in the tables, say so: inclusion at_least_one_visit)"
        )
    if "follows" not in tables and window is None:
        raise NotIdentifiedError(
            "there is no table follows, and study.json does not say when the watching began and ended"
        )


def _exhausted_share(stays: VisitTimes, counted: Bools) -> float:
    """Return the share of visits that ended because the material was read.

    It covers visits that count, if the rest identify how long people stay.
    """
    if not len(stays):
        raise NotIdentifiedError("every visit lies before its follow began or after it ended")
    if not counted.any():
        raise NotIdentifiedError(f"all {len(stays)} visits were cut as soon as they began")
    share = float(stays.exhausted[counted].mean())
    if share > MAX_EXHAUSTED_SHARE:
        raise NotIdentifiedError(
            f"{percent(share)} of the visits ended because nothing was left to read, so how long workers would have "
            "stayed is unknown"
        )
    return share


def _midnight(times: Ints) -> int:
    """Return the last midnight (UTC) before the first of these times."""
    day = round(DAY_SECONDS * MILLISECONDS)
    return int(times.min(initial=np.iinfo(np.int64).max)) // day * day


def _units(followed: FollowedVisits, unit: Unit) -> Indices:
    return followed.follows.worker if unit == "worker" else np.arange(len(followed.follows), dtype=np.intp)


def _until(followed: FollowedVisits, away_since: Ints, prompts: pd.DataFrame | None) -> tuple[Ints, int]:
    """Return the end of each time away, and the number of missing prompts.

    It ends at the visit, or at the last prompt before a prompted visit.
    """
    stays = followed.stays
    if not stays.prompted.any():
        return stays.start, 0
    share = float(stays.prompted.mean())
    if share > MAX_PROMPTED_SHARE:
        raise NotIdentifiedError(
            f"{percent(share)} of the visits were brought by a reminder or an invitation: they say when it was sent, "
            "not when workers come by themselves"
        )
    sent = np.full(len(stays), np.iinfo(np.int64).min)
    if prompts is not None:
        sent = followed.last_before(prompts, "sent_at")
    known = stays.prompted & (sent >= away_since)
    return np.where(known, sent, stays.start), int((stays.prompted & ~known).sum())


def _tails(followed: FollowedVisits, gap: int, *, last_seen: bool) -> tuple[Ints, Ints]:
    """Return begin and end of each follow's last watched time away."""
    follows, last = followed.follows, followed.stays.is_last
    left = follows.start.copy()
    left[followed.stays.follow[last]] = followed.stays.end[last]
    since = left.copy()
    since[followed.stays.follow[last]] += gap
    until = np.clip(follows.last_seen, left, follows.end) if last_seen else follows.end
    return since, until
