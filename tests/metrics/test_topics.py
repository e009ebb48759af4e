"""Topic ids: long and short forms, compared as text."""

import pytest

from metrics.taking_part import TopicNames, short_form


@pytest.mark.parametrize(
    ("topic", "short"),
    [("TS14.11", "11"), ("11", "11"), ("MB226", "226"), ("MC2-E-0001", "MC2-E-0001"), ("TS13.07", "07")],
)
def test_the_short_form_drops_what_stands_before_the_last_dot_or_mb(topic, short):
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
    assert TopicNames([judged, "other"]).find(written) == found


def test_a_short_form_that_two_topics_share_names_neither():
    """Guessing would credit one year's event with another year's run."""
    names = TopicNames(["TS13.1", "TS14.1"])
    assert names.find("1") is None
    assert names.find("TS14.1") == "TS14.1"
