"""Are cells so collinear in the judged pairs that weights are hardly separable?"""

from calibration.checks.finding import Finding
from calibration.models.push.columns import variance_inflation
from calibration.models.push.judgments import WEIGHTS, PushJudgments
from calibration.models.push.weights import PushFit, fit_data

MAX_VIF = 10.0
"""Largest variance inflation factor of separable columns (Marquardt 1970)."""


def check_collinear_cells(fit: PushFit, judgments: PushJudgments) -> Finding | None:
    """Report the cells whose variance is inflated by the others."""
    kept = list(fit.search.kept)
    design = fit_data(judgments, judgments.difference, fit.ties).design
    inflation = variance_inflation(design[:, kept])
    high = [
        f"{WEIGHTS[column]} ({factor:.0f})"
        for column, factor in zip(kept, inflation, strict=True)
        if factor > MAX_VIF
    ]
    if not high:
        return None
    return Finding(
        name="collinear_cells",
        severity="warning",
        sentence=f"Cells nearly move together in the judged pairs (variance inflation above {MAX_VIF:.0f}): {', '.join(high)}.",
        parameters=tuple(
            name for name in fit.parameters if any(name == f"push_{one.split()[0]}" for one in high)
        ),
    )
