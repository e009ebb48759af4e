"""The style file: what it may say, and what is said about its faults."""

import re
from pathlib import Path

import pytest

from metrics.errors import InputError
from study_app.report.drawing.style import DARK, KEYS, LIGHT, ReportStyle, distinct_colours, read_look
from tests.study_app.prefcal_command import run_here

ROOT = Path(__file__).parents[3]
FAULTY = """\
colours:
  agre: "#000000"
  ink: red
dark: 3
fonts: x
font: DejaVu Sanss
font_points: 100
page_font: "a; } body { display: none"
matplotlib:
  axes.gird: true
  axes.grid: maybe
  svg.fonttype: path
"""


def faults_of(tmp_path, text):
    path = tmp_path / "style.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_look(path)
    return [(fault.line, fault.problem, fault.cure) for fault in caught.value.faults]


def test_an_empty_file_changes_nothing(tmp_path):
    """Every key may be left out."""
    path = tmp_path / "style.yaml"
    path.write_text("")

    assert read_look(path) == ReportStyle(light=distinct_colours(LIGHT), dark=DARK)


def test_all_faults_are_told_at_once_with_line_and_cure(tmp_path):
    """Roles, colours, fonts, sizes, settings, unknown keys."""
    found = faults_of(tmp_path, FAULTY)

    assert [(line, problem.split(" (")[0]) for line, problem, _ in found] == [
        (2, "agre is not known"),
        (3, "ink is no colour"),
        (4, "dark is no group of keys"),
        (5, "fonts is not known"),
        (6, "font is no font of this machine"),
        (7, "font_points is no size of a font"),
        (8, "page_font is no list of fonts"),
        (10, "axes.gird is not known"),
        (11, "axes.grid cannot be 'maybe'"),
        (12, "svg.fonttype is set by the report"),
    ]
    cures = [cure for _, _, cure in found]
    assert cures[0] == "did you mean 'agree'?"
    assert cures[4] == "did you mean 'DejaVu Sans'?"
    assert cures[7] == "did you mean 'axes.grid'?"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("- a\n- b\n", "the file is no group of keys"),
        ("font: [\n", "not YAML"),
        ("font_points: 9\nfont_points: 8\n", "duplicate font_points"),
        ("matplotlib:\n  lines.linewidth: [1, 2]\n", "lines.linewidth cannot be [1, 2]"),
    ],
)
def test_a_file_of_another_form_is_a_fault(tmp_path, text, problem):
    """One sentence, no traceback."""
    assert problem in faults_of(tmp_path, text)[0][1]


def test_a_missing_file_is_a_fault_of_the_command(tmp_path, monkeypatch, capsys):
    """Exit 1, one line, nothing on stdout."""
    ended = run_here(monkeypatch, capsys, "report", tmp_path, "--style", tmp_path / "none.yaml")

    assert (ended.code, ended.out) == (1, "")
    assert "none.yaml" in ended.err


def test_colours_of_two_roles_stay_apart():
    """On the page each colour of a drawing is found again by its value, so no two may be equal, and none is black."""
    same = distinct_colours({"ink": "#000000", "agree": "#000000", "paper": "#ffffff", "raised": "#ffffff"})

    assert len(set(same.values())) == 4
    assert "#000000" not in same.values()
    assert same["ink"] == "#000001"
    assert same["raised"] == "#fffffe"


def test_the_documentation_lists_every_key_and_every_role():
    """And nothing that is not there: its example is a valid file."""
    text = (ROOT / "docs" / "report.md").read_text(encoding="utf-8")
    example = text.split("```yaml\n")[1].split("```")[0]
    roles = {
        role
        for row in re.findall(r"^\| (`.+?) \|", text, re.MULTILINE)
        for role in re.findall(r"`(\w+)`", row)
    }

    assert set(re.findall(r"^(\w+):", example, re.MULTILINE)) == set(KEYS)
    assert set(LIGHT) <= roles


def test_the_documented_example_is_valid(tmp_path):
    """Copied into a file it restyles the report."""
    text = (ROOT / "docs" / "report.md").read_text(encoding="utf-8")
    path = tmp_path / "style.yaml"
    path.write_text(text.split("```yaml\n")[1].split("```")[0], encoding="utf-8")

    look = read_look(path)

    assert look["agree"] == "#1b7837"
    assert look.dark["agree"] == "#7fbf7b"
    assert (look.font, look.font_points, look.page_font) == ("DejaVu Serif", 9.0, "Georgia, serif")
    assert look.matplotlib == {"axes.grid": True, "lines.linewidth": 2.0}
