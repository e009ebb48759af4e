"""Rows of a judge that is no person, put beside those of people."""

from collections.abc import Mapping

import pandas as pd

from calibration.tables.definition import Tables, in_order
from calibration.tables.tables import JUDGE_KIND, TABLES
from metrics.errors import input_fault, pluralise

ROWS = ("task", "topic", "system_left", "system_right", "choice", "order", "repeat")
"""Columns that a judge's rows need; strength, decided_at and criteria, name -> choice and strength, may be there."""
_PAIR = ["task", "topic", "system_a", "system_b"]


def with_judge(
    tables: Mapping[str, pd.DataFrame],
    rows: pd.DataFrame,
    name: str,
    *,
    model: str | None = None,
    prompt_sha256: str | None = None,
) -> tuple[Tables, list[str]]:
    """Return tables workers, preferences and criteria with the rows of a judge behind those of people, and notes.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        As `calibration.tables.files.read_tables` returns them.
    rows : DataFrame
        The judge's, with the columns `ROWS` of table preferences.
    name : str
        What the judge is called.
    model, prompt_sha256 : str, optional
        Of table workers.

    Raises
    ------
    InputError
        If somebody is called so already, or no verdict is of a pair that people judged.
    """
    preferences = tables.get("preferences", TABLES["preferences"].empty())
    workers = tables.get("workers", TABLES["workers"].empty())
    taken = set(workers["worker"]) | {
        worker
        for frame in tables.values()
        if "worker" in frame
        for worker in frame["worker"].dropna().unique()
    }
    if name in taken:
        raise input_fault(f"somebody is called {name!r} in these tables", cure="give another --name")
    rows, notes = _with_pairs(preferences, rows)
    ids = set(preferences["judgment"].dropna())
    numbers = (f"{name}/{number}" for number in range(1, len(rows) + len(ids) + 1))
    free = (identity for identity in numbers if identity not in ids)
    rows = rows.assign(worker=name, judgment=[next(free) for _ in range(len(rows))])
    judge = {"worker": name, "kind": JUDGE_KIND, "model": model, "prompt_sha256": prompt_sha256}
    asked = rows.pop("criteria") if "criteria" in rows else [{}] * len(rows)
    about = [
        (judgment, criterion, *said)
        for judgment, each in zip(rows["judgment"], asked, strict=True)
        for criterion, said in each.items()
    ]
    added: Tables = {
        "workers": pd.concat([workers, pd.DataFrame([judge])], ignore_index=True),
        "preferences": pd.concat([preferences, rows], ignore_index=True),
    }
    if about:
        frame = pd.DataFrame(about, columns=["judgment", "criterion", "choice", "strength"])
        frame["strength"] = frame["strength"].astype("Int64")
        criteria = tables.get("criteria", TABLES["criteria"].empty())
        added["criteria"] = pd.concat([criteria, frame], ignore_index=True)
    return added, notes


def _with_pairs(preferences: pd.DataFrame, rows: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Return the rows with the ids that pairs have among people, and a note on those that nobody judged."""
    system_a, system_b = in_order(rows["system_left"], rows["system_right"])
    couples = rows[["task", "topic"]].assign(system_a=system_a, system_b=system_b)
    system_a, system_b = in_order(preferences["system_left"], preferences["system_right"])
    known = preferences[["task", "topic", "pair"]].assign(system_a=system_a, system_b=system_b)
    known = known.groupby(_PAIR, as_index=False)["pair"].min()
    found = couples.merge(known, how="left", on=_PAIR)["pair"].set_axis(rows.index)
    made_up = couples["topic"] + "/" + couples["system_a"] + "/" + couples["system_b"]
    unjudged = couples[found.isna()]
    if len(unjudged) == len(rows):
        raise input_fault(
            f"none of {pluralise(len(rows), 'verdict')} is of a pair that people judged",
            cure="name tasks, topics and systems as in the tables",
        )
    notes = []
    if len(unjudged):
        task, topic, *systems = unjudged.iloc[0]
        notes.append(
            f"{pluralise(len(unjudged), 'verdict')} of pairs that nobody judged ({pluralise(len(unjudged.drop_duplicates()), 'pair')}, such"
            f" as {systems[0]} and {systems[1]} on {topic} of {task}): kept, and part of no comparison with people"
        )
    return rows.assign(pair=found.fillna(made_up)), notes
