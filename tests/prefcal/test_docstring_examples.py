"""Every public name says what it takes, returns and raises, where it is from, and shows itself in an example that runs."""

import doctest
import inspect
import re
import tempfile
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest

import prefcal
from metrics.registry import Measure

ROOT = Path(__file__).resolve().parents[2]
DATACLASSES = [name for name in prefcal.__all__ if is_dataclass(getattr(prefcal, name))]
FUNCTIONS = [name for name in prefcal.__all__ if inspect.isfunction(getattr(prefcal, name))]


@pytest.fixture
def in_the_folder_of_prefcal(tmp_path, monkeypatch):
    """Where the bundled studies stand; what an example writes goes to a folder of the test's own."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


@pytest.mark.usefixtures("in_the_folder_of_prefcal")
@pytest.mark.parametrize("name", prefcal.__all__)
def test_an_example_prints_what_it_says(name):
    """As help(prefcal.NAME) and the site show it; nothing but the name itself is imported beforehand."""
    value = getattr(prefcal, name)
    tests = doctest.DocTestFinder(recurse=False).find(value, name, globs={name: value})

    assert [bool(test.examples) for test in tests] == [True], f"{name} has no example"
    assert doctest.DocTestRunner().run(tests[0]).failed == 0


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_says_what_it_takes_and_returns(name):
    """In sections as numpydoc has them."""
    function = getattr(prefcal, name)
    signature = inspect.signature(function)
    sections = set(inspect.getdoc(function).splitlines())

    assert not signature.parameters or "Parameters" in sections
    assert signature.return_annotation in {None, "None"} or "Returns" in sections


@pytest.mark.parametrize("name", DATACLASSES)
def test_a_class_says_what_each_of_its_values_is(name):
    """In its own docstring, or in that of a class above it, which the site adds."""
    value = getattr(prefcal, name)
    text = "\n".join(inspect.cleandoc(each.__doc__ or "") for each in value.__mro__)
    said = {word for names in re.findall(r"^([\w, ]+) : ", text, re.MULTILINE) for word in names.split(", ")}

    assert {field.name for field in fields(value)} <= said


@pytest.mark.parametrize("name", prefcal.all_measures())
def test_a_measure_says_where_it_is_from(name):
    """Paper and equation, or the program; the site prints it below the measure."""
    measure = prefcal.all_measures()[name]

    assert issubclass(measure, Measure)
    assert measure.source
    assert measure.definition
