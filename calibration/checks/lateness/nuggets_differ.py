"""Do nuggets differ in how often they are of use?

The test conditions on the person and the lateness.

With r_uj the sum of (y - p) / (1 - p) over the answers y of worker u on nugget j, p the share of useful updates at their lateness
(what a nugget's own p0 moves, per unit), and workers independent of each other,

    T = sum_{u != v} a_uv,    a_uv = sum_j r_uj r_vj

has mean 0 where nuggets do not differ, but for what the fitted shares take away, and variance 2 sum_{u != v} a_uv^2: workers who
differ in how often anything is of use to them do not move it. A score test of a variance (Liang 1987), nearly chi-squared with as
many degrees of freedom as nuggets.
"""

import numpy as np
from scipy.special import chdtrc

from calibration.checks.finding import Finding
from calibration.checks.lateness.crowd import thinned
from calibration.inference.formatting import format_p
from calibration.models.lateness.answers import LatenessCounts
from calibration.models.lateness.fit import LatenessFit


def check_nuggets(fit: LatenessFit, counts: LatenessCounts) -> Finding | None:
    """Test whether nuggets differ; the interval allows for it."""
    p_value = nugget_test(counts) if counts.workers > 1 else None
    if p_value is None:
        return None
    return Finding(
        name="nuggets_differ",
        p_value=p_value,
        sentence=f"Some nuggets are of use more often than others, whoever is asked and however late ({format_p(p_value)}): the interval "
        f"allows for {counts.nuggets} nuggets drawn from many; L within a single nugget may be smaller. Ask about more nuggets.",
    )


def nugget_test(counts: LatenessCounts) -> float | None:
    """Return p of the hypothesis that nuggets are alike, or None.

    It is None where no nugget was asked of two workers, or all answers agree.
    """
    counts = thinned(counts)
    cells, way = counts.cells, counts.shared_ways.get("nugget")
    if cells is None or way is None:
        return None
    share = counts.total_useful / counts.total_asked
    weight = 1 / (1 - counts.total_useful / (counts.total_asked + 1))
    residual = np.zeros((counts.workers, way.alone.workers))
    residual[cells.worker, cells.nugget] = (cells.useful - cells.asked * share) @ weight
    together = residual @ residual.T
    np.fill_diagonal(together, 0.0)
    deviation = np.sqrt(2 * (together**2).sum())
    if deviation == 0:
        return None
    own = (residual**2).sum(axis=0)
    fitted = share * (1 - share) * weight**2 @ ((way.alone.asked**2).sum(axis=0) / counts.total_asked)
    effective = own.sum() ** 2 / (own**2).sum()
    value = effective + np.sqrt(2 * effective) * (together.sum() + fitted) / deviation
    return float(chdtrc(effective, value))
