"""Files of the Microblog and Real-Time Summarization tracks: what they mean, and every way in which they can be wrong."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.errors import InputError
from metrics.push.streams import Created, days_between
from metrics.readers.push import read_push_collection, read_push_run
from tests.metrics.fault_places import is_placed
from tests.metrics.push_files import CLUSTERS_2015, CLUSTERS_2016, EPOCHS, QRELS, RUN, write_push

FILES = {"qrels": "qrels.txt", "clusters": "clusters.json", "epochs": "epochs.txt"}


def read(folder):
    files = {kind: folder / name for kind, name in FILES.items()}
    return read_push_collection(**files, days=days_between("20150720", "20150721"))


def read_or_faults(reading):
    """What was read, or the faults of the error."""
    try:
        return reading()
    except InputError as error:
        return error.faults


def faults(tmp_path, **files):
    """What reading these files complains about, without the folder."""
    write_push(tmp_path, **files)
    with pytest.raises(InputError) as error:
        read(tmp_path)
    return [str(fault).removeprefix(f"{tmp_path}/") for fault in error.value.faults]


TEN_DAYS = "20150720:20150729"


@pytest.mark.parametrize(
    ("days", "scored"),
    [
        (TEN_DAYS, days_between("20150720", "20150729")),
        (list(days_between("20150720", "20150729")), days_between("20150720", "20150729")),
        (("20150720", "20150721"), ("20150720", "20150721")),
        ("20150720:20150720", ("20150720",)),
    ],
)
def test_days_are_a_range_as_in_the_command_or_every_day(tmp_path, days, scored):
    """Two days that follow each other are the same, whichever way they are read."""
    write_push(tmp_path)
    files = {kind: tmp_path / name for kind, name in FILES.items()}

    assert read_push_collection(**files, days=days).days["MB226"] == scored


@pytest.mark.parametrize(
    ("days", "message"),
    [
        (("20150720", "20150729"), "list every day in order, or write '20150720:20150729'"),
        (["20150721", "20150720"], "20150720 does not follow 20150721"),
        (["20150720", "20150732"], "there is no day 20150732"),
        ("20150720", "'' is no day"),
    ],
)
def test_a_first_and_a_last_day_alone_are_not_taken_for_two_days(tmp_path, days, message):
    """Silence on two days for ten would be a score like any other."""
    write_push(tmp_path)
    files = {kind: tmp_path / name for kind, name in FILES.items()}

    with pytest.raises(ValueError, match=message):
        read_push_collection(**files, days=days)


def test_judgments_are_read_by_topic_and_tweet(tmp_path):
    """Topics get their MB, grades become gains, judged tweets without a time are no fault."""
    write_push(tmp_path)
    collection = read(tmp_path)

    assert collection.gains == {
        "MB226": {"t1": 0.5, "t2": 1.0, "t3": 0.5, "t4": 0.0, "t9": 1.0},
        "MB227": {"t5": 0.0},
    }
    assert collection.days == dict.fromkeys(["MB226", "MB227"], ("20150720", "20150721"))
    assert collection.created["t3"] == Created("20150721", 1437436800)
    assert "t9" not in collection.created


@pytest.mark.parametrize("clusters", [CLUSTERS_2015, CLUSTERS_2016], ids=["2015", "2016"])
def test_clusters_of_both_years(tmp_path, clusters):
    """A list of lists, or an object of lists; a topic may have none."""
    write_push(tmp_path, clusters=clusters)
    assert read(tmp_path).clusters == {"MB226": (("t1", "t2"), ("t3",)), "MB227": ()}


def test_clusters_of_unjudged_topics_are_not_looked_at(tmp_path):
    """Whatever stands there; other members of the file do not matter either."""
    write_push(tmp_path, clusters=CLUSTERS_2015.replace('"topics": {', '"topics": {"MB999": 7,'))
    assert read(tmp_path).clusters["MB226"] == (("t1", "t2"), ("t3",))


def test_topics_that_are_no_numbers_keep_their_name(tmp_path):
    """2016 has MB226 beside RTS1."""
    write_push(tmp_path, qrels="RTS1 Q0 t1 1\nMB7 Q0 t1 1\n", clusters=CLUSTERS_2016.replace("MB226", "RTS1"))
    assert list(read(tmp_path).gains) == ["RTS1", "MB7"]
    assert read(tmp_path).clusters["RTS1"] == (("t1", "t2"), ("t3",))


def test_a_topic_may_be_written_both_ways_in_one_file(tmp_path):
    """226 is MB226."""
    write_push(tmp_path, qrels="226 Q0 t1 1\nMB226 Q0 t2 2\n")
    assert read(tmp_path).gains == {"MB226": {"t1": 0.5, "t2": 1.0}}


def test_lines_that_stand_twice_are_no_fault(tmp_path):
    """The epochs of 2016 repeat a tweet for each of its topics; 1 and its carried over 3 do not disagree."""
    write_push(tmp_path, qrels=QRELS + "226 Q0 t1 1\n226 Q0 t1 3\n", epochs=EPOCHS + EPOCHS)
    assert read(tmp_path).gains["MB226"]["t1"] == 0.5


def test_every_fault_of_the_three_files_is_named_at_once(tmp_path):
    """File, line, what is wrong, how to mend it."""
    assert faults(
        tmp_path,
        qrels=QRELS + "226 Q0 t1\n226 Q0 t1 5\n226 Q0 t1 2\n",
        epochs=EPOCHS
        + "t6 20150732 1437350400\nt7 monday 1437350400\nt8 20150720 1.5\nt1 20150721 1437436800\n",
        clusters=CLUSTERS_2015.replace('"t2"', '"t3", 7'),
    ) == [
        "qrels.txt:7: 4 fields expected, got 3; write topic, Q0, tweet, grade, separated by white space",
        "qrels.txt:8: there is no grade '5'; write -1, 0, 1, 2, 3 or 4",
        "qrels.txt:9: tweet t1 has another grade for topic 226 above; delete one of the two lines",
        "epochs.txt:6: there is no day 20150732; write the day as YYYYMMDD",
        "epochs.txt:7: 'monday' is no day; write the day as YYYYMMDD",
        "epochs.txt:8: epoch is no whole number: '1.5'; write digits only",
        "epochs.txt:9: tweet t1 was posted at another time above; delete one of the two lines",
        "clusters.json:5: a tweet's id is no text; write it in quotes",
        "clusters.json:6: tweet t3 is in another cluster of topic 'MB226' too; leave it in one",
    ]


@pytest.mark.parametrize(
    ("clusters", "fault"),
    [
        ("", "clusters.json:1: not JSON (Expecting value); mend the JSON here"),
        (
            '{"topics":\n {,}}',
            "clusters.json:2: not JSON (Expecting property name enclosed in double quotes)",
        ),
        ("[]", "clusters.json:1: there is no 'topics' here"),
        ('{"topics": []}', "clusters.json:1: 'topics' is no object"),
        ('{"topics": {\n"MB226": {}}}', "clusters.json:2: there is no 'clusters' here"),
        (
            '{"topics": {\n"MB226": {"clusters": 1}}}',
            "clusters.json:2: the clusters of topic 'MB226' are no list",
        ),
        (
            '{"topics": {"226": {"clusters": [\n"t1"]}}}',
            "clusters.json:2: a cluster of topic '226' is no list",
        ),
        (
            '{"topics": {"226": {"clusters": []},\n"MB226": {"clusters": []}}}',
            "clusters.json:2: topic 'MB226' is MB226, which is above already; join the two",
        ),
    ],
)
def test_clusters_of_another_form_are_a_fault_with_a_line(tmp_path, clusters, fault):
    """JSON has lines too."""
    (found,) = faults(tmp_path, clusters=clusters)
    assert found.startswith(fault)


@pytest.mark.parametrize("qrels", ["", "\n \n"])
def test_no_judgments_are_a_fault(tmp_path, qrels):
    """There would be nothing to average over."""
    assert faults(tmp_path, qrels=qrels) == [
        "qrels.txt:1: there are no judgments; write topic, Q0, tweet, grade on each line"
    ]


def test_missing_files_are_named_together(tmp_path):
    """With the faults of those that are there."""
    write_push(tmp_path, clusters="{")
    (tmp_path / "qrels.txt").unlink()
    (tmp_path / "epochs.txt").unlink()
    with pytest.raises(InputError) as error:
        read(tmp_path)
    assert [str(fault).removeprefix(f"{tmp_path}/") for fault in error.value.faults] == [
        "qrels.txt:1: there is no such file; check the path",
        "epochs.txt:1: there is no such file; check the path",
        "clusters.json:1: not JSON (Expecting property name enclosed in double quotes); mend the JSON here",
    ]


def test_all_files_may_be_gzip(tmp_path):
    """Told by content."""
    files = {"qrels": QRELS, "clusters": CLUSTERS_2016, "epochs": EPOCHS, "run": RUN}
    write_push(tmp_path, **{name: gzip.compress(content.encode()) for name, content in files.items()})
    assert read(tmp_path).clusters["MB226"] == (("t1", "t2"), ("t3",))
    assert read_push_run(tmp_path / "run.txt").tweets == ("t1", "t4", "t5", "x")


def test_a_run_is_read_in_file_order_and_called_like_its_file(tmp_path):
    """Order decides redundancy; what the lines say about the run's name does not matter."""
    write_push(tmp_path, run=RUN.replace("tag", "日本語\u00a0ラン"))
    run = read_push_run(tmp_path / "run.txt")

    assert run.name == "run"
    assert run.topics == ("MB226", "226", "MB227", "MB226")
    assert run.epochs.tolist() == [1437351600, 1437350460, 1437436860, 1437350460]
    assert read_push_run(tmp_path / "run.txt", name="mine").name == "mine"


def test_an_empty_run_is_a_run(tmp_path):
    """A system that never pushes has a score."""
    write_push(tmp_path, run="")
    assert read_push_run(tmp_path / "run.txt").topics == ()


def test_every_fault_of_a_run_is_named_at_once(tmp_path):
    """With its line."""
    write_push(tmp_path, run=RUN + "MB226 t1 soon tag\n\nMB226 t1 1437351600\nMB226 t1 1437351600 my tag\n")
    with pytest.raises(InputError) as error:
        read_push_run(tmp_path / "run.txt")
    assert [str(fault).removeprefix(f"{tmp_path}/") for fault in error.value.faults] == [
        "run.txt:5: epoch is no whole number: 'soon'; write digits only",
        "run.txt:7: 4 fields expected, got 3; write topic, tweet, epoch, runtag, separated by white space",
        "run.txt:8: 4 fields expected, got 5; write topic, tweet, epoch, runtag, separated by white space",
    ]


bits = st.sampled_from(
    ["226", "MB227", "Q0", "t1", "t2", "3", "-1", "20150720", "x", "\n", " ", "\t", "\ud7ff"]
)
contents = st.binary(max_size=60) | st.lists(bits, max_size=30).map(lambda found: "".join(found).encode())
json_bits = st.sampled_from(
    ['"topics"', '"MB226"', '"clusters"', "{", "}", "[", "]", ":", ",", '"t1"', "1", "\n"]
)
json_contents = st.binary(max_size=60) | st.lists(json_bits, max_size=30).map(
    lambda found: "".join(found).encode()
)


@given(qrels=contents, epochs=contents, clusters=json_contents | st.just(CLUSTERS_2016.encode()))
def test_any_bytes_give_judgments_or_one_clean_error(tmp_path_factory, qrels, epochs, clusters):
    """A damaged file never ends in a traceback; every fault has file and line."""
    folder = tmp_path_factory.mktemp("push")
    write_push(folder, qrels=qrels, epochs=epochs, clusters=clusters)
    found = read_or_faults(lambda: read(folder))
    assert all(map(is_placed, found)) if isinstance(found, tuple) else found.gains


@given(contents)
def test_any_bytes_give_a_run_or_one_clean_error(tmp_path_factory, content):
    """A damaged file never ends in a traceback."""
    folder = tmp_path_factory.mktemp("push")
    write_push(folder, run=content)
    found = read_or_faults(lambda: read_push_run(folder / "run.txt"))
    assert all(map(is_placed, found)) if isinstance(found, tuple) else found.name == "run"


def test_the_judgments_of_a_whole_track_are_read(shared):
    """94,066 judgments, 71,367 times and the clusters of 2015: 6 MB."""
    folder = shared / "data/mb-2015/qrels"
    collection = read_push_collection(
        qrels=folder / "qrels.txt",
        clusters=folder / "clusters-2015.json",
        epochs=folder / "tweet2dayepoch.txt",
        days=days_between("20150720", "20150729"),
    )

    assert len(collection.gains) == 51
    assert sum(tweet not in collection.created for of in collection.gains.values() for tweet in of) == 20_226
