"""The researcher's console: pages to watch, understand and steer a running study.

`frame` signs in and says who may do what; the other modules have the pages, one blueprint each. SQL and rules are in
`study_app.services.console`. Workers' pages never name any of these addresses.
"""

from study_app.web.console import data, frame, limits, material, overview, payments, people, replay

CONSOLE = (
    frame.blueprint,
    overview.blueprint,
    people.blueprint,
    replay.blueprint,
    material.blueprint,
    data.blueprint,
    payments.blueprint,
    limits.blueprint,
)
