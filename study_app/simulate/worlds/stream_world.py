"""What a simulated follower can know of an event: how long it is followed, and which nuggets an update's text brings."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from study_app.simulate.site import PageError, as_read
from study_app.tasks.update_stream import key_of

Nuggets: TypeAlias = tuple[tuple[str, float], ...]
"""Nuggets of an update, each with the time at which it became known, in seconds since 1970."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One event as it can be known.

    Attributes
    ----------
    start : float
        Stream time at enrolment, in seconds since 1970.
    follow_seconds : float
        Wall seconds from enrolment to the end of the follow.
    nuggets : mapping of (str, str) to Nuggets
        Key and text of an update, as read -> what is in it. The key belongs to it, since assessors did not find the
        same in every copy of a sentence.
    """

    start: float
    follow_seconds: float
    nuggets: Mapping[tuple[str, str], Nuggets]

    def brought(self, key: str, text: str) -> Nuggets:
        """Return the nuggets in an update; `PageError` when no system's stream has this text in its place."""
        if (key, text) not in self.nuggets:
            raise PageError(f"the page shows an update {key} that no system wrote: {text}")
        return self.nuggets[key, text]


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamWorld:
    """One task with streams: its clock, and its events by title."""

    factor: float
    events: Mapping[str, Told]


def told_event(streams: Mapping[str, Mapping[str, Any]], *, days: float, factor: float) -> Told:
    """Return what can be known of one event.

    Parameters
    ----------
    streams : mapping of str to mapping
        System -> content, as `study_app.store.stream_models.Stream` describes it.
    days : float
        Stream days of a follow.
    factor : float
        Stream seconds in a wall second.
    """
    one = next(iter(streams.values()))
    span = min(days * 86_400, one["end"] - one["start"])
    return Told(
        start=one["start"],
        follow_seconds=span / factor,
        nuggets={
            (key_of(place), as_read(update["text"])): tuple(
                (nugget, seconds) for nugget, seconds in update["nuggets"]
            )
            for content in streams.values()
            for place, update in enumerate(content["updates"], start=1)
        },
    )


@dataclass(slots=True, kw_only=True)
class Memory:
    """What a follower has seen of one event: visits in stream time, nuggets, and what each update brought anew.

    Attributes
    ----------
    visits : list of float
        Stream time at which each visit began.
    known : set of str
        Nuggets read so far.
    new : dict of str to Nuggets
        Key of an update -> the nuggets that nothing read before it had.
    """

    visits: list[float] = field(default_factory=list)
    known: set[str] = field(default_factory=set)
    new: dict[str, Nuggets] = field(default_factory=dict)

    def take(self, key: str, nuggets: Nuggets) -> None:
        """Remember an update that was read."""
        self.new[key] = tuple(one for one in nuggets if one[0] not in self.known)
        self.known.update(name for name, _ in nuggets)

    def visits_late(self, known_since: float) -> int:
        """Return how many visits ago something could have been told; 0 when it became known after this one began."""
        on_time = [number for number, at in enumerate(self.visits) if known_since <= at]
        return len(self.visits) - 1 - on_time[0] if on_time else 0
