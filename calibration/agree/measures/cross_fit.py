"""Patience fitted without each query in turn, so that no query is judged by a patience that it helped to fit."""

import numpy as np
import pandas as pd

from calibration.inference.clusters import jackknife_groups
from calibration.inference.results import NotIdentifiedError
from calibration.patience import grid as patience_grid
from calibration.patience.pairs import JudgedSummaries, summary_pairs
from calibration.patience.preferences import GRID_END, GRID_POINTS, without_each_group
from metrics.summaries.readings import Probabilities


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
    """Take the replicates of the jackknife; beyond 50 topics each is without a group of topics."""
    if len(pairs.topics) < 2 or not pairs.summaries.longest_offset:
        raise NotIdentifiedError("there is a single topic: nothing is left to fit to without it")
    grid = np.linspace(0, GRID_END / pairs.summaries.longest_offset, GRID_POINTS)
    kappa = without_each_group(pairs, pairs.differences(grid))
    with np.errstate(divide="ignore"):
        patience = 1 / kappa[jackknife_groups(np.arange(len(pairs.topics)))]
    return dict(zip(pairs.topics, patience.tolist(), strict=True))
