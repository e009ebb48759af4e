"""Paths and addresses: the database, and files that are not code.

Such files are in the wheel under study_app, in a checkout beside it.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from metrics.errors import input_fault

if TYPE_CHECKING:
    from sqlalchemy import URL

DATABASE_VARIABLE = "PREFCAL_DATABASE_URL"
HOOK_SECRET_VARIABLE = "PREFCAL_PROLIFIC_HOOK_SECRET"  # noqa: S105 - the name of a variable
DEFAULT_FILE = "prefcal.sqlite3"
_PACKAGE = Path(__file__).resolve().parent
_SEVERAL_SERVERS = re.compile(
    r"(?P<before>[\w+]+://(?:[^:/?@]*(?::[^@]*)?@)?)(?P<servers>[^/?@]*,[^/?@]*)(?P<after>(?:[/?].*)?)"
)
_SERVER = re.compile(r"(?:\[(?P<number>[^\]]*)\]|(?P<name>[^:\]]*))(?::(?P<port>\d*))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Settings of one server process.

    Attributes
    ----------
    database : str
        SQLAlchemy address of the database: ``sqlite:////folder/file`` or ``postgresql://user@host/name``.
    hosts : tuple of str
        Names under which the server answers; () for every name.
    contact : str or None
        Where to report a weakness, as an address (``mailto:``, ``https:``, ``tel:``); None for no security.txt.
    hook_secret : str or None
        Secret by which Prolific signs what it tells this server; None for a server that it tells nothing.
    """

    database: str
    hosts: tuple[str, ...] = ()
    contact: str | None = None
    hook_secret: str | None = field(default=None, repr=False)


def database_url(given: str | None = None, environment: Mapping[str, str] = os.environ) -> str:
    """Return the database's address.

    The option comes first, then PREFCAL_DATABASE_URL, then `prefcal.sqlite3` in this folder.

    A path without ``://`` is a SQLite file; paths come back absolute.
    """
    url = given or environment.get(DATABASE_VARIABLE) or DEFAULT_FILE
    if url.startswith("sqlite:///"):
        url = url.removeprefix("sqlite:///")
    return url if "://" in url else f"sqlite:///{Path(url).absolute()}"


def parsed_address(url: "str | URL") -> "URL":
    """Return the address of a database in its parts.

    It may name several PostgreSQL servers, as PostgreSQL's own tools understand it: ``postgresql://USER@HOST:PORT,HOST:PORT/NAME``. Then
    the one that may be written to is asked for (``target_session_attrs=read-write``) unless the address says something else.

    Raises
    ------
    InputError
        If it is no address. Its words are not repeated: there may be a password among them.
    """
    from sqlalchemy.engine import make_url  # noqa: PLC0415 - slow to import, and most commands ask no database
    from sqlalchemy.exc import ArgumentError  # noqa: PLC0415

    try:
        several = _SEVERAL_SERVERS.fullmatch(url) if isinstance(url, str) else None
        if several is None:
            return make_url(url)
        parsed = make_url(several["before"] + several["after"])
        return parsed.update_query_dict(_of_several(several["servers"]) | dict(parsed.query))
    except (ArgumentError, ValueError):
        raise input_fault(
            "this is not the address of a database",
            cure="write a file, or postgresql://USER@HOST:PORT/NAME",
        ) from None


def _of_several(servers: str) -> dict[str, str]:
    """Return the connection parameters of several servers, one of them writable.

    It raises `ValueError` for an invalid address.
    """
    matches = [_SERVER.fullmatch(server) for server in servers.split(",")]
    parts = [
        (match["number"] or match["name"] or "", match["port"] or "")
        for match in matches
        if match is not None
    ]
    if len(parts) < len(matches):
        raise ValueError(servers)
    hosts, ports = zip(*parts, strict=True)
    return {"target_session_attrs": "read-write", "host": ",".join(hosts), "port": ",".join(ports)}


def resource_folder(name: str) -> Path:
    """Return folder ``name`` (`templates`, `examples`) of wheel or checkout.

    Raises
    ------
    FileNotFoundError
        If the installation is incomplete.
    """
    for folder in (_PACKAGE / name, _PACKAGE.parent / name):
        if folder.is_dir():
            return folder
    raise FileNotFoundError(f"prefcal's folder {name!r} is missing; install prefcal again")
