"""The virtual clock, and the log that a simulated page leaves."""

from datetime import UTC, datetime, timedelta

from study_app.simulate.browser import PageLog, VirtualClock, WallClock

START = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)


def test_the_clock_never_runs_back():
    """A worker who acts late in the queue does not pull the others into the past."""
    clock = VirtualClock(START)
    clock.go_to(START + timedelta(hours=1))
    clock.go_to(START)

    assert clock() == START + timedelta(hours=1)


def test_on_the_machines_clock_going_to_a_time_is_waiting_for_it():
    """Not for one that is past."""
    waited = []
    clock = WallClock(now=lambda: START, sleep=waited.append)
    clock.go_to(START + timedelta(seconds=90))
    clock.go_to(START - timedelta(hours=1))

    assert waited == [90, 0]


def test_events_are_numbered_without_holes_and_both_clocks_agree():
    """What a page that never slept would send."""
    log = PageLog("token", START, layout="stacked", size=(390, 844))
    log.wait(12.3)
    log.note("submit", choice="left")

    assert [event["n"] for event in log.events] == list(range(1, len(log.events) + 1))
    assert [event["ms"] for event in log.events if event["kind"] == "beat"] == [5000, 10_000]
    assert len({event["wall"] - event["ms"] for event in log.events}) == 1
    assert log.seconds == 12.3


def test_batches_hold_every_event_once_in_order():
    """Cutting into batches loses and repeats nothing."""
    log = PageLog("token", START, layout="stacked", size=(390, 844))
    log.wait(60)
    batches = log.batches(4)

    assert all(len(batch["events"]) <= 4 and batch["page"] == "token" for batch in batches)
    assert [event for batch in batches for event in batch["events"]] == log.events
