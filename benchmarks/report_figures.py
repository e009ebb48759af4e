"""Figures of docs/report.md, from the two bundled studies and simulated crowds.

    python benchmarks/report_figures.py [FOLDER]

Takes about two minutes; everything is made in FOLDER, a temporary one by default, and what the page shows goes to docs/figures. The
gallery of the site (docs/site_gallery.py) has its studies from here too.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from study_app.report.build import write_report
from study_app.report.drawing.style import ReportStyle

ROOT = Path(__file__).resolve().parents[1]
SHOWN = ROOT / "docs" / "figures"
SUMMARIES, PUSHES = "prefcal-demo", "prefcal-push"
SHOWN_OF_SUMMARIES = (
    "agreement",
    "agreement-pairs-1",
    "patience-curve",
    "parts-pairs-1",
    "fit-patience-chars-stops-survival",
    "fit-away-totals",
    "fit-reading-speed-qq",
    "fit-lateness-proportions",
    "streams-streams-elg-msu",
    "workers-search",
    "workers-consistency",
    "workers-sides",
)
SHOWN_OF_PUSHES = (
    "streams-pushes-elg-1-elg-0",
    "streams-pushes-silence-recall-elg-1",
    "streams-pushes-alpha",
    "streams-pushes-best",
    "fit-push-weights",
)
TRUE_WEIGHTS = {"push_P_E": 0.3, "push_S_E": 0.2, "push_P_0": 0.5, "push_S_0": 0.4}
ON_WHITE = ReportStyle(matplotlib={"figure.facecolor": "#ffffff", "savefig.facecolor": "#ffffff"})


def main(folder: Path) -> None:
    make_studies(folder)
    SHOWN.mkdir(exist_ok=True)
    for made, names in ((SUMMARIES, SHOWN_OF_SUMMARIES), (PUSHES, SHOWN_OF_PUSHES)):
        write_report(folder / made, look=ON_WHITE)
        for name in names:
            shutil.copy(folder / made / "figures" / f"{name}.svg", SHOWN)


def make_studies(folder: Path) -> None:
    """Make both studies in a folder, each with its report, where they are missing."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / SUMMARIES / "report.html").is_file():
        run(folder, "demo --no-serve")
    if not (folder / PUSHES / "report.html").is_file():
        make_pushes(folder)


def make_pushes(folder: Path) -> None:
    """Make the study of push notifications, by people whose weights are known."""
    shutil.rmtree(folder / PUSHES, ignore_errors=True)
    (folder / PUSHES).mkdir()
    truth = {name: {"estimate": value} for name, value in TRUE_WEIGHTS.items()}
    content = {"format": "prefcal-user-model/1", "parameters": truth}
    (folder / PUSHES / "truth.json").write_text(json.dumps(content), encoding="utf-8")
    study, database = ROOT / "examples" / "push_streams" / "study.yaml", f"--database {PUSHES}/study.sqlite3"
    run(folder, f"simulate {study} --workers 40 --truth {PUSHES}/truth.json --seed 1 {database}")
    run(folder, f"export {PUSHES}/tables {database}")
    run(folder, f"fit {PUSHES}/tables -o {PUSHES}/user-model.json")
    run(folder, f"agree {PUSHES}/tables --model {PUSHES}/user-model.json -o {PUSHES}")
    run(folder, f"report {PUSHES}")


def run(folder: Path, line: str) -> None:
    """Type a command in a folder, and say so: each takes up to a minute."""
    print(f"in {folder.name}: prefcal {line.replace(f'{ROOT}/', '')}", flush=True)
    command = Path(sys.executable).with_name("prefcal")
    subprocess.run([command, *line.split(" ")], cwd=folder, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as made_in:
            main(Path(made_in))
