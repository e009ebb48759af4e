r"""Judgments, time windows and runs of ranked documents.

| file | content |
|---|---|
| qrels | ``topic subtopic docid grade`` a line, or ``topic iteration docid grade``; relevant is a grade above 0 |
| qrels | ``query-id corpus-id score`` below a header with these names, as BEIR has them |
| windows | ``docid window`` a line, or ``docid timestamp``; none where nothing is known of time |
| intents | ``topic subtopic P`` a line: P(c\|q), for topics where it is not uniform |
| run | ``topic Q0 docid rank score tag`` a line, as in TREC |

Fields are separated by white space, files are UTF-8, plain or packed with gzip, bzip2 or xz; a first line with the names above is a
header, and lines that begin with ``#`` are comments. The judged topics are those of the qrels, named as they stand there, and
compared as text: ``31.1`` and ``32.1`` are two. A line that stands twice is no fault, two lines that contradict each other are.

Whether the second field of qrels is a subtopic or an iteration (0, Q0, rounds of judging) is told by the header, the file of
intents and the values, see `told_second_column`; where these cannot tell, measures of subtopics ask for it.

What stands beside a document is the name of its window, or a timestamp (below), which is cut into calendar windows, of a day
if nothing else is asked for. A file has either names or timestamps: one beside the others is a fault. Names such as ``1990`` or
``1990-05`` are no timestamps.

A timestamp is a date ``2001-09-11``, with or without a time of day in ISO 8601 (``2001-09-11T08:46:40Z``), or whole
seconds since 1970-01-01 of at least nine digits, so that no year or date is taken for one. Everything is UTC; a time of
day without an offset is taken as UTC.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np

from metrics.errors import FaultLog, join_names, raise_all
from metrics.ranked.lists import SAY_WHICH, CalendarUnit, RankedCollection, RankedRun
from metrics.readers.columns import FieldColumns, grades_of, read_columns
from metrics.readers.lines import differs, number, run_name
from metrics.topic_ids import TopicNames

ISO = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9:.,]+(Z|[+-][0-9:]+)?)?")
EPOCH = re.compile(r"-?[0-9]{9,12}")
MILLISECONDS = re.compile(r"[0-9]{13}")
START = datetime(1970, 1, 1, tzinfo=UTC)


def calendar_window(text: str, unit: CalendarUnit) -> str | None:
    """Return the year, month, ISO week or day of a timestamp, or None.

    The result is None when the text is no timestamp.

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
    """Return the UTC day of a timestamp, or None."""
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
ITERATIONS = ("topic", "iteration", "docid", "grade")
BEIR = ("query-id", "corpus-id", "score")
WINDOWS = ("docid", "window")
TIMESTAMPS = ("docid", "timestamp")
INTENTS = ("topic", "subtopic", "P")
RUN = ("topic", "Q0", "docid", "rank", "score", "tag")
SUM_TOLERANCE = 0.01
SecondColumn: TypeAlias = Literal["subtopic", "iteration"]
NO_ITERATION = frozenset({"0", "Q0", "q0"})
"""Values of the second field of qrels that carry no meaning."""
HALF_ROUND = re.compile(r"[0-9]{1,2}(?:\.[05])?")
"""Pattern of a half round of judging, as TREC-COVID has."""
ROUND = re.compile(r"(?:q|r|it|iter|iteration|rnd|round|run|pass|j)?[-_.]?[0-9]+(?:\.[0-9]+)?", re.IGNORECASE)
"""Pattern of a value that may be a round, and may be a subtopic."""
_WRITE_TIMESTAMPS = "write a date such as 2001-09-11, or seconds since 1970 with nine digits or more"
Grades: TypeAlias = dict[str, dict[str, dict[str, float]]]
Probabilities: TypeAlias = dict[str, dict[str, float]]


def read_ranked_collection(
    *,
    qrels: str | Path,
    windows: str | Path | None = None,
    intents: str | Path | None = None,
    unit: CalendarUnit | None = None,
    max_grade: int | None = None,
    second_column: SecondColumn | None = None,
) -> RankedCollection:
    """Read and check the judgments of ranked documents.

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
    second_column : {'subtopic', 'iteration'}, optional
        What the second field of the judgments is; by default told by the file, see `told_second_column`.

    Returns
    -------
    RankedCollection
        Judged topics with subtopics, grades and windows.

    Raises
    ------
    InputError
        With every fault of the files: a line has another number of fields or is not UTF-8; a grade, P or timestamp
        cannot be read; P is negative, or those of a topic differ from 1 in sum by more than 0.01; a grade is too large; two lines
        contradict each other; there are no judgments; a relevant document has no window; P is of no subtopic that there is. Also
        if a document has two grades in one topic, and it cannot be told whether it was judged for two subtopics or twice.

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
    columns = _read_qrels(judged)
    grades = _grades(columns, max_grade, judged)
    logs, probability, window_of = [judged], dict[str, dict[str, float]](), dict[str, str]()
    if intents is not None:
        logs.append(FaultLog(intents))
        probability = _read_probabilities(logs[-1])
    second = second_column or told_second_column(grades, columns.header, probability)
    grades, undecided = _decided(second, grades, columns, judged)
    if intents is not None and not logs[-1].faults:
        _check_subtopics(grades, probability, logs[-1], judged.path)
    if windows is not None:
        logs.insert(1, FaultLog(windows))
        window_of, unit = _read_windows(logs[1], unit)
        if not logs[1].faults:
            _check_windows(columns, grades, window_of, judged, logs[1].path)
    raise_all(logs)
    return RankedCollection(
        name=str(qrels),
        grades=grades,
        windows=window_of,
        probability={topic: of for topic, of in probability.items() if topic in grades},
        strange_intents=tuple(topic for topic in probability if topic not in grades),
        calendar_unit=unit,
        is_timed=windows is not None,
        undecided=undecided,
    )


def told_second_column(
    grades: Mapping[str, Mapping[str, Mapping[str, float]]],
    header: Sequence[str] = (),
    probability: Mapping[str, Mapping[str, float]] | None = None,
) -> SecondColumn | None:
    """Return the meaning of the second field of judgments, or None if ambiguous.

    It is ambiguous where header, intents and values all leave it open.

    The header says it. Where every topic has one value nothing depends on it, and values of 0 and Q0 are iterations. Values that
    the file of intents names are subtopics, and so are words. Rounds that are counted in halves (0.5, 1, 1.5) are
    iterations. Other numbers may be either; they are subtopics where most documents, and more than one, are judged under several of
    them in one topic, as tracks of diversity judge.

    Parameters
    ----------
    grades : mapping of str to mapping of str to mapping of str to float
        Topic -> second field -> document -> grade.
    header : sequence of str
        The first line, where it is a header.
    probability : mapping of str to mapping of str to float, optional
        Topic -> subtopic -> P(c|q), where a file of intents says so.
    """
    if header in {QRELS, ITERATIONS}:
        return "subtopic" if header == QRELS else "iteration"
    several = {topic: of for topic, of in grades.items() if len(of) > 1}
    values = set[str]().union(*several.values())
    if not values or values <= NO_ITERATION:
        return "iteration" if values else "subtopic"
    if any(of.keys() & (probability or {}).get(topic, {}).keys() for topic, of in several.items()):
        return "subtopic"
    if all(map(HALF_ROUND.fullmatch, values)) and any(value.endswith(".5") for value in values):
        return "iteration"
    if not any(value in NO_ITERATION or ROUND.fullmatch(value) for value in values):
        return "subtopic"
    judgments = sum(len(documents) for of in several.values() for documents in of.values())
    documents = sum(len(set[str]().union(*of.values())) for of in several.values())
    again = sum(
        sum(document in documents for documents in of.values()) > 1
        for of in several.values()
        for document in set[str]().union(*of.values())
    )
    return "subtopic" if judgments > documents and again > 1 and 2 * again > documents else None


def _decided(
    second: SecondColumn | None, grades: Grades, columns: FieldColumns, log: FaultLog
) -> tuple[Grades, str]:
    """Merge a topic's iterations, and return why the second field is ambiguous.

    The reason is an empty text where the field is clear.

    A document that has two grades in one topic is a fault, unless it has them for two subtopics.
    """
    if second == "subtopic":
        return grades, ""
    several = {topic: of for topic, of in grades.items() if len(of) > 1}
    topic, of = next(iter(several.items()), ("", {}))
    undecided = f"topic {topic} has {join_names(of, most=4)} in the second field, which may be subtopics or iterations of judging"
    merged: Grades = {}
    rows = _judged_rows(columns) if several else ()
    for line, name, value, document in rows:
        if name not in several:
            continue
        of_topic = merged.setdefault(name, {}).setdefault(next(iter(several[name])), {})
        grade = several[name][value][document]
        if of_topic.setdefault(document, grade) == grade:
            continue
        problem = f"document {document} has another grade for topic {name} above"
        if second is None:
            log.add(
                f"{problem}, where the second field is not {value}: a subtopic or an iteration",
                line=line,
                cure=SAY_WHICH,
            )
            break
        log.add(problem, line=line, cure="delete one of the two lines")
    return (grades, undecided) if second is None else ({**grades, **merged}, "")


def _judged_rows(columns: FieldColumns) -> Iterator[tuple[int, str, str, str]]:
    """Yield line, topic, second field and document of each judgment."""
    topics, seconds, documents, _ = columns.fields
    return zip(columns.lines.tolist(), topics, seconds, documents, strict=True)


def _check_subtopics(grades: Grades, probability: Probabilities, log: FaultLog, qrels: str) -> None:
    """Note topics whose P(c|q) names no judged subtopic; all scores would be 0."""
    judged = [topic for topic in probability if topic in grades]
    if judged and not any(probability[topic].keys() & grades[topic].keys() for topic in judged):
        topic = judged[0]
        here, there = (join_names(of[topic], most=4) for of in (probability, grades))
        problem = f"no subtopic of these is in {qrels}: topic {topic} has {here} here, and {there} there"
        cure = f"name subtopics as the judgments do, in a file with lines of {', '.join(INTENTS)}"
        log.add(problem, line=1, cure=cure)


def read_ranked_run(path: str | Path, judged: Iterable[str], *, name: str | None = None) -> RankedRun:
    """Read and check a run, sorted by score, then document, both descending.

    Scores are compared in single precision, as trec_eval holds them. Ranks in the file and the order of its
    lines do not matter. An empty file is a run that retrieved nothing.

    Parameters
    ----------
    path : str or Path
        The file.
    judged : iterable of str
        Topics as the judgments name them. Lines of other topics are checked, left out and counted.
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
        twice in a topic; or if the second field shows that this is another sort of file.

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
    columns = _read(log, RUN)
    topics, seconds, documents, _, scores, _ = columns.fields
    _check_second(seconds, log)
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
    ranked = {topic: _ranked(of) for topic, of in listed.items() if names.find(topic) is not None}
    return RankedRun(
        name=name or run_name(path),
        rankings={topic: documents for topic, (documents, _) in ranked.items()},
        unjudged={topic: len(of) for topic, of in listed.items() if topic not in ranked},
        single_ties=sum(ties for _, ties in ranked.values()),
    )


def _ranked(scores: dict[str, float]) -> tuple[tuple[str, ...], int]:
    """Sort documents by single-precision score and id, both descending.

    trec_eval holds scores as 32-bit floats, so that a difference in the eighth digit is lost.

    Returns
    -------
    documents : tuple of str
        The best first.
    ties : int
        How many neighbours differ in the file and are equal in single precision.
    """
    with np.errstate(over="ignore"):  # beyond 3.4e38 a score is infinite, as it is for trec_eval
        single = np.array([*scores.values()], dtype=np.float64).astype(np.float32).tolist()
    score_of = dict(zip(scores, single, strict=True))
    documents = sorted(scores, key=lambda document: (score_of[document], document), reverse=True)
    ties = sum(
        score_of[one] == score_of[other] and scores[one] != scores[other]
        for one, other in pairwise(documents)
    )
    return tuple(documents), ties


def _check_second(seconds: Sequence[str], log: FaultLog) -> None:
    """Raise if the second field is no Q0 but an id that varies by line.

    Files of other kinds have such lines.
    """
    is_one = not seconds or seconds.count(seconds[0]) == len(seconds)
    values = dict.fromkeys(() if is_one else seconds)
    if not all(map(ROUND.fullmatch, values)):
        problem = (
            f"the second field is {join_names(map(repr, values), most=3)}, where a run of ranked lists has Q0"
        )
        log.add(problem, line=1, cure=f"name a file with lines of {', '.join(RUN)}")
        log.raise_if_any()


def _read(log: FaultLog, *headers: tuple[str, ...]) -> FieldColumns:
    """Read a file column by column, without its header (one of several)."""
    return read_columns(headers[0], log, headers=[tuple(map(str.lower, header)) for header in headers])


def _read_qrels(log: FaultLog) -> FieldColumns:
    """Read judgments; those of BEIR get a second field."""
    columns = read_columns(QRELS, log, headers=(QRELS, ITERATIONS, BEIR))
    if columns.header == BEIR:
        topics, documents, grades = columns.fields
        fields = (topics, ["0"] * len(topics), documents, grades)
        return FieldColumns(lines=columns.lines, fields=fields, header=BEIR)
    _check_no_preferences(columns, log)
    return columns


def _check_no_preferences(columns: FieldColumns, log: FaultLog) -> None:
    """Note lines of the form ``topic a b winner``.

    In such a file the last field of every line is one of the two before it, sometimes either.
    """
    _, *pairs = columns.fields
    are_winners = all(
        grade in {one, other} and one != other for one, other, grade in zip(*pairs, strict=True)
    )
    if are_winners and len({grade == one for one, _, grade in zip(*pairs, strict=True)}) > 1:
        log.add(
            "the fourth field is one of the two before it on every line: these are preferences (topic a b winner)",
            line=1,
            cure=f"name a file with lines of {', '.join(QRELS)}",
        )
        log.raise_if_any()


def _grades(columns: FieldColumns, max_grade: int | None, log: FaultLog) -> Grades:
    """Return grades by topic, second field and document."""
    topics, subtopics, documents, texts = columns.fields
    found = grades_of(texts, columns.lines, log)
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
    """Return the window of each document, and the calendar unit of timestamps."""
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
    """Return day for a file of timestamps, None for one of names; note a mixture."""
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
    """Read the window of each document; timestamps become days.

    It raises `InputError` with every fault of the file.
    """
    log = FaultLog(path)
    window_of, _ = _read_windows(log, None)
    log.raise_if_any()
    return window_of


def _check_windows(
    columns: FieldColumns, grades: Grades, window_of: dict[str, str], log: FaultLog, windows: str
) -> None:
    """Note each relevant document without a window, once, where it is first relevant."""
    noted: set[str] = set()
    for line, topic, second, document in _judged_rows(columns):
        if document in window_of or document in noted:
            continue
        judged = grades[topic].get(second) or next(iter(grades[topic].values()))  # of iterations one is left
        if judged.get(document, 0) <= 0:
            continue
        noted.add(document)
        problem = f"document {document} is relevant and has no window"
        log.add(problem, line=line, cure=f"add it to {windows}")


def _read_probabilities(log: FaultLog) -> Probabilities:
    """Return P(c|q) of every topic, judged or not."""
    columns = _read(log, INTENTS)
    shares: Probabilities = {}
    first: dict[str, int] = {}
    for line, topic, subtopic, text in zip(columns.lines.tolist(), *columns.fields, strict=True):
        share = number(text, "P", line, log)
        first.setdefault(topic, line)
        if share < 0:
            log.add(f"P is negative: {text}", line=line, cure="write 0 or more")
        if differs(shares.setdefault(topic, {}).setdefault(subtopic, share), share):
            problem = f"subtopic {subtopic} of topic {topic} has another P above"
            log.add(problem, line=line, cure="delete one of the two lines")
    for topic, line in first.items():
        total = math.fsum(shares[topic].values())
        if abs(total - 1) > SUM_TOLERANCE + 1e-12:
            problem = f"the probabilities of topic {topic} add up to {total:.6g}, not 1"
            log.add(problem, line=line, cure="divide each by their sum")
    return shares
