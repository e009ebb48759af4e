"""docs/evidence.md shows every table of docs/evidence, and the tool that keeps rows keeps them."""

import csv
import re
from pathlib import Path

import pytest

from benchmarks.keep_rows import keep_rows, printed_rows

DOCS = Path(__file__).resolve().parents[1] / "docs"
TABLES = sorted((DOCS / "evidence").iterdir())
PRINTED = """
60 studies a line
| regime | covers |
|---|---|
| right, P(i\\|q) | 0.95 |
| a new one | 0.91 |
"""


def read_table(path):
    """Return the header and the rows of a CSV."""
    with path.open(encoding="utf-8", newline="") as stream:
        header, *rows = list(csv.reader(stream))
    return header, rows


def test_every_table_is_shown_once_and_every_table_shown_is_there():
    """Rows that nobody sees are no evidence."""
    shown = re.findall(r"^:file: evidence/(.*)$", (DOCS / "evidence.md").read_text("utf-8"), re.MULTILINE)
    assert sorted(shown) == [path.name for path in TABLES]


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_every_row_has_a_name_and_a_cell_for_each_column(path):
    """A cut or shifted row would show a number under another heading."""
    header, rows = read_table(path)
    assert all(header)
    assert rows
    assert [row for row in rows if len(row) != len(header) or not row[0]] == []


def test_printed_rows_replace_those_of_the_same_name_and_others_come_at_the_end(tmp_path):
    """Programs print Markdown."""
    path = tmp_path / "table.csv"
    path.write_text('people,held\n"right, P(i|q)",0.90\nwrong,0.10\n', encoding="utf-8")
    keep_rows(path, printed_rows(PRINTED))

    assert read_table(path) == (
        ["people", "held"],
        [["right, P(i|q)", "0.95"], ["wrong", "0.10"], ["a new one", "0.91"]],
    )


def test_rows_of_another_table_are_refused_and_nothing_is_written(tmp_path):
    """Three cells do not fit two columns."""
    path = tmp_path / "table.csv"
    path.write_text("people,held\nwrong,0.10\n", encoding="utf-8")
    with pytest.raises(SystemExit, match="has 2 columns"):
        keep_rows(path, [["wrong", "0.2", "0.3"]])

    assert read_table(path)[1] == [["wrong", "0.10"]]


def test_two_cells_name_a_row_where_one_does_not(tmp_path):
    """Several measures of the same data."""
    path = tmp_path / "table.csv"
    path.write_text("data,measure,truth\nfew,kappa,0.1\nfew,alpha,0.2\n", encoding="utf-8")
    keep_rows(path, [["few", "alpha", "0.3"]])

    assert read_table(path)[1] == [["few", "kappa", "0.1"], ["few", "alpha", "0.3"]]
