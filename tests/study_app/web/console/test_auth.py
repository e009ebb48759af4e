"""Who gets into a study's console, and what they may do there."""

import re

import pytest
from sqlalchemy import select

from study_app.services.researcher.access import make_key, revoke_every_key, revoke_key, study_keys
from study_app.services.researcher.studies import RESEARCHER_KEY, chosen_study, setting
from study_app.store.console_models import AuditEntry
from study_app.store.database import transaction
from study_app.store.models import LoadedStudy
from study_app.store.tokens import secret_token
from tests.study_app.web.console.console_client import sign_in, token

PAGES = ("", "audit")


@pytest.fixture
def study(campaign):
    return campaign()


def key_to(study, role, *, name=None):
    with transaction(study.database, write=True) as session:
        row = chosen_study(session, "small")
        return make_key(session, row, role=role, name=name or role, now=study.clock(), new_token=secret_token)


def signed_in(study, key):
    client = study.app.test_client()
    sign_in(client, "small", key)
    return client


def acts(study):
    return [
        tuple(row)
        for row in study.rows(
            select(AuditEntry.who, AuditEntry.what, AuditEntry.detail).order_by(AuditEntry.id)
        )
    ]


def paused(study):
    return study.rows(select(LoadedStudy.paused_at))[0][0] is not None


def test_the_key_in_the_address_signs_in_once_and_is_in_no_address_after(study):
    """The cookie belongs to this study's console alone; no script reads it, and no other site sends it."""
    client = study.app.test_client()
    answer = sign_in(client, "small", key_to(study, "watch"))
    assert (answer.status_code, answer.location) == (303, "/r/small/")
    cookie = answer.headers["Set-Cookie"]
    assert {"HttpOnly", "SameSite=Strict", "Path=/r/small"} <= set(cookie.split("; "))
    assert "Secure" not in cookie
    assert client.get("/r/small/").status_code == 200
    https = study.app.test_client()
    https.environ_base["HTTP_X_FORWARDED_PROTO"] = "https"
    https.environ_base["wsgi.url_scheme"] = "https"
    cookie = sign_in(https, "small", key_to(study, "watch", name="b")).headers["Set-Cookie"]
    assert cookie.startswith("__Secure-")
    assert "Secure" in cookie.split("; ")


SITES = ("cross-site", "same-site")
"""What a browser says of a request that another site had it send."""


@pytest.mark.parametrize("site", [*SITES, "none", None])
def test_no_address_signs_in_by_itself(study, site):
    """An image, a frame or a link of another site with a key of its own: the owner would act under a stranger's name."""
    key, owner = (
        key_to(study, "manage", name="Mallory"),
        signed_in(study, key_to(study, "manage", name="Ann")),
    )
    headers = {"Sec-Fetch-Site": site, "Sec-Fetch-Dest": "image"} if site else {}
    for client in (owner, study.app.test_client()):
        answer = client.get(f"/r/small?key={key}", headers=headers)
        assert (answer.status_code, "prefcal_console=" in str(answer.headers)) == (200, False)
    assert "Ann, manage" in owner.get("/r/small/").text
    assert "Mallory" not in str(acts(study)[2:])


def test_a_form_of_another_site_signs_nobody_in(study):
    """It cannot know what stands in this server's form, and the browser sends no cookie with it."""
    key, client = key_to(study, "manage", name="Mallory"), study.app.test_client()
    sent = client.post("/r/small/sign-in", data={"key": key})
    assert (sent.status_code, "came from another page" in sent.text) == (403, True)
    own = token(client, "/r/small/sign-in")
    for headers, form in [({"Sec-Fetch-Site": site}, own) for site in SITES] + [({}, "x"), ({}, "")]:
        sent = client.post("/r/small/sign-in", data={"key": key, "csrf": form}, headers=headers)
        assert (sent.status_code, "prefcal_console=" in str(sent.headers)) == (403, False)
    assert study.app.test_client().post("/r/small/sign-in", data={"key": key, "csrf": own}).status_code == 403
    assert client.post("/r/small/sign-in", data={"key": key, "csrf": own}).location == "/r/small/"


def test_options_tells_nothing(study):
    """Neither that there is an address of the console, nor which methods it has."""
    client = study.console()
    for path in ("", "/", "/pause", "/sign-in", "/audit", "/nowhere", "/people.csv"):
        for name in ("small", "other"):
            answer = client.options(f"/r/{name}{path}")
            assert (answer.status_code, "Allow" in answer.headers) == (404, False), path
            assert answer.data == b"" or "Allow" not in answer.text
    assert client.options("/healthz").status_code == 200


def test_without_a_session_every_address_is_unknown(study):
    """Nothing tells whether there is such a study, or such a page."""
    client = study.app.test_client()
    paths = [f"/r/{name}/{page}" for name in ("small", "other") for page in (*PAGES, "nowhere")]
    answers = [client.get(path) for path in [*paths, "/r/small", "/r/small?key=x", "/r/small/pause"]]
    answers += [client.post(path) for path in ("/r/small/pause", "/r/other/pause", "/r/small/sign-out")]
    same = {re.sub(r"[0-9a-f]{8}", "", answer.text) for answer in answers}
    assert {answer.status_code for answer in answers} == {404}
    assert len(same) == 1
    forms = [client.get(f"/r/{name}/sign-in") for name in ("small", "other")]
    assert {form.status_code for form in forms} == {200}


def test_a_key_to_watch_acts_nowhere(study):
    """It sees no button, and a form of its own making is refused in words."""
    client = signed_in(study, key_to(study, "watch"))
    assert "Pause" not in client.get("/r/small/").text
    answer = client.post("/r/small/pause", data={"csrf": token(client)})
    assert (answer.status_code, "has the role watch" in answer.text, paused(study)) == (403, True, False)
    assert [what for _, what, _ in acts(study)] == ["make a key", "sign in", "refused: pause"]


def test_a_study_that_is_gone_meanwhile_is_an_unknown_address(study):
    """Its pages are not found, and a form that was open does nothing."""
    client = signed_in(study, key_to(study, "manage"))
    form = {"csrf": token(client)}
    with transaction(study.database, write=True) as session:
        chosen_study(session, "small").name = "elsewhere"
    answers = [
        client.post("/r/small/pause", data=form),
        client.get("/r/small/"),
        client.get("/r/small/audit"),
    ]
    assert [answer.status_code for answer in answers] == [404, 404, 404]
    assert not paused(study)


def test_an_act_needs_the_token_of_its_own_session_and_is_a_line_of_the_audit(study):
    """What was done is said on the next page, and stands in the audit with the key's name."""
    client = signed_in(study, key_to(study, "manage", name="Ann"))
    earlier = token(client)
    sign_in(client, "small", key_to(study, "manage", name="Bob"))
    for wrong in ({}, {"csrf": earlier}):
        answer = client.post("/r/small/pause", data=wrong)
        assert (answer.status_code, "Open the page again" in answer.text) == (403, True)
    assert not paused(study)
    answer = client.post("/r/small/pause", data={"csrf": token(client)}, follow_redirects=True)
    assert "Done: pause (nobody new is let in" in answer.text
    assert paused(study)
    assert client.post("/r/small/pause", data={"csrf": token(client)}).status_code == 409
    assert acts(study)[-2:] == [
        ("Bob", "pause", "nobody new is let in; whoever has begun goes on"),
        ("Bob", "refused: pause", "The study is paused already."),
    ]


def test_a_session_ends_after_twelve_hours_by_signing_out_and_with_its_key(study):
    """Its browser is told so; a token that was signed out opens nothing, wherever it was copied to."""
    key = key_to(study, "manage")
    late, out, revoked, rekeyed = (signed_in(study, key) for _ in range(4))
    copied = out.get_cookie("prefcal_console", path="/r/small").value
    assert out.post("/r/small/sign-out", data={"csrf": token(out)}).location == "/r/small/sign-in"
    out.set_cookie("prefcal_console", copied, path="/r/small")
    assert "You are signed out" in out.get("/r/small/").text
    study.clock.forward(12 * 3600)
    sent = late.post("/r/small/pause", data={"csrf": "x"})
    assert (sent.status_code, "You are signed out" in sent.text) == (403, True)
    revoked, rekeyed = signed_in(study, key), signed_in(study, key)
    with transaction(study.database, write=True) as session:
        revoke_key(session, study_keys(session)[0].id, now=study.clock())
    assert revoked.get("/r/small/").status_code == 403
    assert signed_in(study, key).get("/r/small/").status_code == 404
    assert [who for who, what, _ in acts(study) if what == "sign out"] == ["manage"]
    with transaction(study.database, write=True) as session:
        installation = setting(session, RESEARCHER_KEY)
    rekeyed = signed_in(study, installation)
    with transaction(study.database, write=True) as session:
        revoke_every_key(session, now=study.clock())
    assert rekeyed.get("/r/small/").status_code == 403


def test_wrong_keys_are_refused_and_more_than_five_a_minute_unheard(study):
    """A right key opens all the same: else a stranger could keep the researcher out."""
    client, key = study.app.test_client(), key_to(study, "watch")
    csrf = token(client, "/r/small/sign-in")
    answers = [client.post("/r/small/sign-in", data={"key": f"wrong{n}", "csrf": csrf}) for n in range(6)]
    assert [answer.status_code for answer in answers] == [403] * 5 + [429]
    assert client.get("/r/small?key=wrong").status_code == 429
    assert client.post("/r/small/sign-in", data={"key": f" {key} ", "csrf": csrf}).location == "/r/small/"
    study.clock.forward(61)
    assert client.get("/r/small?key=wrong").status_code == 404


def test_a_key_of_one_study_opens_no_other(study, tmp_path):
    """Nor does its session, with its cookie sent anywhere."""
    (tmp_path / "second").mkdir()
    study.folder = tmp_path / "second"
    study.load(study="second")
    key = key_to(study, "manage")
    client = signed_in(study, key)
    value = client.get_cookie("prefcal_console", path="/r/small").value
    client.set_cookie("prefcal_console", value, path="/")
    assert study.app.test_client().get(f"/r/second?key={key}").status_code == 404
    assert [client.get(f"/r/second/{page}").status_code for page in PAGES] == [404] * len(PAGES)
    assert client.post("/r/second/pause", data={"csrf": token(client)}).status_code == 404


@pytest.mark.both_databases
def test_a_number_that_no_row_can_have_is_no_fault_of_the_server(study):
    """In the address, or behind it."""
    client, huge = study.console(), 10**30
    for path in (f"data/jobs/{huge}", f"data/report/{huge}", f"people/nobody/replay/{huge}"):
        assert client.get(f"/r/small/{path}").status_code == 404
    for name in ("people", "material", "audit", "limits", "", "payments"):
        for number in (huge, 2**31, -1):
            query = "&".join(f"{key}={number}" for key in ("page", "part", "task", "before", "done", "at"))
            assert client.get(f"/r/small/{name}?{query}").status_code in {200, 404, 422}


@pytest.mark.both_databases
def test_a_character_that_no_row_can_have_is_no_fault_of_the_server(study):
    """NUL, which PostgreSQL refuses even in a question."""
    client = study.console()
    for path in ("people/%00", "people/x/replay/%00", "people/%00/replay/x/page", "payments/%00.csv"):
        assert client.get(f"/r/small/{path}").status_code == 404, path
    for name in ("people", "people.csv", "material", "audit", "limits", "", "payments", "data/tables.zip"):
        query = "&".join(
            f"{key}=%00" for key in ("part", "show", "sort", "of", "task", "before", "key", "format")
        )
        assert client.get(f"/r/small/{name}?{query}").status_code in {200, 404, 422}, name
    for act in ("sign-in", "payments/paid", "limits/raise", "limits/close", "data/jobs", "material/results"):
        form = dict.fromkeys(("key", "list", "as_of", "task", "limit", "topic", "kind"), "\0") | {
            "csrf": token(client)
        }
        assert client.post(f"/r/small/{act}", data=form).status_code in {200, 303, 403, 404, 409, 422}, act
