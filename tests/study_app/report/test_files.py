"""The report's figures and tables as files: what a paper is made of."""

import csv
import re
import shutil

import pytest
from bs4 import BeautifulSoup
from lxml import etree

from study_app.report.build import write_report
from study_app.report.drawing.style import LIGHT, read_look
from study_app.report.page import NO_INTERVAL, UNTOLD, ReportTable
from study_app.report.table_files import csv_text, latex_text

TABLE = ReportTable(
    name="t",
    caption="Shares & more",
    columns=("Measure", "Agreement", "Held", "Hash"),
    rows=(("M_1 50%", "71.4\u202f%", "1\u202f500", "ab"), ("a {b} \\c", "–", "−2.5", "cd")),
    note="100 % of $x^2$ ~ <y>",
)


@pytest.fixture(scope="module")
def page(made):
    return BeautifulSoup((made / "report.html").read_text(encoding="utf-8"), "lxml")


def figures(made, kind):
    return sorted((made / "figures").glob(f"*.{kind}"))


def test_every_figure_of_the_page_is_there_as_svg_and_pdf(made, page):
    """Under one name, which the page's drawing carries too."""
    names = [path.stem for path in figures(made, "svg")]

    assert names == [path.stem for path in figures(made, "pdf")]
    assert len(names) == len(page.select("figure"))
    for svg in page.select("figure svg"):
        assert svg.select_one("[id]")["id"].rsplit("-", 1)[0] in names


def test_an_svg_is_valid_names_its_finding_and_keeps_its_texts(made, page):
    """Texts can be searched and edited; the title is the finding; there is no date."""
    titles = {
        (figure.h3 or figure.find_parent("section").select_one(".lead"))
        .get_text(strip=True)
        .removesuffix(".")
        for figure in page.select("main figure")
    } | {page.select_one("dd.first").get_text(strip=True).removesuffix(".")}
    for path in figures(made, "svg"):
        root = etree.fromstring(path.read_bytes())
        words = [text for node in root.iter("{*}text") for text in node.itertext()]
        assert root.findtext("{*}title") in titles, path.name
        assert len("".join(words)) > 10, path.name
        assert b"date" not in path.read_bytes()


def test_a_pdf_is_valid_and_carries_its_fonts_as_truetype(made):
    """Publishers refuse type 3 fonts, and fonts that are not in the file."""
    for path in figures(made, "pdf"):
        content = path.read_bytes()
        start = int(content.split(b"startxref\n")[1].split(b"\n")[0])
        assert content.startswith(b"%PDF-")
        assert content.rstrip().endswith(b"%%EOF")
        assert content[start : start + 4] == b"xref"
        assert content.count(b"/CIDFontType2") == content.count(b"/FontFile2") > 0
        assert b"/Type3" not in content
        assert b"CreationDate" not in content


def is_balanced(text):
    """Whether every brace that LaTeX reads as one is closed."""
    bare = re.sub(r"\\[{}]", "", text)
    return bare.count("{") == bare.count("}")


def test_every_table_is_there_as_csv_with_the_numbers_of_the_page(made, page):
    """Cell by cell, but for marks that only people need."""
    tables = page.select("table")
    assert len(tables) >= 5

    for table in tables:
        caption = table.caption.get_text(strip=True)
        path = next(one for one in (made / "report-tables").glob("*.csv") if caption_of(made, one) == caption)
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))[1:]
        shown = [
            [cell.get_text(strip=True) for cell in row.select("th, td")] for row in table.select("tbody tr")
        ]
        assert [[digits(cell) for cell in row] for row in rows] == [
            [digits(cell) for cell in row] for row in shown
        ]


def caption_of(made, path):
    with (made / "report-tables" / "captions.csv").open(encoding="utf-8", newline="") as file:
        return next((row[1] for row in csv.reader(file) if row[0] == path.stem), None)


def digits(cell):
    return "" if cell in {NO_INTERVAL, UNTOLD} else re.sub(r"[^\w.]", "", cell)


def test_csv_holds_plain_numbers():
    """No per cent signs, no thin spaces, no true minus, nothing for a dash, a missing interval or one that tells nothing."""
    assert list(csv.reader(csv_text(TABLE).splitlines())) == [
        ["Measure", "Agreement (%)", "Held", "Hash"],
        ["M_1 50%", "71.4", "1500", "ab"],
        ["a {b} \\c", "", "-2.5", "cd"],
    ]


def test_latex_is_a_booktabs_table_with_everything_escaped():
    """As many columns in every row; no sign that LaTeX would take for a command."""
    text = latex_text(TABLE)
    rows = [line for line in text.splitlines() if line.endswith(r"\\")]

    assert r"\begin{tabular}{lrrl}" in text
    assert [word for word in (r"\toprule", r"\midrule", r"\bottomrule") if word in text] == [
        r"\toprule",
        r"\midrule",
        r"\bottomrule",
    ]
    assert [len(re.split(r"(?<!\\)&", row)) for row in rows] == [4, 4, 4]
    assert r"M\_1 50\% & 71.4\,\% & 1\,500 & ab" in rows[1]
    assert r"a \{b\} \textbackslash{}c & -- & $-$2.5 & cd" in rows[2]
    assert r"\caption{Shares \& more}" in text
    assert r"100 \% of \$x\textasciicircum{}2\$ \textasciitilde{} \textless{}y\textgreater{}" in text
    assert is_balanced(text)


def test_tables_that_papers_print_are_there_as_latex(made):
    """Agreement, comparisons and parameters here; nobody prints a table of hashes."""
    written = {path.stem for path in (made / "report-tables").glob("*.tex")}
    assert written == {"agreement", "agreement-comparisons", "parameters"}


def test_every_latex_table_is_whole(made):
    """Environments closed, braces closed, rows of one width."""
    for path in (made / "report-tables").glob("*.tex"):
        text = path.read_text(encoding="utf-8")
        named = re.findall(r"\\begin\{(\w+)\}", text)
        assert named == ["table", "adjustbox", "tabular"]
        paragraph = r">\{\\raggedright\\arraybackslash\}p\{[\d.]+\\linewidth\}"
        shape = re.search(rf"\\begin\{{tabular\}}\{{((?:[lr]|{paragraph})+)\}}", text)[1]
        rows = [line for line in text.splitlines() if line.endswith(r"\\")]
        columns = len(re.sub(paragraph, "p", shape))
        assert {len(re.split(r"(?<!\\)&", row)) for row in rows} == {columns}, path.name
        assert re.findall(r"\\end\{(\w+)\}", text) == named[::-1]
        assert is_balanced(text)


def test_numbers_of_the_first_screen_are_numbers_of_the_tables(page):
    """Every percentage and every difference that a sentence says stands in a table."""
    cells = {
        part.lstrip("+−")
        for cell in page.select("#agreement td")
        for part in re.split(r" to |\u202f%", cell.get_text(strip=True))
    }
    words = page.select_one(".front dl").get_text(" ", strip=True)
    said = re.findall(r"[+−]?\d+\.\d+(?=\u202f%| to | and | points|[,)])", words)

    assert len(said) >= 9
    assert [number for number in said if number.lstrip("+−") not in cells] == []


def test_files_of_an_earlier_report_go_and_others_stay(made, tmp_path):
    """A figure that this report has not would be taken for one of its own."""
    for name in ("agreement.csv", "curve.csv", "comparisons.csv", "agree.json"):
        shutil.copy(made / name, tmp_path)
    write_report(tmp_path)
    (tmp_path / "figures" / "mine.svg").write_text("mine")
    before = {path.name for path in (tmp_path / "figures").iterdir()}
    for name in ("curve.csv", "comparisons.csv"):
        (tmp_path / name).unlink()

    write_report(tmp_path)

    gone = before - {path.name for path in (tmp_path / "figures").iterdir()}
    assert gone == {"patience-curve.svg", "patience-curve.pdf"}
    assert not (tmp_path / "report-tables" / "agreement-comparisons.tex").exists()
    assert (tmp_path / "figures" / "mine.svg").read_text() == "mine"


def test_a_style_file_restyles_page_and_figures(made, tmp_path):
    """Colours on the page and in the files, the font of the files, and any setting of matplotlib."""
    for name in ("agreement.csv", "agree.json"):
        shutil.copy(made / name, tmp_path)
    style = tmp_path / "style.yaml"
    style.write_text(
        'colours:\n  agree: "#123456"\nfont: DejaVu Serif\npage_font: Georgia, serif\nmatplotlib:\n  axes.linewidth: 2.5\n'
    )

    write_report(tmp_path, report_style=read_look(style))

    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    svg = (tmp_path / "figures" / "agreement.svg").read_text(encoding="utf-8")
    assert "--agree: #123456;" in page
    assert "Georgia, serif" in page
    assert "#123456" in svg
    assert LIGHT["agree"] not in svg
    assert "stroke-width: 2.5" in svg
    assert "DejaVu Serif" in svg
    assert b"DejaVuSerif" in (tmp_path / "figures" / "agreement.pdf").read_bytes()
    assert "#123456" not in page[page.index("<svg") :]


@pytest.mark.parametrize("kind", ["csv", "tex"])
def test_parameters_have_the_names_and_units_of_a_paper(made, kind):
    """Nobody prints `patience_chars_stops`; the model file keeps it."""
    text = (made / "report-tables" / f"parameters.{kind}").read_text(encoding="utf-8").replace("\\", "")

    assert "patience L by votes" in text
    assert re.search(r"\d chars", text)
    assert "patience_chars" not in text
