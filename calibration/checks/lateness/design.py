"""Facts about who was asked what: few late yeses, one level of lateness, few nuggets, and late answers of other people than those in time."""

from calibration.checks.finding import Finding
from calibration.models.lateness.answers import LatenessCounts
from calibration.models.lateness.fit import LatenessFit

FEW_NUGGETS = 10
FEW_LATE_ANSWERS = 5
UNPAIRED_SHARE = 0.2


def check_few_late_yeses(fit: LatenessFit, counts: LatenessCounts) -> Finding | None:
    """Say on how few yeses about late updates L rests."""
    late = counts.total_useful[1:].sum()
    if fit.estimates[0] == 0 or late >= FEW_LATE_ANSWERS:
        return None
    return _warning("few_late_yeses", f"Only {late:.0f} late updates were of use: L rests on these alone.")


def check_levels(fit: LatenessFit, counts: LatenessCounts) -> Finding | None:
    """Say that one level of lateness cannot show the form of the decay."""
    if len(counts.level) > 2:
        return None
    return _warning(
        "one_late_level",
        f"All late updates were late by the same number of visits ({counts.level[1]:.0f}): that the decay is geometric cannot be tested.",
    )


def check_nugget_number(fit: LatenessFit, counts: LatenessCounts) -> Finding | None:
    """Say that few nuggets hardly tell how much nuggets differ."""
    if counts.nuggets is None or counts.nuggets >= FEW_NUGGETS or counts.workers < 2:
        return None
    if counts.nuggets == 1:
        return _warning("one_nugget", "All answers are on a single nugget: the interval is of this one.")
    return _warning("few_nuggets", f"{counts.nuggets} nuggets are few to tell how much nuggets differ.")


def check_who_was_asked(fit: LatenessFit, counts: LatenessCounts) -> Finding | None:
    """Say that people asked about late updates are not those asked in time."""
    unpaired, by_chance = _unpaired(counts)
    if unpaired <= by_chance + UNPAIRED_SHARE:
        return None
    return _warning(
        "different_workers",
        f"{unpaired:.0%} of the answers on late updates are by workers who were never asked about one in time: "
        "differences between workers may look like lateness.",
    )


def _warning(name: str, sentence: str) -> Finding:
    return Finding(name=name, severity="warning", sentence=sentence)


def _unpaired(counts: LatenessCounts) -> tuple[float, float]:
    """Return the share of late answers by workers never asked about an update in time, and what chance alone would make of it.

    Of a worker with one answer nobody can know whether chance or the design chose its lateness, so these count as the design's.
    """
    asked = counts.asked.sum(axis=1)
    late = asked - counts.asked[:, 0]
    share_late = late.sum() / asked.sum()
    by_chance = (asked * share_late**asked)[asked > 1].sum()
    return float(late[counts.asked[:, 0] == 0].sum() / late.sum()), float(by_chance / late.sum())
