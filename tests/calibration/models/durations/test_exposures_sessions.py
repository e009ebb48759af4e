"""From visits to sessions: which are complete, which were cut, which say nothing."""

import pytest

from calibration.inference.results import NotIdentifiedError
from calibration.models.durations.from_tables import session_exposure
from tests.calibration.models.durations.test_exposures import follows, names, said, visits


def test_only_who_left_by_choice_has_a_complete_session():
    """Nothing left to read, lost contact and the end of the study cut it."""
    exposure = session_exposure(
        {
            "visits": visits(
                *[("w", "t", hour, hour + 0.1) for hour in range(1, 6)],
                reasons=["left", "idle", "exhausted", "lost", "study_end"],
            )
        }
    )

    assert exposure.event.tolist() == [True, True, False, False, False]
    assert exposure.totals().seconds.tolist() == [pytest.approx(0.5 * 3600)]
    assert exposure.design == "count"


def test_who_never_came_has_no_session():
    """They are in the fit of times away and not in this one."""
    exposure = session_exposure(
        {"follows": follows(("w", "t", 0, 48), ("never", "t", 0, 48)), "visits": visits(("w", "t", 10, 11))}
    )

    assert len(exposure.totals()) == 1


@pytest.mark.parametrize(
    ("exhausted", "name"), [(3, "session_extrapolated"), (1, "exhausted_visits"), (0, None)]
)
def test_sessions_that_the_material_ended_are_counted(exhausted, name):
    """Above half of them the length is extrapolated."""
    reasons = ["exhausted"] * exhausted + ["left"] * (5 - exhausted)
    exposure = session_exposure(
        {"visits": visits(*[("w", "t", h, h + 0.1) for h in range(5)], reasons=reasons)}
    )

    assert names(exposure) == ([name] if name else [])


def test_visits_cut_as_they_began_are_left_out_of_the_rows_and_of_the_share_that_the_material_ended():
    """They say nothing about the length; a paper's numbers must add up."""
    lasting = [("w", "t", hour, hour + 0.1) for hour in range(4)]
    reasons = ["left", "left", "left", "exhausted", "exhausted", "lost", "left"]
    table = visits(*lasting, *[("w", "t", hour, hour) for hour in (5, 6, 7)], reasons=reasons)
    exposure = session_exposure({"visits": table})

    assert len(exposure.event) == 5
    assert names(exposure) == ["visits_without_length", "exhausted_visits"]
    assert said(exposure)[0].sentence.startswith(
        "2 of 7 visits were cut as soon as they began (1 because nothing was left to read)"
    )
    assert said(exposure)[1].sentence.startswith("20 % of the 5 visits that count ended because nothing was")


def test_sessions_are_refused_when_all_visits_were_cut_as_they_began():
    """Nobody found anything to read."""
    with pytest.raises(NotIdentifiedError, match="all 1 visits were cut as soon as they began"):
        session_exposure({"visits": visits(("w", "t", 1, 1), reasons=["exhausted"])})


def test_visits_that_all_lie_outside_their_follows_are_not_called_absent():
    """There are visits, but the times of the two tables do not meet."""
    tables = {"follows": follows(("w", "t", 10, 40)), "visits": visits(("w", "t", 2, 3))}
    with pytest.raises(
        NotIdentifiedError, match="every visit lies before its follow began or after it ended"
    ):
        session_exposure(tables)


def test_sessions_are_refused_when_nearly_all_were_ended_by_the_material():
    """Above nine in ten."""
    with pytest.raises(
        NotIdentifiedError, match="100 % of the visits ended because nothing was left to read"
    ):
        session_exposure({"visits": visits(("w", "t", 1, 2), reasons=["exhausted"])})


@pytest.mark.parametrize("table", [{}, {"visits": visits(("w", "t", 1, 2)).iloc[:0]}])
def test_without_visits_there_are_no_sessions(table):
    """Neither without the table nor without its rows."""
    with pytest.raises(NotIdentifiedError, match="there is no"):
        session_exposure(table)
