"""Tables as LaTeX: whatever systems and topics are called, and however wide a table is, the paper compiles."""

import re

import pytest

from study_app.report.page import ReportTable
from study_app.report.table_files import LONG_CHARS, escaped, latex_text


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


def test_names_and_numbers_have_columns_of_their_own_width():
    """Names to the left, numbers to the right, whatever their unit."""
    text = latex_text(table(("System", "M", "Against", "Interval"), ("bm25", "−0.5", "ql", "0.1 to 0.2")))

    assert text.startswith("% needs \\usepackage{adjustbox,array,booktabs}\n\\begin{table}")
    assert r"\begin{tabular}{lrlr}" in text


def test_a_table_is_made_to_fit_the_page_and_long_words_are_broken_into_lines():
    """Words become paragraphs that share the line; what is larger than the page even so is made smaller."""
    words = "a long tale about a pair " * 3
    text = latex_text(table(("System", "Score of A", "Said"), (words, "1", words)))
    shares = [float(share) for share in re.findall(r"p\{([\d.]+)\\linewidth\}", text)]

    assert len(words) > LONG_CHARS
    assert len(shares) == 2
    assert sum(shares) < 1
    assert r"\begin{adjustbox}{max width=\linewidth, max totalheight=.8\textheight}" in text


def test_a_long_name_that_cannot_be_broken_has_a_column_as_wide_as_it_is():
    """In a paragraph it would run into the next column."""
    text = latex_text(table(("Name", "M"), ("patience_chars_preferences_and_more_of_it", "1")))

    assert r"\begin{tabular}{lr}" in text
