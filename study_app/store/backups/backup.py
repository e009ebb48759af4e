"""Backups of a database of any kind in one file, and their restoration.

A backup is taken while the server writes and holds one moment: every row of it was committed, and whatever a row refers
to is in it. It appears complete and checked, or not at all. It holds the keys of the installation and the platform's
worker ids, so only its owner may read it. `sqlite` and `postgres` make and read the backups of their kind; `transfer` puts
a backup of one kind into a database of the other.
"""

import hashlib
from functools import partial
from pathlib import Path
from types import ModuleType

from sqlalchemy import select

from metrics.errors import input_fault
from study_app.store.backups import postgres, sqlite
from study_app.store.backups.sqlite import appearing
from study_app.store.backups.transfer import put_across
from study_app.store.database import (
    Database,
    is_empty,
    refuse_unknown,
    shown_address,
    stored_version,
    transaction,
)
from study_app.store.models import LoadedStudy

KINDS: dict[str, ModuleType] = {
    "SQLite": sqlite,
    "PostgreSQL": postgres,
}
MAGIC_BYTES = 16
SEAL = b"\nprefcal backup, sha256 "
SEAL_BYTES = len(SEAL) + 64 + 1
PIECE_BYTES = 2**20


def back_up(database: Database, file: Path, *, force: bool = False) -> None:
    """Copy a database into a new file, and check the copy before it is named.

    Parameters
    ----------
    database : Database
        Database, which may be served and written to meanwhile.
    file : Path
        File to be made, in a folder that exists.
    force : bool
        Replace an older file.

    Raises
    ------
    InputError
        If there is nothing to copy, the file exists, it cannot be written, or the copy fails its check.
    """
    if is_empty(database):
        raise input_fault(
            f"no study is loaded in {shown_address(database.engine.url)}", cure="name --database"
        )
    if file.exists() and not (force and file.is_file()):
        raise input_fault("already exists", path=file, cure="choose another name, or replace it with --force")
    with appearing(file) as part:
        KINDS[_kind_of(database)].copy_into(database, part)
        _seal(part)


def restore(database: Database, file: Path, *, force: bool = False) -> str:
    """Restore a backup into an unserved database; return its schema version.

    All of it is restored or nothing. Results of the console's jobs are no part of a backup: no row of it
    names a folder afterwards.

    Raises
    ------
    InputError
        If the file is not a backup or is damaged, the database has studies and ``force`` is off, or somebody uses it.
    PrefcalError
        If the file or the database was written by a prefcal that this one cannot read.
    """
    kind = _kind_of_file(file)
    _check_seal(file)
    if not is_empty(database):
        _refuse_to_replace(database, shown_address(database.engine.url), force=force)
    with KINDS[kind].checked(file) as (version, content):
        refuse_unknown(version, str(file))
        if kind == _kind_of(database):
            KINDS[kind].put_back(database, content)
        else:
            put_across(database, version, partial(KINDS[kind].rows, content))
        return str(version)


def _seal(file: Path) -> None:
    """Append the checksum of a backup, where SQLite and PostgreSQL ignore it."""
    digest = _sha256(file, file.stat().st_size)
    with file.open("ab") as stream:
        stream.write(SEAL + digest.encode() + b"\n")


def _check_seal(file: Path) -> None:
    """Raise `InputError` if a backup does not match its checksum.

    Backups without a checksum pass.
    """
    content = file.stat().st_size - SEAL_BYTES
    if content < 0:
        return
    with file.open("rb") as stream:
        stream.seek(content)
        seal = stream.read()
    if seal.startswith(SEAL) and seal != SEAL + _sha256(file, content).encode() + b"\n":
        raise input_fault("is damaged: the checksum does not match", path=file, cure="use another backup")


def _sha256(file: Path, size: int) -> str:
    """Return the checksum of the first ``size`` bytes of a file."""
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        while size > 0 and (piece := stream.read(min(size, PIECE_BYTES))):
            digest.update(piece)
            size -= len(piece)
    return digest.hexdigest()


def _refuse_to_replace(database: Database, address: str, *, force: bool) -> None:
    """Raise unless the database has prefcal's tables, and no study or ``force``."""
    version = stored_version(database)
    refuse_unknown(version, address)
    if version is None:
        raise input_fault(
            f"the tables in {address} are not prefcal's", cure="name another database with --database"
        )
    with transaction(database, write=False) as session:
        has_studies = session.scalar(select(LoadedStudy.id).limit(1)) is not None
    if has_studies and not force:
        raise input_fault(
            f"there are studies in {address} already",
            cure="name another database, or replace everything in it with --force",
        )


def _kind_of(database: Database) -> str:
    return "SQLite" if database.is_sqlite else "PostgreSQL"


def _kind_of_file(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            start = stream.read(MAGIC_BYTES)
    except OSError as error:
        raise input_fault(
            f"cannot be read ({error.strerror})", path=file, cure="check the name and who may read it"
        ) from error
    for kind, module in KINDS.items():
        if start.startswith(module.MAGIC):
            return kind
    raise input_fault("is not a backup", path=file, cure="name a file that prefcal db backup made")
