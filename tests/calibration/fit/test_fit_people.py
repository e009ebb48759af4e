"""What every fit says of people in one way: few of them, careless ones; and answers that no family expects."""

from functools import lru_cache
from types import MappingProxyType

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from calibration.fit.families import FitOptions
from calibration.fit.user_model_fit import UserModelFit, fit_user_model
from calibration.models.durations.simulate import ObservationDesign
from calibration.simulate import SimulatedStudy, simulate_study
from calibration.tables.files import write_tables
from calibration.user_model.model import read_user_model
from study_app.cli.tables.fit import command
from tests.calibration.checks.test_intents_ticks import ballots
from tests.calibration.models.reading.reading_crowds import crowd
from tests.calibration.raters.test_careless_judges import judgments

QUICK = FitOptions(resamples=10)


@lru_cache
def study() -> MappingProxyType[str, pd.DataFrame]:
    """All tables of a small study."""
    tables = simulate_study(
        SimulatedStudy(workers=24, topics=4, items=4, diary=ObservationDesign(days=4)),
        np.random.default_rng(2),
    )
    return MappingProxyType({name: table for name, table in tables.items() if name != "activity"})


def fitted(tables) -> UserModelFit:
    return fit_user_model(tables, seed=1, options=QUICK)


def changed(table: str, **columns) -> dict[str, pd.DataFrame]:
    """Return a table with other cells, and the tables that its families need."""
    beside = {"preferences": ("positions", "intents", "push_cells"), "visits": ("follows",)}.get(table, ())
    some = {name: study()[name] for name in ("workers", *beside)}
    return {**some, table: study()[table].assign(**columns)}


def of_workers(number: int) -> dict[str, pd.DataFrame]:
    """Return the rows of so many workers."""
    kept = set(study()["visits"]["worker"].unique()[:number])
    return {
        name: table[table["worker"].isin(kept)].reset_index(drop=True) if "worker" in table else table
        for name, table in study().items()
    }


STRANGE = {
    "no row": lambda: {name: table.iloc[:0] for name, table in study().items()},
    "one worker": lambda: of_workers(1),
    "two workers": lambda: of_workers(2),
    "reads of one speed": lambda: changed("reads", dwell_seconds=study()["reads"]["words"] / 3.0),
    "reads of one time": lambda: changed("reads", dwell_seconds=2.0),
    "always of use": lambda: changed("lateness", useful=True),
    "always left": lambda: changed("preferences", choice="left"),
    "always equal": lambda: changed("preferences", choice="equally_good"),
    "no tick": lambda: {
        "intent_votes": study()["intent_votes"].assign(intent=None).drop_duplicates(["worker", "topic"]),
    },
    "visits of no length": lambda: changed("visits", end=study()["visits"]["start"]),
    "everything read": lambda: changed("stops", reached_end=True),
}


@pytest.mark.parametrize("case", STRANGE)
def test_strange_answers_are_fitted_or_refused_by_name(case):
    """No error that prefcal did not expect, no number that is none, no interval beside its estimate."""
    fit = fitted(STRANGE[case]())

    assert [str(one) for one in (*fit.skipped, *fit.quality.skipped) if one.unexpected] == []
    for name, row in fit.model.frame().iterrows():
        assert not np.isnan(row["estimate"]), name
        assert not row["low"] > row["estimate"], name
        assert not row["high"] < row["estimate"], name


def test_few_workers_and_few_topics_are_said_of_every_parameter_in_one_sentence():
    """Two people tell little, whatever the family."""
    for name, entry in fitted(of_workers(2)).model.parameters.items():
        assert {"few_workers", "one_worker"} & {note.name for note in entry.diagnostics}, name
    fit = fitted(study())
    entry = fit.model.parameters["patience_chars_preferences"]
    assert {"few_topics", "one_topic"} & {note.name for note in entry.diagnostics}
    sentences = {
        note.sentence
        for one in fit.model.parameters.values()
        for note in one.diagnostics
        if note.name == "few_workers" and "on the log-normal law" not in note.sentence
    }
    assert sentences == set()


def test_who_may_be_careless_stands_beside_the_model(tmp_path):
    """By what they answered; a fit that finds nobody takes the file away."""
    tables = {
        "reads": crowd(5, careless=8),
        "intent_votes": ballots(1, careless=6),
        "preferences": judgments(1, careless=3),
    }
    write_tables(tables, tmp_path / "tables")
    model = tmp_path / "user-model.json"

    done = CliRunner().invoke(command, [str(tmp_path / "tables"), "-o", str(model), "--notes"])

    assert done.exit_code == 0, done.output
    people = pd.read_csv(tmp_path / "careless.csv")
    assert list(people.columns) == ["worker", "answers", "probability"]
    likely = people[people["probability"] > 0.5].groupby("answers")["worker"].nunique()
    assert likely.to_dict() == {"preferences": 3}
    assert done.output.count("judges click as if at random") == 1
    assert "random_ticks" in {note.name for note in read_user_model(model).intents_diagnostics}

    write_tables({"reads": crowd(0)}, tmp_path / "careful")
    CliRunner().invoke(command, [str(tmp_path / "careful"), "-o", str(model)])
    assert not (tmp_path / "careless.csv").exists()


def test_judges_who_click_at_random_are_said_of_what_rests_on_preferences():
    """Of patience and push weights, and of nothing else."""
    tables = simulate_study(
        SimulatedStudy(workers=30, topics=10, items=4, diary=ObservationDesign(days=4)),
        np.random.default_rng(3),
    )
    preferences = tables["preferences"]
    some = preferences["worker"].isin(sorted(preferences["worker"].unique())[::4])
    drawn = np.random.default_rng(1).choice(["left", "right"], len(preferences))
    by_lot = preferences.assign(choice=preferences["choice"].where(~some, drawn))
    fit = fitted(
        {name: tables[name] for name in ("positions", "intents", "push_cells", "reads")}
        | {"preferences": by_lot}
    )
    named = {
        name
        for name, entry in fit.model.parameters.items()
        if {"careless_workers", "judges_differ"} & {note.name for note in entry.diagnostics}
    }

    assert "patience_chars_preferences" in named
    assert "push_alpha" in named
    assert not {"reading_speed_mu", "patience_chars_stops"} & named
