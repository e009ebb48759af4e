"""The room that is left where a SQLite file lies: asked before somebody new is let in, and by the doctor."""

import shutil
from pathlib import Path

from study_app.store.database import Database

LOW_BYTES, FULL_BYTES = 1 << 30, 100 << 20
"""Below the first the doctor warns; below the second nobody new is let in, so that those who began can end."""


def free_bytes(folder: Path) -> int:
    """Return what may still be written there."""
    return shutil.disk_usage(folder).free


def is_nearly_full(database: Database) -> bool:
    """Say whether there is too little room for more workers; a database server's room cannot be seen from here."""
    path = database.engine.url.database
    return database.is_sqlite and path is not None and free_bytes(Path(path).absolute().parent) < FULL_BYTES
