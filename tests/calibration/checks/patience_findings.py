"""What checks of a patience, or of a persistence, say."""

from calibration.checks.finding import Finding
from calibration.checks.registry import run_checks


def findings(fit: object, data: object) -> dict[str, Finding]:
    return {finding.name: finding for finding in run_checks(fit, data)}


def warned(fit: object, data: object) -> list[str]:
    """Return the names of warnings, but that people or topics are few."""
    said = [finding.name for finding in run_checks(fit, data) if finding.severity == "warning"]
    return [name for name in said if not name.startswith("few_")]
