"""Fits of drawn answers about lateness, and what their checks say."""

import numpy as np

from calibration.checks.finding import Finding
from calibration.checks.registry import run_checks
from calibration.models.lateness.answers import LatenessCounts
from calibration.models.lateness.fit import LatenessFit, fit_lateness
from calibration.models.lateness.simulate import LatenessRaters, simulate_lateness_counts


def drawn(seed: int, **raters) -> LatenessCounts:
    return simulate_lateness_counts(
        LatenessRaters(**{"decay": 0.5, **raters}), np.random.default_rng([seed, 14])
    )


def studied(studies: int, **raters) -> list[tuple[LatenessFit, dict[str, Finding]]]:
    """Return so many fits, each with its findings by name."""
    fits = [fit_lateness(drawn(seed, **raters)) for seed in range(studies)]
    return [(fit, {finding.name: finding for finding in run_checks(fit, fit.counts)}) for fit in fits]


def warned(findings: dict[str, Finding]) -> set[str]:
    return {name for name, finding in findings.items() if finding.severity == "warning"}
