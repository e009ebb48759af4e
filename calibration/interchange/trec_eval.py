"""Scores as trec_eval and other evaluation tools print them.

Scores are lines of `metric topic value`, one file per run, or prefcal's long CSV. trec_eval separates columns by tabs and fills up the
metric with blanks. A row `runid all NAME` names the run. The topic `all` holds what is over all topics; it is kept in both directions.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from metrics.errors import Fault, FaultLog, InputError, input_fault, join_names
from metrics.readers.score_lines import RUN, RUN_ID
from metrics.readers.score_rows import check_has_runs, read_score_table
from metrics.results import ALL, Score

COLUMNS = ("run", "topic", "metric", "value")
SUFFIX = ".eval"
_FORBIDDEN = frozenset("\t\n\r")


def read_trec_eval(
    path: str | Path, run: str | None = None, *, columns: Sequence[str] | None = None
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Read scores that an evaluation tool printed.

    Parameters
    ----------
    path : str or Path
        What `trec_eval -q`, `ir_measures -q` and others printed for one run, or a table of scores of several: every form of
        `metrics.readers.score_rows`.
    run : str or None
        The run's name; None: the one in the row `runid`, or else the file's name up to its first dot.
    columns : sequence of str, optional
        What the fields of a line are, where their values do not tell it.

    Returns
    -------
    scores : DataFrame
        run, topic, metric, value, in the order of the file; the topic of a mean is ``all``.
    notes : tuple of str
        What is left out.

    Raises
    ------
    InputError
        If the file cannot be read or holds no score; for every line that has another number of columns, or a value that is no number,
        or repeats a metric and topic; if a run is named for a file of several.
    """
    table = read_score_table(path, columns=columns, unnamed="one")
    if not table.value.size:
        raise input_fault("no score", path=path, cure="write lines of metric, topic, value")
    frame = pd.DataFrame(table.scores(), columns=list(Score._fields))[list(COLUMNS)]
    if table.runs != ("",) and (table.form is None or RUN in table.form.columns):
        if run is not None and len(table.runs) > 1:
            problem = f"{run!r} is given as the name of a run, and the file has {len(table.runs)}"
            raise input_fault(problem, path=path, cure="leave out the name")
        return frame if run is None else frame.assign(run=run), table.notes
    named = next(filter(None, table.runs), None)
    return frame.assign(run=run or named or Path(path).name.split(".")[0]), table.notes


def read_trec_evals(
    files: Mapping[str | Path, str | None], *, columns: Sequence[str] | None = None
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Read scores of several files, with all faults of all files at once.

    Parameters
    ----------
    files : mapping of path to str or None
        File -> name of its run, as for `read_trec_eval`.
    columns : sequence of str, optional
        As for `read_trec_eval`.

    Returns
    -------
    scores : DataFrame
        As `read_trec_eval` returns them.
    notes : tuple of str
        What is left out, with the file.

    Raises
    ------
    InputError
        As `read_trec_eval`, and if two files are of one run.
    """
    frames, faults, of_run, notes = [], list[Fault](), dict[str, str](), dict[str, list[str]]()
    for path, run in files.items():
        try:
            frame, said = read_trec_eval(path, run, columns=columns)
        except InputError as error:
            faults += error.faults
            continue
        for note in said:
            notes.setdefault(note, []).append(str(path))
        for name in frame["run"].unique():
            if name in of_run:
                again = input_fault(
                    f"the run {name!r} is in {of_run[name]} too", path=path, cure="name it: RUN=FILE"
                )
                faults += again.faults
            of_run[name] = str(path)
        frames.append(frame)
    if faults:
        raise InputError(faults)
    return pd.concat(frames, ignore_index=True), tuple(
        f"{join_names(paths)}: {note}" for note, paths in notes.items()
    )


def read_long_scores(path: str | Path) -> pd.DataFrame:
    """Read a table of scores of runs, means too.

    It accepts any form of `metrics.readers.score_rows`.

    Returns
    -------
    DataFrame
        run, topic, metric, value.

    Raises
    ------
    InputError
        If it cannot be read, lacks a column, has an empty name or a value that is neither a number nor `nan`.
    """
    table = read_score_table(path)
    check_has_runs(table, FaultLog(path))
    return pd.DataFrame(table.scores(), columns=list(Score._fields))[list(COLUMNS)]


def trec_eval_texts(scores: pd.DataFrame) -> dict[str, str]:
    """Format each run's scores as trec_eval does.

    `runid` comes first, then topic by topic in the order given, and `all` last.

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
