"""A worker's page as it stood when it was served, made from what is stored by the same functions and templates as then.

What was not stored as it stood is not made up: the lists of queries and of streams, whose rooms and numbers change all the time, and the
pages after the last answer. The error above a form that had come back is not shown either.
"""

from datetime import datetime

from sqlalchemy.orm import Session

from study_app.protocol.steps import part_of
from study_app.services.console.replay import PastPage, served_then
from study_app.services.worker.answers import Look
from study_app.services.worker.streams import followed
from study_app.services.worker.whereabouts import Whereabouts, locate
from study_app.store.plan import Plans
from study_app.web.pages.pages import StreamPage
from study_app.web.show.show import AnyPage, page_of
from study_app.web.show.tasks import stream_page

AS_THEY_STOOD = frozenset(
    {"intro", "search", "vote", "pair", "rate", "questions", "enrol", "stream", "useful"}
)
"""Kinds of steps whose pages can be shown again."""


def page_then(
    session: Session, plans: Plans, page: PastPage
) -> tuple[AnyPage | StreamPage, tuple[int, int] | None] | None:
    """Return what a page showed, and which part of the study it was (see `part_of`); None where that is not stored."""
    if page.step.kind not in AS_THEY_STOOD:
        return None
    here = locate(session, plans, page.worker, now=page.served_at)
    look = _look(session, plans, here, page, until=page.served_at)
    if page.step.kind == "stream":
        one = followed(session, plans, here, page.step)
        return stream_page(look, one, served_then(session, one, page)), part_of(here.state, page.step)
    return page_of(look), part_of(here.state, page.step)


def _look(session: Session, plans: Plans, here: Whereabouts, page: PastPage, *, until: datetime) -> Look:
    return Look(session=session, plans=plans, here=here, step=page.step, now=page.served_at, until=until)
