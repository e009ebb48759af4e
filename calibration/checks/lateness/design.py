"""Checks of the design of a lateness study: late yeses, levels, nuggets, workers."""

from calibration.checks.finding import Finding, warn_if
from calibration.models.lateness.answers import LatenessCounts
from calibration.models.lateness.fit import LatenessFit
from metrics.errors import percent

FEW_NUGGETS = 10
FEW_LATE_ANSWERS = 5
UNPAIRED_SHARE = 0.2


def check_few_late_yeses(fit: LatenessFit, counts: LatenessCounts) -> Finding | None:
    """Warn if few late updates were of use."""
    late = counts.total_useful[1:].sum()
    are_few = fit.estimates[0] != 0 and late < FEW_LATE_ANSWERS
    return warn_if(
        are_few, "few_late_yeses", f"Only {late:.0f} late updates were of use: L rests on these alone."
    )


def check_levels(fit: LatenessFit, counts: LatenessCounts) -> Finding | None:
    """Warn if one level of lateness leaves the form of the decay untested."""
    return warn_if(
        len(counts.level) <= 2,
        "one_late_level",
        f"All late updates were late by the same number of visits ({counts.level[1]:.0f}): a geometric decay cannot be tested.",
    )


def check_nugget_number(fit: LatenessFit, counts: LatenessCounts) -> Finding | None:
    """Warn if there are too few nuggets to estimate how much they differ."""
    if counts.nuggets is None or counts.nuggets >= FEW_NUGGETS or counts.workers < 2:
        return None
    one = "All answers are about one nugget: the interval does not cover other nuggets."
    few = f"Only {counts.nuggets} nuggets: how much nuggets differ is poorly estimated."
    return warn_if(counts.nuggets == 1, "one_nugget", one) or warn_if(counts.nuggets, "few_nuggets", few)


def check_who_was_asked(fit: LatenessFit, counts: LatenessCounts) -> Finding | None:
    """Warn if late updates were asked about to workers never asked about one in time."""
    unpaired, by_chance = _unpaired(counts)
    return warn_if(
        unpaired > by_chance + UNPAIRED_SHARE,
        "different_workers",
        f"{percent(unpaired)} of the answers about late updates are by workers never asked about an update in time: "
        "differences between workers may look like lateness.",
    )


def _unpaired(counts: LatenessCounts) -> tuple[float, float]:
    """Return the share of late answers by workers with none in time, and its mean.

    The mean is the expectation under random lateness of each question. Workers with one answer add nothing to it: whether chance or the design
    made their answer late is unknown, so it counts as the design's.
    """
    asked = counts.asked.sum(axis=1)
    late = asked - counts.asked[:, 0]
    share_late = late.sum() / asked.sum()
    by_chance = (asked * share_late**asked)[asked > 1].sum()
    return float(late[counts.asked[:, 0] == 0].sum() / late.sum()), float(by_chance / late.sum())
