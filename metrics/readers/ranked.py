r"""Judgments, time windows and runs of ranked documents.

| file | content |
|---|---|
| qrels | ``topic subtopic docid grade`` a line; a whole number, relevant from 1 |
| windows | ``docid window`` a line, or ``docid timestamp``; none where nothing is known of time |
| intents | ``topic subtopic P`` a line: P(c\|q), for topics where it is not uniform |
| run | ``topic Q0 docid rank score tag`` a line, as in TREC |

Fields are separated by white space, files are UTF-8, plain or gzip; a first line with the names above is a header. The
judged topics are those of the qrels, named as they stand there. A line that stands twice is no fault, two lines that
contradict each other are.

What stands beside a document is the name of its window, or a timestamp (below), which is cut into calendar windows, of a day
if nothing else is asked for. A file has either names or timestamps: one beside the others is a fault. Names such as ``1990`` or
``1990-05`` are no timestamps.

A timestamp is a date ``2001-09-11``, with or without a time of day in ISO 8601 (``2001-09-11T08:46:40Z``), or whole
seconds since 1970-01-01 of at least nine digits, so that no year or date is taken for one. Everything is UTC; a time of
day without an offset is taken as UTC.
"""

import math
import re
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TypeAlias

from metrics.errors import FaultLog, raise_all
from metrics.ranked.lists import CalendarUnit, RankedCollection, RankedRun
from metrics.readers.columns import FieldColumns, read_columns, whole_numbers
from metrics.readers.lines import number, run_name
from metrics.taking_part import TopicNames

ISO = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9:.,]+(Z|[+-][0-9:]+)?)?")
EPOCH = re.compile(r"-?[0-9]{9,12}")
MILLISECONDS = re.compile(r"[0-9]{13}")
START = datetime(1970, 1, 1, tzinfo=UTC)


def calendar_window(text: str, unit: CalendarUnit) -> str | None:
    """Return the year, month, ISO week or day that a timestamp lies in; None when the text is no timestamp.

    Written ``2001``, ``2001-09``, ``2001-W37`` and ``2001-09-11``.
    """
    day = _utc_day(text)
    if day is None:
        return None
    if unit == "week":
        year, week, _ = day.isocalendar()
        return f"{year:04}-W{week:02}"
    return day.isoformat()[: {"year": 4, "month": 7, "day": 10}[unit]]


def _utc_day(text: str) -> date | None:
    """Return the UTC day of a timestamp, None when the text is none."""
    try:
        if EPOCH.fullmatch(text):
            return (START + timedelta(seconds=int(text))).date()
        if ISO.fullmatch(text):
            time = datetime.fromisoformat(text)
            return (time if time.tzinfo is None else time.astimezone(UTC)).date()
    except (ValueError, OverflowError):
        pass
    return None


QRELS = ("topic", "subtopic", "docid", "grade")
WINDOWS = ("docid", "window")
TIMESTAMPS = ("docid", "timestamp")
INTENTS = ("topic", "subtopic", "P")
RUN = ("topic", "Q0", "docid", "rank", "score", "tag")
SUM_TOLERANCE = 0.01
_WRITE_TIMESTAMPS = "write a date such as 2001-09-11, or seconds since 1970 with nine digits or more"
Grades: TypeAlias = dict[str, dict[str, dict[str, int]]]
Probabilities: TypeAlias = dict[str, dict[str, float]]


def read_ranked_collection(
    *,
    qrels: str | Path,
    windows: str | Path | None = None,
    intents: str | Path | None = None,
    unit: CalendarUnit | None = None,
    max_grade: int | None = None,
) -> RankedCollection:
    """Read and check the judgments.

    Parameters
    ----------
    qrels : str or Path
        The judgments; ordinary ones, ``topic 0 docid grade``, have one subtopic.
    windows : str or Path, optional
        When documents are from; without it the collection has no windows.
    intents : str or Path, optional
        File of P(c|q); without it, and for topics that it leaves out, P(c|q) is uniform. Rows of topics that nobody
        judged are checked and left out, and their topics named.
    unit : {'year', 'month', 'week', 'day'}, optional
        What timestamps are cut into windows by; then every value must be one.
    max_grade : int, optional
        The largest grade that the measures are defined for, see `metrics.ranked.score.largest_grade`.

    Returns
    -------
    RankedCollection
        Judged topics with subtopics, grades and windows.

    Raises
    ------
    InputError
        With every fault of the files: a line has another number of fields or is not UTF-8; a grade, P or timestamp
        cannot be read; P is negative, or those of a topic differ from 1 in sum by more than 0.01; a grade is too large; two lines
        contradict each other; there are no judgments; a relevant document has no window.

    Examples
    --------
    >>> import prefcal
    >>> folder = "examples/ranked_lists/collection"
    >>> collection = prefcal.read_ranked_collection(
    ...     qrels=f"{folder}/qrels.txt",
    ...     windows=f"{folder}/windows.txt",
    ...     intents=f"{folder}/intents.txt",
    ... )
    >>> len(collection.grades), sorted(set(collection.windows.values()))[:2]
    (4, ['1786', '1801'])
    """
    judged = FaultLog(qrels)
    columns = _read(judged, QRELS)
    grades = _grades(columns, max_grade, judged)
    logs, probability, window_of = [judged], dict[str, dict[str, float]](), dict[str, str]()
    if windows is not None:
        logs.append(FaultLog(windows))
        window_of, unit = _read_windows(logs[-1], unit)
        if not logs[-1].faults:
            _check_windows(columns, grades, window_of, judged, logs[-1].path)
    if intents is not None:
        logs.append(FaultLog(intents))
        probability = _read_probabilities(TopicNames(grades), logs[-1])
    raise_all(logs)
    return RankedCollection(
        name=str(qrels),
        grades=grades,
        windows=window_of,
        probability={topic: of for topic, of in probability.items() if topic in grades},
        strange_intents=tuple(topic for topic in probability if topic not in grades),
        calendar_unit=unit,
        is_timed=windows is not None,
    )


def read_ranked_run(path: str | Path, judged: Iterable[str], *, name: str | None = None) -> RankedRun:
    """Read and check a run: documents by score, the largest first, and equal scores by document, the larger first.

    Ranks in the file and the order of its lines do not matter. An empty file is a run that never found anything.

    Parameters
    ----------
    path : str or Path
        The file.
    judged : iterable of str
        Topics as the judgments name them; a run may write the short form. Lines of other topics are checked, left
        out and counted.
    name : str, optional
        What the run is called; by default like the file, see `metrics.readers.lines.run_name`.

    Returns
    -------
    RankedRun
        For each judged topic its documents, the best first.

    Raises
    ------
    InputError
        With every fault: a line has another number of fields or is not UTF-8; a score is no number; a document stands
        twice in a topic.

    Examples
    --------
    >>> import prefcal
    >>> folder = "examples/ranked_lists/collection"
    >>> collection = prefcal.read_ranked_collection(
    ...     qrels=f"{folder}/qrels.txt",
    ...     windows=f"{folder}/windows.txt",
    ...     intents=f"{folder}/intents.txt",
    ... )
    >>> run = prefcal.read_ranked_run("examples/ranked_lists/runs/newest.txt", collection.grades)
    >>> run.name, len(run.rankings)
    ('newest', 4)
    """
    log, names = FaultLog(path), TopicNames(judged)
    columns = read_columns(RUN, log)
    topics, _, documents, _, scores, _ = columns.fields
    topic_of = {written: names.find(written) or written for written in dict.fromkeys(topics)}
    listed: dict[str, dict[str, float]] = {topic: {} for topic in topic_of.values()}
    for line, written, document, text in zip(columns.lines.tolist(), topics, documents, scores, strict=True):
        score = number(text, "score", line, log, infinite=True)
        of_topic = listed[topic_of[written]]
        if document in of_topic:
            problem = f"document {document} stands twice in topic {written}"
            log.add(problem, line=line, cure="delete one of the two lines")
        of_topic[document] = score
    raise_all([log])
    rankings = {topic: _ranked(of) for topic, of in listed.items() if names.find(topic) is not None}
    unjudged = {topic: len(of) for topic, of in listed.items() if topic not in rankings}
    return RankedRun(name=name or run_name(path), rankings=rankings, unjudged=unjudged)


def _ranked(scores: dict[str, float]) -> tuple[str, ...]:
    """Sort documents by score and id, both downwards."""
    return tuple(sorted(scores, key=lambda document: (scores[document], document), reverse=True))


def _read(log: FaultLog, *headers: tuple[str, ...]) -> FieldColumns:
    """Read a file column by column, without its header, which may be one of several."""
    columns = read_columns(headers[0], log)
    first = tuple(column[0] for column in columns.fields if column)
    if first not in headers:
        return columns
    return FieldColumns(lines=columns.lines[1:], fields=tuple(column[1:] for column in columns.fields))


def _grades(columns: FieldColumns, max_grade: int | None, log: FaultLog) -> Grades:
    """Return topic -> subtopic -> document -> grade."""
    topics, subtopics, documents, texts = columns.fields
    found = whole_numbers(texts, "grade", columns.lines, log).tolist()
    grades: Grades = {}
    rows = zip(columns.lines.tolist(), topics, subtopics, documents, found, strict=True)
    for line, topic, subtopic, document, grade in rows:
        judged = grades.setdefault(topic, {}).setdefault(subtopic, {})
        if judged.setdefault(document, grade) != grade:
            problem = f"document {document} has another grade for topic {topic}, subtopic {subtopic} above"
            log.add(problem, line=line, cure="delete one of the two lines")
        if max_grade is not None and grade > max_grade:
            problem = f"grade {grade} is above {max_grade}, up to which graded scores are defined"
            log.add(problem, line=line, cure="recode the grades, or score without grades")
    if not topics and not log.faults:
        log.add("there are no judgments", line=1, cure=f"write {', '.join(QRELS)} on each line")
    return grades


def _read_windows(log: FaultLog, unit: CalendarUnit | None) -> tuple[dict[str, str], CalendarUnit | None]:
    """Return document -> window, and the unit that timestamps were cut by."""
    columns = _read(log, WINDOWS, TIMESTAMPS)
    documents, texts = columns.fields
    cut = {text: calendar_window(text, unit or "day") for text in dict.fromkeys(texts)}
    if unit is None:
        unit = _unit_of(columns, cut, log)
    window_of: dict[str, str] = {}
    for line, document, text in zip(columns.lines.tolist(), documents, texts, strict=True):
        window = text if unit is None else cut[text]
        if window is None:
            log.add(f"{text!r} is not a timestamp", line=line, cure=_WRITE_TIMESTAMPS)
        elif window_of.setdefault(document, window) != window:
            problem = f"document {document} is in window {window_of[document]} above, in {window} here"
            log.add(problem, line=line, cure="delete one of the two lines")
    return window_of, unit


def _unit_of(columns: FieldColumns, cut: dict[str, str | None], log: FaultLog) -> CalendarUnit | None:
    """Return the day where a file has timestamps only, None where it has names only; note the fault of a file with both."""
    lines, (_, texts) = columns.lines.tolist(), columns.fields
    times = [(line, text) for line, text in zip(lines, texts, strict=True) if cut[text] is not None]
    names = [(line, text) for line, text in zip(lines, texts, strict=True) if cut[text] is None]
    if not names:
        return "day" if times else None
    line, name = names[0]
    if times:
        time_line, time = times[0]
        log.add(
            f"{name!r} is not a timestamp, and {time!r} on line {time_line} is one ({len(times):,} of {len(texts):,} are)",
            line=line,
            cure=f"{_WRITE_TIMESTAMPS}; or, where windows have names, write names that are no dates, such as day-2001-09-11",
        )
    elif MILLISECONDS.fullmatch(name):
        log.add(f"{name!r} is a time in milliseconds", line=line, cure="write seconds since 1970")
    return None


def read_windows(path: str | Path) -> dict[str, str]:
    """Read document -> window of a file; timestamps are cut into days. Raises `InputError` with every fault of it."""
    log = FaultLog(path)
    window_of, _ = _read_windows(log, None)
    log.raise_if_any()
    return window_of


def _check_windows(
    columns: FieldColumns, grades: Grades, window_of: dict[str, str], log: FaultLog, windows: str
) -> None:
    """Note each relevant document that has no window, once, where it is relevant first."""
    topics, subtopics, documents, _ = columns.fields
    noted: set[str] = set()
    rows = zip(columns.lines.tolist(), topics, subtopics, documents, strict=True)
    for line, topic, subtopic, document in rows:
        if document in window_of or document in noted or grades[topic][subtopic][document] <= 0:
            continue
        noted.add(document)
        problem = f"document {document} is relevant and has no window"
        log.add(problem, line=line, cure=f"add it to {windows}")


def _read_probabilities(names: TopicNames, log: FaultLog) -> Probabilities:
    """Return P(c|q) of every topic, judged or not."""
    columns = _read(log, INTENTS)
    shares: Probabilities = {}
    first: dict[str, int] = {}
    for line, written, subtopic, text in zip(columns.lines.tolist(), *columns.fields, strict=True):
        share = number(text, "P", line, log)
        topic = names.find(written) or written
        first.setdefault(topic, line)
        if share < 0:
            log.add(f"P is negative: {text}", line=line, cure="write 0 or more")
        if _differs(shares.setdefault(topic, {}).setdefault(subtopic, share), share):
            problem = f"subtopic {subtopic} of topic {written} has another P above"
            log.add(problem, line=line, cure="delete one of the two lines")
    for topic, line in first.items():
        total = math.fsum(shares[topic].values())
        if abs(total - 1) > SUM_TOLERANCE + 1e-12:
            problem = f"the probabilities of topic {topic} add up to {total:.6g}, not 1"
            log.add(problem, line=line, cure="divide each by their sum")
    return shares


def _differs(known: float, share: float) -> bool:
    """Say whether two numbers differ; NaN stands for one that has been noted as a fault already."""
    return known < share or known > share
