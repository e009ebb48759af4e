"""What the report says and is."""

import json
import re
import shutil
from collections import Counter, defaultdict
from pathlib import Path

import pandas as pd
import pytest
from bs4 import BeautifulSoup
from markupsafe import Markup

from metrics.errors import InputError
from study_app.report.build import build_report, write_report
from study_app.report.drawing.canvas import RenderedDrawing, render_drawing
from study_app.report.drawing.style import LIGHT as COLOURS
from study_app.report.drawing.style import ReportStyle
from study_app.report.folder import read_material
from study_app.report.page import percent, render
from study_app.report.table_files import csv_text
from tests.calibration.judged_summaries import SYSTEMS
from tests.study_app.prefcal_command import run_here
from tests.study_app.report.agreement_folder import write_folder


@pytest.fixture
def folder(made, tmp_path):
    """A copy that a test may break."""
    return shutil.copytree(made, tmp_path / "agreement")


@pytest.fixture(scope="module")
def html(made):
    return (made / "report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(html):
    return BeautifulSoup(html, "lxml")


def page_of(folder):
    """Return the page of a folder without its drawings, which take longest."""
    blank = defaultdict(lambda: RenderedDrawing(svg="", pdf=b"", inline=Markup()))
    return BeautifulSoup(render(build_report(read_material(folder)), ReportStyle(), blank), "lxml")


def text_of(folder):
    return page_of(folder).get_text(" ", strip=True)


def test_the_page_needs_nothing_from_anywhere(html, page):
    """It is opened from a mail, ten years from now, offline."""
    assert "http" not in html.replace("http-equiv", "")
    assert "default-src 'none'" in html
    assert not page.find_all(["script", "link", "iframe", "img", "object", "embed"])
    assert not re.search(r"@import|url\((?!#)", html)
    assert all(str(use.get("xlink:href", use.get("href"))).startswith("#") for use in page.find_all("use"))


def test_the_first_screen_asks_in_a_few_words_and_answers_with_numbers_of_the_table(made, page):
    """The question is the title; the answer is the highest agreement that was not fitted in sample."""
    rows = pd.read_csv(made / "agreement.csv").query(
        "ties == 'against' and fit != 'in_sample' and exclusions == 'applied'"
    )
    best = rows.loc[rows["agreement"].idxmax()]

    assert page.h1.get_text() == "Which measure agrees with people most often?"
    assert page.h1.get_text() in page.title.get_text()
    assert page.select_one("dd.first").get_text() == (
        f"{best['measure']} agrees with the majority most often of {len(rows)} measures, on {percent(best['agreement'])} of"
        f" {best['pairs']} pairs."
    )


def test_five_sentences_and_one_figure_stand_before_everything_else(page):
    """Answer, how sure, ceiling, what is against it, what to do next; the figure has measures and ceilings on one axis."""
    front = page.select_one("header .front")
    said = dict(zip([name.get_text() for name in front.select("dt")], front.select("dd"), strict=True))
    (alt,) = [figure["aria-label"] for figure in front.select("figure [role=img]")]

    assert list(said) == ["Answer", "How sure", "Ceiling", "Against it", "Next"]
    assert "7 workers" in said["How sure"].get_text()
    assert "do not show" in said["How sure"].get_text()
    assert "Another panel of as many people would agree" in said["Ceiling"].get_text()
    assert said["Against it"].get_text().startswith("No comparison was named beforehand")
    assert "prefcal plan difference" in said["Next"].get_text()
    assert all(f"; {name} " in alt for name in ("a second panel", "a perfect measure"))


def test_what_more_there_is_to_say_stands_in_the_section(page):
    """Who judged, what was fitted to what, and what a study of this size could have detected."""
    section = page.select_one("#agreement").get_text(" ", strip=True)

    for words in ("7 workers compared", "these preferences, cross-fitted", "four of five"):
        assert words in section


def test_a_scatter_has_one_sign_a_pair(page):
    """Nothing is drawn twice or left out: 36 pairs."""
    drawing = page.select("#agreement figure svg")[0]
    ticks = {
        use["href"]
        for text in drawing.select("text")
        for use in text.find_parent("g").find_parent("g").select("use")
    }

    quadrants = 2
    assert len([use for use in drawing.select("use") if use["href"] not in ticks]) == 36 + quadrants


def test_every_figure_says_its_finding_and_can_be_read_aloud(page):
    """A title, an alternative text with numbers, and a hidden drawing."""
    figures = page.select("figure")

    assert len(figures) >= 5
    for figure in figures:
        title = figure.h3 or (figure.find_parent("section") or page).select_one(".lead, dd.first")
        assert re.search(r"\d", title.get_text())
        assert re.search(r"\d", figure.select_one("[role=img]")["aria-label"])
        assert figure.svg["aria-hidden"] == "true"


def test_ids_are_unique_and_links_lead_somewhere(page):
    """Drawings of one page share their ids' names, so each gets a prefix."""
    ids = [element["id"] for element in page.select("[id]")]

    assert [name for name, count in Counter(ids).items() if count > 1] == []
    for reference in re.findall(r'(?:href="#|url\(#)([^")]+)', str(page)):
        assert reference in ids


def test_drawings_take_the_colours_of_the_page(html):
    """One drawing serves light, dark and print: no colour of its own is left in it."""
    drawings = "".join(re.findall(r"<svg.*?</svg>", html, flags=re.DOTALL))
    style = html[: html.index("</style>")]

    assert not any(colour in drawings for colour in COLOURS.values())
    for name in set(re.findall(r"var\(--([a-z]+)\)", drawings)):
        assert style.count(f"--{name}:") == 2, f"{name} needs a light and a dark value"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_can_be_told_from_the_paper(html, scheme):
    """WCAG: 4.5 for text, 3 for signs and lines that carry meaning."""
    blocks = re.findall(r":root \{(.*?)\}", html, flags=re.DOTALL)
    colours = dict(re.findall(r"--([a-z]+): (#[0-9a-f]{6})", blocks[0 if scheme == "light" else 1]))

    def luminance(colour):
        channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    def contrast(one, other):
        low, high = sorted((luminance(colours[one]), luminance(colours[other])))
        return (high + 0.05) / (low + 0.05)

    for ground in ("paper", "shade", "raised"):
        assert contrast("ink", ground) >= 7
        assert contrast("muted", ground) >= 4.5
        assert contrast("agree", ground) >= 4.5
        assert contrast("disagree", ground) >= 4.5


def test_fitted_parameters_stand_beside_the_truth(page):
    """800 is in [600, open] and not in [400, 650]."""
    table = page.select_one("#parameters table")
    rows = {
        row.th.get_text(): [cell.get_text() for cell in row.select("td")] for row in table.select("tbody tr")
    }
    headers = [cell.get_text() for cell in table.select("thead th")][1:]

    preferences = dict(zip(headers, rows["patience L by votes"], strict=True))
    assert (preferences["Truth"], preferences["Held"]) == ("800", "yes")
    assert preferences["95\u202f% interval"] == "at least 600"
    assert dict(zip(headers, rows["patience L by stops"], strict=True))["Held"] == "no"
    assert "1 of 2 intervals hold" in page.select_one("#parameters .lead").get_text()
    assert "1 of 1 of their" in page.select_one("#parameters").get_text()


def test_without_a_truth_nothing_is_said_of_one(folder):
    """A real study has none."""
    (folder / "truth.json").unlink()

    page = page_of(folder)
    text = page.get_text(" ", strip=True)

    assert "Truth" not in text
    assert "2 parameters fitted" in text
    assert "simulated" not in text.lower()


def test_simulated_workers_are_a_banner_and_stand_in_the_methods(folder):
    """study.json knows of them where no truth lies beside it."""
    (folder / "truth.json").unlink()
    path = folder / "tables" / "study.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"simulated": True}))

    page = page_of(folder)

    assert page.body.get_text(" ", strip=True).startswith("Simulated workers: ")
    assert "imulated" not in page.h1.get_text()
    assert "8 simulated workers took part" in page.select_one("#methods").get_text()


def test_workers_who_were_left_out_are_counted_with_their_reason(page):
    """And the limits of the rule come from study.json."""
    section = page.select_one("#workers").get_text(" ", strip=True)

    assert "1 of 8 workers was left out" in section
    assert "Flagged, and not left out for it (answers too quick for reading: 1, odd: 1)" in section
    assert "search: 1" in section
    assert "Dashed lines" in section
    assert "do not state that sides were assigned at random" in section
    assert "No pair was shown twice" in section


def test_agreement_is_shown_with_and_without_exclusions(page):
    """7 workers without the excluded one, 8 with."""
    assert "7 workers without and 8 with the excluded ones" in page.select_one("#agreement").get_text()


def test_it_can_be_made_again(page):
    """Hashes, seeds and command lines."""
    section = page.select_one("#again").get_text(" ")

    for words in (
        "Seed, fit",
        "Tables, sha256",
        "prefcal report .",
    ):
        assert words in section


def test_other_tables_than_the_fitted_ones_are_warned_about(folder):
    """Somebody replaced the tables after the fit."""
    path = folder / "tables" / "intents.csv"
    path.write_text(path.read_text().replace("0.75", "0.5").replace("0.25", "0.5"))

    text = text_of(folder)

    assert "Warning: the agreement was made from other tables" in text
    assert "Warning: the user model was made from other tables" in text


@pytest.mark.parametrize(
    ("missing", "sentence"),
    [
        ("agreement.csv", "There is no agreement.csv in this folder"),
        ("pairs.csv", "There is no pairs.csv, so no scatter is drawn"),
        ("curve.csv", "agrees with the majority most often"),
        ("comparisons.csv", "agrees with the majority most often"),
        ("user-model.json", "There is no user-model.json in this folder"),
        ("tables", "There is no table of workers"),
    ],
)
def test_what_is_missing_is_left_out_with_a_sentence(folder, missing, sentence):
    """Half a folder makes half a report, never a traceback."""
    path = folder / missing
    shutil.rmtree(path) if path.is_dir() else path.unlink()

    assert sentence in text_of(folder)


@pytest.mark.parametrize(
    "name", ["agreement.csv", "comparisons.csv", "curve.csv", "pairs.csv", "disagreements.csv"]
)
def test_a_table_that_is_not_as_it_was_written_is_refused(folder, name):
    """Half a table, or one of another run, would make a wrong report; other line ends are the same table."""
    table = folder / name
    whole = table.read_bytes()
    table.write_bytes(whole.replace(b"\n", b"\r\n"))
    read_material(folder)
    rows = whole.splitlines(keepends=True)
    for changed in (
        b"",
        b"\xff",
        whole[: len(whole) // 2],
        b"".join(rows[:-1]),
        whole + rows[-1],
        whole.replace(b"0.", b"0.1", 1),
    ):
        table.write_bytes(changed)
        with pytest.raises(
            InputError, match=f"{name}.*not as prefcal agree wrote it; run prefcal agree again"
        ):
            read_material(folder)


def test_tables_without_their_record_are_refused(folder):
    """Nobody could say whether they are whole, and of one run."""
    (folder / "agree.json").unlink()
    with pytest.raises(InputError, match=r"agree\.json.*does not say which files prefcal agree wrote"):
        read_material(folder)


def test_an_empty_folder_is_a_fault(tmp_path):
    """There is nothing to report."""
    with pytest.raises(InputError, match="nothing to report"):
        write_report(tmp_path)
    with pytest.raises(InputError, match="no such folder"):
        write_report(tmp_path / "none")


@pytest.mark.parametrize("name", ["agreement.csv", "agree.json", "user-model.json"])
def test_a_damaged_file_is_a_fault_with_its_name(folder, name):
    """And an older report stays as it is."""
    (folder / "report.html").write_text("older")
    (folder / name).write_bytes(b'{"a": \xff,,"\n"')

    with pytest.raises(InputError, match=re.escape(name)):
        write_report(folder)
    assert (folder / "report.html").read_text() == "older"


def test_names_from_outside_are_text(tmp_path):
    """Titles and metric names cannot become markup, nor formulas."""
    evil = "<script>alert(1)</script> & $\\frac{1}{0}$"
    scores = pd.DataFrame(
        [
            {"run": system, "topic": f"q{n}", "metric": evil, "value": float(rank)}
            for n in range(6)
            for rank, system in enumerate(SYSTEMS)
        ]
    )
    page = page_of(write_folder(tmp_path, title=evil, scores=scores))

    assert not page.find_all("script")
    assert page.select_one(".study").get_text() == evil
    assert any(evil in row.th.get_text() for row in page.select("#agreement tbody tr"))


def test_the_same_folder_gives_the_same_files(made):
    """To the byte: a report can be kept under version control."""
    report = build_report(read_material(made))

    for table in report.tables:
        assert csv_text(table) == (made / "report-tables" / f"{table.name}.csv").read_text(encoding="utf-8")
    for figure in report.figures[::6]:
        again = render_drawing(figure.draw, ReportStyle(), name=figure.name, title=figure.title)
        assert again.svg == (made / "figures" / f"{figure.name}.svg").read_text(encoding="utf-8")
        assert again.pdf == (made / "figures" / f"{figure.name}.pdf").read_bytes()
        assert again.inline in (made / "report.html").read_text(encoding="utf-8")


def test_a_figure_can_be_drawn_alone_in_the_look_of_the_report(made):
    """For a paper, or a notebook: without a line above, as the page has it."""
    [figure, *_] = build_report(read_material(made)).figures
    [axes, *_] = figure.drawing(ReportStyle(font_points=11)).axes

    assert not axes.spines["top"].get_visible()
    assert axes.xaxis.label.get_fontsize() == 11


def test_sections_stand_in_reading_order(made):
    """Of a paper: what was done and by whom, what was found, limits, and how to make it again."""
    report = build_report(read_material(made))

    assert [section.key for section in report.sections] == [
        "methods",
        "workers",
        "agreement",
        "patience",
        "parts",
        "parameters",
        "limits",
        "again",
    ]


def test_the_command_prints_where_the_page_is(folder, monkeypatch, capsys):
    """`prefcal report DIR`."""
    for name in ("agreement.csv", "user-model.json"):
        (folder / name).unlink()
    shutil.rmtree(folder / "tables")
    shutil.copy(Path(folder / "truth.json"), folder / "user-model.json")
    ended = run_here(monkeypatch, capsys, "report", folder)

    assert (ended.code, ended.out.strip()) == (0, str(folder / "report.html"))


def test_the_command_ends_with_one_line_on_bad_input(tmp_path, monkeypatch, capsys):
    """Exit 1, nothing on stdout."""
    ended = run_here(monkeypatch, capsys, "report", tmp_path / "none")

    assert (ended.code, ended.out) == (1, "")
    assert ended.err.count("\n") == 1


def test_tables_and_model_may_lie_elsewhere(folder, tmp_path):
    """agree.json says what the agreement was made from; that is found where it lies."""
    for name in ("tables", "user-model.json"):
        shutil.move(folder / name, tmp_path / f"my-{name}")
    record = json.loads((folder / "agree.json").read_text(encoding="utf-8"))
    record |= {
        "tables": str(tmp_path / "my-tables"),
        "model": {"path": str(tmp_path / "my-user-model.json"), "sha256": ""},
    }
    (folder / "agree.json").write_text(json.dumps(record), encoding="utf-8")

    material = read_material(folder)
    assert "preferences" in material.tables
    assert "patience_chars_preferences" in material.model.parameters
