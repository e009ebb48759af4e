"""Ratings, answers and tries in the export: what was done is what stands in the tables."""

import csv
import json

import pytest
from sqlalchemy import select

from calibration.tables.files import read_tables
from study_app.export import export_study
from study_app.services.worker.ends import withdraw
from study_app.store.database import transaction
from study_app.store.models import LoadedStudy, Worker
from tests.study_app.conftest import Campaign
from tests.study_app.prefcal_command import run_here
from tests.study_app.small_tasks import ANSWERS, pass_check, questions_task, rate_all, rating_task, shown


@pytest.fixture(scope="module")
def done(tmp_path_factory, database_in):
    """What two people rated, (intent, iunit) -> rating each, and the folder of the export; a third withdrew."""
    folder = tmp_path_factory.mktemp("rated")
    study = Campaign(folder, database_in(folder))
    study.load(
        tasks=[
            questions_task(),
            rating_task(instructions="standard", intents_per_worker=4, assessors_per_iunit=3),
        ]
    )
    study.serve()
    given = {}
    for number, name in enumerate(("ann", "bob")):
        worker = study.arrive(name).send().send(**ANSWERS)
        pass_check(pass_check(worker, 1, 1), 3, 1)
        rated = given[name] = {}
        while "/rate/" in worker.step:
            intent, fields = shown(worker)
            ratings = {field: (place + number) % 5 for place, field in enumerate(sorted(fields), start=1)}
            rated |= {(intent, iunit): ratings[field] for field, iunit in fields.items()}
            worker.send(**{field: str(rating) for field, rating in ratings.items()})
    worker.open(f"{worker.home}1/1/questions").send(**{**ANSWERS, "q-age": "26.5", "q-more": "Good"})
    worker.open(f"{worker.home}2/1/rate/1")
    intent, fields = shown(worker)
    worker.send(**dict.fromkeys(fields, "4"))
    rated |= dict.fromkeys(((intent, iunit) for iunit in fields.values()), 4)
    rate_all(pass_check(study.arrive("cid").send().send(**ANSWERS), 3, 1))
    with transaction(study.database, write=True) as session:
        code = session.scalars(select(Worker.withdrawal_code).where(Worker.number == 3)).one()
        withdraw(session, code, now=study.clock())
    with transaction(study.database, write=False) as session:
        export_study(session, session.get_one(LoadedStudy, 1), folder / "tables", now=study.clock(), raw=True)
        came = session.scalars(select(Worker.pseudonym).order_by(Worker.number)).all()
    study.database.engine.dispose()
    return given, folder / "tables", came


@pytest.fixture(scope="module")
def tables(done):
    """The exported tables, checked."""
    return read_tables(done[1])


def raw(done, name):
    """Return the rows of a raw table, in the order in which people came."""
    with (done[1] / "raw" / f"{name}.csv").open(encoding="utf-8") as file:
        return sorted(csv.DictReader(file), key=lambda row: done[2].index(row["worker"]))


def test_every_rating_is_a_row_as_it_finally_stands(done, tables):
    """One for each worker, intent and iUnit; who withdrew is not in it."""
    importance = tables["importance"]
    expected = [rated for _, rated in sorted(done[0].items())]
    found = [
        {(row.intent, row.iunit): row.rating for row in rows.itertuples()}
        for _, rows in sorted(importance.groupby("worker"), key=lambda one: done[2].index(one[0]))
    ]
    assert found == expected
    assert [len(rated) for rated in found] == [16, 16]
    assert set(importance["topic"]) == {"SYQ-1", "SYQ-2"}


def test_every_answer_is_a_row_and_every_option_ticked_one_of_its_own(done, tables):
    """Numbers as people write them; what was left out has no row."""
    answers = tables["answers"]
    first, second = (
        list(rows[["question", "value"]].itertuples(index=False, name=None))
        for _, rows in sorted(answers.groupby("worker"), key=lambda one: done[2].index(one[0]))
    )
    chosen = [("phone", "Now and then"), ("where", "At home"), ("where", "At work")]
    assert first == [("age", "25"), *chosen]
    assert second == [("age", "26.5"), *chosen, ("more", "Good")]
    assert set(answers["task"]) == {"about"}


def test_raw_has_every_revision_every_try_and_every_sheet_that_was_drawn(done):
    """For those who would decide differently."""
    assert [(row["number"], row["answers"], row["passed"]) for row in raw(done, "introductions")] == [
        ("1", "[1, 1]", "false"),
        ("2", "[3, 1]", "true"),
    ] * 2
    sheets = raw(done, "sheets")
    assert len(sheets) == 16
    assert {row["sheet"] for row in sheets} == {"1", "2"}
    ratings = raw(done, "ratings")
    assert [row["revision"] for row in ratings].count("2") == 1
    shown_first = {(row["worker"], row["intent"], row["sheet"]): json.loads(row["iunits"]) for row in sheets}
    for row in ratings:
        assert list(json.loads(row["ratings"])) == shown_first[row["worker"], row["intent"], row["sheet"]]
    ages = [json.loads(row["answers"])["age"] for row in raw(done, "replies")]
    assert ages == [25, 25, 26.5]


def test_a_study_of_nothing_but_ratings_becomes_a_collection(done, tmp_path, monkeypatch, capsys):
    """`fit` writes the mean ratings, with which runs can be scored; what it cannot fit it says."""
    ended = run_here(monkeypatch, capsys, "fit", done[1], "-o", tmp_path / "model.json")
    assert ended.code == 0
    lines = (tmp_path / "collection" / "importance.tsv").read_text(encoding="utf-8").splitlines()
    means = {key: (done[0]["ann"][key] + done[0]["bob"][key]) / 2 for key in done[0]["ann"]}
    found = {tuple(line.split("\t")[1:3]): float(line.split("\t")[3]) for line in lines}
    assert found == means
    assert not (tmp_path / "collection" / "probability.tsv").exists()
    assert "Traceback" not in ended.err
