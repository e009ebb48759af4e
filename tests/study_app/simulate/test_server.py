"""The server inside this process ends when its block does; a crowd speaks HTTP to it as a browser would."""

import logging
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from flask import Flask, redirect, request
from waitress.trigger import trigger

from study_app.simulate.connection import Connection
from study_app.simulate.trial import serving
from study_app.web.compression import install_compression


def test_a_server_whose_loop_wakes_by_itself_ends_without_a_fault(monkeypatch):
    """Its pipe is closed by the loop, which may wake between the note that it is to end and the write that tells it."""
    pull = trigger._physical_pull

    def late(self):
        if threading.current_thread() is threading.main_thread():
            pull(self)
            time.sleep(0.1)
        pull(self)

    monkeypatch.setattr(trigger, "_physical_pull", late)
    with serving(Flask("empty")) as url:
        assert httpx.get(url).status_code == 404
    with pytest.raises(httpx.ConnectError):
        httpx.get(url)


def test_requests_that_wait_are_no_line_on_the_screen(caplog, request):
    """A slow machine lets some wait at each page, and nobody has to know."""
    queue = logging.getLogger("waitress.queue")
    request.addfinalizer(lambda level=queue.level: queue.setLevel(level))
    queue.setLevel(logging.NOTSET)
    app = Flask("slow")
    app.add_url_rule("/", "slow", lambda: time.sleep(0.2) or "done")

    with serving(app, threads=1) as url, ThreadPoolExecutor(4) as crowd:
        answers = list(crowd.map(httpx.get, [url] * 4))

    assert [answer.text for answer in answers] == ["done"] * 4
    assert [record.getMessage() for record in caplog.records if record.name == "waitress.queue"] == []


def test_a_crowd_asks_as_httpx_does_and_meets_the_same_answers():
    """Forms with several values, JSON beyond ASCII, redirects to relative addresses and compressed pages, one after the other."""
    app = Flask("told")
    install_compression(app)

    @app.route("/told", methods=["GET", "POST"])
    def told():
        sent = request.mimetype + request.get_data(as_text=True) if request.method == "POST" else ""
        return f"{request.headers['User-Agent']} {request.method} {sent} {'long ' * 200}"

    app.add_url_rule("/a/moved", "moved", lambda: redirect("../told?as=new", 303), methods=["POST"])
    app.add_url_rule("/json", "json", lambda: {"upto": 3})

    def answers(http):
        asked = {"headers": {"User-Agent": "Phone"}, "follow_redirects": True}
        yield http.get("/told", **asked)
        yield http.post("/told", data={"read": ["u1", "u 2"], "page": "é&"}, **asked)
        yield http.post("/told", json={"events": [{"n": 1, "text": "é"}]}, **asked)
        yield http.post("/a/moved", data={"choice": "left"}, **asked)
        yield http.post("/a/moved", data={}, **asked | {"follow_redirects": False})
        yield http.get("/nowhere", **asked)
        yield http.get("/json", **asked)

    with serving(app) as url, httpx.Client(base_url=url) as theirs, Connection(url) as ours:
        for expected, answer in zip(answers(theirs), answers(ours), strict=True):
            told = (str(answer.url), answer.status_code, answer.text)
            assert told == (str(expected.url), expected.status_code, expected.text)
        assert answer.json() == expected.json() == {"upto": 3}
