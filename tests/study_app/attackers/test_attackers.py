"""What a worker, or somebody without an invitation, can do with addresses and forms that were not made for them: nothing."""

import re
from datetime import timedelta
from functools import partial
from itertools import product

import pytest
from sqlalchemy import select, update

from study_app.estimate.content import read_whole_study
from study_app.preview.copies import Copies
from study_app.services.researcher.studies import RESEARCHER_KEY
from study_app.store.database import transaction
from study_app.store.models import Setting
from study_app.store.tokens import PageToken
from study_app.store.writer_lock import serving_lock
from study_app.web.serving import NAME
from tests.study_app.conftest import Campaign
from tests.study_app.every_task import every_task, write_every_task
from tests.study_app.prefcal_command import run_here
from tests.study_app.small_study import pairs_task, votes_task
from tests.study_app.web.console.console_client import sign_in

NUMBERS = ("0", "1", "2", "99", "9" * 30)
FOLLOWING = {"stream", "away", "useful"}
"""Pages of a stream: whoever follows it may look at each, and is asked only what the server has to ask."""

ODD_NUMBERS = ("-1", "+1", "1.0", "1e3", "0x1", "²", "9" * 5000, "1%00", " 1")


@pytest.fixture(scope="module")
def study(tmp_path_factory, database_in):
    """A study with every kind of task, so with every address there is."""
    folder = tmp_path_factory.mktemp("attacked")
    made = Campaign(folder, database_in(folder))
    made.load_file(write_every_task(folder))
    yield made.serve()
    made.database.engine.dispose()


@pytest.fixture(scope="module")
def ann(study):
    """Somebody at the first task."""
    return study.arrive("ann", study="every").send()


@pytest.fixture(scope="module")
def bob(study):
    """Somebody else, as far."""
    return study.arrive("bob", study="every").send()


@pytest.fixture(scope="module")
def stranger(study):
    """Somebody who has not agreed to take part."""
    return study.arrive("carol", study="every")


def rules(study, method):
    """Return every address of workers that takes a method."""
    return [
        rule
        for rule in study.app.url_map.iter_rules()
        if "token" in rule.arguments and method in (rule.methods or ())
    ]


def addresses(study, method, token, numbers=("1",)):
    """Yield every address of a worker: each of its numbers is each of ``numbers``."""
    for rule in rules(study, method):
        names = sorted(rule.arguments - {"token"})
        for values in product(numbers, repeat=len(names)):
            path = rule.rule.replace("<token>", token)
            for name, value in zip(names, values, strict=True):
                path = path.replace(f"<int:{name}>", value)
            yield path


def signed(study, worker, path):
    """Return a page token as the server itself would make it for a step."""
    app = study.app.extensions[NAME]
    page = PageToken(
        worker=worker, key="k" * 16, step=path.split("/", 3)[-1], showing=None, served_at=app.now()
    )
    return app.signer.page_token(page)


def test_there_are_addresses_to_attack(study):
    """The tests below go through all of them, so they must find them."""
    assert len(rules(study, "GET")) >= 20
    assert len(rules(study, "POST")) >= 14


def test_no_part_of_two_tokens_makes_a_third(study, ann, bob):
    """Somebody's number under another's signature, a signature cut short, a page token as a worker's: nobody's, everywhere."""
    (number, signature), (bobs, other) = ann.token.split("."), bob.token.split(".")
    forged = [
        f"{number}.{other}",
        f"{number}.{signature[:-1]}",
        f"{number}.",
        number,
        f"{number}.{signature}.x",
    ]
    forged += [
        f"..{signature}",
        ann.page_token,
        ann.token.swapcase(),
        f"{ann.token}%00",
        f"{bobs}.{signature}",
    ]
    before = study.everything()
    for token, method in product(forged, ("GET", "POST")):
        for path in addresses(study, method, token):
            answer = ann.client.open(path, method=method, data={"page": ann.page_token})
            assert answer.status_code == 404, path
    assert study.everything() == before


def test_nobody_writes_under_another_name(study, ann, bob):
    """A page token belongs to one worker: with somebody else's, every form is refused and nothing is stored."""
    before = study.everything()
    number = study.app.extensions[NAME].signer.page(bob.page_token).worker
    for path in addresses(study, "POST", ann.token):
        if path.startswith("/e/"):
            batch = {"page": bob.page_token, "sent_ms": 0, "sent_wall_ms": 0, "events": []}
            answer = ann.client.post(path, json=batch)
            assert (answer.status_code, answer.json) == (400, {"error": "page: a page of somebody else"})
        else:
            form = {"page": signed(study, number, path), "agree": "yes", "stop": "yes", "choice": "left"}
            assert ann.client.post(path, data=form).status_code == 403, path
    assert study.everything() == before


def test_a_form_without_its_page_token_is_refused_everywhere(study, ann):
    """Another site can make a browser send a form (CSRF), but cannot know what stands in the page."""
    before = study.everything()
    for path in addresses(study, "POST", ann.token):
        for page in ("", "x", ann.token, signed(study, 1, "/w/x/elsewhere")):
            data = {"page": page, "q-phone": "1", "agree": "yes", "stop": "yes"}
            answer = ann.client.post(path, data=data, headers={"Origin": "https://evil.example"})
            assert answer.status_code == (400 if path.startswith("/e/") else 403), path
    assert study.everything() == before


def test_no_step_is_reached_by_its_number(study, stranger):
    """Whatever number stands in an address: who has not consented is led to the consent, and nothing is held or stored."""
    stays = ("consent", "stop")
    before = study.everything()
    for path in addresses(study, "GET", stranger.token, NUMBERS):
        answer = stranger.client.get(path)
        if not path.endswith(stays):
            assert (answer.status_code, answer.location) == (303, f"{stranger.home}consent"), path
    assert study.everything() == before


def test_not_even_a_form_that_the_server_could_have_signed_opens_a_later_step(study, stranger):
    """The token says that a page was served; whether its step is open is decided anew each time."""
    before = study.everything()
    number = study.app.extensions[NAME].signer.page(stranger.page_token).worker
    for path in addresses(study, "POST", stranger.token, ("1", "2", "9" * 30)):
        if not path.startswith("/e/") and not path.endswith(("consent", "stop")):
            form = {"page": signed(study, number, path), "choice": "left", "topic": "1", "q-phone": "1"}
            answer = stranger.client.post(path, data=form)
            assert (answer.status_code, answer.location) == (303, f"{stranger.home}consent"), path
    assert study.everything() == before


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A study of every kind of task, each with its introduction, a search, and a stream that lasts for days."""
    folder, copies = tmp_path_factory.mktemp("every"), tmp_path_factory.mktemp("copies")
    tasks = {kind: {"instructions": "standard"} for kind in every_task()}
    tasks["summary_pairs"] |= {"search_seconds": 1, "min_search_seconds": 1}
    tasks["stream_visits"] |= {"clock_factor": 1}
    content = read_whole_study(write_every_task(folder, tasks=tasks))
    made = Copies(content, copies).new()
    yield made
    made.server.database.engine.dispose()


def place(page):
    """Return which page of the study this is: its task, if it is in one, and its kind."""
    return (page.step in {"consent", "finish", "done"} or page.task), page.step


def test_no_page_of_any_task_opens_before_its_time(copy):
    """Whoever is on one page finds no later one, of no kind in no task, by its address or by a form that was signed for it."""
    ways = {"ann": {}, "bob": {}}

    def note(name, page):
        ways[name].setdefault(place(page), page.url.removeprefix(page.home))
        return page.step == "done"

    def attack(page):
        known = [] if place(page) in ways["bob"] else list(ways["ann"])
        over = note("bob", page)
        furthest = max((known.index(one) for one in ways["bob"] if one in known), default=0)
        for later in known[furthest + 1 :]:
            if not {page.step, later[1]} <= FOLLOWING:
                path = f"/w/{page.home.split('/')[-2]}/{ways['ann'][later]}"
                assert not opens(copy, path), (page.url, path)
        return over

    copy.walker.walk("/s/every?id=ann", partial(note, "ann"))
    copy.walker.walk("/s/every?id=bob", attack)
    assert len(ways["ann"]) >= 25
    assert ways["ann"].keys() - ways["bob"].keys() <= {(7, "useful")}  # asked of some updates only


def opens(copy, path):
    """Say whether a page is shown, or its form leads to itself or further."""
    worker = copy.server.signer.worker(path.split("/")[2])
    step = path.split("/", 3)[-1]
    token = PageToken(worker=worker, key="k" * 16, step=step, showing=None, served_at=copy.clock())
    form = {"page": copy.server.signer.page_token(token), "choice": "left", "topic": "1", "start": "yes"}
    client = copy.app.test_client()
    answers = client.get(path), client.post(path, data=form)
    return any(answer.status_code not in {303, 405} or answer.location == path for answer in answers)


@pytest.mark.parametrize("number", ODD_NUMBERS)
def test_a_step_that_is_no_number_is_no_page(study, ann, number):
    """Negative, signed, with a point, without end."""
    for path in (f"{number}/intro", f"1/{number}/questions", f"1/1/pair/{number}"):
        for method in ("GET", "POST"):
            assert ann.client.open(ann.home + path, method=method).status_code in {404, 405}


def test_tokens_do_not_expire(study, ann):
    """A diary lasts for weeks and a code must be there for ever: the standing link is good until the worker is deleted."""
    before = study.clock.time
    study.clock.time += timedelta(days=3650)
    try:
        assert ann.client.get(ann.home).status_code == 303
    finally:
        study.clock.time = before


@pytest.mark.both_databases
def test_new_keys_end_every_address_and_workers_come_back_to_where_they_were(campaign, monkeypatch, capsys):
    """Whoever fears that a key is known makes new ones; then every address given out is nobody's, and no answer is lost."""
    study = campaign(tasks=[votes_task(), pairs_task(validation_pairs=0)])
    ann = study.arrive().send().send(topic="1").send(intent="1")
    [(researcher,)] = study.rows(select(Setting.value).where(Setting.name == RESEARCHER_KEY))
    study.database.engine.dispose()
    made = run_here(monkeypatch, capsys, "db", "rekey", "--database", study.url)
    assert (made.code, "has new keys" in made.out) == (0, True)
    client = study.serve().app.test_client()
    form = {**ann.form(), "topic": "1"}
    assert client.get(ann.home).status_code == 404
    assert client.post(ann.path, data=form).status_code == 404
    assert client.post(f"/e/{ann.token}", json={"page": ann.page_token}).status_code == 404
    assert client.get(f"/r/small?key={researcher}").status_code == 404
    again = study.arrive()
    assert again.token != ann.token
    assert again.step == ann.step == "2/choose"
    assert again.client.post(again.path, data=form).status_code == 403


def test_old_addresses_are_good_for_the_stated_time_when_keys_change_without_a_leak(
    campaign, monkeypatch, capsys
):
    """They lead to new ones meanwhile, with a form that was open too; the researcher's old key opens nothing."""
    study = campaign(tasks=[votes_task()])
    ann = study.arrive().send()
    [(researcher,)] = study.rows(select(Setting.value).where(Setting.name == RESEARCHER_KEY))
    study.database.engine.dispose()
    monkeypatch.setattr("study_app.store.tokens.utc_now", study.clock)
    rekey = ("db", "rekey", "--keep-old", "48", "--database", study.url)
    assert "old addresses are good until 2026-03-03 12:00 UTC" in run_here(monkeypatch, capsys, *rekey).out
    study.serve()
    old, ann.client = ann.token, study.visitor().client
    assert ann.send(topic="1").step == "1/1/vote"
    assert old not in ann.path
    assert study.visitor().open(f"/w/{old}/").path == ann.path
    assert ann.client.get(f"/r/small?key={researcher}").status_code == 404
    study.clock.forward(48 * 3600)
    assert ann.client.get(f"/w/{old}/").status_code == 404
    assert ann.send(intent="1").status == 200


@pytest.mark.both_databases
def test_keys_are_not_changed_under_a_server(campaign, monkeypatch, capsys):
    """It would go on with the old ones, and sign with them what nobody takes afterwards."""
    study = campaign(tasks=[votes_task()])
    before = study.rows(select(Setting.value))
    with study.database.engine.connect(), serving_lock(study.url):
        refused = run_here(monkeypatch, capsys, "db", "rekey", "--database", study.url)
    assert (refused.code, refused.out) == (1, "")
    assert re.search(r"is being served already|is in use \(", refused.err)
    assert study.rows(select(Setting.value)) == before


def test_the_researchers_page_has_no_key_that_is_empty(study):
    """Where no key was made, or an empty one is sent, nobody sees it; a wrong key does not say whether the study exists."""
    client = study.app.test_client()
    [(key,)] = study.rows(
        Setting.__table__.select().with_only_columns(Setting.value).where(Setting.name == "researcher_key")
    )
    assert sign_in(client, "every", key).status_code == 303
    client = study.app.test_client()
    wrong = [
        client.get(path)
        for path in ("/r/every?key=", "/r/every", f"/r/every?key={key}x", f"/r/other?key={key}")
    ]
    said = {(answer.status_code, re.sub("[0-9a-f]{8}", "", answer.text)) for answer in wrong}
    assert {status for status, _ in said} == {404}
    assert len(said) == 1
    with transaction(study.database, write=True) as session:
        session.execute(update(Setting).where(Setting.name == "researcher_key").values(value=""))
    try:
        assert client.get("/r/every?key=").status_code == 404
    finally:
        with transaction(study.database, write=True) as session:
            session.execute(update(Setting).where(Setting.name == "researcher_key").values(value=key))
