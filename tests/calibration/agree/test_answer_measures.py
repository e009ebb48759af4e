"""`agree` has the measures of answers where their files are given, and says which it lacks."""

import csv
import itertools
import json

import pytest

from tests.study_app.prefcal_command import run_once

TOPICS = ("1", "2", "3", "4")
RUNS = {"long": 6, "short": 2}


@pytest.fixture
def folder(tmp_path):
    """Tables of people who prefer the longer answer, the answers, and nuggets that say the contrary."""
    (tmp_path / "topics.tsv").write_text("".join(f"{topic}\tq{topic}?\n" for topic in TOPICS))
    for run, words in RUNS.items():
        answers = [
            {"run_id": run, "topic_id": topic, "references": [], "answer": [{"text": "w " * words, "citations": []}]}
            for topic in TOPICS
        ]  # fmt: skip
        (tmp_path / f"{run}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in answers))
    write_nuggets(tmp_path, TOPICS)
    votes = [f"{topic} long short w{worker} a" for topic, worker in itertools.product(TOPICS, range(4))]
    (tmp_path / "votes.txt").write_text("\n".join(votes) + "\n")
    result = run_once("convert", "lines-to-tables", tmp_path / "votes.txt", "-o", tmp_path / "tables")
    assert result.code == 0, result.err
    (tmp_path / "tables" / "study.json").unlink()
    return tmp_path


def write_nuggets(folder, topics):
    """Write that the short run has the nugget and the long one has it not."""
    assignments = {"long": "not_support", "short": "support"}
    lines = [
        {"qid": topic, "run_id": run, "nuggets": [{"text": "n", "importance": "vital", "assignment": said}]}
        for topic in topics
        for run, said in assignments.items()
    ]
    (folder / "nuggets.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))


def agree(folder, *options):
    """Return the process, and agreement by measure with ties as half."""
    named = [f"--run={run}={folder / run}.jsonl" for run in RUNS]
    result = run_once(
        *("agree", folder / "tables", f"--collection=topics={folder / 'topics.tsv'}"),
        *(*named, *options, "-o", folder / "results"),
    )
    if result.code:
        return result, {}
    with (folder / "results" / "agreement.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["ties"] == "half"]
    return result, {row["measure"]: float(row["agreement"]) for row in rows}


def test_measures_of_answers_are_compared_with_people_and_with_length(folder):
    """Words agree always, the nuggets never, sentences with a citation tie."""
    _, agreement = agree(folder, f"--collection=nuggets={folder / 'nuggets.jsonl'}")
    assert {name: agreement[name] for name in ("words", "nuggets-vital", "cited-sentences")} == {
        "words": 1,
        "nuggets-vital": 0,
        "cited-sentences": 0.5,
    }
    assert set(agreement) == {
        *("nuggets-all", "nuggets-all-strict", "nuggets-vital", "nuggets-vital-strict", "nuggets-weighted"),
        *("cited-sentences", "words"),
    }


def test_without_judgments_the_answers_alone_are_measured(folder):
    """No file is needed but the questions and the answers."""
    _, agreement = agree(folder)
    assert set(agreement) == {"cited-sentences", "words"}


def test_a_measure_without_judgments_of_some_answers_is_left_out_by_name(folder):
    """It would have no value there, and is not 0."""
    write_nuggets(folder, TOPICS[:3])
    result, agreement = agree(folder, f"--collection=nuggets={folder / 'nuggets.jsonl'}")
    assert set(agreement) == {"cited-sentences", "words"}
    assert "nuggets-all is left out: undefined for long on 4, short on 4" in result.err


def test_a_measure_asked_for_by_name_needs_its_file(folder):
    """And is measured where it is given."""
    result, _ = agree(folder, "--measure", "support")
    assert (result.code, result.err) == (
        1,
        "--measure: nothing here scores 'support'; name its files with --collection KIND=PATH and --run NAME=PATH\n",
    )
    nuggets = f"--collection=nuggets={folder / 'nuggets.jsonl'}"
    _, agreement = agree(folder, nuggets, "--measure", "NuggetsWeighted(strict=True)")
    assert agreement["NuggetsWeighted(strict=True)"] == 0
