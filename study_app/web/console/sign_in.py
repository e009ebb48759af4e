"""Sign-in and sign-out of the researcher's console, and limits on wrong keys.

Wrong tries are counted by this process alone, and forgotten with it. A right key is never refused: where a proxy hides who asks, a
stranger could else keep the researcher out.

Nothing signs in but the form of this server's own page: an address with a key opens that page. Else an image or a link on another site
could sign somebody in with a key of its own, and what they then do would be done in a stranger's name.
"""

import hmac
import logging
import sqlite3
from contextlib import suppress
from typing import TYPE_CHECKING

from flask import Blueprint, Response, current_app, make_response, render_template, request
from sqlalchemy.exc import DatabaseError
from werkzeug.exceptions import NotFound

from study_app.services.researcher.access import form_token, holder_of, sign_in, sign_out
from study_app.services.researcher.audit import KeyHolder, add_wrong_key
from study_app.services.worker.entry import find_study
from study_app.store.database import transaction
from study_app.store.study_cache import CachedStudy
from study_app.store.tokens import ConsoleWatcher
from study_app.web.console.auth import (
    ConsoleRequest,
    authenticate,
    cookie_name,
    message_page,
    own_token,
    redirect_to,
    viewer_required,
)
from study_app.web.serving import is_https, server

if TYPE_CHECKING:
    from study_app.web.tries import Tries

LOGGER = logging.getLogger("prefcal.errors")
MAX_TRIES = 5
"""Most wrong keys of a visitor within a minute that get an explanation."""
TRIES = "prefcal_tries"
ENTRANCE = "prefcal_entrance"
"""The cookie of a browser to which a form that signs in was given."""
ENTRANCE_LETTERS = 26

blueprint = Blueprint("console", __name__)


@blueprint.get("/r/<study>")
def enter(study: str) -> Response:
    """Show a form that signs in by the key in the address."""
    key = request.args.get("key", "")
    if not key:
        return _to_overview(study)
    if _opened_by(study, key) is None:
        if _is_too_often(study):
            return _too_often(study)
        raise NotFound
    return _entrance("console/entered.html", study, key=key)


@viewer_required
def _to_overview(console_request: ConsoleRequest) -> Response:
    return redirect_to(console_request.address())


@blueprint.get("/r/<study>/sign-in")
def sign_in_form(study: str) -> Response:
    """Ask for the key, whether there is such a study or not."""
    return _entrance("console/sign_in.html", study, error="")


@blueprint.post("/r/<study>/sign-in")
def post_sign_in(study: str) -> Response:
    """Sign in by the key of a form that this server gave to this browser."""
    if not _is_own_form():
        error = "Nobody was signed in: the form came from another page, or the browser keeps no cookies. Send it from here."
        return _entrance("console/sign_in.html", study, error=error, status=403)
    token = _new_session(study, request.form.get("key", "").strip())
    if token is not None:
        return _with_cookie(redirect_to(f"/r/{study}/"), study, cookie_name(), token)
    if _is_too_often(study):
        return _too_often(study)
    error = "This key opens no study of that name. Was it revoked, or cut when it was copied?"
    return _entrance("console/sign_in.html", study, error=error, status=403)


@blueprint.post("/r/<study>/sign-out")
def post_sign_out(study: str) -> Response:
    """End the session for everybody who has its cookie."""
    app, token = server(), own_token()
    with transaction(app.database, write=True) as session:
        known = authenticate(session, study)
        if (
            isinstance(known, ConsoleRequest)
            and known.sign_in.id is not None
            and hmac.compare_digest(request.form.get("csrf", "").encode(), known.csrf.encode())
        ):
            sign_out(session, known.study.id, token, known.key, now=app.now())
    response = redirect_to(f"/r/{study}/sign-in")
    response.delete_cookie(cookie_name(), secure=is_https(), path=f"/r/{study}")
    return response


def _entrance(template: str, study: str, *, status: int = 200, **values: object) -> Response:
    """Render a form that signs in, with a token for this browser alone."""
    token = request.cookies.get(cookie_name(ENTRANCE), "") or server().new_token(ENTRANCE_LETTERS)
    html = render_template(template, study=study, csrf=form_token(token), **values)
    return _with_cookie(make_response(html, status), study, cookie_name(ENTRANCE), token)


def _is_own_form() -> bool:
    """Return True if this server gave the form that signs in to this browser."""
    if request.headers.get("Sec-Fetch-Site", "same-origin") not in {"same-origin", "none"}:
        return False
    token = request.cookies.get(cookie_name(ENTRANCE), "")
    sent = request.form.get("csrf", "")
    return token != "" and hmac.compare_digest(sent.encode(), form_token(token).encode())


def _opened_by(name: str, key: str) -> tuple[CachedStudy, KeyHolder] | None:
    """Return the study that a key opens and its holder, None if it opens none."""
    app = server()
    with transaction(app.database, write=False) as session:
        study = find_study(session, app.plans, name)
        holder = holder_of(session, study.id, key) if study is not None else None
    return None if study is None or holder is None else (study, holder)


def _new_session(name: str, key: str) -> str | None:
    """Return the token of a new session, or None if the key does not open the study.

    Where nothing can be written, as on a full disk, the session may still view, so that the fault can be
    found.
    """
    app, opened = server(), _opened_by(name, key)
    if opened is None:
        return None
    study, holder = opened
    try:
        with transaction(app.database, write=True) as session:
            return sign_in(session, study.id, holder, now=app.now(), new_token=app.new_token)
    except (DatabaseError, sqlite3.Error) as error:
        LOGGER.error("a sign-in was not stored: %s", type(error).__name__)  # noqa: TRY400 - the values of a row stay out
        watcher = ConsoleWatcher(study=study.id, key=holder.id, began_at=app.now())
        return app.signer.watcher_token(watcher)


def _is_too_often(name: str) -> bool:
    """Count a wrong key and add it to the audit; True if there were too many."""
    app = server()
    wrong_keys: Tries = current_app.extensions[TRIES]
    if wrong_keys.add(request.remote_addr or "", app.now()):
        return True
    with suppress(DatabaseError, sqlite3.Error), transaction(app.database, write=True) as session:
        study = find_study(session, app.plans, name)
        if study is not None:
            add_wrong_key(session, study.id, now=app.now())
    return False


def _with_cookie(response: Response, study: str, name: str, token: str) -> Response:
    response.set_cookie(name, token, path=f"/r/{study}", secure=is_https(), httponly=True, samesite="Strict")
    return response


def _too_often(study: str) -> Response:
    response = message_page(study, "Too many wrong keys", "Wait a minute, and try again.", 429)
    response.headers["Retry-After"] = "60"
    return response
