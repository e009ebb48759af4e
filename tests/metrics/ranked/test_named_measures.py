"""Measures of ranked lists by name: the package's own, and those of ir_measures, whose values are its own."""

import math

import pytest

from metrics.errors import InputError
from metrics.ranked import (
    IANDCG,
    IAP,
    RBP,
    TIAAP,
    TIANDCG,
    TIASBR,
    Compat,
    RankedCollection,
    RankedRun,
    score_ranked,
)
from metrics.ranked import named as module
from metrics.ranked.named import in_their_notation, ranked_measure
from metrics.registry import all_measures

ir_measures = pytest.importorskip("ir_measures", reason="prefcal[measures] is not installed")

GRADES = {
    "MC-0001": {"a": 3, "b": 0, "c": 1, "d": 1, "e": -1},
    "MC-0002": {"a": 1, "b": 2, "f": 0},
    "MC-0003": {"c": 0, "d": -2},
    "MC-0004": {"a": 1},
}
RUNS = [
    RankedRun(name="one", rankings={"MC-0001": tuple("baxcdy"), "MC-0002": tuple("fba"), "MC-0003": ("d",)}),
    RankedRun(name="two", rankings={"MC-0001": tuple("axe"), "MC-0002": ("f",), "MC-0004": tuple("xa")}),
]
QRELS = RankedCollection(
    name="qrels.txt",
    grades={topic: {"0": of} for topic, of in GRADES.items()},
    windows={},
    is_timed=False,
)


def values(measures, collection=QRELS, runs=RUNS):
    frame = score_ranked(collection, runs, measures)
    return frame.set_index(["run", "topic", "metric"])["value"].to_dict()


def test_their_notation_is_read_as_they_read_it():
    """Their own reader asks `ast` for names that Python 3.14 no longer has."""
    assert in_their_notation("nDCG@10") == ir_measures.nDCG @ 10
    assert in_their_notation("RBP(p=0.9, rel=2)@5") == ir_measures.RBP(p=0.9, rel=2) @ 5
    assert in_their_notation("MAP") == ir_measures.AP
    for wrong, error in {"nDCG(10)": TypeError, "R(cutoff=5)@10": TypeError, "nope@3": NameError}.items():
        with pytest.raises(error):
            in_their_notation(wrong)


def test_values_and_means_are_those_of_ir_measures():
    """On every judged topic, those without a list or a relevant document too; counts are added up."""
    texts = [
        "nDCG@10",
        "nDCG",
        "AP",
        "AP(rel=2)",
        "RR@2",
        "P@5",
        "R@3",
        "Judged@5",
        "Bpref",
        "Rprec",
        "NumRet",
    ]
    measures = [in_their_notation(text) for text in texts]
    qrels = [
        ir_measures.Qrel(topic, document, max(grade, -1))
        for topic, of in GRADES.items()
        for document, grade in of.items()
    ]

    found = values(texts)

    for run in RUNS:
        scored = [
            ir_measures.ScoredDoc(topic, document, -float(rank))
            for topic, documents in run.rankings.items()
            for rank, document in enumerate(documents)
        ]
        whole, by_topic = ir_measures.calc(measures, qrels, scored)
        wanted = {(run.name, one.query_id, str(one.measure)): one.value for one in by_topic}
        wanted |= {(run.name, "all", str(measure)): value for measure, value in whole.items()}
        assert {key: found[key] for key in wanted} == pytest.approx(wanted)
    assert len(found) == 2 * 5 * len(texts)


def test_err_is_that_of_the_tool_of_ir_measures_without_its_rounding():
    """Which is TREC's gdeval: five digits, and every topic has something relevant."""
    if not ir_measures.gdeval.is_available():
        pytest.skip("Perl is not installed")
    grades, ranking = {"a": 3, "b": 0, "c": 1, "d": 4}, tuple("bcad")
    qrels = [ir_measures.Qrel("1", document, grade) for document, grade in grades.items()]
    run = [ir_measures.ScoredDoc("1", document, -float(rank)) for rank, document in enumerate(ranking)]
    measure = ir_measures.ERR @ 3
    (wanted,) = ir_measures.gdeval.iter_calc([measure], qrels, run)

    judged = RankedCollection(name="q", grades={"1": {"0": grades}}, windows={}, is_timed=False)
    found = values(["ERR@3"], judged, [RankedRun(name="r", rankings={"1": ranking})])

    assert found["r", "1", "ERR@3"] == pytest.approx(wanted.value, abs=5e-6)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("RBP(p=0.5)", 0.5 * (0.5 + 0.5**3 + 0.5**4)),
        ("RBP(p=0.5)@3", 0.5 * 0.5),
        ("RBP(p=0.5,rel=2)", 0.5 * 0.5),
        ("ERR@2", 7 / 16 / 2),
        ("ERR", 7 / 16 / 2 + 9 / 16 / 16 / 4 + 9 / 16 * 15 / 16 / 16 / 5),
    ],
)
def test_rbp_and_err_are_computed_as_their_papers_say(text, wanted):
    """The list of topic 1 has grades 0, 3, -, 1, 1."""
    assert values([text])["one", "MC-0001", text] == pytest.approx(wanted)


def test_a_document_has_the_largest_of_its_grades_for_subtopics_and_diversity_measures_see_each():
    """StRecall counts subtopics: list a reaches one of two."""
    judged = RankedCollection(
        name="q", grades={"1": {"x": {"a": 1, "b": 0}, "y": {"a": 0, "b": 3}}}, windows={}, is_timed=False
    )
    runs = [RankedRun(name="r", rankings={"1": ("a",)})]
    assert values(["P@1", "AP", "StRecall@1"], judged, runs) == {
        ("r", topic, name): value
        for topic in ("1", "all")
        for name, value in (("P@1", 1), ("AP", 0.5), ("StRecall@1", 0.5))
    }


def test_a_measure_of_diversity_needs_subtopics():
    """Else it would be an ordinary one under another name."""
    with pytest.raises(InputError, match=r"qrels\.txt:1: alpha_nDCG@5: .* no topic has two subtopics; give"):
        values(["alpha_nDCG@5"])


def test_a_measure_that_a_tool_leaves_undefined_is_not_a_number():
    """Accuracy of a topic without a list."""
    assert math.isnan(values(["Accuracy"])["one", "MC-0004", "Accuracy"])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("IA-P@5", IAP(k=5)),
        ("IANDCG(k=5)", IANDCG(k=5)),
        ("TIA-AP", TIAAP()),
        ("IA-nDCG(gains=graded)@5", IANDCG(k=5, gains="graded")),
        ("TIA-nDCG(gains='graded', renorm=True)@5", TIANDCG(k=5, gains="graded", renorm=True)),
        ("TIA-SBR(alpha=0.2,covered=any)@3", TIASBR(k=3, alpha=0.2, covered="any")),
        ("RBP@5", RBP(k=5)),
        ("Compat(p=0.8)", Compat(p=0.8)),
        ("Compat(p=0.8,normalize=False)", Compat(p=0.8, normalize=False)),
    ],
)
def test_a_name_that_the_package_has_is_its_own_measure(text, found):
    """As it prints, or as tables call it."""
    assert ranked_measure(text) == found


def test_no_measure_of_ir_measures_is_called_like_one_of_the_package():
    """So nobody gets another one than they name."""
    own = {*all_measures(), *(cls.name for cls in all_measures().values())}
    assert own & {*ir_measures.measures.registry} == {"RBP", "Compat"}  # which are the same measures there


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("RBP", "RBP(p=0.8)"),
        (" RBP(rel=1, p=0.8)@5 ", "RBP(p=0.8,rel=1)@5"),
        ("MAP@5", "AP@5"),
        ("AP(rel=1)", "AP"),
    ],
)
def test_a_measure_is_called_as_ir_measures_does_and_with_its_persistence(text, column):
    """One name for one measure, which reads back as itself."""
    assert ranked_measure(text).column == column
    assert ranked_measure(column) == ranked_measure(text)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "nDGC@10",
            "neither prefcal nor ir_measures has a measure 'nDGC' of ranked lists; did you mean nDCG?",
        ),
        ("ndgc@10", "did you mean nDCG?"),
        ("TIANDC(k=3)", "did you mean TIANDCG?"),
        ("P", "P: P needs a depth; write P@10"),
        ("P@True", "P@True: cutoff cannot be True"),
        ("nDCG@0", "nDCG@0: cutoff cannot be 0"),
        ("RBP(q=3)", "RBP has no parameter 'q'; known are p, k"),
        ("RBP(p=1.0)", "p must be from 0 to below 1"),
        ("ERR@x", "'ERR@x' is not a measure; write it like nDCG@10"),
        ("BPM(rel=1)", "BPM has no parameter 'rel'"),
        ("SBR(k=0)", "k must be 1 or more"),
        ("IA-nDCG(gains=best)@10", "gains must be 'binary' or 'graded', got 'best'"),
        ("IA-nDCG(gain=graded)@10", "IA-nDCG has no parameter 'gain'; known are k, gains"),
        ("Compat@10", "Compat has no parameter 'k'; known are p, normalize"),
        ("Compat(p=1)", "p must be from 0 to below 1"),
    ],
)
def test_what_is_no_measure_is_said_with_the_cure(text, line):
    """One line; nothing reaches a tool."""
    with pytest.raises(InputError) as caught:
        ranked_measure(text)
    assert line in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_without_ir_measures_the_cure_installs_it(monkeypatch):
    """And a slip in a name of the package is told apart."""
    monkeypatch.setattr(module, "find_spec", lambda _: None)

    with pytest.raises(
        InputError,
        match=r"measure 'nDCG@10' of its own; those of ir_measures need it installed; pip install 'prefcal\[measures\]'",
    ):
        ranked_measure("nDCG@10")
    with pytest.raises(InputError, match="did you mean TIANDCG"):
        ranked_measure("TIANDC(k=3)")
    assert ranked_measure("IA-P@5") == IAP(k=5)


def test_a_grade_that_err_is_not_defined_for_is_refused():
    """Its largest is 4."""
    judged = RankedCollection(name="q", grades={"1": {"0": {"a": 5}}}, windows={}, is_timed=False)
    with pytest.raises(InputError, match="has grade 5 for topic 1, above 4"):
        values(["ERR@5"], judged, [])
