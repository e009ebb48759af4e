"""Turn the public crowdsourcing data of SIGIR 2010 into tables that prefcal reads.

    python examples/sigir2010/convert.py FOLDER -o tables

FOLDER holds judgments.csv and MTurk.qrel of julian-urbano/sigir2010-crowdsourcing; the README beside this file says what
they are, how each table comes from them, and what to do with the tables.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd

from calibration.study_json import StudyRecord, write_study
from calibration.table_files import csv_text, write_tables
from metrics.errors import FaultLog, InputError
from metrics.readers.csv_columns import read_csv_columns
from metrics.whole_files import write_whole

JUDGMENTS, QREL, SCORES = "judgments.csv", "MTurk.qrel", "scores.csv"
COLUMNS = (
    "HITId",
    "WorkerId",
    "AcceptTime",
    "SubmitTime",
    "Input.query",
    "Input.docA",
    "Input.docB",
    "Answer.radio",
)
CHOICES = {"a": "left", "b": "right", "s": "equally_good", "": ""}
TASK, STREAM = "similarity", "hits"
VISIT_GAP_SECONDS = 304.0
_TIME = "%a %b %d %H:%M:%S GMT %Y"


def read_judgments(path: Path) -> pd.DataFrame:
    """Read judgments.csv: one row an assignment, times in UTC, the answer empty where none was given.

    Raises
    ------
    InputError
        If the file cannot be read, lacks a column, or has a time or an answer of another form.
    """
    log = FaultLog(path)
    found = read_csv_columns(path, COLUMNS, log)
    frame = pd.DataFrame(found.cells, dtype="str")
    for name in ("AcceptTime", "SubmitTime"):
        times = [_time(cell) for cell in frame[name]]
        for line, cell, time in zip(found.lines, frame[name], times, strict=True):
            if time is None:
                log.add(
                    f"{name} {cell!r} is no time", line=line, cure="write it as Wed Apr 14 18:29:32 GMT 2010"
                )
        frame[name] = pd.Series(times, dtype="datetime64[ms, UTC]")
    for line, answer in zip(found.lines, frame["Answer.radio"], strict=True):
        if answer not in CHOICES:
            log.add(f"Answer.radio is {answer!r}", line=line, cure="write a, b or s, or leave it empty")
    log.raise_if_any()
    return frame


def _time(cell: str) -> datetime | None:
    try:
        return datetime.strptime(cell, _TIME).replace(tzinfo=UTC)
    except ValueError:
        return None


def preferences(judgments: pd.DataFrame) -> pd.DataFrame:
    """Return table preferences: docA stood on the left; assignments without an answer are no judgments."""
    rows = judgments[judgments["Answer.radio"] != ""]
    return pd.DataFrame(
        {
            "judgment": "H" + rows["HITId"] + "-W" + rows["WorkerId"],
            "worker": "W" + rows["WorkerId"],
            "task": TASK,
            "topic": rows["Input.query"],
            "pair": "H" + rows["HITId"],
            "system_left": rows["Input.docA"],
            "system_right": rows["Input.docB"],
            "choice": rows["Answer.radio"].map(CHOICES),
            "shown_at": rows["AcceptTime"],
            "decided_at": rows["SubmitTime"],
            "decision_seconds": (rows["SubmitTime"] - rows["AcceptTime"]).dt.total_seconds(),
            "layout": "side_by_side",
            "timing": "server",
        }
    ).reset_index(drop=True)


def visits(judgments: pd.DataFrame, gap_seconds: float) -> pd.DataFrame:
    """Return table visits: stretches of work of each worker with no pause longer than ``gap_seconds``.

    Assignments overlap, since workers accept several at once: a stretch lasts until the last of them is submitted.
    """
    rows = [
        (f"W{worker}", STREAM, number, start, end, "left")
        for worker, of_worker in judgments.groupby("WorkerId", sort=True)
        for number, (start, end) in enumerate(_stretches(of_worker, gap_seconds), start=1)
    ]
    return pd.DataFrame(rows, columns=["worker", "topic", "visit", "start", "end", "end_reason"])


def _stretches(assignments: pd.DataFrame, gap_seconds: float) -> Iterator[tuple[pd.Timestamp, pd.Timestamp]]:
    """Yield the union of the assignments' times, united across pauses of at most ``gap_seconds``."""
    ordered = assignments.sort_values(["AcceptTime", "SubmitTime"])
    start, end = ordered["AcceptTime"].iloc[0], ordered["SubmitTime"].iloc[0]
    for accepted, submitted in zip(ordered["AcceptTime"], ordered["SubmitTime"], strict=True):
        if (accepted - end).total_seconds() > gap_seconds:
            yield start, end
            start = accepted
            end = submitted
        end = max(end, submitted)
    yield start, end


def follows(judgments: pd.DataFrame) -> pd.DataFrame:
    """Return table follows: from a worker's first assignment to the last one that anybody submitted."""
    first = judgments.groupby("WorkerId", sort=True)["AcceptTime"].min()
    return pd.DataFrame(
        {
            "worker": "W" + first.index.to_series().reset_index(drop=True),
            "topic": STREAM,
            "started_at": first.reset_index(drop=True),
            "ended_at": judgments["SubmitTime"].max(),
        }
    )


def scores(path: Path) -> pd.DataFrame:
    """Return the published ground truth as scores: minus the number of the group, so that the first group is best.

    Raises
    ------
    InputError
        If the file cannot be read as UTF-8, or a line does not have four fields with a whole number at the end.
    """
    log = FaultLog(path)
    rows = []
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        log.add(f"cannot be read ({error})", cure=f"give the folder with {QREL}, as UTF-8")
        lines = []
    for number, line in enumerate(lines, start=1):
        fields = line.split("\t")
        if len(fields) != 4 or not fields[3].isdigit():
            log.add(
                "not a judgment",
                line=number,
                cure="write MTurk, query, document and group, separated by tabs",
            )
        else:
            rows.append((fields[2], fields[1], "group", -int(fields[3])))
    log.raise_if_any()
    return pd.DataFrame(rows, columns=["run", "topic", "metric", "value"])


def convert(folder: Path, output: Path, gap_seconds: float = VISIT_GAP_SECONDS) -> None:
    """Write the tables, study.json and scores.csv of the data in ``folder`` into ``output``."""
    judgments = read_judgments(folder / JUDGMENTS)
    published = scores(folder / QREL)
    tables = {
        "preferences": preferences(judgments),
        "follows": follows(judgments),
        "visits": visits(judgments, gap_seconds),
    }
    write_tables(tables, output)
    study = StudyRecord(
        study="sigir2010",
        title="Preference judgments of melodic similarity (Urbano et al. 2010)",
        started_at=judgments["AcceptTime"].min().to_pydatetime(),
        ended_at=judgments["SubmitTime"].max().to_pydatetime(),
        visit_gap_seconds=gap_seconds,
    )
    write_study(study, output)
    write_whole(output / SCORES, csv_text(published))
    unanswered = len(judgments) - len(tables["preferences"])
    print(
        f"{output}: {len(tables['preferences'])} preferences ({unanswered} assignments without an answer), "
        f"{len(tables['follows'])} workers, {len(tables['visits'])} visits, {len(published)} scores"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line and convert; 1 when the data have faults."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help=f"folder with {JUDGMENTS} and {QREL}")
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder for the tables")
    parser.add_argument(
        "--visit-gap-seconds",
        type=float,
        default=VISIT_GAP_SECONDS,
        help="a longer pause ends a visit (default: %(default)g)",
    )
    options = parser.parse_args(arguments)
    try:
        convert(options.folder, options.output, options.visit_gap_seconds)
    except InputError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
