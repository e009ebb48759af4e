"""Runs are called like their files."""

import pytest

from metrics.errors import InputError
from metrics.readers.lines import named_runs, run_name, system_name


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("runs/run1.xml", "run1"),
        ("run.v2.txt", "run.v2"),
        ("run.tsv", "run"),
        ("run.csv", "run.csv"),
        ("LM.run", "LM.run"),
        ("run.xml.gz", "run"),
        ("run", "run"),
        (".xml", ".xml"),
    ],
)
def test_a_run_is_its_file_name_without_folder_and_ending(path, name):
    """What stands in the column run of every score table."""
    assert run_name(path) == name


@pytest.mark.parametrize(("run", "system"), [("LM.run", "LM"), ("LM", "LM"), (".run", ".run")])
def test_a_study_calls_a_system_like_its_run_without_a_last_run(run, system):
    """Scores keep it, because scripts depend on their names; workers' tables need not."""
    assert system_name(run) == system


def test_two_files_of_one_name_are_a_fault():
    """Their scores could not be told apart."""
    with pytest.raises(InputError, match=r"b/run\.txt:1: a/run\.xml is called 'run' too; rename"):
        named_runs(["a/run.xml", "b/run.txt"])
    assert list(named_runs(["a/run2.xml", "a/run1.xml"])) == ["run2", "run1"]
