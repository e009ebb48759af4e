"""The time-aware measures where something is given, missing, empty or out of range."""

from dataclasses import replace

import pytest

from metrics.errors import InputError
from metrics.ranked.lists import RankedCollection, RankedRun
from metrics.ranked.measures import IAERR, IANDCG, IAP, TIAAP, TIAERR, TIANDCG, TIAP
from metrics.ranked.recall import SBR, TIASBR, TSBR
from metrics.ranked.score import ranked_scores, score_ranked
from metrics.registry import all_measures
from tests.metrics.ranked_example import DEFAULTS, LISTED, example, value
from tests.metrics.ranked_strategies import run_of

CURE = "recode the grades, or score without grades"


def given_subtopics():
    """Subtopic a of the example is asked for by three quarters of the users."""
    return replace(example(), probability={"q": {"a": 0.75, "b": 0.25}})


@pytest.mark.parametrize(
    ("measure", "wanted"),
    [
        (TIAP(k=3), 2 / 9),
        (IAP(k=3), 1 / 2),
        (TIAAP(), 5 / 27),
        (SBR(k=2), 1),
        (TSBR(k=2), 3 / 4),
        (TIANDCG(k=3), 2 / 3 * 0.75 * 0.5 + 1 / 3),
        (TIAERR(k=3), 2 / 3 * 0.75 / 3 + 1 / 3),
        (IAERR(k=3, err="graded"), 0.75 * (7 / 8 + 1 / 8 * 1 / 8 / 3) + 0.25 / 8),
    ],
    ids=repr,
)
def test_given_probabilities_weigh_ndcg_err_and_tia_sbr_alone(measure, wanted):
    """Precision, average precision and the plain coverages take 1/|C| even then."""
    assert value(measure, given_subtopics()) == pytest.approx(wanted)


def test_tia_sbr_weighs_covered_subtopics_by_their_probability():
    """d1 covers subtopic a (0.75) and 1990 (2/3)."""
    assert value(TIASBR(k=1), given_subtopics(), ("d1",)) == pytest.approx(0.5 * 0.75 + 0.5 * 2 / 3)


def test_a_subtopic_without_probability_has_none_and_one_without_judgments_counts():
    """Given are a and z: b has 0; z is a third subtopic that nothing covers."""
    collection = replace(example(), probability={"q": {"a": 0.5, "z": 0.5}})
    assert value(SBR(k=3), collection) == pytest.approx(2 / 3)
    assert value(IAERR(k=3), collection) == pytest.approx(0.5)
    assert value(IAP(k=3), collection) == pytest.approx(1 / 3)


def test_renormalised_ndcg_is_1_where_each_window_has_what_it_can():
    """1991 knows subtopic b alone: without renorm a perfect list for it cannot reach 1."""
    collection = RankedCollection(
        name="", grades={"q": {"a": {"d1": 1}, "b": {"d2": 1}}}, windows={"d1": "1990", "d2": "1991"}
    )
    assert value(TIANDCG(k=1), collection, ("d2",)) == pytest.approx(1 / 2 * 1 / 2)
    assert value(TIANDCG(k=1, renorm=True), collection, ("d2",)) == pytest.approx(1 / 2)


def test_renormalising_over_subtopics_that_nobody_asks_for_gives_0():
    """The one subtopic that the window has, has P = 0."""
    collection = replace(example(), probability={"q": {"z": 1.0}})
    assert value(TIANDCG(renorm=True), collection) == 0.0


@pytest.mark.parametrize(
    ("within", "wanted"),
    [
        ("pc", 0.5 * 1 + 0.5 * 1 / 2),
        ("counts", 2 / 3 * (1 / 2 * 1 + 1 / 2 * 1 / 2) + 1 / 3 * 1),
        ("uniform_in_t", 2 / 3 * (1 / 2 * 1 + 1 / 2 * 1 / 2) + 1 / 3 * 1),
        ("given", 2 / 3 * (0.9 * 1 + 0.1 * 1 / 2) + 1 / 3 * (0.2 * 1 + 0.8 * 1 / 2)),
    ],
)
def test_p_of_a_subtopic_within_a_window(within, wanted):
    """d1 (a) at rank 1, d2 (b) at 2; 1990 has one document of each subtopic, 1991 one of a."""
    collection = RankedCollection(
        name="",
        grades={"q": {"a": {"d1": 1, "d3": 1}, "b": {"d2": 1}}},
        windows={"d1": "1990", "d2": "1990", "d3": "1991"},
    )
    shares = {"q": {"1990": {"a": 0.9, "b": 0.1}, "1991": {"a": 0.2, "b": 0.8}}}
    measure = TIAERR(reading="text", within=within)
    assert value(measure, collection, ("d1", "d2"), within=shares) == pytest.approx(wanted)


def test_counts_and_uniform_differ_where_a_subtopic_has_more_documents():
    """Two of three judgments in the window are of subtopic a."""
    collection = RankedCollection(
        name="",
        grades={"q": {"a": {"d1": 1, "d3": 1}, "b": {"d2": 1}}},
        windows=dict.fromkeys(["d1", "d2", "d3"], "1990"),
    )
    counts, uniform = (TIAERR(reading="text", within=one) for one in ("counts", "uniform_in_t"))
    assert value(counts, collection, ("d1",)) == pytest.approx(2 / 3)
    assert value(uniform, collection, ("d1",)) == pytest.approx(1 / 2)


@pytest.mark.parametrize(
    ("within", "message"), [(None, "pass within="), ({"q": {"1990": {}}}, "topic q and window 1991")]
)
def test_p_within_windows_must_be_given_where_it_is_asked_for(within, message):
    """Nothing is made up."""
    with pytest.raises(ValueError, match=message):
        value(TIAERR(reading="text", within="given"), within=within)


def test_an_empty_list_and_an_empty_run_score_0():
    """A missing topic is an empty list."""
    assert {value(one, documents=()) for one in DEFAULTS} == {0.0}
    scores = ranked_scores(example(), [RankedRun(name="empty", rankings={})], DEFAULTS)
    assert [score.value for score in scores] == [0.0] * 2 * len(DEFAULTS)


def test_a_topic_without_relevant_documents_scores_0_and_counts_in_the_mean():
    """No window has any weight, and no subtopic can be covered."""
    collection = replace(example(), grades={**example().grades, "nothing": {"a": {"n": 0}, "b": {"m": -2}}})
    run = RankedRun(name="run", rankings={"q": LISTED, "nothing": ("n", "m", "d1")})
    for one in (*DEFAULTS, TIANDCG(renorm=True), TIAERR(reading="text", within="counts")):
        found = {score.topic: score.value for score in ranked_scores(collection, [run], {"one": one})}
        assert found["nothing"] == 0.0
        assert found["all"] == found["q"] / 2


def test_the_mean_can_be_taken_over_the_runs_own_topics():
    """`topics="run"`: judged topics that the run has no list for are left out."""
    collection = replace(example(), grades={**example().grades, "other": {"a": {"d1": 1}}})
    run = run_of(*LISTED)
    scores = {score.topic: score.value for score in ranked_scores(collection, [run], [SBR()], topics="run")}
    assert scores == {"q": 1.0, "other": 0.0, "all": 1.0}
    scores = {score.topic: score.value for score in ranked_scores(collection, [run], [SBR()])}
    assert scores["all"] == 0.5


def test_tia_map_is_the_mean_of_tia_ap_over_topics():
    """The paper's TIA-MAP is what stands under topic `all`."""
    collection = replace(example(), grades={**example().grades, "other": {"a": {"d1": 1}}})
    run = RankedRun(name="run", rankings={"q": LISTED, "other": ("n", "d1")})
    scores = {score.topic: score.value for score in ranked_scores(collection, [run], [TIAAP()])}
    assert scores == pytest.approx({"q": 5 / 27, "other": 1 / 2, "all": (5 / 27 + 1 / 2) / 2})


def test_documents_without_a_window_and_windows_without_relevant_documents_cover_nothing():
    """Windows of q are those with a relevant document of q; any document covers a window only there."""
    collection = replace(example(), windows={**example().windows, "new": "1999"})
    assert value(TSBR(covered="any"), collection, ("new", "unknown")) == 0.0
    assert value(TSBR(covered="any"), collection, ("n",)) == pytest.approx(1 / 4)


def test_a_grade_below_0_is_0():
    """TREC marks junk with -2; it gains nothing and takes nothing away, whatever else the document is relevant to."""
    junk = replace(example(), grades={"q": {"a": {"d1": 1}, "b": {"d1": -2, "d2": 2}}})
    plain = replace(example(), grades={"q": {"a": {"d1": 1}, "b": {"d2": 2}}})
    for one in (*DEFAULTS, IANDCG(gains="graded"), TIANDCG(gains="graded"), TIAERR(err="graded")):
        assert value(one, junk, ("d1", "d2")) == value(one, plain, ("d1", "d2"))


def test_grades_above_3_are_an_input_error_under_graded_err():
    """(2^4 - 1)/8 is no probability; the other measures do not mind."""
    collection = RankedCollection(name="", grades={"q": {"a": {"d": 4, "e": 5}}}, windows={"d": "", "e": ""})
    for one in (IAERR(err="graded"), TIAERR(err="graded")):
        with pytest.raises(InputError) as error:
            value(one, collection)
        assert [str(fault) for fault in error.value.faults] == [
            f"document {document} has grade {grade} for topic q, above 3, up to which graded scores are defined; {CURE}"
            for document, grade in [("d", 4), ("e", 5)]
        ]
    assert value(IAERR(), collection, ("d",)) == 1.0
    assert value(IANDCG(gains="graded"), collection, ("e", "d")) == pytest.approx(1.0)


def test_graded_gains_go_up_to_50():
    """Beyond, sums of 2^g - 1 would not be exact; binary gains take any grade."""
    collection = RankedCollection(name="", grades={"q": {"a": {"d": 51}}}, windows={"d": ""})
    with pytest.raises(InputError, match="grade 51 for topic q, above 50"):
        value(IANDCG(gains="graded"), collection)
    assert value(IANDCG(), collection, ("d",)) == 1.0


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"grades": {"q": {}}}, "topic q has no subtopic"),
        ({"windows": {}}, "document d1, relevant to topic q, has no window"),
        ({"probability": {"q": {"a": -0.1, "b": 1.1}}}, "probability of topic q is negative"),
    ],
)
def test_a_collection_that_cannot_be_scored_is_refused(changed, message):
    """Checked once, so that no measure has to."""
    with pytest.raises(ValueError, match=message):
        replace(example(), **changed)


def test_a_document_twice_in_a_list_is_refused():
    """It would be relevant twice."""
    with pytest.raises(ValueError, match="twice in the list of topic q"):
        run_of("d1", "n", "d1")


def test_columns_show_the_depth_and_what_is_not_the_default():
    """Stable for scripts, and no two numbers have one name."""
    columns = [one.column for one in DEFAULTS]
    assert columns == [
        *("TIA-P@10", "TIA-nDCG@10", "TIA-ERR@10", "TIA-AP", "T-SBR@10", "TIA-SBR@10"),
        *("IA-P@10", "IA-nDCG@10", "IA-ERR@10", "SBR@10"),
    ]
    assert TIAAP(k=5).column == "TIA-AP@5"
    assert repr(TIANDCG(k=5, gains="graded")) == "TIANDCG(k=5, gains='graded')"
    assert IANDCG(gains="graded").column == "IA-nDCG(gains=graded)@10"
    assert TIANDCG(k=5, reading="text", gains="graded").column == "TIA-nDCG(gains=graded,reading=text)@5"
    assert TIANDCG(renorm=True).column == "TIA-nDCG(renorm=True)@10"
    assert TIAERR(err="half").column == "TIA-ERR(err=half)@10"
    assert TSBR(covered="any").column == "T-SBR(covered=any)@10"
    assert TIASBR(alpha=0.2).column == "TIA-SBR(alpha=0.2)@10"
    scores = ranked_scores(example(), [run_of("d1")], [TIAERR(), TIAERR(err="half")])
    assert {one.metric for one in scores} == {"TIA-ERR@10", "TIA-ERR(err=half)@10"}


@pytest.mark.parametrize(
    ("cls", "options", "message"),
    [
        (TIAP, {"k": 0}, "k must be 1 or more"),
        (TIAAP, {"k": 0}, "k must be 1 or more"),
        (SBR, {"k": 2.5}, "k must be a whole number"),
        (TIASBR, {"alpha": 1.5}, "alpha must be from 0 to 1"),
        (TIANDCG, {"gains": "exponential"}, "gains must be 'binary' or 'graded'"),
        (TIANDCG, {"reading": "text", "renorm": True}, "renorm has no meaning with reading='text'"),
        (TIAERR, {"within": "counts"}, "within has no meaning with reading='table'"),
    ],
)
def test_parameters_out_of_range_or_without_effect_are_refused(cls, options, message):
    """A measure that exists can be computed, and says nothing that is not so."""
    with pytest.raises(ValueError, match=message):
        cls(**options)


def test_a_frame_has_a_row_for_every_topic_and_metric():
    """The shape all families share."""
    frame = score_ranked(example(), [run_of(*LISTED)], [TIAP(k=3), TIAAP()])
    assert list(frame) == ["run", "topic", "metric", "value"]
    assert frame["topic"].tolist() == ["q", "q", "all", "all"]
    assert frame["metric"].tolist() == ["TIA-P@3", "TIA-AP"] * 2


def test_the_registry_knows_the_family():
    """`prefcal measures` lists all of them."""
    known = {name for name, cls in all_measures().items() if cls.family == "ranked"}
    assert known >= {type(one).__name__ for one in DEFAULTS}
