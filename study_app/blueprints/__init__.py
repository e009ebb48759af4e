"""The addresses. A view checks what came, calls one service, and redirects or renders."""

from study_app.blueprints import entry, events, health, work

BLUEPRINTS = (entry.blueprint, work.blueprint, events.blueprint, health.blueprint)
