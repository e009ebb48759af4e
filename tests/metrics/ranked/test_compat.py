"""Compatibility, beside a slow way that does what its authors' words say."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.errors import InputError
from metrics.ranked.lists import RankedCollection, RankedRun
from metrics.ranked.measures import Compat
from metrics.ranked.score import ranked_scores
from metrics.readers.ranked import read_ranked_collection, read_ranked_run
from tests.study_app.prefcal_command import run_here

DOCUMENTS = [f"d{number}" for number in range(12)]
persistences = st.sampled_from([0, 0.01, 0.5, 0.8, 0.95, 0.99])
judged = st.dictionaries(st.sampled_from(DOCUMENTS), st.sampled_from([-1, 0, 0.5, 1, 1.5, 2, 50]))
rankings = st.lists(st.sampled_from([*DOCUMENTS, "u1", "u2"]), unique=True).map(tuple)


def compat(grades, ranking, **options):
    """The score of one list."""
    collection = RankedCollection(name="one", grades={"q": {"0": grades}}, windows={}, is_timed=False)
    run = RankedRun(name="run", rankings={"q": tuple(ranking)})
    return ranked_scores(collection, [run], {"Compat": Compat(**options)})[0].value


def overlap(one, other, p):
    """Rank-biased overlap down to depth 1,000, set by set."""
    found = total = 0.0
    for depth in range(1, 1001):
        weight = p ** (depth - 1)
        found += weight * len({*one[:depth]} & {*other[:depth]}) / depth
        total += weight
    return found / total


def slow(grades, ranking, p):
    """Build the ideal list that is most like a list, and compare the two."""
    place = {document: rank for rank, document in enumerate(ranking)}
    ideal = [document for document, grade in grades.items() if grade > 0]
    ideal.sort(key=lambda document: (-grades[document], place.get(document, math.inf)))
    return overlap(ranking, ideal, p) / overlap(ideal, ideal, p) if ideal else 0.0


TAIL = 2 * sum(0.5 ** (depth - 1) / depth for depth in range(3, 1001))
"""What the depths below the second give two lists that have both documents by then."""


@pytest.mark.parametrize(
    ("ranking", "wanted"),
    [
        (["a", "b"], 1.0),
        (["b", "a"], (0.5 + TAIL) / (1 + 0.5 + TAIL)),
        (["a"], (1 + 0.5 / 2 + TAIL / 2) / (1 + 0.5 + TAIL)),
        (["u", "b", "a"], (0.5 / 2 + TAIL) / (1 + 0.5 + TAIL)),
        (["u", "v"], 0.0),
        ([], 0.0),
    ],
)
def test_the_worked_examples(ranking, wanted):
    """Two documents, the better one first, at p = 1/2; the ideal list meets itself in 1, 1, then 2/d."""
    assert compat({"a": 2, "b": 1}, ranking, p=0.5) == pytest.approx(wanted, abs=1e-12)


def test_equal_grades_stand_in_the_order_of_the_list():
    """Every order of them is ideal, and the one most like the list counts."""
    grades = dict.fromkeys("abc", 1)
    assert compat(grades, "cab") == pytest.approx(1)
    assert compat(grades, "acb") == pytest.approx(1)
    assert compat({**grades, "d": 2}, "dbca") == pytest.approx(1)
    assert compat({**grades, "d": 2}, "bdca") < 1


@given(judged, rankings, persistences)
def test_scores_are_those_of_the_slow_way(grades, ranking, p):
    """Also with decimal grades, and grades of 0 and below, which are not relevant."""
    assert compat(grades, ranking, p=p) == pytest.approx(slow(grades, ranking, p), abs=1e-9)


@given(judged, rankings, persistences)
def test_only_the_order_of_grades_matters(grades, ranking, p):
    """No gain is computed of them."""
    recoded = {document: grade**3 / 7 for document, grade in grades.items()}
    assert compat(recoded, ranking, p=p) == compat(grades, ranking, p=p)


@given(judged, rankings, persistences)
def test_scores_stay_between_0_and_1_and_an_ideal_list_has_1(grades, ranking, p):
    """However short the ideal list is."""
    assert 0 <= compat(grades, ranking, p=p) <= 1 + 1e-12
    ideal = sorted((one for one in grades if grades[one] > 0), key=grades.__getitem__, reverse=True)
    assert compat(grades, [*ideal, "u1", "u2"], p=p) == pytest.approx(1 if ideal else 0, abs=1e-12)


@given(judged, rankings.filter(lambda ranking: len(ranking) > 1), persistences, st.data())
def test_a_better_document_that_moves_up_by_one_never_hurts(grades, ranking, p, data):
    """Preferences in the list that the judgments bear out."""
    place = data.draw(st.integers(1, len(ranking) - 1))
    above, below = ranking[place - 1], ranking[place]
    if max(grades.get(below, 0), 0) < max(grades.get(above, 0), 0):
        above, below = below, above
    worse = [*ranking[: place - 1], above, below, *ranking[place + 1 :]]
    better = [*ranking[: place - 1], below, above, *ranking[place + 1 :]]
    assert compat(grades, better, p=p) >= compat(grades, worse, p=p) - 1e-12


def test_without_normalisation_it_is_rank_biased_overlap_with_the_ideal_list():
    """As the earlier papers of its authors have it; what stands below depth 1,000 counts nothing."""
    grades = {"a": 2, "b": 1}
    assert compat(grades, "ba", p=0.5, normalize=False) == pytest.approx(overlap("ba", "ab", 0.5), abs=1e-12)
    deep = [f"u{number}" for number in range(999)]
    assert compat({"a": 1}, [*deep, "a"], p=0.99) > 0
    assert compat({"a": 1}, [*deep, "u", "a"], p=0.99) == 0


def test_of_two_runs_the_one_with_the_better_order_scores_more():
    """ir_measures, given scores below 0, takes what was not listed for better than what was."""
    grades = {"a": 3, "b": 3, "c": 3, "d": 2, "e": 1}
    assert compat(grades, "abced", p=0.8) > compat(grades, "edcba", p=0.8)
    assert compat(grades, "abc", p=0.8) > compat(grades, "uvabc", p=0.8)


def test_a_document_has_the_largest_of_its_grades_for_subtopics():
    """One ideal list for the topic."""
    collection = RankedCollection(
        name="one", grades={"q": {"1": {"a": 1, "b": 2}, "2": {"a": 3}}}, windows={}, is_timed=False
    )
    scores = ranked_scores(collection, [RankedRun(name="run", rankings={"q": ("a", "b")})], ["Compat"])
    assert scores[0].metric == "Compat(p=0.95)"
    assert scores[0].value == pytest.approx(1)


def test_decimal_grades_are_refused_by_measures_of_tools():
    """They would cut them off."""
    pytest.importorskip("ir_measures", reason="prefcal[measures] is not installed")
    collection = RankedCollection(name="one", grades={"q": {"0": {"a": 1.5}}}, windows={}, is_timed=False)
    with pytest.raises(InputError, match=r"grades must be whole numbers, and document a of topic q has 1\.5"):
        ranked_scores(collection, [], ["nDCG@10"])


def test_the_command_line_needs_no_extra(tmp_path, monkeypatch, capsys):
    """In the notation of ir_measures."""
    monkeypatch.setattr("metrics.ranked.named.find_spec", lambda _: None)
    (tmp_path / "qrels.txt").write_text("q 0 a 2\nq 0 b 1\nq 0 c 0\n")
    (tmp_path / "one.txt").write_text("q Q0 a 1 -1 t\nq Q0 b 2 -2 t\n")
    (tmp_path / "two.txt").write_text("q Q0 b 1 -1 t\nq Q0 a 2 -2 t\n")
    ended = run_here(
        monkeypatch,
        capsys,
        *("score", "ranked", f"--qrels={tmp_path / 'qrels.txt'}", "--measure=Compat(p=0.5)", "--format=csv"),
        *(tmp_path / "one.txt", tmp_path / "two.txt"),
    )
    assert ended.code == 0
    rows = [line.split(",") for line in ended.out.splitlines()]
    assert rows[1][:3] == ["one", "q", "Compat(p=0.5)"]
    assert float(rows[1][3]) == pytest.approx(1)
    assert float(rows[3][3]) == pytest.approx(slow({"a": 2, "b": 1}, "ba", 0.5))


def test_submitted_runs_score_as_the_slow_way_says(shared):
    """Six runs of TREC DL 2021 on 53 topics."""
    folder = shared / "data" / "dl21"
    if not folder.is_dir():
        pytest.skip("needs the runs of TREC DL 2021")
    collection = read_ranked_collection(qrels=folder / "qrels.dl21-passage.txt.gz")
    for path in sorted((folder / "runs").glob("*.gz")):
        run = read_ranked_run(path, collection.grades)
        found = {one.topic: one.value for one in ranked_scores(collection, [run], ["Compat(p=0.95)"])}
        for topic in list(collection.grades)[::9]:
            (grades,) = collection.grades[topic].values()
            assert found[topic] == pytest.approx(slow(grades, run.rankings[topic], 0.95), abs=1e-9)
