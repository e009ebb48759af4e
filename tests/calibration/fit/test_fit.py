"""Everything the tables allow, in one user model: whose rows count, what is absent, the same to the byte."""

from functools import lru_cache

import numpy as np
import pandas as pd
import pytest

from calibration.fit.collection_files import collection_files, mean_importance
from calibration.fit.families import FitOptions
from calibration.fit.user_model_fit import UserModelFit, fit_user_model
from calibration.models.durations.fit import AWAY, SESSION
from calibration.models.patience.simulate import (
    SimulatedJudges,
    simulate_preferences,
    simulate_stops,
    simulate_summaries,
    simulate_votes,
)
from calibration.tables.files import check_frame, read_tables, write_tables
from calibration.tables.tables import TABLES
from calibration.user_model.model import PARAMETERS, read_user_model, write_user_model

WORKERS = 42


@lru_cache
def study() -> dict[str, pd.DataFrame]:
    """Return the tables of a sound study, with a patience of 840; 42 judges, as many readers and 60 voters."""
    rng = np.random.default_rng(3)
    tables, probabilities = simulate_summaries(6, rng)
    judges = SimulatedJudges(patience_chars=840, per_topic=7, effect=3.0)
    votes = simulate_votes(probabilities, rng)["intent_votes"]
    workers = pd.DataFrame({"worker": [f"W{number}" for number in range(WORKERS)]})
    ratings = [("W1", "Q000", "I0", "U1", 2), ("W2", "Q000", "I0", "U1", 3), ("W1", "Q000", "I0", "U2", 0)]
    return tables | {
        "workers": check_frame(workers, TABLES["workers"]),
        "preferences": simulate_preferences(tables["positions"], probabilities, judges, rng),
        "stops": simulate_stops(840, rng, workers=WORKERS, texts_per_worker=6),
        "intent_votes": votes,
        "importance": check_frame(
            pd.DataFrame(ratings, columns=["worker", "topic", "intent", "iunit", "rating"]),
            TABLES["importance"],
        ),
    }


def spoiled(*, mark: dict[str, object]) -> dict[str, pd.DataFrame]:
    """Return the study with six more workers, marked, whose rows contradict the others in every table."""
    tables = {name: table.copy() for name, table in study().items()}
    preferences, stops, votes = tables["preferences"], tables["stops"], tables["intent_votes"]
    turned = preferences["choice"].map(lambda choice: {"left": "right", "right": "left"}.get(choice, choice))
    bad = [f"B{number}" for number in range(6)]
    more = {
        "workers": pd.DataFrame([{"worker": name} | mark for name in bad]),
        "preferences": preferences.assign(
            judgment="B" + preferences["judgment"], choice=turned, worker=preferences["worker"].map(_bad)
        ),
        "stops": stops.assign(worker=stops["worker"].map(_bad), chars_read=1.0, reached_end=False),
        "intent_votes": votes[["topic"]]
        .drop_duplicates()
        .merge(pd.DataFrame({"worker": bad, "intent": "I0"}), how="cross"),
        "importance": tables["importance"].assign(worker=["B0", "B1", "B0"], rating=4.0),
    }
    for name, rows in more.items():
        both = pd.concat([tables[name].astype(object), rows.astype(object)], ignore_index=True)
        tables[name] = check_frame(both, TABLES[name])
    return tables


def _bad(worker: str) -> str:
    return f"B{int(worker[1:]) % 6}"


def fitted(tables: dict[str, pd.DataFrame], *, checks: bool = True, **more) -> UserModelFit:
    return fit_user_model(tables, seed=1, options=FitOptions(checks=checks, **more))


@lru_cache
def clean() -> UserModelFit:
    """Return the fit to the sound study."""
    return fitted(study())


def numbers(fit: UserModelFit) -> dict[str, object]:
    """Return the model without its diagnostics, which count the workers left out."""
    model = fit.model.model_dump()
    for entry in model["parameters"].values():
        del entry["diagnostics"]
    return model


def reasons(fit: UserModelFit) -> dict[str, str]:
    """Return the first name of each group that was skipped -> why."""
    return {one.names[0]: one.reason for one in fit.skipped}


def test_the_model_holds_every_patience_and_every_intent():
    """In the documented order, with how much they rest on."""
    model = clean().model

    assert list(model.parameters) == [name for name in PARAMETERS if name.startswith("patience")]
    assert model.parameters["patience_chars_stops"].workers == WORKERS
    assert model.parameters["patience_chars_preferences"].rows == 6 * 7 * 21
    assert model.parameters["patience_chars"].unit == "counted characters"
    assert {topic: len(intents) for topic, intents in model.intents.items()} == {
        f"Q00{n}": 5 for n in range(6)
    }
    assert model.seed == 1


@pytest.mark.parametrize("mark", [{"excluded": "true"}, {"withdrawn_at": "2026-03-01T10:00:00Z"}])
def test_excluded_and_withdrawn_workers_are_left_out_of_every_table(mark):
    """Six bad workers change nothing; left in a single table they would move its parameter."""
    fit = fitted(spoiled(mark=mark))

    assert numbers(fit) == numbers(clean())
    reason = next(iter(mark)).removesuffix("_at")
    note = f"6 {reason} workers are left out of every table."
    for entry in fit.model.parameters.values():
        assert note in [diagnostic.sentence for diagnostic in entry.diagnostics]


def test_exclusion_can_be_switched_off_and_then_everyone_counts():
    """Here the bad workers vote against every vote there is, so that nothing is left to explain."""
    tables, usual = spoiled(mark={"excluded": "true"}), clean().model
    fit = fitted(tables, exclude=False)

    assert "patience_chars_preferences" not in fit.model.parameters
    assert "nothing shows that M matters" in reasons(fit)["patience_chars_preferences"]
    stops = "patience_chars_stops"
    assert fit.model.parameters[stops].rows > usual.parameters[stops].rows
    assert fit.model.intents["Q000"]["I0"].estimate > usual.intents["Q000"]["I0"].estimate


def test_a_withdrawn_worker_stays_out_even_then():
    """Consent taken back is no rule of analysis."""
    tables = spoiled(mark={"withdrawn_at": "2026-03-01T10:00:00Z", "excluded": "true"})

    assert numbers(fitted(tables, exclude=False)) == numbers(clean())


def test_what_the_tables_cannot_tell_is_absent_and_said():
    """One line a group, beginning with the names."""
    fit = fitted({"stops": study()["stops"]})

    assert list(fit.model.parameters) == ["patience_chars", "patience_chars_stops", "patience_chars_spread"]
    assert fit.model.intents == {}
    assert [str(one) for one in fit.skipped] == [
        f"{', '.join(AWAY)}: there is no table visits",
        f"{', '.join(SESSION)}: there is no table visits",
        "away_session_correlation: there is no table visits",
        "reading_speed_mu, reading_speed_sigma: there is no table reads",
        "lateness_decay, lateness_p0: there is no table lateness",
        "patience_chars_preferences, patience_chars_grid: there is no table preferences and no table positions",
        "rbp_p: table stops has no ranked list",
        "push_P_E, push_S_E, push_P_0, push_S_0: there is no table preferences",
        "push_alpha: there is no table preferences",
        "intents: there is no table intent_votes",
    ]


def test_voted_intents_stand_in_for_a_collection_without_probabilities():
    """A study that collected the votes can be fitted with them."""
    tables = study() | {"intents": study()["intents"].assign(probability=np.nan)}
    entry = fitted(tables).model.parameters["patience_chars_preferences"]

    assert "voted_intents" in [diagnostic.name for diagnostic in entry.diagnostics]
    assert entry.estimate == pytest.approx(840, rel=0.35)


def test_the_same_tables_and_seed_give_the_same_file_to_the_byte(tmp_path):
    """Also after a round trip through the files, and whatever the order of the rows."""
    shuffled = {name: table.sample(frac=1, random_state=5) for name, table in study().items()}
    write_tables(shuffled, tmp_path / "tables")
    for name, fit in (("a", clean()), ("b", fitted(read_tables(tmp_path / "tables")))):
        write_user_model(fit.model, tmp_path / f"{name}.json")

    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    assert read_user_model(tmp_path / "a.json").model_dump() == clean().model.model_dump()


def test_another_seed_moves_bootstraps_only():
    """What is not resampled does not depend on the seed."""
    one, other = (
        clean().model.parameters,
        fit_user_model(study(), seed=2, options=FitOptions()).model.parameters,
    )

    name = "patience_chars_preferences"
    assert (one[name].estimate, one[name].interval) == (other[name].estimate, other[name].interval)
    assert one["patience_chars_stops"].estimate == other["patience_chars_stops"].estimate
    assert one["patience_chars_stops"].interval != other["patience_chars_stops"].interval


def test_importance_is_the_mean_of_its_assessors():
    """As in the paper; one assessor's rating stands as it is."""
    assert mean_importance(study()["importance"]).to_dict("list") == {
        "topic": ["Q000", "Q000"],
        "intent": ["I0", "I0"],
        "iunit": ["U1", "U2"],
        "importance": [2.5, 0.0],
    }


def test_votes_and_ratings_become_files_of_a_collection():
    """Tab-separated without a header, as MobileClick has them; only what the tables can tell."""
    fit = clean()
    files = collection_files(study(), fit.intents)

    assert files["importance.tsv"] == "Q000\tI0\tU1\t2.5\nQ000\tI0\tU2\t0.0\n"
    first = files["probability.tsv"].splitlines()[0].split("\t")
    assert first[:2] == ["Q000", "I0"]
    assert float(first[2]) == fit.model.intents["Q000"]["I0"].estimate
    assert collection_files({"stops": study()["stops"]}, None) == {}
