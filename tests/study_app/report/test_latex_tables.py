"""Tables as LaTeX: whatever systems and topics are called, and however wide a table is, the paper compiles."""

import re

import pytest

from study_app.report.page import ReportTable
from study_app.report.table_files import PLAIN_SIGNS, SIZES, escaped, latex_text


def table(columns, *rows, **more):
    return ReportTable(name="t", caption="What", columns=columns, rows=rows, **more)


@pytest.mark.parametrize(
    ("name", "latex"),
    [
        ("bm_25", r"bm\_25"),
        ("50%&#$", r"50\%\&\#\$"),
        ("a~b^c\\d", r"a\textasciitilde{}b\textasciicircum{}c\textbackslash{}d"),
        ("[2012] x", "{[}2012] x"),
        ("*best*", "{*}best{*}"),
        ("a|b`c", r"a\textbar{}b\textasciigrave{}c"),
        ("run--1---x", "run-{}-1-{}-{}-x"),
        ("été", "été"),
    ],
)
def test_a_name_stands_in_the_paper_as_it_is(name, latex):
    """Nothing of it is a command, an argument of the row before, or drawn together into another sign."""
    assert escaped(name) == latex


def test_a_table_that_fits_a_line_is_plain():
    """No package but booktabs, at the size of the text."""
    text = latex_text(table(("System", "M"), ("bm25", "0.5")))

    assert text.startswith("% needs \\usepackage{booktabs}\n\\begin{table}")
    assert r"\begin{tabular}{lr}" in text
    assert "size" not in text


def test_a_wide_table_shares_its_line():
    """Words become paragraphs, heads are stacked, and all of it fits into one line."""
    words = "a long tale about a pair " * 3
    text = latex_text(
        table(("System", "Score of A", "Said"), (words, "1", words), text_columns=frozenset({0, 2}))
    )
    shares = [float(share) for share in re.findall(r"p\{([\d.]+)\\linewidth\}", text)]

    assert len(words) > PLAIN_SIGNS
    assert len(shares) == 2
    assert 0.8 < sum(shares) < 1
    assert r"\footnotesize" in text
    assert r"\shortstack[r]{Score\\of\\A}" in text


def test_long_names_and_codes_may_be_broken():
    """They would run into the next column."""
    name, code = "patience_chars_preferences_and_more_of_it", "0123456789abcdef" * 2
    text = latex_text(
        table(("Name", "Code"), (name, code), text_columns=frozenset({0, 1}), code_columns=frozenset({1}))
    )

    assert r"patience\_\allowbreak{}chars\_\allowbreak{}preferences" in text
    assert r"\texttt{01234567\allowbreak{}89abcdef\allowbreak{}01234567\allowbreak{}89abcdef}" in text


def test_more_than_fits_is_set_at_the_smallest_size():
    """Thirteen columns of numbers have no words to break."""
    columns = tuple(f"Column{number}" for number in range(13))

    assert list(SIZES)[-1] in latex_text(table(columns, ("1",) * 13))


def test_what_is_longer_than_a_page_can_be_broken_into_pages():
    """A float of that length would end at the foot of the page."""
    rows = [("words of some length " * 4, str(number)) for number in range(60)]
    text = latex_text(table(("Words", "Number"), *rows, note="Read."))

    assert r"\begin{longtable}" in text
    assert r"\begin{table}" not in text
    assert r"\caption{What}\label{tab:t} \\" in text
    assert text.index(r"\endhead") < text.index("words of")
    assert text.rstrip().endswith("\\noindent Read.\n\\par}")


def test_signs_that_pdflatex_does_not_know_are_pointed_out():
    """It stops at them; the two other compilers need a font."""
    assert "LuaLaTeX" in latex_text(table(("System",), ("日本語",))).splitlines()[0]
    assert "LuaLaTeX" not in latex_text(table(("System",), ("été “x” – α",)))
