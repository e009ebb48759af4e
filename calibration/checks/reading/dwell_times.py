"""Is there a shortest dwell time, by the page or by the clock?"""

import numpy as np

from calibration.checks.finding import Finding, warn_if
from calibration.models.reading.fit import ReadingSpeedFit
from calibration.models.reading.rows import TimedReads
from metrics.errors import percent

AT_THE_SHORTEST = 0.05
MIN_ROWS = 40
_NEAR = 1.01


def check_shortest_time(fit: ReadingSpeedFit, data: TimedReads) -> Finding | None:
    """Warn if many complete dwell times are the shortest one."""
    seconds = np.exp(data.log_length - data.log_speed)[~data.cut]
    shortest = float(seconds.min())
    share = float((seconds <= _NEAR * shortest).mean())
    return warn_if(
        len(seconds) >= MIN_ROWS and share > AT_THE_SHORTEST,
        "minimum_dwell",
        f"{percent(share)} of the dwell times are {shortest:.3g} s, the shortest there is: a least time on the page, or clocks "
        "that count whole seconds, make fast readers look slower.",
    )
