"""The errors of parameters that were fitted together, as they stand in user-model.json for drawing.

Mean and deviation of one fit correlate strongly, so their marginal intervals cannot be drawn from. A block has the
covariance of the logarithms; `LOGARITHM` is one already and stands in it as it is. Parameters that may be
negative and whose sign the data leave open have no logarithm worth speaking of: their block is on the identity scale.
"""

import numpy as np

from calibration.inference.results import CalibrationResult, short
from calibration.user_model.model import LOGARITHM, PUSH_WEIGHTS, JointEntry, JointScale, plain_name
from metrics.arrays import Floats

SIGNED = frozenset(PUSH_WEIGHTS)
"""Parameters that may be negative."""
CLEAR_OF_ZERO = 2.0
"""Standard errors between 0 and an estimate whose sign is taken as known."""


def joint_entry(fit: CalibrationResult) -> JointEntry | None:
    """Return the covariance block of a fit; None when there is nothing to join or no covariance.

    With x = exp(l), d l = d x / x: the covariance of the logarithms is the one on the natural scale divided by both
    estimates (delta method).

    Parameters
    ----------
    fit : CalibrationResult
        With two parameters or more. An estimate of 0, where there is no logarithm, or of infinity has no error of this
        kind: then there is no block.
    """
    if len(fit.parameters) < 2 or not fit.uncertainty:
        return None
    names, natural = tuple(fit.parameters), fit.natural_cov
    signed = {plain_name(name) for name in names} <= SIGNED
    if signed and (fit.estimates < CLEAR_OF_ZERO * np.sqrt(np.diag(natural))).any():
        return _block(names, natural, "identity")
    of = np.array([1.0 if plain_name(name) == LOGARITHM else fit.parameters[name] for name in names])
    with np.errstate(divide="ignore", invalid="ignore"):
        return _block(names, natural / np.outer(of, of), "log")


def _block(names: tuple[str, ...], covariance: Floats, scale: JointScale) -> JointEntry | None:
    if not np.isfinite(covariance).all():
        return None
    rows = tuple(tuple(short(cell) for cell in row) for row in covariance.tolist())
    return JointEntry(names=names, scale=scale, covariance=rows)
