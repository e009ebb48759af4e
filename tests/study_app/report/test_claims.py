"""How much a report says from how little."""

import math

import pandas as pd
import pytest

from calibration.agree.judged_task import why_no_ceiling
from study_app.report.results import TaskResult, beyond_perfect, finding, over_few, ranked_alike

NOTHING = pd.DataFrame()
KNOWN = {"ceiling": 0.85, "ceiling_low": 0.80, "ceiling_high": 0.90, "perfect": 0.92}


def result(measure="M", **numbers):
    """A task with one measure: 40 pairs of 8 queries unless told otherwise."""
    row = {
        "measure": measure,
        "family": "summaries",
        "fit": "none",
        "ties": "against",
        "agreement": 0.7,
        "low": 0.6,
        "high": 0.78,
        "pairs": 40,
        "vote_ties": 2,
        "queries": 8,
    }
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
        (
            {},
            "70.0\u202f% of the pairs (60.0 to 78.0\u202f%), fewer than a second panel would on 85.0\u202f%",
        ),
        ({"low": 0.91, "high": 0.99}, "more than a second panel would on 85.0\u202f%"),
        ({"high": 0.81}, "(60.0 to 81.0\u202f%); a second panel would on 85.0\u202f% (80.0 to 90.0\u202f%)"),
        ({"low": math.nan, "high": math.nan}, "of the pairs (no interval)"),
        ({"pairs": 4}, "Too few to say how well M agrees with the preferences: 2 decided pairs, 8 queries"),
        ({"queries": 1}, "Too few to say how well M agrees with the preferences: 38 decided pairs, 1 query"),
    ],
)
def test_a_distance_from_the_ceiling_is_claimed_only_where_intervals_tell_it(numbers, said):
    """Else both stand side by side; from a handful of pairs nothing does."""
    assert finding(result(**numbers)).endswith(said)


@pytest.mark.parametrize(
    ("numbers", "missing"),
    [
        ({}, ""),
        ({"decided": 9}, "10 pairs with a majority, and this study has 9"),
        ({"voted_twice": 0}, "10 pairs with two votes or more, and this study has none"),
        ({"queries": 1}, "2 queries with such pairs, and this study has 1"),
    ],
)
def test_a_handful_of_pairs_has_no_ceiling(numbers, missing):
    """What is missing stands in words; ten pairs of two queries have one."""
    enough = {"decided": 10, "voted_twice": 10, "queries": 2}

    assert why_no_ceiling(**enough | numbers) == (missing and f"a ceiling needs {missing}")


def test_who_passes_the_perfect_measure_is_said_to_do_so_by_chance():
    """And nobody who stays below it."""
    assert [*beyond_perfect(result(agreement=0.92))] == []
    (sentence,) = beyond_perfect(result(agreement=0.95))
    assert sentence.startswith("M came out above the perfect measure. That happens by chance")


def test_rank_correlations_get_words_only_where_the_interval_has_one():
    """Of few systems, without an interval or with a wide one the numbers stand alone."""
    none = (math.nan, math.nan)

    assert ranked_alike("A", "B", 0.0, none, 4) == "A and B, 4 systems, too few to say: τ = 0.00"
    assert ranked_alike("A", "B", math.nan, none, 3) == "A and B, 3 systems, too few to say: no τ"
    assert ranked_alike("A", "B", 0.8, none, 8) == "A and B over 8 systems: τ = 0.80, no interval"
    assert ranked_alike("A", "B", 0.8, (0.5, 0.9), 8) == "A and B over 8 systems: τ = 0.80 (0.50 to 0.90)"
    assert (
        ranked_alike("A", "B", 0.8, (0.7, 0.9), 8)
        == "A and B rank systems much alike: τ = 0.80 (0.70 to 0.90)"
    )
    assert (over_few(5), over_few(6)) == (" (5 systems, too few to say)", "")
