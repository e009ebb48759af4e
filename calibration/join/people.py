"""Who is the same person in several folders, and one row of table workers for everybody.

Pseudonyms of prefcal are drawn at random, so that nobody can be recognised in another study; or they come from a key, and then the same
name is the same person in every study with that key. Names in tables from elsewhere say nothing by themselves.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from calibration.join.folders import WaveFolder
from calibration.tables.files import check_frame
from calibration.tables.people import judge_names
from calibration.tables.preferences import knows_workers
from calibration.tables.tables import DEMOGRAPHIC, TABLES
from metrics.errors import Fault, InputError, join_names, pluralise

SameNames: TypeAlias = Literal["same", "different"]
"""Whether the same name of a worker in tables from elsewhere is the same person."""
WORST_FIRST = ("withdrawn", "failed_checks", "screened_out", "partial")
MEANS = {
    "mean_search_seconds": ("searches", "seconds"),
    "consistency": ("preferences", "validation_of"),
    "gold_right": ("preferences", "gold"),
}
"""Columns of table workers that are means -> the table and column of whose filled cells they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """Who stands in which folder.

    Attributes
    ----------
    renamed : sequence of mapping of str to str
        New names of workers, by folder.
    in_several : frozenset of str
        People who stand in more than one folder.
    groups : int
        Groups of folders between which nobody can be recognised; 0 where no folder says who judged.
    """

    renamed: Sequence[Mapping[str, str]]
    in_several: frozenset[str]
    groups: int


def find_people(folders: Sequence[WaveFolder], same_names: SameNames | None) -> People:
    """Find who stands in several folders.

    Raises
    ------
    InputError
        If names stand in folders that share no key and ``same_names`` does not say what that means, if it says what cannot be, if a name is
        a person here and a judge there, or two judges, or if some folders do not say who judged.
    """
    everybody = [folder.people() for folder in folders]
    faults = [*_judge_faults(folders, everybody), *_unknown_faults(folders)]
    group = _groups(folders)
    if same_names == "same":
        faults += _random_faults(folders, everybody)
        group = [0] * len(folders)
    groups_of: defaultdict[str, dict[int, int]] = defaultdict(dict)
    for number, names in enumerate(everybody):
        for name in names:
            groups_of[name].setdefault(group[number], number)
    clashing = {name: list(where.values()) for name, where in groups_of.items() if len(where) > 1}
    if clashing and same_names is None:
        faults.append(_same_name_fault(folders, clashing))
    if faults:
        raise InputError(faults)
    renamed = [
        {name: f"{folder.label}/{name}" for name in names & clashing.keys()}
        for folder, names in zip(folders, everybody, strict=True)
    ]
    counts: defaultdict[str, int] = defaultdict(int)
    for names, new in zip(everybody, renamed, strict=True):
        for name in names:
            counts[new.get(name, name)] += 1
    return People(
        renamed=renamed,
        in_several=frozenset(name for name, count in counts.items() if count > 1),
        groups=len({group[number] for number, names in enumerate(everybody) if names}),
    )


def _groups(folders: Sequence[WaveFolder]) -> list[int]:
    """Return a number of each folder, the same where pseudonyms come from the same key."""
    first: dict[str, int] = {}
    group = []
    for number, folder in enumerate(folders):
        key = folder.record.pseudonyms if folder.record else None
        group.append(number if key is None else first.setdefault(key, number))
    return group


def _same_name_fault(folders: Sequence[WaveFolder], clashing: Mapping[str, Sequence[int]]) -> Fault:
    name, where = min(clashing.items())
    more = f" and {len(clashing) - 1:,} more" if len(clashing) > 1 else ""
    first, second = (folders[number] for number in where[:2])
    problem = (
        f"worker {name}{more} stands in {first.path} too, and nothing says whether that is the same person"
    )
    return Fault(
        problem=problem,
        cure="say --workers same or --workers different; join folders whose studies shared pseudonyms in one command",
        path=str(second.path),
    )


def _random_faults(folders: Sequence[WaveFolder], everybody: Sequence[frozenset[str]]) -> Iterator[Fault]:
    for folder, names in zip(folders, everybody, strict=True):
        if names and folder.has_random_pseudonyms:
            yield Fault(
                problem=f"--workers same cannot be: the pseudonyms of study {folder.label} were drawn at random, so that a person has"
                " another one in every study",
                cure="leave --workers out; for the next wave write pseudonyms: shared KEYFILE into the study file",
                path=str(folder.path),
            )


def _judge_faults(folders: Sequence[WaveFolder], everybody: Sequence[frozenset[str]]) -> Iterator[Fault]:
    first: dict[str, tuple[WaveFolder, tuple[Any, Any]]] = {}
    for folder in folders:
        workers = folder.tables.get("workers")
        for name in sorted(folder.judges):
            rows = workers[(workers["worker"] == name).to_numpy(bool)] if workers is not None else []
            model, prompt = (_cell(rows, column) for column in ("model", "prompt_sha256"))
            other, known = first.setdefault(name, (folder, (model, prompt)))
            if known != (model, prompt):
                yield Fault(
                    problem=f"judge {name} is model {model} with prompt {_short(prompt)}, and model {known[0]} with prompt"
                    f" {_short(known[1])} in {other.path}",
                    cure="give one of the two another name, in every table of its folder",
                    path=str(folder.path),
                )
    for folder, names in zip(folders, everybody, strict=True):
        for name in sorted(names & first.keys()):
            yield Fault(
                problem=f"worker {name} is a person here, and a judge that is no person in {first[name][0].path}",
                cure="give one of the two another name, in every table of its folder",
                path=str(folder.path),
            )


def _cell(rows: pd.DataFrame, column: str) -> str | None:
    value = rows[column].iloc[0]
    return None if pd.isna(value) else str(value)


def _short(digest: str | None) -> str:
    return digest[:12] if digest else "unknown"


def _unknown_faults(folders: Sequence[WaveFolder]) -> Iterator[Fault]:
    """Yield a fault where some folders say who judged and others do not."""
    knows: dict[bool, WaveFolder] = {}
    for folder in folders:
        preferences = folder.tables.get("preferences")
        if preferences is not None and len(preferences):
            of_people = preferences[~preferences["worker"].isin(folder.judges).to_numpy(bool)]
            knows.setdefault(knows_workers(of_people), folder)
    if len(knows) > 1:
        yield Fault(
            problem=f"table preferences does not say who judged, and that of {knows[True].path} does",
            cure="join it with folders that do not either, or take column worker out of preferences in all of them",
            path=str(knows[False].path),
        )


def count_rows(tables: Mapping[str, pd.DataFrame]) -> dict[str, dict[str, int]]:
    """Count the rows of each worker of a folder that each of `MEANS` is over."""
    return {mean: _filled_rows(tables.get(table), column) for mean, (table, column) in MEANS.items()}


def _filled_rows(frame: pd.DataFrame | None, column: str) -> dict[str, int]:
    if frame is None:
        return {}
    workers = frame.loc[frame[column].notna().to_numpy(bool), "worker"].astype("str")
    return {str(name): int(count) for name, count in workers.value_counts().items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class OneRow:
    """Row of a worker in the folder ``label``, with the rows that its means are over."""

    label: str
    row: Mapping[str, Any]
    counts: Mapping[str, int]


def join_workers(
    folders: Sequence[WaveFolder], counts: Sequence[Mapping[str, Mapping[str, int]]]
) -> tuple[pd.DataFrame, list[str]]:
    """Return table workers with one row for everybody, and notes on who is not the same everywhere.

    Excluded or withdrawn in one folder is excluded or withdrawn in all; complete is who is complete in all. Means weigh by what they are
    over, and are empty where that is not known.
    """
    rows: defaultdict[str, list[OneRow]] = defaultdict(list)
    for folder, counted in zip(folders, counts, strict=True):
        frame = folder.tables["workers"].astype(object) if "workers" in folder.tables else None
        for row in [] if frame is None else frame.where(frame.notna(), None).to_dict("records"):
            number = {column: of_worker.get(row["worker"], 0) for column, of_worker in counted.items()}
            rows[row["worker"]].append(OneRow(label=folder.label, row=row, counts=number))
    names = dict.fromkeys(name for folder in folders for name in folder.tables.get("workers", ()))
    columns = TABLES["workers"].opened(names).column_names
    joined = [of[0].row if len(of) == 1 else _one_row(of, columns) for of in rows.values()]
    frame = pd.DataFrame(joined, columns=list(columns)).sort_values("worker", kind="stable")
    several = {name: of for name, of in rows.items() if len(of) > 1}
    return check_frame(frame, TABLES["workers"]), [*_notes(several)]


def _one_row(of: Sequence[OneRow], columns: Sequence[str]) -> dict[str, Any]:
    def values(column: str) -> list[Any]:
        return [each.row[column] for each in of if each.row.get(column) is not None]

    withdrawn, consented, completed = (
        values(column) for column in ("withdrawn_at", "consented_at", "completed_at")
    )
    row: dict[str, Any] = {column: next(iter(values(column)), None) for column in columns}
    row["platform"] = _words(values("platform"))
    row["consented_at"] = min(consented, default=None)
    row["completed_at"] = max(completed) if len(completed) == len(of) and not withdrawn else None
    row["withdrawn_at"] = min(withdrawn, default=None)
    excluded = values("excluded")
    row["excluded"] = None if withdrawn or not excluded else any(excluded)
    reasons = [f"{each.label}: {each.row['reason']}" for each in of if each.row["reason"] is not None]
    row["reason"] = None if withdrawn else "; ".join(reasons) or None
    row["flags"] = None if withdrawn else _words(", ".join(values("flags")).split(", "))
    ends = values("ended_as")
    worst = [end for end in WORST_FIRST if end in ends]
    row["ended_as"] = worst[0] if worst else "complete" if len(ends) == len(of) else None
    for column in MEANS:
        row[column] = None if withdrawn else _mean(of, column)
    return row


def _words(words: Sequence[str]) -> str | None:
    return ", ".join(word for word in dict.fromkeys(words) if word) or None


def _mean(of: Sequence[OneRow], column: str) -> float | None:
    """Return the mean over all folders; None where nobody knows over how many rows a mean is."""
    known = [each for each in of if each.row[column] is not None]
    weights = [each.counts[column] for each in known]
    if not known or not all(weights):
        return None
    return float(np.average([each.row[column] for each in known], weights=weights))


def _notes(several: Mapping[str, Sequence[OneRow]]) -> Iterator[str]:
    excluded = _somewhere(several, lambda row: bool(row["excluded"]))
    withdrawn = _somewhere(several, lambda row: row["withdrawn_at"] is not None)
    if excluded:
        yield f"{_people(excluded)} excluded in one study and not in another: excluded in all"
    unlike = _unlike(several)
    if unlike:
        yield f"{_people(unlike)} described otherwise in another study ({DEMOGRAPHIC}...): as in the first"
    if withdrawn:
        yield f"{_people(withdrawn)} withdrawn from one study and not from another: no answer of theirs is in the joined tables"


def _unlike(several: Mapping[str, Sequence[OneRow]]) -> list[str]:
    """Return the people of whom a platform says other things in other folders."""
    return [
        name
        for name, of in several.items()
        if any(
            len({each.row[column] for each in of if each.row.get(column) is not None}) > 1
            for column in dict.fromkeys(column for each in of for column in each.row)
            if column.startswith(DEMOGRAPHIC)
        )
    ]


def _somewhere(
    several: Mapping[str, Sequence[OneRow]], has: Callable[[Mapping[str, Any]], bool]
) -> list[str]:
    """Return the people whose rows have something in some folders and not in all."""
    return [name for name, of in several.items() if 0 < sum(has(each.row) for each in of) < len(of)]


def _people(names: Sequence[str]) -> str:
    return f"{pluralise(len(names), 'person', 'people')} ({join_names(sorted(names), most=3)}) {'is' if len(names) == 1 else 'are'}"


def withdrawn_workers(workers: pd.DataFrame) -> frozenset[str]:
    """Return the people who withdrew, of table workers."""
    gone = workers.loc[workers["withdrawn_at"].notna().to_numpy(bool), "worker"]
    return frozenset(gone.astype("str")) - judge_names({"workers": workers})
