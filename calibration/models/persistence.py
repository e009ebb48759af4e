"""Persistence p of people in ranked lists, from how deep they read.

p is the probability to go on from one entry to the next. A reader of rank-biased precision goes on from every entry with the same
probability p, so the entries read are geometric (Moffat and Zobel 2008, section 3). What stands on the first screen is seen without a
decision to go on; so steps are counted only of who came beyond it, and from the first entry beyond it. A geometric law has no memory: that
tells the same p, also where entries below the one that is read are on the screen, as long as there are about as many of them at every
depth. A list read to its end is censored there. The highest likelihood is at p = steps taken / (steps taken + stops): the p of all steps
together.
"""

import math
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from calibration.inference.clusters import couple_codes, summed_variance
from calibration.inference.formatting import BAND, band_label, label_axes, tails
from calibration.inference.results import LEVEL, CalibrationResult, NotIdentifiedError, on_single
from calibration.inference.uncertainty import Scale, StudentT
from calibration.models.patience.stops import SCREEN_CHARS, crossed_error
from calibration.tables.files import check_frame
from calibration.tables.tables import TABLES
from calibration.user_model.model import PERSISTENCE
from metrics.arrays import Bools, Floats, Ints

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ENVELOPES = 199


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ContinuationCounts:
    """Steps and stops of the n list readings that went beyond the first screen.

    Attributes
    ----------
    people : tuple of str
        Pseudonyms.
    worker, text : (n,) ndarray of int
        Who read which list.
    taken : (n,) ndarray of int
        Steps from one entry to the next, from the first entry beyond the first screen.
    possible : (n,) ndarray of int
        Steps that the list has there.
    unused : str
        In words, which lists do not count.
    """

    people: tuple[str, ...]
    worker: Ints
    text: Ints
    taken: Ints
    possible: Ints
    unused: str = ""

    @property
    def stopped(self) -> Bools:
        """Mask of readings that stopped before the last entry, (n,)."""
        return self.taken < self.possible

    @property
    def share(self) -> float:
        """Steps taken over steps taken and stops."""
        taken = int(self.taken.sum())
        return taken / (taken + int(self.stopped.sum()))

    def of(self, used: Bools) -> "ContinuationCounts":
        """Select readings, with the people who made them."""
        kept, worker = np.unique(self.worker[used], return_inverse=True)
        return replace(
            self,
            people=tuple(self.people[index] for index in kept),
            worker=worker,
            text=np.unique(self.text[used], return_inverse=True)[1],
            taken=self.taken[used],
            possible=self.possible[used],
        )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PersistenceFit(CalibrationResult):
    """Persistence fitted to stops.

    Its detail is share_to_end, the share of readings beyond the first screen that reached the end.

    Attributes
    ----------
    possible : (n,) ndarray of int
        Steps that there were in each list beyond the first screen.
    at_risk, stops : (d,) ndarray of int
        How many readers stood at the d-th entry beyond the first screen, from 0, with another one below it; and how many
        of them stopped there.
    """

    possible: Ints
    at_risk: Ints
    stops: Ints

    def plot_steps(self, ax: "Axes", *, level: float = LEVEL, n_boot: int = ENVELOPES, seed: int = 1) -> None:
        """Plot the share that went on at each entry, with p and a simulated band.

        The band is pointwise, of studies from the fit.
        """
        p, rng = float(self.estimates[0]), np.random.default_rng(seed)
        entries = np.flatnonzero(self.at_risk) + 1
        shares = np.stack([_shares_on(*drawn_depths(p, self.possible, rng)) for _ in range(n_boot)])
        low, high = np.nanquantile(shares[:, entries - 1], tails(level), axis=0)
        ax.fill_between(entries, low, high, color=BAND, label=band_label(level))
        ax.plot(
            entries,
            _shares_on(self.at_risk, self.stops)[entries - 1],
            color="0.25",
            marker="o",
            label="people",
        )
        ax.axhline(p, color="#0072b2", linestyle="--", label=f"fitted, p = {p:.2f}")
        ax.set(
            xlabel="entry, from the first beyond the first screen",
            ylabel="share that goes on",
            ylim=(0, 1.02),
        )
        label_axes(
            ax, "Persistence: going on to the next entry", "the points should mostly lie inside the band"
        )


def fit_persistence(steps: ContinuationCounts) -> PersistenceFit:
    """Fit the probability to go on from one entry of a ranked list to the next.

    Parameters
    ----------
    steps : ContinuationCounts
        As `list_steps` makes them of table stops.

    Returns
    -------
    PersistenceFit
        With parameter ``rbp_p``, between 0 and 1.

    Raises
    ------
    NotIdentifiedError
        If nobody read beyond the first screen, or nobody or everybody stopped there.
    """
    p = _persistence(steps)
    at_risk, stopped = steps_by_depth(steps.taken, steps.possible)
    return PersistenceFit(
        parameters=MappingProxyType({PERSISTENCE: p}),
        unit="probability",
        method="geometric law beyond the first screen, maximum likelihood",
        uncertainty=_uncertainty(steps, p),
        n_workers=len(steps.people),
        n_rows=len(steps.taken),
        n_censored=int((~steps.stopped).sum()),
        loglik=float(steps.taken.sum() * np.log(p) + steps.stopped.sum() * np.log1p(-p)),
        details=MappingProxyType({"share_to_end": 1 - float(steps.stopped.mean())}),
        diagnostics=on_single("worker", len(steps.people), "others"),
        possible=steps.possible,
        at_risk=at_risk,
        stops=stopped,
    )


def list_stops(stops: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of table stops that are of ranked lists."""
    return stops[stops["ranks"].notna()] if "ranks" in stops else stops[:0]


def list_steps(stops: pd.DataFrame, *, language: str | None = None) -> ContinuationCounts:
    """Return the steps beyond the first screen.

    The first screen holds as many entries as fit at the list's mean length.

    Used are ranked lists (with ``ranks``) longer than one screen whose layout is stacked or absent: on a page side by side a stop
    measures the screen. Who saw something of the last entry is at the list's end, whether or not all of it was seen.

    Raises
    ------
    NotIdentifiedError
        If no list is usable.
    """
    screen = SCREEN_CHARS.get(language or "en", SCREEN_CHARS["en"])
    lists, unused = _usable(list_stops(stops), screen)
    if lists.empty:
        raise NotIdentifiedError(
            f"no stop in a ranked list longer than one screen, one list at a time ({unused})"
        )
    ranks = lists["ranks"].to_numpy(np.int64)
    first = np.ceil(screen * ranks / lists["text_chars"].to_numpy(np.float64)).astype(np.int64)
    end = lists["reached_end"].to_numpy(bool)
    deepest = np.where(end, ranks, lists["rank_read"].to_numpy(np.int64))
    worker, people = pd.factorize(lists["worker"], sort=True)
    text = lists.groupby(["topic", "system"], dropna=False).ngroup().to_numpy(np.intp)
    steps = ContinuationCounts(
        people=tuple(people),
        worker=worker,
        text=np.unique(text, return_inverse=True)[1],
        taken=deepest - first - 1,
        possible=ranks - first - 1,
    )
    steps = steps.of((steps.taken >= 0) & (steps.possible > 0))
    lost = len(lists) - len(steps.taken)
    return replace(
        steps,
        unused=f"{unused}; of the others {lost} were left on their first screen or end with the next entry",
    )


def _usable(lists: pd.DataFrame, screen_chars: int) -> tuple[pd.DataFrame, str]:
    """Return the rows that measure persistence, and a sentence on the others."""
    beside = lists["layout"].eq("side_by_side").fillna(value=False)
    short = ~beside & (lists["text_chars"] <= screen_chars)
    unused = f"{beside.sum()} lists stood side by side, {short.sum()} fit on one screen"
    return lists[~beside & ~short], unused


def _persistence(steps: ContinuationCounts) -> float:
    taken, stopped = int(steps.taken.sum()), int(steps.stopped.sum())
    if not taken and not stopped:
        raise NotIdentifiedError("nobody read a ranked list beyond its first screen, with more to come")
    if not stopped:
        raise NotIdentifiedError(
            "nobody stopped before the end of a ranked list: the persistence would be 1, which no reader has"
        )
    if not taken:
        raise NotIdentifiedError(
            "everybody stopped at the first entry beyond the first screen: the persistence would be 0, which no reader has"
        )
    return steps.share


def _uncertainty(steps: ContinuationCounts, p: float) -> MappingProxyType[str, StudentT]:
    """Return the error by workers and shared lists, and that by workers.

    Student's t on the logit scale:
    logit p = log(steps taken) - log(stops); a reading moves it by its share of the steps less its share of the stops.
    """
    workers, texts = len(steps.people), int(steps.text.max()) + 1
    if workers < 2:
        return MappingProxyType({})
    influence = steps.taken / steps.taken.sum() - steps.stopped / steps.stopped.sum()
    by_worker, by_text, by_both = (
        summed_variance(influence, clusters)
        for clusters in (steps.worker, steps.text, couple_codes(steps.worker, steps.text))
    )
    centre = math.log(p / (1 - p))
    alone = crossed_error(centre, by_worker, 0.0, workers, workers, Scale.LOGIT)
    if not 2 <= texts < len(steps.text):
        return MappingProxyType({"worker": alone})
    crossed = crossed_error(centre, by_worker, max(by_text - by_both, 0.0), workers, texts, Scale.LOGIT)
    return MappingProxyType({"worker_and_text": crossed, "worker": alone})


def steps_by_depth(taken: Ints, possible: Ints) -> tuple[Ints, Ints]:
    """Return the readers and the stops at each depth, (d,) each."""
    depths = int(possible.max())
    decisions = np.where(taken < possible, taken + 1, possible)
    ended = np.bincount(decisions, minlength=depths + 1)
    at_risk = len(taken) - np.cumsum(ended)[:-1]
    return at_risk, np.bincount(taken[taken < possible], minlength=depths)


def drawn_depths(p: float, possible: Ints, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Return `steps_by_depth` of simulated readers of the same lists."""
    return steps_by_depth(np.minimum(rng.geometric(1 - p, len(possible)) - 1, possible), possible)


def _shares_on(at_risk: Ints, stops: Ints) -> Floats:
    """Return the share that went on at each depth, NaN without readers."""
    stopped: Floats = np.divide(stops, at_risk, out=np.full(len(stops), np.nan), where=at_risk > 0)
    return 1 - stopped


@dataclass(frozen=True, slots=True, kw_only=True)
class ListReaders:
    """Simulated readers of ranked lists, with deviations from the geometric law.

    Attributes
    ----------
    workers, lists_each : int
        How much is read.
    lists : int
        How many lists there are, read by all in turn.
    ranks : int
        Entries of a list.
    entry_chars : float
        Counted characters of an entry; three of 140 stand on an English screen of 420.
    ahead : int
        Entries on the screen below the one that is read.
    people_sd : float
        Standard deviation over workers of the log odds of going on.
    finishers : float
        Share of workers who always go to the end.
    tiring : bool
        A reader stops somewhere in the list, anywhere with the same chance, instead of geometrically.
    """

    workers: int = 60
    lists_each: int = 4
    lists: int = 40
    ranks: int = 20
    entry_chars: float = 140.0
    ahead: int = 2
    people_sd: float = 0.0
    finishers: float = 0.0
    tiring: bool = False


def simulate_list_stops(
    persistence: float, rng: np.random.Generator, readers: ListReaders | None = None
) -> pd.DataFrame:
    """Draw table stops of ranked lists with persistence ``persistence``.

    After each entry a reader goes on with that probability.
    """
    of = readers or ListReaders()
    n = of.workers * of.lists_each
    odds = math.log(persistence / (1 - persistence)) + rng.normal(0, of.people_sd, of.workers)
    own = (1 / (1 + np.exp(-odds))).repeat(of.lists_each)
    read = rng.integers(1, of.ranks + 1, n) if of.tiring else rng.geometric(1 - own)
    read = np.where((rng.random(of.workers) < of.finishers).repeat(of.lists_each), of.ranks, read)
    seen = np.minimum(read + of.ahead, of.ranks)
    rows = pd.DataFrame(
        {
            "worker": np.repeat([f"W{number}" for number in range(of.workers)], of.lists_each),
            "topic": [f"L{number % of.lists:03d}" for number in range(n)],
            "system": "S",
            "layout": "stacked",
            "chars_read": seen * of.entry_chars,
            "text_chars": of.ranks * of.entry_chars,
            "reached_end": seen == of.ranks,
            "rank_read": seen,
            "ranks": of.ranks,
        }
    )
    return check_frame(rows, TABLES["stops"])
