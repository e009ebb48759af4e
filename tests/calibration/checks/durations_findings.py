"""Times away of drawn people, and what the checks say of their fit."""

from typing import Any

import numpy as np

from calibration.checks.finding import Finding
from calibration.checks.registry import run_checks
from calibration.models.durations.exposure import CensoredDurations, VisitsRead
from calibration.models.durations.fit import (
    DurationFit,
    fit_exposure,
)
from calibration.models.durations.from_tables import away_exposure, session_exposure
from calibration.models.durations.simulate import ObservationDesign, simulate_visits
from metrics.msu.trails import Population

DAY = 86_400.0
PEOPLE = Population(
    away_mean_seconds=DAY, away_sd_seconds=DAY, session_mean_seconds=180, session_sd_seconds=180
)


def watched(moments: list[np.ndarray], days: float = 7.0) -> CensoredDurations:
    """Workers who came at these moments, in days since a midnight; visits take no time."""
    stops = [np.append(np.sort(own), days) * DAY for own in moments]
    unit = np.repeat(np.arange(len(moments)), [len(stop) for stop in stops])
    stop = np.concatenate(stops)
    first = np.diff(unit, prepend=-1) > 0
    last = np.diff(unit, append=len(moments)) > 0
    return CensoredDurations(
        unit=unit,
        follow=unit,
        start=np.where(first, 0.0, np.concatenate([[0.0], stop[:-1]])),
        stop=stop,
        event=~last,
        follow_unit=np.arange(len(moments)),
        follow_seconds=np.full(len(moments), days * DAY),
        seen_by_seconds=None,
        design="window",
        read=VisitsRead(),
        follow_begun=np.zeros(len(moments)),
    )


def moments(rate_of: np.ndarray, rng: np.random.Generator, pace: Any = np.ones_like) -> list[np.ndarray]:
    """Draw everybody's moments at rates a day, kept with the probability that a pace (up to 1) gives."""
    drawn = [np.sort(rng.uniform(0, 7, rng.poisson(7 * rate))) for rate in rate_of]
    return [at[rng.random(len(at)) < pace(at)] for at in drawn]


def rates(workers: int, rng: np.random.Generator) -> np.ndarray:
    """Log-normal means of a day, deviation a day."""
    return np.exp(-rng.normal(-np.log(2) / 2, np.sqrt(np.log(2)), workers))


def tables(seed: int = 1, **diary: Any) -> dict[str, Any]:
    return simulate_visits(PEOPLE, ObservationDesign(**diary), np.random.default_rng(seed))


def said(exposure: CensoredDurations) -> tuple[DurationFit, dict[str, Finding]]:
    """Return the fit, and its findings by name."""
    fit = fit_exposure(exposure, resamples=2)
    return fit, {finding.name: finding for finding in run_checks(fit, exposure)}


def said_of(study: dict[str, Any], **options: Any) -> dict[str, Finding]:
    """Return the findings of times away."""
    exposure = away_exposure(study, **options)
    return {one.name: one for one in run_checks(fit_exposure(exposure, resamples=2), exposure)}


def said_of_sessions(study: dict[str, Any]) -> dict[str, Finding]:
    """Return the findings of sessions."""
    exposure = session_exposure(study)
    return {one.name: one for one in run_checks(fit_exposure(exposure, resamples=2), exposure)}


def warned(findings: dict[str, Finding]) -> set[str]:
    return {name for name, finding in findings.items() if finding.severity == "warning"}


def range_of(findings: dict[str, Finding], name: str) -> tuple[float, float]:
    """Return the range of a parameter over the intervals of all other laws."""
    laws = [law for finding in findings.values() for law in finding.sensitivity.get(name, ())]
    lows = [law.low or 0.0 for law in laws]
    highs = [np.inf if law.high is None else law.high for law in laws]
    return min(lows, default=np.inf), max(highs, default=0.0)
