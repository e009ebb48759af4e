"""Rows that count as answers of people: none of a judge that is no person, and none about a gold pair.

A judge that is no person (a language model, a rule) is a worker of kind ``model`` in table workers. Its rows are compared with those
of people and never counted with them. A gold pair, whose answer is known, tells how carefully a worker judges and nothing of systems.
Whoever reads tables for a fit, an agreement or a ranking takes `people_tables`.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from calibration.tables.definition import in_order
from calibration.tables.tables import JUDGE_CHOICES, JUDGE_KIND, TABLES
from metrics.arrays import Bools

_CURE = "give the worker kind model in table workers if it is no person, else"


class OddRow(NamedTuple):
    """A row that its own table allows and another table does not.

    Attributes
    ----------
    table : str
        Its table.
    row : int
        Its place there, from 0.
    problem, cure : str
        As of a `Fault`.
    """

    table: str
    row: int
    problem: str
    cure: str


def judge_names(tables: Mapping[str, pd.DataFrame]) -> frozenset[str]:
    """Return the workers of kind model."""
    workers = tables.get("workers")
    if workers is None or "kind" not in workers:
        return frozenset()
    return frozenset(workers.loc[workers["kind"] == JUDGE_KIND, "worker"].astype("str"))


def of_judges(frame: pd.DataFrame, judges: frozenset[str]) -> Bools:
    """Return the mask of the rows of a table that are of a judge."""
    if not judges or "worker" not in frame:
        return np.zeros(len(frame), dtype=bool)
    return np.asarray(frame["worker"].isin(judges), dtype=bool)


def is_gold(preferences: pd.DataFrame) -> Bools:
    """Return the mask of the judgments of gold pairs."""
    if "gold" not in preferences:
        return np.zeros(len(preferences), dtype=bool)
    return np.asarray(preferences["gold"].notna(), dtype=bool)


def people_tables(
    tables: Mapping[str, pd.DataFrame], *, numbered: bool = True
) -> MappingProxyType[str, pd.DataFrame]:
    """Return the tables without the rows of judges and of gold pairs, as if these had never been there.

    A table without any other row is left out.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        As `calibration.tables.files.read_tables` returns them.
    numbered : bool
        Number the rows anew; otherwise they keep their numbers, which say their lines.
    """
    judges, preferences = judge_names(tables), tables.get("preferences")
    gold = np.zeros(0, dtype=bool) if preferences is None else is_gold(preferences)
    if not judges and not gold.any():
        return MappingProxyType(dict(tables))
    aside = frozenset[str]()
    if preferences is not None and "judgment" in preferences:
        aside = frozenset(preferences.loc[gold | of_judges(preferences, judges), "judgment"].dropna())
    people = {}
    for name, frame in tables.items():
        mask = of_judges(frame, judges)
        if name == "preferences":
            mask = mask | gold
        elif aside and "judgment" in frame:
            mask = mask | frame["judgment"].isin(aside).to_numpy(bool)
        if not mask.any():
            people[name] = frame
        elif not mask.all():
            kept = frame[~mask]
            people[name] = only_used(kept.reset_index(drop=True) if numbered else kept)
    return MappingProxyType(people)


def only_used(frame: pd.DataFrame) -> pd.DataFrame:
    """Return rows whose categories are those that stand in them."""
    categories = [name for name in frame.columns if isinstance(frame[name].dtype, pd.CategoricalDtype)]
    return frame.assign(**{name: frame[name].cat.remove_unused_categories() for name in categories})


def odd_rows(tables: Mapping[str, pd.DataFrame]) -> Iterator[OddRow]:
    """Yield the rows that say what only a judge's may, cells of people that are filled in on some rows only, and verdicts that stand twice."""
    judges = judge_names(tables)
    for name, frame in tables.items():
        mask = of_judges(frame, judges)
        for column in TABLES[name].columns:
            if column.all_or_none and column.name in frame:
                yield from _half_filled(name, frame[column.name], mask)
    if "criteria" in tables:
        yield from _of_no_judgment(tables)
    if "preferences" in tables:
        mask = of_judges(tables["preferences"], judges)
        if "criteria" in tables:
            of_people = ~tables["criteria"]["judgment"].isin(tables["preferences"].loc[mask, "judgment"])
            yield from _unlike_people("criteria", tables["criteria"]["choice"], of_people.to_numpy(bool))
        yield from _of_judges_only(tables["preferences"], mask)
        yield from _twice(tables["preferences"][mask])


def _half_filled(table: str, cells: "pd.Series[Any]", of_a_judge: Bools) -> Iterator[OddRow]:
    blank = cells.isna().to_numpy(bool) & ~of_a_judge
    if not blank.any() or (blank | of_a_judge).all():
        return
    for row in np.flatnonzero(blank):
        yield OddRow(
            table,
            int(row),
            f"{cells.name} is empty here, and filled in on other rows",
            f"fill it in, remove the row, or leave the whole column out if nobody knows any {cells.name}",
        )


def _of_no_judgment(tables: Mapping[str, pd.DataFrame]) -> Iterator[OddRow]:
    asked = tables["criteria"]["judgment"]
    known = tables["preferences"]["judgment"] if "preferences" in tables else asked[:0]
    for row in np.flatnonzero(~asked.isin(known.dropna()).to_numpy(bool)):
        problem = "judgment names no judgment of table preferences"
        yield OddRow("criteria", int(row), problem, "write the judgment that was given with it")


def _of_judges_only(preferences: pd.DataFrame, of_a_judge: Bools) -> Iterator[OddRow]:
    for name in (name for name in ("order", "repeat") if name in preferences):
        for row in np.flatnonzero(preferences[name].notna().to_numpy(bool) & ~of_a_judge):
            problem = f"{name} is filled in, and the worker is not of kind model"
            yield OddRow("preferences", int(row), problem, f"{_CURE} leave {name} empty")
    yield from _unlike_people("preferences", preferences["choice"], ~of_a_judge)


def _unlike_people(table: str, choice: "pd.Series[Any]", of_people: Bools) -> Iterator[OddRow]:
    for row in np.flatnonzero(choice.isin(JUDGE_CHOICES).to_numpy(bool) & of_people):
        problem = f"choice is {choice.iloc[row]}, and the worker is not of kind model"
        yield OddRow(table, int(row), problem, f"{_CURE} remove the row")


def _twice(verdicts: pd.DataFrame) -> Iterator[OddRow]:
    system_a, system_b = in_order(verdicts["system_left"], verdicts["system_right"])
    key = verdicts.reindex(columns=["worker", "task", "topic", "order", "repeat"])
    key = key.assign(system_a=system_a, system_b=system_b)
    for row in verdicts.index[key.duplicated()]:
        said = f"{verdicts.loc[row, 'worker']} answered twice about this pair"
        yield OddRow(
            "preferences",
            int(row),
            f"{said}, in the same order and as the same repeat",
            "number its repeats 1, 2, ... in column repeat, or remove a row that was copied",
        )
