"""The logged events of many pages at once, as the pure modules take them."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from pydantic_core import from_json
from sqlalchemy import BigInteger, ColumnElement, Text, cast, select, type_coerce
from sqlalchemy.orm import Session

from study_app.logs.dwell import LoggedEvent
from study_app.store.models import Event, PageLoad

_NEED_DETAIL = frozenset({"see", "layer", "open", "layout"})
_NO_DETAIL: Mapping[str, Any] = MappingProxyType({})


def logged_events(
    session: Session, workers: Sequence[int], pages: ColumnElement[bool]
) -> defaultdict[str, list[LoggedEvent]]:
    """Return page load -> its events by ascending number.

    Parameters
    ----------
    workers : sequence of int
        Rows of the workers.
    pages : condition on `PageLoad`
        Which of their pages.
    """
    logged = (
        select(
            PageLoad.key,
            Event.number,
            Event.kind,
            Event.page_ms,
            Event.wall_ms,
            # as text, since most kinds have no detail that matters here, and times as the integers they are stored as
            cast(Event.detail, Text),
            type_coerce(Event.received_at, BigInteger),
        )
        .join(PageLoad, PageLoad.id == Event.page_load_id)
        .where(PageLoad.worker_id.in_(workers), pages)
        .order_by(Event.page_load_id, Event.number)
    )
    events: defaultdict[str, list[LoggedEvent]] = defaultdict(list)
    for page, number, kind, page_ms, wall_ms, detail, received_ms in session.execute(logged):
        told = from_json(detail) if kind in _NEED_DETAIL else _NO_DETAIL
        events[page].append(LoggedEvent(number, kind, page_ms, wall_ms, told, received_ms))
    return events
