"""Commands that write are killed at any moment: what they were to write is there whole, or not at all."""

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from sqlalchemy import func, select

from calibration.tables.files import read_tables
from calibration.user_model.model import read_user_model
from study_app.estimate.content import read_whole_study
from study_app.export.study_export import export_study
from study_app.simulate.crowd_parameters import CrowdParameters
from study_app.simulate.trial import run_trial
from study_app.store.check import check_database
from study_app.store.database import is_empty, open_database, transaction
from study_app.store.models import LoadedStudy, Topic
from tests.study_app.small_study import write_small_study

KILLS = 8
SLOWEST_SECONDS = 300
"""Longer than a command can take on a busy machine: only one that hangs is to fail."""
STUDY = {"search_seconds": 0, "workers_per_query": None}


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """A small study that ten simulated workers have done: its file, its database, its tables."""
    folder = tmp_path_factory.mktemp("judged")
    url = f"sqlite:///{folder / 'study.sqlite3'}"
    content = read_whole_study(write_small_study(folder, task=STUDY))
    _, clock = run_trial(content, url, workers=10, truth=CrowdParameters(patience_preferences=100), seed=1)
    database = open_database(url)
    with transaction(database, write=False) as session:
        export_study(session, session.scalars(select(LoadedStudy)).one(), folder / "tables", now=clock())
    database.engine.dispose()
    return folder / "study.yaml", url, folder / "tables"


def killed(*arguments, after):
    """Run prefcal and kill it after so many seconds; say whether it had ended by itself before."""
    command = [sys.executable, "-c", "from study_app.cli import main; main()", *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            return process.wait(timeout=after) == 0
        except subprocess.TimeoutExpired:
            process.kill()
            return False


def moments(*arguments):
    """Return moments spread over the time that the command takes when it is left alone."""
    began = time.monotonic()
    assert killed(*arguments, after=SLOWEST_SECONDS)
    whole = time.monotonic() - began
    rng = random.Random(1)
    return [whole * rng.uniform(0.3, 1.05) for _ in range(KILLS)]


def left_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} if folder.exists() else set()


@pytest.mark.soak
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_killed_load_leaves_the_database_empty_or_loaded(judged, tmp_path, durable_postgres, kind):
    """One transaction, after one for the tables."""
    file, _, _ = judged

    def new(name):
        return durable_postgres.new_database(name) if kind == "postgresql" else f"sqlite:///{tmp_path / name}"

    for number, after in enumerate(moments("study", "load", file, "--database", new("whole"))):
        url = new(f"load{number}")
        killed("study", "load", file, "--database", url, after=after)
        database = open_database(url)
        if not is_empty(database):
            with transaction(database, write=False) as session:
                studies = session.scalar(select(func.count()).select_from(LoadedStudy))
                topics = session.scalar(select(func.count()).select_from(Topic))
            assert (studies, topics) in {(0, 0), (1, 2)}
            assert check_database(database) == []
        database.engine.dispose()
        assert killed("study", "load", file, "--database", url, after=SLOWEST_SECONDS)


@pytest.mark.soak
def test_a_killed_export_leaves_a_whole_folder_or_none(judged, tmp_path):
    """Tables without one of them would pass for a smaller study."""
    _, url, tables = judged
    wanted = {path.name for path in tables.iterdir()}
    for number, after in enumerate(moments("export", tmp_path / "whole", "--database", url)):
        target = tmp_path / str(number) / "tables"
        target.parent.mkdir()
        killed("export", target, "--database", url, after=after)
        assert left_in(target) in (set(), wanted)
        if target.exists():
            assert read_tables(target).keys() == read_tables(tables).keys()
        assert killed("export", target, "--database", url, after=SLOWEST_SECONDS) or target.exists()


@pytest.mark.soak
def test_a_killed_fit_leaves_a_whole_model_or_none(judged, tmp_path):
    """Half a model would be half a paper."""
    _, _, tables = judged
    for number, after in enumerate(moments("fit", tables, "-o", tmp_path / "whole.json")):
        target = tmp_path / f"{number}.json"
        killed("fit", tables, "-o", target, after=after)
        if target.exists():
            assert read_user_model(target).parameters
        assert killed("fit", tables, "-o", target, after=SLOWEST_SECONDS)
