"""Judgments of events: what is read, and what is said about each thing that is wrong."""

import gzip
import re
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.errors import InputError
from metrics.events import Match, Nugget, SkippedMatches, Update
from metrics.readers.tempsum import read_events
from tests.metrics.event_files import DAY, FILES, MATCHES, NUGGETS, START, TOPICS, UPDATES, write_events


def faults_of(folder, **changed):
    with pytest.raises(InputError) as caught:
        read_events(**write_events(folder, **changed))
    return [str(fault).removeprefix(f"{folder}/") for fault in caught.value.faults]


def test_judgments_are_read_as_they_are_written(tmp_path):
    """Ids, texts and order are the collection's own; topics are called as the nuggets call them."""
    collection = read_events(**write_events(tmp_path))
    assert list(collection.topics) == ["TS14.1", "TS14.2"]
    event = collection.topics["TS14.1"]
    assert (event.start, event.end) == (START, START + DAY)
    assert event.nuggets["n2"] == Nugget(1_010_000, 1.0, 4, "four words in all")
    assert event.updates["d9-9"] == Update("some news here", 3, "d1-0")
    assert event.updates["d1-0"].original is None
    assert event.matches == {"d1-0": (Match("n1", 0, 9), Match("n3", 4, 9)), "d2-5": (Match("n2", 4, 16),)}
    assert collection.skipped == SkippedMatches(nugget=0, update=0)


def test_only_topics_with_nuggets_and_updates_are_judged(tmp_path):
    """Topic 3 stands in the XML alone, and topic 2 without its update too; neither is a fault."""
    updates = UPDATES.replace("TS14.2\td3-1\td3\t1\t1\tNULL\tnews\n", "")
    assert list(read_events(**write_events(tmp_path, updates=updates)).topics) == ["TS14.1"]


def test_topics_may_be_written_short_or_long(tmp_path):
    """The files of one year do not agree with each other."""
    changed = {"matches": MATCHES.replace("TS14.", ""), "topics": TOPICS.replace("<id>", "<id>TS14.")}
    assert (
        read_events(**write_events(tmp_path, **changed)).topics
        == read_events(**write_events(tmp_path)).topics
    )


def test_a_first_line_need_not_be_a_header(tmp_path):
    """Some files come without."""
    nuggets = NUGGETS.partition("\n")[2]
    assert "n1" in read_events(**write_events(tmp_path, nuggets=nuggets)).topics["TS14.1"].nuggets


def test_files_may_be_packed(tmp_path):
    """Large collections travel as gzip."""
    packed = {name: gzip.compress(text.encode()) for name, text in FILES.items()}
    assert (
        read_events(**write_events(tmp_path, **packed)).topics == read_events(**write_events(tmp_path)).topics
    )


def test_matches_of_what_is_not_there_are_counted(tmp_path):
    """The real files have some: 9 in 2014, 326 in 2013."""
    matches = MATCHES + (
        "TS14.1\td1-0\tn8\t0\t1\t0\n"
        "TS14.1\tnowhere-1\tn1\t0\t1\t0\n"
        "TS14.1\tnowhere-1\tn8\t0\t1\t0\n"
        "9911\td1-0\tn1\t0\t1\t0\n"
    )
    collection = read_events(**write_events(tmp_path, matches=matches))
    assert collection.skipped == SkippedMatches(nugget=3, update=1)
    assert len(collection.topics["TS14.1"].matches["d1-0"]) == 2


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        (
            {"nuggets": "TS14.1\tn1\n"},
            (
                "nuggets.tsv:1: 6 fields expected, got 2; write query_id, nugget_id, timestamp, importance, nugget_len, "
                "nugget_text, separated by tabs"
            ),
        ),
        (
            {"nuggets": NUGGETS.replace("1010000\t1", "noon\t1")},
            "nuggets.tsv:3: timestamp is no finite number: 'noon'; write a decimal number such as 2.5",
        ),
        (
            {"nuggets": NUGGETS.replace("1010000\t1", "1010000\tnan")},
            "nuggets.tsv:3: importance is no finite number: 'nan'; write a decimal number such as 2.5",
        ),
        (
            {"nuggets": NUGGETS.replace("1010000\t1", "1010000\t1e3")},
            "nuggets.tsv:3: importance is out of range: 1e3; write 0, 1, 2 or 3",
        ),
        (
            {"nuggets": NUGGETS.replace("\t4\tfour", "\t-4\tfour")},
            "nuggets.tsv:3: nugget_len is negative: -4; write 0 or more",
        ),
        (
            {"nuggets": NUGGETS.replace("\tn2\t", "\tn1\t")},
            "nuggets.tsv:3: duplicate nugget n1 of topic TS14.1; delete one of the two rows",
        ),
        (
            {"nuggets": NUGGETS.replace("\tn2\t", "\t\t")},
            "nuggets.tsv:3: an id is empty; write query_id and nugget_id",
        ),
        (
            {"updates": UPDATES.replace("d2-5", "d1-0")},
            "updates.tsv:3: duplicate update d1-0 of topic TS14.1; delete one of the two rows",
        ),
        (
            {"updates": UPDATES.replace("\t4\tNULL", "\tfour\tNULL")},
            "updates.tsv:3: update_len is no whole number: 'four'; write digits only",
        ),
        (
            {"topics": NUGGETS},
            (
                "topics.xml:1: this is no XML file: it does not begin with <; the topics file is the track's XML (--topics-file), "
                "the others are tables (--nuggets, --matches, --updates)"
            ),
        ),
        (
            {"nuggets": TOPICS},
            (
                "nuggets.tsv:1: this is an XML file, and lines of 6 fields are expected; name the file whose lines are query_id, "
                "nugget_id, timestamp, importance, nugget_len, nugget_text, separated by tabs; the topics file is the track's XML "
                "(--topics-file), the others are tables (--nuggets, --matches, --updates)"
            ),
        ),
        (
            {"updates": UPDATES.encode().replace(b"more", b"m\xffre")},
            "updates.tsv:3: the line is not UTF-8; save the file as UTF-8",
        ),
        (
            {"matches": MATCHES.replace("n2\t4\t16", "n2\tx\t16")},
            "matches.tsv:4: match_start is no whole number: 'x'; write digits only",
        ),
        (
            {"matches": MATCHES.replace("n2\t4\t16", "n2\t4\t-16")},
            "matches.tsv:4: match_end is negative: -16; write 0 or more",
        ),
        (
            {"topics": TOPICS.replace("<id>2</id>", "<id>1</id>")},
            "topics.xml:9: duplicate topic '1'; delete one of the two events",
        ),
        (
            {"topics": TOPICS.replace("<id>2</id>", "")},
            (
                "topics.xml:9: the event has no <id>; write "
                "<event><id>...</id><start>...</start><end>...</end></event>, times in seconds"
            ),
        ),
        (
            {"topics": TOPICS.replace("<start>2000000</start>", "<start>noon</start>")},
            "topics.xml:9: <start> is no finite number: 'noon'; write a decimal number such as 2.5",
        ),
        (
            {"topics": TOPICS.replace("2086400", "2000000")},
            "topics.xml:9: topic '2' ends before it starts; mend <start> and <end>",
        ),
        (
            {"topics": "<events/>"},
            (
                "topics.xml:1: there is no <event>; write "
                "<event><id>...</id><start>...</start><end>...</end></event>, times in seconds"
            ),
        ),
        (
            {"topics": "<events>"},
            (
                "topics.xml:1: the XML is not well formed (<events> of line 1 is not closed); "
                "mend the markup here"
            ),
        ),
        (
            {"topics": TOPICS.replace("<id>1", "<id>7").replace("<id>2", "<id>8")},
            "topics.xml:1: no topic has both a nugget and an update; name files of one collection",
        ),
    ],
)
def test_each_fault_names_file_line_and_cure(tmp_path, changed, fault):
    """One line is all a user sees: it must be enough to mend the file."""
    assert fault in faults_of(tmp_path, **changed)


def test_the_faults_of_all_files_are_shown_at_once(tmp_path):
    """Nobody should mend one line, run again, and be told of the next."""
    faults = faults_of(
        tmp_path,
        topics=TOPICS.replace("2086400", "0"),
        nuggets=NUGGETS.replace("\t1010000", "\tx"),
        updates=UPDATES.replace("\t1\tNULL", "\t?\tNULL"),
        matches=MATCHES.replace("\t16\t", "\t\t"),
    )
    assert [fault.split(": ")[0] for fault in faults] == [
        "topics.xml:9",
        "nuggets.tsv:3",
        "nuggets.tsv:4",
        "updates.tsv:5",
        "matches.tsv:4",
    ]


def test_a_missing_file_is_named(tmp_path):
    """The most common mistake of all."""
    paths = write_events(tmp_path)
    with pytest.raises(InputError, match=r"gone\.tsv:1: there is no such file"):
        read_events(**{**paths, "matches": tmp_path / "gone.tsv"})


def test_an_entity_is_never_resolved(tmp_path):
    """Reading somebody's topics must not read the reader's files."""
    (tmp_path / "secret").write_text("1", encoding="utf-8")
    text = f'<!DOCTYPE events [<!ENTITY s SYSTEM "file://{tmp_path}/secret">]>\n<events>&s;</events>'
    assert faults_of(tmp_path, topics=text) == ["topics.xml:1: a DOCTYPE is not allowed; delete it"]


def test_real_files_are_read_fast_enough_to_wait_for(shared):
    """Both years, with what their matches lack."""
    folder = shared / "data/ts-2014/qrels"
    collection = read_events(
        topics=folder / "trec2014-ts-topics-test.xml",
        nuggets=folder / "nuggets.tsv",
        matches=folder / "matches.tsv",
        updates=folder / "updates_sampled.tsv",
    )
    assert list(collection.topics) == [f"TS14.{number}" for number in range(11, 26)]
    assert collection.skipped == SkippedMatches(nugget=9, update=0)
    folder = shared / "data/ts-2013/qrels"
    collection = read_events(
        topics=folder / "topics_masked.xml",
        nuggets=folder / "nuggets.tsv",
        matches=folder / "matches.tsv",
        updates=shared / "gold/tempsum/ts-2013/pooled_updates.synthetic.tsv",
    )
    assert list(collection.topics) == ["1", "2", "3", "4", "5", "6", "8", "9", "10"]
    assert collection.skipped.nugget == 326


pieces = st.lists(
    st.sampled_from([*re.findall(r"[^\t\n]+|[\t\n]", NUGGETS + MATCHES), "<event>", "\r", "-1", "\x00", "é"])
).map("".join)
anything = st.binary(max_size=80) | pieces.map(str.encode)


@given(st.sampled_from(sorted(FILES)), anything)
def test_any_bytes_give_judgments_or_faults(tmp_path_factory, name, data):
    """Nothing in a file may end in a traceback."""
    paths = write_events(tmp_path_factory.mktemp("fuzz"), **{name: data})
    with suppress(InputError):
        assert read_events(**paths).topics
