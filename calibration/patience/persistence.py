"""The persistence p of people in ranked lists: the probability to go on from one entry to the next, from how deep they read.

A reader of rank-biased precision goes on from every entry with the same probability p, so the entries read are geometric
(Moffat and Zobel 2008, section 3). What stands on the first screen is seen without a decision to go on; so steps are counted
only of who came beyond it, and from the first entry beyond it. A geometric law has no memory: that tells the same p, also
where entries below the one that is read are on the screen, as long as there are about as many of them at every depth. A list read to its end is censored
there. The highest likelihood is at p = steps taken / (steps taken + stops).
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from calibration.inference.clusters import between_clusters, chance_of_common, crossed_variance
from calibration.inference.goodness import REJECTED, tested_by_simulation
from calibration.inference.results import (
    LEVEL,
    CalibrationResult,
    GoodnessOfFit,
    NotIdentifiedError,
    info,
    warning,
)
from calibration.inference.uncertainty import Scale, StudentT
from calibration.inference.wording import BAND, finish, of_studies, tails
from calibration.patience.stops import DIFFER, MAY_DIFFER, MOST_NAMES, MOST_SURVIVORS, SCREEN_CHARS
from calibration.user_model.model import PERSISTENCE, Diagnostic
from metrics.arrays import Bools, Floats, Ints
from metrics.errors import listed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ENVELOPES = 199
FINISHES_BY_CHANCE = 0.01
"""Who always goes to the end is called careless where a crowd with the p of the others has such a person more rarely than that."""
CAUSES = frozenset({"careless_workers", "patience_differs", "texts_differ"})
"""Diagnostics that say why the law is not geometric."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListSteps:
    """What n readings of lists tell of steps beyond the first screen; only readings that got there.

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
    """

    people: tuple[str, ...]
    worker: Ints
    text: Ints
    taken: Ints
    possible: Ints

    @property
    def stopped(self) -> Bools:
        """(n,): before the last entry."""
        return self.taken < self.possible

    @property
    def share(self) -> float:
        """Steps taken over steps taken and stops."""
        taken = int(self.taken.sum())
        return taken / (taken + int(self.stopped.sum()))

    def of(self, used: Bools) -> "ListSteps":
        """Return some of the readings, with the people who made them."""
        kept, worker = np.unique(self.worker[used], return_inverse=True)
        return ListSteps(
            people=tuple(self.people[place] for place in kept),
            worker=worker,
            text=self.text[used],
            taken=self.taken[used],
            possible=self.possible[used],
        )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PersistenceFit(CalibrationResult):
    """A persistence fitted to stops; its detail is share_to_end, of the readings beyond the first screen.

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

    def goodness_of_fit(self, n_boot: int = 99, seed: int = 1) -> tuple[GoodnessOfFit, ...]:
        """Test whether people stop at every depth with the same probability, against simulated readers of the same lists.

        The statistic is chi-squared over depths; p is fitted anew to each simulated study. Nothing is tested where a diagnostic names
        the cause already.
        """
        if CAUSES & {note.name for note in self.diagnostics}:
            return ()
        p, rng = float(self.estimates[0]), np.random.default_rng(seed)
        simulated = [_distance(*_drawn_depths(p, self.possible, rng)) for _ in range(n_boot)]

        def sentence(p_value: float) -> str:
            verdict = "it is not the same at every depth" if p_value < REJECTED else "one p describes it"
            return f"The share that goes on to the next entry varies with the depth (p = {p_value:.2f} by {n_boot} simulated studies): {verdict}."

        observed = _distance(self.at_risk, self.stops)
        return (tested_by_simulation("same_persistence_at_every_depth", observed, simulated, sentence),)

    def plot_steps(self, ax: "Axes", *, level: float = LEVEL, n_boot: int = ENVELOPES, seed: int = 1) -> None:
        """Draw the share that went on at each entry, the fitted p, and a pointwise band of studies simulated from the fit."""
        p, rng = float(self.estimates[0]), np.random.default_rng(seed)
        entries = np.flatnonzero(self.at_risk) + 1
        shares = np.stack([_shares_on(*_drawn_depths(p, self.possible, rng)) for _ in range(n_boot)])
        low, high = np.nanquantile(shares[:, entries - 1], tails(level), axis=0)
        ax.fill_between(entries, low, high, color=BAND, label=of_studies(level))
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
        finish(ax, "Persistence: going on to the next entry", "the points should mostly lie inside the band")


def fit_persistence(stops: pd.DataFrame, *, language: str | None = None) -> PersistenceFit:
    """Fit the probability to go on from one entry of a ranked list to the next.

    Parameters
    ----------
    stops : DataFrame
        Table stops, of one language. Used are ranked lists (with ``ranks``) longer than one screen whose layout is stacked or absent:
        on a page side by side a stop measures the screen.
    language : str, optional
        Of the lists, for the size of a screen.

    Returns
    -------
    PersistenceFit
        With parameter ``rbp_p``, between 0 and 1.

    Raises
    ------
    NotIdentifiedError
        If no list is usable, nobody read beyond the first screen, or nobody or everybody stopped there.
    """
    screen = SCREEN_CHARS.get(language or "en", SCREEN_CHARS["en"])
    usable, unused = _usable(list_stops(stops), screen)
    if usable.empty:
        raise NotIdentifiedError(
            f"no stop in a ranked list longer than one screen, one list at a time ({unused})"
        )
    steps = _steps(usable, screen)
    p = _persistence(steps)
    at_risk, stopped = _by_depth(steps.taken, steps.possible)
    to_end = 1 - float(steps.stopped.mean())
    return PersistenceFit(
        parameters=MappingProxyType({PERSISTENCE: p}),
        unit="probability",
        method="geometric law beyond the first screen, maximum likelihood",
        uncertainty=_uncertainty(steps, p),
        n_workers=len(steps.people),
        n_rows=len(steps.taken),
        n_censored=int((~steps.stopped).sum()),
        loglik=float(steps.taken.sum() * np.log(p) + steps.stopped.sum() * np.log1p(-p)),
        details=MappingProxyType({"share_to_end": to_end}),
        diagnostics=(
            info(
                "stops_not_used",
                f"Left out: {unused}; of the others {len(usable) - len(steps.taken)} were left on their first screen or end with the next entry.",
            ),
            *_diagnostics(steps, to_end),
            *_about_readers(steps, p),
        ),
        possible=steps.possible,
        at_risk=at_risk,
        stops=stopped,
    )


def naive_mean_depth(stops: pd.DataFrame) -> CalibrationResult:
    """Take 1 - 1 / the mean rank read, as if every list were endless and read from its first entry by decision."""
    lists = list_stops(stops)
    if lists.empty:
        raise NotIdentifiedError("no stop in a ranked list")
    return CalibrationResult(
        parameters=MappingProxyType({PERSISTENCE: 1 - 1 / float(lists["rank_read"].clip(lower=1).mean())}),
        unit="probability",
        method="1 - 1 / mean rank read",
        uncertainty=MappingProxyType({}),
        n_workers=lists["worker"].nunique(),
        n_rows=len(lists),
    )


NAIVE: Mapping[str, Callable[[pd.DataFrame], CalibrationResult]] = MappingProxyType(
    {"mean_depth": naive_mean_depth}
)
"""Name of a baseline -> its function of table stops."""


def list_stops(stops: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of table stops that are of ranked lists."""
    return stops[stops["ranks"].notna()] if "ranks" in stops else stops[:0]


def _usable(lists: pd.DataFrame, screen_chars: int) -> tuple[pd.DataFrame, str]:
    """Return the rows that measure persistence, and in words how many do not."""
    beside = lists["layout"].eq("side_by_side").fillna(value=False)
    short = ~beside & (lists["text_chars"] <= screen_chars)
    unused = f"{beside.sum()} lists stood side by side, {short.sum()} fit on one screen"
    return lists[~beside & ~short], unused


def _steps(lists: pd.DataFrame, screen_chars: int) -> ListSteps:
    """Return the steps beyond the first screen, which holds as many entries of a list's mean length as fit.

    Who saw something of the last entry is at the list's end, whether or not all of it was seen.
    """
    ranks = lists["ranks"].to_numpy(np.int64)
    first = np.ceil(screen_chars * ranks / lists["text_chars"].to_numpy(np.float64)).astype(np.int64)
    end = lists["reached_end"].to_numpy(bool)
    deepest = np.where(end, ranks, lists["rank_read"].to_numpy(np.int64))
    worker, people = pd.factorize(lists["worker"], sort=True)
    text = lists.groupby(["topic", "system"], dropna=False).ngroup().to_numpy(np.intp)
    steps = ListSteps(
        people=tuple(people),
        worker=worker,
        text=np.unique(text, return_inverse=True)[1],
        taken=deepest - first - 1,
        possible=ranks - first - 1,
    )
    return steps.of((steps.taken >= 0) & (steps.possible > 0))


def _persistence(steps: ListSteps) -> float:
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


def _uncertainty(steps: ListSteps, p: float) -> MappingProxyType[str, StudentT]:
    """Return Student's t on the logit scale by workers, and before it by workers and lists where lists may differ.

    logit p = log(steps taken) - log(stops); a reading moves it by its share of the steps less its share of the stops.
    """
    workers = len(steps.people)
    if workers < 2:
        return MappingProxyType({})
    influence = steps.taken / steps.taken.sum() - steps.stopped / steps.stopped.sum()
    centre = np.array([np.log(p / (1 - p))])

    def student(variance: float, clusters: int) -> StudentT:
        return StudentT(centre=centre, cov=np.array([[variance]]), df=clusters - 1, scale=Scale.LOGIT)

    sums = np.bincount(steps.worker, influence).astype(np.float64)
    by_worker = student(float(between_clusters(sums)), workers)
    texts = len(np.unique(steps.text))
    if not 2 <= texts < len(steps.text) or _chance_alike(steps, p, steps.text) > MAY_DIFFER:
        return MappingProxyType({"worker": by_worker})
    crossed = student(crossed_variance(influence, steps.worker, steps.text), min(workers, texts))
    return MappingProxyType({"worker_and_text": crossed, "worker": by_worker})


def _chance_alike(steps: ListSteps, p: float, group: Ints) -> float:
    """Return p of the hypothesis that readings of a group have nothing in common: their stops less those expected."""
    decisions = steps.taken + steps.stopped
    return chance_of_common(steps.stopped - (1 - p) * decisions, group)


def _about_readers(steps: ListSteps, p: float) -> Iterator[Diagnostic]:
    """Yield how readers and lists differ, without those who always go to the end."""
    if len(steps.people) < 2:
        return
    careless = _finishers(steps)
    if careless.any():
        rest = steps.of(~careless[steps.worker])
        yield _careless(steps, rest, careless, p)
        steps, p = rest, rest.share
    if len(steps.taken) and _chance_alike(steps, p, steps.text) < DIFFER:
        yield warning(
            "texts_differ",
            "How far a list is read differs between lists by more than chance: the interval counts lists as drawn from many, "
            "like people. Use more lists.",
        )
    if len(steps.taken) and _chance_alike(steps, p, steps.worker) < DIFFER:
        yield warning(
            "patience_differs",
            "Persistence differs between people by more than chance: no single p is that of all of them, and the one given is "
            "that of all their steps together.",
        )


def _finishers(steps: ListSteps) -> Bools:
    """Return who went to the end of every list, where that is too rare to be chance in a crowd like the others, (people,)."""
    always = np.bincount(steps.worker, steps.stopped, len(steps.people)) == 0
    chance = steps.of(~always[steps.worker]).share ** np.bincount(
        steps.worker, steps.possible, len(steps.people)
    )
    return np.asarray(always & (chance < FINISHES_BY_CHANCE / len(steps.people)))


def _careless(steps: ListSteps, rest: ListSteps, careless: Bools, p: float) -> Diagnostic:
    names = [name for name, out in zip(steps.people, careless, strict=True) if out]
    return warning(
        "careless_workers",
        f"{len(names)} of {len(steps.people)} people ({listed(names, most=MOST_NAMES)}) always go to the end, as who does not read: "
        f"they are in this persistence of {p:.3f}; without them it is {rest.share:.3f}.",
    )


def _diagnostics(steps: ListSteps, to_end: float) -> Iterator[Diagnostic]:
    if to_end > MOST_SURVIVORS:
        yield warning(
            "extrapolated",
            f"{to_end:.0%} of the readings that went beyond the first screen went to the end of the list: below it the persistence is "
            "extrapolated.",
        )
    if len(steps.people) < 2:
        yield warning(
            "one_worker", "With a single worker nothing is known about others: there is no interval."
        )


def _by_depth(taken: Ints, possible: Ints) -> tuple[Ints, Ints]:
    """Return how many readers could go on at each depth, and how many of them stopped, (d,) each."""
    depths = int(possible.max())
    decisions = np.where(taken < possible, taken + 1, possible)
    ended = np.bincount(decisions, minlength=depths + 1)
    at_risk = len(taken) - np.cumsum(ended)[:-1]
    return at_risk, np.bincount(taken[taken < possible], minlength=depths)


def _drawn_depths(p: float, possible: Ints, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Return what `_by_depth` finds of simulated readers of the same lists."""
    return _by_depth(np.minimum(rng.geometric(1 - p, len(possible)) - 1, possible), possible)


def _shares_on(at_risk: Ints, stops: Ints) -> Floats:
    """Return the share that went on at each depth, NaN where nobody stood."""
    stopped: Floats = np.divide(stops, at_risk, out=np.full(len(stops), np.nan), where=at_risk > 0)
    return 1 - stopped


def _distance(at_risk: Ints, stops: Ints) -> float:
    """Return the chi-squared distance of the stops from those of the p that is closest to them."""
    seen = at_risk > 0
    at_risk, stops = at_risk[seen], stops[seen]
    q = stops.sum() / at_risk.sum()
    if q in {0.0, 1.0}:
        return 0.0
    return float(((stops - q * at_risk) ** 2 / (q * (1 - q) * at_risk)).sum())
