"""What `agree` says of pairs of ranked lists: the time-aware family."""

from dataclasses import replace

import numpy as np
import pytest

from calibration.agree.agree_tables import agree
from calibration.agree.measures.kinds import KINDS
from calibration.agree.score_sources import ScoreSources
from calibration.tables.sources import NamedFile, TaskSources
from calibration.user_model.draws import draw_model
from calibration.user_model.model import IntentEntry, ParameterEntry, UserModel
from metrics.errors import InputError
from metrics.ranked.measures import RBP
from metrics.ranked.score import score_ranked
from metrics.readers.ranked import read_ranked_collection, read_ranked_run
from tests.calibration.judged_streams import choices
from tests.metrics.ranked_example import DEFAULTS
from tests.metrics.ranked_files import INTENTS, write_ranked

TASK = "lists"
QRELS = "".join(
    f"{topic} {subtopic} d{number} {(number + topic) % 3}\n"
    for topic in (1, 2, 3)
    for subtopic, numbers in (("a", range(6)), ("b", range(4, 9)))
    for number in numbers
)
WINDOWS = "".join(f"d{number} {1990 + number % 3}\n" for number in range(10))
SYSTEMS = {"one": range(9), "two": (8, 3, 1, 4), "three": (2, 9, 5)}


@pytest.fixture
def ranked_study(tmp_path):
    """Three topics, three systems; P(c|q) of the first topic is given."""
    write_ranked(tmp_path, qrels=QRELS, windows=WINDOWS, intents=INTENTS)
    for name, ranking in SYSTEMS.items():
        lines = [
            f"{topic} Q0 d{(number * topic) % 10} 1 {100 - place} {name}"
            for topic in (1, 2, 3)
            for place, number in enumerate(ranking)
        ]
        unique = {tuple(line.split()[:3]): line for line in reversed(lines)}
        (tmp_path / f"{name}.txt").write_text("\n".join(unique.values()) + "\n")
    (tmp_path / "texts.tsv").write_text("".join(f"d{n}\tTitle {n}\ttext\n" for n in range(9)))
    (tmp_path / "topics.tsv").write_text("1\tthe first query\n")
    files = {kind: f"{kind}.txt" for kind in ("qrels", "windows", "intents")}
    files |= {"texts": "texts.tsv", "topics": "topics.tsv"}
    sources = TaskSources(
        kind="ranked_pairs",
        collection={kind: NamedFile(path=tmp_path / name) for kind, name in files.items()},
        systems={name: NamedFile(path=tmp_path / f"{name}.txt") for name in SYSTEMS},
    )
    preferences = choices(tuple(SYSTEMS), ("1", "2", "3"), np.random.default_rng(2), task=TASK)
    return sources, preferences


def run_agree(study, **changed):
    sources, preferences = study
    model = changed.pop("model", None)
    return agree(
        ScoreSources(
            tables={"preferences": preferences}, sources={TASK: replace(sources, **changed)}, model=model
        )
    )


def scores_of(sources, measures=DEFAULTS, probability=None):
    collection = read_ranked_collection(
        qrels=sources.path("qrels"), windows=sources.path("windows"), intents=sources.path("intents")
    )
    if probability:
        collection = replace(collection, probability=probability)
    runs = [
        read_ranked_run(source.path, collection.grades, name=name) for name, source in sources.systems.items()
    ]
    return score_ranked(collection, runs, measures)


def check_differences(found, measure, scores, metric):
    value = scores[scores["metric"] == metric].set_index(["topic", "run"])["value"]
    rows = found.pairs.to_dict("records")
    expected = [value[row["topic"], row["system_a"]] - value[row["topic"], row["system_b"]] for row in rows]
    assert found.pairs[f"difference {measure}"].tolist() == pytest.approx(expected)
    assert any(expected)


def test_every_time_aware_measure_is_that_of_the_score_command(ranked_study):
    """And the plain ones stand beside them as what is left without time."""
    found = run_agree(ranked_study)
    rows = found.agreement.drop_duplicates("measure").set_index("measure")
    scores = scores_of(ranked_study[0])

    assert rows.index[0] == "TIA-nDCG@10"
    assert sorted(rows.index) == sorted(one.column for one in DEFAULTS)
    assert set(rows.index) <= KINDS["ranked_pairs"].names
    assert rows["role"].to_dict()["IA-P@10"] == "ablation"
    assert set(rows["family"]) == {"ranked"}
    for measure in rows.index:
        check_differences(found, measure, scores, measure)


def test_lists_are_scored_at_the_depth_that_was_shown(ranked_study):
    """People judged three entries."""
    found = run_agree(ranked_study, protocol={"depth": 3})

    three = [replace(one, k=3) for one in DEFAULTS if one.column == "TIA-P@10"]
    check_differences(found, "TIA-P@3", scores_of(ranked_study[0], three), "TIA-P@3")
    assert found.disagreements["text_a"].str.count("\n").max() <= 2


def test_probabilities_from_votes_are_measures_of_their_own(ranked_study):
    """Topics without votes keep what is given."""
    voted = {"a": 0.1, "b": 0.9}
    model = UserModel(intents={"2": {name: IntentEntry(estimate=p) for name, p in voted.items()}})

    found = run_agree(ranked_study, model=model)

    fitted = {"1": {"a": 0.75, "b": 0.25}, "2": voted}
    scores = scores_of(ranked_study[0], probability=fitted)
    rows = found.agreement.drop_duplicates("measure").set_index("measure")
    names = [name for name in rows.index if name.endswith("fitted P")]
    assert names == [f"{name} fitted P" for name in ("TIA-nDCG@10", "TIA-ERR@10", "TIA-SBR@10")]
    for name in names:
        assert rows.loc[name, "fit"] == "other_data"
        check_differences(found, name, scores, name.removesuffix(" fitted P"))


def test_texts_are_titles_with_their_windows(ranked_study):
    """As the page shows them."""
    rows = run_agree(ranked_study).disagreements
    assert set(rows["topic_text"]) <= {"the first query", ""}
    sides = rows.melt(["topic"], ["text_a", "text_b"])["value"].str.split("\n").str[0]
    first = rows.melt(["topic"], ["system_a", "system_b"]).assign(line=sides)
    shown = first.set_index(["topic", "value"])["line"].to_dict()
    expected = {name: f"1. Title {ranking[0]} [{1990 + ranking[0] % 3}]" for name, ranking in SYSTEMS.items()}
    assert {name: line for (topic, name), line in shown.items() if topic == "1"}.items() <= expected.items()
    assert any(topic == "1" for topic, _ in shown)


def test_without_usable_files_there_are_no_scores(ranked_study):
    """The reason is said; another task of the study may go on."""
    sources, _ = ranked_study
    few = {kind: file for kind, file in sources.collection.items() if kind != "qrels"}

    with pytest.raises(InputError, match=r"nothing scores the systems .*no file of qrels is named"):
        run_agree(ranked_study, collection=few)


def test_a_run_that_is_not_there_is_said_once_with_the_option_that_names_it(ranked_study, tmp_path):
    """Neither the table of preferences nor a line of it is at fault."""
    systems = dict(ranked_study[0].systems) | {"one": NamedFile(path=tmp_path / "none.txt")}

    with pytest.raises(InputError) as caught:
        run_agree(ranked_study, systems=systems)

    text = str(caught.value)
    assert text.startswith(
        "nothing scores the systems that were judged (lists: no measures of ranked lists, since"
    )
    assert text.count("none.txt is not there") == 1
    assert text.count("nothing scores") == 1
    assert "--run NAME=PATH" in text


def test_topics_that_nobody_judged_documents_for_are_named(ranked_study):
    """A slip in a topic id would make ties of all its pairs."""
    sources, preferences = ranked_study
    strange = preferences.assign(topic=preferences["topic"].replace("3", "4"))

    with pytest.raises(InputError, match=r"judged, but not in .*qrels\.txt: 4; name topics as the qrels do"):
        run_agree((sources, strange))


def test_persistence_from_stops_makes_rank_biased_precision_of_what_was_shown(ranked_study):
    """It was fitted to how deep people read, not to what they preferred; ten draws of it give ten scores a list."""
    entry = ParameterEntry(estimate=0.7, interval=(0.6, 0.8))
    model = UserModel(parameters={"rbp_p": entry})
    sources, preferences = ranked_study
    sources = replace(sources, protocol={"depth": 5})
    evidence = ScoreSources(tables={"preferences": preferences}, sources={TASK: sources}, model=model)
    found = agree(replace(evidence, drawn=draw_model(model, 10, 1).models(model)))
    row = found.agreement.drop_duplicates("measure").set_index("measure").loc["RBP@fitted"]

    assert (row["family"], row["role"], row["fit"]) == ("ranked", "fitted", "other_data")
    check_differences(found, "RBP@fitted", scores_of(sources, [RBP(p=0.7, k=5)]), "RBP(p=0.7)@5")
    assert "RBP@fitted" not in set(run_agree(ranked_study).agreement["measure"])


KNOWN = ("nDCG@10", "AP@10", "RR@10", "RBP(p=0.8)@10", "ERR@10", "P@10")


@pytest.fixture
def plain_study(ranked_study, tmp_path):
    """The same lists without windows, with ordinary qrels."""
    lines = QRELS.replace(" a ", " 0 ").replace(" b ", " 0 ").splitlines()
    (tmp_path / "plain.txt").write_text("\n".join(dict.fromkeys(lines)) + "\n")
    sources, preferences = ranked_study
    return replace(sources, collection={"qrels": NamedFile(path=tmp_path / "plain.txt")}), preferences


def test_lists_without_windows_have_the_measures_that_people_know(plain_study, tmp_path):
    """At the depth that was shown; their values are those of the score command."""
    pytest.importorskip("ir_measures", reason="prefcal[measures] is not installed")
    found = run_agree(plain_study, protocol={"depth": 3})

    names = [name.replace("@10", "@3") for name in KNOWN]
    rows = found.agreement.drop_duplicates("measure").set_index("measure")
    assert rows.index.tolist() == names
    assert set(rows["role"]) == {"default"}
    collection = read_ranked_collection(qrels=tmp_path / "plain.txt")
    runs = [
        read_ranked_run(source.path, collection.grades, name=name)
        for name, source in plain_study[0].systems.items()
    ]
    for name in names:
        check_differences(found, name, score_ranked(collection, runs, names), name)


def test_with_subtopics_the_intent_aware_measures_stand_behind_them(ranked_study, plain_study):
    """Of ordinary qrels they would be the same measures once more."""
    pytest.importorskip("ir_measures", reason="prefcal[measures] is not installed")
    diverse = {"qrels": ranked_study[0].collection["qrels"]}
    measures = list(dict.fromkeys(run_agree(plain_study, collection=diverse).agreement["measure"]))
    assert measures == [*KNOWN, "IA-nDCG@10", "IA-P@10", "IA-ERR@10", "SBR@10"]


def test_measures_by_subtopic_are_left_out_where_subtopics_cannot_be_told(plain_study, tmp_path):
    """Whole numbers may be rounds of judging; a line says what the first line of the qrels could say."""
    pytest.importorskip("ir_measures", reason="prefcal[measures] is not installed")
    lines = (tmp_path / "plain.txt").read_text().splitlines()
    rounds = [line.replace(" 0 ", f" {number % 2 + 1} ", 1) for number, line in enumerate(lines)]
    (tmp_path / "plain.txt").write_text("\n".join(rounds) + "\n")
    found = run_agree(plain_study)
    assert set(found.agreement["measure"]) == set(KNOWN)
    [note] = [note for note in found.notes if "by subtopic" in note]
    assert (
        "in the second field, which may be subtopics or iterations of judging; begin the file with a line"
        in note
    )


def test_a_grade_above_4_leaves_err_out_with_a_line(plain_study, tmp_path):
    """The others go on."""
    pytest.importorskip("ir_measures", reason="prefcal[measures] is not installed")
    (tmp_path / "plain.txt").write_text((tmp_path / "plain.txt").read_text() + "1 0 dx 5\n")
    found = run_agree(plain_study)
    assert "lists: ERR@10 is left out: a grade is above 4" in found.notes
    assert set(found.agreement["measure"]) == set(KNOWN) - {"ERR@10"}


def test_without_ir_measures_a_line_says_what_it_would_add(plain_study, monkeypatch):
    """And the package's own measures are there; one of the others by name is a fault with the cure."""
    monkeypatch.setattr("metrics.ranked.named.find_spec", lambda _: None)
    found = run_agree(plain_study)
    assert next(iter(found.agreement["measure"])) == "IA-nDCG@10"
    (line,) = found.notes
    assert line.startswith("lists: nDCG@10, AP@10, RR@10, RBP(p=0.8)@10, ERR@10, P@10 are left out")
    assert "pip install 'prefcal[measures]'" in line
    with pytest.raises(InputError, match=r"--measure: .*'AP@5'.*; pip install 'prefcal\[measures\]'"):
        added(plain_study, "AP@5")


def added(study, *measures):
    sources, preferences = study
    evidence = ScoreSources(tables={"preferences": preferences}, sources={TASK: sources})
    return agree(evidence, measures=measures)


def test_any_measure_can_be_added_to_lists_with_windows_too(ranked_study):
    """By its name; it is scored beside the family."""
    pytest.importorskip("ir_measures", reason="prefcal[measures] is not installed")
    found = added(ranked_study, "RBP", "P@5", "TIA-P@5")
    rows = found.agreement.drop_duplicates("measure").set_index("measure")
    assert {"RBP(p=0.8)", "P@5", "TIA-P@5"} == set(rows.index[rows["role"] == "named"])
    check_differences(found, "P@5", scores_of(ranked_study[0], ["P@5"]), "P@5")


def test_compatibility_and_other_values_of_a_parameter_need_no_extra(ranked_study, monkeypatch):
    """Each has one name, whichever way it is written."""
    monkeypatch.setattr("metrics.ranked.named.find_spec", lambda _: None)
    found = added(
        ranked_study, "Compat", "Compat(p=0.5)", "IANDCG(k=5, gains='graded')", "TIA-SBR(alpha=0.2)@5"
    )
    rows = found.agreement.drop_duplicates("measure").set_index("measure")
    names = {"Compat(p=0.95)", "Compat(p=0.5)", "IA-nDCG(gains=graded)@5", "TIA-SBR(alpha=0.2)@5"}
    assert names == set(rows.index[rows["role"] == "named"])
    check_differences(found, "Compat(p=0.5)", scores_of(ranked_study[0], ["Compat(p=0.5)"]), "Compat(p=0.5)")


def test_a_measure_that_is_undefined_for_a_judged_list_is_refused(ranked_study, tmp_path):
    """A score that is not there would be taken for a tie."""
    pytest.importorskip("ir_measures", reason="prefcal[measures] is not installed")
    lines = (tmp_path / "one.txt").read_text().splitlines()
    for name in SYSTEMS:
        kept = [line for line in lines if name == "one" or not line.startswith("1 ")]
        (tmp_path / f"{name}.txt").write_text("\n".join(kept))
    with pytest.raises(
        InputError, match="lists: Accuracy: undefined for a list that was judged; leave it out"
    ):
        added(ranked_study, "Accuracy")


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("nDGC@10", "--measure: neither prefcal nor ir_measures has a measure 'nDGC'"),
        ("RBP(q=1)", "--measure: RBP(q=1): RBP has no parameter 'q'"),
        (
            "TIA-nDGC@5",
            "--measure: there is no measure 'TIA-nDGC@5' in any task; did you mean 'TIA-nDCG@10'?",
        ),
    ],
)
def test_a_measure_that_nobody_has_is_one_line(ranked_study, name, line):
    """With what is wrong with it."""
    pytest.importorskip("ir_measures", reason="prefcal[measures] is not installed")
    with pytest.raises(InputError) as caught:
        added(ranked_study, name)
    assert str(caught.value).startswith(line)
    assert len(str(caught.value).splitlines()) == 1
