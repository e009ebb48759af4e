"""How much a report says from how little."""

import math
from dataclasses import replace
from types import SimpleNamespace

import pandas as pd
import pytest

from calibration.agree.judged_task import why_no_ceiling
from calibration.agree.result import DIFFERENCE_COLUMNS, beyond_perfect
from study_app.report.parts.agreement import answer, ceiling, certainty
from study_app.report.parts.ranking import notes_of
from study_app.report.parts.streams import tau_in_words
from study_app.report.results import TaskResult, over_few

NOTHING = pd.DataFrame()
KNOWN = {
    "ceiling": 0.85,
    "ceiling_low": 0.80,
    "ceiling_high": 0.90,
    "perfect": 0.92,
    "perfect_low": 0.90,
    "perfect_high": 0.95,
}


def panel(difference, low, high):
    """The columns of the difference from a second panel."""
    return dict(zip(DIFFERENCE_COLUMNS, (difference, low, high), strict=True))


def result(measure="M", **numbers):
    """A task with one measure: 40 pairs of 8 queries unless told otherwise."""
    row = {
        "measure": measure,
        "family": "summaries",
        "fit": "none",
        "converted": False,
        "ties": "against",
        "agreement": 0.7,
        "low": 0.6,
        "high": 0.78,
        "pairs": 40,
        "agreement_there": 0.7,
        "pairs_there": 40,
        "metric_ties": 0,
        "vote_ties": 2,
        "queries": 8,
        "judgments": 200,
        "workers": 5,
        "no_ceiling": "",
    }
    numbers = {"pairs_there": numbers["pairs"]} | numbers if "pairs" in numbers else numbers
    return TaskResult(
        task="t",
        rows=pd.DataFrame([row | KNOWN | numbers]),
        unexcluded=NOTHING,
        comparisons=NOTHING,
        curve=NOTHING,
        pairs=NOTHING,
        disagreements=NOTHING,
    )


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ({}, "M agrees with the majority on 70.0\u202f% of 40 pairs (60.0 to 78.0\u202f%)"),
        ({"low": math.nan, "high": math.nan}, "of 40 pairs (no interval)"),
        ({"pairs": 4}, "Too few to say how well M agrees with the preferences: 2 decided pairs, 8 queries"),
        ({"queries": 1}, "Too few to say how well M agrees with the preferences: 38 decided pairs, 1 query"),
    ],
)
def test_from_a_handful_of_pairs_nothing_is_answered(numbers, said):
    """Else the agreement with its interval is."""
    assert answer(result(**numbers)).endswith(said)


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        (panel(-0.15, -0.2, -0.1), "; M agrees less often than the panel, by −15.0 points (−20.0 to −10.0)"),
        (panel(0.05, 0.01, 0.09), "; M agrees more often than the panel, by +5.0 points (+1.0 to +9.0)"),
        (
            panel(0.01, -0.02, 0.04),
            "; the difference of M from the panel, +1.0 points (−2.0 to +4.0), is not significant",
        ),
        (panel(0.01, math.nan, math.nan), "most people prefer in 92.0\u202f% (90.0 to 95.0\u202f%)"),
        ({}, "most people prefer in 92.0\u202f% (90.0 to 95.0\u202f%)"),
        ({"no_ceiling": "nobody judged twice"}, "cannot be estimated: nobody judged twice"),
    ],
)
def test_a_distance_from_the_second_panel_has_its_interval(numbers, said):
    """Without one both stand side by side, as in folders that were written before there was any."""
    assert ceiling(result(**numbers)).endswith(said)


@pytest.mark.parametrize(
    ("numbers", "missing"),
    [
        ({}, ""),
        ({"decided": 9}, "10 pairs with a majority, and this study has 9"),
        ({"voted_twice": 0}, "10 pairs with the votes of two people or more, and this study has none"),
        ({"queries": 1}, "2 queries with such pairs, and this study has 1"),
    ],
)
def test_a_handful_of_pairs_has_no_ceiling(numbers, missing):
    """What is missing stands in words; ten pairs of two queries have one."""
    enough = {"decided": 10, "voted_twice": 10, "queries": 2}

    assert why_no_ceiling(**enough | numbers) == (missing and f"a ceiling needs {missing}")


def test_a_measure_above_the_perfect_one_is_said_why():
    """On the ceiling's own pairs, within the interval of the estimate or beyond it; nobody who stays below it."""

    def said(**numbers):
        return [
            *beyond_perfect(result(**{"perfect_high": 0.97, "agreement": 0.99} | numbers).rows, "against")
        ]

    assert said(agreement_there=0.92) == []
    above, within = said(agreement_there=0.95)
    assert above == (
        "M agrees with the majority in 95.0 %, which is more often than a measure that knew what most people prefer is estimated to on"
        " the same pairs (92.0 %)."
    )
    assert within.startswith(
        "That is within the interval of the estimate, and no contradiction: with 5.0 votes a pair"
    )
    _, beyond = said(agreement_there=0.98)
    assert "beyond the interval of the estimate: only a measure made from these votes can do so" in beyond
    assert "chance" not in within + beyond


def with_measures(*rows, **numbers):
    """A task with several measures."""
    frames = [result(**numbers | row).rows for row in rows]
    return replace(result(), rows=pd.concat(frames, ignore_index=True))


def test_the_report_names_the_measures_that_the_terminal_names():
    """Neither one made for other judgments, nor one that ties on every pair; and none where the answer is refused."""
    rows = (
        {"measure": "tied", "metric_ties": 40, "agreement": 0.0},
        {"measure": "other", "converted": True, "agreement": 0.9},
        {"measure": "A"},
        {"measure": "B"},
    )
    found = with_measures(*rows, {"measure": "C", "agreement": 0.6})
    assert answer(found).startswith(
        "A, B agree with the majority most often of 3 measures (tied, other not counted), on"
    )
    assert certainty(found).startswith("With 95\u202f% confidence A is between")
    assert answer(with_measures(*rows)).startswith(
        "2 measures (tied, other not counted) agree with the majority equally often, on 70.0"
    )
    assert math.isnan(found.row("tied")["agreement"])
    few = with_measures(*rows, pairs=8, vote_ties=0)
    assert (
        certainty(few)
        == "The interval of each measure is in the figure; 200 judgments of 8 queries, 5 workers"
    )
    assert answer(with_measures({"metric_ties": 40})) == "No measure tells the two systems of any pair apart"


def test_a_panel_of_fewer_pairs_stands_beside_the_agreement_on_these():
    """And the distance is between agreements of the same pairs."""
    said = ceiling(result(pairs_there=12, agreement_there=0.81, **panel(-0.04, -0.1, 0.02)))
    assert "in 85.0\u202f% of the 12 pairs that have the votes of two people or more" in said
    assert ", where M is in 81.0\u202f%; the difference of M from the panel, −4.0 points" in said


def test_a_name_at_the_start_of_a_sentence_keeps_its_letters():
    """ColBERT's run is called colbert, and a reader looks for that."""
    rows = pd.DataFrame({"task": "lists", "system": ["colbert", "not"]})
    notes = (
        "lists: colbert stood on the left in 28 %",
        "lists: notes have a capital",
        "pairs: of another task",
    )
    ranking = SimpleNamespace(ranking=rows, notes=notes)

    assert notes_of(ranking, "lists") == ["colbert stood on the left in 28 %.", "Notes have a capital."]


def test_of_few_systems_a_rank_correlation_is_said_to_say_nothing():
    """Of others it stands with its interval, or without one."""
    none = (math.nan, math.nan)

    assert tau_in_words(0.0, *none, 4) == "τ = 0.00, too few to say"
    assert tau_in_words(math.nan, *none, 3) == "τ = –, too few to say"
    assert tau_in_words(0.8, *none, 8) == "τ = 0.80 (no interval)"
    assert tau_in_words(0.8, 0.5, 0.9, 8) == "τ = 0.80 (0.50 to 0.90)"
    assert (over_few(5), over_few(6)) == (" (5 systems, too few to say)", "")
