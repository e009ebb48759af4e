"""Reading what a study of push streams shows: what stands on which day, what is not shown and is said, every fault."""

import gzip
import io
from pathlib import Path

import pandas as pd
import pytest

from calibration.tables.files import check_frame
from calibration.tables.tables import TABLES
from metrics.errors import InputError
from metrics.push.contingency import CELLS, PushCell
from metrics.push.conversion import push_from_events, push_run_from_updates
from metrics.push.score import score_push
from metrics.push.streams import days_between
from metrics.readers.push import read_push_collection, read_push_run
from metrics.readers.tempsum import read_events, read_update_run
from metrics.results import ALL
from study_app.estimate.content import read_whole_study
from study_app.protocol.sides import Block, Side
from tests.study_app.small_pushes import DAYS, MIDNIGHT, MINUTE, PUSHED, write_push_study

STREAMS = Path(__file__).resolve().parents[3] / "examples/two_layered/streams"


def content_of(path):
    """Return the content of the only task."""
    [task] = read_whole_study(path).tasks
    return task


def faults_of(path):
    with pytest.raises(InputError) as caught:
        read_whole_study(path)
    return [str(fault).replace(f"{path.parent}/", "") for fault in caught.value.faults]


def cells_of(content):
    return check_frame(pd.read_parquet(io.BytesIO(content.tables["push_cells"])), TABLES["push_cells"])


def cells_by_metrics(collection, runs, convention):
    """Return (system, topic, cell) -> total, as `prefcal score push --cells` prints it."""
    measures = {cell: PushCell(cell=cell, convention=convention) for cell in CELLS}
    scores = score_push(collection, runs, measures)
    of_topics = scores[scores["topic"] != ALL].itertuples(index=False)
    return {(run, topic, metric): value for run, topic, metric, value in of_topics}


def test_a_stream_is_stored_ready_to_show(tmp_path):
    """Oldest first, with lengths and the time of the push, which is not the time at which the tweet was posted."""
    content = content_of(write_push_study(tmp_path))

    assert [push.id for push in content.sides["SYP-1", "sysfast"].blocks] == ["SYT-a", "SYT-x", "SYT-c"]
    assert content.sides["SYP-1", "sysslow"].blocks[0] == Block(
        key="p1",
        id="SYT-b",
        kind="update",
        text="Since this morning the bridge is closed to all traffic",
        words=10,
        chars=45,
        at=MIDNIGHT + (9 * 60 + 50) * MINUTE,
    )
    assert content.sides["SYP-1", "sysmute"] == Side(())
    assert content.notes == ()


def test_a_profile_has_its_words_its_days_and_which_of_them_were_silent(tmp_path):
    """Silent is what the pool says, whatever a system pushed; who wrote no description has none."""
    bridge, tea = content_of(write_push_study(tmp_path)).topics

    assert (bridge.id, bridge.text) == ("SYP-1", "The old bridge")
    assert bridge.detail == {
        "description": "Find out whether it is open\nThe user crosses it every day.",
        "days": ["20200101", "20200102", "20200103"],
        "silent": ["20200102"],
    }
    assert tea.detail["description"] is None
    assert tea.detail["silent"] == tea.detail["days"]


def test_pushes_stand_in_the_order_of_time_and_equal_times_in_that_of_the_run(tmp_path):
    """Whatever the order of the lines; a tweet that is pushed twice stands there twice."""
    path = write_push_study(tmp_path)
    lines = [("SYT-c", 600), ("SYT-b", 500), ("SYT-a", 500), ("SYT-b", 700)]
    run = "".join(f"SYP-1 {tweet} {MIDNIGHT + minute * MINUTE} x\n" for tweet, minute in lines)
    (tmp_path / "sysfast.txt").write_text(run)

    pushes = content_of(path).sides["SYP-1", "sysfast"].blocks

    assert [push.id for push in pushes] == ["SYT-b", "SYT-a", "SYT-c", "SYT-b"]


def test_what_no_worker_will_see_is_said_with_its_number(tmp_path):
    """Pushes on other days, without a text, and about what nobody judged; the first of each by name."""
    path = write_push_study(tmp_path)
    others = [
        ("SYP-1", "SYT-a", 3 * 1440),
        ("SYP-1", "SYT-a", -1),
        ("SYP-1", "SYT-lost", 60),
        ("SYP-9", "SYT-a", 60),
    ]
    with (tmp_path / "sysslow.txt").open("a") as run:
        run.writelines(f"{topic} {tweet} {MIDNIGHT + minute * MINUTE} x\n" for topic, tweet, minute in others)
    with (tmp_path / "qrels.txt").open("a") as qrels:
        qrels.write("SYP-3 Q0 SYT-a 0\n")

    content = content_of(path)

    of_topics, of_run = content.notes
    assert (
        of_topics == "topics.txt: 1 of 3 judged topics have no profile there and are not shown, such as SYP-3"
    )
    assert of_run == (
        "sysslow: not shown of 6 pushes: 1 about topics that are not judged (SYP-9), 2 on other days (20191231, ...), "
        "1 without a text (SYT-lost)"
    )
    assert [push.id for push in content.sides["SYP-1", "sysslow"].blocks] == ["SYT-b", "SYT-y"]
    assert [topic.id for topic in content.topics] == ["SYP-1", "SYP-2"]


def test_a_stream_that_nobody_would_read_through_is_named(tmp_path):
    """It is shown all the same."""
    path = write_push_study(tmp_path)
    run = "".join(f"SYP-1 SYT-a {MIDNIGHT + minute * MINUTE} x\n" for minute in range(201))
    (tmp_path / "sysfast.txt").write_text(run)

    content = content_of(path)

    assert content.notes == (
        "sysfast: more than 200 notifications are too many to read on a page; 1 of 2 streams have more, SYP-1 has 201",
    )
    assert len(content.sides["SYP-1", "sysfast"].blocks) == 201


def test_a_run_of_which_nothing_can_be_shown_is_a_fault(tmp_path):
    """It is surely of another collection. One that never pushed is a run like any other."""
    path = write_push_study(tmp_path)
    (tmp_path / "sysfast.txt").write_text(f"SYP-1 SYT-q {MIDNIGHT} x\nSYP-9 SYT-a {MIDNIGHT} x\n")

    [fault] = faults_of(path)
    assert fault == (
        "sysfast.txt:1: none of the 2 pushes of this run can be shown: 1 about topics that are not judged (SYP-9), "
        "1 without a text (SYT-q); name a run about these topics and days, or the texts file that has its tweets"
    )


def test_every_fault_of_every_file_at_once(tmp_path):
    """With its line and its cure, runs after the collection."""
    path = write_push_study(tmp_path)
    for name, text in {
        "texts.tsv": "SYT-a no tab\n",
        "topics.txt": "<top>\n",
        "epochs.txt": "SYT-a 2020 1\n",
    }.items():
        (tmp_path / name).write_text(text)

    assert [fault.partition("; ")[0] for fault in faults_of(path)] == [
        "epochs.txt:1: '2020' is no day",
        "topics.txt:1: a topic that is not closed",
        "texts.tsv:1: expected tabs between the fields, found only blanks",
    ]

    write_push_study(tmp_path)
    for name in PUSHED:
        (tmp_path / f"{name}.txt").write_text("SYP-1 SYT-a\n")
    assert [fault.partition(":")[0] for fault in faults_of(path)] == [f"{name}.txt" for name in PUSHED]


def test_profiles_of_another_collection_are_a_fault(tmp_path):
    """The names that the judgments use are said."""
    path = write_push_study(tmp_path)
    (tmp_path / "topics.txt").write_text("<top> <num> MB1 <title> a </top>\n")

    assert faults_of(path) == [
        "topics.txt:1: none of these topics is judged; name topics as the judgments do, such as 'SYP-1'"
    ]


@pytest.mark.parametrize("convention", ["track", "paper"])
def test_push_cells_are_those_of_the_measures(tmp_path, convention):
    """One row a system and profile stands for all its pairs; what is fitted is what `score push --cells` prints."""
    content = content_of(write_push_study(tmp_path))
    collection = read_push_collection(
        **{
            kind: tmp_path / f"{kind}.{'json' if kind == 'clusters' else 'txt'}"
            for kind in ("qrels", "clusters", "epochs")
        },
        days=days_between(*DAYS),
    )
    runs = [read_push_run(tmp_path / f"{name}.txt", name=name) for name in PUSHED]
    expected = cells_by_metrics(collection, runs, convention)

    cells = cells_of(content)
    rows = cells[cells["convention"] == convention]

    assert len(rows) == 2 * len(PUSHED)
    assert rows["pair"].isna().all()
    assert set(rows["days"]) == {3}
    for row in rows.to_dict("records"):
        assert {cell: row[cell] for cell in CELLS} == {
            cell: expected[row["system"], row["topic"], cell] for cell in CELLS
        }
    fast = rows[(rows["system"] == "sysfast") & (rows["topic"] == "SYP-1")].iloc[0]
    assert (fast["gain"], fast["nonrelevant_eventful"], fast["silent_silent"]) == pytest.approx(
        ((1.0 if convention == "track" else 0.5) + 0.7, 1, 1)
    )


def test_events_are_pushed_on_their_utc_days(tmp_path):
    """Nugget = cluster, as `metrics.push.conversion` has it: every day that the event touches, and the cells of the converted run."""
    files = {kind: STREAMS / f"{kind}.tsv" for kind in ("nuggets", "matches", "updates")}
    files["topics"] = STREAMS / "topics.xml"
    runs = {name: STREAMS / f"runs/{name}.txt" for name in ("sparse", "late")}
    collection, systems = ({key: str(file) for key, file in of.items()} for of in (files, runs))
    path = write_push_study(tmp_path, task={"collection": collection, "systems": systems, "days": None})

    content = content_of(path)

    comet = content.topics[0]
    assert (comet.id, comet.text) == ("PC1-S-0001", "The landing on a comet")
    assert comet.detail["description"].startswith("In November 2014 the lander Philae left")
    assert comet.detail["days"] == [f"201411{day}" for day in range(11, 17)]
    events = read_events(**files)
    converted = [push_run_from_updates(read_update_run(run, name=name)) for name, run in runs.items()]
    first, last = (content.sides[comet.id, "sparse"].blocks[place] for place in (0, -1))
    assert first.at == converted[0].epochs.min()
    assert last.text == events.topics[comet.id].updates[last.id].text
    expected = cells_by_metrics(push_from_events(events), converted, "track")
    rows = cells_of(content).query("convention == 'track'").to_dict("records")
    assert expected["sparse", comet.id, "gain"] > 0
    assert {(row["system"], row["topic"], cell): row[cell] for row in rows for cell in CELLS} == expected


def test_the_real_track_of_2015(shared, tmp_path):
    """51 profiles of 10 days, 126 of these 510 silent; the pushes of real judgments with texts for them, packed."""
    judgments, runs = shared / "data/mb-2015/qrels", shared / "gold/push/mb-2015/runs"
    tweets = [line.split()[0] for line in (judgments / "tweet2dayepoch.txt").read_text().splitlines()]
    texts = "".join(f"{tweet}\ttweet number {number}\n" for number, tweet in enumerate(tweets))
    (tmp_path / "texts.tsv.gz").write_bytes(gzip.compress(texts.encode(), compresslevel=1))
    files = {
        "topics": judgments / "TREC2015-MB-testtopics.txt",
        "qrels": judgments / "qrels.txt",
        "clusters": judgments / "clusters-2015.json",
        "epochs": judgments / "tweet2dayepoch.txt",
        "texts": "texts.tsv.gz",
    }
    systems = {name: str(runs / name) for name in ("noisy_mix", "empty")}
    path = write_push_study(
        tmp_path,
        task={
            "collection": {kind: str(file) for kind, file in files.items()},
            "systems": systems,
            "days": ["20150720", "20150729"],
        },
    )

    content = content_of(path)

    assert len(content.topics) == 51
    assert sum(len(topic.detail["silent"]) for topic in content.topics) == 126
    assert content.topics[0].text == "Hershey, PA quilt show"
    assert content.notes == ("noisy_mix: not shown of 2746 pushes: 3 on other days (20150730)",)
    shown = sum(len(content.sides[topic.id, "noisy_mix"].blocks) for topic in content.topics)
    assert shown == 2746 - 3
    empty = cells_of(content).query("system == 'empty' and convention == 'track'")
    assert empty["silent_silent"].sum() == 126
    assert empty["silent_eventful"].sum() == 510 - 126
