"""Findings of `prefcal doctor`, and its checks of the link to a database server.

They test whether that link is encrypted and leads to the right server, and whether a standby has what was
acknowledged.
"""

from typing import TYPE_CHECKING, Final, Literal, NamedTuple, cast

from sqlalchemy import Connection, text

if TYPE_CHECKING:
    import psycopg

OK: Final = "ok"
WARNING: Final = "warning"
FAULT: Final = "fault"
NOTE: Final = "note"
State = Literal["ok", "note", "warning", "fault"]


class HealthCheck(NamedTuple):
    """One thing looked at.

    Attributes
    ----------
    what : str
        What was looked at.
    state : {'ok', 'note', 'warning', 'fault'}
        A fault loses answers or keeps workers out; a warning may. A note is of what cannot be seen from here.
    found : str
        What there is.
    cure : str
        What to do; empty when nothing is to be done.
    """

    what: str
    state: State
    found: str
    cure: str = ""


LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")


def link_of(connection: Connection) -> HealthCheck:
    """Look at the line that a connection to PostgreSQL goes over."""
    driver = cast("psycopg.Connection", connection.connection.dbapi_connection)
    mode = driver.info.get_parameters().get("sslmode", "")
    return database_link(driver.info.host, is_encrypted=driver.pgconn.ssl_in_use, mode=mode)


def database_link(host: str, *, is_encrypted: bool, mode: str) -> HealthCheck:
    """Check whether others could read the traffic to the database server.

    The traffic carries answers and keys.

    Parameters
    ----------
    host : str
        The server's, or the folder of its socket.
    is_encrypted : bool
        Whether this connection is.
    mode : str
        The ``sslmode`` that was asked for; only ``verify-full`` makes sure of whose server it is.
    """
    cure = "add ?sslmode=verify-full to the database's address (docs/deploy.md, PostgreSQL)"
    if not host or host.startswith("/") or host in LOCAL_HOSTS:
        return HealthCheck("database link", OK, "the database server is on this machine")
    if not is_encrypted:
        problem = f"the connection to {host} is not encrypted: everybody on the way can read answers and keys"
        return HealthCheck("database link", WARNING, problem, cure)
    if mode != "verify-full":
        problem = f"the connection to {host} is encrypted, but nobody checks that it is the right server"
        return HealthCheck("database link", WARNING, problem, cure)
    return HealthCheck("database link", OK, f"encrypted, and {host} has shown its certificate")


def standby_of(connection: Connection) -> list[HealthCheck]:
    """Check whether acknowledged answers survive the first of several servers.

    The check needs an address that names several.
    """
    if "," not in connection.engine.url.query.get("host", ""):
        return []
    waits = connection.scalar(text("SHOW synchronous_commit")) in {"on", "remote_apply"}
    names = connection.scalar(text("SHOW synchronous_standby_names"))
    if waits and names:
        return [HealthCheck("standby", OK, f"answers are acknowledged when {names} has them")]
    return [
        HealthCheck(
            "standby",
            WARNING,
            "answers are acknowledged before a standby has them: the last ones are lost with this server",
            "set synchronous_standby_names, and synchronous_commit = on (docs/deploy.md, A standby)",
        )
    ]
