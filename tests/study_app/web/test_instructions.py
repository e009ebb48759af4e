"""Instructions, example, check and the words above the first pair speak of nothing that the pages of the study lack."""

import json

import pytest
import yaml
from sqlalchemy import update

from study_app.store.database import transaction
from study_app.store.models import Topic
from study_app.tasks.kinds import KINDS
from tests.study_app.conftest import Campaign
from tests.study_app.small_pushes import pushes_task, write_push_files
from tests.study_app.small_ranked import write_ranked_study
from tests.study_app.small_streams import SYSTEMS, streams_task, write_events
from tests.study_app.small_study import pairs_task, write_small_study

SOURCE = {"label": "1", "title": "A book", "text": "It says so."}
EVERY_DAY = {
    name: [("SYP-1", "SYT-a", 0), ("SYP-1", "SYT-y", 0), ("SYP-1", "SYT-c", 0)]
    for name in ("sysfast", "sysslow")
}


def write_study(folder, task, **study):
    """Write a study of one task with prefcal's own introduction."""
    whole = {"study": "small", "title": "Small", "consent": "Please.", "tasks": [task], **study}
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump(whole, sort_keys=False, allow_unicode=True), encoding="utf-8")
    return path


def summaries(folder, *, layers, **changes):
    path = write_small_study(folder, tasks=[pairs_task(**changes)])
    if not layers:
        for name in ("sysalpha", "sysbeta"):
            results = "".join(
                f'<result qid="{query}"><first><iunit uid="{iunit}"/></first></result>'
                for query, iunit in (("SYQ-1", "SYU-1"), ("SYQ-2", "SYU-5"))
            )
            (folder / f"{name}.xml").write_text(f"<results><sysdesc>x</sysdesc>{results}</results>")
    return path


def answers(folder, *, text, citations, **changes):
    (folder / "topics.tsv").write_text("Q1\tWhat is a tram?\n")
    for name in ("a", "b"):
        answer = {"topic": "Q1", "text": text, **({"citations": citations} if citations else {})}
        (folder / f"{name}.jsonl").write_text(json.dumps(answer) + "\n")
    task = {
        "kind": "answer_pairs",
        "collection": {"topics": "topics.tsv"},
        "systems": {name: f"{name}.jsonl" for name in ("a", "b")},
        **changes,
    }
    return write_study(folder, task)


def lists(folder, *, windows, **changes):
    task = {"instructions": "standard", **changes}
    if not windows:
        task["collection"] = {"topics": "topics.tsv", "qrels": "qrels.txt", "texts": "texts.tsv"}
    return write_ranked_study(folder, task=task)


def pushes(folder, *, quiet, **changes):
    if quiet:
        write_push_files(folder)
        return write_study(folder, pushes_task(**changes))
    write_push_files(folder, EVERY_DAY)
    profiles = (folder / "topics.txt").read_text()
    (folder / "topics.txt").write_text(profiles[: profiles.index("<num> Number: SYP-2") - len("<top>\n")])
    systems = {name: f"{name}.txt" for name in EVERY_DAY}
    return write_study(folder, pushes_task(systems=systems, **changes))


def streams(folder, *, asks, **changes):
    write_events(folder, SYSTEMS)
    return write_study(folder, streams_task(ask_per_visit=3 if asks else 0, **changes))


def questions(folder, *, types, required, **changes):
    options = {"options": ["a", "b"]}
    asked = [
        {"id": f"q{number}", "text": "Well?", "type": one, "required": required}
        | (options if one in {"single", "multiple"} else {})
        for number, one in enumerate(types)
    ]
    return write_study(folder, {"kind": "questions", "questions": asked, **changes})


CASES = {
    "summaries with second layers": (summaries, {"layers": True}, ["arrow"], []),
    "summaries of one layer": (summaries, {"layers": False}, ["equally useful"], ["arrow", "open"]),
    "answers without sources": (
        answers,
        {"text": "On rails.", "citations": None},
        ["neither answer is of any use"],
        ["bracket", "source", "Press", "open", "[1]"],
    ),
    "answers with sources that nothing cites": (
        answers,
        {"text": "On rails.", "citations": [SOURCE]},
        ["number or name in brackets"],
        ["mark in the text", "neither answer is of any use"],
    ),
    "answers with marks": (
        answers,
        {"text": "On rails [1].", "citations": [SOURCE]},
        ["number or name in brackets", "mark in the text"],
        ["neither answer is of any use"],
    ),
    "lists with windows": (lists, {"windows": True}, ["what time they are about", "1964"], []),
    "lists without windows": (lists, {"windows": False}, ["from the top down"], ["what time", "over time"]),
    "notifications with quiet days": (pushes, {"quiet": True}, ["sent nothing", "stayed quiet"], []),
    "notifications on every day": (
        pushes,
        {"quiet": False},
        ["as if the phone were yours"],
        ["sent nothing", "stayed quiet", "No notifications"],
    ),
    "streams that ask": (streams, {"asks": True}, ["still of use"], []),
    "streams that ask nothing": (
        streams,
        {"asks": False},
        ["as much as interests you"],
        ["still of use", "asked"],
    ),
    "optional questions": (
        questions,
        {"types": ["single"], "required": False},
        ["optional", "picks the second"],
        ["writes 8"],
    ),
    "questions that need a number": (
        questions,
        {"types": ["number"], "required": True},
        ["writes 8"],
        ["optional", "picks the second", "ticks both"],
    ),
}


@pytest.fixture
def words(tmp_path, new_url):
    """Return a function that goes through a study to its first pair, and returns all that was said on the way."""
    made = []

    def of(write, what, language="en"):
        study = Campaign(tmp_path, new_url(tmp_path))
        made.append(study)
        study.load_file(write(tmp_path, **what, instructions="standard", language=language))
        ann = study.serve().arrive().send()
        assert ann.step == "1/intro"
        said = [ann.html.main.get_text(" ", strip=True)]
        kind = yaml.safe_load((tmp_path / "study.yaml").read_text())["tasks"][0]["kind"]
        first, second = KINDS[kind].check
        ann.send(**{"check-1": str(first), "check-2": str(second)})
        if ann.step.endswith("choose") and ann.options("topic"):
            ann.send(topic="1")
        assert ann.step != "1/intro"
        helping = ann.html.select_one(".help")
        return " ".join([*said, helping.get_text(" ", strip=True) if helping else ""])

    yield of
    for one in made:
        one.database.engine.dispose()


@pytest.mark.parametrize("case", CASES)
def test_words_before_a_task_speak_only_of_what_its_pages_show(words, case):
    """Who does what they say passes the check; nobody is examined on what no page has."""
    write, what, there, lacking = CASES[case]
    said = words(write, what)
    assert [word for word in there if word not in said] == []
    assert [word for word in lacking if word in said] == []


@pytest.mark.parametrize("language", ["en", "ja"])
def test_what_is_lacking_is_lacking_in_every_language(words, language):
    """The Japanese words are chosen by the same rule."""
    said = words(answers, {"text": "線路を走る。", "citations": None}, language)
    assert not [word for word in ("[ ]", "資料", "bracket", "source") if word in said]


def test_a_topic_that_was_loaded_before_it_said_so_may_have_everything(new_campaign):
    """So the words of a study that is under way stay as they were."""
    study = new_campaign("old", tasks=[pairs_task(instructions="standard")])
    with transaction(study.database, write=True) as session:
        session.execute(update(Topic).values(detail=None))
    assert "arrow" in study.arrive().send().html.main.get_text()
