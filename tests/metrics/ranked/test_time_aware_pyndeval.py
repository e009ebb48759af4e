"""The plain measures against ndeval, the program of the TREC diversity task, where the definitions coincide.

| ours | ndeval | what differs |
|---|---|---|
| IA-P | P-IA | ndeval leaves out subtopics without relevant documents |
| SBR | strec | the same |
| IA-ERR, err=literal | ERR-IA at alpha = 1 | nothing else |
| IA-ERR, err=half | ERR-IA at alpha = 0.5 | ndeval divides by the value of an endless list: sum_r 0.5^(r-1) / r, and has no 0.5 |
| IA-nDCG, one subtopic | alpha-nDCG at alpha = 0 | several subtopics share one ideal list in alpha-nDCG, each has its own in IA-nDCG |

Lists are compared as lists: of equal scores in a file ndeval takes the smaller document first, we, like trec_eval, the
larger.
"""

import pyndeval
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.ranked.lists import RankedCollection
from metrics.ranked.measures import IAERR, IANDCG, IAP, TIAERR, TIANDCG, TIAP
from metrics.ranked.recall import SBR
from metrics.ranked.score import ranked_scores
from tests.metrics.ranked_strategies import DOCUMENTS, lists, run_of

DEPTHS = (5, 10, 20)

judged = st.dictionaries(st.sampled_from(DOCUMENTS), st.just(1), min_size=1)
grades = st.dictionaries(st.sampled_from("abcd"), judged, min_size=1)


def ndeval(grades, documents, *, alpha):
    """What ndeval says about one list."""
    qrels = [
        pyndeval.SubtopicQrel("q", str(number), document, grade)
        for number, of in enumerate(grades.values(), start=1)
        for document, grade in of.items()
    ]
    run = [pyndeval.ScoredDoc("q", one, float(-rank)) for rank, one in enumerate(documents)]
    return pyndeval.RelevanceEvaluator(qrels, alpha=alpha).evaluate(run)["q"]


def ours(grades, documents, measures):
    """What we say, everything being from one time."""
    collection = RankedCollection(name="", grades={"q": grades}, windows=dict.fromkeys(DOCUMENTS, "always"))
    scores = ranked_scores(collection, [run_of(*documents)], measures)
    return {score.metric: score.value for score in scores if score.topic == "q"}


def same(found, wanted):
    """ndeval prints nothing we could lose digits by."""
    assert found == pytest.approx(wanted, abs=1e-9)


@given(grades, lists.filter(bool), st.sampled_from(DEPTHS))
def test_precision_and_subtopic_recall_are_those_of_ndeval(grades, documents, k):
    """And so are the time-aware ones with a single window."""
    wanted = ndeval(grades, documents, alpha=0.5)
    found = ours(grades, documents, [IAP(k=k), TIAP(k=k), SBR(k=k)])
    same(found[f"IA-P@{k}"], wanted[f"P-IA@{k}"])
    same(found[f"TIA-P@{k}"], wanted[f"P-IA@{k}"])
    same(found[f"SBR@{k}"], wanted[f"strec@{k}"])


@given(grades, lists.filter(bool), st.sampled_from(DEPTHS))
def test_literal_err_is_ndevals_at_alpha_1(grades, documents, k):
    """A reader who has found one document on a subtopic stops."""
    found = ours(grades, documents, [IAERR(k=k), TIAERR(k=k)])
    wanted = ndeval(grades, documents, alpha=1.0)[f"ERR-IA@{k}"]
    same(found[f"IA-ERR@{k}"], wanted)
    same(found[f"TIA-ERR@{k}"], wanted)


@given(grades, lists.filter(bool), st.sampled_from(DEPTHS))
def test_half_err_is_ndevals_at_alpha_one_half_but_for_the_scale(grades, documents, k):
    """A reader stops at every second relevant document."""
    scale = 0.5 * sum(0.5 ** (rank - 1) / rank for rank in range(1, k + 1))
    found = ours(grades, documents, [IAERR(k=k, err="half"), TIAERR(k=k, err="half")])
    wanted = scale * ndeval(grades, documents, alpha=0.5)[f"ERR-IA@{k}"]
    same(found[f"IA-ERR(err=half)@{k}"], wanted)
    same(found[f"TIA-ERR(err=half)@{k}"], wanted)


@given(judged, lists.filter(bool), st.sampled_from(DEPTHS))
def test_ndcg_for_a_single_subtopic_is_ndevals_at_alpha_0(judged, documents, k):
    """One interest, one ideal list."""
    found = ours({"a": judged}, documents, [IANDCG(k=k), TIANDCG(k=k)])
    wanted = ndeval({"a": judged}, documents, alpha=0.0)[f"alpha-nDCG@{k}"]
    same(found[f"IA-nDCG@{k}"], wanted)
    same(found[f"TIA-nDCG@{k}"], wanted)


def test_ndcg_for_several_subtopics_is_not_ndevals():
    """At alpha = 0 it counts, for all subtopics together, how many each document is relevant to."""
    grades = {"a": {"d1": 1, "d2": 1}, "b": {"d1": 1}}
    found = ours(grades, ("d2", "d1"), [IANDCG(k=5)])["IA-nDCG@5"]
    assert found == pytest.approx((1 + 0.6309297535714575) / 2)
    assert ndeval(grades, ("d2", "d1"), alpha=0.0)["alpha-nDCG@5"] == pytest.approx(0.8597186998521972)
