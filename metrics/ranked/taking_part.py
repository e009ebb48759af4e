"""What of ranked lists and their judgments takes no part in the scores of `metrics.ranked.score`."""

from metrics.ranked.lists import RankedCollection, RankedRun
from metrics.taking_part import TOPIC, LeftOut, left_out_names, topics_without

COLUMNS = "a line of a run is: topic Q0 docid rank score tag"


def ranked_left_out(
    collection: RankedCollection, run: RankedRun, *, depth: int | None = None
) -> list[LeftOut]:
    """Count what of a run takes no part.

    Parameters
    ----------
    collection : RankedCollection
        Judgments.
    run : RankedRun
        What was returned.
    depth : int, optional
        Look at the first so many documents of each list; by default at all.

    Returns
    -------
    list of LeftOut
        The documents of topics that are not judged; of the others those that were judged for no subtopic of their topic,
        and those without a window; the judged topics without a list. What was not found is not in the list.
    """
    judged = {topic: set().union(*of.values()) for topic, of in collection.grades.items()}
    lengths = {**run.unjudged, **{topic: len(of) for topic, of in run.rankings.items()}}
    strange = [topic for topic, length in lengths.items() if topic not in judged for _ in range(length)]
    listed = [(topic, one) for topic in judged for one in run.rankings.get(topic, ())[:depth]]
    within = "" if depth is None else f" down to rank {depth}"
    noun = (f"document{within}", f"documents{within}")
    return [
        *left_out_names(
            strange,
            sum(lengths.values()),
            noun=("document", "documents"),
            says="are listed for topics that are not judged",
            cause=f"the qrels may be of another year, or the columns swapped ({COLUMNS})",
            then="are left out",
        ),
        *left_out_names(
            [one for topic, one in listed if one not in judged[topic]],
            len(listed),
            noun=noun,
            says="are judged for no subtopic of the topic",
            cause=f"the qrels may be of another collection, or the columns swapped ({COLUMNS})",
        ),
        *left_out_names(
            [one for _, one in listed if one not in collection.windows],
            len(listed),
            noun=noun,
            says="have no window",
            cause="the windows may be of another collection",
        ),
        *topics_without(
            collection.grades,
            run.rankings,
            "list",
            "the run may be empty or not whole, or the qrels of another year",
        ),
    ]


def ranked_judgments_left_out(collection: RankedCollection) -> list[LeftOut]:
    """Count what of the judgments takes no part.

    Returns
    -------
    list of LeftOut
        The topics without a relevant document; where P(c|q) is given for some, the topics without it, and those with it
        that are not judged.
    """
    given = [*collection.probability, *collection.strange_intents]
    bare = [topic for topic in collection.grades if not collection.relevant(topic)]
    uniform = [topic for topic in collection.grades if topic not in collection.probability]
    return [
        *left_out_names(
            bare,
            len(collection.grades),
            noun=TOPIC,
            says="have no relevant document",
            cause="the columns may be swapped: a line of qrels is: topic subtopic docid grade",
            then="score 0",
        ),
        *left_out_names(
            uniform if given else [],
            len(collection.grades),
            noun=TOPIC,
            says="have no P(c|q) in the file of intents",
            cause="",
            then="get equal ones",
        ),
        *left_out_names(
            collection.strange_intents,
            len(given),
            noun=("topic of the file of intents", "topics of the file of intents"),
            says="are not judged",
            cause="the intents may be of another year",
            then="are left out",
        ),
    ]
