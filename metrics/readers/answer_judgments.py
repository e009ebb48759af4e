"""Judgments of generated answers: which nuggets they have, and what their sources support.

| file | content |
|---|---|
| nuggets | JSON lines of `nuggetizer assign`: ``{"qid", "run_id", "nuggets": [{"text", "importance", "assignment"}, ...]}`` |
| support | JSON lines of the TREC RAG track: ``{"topic_id", "run_id", "sentences": [{"citations": [{"support": "2"}, ...]}, ...]}`` |

A line is about one answer. Topics and runs may be called as in files of answers: ``topic_id``, ``narrative_id``, ``qid`` and so on. Support
is 2 or FS (full), 1 or PS (partial), 0 or NS (none), -1 (not judged), as a number or as text.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar, cast, get_args

from metrics.answers.judged import (
    AnswerCollection,
    Assignment,
    Importance,
    JudgedNugget,
    SupportedSentence,
    SupportGrade,
)
from metrics.errors import Fault, FaultLog, InputError, join_names
from metrics.readers.answers import RUN_IDS, TRACK_TOPICS
from metrics.readers.texts import is_id, json_objects, read_ranked_topics

V = TypeVar("V")
GRADES: Mapping[str, SupportGrade] = {
    "2": 2,
    "1": 1,
    "0": 0,
    "-1": -1,
    "FS": 2,
    "PS": 1,
    "NS": 0,
}
NUGGETS_FORM = 'write {"qid": TOPIC, "run_id": RUN, "nuggets": [{"text", "importance", "assignment"}]} on one line, as nuggetizer assign does'
SUPPORT_FORM = (
    'write {"topic_id": TOPIC, "run_id": RUN, "sentences": [{"citations": [{"support": "2"}]}]} on one line'
)


def read_answer_collection(
    topics: str | Path, *, nuggets: str | Path | None = None, support: str | Path | None = None
) -> AnswerCollection:
    """Read the topics that runs answer, and the judgments of these answers.

    Parameters
    ----------
    topics : str or Path
        Questions, as `prefcal study new` takes them: lines of topic and text, or JSON lines.
    nuggets, support : str or Path, optional
        Judgments as this module says.

    Returns
    -------
    AnswerCollection
        Topics in the order of the file, and judgments by run.

    Raises
    ------
    InputError
        With every kind of fault of all files.

    Examples
    --------
    >>> read_answer_collection("examples/answers/collection/topics.tsv").topics[:2]
    ['leaves', 'smallpox']
    """
    faults: list[Fault] = []

    def read(reader: Callable[[str | Path], V], path: str | Path | None) -> V | None:
        try:
            return None if path is None else reader(path)
        except InputError as error:
            faults.extend(error.faults)
            return None

    asked = read(read_ranked_topics, topics)
    judged_nuggets, judged_support = read(read_nuggets, nuggets), read(read_support, support)
    if faults:
        raise InputError(faults)
    files = {"nuggets": nuggets, "support": support}
    return AnswerCollection(
        name=str(topics),
        topics=list(asked or ()),
        nuggets=judged_nuggets,
        support=judged_support,
        files={kind: str(path) for kind, path in files.items() if path is not None},
    )


def read_nuggets(path: str | Path) -> dict[str, dict[str, tuple[JudgedNugget, ...]]]:
    """Read the nuggets of each answer, by run and topic.

    Raises
    ------
    InputError
        With every kind of fault: a line that is not JSON or of another form, an answer judged twice, an importance or assignment that is not
        known.
    """
    return _by_run(path, "nuggets", _nugget, NUGGETS_FORM)


def read_support(path: str | Path) -> dict[str, dict[str, tuple[SupportedSentence, ...]]]:
    """Read the support of each sentence of each answer, by run and topic.

    Raises
    ------
    InputError
        With every kind of fault: a line that is not JSON or of another form, an answer judged twice, a support that is not known.
    """
    return _by_run(path, "sentences", _sentence, SUPPORT_FORM)


def judgment_form(plain: Any) -> str | None:
    """Return which judgments of answers an object has, ``nuggets`` or ``support``.

    None where it has none.
    """
    if not isinstance(plain, dict) or _named(plain, TRACK_TOPICS) is None:
        return None
    nuggets, sentences = plain.get("nuggets"), plain.get("sentences")
    if isinstance(nuggets, list) and any(
        isinstance(nugget, dict) and "assignment" in nugget for nugget in nuggets
    ):
        return "nuggets"
    if isinstance(sentences, list) and all(isinstance(sentence, dict) for sentence in sentences):
        given = [sentence.get("citations") for sentence in sentences]
        citations = [citation for cited in given if isinstance(cited, list) for citation in cited]
        if any(isinstance(citation, dict) and "support" in citation for citation in citations):
            return "support"
    return None


def judged_topic(plain: Mapping[str, Any]) -> str:
    """Return the topic of an object with judgments; an empty text where there is none."""
    return _named(plain, TRACK_TOPICS) or ""


def _by_run(
    path: str | Path, member: str, read: Callable[[Any, int, FaultLog], V | None], form: str
) -> dict[str, dict[str, tuple[V, ...]]]:
    log = FaultLog(path)
    judged: dict[str, dict[str, tuple[V, ...]]] = {}
    for line, plain in json_objects(log, form, kind="JSON"):
        parts = plain.get(member) if isinstance(plain, dict) else None
        topic = _named(plain, TRACK_TOPICS) if isinstance(plain, dict) else None
        if topic is None or not isinstance(parts, list):
            log.add(
                f"no judgments of an answer: no topic, or no list {member}", line=line, cure=form, kind="form"
            )
            continue
        of_run = judged.setdefault(_named(plain, RUN_IDS) or "", {})
        if topic in of_run:
            log.add(
                f"the answer to topic {topic} is judged twice",
                line=line,
                cure="delete one of the two lines, or say in run_id whose answer it is",
                kind="twice",
            )
        values = [read(part, line, log) for part in parts]
        of_run[topic] = tuple(value for value in values if value is not None)
    if not judged and not log.faults:
        log.add("there are no judgments", line=1, cure=form)
    if "" in judged and len(judged) > 1:
        log.add("some answers are of no run", line=1, cure='write "run_id": RUN in each line')
    log.raise_if_any()
    return judged


def _named(plain: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    """Return the first id among these members of an object or of its metadata."""
    metadata = plain.get("metadata")
    holders = (plain, metadata) if isinstance(metadata, dict) else (plain,)
    return next((str(of[name]).strip() for of in holders for name in names if is_id(of.get(name))), None)


def _nugget(plain: Any, line: int, log: FaultLog) -> JudgedNugget | None:
    importance, assignment = (
        plain.get(name) if isinstance(plain, dict) else None for name in ("importance", "assignment")
    )
    for name, value, known in (
        ("importance", importance, get_args(Importance)),
        ("assignment", assignment, get_args(Assignment)),
    ):
        if value not in known:
            cure = f"known are {join_names(known)}"
            log.add(f"the {name} of a nugget is {value!r}", line=line, cure=cure, kind=name)
            return None
    return JudgedNugget(importance=cast("Importance", importance), assignment=cast("Assignment", assignment))


def _sentence(plain: Any, line: int, log: FaultLog) -> SupportedSentence | None:
    cited = (plain.get("citations") or []) if isinstance(plain, dict) else None
    if not isinstance(cited, list) or not all(isinstance(citation, dict) for citation in cited):
        log.add("a sentence without a list of citations", line=line, cure=SUPPORT_FORM, kind="sentence")
        return None
    written = [citation.get("support") for citation in cited]
    grades = [GRADES.get(str(value).strip()) for value in written]
    if None in grades:
        problem = f"the support of a citation is {written[grades.index(None)]!r}"
        cure = "write 2 (full), 1 (partial), 0 (none) or -1 (not judged)"
        log.add(problem, line=line, cure=cure, kind="support")
        return None
    return tuple(grade for grade in grades if grade is not None)
