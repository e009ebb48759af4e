"""Ranked lists and their judgments as values: subtopics, grades, time windows.

The values do not depend on the format of the files.

`metrics.readers.ranked` reads them, `metrics.ranked.score` scores them. Ids and names of windows are text and stay as
written.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from metrics.errors import pluralise
from metrics.results import Topics
from metrics.unused_input import TOPIC, UnusedInput, count_unused_names, no_topic_in_both, topics_without

CalendarUnit: TypeAlias = Literal["year", "month", "week", "day"]
SAY_WHICH = (
    "say which: --second-column subtopic or --second-column iteration; or begin the file with a line "
    "`topic subtopic docid grade` or `topic iteration docid grade`"
)
"""Hint where it is unclear whether the second field of qrels is a subtopic."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedCollection:
    """Topics with subtopics, judged documents, and the time windows of documents.

    Attributes
    ----------
    name : str
        How messages call it.
    grades : mapping of str to mapping of str to mapping of str to float
        Judged topic -> subtopic -> document -> grade; a document is relevant with a grade above 0, and has 0 where it is
        missing. Whole grades are int; measures that take no others refuse them by name. A topic has at least one subtopic, here or in ``probability``. The topics stand in the order of the
        judgments.
    windows : mapping of str to str
        Document -> its window, for every relevant document at least; one that is missing lies in no window.
    probability : mapping of str to mapping of str to float
        Topic -> subtopic -> P(c|q), for topics where it is not uniform; as given, never rescaled. A subtopic that is
        missing there has 0, one that no document was judged for counts all the same.
    strange_intents : tuple of str
        Topics, as written, that have a probability and that nobody judged.
    calendar_unit : {'year', 'month', 'week', 'day'}, optional
        What timestamps were cut into windows by; None where windows were named.
    is_timed : bool
        Whether anything is known of time; else there are no windows, and only measures without them are defined.
    undecided : str
        Why it cannot be told whether the subtopics are some, or iterations of judging; empty where they are subtopics. Measures
        that take subtopics refuse it.

    Raises
    ------
    ValueError
        If a topic has no subtopic, a relevant document no window, or a probability is negative or not finite.

    Examples
    --------
    >>> import prefcal
    >>> folder = "examples/ranked_lists/collection"
    >>> collection = prefcal.read_ranked_collection(
    ...     qrels=f"{folder}/qrels.txt",
    ...     windows=f"{folder}/windows.txt",
    ...     intents=f"{folder}/intents.txt",
    ... )
    >>> collection
    RankedCollection('examples/ranked_lists/collection/qrels.txt', topics=4, windows=66)
    """

    name: str
    grades: Mapping[str, Mapping[str, Mapping[str, float]]]
    windows: Mapping[str, str]
    probability: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    strange_intents: tuple[str, ...] = ()
    calendar_unit: CalendarUnit | None = None
    is_timed: bool = True
    undecided: str = ""

    def __repr__(self) -> str:
        """``RankedCollection('qrels.txt', topics=4, windows=60)``."""
        return f"RankedCollection({self.name!r}, topics={len(self.grades)}, windows={len(set(self.windows.values()))})"

    def __post_init__(self) -> None:
        """Check the assumptions of the measures."""
        for topic in self.grades:
            if not self.subtopics(topic):
                raise ValueError(f"topic {topic} has no subtopic")
            for document in self.relevant(topic):
                if self.is_timed and document not in self.windows:
                    raise ValueError(f"document {document}, relevant to topic {topic}, has no window")
            if not all(0 <= share < math.inf for share in self.probability.get(topic, {}).values()):
                raise ValueError(f"a probability of topic {topic} is negative or not finite")

    def subtopics(self, topic: str) -> tuple[str, ...]:
        """Return a topic's judged subtopics, then those that only have a probability."""
        return tuple(dict.fromkeys([*self.grades[topic], *self.probability.get(topic, ())]))

    def relevant(self, topic: str) -> tuple[str, ...]:
        """Return the documents relevant to any subtopic of a topic, each once."""
        judged = self.grades[topic].values()
        return tuple(dict.fromkeys(document for of in judged for document, grade in of.items() if grade > 0))


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedRun:
    """Documents that one system returned for each topic, the best first.

    Attributes
    ----------
    name : str
        What stands in the column ``run`` of scores.
    rankings : mapping of str to tuple of str
        Topic, as the judgments name it, -> documents, each once; a topic that is missing has an empty list.
    unjudged : mapping of str to int
        Topic, as written, that nobody judged -> how many documents were left out with it.
    single_ties : int
        How many neighbours in these lists have scores that differ, and are equal in single precision: there the larger
        document comes first, as with trec_eval.

    Raises
    ------
    ValueError
        If a document stands twice in a list.

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
    >>> run
    RankedRun('newest', lists=4)
    """

    name: str
    rankings: Mapping[str, tuple[str, ...]]
    unjudged: Mapping[str, int] = field(default_factory=dict)
    single_ties: int = 0

    def __repr__(self) -> str:
        """``RankedRun('newest', lists=4)``."""
        return f"RankedRun({self.name!r}, lists={len(self.rankings)})"

    def __post_init__(self) -> None:
        """Check that no list has a document twice."""
        for topic, documents in self.rankings.items():
            if len(set(documents)) < len(documents):
                raise ValueError(f"a document stands twice in the list of topic {topic}")


def single_ties_note(runs: Iterable[RankedRun]) -> str | None:
    """Return a note on scores that are equal in single precision alone, or None.

    It counts neighbours of all runs together.
    """
    tied = [run for run in runs if run.single_ties]
    if not tied:
        return None
    neighbours = pluralise(sum(run.single_ties for run in tied), "pair")
    return (
        f"{neighbours} of neighbours in {pluralise(len(tied), 'run')} differ in score, but not in single precision, in which "
        "trec_eval sorts: there the larger docid comes first"
    )


COLUMNS = "a line of a run is: topic Q0 docid rank score tag"


def ranked_left_out(
    collection: RankedCollection, run: RankedRun, *, depth: int | None = None, topics: Topics = "judged"
) -> list[UnusedInput]:
    """Count a run's entries that no score uses.

    Parameters
    ----------
    collection : RankedCollection
        Judgments.
    run : RankedRun
        What was returned.
    depth : int, optional
        Look at the first so many documents of each list; by default at all.
    topics : {'judged', 'run'}
        What the mean of the scores is over.

    Returns
    -------
    list of UnusedInput
        The documents of topics that are not judged; of the others those that were judged for no subtopic of their topic,
        and those without a window; the judged topics without a list. What was not found is not in the list.
    """
    judged = {topic: set[str]().union(*of.values()) for topic, of in collection.grades.items()}
    lengths = {**run.unjudged, **{topic: len(of) for topic, of in run.rankings.items()}}
    shared = lengths.keys() & judged.keys()
    cause = f"the qrels may be of another year, or the columns swapped ({COLUMNS})"
    strange = [topic for topic, length in lengths.items() if topic not in judged for _ in range(length)]
    listed = [(topic, document) for topic in judged for document in run.rankings.get(topic, ())[:depth]]
    within = "" if depth is None else f" down to rank {depth}"
    noun = (f"document{within}", f"documents{within}")
    return [
        *count_unused_names(
            strange,
            sum(lengths.values()),
            noun=("document", "documents"),
            says="are listed for topics that are not judged",
            cause=cause if shared else no_topic_in_both(lengths, judged, cause),
            then="are left out",
        ),
        *count_unused_names(
            [document for topic, document in listed if document not in judged[topic]],
            len(listed),
            noun=noun,
            says="are not judged for the topic",
            cause=f"the qrels may be of another collection, or the columns swapped ({COLUMNS})",
        ),
        *count_unused_names(
            [
                document
                for _, document in listed
                if collection.is_timed and document not in collection.windows
            ],
            len(listed),
            noun=noun,
            says="have no window",
            cause="the windows may be of another collection",
        ),
        *topics_without(
            collection.grades,
            run.rankings if shared or not lengths else [None],
            "list",
            topics=topics,
            cause="the run may be empty or not whole, or the qrels of another year",
        ),
    ]


def ranked_judgments_left_out(collection: RankedCollection) -> list[UnusedInput]:
    """Count the judgments that no score uses.

    Returns
    -------
    list of UnusedInput
        The topics without a relevant document; where P(c|q) is given for some, the topics without it, and those with it
        that are not judged.
    """
    given = [*collection.probability, *collection.strange_intents]
    bare = [topic for topic in collection.grades if not collection.relevant(topic)]
    uniform = [topic for topic in collection.grades if topic not in collection.probability]
    return [
        *count_unused_names(
            bare,
            len(collection.grades),
            noun=TOPIC,
            says="have no relevant document",
            cause="the columns may be swapped: a line of qrels is: topic subtopic docid grade",
            then="score 0",
        ),
        *count_unused_names(
            uniform if given else [],
            len(collection.grades),
            noun=TOPIC,
            says="have no P(c|q) in the file of intents",
            cause="",
            then="get equal ones",
        ),
        *count_unused_names(
            collection.strange_intents,
            len(given),
            noun=("topic of the file of intents", "topics of the file of intents"),
            says="are not judged",
            cause="the intents may be of another year",
            then="are left out",
        ),
    ]
