"""Updates of a system about one event, with fast queries; pure."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from study_app.protocol.items import Item
from study_app.protocol.sides import Block

KEY = re.compile(r"u[1-9][0-9]{0,6}")
SIDE = "stream"
"""The side that events of a stream page name."""

Nuggets: TypeAlias = tuple[tuple[str, float], ...]
"""Nuggets of an update, each with the time in s since 1970 at which it was known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateStream:
    """A system's updates about one event.

    Attributes
    ----------
    start, end : float
        Of the event, in seconds since 1970.
    updates : tuple of Block
        Oldest first, each with the time at which it came; an update's place is its number here, from 1.
    nuggets : tuple of Nuggets
        What each brings.
    """

    start: float
    end: float
    updates: tuple[Block, ...]
    nuggets: tuple[Nuggets, ...]

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> "UpdateStream":
        """Return a stream from the JSON of `task_models.StoredStream`."""
        return cls(
            start=content["start"],
            end=content["end"],
            updates=tuple(map(Block.of, content["updates"])),
            nuggets=tuple(tuple((name, known) for name, known in brought) for brought in content["nuggets"]),
        )

    def json(self) -> dict[str, Any]:
        """Return its JSON."""
        return {
            "start": self.start,
            "end": self.end,
            "updates": [update.json() for update in self.updates],
            "nuggets": [[list(nugget) for nugget in brought] for brought in self.nuggets],
        }

    def texts(self) -> Iterator[str]:
        """Yield the words of each update."""
        return (update.text for update in self.updates)

    def newest_index(self, at: float) -> int:
        """Return the index of the newest update at a time, or 0 for none.

        The time ``at`` is in seconds since 1970.
        """
        return bisect_right(self.updates, at, key=_came_at)

    def update(self, place: int) -> Block:
        """Return the update in a place."""
        return self.updates[place - 1]

    def came_at(self, place: int) -> float:
        """Return when the update in a place came, in seconds since 1970."""
        return _came_at(self.updates[place - 1])

    def brought(self, place: int) -> Nuggets:
        """Return the nuggets of the update in a place."""
        return self.nuggets[place - 1]

    def items(self, first: int, last: int, language: str) -> tuple[Item, ...]:
        """Return the items of positions ``first`` to ``last``, in the order displayed."""
        shown = self.updates[first - 1 : last] if first else ()
        return tuple(update.item(language) for update in reversed(shown))


def _came_at(update: Block) -> float:
    return update.at or 0.0


def key_of(place: int) -> str:
    """Return the key of the update in a place, as pages, forms and events name it."""
    return f"u{place}"


def places_of(keys: Iterable[str]) -> set[int]:
    """Return the places that keys name; what is no key of an update is left out."""
    return {int(key[1:]) for key in keys if KEY.fullmatch(key)}
