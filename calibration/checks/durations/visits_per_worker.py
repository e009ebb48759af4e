"""How often do workers come back, and how often under the fitted model?

MSU takes this rate from the fit.
"""

import numpy as np

from calibration.checks.finding import Finding
from calibration.models.durations.exposure import CensoredDurations, WorkerTotals
from calibration.models.durations.fit import DurationFit
from calibration.models.durations.simulate import simulate_totals
from metrics.arrays import Floats
from metrics.errors import percent

SIMULATIONS = 399
SIMULATED_WORKERS = 1_000_000


def check_visits_per_worker(fit: DurationFit, exposure: CensoredDurations) -> Finding | None:
    """Compare the observed and the simulated number of visits per worker.

    It is no test, because the laws of the means have their own tests.
    """
    if exposure.design == "count":
        return None
    rng, top = np.random.default_rng(1), fit.top
    times = max(9, min(SIMULATIONS, SIMULATED_WORKERS // len(fit.totals)))
    drawn = [_summary(simulate_totals(fit.totals, top.mu, top.sigma, fit.design, rng)) for _ in range(times)]
    seen = _summary(fit.totals)
    mean, median, none = np.median(drawn, axis=0)
    return Finding(
        name="visits_per_worker",
        sentence=f"Workers came back {seen[0]:.3g} times on average (median {seen[1]:.3g}, never {percent(seen[2], 1)}); workers of a "
        f"log-normal population, watched as long, do so {mean:.3g} times (median {median:.3g}, never {percent(none, 1)}).",
    )


def _summary(totals: WorkerTotals) -> Floats:
    n = totals.events
    return np.array([n.mean(), np.median(n), (n == 0).mean()])
