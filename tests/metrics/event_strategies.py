"""Random events, runs and visitors, small enough to shrink to something readable; many times are equal."""

import numpy as np
from hypothesis import strategies as st

from metrics.events import Event, EventCollection, Match, Nugget, Update, UpdateRun

TOPIC = "TS14.1"
START = 1_000_000
UPDATES = tuple(f"d{number}-0" for number in range(6))
NUGGETS = ("n0", "n1", "n2", "n3")

texts = st.text("ab  é\u00a0", max_size=12)
times = st.integers(-3, 12).map(lambda step: START + 600.0 * step)


@st.composite
def events(draw):
    """Four nuggets, one perhaps unimportant; six updates, some copies, one perhaps not sampled."""
    offsets = st.integers(0, 14)
    matches = st.builds(Match, st.sampled_from(NUGGETS), offsets, offsets)
    originals = st.sampled_from([None, None, *UPDATES, "elsewhere-1"])
    sampled = draw(st.lists(st.sampled_from(UPDATES), min_size=1, unique=True))
    nuggets = st.builds(Nugget, times, st.sampled_from([-1.0, 0.0, 1.0, 2.0, 3.0]), st.integers(0, 6), texts)
    return Event(
        start=START,
        end=START + 6000.0,
        nuggets={name: draw(nuggets) for name in NUGGETS},
        updates={update: Update(draw(texts), draw(st.integers(0, 6)), draw(originals)) for update in sampled},
        matches={update: tuple(draw(st.lists(matches, max_size=3))) for update in sampled},
    )


@st.composite
def runs(draw):
    """Any updates at any times, twice or never, the topic in either form, and one that nobody judged."""
    lines = draw(
        st.lists(
            st.tuples(
                st.sampled_from([TOPIC, TOPIC, "1", "9"]),
                st.sampled_from([*UPDATES, "x-1"]),
                times,
                st.sampled_from([-1.0, 0.0, 0.5, np.inf]),
            ),
            max_size=12,
        )
    )
    return run_of(lines)


@st.composite
def visitors(draw):
    """One to three users as (words a second, [(session, away), ...]); some sessions last no time."""
    sessions = st.sampled_from([0.0, 1.0, 5.0, 20.0, 60.0, 600.0])
    away = st.sampled_from([0.0, 60.0, 600.0, 1200.0, 1800.0])
    pairs = st.lists(st.tuples(sessions, away), min_size=1, max_size=10)
    return draw(st.lists(st.tuples(st.sampled_from([0.5, 1.0, 4.0]), pairs), min_size=1, max_size=3))


def collection_of(*found):
    """A collection of events called TS14.1, TS14.2 and so on."""
    return EventCollection(
        name="nuggets.tsv", topics={f"TS14.{number}": one for number, one in enumerate(found, start=1)}
    )


def run_of(lines, *, name="mine"):
    """A run of (topic, update, seconds, confidence)."""
    topics, updates, seconds, confidence = zip(*lines, strict=True) if lines else ((), (), (), ())
    return UpdateRun(
        name=name,
        topics=tuple(topics),
        updates=tuple(updates),
        seconds=np.array(seconds, dtype=np.float64),
        confidence=np.array(confidence, dtype=np.float64),
    )
