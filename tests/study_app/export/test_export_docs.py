"""docs/export.md names everything that an export derives."""

from pathlib import Path

import pytest

from calibration.tables.tables import TABLES
from study_app.export.raw_tables import RAW_TABLES

DOCS = (Path(__file__).resolve().parents[3] / "docs" / "export.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("table", RAW_TABLES)
def test_every_raw_column_is_documented_in_its_order(table):
    """Nobody should have to open a file to learn what it holds."""
    (row,) = (line for line in DOCS.splitlines() if line.startswith(f"| {table} |"))

    places = [row.find(f"`{column}`") for column in RAW_TABLES[table].column_names]

    assert -1 not in places
    assert places == sorted(places)


@pytest.mark.parametrize("table", ["reads", "stops"])
def test_every_figure_from_logs_says_how_it_is_made(table):
    """What is measured needs a definition; what merely names the row does not."""
    names_the_row = {
        "worker",
        "topic",
        "system",
        "page",
        "visit",
        "judgment",
        "side",
        "stream_at",
        "language",
    }

    for column in set(TABLES[table].column_names) - names_the_row:
        assert f"| `{column}`" in DOCS or f", `{column}` |" in DOCS, column


@pytest.mark.parametrize("table", ["follows", "visits"])
def test_every_figure_of_a_visit_says_how_it_is_made(table):
    """A visit is a matter of definition; here is ours."""
    section = DOCS.partition("### Visits")[2].partition("###")[0]

    for column in set(TABLES[table].column_names) - {"worker", "topic", "system", "stream_at"}:
        assert f"| {table}.`{column}`" in section or f", `{column}` |" in section, column


@pytest.mark.parametrize("table", TABLES)
def test_every_table_that_an_export_writes_is_described(table):
    """By name, where it is said how its rows are made."""
    assert f"`{table}`" in DOCS or f"| {table}" in DOCS
