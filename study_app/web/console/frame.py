"""The frame of the researcher's console: signing in, who may look and act, the audit, what every page shows; and tries of wrong keys.

Wrong tries are counted by this process alone, and forgotten with it.

A right key is never refused: where a proxy hides who asks, a stranger could else keep the researcher out.

A page is a view under `watch`; what changes something is a view under `manage`::

    @blueprint.get("/r/<study>/people")
    @watch
    def people(seat: Seat) -> Response:
        return page("console/people.html", seat, people=...)

    @blueprint.post("/r/<study>/payments/paid")
    @manage("mark as paid")
    def paid(seat: Seat) -> Response:
        seat.note("3 workers")
        return seat.back("payments")

Who is not signed in gets the answer of an address that does not exist.

Nothing signs in but the form of this server's own page: an address with a key opens that page. Else an image or a link on another site could sign
somebody in with a key of its own, and what they then do would be done in a stranger's name.
"""

import hmac
import logging
import sqlite3
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import wraps
from threading import Lock
from typing import Any, Concatenate, ParamSpec, TypeAlias

from flask import Blueprint, Response, current_app, make_response, redirect, render_template, request
from markupsafe import Markup
from sqlalchemy.exc import DatabaseError
from sqlalchemy.orm import Session
from werkzeug.exceptions import NotFound

from metrics.errors import InputError, shown_faults
from study_app.services.console.access import (
    MANAGE,
    WATCH,
    KeyHolder,
    KnownSession,
    describe,
    form_token,
    holder_of,
    known_session,
    known_watcher,
    note_act,
    note_wrong_key,
    sign_in,
    sign_out,
)
from study_app.services.worker.entry import find_study
from study_app.store.console_models import Act
from study_app.store.database import transaction
from study_app.store.plan import StudyPlan
from study_app.store.tokens import ConsoleWatcher
from study_app.web.serving import is_https, server

LOGGER = logging.getLogger("prefcal.errors")
WITHIN = timedelta(minutes=1)
MOST = 5
MOST_KNOWN = 10_000


@dataclass(slots=True)
class Tries:
    """Wrong keys of the last minute, by who tried."""

    wrong: dict[str, deque[datetime]] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    def is_over(self, visitor: str, now: datetime) -> bool:
        """Count one more wrong key, and say whether it is more than `MOST` within a minute."""
        with self.lock:
            if len(self.wrong) >= MOST_KNOWN:
                self.wrong = {name: times for name, times in self.wrong.items() if times[-1] > now - WITHIN}
            times = self.wrong.setdefault(visitor, deque(maxlen=MOST + 1))
            times.append(now)
            return len(times) > MOST and times[0] > now - WITHIN


blueprint = Blueprint("console", __name__)
COOKIE, ENTRANCE = "prefcal_console", "prefcal_entrance"
"""The cookie of a sign-in, and that of a browser to which a form that signs in was given."""

ENTRANCE_LETTERS = 26
MOST_REASON_CHARS = 200
TRIES = "prefcal_tries"
MOST_ROWS = 2**31 - 1
Places = ParamSpec("Places")
NAVIGATION = (
    ("", "overview.overview", "Overview"),
    ("people", "people.people", "People"),
    ("material", "material.material", "Material"),
    ("data", "data.data", "Data"),
    ("payments", "payments.payments", "Payments"),
    ("limits", "limits.limits", "Limits"),
    ("audit", "overview.audit", "Audit"),
)
"""Place below /r/STUDY/, the view that answers there, and what the link says."""


class NotDone(Exception):  # noqa: N818 - it is an answer, not a fault of the program
    """What was asked is not done, and nothing of it: a plain page says why and how to go on."""

    def __init__(self, why: str, status: int = 422) -> None:
        super().__init__(why)
        self.why, self.status = why, status


@dataclass(slots=True, kw_only=True)
class Seat:
    """Somebody who has signed in and now looks or acts.

    Attributes
    ----------
    plan : StudyPlan
        The study whose console it is; every question to the database has to name ``plan.id``.
    session : Session
        The transaction of this request; it writes under `manage`, and the frame commits it.
    key : KeyHolder
        Whose key it is, and its role.
    now : datetime
    csrf : str
        What a form of this session has to carry.
    act : Act or None
        Under `manage` and `download` the line of the audit that is being written.
    undone : ExitStack
        Under `manage` what gives up whatever the view made, where its transaction is not stored.
    when_stored : list of callable
        Under `manage` what is done once the transaction is stored.
    watches_until : datetime or None
        Set where the sign-in began while nothing could be written: it may look until then.
    """

    plan: StudyPlan
    session: Session
    key: KeyHolder
    now: Any
    csrf: str
    act: Act | None = None
    undone: ExitStack = field(default_factory=ExitStack)
    when_stored: list[Callable[[], None]] = field(default_factory=list)
    watches_until: datetime | None = None

    @property
    def may_act(self) -> bool:
        """Whether the key's role lets it change something."""
        return self.key.role == MANAGE

    @property
    def csrf_field(self) -> Markup:
        """The hidden field that every form has."""
        return Markup('<input type="hidden" name="csrf" value="{}">').format(self.csrf)

    def address(self, place: str = "") -> str:
        """Return the address of a page of this console."""
        return f"/r/{self.plan.name}/{place}"

    def note(self, detail: str) -> None:
        """Say in the audit, and on the page that follows, what exactly was done."""
        if self.act is None:
            raise RuntimeError("only a view under manage or download writes into the audit")
        describe(self.session, self.act, detail)

    def back(self, place: str = "") -> Response:
        """Send the browser to a page, which says what was done."""
        done = f"?done={self.act.id}" if self.act is not None else ""
        return _to(self.address(place) + done)


Look: TypeAlias = Callable[Concatenate[Seat, Places], Response]
View: TypeAlias = Callable[..., Response]


def watch(view: Look[Places]) -> View:
    """Let whoever has signed in look: the view reads, and writes nothing."""

    @wraps(view)
    def looked(study: str, *args: Places.args, **places: Places.kwargs) -> Response:
        _refuse_huge(places)
        with transaction(server().database, write=False) as session:
            taken = _seat(session, study)
            return view(taken, *args, **places) if isinstance(taken, Seat) else taken

    return looked


def manage(what: str, *, first: Callable[[Session], None] | None = None) -> Callable[[Look[Places]], View]:
    """Let who has a key to manage act: ``what`` becomes a line of the audit in the same transaction.

    A POST has to carry the token of the session's forms. A view that raises `NotDone` or `InputError` has done nothing: the line says that
    it was refused, and a plain page says why. Where nothing is stored, for whatever reason, ``seat.undone`` is called, else
    ``seat.when_stored``. ``first`` takes the locks of a view that needs more than the rows it changes.
    """
    return _recorded(what, role=MANAGE, first=first)


def download(what: str) -> Callable[[Look[Places]], View]:
    """Let whoever has signed in take a file away: ``what`` becomes a line of the audit, as under `manage`."""
    return _recorded(what, role=WATCH)


def _recorded(
    what: str, *, role: str, first: Callable[[Session], None] | None = None
) -> Callable[[Look[Places]], View]:
    def acting(view: Look[Places]) -> View:
        @wraps(view)
        def acted(study: str, *args: Places.args, **places: Places.kwargs) -> Response:
            _refuse_huge(places)
            try:
                with ExitStack() as undone:
                    with transaction(server().database, write=True) as session:
                        taken = _seat(session, study)
                        if not isinstance(taken, Seat):
                            return taken
                        _refuse_strange(taken, what, role)
                        if first is not None:
                            first(session)
                        taken.act = note_act(session, taken.plan.id, taken.key, what, "", now=taken.now)
                        taken.undone = undone
                        response = view(taken, *args, **places)
                    undone.pop_all()
            except NotDone as refusal:
                _note_refusal(study, what, refusal.why)
                return plain(study, "Not done", refusal.why, refusal.status)
            except InputError as error:
                why = "\n".join(map(str, shown_faults(error.faults)))
                _note_refusal(study, what, why)
                return plain(study, "Not done", why, 422)
            for do in taken.when_stored:
                do()
            return response

        return acted

    return acting


def _note_refusal(study: str, what: str, why: str) -> None:
    """Write into the audit that an act was refused; nothing else of it stays."""
    with transaction(server().database, write=True) as session:
        taken = _seat(session, study)
        if isinstance(taken, Seat):
            first = why.partition("\n")[0][:MOST_REASON_CHARS]
            note_act(session, taken.plan.id, taken.key, f"refused: {what}", first, now=taken.now)


def _refuse_huge(places: Mapping[str, object]) -> None:
    """Answer a number in an address that no row can have as an address that does not exist; databases fail when asked for it."""
    if any(isinstance(place, int) and place > MOST_ROWS for place in places.values()):
        raise NotFound


def _refuse_strange(seat: Seat, what: str, role: str) -> None:
    """Refuse who may only look, and a form that this session was not given; raises `NotDone`."""
    if seat.watches_until is not None:
        raise NotDone(
            "You signed in while nothing could be written, which lets you look only. Sign in again to do this.",
            403,
        )
    if role == MANAGE and not seat.may_act:
        raise NotDone(
            f"Your key ({seat.key.name}) has the role watch, and this needs the role manage: {what}.", 403
        )
    sent = request.form.get("csrf", "")
    if request.method == "POST" and not hmac.compare_digest(sent.encode(), seat.csrf.encode()):
        raise NotDone(
            "The form is not one of this sign-in: it may be from yesterday. Open the page again and send it from there.",
            403,
        )


def _seat(session: Session, study: str) -> Seat | Response:
    """Return who has signed in, or the page for one whose session is over; raises NotFound for everybody else."""
    app = server()
    now, token = app.now(), own_token()
    plan = find_study(session, app.plans, study) if token else None
    known = _known(session, plan.id, token, now=now) if plan is not None else None
    if plan is None or known is None:
        raise NotFound
    if not known.is_open:
        return plain(
            study,
            "You are signed out",
            "A sign-in lasts 12 hours, and ends when its key is revoked. Nothing was changed.",
            403,
        )
    return Seat(
        plan=plan,
        session=session,
        key=known.holder,
        now=now,
        csrf=form_token(token),
        watches_until=known.watches_until,
    )


def own_token() -> str:
    """Return the token of the sign-in of the browser that asks."""
    return request.cookies.get(_cookie(), "")


def hide_options() -> None:
    """Answer OPTIONS on an address of the console as every other method that has no page there: Flask would say which methods it has."""
    if request.method == "OPTIONS" and request.path.startswith("/r/"):
        raise NotFound


def _known(session: Session, study: int, token: str, *, now: datetime) -> KnownSession | None:
    """Return the session of a token, whether a table has it or the token is all there is of it."""
    watcher = server().signer.watcher(token)
    if watcher is None:
        return known_session(session, study, token, now=now)
    return known_watcher(session, study, watcher, now=now) if watcher.study == study else None


def page(template: str, seat: Seat, *, status: int = 200, **values: object) -> Response:
    """Render a page of the console; ``values`` are what its template names, besides ``seat``, ``links`` and ``done``."""
    links = [
        (seat.address(place), name, request.endpoint == view)
        for place, view, name in NAVIGATION
        if view in current_app.view_functions
    ]
    html = render_template(template, seat=seat, links=links, done=_done(seat), **values)
    return make_response(html, status)


def _done(seat: Seat) -> Act | None:
    """Return the line of the audit that this page was led to by, if it is one of this key and study."""
    number = request.args.get("done", "")
    act = seat.session.get(Act, int(number)) if number.isdecimal() and len(number) < 10 else None
    is_own = act is not None and (act.study_id, act.key_id) == (seat.plan.id, seat.key.id)
    return act if is_own else None


def plain(study: str, heading: str, text: str, status: int) -> Response:
    """Render a page that only says something, with a way back."""
    html = render_template("console/plain.html", study=study, heading=heading, text=text)
    return make_response(html, status)


@blueprint.get("/r/<study>")
def enter(study: str) -> Response:
    """Show a form that signs in by the key in the address."""
    key = request.args.get("key", "")
    if not key:
        return _only_seated(study)
    if _opened_by(study, key) is None:
        if _is_too_often(study):
            return _too_often(study)
        raise NotFound
    return _entrance("console/entered.html", study, key=key)


@watch
def _only_seated(seat: Seat) -> Response:
    return _to(seat.address())


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
    token = _signed_in(study, request.form.get("key", "").strip())
    if token is not None:
        return _with_cookie(_to(f"/r/{study}/"), study, _cookie(), token)
    if _is_too_often(study):
        return _too_often(study)
    error = "This key opens no study of that name. Was it revoked, or cut when it was copied?"
    return _entrance("console/sign_in.html", study, error=error, status=403)


@blueprint.post("/r/<study>/sign-out")
def post_sign_out(study: str) -> Response:
    """End the session, here and for whoever has its cookie."""
    app, token = server(), own_token()
    with transaction(app.database, write=True) as session:
        seat = _seat(session, study)
        if (
            isinstance(seat, Seat)
            and seat.watches_until is None
            and hmac.compare_digest(request.form.get("csrf", "").encode(), seat.csrf.encode())
        ):
            sign_out(session, seat.plan.id, token, seat.key, now=app.now())
    response = _to(f"/r/{study}/sign-in")
    response.delete_cookie(_cookie(), secure=is_https(), path=f"/r/{study}")
    return response


def _entrance(template: str, study: str, *, status: int = 200, **values: object) -> Response:
    """Render a form that signs in, and give its browser what only this browser will send with it."""
    before = request.cookies.get(_cookie(ENTRANCE), "")
    token = before or server().new_token(ENTRANCE_LETTERS)
    html = render_template(template, study=study, csrf=form_token(token), **values)
    return _with_cookie(make_response(html, status), study, _cookie(ENTRANCE), token)


def _is_own_form() -> bool:
    """Say whether a form that signs in is one that this server gave to this browser."""
    if request.headers.get("Sec-Fetch-Site", "same-origin") not in {"same-origin", "none"}:
        return False
    token = request.cookies.get(_cookie(ENTRANCE), "")
    sent = request.form.get("csrf", "")
    return token != "" and hmac.compare_digest(sent.encode(), form_token(token).encode())


def _opened_by(study: str, key: str) -> tuple[StudyPlan, KeyHolder] | None:
    """Return what a key opens and whose it is, None where it does not open the study."""
    app = server()
    with transaction(app.database, write=False) as session:
        plan = find_study(session, app.plans, study)
        holder = holder_of(session, plan.id, key) if plan is not None else None
    return None if plan is None or holder is None else (plan, holder)


def _signed_in(study: str, key: str) -> str | None:
    """Return the token of a new session, None where the key does not open the study.

    Where nothing can be written, as on a full disk, the session may look: else nobody could see what is wrong.
    """
    app, opened = server(), _opened_by(study, key)
    if opened is None:
        return None
    plan, holder = opened
    try:
        with transaction(app.database, write=True) as session:
            return sign_in(session, plan.id, holder, now=app.now(), new_token=app.new_token)
    except (DatabaseError, sqlite3.Error) as error:
        LOGGER.error("a sign-in was not stored: %s", type(error).__name__)  # noqa: TRY400 - the values of a row stay out
        watcher = ConsoleWatcher(study=plan.id, key=holder.id, began_at=app.now())
        return app.signer.watcher_token(watcher)


def _is_too_often(study: str) -> bool:
    """Count a wrong key, and say whether there were too many; those that are looked at are lines of the audit."""
    app = server()
    if _tries().is_over(_visitor(), app.now()):
        return True
    with suppress(DatabaseError, sqlite3.Error), transaction(app.database, write=True) as session:
        plan = find_study(session, app.plans, study)
        if plan is not None:
            note_wrong_key(session, plan.id, now=app.now())
    return False


def _cookie(name: str = COOKIE) -> str:
    """Return a cookie's name: over HTTPS one that a browser takes over HTTPS only."""
    return f"__Secure-{name}" if is_https() else name


def _with_cookie(response: Response, study: str, name: str, token: str) -> Response:
    response.set_cookie(name, token, path=f"/r/{study}", secure=is_https(), httponly=True, samesite="Strict")
    return response


def _too_often(study: str) -> Response:
    response = plain(study, "Too many wrong keys", "Wait a minute, and try again.", 429)
    response.headers["Retry-After"] = "60"
    return response


def _tries() -> Tries:
    tries: Tries = current_app.extensions[TRIES]
    return tries


def _visitor() -> str:
    return request.remote_addr or ""


def _to(address: str) -> Response:
    response: Any = redirect(address, code=303)
    return response  # type: ignore[no-any-return]
