"""Do visits and follows fit together?"""

from calibration.checks.finding import Finding, note_if, warn_if
from calibration.models.durations.exposure import CensoredDurations
from calibration.models.durations.fit import DurationFit
from calibration.visits.followed_visits import ASK_TIMES


def check_without_follow(fit: DurationFit, exposure: CensoredDurations) -> Finding | None:
    """Report the number of visits without a follow."""
    count = exposure.read.left_out.without_follow
    sentence = f"{count} visits belong to no worker and topic of table follows and are left out."
    return warn_if(count, "visits_without_follow", sentence)


def check_outside_follow(fit: DurationFit, exposure: CensoredDurations) -> Finding | None:
    """Report the number of visits outside their follow."""
    count = exposure.read.left_out.outside_follow
    sentence = f"{count} visits lie before their follow began or after it ended and are left out: {ASK_TIMES}"
    return warn_if(count, "visits_outside_follow", sentence)


def check_before_follow(fit: DurationFit, exposure: CensoredDurations) -> Finding | None:
    """Report the number of visits that begin before their follow."""
    count = exposure.read.left_out.before_follow
    begin = "visit begins before its" if count == 1 else "visits begin before their"
    sentence = f"{count} {begin} follow did; what lies before it is left out: {ASK_TIMES}"
    return warn_if(count, "visits_before_follow", sentence)


def check_ends(fit: DurationFit, exposure: CensoredDurations) -> Finding | None:
    """Warn if follows seem to end with their last visit."""
    ends = exposure.read.ends
    return warn_if(
        ends.is_suspicious,
        "ended_at_last_visit",
        f"{ends}; a follow must end with the study. Without the time in which nobody came back, times away come out too short.",
    )


def check_topics_never_opened(fit: DurationFit, exposure: CensoredDurations) -> Finding | None:
    """Note that topics which a worker never opened are unknown."""
    return warn_if(
        exposure.read.only_who_came and exposure.read.several_topics,
        "unopened_topics",
        "Workers have several topics; topics that a worker never opened are unknown, so times away may look shorter than they are.",
    )


def check_only_who_came(fit: DurationFit, exposure: CensoredDurations) -> Finding | None:
    """Note that the likelihood allows for people who never came."""
    return note_if(
        exposure.read.only_who_came,
        "at_least_one_visit",
        "Only workers who came are in the tables; the likelihood allows for those who never came (zero truncation).",
    )
