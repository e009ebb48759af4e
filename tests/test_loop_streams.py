"""Streams through the whole loop: a crowd of known rhythm follows them over HTTP, and the fit finds it again."""

from collections.abc import Callable
from itertools import chain
from pathlib import Path

import pytest
import yaml
from sqlalchemy import select

from calibration.fit.user_model_fit import fit_user_model
from calibration.tables.files import read_tables
from calibration.user_model.model import ParameterEntry, UserModel
from metrics.msu.trails import RANGES, Population
from study_app.config import resource_folder
from study_app.estimate.content import StudyContent, read_whole_study
from study_app.export.study_export import export_study
from study_app.simulate.crowd_parameters import Behaviour, CrowdParameters, Lateness, Recovery, recovery_rows
from study_app.simulate.trial import run_trial
from study_app.store.database import open_database, transaction
from study_app.store.models import LoadedStudy

SEEDS = range(10)
WORKERS = 8
FEW = 4
DAYS = 1.5
PEOPLE = Population(
    away_mean_seconds=5 * 3600,
    away_sd_seconds=4 * 3600,
    session_mean_seconds=45,
    session_sd_seconds=40,
    reading_speed_mu=1.29,
    reading_speed_sigma=0.558,
)
LATENESS = Lateness(decay=0.6, p0=0.9)


def streams_of_the_bundled_study(folder: Path) -> StudyContent:
    """Return the study of its streams alone, for fewer days."""
    bundled = resource_folder("examples") / "two_layered"
    whole = yaml.safe_load((bundled / "study.yaml").read_text(encoding="utf-8"))
    (task,) = (task for task in whole["tasks"] if task["kind"] == "stream_visits")
    for part in ("collection", "systems"):
        task[part] = {name: str(bundled / path) for name, path in task[part].items()}
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump({**whole, "tasks": [{**task, "days": DAYS}]}), encoding="utf-8")
    return read_whole_study(path)


def truth_of() -> UserModel:
    """The crowd as a user model."""
    people = {name: getattr(PEOPLE, name) for name in RANGES}
    known = {**people, "lateness_decay": LATENESS.decay, "lateness_p0": LATENESS.p0}
    return UserModel(parameters={name: ParameterEntry(estimate=value) for name, value in known.items()})


def crowd(
    content: StudyContent,
    folder: Path,
    database_in: Callable[[Path], str],
    *,
    seed: int,
    workers: int = WORKERS,
    behaviour: Behaviour | None = None,
) -> Path:
    """One small crowd through the real server; returns the folder of its tables."""
    folder.mkdir()
    url = database_in(folder)
    truth = CrowdParameters(people=PEOPLE, lateness=LATENESS, behaviour=behaviour or Behaviour())
    report, clock = run_trial(content, url, workers=workers, truth=truth, seed=seed)
    assert report.finished == workers
    database = open_database(url)
    with transaction(database, write=False) as session:
        export_study(session, session.scalars(select(LoadedStudy)).one(), folder / "tables", now=clock())
    database.engine.dispose()
    return folder / "tables"


def held(rows: list[Recovery]) -> float:
    return sum(row.holds for row in rows) / len(rows)


@pytest.mark.soak
def test_pooled_over_ten_crowds_the_intervals_hold_the_truth(tmp_path, database_in):
    """Of all 95 % intervals of the followers' eight parameters, in 10 loops with 8 workers each, at least 85 %."""
    content, truth = streams_of_the_bundled_study(tmp_path), truth_of()
    rows = []
    for seed in SEEDS:
        tables = read_tables(crowd(content, tmp_path / str(seed), database_in, seed=seed))
        rows.append(recovery_rows(fit_user_model(tables, seed=seed).model, truth))
    pooled = list(chain.from_iterable(rows))
    assert {row.name for row in pooled} == set(truth.parameters)
    assert len(pooled) == len(SEEDS) * len(truth.parameters)
    assert held(pooled) >= 0.85


def test_batches_that_come_twice_and_in_the_wrong_order_change_no_table(tmp_path, database_in):
    """A fifth of the pages deliver their events so: what is exported is the same to the byte."""
    content = streams_of_the_bundled_study(tmp_path)
    smooth = crowd(content, tmp_path / "smooth", database_in, seed=1, workers=FEW)
    retry = Behaviour(retry=0.2)
    rough = crowd(content, tmp_path / "rough", database_in, seed=1, workers=FEW, behaviour=retry)
    tables = sorted(smooth.glob("*.csv"))
    assert {"activity", "follows", "lateness", "reads", "stops", "visits"} <= {path.stem for path in tables}
    for path in tables:
        assert (rough / path.name).read_bytes() == path.read_bytes(), path.name
