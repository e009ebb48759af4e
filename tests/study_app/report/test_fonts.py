"""Names in scripts that the usual font lacks: their signs come from another font, or it is told that none has them."""

from functools import partial
from pathlib import Path

import matplotlib as mpl
import pytest
from fontTools.ttLib import TTCollection, TTFont
from fontTools.ttLib.tables.DefaultTable import DefaultTable

from study_app.report.drawing import canvas
from study_app.report.drawing.canvas import (
    has_truetype_outlines,
    missing_signs_message,
    new_drawing,
    render_drawing,
)
from study_app.report.drawing.style import ReportStyle

OTHER = Path(mpl.get_data_path()) / "fonts" / "ttf" / "STIXNonUni.ttf"
"""Comes with matplotlib and has signs, for private use, that its usual font lacks."""
SIGN = "\ue00a"


def named(look, *, name):
    drawing, axes = new_drawing(2.0, 1.0)
    axes.set_xlabel(name)
    return drawing


def drawn_with(monkeypatch, font, *, name=f"system {SIGN}"):
    monkeypatch.setattr(canvas, "_other_font", lambda: font)
    return render_drawing(partial(named, name=name), ReportStyle(), name="n", title="t")


def test_a_sign_comes_from_another_font_where_there_is_one(monkeypatch):
    """As TrueType too, so that publishers take it."""
    made = drawn_with(monkeypatch, OTHER)

    assert made.missing == ""
    assert b"STIXNonUni" in made.pdf
    assert b"/Type3" not in made.pdf
    assert SIGN in made.svg


def test_a_font_without_truetype_outlines_is_drawn_sign_by_sign(monkeypatch):
    """As TrueType it would be damaged: most fonts for Japanese are of that kind."""
    monkeypatch.setattr(canvas, "has_truetype_outlines", lambda path: False)
    made = drawn_with(monkeypatch, OTHER)

    assert made.missing == ""
    assert b"/Type3" in made.pdf


def test_without_a_font_the_missing_signs_are_told_and_the_drawing_is_made(monkeypatch):
    """No warning of matplotlib, which would name glyphs by numbers; other signs are drawn."""
    made = drawn_with(monkeypatch, None, name="日本 and 日")

    assert made.missing == "日本"
    assert made.pdf.startswith(b"%PDF-")


def test_another_font_is_looked_for_only_where_signs_are_missing(monkeypatch):
    """Files of a study with Latin names are the same on every machine."""
    monkeypatch.setattr(canvas, "_other_font", lambda: pytest.fail("looked for"))

    assert render_drawing(partial(named, name="été α"), ReportStyle(), name="n", title="t").missing == ""


def test_what_no_font_has_is_said_in_one_sentence(monkeypatch):
    """Each sign once, of all figures; nothing where all are drawn."""
    made = [drawn_with(monkeypatch, None, name=name) for name in ("日本", "本 x", "x")]

    assert missing_signs_message(made).startswith("no font of this machine has 日本: the PDF files")
    assert missing_signs_message(made[2:]) is None


def test_only_truetype_outlines_can_be_embedded_as_truetype(tmp_path):
    """A font of another kind would leave holes in the PDF of a Japanese name; of a collection the first counts."""
    for name, outlines in (("plain.ttf", "glyf"), ("drawn.otf", "CFF ")):
        font = TTFont()
        font[outlines] = DefaultTable(outlines)
        font[outlines].data = b""
        font.save(tmp_path / name)
        collection = TTCollection()
        collection.fonts = [font, TTFont()]
        collection.save(tmp_path / f"{name}.ttc")
        for path in (tmp_path / name, tmp_path / f"{name}.ttc"):
            assert has_truetype_outlines(path) == (outlines == "glyf"), path.name


def test_a_file_names_the_fonts_of_its_style_alone():
    """Its signs come from DejaVu Sans, cut to what it shows; any machine can draw the SVG, also with a font of its own."""
    made = render_drawing(partial(named, name="été α ≤ 1"), ReportStyle(), name="n", title="t")

    assert b"+DejaVuSans" in made.pdf
    assert len(made.pdf) < 50_000
    assert "font-family: 'DejaVu Sans', sans-serif" in made.svg
