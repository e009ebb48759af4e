"""What the gallery needs: the two simulated studies that its examples read, and how their drawings get into the page."""

import os
import re
import sys
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "benchmarks"))

from report_figures import PUSHES, SUMMARIES, make_studies


def prepare(folder: Path) -> None:
    """Make the studies where they are missing; raise `LookupError` if the gallery lacks a figure of their reports."""
    make_studies(folder)
    examples = "".join(path.read_text(encoding="utf-8") for path in folder.glob("plot_*.py"))
    drawn = {path.stem for name in (SUMMARIES, PUSHES) for path in (folder / name / "figures").glob("*.svg")}
    missing = drawn - set(re.findall(r'figures\["(.*?)"\]', examples))
    if missing:
        raise LookupError(f"docs/gallery does not show {', '.join(sorted(missing))}")


def save_drawing(_block: object, variables: dict[str, Any], gallery: dict[str, Any]) -> str:
    """Save what a block of an example has drawn, under the name ``drawing``, and return the lines that show it."""
    drawing = variables["example_globals"].pop("drawing", None)
    if not isinstance(drawing, Figure):
        return ""
    path = next(variables["image_path_iterator"])
    drawing.savefig(path, dpi=150, facecolor="white")
    return str(figure_rst([os.fspath(path)], gallery["src_dir"]))
