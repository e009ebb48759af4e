"""The tables to take away; fit, agreement and report as one job in the background; and the report, opened here."""

import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from flask import Blueprint, Response, g, request, send_file
from sqlalchemy import URL
from werkzeug.exceptions import NotFound

from study_app.services.console import jobs
from study_app.services.console.material import looks, open_results
from study_app.store.console_models import Job
from study_app.store.database import transaction
from study_app.web.console.frame import NotDone, Seat, manage, page, watch
from study_app.web.console.job_folders import (
    NewJobFolder,
    is_at_work,
    job_folder,
    new_job_folder,
    remove_job_folders,
    results_folder,
)
from study_app.web.serving import server

blueprint = Blueprint("data", __name__)
REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; sandbox"
)
"""The report's own, and no more: it has no script, and the console is not for it."""
FORMATS = ("csv", "parquet")


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownJob:
    """A job as it stands now: one that is open while its process has gone was interrupted."""

    row: Job
    state: str
    message: str | None

    @property
    def is_open(self) -> bool:
        """Whether there is more to come."""
        return self.state in jobs.OPEN

    @property
    def place(self) -> int:
        """The number of its step, from 1; 0 before the first."""
        steps = jobs.STEPS[self.row.kind]
        return steps.index(self.row.step) + 1 if self.row.step in steps else 0

    @property
    def steps(self) -> tuple[str, ...]:
        """All of its steps."""
        return jobs.STEPS[self.row.kind]

    @property
    def has_report(self) -> bool:
        """Whether its report can be opened."""
        return self.row.kind == jobs.RESULTS and self.state == "done" and self.row.folder is not None


def _database() -> URL:
    return server().database.engine.url


def _shown(row: Job) -> ShownJob:
    if row.state in jobs.OPEN and not is_at_work(_database(), row.folder):
        return ShownJob(row=row, state="interrupted", message=jobs.INTERRUPTED)
    return ShownJob(row=row, state=row.state, message=row.message)


@blueprint.get("/r/<study>/data")
@watch
def data(seat: Seat) -> Response:
    """Show what can be taken away, and the jobs."""
    return page(
        "console/data.html",
        seat,
        jobs=[_shown(row) for row in jobs.jobs_of(seat.session, seat.plan.id)],
        newest=jobs.newest_done(seat.session, seat.plan.id),
        looks=looks(seat.session, seat.plan.id),
    )


@blueprint.post("/r/<study>/data/jobs")
@manage("start a job", first=jobs.wait_for_turn)
def post_job(seat: Seat) -> Response:
    """Start a job: the tables, or everything up to the report."""
    kind = request.form.get("kind", "")
    if kind not in jobs.STEPS:
        raise NotDone("No such job. Open the page of the data again, and start it from there.")
    if sys.platform == "win32":
        raise NotDone("On Windows use the commands: prefcal export, fit, agree and report.")
    _clear_up(seat)
    folder = _new_folder()
    seat.undone.callback(folder.give_up)
    row = jobs.begin(seat.session, seat.plan.id, kind, key=seat.key.id, folder=folder.path.name, now=seat.now)
    if row is None:
        raise NotDone("Another job is at work, and each takes a whole core. Wait until it has ended.", 409)
    seat.when_stored.append(partial(_start, row.id, folder))
    seat.note("tables" if kind == jobs.TABLES else "tables, fit, agreement and report")
    return seat.back(f"data/jobs/{row.id}")


def _clear_up(seat: Seat) -> None:
    """Store which jobs were interrupted, and remove what jobs left that failed or are old, once that is stored."""
    for row in jobs.open_jobs(seat.session):
        if not is_at_work(_database(), row.folder):
            jobs.end(seat.session, row.id, state="interrupted", message=jobs.INTERRUPTED, now=seat.now)
    old = jobs.forget_old(seat.session, seat.plan.id)
    seat.when_stored.append(partial(remove_job_folders, _database(), old))


def _new_folder() -> NewJobFolder:
    try:
        return new_job_folder(_database())
    except OSError as error:
        where = results_folder(_database())
        raise NotDone(
            f"Nothing can be written into {where} ({error.strerror}). Make room there, or let the server write there.",
            503,
        ) from error


def _start(job: int, folder: NewJobFolder) -> None:
    """Start the process of a job that is stored by now, or store that it could not be started."""
    try:
        folder.start(job, _database())
    except OSError as error:
        message = f"its process could not be started ({error.strerror}); start it again"
        with transaction(server().database, write=True) as session:
            jobs.end(session, job, state="failed", message=message, now=server().now())


@blueprint.get("/r/<study>/data/jobs/<int:number>")
@watch
def job(seat: Seat, number: int) -> Response:
    """Show how far a job is, and how it ended."""
    row = jobs.job_of(seat.session, seat.plan.id, number)
    if row is None:
        raise NotFound
    return page("console/job.html", seat, job=_shown(row))


@blueprint.get("/r/<study>/data/tables.zip")
@manage("take the tables")
def tables(seat: Seat) -> Response:
    """Hand out the tables that the newest job wrote, as one archive; they have every vote, so that they were taken is stored as a look."""
    format_ = request.args.get("format", "csv")
    row = jobs.newest_done(seat.session, seat.plan.id)
    if format_ not in FORMATS:
        raise NotDone("There are tables as csv and as parquet; take one of them from the page of the data.")
    archive = _file(row, f"tables-{format_}.zip")
    look = open_results(seat.session, seat.plan.id, now=seat.now)
    made = f", of {row.made_at:%Y-%m-%d %H:%M} UTC" if row else ""
    seat.note(f"{format_}{made}, at {look.judgments} judgments")
    name = f"{seat.plan.name}-tables-{format_}.zip"
    return send_file(archive, as_attachment=True, download_name=name, max_age=0)


@blueprint.get("/r/<study>/data/report/<int:number>")
@manage("look at the report")
def report(seat: Seat, number: int) -> Response:
    """Show a job's report, under its own content security policy; it says who is preferred, so that it was opened is stored."""
    row = jobs.job_of(seat.session, seat.plan.id, number)
    if row is None:
        raise NotFound
    file = _file(row if row.kind == jobs.RESULTS else None, "report.html")
    seat.note(f"at {open_results(seat.session, seat.plan.id, now=seat.now).judgments} judgments")
    g.policy = REPORT_POLICY
    return Response(file.read_bytes(), mimetype="text/html")


def _file(row: Job | None, name: str) -> Path:
    """Return a file of a job that is done; raises `NotDone` where it is not there, or not any more."""
    folder = job_folder(_database(), row.folder) if row is not None and row.state == "done" else None
    path = None if folder is None else folder / name
    if path is None or not path.is_file():
        raise NotDone(
            f"There is no such file ({name}): no job has written it yet, or it was removed since. Start a job on the page of the data.",
            404,
        )
    return path
