"""One page of one worker, as it was: which page load, what its log tells, and what its form sent. Nothing of who has withdrawn."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from study_app.logs.dwell import LoggedEvent
from study_app.logs.screen import PageStory
from study_app.protocol.steps import Step, step_of
from study_app.services.worker.streams import WAS_USED, Followed, Served, places_read
from study_app.store.models import EPOCH, MILLISECOND, PageLoad, StoredEvent, Worker
from study_app.store.plan import StreamViewRow, columns
from study_app.store.submissions import takes_part
from study_app.store.task_models import StreamView


@dataclass(frozen=True, slots=True, kw_only=True)
class PastPage:
    """A page load that logged something; ``worker`` is the worker's row, ``pages`` the keys of the load before and the one after."""

    id: int
    key: str
    worker: int
    step: Step
    served_at: datetime
    before: str | None
    after: str | None


def past_page(session: Session, study: int, pseudonym: str, key: str) -> PastPage | None:
    """Return a page load of a worker of a study; None where there is none, or the worker takes no part any more."""
    wanted = (
        select(PageLoad.id, PageLoad.worker_id, PageLoad.step, PageLoad.served_at)
        .join(Worker, Worker.id == PageLoad.worker_id)
        .where(takes_part(study), Worker.pseudonym == pseudonym, PageLoad.key == key)
    )
    row = session.execute(wanted).one_or_none()
    if row is None:
        return None
    load, worker, path, served_at = row
    mine = select(PageLoad.key).where(PageLoad.worker_id == worker).order_by(PageLoad.served_at, PageLoad.id)
    keys = session.scalars(mine).all()
    place = keys.index(key)
    return PastPage(
        id=load,
        key=key,
        worker=worker,
        step=step_of(path),
        served_at=served_at,
        before=keys[place - 1] if place else None,
        after=keys[place + 1] if place + 1 < len(keys) else None,
    )


def story_of(session: Session, page: PastPage) -> PageStory:
    """Return what a page's log tells."""
    stored = (
        select(
            StoredEvent.number,
            StoredEvent.kind,
            StoredEvent.page_ms,
            StoredEvent.wall_ms,
            StoredEvent.detail,
            StoredEvent.received_at,
        )
        .where(StoredEvent.page_load_id == page.id)
        .order_by(StoredEvent.number)
    )
    events = [
        LoggedEvent(number, kind, page_ms, wall_ms, detail, (received_at - EPOCH) // MILLISECOND)
        for number, kind, page_ms, wall_ms, detail, received_at in session.execute(stored)
    ]
    return PageStory.of(events, (page.served_at - EPOCH) // MILLISECOND)


def served_then(session: Session, one: Followed, page: PastPage) -> Served:
    """Return a page of a stream as it was served, with the places on it that had been read on the pages before."""
    views = select(*columns(StreamView, StreamViewRow))
    view = StreamViewRow(*session.execute(views.where(StreamView.key == page.key)).one())
    earlier = views.where(
        StreamView.follow_id == one.follow.id,
        StreamView.id < view.id,
        StreamView.last >= view.first,
        WAS_USED,
    )
    read = places_read(session, one, [StreamViewRow(*row) for row in session.execute(earlier)])
    return Served(view=view, read=frozenset(place for place in read if view.first <= place <= view.last))
