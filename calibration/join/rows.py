"""Rows of joined tables: their ids, what one person did twice, and files that do not agree."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import union_categoricals

from calibration.join.folders import WaveFolder
from calibration.tables.definition import in_order
from calibration.tables.people import of_judges, only_used
from calibration.tables.tables import TABLES, couple_names
from metrics.arrays import Bools
from metrics.errors import Fault, InputError, input_fault, join_names, pluralise

FROM_FILES = frozenset({"intents", "positions", "push_cells", "media"})
"""Tables that come from collections and runs: the same row in two folders is one row."""
JUDGMENT_COLUMNS = {
    "preferences": ("judgment", "validation_of"),
    "criteria": ("judgment",),
    "reads": ("judgment",),
    "stops": ("judgment",),
}
PAGE_COLUMNS = {"reads": ("page",), "stops": ("page",), "activity": ("page",)}
ONCE = (("follows", "visits", "prompts", "activity", "lateness"), ("intent_votes",), ("importance",))
"""Tables of what a person does once with a topic."""
OF_FOLLOWS = ("reads", "stops")
"""Tables with rows that belong to a follow, where they belong to no judgment."""
COUPLE = ["task", "topic", "system_a", "system_b"]
SAME_JUDGMENT = ["worker", "task", "topic", "system_left", "system_right", "choice", "decision_seconds"]


def rename_workers(folder: WaveFolder, names: Mapping[str, str]) -> None:
    """Give workers new names in every table of a folder."""
    if names:
        for table, frame in folder.tables.items():
            if "worker" in frame:
                folder.tables[table] = frame.assign(worker=renamed(frame["worker"], names.get))


def renamed(cells: "pd.Series[Any]", new_name: Callable[[str], str | None]) -> "pd.Series[Any]":
    """Return texts under new names; ``new_name`` gives None for those that stay."""
    if isinstance(cells.dtype, pd.CategoricalDtype):
        names = cells.cat.categories
        new = pd.Series([new_name(name) or name for name in names], dtype="str")
        order = np.argsort(new.to_numpy(object), kind="stable")
        code = np.full(len(new) + 1, -1, dtype=np.int32)
        code[order] = np.arange(len(new), dtype=np.int32)
        sorted_names = pd.Index(new.to_numpy(object)[order], dtype="str")
        codes = code[cells.cat.codes.to_numpy()]
        return pd.Series(
            pd.Categorical.from_codes(codes, categories=sorted_names, ordered=True), index=cells.index
        )
    return cells.map(lambda name: new_name(name) or name, na_action="ignore").astype("str")


def refuse_copies(folders: Sequence[WaveFolder]) -> None:
    """Raise `InputError` if judgments of the same id in two folders are the same judgment.

    One folder is then an earlier export of the other, or both have a part of a third.
    """
    judgments = [_values(folder, {"preferences": ("judgment",)}) for folder in folders]
    for second, own in enumerate(judgments):
        for first in range(second):
            common = judgments[first].intersection(own)
            if len(common):
                _refuse_same(folders[first], folders[second], common)


def separate_ids(folders: Sequence[WaveFolder]) -> None:
    """Put the folder's name before ids of judgments and pages where two folders have the same id."""
    for columns in (JUDGMENT_COLUMNS, PAGE_COLUMNS):
        ids = [_values(folder, columns) for folder in folders]
        if any(len(ids[i].intersection(ids[j])) for i in range(len(ids)) for j in range(i)):
            for folder in folders:
                _prefix(folder, columns)


def _values(folder: WaveFolder, columns: Mapping[str, Sequence[str]]) -> "pd.Index[str]":
    known = [
        folder.tables[table][name].dropna().astype("str").unique()
        for table, names in columns.items()
        if table in folder.tables
        for name in names
    ]
    return pd.Index(np.concatenate(known) if known else [], dtype="str").unique()


def _prefix(folder: WaveFolder, columns: Mapping[str, Sequence[str]]) -> None:
    for table, names in columns.items():
        if table in folder.tables:
            frame = folder.tables[table]
            new = {name: renamed(frame[name], f"{folder.label}/{{}}".format) for name in names}
            folder.tables[table] = frame.assign(**new)


def _refuse_same(first: WaveFolder, second: WaveFolder, common: "pd.Index[str]") -> None:
    sides = []
    for folder in (first, second):
        rows = folder.tables["preferences"].set_index("judgment").loc[common, SAME_JUDGMENT]
        sides.append(rows.astype(dict.fromkeys(SAME_JUDGMENT[:-1], "str")))
    one, other = sides
    same = ((one == other) | (one.isna() & other.isna())).all(axis="columns")
    is_timed = one["decision_seconds"].notna()
    if (same & is_timed).any() or same.all():  # to the millisecond, or word for word in every row
        shown = join_names(same.index[same], most=2)
        raise input_fault(
            f"{pluralise(int(same.sum()), 'judgment')} ({shown}) stand in {first.path} too, word for word",
            path=second.path,
            cure="one folder is an earlier export or a part of the other: name the later one alone; if they are other answers,"
            " give them other ids in column judgment",
        )


def unite_pairs(folders: Sequence[WaveFolder]) -> None:
    """Give pairs the id topic/system/system where one id means two couples, or one couple has two ids."""
    couples = [_couples(folder.tables["preferences"]) for folder in folders if "preferences" in folder.tables]
    if not couples:
        return
    known = pd.concat(couples, ignore_index=True).drop_duplicates()
    if not (known.duplicated([*COUPLE]).any() or known.duplicated(["task", "pair"]).any()):
        return
    for folder in folders:
        names: dict[tuple[str, str, str], str] = {}
        if "preferences" in folder.tables:
            preferences = folder.tables["preferences"]
            own = _couples(preferences)
            new = own["topic"] + "/" + own["system_a"] + "/" + own["system_b"]
            names = dict(
                zip(own[["task", "topic", "pair"]].itertuples(index=False, name=None), new, strict=True)
            )
            pairs = couple_names(preferences).astype(pd.CategoricalDtype(ordered=True))
            folder.tables["preferences"] = preferences.assign(pair=pairs)
        if "push_cells" in folder.tables:
            cells = folder.tables["push_cells"]
            keys = cells[["task", "topic", "pair"]].astype("str").itertuples(index=False, name=None)
            pairs = pd.Series([names.get(key, key[-1]) for key in keys], index=cells.index, dtype="str")
            folder.tables["push_cells"] = cells.assign(pair=pairs)


def _couples(preferences: pd.DataFrame) -> pd.DataFrame:
    """Return task, topic, pair, system_a and system_b of every couple under every id, as texts."""
    columns = ["task", "topic", "pair", "system_left", "system_right"]
    rows = preferences[columns].drop_duplicates().astype("str")
    system_a, system_b = in_order(rows["system_left"], rows["system_right"])
    return rows[columns[:3]].assign(system_a=system_a, system_b=system_b).drop_duplicates()


def leave_once(folders: Sequence[WaveFolder], *, keep_first: bool) -> list[str]:
    """Take out what a person did with a topic in an earlier folder already, and say how much that is.

    Such are follows with their visits, votes on intents and ratings; and verdicts that a judge gave about the same pair. Judgments of people
    stay: each is a vote.

    Raises
    ------
    InputError
        If there is any and ``keep_first`` is false.
    """
    faults, notes = list[Fault](), list[str]()
    for tables in ONCE:
        seen: dict[tuple[str, str], WaveFolder] = {}
        for folder in folders:
            done = _done(folder, tables)
            again = [key for key in done if key in seen]
            if again:
                worker, topic = first = min(again)
                what = f"topic {topic} of worker {worker}" + (
                    f" and {len(again) - 1:,} more" if len(again) > 1 else ""
                )
                where = seen[first].path
                if keep_first:
                    _take_out(folder, (*tables, *OF_FOLLOWS) if "follows" in tables else tables, set(again))
                    notes.append(f"{what} in {done[first]}: kept as in {where}, left out of {folder.path}")
                else:
                    problem = f"{what} in table {done[first]} is in {where} too"
                    cure = (
                        "say --keep-first to keep what the earlier folder has, or leave the rows out of one"
                    )
                    faults.append(Fault(problem=problem, cure=cure, path=str(folder.path)))
            seen |= dict.fromkeys((key for key in done if key not in seen), folder)
    notes += _verdicts_once(folders, faults, keep_first=keep_first)
    if faults:
        raise InputError(faults)
    return notes


def _done(folder: WaveFolder, tables: Sequence[str]) -> dict[tuple[str, str], str]:
    """Return worker and topic of all rows of some tables, with the first table that has them."""
    done: dict[tuple[str, str], str] = {}
    for table in tables:
        if table in folder.tables:
            rows = folder.tables[table][["worker", "topic"]].drop_duplicates().astype("str")
            for key in rows.itertuples(index=False, name=None):
                done.setdefault((key[0], key[1]), table)
    return done


def _is_alone(rows: pd.DataFrame) -> Bools:
    """Return the mask of rows that belong to no judgment."""
    if "judgment" not in rows:
        return np.ones(len(rows), dtype=bool)
    alone: Bools = rows["judgment"].isna().to_numpy(bool)
    return alone


def _take_out(folder: WaveFolder, tables: Sequence[str], again: set[tuple[str, str]]) -> None:
    for table in tables:
        if table in folder.tables:
            rows = folder.tables[table]
            keys = rows[["worker", "topic"]].astype("str").itertuples(index=False, name=None)
            gone = np.fromiter((key in again for key in keys), dtype=bool, count=len(rows)) & _is_alone(rows)
            folder.tables[table] = rows[~gone]


def _verdicts_once(folders: Sequence[WaveFolder], faults: list[Fault], *, keep_first: bool) -> Iterator[str]:
    key = ["worker", "task", "topic", "system_a", "system_b", "order", "repeat"]
    seen = pd.DataFrame(columns=key)
    for folder in folders:
        preferences = folder.tables.get("preferences")
        is_judge = np.zeros(0, bool) if preferences is None else of_judges(preferences, folder.judges)
        if preferences is None or not is_judge.any():
            continue
        rows = preferences[is_judge]
        system_a, system_b = in_order(rows["system_left"], rows["system_right"])
        own = rows.assign(system_a=system_a, system_b=system_b)[key].astype("str")
        again = pd.concat([seen, own]).duplicated().to_numpy(bool)[len(seen) :]
        seen = pd.concat([seen, own])
        if not again.any():
            continue
        what = f"{pluralise(int(again.sum()), 'verdict')} of judge {own['worker'][again].iloc[0]}"
        if keep_first:
            gone = np.zeros(len(preferences), bool)
            gone[np.flatnonzero(is_judge)[again]] = True
            folder.tables["preferences"] = preferences[~gone]
            yield f"{what}: kept as in an earlier folder, left out of {folder.path}"
        else:
            problem = f"{what} are about pairs that an earlier folder has verdicts about, in the same order"
            cure = "say --keep-first to keep those of the earlier folder, or number repeats in column repeat"
            faults.append(Fault(problem=problem, cure=cure, path=str(folder.path)))


def doubled_answers(folders: Sequence[WaveFolder], in_several: frozenset[str]) -> Iterator[str]:
    """Yield notes on what people answered again in another folder, which stays."""
    for table, key, words in (
        (
            "preferences",
            ["worker", "task", "topic", "pair"],
            ("judgment is", "judgments are", "of a pair", "each is a vote"),
        ),
        (
            "answers",
            ["worker", "task", "question"],
            ("answer is", "answers are", "to a question", "both stay"),
        ),
    ):
        frames = []
        for folder in folders:
            if in_several and table in folder.tables:
                rows = folder.tables[table]
                own = rows["worker"].isin(in_several).to_numpy(bool)
                if "validation_of" in rows:
                    own = own & rows["validation_of"].isna().to_numpy(bool)
                frames.append(rows[own][key].astype("str").drop_duplicates())
        again = int(pd.concat(frames).duplicated().sum()) if frames else 0
        if again:
            subject = f"{again:,} {words[0] if again == 1 else words[1]}"
            yield f"{subject} {words[2]} that the same person had answered in another folder: {words[3]}"


def joined_rows(folders: Sequence[WaveFolder], table: str, *, gone: frozenset[str]) -> pd.DataFrame | None:
    """Take a table out of every folder and return its rows, ordered by worker, without those of workers ``gone``.

    Raises
    ------
    InputError
        If a table that comes from files has two rows of one key that are not the same.
    """
    owners = [folder for folder in folders if table in folder.tables]
    frames = [folder.tables.pop(table) for folder in owners]
    if not frames:
        return None
    if gone and "worker" in frames[0]:
        frames = [frame[~frame["worker"].isin(gone).to_numpy(bool)] for frame in frames]
    rows = stacked(frames)
    del frames
    if table in FROM_FILES:
        return _from_files(rows, table, owners)
    if "worker" in rows and rows["worker"].notna().any():
        rows = rows.sort_values("worker", kind="stable", ignore_index=True)
    return rows


def stacked(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return the rows of frames with the same columns one below the other; categories stay categories."""
    filled = [frame for frame in frames if len(frame)] or list(frames[:1])
    columns: dict[str, Any] = {}
    for name in filled[0].columns:
        parts = [frame[name] for frame in filled]
        if all(isinstance(part.dtype, pd.CategoricalDtype) for part in parts):
            values = [part.cat.as_unordered() for part in parts]
            columns[name] = union_categoricals(values, sort_categories=True).as_ordered()
        else:
            plain = [
                part.astype("str") if isinstance(part.dtype, pd.CategoricalDtype) else part for part in parts
            ]
            columns[name] = pd.concat(plain, ignore_index=True)
    return only_used(pd.DataFrame(columns))


def _from_files(rows: pd.DataFrame, table: str, owners: Sequence[WaveFolder]) -> pd.DataFrame:
    rows = rows.drop_duplicates(ignore_index=True)
    key = list(TABLES[table].key)
    twice = rows.duplicated(key, keep=False).to_numpy(bool)
    if twice.any():
        first = rows[twice].iloc[0]
        named = ", ".join(f"{name} {first[name]}" for name in key if isinstance(first[name], str))
        raise input_fault(
            f"table {table} differs from that of {owners[0].path}: {named}",
            path=owners[-1].path,
            cure="the files of the two studies are not the same: give what differs another name, or take the table out of both folders",
        )
    return rows
