"""Votes and ratings as files of a MobileClick collection.

Runs can then be scored with people's votes and ratings. Tab-separated and without a header: probability.tsv (topic, intent, P) and
importance.tsv (topic, intent, iUnit, importance).
"""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from calibration.inference.formatting import round_significant
from calibration.models.intents import IntentFit


def collection_files(tables: Mapping[str, pd.DataFrame], intents: IntentFit | None) -> dict[str, str]:
    """Return the collection's files that tables identify, as texts by file name.

    The result has no file, one or both.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        Only rows that count; table importance is used.
    intents : IntentFit or None
        The fitted probabilities.
    """
    files = {}
    if intents is not None:
        shares = zip(intents.intents, intents.result.parameters.values(), strict=True)
        files["probability.tsv"] = _lines((topic, intent, share) for (topic, intent), share in shares)
    if "importance" in tables and len(tables["importance"]):
        means = mean_importance(tables["importance"])
        files["importance.tsv"] = _lines(means.itertuples(index=False))
    return files


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


def _lines(rows: Iterable[tuple[Any, ...]]) -> str:
    return "".join(
        "\t".join([*map(str, names), str(round_significant(value))]) + "\n" for *names, value in rows
    )
