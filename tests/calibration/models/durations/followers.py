"""People who follow streams: their tables drawn from a known population, and what a fit makes of them."""

import numpy as np

from calibration.models.durations.exposure import WorkerTotals
from calibration.models.durations.intervals import DurationProfile
from calibration.models.durations.maximum import DurationMaximum, maximum
from calibration.models.durations.simulate import ObservationDesign, simulate_visits
from metrics.msu.trails import Population

HOUR = 3600


def population(mean=24.0, sd=24.0, session_mean=180.0, session_sd=180.0) -> Population:
    return Population(
        away_mean_seconds=mean * HOUR,
        away_sd_seconds=sd * HOUR,
        session_mean_seconds=session_mean,
        session_sd_seconds=session_sd,
    )


def simulated(diary: ObservationDesign, *, seed: int = 1, people: Population | None = None) -> dict:
    return simulate_visits(people or population(), diary, np.random.default_rng(seed))


def profile(totals: WorkerTotals) -> tuple[DurationMaximum, DurationProfile]:
    top = maximum(totals)
    return top, DurationProfile(totals=totals, top=top, df=len(totals) - 1)
