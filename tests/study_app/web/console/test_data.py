"""Tables and reports from the console: jobs of their own process, how they end, and what is handed out."""

import errno
import fcntl
import gc
import io
import os
import sqlite3
import subprocess
import zipfile
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import delete, select
from sqlalchemy.exc import OperationalError

from study_app import create_app
from study_app.cli import console_job
from study_app.config import DATABASE_VARIABLE, Config
from study_app.services.researcher import jobs
from study_app.services.researcher.audit import add_audit_entry
from study_app.services.researcher.studies import RESEARCHER_KEY, setting
from study_app.store.backups.backup import back_up, restore
from study_app.store.console_models import Job, ResultsView
from study_app.store.database import open_database, transaction
from study_app.store.models import LoadedStudy, Worker
from study_app.store.tokens import seeded_tokens
from study_app.web.console.job_folders import NewJobFolder, job_folder, results_folder
from study_app.web.serving import NAME
from tests.study_app.services.test_races import Servers
from tests.study_app.small_study import pairs_task
from tests.study_app.web.console.console_client import acts, sign_in, text_of, token, watcher


@pytest.fixture
def study(campaign, tmp_path, monkeypatch):
    """A study served from a folder of its own: beside a database server, that is where jobs write."""
    monkeypatch.chdir(tmp_path)
    one = campaign(tasks=[pairs_task()])
    one.judge_all(one.at_pairs("ann"))
    return one


@pytest.fixture
def unstarted(monkeypatch):
    """Jobs are stored, and their process dies at once."""
    monkeypatch.setattr(NewJobFolder, "start", lambda folder, job, database: os.close(folder.lock))


def folder_of(study, job):
    """Where the results of a job lie."""
    return job_folder(study.database.engine.url, job.folder)


def ended(study, job):
    """Wait until a job's process has let go of its folder."""
    held = os.open(folder_of(study, job), os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_SH)
    os.close(held)


def installation_key(study):
    with transaction(study.database, write=False) as session:
        return setting(session, RESEARCHER_KEY)


def begun(client, kind="tables"):
    return client.post("/r/small/data/jobs", data={"csrf": token(client), "kind": kind})


def stored(study):
    return [row[0] for row in study.rows(select(Job).order_by(Job.id))]


def done_job(study, name="job-done", **values):
    """Store a job as if its process had been here; it has a folder where the name is one of a job."""
    if folder := job_folder(study.database.engine.url, name):
        folder.mkdir(parents=True, exist_ok=True)
    with transaction(study.database, write=True) as session:
        [number] = session.scalars(select(LoadedStudy.id).where(LoadedStudy.name == "small"))
        values = {"kind": "results", "state": "done", "step": "", "message": None} | values
        session.add(Job(study_id=number, made_at=study.clock(), folder=name, **values))
    return stored(study)[-1]


def test_a_job_writes_the_tables_in_a_process_of_its_own_and_the_console_hands_them_out(study):
    """Both archives have study.json; taking one is a line of the audit; nobody else may enter the folder."""
    client = study.console()
    assert "No tables have been written" in client.get("/r/small/data").text
    assert client.get("/r/small/data/tables.zip").status_code == 404
    page = begun(client).location
    [job] = stored(study)
    assert page.startswith(f"/r/small/data/jobs/{job.id}")
    ended(study, job)
    assert "Done ." in text_of(client.get(page))
    for format_, name in (("csv", "tables/preferences.csv"), ("parquet", "tables/preferences.parquet")):
        with client.get(f"/r/small/data/tables.zip?format={format_}") as answer:
            names = zipfile.ZipFile(io.BytesIO(answer.data)).namelist()
        assert {name, "tables/study.json"} <= set(names)
        assert not [
            other
            for other in names
            if other.endswith((".csv", ".parquet")) and Path(other).suffix != f".{format_}"
        ]
    assert acts(study)[-1] == ("take the tables", "parquet, of 2026-03-01 12:00 UTC, at 3 judgments")
    assert [look.judgments for (look,) in study.rows(select(ResultsView))] == [3, 3]
    assert client.get("/r/small/data/tables.zip?format=xml").status_code == 422
    assert folder_of(study, job).stat().st_mode & 0o077 == 0
    looking = watcher(study)
    assert looking.get("/r/small/data/tables.zip").status_code == 403
    assert begun(looking).status_code == 403
    assert looking.get(f"/r/small/data/jobs/{job.id}").status_code == 200


def test_only_one_job_is_at_work_and_one_whose_process_has_gone_was_interrupted(study, unstarted):
    """The next job stores that, and clears what it left."""
    client = study.console()
    page = begun(client).location
    [first] = stored(study)
    assert "Interrupted" in text_of(client.get(page))
    held = os.open(folder_of(study, first), os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    refused = begun(client)
    assert (refused.status_code, "Another job is at work" in refused.text) == (409, True)
    assert "Waiting" in text_of(client.get(page))
    os.close(held)
    begun(client)
    first_now, second = stored(study)
    assert (first_now.state, first_now.folder, folder_of(study, first).exists()) == (
        "interrupted",
        None,
        False,
    )
    assert [one.name for one in results_folder(study.database.engine.url).iterdir()] == [second.folder]


def test_a_job_that_fails_says_its_reason_in_one_line(study, monkeypatch):
    """And no tables of it are handed out."""
    monkeypatch.setenv(DATABASE_VARIABLE, study.url)
    monkeypatch.setattr(console_job, "_step_back", lambda: None)
    job = done_job(study, state="waiting", kind="tables")
    monkeypatch.chdir(folder_of(study, job))
    Path("tables").write_text("in the way")
    console_job.main(job.id)
    client = study.console()
    page = text_of(client.get(f"/r/small/data/jobs/{job.id}"))
    assert "Failed" in page
    assert "this is a file, and a folder is needed; name a folder" in page
    assert client.get("/r/small/data/tables.zip").status_code == 404


def test_opening_the_report_is_a_look_at_results_under_the_reports_own_policy(study):
    """It has no script and nothing from elsewhere; a key to watch does not open it."""
    job = done_job(study)
    (folder_of(study, job) / "report.html").write_text("<h1>The report</h1>")
    address = f"/r/small/data/report/{job.id}"
    assert watcher(study).get(address).status_code == 403
    assert study.rows(select(ResultsView)) == []
    answer = study.console().get(address)
    assert (answer.status_code, answer.text) == (200, "<h1>The report</h1>")
    assert answer.headers.getlist("Content-Security-Policy")[0].endswith("sandbox")
    assert "script-src" not in answer.headers["Content-Security-Policy"]
    [(look,)] = study.rows(select(ResultsView))
    assert (look.judgments, acts(study)[-1]) == (3, ("look at the report", "at 3 judgments"))


def test_jobs_of_another_study_are_unknown_here(study, tmp_path):
    """Their pages, their tables and their reports."""
    job = done_job(study)
    (folder_of(study, job) / "report.html").write_text("x")
    (tmp_path / "second").mkdir()
    study.folder = tmp_path / "second"
    study.load(study="second", tasks=[pairs_task()])
    client = study.console(study="second")
    for page in (f"jobs/{job.id}", f"report/{job.id}", "tables.zip", "jobs/99"):
        assert client.get(f"/r/second/data/{page}").status_code == 404
    assert "None yet" in client.get("/r/second/data").text


def test_the_three_newest_results_are_kept(study, unstarted):
    """Older ones and what failed are removed when the next job begins."""
    kept = []
    for number in range(5):
        study.clock.forward(timedelta(minutes=1).total_seconds())
        kept.append(done_job(study, f"job-{number}", state="failed" if number == 3 else "done"))
    folders = [folder_of(study, job) for job in kept]
    assert all(folder.is_dir() for folder in folders)
    begun(study.console())
    assert [folder.exists() for folder in folders] == [False, True, True, False, True]
    assert [job.folder is not None for job in stored(study)[:5]] == [False, True, True, False, True]


FOREIGN = (
    "{outside}",
    "../outside",
    "job-x/../../outside",
    "job-1/",
    ".",
    "..",
    "",
    "/",
    "~",
    "job-\0",
    "job-é",
)


def test_no_row_of_a_strange_backup_leads_to_a_folder_that_is_not_this_servers(study, tmp_path, unstarted):
    """Whatever its jobs say that their folders are called: none is removed, none is read."""
    url = study.database.engine.url
    outside = results_folder(url) / ".." / "outside"
    outside.mkdir(parents=True)
    (outside / "report.html").write_text("somebody's")
    names = [name.format(outside=outside.resolve()) for name in FOREIGN]
    names = [name for name in names if study.database.is_sqlite or "\0" not in name]
    client = study.console()
    for name in names:
        job = done_job(study, name)
        assert client.get(f"/r/small/data/report/{job.id}").status_code == 404
    before = sorted(tmp_path.rglob("*"))
    for _ in range(3):
        begun(client)
    assert all(path.exists() for path in before)
    assert outside.is_dir()
    assert [job.folder for job in stored(study)[: len(names) - 3]] == [None] * (len(names) - 3)


@pytest.mark.both_databases
@pytest.mark.parametrize("kind", ["sqlite_in", "postgres_in"])
def test_a_rehearsal_of_a_restore_leaves_the_results_of_the_running_study(
    campaign, kind, request, tmp_path, monkeypatch, unstarted, served_beside
):
    """Both lie beside each other: the rehearsal forgets the results that it came with, and clears only its own."""
    monkeypatch.chdir(tmp_path)
    study = campaign(tasks=[pairs_task()])
    url = study.database.engine.url
    job = done_job(study)
    (folder_of(study, job) / "report.html").write_text("the running study's")
    done_job(study, "job-failed", state="failed")
    back_up(study.database, tmp_path / "b")
    beside = f"sqlite:///{study.folder / 'rehearsal.sqlite3'}"
    there = beside if kind == "sqlite_in" else request.getfixturevalue(kind)(tmp_path)
    rehearsal = open_database(there)
    restore(rehearsal, tmp_path / "b")
    with transaction(rehearsal, write=False) as session:
        assert session.scalars(select(Job.folder)).all() == [None, None]
    rehearsal.engine.dispose()
    app = served_beside(create_app(Config(database=there), now=study.clock, new_token=seeded_tokens(3)))
    client = app.test_client()
    sign_in(client, "small", installation_key(study))
    assert client.get(f"/r/small/data/report/{job.id}").status_code == 404
    for _ in range(5):
        assert begun(client).status_code == 303
    assert study.console().get(f"/r/small/data/report/{job.id}").text == "the running study's"
    assert job_folder(url, "job-failed").is_dir()


def test_a_copy_of_the_file_beside_it_has_results_of_its_own(study, unstarted, served_beside):
    """Whoever copies the file by hand has no restore that would forget them."""
    if not study.database.is_sqlite:
        pytest.skip("a file is copied")
    job = done_job(study, state="failed")
    file = Path(study.database.engine.url.database)
    with sqlite3.connect(file) as here, sqlite3.connect(file.with_name("copy.sqlite3")) as there:
        here.backup(there)
    copy = f"sqlite:///{file.with_name('copy.sqlite3')}"
    app = served_beside(create_app(Config(database=copy), now=study.clock))
    client = app.test_client()
    sign_in(client, "small", installation_key(study))
    assert begun(client).status_code == 303
    assert folder_of(study, job).is_dir()


def open_files():
    """Count this process's open files, without those that nothing refers to any more."""
    gc.collect()
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def nothing_left(study):
    """Whether there is neither a job nor a folder of one."""
    above = results_folder(study.database.engine.url)
    return not stored(study) and not (above.is_dir() and list(above.iterdir()))


def test_a_job_that_cannot_be_stored_leaves_nothing(study, monkeypatch):
    """No folder, no open file, no process: as when the database gives one of two up."""
    client, started = study.console(), []
    form = {"csrf": token(client), "kind": "tables"}
    begun_as_ever = jobs.begin

    def refused(*values, **named):
        begun_as_ever(*values, **named)
        raise OperationalError("INSERT", {}, Exception("deadlock detected"))

    monkeypatch.setattr(NewJobFolder, "start", lambda *given: started.append(given))
    monkeypatch.setattr(jobs, "begin", refused)
    before = open_files()
    for _ in range(5):
        assert client.post("/r/small/data/jobs", data=form).status_code == 503
    assert (open_files(), started, nothing_left(study)) == (before, [], True)


def test_a_folder_that_cannot_be_opened_is_not_left(study, monkeypatch):
    """When no more files can be opened, the page says so."""
    client = study.console()
    form = {"csrf": token(client), "kind": "tables"}
    opened = os.open

    def full(path, *values, **named):
        if "job-" in str(path):
            raise OSError(errno.EMFILE, "Too many open files")
        return opened(path, *values, **named)

    monkeypatch.setattr("study_app.web.console.job_folders.os.open", full)
    answer = client.post("/r/small/data/jobs", data=form)
    assert (answer.status_code, "Too many open files" in answer.text) == (503, True)
    assert nothing_left(study)


def test_a_process_that_cannot_be_started_is_a_failed_job(study, monkeypatch):
    """It is stored by then; the page says why, and the next one may begin."""

    def none(*_values, **_named):
        raise OSError(errno.EAGAIN, "Resource temporarily unavailable")

    client = study.console()
    form = {"csrf": token(client), "kind": "tables"}
    before = open_files()
    with monkeypatch.context() as patched:
        patched.setattr(subprocess, "Popen", none)
        page = client.post("/r/small/data/jobs", data=form).location
    assert open_files() == before
    assert "its process could not be started (Resource temporarily unavailable)" in text_of(client.get(page))
    [job] = stored(study)
    assert job.state == "failed"


@pytest.mark.both_databases
def test_of_two_who_start_a_job_at_once_one_waits_and_is_told_of_the_other(
    campaign, tmp_path, monkeypatch, unstarted, served_beside
):
    """On two servers, before the rows of studies are locked: the database gives up neither, and no folder is left."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("study_app.web.console.data.is_at_work", lambda database, name: True)
    study = campaign(tasks=[pairs_task()])
    servers = Servers(study)
    served_beside(servers.apps[1])
    clients = signed_in(study, servers)
    forms = [{"csrf": token(client), "kind": "tables"} for client in clients]
    opened = []
    for _ in range(4):
        with transaction(study.database, write=True) as session:
            session.execute(delete(Job))
        answers = servers.collide(
            "SELECT study.id \nFROM study",
            *(
                lambda client=client, form=form: client.post("/r/small/data/jobs", data=form).status_code
                for client, form in zip(clients, forms, strict=True)
            ),
        )
        opened.append(open_files())
        assert sorted(answers) == [303, 409]
        assert len(stored(study)) == 1
    assert opened[-1] <= opened[0]
    assert len(list(results_folder(study.database.engine.url).iterdir())) == 4


@pytest.fixture
def served_beside(request):
    """Serve a database beside the campaign's; its connections end with the test."""

    def serve(app):
        request.addfinalizer(app.extensions[NAME].database.engine.dispose)
        return app

    return serve


def signed_in(study, servers):
    clients = [app.test_client() for app in servers.apps]
    for client in clients:
        sign_in(client, "small", installation_key(study))
    return clients


@pytest.mark.both_databases
def test_two_limits_raised_at_once_are_raised_one_after_the_other(campaign, served_beside):
    """The second is told to look again; the database gives up neither."""
    study = campaign(tasks=[pairs_task(workers_per_query=3)])
    servers = Servers(study)
    served_beside(servers.apps[1])
    clients = signed_in(study, servers)
    forms = [{"csrf": token(client), "task": "1", "limit": "9"} for client in clients]
    answers = servers.collide(
        "SELECT study.id, study.name",
        *(
            lambda client=client, form=form: client.post("/r/small/limits/raise", data=form).status_code
            for client, form in zip(clients, forms, strict=True)
        ),
    )
    assert sorted(answers) == [303, 422]


@pytest.mark.both_databases
def test_nobody_waits_at_the_door_while_a_job_begins(campaign):
    """A worker's row refers to the study, and changes nothing of it."""
    study = campaign(tasks=[pairs_task()])
    if study.database.is_sqlite:
        pytest.skip("a file has one writer at a time")
    with transaction(study.database, write=True) as session:
        jobs.wait_for_turn(session)
        [number] = session.scalars(select(LoadedStudy.id))
        add_audit_entry(session, number, None, "start a job", "", now=study.clock())
        with transaction(study.database, write=True) as other:
            other.connection().exec_driver_sql("SET LOCAL lock_timeout = '200ms'")
            other.add(
                Worker(
                    study_id=number,
                    number=1,
                    pseudonym="w",
                    withdrawal_code="c",
                    arrived_at=study.clock(),
                    last_seen_at=study.clock(),
                )
            )


@pytest.mark.soak
def test_a_study_with_few_answers_gets_a_report_that_says_what_is_missing(study):
    """Everything runs, in the order of the commands, and the report opens."""
    client = study.console()
    begun(client, "results")
    [job] = stored(study)
    ended(study, job)
    [job] = stored(study)
    assert (job.state, job.step) == ("done", jobs.STEPS["results"][-1])
    assert "<html" in client.get(f"/r/small/data/report/{job.id}").text
