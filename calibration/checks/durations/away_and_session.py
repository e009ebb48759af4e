"""Do those who come often stay longer, or less?

If so, session lengths alone are biased: frequent visitors have more sessions, and absent people have none.
"""

from calibration.checks.durations.beside import is_small, listed, numbers_of, numbers_under
from calibration.checks.finding import REJECTED, Finding
from calibration.inference.formatting import format_p
from calibration.inference.results import NotIdentifiedError
from calibration.models.durations.correlation import fit_together
from calibration.models.durations.exposure import CensoredDurations
from calibration.models.durations.fit import DurationFit


def check_away_and_session(fit: DurationFit, exposure: CensoredDurations) -> Finding | None:
    """Compare sessions fitted jointly with times away with sessions alone."""
    if exposure.away is None or not is_small(exposure):
        return None
    try:
        together = fit_together(exposure)
    except NotIdentifiedError:
        return None
    if together.p_value >= REJECTED:
        return None
    how = "longer" if together.correlation < 0 else "shorter"
    return Finding(
        name="away_and_session",
        p_value=together.p_value,
        sentence=f"Who comes more often stays {how} (correlation of the logarithms of both means {together.correlation:.2f}, "
        f"{format_p(together.p_value)}): fitted together with times away {numbers_under(together.model)}, not {numbers_of(fit)}.",
        sensitivity=listed(together.model, fit, explains="better"),
    )
