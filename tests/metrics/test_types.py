"""Measures as values: what can be said, compared, printed and read back."""

from contextlib import suppress
from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.errors import InputError
from metrics.registry import Measure, all_measures, measure, parse_measure, short_number
from tests.metrics.sample import Sample

samples = st.builds(
    Sample,
    scale=st.floats(allow_nan=False) | st.integers(-(10**20), 10**20),
    limit=st.none() | st.integers(),
    side=st.sampled_from(["left", "right"]),
    graded=st.booleans(),
)


@given(samples)
def test_a_measure_reads_back_from_what_it_prints(one):
    """The printed form is the one syntax of measures, in files and on the command line."""
    assert parse_measure(repr(one)) == one


def test_printing_shows_the_main_parameter_and_what_is_not_at_its_default():
    """Short enough for a table, and never ambiguous."""
    assert repr(Sample(scale=1500.0)) == "Sample(scale=1500)"
    assert repr(Sample(side="right")) == "Sample(scale=10, side='right')"


def test_the_bare_name_means_the_defaults():
    """Somebody who has no parameter in mind need not write brackets."""
    assert parse_measure("Sample") == Sample()


def test_a_measure_is_frozen_and_hashable():
    """Measures are dictionary keys and cannot change between scoring and printing."""
    assert len({Sample(scale=2), Sample(scale=2.0), Sample(scale=3)}) == 2
    with pytest.raises(FrozenInstanceError):
        Sample().scale = 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"scale": "ten"}, "scale must be a number, got 'ten'"),
        ({"scale": float("nan")}, "scale must be a number, got nan"),
        ({"scale": True}, "scale must be a number, got True"),
        ({"limit": 2.5}, "limit must be a whole number or None, got 2.5"),
        ({"side": "up"}, "side must be 'left' or 'right', got 'up'"),
        ({"graded": 1}, "graded must be True or False, got 1"),
    ],
)
def test_a_value_that_does_not_fit_is_refused(arguments, message):
    """A wrong parameter must fail where it is written, not as a strange score."""
    with pytest.raises(ValueError, match=message):
        Sample(**arguments)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Sampel(scale=1)", "no measure 'Sampel'; did you mean Sample?"),
        ("Sample(scael=1)", "no parameter 'scael'; did you mean scale?"),
        ("Sample(scale='x')", "scale must be a number"),
        ("Sample(1)", "is not a measure; write it like"),
        ("Sample(scale=1+len('x'))", "is not a measure"),
        ("Sample(**{})", "no parameter 'None'"),
        ("__import__('os')", "is not a measure"),
        ("Sample(", "is not a measure"),
        ("", "is not a measure"),
    ],
)
def test_a_text_that_is_no_measure_is_a_fault_with_a_cure(text, message):
    """The command line hands such texts over as they were typed."""
    with pytest.raises(InputError) as caught:
        parse_measure(text)
    assert message in str(caught.value)


@given(st.text(max_size=60))
def test_any_text_is_a_measure_or_a_clean_fault(text):
    """Nothing typed may raise anything else, or be run."""
    with suppress(InputError):
        assert isinstance(parse_measure(text), Measure)


def test_a_class_name_stands_for_one_measure_only():
    """Two measures of one name could not be told apart when read back."""
    with pytest.raises(ValueError, match="exists already"):
        measure(type("Sample", (Measure,), {"__module__": "elsewhere"}))


def test_declared_measures_are_listed_with_what_a_reader_needs():
    """`prefcal measures` and the docs are made from these attributes."""
    for name, cls in all_measures().items():
        assert cls.__name__ == name
        assert all([cls.name, cls.family, cls.source, cls.definition.endswith(".")])
        assert cls() == parse_measure(name)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (840.0, "840"),
        (0.1, "0.1"),
        (float("inf"), "inf"),
        (-2.5, "-2.5"),
        (10**20, "1" + "0" * 20),
        (1e20, "1e+20"),
    ],
)
def test_numbers_in_names_are_as_short_as_they_go(number, text):
    """`M@840`, not `M@840.0`: scripts look for these names."""
    assert short_number(number) == text
