"""The researcher's console: pages to watch, understand and steer a running study.

A page is a module with its query and its view, and has one blueprint; `auth` says who may look and who may act. Workers' pages never
name any of these addresses.
"""

from study_app.web.console import (
    audit,
    data,
    files,
    limits,
    material,
    overview,
    payments,
    people,
    replay,
    sign_in,
)

CONSOLE = (
    sign_in.blueprint,
    overview.blueprint,
    people.blueprint,
    replay.blueprint,
    material.blueprint,
    data.blueprint,
    payments.blueprint,
    limits.blueprint,
    files.blueprint,
    audit.blueprint,
)
