"""Overview page of a study's console, and the pause.

Its snapshot of the study is kept for some seconds, so that open consoles share it; each process keeps its own. On a busy server, where
a snapshot takes long, it is kept longer: workers come first.
"""

import time
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import Lock

from flask import Blueprint, Response, current_app, request
from sqlalchemy.orm import Session

from study_app.services.researcher.completion import complete_workers
from study_app.services.researcher.progress import StudyProgress, study_progress
from study_app.services.researcher.studies import pause, resume
from study_app.store.database import room_left
from study_app.store.study_cache import CachedStudy, StudyCache
from study_app.web.console.alerts import Alert, find_alerts
from study_app.web.console.auth import ConsoleRequest, RefusedAction, manager_required, viewer_required
from study_app.web.console.layout import page
from study_app.web.console.summary import StudySummary, summarise
from study_app.web.serving import server

SNAPSHOTS = "prefcal_snapshots"
MIN_LIFETIME, MAX_LIFETIME = timedelta(seconds=4), timedelta(minutes=1)
LIFETIME_FACTOR = 100
"""Lifetime of a snapshot, as a multiple of the time to make it.

Snapshots then take a hundredth of a process's time at most.
"""
blueprint = Blueprint("overview", __name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class OverviewSnapshot:
    """State of a study at a time; ``lifetime`` is how long it is shown."""

    at: datetime
    version: int
    lifetime: timedelta
    progress: StudyProgress
    summary: StudySummary
    alerts: tuple[Alert, ...]

    def is_current(self, study: CachedStudy, *, within: timedelta, now: datetime) -> bool:
        """Return True if this is of the study as it is, and no older than that."""
        return self.version == study.version and self.at < now < self.at + within


@dataclass(slots=True)
class SnapshotCache:
    """The newest snapshot of each study, by its row."""

    plans: StudyCache
    snapshots: dict[int, OverviewSnapshot] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    def get(
        self, session: Session, study: CachedStudy, *, free_bytes: int | None, now: datetime
    ) -> OverviewSnapshot:
        """Return a snapshot of a study.

        One request makes a newer one; the others get the latest meanwhile, and wait only where it is older
        than a minute.
        """
        known = self.snapshots.get(study.id)
        if known is not None and known.is_current(study, within=known.lifetime, now=now):
            return known
        is_usable = known is not None and known.is_current(study, within=MAX_LIFETIME, now=now)
        if not self.lock.acquire(blocking=not is_usable) and known is not None:
            return known
        try:
            newest = self.snapshots.get(study.id)
            if (
                newest is None
                or newest is known
                or not newest.is_current(study, within=newest.lifetime, now=now)
            ):
                newest = self.snapshots[study.id] = self._take(session, study, free_bytes, now)
            return newest
        finally:
            self.lock.release()

    def _take(
        self, session: Session, study: CachedStudy, free_bytes: int | None, now: datetime
    ) -> OverviewSnapshot:
        began = time.monotonic()
        complete = complete_workers(session, self.plans, study, now=now)
        progress = study_progress(session, study, now=now, complete=complete)
        summary = summarise(session, study, progress, now=now, complete=complete)
        alerts = find_alerts(session, study, progress, free_bytes=free_bytes, now=now)
        took = timedelta(seconds=time.monotonic() - began)
        return OverviewSnapshot(
            at=now,
            version=study.version,
            lifetime=min(max(MIN_LIFETIME, LIFETIME_FACTOR * took), MAX_LIFETIME),
            progress=progress,
            summary=summary,
            alerts=alerts,
        )


@blueprint.get("/r/<study>/")
@viewer_required
def overview(console_request: ConsoleRequest) -> Response:
    """Show the progress of a study, and its alerts."""
    snapshots: SnapshotCache = current_app.extensions[SNAPSHOTS]
    snapshot = snapshots.get(
        console_request.session,
        console_request.study,
        free_bytes=room_left(server().database),
        now=console_request.now,
    )
    paused_at = console_request.stored_study.paused_at
    parts = (snapshot.at.timestamp(), paused_at and paused_at.timestamp(), console_request.may_act)
    tag = "-".join(map(str, parts))
    if request.if_none_match.contains_weak(tag):
        return Response(status=304)
    response = page(
        "console/overview.html",
        console_request,
        snapshot=snapshot,
        paused_at=paused_at,
        tag=tag,
    )
    response.set_etag(tag, weak=True)
    return response


@blueprint.post("/r/<study>/pause")
@manager_required("pause")
def post_pause(console_request: ConsoleRequest) -> Response:
    """Pause the study for new workers; those who have begun go on."""
    if not pause(console_request.session, console_request.stored_study, now=console_request.now):
        raise RefusedAction("The study is paused already.", 409)
    console_request.note("nobody new is let in; whoever has begun goes on")
    return console_request.back()


@blueprint.post("/r/<study>/resume")
@manager_required("resume")
def post_resume(console_request: ConsoleRequest) -> Response:
    """Open the study to new workers again."""
    if not resume(console_request.session, console_request.stored_study):
        raise RefusedAction("The study is not paused.", 409)
    console_request.note("new workers are let in again")
    return console_request.back()
