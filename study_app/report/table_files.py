"""Tables of the report as files: CSV for machines, LaTeX for papers.

Both hold what the page shows, rounded as it is there. Full precision stands in the files of `prefcal agree`.
"""

import csv
import io
import re

from study_app.report.page import Table
from study_app.report.wording import DASH, MINUS, NARROW

PERCENT = f"{NARROW}%"
_NUMBER = re.compile(r"[+-]?[\d.]+")
_ESCAPES = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    DASH: "--",
    MINUS: "$-$",
    NARROW: r"\,",
    "’": "'",
    "∞": r"$\infty$",
    "±": r"$\pm$",
    "×": r"$\times$",
    "τ": r"$\tau$",
    "α": r"$\alpha$",
    "κ": r"$\kappa$",
    "…": r"\dots{}",
    "\n": " ",
}


def csv_text(table: Table) -> str:
    """Return a table as CSV with plain numbers: no thousands marks, no per cent signs, nothing for a dash.

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


def latex_text(table: Table) -> str:
    r"""Return a table for ``\input`` in a paper that uses booktabs, its note below it."""
    shape = "".join("l" if column in table.text_columns else "r" for column in range(len(table.columns)))
    lines = [
        "% needs \\usepackage{booktabs}",
        r"\begin{table}",
        r"  \centering",
        rf"  \caption{{{escaped(table.caption)}}}",
        rf"  \label{{tab:{table.name}}}",
        rf"  \begin{{tabular}}{{{shape}}}",
        r"    \toprule",
        f"    {_row(table.columns, frozenset())}",
        r"    \midrule",
        *(f"    {_row(row, table.code_columns)}" for row in table.rows),
        r"    \bottomrule",
        r"  \end{tabular}",
    ]
    if table.note:
        lines += ["", rf"  \medskip\footnotesize {escaped(table.note)}"]
    return "\n".join([*lines, r"\end{table}", ""])


def escaped(text: str) -> str:
    """Return a text with everything escaped that LaTeX would read as a command."""
    return "".join(_ESCAPES.get(sign, sign) for sign in text)


def _row(cells: tuple[str, ...], code: frozenset[int]) -> str:
    shown = (
        rf"\texttt{{{escaped(cell)}}}" if column in code else escaped(cell)
        for column, cell in enumerate(cells)
    )
    return " & ".join(shown) + r" \\"


def _is_share(cells: tuple[str, ...]) -> bool:
    known = [cell for cell in cells if cell != DASH]
    return bool(known) and all(cell.endswith(PERCENT) for cell in known)


def _plain(cell: str) -> str:
    if cell == DASH:
        return ""
    bare = cell.replace(NARROW, "").replace(MINUS, "-")
    return bare if _NUMBER.fullmatch(bare) else cell.replace(NARROW, " ").replace(MINUS, "-")
