"""Generated answers and what assessors, or a model, said of them, as values.

Judgments are made of one answer: whether it has a nugget, and whether a source supports a sentence. So they name a run and a topic.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from metrics.errors import input_fault, join_names
from metrics.results import Topics
from metrics.unused_input import UnusedInput, count_unused_names, no_topic_in_both, topics_without

Assignment: TypeAlias = Literal["support", "partial_support", "not_support", "failed"]
Importance: TypeAlias = Literal["vital", "okay", "failed"]
JudgmentKind: TypeAlias = Literal["nuggets", "support"]
JUDGMENT_KINDS: tuple[JudgmentKind, ...] = ("nuggets", "support")
SupportGrade: TypeAlias = Literal[-1, 0, 1, 2]
"""Support of a sentence by a source: none, partial, full; -1 is not judged."""

CAUSE = "the judgments and the answers may be of different topics"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerSentence:
    """Sentence of an answer, without marks of sources.

    Attributes
    ----------
    text : str
        Its words.
    is_cited : bool or None
        Whether it cites a source; None where sources are named for the whole answer alone.

    Examples
    --------
    >>> AnswerSentence(text="It ended in 1980.", is_cited=True).is_cited
    True
    """

    text: str
    is_cited: bool | None = False


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedNugget:
    """Importance of a nugget, and whether an answer has it.

    Attributes
    ----------
    importance : {'vital', 'okay', 'failed'}
        Whether a good answer must have it.
    assignment : {'support', 'partial_support', 'not_support', 'failed'}
        Whether the answer has it. ``failed`` is what the assigner writes where a model gave nothing that it could read.

    Examples
    --------
    >>> JudgedNugget(importance="vital", assignment="support").assignment
    'support'
    """

    importance: Importance
    assignment: Assignment


SupportedSentence: TypeAlias = tuple[SupportGrade, ...]
"""Support of a sentence by each of its citations, in their order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRun:
    """Answers of one system, by topic.

    Attributes
    ----------
    name : str
        As score tables print it.
    answers : mapping of str to sequence of AnswerSentence
        Sentences of each answer, by topic.
    run_id : str
        What the file calls the run; empty where it does not.

    Examples
    --------
    >>> AnswerRun(name="r1", answers={"1": ()}).run_id
    ''
    """

    name: str
    answers: Mapping[str, Sequence[AnswerSentence]]
    run_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerCollection:
    """Topics, and judgments of answers to them by run.

    Attributes
    ----------
    name : str
        Name in messages: the file of topics.
    topics : sequence of str
        Topics in order.
    nuggets : mapping of str to mapping of str to sequence of JudgedNugget, optional
        Nuggets by run and topic. Runs are called by the ids of their answers or by their names; an empty name is that of the only run.
    support : mapping of str to mapping of str to sequence of SupportedSentence, optional
        Sentences by run and topic, likewise.
    files : mapping of str to str
        Names of the files of nuggets and support in messages.

    Examples
    --------
    >>> AnswerCollection(name="example", topics=["1"]).judged_topics("nuggets")
    []
    """

    name: str
    topics: Sequence[str]
    nuggets: Mapping[str, Mapping[str, Sequence[JudgedNugget]]] | None = None
    support: Mapping[str, Mapping[str, Sequence[SupportedSentence]]] | None = None
    files: Mapping[str, str] = field(default_factory=dict)

    def file(self, kind: JudgmentKind) -> str:
        """Return the name of the file of one kind of judgments."""
        return self.files.get(kind, kind)

    def judgments(self, kind: JudgmentKind) -> Mapping[str, Mapping[str, Sequence[object]]]:
        """Return the judgments of one kind, {} where there are none."""
        return (self.nuggets if kind == "nuggets" else self.support) or {}

    def judged_topics(self, kind: JudgmentKind) -> list[str]:
        """Return the topics that have judgments of one kind, of whichever run."""
        judged = {topic for of_run in self.judgments(kind).values() for topic in of_run}
        return [topic for topic in self.topics if topic in judged]

    def run_key(self, kind: JudgmentKind, run: AnswerRun) -> str | None:
        """Return how judgments of one kind call a run, or None where they lack it."""
        judgments = self.judgments(kind)
        names = (run.run_id, run.name, *([""] if len(judgments) == 1 else ()))
        return next((name for name in names if name in judgments), None)

    def check(self, kind: JudgmentKind, runs: Sequence[AnswerRun]) -> None:
        """Check that every answer of a judged topic was judged, of every run.

        Raises
        ------
        InputError
            If a run has no judgments, if judgments without a run's name stand beside several runs, or if an answer to a judged topic has
            none: its score would be unknown, and is not 0.
        """
        path = self.file(kind)
        if "" in self.judgments(kind) and len(runs) > 1:
            raise input_fault(
                "judgments without a run_id, and there are several runs",
                path=path,
                cure='write "run_id": RUN in each line, or score one run at a time',
            )
        keys = {run.name: self.run_key(kind, run) for run in runs}
        without = [name for name, key in keys.items() if key is None]
        if without:
            known = join_names(sorted(self.judgments(kind))) or "none"
            raise input_fault(
                f"no judgments of {join_names(without)}; those there are of {known}",
                path=path,
                cure="call runs alike in the judgments and in the answers (run_id, or the file's name), or judge these answers too",
            )
        for key in {key for key in keys.values() if key is not None}:
            same = [name for name in keys if keys[name] == key]
            if len(same) > 1:
                raise input_fault(
                    f"{join_names(same)} are all called {key} by their run_id",
                    path=path,
                    cure="give each run its own run_id, in the answers and in the judgments",
                )
        topics = self.judged_topics(kind)
        for run in runs:
            judged = self.judgments(kind)[keys[run.name] or ""]
            missing = [topic for topic in topics if topic in run.answers and topic not in judged]
            if missing:
                raise input_fault(
                    f"no judgments of the answers of {run.name} to {len(missing)} of {len(topics)} judged topics: {join_names(missing)}",
                    path=path,
                    cure="judge these answers too, or leave the topics out of --topics-file",
                )


def answers_left_out(
    collection: AnswerCollection, run: AnswerRun, *, topics: Topics = "judged"
) -> list[UnusedInput]:
    """Count the answers of a run to unknown topics, and topics without an answer."""
    known = set(collection.topics)
    unknown = [topic for topic in run.answers if topic not in known]
    cause = "the run may be one of another year or collection"
    if unknown and len(unknown) == len(run.answers):
        cause = no_topic_in_both(run.answers, collection.topics, cause)
    return [
        *count_unused_names(
            unknown,
            len(run.answers),
            noun=("answer", "answers"),
            says="are to topics that are not among the topics",
            cause=cause,
            then="are left out",
        ),
        *topics_without(collection.topics, run.answers, "answer", topics=topics),
    ]


def answer_judgments_left_out(collection: AnswerCollection) -> list[UnusedInput]:
    """Count what the judgments of a collection have that enters no score."""
    return [part for kind in JUDGMENT_KINDS for part in _left_out(collection, kind)]


def _left_out(collection: AnswerCollection, kind: JudgmentKind) -> Iterator[UnusedInput]:
    known = set(collection.topics)
    judgments = collection.judgments(kind)
    if not judgments:
        return
    judged = dict.fromkeys(topic for of_run in judgments.values() for topic in of_run)
    yield from count_unused_names(
        [topic for topic in judged if topic not in known],
        len(judged),
        noun=("topic", "topics"),
        says=f"are judged in {collection.file(kind)} and not among the topics",
        cause=CAUSE,
        then="are left out",
    )
    if kind == "nuggets":
        values = [value for of_run in (collection.nuggets or {}).values() for value in of_run.values()]
        nuggets = [nugget for of_answer in values for nugget in of_answer]
        failed = [nugget for nugget in nuggets if "failed" in (nugget.importance, nugget.assignment)]
        if failed:
            yield UnusedInput(
                count=len(failed),
                of=len(nuggets),
                noun=("nugget", "nuggets"),
                says=f"have no judgment in {collection.file(kind)} (failed)",
                cause="the assigner may have had no answer of its model",
                then="count as not supported, or as not vital",
            )
