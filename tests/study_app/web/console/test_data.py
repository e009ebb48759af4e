"""Tables and reports from the console: jobs of their own process, how they end, and what is handed out."""

import fcntl
import io
import os
import zipfile
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import select

from study_app.cli import console_job
from study_app.config import DATABASE_VARIABLE
from study_app.services.console import jobs
from study_app.store.console_models import Job, ResultsLook
from study_app.store.database import transaction
from study_app.store.models import LoadedStudy
from tests.study_app.small_study import pairs_task
from tests.study_app.web.console.console_client import acts, text_of, token, watcher


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
    monkeypatch.setattr(
        "study_app.web.console.data.start", lambda number, room, lock, database: os.close(lock)
    )


def ended(job):
    """Wait until a job's process has let go of its folder."""
    held = os.open(job.folder, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_SH)
    os.close(held)


def begun(client, kind="tables"):
    return client.post("/r/small/data/jobs", data={"csrf": token(client), "kind": kind})


def stored(study):
    return [row[0] for row in study.rows(select(Job).order_by(Job.id))]


def done_job(study, folder, **values):
    """Store a job as if its process had been here."""
    with transaction(study.database, write=True) as session:
        [number] = session.scalars(select(LoadedStudy.id).where(LoadedStudy.name == "small"))
        values = {"kind": "results", "state": "done", "step": "", "message": None} | values
        session.add(Job(study_id=number, made_at=study.clock(), folder=str(folder), **values))
    return stored(study)[-1]


def test_a_job_writes_the_tables_in_a_process_of_its_own_and_the_console_hands_them_out(study):
    """Both archives have study.json; taking one is a line of the audit; nobody else may enter the folder."""
    client = study.console()
    assert "No tables have been written" in client.get("/r/small/data").text
    assert client.get("/r/small/data/tables.zip").status_code == 404
    page = begun(client).location
    [job] = stored(study)
    assert page.startswith(f"/r/small/data/jobs/{job.id}")
    ended(job)
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
    assert acts(study)[-1] == ("take the tables", "parquet, of 2026-03-01 12:00 UTC")
    assert client.get("/r/small/data/tables.zip?format=xml").status_code == 422
    assert Path(job.folder).stat().st_mode & 0o077 == 0
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
    held = os.open(first.folder, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    refused = begun(client)
    assert (refused.status_code, "Another job is at work" in refused.text) == (409, True)
    assert "Waiting" in text_of(client.get(page))
    os.close(held)
    begun(client)
    first_now, second = stored(study)
    assert (first_now.state, first_now.folder, Path(first.folder).exists()) == ("interrupted", None, False)
    assert [folder.name for folder in Path(second.folder).parent.iterdir()] == [Path(second.folder).name]


def test_a_job_that_fails_says_its_reason_in_one_line(study, tmp_path, monkeypatch):
    """And no tables of it are handed out."""
    monkeypatch.setenv(DATABASE_VARIABLE, study.url)
    monkeypatch.setattr(console_job, "_step_back", lambda: None)
    (tmp_path / "tables").write_text("in the way")
    job = done_job(study, tmp_path, state="waiting", kind="tables")
    console_job.main(job.id)
    client = study.console()
    page = text_of(client.get(f"/r/small/data/jobs/{job.id}"))
    assert "Failed" in page
    assert "this is a file, and a folder is needed; name a folder" in page
    assert client.get("/r/small/data/tables.zip").status_code == 404


def test_opening_the_report_is_a_look_at_results_under_the_reports_own_policy(study, tmp_path):
    """It has no script and nothing from elsewhere; a key to watch does not open it."""
    (tmp_path / "report.html").write_text("<h1>The report</h1>")
    job = done_job(study, tmp_path)
    address = f"/r/small/data/report/{job.id}"
    assert watcher(study).get(address).status_code == 403
    assert study.rows(select(ResultsLook)) == []
    answer = study.console().get(address)
    assert (answer.status_code, answer.text) == (200, "<h1>The report</h1>")
    assert answer.headers.getlist("Content-Security-Policy")[0].endswith("sandbox")
    assert "script-src" not in answer.headers["Content-Security-Policy"]
    [(look,)] = study.rows(select(ResultsLook))
    assert (look.judgments, acts(study)[-1]) == (3, ("look at the report", "at 3 judgments"))


def test_jobs_of_another_study_are_unknown_here(study, tmp_path):
    """Their pages, their tables and their reports."""
    (tmp_path / "report.html").write_text("x")
    job = done_job(study, tmp_path)
    (tmp_path / "second").mkdir()
    study.folder = tmp_path / "second"
    study.load(study="second", tasks=[pairs_task()])
    client = study.console(study="second")
    for page in (f"jobs/{job.id}", f"report/{job.id}", "tables.zip", "jobs/99"):
        assert client.get(f"/r/second/data/{page}").status_code == 404
    assert "None yet" in client.get("/r/second/data").text


def test_the_three_newest_results_are_kept(study, tmp_path, unstarted):
    """Older ones and what failed are removed when the next job begins."""
    folders = [tmp_path / f"job{number}" for number in range(5)]
    for number, folder in enumerate(folders):
        folder.mkdir()
        study.clock.forward(timedelta(minutes=1).total_seconds())
        done_job(study, folder, state="failed" if number == 3 else "done")
    begun(study.console())
    assert [folder.exists() for folder in folders] == [False, True, True, False, True]
    assert [job.folder is not None for job in stored(study)[:5]] == [False, True, True, False, True]


@pytest.mark.soak
def test_a_study_with_few_answers_gets_a_report_that_says_what_is_missing(study):
    """Everything runs, in the order of the commands, and the report opens."""
    client = study.console()
    begun(client, "results")
    [job] = stored(study)
    ended(job)
    [job] = stored(study)
    assert (job.state, job.step) == ("done", jobs.STEPS["results"][-1])
    assert "<html" in client.get(f"/r/small/data/report/{job.id}").text
