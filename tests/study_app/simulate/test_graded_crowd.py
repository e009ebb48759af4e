"""A crowd answers graded choices, criteria, reasons and gold pairs in every kind of pairs, over a bad connection."""

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from sqlalchemy import select

from calibration.tables.files import read_tables
from study_app.estimate.content import read_whole_study
from study_app.export.study_export import export_study
from study_app.simulate.crowd_parameters import Behaviour, CrowdParameters
from study_app.simulate.mind import THRESHOLDS, graded_choice
from study_app.simulate.trial import run_trial
from study_app.store.check import check_database
from study_app.store.database import open_database, transaction
from study_app.store.models import LoadedStudy
from tests.study_app.every_task import write_every_task

ASKED = {
    "criteria": [{"name": "correct", "text": "More correct?"}, {"name": "short", "text": "Shorter?"}],
    "reason": "required",
}
TASKS = {
    "summary_pairs": ASKED
    | {"choices": "graded5", "validation_pairs": 1, "gold_pairs": "gold-summaries.tsv"},
    "stream_pairs": ASKED | {"choices": "graded7", "validation_pairs": 1, "gold_pairs": "gold-pushes.tsv"},
    "ranked_pairs": ASKED | {"choices": "four"},
}
GOLD = {
    "gold-summaries.tsv": "SYQ-1\tsysalpha\tsysbeta\tsysalpha\nSYQ-2\tsysalpha\tsysbeta\tsysbeta\n",
    "gold-pushes.tsv": "901\tsyspusha\tsyspushb\tsyspusha\n902\tsyspusha\tsyspushb\tequally_good\n",
}
WORKERS = 5


@pytest.fixture(scope="module")
def crowd(tmp_path_factory, database_in):
    """Five workers, of whom some are careless, with reloads, double clicks and late events."""
    folder = tmp_path_factory.mktemp("graded")
    for name, text in GOLD.items():
        (folder / name).write_text(text)
    habits = Behaviour(reload=0.2, offline=0.2, double_click=0.4, retry=0.2, careless=0.4)
    truth = CrowdParameters(patience_preferences=100, patience_stops=100, behaviour=habits)
    url = database_in(folder)
    content = read_whole_study(write_every_task(folder, tasks=TASKS))
    report, clock = run_trial(content, url, workers=WORKERS, truth=truth, seed=4)
    database = open_database(url)
    faults = check_database(database)
    with transaction(database, write=False) as session:
        study = session.scalars(select(LoadedStudy)).one()
        export_study(session, study, folder / "tables", now=clock(), texts=True)
    database.engine.dispose()
    return SimpleNamespace(report=report, faults=faults, tables=read_tables(folder / "tables"))


def test_every_answer_is_there_once_and_whole(crowd):
    """Whatever was loaded twice, sent twice or came late."""
    preferences, criteria = crowd.tables["preferences"], crowd.tables["criteria"]
    assert (crowd.report.finished, crowd.faults) == (WORKERS, [])
    assert {"reload", "offline", "double_click"} <= set(crowd.report.habits)
    assert preferences["reason"].notna().all()
    assert Counter(criteria["judgment"]) == dict.fromkeys(preferences["judgment"], 2)
    steps = {"pairs": {1, 2}, "pushes": {1, 2, 3}}
    for task, rows in preferences.groupby("task"):
        sided = rows["choice"].isin(["left", "right"])
        assert set(rows["strength"][sided].dropna()) <= steps.get(task, set())
        assert (rows["strength"][~sided].fillna(0) == 0).all()
        assert rows["strength"].notna().all() == (task in steps)


def test_everybody_gets_the_gold_pairs_that_there_are(crowd):
    """Of the topic that was chosen, or of all with the last pair; nobody gets one twice, and none is repeated."""
    preferences, workers = crowd.tables["preferences"], crowd.tables["workers"]
    gold = preferences[preferences["gold"].notna()]
    assert Counter(zip(gold["worker"], gold["task"], strict=True)) == {
        (worker, task): number
        for worker in workers["worker"]
        for task, number in (("pairs", 1), ("pushes", 2))
    }
    assert not gold["judgment"].isin(preferences["validation_of"]).any()
    assert not set(gold["pair"]) & set(preferences[preferences["gold"].isna()]["pair"])
    assert workers["gold_right"].notna().all()


def test_strength_grows_with_the_difference_of_worth():
    """By the cumulative link that cuts difference and logistic noise at the thresholds."""
    rng = np.random.default_rng(5)
    for most, thresholds in THRESHOLDS.items():
        drawn = Counter(graded_choice(rng, log_odds=1.0, most=most) for _ in range(20_000))
        cuts = np.array([-np.inf, *(-cut for cut in reversed(thresholds)), *thresholds, np.inf])
        shares = np.diff(1 / (1 + np.exp(1.0 - cuts)))
        names = [f"right_{most - step}" for step in range(most)] + ["equally_good"]
        names += [f"left_{step + 1}" for step in range(most)]
        for name, share in zip(names, shares, strict=True):
            assert drawn[name] / 20_000 == pytest.approx(share, abs=0.015), name
