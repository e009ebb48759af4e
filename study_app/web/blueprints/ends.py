"""Views of finishing, stopping, codes, the consent text and withdrawal."""

from collections.abc import Callable
from datetime import datetime
from functools import partial

from flask import Blueprint, make_response, request
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from study_app.protocol.steps import DONE, STOPPED, WITHDRAWN, Step, current_step, open_steps
from study_app.services.worker import answers, ends
from study_app.services.worker.ends import DueCode, end_code, is_noted, note_shown, visit_code
from study_app.services.worker.ends import withdraw as service
from study_app.services.worker.entry import consent_text
from study_app.services.worker.worker_progress import WorkerProgress, load_progress
from study_app.store.database import transaction
from study_app.store.study_cache import WorkerRow
from study_app.study.platforms import frame_hosts
from study_app.web.blueprints.step_views import (
    REFUSED,
    StepForm,
    render_served,
    render_step,
    served_page,
    step_form,
    to_step,
)
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


@step_form(blueprint, "/w/<token>/finish", shows="Show the page with the last button.")
def post_finish(form: StepForm) -> None:
    """Complete the worker and create the completion code."""
    answers.finish(form.session, form.progress, now=form.now, new_token=server().new_token)


@step_form(blueprint, "/w/<token>/stop", shows="Show the page that asks whether to stop.")
def post_stop(form: StepForm) -> None:
    """End the worker's part early."""
    if request.form.get("stop") == "yes":
        ends.stop(form.session, form.progress, "partial", now=form.now)


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
    return render_served("done", page, token, served_page(progress, step, now=now))


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
