"""Findings of drawn reads."""

import pandas as pd

from calibration.checks.finding import Finding
from calibration.checks.registry import run_checks
from calibration.models.reading.fit import ReadingSpeedFit, fit_reading_speed
from calibration.models.reading.rows import readings


def checked(reads: pd.DataFrame, language: str = "en") -> tuple[ReadingSpeedFit, dict[str, Finding]]:
    """Return the fit of a table, and its findings by name."""
    data = readings(reads, language=language)
    fit = fit_reading_speed(data)
    return fit, {finding.name: finding for finding in run_checks(fit, data)}


def warned(reads: pd.DataFrame) -> set[str]:
    """Return the names of warnings."""
    return {name for name, finding in checked(reads)[1].items() if finding.severity == "warning"}
