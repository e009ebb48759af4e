"""Download of data: tables and report, made by jobs in the background."""

import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from flask import Blueprint, Response, g, request, send_file
from sqlalchemy import URL
from werkzeug.exceptions import NotFound

from study_app.services.researcher import jobs
from study_app.store.console_models import Job
from study_app.store.database import transaction
from study_app.store.results_views import add_results_view, results_views
from study_app.web.console.auth import ConsoleRequest, RefusedAction, manager_required, viewer_required
from study_app.web.console.job_folders import (
    NewJobFolder,
    is_at_work,
    job_folder,
    new_job_folder,
    remove_job_folders,
    results_folder,
)
from study_app.web.console.layout import page
from study_app.web.serving import server

blueprint = Blueprint("data", __name__)
REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; sandbox"
)
"""Content security policy of the report, which has no script.

The report has no access to the console.
"""
FORMATS = ("csv", "parquet")


@dataclass(frozen=True, slots=True, kw_only=True)
class JobStatus:
    """Current state of a job; an open one without a process was interrupted."""

    row: Job
    state: str
    message: str | None

    @property
    def is_open(self) -> bool:
        """True while the job works or waits."""
        return self.state in jobs.OPEN

    @property
    def step_number(self) -> int:
        """Number of its step, from 1; 0 before the first."""
        steps = jobs.STEPS[self.row.kind]
        return steps.index(self.row.step) + 1 if self.row.step in steps else 0

    @property
    def steps(self) -> tuple[str, ...]:
        """The steps of its kind."""
        return jobs.STEPS[self.row.kind]

    @property
    def has_report(self) -> bool:
        """True if its report can be opened."""
        return self.row.kind == jobs.RESULTS and self.state == "done" and self.row.folder is not None


def _database() -> URL:
    return server().database.engine.url


def _status(row: Job) -> JobStatus:
    if row.state in jobs.OPEN and not is_at_work(_database(), row.folder):
        return JobStatus(row=row, state="interrupted", message=jobs.INTERRUPTED)
    return JobStatus(row=row, state=row.state, message=row.message)


@blueprint.get("/r/<study>/data")
@viewer_required
def data(console_request: ConsoleRequest) -> Response:
    """Show the data to download, and the jobs."""
    return page(
        "console/data.html",
        console_request,
        jobs=[_status(row) for row in jobs.jobs_of(console_request.session, console_request.study.id)],
        newest=jobs.newest_done(console_request.session, console_request.study.id),
        views=results_views(console_request.session, console_request.study.id),
    )


@blueprint.post("/r/<study>/data/jobs")
@manager_required("start a job", first=jobs.wait_for_turn)
def post_job(console_request: ConsoleRequest) -> Response:
    """Start a job: the tables, or everything up to the report."""
    kind = request.form.get("kind", "")
    if kind not in jobs.STEPS:
        raise RefusedAction("No such job. Open the page of the data again, and start it from there.")
    if sys.platform == "win32":
        raise RefusedAction("On Windows use the commands: prefcal export, fit, agree and report.")
    _clear_up(console_request)
    folder = _new_folder()
    console_request.rollback.callback(folder.give_up)
    row = jobs.begin(
        console_request.session,
        console_request.study.id,
        kind,
        key=console_request.key.id,
        folder=folder.path.name,
        now=console_request.now,
    )
    if row is None:
        raise RefusedAction(
            "Another job is at work, and each takes a whole core. Wait until it has ended.", 409
        )
    console_request.after_commit.append(partial(_start, row.id, folder))
    console_request.note("tables" if kind == jobs.TABLES else "tables, fit, agreement and report")
    return console_request.back(f"data/jobs/{row.id}")


def _clear_up(console_request: ConsoleRequest) -> None:
    """Store interrupted jobs, then remove the folders of failed and old ones."""
    for row in jobs.open_jobs(console_request.session):
        if not is_at_work(_database(), row.folder):
            jobs.end(
                console_request.session,
                row.id,
                state="interrupted",
                message=jobs.INTERRUPTED,
                now=console_request.now,
            )
    old = jobs.forget_old(console_request.session, console_request.study.id)
    console_request.after_commit.append(partial(remove_job_folders, _database(), old))


def _new_folder() -> NewJobFolder:
    try:
        return new_job_folder(_database())
    except OSError as error:
        where = results_folder(_database())
        raise RefusedAction(
            f"Nothing can be written into {where} ({error.strerror}). Make room there, or let the server write there.",
            503,
        ) from error


def _start(job: int, folder: NewJobFolder) -> None:
    """Start the process of a stored job, or store that it could not be started."""
    try:
        folder.start(job, _database())
    except OSError as error:
        message = f"its process could not be started ({error.strerror}); start it again"
        with transaction(server().database, write=True) as session:
            jobs.end(session, job, state="failed", message=message, now=server().now())


@blueprint.get("/r/<study>/data/jobs/<int:number>")
@viewer_required
def job(console_request: ConsoleRequest, number: int) -> Response:
    """Show the progress or the outcome of a job."""
    row = jobs.job_of(console_request.session, console_request.study.id, number)
    if row is None:
        raise NotFound
    return page("console/job.html", console_request, job=_status(row))


@blueprint.get("/r/<study>/data/tables.zip")
@manager_required("take the tables")
def tables(console_request: ConsoleRequest) -> Response:
    """Return the tables of the newest job as one archive, a view of results."""
    format_ = request.args.get("format", "csv")
    row = jobs.newest_done(console_request.session, console_request.study.id)
    if format_ not in FORMATS:
        raise RefusedAction(
            "There are tables as csv and as parquet; take one of them from the page of the data."
        )
    archive = _file(row, f"tables-{format_}.zip")
    view = add_results_view(console_request.session, console_request.study.id, now=console_request.now)
    made = f", of {row.made_at:%Y-%m-%d %H:%M} UTC" if row else ""
    console_request.note(f"{format_}{made}, at {view.judgments} judgments")
    name = f"{console_request.study.name}-tables-{format_}.zip"
    return send_file(archive, as_attachment=True, download_name=name, max_age=0)


@blueprint.get("/r/<study>/data/report/<int:number>")
@manager_required("look at the report")
def report(console_request: ConsoleRequest, number: int) -> Response:
    """Show a job's report under its own security policy, a view of results."""
    row = jobs.job_of(console_request.session, console_request.study.id, number)
    if row is None:
        raise NotFound
    file = _file(row if row.kind == jobs.RESULTS else None, "report.html")
    view = add_results_view(console_request.session, console_request.study.id, now=console_request.now)
    console_request.note(f"at {view.judgments} judgments")
    g.policy = REPORT_POLICY
    return Response(file.read_bytes(), mimetype="text/html")


def _file(row: Job | None, name: str) -> Path:
    """Return a file of a job that is done; raises `RefusedAction` if it is missing."""
    folder = job_folder(_database(), row.folder) if row is not None and row.state == "done" else None
    path = None if folder is None else folder / name
    if path is None or not path.is_file():
        raise RefusedAction(
            f"There is no such file ({name}): no job has written it yet, or it was removed since. Start a job on the page of the data.",
            404,
        )
    return path
