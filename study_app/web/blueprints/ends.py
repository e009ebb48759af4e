"""Views of finishing, stopping, codes, the consent text and withdrawal."""

from collections.abc import Callable
from datetime import datetime
from functools import partial

from flask import Blueprint, make_response, request
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from study_app.protocol.steps import DONE, FINISH, STOP, STOPPED, WITHDRAWN, Step, current_step, open_steps
from study_app.services.worker import answers, ends
from study_app.services.worker.ends import DueCode, end_code, is_noted, note_shown, visit_code
from study_app.services.worker.ends import withdraw as service
from study_app.services.worker.entry import consent_text
from study_app.services.worker.worker_progress import WorkerProgress, load_progress
from study_app.store.database import transaction
from study_app.store.study_cache import WorkerRow
from study_app.store.tokens import PageToken
from study_app.study.platforms import frame_hosts
from study_app.web.blueprints.step_views import PAGE_KEY_LETTERS, REFUSED, render_step, submit_step, to_step
from study_app.web.pages.pages import WithdrawPage
from study_app.web.serving import (
    LANGUAGES,
    browser_language,
    message_response,
    note_worker,
    relax_headers,
    render_page,
    server,
)
from study_app.web.show.step_pages import end_page

blueprint = Blueprint("ends", __name__)


@blueprint.get("/w/<token>/finish")
def finish(token: str) -> Response:
    """Show the page with the last button."""
    return render_step(token, FINISH)


@blueprint.post("/w/<token>/finish")
def post_finish(token: str) -> Response:
    """Complete the worker and create the completion code."""

    def store(session: Session, progress: WorkerProgress, page: PageToken) -> str | None:  # noqa: ARG001
        app = server()
        answers.finish(session, progress, now=app.now(), new_token=app.new_token)
        return None

    return submit_step(token, FINISH, store)


@blueprint.get("/w/<token>/stop")
def stop(token: str) -> Response:
    """Show the page that asks whether to stop."""
    return render_step(token, STOP)


@blueprint.post("/w/<token>/stop")
def post_stop(token: str) -> Response:
    """End the worker's part early."""

    def store(session: Session, progress: WorkerProgress, page: PageToken) -> str | None:  # noqa: ARG001
        if request.form.get("stop") == "yes":
            ends.stop(session, progress, "partial", now=server().now())
        return None

    return submit_step(token, STOP, store)


@blueprint.get("/w/<token>/done")
def done(token: str) -> Response:
    """Show the completion code."""
    return _show_code(token, DONE)


@blueprint.get("/w/<token>/stopped")
def stopped(token: str) -> Response:
    """Show the code of a worker who did not finish, if any."""
    return _show_code(token, STOPPED)


def _show_code(token: str, step: Step) -> Response:
    """Display a worker's code, and store that it was displayed.

    The first time needs a transaction that writes.
    """
    app = server()
    worker, now = app.signer.worker(token), app.now()
    with transaction(app.database, write=False) as session:
        progress = load_progress(session, app.plans, worker, now=now)
        note_worker(progress.worker.pseudonym)
        if step not in open_steps(progress.state):
            return to_step(token, current_step(progress.state))
        due = end_code(session, progress)
        page = end_page(progress, due, just="just" in request.args)
        is_new = not is_noted(session, progress.worker, due)
    if is_new:
        _note_shown(progress.worker, due, now=now)
    relax_headers(form_host=due.form_host, frame_hosts=frame_hosts(progress.plan.entry))
    served = PageToken(
        worker=worker,
        key=app.new_token(PAGE_KEY_LETTERS),
        step=step.path,
        showing=None,
        served_at=now,
        version=progress.plan.version,
    )
    return render_page("done", page, tokens={"worker": token, "page": app.signer.page_token(served)})


def new_visit_code(session: Session, progress: WorkerProgress) -> Callable[[], None] | None:
    """Return the function that stores the first showing of a visit's code.

    It returns None without a new code.
    """
    due = visit_code(session, progress)
    if due is None:
        return None
    relax_headers(form_host=due.form_host)
    if is_noted(session, progress.worker, due):
        return None
    return partial(_note_shown, progress.worker, due, now=server().now())


def _note_shown(worker: WorkerRow, due: DueCode, *, now: datetime) -> None:
    with transaction(server().database, write=True) as session:
        note_shown(session, worker, due, now=now)


@blueprint.get("/w/<token>/consent.txt")
def agreed_text(token: str) -> Response:
    """Return the consent text that the worker agreed to, as a file named by its hash."""
    app = server()
    with transaction(app.database, write=False) as session:
        progress = load_progress(session, app.plans, app.signer.worker(token), now=app.now())
        note_worker(progress.worker.pseudonym)
        agreed = progress.worker.consent_sha256
        if agreed is None:
            return to_step(token, current_step(progress.state))
        response = make_response(consent_text(session, progress.plan, agreed))
    response.headers["Content-Type"] = "text/plain; charset=utf-8"
    response.headers["Content-Disposition"] = f'attachment; filename="consent-{agreed}.txt"'
    return response


@blueprint.get("/w/<token>/withdrawn")
def withdrawn(token: str) -> Response:
    """Show that the worker has withdrawn, with the code for earlier work, if any."""
    app = server()
    with transaction(app.database, write=False) as session:
        progress = load_progress(session, app.plans, app.signer.worker(token), now=app.now())
    return (
        render_step(token, WITHDRAWN)
        if progress.worker.completion_code is None
        else _show_code(token, WITHDRAWN)
    )


@blueprint.get("/withdraw")
def withdraw() -> Response:
    """Ask for the code to withdraw with."""
    return render_page("withdraw", WithdrawPage(language=_language(), code="", error=None))


@blueprint.post("/withdraw")
def post_withdraw() -> Response:
    """Withdraw the worker who holds a code."""
    app = server()
    code = request.form.get("code", "").strip()
    with transaction(app.database, write=True) as session:
        gone = service(session, code, now=app.now())
    if gone is None:
        page = WithdrawPage(language=_language(), code=code, error="withdraw.unknown")
        return render_page("withdraw", page, status=REFUSED)
    note_worker(gone.pseudonym)
    if gone.has_code:
        return to_step(app.signer.worker_token(gone.worker), WITHDRAWN)
    return message_response("withdrawn", status=200, language=_language())


def _language() -> str:
    """Return the language of the link, else the browser's first available one."""
    asked = request.args.get("language", "")
    return asked if asked in LANGUAGES else browser_language()
