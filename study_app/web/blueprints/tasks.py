"""/w/TOKEN/: the page before a task, sheets of iUnits to rate, and the study's questions."""

from flask import Blueprint, request
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from study_app.protocol.steps import STOPPED, Step
from study_app.services.worker.ends import stop
from study_app.services.worker.forms import attempt, reply, sent_ratings, sheet_of
from study_app.services.worker.forms import rate as store_ratings
from study_app.services.worker.whereabouts import Whereabouts
from study_app.store.tokens import PageToken
from study_app.study.entries import AskingTask, of_form
from study_app.study.question_answers import checked_answers, screens_out
from study_app.tasks.kinds import check_of
from study_app.web.blueprints.walk import Onward, show, take
from study_app.web.serving import server
from study_app.web.show.tasks import sent_options

blueprint = Blueprint("tasks", __name__, url_prefix="/w/<token>")


@blueprint.get("/<int:task>/intro")
def intro(token: str, task: int) -> Response:
    """Show what comes in a task."""
    return show(token, Step("intro", task))


@blueprint.post("/<int:task>/intro")
def post_intro(token: str, task: int) -> Response:
    """Store a try at the check; the second that fails ends the worker's part."""
    step = Step("intro", task)

    def act(session: Session, here: Whereabouts, page: PageToken) -> str | Onward | None:
        now, plan = server().now(), here.task(step)
        check = check_of(plan.entry)
        picked = sent_options(check, request.form.to_dict(flat=False))
        if not all(picked):
            return None if here.state.tasks[task - 1].introduction else "intro.answer_all"
        stand = attempt(session, here.worker, plan, picked, page, now=now)
        if stand.passed:
            return None
        if stand.tries_left:
            return "intro.wrong"
        stop(session, here, "failed_checks", now=now)
        return Onward(STOPPED)

    return take(token, step, act)


@blueprint.get("/<int:task>/<int:query>/rate/<int:sheet>")
def rate(token: str, task: int, query: int, sheet: int) -> Response:
    """Show iUnits to rate."""
    return show(token, Step("rate", task, query, sheet))


@blueprint.post("/<int:task>/<int:query>/rate/<int:sheet>")
def post_rate(token: str, task: int, query: int, sheet: int) -> Response:
    """Store the ratings of a sheet."""
    step = Step("rate", task, query, sheet)

    def act(session: Session, here: Whereabouts, page: PageToken) -> str | None:
        ratings = sent_ratings(sheet_of(session, here, step), request.form.to_dict(flat=False))
        whole = store_ratings(session, here, step, ratings, page, now=server().now())
        return None if whole else "rate.rate_all"

    return take(token, step, act)


@blueprint.get("/<int:task>/<int:query>/questions")
def questions(token: str, task: int, query: int) -> Response:
    """Show the questions of a task."""
    return show(token, Step("questions", task, query))


@blueprint.post("/<int:task>/<int:query>/questions")
def post_questions(token: str, task: int, query: int) -> Response:
    """Store the answers; one that screens out ends the worker's part."""
    step = Step("questions", task, query)

    def act(session: Session, here: Whereabouts, page: PageToken) -> str | Onward | None:
        entry, now = of_form(here.task(step).entry, AskingTask), server().now()
        said = checked_answers(entry.questions, request.form.to_dict(flat=False))
        if said.refusals:
            return "questions.mend"
        reply(session, here.slot(step), said.answers, page, now=now)
        if screens_out(entry.questions, said.answers):
            stop(session, here, "screened_out", now=now)
            return Onward(STOPPED)
        return None

    return take(token, step, act)
