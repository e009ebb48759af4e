r"""Files of the report's tables: CSV for machines, LaTeX for ``\input``.

Both hold the rounded values of the page. The files of `prefcal agree` have full precision.
"""

import re

import pandas as pd

from study_app.report.page import DASH, MINUS, NARROW, NO_INTERVAL, UNTOLD, ReportTable

LONG_CHARS, WORD_CHARS = 24, 16
"""Lengths above which a LaTeX column becomes a paragraph, or must not.

Columns with longer cells are paragraphs, unless one of their words would leave its line.
"""
PERCENT = f"{NARROW}%"
_SIGNS = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "`": r"\textasciigrave{}",
    "[": "{[}",
    "*": "{*}",
    "\0": "{}",
    "\n": " ",
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
}
_ESCAPES = str.maketrans(_SIGNS | {sign: f"\\{sign}" for sign in "{}&%$#_"})
OTHER_SCRIPT = "% some signs are not Latin: take LuaLaTeX or XeLaTeX, and a font that has them"
_UNKNOWN = re.compile("[^\0-\u017f–—‘’‚“”„†‡•…‰‹›€™]")
_NUMBER = re.compile(r"[+-]?[\d.]+")


def escaped(text: str) -> str:
    """Escape everything in a text that LaTeX would read as a command.

    Characters that it would join are escaped too.
    """
    return re.sub(r"-(?=-)", "-\0", text.replace("\0", "")).translate(_ESCAPES)


def latex_text(table: ReportTable) -> str:
    r"""Return a table for ``\input``, with its note below.

    A table too large for the page is scaled down as a whole.
    """
    cells = {column: [row[column] for row in table.rows] for column in table.words}
    long = {
        column
        for column, words in cells.items()
        if max(map(len, words), default=0) > LONG_CHARS
        and max(map(len, " ".join(words).split()), default=0) <= WORD_CHARS
    }
    width = rf">{{\raggedright\arraybackslash}}p{{{0.6 / max(2, len(long)):.2f}\linewidth}}"
    shape = "".join(
        width if column in long else "l" if column in table.words else "r"
        for column in range(len(table.columns))
    )
    head, *rows = (" & ".join(map(escaped, row)) + r" \\" for row in (table.columns, *table.rows))
    note = ["", rf"  \medskip\footnotesize {escaped(table.note)}"] if table.note else []
    lines = [
        r"% needs \usepackage{adjustbox,array,booktabs}",
        r"\begin{table}",
        r"  \centering",
        rf"  \caption{{{escaped(table.caption)}}}",
        rf"  \label{{tab:{table.name}}}",
        r"  \begin{adjustbox}{max width=\linewidth, max totalheight=.8\textheight}",
        rf"  \begin{{tabular}}{{{shape}}}",
        r"    \toprule",
        f"    {head}",
        r"    \midrule",
        *(f"    {row}" for row in rows),
        r"    \bottomrule",
        r"  \end{tabular}",
        r"  \end{adjustbox}",
        *note,
        r"\end{table}",
        "",
    ]
    text = "\n".join(lines)
    return f"{OTHER_SCRIPT}\n{text}" if _UNKNOWN.search(text) else text


def csv_text(table: ReportTable) -> str:
    """Return a table as CSV with plain numbers.

    It has no thousands separators or percent signs; a dash or missing interval is an empty cell.

    A column of percentages says so in its header.
    """
    cells = pd.DataFrame(table.rows, columns=range(len(table.columns)), dtype=object)
    cells = cells.replace(dict.fromkeys((DASH, NO_INTERVAL, UNTOLD)))
    is_share = [bool(len(known := cells[n].dropna())) and known.str.endswith(PERCENT).all() for n in cells]
    heads = [f"{head} (%)" if share else head for head, share in zip(table.columns, is_share, strict=True)]
    for number, share in enumerate(is_share):
        if share:
            cells[number] = cells[number].str.removesuffix(PERCENT)
    text: str = cells.map(_plain, na_action="ignore").to_csv(
        index=False, header=[_plain(head) for head in heads], lineterminator="\n"
    )
    return text


def _plain(cell: str) -> str:
    bare = cell.replace(NARROW, "").replace(MINUS, "-")
    return bare if _NUMBER.fullmatch(bare) else cell.replace(NARROW, " ").replace(MINUS, "-")
