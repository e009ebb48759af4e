"""Do preferences and stops identify the same patience?"""

from collections.abc import Sequence
from itertools import combinations

from calibration.checks.finding import Finding
from calibration.inference.formatting import format_interval
from calibration.inference.results import CalibrationResult
from calibration.inference.uncertainty import Interval


def check_estimates_apart(fits: Sequence[CalibrationResult]) -> list[Finding]:
    """Warn if 95 % intervals of one patience do not overlap."""
    intervals = {name: ends for fit in fits for name, ends in fit.conf_int().items()}
    return [
        Finding(
            name="disjoint_intervals",
            severity="warning",
            sentence=f"The intervals of {one} {format_interval(intervals[one])} and {other} "
            f"{format_interval(intervals[other])} have nothing in common: they measure different things here.",
        )
        for one, other in combinations(sorted(intervals), 2)
        if _is_below(intervals[one], intervals[other]) or _is_below(intervals[other], intervals[one])
    ]


def _is_below(first: Interval, second: Interval) -> bool:
    return first[1] is not None and second[0] is not None and first[1] < second[0]
