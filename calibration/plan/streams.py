"""Planned studies of streams: of the time away, and of the worth of silence.

They plan for M_A or S_A, and for S_0. Visits are drawn by the model that is fitted
(`calibration.models.durations.simulate.simulate_totals`); the time that visits themselves take, minutes in hours, is left out. The interval
is the profile likelihood's, which `prefcal fit` prints.

S_0 is the weight of a silent day on which a system kept quiet, relative to that of gain: above 0 speaks for ELG-1,
0 for ELG-0. Streams and people are those of `calibration.models.push.simulate`; fit, interval and verdict are those of
`calibration.models.push.weights`.
"""

import math
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from calibration.inference.results import NotIdentifiedError
from calibration.models.durations.exposure import WorkerTotals
from calibration.models.durations.fit import fit_durations
from calibration.models.durations.intervals import DurationProfile
from calibration.models.durations.simulate import simulate_totals
from calibration.models.push.judgments import WEIGHTS
from calibration.models.push.simulate import TRUTH, PushJudges, simulate_push_judgments
from calibration.models.push.weights import fit_data, fit_identified_weights, silent_days
from calibration.plan.simulation import MAX_SIZE, NO_ESTIMATE, Design, SimulatedEstimate, positive_outcome

LEVEL = 0.95
HOURS_A_DAY = 24.0
What: TypeAlias = Literal["mean", "sd"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AwayDesign(Design):
    """Design of a study of times away.

    Attributes
    ----------
    workers : int
        Number of workers; each follows one stream.
    days : int
        From enrolment to the end, in stream days.
    mean_hours, sd_hours : float
        M_A and S_A: mean and standard deviation, over people, of their own mean time away.
    what : {'mean', 'sd'}
        Parameter that the study is to estimate: M_A or S_A.
    tell_from : float or None
        Null value in hours, which the study is to reject.

    Examples
    --------
    >>> AwayDesign(workers=30, days=7, mean_hours=8, sd_hours=4).what
    'mean'
    """

    varies: ClassVar[tuple[str, ...]] = ("workers", "days")
    log_scale: ClassVar[bool] = True

    workers: int
    days: int
    mean_hours: float
    sd_hours: float
    what: What = "mean"
    tell_from: float | None = None

    @property
    def truth(self) -> float:
        """True M_A or S_A in hours."""
        return self.mean_hours if self.what == "mean" else self.sd_hours

    def bounds(self, vary: str) -> tuple[int, int]:
        """Return the bounds of a size; two workers are needed to see how they differ."""
        return 2 if vary == "workers" else 1, MAX_SIZE

    def people(self) -> int:
        """Return the number of workers."""
        return self.workers

    def judgments(self) -> None:
        """Return None: nobody judges anything."""

    def simulated(self, rng: np.random.Generator) -> SimulatedEstimate:
        """Simulate a study and return the interval of M_A or S_A, in hours."""
        variance = math.log1p((self.sd_hours / self.mean_hours) ** 2)
        watched = WorkerTotals(
            events=np.zeros(self.workers), seconds=np.full(self.workers, self.days * HOURS_A_DAY)
        )
        mu = math.log(self.mean_hours) - variance / 2
        totals = simulate_totals(watched, mu, math.sqrt(variance), "window", rng)
        try:
            top = fit_durations(totals)
        except NotIdentifiedError:
            return NO_ESTIMATE
        profile = DurationProfile(totals=totals, top=top, df=len(totals) - 1)
        index = ("mean", "sd").index(self.what)
        return positive_outcome((top.mean, top.sd)[index], profile.intervals(LEVEL)[index], self.tell_from)


@dataclass(frozen=True, slots=True, kw_only=True)
class SilenceDesign(Design):
    """Design of a study of preferences between push streams.

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
    def truth(self) -> float:
        """True S_0 / G_E."""
        return self.true

    def bounds(self, vary: str) -> tuple[int, int]:
        """Return the bounds of a size, at least two workers and two topics.

        Differences between workers and topics need two of each.
        """
        return 1 if vary == "pairs" else 2, MAX_SIZE

    def people(self) -> int:
        """Return the number of workers."""
        return self.workers

    def judgments(self) -> int:
        """Return the number of judgments."""
        return self.workers * self.pairs

    def simulated(self, rng: np.random.Generator) -> SimulatedEstimate:
        """Simulate a study and return the interval of S_0 / G_E.

        It detects a difference where the verdict is `supported`.
        """
        judges = replace(
            self.judges,
            workers=self.workers,
            pairs_per_worker=self.pairs,
            weights={**TRUTH, "S_0": self.true},
        )
        judgments = simulate_push_judgments(
            self.topics, judges, rng, days=self.days, silent_share=self.silent_share
        )
        judged = fit_data(judgments, judgments.difference, "davidson")
        try:
            weight_fit = fit_identified_weights(judged, WEIGHTS, "davidson")
        except NotIdentifiedError:
            return NO_ESTIMATE
        silent = silent_days(weight_fit.raw)
        if silent is None:
            return NO_ESTIMATE
        low, high = silent.interval
        return SimulatedEstimate(
            estimate=silent.ratio,
            low=-math.inf if low is None else low,
            high=math.inf if high is None else high,
            told=silent.verdict == "supported",
        )
