"""Were workers watched long enough, and are times in the unit that they seem?"""

import numpy as np

from calibration.checks.finding import Finding, note_if, warn_if
from calibration.inference.formatting import shown_time
from calibration.models.durations.exposure import CensoredDurations
from calibration.models.durations.fit import DurationFit
from metrics.errors import percent

MAX_SILENT_SHARE = 0.5
MIN_SESSION_SECONDS = 1.0


def check_silent(fit: DurationFit, exposure: CensoredDurations) -> Finding | None:
    """Report workers who never came back; more than half is a warning."""
    silent = float((fit.totals.events == 0).mean())
    say = warn_if if silent > MAX_SILENT_SHARE else note_if
    return say(
        exposure.design == "window" and silent,
        "never_came_back",
        f"{percent(silent, 1)} of the workers have no complete interval; they count with their time.",
    )


def check_extrapolated(fit: DurationFit, exposure: CensoredDurations) -> Finding | None:
    """Warn if the mean is longer than the median time that workers were watched."""
    watched = float(np.median(exposure.follow_seconds[exposure.follow_unit >= 0]))
    mean = float(fit.estimates[0])
    return warn_if(
        exposure.design == "window" and mean > watched,
        "extrapolated",
        f"The mean is {mean / watched:.1f} times as long as workers were watched ({shown_time(watched)}): it "
        "rests on the form of the distribution, not on observed times.",
    )


def check_session_unit(fit: DurationFit, exposure: CensoredDurations) -> Finding | None:
    """Warn if sessions are too short to be in seconds."""
    return warn_if(
        exposure.design == "count" and fit.top.mean < MIN_SESSION_SECONDS,
        "session_below_a_second",
        f"The mean session takes {fit.top.mean:.2g} s, too short to read anything: the times of the visits may have been read in "
        "another unit, such as seconds as milliseconds.",
    )
