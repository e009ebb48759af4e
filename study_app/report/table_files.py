"""Tables of the report as CSV, for machines; `study_app.report.latex_tables` writes them for papers.

Both hold what the page shows, rounded as it is there. Full precision stands in the files of `prefcal agree`.
"""

import csv
import io
import re

from study_app.report.page import Table
from study_app.report.wording import DASH, MINUS, NARROW, NO_INTERVAL

PERCENT = f"{NARROW}%"
_NUMBER = re.compile(r"[+-]?[\d.]+")


def csv_text(table: Table) -> str:
    """Return a table as CSV with plain numbers: no thousands marks, no per cent signs, nothing for a dash or a missing interval.

    A column of percentages says so in its header.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    columns = list(zip(*table.rows, strict=True)) if table.rows else [()] * len(table.columns)
    shares = [_is_share(cells) for cells in columns]
    heads = zip(table.columns, shares, strict=True)
    writer.writerow([_plain(f"{name} (%)" if is_share else name) for name, is_share in heads])
    for row in table.rows:
        writer.writerow(
            [
                _plain(cell.removesuffix(PERCENT) if is_share else cell)
                for cell, is_share in zip(row, shares, strict=True)
            ]
        )
    return text.getvalue()


def _is_share(cells: tuple[str, ...]) -> bool:
    known = [cell for cell in cells if cell not in {DASH, NO_INTERVAL}]
    return bool(known) and all(cell.endswith(PERCENT) for cell in known)


def _plain(cell: str) -> str:
    if cell in {DASH, NO_INTERVAL}:
        return ""
    bare = cell.replace(NARROW, "").replace(MINUS, "-")
    return bare if _NUMBER.fullmatch(bare) else cell.replace(NARROW, " ").replace(MINUS, "-")
