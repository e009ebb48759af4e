"""Naive estimators of the lateness decay; each docstring names its error."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
import pandas as pd
from scipy.special import logit

from calibration.inference.results import CalibrationResult, NotIdentifiedError
from calibration.inference.uncertainty import Scale, StudentT, Uncertainty
from calibration.models.lateness.answers import LatenessCounts, lateness_counts
from calibration.models.lateness.fit import DECAY, P0, check_counts
from calibration.models.lateness.likelihood import certain_decay, maximum, scores_and_information
from calibration.user_model.model import PARAMETERS


def naive_unclustered(lateness: pd.DataFrame) -> CalibrationResult:
    """Take every answer for an independent one, with normal quantiles: a binomial GLM with log link.

    The estimate is that of `fit_lateness` where it finds no better law; intervals are too narrow when workers differ in how lateness matters to them,
    and there is none at L = 0 or p0 = 1.
    """
    counts = _counts(lateness)
    decay, p0 = maximum(counts.level, counts.total_asked, counts.total_useful)
    error = unclustered_error(decay, p0, counts)
    return _result(
        "answers taken as independent",
        {DECAY: decay, P0: p0},
        counts,
        {} if error is None else {"model": error},
    )


def unclustered_error(decay: float, p0: float, counts: LatenessCounts) -> StudentT | None:
    """Return the error that a plain decay would have if answers were independent; None at L = 0 or p0 = 1."""
    if decay == 0 or p0 == 1:
        return None
    information = scores_and_information(decay, p0, counts)[1][:, :2, :2]
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
    counts = _counts(lateness)
    asked, useful = counts.total_asked, counts.total_useful
    p0 = useful[0] / asked[0]
    if p0 == 0:
        raise NotIdentifiedError("no update in time was of use, so there is nothing to divide by")
    ratio = float(useful[1:].sum() / asked[1:].sum() / p0)
    return _result("late against in time", {DECAY: ratio, P0: float(p0)}, counts)


def naive_log_regression(lateness: pd.DataFrame) -> CalibrationResult:
    """Fit a line to the logarithms of the shares by least squares.

    Levels without a yes have no logarithm and drop out, and the few yeses of late levels weigh as much as the many of
    early ones: L is too large when it is small.
    """
    counts = _counts(lateness)
    share = counts.total_useful / counts.total_asked
    seen = share > 0
    if seen.sum() < 2:
        raise NotIdentifiedError(
            "fewer than two levels of lateness have a yes: there is no line through logarithms"
        )
    slope, intercept = np.polyfit(counts.level[seen], np.log(share[seen]), 1)
    return _result(
        "line through log shares", {DECAY: float(np.exp(slope)), P0: float(np.exp(intercept))}, counts
    )


def naive_certain_in_time(lateness: pd.DataFrame) -> CalibrationResult:
    """Fix p0 at 1, so that every update in time is of use by definition.

    What keeps updates in time from being of use is then charged to lateness: L is too small when p0 < 1.
    """
    counts = _counts(lateness)
    late = counts.level > 0
    return _result(
        "p0 fixed at 1",
        {DECAY: certain_decay(counts.level[late], counts.total_asked[late], counts.total_useful[late])},
        counts,
    )


def _counts(lateness: pd.DataFrame) -> LatenessCounts:
    """Count the answers; raises `NotIdentifiedError` as `fit_lateness` does."""
    if not len(lateness):
        raise NotIdentifiedError("nobody was asked whether an update was still of use")
    counts = lateness_counts(lateness)
    check_counts(counts)
    return counts


def _result(
    method: str,
    params: dict[str, float],
    counts: LatenessCounts,
    uncertainty: Mapping[str, Uncertainty] = MappingProxyType({}),
) -> CalibrationResult:
    return CalibrationResult(
        parameters=MappingProxyType(params),
        unit=PARAMETERS[DECAY],
        units=MappingProxyType({P0: PARAMETERS[P0]}),
        method=method,
        uncertainty=MappingProxyType(dict(uncertainty)),
        n_workers=counts.workers,
        n_rows=int(counts.total_asked.sum()),
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
