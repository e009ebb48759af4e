"""What is slow to make and alike for all tests, made once a test process.

A database's tables and how they differ from the models, what statements compile to, the code of templates and routes, and the fonts of figures.
"""

import sqlite3
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, closing, nullcontext
from functools import cache
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from alembic import command
from alembic.config import Config as AlembicConfig
from flask import Flask
from fontTools.ttLib import TTFont
from jinja2 import BytecodeCache
from jinja2.bccache import Bucket
from matplotlib.backends import _backend_pdf_ps
from matplotlib.backends._backend_pdf_ps import SubsetResults
from matplotlib.font_manager import FontPath
from matplotlib.ft2font import FT2Font
from sqlalchemy import URL, Connection, Engine, NullPool, create_engine, inspect, text
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.util import LRUCache
from werkzeug.routing import Rule

from study_app import create_app
from study_app.config import Config, parsed_address
from study_app.services.researcher.load import LoadReport
from study_app.store import check
from study_app.store.database import Database, is_empty, migrate, open_database, without_waiting
from study_app.store.tokens import Now, seeded_tokens
from study_app.web.serving import NAME

OWNERS_ALONE = 0o600


def ready_database(url: str) -> Database:
    """Open the database of this address with the tables of this version; a new SQLite file begins as a copy."""
    parsed = parsed_address(url)
    file = Path(parsed.database or "")
    if parsed.drivername == "sqlite" and not file.exists():
        file.touch(OWNERS_ALONE)
        file.write_bytes(_tables())
        return without_waiting(open_database(url))
    database = open_database(url)
    if database.is_sqlite or not is_empty(database):
        migrate(database)
        return database
    database.engine.dispose()
    server = parsed.query["host"]
    if server in TEMPLATES:
        _copy(parsed, TEMPLATES[server])
    else:
        migrate(database)
        database.engine.dispose()
        TEMPLATES[server] = _copy(parsed.set(database="ready"), parsed.database)
    return database


TEMPLATES: dict[Any, str] = {}
"""The PostgreSQL database with all tables and no row, of each server."""


def _copy(url: URL, template: str | None) -> str:
    """Make an empty database, or one that is not there, a copy of another one, which nobody is connected to."""
    server = create_engine(url.set(drivername="postgresql+psycopg", database="postgres"), poolclass=NullPool)
    with server.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text(f'DROP DATABASE IF EXISTS "{url.database}"'))
        connection.execute(text(f'CREATE DATABASE "{url.database}" TEMPLATE "{template}"'))
    return str(url.database)


def loaded_once(url: str, folder: Path, study: str, load: Callable[[], LoadReport]) -> LoadReport:
    """Load a study from its folder; ``study`` tells it from others. A new SQLite file is a copy of the first that had it."""
    file = Path(parsed_address(url).database or "")
    if not url.startswith("sqlite") or file.exists():
        return load()
    if study not in LOADED:
        report = load()
        LOADED[study] = report, file.read_bytes()
        return report
    report, content = LOADED[study]
    file.touch(OWNERS_ALONE)
    file.write_bytes(content)
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("UPDATE study SET folder = ?", [str(folder)])
    return report


LOADED: dict[str, tuple[LoadReport, bytes]] = {}


@cache
def _tables() -> bytes:
    """Return a SQLite file that the migrations made."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "tables.sqlite3"
        database = open_database(f"sqlite:///{file}")
        migrate(database)
        database.engine.dispose()
        return file.read_bytes()


def ready_app(url: str, *, now: Now) -> Flask:
    """Make the study server of a database; no template is compiled twice."""
    app = create_app(Config(database=url), now=now, new_token=seeded_tokens(2))
    app.jinja_env.bytecode_cache = COMPILED
    without_waiting(app.extensions[NAME].database)  # a test that ends early leaves nothing that anybody needs
    return app


class _Compiled(BytecodeCache):
    """The code of templates, in memory; jinja2 itself sees to it that it is that of the template as it is."""

    def __init__(self) -> None:
        self._codes: dict[str, bytes] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        if bucket.key in self._codes:
            bucket.bytecode_from_string(self._codes[bucket.key])

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._codes[bucket.key] = bucket.bytecode_to_string()


COMPILED = _Compiled()


def _compile_routes_once() -> None:
    """Let routes of one form share what builds their addresses: werkzeug compiles it anew for each app."""
    compiled: dict[tuple[Any, ...], Any] = {}
    compile_one = Rule._compile_builder

    def builder(rule: Rule, append_unknown: bool = True) -> Any:
        form = rule.rule, rule.subdomain, repr(rule.defaults), append_unknown
        if form not in compiled:
            compiled[form] = compile_one(rule, append_unknown)
        return compiled[form]

    Rule._compile_builder = builder


def _compile_statements_once() -> None:
    """Let all databases of a kind share what statements compile to: SQLAlchemy keeps it for each engine, and for its dialect alone."""
    compiled: LRUCache[Any, Any] = LRUCache(10_000)

    def engine_created(_cls: type, engine: Engine) -> None:
        engine._compiled_cache = compiled

    for dialect in (SQLiteDialect_pysqlite, PGDialect_psycopg):
        dialect.engine_created = classmethod(engine_created)
        dialect.__eq__ = lambda one, other: type(one) is type(other)
        dialect.__hash__ = lambda one: hash(type(one))


def _migrate_once() -> None:
    """Let new SQLite files begin with what the migrations made of the first: going through them all takes a fifth of a second.

    Only what is empty and goes to the newest version; from one version to another it goes by the migrations.
    """
    upgrade_one = command.upgrade
    made: list[str] = []

    def upgrade(settings: AlembicConfig, revision: str) -> None:
        connection = settings.attributes["connection"]
        is_new = connection.dialect.name == "sqlite" and not inspect(connection).get_table_names()
        if is_new and revision == "head" and made:
            for statement in made:
                connection.exec_driver_sql(statement)
            return
        upgrade_one(settings, revision)
        if is_new and revision == "head":
            dumped = connection.connection.driver_connection.iterdump()
            made.extend(line for line in dumped if line not in {"BEGIN TRANSACTION;", "COMMIT;"})

    command.upgrade = upgrade


def _compare_tables_once() -> None:
    """Let SQLite files of one schema be compared with the models once: reading it back takes as long as all other checks."""
    compare_one = check.drift
    known: dict[tuple[str, ...], list[str]] = {}

    def drift(connection: Connection) -> list[str]:
        if connection.dialect.name != "sqlite":
            return compare_one(connection)
        schema = tuple(
            connection.scalars(text("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY sql"))
        )
        if schema not in known:
            known[schema] = compare_one(connection)
        return known[schema]

    check.drift = drift


def _cut_fonts_once() -> None:
    """Let PDFs whose signs are all of ASCII share one cut font: cutting it took half of a report's time."""
    cut_one, save_one = _backend_pdf_ps.get_glyphs_subset, _backend_pdf_ps.font_as_file

    @cache
    def ascii_glyphs(font: FontPath) -> frozenset[int]:
        face = FT2Font(font)
        return frozenset(map(face.get_char_index, range(ord(" "), ord("~") + 1)))

    @cache
    def cut(font: FontPath, glyphs: frozenset[int]) -> SubsetResults:
        return cut_one(font, set(glyphs)).__enter__()  # for ever open: it is saved later

    @cache
    def saved(font: TTFont) -> bytes:
        return save_one(font).getvalue()

    def get_glyphs_subset(font: FontPath, glyphs: Iterable[int]) -> AbstractContextManager[SubsetResults]:
        return nullcontext(cut(font, ascii_glyphs(font).union(glyphs)))

    _backend_pdf_ps.get_glyphs_subset = get_glyphs_subset
    _backend_pdf_ps.font_as_file = lambda font: BytesIO(saved(font))


_migrate_once()
_compare_tables_once()
_cut_fonts_once()
_compile_routes_once()
_compile_statements_once()
