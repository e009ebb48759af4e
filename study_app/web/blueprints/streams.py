"""Views of stream tasks: enrolling, reading, leaving and later questions."""

from dataclasses import replace

from flask import Blueprint, request
from werkzeug.wrappers import Response

from study_app.protocol.steps import Step, current_step, open_steps, part_of
from study_app.services.worker import streams as service
from study_app.services.worker import useful as asking
from study_app.services.worker.answers import PageRequest
from study_app.services.worker.worker_progress import load_progress
from study_app.store.database import transaction
from study_app.study.platforms import frame_hosts
from study_app.web.blueprints.ends import new_visit_code
from study_app.web.blueprints.step_views import (
    NextStep,
    StepForm,
    arrival_source,
    home,
    render_served,
    render_step,
    served_page,
    step_form,
    step_page,
    to_step,
)
from study_app.web.serving import note_worker, relax_headers, server
from study_app.web.show.tasks import stream_page

blueprint = Blueprint("streams", __name__, url_prefix="/w/<token>")
ANSWERS = {"yes": True, "no": False}


@step_form(blueprint, "/<int:task>/<int:query>/enrol", shows="Show the page about following an event.")
def post_enrol(form: StepForm) -> None:
    """Begin to follow an event."""
    service.enrol(form.session, server().plans, form.progress, form.step, now=form.now)


step_page(blueprint, "/<int:task>/streams", "streams", "Show the streams that the worker follows.")


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
        served = served_page(progress, step, now=now)
        below, entry = request.args.get("below", type=int), arrival_source(now=now)
        view = service.open_view(session, follow, key=served.key, entry=entry, below=below, now=now)
        page_request = PageRequest(
            session=session, plans=app.plans, here=progress, step=step, now=now, home=home(token)
        )
        page = stream_page(page_request, follow, view)
    return render_served("stream", page, token, served, part_of(progress.state, step))


@step_form(blueprint, "/<int:task>/<int:query>/stream")
def post_stream(form: StepForm) -> NextStep:
    """Leave a stream, or with ``below`` show older updates of the visit.

    The updates read are stored either way.
    """
    below, now = request.form.get("below", type=int), form.now
    follow = service.followed(form.session, server().plans, form.progress, form.step)
    keys = request.form.getlist("read")
    view = service.send_read(form.session, follow, page=form.page.key, keys=keys, now=now)
    if below is not None:
        return NextStep(form.step, f"below={below}")
    asks = view is not None and asking.ask(form.session, form.progress, form.step, follow, view, now=now)
    return NextStep(replace(form.step, kind="useful" if asks else "away"))


@step_form(
    blueprint, "/<int:task>/<int:query>/useful", shows="Ask which updates of the visit were still of use."
)
def post_useful(form: StepForm) -> NextStep:
    """Store the answers about use; none is required."""
    follow = form.progress.follow(form.step)
    shown = asking.questions_on_page(form.session, follow, served_at=form.page.served_at)
    for number, question in enumerate(shown, start=1):
        answer = ANSWERS.get(request.form.get(f"useful-{number}", ""))
        if answer is not None and "skip" not in request.form:
            asking.answer(form.session, question, useful=answer, page=form.page.key, now=form.now)
    return NextStep(replace(form.step, kind="away"))


@blueprint.get("/<int:task>/<int:query>/away")
def away(token: str, task: int, query: int) -> Response:
    """Show the page after a visit, with the visit's code where each visit has one."""
    return render_step(token, Step("away", task, query), before_render=new_visit_code)
