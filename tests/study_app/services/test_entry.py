"""Arriving: who is let in, under which identity, and what is said to the others."""

import json
from dataclasses import replace
from datetime import timedelta

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm
from sqlalchemy import select

from study_app.store import tokens
from study_app.store.models import EPOCH, LoadedStudy, PlatformEntry, PlatformIdentity, Worker
from study_app.store.tokens import BadTokenError, PageToken, Signer
from study_app.study.platforms import PLATFORMS, is_phone, visit_parameters, worker_id
from tests.study_app.prefcal_command import run_here
from tests.study_app.small_study import write_small_study
from tests.study_app.visitor import DESKTOP, PHONE

IPAD = "Mozilla/5.0 (iPad; CPU OS 16_0 like Mac OS X) AppleWebKit/605.1.15 Version/16.0 Mobile/15E148 Safari/604.1"


def test_a_worker_is_study_platform_and_id(campaign):
    """Coming back is resuming; another id is another worker."""
    study = campaign()
    first, again, other = study.arrive("ann"), study.arrive("ann"), study.arrive("Ann")
    assert first.home == again.home != other.home
    ids = study.rows(select(PlatformIdentity.platform_worker).order_by(PlatformIdentity.id))
    assert [name for (name,) in ids] == ["ann", "Ann"]


def test_every_arrival_is_kept_with_what_the_platform_said(campaign):
    """A second submission of the same person is still the same person."""
    study = campaign(platform="prolific")
    for submission in ("s1", "s2"):
        study.visitor().open(
            f"/s/small?PROLIFIC_PID=5e9088a8a4b6ed018b45ba7b&STUDY_ID=x&SESSION_ID={submission}&secret=1"
        )
    entries = [entry for (entry,) in study.rows(select(PlatformEntry.parameters).order_by(PlatformEntry.id))]
    assert entries == [{"STUDY_ID": "x", "SESSION_ID": "s1"}, {"STUDY_ID": "x", "SESSION_ID": "s2"}]
    assert len(study.rows(select(Worker))) == 1


@pytest.mark.parametrize(
    "query",
    ["", "?id=", "?id=%20", "?ID=ann", "?PROLIFIC_PID=ann", "?id=" + "x" * 256, "?id=a%00b", "?id=a%0Ab"],
)
def test_a_missing_or_impossible_id_is_a_clear_page(campaign, query):
    """The address was copied without its end: say so, and store nothing."""
    study = campaign()
    visitor = study.visitor().open(f"/s/small{query}")
    assert visitor.status == 400
    assert "not complete" in visitor.html.h1.get_text()
    assert study.rows(select(Worker)) == []


def test_an_unknown_study_is_a_clear_page(campaign):
    """Not a bare 404."""
    visitor = campaign().visitor().open("/s/smal?id=ann")
    assert visitor.status == 404
    assert "no such study" in visitor.html.h1.get_text()


@pytest.mark.parametrize(
    ("device", "agent", "hint", "is_let_in"),
    [
        ("any", DESKTOP, None, True),
        ("any", PHONE, None, True),
        ("phone", PHONE, None, True),
        ("phone", DESKTOP, None, False),
        ("desktop", DESKTOP, None, True),
        ("desktop", PHONE, None, False),
        ("desktop", IPAD, None, False),
        ("phone", DESKTOP, "?1", True),
        ("desktop", PHONE, "?0", True),
    ],
)
def test_the_device_is_checked_before_consent(campaign, device, agent, hint, is_let_in):
    """By the browser's hint where there is one, else by its name; and only when the study asks for it."""
    study = campaign(device=device)
    headers = {"User-Agent": agent} | ({"Sec-CH-UA-Mobile": hint} if hint else {})
    answer = study.app.test_client().get("/s/small?id=ann", headers=headers)
    assert answer.status_code == (303 if is_let_in else 403)
    assert len(study.rows(select(Worker))) == is_let_in


def test_who_has_begun_may_go_on_elsewhere(campaign):
    """The device is a condition of entry, not of every page."""
    study = campaign(device="phone")
    study.visitor(agent=PHONE).open("/s/small?id=ann")
    assert study.visitor(agent=DESKTOP).open("/s/small?id=ann").step == "consent"


def test_a_phone_is_told_by_hint_then_by_name():
    """Frozen names of browsers say less and less; the hint says it."""
    assert is_phone(PHONE, None)
    assert not is_phone(DESKTOP, None)
    assert not is_phone(PHONE, "?0")
    assert is_phone("", "?1")
    assert not is_phone("", None)


def test_only_known_and_plain_parameters_are_kept():
    """What else stands in the address is nobody's business."""
    prolific = PLATFORMS["prolific"]
    given = {
        "PROLIFIC_PID": " 5e9088a8a4b6ed018b45ba7b ",
        "STUDY_ID": "s",
        "SESSION_ID": "x" * 256,
        "email": "a@b.example",
    }
    assert worker_id(prolific, given) == "5e9088a8a4b6ed018b45ba7b"
    assert visit_parameters(prolific, given) == {"STUDY_ID": "s"}


@pytest.mark.parametrize("token", ["x", "MQ", "MQ.x", "MQ.", "%00", "a" * 5000])
def test_a_forged_address_is_a_clear_page(campaign, token):
    """Nobody gets anywhere by guessing."""
    study = campaign()
    study.arrive()
    for step in ("", "consent", "1/1/pair/1", "done"):
        visitor = study.visitor().open(f"/w/{token}/{step}")
        assert visitor.status == 404
        assert "does not work" in visitor.html.h1.get_text()


def test_one_workers_form_is_not_anothers(campaign):
    """Nor is one page's form another page's."""
    study = campaign()
    ann, bob = study.at_pairs("ann"), study.at_pairs("bob")
    for form in ({}, {"page": ""}, {"page": "x.y"}, bob.form(), {"page": ann.token}):
        answer = ann.client.post(ann.path, data={**form, "choice": "left"})
        assert answer.status_code == 403
        assert "nothing that you answered is lost" in answer.text
    first = ann.form()
    ann.send(choice="left")
    assert ann.client.post(ann.path, data={**first, "choice": "left"}).status_code == 403


def test_a_token_is_remembered_in_the_spelling_that_was_given_out():
    """Other spellings read alike; whoever sends a hundred thousand of them must not fill the memory."""
    signer = Signer("a key")
    token = signer.worker_token(7)
    assert {signer.worker(spelling) for spelling in (f"{token}!!!!", f"{token}~~~~", token)} == {7}
    assert signer._known == {token: 7}


def test_what_was_just_signed_says_what_its_token_says(monkeypatch):
    """Whether this server remembers the page or another process of it reads the token; and it remembers the latest only."""
    monkeypatch.setattr(tokens, "MAX_SERVED_PAGES", 3)
    signer, other = Signer("a key"), Signer("a key")
    served_at = EPOCH + timedelta(milliseconds=7, microseconds=600)
    pages = [
        PageToken(worker=1, key=f"k{number}", step="1/2/pair/3", showing=number, served_at=served_at)
        for number in range(5)
    ]
    signed = [signer.page_token(page) for page in pages]
    assert list(signer._served) == signed[2:]
    for page, token in zip(pages, signed, strict=True):
        assert signer.page(token) == other.page(token)
        assert signer.page(token) == replace(page, served_at=EPOCH + timedelta(milliseconds=7))
    for forged in (f"{signed[-1]}A", signed[-1][:-1], f" {signed[-1]}"):
        with pytest.raises(BadTokenError):
            signer.page(forged)


def test_a_token_of_another_installation_opens_nothing():
    """Tokens are signed with the installation's own key, each kind with its own salt."""
    ours, theirs = Signer("our key"), Signer("their key")
    page = PageToken(worker=1, key="k", step="consent", showing=None, served_at=EPOCH)
    assert ours.worker(ours.worker_token(1)) == 1
    assert ours.page(ours.page_token(page)) == Signer("our key").page(ours.page_token(page)) == page
    for read, token in (
        (ours.worker, theirs.worker_token(1)),
        (ours.page, theirs.page_token(page)),
        (ours.worker, ours.page_token(page)),
        (ours.page, ours.worker_token(1)),
    ):
        with pytest.raises(BadTokenError):
            read(token)


def test_an_unknown_address_and_a_wrong_method_are_clear_pages(campaign):
    """With a reference number to quote."""
    study = campaign()
    for path in ("/", "/w/", "/nothing", "/static/nothing.css"):
        assert "Reference:" in study.visitor().open(path).text
    assert "enter by the whole address that you were given" in study.visitor().open("/").text
    assert study.app.test_client().post("/s/small?id=ann").status_code == 405
    ann = study.arrive()
    assert ann.client.post(ann.path, data={"page": "x" * 70_000}).status_code == 413


def test_only_listed_ids_are_let_in_where_a_study_has_a_list(campaign, monkeypatch, capsys):
    """What is kept of the list are digests; loading it again takes a changed one, and who has begun goes on."""
    study = campaign()
    listed, file = study.folder / "invited.txt", write_small_study(study.folder, ids="invited.txt")
    for text in ("ann\n", "\nbob\n"):
        listed.write_text(text)
        loaded = run_here(monkeypatch, capsys, "study", "load", file, "--database", study.url)
        assert loaded.code == 0, loaded.err
        if text == "ann\n":
            assert study.arrive("ann").step == "consent"
            stranger = study.arrive("bob")
            assert (stranger.status, "invited people only" in stranger.html.h1.get_text()) == (403, True)
    assert "ids: 1 in all" in loaded.out
    assert study.arrive("bob").step == study.arrive("ann").step == "consent"
    [(config,)] = study.rows(select(LoadedStudy.config))
    assert "bob" not in str(config)
    listed.write_text("ann\na\x07b\n")
    refused = run_here(monkeypatch, capsys, "study", "load", file, "--database", study.url)
    assert f"{listed}:2: not an id of platform generic; write one id a line" in refused.err


ANN, BOB = "5e9088a8a4b6ed018b45ba7b", "5e9088a8a4b6ed018b45ba7c"


def public(key, name):
    """A public key as a platform publishes it."""
    return {**json.loads(RSAAlgorithm.to_jwk(key.public_key())), "kid": name, "alg": "RS256", "use": "sig"}


def test_only_addresses_that_the_platform_signed_let_in_where_a_study_has_its_keys(
    campaign, monkeypatch, capsys
):
    """Signed by a listed key, for this site, in time, and about the ids of the address; the ids come from the token."""
    study = campaign(platform="prolific")
    key, other = (rsa.generate_private_key(public_exponent=65537, key_size=2048) for _ in range(2))
    file = write_small_study(study.folder, platform="prolific", signing_keys="keys.json")
    (study.folder / "keys.json").write_text(json.dumps({"keys": [public(key, "a")]}))
    loaded = run_here(monkeypatch, capsys, "study", "load", file, "--database", study.url)
    assert loaded.code == 0, loaded.err
    now = int(study.clock().timestamp())
    ids = {"PROLIFIC_PID": ANN, "STUDY_ID": "x", "SESSION_ID": "s1", "workspace_id": "w"}

    def come(also="", *, by=key, kid="a", algorithm="RS256", **claims):
        whole = {"aud": "http://localhost", "exp": now + 60, "prolific": ids, **claims}
        token = jwt.encode(whole, by, algorithm=algorithm, headers={"kid": kid})
        return study.visitor().open(f"/s/small?prolific_token={token}{also}")

    assert come().step == come(f"&PROLIFIC_PID={ANN}", aud=["localhost"]).step == "consent"
    entries = [entry for (entry,) in study.rows(select(PlatformEntry.parameters))]
    assert entries == [{"STUDY_ID": "x", "SESSION_ID": "s1"}] * 2
    refused = [
        study.visitor().open(f"/s/small?PROLIFIC_PID={BOB}"),
        study.visitor().open("/s/small?prolific_token=a.b.c"),
        come(f"&PROLIFIC_PID={BOB}"),
        come(by=other),
        come(kid="b"),
        come(by="x" * 32, algorithm="HS256"),
        come(by=None, algorithm="none"),
        come(exp=now - 90),
        come(aud="https://elsewhere.example"),
        come(prolific={"workspace_id": "w"}),
        come(exp="soon"),
    ]
    assert {page.status for page in refused} == {403}
    assert refused[0].html.h1.get_text() == "Please open the study from its platform"
    assert len(study.rows(select(Worker))) == 1
    for text, cause in (
        ("{}", "keys.json has no public key for RS256"),
        (None, "keys.json cannot be read (No such file or directory)"),
    ):
        (study.folder / "keys.json").unlink()
        if text is not None:
            (study.folder / "keys.json").write_text(text)
        wrong = run_here(monkeypatch, capsys, "study", "load", file, "--database", study.url)
        assert (wrong.code, cause in wrong.err, "study.yaml:" in wrong.err) == (1, True, True)
