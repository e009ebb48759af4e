"""Arrays of the events, items shown and items read of many pages; pure.

Arrays are few and wide, because compiled loops take time to count the references to each.
"""

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Int64s: TypeAlias = NDArray[np.int64]
Int8s: TypeAlias = NDArray[np.int8]
Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]

KINDS = (
    "see",
    "layer",
    "open",
    "layout",
    "visible",
    "beat",
    "hidden",
    "focus",
    "blur",
    "submit",
    "close",
    "sleep",
    "leave",
)
"""Kinds of event by their number in arrays; every other kind is `OTHER`."""
SEE, LAYER, OPEN, LAYOUT, VISIBLE, BEAT, HIDDEN, FOCUS, BLUR, SUBMIT, CLOSE, SLEEP, LEAVE, OTHER = range(14)

NUMBER, KIND, PAGE_MS, WALL_MS, RECEIVED_MS, ITEM, IS_OPEN, IN_FORCE = range(8)
"""Columns of `EventArrays.log`.

Number in the page; index of `KINDS`; the page's clock, the wall clock, and the time of storing, in
milliseconds; the item seen, opened or closed as its index in `SideContent`, -1 for none of these; 1 where a layer
was opened; the layout that came into force.
"""

BEGIN, SECOND, END = range(3)
"""Columns of `SideContent.pages`: first item, first of the second side, end."""


class EventArrays(NamedTuple):
    """Events of pages, page after page, by ascending number in each.

    Attributes
    ----------
    first : array of int, shape (pages + 1,)
        Index of the first event of each page.
    log : array of int, shape (events, 8)
        Columns `NUMBER` to `IN_FORCE`.
    share : array of float, shape (events,)
        Share on the screen of an item that was seen.
    """

    first: Int64s
    log: Int64s
    share: Floats


class SideContent(NamedTuple):
    """Items that pages showed, page after page.

    Each text with a second layer follows its link.

    Attributes
    ----------
    pages : array of int, shape (pages, 3)
        Columns `BEGIN`, `SECOND` and `END`.
    weight : array of float, shape (items,)
        What each counts for when time is shared, see `study_app.protocol.items.Item`.
    layer : array of int, shape (items,)
        The link in whose second layer it stands, -1 in the first layer.
    """

    pages: Int64s
    weight: Floats
    layer: Int64s


FIRST_SEEN, WHOLLY_SEEN, IS_INTERRUPTED, WAS_OPENED, IS_SHOWN, IS_OPENED = range(6)
"""Columns of `ItemReadings.notes`.

The event since which an item was seen, and all of it at once, -1 for never; 1 where the page ended while it
was being read; where its second layer was opened at some time; where it is on the screen; where its layer is
open.
"""

SHARE, DWELL_MS, SHARE_NOW, LENGTH_NOW, SINCE = range(5)
"""Columns of `ItemReadings.parts`.

They are the largest share and dwell time, and the current share, weight and growth.
"""


class ItemReadings(NamedTuple):
    """Reading of the items that pages showed, by the rules of `study_app.logs.loops`.

    Attributes
    ----------
    notes : array of int, shape (items, 6)
        Columns `FIRST_SEEN` to `IS_OPENED`.
    parts : array of float, shape (items, 5)
        Columns `SHARE` to `SINCE`.
    top : array of int, shape (pages, 2)
        Of each side the first item on the screen when the furthest came into view, -1 for none.
    layout_ms, layout_place : array of int, shape (pages, layouts)
        Counted time, and in which order the layouts came into force (0: never).
    broken_off : array of int, shape (events,)
        After an event with which a visit ends: the item that was being read and not read on later, else -1.
    """

    notes: Int64s
    parts: Floats
    top: Int64s
    layout_ms: Int64s
    layout_place: Int64s
    broken_off: Int64s

    @classmethod
    def unread(cls, events: EventArrays, shown: SideContent, layouts: int) -> "ItemReadings":
        """Return the readings before the first event."""
        items, pages = shown.weight.size, len(shown.pages)
        notes = np.zeros((items, 6), np.int64)
        notes[:, : WHOLLY_SEEN + 1] = -1
        return cls(
            notes=notes,
            parts=np.zeros((items, 5)),
            top=np.full((pages, 2), -1),
            layout_ms=np.zeros((pages, layouts), np.int64),
            layout_place=np.zeros((pages, layouts), np.int64),
            broken_off=np.full(events.share.size, -1),
        )
