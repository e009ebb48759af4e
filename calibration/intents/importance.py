"""Importance of iUnits from ratings: the mean over assessors, as in the paper (Kato et al. 2016, 4.1)."""

import pandas as pd


def mean_importance(ratings: pd.DataFrame) -> pd.DataFrame:
    """Return the mean rating of every iUnit for every intent.

    Parameters
    ----------
    ratings : DataFrame
        Table importance; only rows that count.

    Returns
    -------
    DataFrame
        topic, intent, iunit, importance; one row each, in alphabetical order.
    """
    means = ratings.groupby(["topic", "intent", "iunit"])["rating"].mean()
    return means.rename("importance").reset_index()
