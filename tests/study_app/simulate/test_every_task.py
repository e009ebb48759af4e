"""A crowd does every kind of task of one study over HTTP: everything is stored once, and nothing gives a system away."""

import re
from types import SimpleNamespace

import httpx
import pytest
from sqlalchemy import select

from calibration.raters.quality import quality_report
from calibration.tables.files import read_tables
from study_app.estimate.content import read_whole_study
from study_app.export.study_export import export_study
from study_app.simulate import trial as trial_module
from study_app.simulate.crowd_parameters import Behaviour, CrowdParameters
from study_app.simulate.trial import run_trial
from study_app.store.check import check_database
from study_app.store.database import open_database, transaction
from study_app.store.models import LoadedStudy
from tests.study_app.every_task import SECRETS, every_task, write_every_task
from tests.study_app.small_study import secrets_in

WORKERS = 3


def gone_through(folder, url, *, workers, behaviour=None, tasks=None, seed=3, **study):
    """Let a crowd through a study; return its report, and the database and the tables it left."""
    content = read_whole_study(write_every_task(folder, tasks=tasks, **study))
    truth = CrowdParameters(patience_preferences=100, patience_stops=100, behaviour=behaviour or Behaviour())
    report, clock = run_trial(content, url, workers=workers, truth=truth, seed=seed)
    database = open_database(url)
    faults = check_database(database)
    with transaction(database, write=False) as session:
        export_study(session, session.scalars(select(LoadedStudy)).one(), folder / "tables", now=clock())
    database.engine.dispose()
    return SimpleNamespace(report=report, faults=faults, tables=read_tables(folder / "tables"))


@pytest.fixture(scope="module")
def everything(tmp_path_factory, database_in):
    """Three workers, with all bad habits but leaving, in a study of all seven kinds of task with introductions."""
    seen = []

    def note(answer):
        answer.read()
        answer.request.read()
        sent = answer.request
        seen.append(
            (str(sent.url.path), f"{sent.url}\n{sent.content.decode()}\n{answer.headers}\n{answer.text}")
        )

    class Watched(httpx.Client):
        def __init__(self, **options):
            super().__init__(**options, event_hooks={"response": [note]})

    habits = Behaviour(reload=0.2, offline=0.3, double_click=0.3, retry=0.3)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(trial_module.httpx, "Client", Watched)
        folder = tmp_path_factory.mktemp("everything")
        found = gone_through(
            folder,
            database_in(folder),
            workers=WORKERS,
            behaviour=habits,
            tasks={kind: {"instructions": "standard"} for kind in every_task()},
        )
    found.seen = seen
    return found


def test_everybody_gets_through_every_kind_of_task(everything):
    """With double clicks, reloads and a bad connection; the database keeps all its rules."""
    assert everything.report.finished == WORKERS
    assert everything.faults == []
    assert {"reload", "offline", "double_click", "retry"} <= set(everything.report.habits)


def test_each_kind_of_task_leaves_its_rows_once(everything):
    """What one worker does in each task, times the number of workers."""
    tables = everything.tables
    judged = tables["preferences"].groupby(["worker", "task"]).size().unstack()
    assert (judged["pairs"] == 3 + 1).all()
    assert (judged["pushes"] == 3).all()
    assert (judged["lists"] == 3).all()
    assert (tables["preferences"]["revision"] == 1).all()
    assert (tables["importance"].groupby("worker").size() == 2 * 4).all()
    assert tables["intent_votes"]["worker"].nunique() == WORKERS
    assert (tables["answers"].groupby(["worker", "question"]).size() == 1).all()
    assert len(tables["follows"]) == WORKERS
    assert set(tables["reads"]["kind"]) == {"iunit", "link", "update"}
    stops = tables["stops"].dropna(subset="judgment").set_index("judgment")
    stopped = tables["preferences"].set_index("judgment").loc[stops.index]
    assert set(stopped["task"]) == {"pairs", "lists"}
    assert (stops["ranks"].notna() == (stopped["task"] == "lists")).all()


def test_the_pairs_of_a_worker_are_all_different(everything):
    """A pair is leased once to a worker; its repeats are marked as such."""
    first = everything.tables["preferences"].query("validation_of.isna()")
    assert not first.duplicated(["worker", "task", "pair"]).any()


def test_whether_silent_days_were_shown_is_known_for_push_streams_only(everything):
    """Drawn once a worker, and written beside each of their judgments."""
    told = everything.tables["preferences"].groupby("task")["silent_days_revealed"]
    assert told.count().to_dict() == {"lists": 0, "pairs": 0, "pushes": 3 * WORKERS}
    of_worker = everything.tables["preferences"].query("task == 'pushes'").groupby("worker")
    assert (of_worker["silent_days_revealed"].nunique() == 1).all()


def test_nothing_gives_a_system_away(everything):
    """No name of a system, no id of a query, iUnit, tweet, update or document, in any address, page, header or event."""
    kinds = {re.sub(r"[\w.-]{40,}|\d+", "N", path) for path, _ in everything.seen}
    pages = {"intro", "choose", "vote", "rate", "pair", "questions", "enrol", "stream", "useful", "finish"}
    assert pages <= {word for kind in kinds for word in kind.split("/")}
    for path, seen in everything.seen:
        assert not secrets_in(seen, SECRETS), path


PAIRS = {"summary_pairs": {"validation_pairs": 3, "queries_per_worker": 2}}


def quality(tables):
    """Return what prefcal fit --exclude none writes into quality.json: by the rule the worst are left out before."""
    everybody = {name: table for name, table in tables.items() if name != "workers"}
    return quality_report(everybody, seed=1).entries()


def test_a_crowd_that_leans_to_one_side_is_found_out(tmp_path, new_url):
    """The interval of the share of left does not hold one half; the rule leaves out most of them."""
    tables = gone_through(
        tmp_path, new_url(tmp_path), workers=10, behaviour=Behaviour(left_bias=0.7), tasks=PAIRS
    ).tables
    left = quality(tables)["left_share"]
    low, high = left.interval
    assert 0.5 < low < left.estimate < high
    assert not tables["workers"]["flags"].str.contains("dwell", na=False).any()
    assert tables["workers"]["excluded"].mean() > 0.3


def test_a_careless_crowd_is_found_out(tmp_path, new_url):
    """Answers drawn by lot agree no more than chance would have it: kappa may well be nought, and is surely small."""
    tables = gone_through(
        tmp_path, new_url(tmp_path), workers=10, behaviour=Behaviour(careless=1.0), tasks=PAIRS
    ).tables
    low, high = quality(tables)["consistency_kappa"].interval
    assert low < 0 < high < 0.5
    assert tables["workers"]["excluded"].mean() > 0.3
    assert tables["workers"]["flags"].str.contains("dwell", na=False).mean() > 0.6


def test_a_crowd_searches_for_the_best_system(tmp_path, database_in):
    """Nobody judges a pair twice but as a repeat, the budget is used and not exceeded, and every first showing has its chance."""
    adaptive = {"adaptive": "best", "budget": 30, "uniform_share": 0.3, "stop_at": None}
    found = gone_through(
        tmp_path,
        database_in(tmp_path),
        workers=16,
        tasks={"stream_pairs": {"pairs": adaptive, "pairs_per_worker": 3, "validation_pairs": 1}},
    )
    rows = found.tables["preferences"]
    first = rows[rows["validation_of"].isna()]

    assert not found.faults
    assert len(first) == 30
    assert not first.duplicated(["worker", "pair"]).any()
    assert first["chance"].between(0, 1, inclusive="right").all()
    assert set(first["drawn"]) == {"uniform", "adaptive"}
    assert rows.loc[rows["validation_of"].notna(), ["chance", "drawn"]].isna().all(axis=None)
