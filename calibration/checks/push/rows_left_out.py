"""Were judgments left out because their streams' cells are not comparable?"""

from calibration.checks.finding import Finding
from calibration.inference.results import CalibrationResult
from calibration.models.push.judgments import PushJudgments


def check_pairs_without_cells(fit: CalibrationResult, judgments: PushJudgments) -> Finding | None:
    """Count judgments of streams without cells."""
    if not judgments.without_cells:
        return None
    return Finding(
        name="pairs_without_cells",
        severity="warning",
        sentence=f"{judgments.without_cells} judgments are left out because a stream has no cells.",
    )


def check_unequal_days(fit: CalibrationResult, judgments: PushJudgments) -> Finding | None:
    """Count judgments of streams over different days."""
    if not judgments.unequal_days:
        return None
    return Finding(
        name="unequal_days",
        severity="warning",
        sentence=f"{judgments.unequal_days} judgments are left out because the cells of the two streams count different "
        "numbers of days.",
    )
