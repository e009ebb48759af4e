"""Log speeds from table reads, of the reads that measure reading.

Used are iUnits and updates (a link is not read but followed) that have a length, were on screen for some
time, and were either seen whole or being read when the visit ended; what was scrolled past was not read. Of
these a worker's first reading of an item: the second is faster. Where an item was passed over on one page and
read on a later one, the later one is the first reading.

Where there is neither an iUnit nor an update, links are entries of ranked lists: texts with words and dwell times like
the others. They are used then, and only then: who compares two lists scans them, and that speed is not to be mixed
with one of reading.

A read that the visit's end interrupted took longer than its dwell time: its speed is left-censored at words /
dwell.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np
import pandas as pd

from metrics.arrays import Bools, Floats, Indices

READ_KINDS = ("iunit", "update")
BY_CHARACTERS = ("ja",)
"""Languages measured in characters, since they have no spaces."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TimedReads:
    """Reads of workers, ordered by worker; a cut read is slower than it looks.

    Attributes
    ----------
    worker : (n,) ndarray of int
        Number of the worker, ascending from 0 without holes.
    log_speed : (n,) ndarray of float
        log(length / dwell); where `cut`, an upper bound of it.
    cut : (n,) ndarray of bool
        The visit ended while this was being read.
    log_length : (n,) ndarray of float
        Log of the words, or characters.
    item : (n,) ndarray of int
        Number of the item of a topic, from 0.
    unit : {'words', 'characters'}
        What lengths are counted in.
    left_out : mapping of str to int
        Why rows are not used -> how many.
    of_lists : bool
        They are entries of ranked lists.
    """

    worker: Indices
    log_speed: Floats
    cut: Bools
    log_length: Floats
    item: Indices
    left_out: Mapping[str, int] = field(default_factory=dict)
    unit: str = "words"
    of_lists: bool = False

    @property
    def n_workers(self) -> int:
        """Number of workers with a read."""
        return int(self.worker[-1]) + 1 if len(self.worker) else 0

    def of(self, rows: "Bools | Indices") -> "TimedReads":
        """Select reads, with workers renumbered."""
        columns = ("worker", "log_speed", "cut", "log_length", "item")
        arrays = {name: getattr(self, name)[rows] for name in columns}
        arrays["worker"] = np.unique(arrays["worker"], return_inverse=True)[1]
        return replace(self, **arrays)


def length_unit(language: str | None) -> str:
    """Return the unit of lengths: characters for Japanese, else words."""
    return "characters" if language in BY_CHARACTERS else "words"


def readings(reads: pd.DataFrame, *, language: str | None = None) -> TimedReads:
    """Return the reads that measure reading speed.

    Parameters
    ----------
    reads : DataFrame
        Table reads, of one language. Optional columns may be missing; a row without ``fully_seen`` counts as
        seen whole, a row without ``interrupted`` as `last_of_visit` says.
    language : str, optional
        Japanese is measured in characters (column ``chars``), every other in words.

    Returns
    -------
    TimedReads
        Possibly of nobody.
    """
    reads, unit = _complete_columns(reads), length_unit(language)
    length = reads["chars" if unit == "characters" else "words"].astype("float64").to_numpy()
    dwell = reads["dwell_seconds"].to_numpy(np.float64)
    interrupted = reads["interrupted"].astype("boolean")
    if interrupted.isna().any():
        interrupted = interrupted.fillna(last_of_visit(reads))
    cut = interrupted.to_numpy(bool)
    passed_over = ~reads["fully_seen"].astype("boolean").fillna(value=True).to_numpy(bool) & ~cut
    is_text, is_media = (
        reads["kind"].isin(READ_KINDS).to_numpy(bool),
        (reads["kind"] == "media").to_numpy(bool),
    )
    of_lists = not is_text.any()
    left_out = {}
    kept = np.ones(len(reads), dtype=bool)
    for why, bad in (
        ("pictures or sounds", is_media),
        ("links", ~is_text & (not of_lists)),
        ("without a length", ~(length > 0)),
        ("passed over without being read", passed_over),
        ("without any dwell time", ~(dwell > 0)),
    ):
        left_out[why] = int((kept & bad).sum())
        kept &= ~bad
    first = _first_reading(reads[kept])
    left_out["read before"] = int(kept.sum()) - len(first)
    order = first.to_numpy()
    return TimedReads(
        worker=pd.factorize(reads["worker"].iloc[order])[0].astype(np.intp),
        log_speed=np.log(length[order] / dwell[order]),
        cut=cut[order],
        log_length=np.log(length[order]),
        item=reads.iloc[order].groupby(["topic", "item"]).ngroup().to_numpy(np.intp),
        unit=unit,
        left_out=MappingProxyType({why: count for why, count in left_out.items() if count}),
        of_lists=of_lists and len(order) > 0,
    )


def last_of_visit(reads: pd.DataFrame) -> "pd.Series[bool]":
    """Return which reads a visit's end interrupted, if the log does not say.

    It is the one first seen last, if not fully seen.

    A visit is told by worker, topic and ``visit``, where that is missing by ``page``. Without ``first_seen``
    nobody knows, and none counts as interrupted. Of several first seen at the same time it is the last row.
    """
    stay = reads["visit"].astype("str").where(reads["visit"].notna(), "page " + reads["page"].astype("str"))
    by_time = reads.assign(stay=stay)[reads["first_seen"].notna()].sort_values("first_seen", kind="stable")
    last = by_time.drop_duplicates(["worker", "topic", "stay"], keep="last").index
    unseen = ~reads["fully_seen"].astype("boolean").fillna(value=False).astype(bool)
    return unseen & reads.index.isin(last)


def _first_reading(reads: pd.DataFrame) -> "pd.Index[int]":
    """Return the rows of each worker's first reading of each item of each topic.

    Rows are ordered by worker and time.
    """
    by_time = reads.sort_values(["worker", "first_seen"], kind="stable")
    return by_time.drop_duplicates(["worker", "topic", "item"]).index


def _complete_columns(reads: pd.DataFrame) -> pd.DataFrame:
    """Return the reads renumbered from 0, with every column that follows needs."""
    optional = ("visit", "chars", "first_seen", "fully_seen", "interrupted")
    missing = {name: pd.NA for name in optional if name not in reads.columns}
    return reads.reset_index(drop=True).assign(**missing)
