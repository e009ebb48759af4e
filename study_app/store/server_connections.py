"""Settings of a page server's connections to a database server.

They limit waits and look rows up by index.
"""

from time import monotonic
from typing import Any

from sqlalchemy import Engine, event
from sqlalchemy.exc import DisconnectionError
from sqlalchemy.pool import ConnectionPoolEntry

PLAN_SECONDS = 10
"""Seconds for which a database server keeps the plan of a statement."""
STATEMENT_SECONDS, LOCK_SECONDS, IDLE_SECONDS = 15, 5, 30
"""Longest seconds of a statement, a wait for a lock, and an idle transaction."""
SOON_LOST = {
    "connect_timeout": "5",
    "keepalives_idle": "10",
    "keepalives_interval": "3",
    "keepalives_count": "3",
    "tcp_user_timeout": "15000",
}
"""Connection parameters of PostgreSQL that detect a lost machine within seconds."""


def prepare_for_pages(engine: Engine) -> None:
    """Set up an engine's connections, when opened and when taken from the pool."""
    event.listen(engine, "connect", _make_impatient)
    event.listen(engine, "checkout", _plan_anew)


def _make_impatient(connection: Any, record: object) -> None:  # noqa: ARG001 - SQLAlchemy's signature
    """Limit the time of statements and locks.

    Not by parameters of the connection, which poolers before a database refuse. Statements of pages take
    milliseconds: to compile one would take longer than to run it. They look rows up: where the statistics of
    a table are those of the twenty rows that it had a minute ago, a server would rather read it all. The rows
    make no difference: it plans once for all of them.
    """
    with connection.cursor() as cursor:
        cursor.execute("SET jit = off")
        cursor.execute("SET enable_seqscan = off")
        cursor.execute("SET plan_cache_mode = force_generic_plan")
        cursor.execute(f"SET statement_timeout = '{STATEMENT_SECONDS}s'")
        cursor.execute(f"SET lock_timeout = '{LOCK_SECONDS}s'")
        cursor.execute(f"SET idle_in_transaction_session_timeout = '{IDLE_SECONDS}s'")
    connection.commit()


def _plan_anew(connection: Any, record: ConnectionPoolEntry, _proxy: object) -> None:
    """Make the server plan its prepared statements anew every few seconds.

    It plans them for tables of the size that they have then, and keeps to that: a study that opens has empty
    ones, and a thousand rows within a minute.
    """
    now = monotonic()
    if now - record.info.setdefault("planned", now) > PLAN_SECONDS:
        record.info["planned"] = now
        try:
            connection.execute("DISCARD PLANS")
            connection.commit()
        except connection.Error as error:
            raise DisconnectionError from error  # so that the pool opens another one
