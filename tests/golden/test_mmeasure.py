"""Values of the authors' own Ruby classes for U- and M-measure: every one, from Python and from the command line.

`gold/mmeasure` says how they were made: unmodified classes and character counting, on a synthetic collection with
repeats, empty layers, missing links, zero probabilities, emoji and Japanese texts. Tolerance 1e-9.
"""

import csv
import io
import json

import pytest

from metrics.readers.mobileclick import read_summary_collection
from metrics.readers.mobileclick_runs import read_summary_run
from metrics.summaries.score import MMeasure, UMeasure, score_intents, score_summaries
from metrics.summaries.trailtext import counted_chars, trailtext, truncated
from metrics.summaries.two_layered import IUnit
from tests.study_app.prefcal_command import run_here

RUNS = ["run1.xml", "run2.xml", "run3.xml", "run4.xml"]
LIMITS = {"none": None, "420": 420, "280": 280}


@pytest.fixture(scope="module")
def gold(shared):
    return shared / "gold/mmeasure"


@pytest.fixture(scope="module")
def expected(gold):
    return json.loads((gold / "expected.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def collection(gold):
    return read_summary_collection(gold / "collection")


def m_values(expected, file, limit):
    """The reference values by (topic, column)."""
    return {
        (topic, f"M@{patience}"): value
        for topic, cases in expected["scores"][file].items()
        for patience, value in cases[limit]["M"].items()
    }


def test_counted_characters(expected, collection):
    """Every iUnit and intent of the collection."""
    for query in collection.queries.values():
        for name, text in {**query.iunits, **query.intents}.items():
            assert counted_chars(text) == expected["lengths"][name]


@pytest.mark.parametrize("file", RUNS)
@pytest.mark.parametrize("limit", LIMITS)
def test_trailtexts(gold, expected, collection, file, limit):
    """What each reader reads, element by element."""
    run = read_summary_run(gold / "collection" / file, collection)
    for topic, cases in expected["scores"][file].items():
        summary = truncated(run.summaries[topic], collection.queries[topic], LIMITS[limit])
        for intent, elements in cases[limit]["trailtext"].items():
            read = trailtext(summary, intent)
            assert [one.id if isinstance(one, IUnit) else one.intent for one in read] == elements


@pytest.mark.parametrize("file", RUNS)
@pytest.mark.parametrize("limit", LIMITS)
def test_m_and_u_from_python(gold, expected, collection, file, limit):
    """All patiences at once."""
    values = m_values(expected, file, limit)
    patiences = {float(column.removeprefix("M@")) for _, column in values}
    run = read_summary_run(gold / "collection" / file, collection)
    measures = [MMeasure(patience=one, truncate=LIMITS[limit]) for one in patiences]
    found = score_summaries(collection, [run], measures).set_index(["topic", "metric"])["value"]
    assert {key: found[key] for key in values} == pytest.approx(values, abs=1e-9)

    utilities = {
        intent: value
        for cases in expected["scores"][file].values()
        for intent, value in cases[limit]["U_per_intent_L840"].items()
    }
    frame = score_intents(collection, [run], [UMeasure(patience=840, truncate=LIMITS[limit])])
    assert dict(zip(frame["intent"], frame["value"], strict=True)) == pytest.approx(utilities, abs=1e-9)


@pytest.mark.parametrize("limit", LIMITS)
def test_m_from_the_command_line(gold, expected, monkeypatch, capsys, limit):
    """The same values through files, options and csv."""
    values = {
        (file.removesuffix(".xml"), *key): value
        for file in RUNS
        for key, value in m_values(expected, file, limit).items()
    }
    options = [
        f"--patience={column.removeprefix('M@')}" for column in dict.fromkeys(key[2] for key in values)
    ]
    options += [] if limit == "none" else [f"--truncate={limit}"]
    paths = [gold / "collection" / file for file in RUNS]
    ended = run_here(
        monkeypatch,
        capsys,
        "score",
        "summaries",
        "--collection",
        gold / "collection",
        *options,
        "--format=csv",
        *paths,
    )
    found = {
        (row["run"], row["topic"], row["metric"]): float(row["value"])
        for row in csv.DictReader(io.StringIO(ended.out))
        if row["topic"] != "all"
    }
    assert found == pytest.approx(values, abs=1e-9)
