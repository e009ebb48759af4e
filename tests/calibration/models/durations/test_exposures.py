"""From follows, visits and prompts to times away: what counts, from when, until when."""

import numpy as np
import pandas as pd
import pytest

from calibration.checks.durations import interrupted_follows, visits_cut
from calibration.checks.finding import Finding
from calibration.inference.results import NotIdentifiedError
from calibration.models.durations.exposure import CensoredDurations
from calibration.models.durations.from_tables import away_exposure, session_exposure
from calibration.tables.files import check_frame
from calibration.tables.tables import TABLES

START = pd.Timestamp("2026-03-01T00:00:00Z")


def at(hours: float) -> pd.Timestamp:
    return START + pd.Timedelta(hours=hours)


def follows(*rows: tuple[str, str, float, float], **more) -> pd.DataFrame:
    """Worker, topic, hours of start and end."""
    table = pd.DataFrame(
        [(worker, topic, at(start), at(end)) for worker, topic, start, end in rows],
        columns=["worker", "topic", "started_at", "ended_at"],
    )
    return check_frame(table.assign(**more), TABLES["follows"])


def visits(*rows: tuple[str, str, float, float], reasons=None, entries=None) -> pd.DataFrame:
    """Worker, topic, hours of start and end; all left by choice and came by themselves unless said otherwise."""
    table = pd.DataFrame(
        [(worker, topic, at(start), at(end)) for worker, topic, start, end in rows],
        columns=["worker", "topic", "start", "end"],
    )
    table["visit"] = table.groupby(["worker", "topic"]).cumcount() + 1
    table["end_reason"] = reasons or "left"
    table["entry"] = entries or "own"
    return table.astype({"visit": "Int64"})


def away(*, follows, visits, **options) -> CensoredDurations:
    prompts = options.pop("prompts", None)
    tables = {"follows": follows, "visits": visits} | ({} if prompts is None else {"prompts": prompts})
    return away_exposure(tables, **options)


def hours(exposure: CensoredDurations) -> list[tuple[float, float, bool]]:
    return [
        (round(float(a) / 3600, 6), round(float(b) / 3600, 6), bool(e))
        for a, b, e in zip(exposure.start, exposure.stop, exposure.event, strict=True)
    ]


def said(exposure: CensoredDurations) -> list[Finding]:
    """Return what the checks say of the tables as they were read."""
    checks = [
        check
        for module in (interrupted_follows, visits_cut)
        for name, check in vars(module).items()
        if name.startswith("check_")
    ]
    return [finding for check in checks if (finding := check(None, exposure))]


def names(exposure: CensoredDurations) -> list[str]:
    return [finding.name for finding in said(exposure)]


# --- times away


def test_a_time_away_runs_from_the_end_of_a_visit_to_the_next_start_and_is_cut_at_the_end_of_the_follow():
    """Not from start to start, and the last time counts although nobody came back from it."""
    exposure = away(follows=follows(("w", "t", 0, 48)), visits=visits(("w", "t", 10, 11), ("w", "t", 30, 32)))

    assert hours(exposure) == [(0, 10, True), (11, 30, True), (32, 48, False)]
    assert exposure.totals().events.tolist() == [2]
    assert exposure.totals().seconds.tolist() == [pytest.approx(45 * 3600)]


def test_the_visit_in_which_somebody_enrols_ends_no_time_away():
    """It starts when the follow does; counting it would add a time away of no length."""
    exposure = away(follows=follows(("w", "t", 5, 48)), visits=visits(("w", "t", 5, 6), ("w", "t", 20, 21)))

    assert hours(exposure) == [(1, 15, True), (16, 43, False)]


def test_who_never_came_was_away_all_the_time():
    """Without follows rows for them the fit would not know that they exist."""
    exposure = away(
        follows=follows(("w", "t", 0, 48), ("never", "t", 12, 48)), visits=visits(("w", "t", 10, 11))
    )

    assert exposure.totals().events.tolist() == [1, 0]
    assert exposure.totals().seconds[1] == pytest.approx(36 * 3600)


def test_the_unit_is_the_worker_over_all_topics():
    """MSU draws one mean for a user; with unit="follow" each topic has its own."""
    tables = {
        "follows": follows(("w", "a", 0, 48), ("w", "b", 10, 20), ("v", "a", 0, 48)),
        "visits": visits(("w", "a", 10, 12), ("w", "b", 11, 13), ("v", "a", 1, 2)),
    }
    together, apart = away_exposure(tables).totals(), away_exposure(tables, unit="follow").totals()

    assert together.events.tolist() == [2, 1]
    assert together.seconds[0] == pytest.approx((46 + 8) * 3600)
    assert apart.events.tolist() == [1, 1, 1]


def test_stream_seconds_are_wall_seconds_times_the_factor():
    """A compressed study fits the times of the stream; its visit gap is in wall seconds."""
    one = away(
        follows=follows(("w", "t", 0, 48)),
        visits=visits(("w", "t", 10, 11), ("w", "t", 30, 32)),
        gap_seconds=3600,
    )
    seven = away(
        follows=follows(("w", "t", 0, 48)),
        visits=visits(("w", "t", 10, 11), ("w", "t", 30, 32)),
        gap_seconds=3600,
        factor=7,
    )
    np.testing.assert_allclose(seven.totals().seconds, 7 * one.totals().seconds)


def test_visits_of_one_topic_that_overlap_are_one():
    """Two tabs; the visit ends as the tab that was closed last."""
    exposure = away(
        follows=follows(("w", "t", 0, 48)),
        visits=visits(("w", "t", 10, 20), ("w", "t", 12, 14), ("w", "t", 19, 22), ("w", "t", 30, 31)),
    )
    assert hours(exposure) == [(0, 10, True), (22, 30, True), (31, 48, False)]

    sessions = session_exposure(
        {
            "visits": visits(
                ("w", "t", 10, 20), ("w", "t", 12, 14), ("w", "t", 19, 22), reasons=["left", "left", "lost"]
            )
        }
    )
    assert sessions.seconds.tolist() == [pytest.approx(12 * 3600)]
    assert sessions.event.tolist() == [False]


def test_visits_of_different_topics_do_not_touch_each_other():
    """Also when they overlap."""
    exposure = away(
        follows=follows(("w", "a", 0, 48), ("w", "b", 0, 48)),
        visits=visits(("w", "a", 10, 20), ("w", "b", 12, 14)),
    )
    assert hours(exposure) == [(0, 10, True), (20, 48, False), (0, 12, True), (14, 48, False)]


def test_a_visit_is_cut_at_the_ends_of_its_follow():
    """What lies outside was not watched; a session that is cut is not complete."""
    tables = {
        "follows": follows(("w", "t", 10, 40)),
        "visits": visits(("w", "t", 9, 12), ("w", "t", 20, 21), ("w", "t", 39, 41)),
    }
    exposure, sessions = away_exposure(tables), session_exposure(tables)

    assert hours(exposure) == [(2, 10, True), (11, 29, True)]
    assert hours(sessions) == [(0, 2, True), (10, 11, True), (29, 30, False)]


def test_visits_outside_every_follow_are_reported():
    """After the end, before the start, or of nobody who follows: left out, and counted by name."""
    inside = [("w", "t", 20 + hour, 20.5 + hour) for hour in range(8)]
    exposure = away(
        follows=follows(("w", "t", 10, 40)),
        visits=visits(("w", "t", 2, 3), *inside, ("w", "t", 40, 41), ("x", "t", 20, 21)),
    )

    assert exposure.event.sum() == len(inside)
    assert names(exposure) == ["visits_without_follow", "visits_outside_follow"]
    assert "2 visits" in said(exposure)[1].sentence


def test_visits_that_begin_before_their_follow_are_cut_there_and_reported():
    """As when the two tables were written in different time zones."""
    exposure = away(follows=follows(("w", "t", 10, 40)), visits=visits(("w", "t", 9, 11), ("w", "t", 20, 21)))

    assert names(exposure) == ["visits_before_follow"]
    assert said(exposure)[0].sentence.startswith(
        "1 visit begins before its follow did; what lies before it is left out: are the times"
    )


def test_a_visit_that_whole_seconds_put_at_the_end_of_its_follow_is_no_fault():
    """It began half a second before, and times are in whole seconds: nothing of it is left, and nothing is wrong."""
    exposure = away(
        follows=follows(("w", "t", 10, 40)), visits=visits(("w", "t", 20, 21), ("w", "t", 40, 40))
    )

    assert exposure.event.sum() == 1
    assert names(exposure) == []


def test_two_systems_of_one_topic_are_one_follow():
    """Visits belong to worker and topic; the follow lasts from the first start to the last end."""
    table = follows(("w", "t", 0, 20), ("w", "t", 20, 48), system=["A", "B"])

    assert hours(away(follows=table, visits=visits(("w", "t", 10, 11)))) == [(0, 10, True), (11, 48, False)]


def test_a_follow_of_no_length_says_nothing():
    """Withdrawn at once: no time at risk, no worker."""
    exposure = away(
        follows=follows(("w", "t", 0, 48), ("gone", "t", 5, 5)), visits=visits(("w", "t", 10, 11))
    )

    assert len(exposure.totals()) == 1


def test_coming_back_at_once_is_possible():
    """T = 0 with events is taken as the resolution of the tables, a millisecond."""
    exposure = away(follows=follows(("w", "t", 0, 10)), visits=visits(("w", "t", 0, 5), ("w", "t", 5, 10)))

    assert exposure.totals().events.tolist() == [1]
    assert exposure.totals().seconds.tolist() == [0.001]


def test_splitting_a_cut_interval_changes_nothing():
    """A time away that is cut and goes on at once has the same n and T: two follows of one worker on one topic each."""
    whole = away(follows=follows(("w", "a", 0, 48)), visits=visits(("w", "a", 30, 31))).totals()
    parts = away(
        follows=follows(("w", "a", 0, 20), ("w", "b", 20, 48)), visits=visits(("w", "b", 30, 31))
    ).totals()

    np.testing.assert_allclose(parts.seconds, whole.seconds)
    assert parts.events.tolist() == whole.events.tolist()


# --- prompts


def prompts(*rows: tuple[str, str, float]) -> pd.DataFrame:
    table = pd.DataFrame([(w, t, at(h)) for w, t, h in rows], columns=["worker", "topic", "sent_at"])
    return check_frame(table, TABLES["prompts"])


def test_a_time_away_before_a_prompted_visit_is_cut_at_the_last_prompt():
    """The visit says when the reminder was sent, not when the worker would have come."""
    exposure = away(
        follows=follows(("w", "t", 0, 48)),
        visits=visits(
            ("w", "t", 10, 11), ("w", "t", 25, 26), ("w", "t", 30, 31), entries=["own", "reminder", "own"]
        ),
        prompts=prompts(
            ("w", "t", 5), ("w", "t", 20), ("w", "t", 24), ("w", "t", 29), ("x", "t", 25), ("w", "u", 25)
        ),
    )

    assert hours(exposure) == [(0, 10, True), (11, 24, False), (26, 30, True), (31, 48, False)]
    assert names(exposure) == ["prompted_visits"]


def test_a_prompted_visit_without_a_prompt_is_cut_at_its_start():
    """A prompt from before the last visit is not the one; the diagnostic says what that does."""
    exposure = away(
        follows=follows(("w", "t", 0, 48)),
        visits=visits(("w", "t", 10, 11), ("w", "t", 25, 26), entries=["own", "invitation"]),
        prompts=prompts(("w", "t", 5)),
    )

    assert hours(exposure) == [(0, 10, True), (11, 25, False), (26, 48, False)]
    assert names(exposure) == ["prompted_visits", "prompts_unknown"]


def test_times_away_are_refused_when_most_visits_were_prompted():
    """They would be the researcher's times, not the workers'."""
    with pytest.raises(NotIdentifiedError, match="67 % of the visits were brought by a reminder"):
        away(
            follows=follows(("w", "t", 0, 48)),
            visits=visits(
                ("w", "t", 10, 11),
                ("w", "t", 25, 26),
                ("w", "t", 30, 31),
                entries=["own", "reminder", "reminder"],
            ),
        )


def test_the_column_entry_may_be_missing():
    """Then everybody came by themselves."""
    table = visits(("w", "t", 10, 11)).drop(columns="entry")

    assert hours(away(follows=follows(("w", "t", 0, 48)), visits=table))[0] == (0, 10, True)


# --- gaps, inclusion, dropping out


def test_time_within_the_visit_gap_is_not_at_risk():
    """Nobody can be seen to come back sooner, neither before a visit nor before the end; after enrolment anybody can."""
    exposure = away(
        follows=follows(("w", "t", 0, 48)),
        visits=visits(("w", "t", 10, 11), ("w", "t", 30, 32), ("w", "t", 47, 47.5)),
        gap_seconds=2 * 3600,
    )

    assert hours(exposure) == [(0, 10, True), (13, 30, True), (34, 47, True)]
    assert names(exposure) == ["visit_gap"]


def test_visits_closer_than_the_gap_are_reported():
    """study.json says that there are none."""
    exposure = away(
        follows=follows(("w", "t", 0, 48)),
        visits=visits(("w", "t", 10, 11), ("w", "t", 12, 13)),
        gap_seconds=2 * 3600,
    )

    assert exposure.totals().events.tolist() == [2]
    assert "visits_closer_than_gap" in names(exposure)


def test_without_follows_the_people_who_never_came_must_be_spoken_of():
    """The default refuses; at_least_one_visit needs to know what was watched."""
    table = {"visits": visits(("w", "t", 10, 11), ("v", "t", 20, 21))}
    with pytest.raises(NotIdentifiedError, match="no table follows, so who never came"):
        away_exposure(table)
    with pytest.raises(NotIdentifiedError, match="does not say when the watching began"):
        away_exposure(table, inclusion="at_least_one_visit")

    window = (at(0).to_pydatetime(), at(48).to_pydatetime())
    exposure = away_exposure(table, inclusion="at_least_one_visit", window=window)
    assert hours(exposure) == [(0, 10, True), (11, 48, False), (0, 20, True), (21, 48, False)]
    np.testing.assert_allclose(exposure.seen_by_seconds, 48 * 3600)


def test_zero_truncation_is_for_those_who_would_not_have_been_seen():
    """Who enrolled by a visit is in the tables in any case; who has no visit is not."""
    exposure = away(
        follows=follows(("enrolled", "t", 0, 48), ("came", "t", 0, 24), ("never", "t", 0, 48)),
        visits=visits(("enrolled", "t", 0, 1), ("came", "t", 5, 6)),
        inclusion="at_least_one_visit",
    )

    assert exposure.seen_by_seconds.tolist() == [np.inf, 24 * 3600]
    assert exposure.totals().events.tolist() == [0, 1]


def test_a_record_ends_at_the_end_of_the_follow_unless_told_otherwise():
    """Cut at last_seen_at only on request: a last visit is no such sign of life."""
    table = follows(("w", "t", 0, 48), ("v", "t", 0, 48), last_seen_at=[at(20), pd.NaT])
    came = visits(("w", "t", 10, 11), ("v", "t", 10, 11))

    assert hours(away(follows=table, visits=came))[1] == (11, 48, False)
    cut = hours(away(follows=table, visits=came, dropout="last_seen"))
    assert cut == [(0, 10, True), (11, 20, False), (0, 10, True), (11, 48, False)]


def test_no_visits_at_all_are_times_away_that_were_all_cut():
    """A study in which nobody ever came has a table visits without rows."""
    exposure = away(follows=follows(("w", "t", 0, 48)), visits=visits(("w", "t", 1, 2)).iloc[:0])

    assert hours(exposure) == [(0, 48, False)]
