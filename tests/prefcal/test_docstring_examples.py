"""The examples in the docstrings of public names are typed in and print what they say."""

import doctest

import pytest

import prefcal

NAMES = [name for name in prefcal.__all__ if ">>>" in (getattr(prefcal, name).__doc__ or "")]


@pytest.mark.parametrize("name", NAMES)
def test_an_example_prints_what_it_says(name):
    """As help(prefcal.NAME) and the site show it."""
    value = getattr(prefcal, name)
    [test] = doctest.DocTestFinder(recurse=False).find(value, name, globs={name: value})

    assert doctest.DocTestRunner().run(test).failed == 0
    assert len(NAMES) >= 14
