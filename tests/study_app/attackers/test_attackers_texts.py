"""Script and markup in every text that a study file, a collection, an address or an answer can carry stays a text."""

import csv
import json
from html import escape, unescape
from typing import Annotated
from urllib.parse import quote

import pytest
import yaml
from pydantic import TypeAdapter, ValidationError
from sqlalchemy import select
from werkzeug.test import Client

from metrics.errors import InputError
from study_app.estimate.content import read_whole_study
from study_app.export import export_study
from study_app.preview.app import Preview
from study_app.preview.copies import Copies
from study_app.store.database import transaction
from study_app.store.models import LoadedStudy
from study_app.study.entries import (
    AdaptivePairs,
    CheckQuestion,
    Codes,
    Criterion,
    Question,
    StudyEntry,
    StudyFileModel,
)
from study_app.study.file import read_study_file
from study_app.tasks.content import AnswerFiles, EventFiles, ImageFiles, PushFiles, RankedFiles, SummaryFiles
from study_app.tasks.kinds import KINDS
from tests.study_app import small_ranked, small_streams, small_study
from tests.study_app.every_task import PROFILES, PUSHES, every_task, write_every_task
from tests.study_app.small_study import votes_task
from tests.study_app.web.console.console_client import sign_in

EVIL = """<script>alert(1)</script><img src=x onerror=alert(2)>"'><a href="javascript:alert(3)">&lt;b&gt;{{7*7}}"""
ADDRESS = """https://evil.example/"'><script>alert(1)</script>&lt;b&gt;{{7*7}}?c={code}"""
CHECK = [{"question": EVIL, "options": [EVIL, "other"], "answer": 1}]
INSTRUCTIONS = {"instructions": EVIL, "check": CHECK}
TEXTS = [
    *small_study.QUERIES.values(),
    *(
        text
        for texts in (*small_study.INTENTS.values(), *small_study.IUNITS.values())
        for text in texts.values()
    ),
    *(text for tweets in PUSHES.values() for text, *_ in tweets.values()),
    *(told.text for stream in small_streams.SYSTEMS.values() for told in stream),
    *(field for line in small_ranked.TEXTS.splitlines() for field in line.split("\t")[1:] if field),
    *(line.split("\t")[1] for line in small_ranked.TOPICS.splitlines()),
]
STEPS = {
    "consent",
    "intro",
    "questions",
    "choose",
    "search",
    "vote",
    "rate",
    "pair",
    "enrol",
    "stream",
    "useful",
    "streams",
    "away",
    "done",
}
ENTRIES = {
    "study": StudyEntry,
    "codes": Codes,
    "check": CheckQuestion,
    "criterion": Criterion,
    "question": Question,
    **{name: kind.entry for name, kind in KINDS.items()},
}
WITHOUT_TEXTS = {SummaryFiles, EventFiles, PushFiles, RankedFiles, AnswerFiles, ImageFiles, AdaptivePairs}
"""Paths, and numbers."""

PATHS = {"gold_pairs", "pairs", "pseudonyms", "signing_keys"}

FOR_ANALYSIS = {"compare", "primary"}
"""Names of measures; the report shows them."""

LONG_WAYS = {"Finish", "Done"}


def poison(folder):
    """Write markup behind every text of every collection under a folder."""
    for path in folder.rglob("*"):
        if path.suffix in {".tsv", ""} and path.is_file() and not path.name.startswith("push_q"):
            content = path.read_text()
            for text in sorted(set(TEXTS), key=len, reverse=True):
                content = content.replace(f"\t{text}", f"\t{text} {EVIL}")
            path.write_text(content)
    events = folder / "news" / "topics.xml"
    content = events.read_text()
    for title in small_streams.EVENTS.values():
        content = content.replace(title, escape(f"{title} {EVIL}"))
    events.write_text(content)
    parts = {"title": EVIL, "description": EVIL, "narrative": EVIL}
    profiles = [{"topid": name, **parts} for name in PROFILES]
    (folder / "pushes" / "push_topics").write_text(json.dumps(profiles))


def poisoned_tasks():
    """Return every kind of task with markup in each text that its entry of the study file has."""
    questions = [
        {
            "id": "phone",
            "text": EVIL,
            "type": "single",
            "options": [EVIL, "Yes", "No"],
            "screen_out": [EVIL],
        },
        {"id": "many", "text": EVIL, "type": "multiple", "options": [EVIL, "No"]},
        {"id": "age", "text": EVIL, "type": "number", "min": 18},
        {"id": "free", "text": EVIL, "type": "text"},
    ]
    changes = {kind: dict(INSTRUCTIONS) for kind in every_task()}
    changes["questions"] |= {"title": EVIL, "questions": questions}
    changes["stream_visits"] |= {"topics_per_worker": 2, "clock_factor": 1}
    changes["summary_pairs"] |= {"search_seconds": 1, "min_search_seconds": 1}
    for kind in ("summary_pairs", "stream_pairs", "ranked_pairs"):
        changes[kind]["criteria"] = [EVIL]
    changes["ranked_pairs"]["criteria"].append({"name": "correct", "text": EVIL})
    return changes


def poisoned_study(folder):
    """Write a study whose every text is markup, with its collections and runs; returns the study file."""
    ends = {"return_url": ADDRESS, "early_return_url": ADDRESS}
    ends["codes"] = {"screened_out": "OUT-1", "failed_checks": "FAIL-1", "partial": "PART-1"}
    file = write_every_task(folder, tasks=poisoned_tasks(), title=EVIL, consent=EVIL, **ends)
    poison(folder)
    return file


def free_keys(entry):
    """Return the keys of an entry under which markup is accepted."""
    values = (EVIL, ADDRESS, [EVIL], [EVIL, EVIL])
    return {
        key
        for key, field in entry.model_fields.items()
        if any(fits(Annotated[field.annotation, field], value) for value in values)
    }


def fits(form, value):
    """Say whether a value is one of a form."""
    try:
        TypeAdapter(form).validate_python(value)
    except ValidationError:
        return False
    return True


def poisoned_keys(part):
    """Return every key in a study file under which a text with markup stands."""
    if isinstance(part, list):
        return set().union(*map(poisoned_keys, part))
    if not isinstance(part, dict):
        return set()
    texts = {
        key
        for key, value in part.items()
        for text in (value if isinstance(value, list) else [value])
        if isinstance(text, str) and "<script>" in text
    }
    return texts.union(*map(poisoned_keys, part.values()))


@pytest.fixture(scope="module")
def walk(tmp_path_factory):
    """Every page of a worker's way through a study whose every text is markup, and the study's server."""
    folder = tmp_path_factory.mktemp("poisoned")
    file = poisoned_study(folder)
    copies = tmp_path_factory.mktemp("copies")
    copy = Copies(read_whole_study(file), copies).new()
    pages = []

    def seen(page):
        pages.append(
            (page.step, page.url, copy.app.test_client().get(page.url.removeprefix("http://localhost")).text)
        )
        return page.step == "done"

    copy.walker.walk(copy.entrance, seen)
    yield copy, pages
    copy.server.database.engine.dispose()


@pytest.mark.parametrize("name", ENTRIES)
def test_every_key_of_a_study_file_that_takes_markup_has_some_in_these_tests(tmp_path, name):
    """The schema is asked, so that a new key with a text cannot be forgotten."""
    document = yaml.safe_load(poisoned_study(tmp_path).read_text())
    tasks = {task["kind"]: task for task in document["tasks"]}
    parts = {
        "study": document,
        "codes": {},
        "check": tasks["questions"]["check"],
        "criterion": tasks["ranked_pairs"]["criteria"][1],
    }
    kind = (
        "stream_pairs" if name in {"answer_pairs", "image_pairs"} else name
    )  # whose words stand on the same pages
    part = parts.get(name) or (tasks["questions"]["questions"] if name == "question" else tasks.get(kind))
    assert free_keys(ENTRIES[name]) - FOR_ANALYSIS - PATHS <= poisoned_keys(part)


def test_no_part_of_a_study_file_is_left_out_of_them():
    """Nor can a new part with keys of its own; what entries have in common is in each of them."""

    def leaves(entry):
        below = [one for one in entry.__subclasses__() if one.__module__.startswith("study_app.")]
        return set().union(*map(leaves, below)) if below else {entry}

    assert leaves(StudyFileModel) == {*ENTRIES.values()} | WITHOUT_TEXTS


def test_no_text_of_a_study_or_collection_is_markup_on_any_page(walk):
    """Title, consent, questions, options, criteria, instructions, checks, queries, intents, iUnits, pushes, documents, updates."""
    _, pages = walk
    assert {step for step, _, _ in pages} >= STEPS
    for step, _, html in pages:
        for markup in ("<script>", "<img", "<b>", 'href="javascript'):
            assert markup not in html, step
    assert all("{{7*7}}" in html for _, _, html in pages if "&lt;script&gt;" in html)
    poisoned = {step for step, _, html in pages if "&lt;script&gt;alert(1)&lt;/script&gt;" in html}
    assert poisoned >= STEPS - {"away"}


def test_no_text_is_markup_in_the_preview_nor_for_those_who_do_not_finish(tmp_path):
    """At the door, full, stopped, failed, screened out, withdrawn; the researcher's list of pages and its frames."""
    (tmp_path / "copies").mkdir()
    preview = Preview(read_whole_study(poisoned_study(tmp_path)), tmp_path / "copies")
    browser = Client(preview)
    numbers = [
        number
        for number, one in enumerate(preview.stations)
        if not one.part.startswith("Task") and one.name not in LONG_WAYS
    ]
    paths = ["/", *(f"/look/{number}" for number in numbers), *(f"/open/{number}" for number in numbers)]
    pages = {path: browser.get(path, follow_redirects=True) for path in paths}
    for path, page in pages.items():
        for markup in ("<script>", "<img", "<b>", 'href="javascript'):
            assert markup not in page.text, path
    assert sum("&lt;script&gt;" in page.text for page in pages.values()) >= 5


def test_markup_that_is_written_escaped_stays_escaped(walk):
    """What a file says as `&lt;b&gt;` is shown as these nine characters, not read a second time."""
    _, pages = walk
    assert all("&amp;lt;b&amp;gt;" in html for _, _, html in pages if "&lt;script&gt;" in html)
    assert "&lt;b&gt;" in unescape(next(html for step, _, html in pages if step == "questions"))


def test_the_researchers_page_shows_texts_as_texts(walk):
    """It names the study and its queries."""
    copy, _ = walk
    with copy.server.database.engine.connect() as connection:
        key = connection.exec_driver_sql("SELECT value FROM setting WHERE name = 'researcher_key'").scalar()
    client = copy.app.test_client()
    sign_in(client, "every", key)
    html = client.get("/r/every/").text
    assert "&lt;script&gt;alert(1)" in html
    assert "<script>" not in html
    assert "<img" not in html


def test_nothing_of_an_address_form_or_header_comes_back_as_markup(campaign):
    """What a request says is answered without being repeated, or repeated as a text."""
    study = campaign(
        tasks=[
            votes_task(),
            {"kind": "questions", "name": "q", "questions": [{"id": "free", "text": "?", "type": "text"}]},
        ]
    )
    ann = study.arrive()
    client, evil = ann.client, quote(EVIL, safe="")
    answers = [
        *(
            client.get(f"{path}{evil}")
            for path in ("/s/", "/r/", "/w/", "/static/", "/", "/s/small?id=", "/withdraw?language=")
        ),
        client.get(f"/s/small?id=x&session={evil}&batch={evil}&via={evil}"),
        client.get(f"{ann.path}?via={evil}&at={evil}&below={evil}&just={evil}"),
        client.get(
            ann.path, headers={"User-Agent": EVIL, "Accept-Language": EVIL, "X-Forwarded-Proto": EVIL}
        ),
        client.get("/withdraw", headers={"Accept-Language": EVIL}),
        client.post("/withdraw", data={"code": EVIL}),
        client.post(ann.path, data={"page": EVIL, "agree": EVIL, "text": EVIL}),
        client.post(f"/e/{ann.token}", data=json.dumps({"page": EVIL, EVIL: EVIL})),
    ]
    for answer in answers:
        assert answer.status_code < 500
        if answer.mimetype == "text/html":
            assert "<script>" not in answer.text, answer.request.path
            assert "<img" not in answer.text, answer.request.path
        else:
            assert answer.mimetype == "application/json"
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert (
        sum("&lt;script&gt;" in answer.text for answer in answers) == 1
    )  # the code, in the form to withdraw


def test_a_host_of_the_study_file_cannot_add_to_the_policy_of_its_pages(small_study):
    """`submit_hosts` stands in the header Content-Security-Policy."""
    for host in (
        "www.mturk.com; script-src *",
        "a b",
        "https://www.mturk.com",
        "a\r\nX: 1",
        "*",
        "a,b",
        "'self'",
    ):
        with pytest.raises(InputError, match="submit_hosts"):
            read_study_file(small_study(platform="mturk", submit_hosts=[host]), KINDS)


@pytest.mark.parametrize("key", ["return_url", "early_return_url"])
@pytest.mark.parametrize(
    "address", ["javascript:alert(1)", "data:text/html,x", "//evil.example", "https://a\r\nb", "ftp://a"]
)
def test_an_address_to_return_to_is_one_of_the_web(small_study, key, address):
    """It becomes a button that workers press."""
    with pytest.raises(InputError, match=key):
        read_study_file(small_study(**{key: address}), KINDS)


@pytest.mark.parametrize("platform", ["generic", "mturk"])
def test_the_way_back_to_the_platform_is_a_text(campaign, platform):
    """A return address with quotes and brackets; and what MTurk calls the assignment, which anybody can write into an address."""
    study = campaign(tasks=[votes_task()], platform=platform, return_url=ADDRESS, completion_code="DONE-1")
    unfilled = EVIL.replace("{{7*7}}", "")  # with it, it would be a place that a platform has not filled in
    evil = quote(unfilled, safe="")
    ann = study.visitor().open(f"/s/small?id={evil}&workerId=A1&assignmentId={evil}&hitId={evil}")
    done = ann.send().send(topic="1").send(none="1").send()
    assert done.step == "done"
    assert "<script>" not in done.response.text
    assert "<img" not in done.response.text
    if platform == "mturk":
        assert done.html.select_one("[name=assignmentId]")["value"] == unfilled
    else:
        address = ADDRESS.replace("{code}", "DONE-1")
        assert done.html.select_one("a.button")["href"] == address
        assert done.html.select_one("meta[http-equiv=refresh]")["content"] == f"0; url={address}"


def test_what_mturk_shows_before_the_work_is_accepted_is_a_text(campaign):
    """Title and consent, on a page of its own."""
    study = campaign(tasks=[votes_task()], platform="mturk", title=EVIL, consent=EVIL)
    page = study.visitor().open("/s/small?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE").response.text
    assert page.count("&lt;script&gt;") == 3
    assert "<script>" not in page


def test_an_answer_that_is_refused_comes_back_as_a_text(campaign):
    """A number that is none stands in an attribute, a text in a field of its own."""
    questions = [
        {"id": "age", "text": "?", "type": "number"},
        {"id": "free", "text": "?", "type": "text"},
    ]
    study = campaign(tasks=[{"kind": "questions", "name": "q", "questions": questions}, votes_task()])
    refused = (
        study.arrive().send().send(**{"q-age": '"><script>alert(1)</script>', "q-free": f"</textarea>{EVIL}"})
    )
    assert refused.status == 422
    assert "<script>" not in refused.response.text
    assert refused.html.select_one("[name=q-age]")["value"] == '"><script>alert(1)</script>'
    assert refused.html.select_one("[name=q-free]").get_text().strip() == f"</textarea>{EVIL}"


def test_an_answer_comes_back_as_a_text_and_is_exported_as_it_was_given(campaign, tmp_path):
    """Tables are data for programs: a mark before what a spreadsheet would compute would be another answer."""
    question = {"id": "free", "text": "?", "type": "text"}
    study = campaign(tasks=[{"kind": "questions", "name": "q", "questions": [question]}, votes_task()])
    formula = '=HYPERLINK("https://evil.example","<script>")'
    ann = study.arrive().send().send(**{"q-free": formula})
    again = ann.open(f"{ann.home}1/1/questions")
    assert "<script>" not in again.response.text
    assert again.html.select_one("[name=q-free]").get_text().strip() == formula
    with transaction(study.database, write=False) as session:
        export_study(
            session, session.scalars(select(LoadedStudy)).one(), tmp_path / "tables", now=study.clock()
        )
    [row] = csv.DictReader((tmp_path / "tables" / "answers.csv").read_text().splitlines())
    assert row["value"] == formula
