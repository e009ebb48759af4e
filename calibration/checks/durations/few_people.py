"""Are there enough people to tell a law of their means from another?"""

from calibration.checks.durations.heavy_tails import FEW_WORKERS, REPORT_QUARTILES
from calibration.checks.finding import Finding, warn_if
from calibration.models.durations.exposure import CensoredDurations
from calibration.models.durations.fit import DurationFit

TOO_SMALL = (
    (30, ""),
    (12, ", and S comes out too small, by about a tenth"),
    (8, ", and S comes out too small, by about a fifth"),
    (0, ", and S comes out too small, by a third and more"),
)
"""Bias of S in words, by the smallest number of workers that has it.

Values are medians of 200 simulated studies of log-normal people, S = M, over a week.
"""


def check_few_workers(fit: DurationFit, exposure: CensoredDurations) -> Finding | None:
    """Warn if workers are few, with the effect on M and S."""
    workers = fit.n_workers or 0
    off = next(how for least, how in TOO_SMALL if workers >= least)
    return warn_if(
        workers <= FEW_WORKERS,
        "few_workers",
        f"There are {workers} workers. With {FEW_WORKERS} or fewer, the mean and the standard deviation (S) of the workers' "
        f"means rest on the log-normal law, which so few cannot confirm: with a heavy tail both come out far too small{off}. Other laws "
        f"stand beside the numbers. Ask more people. {REPORT_QUARTILES}.",
    )
