"""A running study whose texts are mended and that is extended, while people are at work."""

from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from sqlalchemy import func, select

from calibration.tables.study_json import read_study
from study_app.estimate.content import read_whole_study
from study_app.export.study_export import export_study
from study_app.services.researcher.load import LoadRefusedError, load_study
from study_app.services.worker.adaptive import load_search
from study_app.services.worker.availability import open_pairs
from study_app.services.worker.worker_progress import load_progress
from study_app.store.database import transaction
from study_app.store.models import Judgment, LoadedStudy, PageLoad, Pair, Slot, Worker
from study_app.store.study_cache import StudyCache
from study_app.store.task_models import PastText, StudyLoad
from tests.study_app.conftest import Campaign
from tests.study_app.small_answers import Texts, answers, write_answers
from tests.study_app.small_study import QUERIES, pairs_task
from tests.study_app.visitor import Visitor

pytestmark = pytest.mark.both_databases


@pytest.fixture
def running(tmp_path, new_url):
    """Serve a study of answers, three systems for two questions unless said otherwise."""
    made = []

    def make(texts: Texts | None = None, **task: Any) -> Campaign:
        study = Campaign(tmp_path, new_url(tmp_path))
        study.load_file(write_answers(tmp_path, texts or answers(2), **task))
        made.append(study.serve())
        return study

    yield make
    for study in made:
        study.database.engine.dispose()


def load(study: Campaign, path: Path, *accepted: str) -> Any:
    """Load a study file into the served database, as the command does."""
    content = read_whole_study(path)
    with transaction(study.database, write=True) as session:
        return load_study(session, content, now=study.clock(), accept_texts=accepted)


def refusals(study: Campaign, path: Path, *accepted: str) -> str:
    """Return why a load is refused; nothing may have changed by it."""
    before = study.everything()
    with pytest.raises(LoadRefusedError) as caught:
        load(study, path, *accepted)
    assert study.everything() == before
    return str(caught.value)


def exported(study: Campaign, folder: Path) -> tuple[pd.DataFrame, Any]:
    """Export the study; return table preferences and study.json."""
    with transaction(study.database, write=False) as session:
        row = session.scalars(select(LoadedStudy)).one()
        export_study(session, row, folder, now=study.clock(), exact_times=True)
    return pd.read_csv(folder / "preferences.csv"), read_study(folder)


def see(study: Campaign, visitor: Visitor, item: str = "f0") -> None:
    """Log that an item of both sides was on the screen for some seconds."""
    wall = round(study.clock().timestamp() * 1000)
    events = [
        {"n": 1, "kind": "page", "ms": 0, "wall": wall, "width": 1280, "height": 800, "layout": "columns"}
    ]
    events = [
        {"n": number, "kind": "see", "ms": 10, "wall": wall + 10, "side": side, "item": item, "share": 1}
        for number, side in enumerate(("left", "right"), start=1)
    ]
    batch = {"page": visitor.page_token, "sent_ms": 20, "sent_wall_ms": wall + 20, "events": events}
    assert visitor.client.post(f"/e/{visitor.token}", json=batch).json == {"upto": 2}


def test_a_mended_text_is_shown_from_then_on_and_both_versions_stay_on_record(running, tmp_path):
    """The page that was open counts for the text that it showed, whenever its answer comes."""
    study = running(answers(1, "ab"), judgments_per_pair=None)
    early, at_work, open_page = (study.arrive(name).send() for name in ("ann", "bob", "cleo"))
    study.judge_all(early)
    see(study, open_page)
    texts = answers(1, "ab")
    texts["sysa"]["T1"] = "A much longer answer of a to one, mended."
    path = write_answers(tmp_path, texts, judgments_per_pair=None, questions={"T1": "What of T1, please?"})

    reason = refusals(study, path)
    assert "answers/T1: question: What about T1? -> question: What of T1, please?" in reason.replace("…", "")
    assert "answers/T1, system sysa: Answer a to 1. -> A much longer answer of a to one, mended." in reason
    assert "study.yaml:7: " in reason
    assert "--accept-text answers/T1" in reason
    assert "answers/T9: there is no such topic; did you mean answers/T1" in refusals(
        study, path, "answers/T9"
    )

    report = load(study, path, "answers/T1")
    assert [change.verdict for change in report.differences if change.text] == ["text", "text"]
    assert at_work.open(at_work.path).text.count("mended") == 1
    assert "What of T1, please?" in at_work.text
    study.clock.forward(10)
    at_work.send(choice="left")
    open_page.send(choice="left")
    late = study.judge_all(study.arrive("dora").send())
    assert [visitor.step for visitor in (early, at_work, open_page, late)] == ["finish"] * 4
    assert "answers/T1: its texts are those that workers see already" in refusals(study, path, "answers/T1")

    preferences, record = exported(study, tmp_path / "tables")
    assert preferences["text_version"].tolist().count(1) == 2
    assert sorted(preferences["text_version"]) == [1, 1, 2, 2]
    question, side = record.mended_texts
    assert (question.system, question.before, question.after) == (
        None,
        "question: What about T1?",
        "question: What of T1, please?",
    )
    assert (side.system, side.before, side.after) == ("sysa", "Answer a to 1.", texts["sysa"]["T1"])
    assert side.sha256_before != side.sha256_after
    assert side.text_version == question.text_version == 2
    assert [(text.judgments_before, text.judgments_after) for text in (question, side)] == [(2, 2)] * 2
    assert "2 texts were mended while the study ran" in record.mends
    assert "(2 judgments saw the text before, 2 the one after)" in record.mends
    assert record.loads[0].study_sha256 == record.study_sha256
    assert [change.what for change in record.loads[0].changes].count("text") == 2
    reads = pd.read_csv(tmp_path / "tables" / "reads.csv")
    assert set(reads["words"]) == {4}  # of the text that the logged page showed, not of the longer one


def test_a_replay_shows_the_texts_that_the_page_showed(running, tmp_path):
    """Whatever was mended since, question and answer; a page of after shows what stands now."""
    study = running(answers(1, "ab"), judgments_per_pair=None)
    visitor = study.arrive("ann").send()
    see(study, visitor)
    texts = answers(1, "ab")
    for number in (1, 2):
        texts["sysa"]["T1"] = f"Mended {number}."
        path = write_answers(
            tmp_path, texts, judgments_per_pair=None, questions={"T1": f"Question {number}?"}
        )
        load(study, path, "answers/T1")
        study.clock.forward(10)
        see(study, visitor.open(visitor.path))
    keys = [key for (key,) in study.rows(select(PageLoad.key).order_by(PageLoad.id))]
    [name] = study.rows(select(Worker.pseudonym))[0]
    client, pages = study.console(), []
    for key in keys:
        page = client.get(f"/r/small/people/{name}/replay/{key}/page").text
        told = "Texts were mended since" in client.get(f"/r/small/people/{name}/replay/{key}").text
        words = ("What about T1?", "Answer a to 1.", "Question 1?", "Mended 1.", "Question 2?", "Mended 2.")
        pages.append(([word for word in words if word in page], told))
    assert pages == [
        (["What about T1?", "Answer a to 1."], True),
        (["Question 1?", "Mended 1."], True),
        (["Question 2?", "Mended 2."], False),
    ]


def test_new_topics_systems_and_pairs_disturb_nobody_and_counts_go_on(running, tmp_path):
    """Who is done stays done, who is at work has as much to do as before, and the least judged pairs come first."""
    study = running(answers(2), judgments_per_pair=1, pairs_per_worker=7)
    done, at_end, at_work = (study.arrive(name).send() for name in ("ann", "bob", "cleo"))
    for visitor in (done, at_end, at_work):
        study.clock.forward(5)
        visitor.send(choice="left")
    study.judge_all(done)
    assert done.step == "finish"
    done.send()
    code = done.text
    study.judge_all(at_end)
    assert at_end.step == "finish"
    study.clock.forward(60)
    before = study.rows(select(Pair.id, Pair.shown_a_left, Pair.shown_b_left).order_by(Pair.id))
    held = study.rows(select(func.count()).select_from(Slot))

    path = write_answers(tmp_path, answers(6, "abcd"), judgments_per_pair=3, pairs_per_worker=7)
    report = load(study, path)
    assert {change.verdict for change in report.differences} == {"allowed", "extends"}
    assert "answers: 4 new topics (24 pairs): T3, T4, T5, T6" in report.changes
    assert "answers: 6 new pairs of 2 topics there already" in report.changes
    assert study.rows(select(Pair.id, Pair.shown_a_left, Pair.shown_b_left).order_by(Pair.id))[:6] == before
    assert study.rows(select(func.count()).select_from(Slot)) == held

    assert done.open(done.home).text == code
    assert at_end.open(at_end.home).step == "finish"
    at_end.send()
    assert at_end.step.startswith("done")
    study.judge_all(at_work)
    assert at_work.step == "finish"
    of_cleo = select(func.count()).select_from(Judgment)
    assert study.rows(of_cleo)[0][0] <= 6 + 6  # six pairs were all when they came: none has more
    fresh = study.arrive("dora").send()
    study.judge_all(fresh)
    newest = study.rows(select(Slot.unit).order_by(Slot.id.desc()).limit(7))
    assert all(pair > 6 for (pair,) in newest)  # nobody had judged the added pairs
    arrived = [study.arrive(f"w{number}") for number in range(18)]
    everybody = [study.judge_all(visitor.send()) for visitor in arrived if visitor.status == 200]
    assert {visitor.step for visitor in everybody} <= {"finish", "s/small", "/s/small", "full"}
    times = Counter(pair for (pair,) in study.rows(select(Slot.unit)))
    assert max(times.values()) <= 3
    _, record = exported(study, tmp_path / "tables")
    assert "The study was extended while it ran" in record.growth
    assert record.mends is None


@pytest.mark.parametrize("pairs", ["all", {"adaptive": "best", "budget": 20}])
def test_pairs_that_come_while_a_form_is_stored_wait_for_the_next_one(running, tmp_path, pairs):
    """A form that read the study a moment before the load gets one of the pairs that it knows."""
    study = running(answers(2), pairs=pairs)
    visitor = study.arrive("ann").send()
    plans, now = StudyCache(), study.clock()
    with transaction(study.database, write=False) as session:
        worker = session.scalars(select(Worker.id)).one()
        before = load_progress(session, plans, worker, now=now)
    visitor.send(choice="left")
    load(study, write_answers(tmp_path, answers(6, "abcd"), pairs=pairs))
    task = before.plan.tasks[0]
    with transaction(study.database, write=False) as session:
        if pairs == "all":
            offered = set(open_pairs(session, task, besides=(), now=now))
        else:
            offered = {
                tally.pair for each in load_search(session, task, now=now).searches for tally in each.tallies
            }
    assert offered == set(task.pairs)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda texts: texts["sysa"].update(T1=texts["sysb"]["T1"]), "it would show what sysb showed"),
        (
            lambda texts: (texts["sysa"].update(T1="Both."), texts["sysb"].update(T1="Both.")),
            "it would show the same as sysb",
        ),
        (
            lambda texts: (
                texts["sysa"].update(T1="Answer b to 1.") or texts["sysb"].update(T1="Answer a to 1.")
            ),
            "system sysb: it would show what sysa showed",
        ),
        (lambda texts: texts.pop("sysc"), "answers: system sysc is no longer named, which would corrupt"),
        (lambda texts: [of.pop("T2") for of in texts.values()], "answers: topic T2 vanishes"),
        (lambda texts: texts["sysc"].pop("T2"), "answers: sysc shows nothing of topic T2 any more"),
    ],
)
def test_what_changes_what_is_compared_is_refused_by_name(running, tmp_path, change, reason):
    """Nothing is half done, also where another text was accepted."""
    study = running()
    study.arrive("ann").send().send(choice="left")
    texts = answers(2)
    change(texts)
    assert reason in refusals(study, write_answers(tmp_path, texts), "answers/T1")


def test_a_load_says_in_words_what_happened_to_files_topics_and_texts(running, tmp_path):
    """No digest, and no place by number; a name without a topic leads to the texts that differ."""
    study = running()
    study.arrive("ann").send().send(choice="left")
    texts = answers(4)
    texts["sysa"]["T1"] = "Answer a to one."
    path = write_answers(tmp_path, texts)
    reason = refusals(study, path, "answers")
    assert "answers: there is no such topic; texts of answers/T1 differ; name topics" in reason
    report = load(study, path, "answers/T1")
    assert sorted(report.changes) == [
        "answers/T1, system sysa: Answer a to 1. -> Answer a to one.",
        "answers: 2 new topics (6 pairs): T3, T4",
        *(f"answers: the file of system {name} has changed" for name in ("sysa", "sysb", "sysc")),
        "answers: the file of topics has changed",
    ]
    (tmp_path / "topics.tsv").rename(tmp_path / "asked.tsv")
    path.write_text(path.read_text().replace("topics.tsv", "asked.tsv"))
    assert load(study, path).changes == ("answers: the file of topics was topics.tsv, and is asked.tsv now",)


def test_questions_that_swap_and_pairs_that_vanish_are_refused(running, tmp_path):
    """An answer would be to another question."""
    study = running()
    study.arrive("ann").send().send(choice="left")
    swapped = {"T1": "What about T2?", "T2": "What about T1?"}
    path = write_answers(tmp_path, answers(2), questions=swapped)
    assert "answers: topic T1 gets the text of topic T2" in refusals(study, path, "answers/T1", "answers/T2")
    (tmp_path / "pairs.tsv").write_text("T1\tsysa\tsysb\nT2\tsysa\tsysb\n")
    path = write_answers(tmp_path, answers(2), pairs="pairs.tsv")
    assert "answers: topic T1: the pair of sysa and sysc" in refusals(study, path)


def test_a_text_is_accepted_only_where_somebody_has_answered(running, tmp_path):
    """Before that everything may change, and there is no version to keep."""
    study = running()
    study.arrive("ann")
    texts = answers(2)
    texts["sysa"]["T1"] = "Another one."
    path = write_answers(tmp_path, texts)
    assert "nobody has answered anything yet" in refusals(study, path, "answers/T1")
    load(study, path)
    assert study.rows(select(func.count()).select_from(PastText)) == [(0,)]
    assert study.rows(select(func.count()).select_from(StudyLoad)) == [(0,)]


def test_numbers_on_an_open_list_of_queries_hold_when_queries_are_added(campaign):
    """Who picked a query before the load gets that query after it."""
    study = campaign(tasks=[pairs_task(workers_per_query=None, queries_per_worker=2)])
    study.at_pairs("ann")
    visitors = [study.arrive(f"w{number}").send() for number in range(6)]
    offered = [visitor.options("topic") for visitor in visitors]
    collection = study.folder / "queries.tsv"
    more = {f"SYQ-{number}": f"query {number}" for number in range(3, 9)}
    collection.write_text(
        "".join(f"{name}\t{text}\n" for name, text in ({"SYQ-3": more.pop("SYQ-3")} | QUERIES | more).items())
    )
    for name, rows in (
        ("intents", [f"SYQ-{n}\tSYI-{n}0\tintent {n}\n" for n in range(3, 9)]),
        ("iunits", [f"SYQ-{n}\tSYU-{n}0\tiunit {n}\n" for n in range(3, 9)]),
    ):
        file = study.folder / f"{name}.tsv"
        file.write_text(file.read_text() + "".join(rows))
    for file in study.folder.glob("sys*.xml"):
        results = "".join(
            f'<result qid="SYQ-{n}"><first><iunit uid="SYU-{n}0"/></first></result>' for n in range(3, 9)
        )
        file.write_text(file.read_text().replace("</results>", f"{results}</results>"))
    study.clock.forward(60)
    report = load(study, study.folder / "study.yaml")
    study.clock.forward(60)
    assert report.outcome == "changed"
    assert visitors[0].open(visitors[0].path).step == "1/choose"
    assert len(visitors[0].options("topic")) == 8
    for visitor, before in zip(visitors, offered, strict=True):
        assert list(visitor.open(visitor.path).options("topic").items())[:2] == list(before.items())
        number, text = next(iter(before.items()))
        visitor.send(topic=number)
        assert text in visitor.text
    firsts = {next(iter(study.arrive(f"n{number}").send().options("topic").values())) for number in range(8)}
    assert firsts - set(QUERIES.values())  # who comes later gets the added ones among the others
