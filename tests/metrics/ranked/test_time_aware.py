"""The time-aware measures: a worked example by hand, the slow way, and the laws they obey."""

from dataclasses import replace
from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.ranked.lists import RankedCollection
from metrics.ranked.measures import IAERR, IANDCG, IAP, TIAAP, TIAERR, TIANDCG, TIAP
from metrics.ranked.recall import SBR, TIASBR, TSBR
from metrics.registry import parse_measure
from tests.metrics import time_aware_oracle as oracle
from tests.metrics.ranked_example import value
from tests.metrics.ranked_strategies import collections, depths, lists

stops = st.sampled_from(["literal", "half", "graded"])
gains = st.sampled_from(["binary", "graded"])
covers = st.sampled_from(["relevant", "any"])
withins = st.sampled_from(["pc", "counts", "uniform_in_t"])
measures = st.one_of(
    st.builds(TIAP, k=depths),
    st.builds(IAP, k=depths),
    st.builds(SBR, k=depths),
    st.builds(TIAAP, k=st.none() | depths),
    st.builds(IANDCG, k=depths, gains=gains),
    st.builds(TIANDCG, k=depths, gains=gains, renorm=st.booleans()),
    st.builds(TIANDCG, k=depths, gains=gains, reading=st.just("text")),
    st.builds(IAERR, k=depths, err=stops),
    st.builds(TIAERR, k=depths, err=stops),
    st.builds(TIAERR, k=depths, err=stops, reading=st.just("text"), within=withins),
    st.builds(TSBR, k=depths, covered=covers),
    st.builds(TIASBR, k=depths, covered=covers, alpha=st.floats(0, 1)),
)


OF_WHOLE_LISTS = {
    TIAP: lambda one, *of: oracle.tia_p(*of, one.k),
    TIAAP: lambda one, *of: oracle.tia_ap(*of, one.k),
    IAP: lambda one, *of: oracle.precision(*of, one.k, oracle.PLAIN),
    SBR: lambda one, *of: oracle.sbr(*of, one.k),
    TSBR: lambda one, *of: oracle.t_sbr(*of, one.k, one.covered),
    TIASBR: lambda one, *of: oracle.tia_sbr(*of, one.k, one.covered, one.alpha),
}


def by_hand(measure, collection, documents):
    """The same from the formulas written out."""
    if type(measure) in OF_WHOLE_LISTS:
        return OF_WHOLE_LISTS[type(measure)](measure, collection, documents)
    if getattr(measure, "within", "pc") != "pc":
        return oracle.text_tia_err(collection, documents, measure.k, measure.err, measure.within)
    is_ndcg = isinstance(measure, IANDCG)
    formula, option = (oracle.ndcg, measure.gains) if is_ndcg else (oracle.err, measure.err)

    def cell(subtopic, window):
        return formula(collection, documents, measure.k, subtopic, window, option)

    if getattr(measure, "reading", "text") == "text":
        return sum(p * cell(c, oracle.PLAIN) for c, p in oracle.p_subtopic(collection).items())
    return oracle.expected(collection, cell, renorm=is_ndcg and measure.renorm)


@pytest.mark.parametrize(
    ("measure", "wanted"),
    [
        (IAP(k=3), (2 / 3 + 1 / 3) / 2),
        (TIAP(k=3), 2 / 3 * (1 / 3) / 2 + 1 / 3 * (1 / 3 + 1 / 3) / 2),
        (TIAP(k=10), 2 / 3 * (1 / 10) / 2 + 1 / 3 * (1 / 10 + 1 / 10) / 2),
        (IANDCG(k=3), (1.5 / (1 + 1 / log2(3)) + 1 / (1 + 1 / log2(3))) / 2),
        (IANDCG(k=3, gains="graded"), (7.5 / (7 + 1 / log2(3)) + 1 / (1 + 1 / log2(3))) / 2),
        (TIANDCG(k=3), 2 / 3 * (0.5 + 0) / 2 + 1 / 3 * (1 + 1) / 2),
        (TIANDCG(k=3, reading="text"), (1.5 / (1 + 1 / log2(3)) + 1 / (1 + 1 / log2(3))) / 2),
        (IAERR(k=3), 1),
        (IAERR(k=3, err="half"), ((0.5 + 0.25 / 3) + 0.5) / 2),
        (IAERR(k=3, err="graded"), ((7 / 8 + 1 / 8 * 1 / 8 / 3) + 1 / 8) / 2),
        (TIAERR(k=3), 2 / 3 * (1 / 3 + 0) / 2 + 1 / 3 * (1 + 1) / 2),
        (TIAERR(k=3, err="half"), 2 / 3 * (0.5 / 3 + 0) / 2 + 1 / 3 * (0.5 + 0.5) / 2),
        (TIAAP(), (1 / 3 + 2 / 9) / 3),
        (TIAAP(k=2), (1 / 3) / 3),
        (SBR(k=2), 1),
        (TSBR(k=2), (2 + 1) / (2 + 2)),
        (TSBR(k=1, covered="any"), (2 + 1) / (2 + 2)),
        (TSBR(k=2, covered="any"), (2 + 2) / (2 + 2)),
        (TIASBR(k=2), 0.5 * 1 + 0.5 * 1 / 3),
        (TIASBR(k=2, alpha=0.2), 0.2 * 1 + 0.8 * 1 / 3),
        (TIASBR(k=2, covered="any"), 1),
    ],
    ids=repr,
)
def test_the_worked_example(measure, wanted):
    """The list is d3 (both subtopics, 1991), n (nothing), d1 (subtopic a, 1990)."""
    assert value(measure) == pytest.approx(wanted)


@given(collections(), lists, measures)
def test_scores_are_those_of_the_slow_way(collection, documents, measure):
    """Every measure and option from its formula written out, cell by cell."""
    assert value(measure, collection, documents) == pytest.approx(by_hand(measure, collection, documents))


@given(collections(), lists, measures)
def test_scores_stay_between_0_and_1(collection, documents, measure):
    """P(c|q) and P(t|q) add up to 1, and so does the share of readers who stop."""
    assert -1e-12 <= value(measure, collection, documents) <= 1 + 1e-12


@given(collections(windows=("always",)), lists, depths, gains, stops)
def test_with_a_single_window_time_aware_measures_are_the_plain_ones(collection, documents, k, gains, stop):
    """Time makes no difference where everything is from one time."""
    pairs = [
        (TIAP(k=k), IAP(k=k)),
        (TIANDCG(k=k, gains=gains), IANDCG(k=k, gains=gains)),
        (TIAERR(k=k, err=stop), IAERR(k=k, err=stop)),
    ]
    for aware, plain in pairs:
        assert value(aware, collection, documents) == pytest.approx(value(plain, collection, documents))


@given(collections(), lists, depths, gains, stops)
def test_the_formulas_of_the_text_are_the_plain_measures(collection, documents, k, gains, stop):
    """nDCG(q, k|c) and rel(r|c) do not depend on the window, so that P(t|q) adds up to 1."""
    pairs = [
        (TIANDCG(k=k, gains=gains, reading="text"), IANDCG(k=k, gains=gains)),
        (TIAERR(k=k, err=stop, reading="text"), IAERR(k=k, err=stop)),
    ]
    for text, plain in pairs:
        assert value(text, collection, documents) == pytest.approx(value(plain, collection, documents))


@given(collections(), lists, measures, st.randoms(use_true_random=False))
def test_the_order_of_judgments_and_the_names_of_windows_do_not_matter(
    collection, documents, measure, random
):
    """Only the list has an order."""

    def shuffled(mapping):
        return dict(random.sample(list(mapping.items()), len(mapping)))

    names = dict(zip(("1990", "1991", "1992"), random.sample("xyz", 3), strict=True))
    other = RankedCollection(
        name="shuffled",
        grades={"q": {c: shuffled(of) for c, of in shuffled(collection.grades["q"]).items()}},
        windows={one: names[window] for one, window in shuffled(collection.windows).items()},
        probability={topic: shuffled(of) for topic, of in collection.probability.items()},
    )
    assert value(measure, other, documents) == pytest.approx(value(measure, collection, documents))


@given(collections(), lists, measures, st.data())
def test_a_relevant_document_that_moves_up_never_hurts(collection, documents, measure, data):
    """It changes places with an unknown document right above it."""
    places = [place for place, one in enumerate(documents) if place and one in oracle.relevant(collection)]
    if not places:
        return
    place = data.draw(st.sampled_from(places))
    before = (*documents[: place - 1], "unknown", *documents[place:])
    after = (*documents[: place - 1], documents[place], "unknown", *documents[place + 1 :])
    assert value(measure, collection, after) >= value(measure, collection, before) - 1e-12


@given(collections(), lists, measures)
def test_an_unknown_document_on_top_never_helps(collection, documents, measure):
    """Everything else moves one rank down."""
    lower = value(measure, collection, ("unknown", *documents))
    assert lower <= value(measure, collection, documents) + 1e-12


@given(collections(), lists, covers, st.floats(0, 1))
def test_coverage_never_falls_with_depth(collection, documents, covered, alpha):
    """What the first k documents cover, the first k + 1 cover too."""
    for k in range(1, 6):
        for one in (SBR(k=k), TSBR(k=k, covered=covered), TIASBR(k=k, covered=covered, alpha=alpha)):
            deeper = replace(one, k=k + 1)
            assert value(deeper, collection, documents) >= value(one, collection, documents) - 1e-12


@given(collections(), lists, depths)
def test_tia_sbr_at_alpha_1_with_uniform_subtopics_is_sbr(collection, documents, k):
    """The paper: P(c|q) = 1/|C| leads to the standard subtopic recall."""
    uniform = replace(collection, probability={})
    tia_sbr = value(TIASBR(k=k, alpha=1), uniform, documents)
    assert tia_sbr == pytest.approx(value(SBR(k=k), uniform, documents))


@given(measures)
def test_a_measure_prints_as_what_it_is_read_back_from(one):
    """parse(repr(x)) == x."""
    assert parse_measure(repr(one)) == one
