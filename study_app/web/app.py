"""The study server, made of its parts."""

from flask import Flask

from study_app.config import Config
from study_app.resources import resource_folder
from study_app.store import tokens
from study_app.store.tokens import NewToken, Now
from study_app.web import compression, errors, log, serving
from study_app.web.blueprints import BLUEPRINTS


def create_app(config: Config, *, now: Now | None = None, new_token: NewToken | None = None) -> Flask:
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
    app = Flask("study_app", template_folder=str(resource_folder("templates")))
    app.extensions[serving.NAME] = serving.open_server(
        config, now or tokens.utc_now, new_token or tokens.secret_token
    )
    serving.configure(app)
    log.install(app)
    errors.install(app)
    app.before_request(serving.refuse_what_was_cut)
    serving.install_headers(app)
    compression.install(app)
    for blueprint in BLUEPRINTS:
        app.register_blueprint(blueprint)
    return app
