"""Which rows do not count, and are the stops of texts at all?"""

from calibration.checks.finding import Finding
from calibration.inference.results import CalibrationResult
from calibration.models.patience.pairs import JudgedSummaries
from calibration.models.patience.stops import Stops, StopsFit
from calibration.models.persistence import ContinuationCounts, PersistenceFit


def check_pairs_left_out(fit: CalibrationResult, pairs: JudgedSummaries) -> Finding | None:
    """Report the number of judged pairs without positions."""
    if not pairs.left_out:
        return None
    return Finding(
        name="pairs_without_positions",
        severity="warning",
        sentence=f"{pairs.left_out} judged pairs have no positions and are left out.",
    )


def check_texts_left_out(fit: StopsFit, stops: Stops) -> Finding | None:
    """Report the texts that do not measure patience."""
    return Finding(name="stops_not_used", sentence=f"Left out: {stops.unused}.") if stops.unused else None


def check_lists_left_out(fit: PersistenceFit, steps: ContinuationCounts) -> Finding | None:
    """Report the lists that do not measure persistence."""
    return Finding(name="stops_not_used", sentence=f"Left out: {steps.unused}.") if steps.unused else None


def check_visits(fit: StopsFit, stops: Stops) -> Finding | None:
    """Warn if stops come from visits to streams."""
    if not stops.of_visits:
        return None
    return Finding(
        name="from_visits",
        severity="warning",
        sentence="No stop names a judgment or a layout, so all may be from visits to streams: there, time also limits how far "
        "people read, and the estimate is not their patience with texts.",
    )
