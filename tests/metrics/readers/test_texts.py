"""Texts of tweets."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.errors import InputError
from metrics.readers.texts import read_texts


def test_texts_by_tweet(tmp_path):
    """The header may be there or not; a text may be empty, quoted, in any language."""
    path = tmp_path / "texts.tsv"
    path.write_text('tweet_id\ttext\n1\tA "b" c\n2\t\n3\t日本 語\n', encoding="utf-8")
    assert read_texts(path) == {"1": 'A "b" c', "2": "", "3": "日本 語"}


def test_a_line_that_stands_twice_is_no_fault(tmp_path):
    """Lists of pooled tweets name a tweet once for each of its topics, and so do files made from them."""
    path = tmp_path / "texts.tsv"
    path.write_text("1\ta\n2\tb\n1\ta\n", encoding="utf-8")
    assert read_texts(path) == {"1": "a", "2": "b"}


def test_every_fault_is_named_at_once(tmp_path):
    """With its line."""
    path = tmp_path / "texts.tsv"
    path.write_bytes(b"1\ta\n2 b\n1\tc\n3\t\xff\n")
    with pytest.raises(InputError) as error:
        read_texts(path)
    assert [fault.line for fault in error.value.faults] == [2, 3, 4]


@given(st.binary(max_size=40))
def test_any_bytes_give_texts_or_one_clean_error(tmp_path_factory, content):
    """A damaged file never ends in a traceback."""
    path = tmp_path_factory.mktemp("texts") / "texts.tsv"
    path.write_bytes(content)
    with suppress(InputError):
        read_texts(path)
