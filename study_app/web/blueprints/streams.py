"""Views of stream tasks: enrolling, reading, leaving and later questions."""

from flask import Blueprint, request
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from study_app.protocol.steps import Step, current_step, open_steps, part_of
from study_app.services.worker import streams as service
from study_app.services.worker import useful as asking
from study_app.services.worker.answers import PageRequest
from study_app.services.worker.worker_progress import WorkerProgress, load_progress
from study_app.store.database import transaction
from study_app.store.tokens import PageToken
from study_app.study.platforms import frame_hosts
from study_app.web.blueprints.ends import new_visit_code
from study_app.web.blueprints.step_views import (
    PAGE_KEY_LETTERS,
    NextStep,
    arrival_source,
    home,
    render_step,
    submit_step,
    to_step,
)
from study_app.web.serving import note_worker, relax_headers, render_page, server
from study_app.web.show.tasks import stream_page

blueprint = Blueprint("streams", __name__, url_prefix="/w/<token>")
ANSWERS = {"yes": True, "no": False}


@blueprint.get("/<int:task>/<int:query>/enrol")
def enrol(token: str, task: int, query: int) -> Response:
    """Show the page about following an event."""
    return render_step(token, Step("enrol", task, query))


@blueprint.post("/<int:task>/<int:query>/enrol")
def post_enrol(token: str, task: int, query: int) -> Response:
    """Begin to follow an event."""
    step = Step("enrol", task, query)

    def store(session: Session, progress: WorkerProgress, page: PageToken) -> str | None:  # noqa: ARG001
        app = server()
        service.enrol(session, app.plans, progress, step, now=app.now())
        return None

    return submit_step(token, step, store)


@blueprint.get("/<int:task>/streams")
def streams(token: str, task: int) -> Response:
    """Show the streams that the worker follows."""
    return render_step(token, Step("streams", task))


@blueprint.get("/<int:task>/<int:query>/stream")
def stream(token: str, task: int, query: int) -> Response:
    """Show the new updates of a stream; after its days, redirect to its last page."""
    app, step = server(), Step("stream", task, query)
    worker, now = app.signer.worker(token), app.now()
    with transaction(app.database, write=True) as session:
        progress = load_progress(session, app.plans, worker, now=now, lock=True)
        note_worker(progress.worker.pseudonym)
        relax_headers(frame_hosts=frame_hosts(progress.plan.entry))
        if step not in open_steps(progress.state):
            return to_step(token, current_step(progress.state))
        follow = service.followed(session, app.plans, progress, step)
        if follow.follow.ends_at <= now:
            return to_step(token, Step("away", task, query))
        key = app.new_token(PAGE_KEY_LETTERS)
        below = request.args.get("below", type=int)
        served = service.open_view(
            session, follow, key=key, entry=arrival_source(now=now), below=below, now=now
        )
        page_request = PageRequest(
            session=session, plans=app.plans, here=progress, step=step, now=now, home=home(token)
        )
        page = stream_page(page_request, follow, served)
    signed = app.signer.page_token(
        PageToken(
            worker=worker,
            key=key,
            step=step.path,
            showing=None,
            served_at=now,
            version=progress.plan.version,
        )
    )
    tokens = {"worker": token, "page": signed}
    return render_page("stream", page, tokens=tokens, part=part_of(progress.state, step))


@blueprint.post("/<int:task>/<int:query>/stream")
def post_stream(token: str, task: int, query: int) -> Response:
    """Leave a stream, or with ``below`` show older updates of the visit.

    The updates read are stored either way.
    """
    step = Step("stream", task, query)
    below = request.form.get("below", type=int)

    def store(session: Session, progress: WorkerProgress, page: PageToken) -> NextStep:
        app = server()
        now = app.now()
        follow = service.followed(session, app.plans, progress, step)
        view = service.send_read(session, follow, page=page.key, keys=request.form.getlist("read"), now=now)
        if below is not None:
            return NextStep(step, f"below={below}")
        asks = view is not None and asking.ask(session, progress, step, follow, view, now=now)
        return NextStep(Step("useful" if asks else "away", task, query))

    return submit_step(token, step, store)


@blueprint.get("/<int:task>/<int:query>/useful")
def useful(token: str, task: int, query: int) -> Response:
    """Ask which updates of the visit were still of use."""
    return render_step(token, Step("useful", task, query))


@blueprint.post("/<int:task>/<int:query>/useful")
def post_useful(token: str, task: int, query: int) -> Response:
    """Store the answers about use; none is required."""
    step = Step("useful", task, query)

    def store(session: Session, progress: WorkerProgress, page: PageToken) -> NextStep:
        follow = progress.follow(step)
        shown = asking.questions_on_page(session, follow, served_at=page.served_at)
        for number, question in enumerate(shown, start=1):
            answer = ANSWERS.get(request.form.get(f"useful-{number}", ""))
            if answer is not None and "skip" not in request.form:
                asking.answer(session, question, useful=answer, page=page.key, now=server().now())
        return NextStep(Step("away", task, query))

    return submit_step(token, step, store)


@blueprint.get("/<int:task>/<int:query>/away")
def away(token: str, task: int, query: int) -> Response:
    """Show the page after a visit, with the visit's code where each visit has one."""
    return render_step(token, Step("away", task, query), before_render=new_visit_code)
