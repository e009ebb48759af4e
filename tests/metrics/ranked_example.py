"""The worked example of docs/measures_ranked.md, and scoring one list by one measure."""

from metrics.ranked.lists import RankedCollection
from metrics.ranked.measures import IAERR, IANDCG, IAP, TIAAP, TIAERR, TIANDCG, TIAP
from metrics.ranked.recall import SBR, TIASBR, TSBR
from metrics.ranked.score import ranked_scores
from tests.metrics.ranked_strategies import run_of

DEFAULTS = [one() for one in (TIAP, TIANDCG, TIAERR, TIAAP, TSBR, TIASBR, IAP, IANDCG, IAERR, SBR)]

LISTED = ("d3", "n", "d1")
"""d3 is relevant to both subtopics and from 1991, n to nothing, d1 to subtopic a and from 1990; d2 is missing."""


def example():
    """Two subtopics over two years: P(1990|q) = 2/3, P(1991|q) = 1/3."""
    return RankedCollection(
        name="example",
        grades={"q": {"a": {"d1": 1, "d3": 3, "n": 0}, "b": {"d2": 1, "d3": 1}}},
        windows={"d1": "1990", "d2": "1990", "d3": "1991", "n": "1990"},
    )


def value(measure, collection=None, documents=LISTED, **options):
    """The score of topic q."""
    scores = ranked_scores(collection or example(), [run_of(*documents)], {"one": measure}, **options)
    return next(score.value for score in scores if score.topic == "q")
