"""Search for the size at which simulated studies reach a goal."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from numbers import Integral, Real

import numpy as np
import pandas as pd
from scipy.optimize import isotonic_regression
from scipy.special import ndtr, ndtri, stdtrit

from calibration.plan.simulation import POWER, Design, PlanRow, SimulatedEstimate, Track, untracked
from metrics.errors import input_fault
from metrics.parallel import Executor, open_engine
from metrics.results import HasSummary, Overview

MAX_FACTOR = 16
"""Largest ratio of the search's sizes to its first one."""
LADDER = (0.5, 1.0, 2.0)
Z = 1.96
STEP = 1.2
"""First factor of the search; each further one is the square of the one before."""
_ONE_SD = (0.1587, 0.8413)


@dataclass(frozen=True, slots=True, kw_only=True)
class Studies:
    """Simulated studies of any size.

    Attributes
    ----------
    design : Design
        The study.
    vary : str
        Which of its sizes is called the size of a row.
    count : int
        How many are drawn of a size.
    seed : int
        With the size and the number of a study it decides every draw, so that a row is the same whatever other rows are made,
        and a study the same whoever draws it.
    """

    design: Design
    vary: str
    count: int
    seed: int

    def outcome(self, study: tuple[int, int]) -> SimulatedEstimate:
        """Simulate one study, by its size and its number."""
        size, number = study
        own = np.random.SeedSequence([self.seed, size], spawn_key=(number,))
        return self.design.resized(self.vary, size).simulated(np.random.default_rng(own))

    def row(self, size: int, engine: Executor, track: Track) -> PlanRow:
        """Return the results of studies of one size."""
        label = f"{size} {self.vary.replace('_', ' ')}"
        studies = ((size, number) for number in track(range(self.count), label))
        estimates = [
            outcome for _, outcome in sorted(engine.results(Studies.outcome, self, studies), key=_number)
        ]
        design = self.design.resized(self.vary, size)
        return PlanRow(
            size=size,
            people=design.people(),
            judgments=design.judgments(),
            widths=np.sort([outcome.high - outcome.low for outcome in estimates]),
            power=float(np.mean([outcome.told for outcome in estimates])),
            detectable=_detectable(design, estimates),
            nothing=float(np.mean([math.isnan(outcome.estimate) for outcome in estimates])),
        )


def _number(simulator: tuple[tuple[int, int], SimulatedEstimate]) -> int:
    return simulator[0][1]


def plan_row(
    design: Design,
    vary: str,
    *,
    studies: int,
    seed: int,
    track: Track = untracked,
    jobs: int = 1,
    scheduler: str | None = None,
) -> PlanRow:
    """Simulate studies of one size.

    Parameters
    ----------
    design : Design
        The study.
    vary : str
        Which of its sizes is called the size of the row.
    studies, seed
        As ``count`` and ``seed`` of `Studies`.
    track : callable
        As `Track`.
    jobs, scheduler
        Who simulates, see `metrics.parallel.open_engine`. The row is the same.
    """
    simulator = Studies(design=design, vary=vary, count=studies, seed=seed)
    with open_engine(jobs=jobs, scheduler=scheduler) as engine:
        return simulator.row(design.size(vary), engine, track)


def _detectable(design: Design, found: list[SimulatedEstimate]) -> float:
    """Return the difference that four of five studies would detect.

    It is (t_.975 + t_.8) standard errors, or with another quantile in place of t_.975 (`Design.quantile`).

    The standard error is the median of those the studies would print, or else comes from the spread of their
    estimates; on a log scale the distance is the truth times e^(...) - 1.
    """
    quantiles = np.array([design.quantile, POWER])
    errors = np.array([outcome.standard_error for outcome in found])
    if not np.isnan(errors).all():
        df = float(np.median([outcome.df for outcome in found]))
        return float(stdtrit(df, quantiles).sum() * np.nanmedian(errors))
    estimates = np.sort(
        [outcome.estimate for outcome in found]
    )  # NaN is sorted to the end: too large to be told
    low, high = estimates[[math.floor(tail * (len(found) - 1)) for tail in _ONE_SD]]
    if not np.isfinite([low, high]).all():
        return math.inf
    reach = ndtri(quantiles).sum() / 2
    if design.log_scale:
        return float(design.truth * ((high / low) ** reach - 1)) if low > 0 else math.inf
    return float(reach * (high - low))


@dataclass(frozen=True, slots=True, kw_only=True)
class PrecisionGoal:
    """Goal of a study: a width or a power, at most one of both.

    Attributes
    ----------
    width : float or None
        The interval shall be at most so wide, from end to end.
    sure : float
        In this share of studies, for ``width``; 0.5 is the typical study.
    power : float or None
        The share of studies that shall tell the truth from the value it is to be told from.

    Raises
    ------
    InputError
        If both are given, a width is not above 0, or a share is not between 0 and 1.

    Examples
    --------
    >>> PrecisionGoal(width=0.1)
    PrecisionGoal(width=0.1, sure=0.5, power=None)
    """

    width: float | None = None
    sure: float = 0.5
    power: float | None = None

    def __post_init__(self) -> None:
        """Check the numbers."""
        if self.width is not None and self.power is not None:
            raise input_fault("a wish has a width or a power, and not both", cure="plan once for each")
        for name, most in (("width", math.inf), ("sure", 1.0), ("power", 1.0)):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, Real) and 0 < float(value) < most):
                cure = "give a number above 0" if name == "width" else "give a share between 0 and 1"
                raise input_fault(f"Wish: {name} is {value!r}", cure=cure)

    def unsure(self, row: PlanRow) -> float:
        """Return the relative error (95 %) of the size needed.

        It comes from the number of simulated studies.

        Where errors shrink with the square root of the size n: dn / n = 2 dw / w of a width w; of a chance with the
        normal quantile z, dn / n = 2 dz / (z + 1.96). At least the precision of the search; infinite where a width may have
        no bound.
        """
        return max(self._unsure(row), 1 / math.sqrt(row.studies))

    def _unsure(self, row: PlanRow) -> float:
        if self.width is None:
            z = ndtri(min(max(row.power, 1 / row.studies), 1 - 1 / row.studies))
            share = ndtr(z)
            error = math.sqrt(share * (1 - share) / row.studies) * math.sqrt(2 * math.pi) * math.exp(z**2 / 2)
            return float(2 * Z * error / max(z + Z, 0.1))
        reach = Z * math.sqrt(self.sure * (1 - self.sure) / row.studies)
        low, high = (row.width_of(min(max(self.sure + side, 0.0), 1.0)) for side in (-reach, reach))
        return math.log(high / low) if math.isfinite(high) else math.inf

    def guess(self, row: PlanRow) -> int:
        """Return the size that meets the goal if errors shrink with its square root."""
        if self.width is not None:
            width = row.width_of(self.sure)
            return math.ceil(row.size * (width / self.width) ** 2) if math.isfinite(width) else row.size
        assert self.power is not None  # noqa: S101 - for the type checker; there is one of both
        z = ndtri(np.clip([self.power, row.power], 0.01, 0.99)) + ndtri(0.975)
        return math.ceil(row.size * float(z[0] / max(z[1], 0.1)) ** 2)

    def met(self, row: PlanRow) -> bool:
        """Return whether studies of a size reach the goal."""
        if self.width is not None:
            return row.width_of(self.sure) <= self.width
        return self.power is not None and row.power >= self.power


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Plan(HasSummary):
    """Result of a search, printed as the first lines of its `summary`.

    The power of its rows never falls with the size.

    Attributes
    ----------
    vary : str
        The size that was varied.
    asked : int
        The size that was asked about.
    rows : tuple of PlanRow
        By ascending size.
    needed : int or None
        The smallest size that meets the wish, as do all larger ones that were simulated; None without a wish, or where
        the largest does not meet it.

    Examples
    --------
    >>> import prefcal
    >>> design = prefcal.AgreementDesign(queries=12, pairs=21, workers=10, true=0.75)
    >>> found = prefcal.plan(design, "queries", prefcal.PrecisionGoal(), studies=20)
    >>> [row.size for row in found.rows], found.needed
    ([6, 12, 24], None)
    """

    vary: str
    asked: int
    rows: tuple[PlanRow, ...]
    needed: int | None

    def frame(self) -> pd.DataFrame:
        """Return one row per simulated size, indexed by the varied size."""
        columns = ("people", "judgments", "width", "width_most", "power", "detectable", "nothing", "studies")
        rows = [[getattr(row, name) for name in columns] for row in self.rows]
        sizes = pd.Index([row.size for row in self.rows], name=self.vary)
        return pd.DataFrame(rows, columns=pd.Index(columns), index=sizes)

    def overview(self) -> Overview:
        """Return the results of each size, and below them the size needed."""
        needed = "no size asked for, or none large enough" if self.needed is None else f"{self.needed} needed"
        shown = self.frame()[["people", "width", "width_most", "power", "detectable"]].reset_index()
        return Overview(shown, ".3g", [f"{self.vary}: {needed}"])

    def summary(self) -> str:
        """Return the size needed, then the results of each size, as text."""
        overview = self.overview()
        return "\n".join([*overview.sentences, overview._replace(sentences=()).as_text()])

    def row(self, size: int) -> PlanRow:
        """Return the results of one size."""
        return next(row for row in self.rows if row.size == size)


def plan(
    design: Design,
    vary: str,
    wish: PrecisionGoal | None = None,
    *,
    studies: int = 200,
    seed: int = 1,
    jobs: int = 1,
    scheduler: str | None = None,
    track: Track = untracked,
) -> Plan:
    """Simulate studies of several sizes, and search the smallest that meets a goal.

    The sizes are half, one and two times the design's own. Towards a wish the search begins where errors that shrink
    with the square root of the size would meet it, steps up or down until it is met and unmet, and halves what
    lies between, on the log scale, until the ends are one apart, or a share of 1 / sqrt(studies): more precise the
    simulation is not.

    Parameters
    ----------
    design : Design
        The study one has in mind.
    vary : str
        Which of its sizes may change.
    wish : PrecisionGoal, optional
        What it shall reach; by default no size is searched.
    studies, seed
        How many studies of each size are drawn, and what decides all of them.
    jobs : int
        Processes on this machine. The plan is the same with any number of them.
    scheduler : str, optional
        Address of a Dask cluster that simulates instead, such as ``tcp://10.0.0.1:8786``.
    track : callable
        As `Track`.

    Returns
    -------
    Plan
        ``rows``, one a size, ``needed`` and ``summary()``.

    Raises
    ------
    InputError
        If the design has no such size, a size is no whole number from 1, or it cannot be simulated.
    PrefcalError
        If the cluster does not answer, or workers are lost.

    Examples
    --------
    How wide the interval of an agreement will be, for 6, 12 and 24 queries:

    >>> import prefcal
    >>> design = prefcal.AgreementDesign(queries=12, pairs=21, workers=10, true=0.75)
    >>> found = prefcal.plan(design, "queries", prefcal.PrecisionGoal(), studies=20)
    >>> found.frame()["width"].round(2).to_dict()
    {6: 0.21, 12: 0.13, 24: 0.09}
    """
    _check(design, wish, studies)
    for size in (*design.varies, vary):
        design.size(size)
    simulator = Studies(design=design.ready(), vary=vary, count=studies, seed=seed)
    with open_engine(jobs=jobs, scheduler=scheduler) as engine:
        return _searched(wish or PrecisionGoal(), simulator, lambda size: simulator.row(size, engine, track))


def _check(design: object, wish: object, studies: object) -> None:
    """Raise `InputError` for an invalid argument of `plan`."""
    if not isinstance(design, Design):
        raise input_fault(
            f"{design!r} is no design of a study",
            cure="give one, such as AgreementDesign(queries=12, pairs=21, workers=10, true=0.75)",
        )
    if wish is not None and not isinstance(wish, PrecisionGoal):
        raise input_fault(f"{wish!r} is no Wish", cure="give one, such as Wish(width=0.1) or Wish(power=0.8)")
    if not isinstance(studies, Integral) or studies < 1:
        raise input_fault(f"studies is {studies!r}", cure="give a whole number, 1 or more; 200 is usual")


def _searched(wish: PrecisionGoal, simulator: Studies, simulated: Callable[[int], PlanRow]) -> Plan:
    """Search the smallest size that meets a goal, each size simulated once."""
    asked = simulator.design.size(simulator.vary)
    rows: dict[int, PlanRow] = {}

    def at(size: int) -> PlanRow:
        if size not in rows:
            rows[size] = simulated(size)
        return rows[size]

    least, most = simulator.design.bounds(simulator.vary)
    for factor in LADDER:
        at(min(most, max(least, round(asked * factor))))
    needed = None
    if wish.width is not None or wish.power is not None:
        most = min(most, MAX_FACTOR * asked)
        start = min(most, max(least, wish.guess(rows[max(rows)])))
        precision = 1 / math.sqrt(simulator.count)
        if _smallest(lambda size: wish.met(at(size)), start, (least, most), precision):
            while not wish.met(_smoothed(rows)[max(rows)]) and max(rows) < most:
                at(min(most, math.ceil(max(rows) * STEP)))
            needed = _from_here_on(_smoothed(rows), wish)
    return Plan(vary=simulator.vary, asked=asked, rows=tuple(_smoothed(rows).values()), needed=needed)


def _smoothed(rows: Mapping[int, PlanRow]) -> dict[int, PlanRow]:
    """Return rows by ascending size with isotonic power.

    A fall in power is noise of the simulation.
    """
    sizes = sorted(rows)
    power = isotonic_regression([rows[size].power for size in sizes]).x
    return {size: replace(rows[size], power=float(share)) for size, share in zip(sizes, power, strict=True)}


def _from_here_on(rows: Mapping[int, PlanRow], wish: PrecisionGoal) -> int | None:
    """Return the smallest simulated size from which all meet the goal."""
    needed = None
    for size in sorted(rows, reverse=True):
        if not wish.met(rows[size]):
            break
        needed = size
    return needed


def _smallest(
    meets_goal: Callable[[int], bool], start: int, bounds: tuple[int, int], precision: float
) -> int | None:
    """Return the smallest size within bounds that meets a goal, or None.

    The result is None when the largest size does not meet it.
    """
    bracket = _bracket(meets_goal, start, bounds)
    if bracket is None:
        return None
    too_few, enough = bracket
    while enough > too_few + 1 and enough > too_few * (1 + precision):
        middle = min(enough - 1, max(too_few + 1, round(math.sqrt(enough * too_few))))
        if meets_goal(middle):
            enough = middle
        else:
            too_few = middle
    return enough


def _bracket(
    meets_goal: Callable[[int], bool], start: int, bounds: tuple[int, int]
) -> tuple[int, int] | None:
    """Return a size that does not meet a goal and one that does.

    A size below the bounds counts as not meeting it.
    """
    least, most = bounds
    here, factor = start, STEP
    if meets_goal(here):
        while here > least:
            below = max(least, min(here - 1, math.floor(here / factor)))
            if not meets_goal(below):
                return below, here
            here, factor = below, factor**2
        return least - 1, least
    while here < most:
        above = min(most, max(here + 1, math.ceil(here * factor)))
        if meets_goal(above):
            return here, above
        here, factor = above, factor**2
    return None
