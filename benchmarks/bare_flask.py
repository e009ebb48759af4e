"""Smallest study server, as a yardstick: a page, a form, and events in SQLite.

    python benchmarks/bare_flask.py PORT DATABASE

Plain Flask behind waitress, with as many threads as `prefcal serve` has, and two inserts: a row for an answer, a row for each event. Every answer
is on the disk before the next page. There is no study, no check of a form, no order of pairs, no place to hold, and nobody is kept from anything.
"""

import sqlite3
import sys
import threading

from flask import Flask, Response, g, jsonify, redirect, request
from waitress import serve

PAIRS, THREADS = 20, 8
TABLES = """
CREATE TABLE answer (worker TEXT, step INTEGER, choice TEXT, at REAL DEFAULT (julianday('now')), PRIMARY KEY (worker, step));
CREATE TABLE event (page TEXT, number INTEGER, kind TEXT, page_ms INTEGER, wall_ms INTEGER, detail TEXT, PRIMARY KEY (page, number));
"""
PAGE = """<!doctype html><html lang="en"><head><title>Pair {step}</title></head>
<body data-page="{worker}.{step}" data-events="/e"><main><h1>Which text is better?</h1>{text}
<form method="post" action="/w/{worker}/{step}"><input type="hidden" name="page" value="{worker}.{step}">
<button name="choice" value="left">Left</button><button name="choice" value="right">Right</button></form></main></body></html>"""
TEXT = "".join(
    f"<p>{'An item of a text that is compared with another. ' * 2}{number}</p>" for number in range(18)
)


def create_app(database: str) -> Flask:
    """Return the application; each thread has a connection of its own."""
    app, local = Flask(__name__), threading.local()
    with sqlite3.connect(database) as new:
        new.executescript("PRAGMA journal_mode = WAL;" + TABLES)

    @app.before_request
    def connect() -> None:
        if not hasattr(local, "connection"):
            local.connection = sqlite3.connect(database, timeout=30)
            local.connection.execute("PRAGMA synchronous = FULL")
        g.connection = local.connection

    @app.get("/s")
    def start() -> object:
        return redirect(f"/w/{request.args['id']}/1", 303)

    @app.get("/w/<worker>/<int:step>")
    def page(worker: str, step: int) -> object:
        if step > PAIRS:
            return Response("<p>Thank you.</p>", content_type="text/html")
        return PAGE.format(worker=worker, step=step, text=TEXT)

    @app.post("/w/<worker>/<int:step>")
    def answer(worker: str, step: int) -> object:
        with g.connection:
            values = (worker, step, request.form["choice"])
            g.connection.execute(
                "INSERT OR IGNORE INTO answer (worker, step, choice) VALUES (?, ?, ?)", values
            )
        return redirect(f"/w/{worker}/{step + 1}", 303)

    @app.post("/e")
    def events() -> object:
        batch = request.get_json()
        rows = [
            (
                batch["page"],
                one["n"],
                one["kind"],
                one["ms"],
                one["wall"],
                f"{one['side']} {one['item']} {one['share']}",
            )
            for one in batch["events"]
        ]
        with g.connection:
            g.connection.executemany("INSERT OR IGNORE INTO event VALUES (?, ?, ?, ?, ?, ?)", rows)
        return jsonify(upto=rows[-1][1])

    return app


if __name__ == "__main__":
    serve(create_app(sys.argv[2]), host="127.0.0.1", port=int(sys.argv[1]), threads=THREADS)
