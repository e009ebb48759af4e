"""Which migrations there are, which a database has had, and whether its tables are what the models say."""

from typing import Any

from sqlalchemy import Connection, MetaData

from metrics.errors import PrefcalError
from study_app.store import task_models
from study_app.store.database import MIGRATIONS, Database, faults_named, shown_address
from study_app.store.models import Base

_MODULES = (task_models,)
METADATA: MetaData = Base.metadata


def known_versions() -> tuple[str, ...]:
    """Return the versions of the schema that this prefcal knows, oldest first."""
    from alembic.config import Config  # noqa: PLC0415 - slow to import, and few commands need it
    from alembic.script import ScriptDirectory  # noqa: PLC0415

    settings = Config()
    settings.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    scripts = ScriptDirectory.from_config(settings).walk_revisions()
    return tuple(script.revision for script in scripts)[::-1]


def stored_version(database: Database) -> str | None:
    """Return the version of a database's schema, None when it has none; changes nothing.

    Raises
    ------
    InputError
        If the database cannot be reached, or is something else.
    """
    with faults_named(database), database.engine.connect() as connection:
        version: str | None = _context(connection).get_current_revision()
        return version


def refuse_newer(version: str | None, place: str) -> None:
    """Raise `PrefcalError` when a version is none that this prefcal knows.

    Parameters
    ----------
    version : str or None
        As `stored_version` returns it.
    place : str
        What has it: an address or a file, for the message.
    """
    if version not in {None, *known_versions()}:
        raise PrefcalError(
            f"{place} was written by a newer prefcal (version {version}); install that prefcal, or name another"
        )


def refuse_newer_database(database: Database) -> None:
    """Raise `PrefcalError` when a database was written by a newer prefcal."""
    refuse_newer(stored_version(database), shown_address(database.engine.url))


def drift(connection: Connection) -> list[str]:
    """Return one line for each difference between the tables there are and those of the models."""
    from alembic.autogenerate import compare_metadata  # noqa: PLC0415

    context = _context(connection)
    return [_described(difference) for difference in compare_metadata(context, METADATA)]


def _described(difference: Any) -> str:
    """Name one difference: what a migration would have to do, and to what."""
    first = difference[0] if isinstance(difference, list) else difference
    words = [getattr(part, "name", None) or str(part) for part in first[:4] if part is not None]
    return " ".join(words).replace("_", " ", 1)


def _context(connection: Connection) -> Any:
    from alembic.runtime.migration import MigrationContext  # noqa: PLC0415

    return MigrationContext.configure(connection, opts={"compare_type": True})
