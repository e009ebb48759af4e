"""Do the reads of some people scatter more than those of others?

The law of `calibration.models.reading.mixture` has one tau for everybody. Beside it stand people with a tau of their own,

    log tau_u ~ N(log tau, s^2),

and all six parameters maximise one likelihood (an even Gauss-Hermite rule over log tau_u). It is a rival of `alike_times` and
`extra_time`: who scatters much has reads that look like pauses or like skimmed ones. It is fitted only where one of these is rejected, since
alone it moves neither mu nor sigma, and has the warning where it explains clearly better than they do.
"""

import math

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax

from calibration.checks.finding import NEARLY, Finding, edge_p
from calibration.checks.reading.alike_times import NOT_READING, clear_class
from calibration.checks.reading.extra_time import clear_share, evenly_chosen, speed_laws
from calibration.inference.formatting import format_p
from calibration.inference.maximise import information_at
from calibration.models.reading.fit import ReadingSpeedFit
from calibration.models.reading.mixture import N_FREE, MixtureLikelihood, reading_sample
from calibration.models.reading.rows import TimedReads
from metrics.arrays import Floats

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(8)
_LOG_WEIGHTS = np.log(_WEIGHTS / _WEIGHTS.sum())
_LOG_TAU = np.eye(N_FREE)[2]
"""Direction of log tau among the parameters."""
_START, _MAX_SCATTER = 0.3, 2.0
_REACH = 5.0
"""Largest distance of a logarithm from its start."""
_STEP = 1e-4


def check_own_scatter(fit: ReadingSpeedFit, data: TimedReads) -> Finding | None:
    """Compare people who scatter by as much as they do with people alike."""
    if clear_class(data) is None and clear_share(data) is None:
        return None
    some = evenly_chosen(data)
    _, _, top = reading_sample(some)
    if top is None:
        return None
    likelihood = top.likelihood
    alone = float(likelihood.terms(top.p)[0].sum()) + likelihood.penalty(top.p)[0]
    start = np.append(top.p, _START)
    bounds = [(value - _REACH, value + _REACH) for value in top.p] + [(0.0, _MAX_SCATTER)]

    def loss(point: Floats) -> tuple[float, Floats]:
        value, slope = height(likelihood, point)
        return -value, -slope

    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"ftol": 1e-8})
    gain = max(0.0, -float(found.fun) - alone)
    p_value, scatter = edge_p(2 * gain), float(found.x[-1])
    mu, sigma = float(found.x[0]), math.exp(found.x[1])
    information = information_at(lambda at: height(likelihood, at)[1], found.x, _STEP)
    cov = np.asarray(np.linalg.pinv(information, hermitian=True)[:2, :2], dtype=np.float64)
    return Finding(
        name="own_scatter",
        p_value=p_value,
        explains=NOT_READING,
        gain=gain - NEARLY,
        sentence=f"The speed of single reads scatters {math.exp(2 * scatter):.2g} times as much in some workers as in others ({format_p(p_value)}). With a "
        f"scatter of each worker's own in the law mu is {mu:.3g} and sigma {sigma:.3g}, without {fit.estimates[0]:.3g} and "
        f"{fit.estimates[1]:.3g}.",
        sensitivity=speed_laws("own scatter", p_value, found.x, cov, data.n_workers),
    )


def height(likelihood: MixtureLikelihood, point: Floats) -> tuple[float, Floats]:
    """Return the penalised log-likelihood of six parameters, and its gradient.

    Parameters
    ----------
    point : (6,) ndarray of float
        mu, log sigma, log tau, a_idle, a_skimmed, s.

    Returns
    -------
    float
        It is that of readers alone where s is 0.
    (6,) ndarray of float
        By Fisher's identity.
    """
    laws = point[:N_FREE] + point[N_FREE] * np.outer(_NODES, _LOG_TAU)
    terms = [likelihood.terms(law) for law in laws]
    value = np.stack([of_law for of_law, _ in terms]) + _LOG_WEIGHTS[:, None]
    slopes = np.stack([slope for _, slope in terms])
    weight = softmax(value, axis=0)
    by_law = np.einsum("ju,juk->jk", weight, slopes)
    penalty, slope = likelihood.penalty(point[:N_FREE])
    gradient = np.append(slope + by_law.sum(axis=0), _NODES @ by_law @ _LOG_TAU)
    return float(logsumexp(value, axis=0).sum()) + penalty, gradient
