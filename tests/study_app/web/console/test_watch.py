"""What somebody learns who may only watch, and that whoever sees results is on record."""

import itertools
import re

import pytest
from sqlalchemy import select

from study_app.simulate.browser import PageLog
from study_app.store.console_models import ResultsView
from study_app.store.models import Judgment, PageLoad, Showing, Worker
from study_app.web.console.timeline import SHOW_SYSTEMS
from tests.study_app.prefcal_command import run_here
from tests.study_app.small_study import SYSTEMS, pairs_task
from tests.study_app.web.console.console_client import acts, text_of, token, watcher

WINDOW = (412, 800)
RANDOM = re.compile(r"\b(?:[0-9a-f]{64}|[0-9a-f]{8})\b")
"""The token of a form, and the number of a request."""


def answer(study, visitor, choice):
    """Let a worker answer a pair, with the page's log."""
    log = PageLog(visitor.page_token, study.clock(), layout="stacked", size=WINDOW)
    log.wait(2)
    log.note("choice", choice=choice)
    log.note("submit", choice=choice)
    for batch in log.batches(10):
        visitor.client.post(visitor.html.body["data-events"], json=batch)
    study.clock.forward(10)
    visitor.send(choice=choice)


def console_pages(study):
    """Every address of the console that is asked for, of every worker, page and job."""
    workers = [row[0] for row in study.rows(select(Worker.pseudonym).order_by(Worker.id))]
    pages = [
        (study.rows(select(Worker.pseudonym).where(Worker.id == load.worker_id))[0][0], load.key)
        for (load,) in study.rows(select(PageLoad).order_by(PageLoad.id))
    ]
    for rule in sorted(study.app.url_map.iter_rules(), key=str):
        if not rule.rule.startswith("/r/<study>") or "GET" not in rule.methods or "sign" in rule.rule:
            continue
        path = rule.rule.replace("<study>", "small").replace("<int:number>", "1").replace("<name>", "pay")
        for worker, key in [*pages, *((worker, "") for worker in workers)]:
            if "<key>" not in path or key:
                yield path.replace("<pseudonym>", worker).replace("<key>", key)
            if "<pseudonym>" not in path:
                break


def seen(study, client):
    """All that a client sees of a study, without the random names in it."""
    names = {row[0]: f"worker {number}" for number, row in enumerate(study.rows(select(Worker.pseudonym)))}
    names |= {row[0]: f"page {number}" for number, row in enumerate(study.rows(select(PageLoad.key)))}
    found = []
    for path in console_pages(study):
        answer = client.get(path)
        text = RANDOM.sub("", f"{path} {answer.status_code} {answer.get_data(as_text=True)}")
        for name, plain in names.items():
            text = text.replace(name, plain)
        found.append(text)
    return found


def test_no_page_of_a_key_to_watch_depends_on_what_anybody_answered(new_campaign):
    """All pages after each answer, in studies that differ in the answers alone; with them the sides and the pages' logs stay the same."""
    answers = [
        ("left", "left", "right"),
        ("right", "equally_good", "left"),
        ("equally_bad", "right", "right"),
    ]
    studies = [new_campaign(f"study{number}", tasks=[pairs_task()]) for number, _ in enumerate(answers)]
    clients = [watcher(study) for study in studies]
    seen_by = [[] for _ in studies]
    for study, client, given, told in zip(studies, clients, answers, seen_by, strict=True):
        visitor = study.at_pairs("ann")
        for choice in given:
            answer(study, visitor, choice)
            study.clock.forward(60)
            told.append(seen(study, client))
    for one, other in itertools.pairwise(seen_by):
        for page, page_of_other in zip(itertools.chain(*one), itertools.chain(*other), strict=True):
            assert page == page_of_other
    assert len(seen_by[0][-1]) > 20
    assert sum(" 200 " in text for text in seen_by[0][-1]) > 9
    assert study_looks(studies[0]) == []


def study_looks(study):
    return [(look.judgments, look.at) for (look,) in study.rows(select(ResultsView).order_by(ResultsView.id))]


@pytest.fixture
def study(campaign):
    one = campaign(tasks=[pairs_task()])
    visitor = one.at_pairs("ann")
    for choice in ("left", "right", "left"):
        answer(one, visitor, choice)
    return one


def replays(study):
    """The addresses of all replays, those of pages with systems first."""
    rows = study.rows(
        select(Worker.pseudonym, PageLoad.key, PageLoad.step)
        .join(Worker, Worker.id == PageLoad.worker_id)
        .order_by(PageLoad.id)
    )
    found = [
        (step.split("/")[2] if step.count("/") > 1 else step, f"/r/small/people/{one}/replay/{key}")
        for one, key, step in rows
    ]
    return [path for kind, path in found if kind in SHOW_SYSTEMS], [
        path for kind, path in found if kind not in SHOW_SYSTEMS
    ]


def test_a_replay_of_a_pair_is_a_look_at_results_once_for_each_key_and_page(study):
    """Its frame and moments are the same look; a key to watch has none of them, and the person's page leads to none."""
    looking, acting = watcher(study), study.console()
    pairs, _ = replays(study)
    assert len(pairs) == 3
    for path in pairs:
        for more in ("", "?at=100", "/page", "/page?at=1", "/moments"):
            refused = looking.get(f"{path}{more}")
            assert (refused.status_code, "It needs the role manage" in refused.text) == (403, True)
    assert study_looks(study) == []
    person = pairs[0].partition("/replay/")[0]
    assert "/replay/" not in looking.get(person).text
    assert "which side was picked" in text_of(looking.get(person))
    assert acting.get(person).text.count("/replay/") >= 3
    for path in pairs[:2]:
        for more in ("", "?at=100", "/page", "/page?at=1", "/moments"):
            assert acting.get(f"{path}{more}").status_code == 200
    assert [judgments for judgments, _ in study_looks(study)] == [3, 3]
    assert [what for what, _ in acts(study)].count("replay a page with systems") == 2
    assert acts(study)[-1][1].endswith("pair 2, of 2026-03-01 12:00:10")
    assert "looked at 2 times" in text_of(acting.get("/r/small/data"))


def test_a_key_to_watch_sees_neither_sides_nor_what_was_answered(study):
    """Neither of one person nor of all; the counts of a pair are those of both sides."""
    looking, acting = watcher(study), study.console()
    person = replays(study)[0][0].partition("/replay/")[0]
    for page, words in ((person, "left, after"), ("/r/small/", "left 2, right 1")):
        assert words in text_of(acting.get(page))
        assert words not in text_of(looking.get(page))
    assert "answered, after" in text_of(looking.get(person))
    for client in (looking, acting):
        table = text_of(client.get("/r/small/material"))
        assert all(system in table for system in SYSTEMS)
        assert "on the left, after" not in table
        assert not re.search(r"\d \(\d+, \d+\)", table)


def test_an_export_is_a_look_that_later_ones_tell_of(study, tmp_path, monkeypatch, capsys):
    """The tables have every vote. A job of the console is none before somebody takes its tables."""
    database = str(study.database.engine.url.render_as_string(hide_password=False))
    for number in (1, 2):
        done = run_here(monkeypatch, capsys, "export", tmp_path / f"tables{number}", "--database", database)
        assert done.code == 0, done.err
    assert "results_opened" not in (tmp_path / "tables1" / "study.json").read_text()
    assert (tmp_path / "tables2" / "study.json").read_text().count('"judgments": 3') == 1
    assert [judgments for judgments, _ in study_looks(study)] == [3, 3]
    refused = run_here(
        monkeypatch, capsys, "export", tmp_path / "tables1" / "study.json", "--database", database
    )
    assert refused.code == 1
    assert len(study_looks(study)) == 2
    assert len(study.rows(select(Judgment.id).join(Showing, Showing.id == Judgment.showing_id))) == 3
    assert token(study.console())
