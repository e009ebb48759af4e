"""Patience and push weights fitted without each query in turn.

No query is then scored by a fit to its own preferences.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

import numpy as np
import pandas as pd

from calibration.agree.judged_task import JudgedTask
from calibration.inference.clusters import jackknife_groups
from calibration.inference.results import NotIdentifiedError
from calibration.models.patience import grid as patience_grid
from calibration.models.patience.pairs import JudgedSummaries, summary_pairs
from calibration.models.patience.preferences import kappa_grid, without_each_group
from calibration.models.push.alpha import NAMES
from calibration.models.push.judgments import CELL_SIGNS, WEIGHTS, PushJudgments, push_judgments
from calibration.models.push.weights import FitData, fit_data, fit_identified_weights
from metrics.arrays import Floats
from metrics.summaries.trailtext import Probabilities


def patience_without_each_topic(
    pairs: pd.DataFrame, positions: pd.DataFrame, probability: Probabilities, *, source: str, language: str
) -> dict[str, float]:
    """Fit the patience to the preferences without each topic.

    Parameters
    ----------
    pairs : DataFrame
        Votes of one task's pairs: topic, system_a, system_b and the columns of `calibration.tables.preferences.VOTES`.
    positions : DataFrame
        Rows of the table positions of that task, without the column task.
    probability : mapping of topic to mapping of intent to float
        P(i|q).
    source : {'preferences', 'grid'}
        Which fit.
    language : str
        Of the texts.

    Returns
    -------
    dict of str to float
        Topic -> L in counted characters, infinite where no decay explains the other topics best.

    Raises
    ------
    NotIdentifiedError
        If there are fewer than two topics.
    """
    judged = summary_pairs(pairs, positions, probability)
    if source == "grid":
        return patience_grid.without_each_topic(judged, language=language)
    return _from_preferences(judged)


def _from_preferences(pairs: JudgedSummaries) -> dict[str, float]:
    """Return jackknife replicates; beyond 50 topics each lacks a group of topics."""
    if len(pairs.topics) < 2 or not pairs.summaries.longest_offset:
        raise NotIdentifiedError("there is a single topic: nothing is left to fit to without it")
    kappa = without_each_group(pairs, pairs.differences(kappa_grid(pairs)))
    with np.errstate(divide="ignore"):
        patience = 1 / kappa[jackknife_groups(np.arange(len(pairs.topics)))]
    return dict(zip(pairs.topics, patience.tolist(), strict=True))


Estimator: TypeAlias = Callable[[PushJudgments], Floats]


def weights_without_each_topic(task: JudgedTask, cells: pd.DataFrame) -> dict[str, Floats]:
    """Fit the contingency weights without each topic's preferences.

    Parameters
    ----------
    task : JudgedTask
        The preferences that count.
    cells : DataFrame, indexed by topic, system
        The columns of `calibration.models.push.judgments.SIGNS`.

    Returns
    -------
    dict of str to (5,) ndarray of float
        Topic -> G_E = 1, P_E, S_E, P_0, S_0; a weight that the other topics cannot tell is 0.

    Raises
    ------
    NotIdentifiedError
        If there is a single topic, or some topic's removal leaves nothing to fit.
    """
    return _without_each_topic(task, cells, fitted_weights)


def alpha_without_each_topic(task: JudgedTask, cells: pd.DataFrame) -> dict[str, float]:
    """Fit T11U's alpha without each topic's preferences.

    `weights_without_each_topic` has the parameters.
    """
    alphas = _without_each_topic(task, cells, fitted_alpha)
    return {topic: float(alpha[0]) for topic, alpha in alphas.items()}


def fitted_weights(judgments: PushJudgments) -> Floats:
    """Return the fitted weights relative to G_E, (5,), without their errors.

    They are those of `calibration.models.push.weights`; a weight that is not identified is 0.
    """
    weight_fit = fit_identified_weights(
        _without_clusters(judgments, judgments.difference), WEIGHTS, "davidson"
    )
    weights = np.zeros(len(WEIGHTS))
    weights[list(weight_fit.told)] = weight_fit.weights / weight_fit.weights[0]
    return weights


def fitted_alpha(judgments: PushJudgments) -> Floats:
    """Return the fitted alpha, (1,), without its error.

    It is that of `calibration.models.push.alpha`.
    """
    gain, eventful, silence, silent_pushes, reward = judgments.difference.T
    design = np.stack([gain, eventful + silent_pushes, silence, reward], axis=1)
    weight_fit = fit_identified_weights(_without_clusters(judgments, design), NAMES, "davidson", needed=2)
    w_g, w_p = weight_fit.weights[:2].tolist()
    return np.array([w_g / (w_g + max(w_p, 0.0))])


def _without_clusters(judgments: PushJudgments, design: Floats) -> FitData:
    """Drop the clusters of judgments whose errors are not needed."""
    return replace(fit_data(judgments, design, "davidson"), topic=np.zeros(len(design), dtype=np.intp))


def _without_each_topic(task: JudgedTask, cells: pd.DataFrame, estimate: Estimator) -> dict[str, Floats]:
    topics = np.unique(task.topics)
    if len(topics) < 2:
        raise NotIdentifiedError("there is a single topic: nothing is left to fit to without it")
    rows, table = task.as_preferences(), _as_table(cells)
    group = pd.Series(jackknife_groups(np.arange(len(topics))), index=topics)
    of_row = rows["topic"].map(group)
    fitted = [
        estimate(push_judgments(rows[of_row != left_out], table)) for left_out in range(int(group.max()) + 1)
    ]
    return {topic: fitted[index] for topic, index in group.items()}


def _as_table(cells: pd.DataFrame) -> pd.DataFrame:
    """Return cells as rows of table push_cells for every task and pair."""
    return cells[list(CELL_SIGNS)].reset_index().assign(task=None, pair=None, days=np.nan, convention=None)
