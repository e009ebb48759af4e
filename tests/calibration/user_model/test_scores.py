"""Scores under a fitted model, with their intervals, as a notebook asks for them: two lines for each family."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from calibration.user_model import (
    UserModel,
    draw_model,
    push_model,
    ranked_model,
    stream_model,
    summary_model,
    write_user_model,
)
from calibration.user_model.model import IntentEntry, ParameterEntry
from metrics.errors import InputError
from metrics.msu import MSU, GivenUsers, Population, SimulatedUsers, score_msu
from metrics.msu.trails import trails
from metrics.push import ELG, T11U, Contingency, score_push
from metrics.push.streams import days_between
from metrics.ranked import IANDCG, TIANDCG, score_ranked
from metrics.readers.mobileclick import read_summary_collection
from metrics.readers.mobileclick_runs import read_summary_run
from metrics.readers.push import read_push_collection, read_push_run
from metrics.readers.ranked import read_ranked_collection, read_ranked_run
from metrics.readers.tempsum import read_events, read_update_run
from metrics.summaries import MMeasure, score_summaries

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
KEYS = ["run", "topic", "metric"]


def entry(estimate, low=None, high=None):
    return ParameterEntry(estimate=estimate, interval=(low, high))


def voted(shares):
    """P(i|q) known to a tenth."""
    return {
        topic: {
            intent: IntentEntry(estimate=share, interval=(max(0.0, share - 0.1), min(1.0, share + 0.1)))
            for intent, share in of.items()
        }
        for topic, of in shares.items()
    }


@pytest.fixture(scope="module")
def summaries():
    """Judgments and three runs."""
    folder = EXAMPLES / "two_layered"
    collection = read_summary_collection(folder / "collection")
    paths = [folder / "runs" / f"{name}.xml" for name in ("good-order", "random", "short")]
    return collection, [read_summary_run(path, collection, name=path.stem) for path in paths]


@pytest.fixture(scope="module")
def pushes():
    folder = EXAMPLES / "push_streams"
    names = {"qrels": "qrels.txt", "clusters": "clusters.json", "epochs": "epochs.txt"}
    files = {option: folder / "collection" / name for option, name in names.items()}
    collection = read_push_collection(**files, days=days_between("20121008", "20121014"))
    paths = sorted((folder / "runs").glob("*.txt"))
    return collection, [read_push_run(path, name=path.stem) for path in paths]


@pytest.fixture(scope="module")
def events():
    folder = EXAMPLES / "two_layered" / "streams"
    names = {
        "topics": "topics.xml",
        "nuggets": "nuggets.tsv",
        "matches": "matches.tsv",
        "updates": "updates.tsv",
    }
    collection = read_events(**{option: folder / name for option, name in names.items()})
    paths = sorted((folder / "runs").glob("*.txt"))[:2]
    return collection, [read_update_run(path, name=path.stem) for path in paths]


@pytest.fixture(scope="module")
def lists():
    folder = EXAMPLES / "ranked_lists"
    names = {"qrels": "qrels.txt", "windows": "windows.txt", "intents": "intents.txt"}
    collection = read_ranked_collection(
        **{kind: folder / "collection" / name for kind, name in names.items()}
    )
    paths = sorted((folder / "runs").glob("*.txt"))[:2]
    return collection, [read_ranked_run(path, collection.grades, name=path.stem) for path in paths]


@pytest.fixture(scope="module")
def fitted(summaries, lists):
    """A model that knows something for every family."""
    given = {query.id: query.probability for query in summaries[0].queries.values()}
    return UserModel(
        parameters={
            "patience_chars": entry(1000.0, 800.0, 1250.0),
            "push_alpha": entry(0.6, 0.5, 0.7),
            "push_P_E": entry(0.5, 0.3, 0.7),
            "push_S_E": entry(0.3, 0.1, 0.5),
            "push_P_0": entry(0.4, 0.2, 0.6),
            "push_S_0": entry(0.2, 0.0, 0.4),
            "away_mean_seconds": entry(10_800.0, 9_000.0, 13_000.0),
            "away_sd_seconds": entry(5_400.0, 4_000.0, 7_000.0),
            "session_mean_seconds": entry(120.0, 100.0, 150.0),
            "session_sd_seconds": entry(60.0, 40.0, 90.0),
            "reading_speed_mu": entry(1.29, 1.2, 1.4),
            "reading_speed_sigma": entry(0.558, 0.5, 0.6),
            "lateness_decay": entry(0.25, 0.1, 0.4),
        },
        intents=voted(given) | voted(lists[0].probability),
    )


def assert_quantiles(frame, drawn):
    """The ends are the quantiles of the scores under each draw, computed one draw at a time, and reach to the score itself."""
    draws = pd.concat(one.set_index(KEYS)["value"] for one in drawn).groupby(level=KEYS)
    scores = frame.set_index(KEYS)
    for column, share, reach in (("low", 0.025, np.fmin), ("high", 0.975, np.fmax)):
        expected = reach(draws.quantile(share).reindex(scores.index), scores["value"])
        assert scores[column].to_numpy() == pytest.approx(expected.to_numpy(), rel=1e-9, nan_ok=True)


def means(frame):
    return frame[frame["topic"] == "all"].set_index("run")


# A notebook's two lines


def test_m_with_its_interval(fitted, summaries):
    """M at the fitted patience; the interval is that of M over the draws of the patience."""
    collection, runs = summaries
    scores = summary_model(fitted, collection).score(runs, draws=30, seed=2)

    assert list(scores) == ["run", "topic", "metric", "value", "low", "high"]
    assert set(scores["metric"]) == {"M@1000"}
    assert (means(scores)["low"] < means(scores)["value"]).all()
    patiences = draw_model(fitted.part(["patience_chars"]), 30, 2).parameters["patience_chars"]
    by_hand = [score_summaries(collection, runs, {"M@1000": MMeasure(patience=one)}) for one in patiences]
    assert_quantiles(scores, by_hand)


def test_m_with_the_intents_that_people_voted_for(fitted, summaries):
    """Patience and P(i|q) are drawn together: a draw is one whole model."""
    collection, runs = summaries
    scores = summary_model(fitted, collection, intents=True).score(runs, draws=20)

    draws = draw_model(fitted.part(["patience_chars"], fitted.intents), 20, 1)
    by_hand = [
        score_summaries(
            collection, runs, {"M@1000": MMeasure(patience=patience, intents="fitted")}, fitted=shares
        )
        for patience, shares in zip(draws.parameters["patience_chars"], draws.shares, strict=True)
    ]
    assert_quantiles(scores, by_hand)


def test_utilities_of_pushes_with_their_intervals(fitted, pushes):
    """T11U at the fitted alpha, and the contingency utility."""
    collection, runs = pushes
    scores = push_model(fitted, collection).score(runs, draws=20)

    assert set(scores["metric"]) == {"T11U", "Contingency"}
    drawn = draw_model(fitted, 20, 1, parts=["alpha", "weights"]).parameters
    by_hand = [
        score_push(
            collection,
            runs,
            [
                T11U(alpha=drawn["push_alpha"][n]),
                Contingency(**{name: drawn[f"push_{name}"][n] for name in ("P_E", "S_E", "P_0", "S_0")}),
            ],
        )
        for n in range(20)
    ]
    assert_quantiles(scores, by_hand)


def test_msu_with_its_interval(fitted, events):
    """Population and lateness decay are drawn; all draws meet users of the same random numbers."""
    collection, runs = events
    people = stream_model(fitted, collection, count=20, seed=3)
    scores = people.score(runs, {"MSU": MSU(lateness=0.25)}, draws=4)

    drawn = draw_model(fitted, 4, 1, parts=["population", "lateness"]).parameters
    by_hand = []
    for n in range(4):
        population = Population(
            **{name: values[n] for name, values in drawn.items() if name != "lateness_decay"}
        )
        users = SimulatedUsers(population=population, count=20, seed=3)
        by_hand.append(score_msu(collection, runs, {"MSU": MSU(lateness=drawn["lateness_decay"][n])}, users))
    assert_quantiles(scores, by_hand)
    assert set(people.score(runs)["metric"]) == {"MSU@0.25", "MSU-se@0.25", "MSU/s@0.25"}


def test_ranked_lists_with_their_intervals(fitted, lists):
    """P(c|q) is drawn; the collection's own is left aside."""
    collection, runs = lists
    scores = ranked_model(fitted, collection).score(runs, draws=10)

    assert set(scores["metric"]) == {"TIA-nDCG@10", "TIA-ERR@10", "TIA-SBR@10"}
    intents = {topic: fitted.intents[topic] for topic in collection.grades}
    by_hand = [
        score_ranked(replace(collection, probability=shares), runs, ranked_model(fitted, collection).measures)
        for shares in draw_model(fitted.part([], intents), 10, 1).shares
    ]
    assert_quantiles(scores, by_hand)


# Rules that hold for every family


@pytest.fixture(params=["summaries", "pushes", "events", "lists"])
def family(request, fitted):
    """What a family takes from the model, and runs."""
    make = {
        "summaries": lambda found: summary_model(fitted, found),
        "pushes": lambda found: push_model(fitted, found),
        "events": lambda found: stream_model(fitted, found, count=20),
        "lists": lambda found: ranked_model(fitted, found),
    }[request.param]
    collection, runs = request.getfixturevalue(request.param)
    return make(collection), runs


def test_the_same_seed_gives_the_same_interval(family):
    """Another one gives another; the values stay."""
    people, runs = family
    first, again, other = (people.score(runs, draws=3, seed=seed) for seed in (1, 1, 2))

    pd.testing.assert_frame_equal(first, again)
    assert (first["value"] == other["value"]).all()
    assert (first["low"] != other["low"]).any()


@pytest.mark.parametrize("draws", [1, 2, 30])
def test_an_interval_never_leaves_out_its_own_score(family, draws):
    """All of a few draws can lie to one side of the score; the interval then reaches to it."""
    people, runs = family
    scores = people.score(runs, draws=draws).dropna()

    assert (scores["low"] <= scores["value"]).all()
    assert (scores["value"] <= scores["high"]).all()


def test_without_draws_there_is_no_interval(family):
    """The frame is that of every other score."""
    people, runs = family
    assert list(people.score(runs)) == [*KEYS, "value"]


def test_topics_of_the_run_are_those_of_its_interval_too(lists, fitted):
    """A run without a list for a topic is not punished for it."""
    collection, (run, *_) = lists
    kept = next(iter(run.rankings))
    short = replace(run, rankings={kept: run.rankings[kept]})
    scores = ranked_model(fitted, collection).score([short], draws=5, topics="run").set_index("topic")

    for column in ("value", "low", "high"):
        assert scores.loc["all", column].tolist() == pytest.approx(scores.loc[kept, column].tolist())


# Measures of one's own


def test_a_measure_with_another_parameter_than_the_fitted_one_does_not_move(fitted, summaries, pushes):
    """Nothing was fitted for it: its interval has no width."""
    collection, runs = summaries
    scores = summary_model(fitted, collection).score(
        runs, [MMeasure(patience=500), MMeasure(patience=1000)], draws=5
    )
    moves = (scores["low"] < scores["high"]).groupby(scores["metric"]).any()
    assert moves.to_dict() == {"M@1000": True, "M@500": False}

    collection, runs = pushes
    scores = push_model(fitted, collection).score(runs, {"ELG": ELG(), "T11U": T11U(alpha=0.9)}, draws=5)
    assert (scores["low"] == scores["value"]).all()
    assert (scores["high"] == scores["value"]).all()


def test_a_measure_that_no_intent_enters_does_not_move(fitted, lists):
    """IA-nDCG weighs by P(c|q), as TIA-nDCG does."""
    collection, runs = lists
    scores = ranked_model(fitted, collection).score(runs, [TIANDCG(), IANDCG()], draws=5)
    assert ((scores["high"] > scores["low"]).groupby(scores["metric"]).any()).all()


def test_given_users_stay_as_they_are(fitted, events):
    """Then the lateness decay alone is drawn."""
    collection, runs = events
    users = GivenUsers(trails([(3.0, [(60.0, 3600.0)] * 5)]))
    people = stream_model(fitted, collection, users=users)
    scores = people.score(runs, [MSU(lateness=0.25), MSU(lateness=1)], draws=5)

    assert people.users is users
    assert list(people.model.parameters) == ["lateness_decay"]
    still = scores[scores["metric"] == "MSU@1"]
    assert (still["low"] == still["high"]).all()


# What a missing parameter means


def test_a_model_is_given_as_it_is_or_as_its_file(fitted, summaries, tmp_path):
    """Both give the same; a fault names the file, or the model."""
    collection, runs = summaries
    write_user_model(fitted, tmp_path / "model.json")
    of_file = summary_model(tmp_path / "model.json", collection).score(runs, draws=3)
    pd.testing.assert_frame_equal(of_file, summary_model(fitted, collection).score(runs, draws=3))

    write_user_model(UserModel(), tmp_path / "empty.json")
    for model, place in ((tmp_path / "empty.json", f"{tmp_path}/empty.json"), (UserModel(), "user model")):
        with pytest.raises(InputError, match="the model has no patience_chars") as caught:
            summary_model(model, collection)
        assert str(caught.value).startswith(f"{place}:1: ")


def test_what_a_family_cannot_do_without_is_an_error(fitted, pushes, events, lists):
    """Nothing stands in silently for what was to be fitted."""
    wanted = "push_alpha, push_P_E, push_S_E, push_P_0, push_S_0"
    with pytest.raises(InputError, match=f"the model has none of {wanted}"):
        push_model(UserModel(), pushes[0])
    with pytest.raises(InputError, match="the model has no session_sd_seconds"):
        stream_model(fitted.part([*fitted.parameters][:-4]), events[0])
    with pytest.raises(InputError, match="no probability of subtopic"):
        ranked_model(fitted.part(fitted.parameters), lists[0])


def test_speed_and_lateness_have_defaults_and_the_notes_say_so(fitted, events):
    """They are the paper's."""
    collection, runs = events
    bare = stream_model(fitted.part([*fitted.parameters][:-3]), collection, count=5)

    assert bare.notes == (
        "no reading speed in words per second; the default is used: reading_speed_mu 1.29, reading_speed_sigma 0.558",
        "no lateness_decay; the default is used",
    )
    assert set(bare.score(runs)["metric"]) == {"MSU@0.5", "MSU-se@0.5", "MSU/s@0.5"}
    assert stream_model(fitted, collection).notes == ()


def test_weights_that_are_missing_beside_others_count_nothing_and_are_not_drawn(fitted, pushes):
    """prefcal fit leaves out weights that the judged pairs do not identify."""
    collection, runs = pushes
    some = push_model(fitted.part(["push_P_E", "push_P_0"]), collection)
    scores = some.score(runs, draws=10)

    assert some.contingency == Contingency(P_E=0.5, P_0=0.4)
    assert some.notes[0].startswith("the contingency utility counts push_S_E, push_S_0 as 0")
    assert push_model(fitted, collection).notes == ()
    drawn = draw_model(fitted.part(["push_P_E", "push_P_0"]), 10, 1).parameters
    by_hand = [
        score_push(collection, runs, [Contingency(P_E=drawn["push_P_E"][n], P_0=drawn["push_P_0"][n])])
        for n in range(10)
    ]
    assert_quantiles(scores, by_hand)


def test_estimates_without_intervals_score_but_cannot_be_drawn(summaries):
    """A truth written by hand."""
    collection, runs = summaries
    people = summary_model(UserModel(parameters={"patience_chars": entry(1000.0)}), collection)

    assert np.isfinite(people.score(runs)["value"]).all()
    with pytest.raises(InputError, match="the interval has no lower end; leave out --draws"):
        people.score(runs, draws=5)
