"""The whole loop finds the crowd's parameters again: serve, log, export, fit."""

from collections.abc import Callable
from itertools import chain
from pathlib import Path

import pytest
import yaml
from sqlalchemy import select

from calibration.fit.user_model_fit import fit_user_model
from calibration.tables.files import read_tables
from calibration.user_model.model import IntentEntry, ParameterEntry, UserModel
from study_app.config import resource_folder
from study_app.estimate.content import StudyContent, read_whole_study
from study_app.export.study_export import export_study
from study_app.simulate.crowd_parameters import CrowdParameters, Recovery, recovery_rows
from study_app.simulate.trial import run_trial
from study_app.store.database import open_database, transaction
from study_app.store.models import LoadedStudy

FEW, MANY = range(2), range(10)
PATIENCE_CHARS = 1000.0
PATIENCES = ("patience_chars_preferences", "patience_chars_stops", "patience_chars_grid")


def summaries_of_the_bundled_study(folder: Path) -> StudyContent:
    """Return the study without its streams, which `tests/test_loop_streams.py` follows."""
    bundled = resource_folder("examples") / "two_layered"
    whole = yaml.safe_load((bundled / "study.yaml").read_text(encoding="utf-8"))
    tasks = [task for task in whole["tasks"] if task["kind"] != "stream_visits"]
    for part in (part for task in tasks for part in (task["collection"], task.get("systems", {}))):
        part.update({name: str(bundled / path) for name, path in part.items()})
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump({**whole, "tasks": tasks}), encoding="utf-8")
    return read_whole_study(path)


def truth_of(content: StudyContent) -> UserModel:
    """The crowd's patience, and the collection's P(i|q)."""
    return UserModel(
        parameters={name: ParameterEntry(estimate=PATIENCE_CHARS) for name in PATIENCES},
        intents={
            topic.id: {
                intent: IntentEntry(estimate=topic.probability(intent) or 0.0) for intent in topic.intents
            }
            for topic in content.tasks[0].topics
        },
    )


def loop(
    content: StudyContent, folder: Path, database_in: Callable[[Path], str], *, seed: int, workers: int
) -> UserModel:
    """One small crowd through the real server, then export and fit."""
    folder.mkdir()
    url = database_in(folder)
    truth = CrowdParameters(patience_preferences=PATIENCE_CHARS, patience_stops=PATIENCE_CHARS)
    report, clock = run_trial(content, url, workers=workers, truth=truth, seed=seed)
    assert report.finished == workers
    database = open_database(url)
    with transaction(database, write=False) as session:
        export_study(session, session.scalars(select(LoadedStudy)).one(), folder / "tables", now=clock())
    database.engine.dispose()
    return fit_user_model(read_tables(folder / "tables"), seed=seed).model


def held(rows: list[Recovery]) -> float:
    return sum(row.holds for row in rows) / len(rows)


@pytest.mark.parametrize(
    ("seeds", "workers"),
    [
        pytest.param(FEW, 10, id="two crowds", marks=pytest.mark.soak),
        pytest.param(MANY, 16, id="ten crowds", marks=pytest.mark.soak),
    ],
)
def test_pooled_over_crowds_the_intervals_hold_the_truth(seeds, workers, tmp_path, database_in):
    """At least 85 % of all 95 % intervals, of the patiences alone as well, in loops with a few workers each."""
    content = summaries_of_the_bundled_study(tmp_path)
    truth = truth_of(content)
    models = [loop(content, tmp_path / str(seed), database_in, seed=seed, workers=workers) for seed in seeds]
    rows = [recovery_rows(model, truth) for model in models]
    pooled = list(chain.from_iterable(rows))
    patiences = [row for row in pooled if row.topic is None]

    assert {row.name for row in patiences} == set(PATIENCES)
    assert len(pooled) > 25 * len(seeds)
    assert held(pooled) >= 0.85
    assert held(patiences) >= 0.85
