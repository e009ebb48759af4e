"""Loading: once, again, changed, interrupted, and with faults in every file."""

import io

import pandas as pd
import pytest
from sqlalchemy import func, select

import study_app.services.researcher.load as load_module
from metrics.errors import InputError
from metrics.readers.mobileclick import read_summary_collection
from metrics.readers.mobileclick_runs import read_summary_run
from metrics.summaries.score import summary_positions
from study_app.estimate.content import read_whole_study
from study_app.store.models import (
    Intent,
    LoadedStudy,
    Pair,
    Setting,
    StoredSummary,
    System,
    Task,
    TaskTable,
    Topic,
)
from study_app.store.task_models import StoredStream
from tests.study_app.small_streams import EVENTS, write_stream_study
from tests.study_app.small_study import pairs_task, votes_task

TABLES = (LoadedStudy, Task, TaskTable, Topic, Intent, System, StoredSummary, Pair, Setting)


def faults_of(path):
    with pytest.raises(InputError) as caught:
        read_whole_study(path)
    return [str(fault).replace(f"{path.parent}/", "") for fault in caught.value.faults]


def refused(study, **changes):
    with pytest.raises(InputError) as caught:
        study.load(**changes)
    return [str(fault).split("/")[-1] for fault in caught.value.faults]


def test_everything_a_study_needs_is_stored(campaign):
    """2 queries, 3 systems: 4 intents, 6 summaries, 6 pairs."""
    study = campaign()
    counts = [study.rows(select(func.count()).select_from(table))[0][0] for table in TABLES]
    assert counts == [1, 1, 1, 2, 4, 3, 6, 6, 2]


def test_a_summary_is_stored_ready_to_show(campaign):
    """Texts with their lengths, second layers inside their links."""
    study = campaign()
    [(content,)] = study.rows(
        select(StoredSummary.content)
        .join(System, System.id == StoredSummary.system_id)
        .join(Topic, Topic.id == StoredSummary.topic_id)
        .where(System.name == "sysbeta", Topic.name == "SYQ-1")
    )
    high = {
        "key": "s0.0",
        "kind": "iunit",
        "id": "SYU-1",
        "text": "It is 3776 m high",
        "words": 5,
        "chars": 13,
    }
    first, second = content["blocks"]
    assert first == {
        "key": "f0",
        "kind": "link",
        "id": "SYI-1",
        "text": "climbing it",
        "words": 2,
        "chars": 10,
        "inside": [high],
    }
    assert second["text"] == "getting there"


def test_the_table_positions_is_stored_as_the_metric_computes_it(campaign):
    """So export needs neither collection nor runs."""
    study = campaign()
    [(stored,)] = study.rows(select(TaskTable.content))
    collection = read_summary_collection(study.folder)
    runs = [
        read_summary_run(study.folder / f"sys{name}.xml", collection) for name in ("alpha", "beta", "gamma")
    ]
    expected = pd.concat([summary_positions(collection, run) for run in runs], ignore_index=True)
    pd.testing.assert_frame_equal(pd.read_parquet(io.BytesIO(stored)), expected)


def test_a_stream_of_each_system_is_stored_for_each_event(campaign):
    """Two events, three systems; and a study without streams again leaves none behind."""
    study = campaign()
    study.load_file(write_stream_study(study.folder))
    assert study.rows(select(func.count()).select_from(StoredStream)) == [(6,)]
    assert study.rows(select(Topic.name, Topic.text).order_by(Topic.id)) == [*EVENTS.items()]
    assert study.load_file(write_stream_study(study.folder)).outcome == "unchanged"
    study.load()
    assert study.rows(select(func.count()).select_from(StoredStream)) == [(0,)]


def test_the_same_file_again_changes_nothing(campaign):
    """Not a byte, and it says so."""
    study = campaign()
    study.arrive()
    before = study.everything()
    study.clock.forward(100)
    assert study.load().outcome == "unchanged"
    assert study.everything() == before


def test_before_the_first_query_is_taken_everything_may_change(campaign):
    """Nobody has answered anything yet."""
    study = campaign()
    study.arrive("ann").send()
    report = study.load(seed=5, tasks=[votes_task(), pairs_task()])
    assert report.outcome == "changed"
    assert study.arrive("ann").step == "1/choose"
    assert [name for (name,) in study.rows(select(Task.name).order_by(Task.position))] == ["votes", "pairs"]
    assert study.rows(select(func.count()).select_from(Topic)) == [(4,)]


def test_a_changed_file_says_what_changes(campaign):
    """Old and new, one line a value."""
    study = campaign()
    report = study.load(title="Another title", task={"workers_per_query": 5})
    assert report.changes == (
        "title: A small study -> Another title",
        "tasks.1.workers_per_query: 3 -> 5",
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"title": "Another title"},
        {"consent": "Another text"},
        {"completion_code": "C1"},
        {"return_url": "https://a.example/{code}"},
        {"lease_minutes": 5},
        {"device": "phone"},
        {"task": {"workers_per_query": 4}},
        {"task": {"workers_per_query": None}},
        {"task": {"min_search_seconds": 90, "min_consistency": 0.5}},
    ],
)
def test_what_harms_no_answer_may_change_at_any_time(campaign, changes):
    """And holds from the next page on."""
    study = campaign()
    ann = study.at_pairs()
    assert study.load(**changes).outcome == "changed"
    assert ann.open(ann.home).step == "1/1/pair/1"


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"seed": 2}, "seed: 1 -> 2"),
        ({"platform": "prolific"}, "platform: generic -> prolific"),
        ({"task": {"workers_per_query": 2}}, "tasks.1.workers_per_query: 3 -> 2"),
        ({"task": {"queries_per_worker": 2}}, "tasks.1.queries_per_worker: 1 -> 2"),
        ({"task": {"search_seconds": 61}}, "tasks.1.search_seconds: 60.0 -> 61.0"),
        ({"task": {"validation_pairs": 2}}, "tasks.1.validation_pairs: 1 -> 2"),
        ({"task": {"language": "ja"}}, "tasks.1.language: en -> ja"),
        ({"task": {"criteria": ["Which is shorter?"]}}, "tasks.1.criteria: "),
        ({"task": {"name": "other"}}, "tasks.1.name: summaries -> other"),
        (
            {"task": {"systems": {"a": "sysalpha.xml", "sysbeta": "sysbeta.xml"}}},
            "summaries: system sysalpha is no longer named, which",
        ),
    ],
)
def test_what_would_corrupt_answers_is_refused(campaign, changes, place):
    """With the line of the study file, and nothing is stored."""
    study = campaign()
    study.at_pairs()
    before = study.everything()
    faults = refused(study, **changes)
    assert any(place in fault and "would corrupt answers already given" in fault for fault in faults)
    assert all(fault.startswith("study.yaml:") for fault in faults)
    assert study.everything() == before


def test_a_changed_run_is_refused_too_though_the_study_file_is_the_same(campaign):
    """What was judged is what stood in the run at that time."""
    study = campaign()
    study.at_pairs()
    path = study.folder / "sysbeta.xml"
    path.write_text(path.read_text().replace('<iunit uid="SYU-1"/>', '<iunit uid="SYU-2"/>'))
    with pytest.raises(
        InputError, match=r"topic SYQ-1, system sysbeta: other things are shown.* would corrupt"
    ):
        study.load_file(study.folder / "study.yaml")


def test_a_task_cannot_be_dropped_or_added_while_answers_exist(campaign):
    """Some would have done it and others not."""
    study = campaign()
    study.at_pairs()
    faults = refused(study, tasks=[pairs_task(name="summaries"), votes_task()])
    [fault] = [fault for fault in faults if "tasks.2" in fault]
    assert "tasks.2: nothing -> intent_votes would corrupt" in fault


def test_the_platform_is_fixed_from_the_first_visitor_on(campaign):
    """Their ids are ids of that platform."""
    study = campaign()
    study.arrive()
    [fault] = refused(study, platform="prolific")
    assert fault.startswith(
        "study.yaml:25: platform: generic -> prolific would corrupt answers already given; "
    )


def test_an_interrupted_load_leaves_the_database_as_it_was(campaign, monkeypatch):
    """One transaction: also when it breaks after half of the rows."""
    study = campaign()
    before = study.everything()
    real, done = load_module._add_topics, []

    def break_at_the_second(*args):
        if done:
            raise KeyboardInterrupt
        done.append(real(*args))

    monkeypatch.setattr(load_module, "_add_topics", break_at_the_second)
    with pytest.raises(KeyboardInterrupt):
        study.load(tasks=[pairs_task(name="one"), pairs_task(name="two")])
    assert study.everything() == before


def test_all_faults_of_all_files_come_at_once(small_study):
    """A researcher mends a study in one go."""
    path = small_study(tasks=[votes_task(), pairs_task()])
    folder = path.parent
    (folder / "intents.tsv").write_text("SYQ-1\tSYI-1\tclimbing it\nSYQ-9\tSYI-3\thow to brew it\n")
    faults = faults_of(path)
    assert "intents.tsv:2: unknown query 'SYQ-9'; did you mean 'SYQ-2'?" in faults
    assert "queries.tsv:2: query 'SYQ-2' has no intent; add its intents to intents.tsv" in faults
    assert len(faults) == len(set(faults))


def test_faults_of_several_runs_come_at_once(small_study):
    """Each with its file and line."""
    path = small_study()
    for name in ("sysalpha", "sysgamma"):
        run = path.parent / f"{name}.xml"
        run.write_text(run.read_text().replace("SYU-4", "SYU-9"))
    faults = faults_of(path)
    assert [fault.partition(":")[0] for fault in faults] == ["sysalpha.xml", "sysgamma.xml"]


def test_missing_files_are_named_at_their_line_of_the_study_file(small_study):
    """All of them, whatever task they belong to."""
    path = small_study()
    for name in ("sysbeta.xml", "iunits.tsv"):
        (path.parent / name).unlink()
    lines = path.read_text().splitlines()
    at = {name: 1 + lines.index(f"    {name}") for name in ("iunits: iunits.tsv", "sysbeta: sysbeta.xml")}
    problems = [fault.partition(";")[0] for fault in faults_of(path)]
    assert problems == [
        f"study.yaml:{at['iunits: iunits.tsv']}: collection.iunits: there is no file iunits.tsv",
        f"study.yaml:{at['sysbeta: sysbeta.xml']}: systems.sysbeta: there is no file sysbeta.xml",
    ]


def test_importance_and_probability_may_be_missing(campaign):
    """A study can be run before anybody rated anything; then there is no table positions."""
    study = campaign(tasks=[pairs_task()])
    assert study.rows(select(TaskTable.name)) == []
    assert {p for (p,) in study.rows(select(Intent.probability))} == {None}
