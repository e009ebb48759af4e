"""Names that differ between visits and follows, and follows that end with their last visit."""

import pandas as pd
import pytest

from calibration.inference.results import NotIdentifiedError
from calibration.models.durations.from_tables import away_exposure, session_exposure
from calibration.visits.followed_visits import compare_follow_ends, orphans
from tests.calibration.models.durations.test_exposures import at, follows, names, said, visits

PEOPLE = [f"w{number}" for number in range(20)]


def tables(*, misspelt: int) -> dict[str, pd.DataFrame]:
    """One visit of each of 20 people, some under another name."""
    rows = [
        (name.upper() if number < misspelt else name, "t", 5, 6 + number / 60)
        for number, name in enumerate(PEOPLE)
    ]
    return {"follows": follows(*[(name, "t", 0, 48) for name in PEOPLE]), "visits": visits(*rows)}


def ending(*, at_last_visit: int, people: int = 10) -> dict[str, pd.DataFrame]:
    """One visit of each, until hour 6; follows end with it, half a second off, or at hour 48."""
    ended = [6 + 0.5 / 3600 if number < at_last_visit else 48 for number in range(people)]
    return {
        "follows": follows(*[(name, "t", 0, end) for name, end in zip(PEOPLE[:people], ended, strict=True)]),
        "visits": visits(*[(name, "t", 5, 6) for name in PEOPLE[:people]]),
    }


def test_an_orphan_is_a_visit_whose_worker_and_topic_no_follow_has():
    """Both must match; each alone may stand in another row."""
    watched = follows(("a", "x", 0, 9), ("b", "y", 0, 9))
    came = visits(("a", "x", 1, 2), ("a", "y", 1, 2), ("A", "x", 1, 2))

    assert orphans(came, watched).tolist() == [False, True, True]


@pytest.mark.parametrize("exposure", [away_exposure, session_exposure])
@pytest.mark.parametrize(
    ("misspelt", "clause"),
    [(3, "3 of 20 visits belong to no follow"), (20, "all 20 visits belong to no follow")],
)
def test_times_are_refused_when_more_than_a_tenth_of_the_visits_belong_to_no_follow(
    exposure, misspelt, clause
):
    """People who came would count as people who never did; the reason is not that nobody came."""
    with pytest.raises(NotIdentifiedError, match=f"^{clause}: are worker and topic names the same in both"):
        exposure(tables(misspelt=misspelt))


def test_a_tenth_of_the_visits_may_belong_to_no_follow():
    """Somebody who never enrolled looked in; a warning counts the visits."""
    assert names(away_exposure(tables(misspelt=2))) == ["visits_without_follow"]


def test_follows_that_end_with_their_last_visit_are_suspicious():
    """Nine tenths of ten or more, to a second; fewer end so by chance or by withdrawal."""
    assert names(away_exposure(ending(at_last_visit=9))) == ["ended_at_last_visit"]
    assert names(away_exposure(ending(at_last_visit=8))) == []
    assert names(away_exposure(ending(at_last_visit=9, people=9))) == []


def test_follows_without_a_visit_do_not_hide_it():
    """Those of people who never came end with the study even in such tables."""
    found = ending(at_last_visit=10)
    idle = follows(*[(name, "u", 0, 48) for name in PEOPLE])
    found["follows"] = pd.concat([found["follows"], idle], ignore_index=True)

    assert compare_follow_ends(found["visits"], found["follows"]) == (10, 10)
    assert (
        "10 of 10 follows with a visit end where their last visit does"
        in said(away_exposure(found))[0].sentence
    )


def test_the_last_end_of_two_systems_of_one_topic_counts():
    """They are one follow."""
    watched = follows(("a", "t", 0, 6), ("a", "t", 6, 48), system=["A", "B"])

    assert compare_follow_ends(visits(("a", "t", 5, 6)), watched) == (1, 0)
    assert at(6) == visits(("a", "t", 5, 6))["end"][0]
