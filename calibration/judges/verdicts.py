"""Verdicts of judges that are no people, split off from people's preferences.

A judge (a language model, a rule) is compared with people and never counted with them.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeAlias

import pandas as pd

from calibration.tables.people import is_gold, judge_names, of_judges, only_used, people_tables
from calibration.tables.preferences import resolved_sides
from calibration.tables.tables import JUDGE_CHOICES, TABLES

Verdicts: TypeAlias = pd.DataFrame
"""One row a verdict, with the columns of `COLUMNS`."""
COLUMNS = (
    "judge",
    "model",
    "prompt_sha256",
    "task",
    "topic",
    "pair",
    "system_a",
    "system_b",
    "order",
    "is_swapped",
    "repeat",
    "vote",
    "decided_at",
)


def split_verdicts(
    tables: Mapping[str, pd.DataFrame],
) -> tuple[MappingProxyType[str, pd.DataFrame], Verdicts]:
    """Split tables into those of people and the verdicts of judges.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        As `calibration.tables.files.read_tables` returns them, compact or not.

    Returns
    -------
    people : mapping of str to DataFrame
        As `people_tables` returns them.
    verdicts : DataFrame
        One row a verdict, by judge, task, topic, pair, order, repeat: judge (its worker id), model, prompt_sha256, task, topic, pair,
        system_a, system_b (system_a < system_b), order (1, 2, missing where unknown or where the verdict is over both), is_swapped
        (system_a stood on the right; says something only where order is known), repeat, vote (a
        person's, ``no_answer``, or ``contradicts`` of a source that gives the verdict over both orders), decided_at. Task, topic,
        pair and systems are texts or ordered categories, as in the table.
    """
    people = people_tables(tables)
    judges = judge_names(tables)
    if not judges or "preferences" not in tables:
        return people, _frame(TABLES["preferences"].empty(), tables.get("workers"))
    preferences = tables["preferences"]
    return people, _frame(
        preferences[of_judges(preferences, judges) & ~is_gold(preferences)], tables["workers"]
    )


def _frame(rows: pd.DataFrame, workers: pd.DataFrame | None) -> Verdicts:
    rows = only_used(rows.reindex(columns=list(TABLES["preferences"].column_names)).reset_index(drop=True))
    known = (TABLES["workers"].empty() if workers is None else workers).set_index("worker")
    judge, sides, choice = rows["worker"].astype("str"), resolved_sides(rows), rows["choice"].astype("str")
    verdicts = pd.DataFrame(
        {
            "judge": judge,
            "model": judge.map(known["model"]).astype("str"),
            "prompt_sha256": judge.map(known["prompt_sha256"]).astype("str"),
            **{name: rows[name] for name in ("task", "topic", "pair")},
            **{name: sides[name] for name in ("system_a", "system_b")},
            "order": rows["order"].astype("Int64"),
            "is_swapped": sides["is_swapped"],
            "repeat": rows["repeat"].astype("Int64").fillna(1),
            "vote": sides["vote"].astype("str").mask(choice.isin(JUDGE_CHOICES), choice),
            "decided_at": rows["decided_at"],
        },
        columns=list(COLUMNS),
    )
    order = ["judge", "task", "topic", "pair", "order", "repeat"]
    return verdicts.sort_values(order, kind="stable", ignore_index=True)
