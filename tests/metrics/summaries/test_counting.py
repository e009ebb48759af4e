"""Counted characters: a fixed set of 284 code points, nothing cleverer."""

import json

import pytest

from metrics.summaries.trailtext import NOT_COUNTED, counted_chars

SYMBOLS = [chr(code) for first, last in NOT_COUNTED for code in range(first, last + 1)]


def test_284_code_points_do_not_count():
    """The set that the Ruby and the Python program of NTCIR share."""
    assert len(SYMBOLS) == len(set(SYMBOLS)) == 284
    assert counted_chars("".join(SYMBOLS)) == 0


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("- This is a test sentence!! -", 19),
        ("ー　これは『日本語』のテストです！　ー", 12),
        ("日本語の文字数Test", 11),
        ("", 0),
    ],
)
def test_lengths_of_the_authors_specification(text, length):
    """Values asserted in the tests of the authors' own programs."""
    assert counted_chars(text) == length


@pytest.mark.parametrize("text", ["\t", "\u00a0", "–", "—", "•", "\u0301", "👍", "ｱ", "é"])
def test_what_is_not_in_the_set_counts(text):
    """Also where a Unicode category would call it a symbol or a space."""
    assert counted_chars(text) == 1


@pytest.mark.parametrize("text", ["々", "〇", "仝", "ー"])
def test_four_letters_are_in_the_set(text):
    r"""A class such as \W would count them."""
    assert counted_chars(text) == 0


def test_an_emoji_with_a_skin_tone_has_two_characters():
    """Code points are counted, not what is seen as one sign; 'e' and its accent are two for the same reason."""
    assert counted_chars("👍🏽") == 2
    assert counted_chars("e\u0301") == 2


def test_the_set_is_that_of_the_reference_values(shared):
    """The published list, code point by code point."""
    listed = json.loads((shared / "gold/mmeasure/symbols.json").read_text(encoding="utf-8"))["not_counted"]
    assert [chr(code) for code in listed] == SYMBOLS
