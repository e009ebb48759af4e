"""Topic ids: long and short forms, compared as text."""

import pytest

from metrics.errors import InputError
from metrics.topic_ids import STREAM_TOPICS, TopicNames, short_form


@pytest.mark.parametrize(
    ("topic", "short"),
    [
        ("TS14.11", "11"),
        ("11", "11"),
        ("MB226", "226"),
        ("MC2-E-0001", "MC2-E-0001"),
        ("TS13.07", "07"),
        ("31.1", "31.1"),
    ],
)
def test_the_short_form_drops_what_a_track_writes_before_the_number(topic, short):
    """2014 runs write 11 for TS14.11, push runs 226 for MB226."""
    assert short_form(topic) == short


@pytest.mark.parametrize(
    ("judged", "written", "found"),
    [
        ("TS14.11", "11", "TS14.11"),
        ("11", "TS14.11", "11"),
        ("MB226", "226", "MB226"),
        ("TS13.07", "7", None),
        ("TS14.11", "TS13.11", None),
        ("TS14.11", "TS14.1", None),
    ],
)
def test_a_written_topic_is_found_in_either_form(judged, written, found):
    """Numbers are never compared: 7 and TS13.07 are two topics of one collection."""
    assert TopicNames([judged, "other"], STREAM_TOPICS).find(written) == found


def test_without_forms_topics_are_compared_as_text():
    """In ranked lists 31.1 and 32.1 are turns of two conversations."""
    names = TopicNames(["1", "TS14.11", "226"])
    assert [names.find(written) for written in ("1", "31.1", "11", "MB226")] == ["1", None, None, None]


@pytest.mark.parametrize(
    ("judged", "written"),
    [
        (["TS13.1", "TS14.1"], ["1"]),
        (["1"], ["TS13.1", "TS14.1"]),
        (["1", "TS13.1"], ["TS14.1"]),
    ],
)
def test_where_two_long_forms_would_meet_the_topic_is_refused_by_name(judged, written):
    """Guessing would credit one year's event with another year's run."""
    names = TopicNames(judged, STREAM_TOPICS, where="run.txt")
    *before, last = written
    assert [names.find(topic) for topic in before] == judged[: len(before)]
    with pytest.raises(
        InputError, match=r"run\.txt:1: topic '1' would be TS13\.1 and TS14\.1 at once; write the long form"
    ):
        names.find(last)
    assert names.find("TS13.1" if "TS13.1" in judged else "1") in judged
