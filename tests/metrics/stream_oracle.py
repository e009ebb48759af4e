"""Modeled Stream Utility written out user by user: slow, and as close to the definition's words as code can be.

`tests` compare `metrics.msu.score` with it, `benchmarks/msu.py` times it.
"""

import math
from typing import NamedTuple

from metrics.topic_ids import short_form


class Line(NamedTuple):
    """A line of a run: when it came after the topic's start, and what reading it costs and tells."""

    came: float
    confidence: float
    number: int
    words: float
    nuggets: tuple[tuple[str, float], ...]


def lines_of(event, run, topic, *, lengths=None, unlisted=30):
    """The lines of a topic that is written in its long or short form, in the order in which they are shown.

    Newest first; equal times by higher confidence, then the line that stands later.
    """
    columns = zip(run.topics, run.updates, run.seconds.tolist(), run.confidence.tolist(), strict=True)
    found = [
        Line(
            seconds - event.start,
            confidence,
            number,
            words_of(event, update, lengths or {}, unlisted),
            tuple((name, event.nuggets[name].seconds - event.start) for name in nuggets_in(event, update)),
        )
        for number, (written, update, seconds, confidence) in enumerate(columns)
        if written in {topic, short_form(topic)}
    ]
    return sorted(found, key=lambda line: (-line.came, -line.confidence, -line.number))


def words_of(event, update, lengths, unlisted):
    if update in lengths:
        return lengths[update]
    if update in event.updates:
        return len(event.updates[update].text.encode().split())
    return unlisted


def nuggets_in(event, update):
    """Its own and, if it is a copy, its original's."""
    names = [match.nugget for match in event.matches.get(update, ())]
    if update in event.updates:
        names += [match.nugget for match in event.matches.get(event.updates[update].original, ())]
    return names


def draw_visits(population, rng, topic_seconds):
    """A user of a population, as (words a second, [(session, away), ...]) over a topic of this length."""
    away_mean, session_mean, speed = population.user(rng)
    visits = []
    now = 0.0
    while now < topic_seconds:
        session = session_mean * rng.standard_exponential()
        away = away_mean * rng.standard_exponential()
        if now + session > topic_seconds:
            break
        visits.append((session, min(away, topic_seconds - (now + session))))
        now += session + away
    return speed, visits


def read_stream(lines, user, decays, *, topic_seconds=math.inf, since_last_session=False):
    """What one user gains for each decay, and the seconds spent on updates read to the end."""
    speed, visits = user
    gains, spent = [0.0] * len(decays), 0.0
    known, begun = set(), []
    now, last_end, closed = 0.0, -math.inf, len(lines)
    for session, away in visits:
        if now + session > topic_seconds:
            break
        begun.append(now)
        left = session
        newest = next((place for place in range(closed) if lines[place].came <= now), closed)
        for line in lines[newest:closed]:
            needed = line.words / speed
            if needed > left or (since_last_session and line.came <= last_end):
                break
            left -= needed
            spent += needed
            closed = newest
            for name, since in line.nuggets:
                if name not in known:
                    known.add(name)
                    late = visits_late(since, begun)
                    gains = [gain + decay**late for gain, decay in zip(gains, decays, strict=True)]
        last_end = now + session
        now = now + session + away
    return gains, spent


def visits_late(known, begun):
    """How many visits ago a nugget could have been told first."""
    if known > begun[-1]:
        return 0
    return len(begun) - 1 - min(visit for visit, start in enumerate(begun) if known <= start)
