"""docs/tables.md says of every table and column what the definitions say.

After a change of the definitions, `python tests/calibration/tables/test_tables_doc.py` writes its second half anew.
"""

import re
from pathlib import Path

from calibration.tables.definition import Column, Table
from calibration.tables.tables import TABLES
from calibration.user_model.model import PARAMETERS
from study_app.tasks.kinds import KINDS

PAGE = Path(__file__).resolve().parents[3] / "docs" / "tables.md"
MARK = "<!-- from here on made from calibration/tables/tables.py -->\n"


def remarks(column: Column) -> str:
    """Say what a column's cells may be."""
    bounds = f"from {column.low:g} to {column.high:g}" if column.high is not None else ""
    return "; ".join(
        filter(
            None,
            [
                column.doc.removesuffix(".").replace("|", r"\|"),
                " / ".join(f"`{choice}`" for choice in column.choices),
                "of kind model also " + " / ".join(f"`{choice}`" for choice in column.judge_choices)
                if column.judge_choices
                else "",
                bounds,
                "may be empty" if column.blank else "",
                "filled in all rows of people or in none" if column.all_or_none else "",
            ],
        )
    )


def section(table: Table) -> str:
    """Return one table's section of the page."""
    lines = [f"### {table.name}", "", table.doc, ""]
    if table.key:
        lines += ["No two rows have the same " + ", ".join(f"`{name}`" for name in table.key) + ".", ""]
    lines += [f"A row is at fault if {rule.problem}." for rule in table.rules]
    lines += [""] * bool(table.rules) + ["| column | kind | what it holds |", "|---|---|---|"]
    for column in table.columns:
        required = "**" if column.required else ""
        lines.append(f"| {required}{column.name}{required} | {column.kind} | {remarks(column)} |")
    return "\n".join(lines) + "\n"


def made() -> str:
    """Return what belongs below the mark."""
    return "\n".join(section(table) for table in TABLES.values())


def test_the_page_describes_every_table_and_column_as_it_is_defined():
    """Researchers with logs of their own write their files by this page."""
    assert PAGE.read_text(encoding="utf-8").partition(MARK)[2] == "\n" + made()


def test_the_page_says_of_every_kind_of_task_what_can_be_fitted():
    """Who plans a study looks here before people are paid; no name is one that fit does not write."""
    text = PAGE.read_text(encoding="utf-8").partition("| kind of task |")[2].partition("\n\n")[0]
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", text, re.MULTILINE))

    assert set(rows) == set(KINDS)
    assert set(re.findall(r"`((?:push|patience)_\w+)`", text)) <= set(PARAMETERS)


if __name__ == "__main__":
    PAGE.write_text(
        PAGE.read_text(encoding="utf-8").partition(MARK)[0] + MARK + "\n" + made(), encoding="utf-8"
    )
