"""What `agree` says of pairs of streams: push measures, MSU, utilities, conversions."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from calibration.agree.agree_tables import agree
from calibration.agree.score_sources import ScoreSources
from calibration.tables.sources import NamedFile, TaskSources
from calibration.user_model.model import ParameterEntry, UserModel
from metrics.errors import InputError
from metrics.push.measures import ELG, NCG, T11U
from metrics.push.score import score_push
from metrics.push.streams import days_between
from metrics.readers.push import read_push_collection, read_push_run
from tests.calibration.judged_streams import (
    DAYS,
    SYSTEMS,
    TASK,
    by_hand,
    choices,
    differences,
    judged_cells,
    measures,
    table,
    write_push_study,
)


@pytest.fixture(scope="module")
def push_study(tmp_path_factory):
    """Files and preferences of a small study of pushes."""
    return write_push_study(tmp_path_factory.mktemp("pushes"))


@pytest.fixture(scope="module")
def found(push_study):
    sources, preferences = push_study
    return agree(ScoreSources(tables={"preferences": preferences}, sources={TASK: sources}))


def push_files(sources):
    collection = read_push_collection(
        **{kind: sources.path(kind) for kind in ("qrels", "clusters", "epochs")}, days=DAYS
    )
    return collection, [read_push_run(source.path, name=name) for name, source in sources.systems.items()]


def entry(estimate):
    return ParameterEntry(estimate=estimate)


@pytest.mark.parametrize(
    ("measure", "metric"),
    [
        ("ELG-1", ELG()),
        ("ELG-0", ELG(silent_days=0)),
        ("nCG-1", NCG()),
        ("nCG-0", NCG(silent_days=0)),
        ("T11U", T11U()),
    ],
)
def test_push_measures_are_those_of_the_score_command(found, push_study, measure, metric):
    """The differences are those of `score_push` on the same files; T11U comes by way of the cells."""
    collection, runs = push_files(push_study[0])
    scores = score_push(collection, runs, {"one": metric})
    actual = differences(found, measure)

    assert actual == pytest.approx(by_hand(scores, "one", actual))
    assert any(actual.values())


def test_agreement_is_the_share_of_pairs_on_which_score_and_majority_point_to_one_system(found, push_study):
    """Counted with loops from the raw rows."""
    actual = differences(found, "ELG-1")
    preferences = push_study[1]
    hits = 0
    for (topic, one, other), difference in actual.items():
        rows = preferences[
            (preferences["topic"] == topic) & (preferences["pair"] == f"{topic}/{one}/{other}")
        ]
        lead = (rows["choice"] == "left").sum() - (rows["choice"] == "right").sum()
        hits += difference * lead > 0

    row = found.agreement[(found.agreement["measure"] == "ELG-1") & (found.agreement["ties"] == "against")]
    assert row["agreement"].item() == pytest.approx(hits / len(actual))


def test_msu_of_pushes_is_converted_and_says_so(found, push_study):
    """A cluster is taken for a nugget: the name, the column, and never in a family."""
    row = measures(found).loc["MSU@0.5 (converted)"]

    assert row["converted"]
    assert (row["family"], row["lateness"]) == ("msu", 0.5)
    assert not measures(found).loc["ELG-1", "converted"]
    against = found.comparisons.query("by == 'majority'").set_index("measure")["standing"]
    assert set(against.loc[["MSU@0.5 (converted)"]]) == {"exploratory"}
    assert "family" in set(against.loc[["nCG-1"]])
    assert any(differences(found, "MSU@0.5 (converted)").values())


def test_without_texts_nobody_knows_how_long_a_push_takes_to_read(push_study):
    """No MSU then, and a sentence."""
    sources, preferences = push_study
    collection = {kind: file for kind, file in sources.collection.items() if kind != "texts"}
    bare = replace(sources, collection=collection)

    found = agree(ScoreSources(tables={"preferences": preferences}, sources={TASK: bare}))

    assert not any(name.startswith("MSU") for name in measures(found).index)
    assert "no file of texts" in found.notes[0]


def test_curves_run_over_alpha_and_over_lateness(found, push_study):
    """T11U at alpha 0.5 on the curve is T11U(alpha=0.5)."""
    collection, runs = push_files(push_study[0])
    scores = score_push(collection, runs, {"half": T11U(alpha=0.5)})
    pairs = found.pairs.set_index(["topic", "system_a", "system_b"])["vote_share"]
    expected = by_hand(scores, "half", pairs.index)
    hits = np.mean([expected[pair] * (pairs[pair] - 0.5) > 0 for pair in pairs.index])
    curve = found.curve[found.curve["ties"] == "against"].set_index(["measure", "over", "value"])

    assert curve.loc[("T11U", "alpha", 0.5), "agreement"] == pytest.approx(hits)
    assert set(found.curve["over"]) == {"alpha", "lateness"}
    assert {"T11U", "MSU (converted)"} == set(found.curve["measure"])
    assert (found.curve.groupby("over")["value"].agg(["min", "max"]) == [0.0, 1.0]).all().all()


@pytest.mark.filterwarnings("ignore::metrics.unused_input.LeftOutWarning")
def test_the_days_of_the_task_are_those_that_count(push_study):
    """Without the last day the scores are those of two days."""
    sources, preferences = push_study
    two = replace(sources, protocol={"days": list(DAYS[:2])})

    found = agree(ScoreSources(tables={"preferences": preferences}, sources={TASK: two}))

    collection, runs = push_files(sources)
    cut = replace(collection, days=dict.fromkeys(collection.days, days_between(*DAYS[:2])))
    actual = differences(found, "ELG-0")
    assert actual == pytest.approx(by_hand(score_push(cut, runs, [ELG(silent_days=0)]), "ELG-0", actual))
    shown = "\n".join([*found.disagreements["text_a"], *found.disagreements["text_b"]])
    assert "2015-07-21 " in shown
    assert "2015-07-22 " not in shown
    wrong = replace(sources, protocol={"days": ["20150722", "20150720"]})
    with pytest.raises(InputError, match="20150720 comes before 20150722; write the first and the last"):
        agree(ScoreSources(tables={"preferences": preferences}, sources={TASK: wrong}))


def test_cells_alone_are_enough_for_what_they_make_up():
    """Someone with logs of their own has table push_cells and no files."""
    tables = judged_cells(3)

    found = agree(ScoreSources(tables=tables))

    cells = tables["push_cells"].drop_duplicates(["topic", "system"]).set_index(["topic", "system"])
    t11u = 0.66 * cells["gain"] - 0.34 * (cells["nonrelevant_eventful"] + cells["nonrelevant_silent"])
    actual = differences(found, "T11U")
    assert list(measures(found).index) == ["T11U"]
    assert actual == pytest.approx({pair: t11u[pair[0], pair[1]] - t11u[pair[0], pair[2]] for pair in actual})
    assert "only measures of the cells" in found.notes[0]


def test_a_stream_without_cells_or_with_two_kinds_of_cells_is_named():
    """Neither has a score."""
    tables = judged_cells(3)
    cells = tables["push_cells"]
    gone = cells[~((cells["topic"] == "MB001") & (cells["system"] == "S2"))]
    twice = cells.assign(gain=cells["gain"].where(cells.index > 0, cells["gain"] + 1))

    with pytest.raises(InputError, match="judged, but without cells: S2 on MB001"):
        agree(ScoreSources(tables=tables | {"push_cells": gone}))
    with pytest.raises(InputError, match="push_cells differ from pair to pair for S0 on MB000"):
        agree(ScoreSources(tables=tables | {"push_cells": twice}))


def test_fitted_weights_are_cross_fitted_and_shown_in_sample_too():
    """As the patience of summaries is."""
    weights = {"push_P_E": 0.5, "push_S_E": 0.2, "push_P_0": 0.7, "push_S_0": 0.3, "push_alpha": 0.6}
    tables = judged_cells(3)
    model = UserModel(parameters={name: entry(value) for name, value in weights.items()})

    found = agree(ScoreSources(tables=tables, model=model))
    other = agree(ScoreSources(tables=tables, model=model, same_tables=False))

    fits = measures(found)["fit"].to_dict()
    assert fits == {
        "T11U": "none",
        "Contingency@preferences": "cross_fitted",
        "Contingency@preferences in sample": "in_sample",
        "T11U@preferences": "cross_fitted",
        "T11U@preferences in sample": "in_sample",
    }
    assert measures(found).loc["T11U@preferences", "alpha"] == 0.6
    assert set(measures(other)["fit"]) == {"none", "other_data"}
    cells = tables["push_cells"].drop_duplicates(["topic", "system"]).set_index(["topic", "system"])
    utility = (
        cells["gain"]
        - 0.5 * cells["nonrelevant_eventful"]
        - 0.2 * cells["silent_eventful"]
        - 0.7 * cells["nonrelevant_silent"]
        + 0.3 * cells["silent_silent"]
    )
    actual = differences(found, "Contingency@preferences in sample")
    assert actual == pytest.approx(
        {pair: utility[pair[0], pair[1]] - utility[pair[0], pair[2]] for pair in actual}
    )


def test_a_weight_that_the_model_lacks_counts_nothing_and_is_named():
    """P_0 and S_0 cannot always be told apart."""
    model = UserModel(parameters={"push_P_E": entry(0.5), "push_S_E": entry(0.2)})

    found = agree(ScoreSources(tables=judged_cells(3), model=model))

    assert found.notes[-1].endswith(
        ": the contingency utility counts push_P_0, push_S_0 as 0, which the model lacks: "
        "prefcal fit leaves out weights that the judged pairs do not identify"
    )


def test_systems_judged_and_systems_with_a_run_must_be_the_same(push_study):
    """Both lists, one line."""
    sources, preferences = push_study
    fewer = replace(sources, systems={name: sources.systems[name] for name in SYSTEMS[:2]})

    with pytest.raises(InputError, match="judged without a run: keen; with a run but never judged: none"):
        agree(ScoreSources(tables={"preferences": preferences}, sources={TASK: fewer}))


def test_the_pairs_that_disagree_most_come_with_what_was_pushed(found, push_study):
    """A reader wants to see why: times and texts of both sides."""
    rows = found.disagreements

    assert rows["rank"].tolist() == list(range(1, len(rows) + 1))
    assert (rows["disagreement"].diff().dropna() <= 0).all()
    assert (rows["difference"] * (rows["vote_share"] - 0.5) < 0).all()
    text = rows.loc[rows["system_a"] == "chatty", "text_a"].iloc[0].splitlines()
    assert text == sorted(text)
    assert "2015-07-20 0" in text[0]
    assert "the news" in text[0]
    assert set(rows["topic_text"]) <= {f"What is new about MB{n}" for n in (1, 2, 3, 4)}


def test_short_topic_names_mean_the_long_ones(push_study):
    """Preferences of another tool may write 1 for MB1."""
    sources, preferences = push_study
    short = preferences.assign(topic=preferences["topic"].str.removeprefix("MB"))

    found = agree(ScoreSources(tables={"preferences": table("preferences", short)}, sources={TASK: sources}))

    assert {topic for topic, *_ in differences(found, "ELG-1")} == {"1", "2", "3", "4"}
    assert any(differences(found, "ELG-1").values())
    assert found.disagreements["text_a"].str.len().gt(0).any()


def test_scores_of_your_own_need_no_files_and_the_reason_for_no_others_is_said(push_study):
    """A file that changed since the study is not used."""
    sources, preferences = push_study
    files = {kind: replace(file, sha256="0" * 64) for kind, file in sources.collection.items()}
    scores = pd.DataFrame(
        [
            {"run": system, "topic": topic, "metric": "mine", "value": float(rank)}
            for topic in preferences["topic"].unique()
            for rank, system in enumerate(SYSTEMS)
        ]
    )
    changed = {TASK: replace(sources, collection=files)}

    found = agree(ScoreSources(tables={"preferences": preferences}, sources=changed, scores=scores))

    assert list(measures(found).index) == ["mine"]
    assert "qrels.txt is not the file that the study used" in found.notes[0]
    assert found.curve.empty


def test_the_tracks_own_scores_of_2015_come_out_through_agreement(shared):
    """From the track's files to the pairs: per-topic ELG and nCG of the official script, 13 digits."""
    qrels, gold = shared / "data" / "mb-2015" / "qrels", shared / "gold" / "push" / "mb-2015"
    names = {"qrels": "qrels.txt", "clusters": "clusters-2015.json", "epochs": "tweet2dayepoch.txt"}
    names |= {"topics": "TREC2015-MB-testtopics.txt"}
    runs = ("noisy_mix", "oracle_d60", "silent_aware")
    official = json.loads((gold / "expected.json").read_text(encoding="utf-8"))
    topics = {run: official[run]["reference"]["topics"] for run in runs}
    sources = TaskSources(
        kind="stream_pairs",
        collection={kind: NamedFile(path=qrels / name) for kind, name in names.items()},
        systems={run: NamedFile(path=gold / "runs" / run) for run in runs},
        protocol={"days": ["20150720", "20150729"]},
    )
    preferences = choices(runs, sorted(topics[runs[0]]), np.random.default_rng(1), workers=2)

    found = agree(ScoreSources(tables={"preferences": preferences}, sources={TASK: sources}))

    for measure, name in (("ELG-1", "ELG"), ("nCG-1", "nCG")):
        expected = {
            pair: topics[pair[1]][pair[0]][name] - topics[pair[2]][pair[0]][name]
            for pair in differences(found, measure)
        }
        assert differences(found, measure) == pytest.approx(expected, abs=1e-9)
    first = found.disagreements.iloc[0]
    assert first["topic_text"]
    assert first["text_a"].startswith("2015-07-2")
