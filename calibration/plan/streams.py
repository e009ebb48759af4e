"""Planned studies of streams: how many workers, days and pairs tell the time away, M_A or S_A, and what silence is worth, S_0.

Visits are drawn by the model that is fitted (`calibration.durations.checks.simulate_totals`); the time that visits
themselves take, minutes in hours, is left out. The interval is the profile likelihood's, which `prefcal fit` prints
unless a worker's times away turn out not to be exponential.

S_0 is the weight of a silent day on which a system kept quiet, relative to that of gain: above 0 speaks for ELG-1,
0 for ELG-0. Streams and people are those of `calibration.push.simulate`; fit, interval and verdict are those of
`calibration.push.fit`.
"""

import math
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, Self, TypeAlias

import numpy as np

from calibration.durations.at_risk import Totals
from calibration.durations.checks import simulate_totals
from calibration.durations.fit import fit_durations, interval_methods
from calibration.inference.results import NotIdentifiedError
from calibration.inference.uncertainty import StudentT, Uncertainty
from calibration.plan.simulation import MOST, NOTHING, Outcome, size_of
from calibration.push.errors import STRONG_GAIN, FiellerRatios, RawWeights
from calibration.push.notes import silent_days
from calibration.push.pairs import WEIGHTS
from calibration.push.search import judged_by, search_weights
from calibration.push.simulate import TRUTH, PushJudges, simulate_push_judgments

LEVEL = 0.95
HOURS_A_DAY = 24.0
What: TypeAlias = Literal["mean", "sd"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AwayDesign:
    """A study that watches when people come back.

    Attributes
    ----------
    workers : int
        Each follows one stream.
    days : int
        From enrolment to the end, in stream days.
    mean_hours, sd_hours : float
        M_A and S_A: mean and standard deviation, over people, of their own mean time away.
    what : {'mean', 'sd'}
        Which of M_A and S_A is wanted.
    tell_from : float or None
        The hours that the true value is to be told from.

    Examples
    --------
    >>> AwayDesign(workers=30, days=7, mean_hours=8, sd_hours=4).what
    'mean'
    """

    varies: ClassVar[tuple[str, ...]] = ("workers", "days")

    workers: int
    days: int
    mean_hours: float
    sd_hours: float
    what: What = "mean"
    tell_from: float | None = None

    @property
    def log_scale(self) -> bool:
        """Errors are alike in proportion to the value."""
        return True

    @property
    def truth(self) -> float:
        """M_A or S_A in hours."""
        return self.mean_hours if self.what == "mean" else self.sd_hours

    def ready(self) -> Self:
        """Return the design itself: nothing has to be searched."""
        return self

    def size(self, vary: str) -> int:
        """Return ``workers`` or ``days``."""
        return size_of(self, self.varies, vary)

    def resized(self, vary: str, size: int) -> Self:
        """Return the study with another number of one of them."""
        changed: dict[str, Any] = {vary: size}
        return replace(self, **changed)

    def bounds(self, vary: str) -> tuple[int, int]:
        """Two workers are needed to tell how workers differ."""
        return 2 if vary == "workers" else 1, MOST

    def people(self) -> int:
        """Return the number of workers."""
        return self.workers

    def judgments(self) -> None:
        """Return None: nobody judges anything."""

    def simulated(self, rng: np.random.Generator) -> Outcome:
        """Draw a study and return the interval of M_A or S_A, in hours."""
        variance = math.log1p((self.sd_hours / self.mean_hours) ** 2)
        watched = Totals(
            events=np.zeros(self.workers), seconds=np.full(self.workers, self.days * HOURS_A_DAY)
        )
        mu = math.log(self.mean_hours) - variance / 2
        totals = simulate_totals(watched, mu, math.sqrt(variance), "window", rng)
        try:
            top = fit_durations(totals)
        except NotIdentifiedError:
            return NOTHING
        profile = interval_methods(totals, top, rejected=False, resamples=2, seed=1)["profile"]
        place = ("mean", "sd").index(self.what)
        low, high = profile.intervals(LEVEL)[place]
        ends = (0.0 if low is None else low, math.inf if high is None else high)
        told = self.tell_from is not None and not ends[0] <= self.tell_from <= ends[1]
        return Outcome(estimate=(top.mean, top.sd)[place], low=ends[0], high=ends[1], told=told)


@dataclass(frozen=True, slots=True, kw_only=True)
class SilenceDesign:
    """A study of preferences between push streams.

    Attributes
    ----------
    workers, pairs : int
        How many people, and how many pairs each judges.
    topics : int
        Interest profiles.
    true : float
        S_0 / G_E.
    days : int
        That a pair of streams shows.
    silent_share : float
        Share of silent days.
    judges : PushJudges
        What people are like otherwise.

    Examples
    --------
    >>> SilenceDesign(workers=30, pairs=20, topics=5, true=0.2).silent_share
    0.25
    """

    varies: ClassVar[tuple[str, ...]] = ("workers", "pairs", "topics")

    workers: int
    pairs: int
    topics: int
    true: float
    days: int = 10
    silent_share: float = 0.25
    judges: PushJudges = field(default_factory=lambda: PushJudges(sharpness=1.0))

    @property
    def log_scale(self) -> bool:
        """Errors are alike as they are."""
        return False

    @property
    def truth(self) -> float:
        """The true S_0 / G_E."""
        return self.true

    def ready(self) -> Self:
        """Return the design itself: nothing has to be searched."""
        return self

    def size(self, vary: str) -> int:
        """Return ``workers``, ``pairs`` or ``topics``."""
        return size_of(self, self.varies, vary)

    def resized(self, vary: str, size: int) -> Self:
        """Return the study with another number of one of them."""
        changed: dict[str, Any] = {vary: size}
        return replace(self, **changed)

    def bounds(self, vary: str) -> tuple[int, int]:
        """Two workers and two topics are needed to tell how they differ."""
        return 1 if vary == "pairs" else 2, MOST

    def people(self) -> int:
        """Return the number of workers."""
        return self.workers

    def judgments(self) -> int:
        """Return their number in all."""
        return self.workers * self.pairs

    def simulated(self, rng: np.random.Generator) -> Outcome:
        """Draw a study and return the interval of S_0 / G_E; told is the verdict `supported`."""
        judges = replace(
            self.judges,
            workers=self.workers,
            pairs_per_worker=self.pairs,
            weights={**TRUTH, "S_0": self.true},
        )
        judgments = simulate_push_judgments(
            self.topics, judges, rng, days=self.days, silent_share=self.silent_share
        )
        judged = judged_by(judgments, judgments.difference, "davidson")
        try:
            found = search_weights(judged, WEIGHTS, "davidson", nonneg=False)
        except NotIdentifiedError:
            return NOTHING
        silent = None if found.raw is None else silent_days(found.raw, _uncertainty(found.raw), None)
        if silent is None:
            return NOTHING
        low, high = silent.interval
        return Outcome(
            estimate=silent.ratio,
            low=-math.inf if low is None else low,
            high=math.inf if high is None else high,
            told=silent.verdict == "supported",
        )


def _uncertainty(raw: RawWeights) -> Uncertainty:
    """Return the interval method that `calibration.push.fit.fit_weights_to` prefers, without all else it does."""
    if raw.gain_in_errors >= STRONG_GAIN:
        return StudentT(centre=raw.ratios, cov=raw.ratio_cov, df=raw.df)
    return FiellerRatios(raw=raw)
