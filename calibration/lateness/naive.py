"""What is often done instead of `calibration.lateness.fit.fit_lateness`, and what goes wrong with it.

For comparison only (`prefcal fit --compare naive`); each function's docstring says how it is off.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
import pandas as pd
from scipy.special import logit

from calibration.inference.results import CalibrationResult, NotIdentifiedError
from calibration.inference.uncertainty import Scale, StudentT, Uncertainty
from calibration.lateness.fit import DECAY, P0, LatenessFit, fit_lateness
from calibration.lateness.likelihood import certain_decay, scores_and_information
from calibration.user_model.model import PARAMETERS


def naive_unclustered(lateness: pd.DataFrame) -> CalibrationResult:
    """Take every answer for an independent one, with normal quantiles: a binomial GLM with log link.

    The estimate is that of `fit_lateness`; intervals are too narrow when workers differ in how lateness matters to them,
    and there is none at L = 0 or p0 = 1.
    """
    fit = fit_lateness(lateness)
    error = unclustered_error(fit)
    return _result(
        "answers taken as independent", dict(fit.parameters), fit, {} if error is None else {"model": error}
    )


def unclustered_error(fit: LatenessFit) -> StudentT | None:
    """Return the error that the answers of a fit would have if they were independent; None at L = 0 or p0 = 1."""
    decay, p0 = fit.estimates.tolist()
    if decay == 0 or p0 == 1:
        return None
    _, information = scores_and_information(decay, p0, fit.counts)
    slope = np.array([1.0, 1 / (1 - p0)])  # d logit p0 = d log p0 / (1 - p0)
    return StudentT(
        centre=np.array([np.log(decay), logit(p0)]),
        cov=slope[:, None] * np.linalg.inv(information.sum(axis=0)) * slope,
        df=np.inf,
        scale=(Scale.LOG, Scale.LOGIT),
    )


def naive_lumped(lateness: pd.DataFrame) -> CalibrationResult:
    """Divide the share of useful late updates by the share of useful ones in time, however late they are.

    L is too small as soon as updates are more than one visit late: with lateness even on 1 to 4 and L = .5 it comes out
    near .23.
    """
    fit = fit_lateness(lateness)
    asked, useful = fit.counts.total_asked, fit.counts.total_useful
    p0 = useful[0] / asked[0]
    if p0 == 0:
        raise NotIdentifiedError("no update in time was of use, so there is nothing to divide by")
    ratio = float(useful[1:].sum() / asked[1:].sum() / p0)
    return _result("late against in time", {DECAY: ratio, P0: float(p0)}, fit)


def naive_log_regression(lateness: pd.DataFrame) -> CalibrationResult:
    """Fit a line to the logarithms of the shares by least squares.

    Levels without a yes have no logarithm and drop out, and the few yeses of late levels weigh as much as the many of
    early ones: L is too large when it is small.
    """
    fit = fit_lateness(lateness)
    share = fit.counts.total_useful / fit.counts.total_asked
    seen = share > 0
    if seen.sum() < 2:
        raise NotIdentifiedError(
            "fewer than two levels of lateness have a yes: there is no line through logarithms"
        )
    slope, intercept = np.polyfit(fit.counts.level[seen], np.log(share[seen]), 1)
    return _result(
        "line through log shares", {DECAY: float(np.exp(slope)), P0: float(np.exp(intercept))}, fit
    )


def naive_certain_in_time(lateness: pd.DataFrame) -> CalibrationResult:
    """Fix p0 at 1, so that every update in time is of use by definition.

    What keeps updates in time from being of use is then charged to lateness: L is too small when p0 < 1.
    """
    fit = fit_lateness(lateness)
    counts = fit.counts
    late = counts.level > 0
    return _result(
        "p0 fixed at 1",
        {DECAY: certain_decay(counts.level[late], counts.total_asked[late], counts.total_useful[late])},
        fit,
    )


def _result(
    method: str,
    params: dict[str, float],
    fit: LatenessFit,
    uncertainty: Mapping[str, Uncertainty] = MappingProxyType({}),
) -> CalibrationResult:
    return CalibrationResult(
        parameters=MappingProxyType(params),
        unit=PARAMETERS[DECAY],
        units=MappingProxyType({P0: PARAMETERS[P0]}),
        method=method,
        uncertainty=MappingProxyType(dict(uncertainty)),
        n_workers=fit.n_workers,
        n_rows=fit.n_rows,
    )


NAIVE: MappingProxyType[str, Callable[[pd.DataFrame], CalibrationResult]] = MappingProxyType(
    {
        "unclustered": naive_unclustered,
        "lumped": naive_lumped,
        "log_regression": naive_log_regression,
        "certain_in_time": naive_certain_in_time,
    }
)
"""Name -> baseline; each raises `NotIdentifiedError` as `fit_lateness` does."""
