"""`prefcal doctor --address`: each way in which a proxy can be wrong, once."""

import httpx
import pytest

from study_app.cli.doctor import FAULT, OK, WARNING, examine_address
from tests.study_app.conftest import Campaign
from tests.study_app.prefcal_command import run_here
from tests.study_app.small_study import votes_task

ADDRESS = "https://study.example.org"


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    """A served study."""
    folder = tmp_path_factory.mktemp("proxied")
    made = Campaign(folder, f"sqlite:///{folder / 'proxied.sqlite3'}")
    made.load(tasks=[votes_task()])
    yield made.serve().app
    made.database.engine.dispose()


class Proxy(httpx.BaseTransport):
    """What stands before the server: it passes on some headers, and shows port 80 something or leads to 443."""

    def __init__(self, app, *, passes=("Host", "X-Forwarded-Proto"), has_plain_pages=False):
        self.behind = httpx.WSGITransport(app=app)
        self.passes, self.has_plain_pages = passes, has_plain_pages

    def handle_request(self, request):
        """Answer as nginx does by docs/deploy.md, but for what is wrong."""
        if request.url.scheme == "http" and not self.has_plain_pages:
            return httpx.Response(301, headers={"Location": f"{ADDRESS}{request.url.path}"})
        known = {"Host": request.url.host, "X-Forwarded-Proto": request.url.scheme}
        headers = {"Host": "127.0.0.1:8000"} | {name: known[name] for name in self.passes}
        return self.behind.handle_request(
            httpx.Request("GET", f"http://127.0.0.1:8000{request.url.path}", headers=headers)
        )


def looked(transport, address=ADDRESS):
    """Return what -> finding."""
    return {one.what: one for one in examine_address(address, httpx.Client(transport=transport))}


def test_a_proxy_that_passes_both_headers_on_is_right(app):
    """The link that followers of a stream keep then begins with the address that they came by."""
    found = looked(Proxy(app))
    assert {one.state for one in found.values()} == {OK}
    assert found["proxy headers"].found.endswith(f"{ADDRESS}/w/TOKEN/")


@pytest.mark.parametrize(
    ("passes", "link", "lost"),
    [
        (["Host"], "http://study.example.org/w/TOKEN/", "X-Forwarded-Proto"),
        (["X-Forwarded-Proto"], "https://127.0.0.1:8000/w/TOKEN/", "Host"),
        ([], "http://127.0.0.1:8000/w/TOKEN/", "X-Forwarded-Proto and Host"),
    ],
)
def test_a_header_that_is_lost_is_a_fault_with_the_link_that_it_breaks(app, passes, link, lost):
    """Followers would keep a link that leads nowhere, or over the open net."""
    bad = looked(Proxy(app, passes=passes))["proxy headers"]
    assert (bad.state, bad.found.split()[-1]) == (FAULT, link)
    assert f"pass on {lost};" in bad.cure


def test_pages_without_encryption_are_a_warning(app):
    """Whether a proxy also shows them, or there is none, as in a laboratory."""
    assert looked(Proxy(app, has_plain_pages=True))["address"].state == WARNING
    assert looked(Proxy(app, has_plain_pages=True), "http://study.example.org")["address"].state == WARNING


def answering(status, **content):
    """Somebody else who listens there."""
    return httpx.MockTransport(lambda request: httpx.Response(status, **content))


def refusing(request):
    """Nobody listens, or their certificate is nobody's."""
    raise httpx.ConnectError("certificate verify failed")


@pytest.mark.parametrize(
    "transport",
    [
        answering(502, text="Bad Gateway"),
        answering(200, json={"status": "ok"}),
        answering(200, json=["ok"]),
        answering(404, json={"standing_link": "x"}),
        httpx.MockTransport(refusing),
    ],
)
def test_an_address_where_no_prefcal_answers_is_a_fault(transport):
    """Somebody else's page, a proxy whose server is down, a certificate that browsers do not believe."""
    (bad,) = looked(transport).values()
    assert (bad.what, bad.state) == ("address", FAULT)


def test_what_is_no_address_of_a_host_is_refused(tmp_path, monkeypatch, capsys):
    """The whole host belongs to prefcal, so an address below a path is a mistake."""
    for address in ("study.example.org", "https://study.example.org/prefcal", "ftp://a", "https://a b"):
        ended = run_here(monkeypatch, capsys, "doctor", "--database", tmp_path / "none", "--address", address)
        assert (ended.code, ended.out) == (1, "")
        assert "not the address of a host" in ended.err
