"""Scores as trec_eval prints them, `metric topic value`, one file per run; and as prefcal's long CSV.

trec_eval separates columns by tabs and fills up the metric with blanks. A row `runid all NAME` names the run. The
topic `all` holds what is over all topics; it is kept in both directions.
"""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from metrics.errors import Fault, FaultLog, InputError, input_fault
from metrics.readers.columns import read_csv_columns
from metrics.readers.lines import NUMBER, text_lines
from metrics.results import ALL

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
