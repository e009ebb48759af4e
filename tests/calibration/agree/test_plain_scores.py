"""Scores from elsewhere as they come: large, alike, tied, of things that nobody judged; and pairs of items."""

import numpy as np
import pandas as pd
import pytest

from calibration.agree.agree_tables import agree
from calibration.agree.result import judged_things, leading_ties, often_tied
from calibration.agree.score_sources import ScoreSources
from metrics.agreement.agreement import score_difference
from tests.calibration.judged_summaries import SYSTEMS, study

TOPICS = 8


def scores(**measures):
    """Return scores by system and topic from functions of their numbers."""
    return pd.DataFrame(
        [
            {"run": system, "topic": f"q{topic}", "metric": name, "value": float(value(place, topic))}
            for name, value in measures.items()
            for topic in range(TOPICS)
            for place, system in enumerate(SYSTEMS)
        ]
    )


def agreed(**measures):
    preferences = study(topics=TOPICS, workers=6)["preferences"]
    return agree(ScoreSources(tables={"preferences": preferences}, scores=scores(**measures)))


def worth(place, topic):
    return ((3 * place + topic) % 5) / 10


@pytest.mark.parametrize("offset", [1e9, 1e12, 1e13])
def test_what_all_scores_have_in_common_makes_no_ties(offset):
    """A score of 1e12 was tied with every other below 1e12 + 1."""
    found = agreed(plain=worth, moved=lambda *where: offset + worth(*where)).agreement

    plain, moved = (found[found["measure"] == name] for name in ("plain", "moved"))
    assert moved["agreement"].tolist() == plain["agreement"].tolist()
    assert moved["metric_ties"].tolist() == plain["metric_ties"].tolist()


def test_differences_that_a_computer_loses_are_said_by_name():
    """1e16 + .1 is 1e16: such scores are no finding."""
    notes = agreed(
        plain=worth, lost=lambda *where: 1e16 + worth(*where), near=lambda *where: 1e14 + worth(*where)
    ).notes

    assert not any("plain has scores" in note for note in notes)
    assert any("lost scores the systems of every pair alike" in note for note in notes)
    (near,) = (note for note in notes if "near has scores about 1e+14" in note)
    assert "count as ties: subtract a constant from all scores" in near


def test_scores_equal_but_for_rounding_are_tied_whatever_their_size():
    """Sums in another order are no difference."""
    first = np.array([0.1 + 0.2, 1e6 * (0.1 + 0.2), 5.0, 0.0])
    second = np.array([0.3, 1e6 * 0.3, 4.0, 0.0])
    assert score_difference(first, second).tolist() == [0.0, 0.0, 1.0, 0.0]
    assert score_difference(first[:2], second[:2]).tolist() == [0.0, 0.0]


def test_measures_in_the_same_order_get_one_sentence_and_no_number():
    """Their agreement is the same whatever people prefer; 0.0 looked like a finding."""
    found = agreed(
        one=worth,
        twice=lambda *where: 2 * worth(*where),
        thrice=lambda *where: 3 * worth(*where),
        other=lambda place, topic: (place * 7 + topic) % 3,
    )

    rows = found.comparisons[
        (found.comparisons["measure"] == "twice") & (found.comparisons["against"] == "one")
    ]
    assert rows[["difference", "low", "high", "p_t", "p_holm"]].isna().all(axis=None)
    (alike,) = (note for note in found.notes if "in the same order" in note)
    assert "one, twice and thrice put the systems of every pair in the same order" in alike
    assert found.comparisons[found.comparisons["measure"] == "other"]["difference"].notna().any()


def test_where_scores_often_tie_a_tie_counts_half_in_what_leads():
    """Grades of three values tie on most pairs: their agreement under the paper's rule is that of their ties."""
    found = agreed(grades=lambda place, topic: int(place == topic % 4), one=worth)

    assert list(often_tied(found.agreement)) == ["grades"]
    assert leading_ties(found.agreement) == "half"
    assert set(found.comparisons.query("by == 'majority'")["ties"]) == {"half"}
    assert leading_ties(found.agreement[found.agreement["measure"] == "one"]) == "against"


def test_items_of_a_topic_are_not_called_systems():
    """Passages and arguments stand in one topic only."""
    pairs = pd.DataFrame(
        {"topic": ["t1", "t1", "t2"], "system_a": ["p1", "p2", "p7"], "system_b": ["p2", "p3", "p8"]}
    )
    assert judged_things(pairs) == ("item", "items")
    assert judged_things(pairs.assign(system_a="A", system_b="B")) == ("system", "systems")
    assert judged_things(pairs[pairs["topic"] == "t1"]) == ("system", "systems")


def test_names_that_differ_in_case_only_are_said():
    """BM25 and bm25 count as two systems, which is seldom meant."""
    preferences = study(topics=TOPICS, workers=6)["preferences"]
    other = preferences.assign(topic=preferences["topic"].where(preferences["topic"] != "q1", "Q0"))
    given = scores(one=worth)
    given = given.assign(topic=given["topic"].replace("q1", "Q0"))
    notes = agree(ScoreSources(tables={"preferences": other}, scores=given)).notes

    assert any("topics Q0 and q0 differ in case only, and count as different ones" in note for note in notes)
