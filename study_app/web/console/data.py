"""The tables to take away, the jobs of the console, and their processes.

Each job has a folder that only its owner may enter. Its lock is taken before the job is stored and handed on to the process, so that it is
held until that process ends, however it ends: a job whose lock is free and that did not say how it ended was interrupted.

The tables to take away; fit, agreement and report as one job in the background; and the report, opened here.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

from flask import Blueprint, Response, after_this_request, g, request, send_file
from sqlalchemy import URL
from werkzeug.exceptions import NotFound

from study_app.config import DATABASE_VARIABLE
from study_app.services.console import jobs
from study_app.services.console.material import looks, open_results
from study_app.store.console_models import Job
from study_app.web.console.frame import NotDone, Seat, manage, page, watch
from study_app.web.serving import server

if sys.platform != "win32":
    import fcntl
FOLDER = "prefcal-results"


def rooms(database: URL) -> Path:
    """Return the folder of all jobs: beside a SQLite file, else where the server was started."""
    is_file = database.get_backend_name() == "sqlite" and database.database is not None
    return (Path(database.database or "").absolute().parent if is_file else Path.cwd()) / FOLDER


def new_room(database: URL) -> tuple[Path, int]:
    """Make the folder of a new job; return it with its lock, which is closed by `start` or by the caller."""
    above = rooms(database)
    above.mkdir(mode=0o700, exist_ok=True)
    room = Path(tempfile.mkdtemp(prefix="job-", dir=above))
    lock = os.open(room, os.O_RDONLY)
    if sys.platform != "win32":
        fcntl.flock(lock, fcntl.LOCK_EX)
    return room, lock


def start(job: int, room: Path, lock: int, database: URL) -> None:
    """Start the process of a job that is stored; it goes on when this server ends."""
    address = database.render_as_string(hide_password=False)
    process = subprocess.Popen(  # noqa: S603 - of this installation, with a number
        [sys.executable, "-m", "study_app.cli.console_job", str(job)],
        cwd=room,
        env=os.environ | {DATABASE_VARIABLE: address},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        pass_fds=[lock],
        start_new_session=True,
    )
    os.close(lock)
    Thread(target=process.wait, daemon=True).start()  # so that the system forgets it once it has ended


def give_up(room: Path, lock: int) -> None:
    """Remove the folder of a job that is not begun."""
    os.close(lock)
    clear([str(room)])


def is_at_work(folder: str | None) -> bool:
    """Say whether the process of a job is there."""
    if folder is None:
        return False
    try:
        held = os.open(folder, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(held, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(held)
    return False


def clear(folders: list[str]) -> None:
    """Remove the folders of jobs, whatever is left of them."""
    for folder in folders:
        with suppress(OSError):
            shutil.rmtree(folder)


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


def _shown(row: Job) -> ShownJob:
    if row.state in jobs.OPEN and not is_at_work(row.folder):
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
@manage("start a job")
def post_job(seat: Seat) -> Response:
    """Start a job: the tables, or everything up to the report."""
    kind = request.form.get("kind", "")
    if kind not in jobs.STEPS:
        raise NotDone("No such job. Open the page of the data again, and start it from there.")
    if sys.platform == "win32":
        raise NotDone("On Windows use the commands: prefcal export, fit, agree and report.")
    _clear_up(seat)
    database = server().database.engine.url
    room, lock = _new_room()
    row = jobs.begin(seat.session, seat.plan.id, kind, key=seat.key.id, folder=str(room), now=seat.now)
    if row is None:
        give_up(room, lock)
        raise NotDone("Another job is at work, and each takes a whole core. Wait until it has ended.", 409)
    number = row.id

    @after_this_request
    def begun(response: Response) -> Response:
        start(number, room, lock, database)  # the job is stored by now
        return response

    seat.note("tables" if kind == jobs.TABLES else "tables, fit, agreement and report")
    return seat.back(f"data/jobs/{number}")


def _clear_up(seat: Seat) -> None:
    """Store which jobs were interrupted, and remove what jobs left that failed or are old."""
    for row in jobs.open_jobs(seat.session):
        if not is_at_work(row.folder):
            jobs.end(seat.session, row.id, state="interrupted", message=jobs.INTERRUPTED, now=seat.now)
    clear(jobs.forget_old(seat.session, seat.plan.id))


def _new_room() -> tuple[Path, int]:
    try:
        return new_room(server().database.engine.url)
    except OSError as error:
        where = rooms(server().database.engine.url)
        raise NotDone(
            f"Nothing can be written into {where} ({error.strerror}). Make room there, or let the server write there.",
            503,
        ) from error


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
    """Hand out the tables that the newest job wrote, as one archive."""
    format_ = request.args.get("format", "csv")
    row = jobs.newest_done(seat.session, seat.plan.id)
    if format_ not in FORMATS:
        raise NotDone("There are tables as csv and as parquet; take one of them from the page of the data.")
    archive = _file(row, f"tables-{format_}.zip")
    seat.note(f"{format_}, of {row.made_at:%Y-%m-%d %H:%M} UTC" if row else format_)
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
    path = Path(row.folder) / name if row is not None and row.folder and row.state == "done" else None
    if path is None or not path.is_file():
        raise NotDone(
            f"There is no such file ({name}): no job has written it yet, or it was removed since. Start a job on the page of the data.",
            404,
        )
    return path
