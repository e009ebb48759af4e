"""How the collection and the runs behind a folder of tables are found."""

import hashlib
from pathlib import Path

import pytest

from calibration.agree.agree_tables import agree
from calibration.agree.score_sources import ScoreSources
from calibration.tables.sources import study_sources
from calibration.tables.study_json import FileRecord, StudyRecord, TaskRecord, write_study
from metrics.errors import InputError
from metrics.readers.mobileclick import read_summary_collection
from metrics.readers.mobileclick_runs import read_summary_run
from metrics.summaries.score import MMeasure, score_summaries, summary_positions
from tests.calibration.judged_summaries import TASK, table
from tests.metrics.two_layered_files import RUN, write_collection, write_run

FIRST_ONLY = RUN.replace('<iunit uid="U3"/>', "").replace("</first>", '<iunit uid="U3"/></first>', 1)


@pytest.fixture
def folder(tmp_path):
    """Tables of a study of two runs, with their collection beside them."""
    write_collection(tmp_path)
    write_run(tmp_path, RUN, name="one.xml")
    write_run(tmp_path, FIRST_ONLY, name="two.xml")
    return tmp_path


def record(path):
    return FileRecord(path=path.name, sha256=hashlib.sha256(path.read_bytes()).hexdigest())


def write_study_json(folder):
    task = TaskRecord(
        kind="summary_pairs",
        language="en",
        collection={
            kind: record(folder / f"{kind}.tsv")
            for kind in ("queries", "iunits", "intents", "importance", "probability")
        },
        systems={name: record(folder / f"{name}.xml") for name in ("one", "two")},
    )
    write_study(StudyRecord(study="small", tasks={TASK: task}), folder)


def preferences():
    pair = {"worker": "w1", "task": TASK, "system_left": "one", "system_right": "two", "choice": "left"}
    return table("preferences", [{"judgment": q, "topic": q, "pair": q} | pair for q in ("Q1", "Q2")])


def tables(folder):
    collection = read_summary_collection(folder)
    probability = [
        {"topic": query.id, "intent": intent, "probability": p}
        for query in collection.queries.values()
        for intent, p in (query.probability or {}).items()
    ]
    return {"preferences": preferences(), "intents": table("intents", probability)}


def test_ablations_are_scored_from_the_files_that_study_json_names(folder):
    """The differences are those of `score_summaries` on the same files."""
    write_study_json(folder)
    found = agree(ScoreSources(tables=tables(folder), sources=study_sources(folder, [TASK])))
    collection = read_summary_collection(folder)
    runs = [read_summary_run(folder / f"{name}.xml", collection) for name in ("one", "two")]
    wanted = {
        "M@1500": MMeasure(),
        "M@1500 first layer only": MMeasure(layers="first"),
        "M@1500 second layers only": MMeasure(layers="second"),
    }
    scores = score_summaries(collection, runs, wanted).set_index(["run", "topic", "metric"])["value"]

    for measure in wanted:
        for row in found.pairs.to_dict("records"):
            expected = scores["one", row["topic"], measure] - scores["two", row["topic"], measure]
            assert row[f"difference {measure}"] == pytest.approx(expected)
    assert all("every pair alike" in note for note in found.notes)


def test_files_can_be_named_by_hand(folder):
    """Logs from elsewhere have no study.json."""
    collection = {kind: folder / f"{kind}.tsv" for kind in ("queries", "iunits", "intents", "importance")}
    runs = {name: folder / f"{name}.xml" for name in ("one", "two")}

    found = study_sources(folder, [TASK], collection=collection, runs=runs)
    positions = found[TASK].summary_positions()

    read = read_summary_collection(folder)
    expected = summary_positions(read, read_summary_run(folder / "one.xml", read))
    assert positions["both"].head(len(expected)).equals(expected)
    assert study_sources(folder, [TASK]) == {}


def test_a_file_named_by_hand_takes_the_place_of_the_one_in_study_json(folder):
    """A repaired run is used whatever it was before."""
    write_study_json(folder)
    write_run(folder, RUN, name="repaired.xml")

    found = study_sources(folder, [TASK], runs={"two": folder / "repaired.xml"})[TASK]

    assert found.systems["two"].path == folder / "repaired.xml"
    assert found.problems == []


def test_a_file_that_changed_or_is_gone_is_not_used_and_the_reason_is_said(folder):
    """Ablations of other runs than those that were judged would be wrong."""
    write_study_json(folder)
    write_run(folder, FIRST_ONLY, name="one.xml")
    (folder / "two.xml").unlink()
    sources = study_sources(folder, [TASK])
    read = read_summary_collection(folder)
    rows = [
        summary_positions(read, read_summary_run(write_run(folder, text), read, name=name)).assign(task=TASK)
        for name, text in (("one", RUN), ("two", FIRST_ONLY))
    ]
    positions = table("positions", [row for frame in rows for row in frame.to_dict("records")])

    found = agree(ScoreSources(tables=tables(folder) | {"positions": positions}, sources=sources))

    assert "M@1500 first layer only" not in set(found.agreement["measure"])
    (note,) = [one for one in found.notes if "every pair alike" not in one]
    assert "one.xml is not the file that the study used" in note
    assert "two.xml is not there" in note


def test_streams_and_lists_are_found_through_study_json_like_summaries(folder):
    """Kind, files, runs and protocol of every task; a file named by hand reaches the tasks that have its kind."""
    for name in ("qrels.txt", "clusters.json", "epochs.txt", "topics.txt", "windows.txt", "other.txt"):
        (folder / name).write_text(name)
    pushes = {
        kind: record(folder / name)
        for kind, name in (("qrels", "qrels.txt"), ("clusters", "clusters.json"), ("epochs", "epochs.txt"))
    }
    runs = {"one": record(folder / "one.xml")}
    protocol = {"days": ["20150720", "20150721"], "primary": ["ELG-1", "ELG-0"], "depth": 5}
    tasks = {
        "pushes": TaskRecord(kind="stream_pairs", collection=pushes, systems=runs, protocol=protocol),
        "lists": TaskRecord(
            kind="ranked_pairs",
            collection={"qrels": record(folder / "qrels.txt"), "windows": record(folder / "windows.txt")},
            systems=runs,
        ),
    }
    write_study(StudyRecord(study="small", tasks=tasks), folder)

    found = study_sources(folder, ["pushes", "lists"], collection={"epochs": folder / "other.txt"})

    assert found["pushes"].problems == []
    assert found["pushes"].form == ("qrels", "clusters", "epochs")
    assert found["pushes"].protocol == protocol
    assert found["pushes"].path("epochs") == folder / "other.txt"
    assert (found["pushes"].depth, found["lists"].depth) == (5, 10)
    assert found["lists"].problems == []
    assert "epochs" not in found["lists"].collection


@pytest.mark.parametrize(
    ("kinds", "task_kind", "missing"),
    [
        (("queries", "iunits"), "summary_pairs", "intents"),
        (("qrels", "clusters"), "stream_pairs", "epochs"),
        (("topics", "nuggets", "matches"), "stream_pairs", "updates"),
        (("windows",), "ranked_pairs", "qrels"),
    ],
)
def test_without_study_json_the_kinds_of_files_tell_the_kind_of_task(folder, kinds, task_kind, missing):
    """Logs from elsewhere: what is still missing is that kind's."""
    run = folder / "one.xml"

    found = study_sources(
        folder, [TASK], collection=dict.fromkeys(kinds, folder / "queries.tsv"), runs={"one": run}
    )[TASK]

    assert found.kind == task_kind
    assert found.problems == [f"no file of {missing} is named"]


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"collection": {"query": Path("queries.tsv")}}, "--collection: there is no 'query' in this study"),
        ({"runs": {"tow": Path("one.xml")}}, "--run: there is no 'tow' in this study"),
        ({"runs": {"two": Path("gone.xml")}}, "there is no such file"),
    ],
)
def test_names_that_the_study_does_not_have_are_faults_with_the_nearest_one(folder, given, problem):
    """A slip of the hand is told, not ignored."""
    write_study_json(folder)
    paths = {option: {name: folder / path for name, path in value.items()} for option, value in given.items()}

    with pytest.raises(InputError) as error:
        study_sources(folder, [TASK], **paths)

    assert problem in str(error.value)
