"""Are the log speeds of people normal?

Anderson and Darling's distance of the workers' medians from the normal law with their mean and their spread beside the error of a median.
p is by `STUDIES` that are drawn from the fit with as many reads of each worker.
"""

import numpy as np
from scipy.special import bdtr, log_ndtr

from calibration.checks.finding import REJECTED, Finding
from calibration.checks.reading.alike_times import NOT_READING
from calibration.inference.goodness import anderson_darling_of_logs
from calibration.inference.results import LEVEL
from calibration.models.reading.fit import MU, ReadingSpeedFit
from calibration.models.reading.rows import TimedReads
from calibration.user_model.model import OtherLaw
from metrics.arrays import Floats

STUDIES = 999


def check_form(fit: ReadingSpeedFit, data: TimedReads) -> Finding | None:
    """Test whether the workers' log speeds are normal.

    Checks that name a class of people say more.
    """
    if len(fit.summaries.medians) < 3:
        return None
    distance, p_value = normality_test(fit)
    verdict = "do not look" if p_value < REJECTED else "look"
    return Finding(
        name="normal_over_workers",
        p_value=p_value,
        explains=NOT_READING,
        sentence=f"The workers' log reading speeds {verdict} normal (Anderson-Darling {distance:.2f}, p = {p_value:.2g}).",
        sensitivity={MU: (_median_worker(fit.summaries.medians),)} if p_value < REJECTED else {},
    )


def normality_test(fit: ReadingSpeedFit) -> tuple[float, float]:
    """Return the medians' Anderson-Darling distance from the fitted law, and its p."""
    spread = np.sqrt(fit.estimates[1] ** 2 + fit.summaries.variances)
    observed = float(_distances(fit.summaries.medians[None], spread)[0])
    simulated = _distances(fit.simulated_medians(np.random.default_rng(1), STUDIES), spread)
    return observed, (1 + int((simulated >= observed).sum())) / (1 + STUDIES)


def _distances(medians: Floats, spread: Floats) -> Floats:
    """Return each study's distance, from medians (studies, workers).

    ``spread``, (workers,), is their deviation under the law, up to a factor.
    """
    apart = (medians - np.average(medians, axis=1, weights=spread**-2)[:, None]) / spread
    z = np.sort(apart / apart.std(axis=1, ddof=1)[:, None], axis=1)
    return np.array([anderson_darling_of_logs(log_ndtr(row), log_ndtr(-row)) for row in z])


def _median_worker(medians: Floats) -> OtherLaw:
    """Return the median of the workers' medians, with its order-statistic interval."""
    ordered = np.sort(medians)
    at_most = bdtr(np.arange(len(ordered)), len(ordered), 0.5)
    rank = int(np.searchsorted(at_most, (1 - LEVEL) / 2))
    low, high = (float(ordered[rank - 1]), float(ordered[-rank])) if rank else (None, None)
    return OtherLaw(
        law="no law, median worker", estimate=float(np.median(ordered)), low=low, high=high, explains="better"
    )
