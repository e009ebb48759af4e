"""What `prefcal measures` lists."""

import csv
import io

import pytest

from metrics.registry import all_measures, parse_measure
from tests.study_app.prefcal_command import run_here


@pytest.fixture
def measures(monkeypatch, capsys):
    def run(*options):
        ended = run_here(monkeypatch, capsys, "measures", *options)
        assert (ended.code, ended.err) == (0, "")
        return ended.out

    return run


def test_every_measure_is_listed_in_the_syntax_that_can_be_read_back(measures):
    """Name and parameters together are a measure."""
    rows = list(csv.DictReader(io.StringIO(measures("--format", "csv"))))
    assert [row["measure"] for row in rows] == list(all_measures())
    for row in rows:
        measure = parse_measure(f"{row['measure']}({row['parameters']})")
        assert measure == all_measures()[row["measure"]]()
        assert measure.column == row["column"]


def test_people_see_parameters_definition_and_source_under_each_family(measures):
    """Enough to choose a measure without opening the documentation."""
    text = measures()
    assert "prefcal score summaries\n" in text
    assert "  M@1500  MMeasure(patience=1500, truncate=None, layers='both', intents='given')\n" in text
    assert "Kato et al., EVIA 2016, eq. 2" in text


def test_people_see_descriptions_under_each_other_however_long_a_column_is(measures):
    """The margin is that of the longest column of the family."""
    lines = measures().partition("prefcal score ranked\n")[2].splitlines()
    begin = [line.index("TIANDCG(") for line in lines if "TIANDCG(" in line]
    assert begin == [line.index("SBR(") for line in lines if line.startswith("  SBR@10")]
    assert all(line.startswith(" " * begin[0]) for line in lines if "Singh" in line)
