"""The bundled studies of answers and of two ordinary runs go all the way: check, preview, crowd, export, agree and report."""

import csv
import json
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner
from sqlalchemy import select
from werkzeug.test import Client

from calibration.tables.files import read_tables
from metrics.errors import InputError
from study_app.cli import cli
from study_app.estimate.content import read_whole_study
from study_app.export.study_export import export_study
from study_app.preview.app import Preview
from study_app.preview.stations import PageRecipe
from study_app.simulate.crowd_parameters import CrowdParameters
from study_app.simulate.trial import run_trial
from study_app.store.check import check_database
from study_app.store.database import open_database, transaction
from study_app.store.models import Judgment, LoadedStudy, Pair, Showing

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
ANSWERS, LISTS = (EXAMPLES / name / "study.yaml" for name in ("answers", "plain_lists"))
TRACK = EXAMPLES / "rag_answers"
WORKERS = 5


def run(*args):
    """Run a command."""
    return CliRunner().invoke(cli, [*map(str, args)], catch_exceptions=False)


def simulated(path, folder, url):
    """Let a crowd go through a study over HTTP, and write its tables; returns (pair, choice) of every judgment as stored."""
    report, clock = run_trial(read_whole_study(path), url, workers=WORKERS, truth=CrowdParameters(), seed=1)
    assert report.finished == WORKERS
    database = open_database(url)
    assert check_database(database) == []
    with transaction(database, write=False) as session:
        export_study(session, session.scalars(select(LoadedStudy)).one(), folder / "tables", now=clock())
        stored = select(Pair.name, Judgment.choice).select_from(Judgment).join(Showing).join(Pair)
        clicked = [tuple(row) for row in session.execute(stored)]
    database.engine.dispose()
    return clicked


@pytest.fixture(scope="module", params=[ANSWERS, LISTS], ids=["answers", "plain_lists"])
def done(request, tmp_path_factory, database_in):
    """A bundled study with its folder of tables, and what was stored when people clicked."""
    folder = tmp_path_factory.mktemp("done")
    return request.param, folder, simulated(request.param, folder, database_in(folder))


@pytest.mark.parametrize(
    ("path", "said"),
    [
        (ANSWERS, "judges 9 of 9 pairs, 3 of them twice: 4 systems, 2 questions"),
        (LISTS, "chooses 2 of 2 queries and judges 1 pair of 2 systems, 4 entries a list"),
    ],
)
def test_check_says_what_its_workers_do(path, said):
    """Without a warning; a system that leaves a question open is no fault, and is said."""
    output = run("study", "check", path).output
    assert said in output
    assert ("passage: no answer to 1 topic of 2: leaves" in output) == (path == ANSWERS)


def test_every_page_can_be_previewed(tmp_path):
    """Answers have their sources in place; of lists without windows nothing about time is shown."""
    pages = {}
    for path in (ANSWERS, LISTS):
        (tmp_path / path.parent.name).mkdir()
        preview = Preview(read_whole_study(path), tmp_path / path.parent.name)
        client = Client(preview)
        pages[path] = {
            one.name: client.get(f"/open/{number}", follow_redirects=True).text
            for number, one in enumerate(preview.stations)
            if isinstance(one, PageRecipe) and one.part.startswith("Task 1")
        }
    assert list(pages[ANSWERS]) == ["Introduction", "First pair", "Second pair"]
    assert "Press such a line to open what the source says" in pages[ANSWERS]["Introduction"]
    both = pages[ANSWERS]["First pair"] + pages[ANSWERS]["Second pair"]
    assert "Which answer is better?" in both
    assert "<details data-item=" in both
    assert ' class="cited" href="#' in both
    assert "what time it is about" not in "".join(pages[LISTS].values())
    assert 'class="window' not in "".join(pages[LISTS].values())


def test_the_exported_rows_are_what_was_clicked(done):
    """Every judgment is a row of preferences, with its pair and its choice."""
    _, folder, clicked = done
    rows = read_tables(folder / "tables")["preferences"]
    kept = sorted(zip(rows["pair"], rows["choice"], strict=True))
    assert kept == sorted(clicked)


def test_what_is_read_is_logged_block_by_block(done):
    """A block or an entry is an item with its own time on the screen."""
    path, folder, _ = done
    reads = read_tables(folder / "tables")["reads"]
    assert reads.groupby("page").size().max() > 2
    assert set(reads["kind"]) <= ({"iunit", "link"} if path == ANSWERS else {"link"})
    opened = reads[
        reads["item"].str.endswith(":text")
    ]  # what a source says, which is read where it was opened
    assert (opened["dwell_seconds"] > 0).any() == (path == ANSWERS)
    assert not reads.duplicated(["page", "side", "item"]).any()


def test_measures_and_the_report_take_its_tables(done, tmp_path):
    """Scores of one's own are held against the preferences; the report says what was done."""
    path, folder, _ = done
    task = read_whole_study(path).tasks[0]
    scores = [(system, topic, "length", len(str(shown))) for (topic, system), shown in task.shown.items()]
    with (tmp_path / "scores.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("run", "topic", "metric", "value"), *scores])
    ended = run("agree", folder / "tables", "--scores", tmp_path / "scores.csv", "-o", folder)
    assert ended.exit_code == 0
    measures = set(pd.read_csv(folder / "agreement.csv")["measure"])
    assert "length" in measures
    assert ("nDCG@4" in measures, any("TIA" in name for name in measures)) == (path == LISTS, False)
    run("report", folder)
    page = "\n".join(one.read_text(encoding="utf-8") for one in folder.rglob("*.html"))
    assert (
        "two answers to it, of 4 systems" in page
        or "two ranked lists for a query, of 2 systems: left" in page
    )


def test_lists_without_windows_are_scored_by_what_needs_none():
    """What is left out is named in one line."""
    files = LISTS.parent
    ended = run(
        "score", "ranked", "--qrels", files / "collection/qrels.txt", "-k4", *sorted(files.glob("runs/*"))
    )
    assert ended.stderr.count("without --windows FILE there are no TIA-P@4, TIA-nDCG@4") == 1
    assert "IA-nDCG@4" in ended.stdout
    assert "TIA" not in ended.stdout


@pytest.mark.parametrize("missing", [(), ("qrels",)])
def test_two_runs_and_a_file_of_texts_become_a_study(tmp_path, missing):
    """`study new` recognises them, judged or not; the texts may have no titles."""
    for file in LISTS.parent.rglob("*.t[xs][tv]"):
        if file.stem not in missing:
            (tmp_path / file.name).write_text(file.read_text())
    texts = (tmp_path / "texts.tsv").read_text().splitlines()
    (tmp_path / "texts.tsv").write_text("".join("\t".join(line.split("\t")[::2]) + "\n" for line in texts))
    assert "wrote" in run("study", "new", tmp_path).output
    [task] = read_whole_study(tmp_path / "study.yaml").tasks
    assert set(task.files) == {"topics", "texts", "qrels"} - set(missing)
    assert set(task.systems) == {"words", "meaning"}


def test_answers_are_recognised_too(tmp_path):
    """JSON lines and lines `topic TAB text` are systems; the questions are what is shortest."""
    assert "answer_pairs" in run("study", "new", tmp_path, ANSWERS.parent).output
    [task] = read_whole_study(tmp_path / "study.yaml").tasks
    assert set(task.systems) == {"cited", "outline", "brief", "passage"}
    assert task.entry.pairs_file is None


def test_a_track_s_files_become_a_study_with_measures(tmp_path):
    """Two commands lead to a served study; every source has its text, and judgments fit the answers."""
    assert "nuggets" in run("study", "new", tmp_path, TRACK, "--contact", "A", "--keep", "2030").output
    content = read_whole_study(tmp_path / "study.yaml")
    [task] = content.tasks
    assert (len(task.topics), set(task.systems), task.notes) == (12, {"thorough", "concise"}, ())
    assert task.topics[0].text == "Why are there two high tides a day?"
    measures = {name for name in task.files if name in {"nuggets", "support", "texts"}}
    assert measures == {"nuggets", "support", "texts"}


def test_a_question_with_a_title_is_read_as_title_and_text(tmp_path):
    """Topics of tracks may have both; a corpus of titled texts is not taken for them."""
    topics = [
        {"id": "tides", "title": "Tides", "narrative": "Why two a day?"},
        {"id": "leap", "title": "Leap years?", "narrative": "How often?"},
    ]
    for name in ("thorough.jsonl", "concise.jsonl"):
        lines = (TRACK / name).read_text().splitlines()
        kept = [line for line in lines if any(f'"{topic["id"]}"' in line for topic in topics)]
        (tmp_path / name).write_text("\n".join(kept) + "\n")
    (tmp_path / "segments.jsonl").write_bytes((TRACK / "segments.jsonl").read_bytes())
    (tmp_path / "asked.jsonl").write_text("".join(json.dumps(topic) + "\n" for topic in topics))
    assert "asked.jsonl" in run("study", "new", tmp_path, "--contact", "A", "--keep", "2030").output
    [task] = read_whole_study(tmp_path / "study.yaml").tasks
    assert [topic.text for topic in task.topics] == ["Tides: Why two a day?", "Leap years? How often?"]


@pytest.mark.parametrize("mark", [" ", "\t"])
def test_a_file_of_pairs_is_recognised_by_the_names_of_systems(tmp_path, mark):
    """With white space or tabs; the study judges exactly these."""
    (tmp_path / "which.txt").write_text(
        "".join(f"leaves{mark}{one}\n" for one in (f"cited{mark}brief", f"outline{mark}cited"))
    )
    said = run("study", "new", tmp_path, ANSWERS.parent, tmp_path / "which.txt").output
    assert f"  pairs        {tmp_path / 'which.txt'}\n" in said
    [task] = read_whole_study(tmp_path / "study.yaml").tasks
    assert task.system_pairs == {"leaves": (("cited", "brief"), ("cited", "outline"))}


def test_a_japanese_study_of_answers_goes_all_the_way(tmp_path, database_in):
    """Texts without spaces are recognised as texts; pages, and the time on each block and source, are there as in English."""
    answer = {
        "topic": "tennen",
        "text": "**根絶計画**によります[1]。",
        "citations": [{"label": "1", "title": "天然痘の根絶", "text": "最後の患者は1977年でした。"}],
    }
    (tmp_path / "cited.jsonl").write_text(json.dumps(answer) + "\n")
    (tmp_path / "brief.tsv").write_text("tennen\tワクチンの接種によって、世界からなくなりました。\n")
    (tmp_path / "topics.tsv").write_text("tennen\t天然痘はどのようにしてなくなりましたか\n")
    given = ("--contact", "山田", "--keep", "2030年", "--study", "tennen")
    assert "answer_pairs" in run("study", "new", tmp_path / "new", tmp_path, *given).output
    path = tmp_path / "new" / "study.yaml"
    preview = Preview(read_whole_study(path), tmp_path)
    [number] = [n for n, one in enumerate(preview.stations) if one.name == "First pair"]
    page = Client(preview).get(f"/open/{number}", follow_redirects=True).text
    assert "どちらの答え" in page
    assert "<summary>[1] 天然痘の根絶</summary>" in page
    simulated(path, tmp_path, database_in(tmp_path))
    reads = read_tables(tmp_path / "tables")["reads"]
    assert set(reads["language"]) == {"ja"}
    assert {"b1", "b1:1"} <= set(reads["item"])


def test_a_measure_that_needs_windows_is_refused_without_them():
    """A score of 0 would look like one."""
    from metrics.ranked.measures import TIANDCG
    from metrics.ranked.score import ranked_scores
    from metrics.readers.ranked import read_ranked_collection

    collection = read_ranked_collection(qrels=LISTS.parent / "collection/qrels.txt")
    with pytest.raises(InputError, match=r"TIA-nDCG@10 needs to know when documents are from; give a file"):
        ranked_scores(collection, [], [TIANDCG()])
