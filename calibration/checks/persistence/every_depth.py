"""Do people go on from every depth with the same probability?

The statistic is chi-squared over depths; its law comes from simulated readers of the same lists, with p
fitted again to each.
"""

import numpy as np

from calibration.checks.finding import REJECTED, Finding
from calibration.checks.patience.simulated import chance_of_distance
from calibration.checks.persistence.finishers import NOT_GEOMETRIC
from calibration.inference.formatting import format_p
from calibration.models.persistence import ContinuationCounts, PersistenceFit, drawn_depths
from metrics.arrays import Ints

SIMULATIONS = 99


def check_every_depth(fit: PersistenceFit, steps: ContinuationCounts) -> Finding | None:
    """Test whether the share that goes on is the same at every depth."""
    p, rng = float(fit.estimates[0]), np.random.default_rng(1)
    simulated = [_distance(*drawn_depths(p, steps.possible, rng)) for _ in range(SIMULATIONS)]
    p_value = chance_of_distance(_distance(fit.at_risk, fit.stops), simulated)
    verdict = "it is not the same at every depth" if p_value < REJECTED else "one p describes it"
    return Finding(
        name="same_persistence_at_every_depth",
        p_value=p_value,
        explains=NOT_GEOMETRIC,
        sentence=f"The share that goes on to the next entry varies with the depth ({format_p(p_value)} by {SIMULATIONS} simulated studies): {verdict}.",
    )


def _distance(at_risk: Ints, stops: Ints) -> float:
    """Return the chi-squared distance of the stops from those of the closest p."""
    seen = at_risk > 0
    at_risk, stops = at_risk[seen], stops[seen]
    q = stops.sum() / at_risk.sum()
    if q in {0.0, 1.0}:
        return 0.0
    return float(((stops - q * at_risk) ** 2 / (q * (1 - q) * at_risk)).sum())
