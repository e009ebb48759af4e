"""The server inside this process ends when its block does."""

import threading
import time

import httpx
import pytest
from flask import Flask
from waitress.trigger import trigger

from study_app.simulate.trial import serving


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
