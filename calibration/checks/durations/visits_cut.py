"""Do times away and sessions begin and end by people's choice alone?"""

from calibration.checks.finding import Finding
from calibration.models.durations.exposure import CensoredDurations
from calibration.models.durations.fit import DurationFit
from metrics.errors import percent

MANY_EXHAUSTED = 0.5
"""Share of sessions ended by the material beyond which lengths are extrapolated."""


def check_prompted(fit: DurationFit, exposure: CensoredDurations) -> Finding | None:
    """Report the number of visits that a prompt brought."""
    if not exposure.read.prompted:
        return None
    return Finding(
        name="prompted_visits",
        sentence=f"{percent(exposure.read.prompted)} of the visits followed a reminder or an invitation; the time away before such a visit is cut at "
        "the prompt.",
    )


def check_prompts(fit: DurationFit, exposure: CensoredDurations) -> Finding | None:
    """Report the number of missing prompts."""
    if not exposure.read.prompts_unknown:
        return None
    return Finding(
        name="prompts_unknown",
        severity="warning",
        sentence=f"For {exposure.read.prompts_unknown} prompted visits the tables have no prompt: the time away before them is cut at the visit, "
        "which makes times away look longer.",
    )


def check_gap(fit: DurationFit, exposure: CensoredDurations) -> Finding | None:
    """Report the silence that ends a visit."""
    if not exposure.read.gap_seconds:
        return None
    return Finding(
        name="visit_gap",
        sentence=f"Page views closer than {exposure.read.gap_seconds:g} s are one visit; that much of every time away is not at risk.",
    )


def check_closer_than_gap(fit: DurationFit, exposure: CensoredDurations) -> Finding | None:
    """Report the number of visits that contradict that silence."""
    if not exposure.read.closer_than_gap:
        return None
    return Finding(
        name="visits_closer_than_gap",
        severity="warning",
        sentence=f"{exposure.read.closer_than_gap} visits begin sooner after the one before than visit_gap_seconds.",
    )


def check_without_length(fit: DurationFit, exposure: CensoredDurations) -> Finding | None:
    """Report the number of visits without a length."""
    read = exposure.read
    if not read.without_length:
        return None
    return Finding(
        name="visits_without_length",
        sentence=f"{read.without_length} of {read.visits} visits were cut as soon as they began ({read.without_length_exhausted} because nothing was "
        "left to read); they say nothing about how long workers stay and are left out.",
    )


def check_exhausted(fit: DurationFit, exposure: CensoredDurations) -> Finding | None:
    """Report the number of sessions that ended because nothing was left to read."""
    read = exposure.read
    if not read.exhausted:
        return None
    visits = f"{percent(read.exhausted)} of the {read.visits - read.without_length} visits that count ended because nothing was left to read"
    if read.exhausted > MANY_EXHAUSTED:
        return Finding(
            name="session_extrapolated",
            severity="warning",
            sentence=f"{visits}: session length is extrapolated.",
        )
    return Finding(name="exhausted_visits", sentence=f"{visits}; they are taken as cut, not as complete.")
