"""A kind of task that no other file knows goes all the way: check, preview, load, serve, crowd, export, agree and report.

This module is the recipe too: what stands between the two lines of dashes is all that a kind of task is. Workers read two paragraphs that
answer a question, and say which is better. A paragraph is worth its words to them.
"""

import csv
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

import pandas as pd
import pytest
from click.testing import CliRunner
from sqlalchemy import select
from werkzeug.test import Client

from calibration.tables.files import read_tables
from metrics.errors import Fault, InputError, input_fault
from study_app.cli import cli
from study_app.estimate.content import read_whole_study
from study_app.export.study_export import export_study
from study_app.preview.app import Preview
from study_app.preview.stations import PageRecipe
from study_app.protocol.sides import Side, text_block
from study_app.simulate.crowd_parameters import CrowdParameters
from study_app.simulate.trial import run_trial
from study_app.store.check import check_database
from study_app.store.database import open_database, transaction
from study_app.store.models import LoadedStudy
from study_app.study.entries import (
    ChosenTopicTask,
    Count,
    StudyFileModel,
    Text,
    collection_paths,
    expect_entry_type,
)
from study_app.tasks import kinds
from study_app.tasks.content import TaskContent, TopicContent, source_files
from study_app.tasks.task_kind import SideForm, TaskKind
from study_app.tasks.workload import (
    OPTIONS,
    PAIRS_ASSUMED,
    choosing,
    chosen_capacity,
    chosen_seconds,
    judging,
)

# --------------------------------------------------------------------------------------------------------------------


class QuestionFiles(StudyFileModel):
    """The collection: a line a question, its id and its words."""

    topics: Text


class Paragraphs(ChosenTopicTask):
    """Judge pairs of paragraphs that answer a question."""

    kind: Literal["paragraph_pairs"]
    collection: QuestionFiles
    workers_per_query: Count | None = 4


def _rows(path: Path) -> dict[str, str]:
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter="\t"))
    for line, row in enumerate(rows, start=1):
        if len(row) != 2:
            raise input_fault(
                f"2 columns expected, got {len(row)}", path=path, line=line, cure="write id, tab, text"
            )
    return dict(rows)


def _read(folder: Path, task: Paragraphs, faults: list[Fault]) -> TaskContent | None:
    try:
        topics = _rows(folder / task.collection.topics)
        runs = {name: _rows(folder / path) for name, path in task.systems.items()}
    except InputError as error:
        faults += error.faults
        return None
    return TaskContent(
        entry=task,
        files=source_files(folder, collection_paths(task)),
        systems=source_files(folder, task.systems),
        topics=tuple(TopicContent(id=name, text=text) for name, text in topics.items()),
        sides={
            (topic, name): Side((text_block(run[topic], key="r1", id=topic, kind="iunit"),))
            for name, run in runs.items()
            for topic in topics
        },
    )


def _entry(content: TaskContent) -> Paragraphs:
    return expect_entry_type(content.entry, Paragraphs)


def _worth(content: TaskContent, *_people: object) -> Mapping[tuple[str, str], float]:
    return {key: float(side.blocks[0].words) for key, side in content.sides.items()}


SIDE = """\
{% macro side(side, shown, content) %}
<section class="summary" data-side="{{ side }}" data-content="{{ content }}" aria-labelledby="title-{{ side }}">
<h2 id="title-{{ side }}">{{ t("paragraph." ~ side) }}</h2>
{% for one in shown %}<p data-item="{{ one.key }}">{{ one.text }}</p>{% endfor %}
</section>
{% endmacro %}
"""
ENGLISH = {
    "paragraph.heading": "Which paragraph is better?",
    "paragraph.topic": "The question",
    "paragraph.help": "Read both.",
    "paragraph.left": "Paragraph A",
    "paragraph.right": "Paragraph B",
    "guide.paragraph_pairs": "You will see a question and two paragraphs.\n\nSay which is better.",
    **{
        f"check.paragraph_pairs.{place}{option}": f"{place}{option}?"
        for place in ("first", "second")
        for option in ("", "_1", "_2", "_3")
    },
}
PARAGRAPH_PAIRS = TaskKind(
    entry=Paragraphs,
    criteria={"en": ("Does it answer the question?",), "ja": ("質問に答えていますか",)},
    cures={"collection": "write topics: FILE below it"},
    page="pair",
    unit="topic",
    wanted_key="queries_per_worker",
    limit_key="workers_per_query",
    topic="Question",
    read=_read,
    side=SideForm(name="paragraph"),
    check=(1, 2),
    seconds=lambda content: chosen_seconds(content, _entry(content)),
    assumed=PAIRS_ASSUMED,
    capacity=lambda content: chosen_capacity(content, _entry(content), _entry(content).workers_per_query),
    work=lambda content: f"{choosing(len(content.topics), 1)} and {judging(content, _entry(content))}",
    tables=frozenset({"preferences", "reads"}),
    worth=_worth,
    methods=lambda task: f"a worker judged paragraphs by {task.systems}: {OPTIONS}.",
    words={"en": ENGLISH, "ja": ENGLISH},
    templates={"sides/paragraph.html": SIDE, "examples/paragraph_pairs.html": "<p>An example.</p>"},
)

# --------------------------------------------------------------------------------------------------------------------

TOPICS = {"Q1": "What is a tram?", "Q2": "What is a ferry?", "Q3": "What is a bus?"}
RUNS = {
    "long": "It is a vehicle that carries people who have paid for it, {}, along a line that somebody drew",
    "short": "It is a vehicle, {}",
    "none": "Nobody knows, {}",
}
STUDY = """\
study: toy
title: A toy
consent: Please take part.
tasks:
  - kind: paragraph_pairs
    name: answers
    instructions: standard
    collection:
      topics: topics.tsv
    systems:
      long: long.tsv
      short: short.tsv
      none: none.tsv
    min_consistency: 0
"""
WORKERS = 6


def write_toy(folder: Path, text: str = STUDY) -> Path:
    """Write the toy study; returns its study file."""
    (folder / "topics.tsv").write_text("".join(f"{name}\t{words}\n" for name, words in TOPICS.items()))
    for name, words in RUNS.items():
        (folder / f"{name}.tsv").write_text("".join(f"{topic}\t{words.format(topic)}\n" for topic in TOPICS))
    (folder / "study.yaml").write_text(text)
    return folder / "study.yaml"


@pytest.fixture(scope="module", autouse=True)
def toy() -> Iterator[None]:
    """Put the kind into the table."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(kinds.KINDS, "paragraph_pairs", PARAGRAPH_PAIRS)
        yield


@pytest.fixture(scope="module")
def done(tmp_path_factory, database_in, toy):
    """A crowd went through the toy study over HTTP, and its tables were written."""
    folder = tmp_path_factory.mktemp("toy")
    url = database_in(folder)
    report, clock = run_trial(
        read_whole_study(write_toy(folder)), url, workers=WORKERS, truth=CrowdParameters(), seed=1
    )
    assert report.finished == WORKERS
    database = open_database(url)
    assert check_database(database) == []
    with transaction(database, write=False) as session:
        export_study(session, session.scalars(select(LoadedStudy)).one(), folder / "tables", now=clock())
    database.engine.dispose()
    return folder


def run(*args):
    """Run a command."""
    return CliRunner().invoke(cli, [*map(str, args)], catch_exceptions=False)


def test_check_says_what_its_workers_do(tmp_path):
    """What is done, what is collected, and what the minutes rest on."""
    output = run("study", "check", write_toy(tmp_path)).output
    assert "task 1, answers (paragraph_pairs, en)" in output
    assert "chooses 1 of 3 queries and judges 3 pairs of 3 systems, 3 of them twice" in output
    assert "12 workers; 4 judgments of each of 9 pairs" in output
    assert "s to decide on a pair" in output


@pytest.mark.parametrize(
    ("was", "instead", "said"),
    [
        ("topics: topics.tsv", "topcis: topics.tsv", "tasks.1.collection.topcis is not known; did you mean 'topics'?"),
        ("  min_consistency: 0", "  workers_per_qury: 2", "tasks.1.workers_per_qury is not known; did you mean 'workers_per_query'?"),
        ("paragraph_pairs", "paragraph_pair", "tasks.1: no such kind of task; did you mean 'paragraph_pairs'?"),
    ],
)  # fmt: skip
def test_its_faults_are_told_as_those_of_any_kind(tmp_path, was, instead, said):
    """With the line, and the nearest known name."""
    with pytest.raises(InputError) as error:
        run("study", "check", write_toy(tmp_path, STUDY.replace(was, instead)))
    assert any(said in str(fault) for fault in error.value.faults)


def test_a_fault_of_its_files_has_its_line(tmp_path):
    """What the kind's own reader finds."""
    path = write_toy(tmp_path)
    (tmp_path / "short.tsv").write_text("Q1\tone\nQ2\n")
    with pytest.raises(InputError, match=r"short\.tsv:2: 2 columns expected, got 1; write id, tab, text"):
        run("study", "check", path)


def test_a_side_with_nothing_to_see_is_refused(tmp_path):
    """Which system and topic, and in which file; a worker would find an empty place."""
    path = write_toy(tmp_path)
    (tmp_path / "short.tsv").write_text("Q1\tone\nQ2\t \nQ3\tthree\n")
    with pytest.raises(InputError) as told:
        run("study", "check", path)
    assert [str(fault).removeprefix(f"{tmp_path}/") for fault in told.value.faults] == [
        "study.yaml:8: there is nothing to see in what short shows of topic Q2; give its lines in short.tsv words, a picture or a sound"
    ]


def test_every_page_of_it_can_be_previewed(tmp_path):
    """Its introduction with example and check, its choice, its pairs."""
    (tmp_path / "copies").mkdir()
    preview = Preview(read_whole_study(write_toy(tmp_path)), tmp_path / "copies")
    client = Client(preview)
    of_task = {
        one.name: number
        for number, one in enumerate(preview.stations)
        if isinstance(one, PageRecipe) and one.part == "Task 1: answers"
    }
    texts = {
        name: client.get(f"/open/{number}", follow_redirects=True).text for name, number in of_task.items()
    }
    assert list(texts) == ["Introduction", "Choice", "First pair", "Second pair"]
    assert "You will see a question and two paragraphs." in texts["Introduction"]
    assert "An example." in texts["Introduction"]
    assert "What is a tram?" in texts["Choice"]
    assert "Which paragraph is better?" in texts["First pair"]
    assert "It is a vehicle" in texts["First pair"] + texts["Second pair"]
    assert "Does it answer the question?" in texts["First pair"]


def test_what_its_workers_did_is_exported(done):
    """Three pairs of a question and three repeats for each worker, and what was read of them."""
    tables = read_tables(done / "tables")
    assert len(tables["preferences"]) == WORKERS * 6
    assert set(tables["preferences"]["task"]) == {"answers"}
    assert set(tables["reads"]["kind"]) == {"iunit"}
    assert not {"searches", "stops"} & set(tables)


def test_measures_of_ones_own_are_held_against_its_preferences(done, tmp_path):
    """The crowd prefers the longer paragraph; so does a measure that counts words."""
    scores = [(name, topic, "length", len(words.split())) for name, words in RUNS.items() for topic in TOPICS]
    pd.DataFrame(scores, columns=["run", "topic", "metric", "value"]).to_csv(
        tmp_path / "scores.csv", index=False
    )
    out = tmp_path / "agree"
    result = run("agree", done / "tables", "--scores", tmp_path / "scores.csv", "-o", out)
    agreement = pd.read_csv(out / "agreement.csv")
    assert result.exit_code == 0
    assert set(agreement["measure"]) == {"length"}
    assert agreement["agreement"].max() > 0.5


def test_without_such_measures_agree_says_how_to_give_them(done, tmp_path):
    """Prefcal has none of its own for a kind that it does not know."""
    said = "prefcal has no measures for tasks of kind paragraph_pairs; yours can be given with --scores"
    with pytest.raises(InputError, match=said) as caught:
        run("agree", done / "tables", "-o", tmp_path / "agree")
    assert "positions" not in str(caught.value)


def test_the_report_tells_what_its_workers_did(done, tmp_path):
    """In its methods, with systems, options, criteria and repeats."""
    shutil.copytree(done / "tables", tmp_path / "tables")
    run("report", tmp_path)
    page = "\n".join(path.read_text(encoding="utf-8") for path in tmp_path.rglob("*.html"))
    assert "a worker judged paragraphs by 3 systems: left better" in page
    assert "Does it answer the question?" in page
    assert "3 pairs were shown again" in page


def test_a_study_with_it_can_be_loaded_again(done):
    """Its limit may be raised, a smaller one would harm answers."""
    path = done / "study.yaml"
    url = f"sqlite:///{done / 'again.sqlite3'}"
    assert "loaded toy" in run("study", "load", path, "--database", url).output
    path.write_text(STUDY.replace("min_consistency: 0", "workers_per_query: 9"))
    changed = run("study", "load", path, "--database", url).output
    assert "tasks.1.workers_per_query: 4 -> 9" in changed
