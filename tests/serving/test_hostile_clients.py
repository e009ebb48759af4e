"""Clients that cut, stall and leave: nothing half is stored, and nobody else waits for them, on either database."""

import http.client
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from http import HTTPStatus
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

import httpx
import pytest
from sqlalchemy import text
from sqlalchemy.engine import make_url

from study_app.store.database import open_database, transaction
from tests.serving.serving import PLAIN, serving

PATIENCE_SECONDS = 60


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def url(request, loaded, durable_postgres, tmp_path_factory):
    """The small study in a database of either kind."""
    if request.param == "sqlite":
        return loaded(f"sqlite:///{tmp_path_factory.mktemp('hostile') / 'study.sqlite3'}")
    return loaded(durable_postgres.new_database("hostile"))


@pytest.fixture(scope="module")
def server(url):
    """A server of it."""
    with serving(url, "--processes", "2") as running:
        yield running


def entered(server):
    """Arrive as a worker; returns the address of the consent page, and the form that agrees."""
    page = httpx.get(
        f"{server.address}/s/small?id=ann", follow_redirects=True, timeout=PATIENCE_SECONDS, verify=PLAIN
    )
    token = page.text.split('name="page" value="')[1].split('"')[0]
    return str(page.url), f"page={token}&agree=yes"


def consented(url):
    """Count the workers who agreed, as the database has it."""
    database = open_database(url)
    with transaction(database, write=False) as session:
        count = session.scalar(text("SELECT count(consented_at) FROM worker"))
    database.engine.dispose()
    return count


def sent(server, *lines, body=""):
    """Send a request as it stands and say no more; returns all that comes back."""
    head = "\r\n".join((*lines, "Host: 127.0.0.1", "Content-Type: application/x-www-form-urlencoded", "", ""))
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_SECONDS) as client:
        client.sendall((head + body).encode())
        client.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: client.recv(4096), b""))


def test_a_form_that_is_cut_on_its_way_is_not_stored(url, server):
    """Its first half reads like a whole form: the fields that came are complete."""
    address, form = entered(server)
    path = urlsplit(address).path

    cut = sent(server, f"POST {path} HTTP/1.1", f"Content-Length: {len(form) + 20}", body=form)
    broken = sent(server, f"POST {path} HTTP/1.1", "Transfer-Encoding: chunked", body=f"zz\r\n{form}")

    assert b" 303 " not in cut
    assert broken.startswith(b"HTTP/1.1 400 ")
    assert consented(url) == 0
    whole = sent(server, f"POST {path} HTTP/1.1", f"Content-Length: {len(form)}", body=form)
    assert b" 303 " in whole
    assert consented(url) == 1


def test_clients_that_never_finish_keep_nobody_waiting(server):
    """More of them than there are threads: half a head, half a form, an answer that nobody takes."""
    with ExitStack() as open_sides:
        _, form = entered(server)
        unfinished = (
            b"GET /readyz HTTP/1.1\r\nHost: 127",
            f"POST /w/x/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 999\r\n\r\n{form}".encode(),
            b"GET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n",
        )
        for beginning in unfinished * 40:
            client = open_sides.enter_context(socket.create_connection(("127.0.0.1", server.port)))
            client.sendall(beginning)
        for _ in range(20):
            assert httpx.get(f"{server.address}/readyz", timeout=PATIENCE_SECONDS, verify=PLAIN).is_success


FILES = 260
FEW_FILES = "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, ({soft}, {hard})); "


@pytest.fixture
def own_url(loaded, sqlite_url):
    """The small study in a file that nobody serves yet."""
    return loaded(sqlite_url)


def test_more_silent_connections_than_open_files_keep_nobody_off(own_url):
    """Pages and looks at the health are answered at once, form by form, and nothing is logged but that connections are closed."""
    with (
        serving(own_url, "--processes", "2", before=FEW_FILES.format(soft=FILES, hard=FILES)) as server,
        ExitStack() as open_sides,
    ):
        for number in range(2 * FILES):
            client = open_sides.enter_context(socket.create_connection(("127.0.0.1", server.port)))
            if number % 2:
                client.sendall(b"GET /readyz HTTP/1.1\r\nHost: 127")
        for _ in range(20):
            for place in ("healthz", "readyz"):
                assert httpx.get(f"{server.address}/{place}", timeout=5, verify=PLAIN).is_success
        _, form = entered(server)
        assert form.startswith("page=")
        said = [line for line in server.said if "prefcal" not in line and "serving" not in line]
        assert not [line for line in said if "Traceback" in line or "Too many open files" in line]
        closed = [line for line in said if "silent ones are closed" in line]
        assert 1 <= len(closed) <= 2


def test_who_asks_again_and_again_keeps_the_connection_while_others_say_nothing(own_url):
    """Those who never asked for anything are closed first."""
    limits = FEW_FILES.format(soft=FILES, hard=FILES)
    request = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    with serving(own_url, "--processes", "1", before=limits) as server, ExitStack() as open_sides:
        browser = socket.create_connection(("127.0.0.1", server.port), timeout=5)
        open_sides.enter_context(browser)
        for _ in range(5):
            browser.sendall(request)
            answer = http.client.HTTPResponse(browser)
            answer.begin()
            answer.read()
            assert answer.status == HTTPStatus.OK
            for _ in range(40):
                open_sides.enter_context(socket.create_connection(("127.0.0.1", server.port)))


def test_a_server_may_open_as_many_files_as_it_is_allowed(own_url):
    """Systems start a program with a low limit that it may raise itself."""
    with serving(own_url, "--processes", "2", before=FEW_FILES.format(soft=FILES, hard=9_000)) as server:
        for pid in (server.process.pid, *server.children()):
            [line] = [
                line for line in Path(f"/proc/{pid}/limits").read_text().splitlines() if "open files" in line
            ]
            assert line.split()[3:5] == ["9000", "9000"]


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
def test_a_table_that_somebody_keeps_locked_stops_no_look_at_the_health(url, server):
    """Who needs it is asked to come again after some seconds, and the processes are seen to live."""
    database = open_database(url)
    with ThreadPoolExecutor(40) as crowd:
        with transaction(database, write=True) as session:
            session.execute(text("LOCK TABLE study IN ACCESS EXCLUSIVE MODE"))
            waiting = [
                crowd.submit(httpx.get, f"{server.address}/readyz", timeout=PATIENCE_SECONDS, verify=PLAIN)
                for _ in range(40)
            ]
            for _ in range(10):
                assert httpx.get(
                    f"{server.address}/healthz", timeout=PATIENCE_SECONDS, verify=PLAIN
                ).is_success
            assert waiting[0].result().status_code == httpx.codes.SERVICE_UNAVAILABLE
        assert server.answers()
    database.engine.dispose()


class _Proxy:
    """Stands between a server and its database; frozen, it takes what is sent and hands nothing on."""

    NAME = ".s.PGSQL.5432"

    def __init__(self, behind: Path, folder: Path) -> None:
        self.flows = threading.Event()
        self.flows.set()
        self._behind = str(behind / self.NAME)
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / self.NAME))
        self._listener.listen(64)
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self.flows.set()
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                front, _ = self._listener.accept()
                behind = socket.socket(socket.AF_UNIX)
                behind.connect(self._behind)
                for source, target in ((front, behind), (behind, front)):
                    threading.Thread(target=self._hand_on, args=(source, target), daemon=True).start()

    def _hand_on(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError), target:
            while data := source.recv(65_536):
                self.flows.wait()
                target.sendall(data)


@pytest.mark.soak
def test_a_process_that_hangs_on_a_silent_database_is_replaced(loaded, durable_postgres):
    """No timeout of a connection ends it: what stands between still takes what is sent. Nothing hangs once the database is back."""
    url = loaded(durable_postgres.new_database("silent"))
    with TemporaryDirectory() as folder:
        proxy = _Proxy(durable_postgres.folder, Path(folder))
        between = str(make_url(url).update_query_dict({"host": folder}))
        with serving(between, "--processes", "1") as server, ThreadPoolExecutor() as crowd:
            (before,) = server.children()
            proxy.flows.clear()
            hanging = crowd.submit(httpx.get, f"{server.address}/readyz", timeout=PATIENCE_SECONDS)
            assert isinstance(hanging.exception(), httpx.TransportError)
            proxy.flows.set()
            assert server.answers()
            assert server.children() != [before]
            assert "a request has hung" in "".join(server.said)
        proxy.close()
