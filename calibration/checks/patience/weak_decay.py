"""Do the data reach far enough to identify a patience?"""

from calibration.checks.finding import Finding, warn_if
from calibration.models.patience.pairs import JudgedSummaries
from calibration.models.patience.preferences import PreferencesFit
from calibration.models.patience.stops import Stops, StopsFit
from calibration.models.persistence import ContinuationCounts, PersistenceFit
from metrics.errors import percent

WEAK_LIKELIHOOD_RATIO = 10.0
"""Likelihood ratio against no decay below which a patience is weak.

Below it most intervals are open above (docs/calibration_patience.md).
"""
MAX_SURVIVORS = 0.3
"""Largest share of readers at the end of texts without a warning.

At .3 the last third of the line is extrapolated.
"""


def check_weak_decay(fit: PreferencesFit, pairs: JudgedSummaries) -> Finding | None:
    """Warn if preferences hardly separate the patience from no limit at all."""
    ratio = fit.details["lr_no_decay"]
    return warn_if(
        fit.place.kappa != 0 and ratio < WEAK_LIKELIHOOD_RATIO,
        "weak_decay",
        f"The preferences hardly distinguish this patience from no limit at all (likelihood ratio {ratio:.1f}, below {WEAK_LIKELIHOOD_RATIO:g}).",
    )


def check_texts_long_enough(fit: StopsFit, stops: Stops) -> Finding | None:
    """Warn if many still read where the texts end."""
    share = fit.details["share_reading"]
    return warn_if(
        stops.stopped.any() and share > MAX_SURVIVORS,
        "extrapolated",
        f"At {fit.details['last_position']:.0f} characters, where the texts end, {percent(share)} were still reading: the patience is extrapolated.",
    )


def check_lists_long_enough(fit: PersistenceFit, steps: ContinuationCounts) -> Finding | None:
    """Warn if many readings go to the end of their list."""
    to_end = fit.details["share_to_end"]
    return warn_if(
        to_end > MAX_SURVIVORS,
        "extrapolated",
        f"{percent(to_end)} of the readings that went beyond the first screen went to the end of the list: below it the persistence is "
        "extrapolated.",
    )
