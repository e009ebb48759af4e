"""The researcher's console: pages to watch, understand and steer a running study.

`frame` signs in and says who may do what; the other modules have the pages, one blueprint each. SQL and rules are in
`study_app.services.researcher`. Workers' pages never name any of these addresses.
"""

from study_app.web.console import frame, limits, overview, people, replay

CONSOLE = (
    frame.blueprint,
    overview.blueprint,
    people.blueprint,
    replay.blueprint,
    limits.blueprint,
)
