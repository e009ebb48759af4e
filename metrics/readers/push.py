"""Push notification files of the TREC Microblog and RTS tracks.

| file | content |
|---|---|
| qrels | ``topic Q0 tweet grade`` a line; grades -1, 0, 1, 2, 3, 4; the topic with or without ``MB`` |
| clusters | JSON, ``{"topics": {TOPIC: {"clusters": ...}}}`` with a list (2015) or an object (2016) of lists of tweets |
| epochs | ``tweet day epoch`` a line: when each pooled tweet was posted, as YYYYMMDD and in seconds |
| run | ``topic tweet epoch runtag`` a line: what was pushed when |

Fields are separated by white space, files are UTF-8, plain or gzip. The judged topics are those of the qrels, in their
order, and are printed with ``MB`` where their id is a number. Clusters of other topics are not looked at. A line that
stands twice is no fault, two lines that contradict each other are.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from metrics.arrays import Ints
from metrics.errors import FaultLog, InputError, join_names, raise_all
from metrics.push.streams import GAIN_OF_GRADE, Created, PushCollection, PushRun, every_day, parsed_day
from metrics.readers.columns import read_columns, whole_numbers
from metrics.readers.lines import run_name
from metrics.readers.trees import Node, items, member, read_json
from metrics.topic_ids import STREAM_TOPICS, TopicNames

T = TypeVar("T")
GAINS = {
    text: gain for grade, gain in GAIN_OF_GRADE.items() for text in (f"{grade}", f"{grade}.", f"{grade}.0")
}
JUDGED = frozenset({"0", "Q0", "q0"})
"""Values of the second field of qrels, where a run has the tweet."""
FIRST_EPOCH = 100_000_000
"""Smallest plausible epoch of a push; ids and grades are smaller."""

FORM = 'write {"topics": {TOPIC: {"clusters": [[TWEET, ...], ...]}}}'


def read_push_collection(
    *, qrels: str | Path, clusters: str | Path, epochs: str | Path, days: str | Sequence[str]
) -> PushCollection:
    """Read and check push judgments.

    Parameters
    ----------
    qrels, clusters, epochs : str or Path
        The files.
    days : str or sequence of str
        The days of the evaluation: ``"20150720:20150729"``, as `prefcal score push` takes them, or a list of every day in
        order. The first and the last alone are no list of every day.

    Returns
    -------
    PushCollection
        Judged topics with their days, gains and clusters.

    Raises
    ------
    InputError
        With every fault of the three files: one cannot be opened; a line has another number of fields or is not UTF-8; a grade, day or
        epoch cannot be read; two lines contradict each other; there are no judgments; the file is not JSON or has another form;
        a topic stands twice in it, or a tweet in two clusters of a topic.
    ValueError
        If the days are no days, or one does not follow the one before it.

    Examples
    --------
    >>> import prefcal
    >>> folder = "examples/push_streams/collection"
    >>> collection = prefcal.read_push_collection(
    ...     qrels=f"{folder}/qrels.txt",
    ...     clusters=f"{folder}/clusters.json",
    ...     epochs=f"{folder}/epochs.txt",
    ...     days="20121008:20121014",
    ... )
    >>> list(collection.days)[:3]
    ['PS1', 'PS2', 'PS3']
    """
    scored = every_day(days)
    logs = FaultLog(qrels), FaultLog(epochs), FaultLog(clusters)
    gains = _read_or_note(_read_gains, logs[0])
    created = _read_or_note(_read_created, logs[1])
    clusters_by_topic = _read_or_note(
        partial(_read_clusters, TopicNames(gains, STREAM_TOPICS, where=clusters)), logs[2]
    )
    raise_all(logs)
    return PushCollection(
        name=str(qrels),
        days=dict.fromkeys(gains, scored),
        gains=gains,
        clusters={topic: clusters_by_topic.get(topic, ()) for topic in gains},
        created=created,
    )


def read_push_run(path: str | Path, *, name: str | None = None) -> PushRun:
    """Read and check a push run; an empty file is a run that never pushed.

    Parameters
    ----------
    path : str or Path
        The file.
    name : str, optional
        Name of the run; by default that of the file, see `metrics.readers.lines.run_name`.

    Returns
    -------
    PushRun
        Every push, in file order.

    Raises
    ------
    InputError
        With every fault: a line has another number of fields or is not UTF-8; an epoch is no whole number.

    Examples
    --------
    >>> run = read_push_run("examples/push_streams/runs/late.txt")
    >>> run.name, len(run.tweets)
    ('late', 35)
    """
    log = FaultLog(path)
    columns = read_columns(("topic", "tweet", "epoch", "runtag"), log)
    topics, tweets, epochs, _ = columns.fields
    pushed = whole_numbers(epochs, "epoch", columns.lines, log)
    _check_pushes(tweets, pushed, log)
    raise_all([log])
    return PushRun(name=name or run_name(path), topics=tuple(topics), tweets=tuple(tweets), epochs=pushed)


def _check_pushes(tweets: Sequence[str], epochs: Ints, log: FaultLog) -> None:
    """Note fields of judgments in a run, and a third field that is never a time."""
    cure = "name a file with lines of topic, tweet, epoch, runtag"
    if tweets and JUDGED.issuperset(tweets):
        log.add(f"the second field is {tweets[0]} on every line: these are judgments", line=1, cure=cure)
    elif tweets and not log.faults and (epochs < FIRST_EPOCH).all():
        log.add(
            "the third field is never a time: as seconds since 1970 all are before March 1973",
            line=1,
            cure=cure,
        )


def _read_or_note(read: Callable[[FaultLog], dict[str, T]], log: FaultLog) -> dict[str, T]:
    """Read a file; an error that ends its reading becomes a noted fault.

    The other files are then read too.
    """
    try:
        return read(log)
    except InputError as error:
        log.faults += error.faults
        return {}


def _read_gains(log: FaultLog) -> dict[str, dict[str, float]]:
    """Read the gain of each tweet from the qrels, by topic."""
    columns = read_columns(("topic", "Q0", "tweet", "grade"), log)
    topics, seconds, tweets, grades = columns.fields
    if len(set(seconds) - JUDGED) > 1:
        problem = f"the second field is {join_names(dict.fromkeys(seconds), most=3)}, where judgments of tweets have Q0"
        log.add(problem, line=1, cure="name a file with lines of topic, Q0, tweet, grade")
        return {}
    gains: dict[str, dict[str, float]] = {_printed(topic): {} for topic in dict.fromkeys(topics)}
    of_written = {topic: gains[_printed(topic)] for topic in dict.fromkeys(topics)}
    for row, (topic, tweet, grade) in enumerate(zip(topics, tweets, grades, strict=True)):
        gain = GAINS.get(grade)
        if gain is None:
            problem, cure = f"there is no grade {grade!r}", "write -1, 0, 1, 2, 3 or 4"
            log.add(problem, line=int(columns.lines[row]), cure=cure)
        elif of_written[topic].setdefault(tweet, gain) != gain:
            problem = f"tweet {tweet} has another grade for topic {topic} above"
            log.add(problem, line=int(columns.lines[row]), cure="delete one of the two lines")
    if not topics and not log.faults:
        log.add("there are no judgments", line=1, cure="write topic, Q0, tweet, grade on each line")
    return gains


def _printed(topic: str) -> str:
    """Return a topic's id as scores print it: a number gets ``MB``."""
    return f"MB{topic}" if topic.isascii() and topic.isdigit() else topic


def _read_created(log: FaultLog) -> dict[str, Created]:
    """Read the day and time at which each tweet was posted."""
    columns = read_columns(("tweet", "day", "epoch"), log)
    tweets, days, epochs = columns.fields
    no_days = {day: problem for day in dict.fromkeys(days) if (problem := _day_problem(day))}
    seconds = whole_numbers(epochs, "epoch", columns.lines, log).tolist()
    created: dict[str, Created] = {}
    for row, (tweet, *when) in enumerate(zip(tweets, days, seconds, strict=True)):
        if when[0] in no_days:
            log.add(no_days[when[0]], line=int(columns.lines[row]), cure="write the day as YYYYMMDD")
        elif created.setdefault(tweet, Created(*when)) != tuple(when):
            problem = f"tweet {tweet} was posted at another time above"
            log.add(problem, line=int(columns.lines[row]), cure="delete one of the two lines")
    return created


def _day_problem(day: str) -> str | None:
    """Return the fault of a day, or None."""
    try:
        parsed_day(day)
    except ValueError as error:
        return str(error)
    return None


def _read_clusters(names: TopicNames, log: FaultLog) -> dict[str, tuple[tuple[str, ...], ...]]:
    """Read the clusters of the judged topics."""
    clusters: dict[str, tuple[tuple[str, ...], ...]] = {}
    for written, content in _topics(read_json(log), log).items():
        topic = names.find(written)
        if topic in clusters:
            problem = f"topic {written!r} is {topic}, which is above already"
            log.add(problem, line=content.line, cure="join the two")
        elif topic is not None:
            clusters[topic] = tuple(_clusters(content, written, log))
    return clusters


def _topics(document: Node, log: FaultLog) -> dict[str, Node]:
    """Return the content of each topic."""
    topics = member(document, "topics", log, cure=FORM)
    if topics is None:
        return {}
    if isinstance(topics.value, dict):
        return topics.value
    log.add("'topics' is no object", line=topics.line, cure=FORM)
    return {}


def _clusters(content: Node, topic: str, log: FaultLog) -> Iterator[tuple[str, ...]]:
    """Yield the clusters of one topic, without repeated tweets, which are noted."""
    number_of: dict[str, int] = {}
    clusters = _items(
        member(content, "clusters", log, cure=FORM), f"the clusters of topic {topic!r} are", log
    )
    for number, cluster in enumerate(clusters):
        tweets: dict[str, None] = {}
        for node in _items(cluster, f"a cluster of topic {topic!r} is", log):
            tweet = node.value
            if not isinstance(tweet, str):
                log.add("a tweet's id is no text", line=node.line, cure="write it in quotes")
            elif number_of.setdefault(tweet, number) == number:
                tweets[tweet] = None
            else:
                problem = f"tweet {tweet} is in another cluster of topic {topic!r} too"
                log.add(problem, line=node.line, cure="leave it in one")
        yield tuple(tweets)


def _items(node: Node | None, says: str, log: FaultLog) -> list[Node]:
    """Return the items of a list, or the values of an object, whatever its keys."""
    if node is not None and isinstance(node.value, dict):
        return list(node.value.values())
    return items(node, says, log, cure=FORM)
