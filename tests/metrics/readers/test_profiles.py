"""Interest profiles in the two forms of the tracks."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.errors import InputError
from metrics.readers.texts import InterestProfile, read_profiles

BLOCKS = """<top>
<num> Number: MB226

<title>
Hershey, PA quilt show

<desc> Description:
Find information on the quilt show
being held in Hershey, PA

<narr> Narrative:
The user is a beginning quilter.
</top>

<top>
<num> Number: 227 </num>
<title> side effects </title>
<querytime> Tue Feb 08 2011 </querytime>
</top>
"""
QUILTS = InterestProfile(
    title="Hershey, PA quilt show",
    description="Find information on the quilt show being held in Hershey, PA",
    narrative="The user is a beginning quilter.",
)


def written(tmp_path, text):
    path = tmp_path / "topics.txt"
    path.write_text(text, encoding="utf-8")
    return path


def faults(path):
    with pytest.raises(InputError) as caught:
        read_profiles(path)
    return [(fault.line, fault.problem) for fault in caught.value.faults]


def test_blocks_with_and_without_closing_tags(tmp_path):
    """Labels are dropped, lines are joined, what has no place in a profile is left out."""
    assert read_profiles(written(tmp_path, BLOCKS)) == {
        "MB226": QUILTS,
        "227": InterestProfile(title="side effects", description="", narrative=""),
    }


def test_json_of_the_real_time_track(tmp_path):
    """Its file has commas where JSON has none."""
    text = """[
      {"topid": "RTS3", "title": "\\"No Man's Sky\\" [2016],]", "description": "Find\\nreviews", "narrative": "The user,",},
      {"topid": "RTS4", "title": "tennis", "narrative": null},
    ]"""
    assert read_profiles(written(tmp_path, text)) == {
        "RTS3": InterestProfile(
            title='"No Man\'s Sky" [2016],]', description="Find reviews", narrative="The user,"
        ),
        "RTS4": InterestProfile(title="tennis", description="", narrative=""),
    }


def test_every_fault_of_the_blocks_at_once(tmp_path):
    """With the line on which the topic begins."""
    text = "<top>\n<title> a\n</top>\n<top>\n<num> 1\n</top>\n<top>\n<num> 1\n<title> b\n</top>\n<top>\n<num> 2\n"
    assert faults(written(tmp_path, text)) == [
        (1, "a topic without its number"),
        (4, "topic 1 has no title"),
        (7, "duplicate topic 1"),
        (11, "a topic that is not closed"),
    ]


def test_every_fault_of_the_json_at_once(tmp_path):
    """A value that is no text, an object without id, and what is no object."""
    text = '[{"topid": "1", "title": 7},\n{"title": "a"},\n"x",\n{"topid": "1", "title": "b"}]'
    assert faults(written(tmp_path, text)) == [
        (1, "title is no text"),
        (1, "topic 1 has no title"),
        (2, "a topic without its topid"),
        (3, "a topic without its topid"),
        (4, "duplicate topic 1"),
    ]


def test_a_file_of_something_else(tmp_path):
    """Each says what a topic looks like."""
    assert faults(written(tmp_path, "MB226\tquilts\n")) == [(1, "there are no topics")]
    assert faults(written(tmp_path, '{"topics": []}')) == [(1, "the topics are no list")]
    assert faults(written(tmp_path, '[{"topid": 1},\n]]')) == [(2, "not JSON (Extra data)")]


@given(st.binary(max_size=40) | st.text(alphabet='<>/topnum[]{}":,', max_size=40).map(str.encode))
def test_any_bytes_give_profiles_or_one_clean_error(tmp_path_factory, content):
    """A damaged file never ends in a traceback."""
    path = tmp_path_factory.mktemp("profiles") / "topics.txt"
    path.write_bytes(content)
    with suppress(InputError):
        read_profiles(path)


@pytest.mark.parametrize(
    ("file", "count", "topic"),
    [
        ("mb-2015/qrels/TREC2015-MB-testtopics.txt", 225, "MB227"),
        ("rts-2016/qrels/TREC2016-RTS-topics.json", 45, "RTS2"),
    ],
)
def test_the_tracks_own_files(shared, file, count, topic):
    """Every profile has all three parts, and no label or tag is left in them."""
    profiles = read_profiles(shared / "data" / file)
    assert len(profiles) == count
    assert profiles[topic].title in {"Pradaxa side effects", "Zika in Ecuador"}
    for one in profiles.values():
        assert one.title
        assert one.description
        assert one.narrative
        assert not {"<", ">"} & set(one.title + one.description + one.narrative)
        assert "Narrative:" not in one.narrative
