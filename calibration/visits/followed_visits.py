"""Follows and visits as arrays: each visit in its follow, cut and in order.

Visits are cut at the follow's ends and do not overlap. What the fits need of the tables follows and visits;
`calibration.models.durations.from_tables` makes times at risk of it. Two things that are legal in both tables make times away wrong without
a sign, and are looked for here: names that differ between the files turn people who came into people who never did, and a follow that ends
at the last visit has no time after it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from calibration.inference.results import NotIdentifiedError
from metrics.arrays import Bools, Indices, Ints

COMPLETE = ("left", "idle")
PROMPTED = ("reminder", "invitation")
MAX_ORPHAN_SHARE = 0.1
FAULTY_ORPHANS = 0.5
MIN_FOLLOWS = 10
MANY_AT_LAST_VISIT = 0.9
CLOSE_MILLISECONDS = 1000
ASK = "are worker and topic names the same in both files?"
ASK_TIMES = (
    "are the times of visits and follows of one time zone, and do follows last until the end of the study?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Follows:
    """Follows with begin and end, in milliseconds since 1970.

    Attributes
    ----------
    worker : (f,) ndarray of int
        Number of the worker of each follow (one worker and topic), from 0 without holes.
    start, end : (f,) ndarray of int
        When it began and ended.
    last_seen : (f,) ndarray of int
        Last sign of life, the end where none is given.
    """

    worker: Indices
    start: Ints
    end: Ints
    last_seen: Ints

    def __len__(self) -> int:
        """Return the number of follows."""
        return len(self.start)


@dataclass(frozen=True, slots=True, kw_only=True)
class VisitTimes:
    """Visits inside follows, ordered, without overlap, in milliseconds since 1970.

    They are sorted by follow and time.

    Attributes
    ----------
    follow : (v,) ndarray of int
        Place in `Follows`.
    start, end : (v,) ndarray of int
        Of the visit, cut at the ends of the follow.
    complete, exhausted, prompted : (v,) ndarray of bool
        The worker left by choice; nothing was left to read; a reminder or invitation brought the worker.
    """

    follow: Indices
    start: Ints
    end: Ints
    complete: Bools
    exhausted: Bools
    prompted: Bools

    def __len__(self) -> int:
        """Return the number of visits."""
        return len(self.start)

    @property
    def is_first(self) -> Bools:
        """Mask of the first visit of each follow, (v,)."""
        return np.diff(self.follow, prepend=-1) > 0

    @property
    def is_last(self) -> Bools:
        """Mask of the last visit of each follow, (v,)."""
        return np.diff(self.follow, append=np.iinfo(np.intp).max) > 0

    @property
    def previous_end(self) -> Ints:
        """End of the previous visit, (v,); meaningless for the first of a follow."""
        return np.concatenate([self.start[:1], self.end[:-1]])


class UnusableVisits(NamedTuple):
    """Counts of visits without a follow, outside theirs, or cut at its begin."""

    without_follow: int = 0
    outside_follow: int = 0
    before_follow: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowedVisits:
    """Follows and their visits, with counts of unusable ones.

    Attributes
    ----------
    follows, stays
        Which belong together.
    streams : DataFrame
        worker, topic of each follow, for joining other tables.
    left_out : UnusableVisits
        Visits that could not be used.
    """

    follows: Follows
    stays: VisitTimes
    streams: pd.DataFrame
    left_out: UnusableVisits

    def last_before(self, table: pd.DataFrame, at: str) -> Ints:
        """Return the last time of a table's column ``at`` before each visit.

        The row has the same worker and topic, and a time up to the visit's start.

        Returns
        -------
        (v,) ndarray of int
            The least integer where there is none.
        """
        row = places(table, self.streams)
        times = milliseconds(table[at])[row >= 0]
        order = np.lexsort((times, row[row >= 0]))
        key = _keys(row[row >= 0][order], times[order], self.follows)
        rows = (
            np.searchsorted(key, _keys(self.stays.follow, self.stays.start, self.follows), side="right") - 1
        )
        none = np.iinfo(np.int64).min
        if not len(key):
            return np.full(len(self.stays), none)
        same = (rows >= 0) & (row[row >= 0][order][rows] == self.stays.follow)
        return np.where(same, times[order][rows], none)


def join(
    visits: pd.DataFrame, follows: pd.DataFrame | None, window: tuple[datetime, datetime] | None
) -> FollowedVisits:
    """Join each visit with its follow, and cut it at the follow's ends.

    Parameters
    ----------
    visits : DataFrame
        Table visits. Visits of one worker and topic that overlap are united.
    follows : DataFrame or None
        Table follows. Follows of two systems of one topic by one worker are one, from the first start to the last end.
        None: every worker and topic of a visit was watched during ``window``.
    window : (datetime, datetime) or None
        None, when there are no follows either: as long as the visits last.
    """
    rows = _watched(visits, window) if follows is None else _spans(follows)
    rows = rows[rows["ended_at"] > rows["started_at"]].reset_index(drop=True)
    watched = Follows(
        worker=pd.factorize(rows["worker"])[0].astype(np.intp),
        start=milliseconds(rows["started_at"]),
        end=milliseconds(rows["ended_at"]),
        last_seen=milliseconds(rows["last_seen_at"].fillna(rows["ended_at"])),
    )
    streams = rows[["worker", "topic"]]
    visit_times, left_out = _stays(visits, places(visits, streams), watched)
    return FollowedVisits(follows=watched, stays=visit_times, streams=streams, left_out=left_out)


def milliseconds(times: "pd.Series[Any]") -> Ints:
    """Convert times to milliseconds since 1970; none may be missing."""
    return np.asarray(times.dt.as_unit("ms").astype("int64"), dtype=np.int64)


def places(table: pd.DataFrame, streams: pd.DataFrame) -> Indices:
    """Return the row in ``streams`` of each row's worker and topic, or -1."""
    size = len(streams)
    worker = pd.factorize(pd.concat([streams["worker"], table["worker"]], ignore_index=True))[0]
    topic, topics = pd.factorize(pd.concat([streams["topic"], table["topic"]], ignore_index=True))
    key = worker.astype(np.int64) * max(len(topics), 1) + topic
    if not size:
        return np.full(len(table), -1, dtype=np.intp)
    order = np.argsort(key[:size], kind="stable")
    rows = np.minimum(np.searchsorted(key[:size], key[size:], sorter=order), size - 1)
    return np.where(key[:size][order[rows]] == key[size:], order[rows], -1)


def in_order(group: Indices, at: Ints, mark: Ints) -> Indices:
    """Return the order by group, time and mark (0 to 3).

    Rows equal in all three keep their order.

    Logs come nearly in order, which a sort by one number makes use of; times too far apart for one number take three.
    """
    if not len(at):
        return np.zeros(0, dtype=np.intp)
    low, high, groups = int(at.min()), int(at.max()), int(group.max()) + 1
    if groups * (high - low + 1) * 4 > np.iinfo(np.int64).max:
        return np.lexsort((mark, at, group))
    return np.argsort((group * (high - low + 1) + (at - low)) * 4 + mark, kind="stable")


def _spans(follows: pd.DataFrame) -> pd.DataFrame:
    rows = follows.assign(last_seen_at=follows.get("last_seen_at", follows["ended_at"]))
    if not rows.duplicated(["worker", "topic"]).any():
        return rows[["worker", "topic", "started_at", "ended_at", "last_seen_at"]]
    spans = rows.groupby(["worker", "topic"], sort=False, as_index=False)
    return spans.agg(
        started_at=("started_at", "min"), ended_at=("ended_at", "max"), last_seen_at=("last_seen_at", "max")
    )


def _watched(visits: pd.DataFrame, window: tuple[datetime, datetime] | None) -> pd.DataFrame:
    instant = pd.Timedelta(milliseconds=1)
    start, end = window or (visits["start"].min() - instant, visits["end"].max() + instant)
    times = pd.Series([start, end]).dt.as_unit("ms")
    rows = visits[["worker", "topic"]].drop_duplicates(ignore_index=True)
    return rows.assign(started_at=times[0], ended_at=times[1], last_seen_at=times[1])


def _stays(visits: pd.DataFrame, row: Indices, follows: Follows) -> tuple[VisitTimes, UnusableVisits]:
    start, end = milliseconds(visits["start"]), milliseconds(visits["end"])
    known = row >= 0
    opened, closed = follows.start[row], follows.end[row]
    inside = known & (start < closed) & ((end > opened) | (start >= opened))
    beyond = (end > closed + CLOSE_MILLISECONDS) | (start < opened - CLOSE_MILLISECONDS)
    left_out = UnusableVisits(
        without_follow=int((~known).sum()),
        outside_follow=int((known & ~inside & beyond).sum()),
        before_follow=int((inside & (start < opened - CLOSE_MILLISECONDS)).sum()),
    )
    reason = visits["end_reason"]
    prompted = (
        visits["entry"].isin(PROMPTED) if "entry" in visits else pd.Series(data=False, index=visits.index)
    )
    rows = VisitTimes(
        follow=row[inside],
        start=np.maximum(start, opened)[inside],
        end=np.minimum(end, closed)[inside],
        complete=(reason.isin(COMPLETE).to_numpy(bool) & (end <= closed))[inside],
        exhausted=reason.isin(["exhausted"]).to_numpy(bool)[inside],
        prompted=prompted.to_numpy(bool)[inside],
    )
    return _united(rows, follows), left_out


def _united(rows: VisitTimes, follows: Follows) -> VisitTimes:
    """Merge overlapping visits, ordered by follow and time.

    A merged visit ends as the one that ends last.
    """
    key = _keys(rows.follow, rows.start, follows)
    order = np.lexsort((rows.end, key))
    follow, start, end = rows.follow[order], rows.start[order], rows.end[order]
    reach = np.maximum.accumulate(_keys(follow, end, follows)) if len(end) else end
    opens = np.ones(len(follow), dtype=bool)
    opens[1:] = (follow[1:] != follow[:-1]) | (key[order][1:] >= reach[:-1])
    firsts = np.flatnonzero(opens)
    visit = np.cumsum(opens) - 1
    latest = np.maximum.reduceat(end, firsts) if len(firsts) else end
    ends = np.zeros(len(firsts), dtype=np.intp)
    closing = np.flatnonzero(end == latest[visit])
    ends[visit[closing]] = closing
    return VisitTimes(
        follow=follow[firsts],
        start=start[firsts],
        end=latest,
        complete=rows.complete[order][ends],
        exhausted=rows.exhausted[order][ends],
        prompted=rows.prompted[order][firsts],
    )


def _keys(follow: Indices, times: Ints, follows: Follows) -> Ints:
    """Return integers ordered like follow, then time.

    Times must not lie outside all follows.
    """
    low, high = int(follows.start.min(initial=0)), int(follows.end.max(initial=0))
    return follow.astype(np.int64) * (high - low + 1) + (np.clip(times, low, high) - low)


class Ends(NamedTuple):
    """Counts of follows with a visit, and of those that end with their last one.

    The two ends differ by at most a second.
    """

    visited: int = 0
    at_last_visit: int = 0

    @property
    def is_suspicious(self) -> bool:
        """True if the ends seem to be taken from the visits."""
        return self.visited >= MIN_FOLLOWS and self.at_last_visit >= MANY_AT_LAST_VISIT * self.visited

    def __str__(self) -> str:
        """Format as the beginning of a sentence."""
        return f"{self.at_last_visit} of {self.visited} follows with a visit end where their last visit does"


def orphans(visits: pd.DataFrame, follows: pd.DataFrame) -> Bools:
    """Return the mask of visits without a follow of their worker and topic, (v,)."""
    return np.asarray(places(visits, follows[["worker", "topic"]]) < 0)


def outside(visits: pd.DataFrame, follows: pd.DataFrame) -> Bools:
    """Return the mask of visits outside their follow, (v,).

    Such a visit begins more than a second before its follow, or after the follow ended.
    """
    spans = _spans(follows)
    row = places(visits, spans[["worker", "topic"]])
    if not len(spans):
        return np.zeros(len(visits), dtype=bool)
    start = milliseconds(visits["start"])
    opened, closed = (milliseconds(spans[name])[row] for name in ("started_at", "ended_at"))
    is_outside = (start < opened - CLOSE_MILLISECONDS) | (start > closed + CLOSE_MILLISECONDS)
    return np.asarray((row >= 0) & is_outside)


def orphans_in_words(count: int, visits: int) -> str:
    """Return a clause: `3 of 9 visits belong to no follow`.

    If none has one, it is `all 9 visits belong to no follow`.
    """
    if count == visits == 1:
        return "the only visit belongs to no follow"
    some = f"{count} of {visits}" if count < visits else f"all {visits}"
    return f"{some} visits {'belongs' if count == 1 else 'belong'} to no follow"


def refuse_orphans(tables: Mapping[str, pd.DataFrame]) -> None:
    """Raise if too many visits belong to no follow to be an accident.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        visits; follows where there are any.

    Raises
    ------
    NotIdentifiedError
        If it is more than a tenth of the visits.
    """
    visits = tables["visits"]
    if "follows" not in tables or visits.empty:
        return
    count = int(orphans(visits, tables["follows"]).sum())
    if count > MAX_ORPHAN_SHARE * len(visits):
        raise NotIdentifiedError(f"{orphans_in_words(count, len(visits))}: {ASK}")


def join_follows(
    tables: Mapping[str, pd.DataFrame], window: tuple[datetime, datetime] | None = None
) -> FollowedVisits:
    """Return the join of visits and follows, checked by `refuse_orphans`."""
    refuse_orphans(tables)
    return join(tables["visits"], tables.get("follows"), window)


def compare_follow_ends(visits: pd.DataFrame, follows: pd.DataFrame) -> Ends:
    """Compare each follow's end with the end of its last visit.

    All systems of a worker and topic are one follow.
    """
    streams = ["worker", "topic"]
    ended = follows.groupby(streams, sort=False)["ended_at"].max()
    last = visits.groupby(streams, sort=False)["end"].max()
    both = pd.concat([ended, last], axis="columns", join="inner", keys=["ended", "last"])
    apart = np.abs(milliseconds(both["ended"]) - milliseconds(both["last"]))
    return Ends(visited=len(both), at_last_visit=int((apart <= CLOSE_MILLISECONDS).sum()))
