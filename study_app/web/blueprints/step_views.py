"""Common work of the step views: rendering a step and storing its form."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias
from urllib.parse import urlencode

from flask import Blueprint, jsonify, redirect, request
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from study_app.protocol.steps import DONE, Step, after_page, current_step, open_steps, part_of
from study_app.services.worker.answers import PageRequest, shown_pair
from study_app.services.worker.slots import keep_alive, take_after, take_next
from study_app.services.worker.worker_progress import WorkerProgress, load_progress
from study_app.store.database import transaction
from study_app.store.models import EPOCH, MILLISECOND
from study_app.store.study_cache import CachedTask, SlotRow
from study_app.store.tokens import BadTokenError, PageToken
from study_app.study.platforms import frame_hosts
from study_app.web.pages.pages import WorkerPage
from study_app.web.serving import is_https, message_response, note_worker, relax_headers, render_page, server
from study_app.web.show.step_pages import page_of

PAGE_KEY_LETTERS = 16
REFUSED = 422
ARRIVALS = {"reminder", "invitation"}
RECENT_MS = 60_000
SCRIPT = "application/json"
"""Media type that `study_app/static/js/delivery.js` accepts."""
JUST_FINISHED = "just=1"
"""Query of the last page right after the last form."""

ANSWERED = {"pair", "rate", "vote", "questions"}
"""Kinds of steps with a form that is an answer."""

NUMBERED = {"pair", "rate"}
"""Kinds of steps that a slot has several of."""


@dataclass(frozen=True, slots=True)
class NextStep:
    """Next address after a form, other than the current step's; with its ``query``."""

    step: Step
    query: str = ""


@dataclass(frozen=True, slots=True)
class StepForm:
    """Form that was sent from a step's page, with the transaction that stores it.

    Attributes
    ----------
    progress : WorkerProgress
        Before the form; its worker is locked.
    page : PageToken
        The page on which it stood.
    """

    session: Session
    progress: WorkerProgress
    step: Step
    page: PageToken

    @property
    def now(self) -> datetime:
        """Time of the server's clock."""
        return server().now()

    @property
    def task(self) -> CachedTask:
        """Task of the step."""
        return self.progress.task(self.step)

    @property
    def slot(self) -> SlotRow:
        """Slot of the step."""
        return self.progress.slot(self.step)


FormStore: TypeAlias = Callable[[StepForm], str | NextStep | None]
"""Callable that stores a form.

It returns the catalogue key of the form's fault, or the next address; None means the next step.
"""


def step_form(blueprint: Blueprint, rule: str, *, shows: str = "") -> Callable[[FormStore], FormStore]:
    """Register what stores the form of a step as its POST view.

    Parameters
    ----------
    blueprint : Blueprint
        Of the view.
    rule : str
        Address, with the kind of step as its last fixed word.
    shows : str
        Description of the page with the form, which gets a GET view; empty where it has one of its own.
    """
    kind = _kind_of(rule)

    def register(store: FormStore) -> FormStore:
        def post(token: str, **numbers: int) -> Response:
            return submit_step(token, Step(kind, *numbers.values()), store)

        if shows:
            step_page(blueprint, rule, store.__name__.removeprefix("post_"), shows)
        post.__doc__ = store.__doc__
        blueprint.add_url_rule(rule, store.__name__, post, methods=["POST"])
        return store

    return register


def step_page(blueprint: Blueprint, rule: str, name: str, shows: str) -> None:
    """Register the GET view of a step's page, with its name and description."""
    kind = _kind_of(rule)

    def get(token: str, **numbers: int) -> Response:
        return render_step(token, Step(kind, *numbers.values()))

    get.__doc__ = shows
    blueprint.add_url_rule(rule, name, get)


def _kind_of(rule: str) -> str:
    return next(word for word in reversed(rule.split("/")) if not word.startswith("<"))


def to_step(token: str, step: Step, query: str = "") -> Response:
    """Redirect the browser to a step.

    A script that sent a form gets the address, since it may not see where a redirect leads.
    """
    address = f"/w/{token}/{step.path}" + (f"?{query}" if query else "")
    if request.method == "POST" and request.headers.get("Accept") == SCRIPT:
        return jsonify(next=address)
    return redirect(address, code=303)


def home(token: str) -> str:
    """Return the worker's standing link, which leads to the current step.

    A proxy in front of the server that speaks https says so; the worst that a worker who says it can do is to
    misread their own link.
    """
    return f"{'https' if is_https() else 'http'}://{request.host}/w/{token}/"


def arrival(*, now: datetime) -> str:
    """Return the source of the worker's arrival as the query of an address.

    It is empty for a worker who came on their own. The moment stands beside it, so that loading the page
    again days later is no second reminder.
    """
    via = request.args.get("via")
    return urlencode({"via": via, "at": (now - EPOCH) // MILLISECOND}) if via in ARRIVALS else ""


BeforeRender: TypeAlias = Callable[[Session, WorkerProgress], Callable[[], None] | None]
"""Callable that returns a function to store something before the page is rendered.

It returns None for nothing to store.
"""


def render_step(
    token: str, step: Step, *, error: str | None = None, before_render: BeforeRender | None = None
) -> Response:
    """Render a step's page if it is open to the worker, else redirect.

    The redirect leads to the worker's current step.
    """
    app = server()
    worker, now = app.signer.worker(token), app.now()
    with transaction(app.database, write=False) as session:
        progress = load_progress(session, app.plans, worker, now=now)
        note_worker(progress.worker.pseudonym)
        relax_headers(frame_hosts=frame_hosts(progress.plan.entry))
        if step not in open_steps(progress.state):
            return to_step(token, current_step(progress.state))
        shown = shown_pair(session, progress, step) if step.kind == "pair" else None
        note = None if before_render is None else before_render(session, progress)
        page = page_of(
            PageRequest(
                session=session,
                plans=app.plans,
                here=progress,
                step=step,
                now=now,
                shown=shown,
                error=error,
                sent=request.form.to_dict(flat=False) if error else {},
                home=home(token),
                arrival=arrival(now=now) if arrival_source(now=now) != "own" else "",
            )
        )
    if note is not None:
        note()
    served = served_page(progress, step, now=now, showing=None if shown is None else shown.id)
    template = "message" if step.kind in {"full", "withdrawn"} else step.kind
    return render_served(
        template, page, token, served, part_of(progress.state, step), status=REFUSED if error else 200
    )


def served_page(
    progress: WorkerProgress, step: Step, *, now: datetime, showing: int | None = None
) -> PageToken:
    """Return the token of a page that is served to a worker now, under a new key."""
    return PageToken(
        worker=progress.worker.id,
        key=server().new_token(PAGE_KEY_LETTERS),
        step=step.path,
        showing=showing,
        served_at=now,
        version=progress.plan.version,
    )


def render_served(
    template: str,
    page: WorkerPage,
    token: str,
    served: PageToken,
    part: tuple[int, int] | None = None,
    *,
    status: int = 200,
) -> Response:
    """Render a worker's page with the tokens that its forms and events carry."""
    tokens = {"worker": token, "page": server().signer.page_token(served)}
    return render_page(template, page, status=status, tokens=tokens, part=part)


def arrival_source(*, now: datetime) -> str:
    """Return the source of the arrival at this page: own, or as `arrival` wrote it."""
    via, at = request.args.get("via"), request.args.get("at", type=int)
    recently = at is not None and abs((now - EPOCH) // MILLISECOND - at) <= RECENT_MS
    return via if via in ARRIVALS and recently else "own"


def submit_step(token: str, step: Step, store: FormStore) -> Response:
    """Store a step's form and go on, or show the form again with its fault."""
    app = server()
    worker, now = app.signer.worker(token), app.now()
    served = _page_token(worker, step)
    if served is None:
        return message_response("bad_form", status=403)
    with transaction(app.database, write=True) as session:
        progress = load_progress(session, app.plans, worker, now=now, lock=True)
        note_worker(progress.worker.pseudonym)
        if step not in open_steps(progress.state):
            return to_step(token, current_step(progress.state))
        keep_alive(session, progress, now=now, answers=step.kind in ANSWERED)
        form = StepForm(session, progress, step, served)
        onward = store(form) or NextStep(_following(session, progress, step, now=now))
    if isinstance(onward, NextStep):
        return to_step(token, onward.step, JUST_FINISHED if onward.step == DONE else onward.query)
    return render_step(token, step, error=onward)


def _following(session: Session, progress: WorkerProgress, step: Step, *, now: datetime) -> Step:
    """Return the step after a stored form.

    The next query is assigned where the worker has no choice.
    """
    following = None
    if step.kind in NUMBERED:
        following = after_page(progress.state, step) or take_after(session, progress, step, now=now)
    if following is None:
        progress = load_progress(session, server().plans, progress.worker.id, now=now)
        if take_next(session, progress, now=now):
            progress = load_progress(session, server().plans, progress.worker.id, now=now)
        following = current_step(progress.state)
    return following


def _page_token(worker: int, step: Step) -> PageToken | None:
    """Return the page token of a form.

    It returns None when the token is missing, forged, or of another worker or page.
    """
    try:
        served = server().signer.page(request.form.get("page", ""))
    except BadTokenError:
        return None
    return served if served.worker == worker and served.step == step.path else None
