"""Folders of two-layered summary collections, in the files of NTCIR MobileClick.

| file | fields (UTF-8, separated by tabs, no quoting) |
|---|---|
| queries.tsv | query, text |
| iunits.tsv | query, iUnit, text |
| intents.tsv | query, intent, text |
| importance.tsv | query, intent, iUnit, importance (a number >= 0) |
| probability.tsv | query, intent, P(intent given query); the file may be missing where uniform P will do |

Ids are taken as written. Runs are read by `metrics.readers.mobileclick_runs`.
"""

import math
import os
from collections import defaultdict
from collections.abc import Container, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, TypeAlias, TypeVar

from metrics.errors import MAX_FAULTS_SHOWN, FaultLog, closest_name, input_fault, raise_all
from metrics.readers.lines import number, rows
from metrics.summaries.two_layered import Collection, Query

COLUMNS = {
    "queries": ("qid", "text"),
    "iunits": ("qid", "uid", "text"),
    "intents": ("qid", "iid", "text"),
    "importance": ("qid", "iid", "uid", "importance"),
    "probability": ("qid", "iid", "P"),
}
OPTIONAL = "probability"
DEFINED_IN = {"uid": ("iUnit", "iunits"), "iid": ("intent", "intents")}
SUM_TOLERANCE = 0.01

T = TypeVar("T")


class Cell(NamedTuple):
    """Last field of a row, and the row's line."""

    line: int
    text: str


Ids: TypeAlias = tuple[str, ...]
Table: TypeAlias = dict[Ids, Cell]
"""Rows of one file by their ids.

The ids are (query,), (query, iUnit), (query, intent) or (query, intent, iUnit).
"""


def read_summary_collection(folder: str | Path) -> Collection:
    """Read and check a collection in one folder.

    Parameters
    ----------
    folder : str or Path
        Holds the files named above; other files in it are not looked at.

    Returns
    -------
    Collection
        Queries with their iUnits, intents and judgments.

    Raises
    ------
    InputError
        With every fault of every file: a file is missing; a row has another number of fields or is not UTF-8; an
        id is empty, stands twice, or is defined nowhere; a number cannot be read or is negative; there are no queries; a
        query has no intent; a query's probabilities differ from 1 in sum by more than 0.01. What may only follow from a row
        that was refused is not said.

    Examples
    --------
    >>> import prefcal
    >>> collection = prefcal.read_summary_collection("examples/two_layered/collection")
    >>> list(collection.queries)[:2]
    ['PC1-E-0001', 'PC1-E-0002']
    """
    return read_collection_files(_files(Path(folder)), name=str(folder))


def read_collection_files(files: Mapping[str, str | Path], *, name: str) -> Collection:
    """Read and check a collection whose files are named one by one.

    Parameters
    ----------
    files : mapping of str to path
        Kind of table, as in `COLUMNS` -> its file. Importance (then every one is 0) and probability may be left out.
    name : str
        How messages call the collection.

    Raises
    ------
    InputError
        As `read_summary_collection` does.
    """
    logs = {kind: FaultLog(files[kind]) for kind in COLUMNS if kind in files}
    _check_there(logs)
    tables = {kind: _read_table(COLUMNS[kind], log) for kind, log in logs.items()}
    refused = {kind for kind, log in logs.items() if log.faults}
    for kind, log in logs.items():
        _check_references(kind, tables, log, refused)
    if "intents" not in refused:
        _check_queries(tables, logs["queries"])
    importance: dict[Ids, float] = {}
    if "importance" in tables:
        importance = _numbers(tables["importance"], "importance", logs["importance"])
    probability = None
    if OPTIONAL in tables:
        probability = _numbers(tables[OPTIONAL], "P", logs[OPTIONAL])
        if OPTIONAL not in refused:
            _check_sums(tables, probability, logs[OPTIONAL])
    raise_all(logs.values())
    return Collection(
        name=name,
        queries=_queries(tables, importance, probability),
        files={kind: os.path.normpath(path) for kind, path in files.items()},
    )


def _files(folder: Path) -> dict[str, Path]:
    """Return the files of a folder; raise if there is no such folder."""
    if not folder.is_dir():
        raise input_fault(
            "there is no such folder", path=folder, cure="name the folder that holds queries.tsv"
        )
    files = {kind: folder / f"{kind}.tsv" for kind in COLUMNS}
    if not files[OPTIONAL].exists():
        del files[OPTIONAL]
    return files


def _check_there(logs: Mapping[str, FaultLog]) -> None:
    """Raise if a file is missing."""
    for kind, log in logs.items():
        if not Path(log.path).is_file():
            log.add("there is no such file", cure=f"write it with the fields {', '.join(COLUMNS[kind])}")
    raise_all(logs.values())


def _read_table(columns: tuple[str, ...], log: FaultLog) -> Table:
    """Read a file's rows by their ids."""
    table: Table = {}
    for line, (*fields, text) in rows(columns, log):
        ids = tuple(fields)
        if "" in ids:
            log.add("an id is empty", line=line, cure=f"write {', '.join(columns)}")
        elif ids in table:
            twice = f"{' '.join(ids)} is on line {table[ids].line} already"
            log.add(twice, line=line, cure="delete one of the two rows")
        else:
            table[ids] = Cell(line, text)
    return table


def _check_references(name: str, tables: Mapping[str, Table], log: FaultLog, refused: Container[str]) -> None:
    """Note each id of a query, iUnit or intent that its own file does not define.

    Ids are not checked where that file has refused rows.
    """
    for ids, cell in tables[name].items():
        for kind, owner, reference in _references(name, ids, tables):
            if reference not in tables[owner] and owner not in refused:
                known = [other[-1] for other in tables[owner] if other[:-1] == reference[:-1]]
                near = closest_name(reference[-1], known) if len(log.faults) < MAX_FAULTS_SHOWN else None
                whose = f"query {reference[0]!r} has no" if len(reference) > 1 else "unknown"
                log.add(
                    f"{whose} {kind} {reference[-1]!r}",
                    line=cell.line,
                    cure=f"did you mean {near!r}?" if near else f"add it to {owner}.tsv",
                )


def _references(name: str, ids: Ids, tables: Mapping[str, Table]) -> Iterator[tuple[str, str, Ids]]:
    """Yield (kind, defining file, known ids) of each id in a row.

    An unknown query hides the row's other ids.
    """
    query = ids[0]
    if name != "queries":
        yield "query", "queries", (query,)
    if (query,) in tables["queries"]:
        for column, identifier in zip(COLUMNS[name][1:-1], ids[1:], strict=True):
            kind, owner = DEFINED_IN[column]
            if owner != name:
                yield kind, owner, (query, identifier)


def _check_queries(tables: Mapping[str, Table], log: FaultLog) -> None:
    """Note queries without any intent of positive probability."""
    if not tables["queries"]:
        log.add("there are no queries", cure="write one row per query: qid, text")
    with_intents = {query for query, _ in tables["intents"]}
    for (query,), cell in tables["queries"].items():
        if query not in with_intents:
            log.add(f"query {query!r} has no intent", line=cell.line, cure="add its intents to intents.tsv")


def _numbers(table: Table, what: str, log: FaultLog) -> dict[Ids, float]:
    """Read the last fields as numbers >= 0; NaN for anything else."""
    values = {ids: number(cell.text, what, cell.line, log) for ids, cell in table.items()}
    for ids, value in values.items():
        if value < 0:
            log.add(f"{what} is negative: {table[ids].text}", line=table[ids].line, cure="write 0 or more")
    return values


def _check_sums(tables: Mapping[str, Table], probability: Mapping[Ids, float], log: FaultLog) -> None:
    """Note queries whose probabilities do not add up to 1, at their first line."""
    by_query = _by_query(probability)
    lines = {query: cell.line for (query, _), cell in reversed(tables[OPTIONAL].items())}
    for (query,) in tables["queries"]:
        total = math.fsum(by_query[query].values())
        if abs(total - 1) > SUM_TOLERANCE + 1e-12:
            problem = f"the probabilities of query {query!r} add up to {total:.6g}, not 1"
            log.add(problem, line=lines.get(query), cure="divide each by their sum")


def _by_query(values: Mapping[Ids, T]) -> defaultdict[str, dict[str, T]]:
    """Group values with ids (query, other) by query."""
    grouped: defaultdict[str, dict[str, T]] = defaultdict(dict)
    for (query, other), value in values.items():
        grouped[query][other] = value
    return grouped


def _queries(
    tables: Mapping[str, Table], importance: Mapping[Ids, float], probability: Mapping[Ids, float] | None
) -> dict[str, Query]:
    """Combine the checked tables into queries."""
    iunits, intents = _by_query(tables["iunits"]), _by_query(tables["intents"])
    shares = None if probability is None else _by_query(probability)
    ratings: defaultdict[str, dict[tuple[str, str], float]] = defaultdict(dict)
    for (query, intent, iunit), value in importance.items():
        ratings[query][intent, iunit] = value
    return {
        query: Query(
            id=query,
            text=cell.text,
            iunits={iunit: text for iunit, (_, text) in iunits[query].items()},
            intents={intent: text for intent, (_, text) in intents[query].items()},
            importance=ratings[query],
            probability=None if shares is None else shares[query],
        )
        for (query,), cell in tables["queries"].items()
    }
