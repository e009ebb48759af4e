"""Process of one job of the researcher's console.

It runs the commands that one would type, in the job's own folder.

`study_app.web.console.data` starts it as ``python -m study_app.cli.console_job NUMBER``, in that folder and with the address of the
database in the environment. It has its own process so that the pages of workers never wait for a fit.
"""

import os
import sys
import traceback
import zipfile
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from pathlib import Path

from metrics.errors import InputError, PrefcalError
from metrics.files import check_folder_place
from study_app.cli import NO_MEMORY, cli
from study_app.cli.tables.folder import refuse_damaged
from study_app.config import database_url
from study_app.export import export_study
from study_app.services.researcher import jobs
from study_app.services.researcher.completion import complete_workers
from study_app.store.console_models import Job
from study_app.store.database import Database, open_database, transaction
from study_app.store.models import LoadedStudy
from study_app.store.study_cache import StudyCache
from study_app.store.tokens import utc_now

FEWER_TURNS = 10
"""Niceness: the server's own processes go first."""
LOG = "log.txt"
TABLES, MODEL, REPORT = Path("tables"), Path("user-model.json"), Path("report.html")


def main(number: int) -> None:
    """Run a job and store its outcome, which is never without a message."""
    _step_back()
    database = open_database(database_url())
    try:
        with Path(LOG).open("w", encoding="utf-8") as log, redirect_stdout(log), redirect_stderr(log):
            state, message = "done", _work(database, number)
    except Exception as error:  # noqa: BLE001 - every end has its line
        state, message = "failed", _reason(error)
        if not isinstance(error, PrefcalError | MemoryError | OSError):
            traceback.print_exc()  # to the server's own log
    with transaction(database, write=True) as session:
        jobs.end(session, number, state=state, message=message or None, now=utc_now())


def _step_back() -> None:
    """Lower the priority of this process, and let it use every core.

    The server of a SQLite file keeps to one core, which this process would else share.
    """
    if hasattr(os, "nice"):
        os.nice(FEWER_TURNS)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, range(os.cpu_count() or 1))


def _work(database: Database, number: int) -> str:
    """Run every step of a job; return what is missing from the result, and why.

    The text is empty when nothing is missing.
    """
    with transaction(database, write=False) as session:
        job = session.get_one(Job, number)
    missing: list[str] = []
    does: list[Callable[[], None]] = [partial(_export, database, job.study_id)]
    if job.kind == jobs.RESULTS:
        does += [partial(_fit, missing), partial(_agree, missing), partial(_run, "report", ".")]
    does.append(_pack)
    for name, work in zip(jobs.STEPS[job.kind], does, strict=True):
        with transaction(database, write=True) as session:
            jobs.step(session, number, name)
        work()
    return "; ".join(missing)


def _export(database: Database, study: int) -> None:
    """Write the tables as `prefcal export` does, without counting a view of results.

    A view counts only when somebody downloads them or opens the report.
    """
    check_folder_place(TABLES)
    refuse_damaged(database)
    plans, now = StudyCache(), utc_now()
    with transaction(database, write=False) as session:
        loaded = session.get_one(LoadedStudy, study)
        complete = complete_workers(session, plans, plans.of(session, study, loaded.version), now=now)
        export_study(session, loaded, TABLES, now=now, parquet=True, complete=complete)


def _run(*words: str) -> None:
    """Run one prefcal command as if it had been typed here."""
    cli.main(list(words), prog_name="prefcal", standalone_mode=False)


def _fit(missing: list[str]) -> None:
    _tried(missing, "no user model", partial(_run, "fit", str(TABLES), "-o", str(MODEL)))


def _agree(missing: list[str]) -> None:
    """Write agreement of measures; without a user model, of those that need none.

    A study without pairs has nothing to compare.
    """
    model = ["--model", str(MODEL)] if MODEL.is_file() else []
    _tried(missing, "no agreement", partial(_run, "agree", str(TABLES), *model, "-o", "."))
    if len(missing) > 1:
        raise PrefcalError("; ".join(missing))


def _tried(missing: list[str], what: str, work: Callable[[], None]) -> None:
    """Run a part that may lack answers, and note the reason if it is missing."""
    try:
        work()
    except InputError as error:
        missing.append(f"{what}: {error.faults[0]}")


def _pack() -> None:
    """Write the archives that the console offers: CSV and Parquet.

    Both contain study.json and the consent texts.
    """
    for suffix in ("csv", "parquet"):
        other = ".parquet" if suffix == "csv" else ".csv"
        with zipfile.ZipFile(f"tables-{suffix}.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            for path in _files(TABLES):
                if path.suffix != other:
                    archive.write(path)


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file())


def _reason(error: Exception) -> str:
    if isinstance(error, InputError):
        return str(error.faults[0])
    if isinstance(error, MemoryError):
        return NO_MEMORY
    if isinstance(error, PrefcalError | OSError):
        return " ".join(str(error).split())
    return f"a fault of prefcal ({type(error).__name__}); the server's log says more"


if __name__ == "__main__":
    main(int(sys.argv[1]))
