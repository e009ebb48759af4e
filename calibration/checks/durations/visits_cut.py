"""Do times away and sessions begin and end by people's choice alone?"""

from calibration.checks.finding import Finding, note_if, warn_if
from calibration.models.durations.exposure import CensoredDurations
from calibration.models.durations.fit import DurationFit
from metrics.errors import percent

MANY_EXHAUSTED = 0.5
"""Share of sessions ended by the material beyond which lengths are extrapolated."""


def check_prompted(fit: DurationFit, exposure: CensoredDurations) -> Finding | None:
    """Report the number of visits that a prompt brought."""
    return note_if(
        exposure.read.prompted,
        "prompted_visits",
        f"{percent(exposure.read.prompted)} of the visits followed a reminder or an invitation; the time away before such a visit is cut at "
        "the prompt.",
    )


def check_prompts(fit: DurationFit, exposure: CensoredDurations) -> Finding | None:
    """Report the number of missing prompts."""
    return warn_if(
        exposure.read.prompts_unknown,
        "prompts_unknown",
        f"For {exposure.read.prompts_unknown} prompted visits the tables have no prompt: the time away before them is cut at the visit, "
        "which makes times away look longer.",
    )


def check_gap(fit: DurationFit, exposure: CensoredDurations) -> Finding | None:
    """Report the silence that ends a visit."""
    gap = exposure.read.gap_seconds
    sentence = f"Page views closer than {gap:g} s are one visit; that much of every time away is not at risk."
    return note_if(gap, "visit_gap", sentence)


def check_closer_than_gap(fit: DurationFit, exposure: CensoredDurations) -> Finding | None:
    """Report the number of visits that contradict that silence."""
    count = exposure.read.closer_than_gap
    sentence = f"{count} visits begin sooner after the one before than visit_gap_seconds."
    return warn_if(count, "visits_closer_than_gap", sentence)


def check_without_length(fit: DurationFit, exposure: CensoredDurations) -> Finding | None:
    """Report the number of visits without a length."""
    read = exposure.read
    return note_if(
        read.without_length,
        "visits_without_length",
        f"{read.without_length} of {read.visits} visits were cut as soon as they began ({read.without_length_exhausted} because nothing was "
        "left to read); they say nothing about how long workers stay and are left out.",
    )


def check_exhausted(fit: DurationFit, exposure: CensoredDurations) -> Finding | None:
    """Report the number of sessions that ended because nothing was left to read."""
    read = exposure.read
    visits = f"{percent(read.exhausted)} of the {read.visits - read.without_length} visits that count ended because nothing was left to read"
    many = read.exhausted > MANY_EXHAUSTED
    return warn_if(many, "session_extrapolated", f"{visits}: session length is extrapolated.") or note_if(
        read.exhausted, "exhausted_visits", f"{visits}; they are taken as cut, not as complete."
    )
