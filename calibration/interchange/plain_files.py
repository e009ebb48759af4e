"""The plain files of other tools: preferences as lines, and scores as trec_eval prints them.

Preferences are lines of `topic a b worker choice`: the smallest form in which tools can hand them on.

One judgment a line, its fields separated by tabs (or, in a line without a tab, by blanks): the topic, the two systems
as they were shown (a on the left or first), who judged, and the choice: ``a``, ``b``, ``equally_good``, ``equally_bad``.
``=`` is read as equally_good. Where all lines have four fields, each says that a was preferred to b, so that lists of
winner and loser can be read too. Blank lines and lines that begin with ``#`` say nothing. What the lines do not hold (times,
layout, repeats for validation) is lost.

Scores are lines of `metric topic value`, one file per run, or prefcal's long CSV.

trec_eval separates columns by tabs and fills up the metric with blanks. A row `runid all NAME` names the run. The
topic `all` holds what is over all topics; it is kept in both directions.
"""

import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from calibration.interchange.preferences import couples
from calibration.tables.files import checked
from calibration.tables.preferences import WORKERS_UNKNOWN, knows_workers, left_out
from calibration.tables.tables import TABLES
from metrics.errors import Fault, FaultLog, InputError, input_fault, listed
from metrics.readers.columns import read_csv_columns
from metrics.readers.lines import NUMBER, text_lines
from metrics.results import ALL

FIELDS = ("topic", "a", "b", "worker", "choice")
MEANINGS = {"a": "left", "b": "right", "=": "equally_good"} | {
    name: name for name in ("equally_good", "equally_bad")
}
WORDS = {"left": "a", "right": "b", "equally_good": "equally_good", "equally_bad": "equally_bad"}


def read_preference_lines(path: str | Path, *, task: str = "preferences") -> pd.DataFrame:
    """Read lines of preferences.

    Parameters
    ----------
    path : str or Path
        The file, UTF-8, plain or gzip.
    task : str
        What column ``task`` shall say.

    Returns
    -------
    DataFrame
        Table preferences, in the order of the lines.

    Raises
    ------
    InputError
        If the file cannot be read or has no line, and for every line with too few or too many fields, an empty one, one
        system twice, another choice, or four fields among lines of five; all at once, each with its line.
    """
    log = FaultLog(path)
    split = [
        (line, _cells(text, line, log))
        for line, text in text_lines(path, log)
        if text.strip() and not text.startswith("#")
    ]
    winner_first = all(len(cells) != len(FIELDS) for _, cells in split)
    rows = [_fields(cells, line, log, winner_first=winner_first) for line, cells in split if cells]
    log.raise_if_any()
    if not rows:
        raise input_fault("no preference", path=path, cure=f"write lines of {' '.join(FIELDS)}")
    frame = pd.DataFrame(rows, columns=["topic", "left", "right", "worker", "choice"], dtype="str")
    return checked(
        pd.DataFrame(
            {
                "judgment": [f"J{number}" for number in range(1, len(frame) + 1)],
                "worker": frame["worker"],
                "task": task,
                "topic": frame["topic"],
                "pair": list(couples(frame)),
                "system_left": frame["left"],
                "system_right": frame["right"],
                "choice": frame["choice"],
            }
        ),
        TABLES["preferences"],
    )


def _cells(text: str, line: int, log: FaultLog) -> list[str]:
    """Return what a line says, field by field; nothing for a line of commas, which is a fault."""
    if "\t" not in text and len(re.split("[,;]", text)) >= len(FIELDS) - 1:
        log.add(
            "fields are separated by commas or semicolons",
            line=line,
            cure="write tabs between them; prefcal import reads a CSV with a header",
        )
        return []
    return [cell.strip() for cell in text.split("\t")] if "\t" in text else text.split()


def _fields(cells: list[str], line: int, log: FaultLog, *, winner_first: bool) -> tuple[str, ...]:
    """Return topic, left, right, worker, choice of a line; what is wrong with them goes into the log.

    A line of four fields that lost its worker or its choice must not become a vote for a: it is one only where no line
    has five, and where its fourth is no choice.
    """
    given = sum(map(bool, cells))
    unworked = given == len(FIELDS) - 1 and cells[-1] in MEANINGS
    if winner_first and len(cells) == len(FIELDS) - 1 and not unworked:
        cells = [*cells, "a"]
    if len(cells) != len(FIELDS) or not all(cells):
        expected = (
            f"{len(FIELDS)} fields expected{' (or 4, a preferred)' if winner_first else ''}, got {given}"
        )
        log.add(
            f"{cells[-1]!r} is a choice, and one of the fields before it is missing"
            if unworked
            else expected,
            line=line,
            cure=f"write {', '.join(FIELDS)}, separated by tabs",
        )
        return ("",) * len(FIELDS)
    topic, left, right, worker, choice = cells
    if left == right:
        log.add(f"{left!r} is compared with itself", line=line, cure="name two systems")
    if choice not in MEANINGS:
        log.add(f"the choice is {choice!r}", line=line, cure=f"write one of {listed(MEANINGS, most=9)}")
    return topic, left, right, worker, MEANINGS.get(choice, "")


def preference_lines(
    preferences: pd.DataFrame,
    *,
    workers: pd.DataFrame | None = None,
    exclude: bool = True,
    winner_first: bool = False,
) -> str:
    """Return the judgments that count as lines.

    Parameters
    ----------
    preferences : DataFrame
        Table preferences of one task. Repeats for validation are left out, as everywhere.
    workers : DataFrame or None
        Table workers: those who withdrew are left out, and with ``exclude`` those that the rules exclude.
    exclude : bool
        As said.
    winner_first : bool
        Write four fields with the preferred system first, for tools that know no ties; ties are left out.

    Raises
    ------
    ValueError
        If the judgments are of several tasks.
    InputError
        If a name holds a tab or a line feed, or a topic begins with #.
    """
    if len(preferences["task"].unique()) > 1:
        raise ValueError("lines do not say of which task they are: give the judgments of one")
    out = left_out(workers, exclude=exclude).index
    rows = preferences[preferences["validation_of"].isna() & ~preferences["worker"].isin(out)]
    if not winner_first and not knows_workers(rows):
        raise input_fault(
            WORKERS_UNKNOWN, cure="write lines without workers: give --winner-first, which leaves out ties"
        )
    _check_line_names(rows)
    cells = rows[["topic", "system_left", "system_right", "worker"]].assign(choice=rows["choice"].map(WORDS))
    if winner_first:
        cells = cells[cells["choice"].isin(["a", "b"])]
        swapped = (cells["choice"] == "b").to_numpy()
        sides = cells[["system_left", "system_right"]].to_numpy()
        cells[["system_left", "system_right"]] = np.where(swapped[:, None], sides[:, ::-1], sides)
        cells = cells.drop(columns=["choice"] if knows_workers(rows) else ["choice", "worker"])
    return "".join("\t".join(row) + "\n" for row in cells.itertuples(index=False, name=None))


def _check_line_names(rows: pd.DataFrame) -> None:
    faults = [
        Fault(problem=f"{column} {name!r} cannot stand in a line", cure="rename it")
        for column in ("topic", "system_left", "system_right", "worker")
        for name in rows[column].dropna().unique()
        if set(name) & set("\t\n\r") or (column == "topic" and name.startswith("#"))
    ]
    if faults:
        raise InputError(faults)


COLUMNS = ("run", "topic", "metric", "value")
RUN_ID = "runid"
SUFFIX = ".eval"
_FORBIDDEN = frozenset("\t\n\r")


def read_trec_eval(path: str | Path, run: str | None = None) -> pd.DataFrame:
    """Read the scores of one run.

    Parameters
    ----------
    path : str or Path
        What `trec_eval -q` printed; other tools write the same columns.
    run : str or None
        The run's name; None: the one in the row `runid`, or else the file's name up to its first dot.

    Returns
    -------
    DataFrame
        run, topic, metric, value, in the order of the file.

    Raises
    ------
    InputError
        If the file cannot be read or holds no score; for every line that has not three columns, or a value that is
        no number, or repeats a metric and topic.
    """
    log = FaultLog(path)
    name, rows, seen = None, [], dict[tuple[str, str], int]()
    for line, text in text_lines(path, log):
        fields = [field.strip() for field in text.split("\t")] if "\t" in text else text.split()
        if not text.strip():
            continue
        if len(fields) != 3 or not all(fields):
            log.add(f"3 columns expected, got {len(fields)}", line=line, cure="write metric, topic, value")
        elif fields[0] == RUN_ID:
            name = fields[2]
        elif not (NUMBER.fullmatch(fields[2]) or fields[2] == "nan"):
            log.add(
                f"the value {fields[2]!r} is no number", line=line, cure="write a decimal number such as 0.25"
            )
        elif (fields[0], fields[1]) in seen:
            again = f"{fields[0]} of {fields[1]} stands in line {seen[fields[0], fields[1]]} too"
            log.add(again, line=line, cure="keep one of them, and give one file per run")
        else:
            seen[fields[0], fields[1]] = line
            rows.append((fields[1], fields[0], float(fields[2])))
    log.raise_if_any()
    if not rows:
        raise input_fault("no score", path=path, cure="write lines of metric, topic, value")
    frame = pd.DataFrame(rows, columns=["topic", "metric", "value"])
    frame.insert(0, "run", run or name or Path(path).name.split(".")[0])
    return frame


def read_trec_evals(files: Mapping[str | Path, str | None]) -> pd.DataFrame:
    """Read the scores of several runs, one file each; all faults of all files at once.

    Parameters
    ----------
    files : mapping of path to str or None
        File -> name of its run, as for `read_trec_eval`.

    Raises
    ------
    InputError
        As `read_trec_eval`, and if two files are of one run.
    """
    frames, faults, of_run = [], list[Fault](), dict[str, str]()
    for path, run in files.items():
        try:
            frame = read_trec_eval(path, run)
        except InputError as error:
            faults += error.faults
            continue
        name = str(frame["run"].iloc[0])
        if name in of_run:
            again = input_fault(
                f"the run {name!r} is in {of_run[name]} too", path=path, cure="name it: RUN=FILE"
            )
            faults += again.faults
        of_run[name] = str(path)
        frames.append(frame)
    if faults:
        raise InputError(faults)
    return pd.concat(frames, ignore_index=True)


def read_long_scores(path: str | Path) -> pd.DataFrame:
    """Read the long CSV that `prefcal score ... --format csv` writes, rows of topic `all` too; other columns are ignored.

    Raises
    ------
    InputError
        If it cannot be read, lacks a column, has an empty name or a value that is neither a number nor `nan`.
    """
    log = FaultLog(path)
    found = read_csv_columns(path, COLUMNS, log)
    values = []
    for row, line in enumerate(found.lines):
        for name in COLUMNS[:3]:
            if not found.cells[name][row]:
                log.add(f"{name} is empty", line=line, cure="fill it in, or remove the row")
        cell = found.cells["value"][row]
        if not (NUMBER.fullmatch(cell) or cell == "nan"):
            log.add(f"value {cell!r} is no number", line=line, cure="write a decimal number such as 0.25")
            cell = "nan"
        values.append(float(cell))
    log.raise_if_any()
    frame = pd.DataFrame({name: found.cells[name] for name in COLUMNS[:3]}, dtype="str")
    return frame.assign(value=values)


def trec_eval_texts(scores: pd.DataFrame) -> dict[str, str]:
    """Return each run's file: `runid` first, then topic by topic in the order given, `all` last.

    Parameters
    ----------
    scores : DataFrame
        run, topic, metric, value. Values are written with 13 significant digits.

    Raises
    ------
    InputError
        If a metric, topic or run has a tab or line feed in its name, or a run's name cannot be that of a file.
    """
    _check_names(scores)
    texts = {}
    for run, of_run in scores.groupby("run", sort=False):
        last = of_run["topic"] == ALL
        ordered = pd.concat([of_run[~last], of_run[last]])
        lines = [f"{RUN_ID:<22}\t{ALL}\t{run}"]
        for topic in ordered["topic"].unique():
            rows = ordered[ordered["topic"] == topic]
            lines += [
                f"{metric:<22}\t{topic}\t{value:.13g}"
                for metric, value in zip(rows["metric"], rows["value"], strict=True)
            ]
        texts[str(run)] = "\n".join([*lines, ""])
    return texts


def _check_names(scores: pd.DataFrame) -> None:
    faults = [
        Fault(problem=f"{column} {name!r} has a tab or a line feed in it", cure="rename it")
        for column in COLUMNS[:3]
        for name in scores[column].unique()
        if _FORBIDDEN & set(name)
    ]
    faults += [
        Fault(problem=f"run {run!r} cannot be the name of a file", cure="rename it")
        for run in scores["run"].unique()
        if {"/", "\0"} & {*run} or run in {".", ".."}
    ]
    if faults:
        raise InputError(faults)
