"""When the events of a page happened, by the server's clock."""

from hypothesis import given
from hypothesis import strategies as st

from study_app.logs.logged_events import DRIFT_MS, LoggedEvent, server_times

SERVED = 1_767_225_600_000
HOUR = 3_600_000
FIVE_HOURS_WRONG = -5 * HOUR
"""What the browser's wall clock shows may be anything; only its steps count."""


def log(*moments, ahead=FIVE_HOURS_WRONG, received=None):
    """Events at (monotonic ms, steps of the wall clock so far), all received at once or each when it happened."""
    return [
        LoggedEvent(
            number,
            "beat",
            ms,
            SERVED + ms + ahead + step,
            {},
            SERVED + ms + max(0, step) if received is None else received,
        )
        for number, (ms, step) in enumerate(moments, start=1)
    ]


def since_serving(events):
    return [time - SERVED for time in server_times(events, SERVED)]


def test_an_event_happened_when_the_pages_own_clock_says_after_the_serving():
    """However wrong the browser's time of day."""
    assert since_serving(log((300, 0), (5300, 0))) == [300, 5300]


def test_sleep_moves_later_events_on():
    """The monotonic clock stood still for an hour, the wall clock did not."""
    assert since_serving(log((300, 0), (900, HOUR), (1900, HOUR))) == [300, 900 + HOUR, 1900 + HOUR]


def test_a_clock_that_was_set_moves_nothing():
    """An hour's sleep would put the event behind its own arrival."""
    set_forward = log((300, 0), (900, HOUR), (1900, HOUR), received=SERVED + 4000)
    set_back = log((300, 0), (900, -HOUR), (1900, -HOUR))

    assert since_serving(set_forward) == [300, 900, 1900]
    assert since_serving(set_back) == [300, 900, 1900]


def test_a_later_event_that_came_at_once_gives_the_clock_away_too():
    """The first batch waited two hours for the network; what came right after it happened shows that nobody slept."""
    waited = log((300, 0), (900, HOUR), received=SERVED + 2 * HOUR)
    at_once = LoggedEvent(3, "close", 2 * HOUR + 50, SERVED + 3 * HOUR, {}, SERVED + 2 * HOUR + 100)

    assert since_serving([*waited, at_once]) == [300, 900, 2 * HOUR + 50]


def test_drift_within_the_tolerance_is_no_sleep():
    """Clocks are adjusted by small steps all the time."""
    assert since_serving(log((300, 0), (900, DRIFT_MS))) == [300, 900]


def test_nothing_happens_after_it_arrived():
    """Also when the browser claims so."""
    assert since_serving(log((300, 0), (2**53, 0), received=SERVED + 4000)) == [300, 4000]


def test_a_page_that_logged_nothing_has_no_times():
    """As without script."""
    assert server_times([], SERVED) == []


@given(
    st.lists(
        st.tuples(st.integers(0, 10**7), st.integers(-HOUR, HOUR), st.integers(0, 2 * HOUR)), max_size=12
    )
)
def test_times_are_in_the_order_of_the_numbers_and_before_arrival(rows):
    """Whatever clocks and networks do."""
    events = [
        LoggedEvent(number, "beat", ms, SERVED + ms + step, {}, SERVED + came)
        for number, (ms, step, came) in enumerate(rows, start=1)
    ]

    times = server_times(events, SERVED)

    assert times == sorted(times)
    assert all(SERVED <= time <= event.received_ms for time, event in zip(times, events, strict=True))
