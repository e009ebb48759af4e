"""Reading collections and runs of events: what is shown in which order, what is not and is said, every fault."""

import json
import math

import pytest

from metrics.errors import InputError
from metrics.msu.measures import ReadingSetting, StreamTopic
from metrics.readers.tempsum import read_events, read_update_run
from study_app.estimate.content import read_whole_study
from study_app.protocol.sides import Block, text_block
from study_app.protocol.streams import UpdateStream, places_of
from study_app.tasks.reading.event_streams import shown_stream
from tests.study_app.small_streams import (
    HOUR,
    PROMPT,
    START,
    SYSTEMS,
    Told,
    streams_task,
    write_events,
    write_stream_study,
)

STORM, FERRIES = "TS14.91", "TS14.92"


def content_of(folder, **changes):
    """Return the content of the only task."""
    [task] = read_whole_study(write_stream_study(folder, **changes)).tasks
    return task


def faults_of(path):
    with pytest.raises(InputError) as caught:
        read_whole_study(path)
    return [str(fault).replace(f"{path.parent}/", "") for fault in caught.value.faults]


def test_a_stream_is_stored_ready_to_show(tmp_path):
    """Texts with their lengths, when they came, and what they bring with the time at which that became known."""
    stream = content_of(tmp_path).streams[STORM, "sysprompt"]
    assert (stream.start, stream.end) == (START, START + 96 * HOUR)
    assert stream.update(2) == Block(
        key="u2",
        id="SYD-prompt-1",
        kind="update",
        text="Two roads are flooded",
        words=4,
        chars=18,
        at=START + 21 * HOUR,
    )
    assert stream.brought(2) == (("SYN-2", START + 20 * HOUR),)
    assert UpdateStream.of(json.loads(json.dumps(stream.json()))) == stream


def test_workers_see_the_title_of_an_event(tmp_path):
    """Without one its query, without either its id."""
    write_stream_study(tmp_path)
    xml = (tmp_path / "topics.xml").read_text()
    xml = xml.replace(
        "<title>Storm over the islands</title>", "<title> </title><query>storm  islands</query>"
    )
    (tmp_path / "topics.xml").write_text(xml.replace("<title>Strike of the ferries</title>", ""))
    [task] = read_whole_study(tmp_path / "study.yaml").tasks
    assert [event.text for event in task.topics] == ["storm islands", FERRIES]


def test_what_cannot_be_shown_is_left_out_and_counted(tmp_path):
    """Updates without a text, and those from after the event's end."""
    systems = {
        "some": [*PROMPT, Told(None, 3), Told("  ", 4), Told("Too late", 97)],
        "quiet": [Told("Once", 1)],
    }
    task = content_of(tmp_path, systems=systems, events={STORM: "Storm"})
    assert len(task.streams[STORM, "some"].updates) == 4
    assert task.notes == (
        "some, TS14.91: 2 of 7 updates have no text and are not shown",
        "some, TS14.91: 1 of 7 updates come after the event's end and are not shown",
    )


def test_rows_about_what_is_not_there_are_said(tmp_path):
    """A mistyped id would take nuggets and updates away in silence."""
    path = write_stream_study(tmp_path)
    with (tmp_path / "matches.tsv").open("a") as matches:
        matches.write(f"{STORM}\tSYD-prompt-0\tSYN-9\t0\t3\t0\n{STORM}\tSYD-none\tSYN-1\t0\t3\t0\n")
    with (tmp_path / "syslate.run").open("a") as run:
        run.write(f"\nTS14.911 team syslate SYD-late 0 {START} 1\n" * 2)
    [task] = read_whole_study(path).tasks
    assert task.notes == (
        (
            "matches.tsv: skipped matches: 1 of nuggets that nuggets.tsv does not have, "
            "1 of updates that updates.tsv does not have"
        ),
        (
            "syslate: 2 of 8 updates are about events that are not judged, such as 'TS14.911' "
            "(line 8; did you mean 'TS14.91'?), and are not shown"
        ),
    )


def test_a_stream_with_nothing_in_it_is_said(tmp_path):
    """A system may be silent about an event, and whoever follows it learns nothing."""
    path = write_stream_study(tmp_path)
    run = tmp_path / "syssparse.run"
    run.write_text(run.read_text().splitlines()[0] + "\n")
    [task] = read_whole_study(path).tasks
    assert task.notes == ("syssparse, TS14.92: there is nothing to show; its followers will find it empty",)
    assert task.streams[FERRIES, "syssparse"].updates == ()


def test_a_run_of_which_nothing_can_be_shown_is_a_fault(tmp_path):
    """Surely of another collection."""
    path = write_stream_study(tmp_path, systems={**SYSTEMS, "mute": [Told(None, 1)]})
    (tmp_path / "syssparse.run").write_text("")
    problem = "no update of this run has a text in the collection; name a run about these events, "
    cure = "or the updates file that has its texts"
    assert faults_of(path) == [f"syssparse.run:1: {problem}{cure}", f"mute.run:1: {problem}{cure}"]


def test_a_copy_is_shown_with_its_own_text_and_its_originals_nuggets(tmp_path):
    """As the measure counts them."""
    path = write_stream_study(tmp_path, systems={"sysprompt": PROMPT})
    table = tmp_path / "updates.tsv"
    table.write_text(
        table.read_text() + f"{STORM}\tSYD-copy-0\tSYD-copy\t0\t3\tSYD-prompt-1\tRoads under water\n"
    )
    with (tmp_path / "sysprompt.run").open("a") as run:
        run.write(f"{STORM} team sysprompt SYD-copy 0 {START + 60 * HOUR} 1\n")
    [task] = read_whole_study(path).tasks
    stream = task.streams[STORM, "sysprompt"]
    assert stream.updates[-1].text == "Roads under water"
    assert stream.nuggets[-1] == (("SYN-2", START + 20 * HOUR),)


def test_faults_of_collection_and_runs_come_at_once(tmp_path):
    """Each with its file and line."""
    path = write_stream_study(tmp_path)
    for name in ("sysprompt", "syslate"):
        (tmp_path / f"{name}.run").write_text(f"{STORM} team run doc 0 soon 1\n")
    assert [fault.split(": ")[0] for fault in faults_of(path)] == ["sysprompt.run:1", "syslate.run:1"]
    (tmp_path / "topics.xml").write_text("<events></events>")
    assert faults_of(path)[0].startswith("topics.xml:1: there is no <event>")


def test_missing_files_are_named_at_their_line(tmp_path):
    """Runs and collection alike."""
    path = write_stream_study(tmp_path)
    for name in ("nuggets.tsv", "syslate.run"):
        (tmp_path / name).unlink()
    problems = [fault.partition(": ")[2].partition(";")[0] for fault in faults_of(path)]
    assert problems == [
        "collection.nuggets: there is no file nuggets.tsv",
        "systems.syslate: there is no file syslate.run",
    ]


def test_an_event_is_in_one_task_only(tmp_path):
    """The tables know a follow by worker and event."""
    tasks = [streams_task(name="one"), streams_task(name="two")]
    faults = faults_of(write_stream_study(tmp_path, tasks=tasks))
    assert len(faults) == 2
    assert "event TS14.91 of task 'two' is in task 'one' already; give the tasks collections" in faults[0]


def test_the_order_is_the_measures_own(shared):
    """Newest first is the order in which `metrics.msu.score` reads: equal times, confidences and lines of real runs."""
    folder = shared / "data" / "ts-2014" / "qrels"
    events = read_events(
        topics=folder / "trec2014-ts-topics-test.xml",
        nuggets=folder / "nuggets.tsv",
        matches=folder / "matches.tsv",
        updates=folder / "updates_sampled.tsv",
    )
    compared = 0
    for path in sorted((shared / "gold" / "tempsum" / "ts-2014" / "runs").iterdir()):
        run = read_update_run(path)
        for topic, entries in run.entries(events.topics).items():
            event = events.topics[topic]
            sampled = [entry for entry in entries.tolist() if run.updates[entry] in event.updates]
            kept = entries[[entry in set(sampled) for entry in entries.tolist()]]
            expected = StreamTopic(event, {}, ReadingSetting("since_last_read", 30)).stream(run, kept)
            stream = shown_stream(event, run, kept)
            assert [one.at - event.start for one in stream.updates] == expected.emitted.tolist()
            assert [one.words for one in stream.updates] == expected.words.tolist()
            told = [list(event.nuggets)[place] for place in expected.nugget.tolist()]
            assert [name for brought in stream.nuggets for name, _ in brought] == told
            compared += len(stream.updates)
    assert compared > 3_000


def test_a_stream_knows_what_there_is_at_any_time():
    """The newest of equal times too, and nothing before the first."""
    updates = tuple(
        text_block("t", key=f"u{place}", id=str(place), kind="update", at=at)
        for place, at in enumerate((1.0, 2.0, 2.0, 5.0), start=1)
    )
    stream = UpdateStream(start=0.0, end=9.0, updates=updates, nuggets=((),) * len(updates))
    assert [stream.newest_index(at) for at in (-math.inf, 0.9, 1, 2, 4.9, 5, math.inf)] == [
        0,
        0,
        1,
        3,
        3,
        4,
        4,
    ]
    assert [item.key for item in stream.items(2, 4, "en")] == ["u4", "u3", "u2"]
    assert stream.items(0, 0, "en") == ()


def test_only_keys_of_updates_are_read_as_such():
    """Forms may say anything."""
    others = ["u", "u0", "12", "f3", "u-1", "u1.5", "u²", "", "U7", "u1\n", "u" + "1" * 5_000]
    assert places_of(["u12", "u1", *others]) == {1, 12}


def test_the_clock_is_one_for_all_streams_of_a_study(tmp_path):
    """Away times of all of them are put together in one time."""
    write_events(tmp_path, SYSTEMS)
    tasks = [streams_task(name="one", clock_factor=2.0), streams_task(name="two", idle_seconds=60.0)]
    path = write_stream_study(tmp_path, tasks=tasks)
    problems = [fault.partition(": ")[2] for fault in faults_of(path)]
    assert problems == [
        f"tasks.2.{key} is {given}, but {first} in task 1; give all stream_visits of a study the same {key}"
        for key, given, first in (("clock_factor", 1, 2), ("idle_seconds", 60, 300))
    ]


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"days": 0}, "tasks.1.days must be more than 0, got '0'; write days:"),
        (
            {"systems": {}},
            "tasks.1.systems has too few entries, got a group of keys; write NAME: RUN, one line",
        ),
        ({"colection": 1}, "tasks.1.colection is not known; did you mean 'collection'?"),
        (
            {"collection": {"topics": "a", "nuggets": "b", "matches": "c"}},
            "tasks.1.collection.updates is missing",
        ),
        (
            {"collection": {"queries": "a"}},
            "tasks.1.collection.queries is not known; known here: topics, nuggets",
        ),
        ({"collection": 5}, "tasks.1.collection must be a group of keys, got '5'; write topics: FILE"),
        ({"queries_per_worker": 2}, "tasks.1.queries_per_worker is not known"),
    ],
)
def test_a_fault_of_the_task_has_its_own_cure(tmp_path, changes, fault):
    """What to write for a stream is not what to write for a summary."""
    path = write_stream_study(tmp_path, task=changes)
    assert any(fault in one for one in faults_of(path)), faults_of(path)
