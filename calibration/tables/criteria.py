"""Answers about one criterion in place of the overall choices."""

from collections.abc import Mapping

import pandas as pd

from calibration.tables.people import people_tables
from metrics.errors import input_fault, join_names


def criterion_names(tables: Mapping[str, pd.DataFrame]) -> list[str]:
    """Return the criteria that people were asked about, in alphabetical order."""
    return sorted(tables["criteria"]["criterion"].astype("str").unique()) if "criteria" in tables else []


def about_criterion(criterion: str) -> str:
    """Return the sentence that says which answers were counted."""
    return f"By the answers about {criterion}, in place of the overall choice."


def by_criterion(
    tables: Mapping[str, pd.DataFrame], criterion: str, *, place: str = "criteria"
) -> dict[str, pd.DataFrame]:
    """Return tables whose preferences are the answers about a criterion.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        As `calibration.tables.files.read_tables` returns them, compact or not.
    criterion : str
        Its name in table criteria.
    place : str
        What a fault names.

    Returns
    -------
    dict of str to DataFrame
        The same tables, but in preferences ``choice`` and ``strength`` are those of the criterion; judgments without an answer about it are
        left out, those of judges that are no people too.

    Raises
    ------
    InputError
        If no person was asked about such a criterion.
    """
    names = criterion_names(people_tables(tables))
    if criterion not in names:
        problem = f"there is no criterion {criterion!r}"
        cure = (
            f"name one of {join_names(names)}"
            if names
            else "people were asked for the overall choice only: there is no table criteria"
        )
        raise input_fault(problem, path=place, cure=cure)
    preferences, criteria = tables["preferences"], tables["criteria"]
    answers = criteria[criteria["criterion"] == criterion].set_index("judgment")
    rows = preferences[preferences["judgment"].isin(answers.index)].reset_index(drop=True)
    answered = answers.loc[rows["judgment"]].reset_index(drop=True)
    choice = answered["choice"].astype("str")
    if isinstance(preferences["choice"].dtype, pd.CategoricalDtype):
        choice = choice.astype(pd.CategoricalDtype(ordered=True))
    return {**tables, "preferences": rows.assign(choice=choice, strength=answered["strength"])}
