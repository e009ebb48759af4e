"""The console's pages of people: the table, one person, and replays that show each page as its worker saw it."""

import csv
from types import SimpleNamespace

import httpx
import lxml.html
import pytest
from sqlalchemy import select

from study_app.preview.copies import Walker
from study_app.services.worker.ends import withdraw
from study_app.services.worker.entry import find_study
from study_app.simulate.browser import Browser, PageLog
from study_app.simulate.person import PHONE
from study_app.store.database import transaction
from study_app.store.models import PageLoad, Worker
from study_app.store.study_cache import StudyCache
from study_app.web.console.replay import REPLAYABLE
from tests.study_app.conftest import Campaign
from tests.study_app.every_task import SECRETS, every_task, write_every_task
from tests.study_app.small_study import secrets_in

WINDOW = (412, 800)


class Recorder:
    """Keeps every page that a worker sees, and lets it log that its first item was on the screen and its first link open."""

    def __init__(self, study, site):
        self.study, self.site, self.seen = study, site, []

    def __call__(self, page):
        """Keep a page; True on the last before the end."""
        if page.token and page.step != "consent":
            log = PageLog(page.token, self.study.clock(), layout="stacked", size=WINDOW)
            log.wait(1)
            for side in page.html.xpath("//*[@data-side]"):
                for item in side.xpath(".//*[@data-item]")[:1]:
                    log.note("see", side=side.get("data-side"), item=item.get("data-item"), share=1.0)
                for link in side.xpath(".//details[@data-item]")[:1]:
                    log.note("layer", side=side.get("data-side"), item=link.get("data-item"), open=True)
            log.wait(1)
            log.note("hidden")
            self.study.clock.forward(5)
            for batch in log.batches(100):
                self.site.log(page.events_url, batch)
            self.seen.append(page)
        self.study.clock.forward(5)
        return page.step == "finish"


@pytest.fixture(scope="module")
def walked(tmp_path_factory, database_in):
    """A worker went through every kind of task, and then looked at every page once more before finishing."""
    folder = tmp_path_factory.mktemp("walked")
    study = Campaign(folder, database_in(folder))
    tasks = {kind: {} for kind in every_task()} | {
        "summary_pairs": {"search_seconds": 60, "min_search_seconds": 60, "instructions": "standard"}
    }
    study.load_file(write_every_task(folder, tasks=tasks))
    study.serve()
    with transaction(study.database, write=False) as session:
        plan = find_study(session, StudyCache(), "every")
    http = httpx.Client(transport=httpx.WSGITransport(app=study.app), base_url="http://localhost")
    site = Browser(http, PHONE[0])
    recorder = Recorder(study, site)
    walker = Walker(site, plan.entry, SimpleNamespace(skip=study.clock.forward))
    walker.walk("/s/every?id=ann", recorder)
    for page in list(recorder.seen):
        if page.step in REPLAYABLE - {"stream"}:
            recorder(site.open(page.url))
    return study, recorder.seen


def replayed(study, client, number, at=60_000):
    """Return the frame of a replay, with the key of its page."""
    [(worker,)] = study.rows(select(Worker.pseudonym))
    key = study.rows(select(PageLoad.key).order_by(PageLoad.id))[number][0]
    return client.get(f"/r/every/people/{worker}/replay/{key}/page?at={at}")


def content(html):
    """What a page says and what is picked on it, whatever is marked."""
    main = html.xpath("//main")[0]
    for element in main.xpath(".//noscript"):
        element.drop_tree()
    boxes = main.xpath(".//input[@type='radio' or @type='checkbox']")
    picked = [(box.get("name"), box.get("value")) for box in boxes if box.get("checked") is not None]
    return " ".join(main.text_content().split()), picked


def test_every_page_comes_back_as_its_worker_saw_it(walked):
    """Texts, order, sides, and what was picked when it was served: nothing of it is stored, all of it is made again."""
    study, seen = walked
    client = study.console(study="every")
    kinds = set()
    for number, page in enumerate(seen):
        answer = replayed(study, client, number)
        if page.step in REPLAYABLE:
            kinds.add(page.step)
            assert answer.status_code == 200, page.url
            assert content(lxml.html.document_fromstring(answer.text)) == content(page.html), page.url
        else:
            assert answer.status_code == 404
    assert kinds == REPLAYABLE


def test_a_replay_marks_what_was_on_the_screen_and_opens_what_was_open(walked):
    """At each moment; before the first nothing is marked."""
    study, seen = walked
    client = study.console(study="every")
    number = next(
        n for n, page in enumerate(seen) if page.step == "pair" and page.html.xpath("//details[@data-item]")
    )
    marks, opened = {}, {}
    for at in (500, 1_500):
        page = lxml.html.document_fromstring(replayed(study, client, number, at).text)
        marks[at] = [(one.get("data-item"), one.get("data-shown")) for one in page.xpath("//*[@data-shown]")]
        opened[at] = len(page.xpath("//details[@data-item][@open]"))
    links = [
        side for side in seen[number].html.xpath("//*[@data-side]") if side.xpath(".//details[@data-item]")
    ]
    assert opened == {500: 0, 1_500: len(links)}
    assert marks[500] == []
    assert marks[1_500] == [("f0", "1"), ("f0", "1")]


def test_a_replayed_page_runs_and_sends_nothing_and_names_no_system(walked):
    """It stands in a frame of the console and nowhere else."""
    study, seen = walked
    client = study.console(study="every")
    for number, page in enumerate(seen):
        answer = replayed(study, client, number)
        if answer.status_code == 200:
            policy = answer.headers["Content-Security-Policy"]
            assert {"script-src 'none'", "form-action 'none'", "frame-ancestors 'self'"} <= set(
                policy.split("; ")
            )
            html = lxml.html.document_fromstring(answer.text)
            assert not html.xpath("//script | //body/@data-events | //body/@data-page")
            assert set(html.xpath("//main//a/@href")) <= {"#"}
            assert not secrets_in(answer.text, SECRETS), page.url


def test_a_replay_tells_its_moments_to_the_slider_and_as_links(walked):
    """Without script each is a link to the page at that moment."""
    study, seen = walked
    client = study.console(study="every")
    number = next(n for n, page in enumerate(seen) if page.step == "pair")
    address = replayed(study, client, number).request.path.removesuffix("/page")
    story = client.get(f"{address}/moments").json
    assert story["moments"][0]["words"] == "ready, 412 x 800; came into sight; got the focus"
    assert story["moments"][-1]["words"].startswith("went out of sight")
    assert [state for _, _, state in story["spells"]] == ["in sight and with the focus"]
    html = lxml.html.document_fromstring(client.get(address).text)
    frame = html.xpath("//iframe")[0]
    assert (frame.get("width"), frame.get("height")) == ("412", "800")
    links = html.xpath("//*[@class='moments']//a/@href")
    assert [int(link.partition("at=")[2]) for link in links] == [moment["at"] for moment in story["moments"]]
    assert "frame-src 'self'" in client.get(address).headers["Content-Security-Policy"]


def test_the_table_and_a_person_lead_to_every_page(walked):
    """From the table to the person to each of the pages that logged something; the CSV has the same people. None of it names a system."""
    study, seen = walked
    client = study.console(study="every")
    table = lxml.html.document_fromstring(client.get("/r/every/people?sort=minutes&order=down").text)
    [link] = table.xpath("//tbody//th/a/@href")
    [row] = csv.DictReader(client.get("/r/every/people.csv?sort=minutes").text.splitlines())
    assert (row["worker"], row["width"], row["state"]) == (link.rpartition("/")[2], "412", "complete")
    pages, links = 1, []
    while pages:
        text = client.get(f"/r/every/{link}?of=page&page={pages}").text
        assert not secrets_in(text, SECRETS)
        html = lxml.html.document_fromstring(text)
        links += html.xpath("//td/a/@href")
        pages = pages + 1 if html.xpath("//a[@rel='next']") else 0
    assert len(links) == len(seen)
    assert client.get(links[0]).status_code == 200
    answers = client.get(f"/r/every/{link}?of=answer").text
    assert answers.count("replay/") > len(REPLAYABLE) / 2
    assert not [name for name in SECRETS if name.startswith("sys") and name in answers]


def test_without_a_sign_in_there_is_no_such_address(walked):
    """And what does not exist in this study is a plain page to who has signed in."""
    study, _ = walked
    client, stranger = study.console(study="every"), study.app.test_client()
    address = replayed(study, client, 0).request.path
    [(worker,)] = study.rows(select(Worker.pseudonym))
    for path in (
        "/r/every/people",
        "/r/every/people.csv",
        f"/r/every/people/{worker}",
        address,
        f"{address}x",
    ):
        assert stranger.get(path).status_code == 404
    unknown = stranger.get("/r/nothing/people").text
    assert "people" not in stranger.get("/r/every/people").text
    assert len(unknown) == len(stranger.get("/r/every/people").text)
    for path in ("people/nobody", f"people/{worker}/replay/none", "people/nobody/replay/none"):
        assert client.get(f"/r/every/{path}").status_code == 404
    assert client.get("/r/every/people?show=x&sort=x&page=x").status_code == 200


def test_nothing_is_shown_of_who_has_taken_the_answers_back(campaign):
    """Neither what they did nor their pages; that they withdrew is."""
    study = campaign()
    ann = study.at_pairs("ann")
    log = PageLog(ann.page_token, study.clock(), layout="stacked", size=WINDOW)
    for batch in log.batches(10):
        ann.client.post(ann.html.body["data-events"], json=batch)
    client = study.console()
    [(worker, code)] = study.rows(select(Worker.pseudonym, Worker.withdrawal_code))
    [(key,)] = study.rows(select(PageLoad.key))
    address = f"/r/small/people/{worker}/replay/{key}"
    assert client.get(address).status_code == 200
    with transaction(study.database, write=True) as session:
        withdraw(session, code, now=study.clock())
    assert [client.get(f"{address}{more}").status_code for more in ("", "/page", "/moments")] == [404] * 3
    assert "took the answers back" in client.get(f"/r/small/people/{worker}").text
    assert "withdrew" in client.get("/r/small/people").text
