"""Were judgments left out because their streams' cells are not comparable?"""

from calibration.checks.finding import Finding, warn_if
from calibration.inference.results import CalibrationResult
from calibration.models.push.judgments import PushJudgments


def check_pairs_without_cells(fit: CalibrationResult, judgments: PushJudgments) -> Finding | None:
    """Count judgments of streams without cells."""
    count = judgments.without_cells
    sentence = f"{count} judgments are left out because a stream has no cells."
    return warn_if(count, "pairs_without_cells", sentence)


def check_unequal_days(fit: CalibrationResult, judgments: PushJudgments) -> Finding | None:
    """Count judgments of streams over different days."""
    count = judgments.unequal_days
    sentence = f"{count} judgments are left out because the cells of the two streams count different numbers of days."
    return warn_if(count, "unequal_days", sentence)
