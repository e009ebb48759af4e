"""An app of this process behind an address, for browsers and clients of tests."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

from flask import Flask
from werkzeug.serving import WSGIRequestHandler, make_server


class QuietHandler(WSGIRequestHandler):
    """Handler of requests that writes no line for each."""

    def log(self, *_line: object) -> None:
        """Write nothing."""


@contextmanager
def serving(app: Flask, *, port: int = 0) -> Iterator[str]:
    """Serve an app while the block runs; yield its base address, of any free port without ``port``."""
    server = make_server("127.0.0.1", port, app, threaded=True, request_handler=QuietHandler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
