"""The addresses. A view checks what came, calls one service, and redirects or renders."""

from study_app.blueprints import entry, events, health, progress, work

BLUEPRINTS = (entry.blueprint, work.blueprint, events.blueprint, progress.blueprint, health.blueprint)
