"""Authorisation in the researcher's console: viewers and managers.

A page is a view under `viewer_required`; an action is a view under `manager_required`::

    @blueprint.get("/r/<study>/people")
    @viewer_required
    def people(console_request: ConsoleRequest) -> Response:
        return page("console/people.html", console_request, people=...)

    @blueprint.post("/r/<study>/payments/paid")
    @manager_required("mark as paid")
    def paid(console_request: ConsoleRequest) -> Response:
        console_request.note("3 workers")
        return console_request.back("payments")

A browser that is not signed in gets the answer of an address that does not exist.
"""

import hmac
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeAlias

from flask import Response, make_response, redirect, render_template, request
from markupsafe import Markup
from sqlalchemy.orm import Session
from werkzeug.exceptions import NotFound

from metrics.errors import InputError, format_faults
from study_app.services.researcher.access import (
    MANAGE,
    WATCH,
    SignIn,
    find_sign_in,
    form_token,
    watcher_sign_in,
)
from study_app.services.researcher.audit import KeyHolder, add_audit_entry, describe
from study_app.services.worker.entry import find_study
from study_app.store.console_models import AuditEntry
from study_app.store.database import transaction
from study_app.store.models import LoadedStudy
from study_app.store.study_cache import CachedStudy
from study_app.web.serving import is_https, server

COOKIE = "prefcal_console"
MAX_REASON_CHARS = 200
MAX_ROWS = 2**31 - 1
ViewParams = ParamSpec("ViewParams")


class RefusedAction(Exception):  # noqa: N818 - it is an answer, not a fault of the program
    """Refusal of a whole action, displayed as a page with the reason and a hint."""

    def __init__(self, reason: str, status: int = 422) -> None:
        super().__init__(reason)
        self.reason, self.status = reason, status


@dataclass(slots=True, kw_only=True)
class ConsoleRequest:
    """A request of a browser that has signed in.

    Attributes
    ----------
    study : CachedStudy
        The study of the console; every question to the database has to name ``study.id``.
    session : Session
        The transaction of this request; it writes under `manager_required`, which commits it.
    sign_in : SignIn
    now : datetime
    csrf : str
        Token that every form of this session must contain.
    entry : AuditEntry or None
        Under `manager_required` and `download` the line of the audit that is being written.
    rollback : ExitStack
        Under `manager_required` the steps that undo the view's work outside the database if its transaction fails.
    after_commit : list of callable
        Under `manager_required` the steps that follow once the transaction is stored.
    """

    study: CachedStudy
    session: Session
    sign_in: SignIn
    now: datetime
    csrf: str
    entry: AuditEntry | None = None
    rollback: ExitStack = field(default_factory=ExitStack)
    after_commit: list[Callable[[], None]] = field(default_factory=list)

    @property
    def stored_study(self) -> LoadedStudy:
        """The study as the database has it."""
        return self.session.get_one(LoadedStudy, self.study.id)

    @property
    def key(self) -> KeyHolder:
        """The holder of the key that signed in."""
        return self.sign_in.holder

    @property
    def may_act(self) -> bool:
        """True if the key's role allows to change something."""
        return self.key.role == MANAGE

    @property
    def csrf_field(self) -> Markup:
        """The hidden field that every form has."""
        return Markup('<input type="hidden" name="csrf" value="{}">').format(self.csrf)

    def address(self, path: str = "") -> str:
        """Return the address of a page of this console."""
        return f"/r/{self.study.name}/{path}"

    def note(self, detail: str) -> None:
        """Add an action to the audit and to the page that follows."""
        if self.entry is None:
            raise RuntimeError("only a view under manager_required or download writes into the audit")
        describe(self.session, self.entry, detail)

    def back(self, path: str = "") -> Response:
        """Redirect to a page, which says what was done."""
        done = f"?done={self.entry.id}" if self.entry is not None else ""
        return redirect_to(self.address(path) + done)


ConsoleView: TypeAlias = Callable[Concatenate[ConsoleRequest, ViewParams], Response]
View: TypeAlias = Callable[..., Response]


def viewer_required(view: ConsoleView[ViewParams]) -> View:
    """Require a sign-in; the view reads, and writes nothing."""

    @wraps(view)
    def required(study: str, *args: ViewParams.args, **params: ViewParams.kwargs) -> Response:
        _refuse_huge(params)
        with transaction(server().database, write=False) as session:
            console_request = authenticate(session, study)
            if not isinstance(console_request, ConsoleRequest):
                return console_request
            return view(console_request, *args, **params)

    return required


def manager_required(
    action: str, *, first: Callable[[Session], None] | None = None
) -> Callable[[ConsoleView[ViewParams]], View]:
    """Require a key to manage, and add ``action`` to the audit.

    A POST has to carry the token of the session's forms. A view that raises `RefusedAction` or `InputError` has done nothing: the line
    says that it was refused, and a plain page says why. ``first`` takes the locks of a view that needs more than the rows it changes.
    """
    return _audited(action, role=MANAGE, first=first)


def download(action: str) -> Callable[[ConsoleView[ViewParams]], View]:
    """Require a sign-in for a file to take away, and add ``action`` to the audit."""
    return _audited(action, role=WATCH)


def _audited(
    action: str, *, role: str, first: Callable[[Session], None] | None = None
) -> Callable[[ConsoleView[ViewParams]], View]:
    def decorate(view: ConsoleView[ViewParams]) -> View:
        @wraps(view)
        def audited(study: str, *args: ViewParams.args, **params: ViewParams.kwargs) -> Response:
            _refuse_huge(params)
            try:
                with ExitStack() as rollback:
                    with transaction(server().database, write=True) as session:
                        console_request = authenticate(session, study)
                        if not isinstance(console_request, ConsoleRequest):
                            return console_request
                        _check_permission(console_request, action, role)
                        if first is not None:
                            first(session)
                        console_request.entry = add_audit_entry(
                            session,
                            console_request.study.id,
                            console_request.key,
                            action,
                            "",
                            now=console_request.now,
                        )
                        console_request.rollback = rollback
                        response = view(console_request, *args, **params)
                    rollback.pop_all()
            except RefusedAction as refusal:
                return _refused(study, action, refusal.reason, refusal.status)
            except InputError as error:
                return _refused(study, action, "\n".join(map(str, format_faults(error.faults))), 422)
            for finish in console_request.after_commit:
                finish()
            return response

        return audited

    return decorate


def _refused(study: str, action: str, reason: str, status: int) -> Response:
    """Add to the audit that an action was refused, and render the reason."""
    with transaction(server().database, write=True) as session:
        known = authenticate(session, study)
        if isinstance(known, ConsoleRequest):
            detail = reason.partition("\n")[0][:MAX_REASON_CHARS]
            add_audit_entry(session, known.study.id, known.key, f"refused: {action}", detail, now=known.now)
    return message_page(study, "Not done", reason, status)


def _refuse_huge(params: Mapping[str, object]) -> None:
    """Refuse a number that no row can have: databases fail when asked for it."""
    if any(isinstance(param, int) and param > MAX_ROWS for param in params.values()):
        raise NotFound


def _check_permission(console_request: ConsoleRequest, action: str, role: str) -> None:
    """Raise `RefusedAction` for a key that may only look, and for a strange form."""
    if console_request.sign_in.id is None:
        raise RefusedAction(
            "You signed in while nothing could be written, which lets you look only. Sign in again to do this.",
            403,
        )
    if role == MANAGE and not console_request.may_act:
        raise RefusedAction(
            f"Your key ({console_request.key.name}) has the role watch, and this needs the role manage: {action}.",
            403,
        )
    sent = request.form.get("csrf", "")
    if request.method == "POST" and not hmac.compare_digest(sent.encode(), console_request.csrf.encode()):
        raise RefusedAction(
            "The form is not one of this sign-in: it may be from yesterday. Open the page again and send it from there.",
            403,
        )


def authenticate(session: Session, name: str) -> ConsoleRequest | Response:
    """Return the request of a signed-in browser, or a page if its session is over.

    Raises
    ------
    NotFound
        For everybody else, and where there is no such study.
    """
    app = server()
    now, token = app.now(), own_token()
    study = find_study(session, app.plans, name) if token else None
    known = _sign_in(session, study.id, token, now=now) if study is not None else None
    if study is None or known is None:
        raise NotFound
    if not known.is_open:
        return message_page(
            name,
            "You are signed out",
            "A sign-in lasts 12 hours, and ends when its key is revoked. Nothing was changed.",
            403,
        )
    return ConsoleRequest(study=study, session=session, sign_in=known, now=now, csrf=form_token(token))


def _sign_in(session: Session, study_id: int, token: str, *, now: datetime) -> SignIn | None:
    """Return the sign-in of a token, whether or not it is stored in a table."""
    watcher = server().signer.watcher(token)
    if watcher is None:
        return find_sign_in(session, study_id, token, now=now)
    return watcher_sign_in(session, study_id, watcher, now=now) if watcher.study == study_id else None


def own_token() -> str:
    """Return the token of the sign-in of the browser that asks."""
    return request.cookies.get(cookie_name(), "")


def cookie_name(name: str = COOKIE) -> str:
    """Return a cookie's name: over HTTPS one that a browser takes over HTTPS only."""
    return f"__Secure-{name}" if is_https() else name


def hide_options() -> None:
    """Answer OPTIONS of the console as an unknown address, without its methods."""
    if request.method == "OPTIONS" and request.path.startswith("/r/"):
        raise NotFound


def row_number(text: str) -> int | None:
    """Return the number of a row that a browser sent, None if it is none."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None


def message_page(study: str, heading: str, text: str, status: int) -> Response:
    """Render a message, with a way back."""
    html = render_template("console/plain.html", study=study, heading=heading, text=text)
    return make_response(html, status)


def redirect_to(address: str) -> Response:
    """Redirect to an address after a form (303)."""
    response: Any = redirect(address, code=303)
    return response  # type: ignore[no-any-return]
