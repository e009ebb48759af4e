"""Modeled Stream Utility written out user by user: slow, and as close to the definition's words as code can be.

`tests` compare `metrics.stream` with it, `benchmarks/msu.py` times it.
"""

import math
from typing import NamedTuple

from metrics.topics import short_form


class Line(NamedTuple):
    """A line of a run; ``number`` is its place in the file."""

    seconds: float
    confidence: float
    number: int
    update: str


def lines_of(run, topic):
    """The lines of a topic that is written in its long or short form."""
    columns = zip(run.topics, run.updates, run.seconds.tolist(), run.confidence.tolist(), strict=True)
    return [
        Line(seconds, confidence, number, update)
        for number, (written, update, seconds, confidence) in enumerate(columns)
        if written in {topic, short_form(topic)}
    ]


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


def shown_first(line):
    """Newest first; equal times by higher confidence, then the line that stands later."""
    return (-line.seconds, -line.confidence, -line.number)


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


def read_stream(
    event,
    lines,
    user,
    decays,
    *,
    lengths=None,
    unlisted=30,
    since_last_session=False,
    ends_with_topic=True,
):
    """What one user gains for each decay, and the seconds spent on updates read to the end."""
    speed, visits = user
    gains, spent = [0.0] * len(decays), 0.0
    known, begun = set(), []
    now, last_end, newest_read = 0.0, -math.inf, None
    lines = sorted(lines, key=shown_first)
    for session, away in visits:
        if ends_with_topic and now + session > event.end - event.start:
            break
        begun.append(now)
        left = session
        shown = visible(lines, event.start + now, newest_read)
        if since_last_session:
            shown = [line for line in shown if line.seconds - event.start > last_end]
        for line in shown:
            needed = words_of(event, line.update, lengths or {}, unlisted) / speed
            if needed > left:
                break
            left -= needed
            spent += needed
            newest_read = shown[0]
            for name in nuggets_in(event, line.update):
                if name not in known:
                    known.add(name)
                    late = visits_late(event.nuggets[name].seconds - event.start, begun)
                    gains = [gain + decay**late for gain, decay in zip(gains, decays, strict=True)]
        last_end = now + session
        now = now + session + away
    return gains, spent


def visible(lines, now, newest_read):
    """What has come by now and is shown before the newest update that was read."""
    closed = lines.index(newest_read) if newest_read else len(lines)
    return [line for line in lines[:closed] if line.seconds <= now]


def visits_late(known, begun):
    """How many visits ago a nugget could have been told first."""
    if known > begun[-1]:
        return 0
    return len(begun) - 1 - min(visit for visit, start in enumerate(begun) if known <= start)
