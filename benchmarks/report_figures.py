"""Make the figures of docs/report.md: the two bundled studies with simulated crowds, from their study files to the report.

    python benchmarks/report_figures.py [FOLDER]

Takes about a minute; everything is made in FOLDER, a temporary one by default, and what the page shows goes to docs/figures.
"""

import json
import shutil
import sys
import tempfile
from pathlib import Path

from study_app.cli import cli
from study_app.report.build import write_report
from study_app.report.drawing.look import ReportLook

ROOT = Path(__file__).resolve().parents[1]
SHOWN = ROOT / "docs" / "figures"
SUMMARIES = (
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
PUSHES = (
    "streams-pushes-elg-1-elg-0",
    "streams-pushes-silence-recall-elg-1",
    "streams-pushes-alpha",
    "streams-pushes-best",
    "fit-push-weights",
)
TRUE_WEIGHTS = {"push_P_E": 0.3, "push_S_E": 0.2, "push_P_0": 0.5, "push_S_0": 0.4}
ON_WHITE = ReportLook(matplotlib={"figure.facecolor": "#ffffff", "savefig.facecolor": "#ffffff"})


def main(folder: Path) -> None:
    summaries, pushes = folder / "summaries", folder / "pushes"
    run(f"demo --no-serve --out {summaries}")
    push_study(pushes)
    SHOWN.mkdir(exist_ok=True)
    for made, names in ((summaries, SUMMARIES), (pushes, PUSHES)):
        write_report(made, look=ON_WHITE)
        for name in names:
            shutil.copy(made / "figures" / f"{name}.svg", SHOWN)


def push_study(folder: Path) -> None:
    folder.mkdir()
    truth = {name: {"estimate": value} for name, value in TRUE_WEIGHTS.items()}
    content = {"format": "prefcal-user-model/1", "parameters": truth}
    (folder / "truth.json").write_text(json.dumps(content), encoding="utf-8")
    database = f"--database {folder / 'prefcal.sqlite3'}"
    study = ROOT / "examples" / "push_streams" / "study.yaml"
    run(f"simulate {study} --workers 40 --truth {folder / 'truth.json'} --seed 1 {database}")
    run(f"export {folder / 'tables'} {database}")
    run(f"fit {folder / 'tables'} -o {folder / 'user-model.json'}")
    run(f"agree {folder / 'tables'} --model {folder / 'user-model.json'} -o {folder}")


def run(line: str) -> None:
    cli.main(line.split(" "), prog_name="prefcal", standalone_mode=False)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as made_in:
            main(Path(made_in))
