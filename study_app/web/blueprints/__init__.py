"""Flask blueprints of the pages for workers.

A view checks the request, calls one service, and redirects or renders.
"""

from study_app.web.blueprints import ends, entry, hooks, service_routes, streams, work

BLUEPRINTS = (
    entry.blueprint,
    work.blueprint,
    streams.blueprint,
    ends.blueprint,
    service_routes.blueprint,
    hooks.blueprint,
)
