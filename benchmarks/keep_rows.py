"""Copy of a printed table's rows into a CSV of docs/evidence.

    python -m benchmarks.coverage_push | python benchmarks/keep_rows.py docs/evidence/push.csv

A row takes the place of the row of the same name; the name is as many first cells as tell the CSV's rows apart. Other rows come at the end.
The header of the CSV stays.
"""

import argparse
import csv
import re
import sys
from pathlib import Path

CELLS = re.compile(r"(?<!\\)\|")


def printed_rows(text: str) -> list[list[str]]:
    """Return the rows below the header of each Markdown table, as cells without escapes."""
    lines = [line.strip() for line in text.splitlines()]
    tables = [line if line.startswith("|") else "" for line in lines]
    rows = []
    for number, line in enumerate(tables):
        is_header = number + 1 < len(tables) and re.fullmatch(r"\|[-|: ]+\|", tables[number + 1])
        if line and not is_header and not re.fullmatch(r"\|[-|: ]+\|", line):
            rows.append([cell.strip().replace(r"\|", "|") for cell in CELLS.split(line)[1:-1]])
    return rows


def name_width(rows: list[list[str]]) -> int:
    """Return the smallest number of first cells that tells all rows apart."""
    widths = range(1, len(rows[0]) if rows else 1)
    return next((width for width in widths if len({tuple(row[:width]) for row in rows}) == len(rows)), 1)


def keep_rows(path: Path, rows: list[list[str]]) -> None:
    """Replace or append rows of a CSV; rows of another width are refused and nothing is written."""
    with path.open(encoding="utf-8", newline="") as stream:
        header, *kept = list(csv.reader(stream))
    for row in rows:
        if len(row) != len(header):
            sys.exit(
                f"{path.name} has {len(header)} columns, {', '.join(header)}; this row has {len(row)}: {row}"
            )
    width = name_width(kept)
    table = {tuple(row[:width]): row for row in [*kept, *rows]}
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows([header, *table.values()])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("table", type=Path)
    options = parser.parse_args()
    keep_rows(options.table, printed_rows(sys.stdin.read()))
