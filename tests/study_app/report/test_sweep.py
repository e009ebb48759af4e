"""What the report says of a sweep: of which points, and of how many."""

from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from markupsafe import Markup

from metrics.readers.tempsum import read_events, read_update_run
from metrics.sweep import SweepGrid, read_sweep, sweep_msu
from study_app.report.build import build_report
from study_app.report.drawing.canvas import RenderedDrawing
from study_app.report.drawing.style import ReportStyle
from study_app.report.folder import read_material
from study_app.report.page import render
from study_app.report.parts.sweep import sweep_section

STREAMS = Path(__file__).resolve().parents[3] / "examples" / "two_layered" / "streams"
GRID = SweepGrid(away_seconds=(3600, 7200), session_seconds=(60,), spread=(0.5,), lateness=(0, 0.5, 1))


@pytest.fixture
def figures(tmp_path):
    """Return a function of tau-b of MSU and ELG, by time away and then L, that gives the figures about them."""
    files = {name: STREAMS / f"{name}.tsv" for name in ("nuggets", "matches", "updates")}
    judged = read_events(topics=STREAMS / "topics.xml", **files)
    runs = [read_update_run(path, name=path.stem) for path in sorted((STREAMS / "runs").glob("*.txt"))]
    sweep = sweep_msu(judged, runs, tmp_path, grid=GRID, users=2)
    taus = sweep.correlation()

    def of(*values):
        taus.loc[(taus["metric"] == "MSU") & (taus["against"] == "ELG"), "tau-b"] = values
        taus.to_csv(tmp_path / "correlation.csv", index=False, na_rep="nan")
        return {one.name: one for one in sweep_section(read_sweep(tmp_path)).figures}

    return of


FEW = " (4 systems, too few to say)"


@pytest.mark.parametrize(
    ("taus", "title", "captions"),
    [
        (
            (-0.2, 0.3, 0.1, 0.1, 0.4, 0.9),
            "τ from 0.30 to 0.40 at L = 0.5",
            " Over all points: τ from −0.20 to 0.90.",
        ),
        (
            (-0.2, -0.1, 0.1, 0.1, 0.4, 0.4),
            "τ from −0.10 to 0.40 at L = 0.5",
            " Over all points: τ from −0.20 to 0.40. Hatched: below 0.",
        ),
        ((0.1, 0.3, 0.1, 0.1, 0.3, 0.1), "τ = 0.30 at L = 0.5", " Over all points: τ from 0.10 to 0.30."),
        ((-0.3,) * 6, "τ = −0.30 at every point", " Hatched: below 0."),
        ((0.1, np.nan, 0.1, 0.1, np.nan, 0.1), "τ is not defined at L = 0.5", " Over all points: τ = 0.10."),
    ],
)
def test_a_map_and_its_title_speak_of_the_same_points(figures, taus, title, captions):
    """The map is of one L; the caption says what the others are like, and explains a hatching that is there."""
    shown = figures(*taus)["sweep-msu-elg"]

    assert shown.title == f"MSU and ELG: {title}{FEW}"
    points = (
        "Kendall’s τ of MSU and ELG at 2 of 6 points: L = 0.5; standard deviations are 0.5 times the means."
    )
    assert shown.caption == points + captions


def test_a_point_that_is_one_of_several_is_not_shown_as_the_only_one(figures):
    """At how many more tau is the same stands in the title; nothing where there is no other."""
    shown = figures(0.1, 0.9, 0.2, 0.9, 0.9, 0.3)

    assert (
        shown["sweep-msu-elg-closest"].title
        == f"MSU ranks most like ELG for people away 1 h (sd 30 min), there 1 min (sd 30 s), L = 0.5, and 2 more points: τ = 0.90{FEW}"
    )
    assert shown["sweep-msu-elg-closest"].caption.endswith("; of 3 points with this τ the first.")
    assert (
        shown["sweep-msu-elg-farthest"].title
        == f"MSU ranks least like ELG for people away 1 h (sd 30 min), there 1 min (sd 30 s), L = 0: τ = 0.10{FEW}"
    )
    assert shown["sweep-msu-elg-farthest"].caption.endswith("(SIGIR 2015).")


def test_a_sweep_alone_has_a_first_screen_that_says_who_was_asked(figures, tmp_path):
    """Nobody; and what the points of a grid are."""
    figures(0.1, 0.9, 0.2, 0.9, 0.9, 0.3)
    report = build_report(read_material(tmp_path))

    assert report.banner.startswith("Simulated people and judged events: nobody was asked")
    assert report.front.question == "Which run leads for which people?"
    assert list(report.front.points) == ["Answer", "How sure", "Against it", "Next"]
    assert "no share of people" in report.front.points["Against it"]
    assert report.front.figure.name == "sweep-leaders"
    blank = defaultdict(lambda: RenderedDrawing(svg="", pdf=b"", inline=Markup()))
    assert report.front.figure.title in render(report, ReportStyle(), blank)
    assert [section.key for section in report.sections] == ["sweep"]
