"""The bundled study: its files belong together, are as large as promised, and its systems differ in kind."""

import itertools
import shutil
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest

from metrics.readers.mobileclick import read_summary_collection
from metrics.readers.mobileclick_runs import read_summary_run
from metrics.summaries.score import MMeasure, summary_scores
from metrics.summaries.trailtext import counted_chars, trailtext
from metrics.summaries.two_layered import IUnit, Link, Query, Run, Summary
from study_app.study.file import read_study_file
from study_app.tasks.kinds import KINDS

STUDY = Path(__file__).resolve().parents[2] / "examples" / "two_layered"
SYSTEMS = ("good-order", "bad-order", "one-layer", "wrong-links", "short", "redundant", "random")
PATIENCES = (250, 500, 1000, 1500, 3000, 6000, 12_000)
QUERIES = tuple(read_summary_collection(STUDY / "collection").queries.values())


@pytest.fixture(scope="module")
def runs() -> dict[str, Run]:
    collection = read_summary_collection(STUDY / "collection")
    return {name: read_summary_run(STUDY / "runs" / f"{name}.xml", collection) for name in SYSTEMS}


@pytest.fixture(scope="module")
def m(runs) -> dict[tuple[str, str, int], float]:
    """M-measure by system, query and patience."""
    measures = {str(patience): MMeasure(patience=patience) for patience in PATIENCES}
    scores = summary_scores(read_summary_collection(STUDY / "collection"), runs.values(), measures)
    return {(score.run, score.topic, int(score.metric)): score.value for score in scores}


def build(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, folder / "build.py", *options], capture_output=True, text=True, check=False
    )


def iunits(layer: tuple[IUnit | Link, ...]) -> list[str]:
    return [element.id for element in layer if isinstance(element, IUnit)]


def links(summary: Summary) -> list[str]:
    return [element.intent for element in summary.first if isinstance(element, Link)]


def every_query(test):
    return pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.text)(test)


# The files belong together.


def test_committed_files_are_what_the_script_writes():
    """Whoever changes the fact table or the script commits the derived files too."""
    assert build(STUDY, "--check").stderr == ""


def test_check_names_files_that_are_changed_missing_or_left_over(tmp_path):
    """A stale file is named, and building mends all but the one left over."""
    folder = shutil.copytree(STUDY, tmp_path / "study")
    (folder / "collection/queries.tsv").write_text("changed\n", encoding="utf-8")
    (folder / "runs/short.xml").unlink()
    (folder / "runs/left-over.xml").write_text("<results/>\n", encoding="utf-8")

    check = build(folder, "--check")

    assert check.returncode == 1
    assert [line.split(":")[0] for line in check.stderr.splitlines()] == [
        "collection/queries.tsv",
        "runs/left-over.xml",
        "runs/short.xml",
    ]
    assert build(folder).returncode == 0
    assert build(folder, "--check").stderr.startswith("runs/left-over.xml")


def test_study_file_fits_the_schema_and_names_files_that_are_there():
    """The study a researcher copies loads as it stands."""
    study = read_study_file(STUDY / "study.yaml", KINDS).entry
    votes, summaries, streams = study.tasks

    assert study.study == "two-layered"
    assert (votes.name, summaries.name, streams.name) == ("votes", "summaries", "streams")
    assert tuple(summaries.systems) == SYSTEMS
    assert votes.collection == summaries.collection
    named = [
        *votes.collection.model_dump().values(),
        *summaries.systems.values(),
        *streams.collection.model_dump().values(),
        *streams.systems.values(),
    ]
    assert [name for name in named if not (STUDY / name).is_file()] == []


def test_every_number_of_the_study_file_marked_default_is_the_default():
    """What the comments call a default may be left out without a difference."""
    study = read_study_file(STUDY / "study.yaml", KINDS)
    marked = [
        line.split(":")[0].strip()
        for line in study.source.splitlines()
        if line.partition("#")[2].strip().startswith("default")
    ]
    defaults = {
        name: field.default
        for entry in (study.entry, *study.entry.tasks)
        for name, field in type(entry).model_fields.items()
    }
    written = {
        name: value for entry in (study.entry, *study.entry.tasks) for name, value in entry if name in marked
    }

    assert len(marked) > 10
    defaults["criteria"] = KINDS["summary_pairs"].criteria["en"]
    assert written == {name: defaults[name] for name in written}


# The collection is as large as promised, and its numbers are sound.


def test_the_collection_has_eight_queries():
    """A worker has a choice, and the study stays small."""
    assert len(QUERIES) == 8
    assert len({query.text for query in QUERIES}) == 8


@every_query
def test_a_query_has_4_to_6_intents_and_20_to_30_different_facts_of_readable_length(query: Query):
    """Much as in the collections of the paper."""
    texts = list(query.iunits.values())

    assert 4 <= len(query.intents) <= 6
    assert 20 <= len(texts) <= 30
    assert len({text.casefold() for text in texts}) == len(texts)
    assert [
        text for text in texts if not 15 <= len(text) <= 120 or text != text.strip() or text.endswith(".")
    ] == []


@every_query
def test_importance_is_a_mean_of_two_ratings_for_every_intent_and_fact(query: Query):
    """0 to 4 in halves; every fact was rated for every intent."""
    assert query.importance.keys() == set(itertools.product(query.intents, query.iunits))
    assert set(query.importance.values()) <= {half / 2 for half in range(9)}


@every_query
def test_most_facts_matter_to_few_intents_some_to_most_and_some_to_none(query: Query):
    """Otherwise a second layer would be of no use, or a first layer."""
    reach = Counter(
        sum(query.importance[intent, iunit] >= 2 for intent in query.intents) for iunit in query.iunits
    )

    assert reach[1] + reach[2] > len(query.iunits) / 2
    assert sum(count for intents, count in reach.items() if intents >= 3) >= 1
    assert reach[0] >= 1


def test_printed_probabilities_of_each_query_sum_to_exactly_one():
    """Not 0.9999: a reader that checks the sum strictly accepts them too."""
    sums: dict[str, Fraction] = {}
    for line in (STUDY / "collection/probability.tsv").read_text(encoding="utf-8").splitlines():
        query, _, probability = line.split("\t")
        sums[query] = sums.get(query, Fraction(0)) + Fraction(probability)

    assert sums == {query.id: Fraction(1) for query in QUERIES}


# The systems differ, each in its own way.


@every_query
def test_no_two_systems_show_the_same_summary(query: Query, runs):
    """Workers must have something to choose between in each pair."""
    for one, other in itertools.combinations(SYSTEMS, 2):
        assert runs[one].summaries[query.id] != runs[other].summaries[query.id], (one, other)


@every_query
def test_good_order_ranks_links_by_probability_and_second_layers_by_importance(query: Query, runs):
    """Best first, wherever one looks."""
    good = runs["good-order"].summaries[query.id]
    chances = [query.probability[intent] for intent in links(good)]

    assert sorted(links(good)) == sorted(query.intents)
    assert chances == sorted(chances, reverse=True)
    for intent, layer in good.second.items():
        grades = [query.importance[intent, iunit] for iunit in iunits(layer)]
        assert grades == sorted(grades, reverse=True)
        assert min(grades) >= 2


@every_query
def test_bad_order_is_good_order_backwards(query: Query, runs):
    """Same content, so that nothing but order can make the difference."""
    good, bad = (runs[name].summaries[query.id] for name in ("good-order", "bad-order"))

    assert bad.first == good.first[::-1]
    assert bad.second == {intent: layer[::-1] for intent, layer in good.second.items()}


@every_query
def test_one_layer_shows_every_fact_once_and_no_link(query: Query, runs):
    """All the information, none of the structure."""
    summary = runs["one-layer"].summaries[query.id]

    assert sorted(iunits(summary.first)) == sorted(query.iunits)
    assert (links(summary), summary.second) == ([], {})


@every_query
def test_wrong_links_has_the_layers_of_good_order_none_behind_its_own_link(query: Query, runs):
    """A reader who trusts a link is led astray, always."""
    good, wrong = (runs[name].summaries[query.id] for name in ("good-order", "wrong-links"))

    assert wrong.first == good.first
    assert Counter(wrong.second.values()) == Counter(good.second.values())
    assert all(wrong.second[intent] != good.second[intent] for intent in query.intents)


@every_query
def test_short_is_four_general_facts_and_the_beginnings_of_two_second_layers(query: Query, runs):
    """A part of what good-order says, and nothing else: only length makes the difference."""
    good, short = (runs[name].summaries[query.id] for name in ("good-order", "short"))

    assert links(short) == links(good)[:2]
    assert iunits(short.first) == iunits(good.first)[:4]
    assert short.second == {intent: good.second[intent][:2] for intent in links(short)}


@every_query
def test_redundant_says_the_first_layer_twice_and_again_behind_each_link(query: Query, runs):
    """Whatever a reader opens begins with what they have read."""
    summary = runs["redundant"].summaries[query.id]
    first = iunits(summary.first)

    assert max(Counter(first).values()) == 2
    for layer in summary.second.values():
        assert iunits(layer)[: len(set(first))] == list(dict.fromkeys(first))


@every_query
def test_random_links_every_intent_in_an_order_of_its_own(query: Query, runs):
    """Its content owes nothing to importance."""
    good, random = (runs[name].summaries[query.id] for name in ("good-order", "random"))

    assert sorted(links(random)) == sorted(query.intents)
    assert set(iunits(random.first)) != set(iunits(good.first))
    assert all(set(random.second[intent]) != set(good.second[intent]) for intent in query.intents)


# The metric notices the differences, and which system it prefers depends on patience.


@every_query
def test_m_measure_prefers_good_order_to_bad_order_and_right_links_to_wrong_ones(query: Query, m):
    """At the patience of a hurried reader and at the default."""
    for patience in (500, 1500):
        good = m["good-order", query.id, patience]
        assert good > m["bad-order", query.id, patience]
        assert good > 1.4 * m["wrong-links", query.id, patience]
        assert good > 1.5 * m["random", query.id, patience]


@every_query
def test_a_short_summary_suits_the_impatient_and_a_long_one_the_patient(query: Query, m):
    """Order matters least to readers who read everything anyway."""
    assert m["short", query.id, 250] > m["bad-order", query.id, 250]
    assert m["short", query.id, 3000] < m["bad-order", query.id, 3000]
    assert m["one-layer", query.id, 500] < m["good-order", query.id, 500]
    assert m["one-layer", query.id, 6000] > m["good-order", query.id, 6000]


def test_the_better_system_depends_on_patience_for_a_third_of_the_pairs(m):
    """Patience can be fitted from preferences only if it decides some of them, and by more than a hair."""
    turned = 0
    pairs = [(query.id, *pair) for query in QUERIES for pair in itertools.combinations(SYSTEMS, 2)]
    for query, one, other in pairs:
        lead = [m[one, query, patience] - m[other, query, patience] for patience in PATIENCES]
        turned += min(lead) < -0.2 and max(lead) > 0.2

    assert turned > len(pairs) / 3


def test_reading_paths_are_as_long_as_promised(runs):
    """From less than a phone screen to several, so that patience matters."""
    chars: dict[str, list[int]] = {name: [] for name in SYSTEMS}
    for name, query in itertools.product(SYSTEMS, QUERIES):
        for intent in query.intents:
            trail = trailtext(runs[name].summaries[query.id], intent)
            texts = [query.intents[e.intent] if isinstance(e, Link) else query.iunits[e.id] for e in trail]
            chars[name].append(sum(map(counted_chars, texts)))

    assert 150 <= min(chars["short"]) < max(chars["short"]) <= 350
    assert 400 <= min(chars["good-order"]) < max(chars["good-order"]) <= 800
    assert 1100 <= min(chars["one-layer"]) < max(chars["one-layer"]) <= 1600
    assert 1500 <= min(chars["redundant"]) < max(chars["redundant"]) <= 2200
