"""Requests that no browser sends: SQL and header lines in every part, addresses elsewhere, too much, half, and nonsense."""

import logging
import socket
import threading
from contextlib import contextmanager
from io import BytesIO
from urllib.parse import quote, urlencode

import pytest
from click.testing import CliRunner
from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from waitress import wasyncore

from metrics.errors import InputError
from study_app.cli.serve.command import serve
from study_app.cli.serve.http_server import KEPT_BYTES, READ_BYTES, BoundedForm, waitress_server
from study_app.cli.serve.machine import bound_socket
from study_app.config import Config
from study_app.store.database import migrate, open_database
from study_app.store.models import LoadedStudy, PlatformEntry, PlatformIdentity
from study_app.web.app import create_app
from study_app.web.serving import MAX_BODY_BYTES
from tests.study_app.conftest import Campaign
from tests.study_app.small_study import votes_task

SQL = [
    "x' OR '1'='1",
    "x'; DROP TABLE worker; --",
    'x" OR ""="',
    "x\\'; SELECT 1",
    "%' OR 1=1",
    "x') OR ('1'='1",
]
ELSEWHERE = [
    "https://evil.example",
    "//evil.example",
    "/\\evil.example",
    "javascript:alert(1)",
    "\r\nLocation: //evil.example",
]


@pytest.fixture(scope="module")
def study(tmp_path_factory, database_in):
    """A study of votes, the same for all these tests: none may leave more behind than a worker."""
    folder = tmp_path_factory.mktemp("attacked")
    made = Campaign(folder, database_in(folder))
    made.load(tasks=[votes_task(votes_per_query=None)])
    yield made.serve()
    made.database.engine.dispose()


@pytest.mark.parametrize("text", SQL)
def test_sql_in_any_part_of_a_request_is_a_text(study, text):
    """Statements have places for values, and values come separately: nothing is found, and an id is stored as it is."""
    client, written = study.app.test_client(), quote(text, safe="")
    for path in (
        f"/s/{written}?id=x",
        f"/r/{written}?key={written}",
        f"/r/small?key={written}",
        f"/w/{written}/",
    ):
        assert client.get(path).status_code in (
            {404, 429} if path.startswith("/r/") else {404}
        )  # wrong keys are held up
    assert client.post("/withdraw", data={"code": text}).status_code == 422
    ann = study.visitor().open(f"/s/small?id={written}&session={written}").send(agree=text)
    ann.send().send(topic=text)
    assert ann.step == "1/choose"
    stored = select(PlatformEntry.parameters).join(PlatformIdentity)
    assert study.rows(stored.where(PlatformIdentity.platform_worker == text)) == [({"session": text},)]
    assert study.rows(select(LoadedStudy.name)) == [("small",)]


@pytest.mark.both_databases
def test_what_a_database_cannot_hold_is_refused_or_left_out(campaign):
    """NUL, halves of characters and bytes that are no text: PostgreSQL fails even when it is asked for them."""
    study = campaign(tasks=[votes_task()])
    client = study.app.test_client()
    for part in ("%00", "small%00", "%ED%A0%80", "%FF", "a" * 10_000):
        for path in (f"/s/{part}?id=x", f"/r/{part}?key=x", f"/w/{part}/", f"/w/{part}/1/1/vote"):
            assert client.get(path).status_code == 404, path
        assert (
            client.post(
                "/withdraw", data=f"code={part}".encode(), content_type="application/x-www-form-urlencoded"
            ).status_code
            == 422
        )
    assert client.get("/s/small?id=a%00").status_code == 400
    ann = (
        study.visitor()
        .open("/s/small?id=a&session=%00&batch=%ED%A0%80")
        .send()
        .send(topic="1")
        .send(none="1")
    )
    assert ann.status == 200


@pytest.mark.parametrize("target", ELSEWHERE)
def test_no_redirect_leads_to_another_host(study, target):
    """Whatever an address, a parameter or the Host header names: redirects are paths of this server."""
    client, written = study.app.test_client(), quote(target, safe="")
    token = study.arrive().token
    paths = [
        f"/s/small?id=x&via={written}&next={written}&return_url={written}",
        f"/w/{token}",
        f"/w/{token}/?via={written}&at=1",
    ]
    paths += [f"/w/{token}/{written}", f"/{target.strip()}", f"/w/{token}/1/choose?to={written}"]
    for path in paths:
        for host in ("localhost", "evil.example"):
            answer = client.get(
                path, base_url=f"http://{host}/", headers={"X-Forwarded-Host": "evil.example"}
            )
            assert answer.status_code in {303, 404}, path
            location = answer.headers.get("Location", "/w/")
            assert location.startswith("/w/"), path
            assert "evil" not in location


def test_a_second_slash_is_no_host(study):
    """`//host/w/` would be another host for a browser: such a path is unknown, not put right."""
    for path in ("//evil.example/w/x", "/w//evil.example/", "///", "//evil.example/%2f.."):
        answer = study.app.test_client().get("/", environ_overrides={"PATH_INFO": path, "REQUEST_URI": path})
        assert answer.status_code == 404
        assert "Location" not in answer.headers


@pytest.mark.parametrize("host", ["a b", "x" * 3000, "[::1", '"><script>', "a:99999999", "", "\xff"])
def test_a_host_that_is_none_is_answered_plainly(study, host):
    """Never by a failure, never repeated; also where something else is wrong with the request, as with a form that was cut."""
    cut = {"data": b"code=x", "content_type": "application/x-www-form-urlencoded", "headers": {"Host": host}}
    answer = study.app.test_client().post("/withdraw", **cut, environ_overrides={"CONTENT_LENGTH": "60"})
    assert answer.status_code == 400
    for path in ("/s/small?id=x", "/nothing", "/nothing%00", "/healthz"):
        answer = study.app.test_client().get(path, headers={"Host": host})
        assert answer.status_code in {200, 303, 400, 404}
        assert "<script>" not in answer.text
        assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_a_server_answers_to_its_own_names_only_and_says_where_to_report_a_weakness(study):
    """Where `prefcal serve` was told them; any other name is 400 for every address, without a page that would repeat it."""
    named = Config(database=study.url, hosts=("study.example.org",), contact="mailto:a@example.org")
    client = create_app(named, now=study.clock).test_client()
    for path in ("/s/small?id=x", "/nothing", "/healthz", "/.well-known/security.txt"):
        assert client.get(path, headers={"Host": "evil.example"}).status_code == 400
    ours = {"Host": "study.example.org:8443"}
    assert client.get("/s/small", headers=ours).status_code == 400  # no id
    assert client.get("/healthz", headers=ours).status_code == 200
    said = client.get("/.well-known/security.txt", headers=ours)
    assert said.text.splitlines()[:2] == ["Contact: mailto:a@example.org", "Expires: 2026-08-28T12:00:00Z"]
    assert study.app.test_client().get("/.well-known/security.txt").status_code == 404
    for option, given in (("--allow-host", "https://x.org/"), ("--contact", "nobody"), ("--contact", "a\nb")):
        refused = CliRunner().invoke(serve, [option, given])
        assert (refused.exit_code, "write" in refused.output) == (2, True)


def test_a_method_that_an_address_does_not_have_is_refused_with_those_it_has(study):
    """TRACE, which would repeat what was sent, among them."""
    for path, allowed in (("/withdraw", {"GET", "HEAD", "OPTIONS", "POST"}), ("/e/x", {"OPTIONS", "POST"})):
        for method in ("TRACE", "PUT", "DELETE"):
            answer = study.app.test_client().open(path, method=method)
            assert (answer.status_code, set(answer.allow)) == (405, allowed)


def test_no_part_of_a_request_gets_into_a_header(study):
    """Line ends in parameters, tokens and forms would begin a header of their own."""
    client, line = study.app.test_client(), quote("a\r\nSet-Cookie: a=b", safe="")
    ann = study.arrive("liner")
    answers = [
        client.get(f"/s/small?id={line}"),
        client.get(f"/s/small?id=x&session={line}&via={line}"),
        client.get(f"{ann.home}?via={line}&at={line}"),
        client.get(f"/w/{line}/consent"),
        client.get(f"/withdraw?language={line}"),
        client.post(
            ann.path, data={**ann.form(), "agree": "yes\r\nSet-Cookie: a=b", "text": "\r\nSet-Cookie: a=b"}
        ),
        ann.send().client.get(f"{ann.home}consent.txt?name={line}"),
    ]
    for answer in answers:
        assert answer.status_code < 500
        assert "Set-Cookie" not in answer.headers
        assert not any("\n" in value for value in answer.headers.values())


@pytest.mark.parametrize(
    "path",
    ["../__init__.py", "%2e%2e/__init__.py", "..%2f..%2fpyproject.toml", "/etc/passwd", "%00", "js", "C:/x"],
)
def test_only_static_files_are_served(study, path):
    """No way leads out of their folder, and folders are not listed."""
    assert study.app.test_client().get(f"/static/{path}").status_code == 404


BODIES = [
    (b"", "application/json"),
    (b"[" * 60_000, "application/json"),
    (b'{"page":' * 7_000, "application/json"),
    (b'{"sent_ms":' + b"9" * 60_000 + b"}", "application/json"),
    (b'{"page":"\\ud800","sent_ms":NaN}', "application/json"),
    (b"\xff\xfe\x00", "application/json"),
    (b"--x\r\nContent-Disposition: form-data", "multipart/form-data; boundary=x"),
    (b"--x\r\n\r\n--x--" * 2_000, "multipart/form-data; boundary=x"),
    (b"page=%ff%00%ED%A0%80&agree=%", "application/x-www-form-urlencoded"),
    (b"&".join(b"a%d=1" % number for number in range(5_000)), "application/x-www-form-urlencoded"),
    (b"x" * (MAX_BODY_BYTES + 1), "application/x-www-form-urlencoded"),
]


@pytest.mark.parametrize(("body", "kind"), BODIES)
def test_a_body_that_is_nonsense_is_refused(study, body, kind):
    """By forms with a page, by the address for events with a reason; nothing is stored."""
    ann = study.arrive("nonsense")
    for path in (ann.path, f"/e/{ann.token}", "/withdraw"):
        answer = ann.client.post(path, data=body, content_type=kind)
        assert answer.status_code in {400, 403, 413, 422}, path
        assert answer.status_code == 413 or len(body) <= MAX_BODY_BYTES
    assert ann.open(ann.home).step == "consent"


def test_a_form_shorter_than_it_says_is_refused_whatever_the_server_says(study):
    """Some HTTP servers take the end of a connection for the end of the form; the fields that came would look complete."""
    ann = study.arrive("cut")
    form = urlencode({**ann.form(), "agree": "yes"})

    cut = ann.client.post(
        ann.path,
        content_type="application/x-www-form-urlencoded",
        input_stream=BytesIO(form.encode()),
        environ_overrides={"CONTENT_LENGTH": str(len(form) + 9), "wsgi.input_terminated": True},
    )

    assert cut.status_code == 400
    assert ann.open(ann.home).step == "consent"


@contextmanager
def listening(app):
    """Serve an app as `prefcal serve` does, in a thread; yields its port."""
    connections = {}
    server = waitress_server(app, bound_socket("127.0.0.1", 0), threads=4, sockets=connections)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        yield server.effective_port
    finally:
        server.trigger.pull_trigger(lambda: wasyncore.close_all(connections, ignore_all=True))
        thread.join(10)


RAW = {
    b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"x" * 300_000 + b"\r\n\r\n": 431,
    b"POST /withdraw HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % READ_BYTES: 413,
    b"POST /withdraw HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n": 400,
    b"POST /withdraw HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcde": 400,
    b"POST /withdraw HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n": 501,
    b"POST /withdraw HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n": 400,
    b"nonsense\r\n\r\n": 400,
    b"GET /s/small?id=\xff\xfe HTTP/1.0\r\n\r\n": 400,
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n": 400,
}


def test_the_server_itself_refuses_what_is_too_large_or_malformed(study):
    """Before the study server sees it; and while one connection says nothing, others are served."""
    with listening(study.app) as port, socket.create_connection(("127.0.0.1", port)) as silent:
        silent.sendall(b"POST /withdraw HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nco")
        answered = {request[:80]: status_of(port, request) for request in RAW}
    assert answered == {request[:80]: status for request, status in RAW.items()}


TWO_LENGTHS = {
    "1.1": b"Content-Length: 5\r\nTransfer-Encoding: chunked",
    "1.1 ": b"transfer-encoding: chunked\r\ncontent-length: 0",
    "1.1  ": b"Transfer-Encoding:\r\nContent-Length: 36",
    "1.0": b"Connection: keep-alive\r\nTransfer-Encoding: chunked",
}


@pytest.mark.parametrize("version", TWO_LENGTHS)
def test_a_form_with_two_lengths_is_refused_and_nothing_behind_it_is_read(study, version):
    """A proxy that goes by the other length would take the rest for the request of somebody else."""
    request = f"POST /withdraw HTTP/{version.strip()}\r\nHost: a\r\n".encode() + TWO_LENGTHS[version]
    behind = b"\r\n\r\n0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"
    with listening(study.app) as port, socket.create_connection(("127.0.0.1", port), timeout=30) as client:
        client.sendall(request + behind)
        answer = b"".join(iter(lambda: client.recv(4096), b""))  # ends: the server closes
    assert answer.split()[1] == b"400"
    assert answer.count(b"HTTP/1.") == 1


def test_who_sends_far_too_much_reads_why_and_nothing_of_it_is_kept(study):
    """A browser shows an answer only when the whole form was taken from it; the server's memory and disk hold 1 MB of it at most."""
    whole = 5 * 1024 * 1024
    with listening(study.app) as port:
        for path, why in (
            ("/withdraw", "larger than any answer"),
            ("/r/small/payments/list", "at most 1 MB"),
        ):
            head = f"POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: {whole}\r\nConnection: close\r\n\r\n"
            with socket.create_connection(("127.0.0.1", port), timeout=30) as client:
                client.sendall(head.encode() + bytes(whole))
                answer = b"".join(iter(lambda: client.recv(65_536), b"")).decode()
            assert answer.startswith("HTTP/1.1 413 ")
            assert why in answer
            assert "<h1>" in answer
    kept = BoundedForm(1024)
    for _ in range(100):
        kept.append(bytes(KEPT_BYTES // 50))
    assert (len(kept), len(kept.getfile().read())) == (100 * (KEPT_BYTES // 50), KEPT_BYTES // 50 * 50)
    kept.close()


def status_of(port, request):
    """Send bytes and return the status that comes back."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(request)
        try:
            return int(connection.recv(4096).split()[1])
        except TimeoutError:
            return None


def test_what_a_database_says_of_a_row_stays_out_of_the_log(study, caplog, monkeypatch):
    """PostgreSQL names the values that broke a rule: a platform's id, an answer."""
    said = IntegrityError(
        "INSERT", {"id": "secret-id"}, Exception("Key (platform_worker)=(secret-id) already exists")
    )

    def fail(*_, **__):
        raise said

    monkeypatch.setattr("study_app.web.blueprints.entry.arrive", fail)
    caplog.set_level(logging.INFO)
    visitor = study.arrive("secret-id")
    assert visitor.status == 500
    assert "failed" in caplog.text
    assert "secret-id" not in caplog.text + visitor.text


def test_a_statement_that_fails_is_logged_without_its_values(campaign, caplog):
    """The statement, or on PostgreSQL the kind of fault, says what went wrong; its values are platform ids and answers."""
    study = campaign(tasks=[votes_task()])
    is_sqlite = study.database.engine.dialect.name == "sqlite"
    with study.database.engine.begin() as connection:
        connection.exec_driver_sql("ALTER TABLE platform_identity RENAME TO elsewhere")
    visitor = study.arrive("secret-id")
    assert visitor.status == (503 if is_sqlite else 500)
    assert ("platform_identity" if is_sqlite else "UndefinedTable") in caplog.text
    assert "secret-id" not in caplog.text + visitor.text


def test_a_databases_password_is_in_no_message():
    """Of an address that does not answer, nor of one that is none."""
    for url in ("postgresql://me:s3cret@127.0.0.1:1/study", "nosuch://me:s3cret@host/study"):
        with pytest.raises(InputError) as error:
            migrate(open_database(url))
        assert "s3cret" not in str(error.value)
        assert "***" in str(error.value)


def test_the_debug_server_has_no_console(study, monkeypatch):
    """Its console runs what is typed into it."""
    given = {}
    monkeypatch.setattr("flask.Flask.run", lambda app, **options: given.update(options))

    ended = CliRunner().invoke(serve, ["--debug", "--database", study.url])
    assert ended.exit_code == 0, ended.output
    assert given["use_debugger"] is False
