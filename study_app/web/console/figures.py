"""The figures of the overview, kept for some seconds, so that open consoles share them.

Each process keeps its own. Signs of care, which take half of the time and change slowly, are kept for a minute.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import Lock

from flask import current_app
from sqlalchemy import select
from sqlalchemy.orm import Session

from study_app.export.people import takes_part
from study_app.services.console.facts import Care, care
from study_app.services.console.overview import StudyGlance, glance
from study_app.services.console.troubles import Trouble, troubles
from study_app.services.researcher.progress import StudyProgress, study_progress
from study_app.store.models import Worker
from study_app.store.plan import StudyPlan

FIGURES = "prefcal_figures"
KEPT = timedelta(seconds=4)
CARE_KEPT = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What the overview shows, as it was ``at`` a moment and in a version of the study."""

    at: datetime
    version: int
    progress: StudyProgress
    glance: StudyGlance
    troubles: tuple[Trouble, ...]


@dataclass(slots=True)
class LatestFigures:
    """The newest figures of each study (by row), and the signs of care that they were made with."""

    figures: dict[int, Figures] = field(default_factory=dict)
    cares: dict[int, tuple[datetime, Collection[Care]]] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    def of(self, session: Session, plan: StudyPlan, *, free_bytes: int | None, now: datetime) -> Figures:
        """Return figures of a study that are at most `KEPT` old; who asks while they are made waits for them."""
        with self.lock:
            kept = self.figures.get(plan.id)
            if kept is None or kept.version != plan.version or not kept.at < now < kept.at + KEPT:
                kept = self._made(session, plan, free_bytes, now)
                self.figures[plan.id] = kept
            return kept

    def _made(self, session: Session, plan: StudyPlan, free_bytes: int | None, now: datetime) -> Figures:
        made_at, cares = self.cares.get(plan.id, (now, ()))
        if not made_at < now < made_at + CARE_KEPT:
            part = session.scalars(select(Worker.id).where(takes_part(plan.id))).all()
            cares = care(session, plan, part, now).values()
            self.cares[plan.id] = (now, cares)
        progress = study_progress(session, plan, now=now, cares=cares)
        queries = [task.queries for task in progress.tasks]
        return Figures(
            at=now,
            version=plan.version,
            progress=progress,
            glance=glance(session, plan, queries, now=now),
            troubles=troubles(
                session, plan, checks=progress.checks, queries=queries, free_bytes=free_bytes, now=now
            ),
        )


def latest_figures() -> LatestFigures:
    """Return those of the server that handles this request."""
    latest: LatestFigures = current_app.extensions[FIGURES]
    return latest
