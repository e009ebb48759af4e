# ruff: noqa: INP001 - a script that Alembic runs, not a module
"""Alembic's entry: runs migrations on the connection that `study_app.store.database.migrate` hands over."""

from alembic import context

from study_app.store.database import METADATA

context.configure(
    connection=context.config.attributes["connection"], target_metadata=METADATA, render_as_batch=True
)
context.run_migrations()
