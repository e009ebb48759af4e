"""One request and its answer: whatever an HTTP/1.1 server may send is read to its end, and no byte further."""

import socket
import threading
from contextlib import contextmanager
from http.client import BadStatusLine, HTTPException, IncompleteRead, LineTooLong, RemoteDisconnected

import pytest

from study_app.simulate.exchange import MAX_HEADER_LINES, Wire


@contextmanager
def saying(*connections):
    """Serve connections, each a list of answers in bytes; yields the wire to them, and the requests as they come."""
    asked = []
    with socket.create_server(("127.0.0.1", 0)) as door:

        def serve():
            for answers in connections:
                connection, _ = door.accept()
                with connection:
                    for answer in answers:
                        asked.append(_request(connection))
                        connection.sendall(answer)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        wire = Wire(f"http://127.0.0.1:{door.getsockname()[1]}", timeout_seconds=10)
        try:
            yield wire, asked
        finally:
            wire.close()
        thread.join(timeout=10)


def _request(connection):
    """Return a request with the body that its length announces."""
    got = b""
    while b"\r\n\r\n" not in got:
        got += connection.recv(65_536)
    head, _, body = got.partition(b"\r\n\r\n")
    lengths = [int(line[15:]) for line in head.split(b"\r\n") if line.startswith(b"Content-Length:")]
    while len(body) < sum(lengths):
        body += connection.recv(65_536)
    return head, body


OK = b"HTTP/1.1 200 OK\r\n"
WHOLE = OK + b"Content-Length: 5\r\n\r\nwhole"


@pytest.mark.parametrize(
    ("answer", "status", "body"),
    [
        (WHOLE, 200, b"whole"),
        (b"HTTP/1.1 200\r\nContent-Length: 5\r\n\r\nwhole", 200, b"whole"),
        (OK + b"Content-Length: 0\r\n\r\n", 200, b""),
        (
            OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nin th\r\nA;a=b\r\nree pieces\r\n0\r\n\r\n",
            200,
            b"in three pieces",
        ),
        (OK + b"transfer-encoding: Chunked\r\n\r\n2\r\nab\r\n0\r\nMore: after\r\n\r\n", 200, b"ab"),
        (OK + b"Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n2\r\nab\r\n0\r\n\r\n", 200, b"ab"),
        (
            b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </>\r\n\r\n" + WHOLE,
            200,
            b"whole",
        ),
        (b"HTTP/1.1 204 No Content\r\n\r\n", 204, b""),
        (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", 304, b""),
        (b"HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 5\r\n\r\nwhole", 200, b"whole"),
    ],
)
def test_an_answer_ends_where_it_says_and_the_next_one_follows_it(answer, status, body):
    """On the same connection, which stays open."""
    with saying([answer, WHOLE]) as (wire, asked):
        first = wire.ask("GET", "/a", {}, None)
        assert (first.status, first.body) == (status, body)
        assert wire.ask("GET", "/b", {}, None).body == b"whole"
    assert [head.split()[1] for head, _ in asked] == [b"/a", b"/b"]


@pytest.mark.parametrize(
    "answer",
    [
        OK + b"Connection: close\r\nContent-Length: 5\r\n\r\nwhole",
        OK + b"connection: x, Close\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nwhole\r\n0\r\n\r\n",
        OK + b"\r\nwhole",
        b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nwhole",
    ],
)
def test_a_connection_that_the_server_closes_is_opened_again(answer):
    """Said by the server, or by an answer that only the end of the connection ends."""
    with saying([answer], [WHOLE]) as (wire, _):
        assert wire.ask("GET", "/", {}, None).body == b"whole"
        assert wire.ask("GET", "/", {}, None).body == b"whole"


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (b"", RemoteDisconnected),
        (b"hello\r\n\r\n", BadStatusLine),
        (b"HTTP/1.1 many OK\r\n\r\n", BadStatusLine),
        (OK + b"Content-Length: 50\r\n\r\nhalf", IncompleteRead),
        (OK + b"Content-Length: -1\r\n\r\n", HTTPException),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n9\r\nhalf", IncompleteRead),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nwhole\r\n", IncompleteRead),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n-5\r\nwhole\r\n0\r\n\r\n", IncompleteRead),
        (OK + b"Long: " + b"x" * 70_000, LineTooLong),
        (OK + b"More: of it\r\n" * MAX_HEADER_LINES + b"\r\n", HTTPException),
    ],
)
def test_what_is_no_whole_answer_is_an_error_and_the_next_request_begins_anew(answer, error):
    """Half an answer is never taken for one."""
    with saying([answer], [WHOLE]) as (wire, _):
        with pytest.raises(error):
            wire.ask("GET", "/", {}, None)
        assert wire.ask("GET", "/", {}, None).body == b"whole"


def test_a_header_is_found_by_its_name_in_small_letters_and_one_that_comes_twice_is_joined():
    """As RFC 9110 has it."""
    with saying([OK + b"VARY:  a \r\nVary: b\r\nContent-Length: 0\r\n\r\n"]) as (wire, _):
        assert wire.ask("GET", "/", {}, None).header["vary"] == "a, b"


def test_a_request_says_where_it_goes_and_how_long_it_is():
    """A form without fields has a length too, a page that is only asked for has none; to HEAD there is no body."""
    with saying([WHOLE, WHOLE, OK + b"Content-Length: 5\r\n\r\n", WHOLE]) as (wire, asked):
        wire.ask("POST", "/form?a=b", {"Content-Type": "text/plain"}, "é".encode())
        wire.ask("POST", "/empty", {}, b"")
        assert wire.ask("HEAD", "/", {}, None).body == b""
        wire.ask("GET", "/page", {"User-Agent": "Phone"}, None)
    (form, sent), (empty, _), _, (page, _) = asked
    lines = form.decode().split("\r\n")
    assert lines[0] == "POST /form?a=b HTTP/1.1"
    assert lines[1].startswith("Host: 127.0.0.1:")
    assert lines[2:] == ["Content-Type: text/plain", "Content-Length: 2"]
    assert sent == "é".encode()
    assert b"Content-Length: 0" in empty
    assert b"Content-Length" not in page


def test_a_server_that_is_not_there_is_an_error_of_the_system():
    """And so is one that hangs, after the time that is given it."""
    with socket.create_server(("127.0.0.1", 0)) as door:
        address = f"http://127.0.0.1:{door.getsockname()[1]}"
        hung = Wire(address, timeout_seconds=0.1)
        with pytest.raises(TimeoutError):
            hung.ask("GET", "/", {}, None)
    with pytest.raises(OSError, match="refused"):
        Wire(address, timeout_seconds=10).ask("GET", "/", {}, None)
