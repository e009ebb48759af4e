"""Visits cut from table activity at a threshold.

A visit is a run of signs of life of one worker in one topic, over all pages, tabs and devices, no two
neighbours of which are further apart than the threshold; so every away time exceeds it. A page in sight
beats, a hidden one is silent: being hidden for longer than the threshold ends a visit, for less does not.
That a page is hidden or closed is the last sign of its being in sight; what becomes of a page out of sight (a
tab closed the next day) is no sign.

What a good threshold is, and how much depends on it: `calibration.visits.threshold`. That every observed away
time exceeds the threshold is repaired in the fit of away times (by memorylessness the threshold is taken off
the complete ones); session lengths know no such repair, so a threshold should be small, and the log should
have heartbeats.
"""

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from calibration.tables.definition import DTYPES
from calibration.tables.tables import TABLES
from calibration.visits.followed_visits import in_order, milliseconds, places
from metrics.arrays import Bools, Floats, Indices

STREAM = ["worker", "topic"]
_OUT_OF_SIGHT = ("close", "hidden")
_TYPES = {column.name: DTYPES[column.kind] for column in TABLES["visits"].columns}
Milliseconds: TypeAlias = NDArray[np.int64]


def visits_from_activity(
    activity: pd.DataFrame,
    *,
    idle_seconds: float,
    heartbeat_seconds: float | None = None,
    follows: pd.DataFrame | None = None,
    visits: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Cut table visits from table activity at a threshold.

    Parameters
    ----------
    activity : DataFrame
        Table activity, in any order; rows may repeat.
    idle_seconds : float
        Silences longer than this separate visits. At the ``visit_gap_seconds`` of study.json the exported
        visits come out again, starts and ends to the millisecond.
    heartbeat_seconds : float, optional
        How often a page in sight beats. Given, an `idle` visit ends half a heartbeat after its last sign of
        life: the middle of where it may have ended. All others, and all without it, end at the last sign.
    follows : DataFrame, optional
        Table follows. Signs before started_at do not count, nor do streams without a row here; a visit that
        goes on across ended_at is cut there (`study_end`), later ones do not count. A first visit that begins
        within ``idle_seconds`` of started_at is the enrolment visit and starts there.
    visits : DataFrame, optional
        Table visits as exported, for what activity does not tell: a visit that starts where an exported one
        does keeps its entry and stream_at, one that ends where an exported one does keeps its end_reason
        (`exhausted` above all).

    Returns
    -------
    DataFrame
        Table visits, by worker, topic and start. end_reason: `left` where the last sign is that a page went
        out of sight. Where a page in sight falls silent: `idle` (complete) if this page is heard of again
        later, or if the log never says that any page went out of sight; else `lost` (censored).

    Raises
    ------
    ValueError
        If ``idle_seconds`` is not positive, or not longer than a heartbeat.
    """
    signs = signs_of_life(activity, follows)
    return visits_from_signs(
        signs, idle_seconds=idle_seconds, heartbeat_seconds=heartbeat_seconds, visits=visits
    )


def visits_from_signs(
    signs: "ActivityTimes",
    *,
    idle_seconds: float,
    heartbeat_seconds: float | None = None,
    visits: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Cut visits from activity times at a threshold.

    `visits_from_activity` does the same; each threshold makes other visits.
    """
    _check(idle_seconds, heartbeat_seconds)
    if not len(signs.when):
        return TABLES["visits"].empty()
    cut = _cut(signs, idle_seconds, half_beat=500 * (heartbeat_seconds or 0))
    cut["visit"] = cut.groupby("stream").cumcount() + 1
    known = cut if visits is None else _with_what_was_known(cut, visits, signs.names)
    for name in ("start", "end"):
        known[name] = _times(known[name])
    # by its making each row is right, so nothing is checked
    return known.reindex(columns=TABLES["visits"].column_names).astype(_TYPES)


def _check(idle_seconds: float, heartbeat_seconds: float | None) -> None:
    if not idle_seconds > 0:
        raise ValueError(f"idle_seconds must be positive, got {idle_seconds!r}")
    if heartbeat_seconds is not None and idle_seconds <= heartbeat_seconds:
        raise ValueError(
            f"idle_seconds must be longer than a heartbeat of {heartbeat_seconds:g} s, got {idle_seconds!r}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivityTimes:
    """Times of activity by stream, (n,) each, in milliseconds since 1970.

    Attributes
    ----------
    names : DataFrame
        worker, topic of every stream.
    system : Series
        Of each sign.
    stream : ndarray of int
        Place in ``names``.
    when : ndarray of int
        When it was.
    leaves : ndarray of bool
        The page went out of sight.
    heard_again : ndarray of bool
        The page has a later sign.
    started_at, ended_at : ndarray of int
        Bounds of the follow.
    """

    names: pd.DataFrame
    system: "pd.Series[Any]"
    stream: Indices
    when: Milliseconds
    leaves: Bools
    heard_again: Bools
    started_at: Milliseconds
    ended_at: Milliseconds


def signs_of_life(activity: pd.DataFrame, follows: pd.DataFrame | None) -> ActivityTimes:
    """Return the activity times inside follows, as for `visits_from_activity`.

    Of pages that fall silent at the same moment, one that is heard of again comes last: its silence is the one that is
    understood.
    """
    worker, workers = pd.factorize(activity["worker"], sort=True)
    topic, topics = pd.factorize(activity["topic"], sort=True)
    stream, streams = pd.factorize(worker.astype(np.int64) * len(topics) + topic, sort=True)
    # by name, not by who came first: the order of rows decides nothing
    page, pages = pd.factorize(activity["page"], sort=True, use_na_sentinel=False)
    view, views = pd.factorize(stream * len(pages) + page, sort=True)
    at, leaves = milliseconds(activity["at"]), activity["kind"].isin(_OUT_OF_SIGHT).to_numpy(bool)
    row = in_order(view, at, leaves)
    left, of_view = leaves[row], view[row]
    row = row[~np.append(False, (of_view[1:] == of_view[:-1]) & left[1:] & left[:-1])] if len(row) else row
    last_of_view = np.empty(len(views), dtype=np.int64)
    last_of_view[view[row]] = at[row]  # of a view with several signs the last one stays
    heard_again = at < last_of_view[view]
    row = row[in_order(stream[row], at[row], leaves[row] * 2 + heard_again[row])]
    names = pd.DataFrame({"worker": workers[streams // len(topics)], "topic": topics[streams % len(topics)]})
    names = names.astype("str")
    started_at, ended_at, followed = _bounds(names, follows)
    row = row[followed[stream[row]] & (at[row] >= started_at[stream[row]])]
    stream = stream[row]
    return ActivityTimes(
        names=names,
        system=activity.reindex(columns=["system"])["system"].iloc[row],
        stream=stream,
        when=at[row],
        leaves=leaves[row],
        heard_again=heard_again[row],
        started_at=started_at[stream],
        ended_at=ended_at[stream],
    )


def _bounds(names: pd.DataFrame, follows: pd.DataFrame | None) -> tuple[Milliseconds, Milliseconds, Bools]:
    """Return begin and end of the follow of each stream, and whether there is one."""
    if follows is None:
        limits = np.iinfo(np.int64)
        size = len(names)
        return np.full(size, limits.min), np.full(size, limits.max), np.ones(size, dtype=bool)
    bounds = follows[STREAM].assign(
        started_at=milliseconds(follows["started_at"]), ended_at=milliseconds(follows["ended_at"])
    )
    spans = bounds.groupby(STREAM).agg({"started_at": "min", "ended_at": "max"})
    row = spans.index.get_indexer(pd.MultiIndex.from_frame(names))
    spans = spans.iloc[row]
    return spans["started_at"].to_numpy(), spans["ended_at"].to_numpy(), row >= 0


def gaps_milliseconds(signs: ActivityTimes) -> Floats:
    """Return the milliseconds since the previous activity of the stream.

    It is infinite for the stream's first.
    """
    gaps = np.full(len(signs.when), np.inf)
    gaps[1:] = np.where(np.diff(signs.stream) == 0, np.diff(signs.when), np.inf)
    return gaps


def _cut(signs: ActivityTimes, idle_seconds: float, half_beat: float) -> pd.DataFrame:
    """Return the visits of a threshold as columns.

    Each run of activity has worker, topic, system, stream, start and end (milliseconds) and end_reason.
    """
    first = np.flatnonzero(gaps_milliseconds(signs) > 1000 * idle_seconds)
    last = np.append(first[1:], len(signs.when)) - 1
    at, ended = signs.when, signs.ended_at[first]
    reason = _reasons(signs, last)
    end = at[last] + np.where(reason == "idle", round(half_beat), 0)
    reason[at[last] > ended] = "study_end"
    cut = signs.names.iloc[signs.stream[first]].reset_index(drop=True)
    cut["system"] = signs.system.iloc[first].array
    cut["stream"] = signs.stream[first]
    cut["start"] = _starts(signs, first, idle_seconds)
    cut["end"] = np.minimum(end, ended)
    cut["end_reason"] = reason
    return cut[at[first] <= ended].reset_index(drop=True)


def _reasons(signs: ActivityTimes, last: Indices) -> NDArray[np.object_]:
    """Return how each visit ended, by its last activity."""
    heard_again = signs.heard_again[last] | ~signs.leaves.any()
    return np.asarray(
        np.where(signs.leaves[last], "left", np.where(heard_again, "idle", "lost")), dtype=object
    )


def _starts(signs: ActivityTimes, first: Indices, idle_seconds: float) -> Milliseconds:
    """Return the first activity of each visit, or the enrolment.

    An enrolment visit starts at the enrolment.

    Only the first run of a stream can begin so soon: the others begin more than the threshold after it.
    """
    start, enrolled = signs.when[first], signs.started_at[first]
    # in floating point, since the bound of a stream without a follow is the smallest number there is
    soon = start.astype(np.float64) - enrolled <= 1000 * idle_seconds
    return np.asarray(np.where(soon, enrolled, start), dtype=np.int64)


def _with_what_was_known(cut: pd.DataFrame, visits: pd.DataFrame, names: pd.DataFrame) -> pd.DataFrame:
    """Copy entry, stream_at and end_reason from matching exported visits.

    The first two come from visits with the same start, end_reason from those with the same end.
    """
    exported = pd.DataFrame({"stream": places(visits, names)})
    for name in ("start", "end"):
        exported[name] = milliseconds(visits[name])
    first, last = _same(cut, exported, "start"), _same(cut, exported[::-1], "end")
    for name in ("entry", "stream_at"):
        if name in visits:
            cut[name] = visits[name].array.take(first, allow_fill=True)
    reason = pd.Series(visits["end_reason"].array.take(last, allow_fill=True))
    cut["end_reason"] = reason.where(reason.notna(), cut["end_reason"])
    return cut


def _same(cut: pd.DataFrame, exported: pd.DataFrame, time: str) -> Indices:
    """Return the matching exported visit of each visit, by label; -1 without any.

    It is the first with the same stream and time.
    """
    moment, moments = pd.factorize(np.concatenate([cut[time], exported[time]]))
    stream = np.concatenate([cut["stream"], exported["stream"]])
    one, other = np.split(stream.astype(np.int64) * len(moments) + moment, [len(cut)])
    kept = ~pd.Series(other).duplicated().to_numpy()
    found = pd.Index(other[kept]).get_indexer(one)
    rows: Indices = np.append(exported.index[kept], -1).astype(np.intp)[found]
    return rows


def _times(milliseconds: "pd.Series[Any]") -> "pd.Series[Any]":
    return pd.to_datetime(milliseconds, unit="ms", utc=True).astype("datetime64[ms, UTC]")
