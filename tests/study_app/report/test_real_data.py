"""From real data to PDF figures: people of a crowdsourcing study, events and interests of two tracks."""

import json
import random
import shlex
from pathlib import Path

import pytest

from study_app.cli import cli
from study_app.report.build import build_report, write_report
from study_app.report.folder import read_material
from study_app.report.parts.streams import DOTTED
from tests.study_app.report.stream_folder import NO_PROMPTS

pytestmark = pytest.mark.soak
ROOT = Path(__file__).parents[3]
EMPTY_RUN_2015 = 0.2471
"""What a system that never pushes scores in 2015 by ELG-1 (Tan and others, SIGIR 2016, section 3)."""


def run(line):
    cli.main(shlex.split(line), prog_name="prefcal", standalone_mode=False)


def write_study(folder, task):
    (folder / "tables").mkdir()
    (folder / "tables" / "prompts.csv").write_text(NO_PROMPTS)
    (folder / "tables" / "study.json").write_text(json.dumps({"study": "real", "tasks": {"streams": task}}))


def sampled_runs(folder, lines, shares):
    """Write a run for each share of the lines that it holds; the seed is fixed."""
    rng = random.Random(1)
    for name, share in shares.items():
        kept = [line for line in lines if rng.random() < share]
        (folder / f"{name}.run").write_text("\n".join(kept) + "\n")
    return {name: {"path": f"../{name}.run"} for name in shares}


def test_people_of_2010_get_a_report_with_figures(shared, tmp_path):
    """The commands of examples/sigir2010, then the report: agreement, and fits with their envelopes."""
    data = shared / "data" / "sigir2010-crowdsourcing"
    text = (ROOT / "examples" / "sigir2010" / "README.md").read_text(encoding="utf-8").split("## Commands")[1]
    lines = text.split("\n## ")[0].replace("\\\n", " ").splitlines()
    (imported,) = (line.strip() for line in lines if line.strip().startswith("prefcal import"))
    command = (
        imported.removeprefix("prefcal ")
        .replace("DATA/", f"{data}/")
        .replace("-o tables", f"-o {tmp_path}/tables")
    )
    run(command)
    run(f"fit {tmp_path}/tables -o {tmp_path}/user-model.json")

    page = write_report(tmp_path).read_text(encoding="utf-8")

    assert {path.name for path in (tmp_path / "figures").glob("*.pdf")} >= {
        "fit-away-totals.pdf",
        "fit-session-totals.pdf",
        "workers-sides.pdf",
    }
    assert "kept its sides every time" in page


def test_events_of_2014_get_the_figures_of_the_stream_paper(shared, tmp_path):
    """Three systems that tell more or less of what was sampled: the more, the less ELG and the more MSU."""
    qrels = shared / "data" / "ts-2014" / "qrels"
    rows = [
        line.split("\t")
        for line in (qrels / "updates_sampled.tsv").read_text(errors="replace").splitlines()[1:]
    ]
    told = [
        f"{row[0]} t r {row[1].rpartition('-')[0]} {row[1].rpartition('-')[2]} {int(row[1].split('-')[0]) + 600} 1"
        for row in rows
    ]
    files = {
        "topics": "trec2014-ts-topics-test.xml",
        "nuggets": "nuggets.tsv",
        "matches": "matches.tsv",
        "updates": "updates_sampled.tsv",
    }
    task = {
        "kind": "stream_visits",
        "language": "en",
        "collection": {kind: {"path": str(qrels / name)} for kind, name in files.items()},
        "systems": sampled_runs(tmp_path, told, {"little": 0.02, "some": 0.2, "most": 0.8}),
        "protocol": {"days": 10},
    }
    write_study(tmp_path, task)

    report = build_report(read_material(tmp_path))

    streams = next(section for section in report.sections if section.key.startswith("streams"))
    assert "system most scores highest of 3 systems by MSU" in streams.title
    assert report.front.figure.name == "streams-streams-best"
    ranks = {row[0]: row[5] for row in streams.tables[0].rows}
    assert ranks["most"] == "1"


def test_a_system_that_never_pushes_scores_what_the_paper_says(shared, tmp_path):
    """The dotted lines of its Fig. 1: 0.2471."""
    qrels = shared / "data" / "mb-2015" / "qrels"
    posted = [line.split() for line in (qrels / "tweet2dayepoch.txt").read_text().splitlines()]
    when = {tweet: epoch for tweet, _, epoch in posted}
    judged = [line.split() for line in (qrels / "qrels.txt").read_text().splitlines()]
    pushed = [f"{topic} {tweet} {when[tweet]} r" for topic, _, tweet, _ in judged if tweet in when]
    (tmp_path / "texts.tsv").write_text("".join(f"{tweet}\tsome words\n" for tweet in when))
    files = {"qrels": "qrels.txt", "clusters": "clusters-2015.json", "epochs": "tweet2dayepoch.txt"}
    task = {
        "kind": "stream_pairs",
        "language": "en",
        "collection": {kind: {"path": str(qrels / name)} for kind, name in files.items()}
        | {"texts": {"path": "../texts.tsv"}, "topics": {"path": str(qrels / "TREC2015-MB-testtopics.txt")}},
        "systems": sampled_runs(tmp_path, pushed, {"one": 0.01, "two": 0.03, "three": 0.1}),
        "protocol": {"days": ["20150720", "20150729"]},
    }
    write_study(tmp_path, task)

    figure = next(
        one
        for one in build_report(read_material(tmp_path)).figures
        if one.name == "streams-streams-elg-1-ncg-1"
    )

    assert DOTTED in figure.caption
    assert figure.draw.keywords["at"][0] == pytest.approx(EMPTY_RUN_2015, abs=5e-5)
    assert figure.draw.keywords["at"][1] == pytest.approx(EMPTY_RUN_2015, abs=5e-5)
