"""The addresses. A view checks what came, calls one service, and redirects or renders."""

from study_app.web.blueprints import beside, ends, entry, streams, work

BLUEPRINTS = (
    entry.blueprint,
    work.blueprint,
    streams.blueprint,
    ends.blueprint,
    beside.blueprint,
)
