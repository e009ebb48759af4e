"""What never reaches a browser, a log or another host, and what every answer carries."""

import json
import logging

import pytest
from sqlalchemy import create_engine

from study_app.web.serving import LOGGER
from tests.study_app.small_streams import HOURLY, PROMPT, STREAM_SECRETS, SYSTEMS
from tests.study_app.small_study import SECRETS, pairs_task, secrets_in, votes_task
from tests.study_app.stream_visits import HOUR, come_back, follow, log, stream_study
from tests.study_app.visitor import Visitor


@pytest.fixture
def walked(campaign, caplog):
    """A visitor who has gone the whole way, also back and astray, and the log of it."""
    caplog.set_level(logging.INFO, LOGGER.name)
    study = campaign(tasks=[votes_task(), pairs_task(search_seconds=60, validation_pairs=1)])
    ann = study.arrive("platform-id-of-ann")
    ann.send(agree="no")
    ann.open(ann.home).send().send(topic="1").send().send(intent=["1"]).send(topic="1").send()
    study.clock.forward(100)
    ann.send()
    ann.client.post(
        f"/e/{ann.token}",
        json={"page": ann.page_token, "sent_ms": 0, "sent_wall_ms": 0, "events": []},
    )
    study.judge_all(ann)
    ann.open(ann.home + "2/1/pair/1").open(ann.home + "nothing").open(ann.home).send()
    ann.client.get("/r/small?key=wrong")
    assert ann.step == "done"
    return study, ann, [record.message for record in caplog.records if record.name == LOGGER.name]


def test_no_name_of_a_system_and_no_id_reaches_the_browser(walked):
    """In no page, header or address of a whole run."""
    _, ann, _ = walked
    for answer in ann.log:
        seen = answer.request.path + str(answer.headers) + answer.text
        assert not secrets_in(seen), answer.request.path


def test_a_secret_beside_a_token_is_found(walked):
    """What chance wrote into a token is none; what stands before or behind it is."""
    _, ann, _ = walked
    assert secrets_in(f"{ann.home}SYU-1") == secrets_in(f"SYU-1 {ann.home}") == ["SYU-"]
    assert secrets_in(f"SYU-{ann.token}") == []


def test_the_platforms_id_stays_at_the_door(walked):
    """After the first address nothing shows who the worker is."""
    _, ann, _ = walked
    for answer in ann.log[1:]:
        assert "platform-id-of-ann" not in answer.request.path + str(answer.headers) + answer.text
    assert "platform-id-of-ann" not in ann.log[0].text + str(ann.log[0].headers)


def test_scripts_and_styles_are_files_that_may_be_kept(walked):
    """They are the same for every study; a phone on a train fetches them once."""
    _, ann, _ = walked
    ann.open(ann.home)
    addresses = [tag.get("src") or tag.get("href") for tag in ann.html.select("script[src], link[href]")]
    assert {address.rpartition(".")[2] for address in addresses} == {"js", "css", "svg"}
    for address in addresses:
        with ann.client.get(address) as answer:
            assert answer.status_code == 200
            assert "no-store" not in answer.headers["Cache-Control"]
            assert not secrets_in(answer.text)


def test_every_answer_is_kept_out_of_caches_and_frames_and_sets_no_cookie(walked):
    """Pages of the way, redirects and refusals alike."""
    _, ann, _ = walked
    for answer in ann.log:
        assert answer.headers["Cache-Control"] == "no-store"
        assert "Set-Cookie" not in answer.headers
        policy = dict(
            part.strip().split(" ", 1) for part in answer.headers["Content-Security-Policy"].split(";")
        )
        assert policy["default-src"] == "'none'"
        assert policy["frame-ancestors"] == "'none'"
        assert "unsafe" not in str(policy)
        assert "*" not in str(policy)
        assert answer.headers["Referrer-Policy"] == "no-referrer"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert "camera=()" in answer.headers["Permissions-Policy"]


def test_no_page_has_a_script_or_style_of_its_own_or_asks_another_host(walked):
    """What the policy forbids is not there in the first place."""
    _, ann, _ = walked
    for answer in ann.log:
        if answer.status_code == 303:
            continue
        page = Visitor(ann.client)._shown(answer).html
        assert not page.select("style, [style], script:not([src])")
        assert not [tag for tag in page.find_all(True) for name in tag.attrs if name.startswith("on")]
        for tag in page.select("[src], link[href], form[action]"):
            address = tag.get("src") or tag.get("href") or tag.get("action")
            assert address.startswith(("/", "?"))
            assert not address.startswith("//")


def test_a_request_is_one_line_without_answers_tokens_and_ids(walked):
    """Route, status, time, pseudonym."""
    _, ann, log = walked
    lines = [json.loads(line) for line in log]
    assert len(lines) == len(ann.log) + 2
    assert set(lines[0]) == {"id", "method", "route", "status", "ms", "worker"}
    assert {line["route"] for line in lines} >= {
        "/s/<study>",
        "/w/<token>/<int:task>/<int:query>/pair/<int:pair>",
    }
    pseudonyms = {line["worker"] for line in lines if line["route"].startswith(("/s", "/w", "/e"))}
    assert len(pseudonyms) == 1
    for forbidden in ("platform-id-of-ann", ann.token, "wrong", "left", *SECRETS):
        assert forbidden not in "".join(log)


def test_a_failure_is_a_plain_sentence_with_a_reference_that_is_in_the_log(campaign, caplog, monkeypatch):
    """Workers never see a trace; who reads the log finds it."""
    study = campaign()
    monkeypatch.setattr("study_app.web.blueprints.step_views.page_of", lambda look: 1 / 0)
    ann = study.arrive()
    assert ann.status == 500
    assert "Something went wrong on our side" in ann.text
    reference = ann.text.rsplit("Reference: ", 1)[1].split()[0]
    assert "ZeroDivisionError" not in ann.text
    [record] = [record for record in caplog.records if record.name == "prefcal.errors"]
    assert reference in record.message
    assert record.exc_info[0] is ZeroDivisionError


def test_texts_of_study_and_collection_are_never_markup(campaign):
    """A collection is not to be trusted with the workers' browsers."""
    evil = '<script>alert("1")</script>&amp;'
    study = campaign(title=evil, consent=evil, task={"criteria": [evil]})
    folder = study.folder
    for kind in ("queries", "iunits", "intents"):
        path = folder / f"{kind}.tsv"
        path.write_text(
            "".join(f"{line.rpartition(chr(9))[0]}\t{evil}\n" for line in path.read_text().splitlines())
        )
    study.load_file(folder / "study.yaml")
    ann = study.judge_all(study.at_pairs())
    shown = [answer.text for answer in ann.log if answer.status_code == 200]
    assert len(shown) >= 8
    for text in shown:
        assert "<script>" not in text
    assert sum("&lt;script&gt;" in text for text in shown) >= 7


@pytest.fixture
def followed(campaign, caplog):
    """A visitor who has followed two streams to their end, left them every way there is, and the log of it."""
    caplog.set_level(logging.INFO, LOGGER.name)
    events = {"TS14.91": "Storm over the islands", "TS14.92": "Strike of the ferries"}
    study = stream_study(
        campaign,
        events=events,
        systems={**SYSTEMS, "syshourly": HOURLY},
        task={"topics_per_worker": 2, "updates_per_page": 1},
    )
    ann = study.arrive("platform-id-of-ann").send().send(topic="1").send().send()
    for number in (1, 2):
        study.clock.forward(47 * HOUR)
        ann.open(f"{ann.home}?via=reminder").open(f"{ann.home}1/{number}/stream")
        log(ann, [str(item["data-item"]) for item in ann.html.select("li[data-item]")])
        ann.open(f"{ann.home}1/{number}/stream?below=2").open(f"{ann.home}1/{number}/stream")
        ann.send(read=["u3", "u2", "u1"], done="1").open(f"{ann.home}1/{number}/useful")
        ann.open(f"{ann.home}1/{number}/away").open(f"{ann.home}1/streams")
    study.clock.forward(3 * HOUR)
    ann.open(f"{ann.home}1/1/stream").open(ann.home).send()
    assert ann.step == "done"
    return study, ann, [record.message for record in caplog.records if record.name == LOGGER.name]


def test_no_name_of_a_system_run_update_or_event_reaches_a_followers_browser(followed):
    """In no page, header or address of a whole run; nor the platform's id after the door."""
    _, ann, requests = followed
    assert len({answer.request.path for answer in ann.log}) >= 12
    for answer in ann.log:
        seen = answer.request.path + str(answer.headers) + answer.text
        assert not secrets_in(seen, (*STREAM_SECRETS, "syshourly")), answer.request.path
        assert "platform-id-of-ann" not in answer.text + str(answer.headers)
    for forbidden in ("platform-id-of-ann", ann.token, "reminder", *STREAM_SECRETS):
        assert forbidden not in "".join(requests)


def test_pages_of_a_stream_keep_to_the_rules_of_all_pages(followed):
    """No cache, no cookie, no script or style of their own, no other host."""
    _, ann, _ = followed
    for answer in ann.log:
        assert answer.headers["Cache-Control"] == "no-store"
        assert "Set-Cookie" not in answer.headers
        if answer.status_code == 303:
            continue
        page = Visitor(ann.client)._shown(answer).html
        assert not page.select("style, [style], script:not([src])")
        assert not [tag for tag in page.find_all(True) for name in tag.attrs if name.startswith("on")]
        for tag in page.select("[src], link[href]"):
            assert (tag.get("src") or tag.get("href")).startswith("/")
        for form in page.select("form[action]"):
            assert form["action"] == "stream"


def test_texts_of_updates_and_titles_are_never_markup(campaign):
    """Updates come from the web."""
    evil = '<script>alert("1")</script><img src=x onerror=alert(1)>'
    title = "&lt;script&gt;alert(1)&lt;/script&gt;"
    stream = [told._replace(text=f"{evil} {number}") for number, told in enumerate(PROMPT)]
    study = stream_study(campaign, systems={"sysprompt": stream}, events={"TS14.91": title})
    ann = come_back(study, follow(study), after_hours=60)
    ann.send(read=["u4"], done="1").send(**{"useful-1": "yes"})
    shown = [answer.text for answer in ann.log if answer.status_code == 200]
    for text in shown:
        assert "<script>" not in text
        assert "<img" not in text
    assert sum("&lt;script&gt;" in text for text in shown) >= 4


def test_a_worker_without_script_can_do_everything(walked):
    """The whole way above ran without any; the search page also comes back by itself when the time is over."""
    study, _, _ = walked
    bob = study.arrive("bob").send().send(topic="1").send(none="1").send(topic="1")
    assert bob.step == "2/1/search"
    refresh = bob.html.select_one("noscript meta[http-equiv=refresh]")
    assert refresh["content"] == "200; url=search"
    assert not bob.html.select("main form [disabled]")


@pytest.mark.parametrize(("path", "status"), [("/healthz", 200), ("/readyz", 200)])
def test_a_watchdog_can_ask(campaign, path, status):
    """The process answers, and its database too."""
    answer = campaign().app.test_client().get(path)
    assert (answer.status_code, answer.json["status"]) == (status, "ok")


def test_a_server_whose_database_is_gone_is_not_ready(campaign):
    """Alive, but nobody should be sent to it."""
    study = campaign()
    study.database.engine.dispose()
    if study.database.is_sqlite:
        for path in study.folder.glob("test.sqlite3*"):
            path.unlink()
    else:
        url = study.database.engine.url
        with create_engine(url.set(database="postgres"), isolation_level="AUTOCOMMIT").connect() as server:
            server.exec_driver_sql(f"DROP DATABASE {url.database} WITH (FORCE)")
    client = study.app.test_client()
    assert client.get("/healthz").status_code == 200
    assert client.get("/readyz").status_code == 503
