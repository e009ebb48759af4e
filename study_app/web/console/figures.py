"""The figures of the overview, kept for some seconds, so that open consoles share them.

Each process keeps its own. Signs of care, which take half of the time and change slowly, are kept for a minute. On a busy server, where
figures take long, they are kept longer: workers come first.
"""

import time
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import Lock

from flask import current_app
from sqlalchemy import select
from sqlalchemy.orm import Session

from study_app.services.console.facts import Care, care
from study_app.services.console.overview import StudyGlance, glance
from study_app.services.console.troubles import Trouble, troubles
from study_app.services.researcher.completion import complete_workers
from study_app.services.researcher.progress import StudyProgress, study_progress
from study_app.store.models import Worker
from study_app.store.plan import Plans, StudyPlan
from study_app.store.submissions import takes_part

FIGURES = "prefcal_figures"
KEPT, MOST_KEPT = timedelta(seconds=4), timedelta(minutes=1)
SHARE = 100
"""So many times as long as figures took to make they are kept: they take a hundredth of a process's time at the most."""
CARE_KEPT = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What the overview shows, as it was ``at`` a moment and in a version of the study; ``kept`` is how long it is shown."""

    at: datetime
    version: int
    kept: timedelta
    progress: StudyProgress
    glance: StudyGlance
    troubles: tuple[Trouble, ...]

    def is_of(self, plan: StudyPlan, *, within: timedelta, now: datetime) -> bool:
        """Say whether these are figures of the study as it is, and no older than that."""
        return self.version == plan.version and self.at < now < self.at + within


@dataclass(slots=True)
class LatestFigures:
    """The newest figures of each study (by row), and the signs of care that they were made with."""

    plans: Plans
    figures: dict[int, Figures] = field(default_factory=dict)
    cares: dict[int, tuple[datetime, Collection[Care]]] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    def of(self, session: Session, plan: StudyPlan, *, free_bytes: int | None, now: datetime) -> Figures:
        """Return figures of a study.

        Newer ones are made by one of those who ask; the others get the latest, and wait only where these are older than a minute.
        """
        kept = self.figures.get(plan.id)
        if kept is not None and kept.is_of(plan, within=kept.kept, now=now):
            return kept
        may_be_older = kept is not None and kept.is_of(plan, within=MOST_KEPT, now=now)
        if not self.lock.acquire(blocking=not may_be_older) and kept is not None:
            return kept
        try:
            made = self.figures.get(plan.id)
            if made is None or made is kept or not made.is_of(plan, within=made.kept, now=now):
                made = self.figures[plan.id] = self._made(session, plan, free_bytes, now)
            return made
        finally:
            self.lock.release()

    def _made(self, session: Session, plan: StudyPlan, free_bytes: int | None, now: datetime) -> Figures:
        began = time.monotonic()
        made_at, cares = self.cares.get(plan.id, (now, ()))
        if not made_at < now < made_at + CARE_KEPT:
            part = select(Worker.id).where(takes_part(plan.id))
            cares = care(session, plan, part, now).values()
            self.cares[plan.id] = (now, cares)
        complete = complete_workers(session, self.plans, plan, now=now)
        progress = study_progress(session, plan, now=now, complete=complete, cares=cares)
        queries = [task.queries for task in progress.tasks]
        at_a_glance = glance(session, plan, queries, now=now, complete=complete)
        wrong = troubles(
            session, plan, checks=progress.checks, queries=queries, free_bytes=free_bytes, now=now
        )
        took = timedelta(seconds=time.monotonic() - began)
        return Figures(
            at=now,
            version=plan.version,
            kept=min(max(KEPT, SHARE * took), MOST_KEPT),
            progress=progress,
            glance=at_a_glance,
            troubles=wrong,
        )


def latest_figures() -> LatestFigures:
    """Return those of the server that handles this request."""
    latest: LatestFigures = current_app.extensions[FIGURES]
    return latest
