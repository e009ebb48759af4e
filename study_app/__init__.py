"""The study server, the simulated crowd, the report and the command line; may import both other packages."""
# ruff: noqa: PLC0415 - the command line is in this package, and only its serving commands need Flask

from typing import TYPE_CHECKING

from study_app.config import Config

if TYPE_CHECKING:
    from flask import Flask

    from study_app.store.tokens import NewToken, Now


def create_app(config: Config, *, now: "Now | None" = None, new_token: "NewToken | None" = None) -> "Flask":
    """Make the study server.

    Parameters
    ----------
    config : Config
        Where the database is; a study must have been loaded into it.
    now : callable
        Tells the time, aware and in UTC; by default the machine's clock. Nothing else can change it.
    new_token : callable
        Makes a fresh random name of so many characters; by default unguessable ones.

    Raises
    ------
    PrefcalError
        If no study was loaded into the database.
    """
    from flask import Flask

    from study_app.resources import resource_folder
    from study_app.store import tokens
    from study_app.web import compression, errors, log
    from study_app.web import serving as web
    from study_app.web.blueprints import BLUEPRINTS

    app = Flask(__name__, template_folder=str(resource_folder("templates")))
    app.extensions[web.NAME] = web.open_server(
        config, now or tokens.utc_now, new_token or tokens.secret_token
    )
    web.configure(app)
    log.install(app)
    errors.install(app)
    web.install_headers(app)
    compression.install(app)
    for blueprint in BLUEPRINTS:
        app.register_blueprint(blueprint)
    return app
