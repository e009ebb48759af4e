r"""Tables of the report as files: as CSV for machines, and as LaTeX for ``\input`` in a paper with booktabs and array.

Both hold what the page shows, rounded as it is there. Full precision stands in the files of `prefcal agree`. A table that
fits a line of LaTeX is set plainly; a wider one is set smaller, its heads in several lines, its columns of words as
paragraphs that share what the numbers leave.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil

from study_app.report.page import DASH, MINUS, NARROW, NO_INTERVAL, UNTOLD, ReportTable

PLAIN_SIGNS = 62
"""Signs that fit into a line of the class article, the narrowest that is common."""
SIZES = {r"\footnotesize": 80, r"\scriptsize": 92}
"""The same of smaller sizes; the last is for what fits none."""
PAGE_LINES = 45
"""Tables of more small lines than that are set as longtable, which may be broken into pages."""
GAP_SIGNS = 1.5
"""What the space between two columns of a small table takes."""
LONG_SIGNS = 12
"""Words longer than that may be broken into lines."""
CODE_SIGNS = 8
"""Codes may be broken after so many signs."""
BREAKABLE = re.compile(r"\\_|[/@]")
"""Where names are joined, after which they may be broken; LaTeX itself knows the hyphen."""
_ESCAPES = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "[": "{[}",
    "*": "{*}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "`": r"\textasciigrave{}",
    "\x00": "{}",
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
_LAST_LATIN = "\u017f"
_KNOWN_PUNCTUATION = "–—‘’‚“”„†‡•…‰‹›€™"
_OTHER_SCRIPT = "% some signs are not Latin: take LuaLaTeX or XeLaTeX, and a font that has them"
PERCENT = f"{NARROW}%"
_NUMBER = re.compile(r"[+-]?[\d.]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Setting:
    """How a wide table is set.

    Attributes
    ----------
    size : str
        A command of `SIZES`.
    shares : dict of int to float
        Column of long words -> its part of the line.
    lines : int
        About how many lines the table takes.
    """

    size: str
    shares: dict[int, float]
    lines: int


def latex_text(table: ReportTable) -> str:
    r"""Return a table for ``\input``, its note below it."""
    setting = _setting(table)
    if setting is None:
        lines = _plain_table(table)
    elif setting.lines <= PAGE_LINES:
        lines = _small_table(table, setting)
    else:
        lines = _long_table(table, setting)
    return with_warning("\n".join([*lines, ""]))


def with_warning(text: str) -> str:
    """Return LaTeX that begins with a remark where it has signs that pdfLaTeX does not know."""
    is_other = any(sign > _LAST_LATIN and sign not in _KNOWN_PUNCTUATION for sign in text)
    return f"{_OTHER_SCRIPT}\n{text}" if is_other else text


def escaped(text: str) -> str:
    """Return a text with everything escaped that LaTeX would read as a command, or as something to be drawn together."""
    apart = re.sub(r"-(?=-)", "-\x00", text.replace("\x00", ""))
    return "".join(_ESCAPES.get(sign, sign) for sign in apart)


def _plain_table(table: ReportTable) -> list[str]:
    heads = _row(escaped(head) for head in table.columns)
    return _float(table, "booktabs", _tabular(table, heads, {}))


def _small_table(table: ReportTable, setting: _Setting) -> list[str]:
    small = rf"  {setting.size}\setlength{{\tabcolsep}}{{3pt}}"
    return _float(table, "array,booktabs", [small, *_tabular(table, _stacked_heads(table), setting.shares)])


def _float(table: ReportTable, packages: str, inside: list[str]) -> list[str]:
    note = ["", rf"  \medskip\footnotesize {escaped(table.note)}"] if table.note else []
    return [
        rf"% needs \usepackage{{{packages}}}",
        r"\begin{table}",
        r"  \centering",
        rf"  \caption{{{escaped(table.caption)}}}",
        rf"  \label{{tab:{table.name}}}",
        *inside,
        *note,
        r"\end{table}",
    ]


def _tabular(table: ReportTable, heads: str, shares: Mapping[int, float]) -> list[str]:
    return [
        rf"  \begin{{tabular}}{{{_shape(table, shares)}}}",
        r"    \toprule",
        f"    {heads}",
        r"    \midrule",
        *_rows(table, shares),
        r"    \bottomrule",
        r"  \end{tabular}",
    ]


def _long_table(table: ReportTable, setting: _Setting) -> list[str]:
    return [
        r"% needs \usepackage{array,booktabs,longtable}, and a page of one column",
        rf"{{{setting.size}\setlength{{\tabcolsep}}{{3pt}}",
        rf"\begin{{longtable}}{{{_shape(table, setting.shares)}}}",
        rf"  \caption{{{escaped(table.caption)}}}\label{{tab:{table.name}}} \\",
        r"    \toprule",
        f"    {_stacked_heads(table)}",
        r"    \midrule",
        r"    \endhead",
        *_rows(table, setting.shares),
        r"    \bottomrule",
        r"\end{longtable}",
        *([rf"\noindent {escaped(table.note)}"] if table.note else []),
        r"\par}",
    ]


def _rows(table: ReportTable, shares: Mapping[int, float]) -> Iterator[str]:
    return (f"    {_row(_cells(row, table.code_columns, shares))}" for row in table.rows)


def _row(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"


def _cells(row: Sequence[str], code: frozenset[int], paragraphs: Mapping[int, float]) -> Iterator[str]:
    """Yield the cells of a row; names in paragraphs may be broken where their parts are joined."""
    for column, cell in enumerate(row):
        if column in code:
            yield _code(cell)
        elif column in paragraphs:
            yield BREAKABLE.sub(r"\g<0>\\allowbreak{}", escaped(cell))
        else:
            yield escaped(cell)


def _code(cell: str) -> str:
    """Return what is for machines, each long word of it with places where a line may end."""
    words = (
        r"\allowbreak{}".join(
            escaped(word[start : start + CODE_SIGNS]) for start in range(0, len(word), CODE_SIGNS)
        )
        for word in cell.split(" ")
    )
    return rf"\texttt{{{' '.join(words)}}}"


def _widths(table: ReportTable) -> list[int]:
    """Return the signs of the longest cell of every column, without its head."""
    return [max((len(row[column]) for row in table.rows), default=0) for column in range(len(table.columns))]


def _setting(table: ReportTable) -> _Setting | None:
    """Return how a table is set that is too wide for a line; None for one that is not."""
    widths = _widths(table)
    heads = [len(head) for head in table.columns]
    if sum(map(max, widths, heads)) + 2 * len(widths) <= PLAIN_SIGNS:
        return None
    long = sorted(column for column in table.text_columns if widths[column] > LONG_SIGNS)
    fixed = GAP_SIGNS * len(widths) + sum(
        max(width, *map(len, table.columns[column].split()))
        for column, width in enumerate(widths)
        if column not in long
    )
    least = {column: _longest_word(table, column) + 1 for column in long}
    needed = fixed + sum(least.values())
    size = next((size for size, signs in SIZES.items() if signs >= needed), list(SIZES)[-1])
    wish = {column: max(0, min(widths[column], SIZES[size]) - least[column]) for column in long}
    part = min(1.0, max(0.0, SIZES[size] - needed) / max(1, sum(wish.values())))
    given = {column: least[column] + part * wish[column] for column in long}
    lines = sum(max([1, *(ceil(len(row[column]) / given[column]) for column in long)]) for row in table.rows)
    return _Setting(
        size=size, shares={column: signs / SIZES[size] for column, signs in given.items()}, lines=lines
    )


def _shape(table: ReportTable, shares: Mapping[int, float]) -> str:
    return "".join(
        rf">{{\raggedright\arraybackslash}}p{{{shares[column]:.2f}\linewidth}}"
        if column in shares
        else ("l" if column in table.text_columns else "r")
        for column in range(len(table.columns))
    )


def _longest_word(table: ReportTable, column: int) -> int:
    """Return the signs of the longest part of a column's cells and head that no line is broken in."""
    if column in table.code_columns:
        return CODE_SIGNS
    cells = [table.columns[column], *(row[column] for row in table.rows)]
    return max(len(word) for cell in cells for word in re.split(r"[ \n_/@-]", cell))


def _stacked_heads(table: ReportTable) -> str:
    """Return the heads of a wide table, each no wider than its column where blanks allow it."""
    widths, heads = _widths(table), []
    for column, head in enumerate(table.columns):
        lines = _broken(head, widths[column])
        side = "l" if column in table.text_columns else "r"
        stack = r"\\".join(map(escaped, lines))
        heads.append(rf"\shortstack[{side}]{{{stack}}}" if len(lines) > 1 else escaped(head))
    return _row(heads)


def _broken(head: str, width: int) -> list[str]:
    """Break a head at blanks into lines of at most so many signs, or of one word."""
    lines: list[str] = []
    for word in head.split(" "):
        if lines and len(lines[-1]) + 1 + len(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def csv_text(table: ReportTable) -> str:
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
    known = [cell for cell in cells if cell not in {DASH, NO_INTERVAL, UNTOLD}]
    return bool(known) and all(cell.endswith(PERCENT) for cell in known)


def _plain(cell: str) -> str:
    if cell in {DASH, NO_INTERVAL, UNTOLD}:
        return ""
    bare = cell.replace(NARROW, "").replace(MINUS, "-")
    return bare if _NUMBER.fullmatch(bare) else cell.replace(NARROW, " ").replace(MINUS, "-")
