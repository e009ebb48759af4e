"""Naive estimators of push weights; each docstring names its error."""

from collections.abc import Callable
from types import MappingProxyType

import numpy as np
import pandas as pd

from calibration.inference.choice import Ties, maximise
from calibration.inference.results import CalibrationResult, NotIdentifiedError
from calibration.inference.uncertainty import StudentT
from calibration.models.push.columns import identified
from calibration.models.push.judgments import WEIGHTS, PushJudgments, push_judgments
from calibration.models.push.weights import FitData, RawWeights, fit_data
from calibration.user_model.model import PARAMETERS


def naive_unclustered(preferences: pd.DataFrame, push_cells: pd.DataFrame) -> CalibrationResult:
    """Take every judgment for an independent one, with normal quantiles.

    The estimate is that of `fit_push_weights`; intervals are too narrow, because judgments of one topic share what its
    streams have beyond their cells, and those of one person that person.
    """
    return unclustered(push_judgments(preferences, push_cells))


def unclustered(judgments: PushJudgments) -> CalibrationResult:
    """Do the same with judgments that have their cells already."""
    return _fit(fit_data(judgments, judgments.difference, "davidson"), "davidson", "judgments as independent")


def naive_without_ties(preferences: pd.DataFrame, push_cells: pd.DataFrame) -> CalibrationResult:
    """Drop equally good and equally bad judgments and treat the others as independent.

    Ties say that streams are worth about the same. Without them estimates scatter more (standard deviations 4 % larger at 19 %
    ties, 11 % at 44 %, 15 % at 60 %), and intervals are too narrow for the same reason as in `naive_unclustered`.
    """
    judgments = push_judgments(preferences, push_cells)
    return _fit(fit_data(judgments, judgments.difference, "drop"), "drop", "ties dropped")


def naive_without_sides(preferences: pd.DataFrame, push_cells: pd.DataFrame) -> CalibrationResult:
    """Look cells up by system in alphabetical order and read "left" as the first.

    Sides are drawn at random, so half of the preferences are turned round: the weights come out near 0, and their ratios
    are noise.
    """
    judgments = push_judgments(preferences, push_cells)
    turned = np.where(judgments.first_is_left[:, None], judgments.difference, -judgments.difference)
    return _fit(fit_data(judgments, turned, "davidson"), "davidson", "sides ignored")


def _fit(judged: FitData, ties: Ties, method: str) -> CalibrationResult:
    columns = identified(judged.design, WEIGHTS)
    if columns.unclear:
        raise NotIdentifiedError("; ".join(dict.fromkeys(columns.unclear.values())))
    found = maximise(judged.design, judged.vote, ties)
    k = len(WEIGHTS)
    cov = np.asarray(np.linalg.inv(found.information)[:k, :k], dtype=np.float64)
    raw = RawWeights(names=WEIGHTS, weights=found.weights, cov=cov, df=judged.workers - 1)
    return CalibrationResult(
        parameters=MappingProxyType(
            {f"push_{name}": ratio for name, ratio in zip(WEIGHTS[1:], raw.ratios.tolist(), strict=True)}
        ),
        unit=PARAMETERS["push_P_E"],
        method=method,
        uncertainty=MappingProxyType({"model": StudentT(centre=raw.ratios, cov=raw.ratio_cov, df=np.inf)}),
        loglik=found.loglik,
        n_free=len(found.point),
        n_workers=judged.workers,
        n_rows=len(judged.vote),
        details=MappingProxyType({"G_E_log_odds": float(found.weights[0])}),
    )


NAIVE: MappingProxyType[str, Callable[[pd.DataFrame, pd.DataFrame], CalibrationResult]] = MappingProxyType(
    {
        "unclustered": naive_unclustered,
        "without_ties": naive_without_ties,
        "without_sides": naive_without_sides,
    }
)
"""Name -> baseline; each raises `NotIdentifiedError` where a weight cannot be told."""
