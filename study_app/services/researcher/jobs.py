"""Jobs of the console in the database, with their steps and ends."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from study_app.store.console_models import Job
from study_app.store.models import LoadedStudy

TABLES: Final = "tables"
RESULTS: Final = "results"
STEPS = {
    TABLES: ("writing the tables", "packing them"),
    RESULTS: (
        "writing the tables",
        "fitting the user model",
        "comparing measures with the preferences",
        "writing the report",
        "packing the tables",
    ),
}
"""Steps of each kind of job, in their order."""

OPEN = ("waiting", "running")
INTERRUPTED = "interrupted: its process ended before the work did, as when the server's machine is started anew; start it again"
MAX_FOLDERS = 3
"""Most finished jobs with a folder; the folders of older ones are removed."""


def wait_for_turn(session: Session) -> None:
    """Wait until no other process begins a job.

    The rows of all studies are locked, always in the same order, and before anything else of the transaction: a row that refers to a
    study, as the audit's do, keeps that study from being locked by somebody else, so that two would wait for each other. Workers who
    enter do not wait, since their rows refer to the study and change nothing of it.
    """
    session.scalars(select(LoadedStudy.id).order_by(LoadedStudy.id).with_for_update(key_share=True)).all()


def begin(
    session: Session, study_id: int, kind: str, *, key: int | None, folder: str, now: datetime
) -> Job | None:
    """Store a job that waits for its process; None while another one is open.

    Parameters
    ----------
    session : Session
        Has waited for its turn (`wait_for_turn`).
    folder : str
        Name of its folder below this server's results.
    """
    if session.scalars(select(Job.id).where(Job.state.in_(OPEN))).first() is not None:
        return None
    job = Job(study_id=study_id, key_id=key, kind=kind, state="waiting", step="", folder=folder, made_at=now)
    session.add(job)
    session.flush()
    return job


def step(session: Session, job: int, name: str) -> None:
    """Store what a job does now."""
    session.execute(update(Job).where(Job.id == job).values(state="running", step=name))


def end(session: Session, job: int, *, state: str, message: str | None, now: datetime) -> None:
    """Store how a job ended, unless it has ended already."""
    ending = update(Job).where(Job.id == job, Job.state.in_(OPEN))
    session.execute(ending.values(state=state, message=message, ended_at=now))


def open_jobs(session: Session) -> Sequence[Job]:
    """Return the jobs of all studies that have not ended."""
    return session.scalars(select(Job).where(Job.state.in_(OPEN))).all()


def jobs_of(session: Session, study_id: int, *, limit: int = 10) -> Sequence[Job]:
    """Return a study's jobs, the newest first."""
    return session.scalars(
        select(Job).where(Job.study_id == study_id).order_by(Job.id.desc()).limit(limit)
    ).all()


def job_of(session: Session, study_id: int, job: int) -> Job | None:
    """Return a job of this study, None for another's."""
    return session.scalars(select(Job).where(Job.study_id == study_id, Job.id == job)).one_or_none()


def newest_done(session: Session, study_id: int, kinds: Collection[str] = (TABLES, RESULTS)) -> Job | None:
    """Return the newest job that is done and still has its folder."""
    jobs = select(Job).where(
        Job.study_id == study_id, Job.state == "done", Job.kind.in_(kinds), Job.folder.is_not(None)
    )
    return session.scalars(jobs.order_by(Job.id.desc()).limit(1)).one_or_none()


def forget_old(session: Session, study_id: int) -> list[str]:
    """Unset and return the folders of failed jobs and of old ones."""
    ended = select(Job).where(Job.study_id == study_id, Job.folder.is_not(None), Job.state.not_in(OPEN))
    jobs = session.scalars(ended.order_by(Job.id.desc())).all()
    newest = [job for job in jobs if job.state == "done"][:MAX_FOLDERS]
    old = [job for job in jobs if job not in newest]
    folders = [str(job.folder) for job in old]
    for job in old:
        job.folder = None
    session.flush()
    return folders
