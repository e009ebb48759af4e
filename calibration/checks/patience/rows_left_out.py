"""Which rows do not count, and are the stops of texts at all?"""

from calibration.checks.finding import Finding, note_if, warn_if
from calibration.inference.results import CalibrationResult
from calibration.models.patience.pairs import JudgedSummaries
from calibration.models.patience.stops import Stops, StopsFit
from calibration.models.persistence import ContinuationCounts, PersistenceFit


def check_pairs_left_out(fit: CalibrationResult, pairs: JudgedSummaries) -> Finding | None:
    """Report the number of judged pairs without positions."""
    sentence = f"{pairs.left_out} judged pairs have no positions and are left out."
    return warn_if(pairs.left_out, "pairs_without_positions", sentence)


def check_texts_left_out(fit: StopsFit, stops: Stops) -> Finding | None:
    """Report the texts that do not measure patience."""
    return note_if(stops.unused, "stops_not_used", f"Left out: {stops.unused}.")


def check_lists_left_out(fit: PersistenceFit, steps: ContinuationCounts) -> Finding | None:
    """Report the lists that do not measure persistence."""
    return note_if(steps.unused, "stops_not_used", f"Left out: {steps.unused}.")


def check_visits(fit: StopsFit, stops: Stops) -> Finding | None:
    """Warn if stops come from visits to streams."""
    return warn_if(
        stops.of_visits,
        "from_visits",
        "No stop names a judgment or a layout, so all may be from visits to streams: there, time also limits how far "
        "people read, and the estimate is not their patience with texts.",
    )
