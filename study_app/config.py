"""Where things are: the database, and the files that are not code (in the wheel under study_app, in a checkout beside it)."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

DATABASE_VARIABLE = "PREFCAL_DATABASE_URL"
DEFAULT_FILE = "prefcal.sqlite3"
_PACKAGE = Path(__file__).resolve().parent


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
    """

    database: str
    hosts: tuple[str, ...] = ()
    contact: str | None = None


def database_url(given: str | None = None, environment: Mapping[str, str] = os.environ) -> str:
    """Return the address of the database: the option, else PREFCAL_DATABASE_URL, else `prefcal.sqlite3` here.

    A path without ``://`` is a SQLite file; paths come back absolute.
    """
    url = given or environment.get(DATABASE_VARIABLE) or DEFAULT_FILE
    if url.startswith("sqlite:///"):
        url = url.removeprefix("sqlite:///")
    return url if "://" in url else f"sqlite:///{Path(url).absolute()}"


def resource_folder(name: str) -> Path:
    """Return the folder ``name`` (`templates`, `examples`) of the wheel, else of the checkout.

    Raises
    ------
    FileNotFoundError
        If the installation is incomplete.
    """
    for folder in (_PACKAGE / name, _PACKAGE.parent / name):
        if folder.is_dir():
            return folder
    raise FileNotFoundError(f"prefcal's folder {name!r} is missing; install prefcal again")
