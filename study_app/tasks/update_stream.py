"""Pure: a stored stream of updates as a value that can be asked quickly, however long it is."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from study_app.tasks.text_items import WITHOUT_SPACES, Item

KEY = re.compile(r"u[1-9][0-9]{0,6}")
SIDE = "stream"
"""The side that events of a stream page name."""


class ShownUpdate(NamedTuple):
    """An update: its id in the run, what is shown, when it came (seconds since 1970), and what it brings.

    ``nuggets`` are (nugget, seconds since 1970 at which it became known).
    """

    id: str
    text: str
    words: int
    chars: int
    at: float
    nuggets: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateStream:
    """A system's updates about one event.

    Attributes
    ----------
    start, end : float
        Of the event, in seconds since 1970.
    updates : tuple of ShownUpdate
        Oldest first; an update's place is its number here, from 1.
    times : tuple of float
        When each came.
    """

    start: float
    end: float
    updates: tuple[ShownUpdate, ...]
    times: tuple[float, ...]

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> "UpdateStream":
        """Return a stream from what `stream_models.Stream` stores."""
        updates = tuple(
            ShownUpdate(
                id=one["id"],
                text=one["text"],
                words=one["words"],
                chars=one["chars"],
                at=one["at"],
                nuggets=tuple((name, known) for name, known in one["nuggets"]),
            )
            for one in content["updates"]
        )
        return cls(
            start=content["start"],
            end=content["end"],
            updates=updates,
            times=tuple(update.at for update in updates),
        )

    def upto(self, at: float) -> int:
        """Return the place of the newest update there is at ``at`` seconds since 1970; 0 for none."""
        return bisect_right(self.times, at)

    def update(self, place: int) -> ShownUpdate:
        """Return the update in a place."""
        return self.updates[place - 1]

    def items(self, first: int, last: int, language: str) -> tuple[Item, ...]:
        """Return the items of a page that shows the places from ``first`` to ``last``, in the order it shows them."""
        if not first:
            return ()
        return tuple(
            Item(
                key=key_of(place),
                id=self.update(place).id,
                kind="update",
                words=self.update(place).words,
                chars=self.update(place).chars,
                by_chars=language in WITHOUT_SPACES,
            )
            for place in range(last, first - 1, -1)
        )


def key_of(place: int) -> str:
    """Return the key of the update in a place, as pages, forms and events name it."""
    return f"u{place}"


def places_of(keys: Iterable[str]) -> set[int]:
    """Return the places that keys name; what is no key of an update is left out."""
    return {int(key[1:]) for key in keys if KEY.fullmatch(key)}
