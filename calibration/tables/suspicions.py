"""Suspicious but legal folders of tables: misspelt names, repeated or cut rows.

Values that cannot well be so are the business of `calibration.tables.plausibility`; what makes a table faulty is the business of `calibration.tables.files`; visits and follows that do not fit together
that of `calibration.visits.followed_visits`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import pandas as pd

from calibration.tables.definition import Table
from calibration.tables.files import table_paths
from calibration.tables.people import people_tables
from calibration.tables.plausibility import doubts
from calibration.tables.preferences import knows_workers
from calibration.tables.raw_files import LineNumbers, raw_rows
from calibration.tables.study_json import changes, is_unended, last_line, read_study, recorded_tables
from calibration.tables.tables import TABLES
from calibration.tables.unknown_names import Ignored, ignored_columns, ignored_files
from metrics.errors import Fault, InputError, join_names, pluralise

_SHOWN = 3


def ignored(folder: str | Path) -> list[Ignored]:
    """Return the columns of a folder's tables, and its files, that nothing reads."""
    files = table_paths(folder)
    columns = (found for name, path in files.items() for found in ignored_columns(path, TABLES[name]))
    return [*columns, *ignored_files(Path(folder), files)]


def suspicions(folder: str | Path, tables: Mapping[str, pd.DataFrame]) -> list[Fault]:
    """Return all suspicions about the files of a folder.

    Parameters
    ----------
    folder : str or Path
        Where the tables are.
    tables : mapping of str to DataFrame
        As `calibration.tables.files.read_tables` returned them.
    """
    files, people = table_paths(folder), people_tables(tables, numbered=False)
    repeats = (_repeats(files[name], TABLES[name], frame) for name, frame in tables.items())
    return [
        *_twice(folder),
        *(_misspelt(ignored_name) for ignored_name in ignored(folder) if ignored_name.meant),
        *(repeat for repeat in repeats if repeat),
        *(_judged_twice(files["preferences"], people["preferences"]) if "preferences" in people else ()),
        *_values(files, people),
        *_missing(folder, files),
        *_ends(folder, files),
    ]


def suspicions_in_short(folder: str | Path, tables: Mapping[str, pd.DataFrame]) -> list[str]:
    """Return the suspicions about a folder that every command prints, a line each.

    Users must know them before anything is computed.
    """
    near = [ignored_name.in_short for ignored_name in ignored(folder) if ignored_name.meant]
    lines = [f"{folder}: ignored, but nearly a known name: {join_names(near)}"] if near else []
    if all(frame.empty for frame in tables.values()):
        lines.append(f"{folder}: no table has a row: {join_names(tables)}")
    files, people = table_paths(folder), people_tables(tables, numbered=False)
    return lines + [
        str(fault)
        for fault in (*_twice(folder), *_values(files, people, is_brief=True), *_ends(folder, files))
    ]


def in_no_result(folder: str | Path, tables: Mapping[str, pd.DataFrame]) -> list[str]:
    """Return harmless notes: ignored names and tables without rows.

    The ignored names resemble no known one.
    """
    far = [ignored_name.in_short for ignored_name in ignored(folder) if not ignored_name.meant]
    empty = [name for name, frame in tables.items() if frame.empty]
    notes = [f"ignored, as nothing reads them: {join_names(far)}"] if far else []
    if empty:
        notes.append(
            f"without a row, so that nothing can be computed from them: {join_names(empty, most=20)}"
        )
    return notes


def _values(
    files: Mapping[str, Path], tables: Mapping[str, pd.DataFrame], *, is_brief: bool = False
) -> Iterator[Fault]:
    for table, row, problem, cure in doubts(tables, is_brief=is_brief):
        yield Fault(problem=problem, cure=cure, path=str(files[table]), line=LineNumbers(files[table])[row])


def _twice(folder: str | Path) -> Iterator[Fault]:
    """Yield the warning of joined tables in which a person may stand under several names."""
    with suppress(InputError):  # a damaged study.json is reported by who needs it
        record = read_study(folder)
        if record is not None and record.people_twice is not None:
            cure = "where people can be recognised, give the studies pseudonyms: shared KEYFILE"
            yield Fault(problem=record.people_twice, cure=cure, path=str(folder))


def _misspelt(ignored_name: Ignored) -> Fault:
    what = "this file" if ignored_name.is_file else f"column {ignored_name.name!r}"
    return Fault(
        problem=f"{what} is ignored: unknown name",
        cure=ignored_name.cure,
        path=str(ignored_name.path),
    )


def _repeats(path: Path, table: Table, frame: pd.DataFrame) -> Fault | None:
    """Return the warning of rows equal in every column, ignored columns too."""
    if not frame.duplicated().any():
        return None
    pairs = _same_rows(raw_rows(path).itertuples(index=False, name=None))
    if not pairs:
        return None
    lines = LineNumbers(path)
    shown = [f"line {lines[again]} as line {lines[first]}" for first, again in pairs[:_SHOWN]]
    rows = "1 row is" if len(pairs) == 1 else f"{len(pairs):,} rows are"
    return Fault(
        problem=f"{rows} the same as an earlier one ({', '.join(shown)}{', ...' * (len(pairs) > _SHOWN)})",
        cure=f"remove rows that were copied; {_own_rows(table)}",
        path=str(path),
        line=lines[pairs[0][1]],
    )


def _judged_twice(path: Path, preferences: pd.DataFrame) -> Iterator[Fault]:
    """Yield the warning of workers who judged one pair twice.

    Such rows are no repeats of `validation_of`: each is a vote.
    """
    judged = preferences.drop_duplicates()
    judged = judged[judged["validation_of"].isna()]
    if not knows_workers(judged):
        return
    who = ["worker", "task", "topic", "pair"]
    again = judged.index[judged.duplicated(who)]
    if again.empty:
        return
    same = (judged[who] == judged.loc[again[0], who]).all(axis=1)
    lines = LineNumbers(path)
    first, second = lines[judged.index[same][0]], lines[again[0]]
    rows = "1 judgment is" if len(again) == 1 else f"{len(again):,} judgments are"
    yield Fault(
        problem=f"{rows} of a pair that the worker had judged before (line {second} as line {first}), and no repeat",
        cure="each is a vote; where people were asked again, name the first judgment in validation_of; of an answer that was "
        "changed, or copied, remove the earlier row",
        path=str(path),
        line=second,
    )


def _own_rows(table: Table) -> str:
    if len(table.key) == 1:
        return f"if people did this twice, give each row an id of its own in column {table.key[0]!r}"
    return "rows that only happen to be alike can stay"


def _same_rows(rows: Iterable[Sequence[str]]) -> list[tuple[int, int]]:
    """Return the indices (first, again) of every repeated row."""
    seen: dict[Sequence[str], int] = {}
    return [(first, row) for row, cells in enumerate(rows) if (first := seen.setdefault(cells, row)) != row]


def _missing(folder: str | Path, files: Mapping[str, Path]) -> Iterator[Fault]:
    """Yield the tables that were exported with rows and are missing."""
    for name, record in recorded_tables(folder).items():
        if name not in files and record.rows:
            yield Fault(
                problem=f"this table is not there, and {pluralise(record.rows, 'row')} of it were exported",
                cure="export the study again, if you did not take it away",
                path=str(Path(folder) / f"{name}.csv"),
            )


def _ends(folder: str | Path, files: Mapping[str, Path]) -> Iterator[Fault]:
    """Yield the tables changed after their export, or cut inside their last line."""
    records = recorded_tables(folder)
    changed = {change.fault.path: change.fault for change in changes(files, records)}
    yield from changed.values()
    for name, path in files.items():
        whole = name in records and str(path) not in changed
        if path.suffix == ".csv" and not whole and is_unended(path):
            yield Fault(
                problem="the last line has no line break behind it: its last value may be cut off",
                cure="see whether that value is whole, and end the line with a line break",
                path=str(path),
                line=last_line(path),
            )
