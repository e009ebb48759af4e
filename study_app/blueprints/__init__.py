"""The addresses. A view checks what came, calls one service, and redirects or renders."""

from study_app.blueprints import entry, events, health, progress, streams, work

BLUEPRINTS = (
    entry.blueprint,
    work.blueprint,
    streams.blueprint,
    events.blueprint,
    progress.blueprint,
    health.blueprint,
)
