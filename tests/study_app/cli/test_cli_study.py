"""The commands around a study: what they print, and what they say when something is wrong."""

import json
import re
import socket
import subprocess
import sys
import urllib.parse
import urllib.request
from pathlib import Path

import pytest
from click.testing import CliRunner
from sqlalchemy import select

from metrics.errors import InputError
from study_app import create_app
from study_app.cli import cli
from study_app.cli.serve import command as serve_command
from study_app.cli.serve.command import serve_app
from study_app.config import Config
from study_app.store.database import shown_address
from study_app.store.models import Worker
from tests.study_app.prefcal_command import run_apart
from tests.study_app.small_streams import PROMPT, Told, write_stream_study


def run(*args):
    """Run a command; faults come as an exception, as `main` gets them."""
    return CliRunner().invoke(cli, [str(arg) for arg in args])


def fault(*args):
    result = run(*args)
    assert isinstance(result.exception, InputError), result.output
    assert result.stdout == ""
    return str(result.exception)


@pytest.fixture
def database(tmp_path, monkeypatch):
    """The default place: prefcal.sqlite3 in the current folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PREFCAL_DATABASE_URL", raising=False)
    return tmp_path / "prefcal.sqlite3"


def test_check_says_what_workers_will_do_and_changes_nothing(small_study, database):
    """A good file is told task by task, with minutes, answers and cost; what looks wrong stands by itself."""
    lines = run("study", "check", small_study(reward=1.5)).stdout.splitlines()
    assert lines[:3] == ["small: no faults; platform generic, device any", "", "What a worker does"]
    assert lines[5].startswith("  task 1, summaries (summary_pairs, en): ")
    done = "chooses 1 of 2 queries, looks it up for 80 s, and judges 3 pairs of 3 systems, 1 of them twice"
    assert lines[6] == f"    {done}"
    assert "  task 1, summaries: 6 workers; 3 judgments of each of 6 pairs" in lines
    assert "  workers: 6, then the study is full" in lines
    assert any(line.startswith("  cost: 1.50 USD a worker, 1.50 with the") for line in lines)
    assert any("6 workers x 1.50 = 9.00" in line for line in lines)
    [added] = [line.strip() for line in lines if "the page adds: " in line]
    assert re.fullmatch(
        r"the page adds: It takes about \d+ to \d+ minutes, and you are paid 1\.50 USD for all of it\.", added
    )
    first, *_ = lines[lines.index("Look at this") + 1 :]
    assert first.startswith("  a worker gets 1 repeats in all, but")
    assert not database.exists()


def test_check_gives_json_for_machines(small_study, database):
    """The same numbers; minutes as low and high."""
    found = json.loads(run("study", "check", small_study(reward=1.5), "--format", "json").stdout)
    [task] = found["tasks"]
    assert (found["workers"], found["cost"]["total"], task["answers_each"]) == (6, 9.0, [3, 3])
    assert found["minutes"][0] < found["minutes"][1]
    assert not database.exists()


def test_check_and_load_say_what_of_a_stream_cannot_be_shown(tmp_path, database):
    """A line a stream, under what followers will do."""
    systems = {"early": [*PROMPT, Told(None, 3)], "other": PROMPT}
    task = {"clock_factor": 24.0, "workers_per_stream": 5}
    path = write_stream_study(tmp_path, systems=systems, days=3, task=task)
    left_out = [
        f"  news: early, {event}: 1 of 5 updates have no text and are not shown"
        for event in ("TS14.91", "TS14.92")
    ]
    lines = run("study", "check", path).stdout.splitlines()
    asked = (
        "follows 1 of 2 events for 3 days of the event, which take 3 hours; gets what one of 2 systems tells"
    )
    assert f"    {asked}" in lines
    assert "  task 1, news: 20 workers; 5 followers of each of 4 streams" in lines
    place = lines.index("What no worker will see") + 1
    assert lines[place : place + 2] == left_out
    assert run("study", "load", path).stdout.splitlines() == [*left_out, "loaded small"]
    assert (
        "news: 0 of 20 places done, 20 still to give; 0 streams followed now, 0 never read; 0 workers a stream; 0 of 0 questions"
        in run("status").stdout
    )
    assert run("status", "--format", "csv").stdout.splitlines()[1] == "small,news,TS14.91,0,0,10"


def test_load_twice(small_study, database):
    """The second time changes nothing and says so; both say on stderr where the database is."""
    path = small_study()
    first, second = run("study", "load", path), run("study", "load", path)
    assert first.stdout == "loaded small\n"
    assert second.stdout == "small is loaded already; nothing changed\n"
    assert first.stderr == second.stderr == f"database: {database}\n"


def test_to_load_a_study_where_it_was_rehearsed_says_that_real_workers_would_be_mixed_in(
    small_study, database
):
    """`prefcal simulate` without --database takes the default place, too."""
    path = small_study()
    assert run("simulate", path, "--workers", "1").exit_code == 0
    result = run("study", "load", path)

    assert result.stdout == "small is loaded already; nothing changed\n"
    assert "the workers of small in this database are simulated" in result.stderr
    assert "name a new file with --database" in result.stderr
    assert "the workers of small in this database are simulated\n" in run("status").stderr
    assert run("status", "--format", "json").stderr.count("simulated") == 0


def test_a_demo_invites_and_does_not_warn_of_its_own_crowd(small_study, database, monkeypatch):
    """`prefcal serve` by itself says where real workers would go; within the demo they are welcome."""
    monkeypatch.setattr(
        serve_command, "serve_app", lambda app, **_: serve_command._announce(app, "127.0.0.1", 1)
    )
    assert run("simulate", small_study(), "--workers", "1").exit_code == 0
    serve = ["serve", "--processes", "1"]
    assert "mixed with them; name a new file with --database\n" in run(*serve).stderr
    in_demo = CliRunner().invoke(cli, serve, obj="demo")
    assert "simulated" not in in_demo.stderr
    assert "127.0.0.1:1" in in_demo.stdout


def test_load_says_what_changed(small_study, database):
    """Line by line."""
    run("study", "load", small_study())
    result = run("study", "load", small_study(title="Another title"))
    assert result.stdout == "  title: A small study -> Another title\nloaded the changed small\n"


def test_a_broken_study_leaves_no_database(small_study, database):
    """Everything is checked before anything is opened."""
    path = small_study()
    (path.parent / "sysbeta.xml").write_text("<results>")
    assert "sysbeta.xml:1: the XML is not well formed" in fault("study", "load", path)
    assert not database.exists()


@pytest.mark.parametrize("command", [("status",), ("withdraw", "x"), ("serve",)])
def test_without_a_study_the_commands_say_how_to_load_one(database, command):
    """And make no empty database."""
    assert fault(*command).startswith(f"no study is loaded in {database}; ")
    assert "prefcal study load FILE" in fault(*command)
    assert not database.exists()


def test_status_is_a_table_for_people_and_csv_or_json_for_machines(campaign):
    """The same numbers as the researcher's page."""
    study = campaign()
    study.judge_all(study.at_pairs(topic="mount fuji"))
    people = run("status", "--database", study.url).stdout
    head, places, *_ = people.splitlines()
    assert head == "small: 1 arrived, 1 consented, 1 completed, 0 withdrawn"
    assert places.startswith("  summaries: 1 of 6 places done, 5 still to give; ")
    rows = json.loads(run("status", "--database", study.url, "--format", "json").stdout)
    assert rows == [
        {"study": "small", "task": "summaries", "topic": "SYQ-1", "done": 1, "live": 0, "room": 2},
        {"study": "small", "task": "summaries", "topic": "SYQ-2", "done": 0, "live": 0, "room": 3},
    ]


def test_withdraw_takes_the_code_that_the_worker_holds(campaign):
    """In capitals too; again is no error; nobody's code is one."""
    study = campaign()
    study.arrive()
    [(worker,)] = study.rows(select(Worker))
    first = run("withdraw", worker.withdrawal_code.upper(), "--database", study.url)
    again = run("withdraw", worker.withdrawal_code, "--database", study.url)
    assert first.stdout == f"small: worker {worker.pseudonym} has withdrawn\n"
    assert again.stdout == f"small: worker {worker.pseudonym} had withdrawn already\n"
    assert fault("withdraw", worker.pseudonym, "--database", study.url).startswith("no worker has the code")


def test_serve_prints_where_to_enter_and_serves(campaign, tmp_path):
    """A real process, a free port, both addresses of the study; and a log line a request. What only tables need is not there."""
    study = campaign(platform="prolific")
    command = [
        sys.executable,
        *("-X", "importtime"),
        "-c",
        "from study_app.cli import main; main()",
        "serve",
        "--port",
        "0",
        "--database",
        study.url,
    ]
    with (
        (tmp_path / "log").open("w") as log,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True) as server,
    ):
        title, workers, trial, researcher, counts = (server.stdout.readline() for _ in range(5))
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        address = researcher.split()[1]
        with browser.open(address) as answer:
            fields = re.findall('name="([a-z]+)" value="([^"]+)"', answer.read().decode())
        form = urllib.parse.urlencode(fields).encode()
        with browser.open(f"{address.partition('?')[0]}/sign-in", data=form) as answer:
            overview = answer.read().decode()
        server.terminate()
        assert "A small study" in overview
        assert title == "small: A small study\n"
        assert workers.split("?")[1].startswith("PROLIFIC_PID={{%PROLIFIC_PID%}}")
        assert trial.strip().endswith("?PROLIFIC_PID=000000000000000000000001")
        assert counts.startswith("A trial counts as a worker: `prefcal withdraw CODE` removes it")
    said = (tmp_path / "log").read_text().splitlines()
    imported = {line.rpartition("|")[2].strip() for line in said if line.startswith("import time:")}
    assert "study_app.web.app" in imported
    assert not imported & {"pandas", "pyarrow", "scipy", "numba", "matplotlib"}
    lines = [line for line in said if not line.startswith("import time:")]
    assert lines[0] == f"database: {shown_address(study.url)}"
    assert json.loads(lines[1])["route"] == "/r/<study>"
    assert "key" not in lines[1]


def test_a_taken_port_is_a_plain_fault(campaign):
    """It says so, and how to choose another."""
    study = campaign()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=re.escape(f"port {port} of 127.0.0.1 is taken; ")):
            serve_app(create_app(Config(database=study.url)), host="127.0.0.1", port=port)


def test_create_app_without_a_study_says_how_to_load_one(tmp_path):
    """Whoever embeds the server gets the same message."""
    with pytest.raises(InputError, match=r"no study is loaded in .*none\.sqlite3; load one"):
        create_app(Config(database=f"sqlite:///{tmp_path / 'none.sqlite3'}"))


def test_a_command_that_ends_leaves_every_answer_in_the_file(tmp_path):
    """SQLite's log is taken in: who copies the file alone, as for a backup, loses nothing."""
    database = tmp_path / "answers.sqlite3"
    study = Path(__file__).parents[3] / "examples" / "answers" / "study.yaml"
    ended = run_apart("simulate", study, "--workers", 2, "--database", f"sqlite:///{database}")

    assert ended.code == 0, ended.err
    assert [path.name for path in tmp_path.glob("answers.sqlite3*")] == ["answers.sqlite3"]
