"""Views of consent, searches, votes, pairs, ratings, questions and introductions."""

from flask import Blueprint, request
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from study_app.protocol.steps import CONSENT, FULL, STOPPED, Step, current_step
from study_app.services.researcher.studies import is_paused
from study_app.services.worker import answers
from study_app.services.worker.answers import Answer, attempt, reply, sent_ratings, sheet_of
from study_app.services.worker.answers import rate as store_ratings
from study_app.services.worker.ends import stop
from study_app.services.worker.entry import give_consent
from study_app.services.worker.slots import listed_topics, take_next, take_slot
from study_app.services.worker.whereabouts import Whereabouts, locate
from study_app.store.database import transaction
from study_app.store.tokens import PageToken
from study_app.study.entries import AskingTask, SearchedTask, of_form
from study_app.study.question_answers import checked_answers, screens_out
from study_app.web.blueprints.walk import Onward, arrival, show, take, to_step
from study_app.web.serving import note_worker, server
from study_app.web.show.tasks import sent_options

blueprint = Blueprint("work", __name__, url_prefix="/w/<token>")
CHOICES = {"left", "right", "equally_good", "equally_bad"}
LAYOUTS = {"side_by_side", "stacked"}


@blueprint.get("/", strict_slashes=False)
def resume(token: str) -> Response:
    """Redirect to the current step; pass the arrival source on to streams."""
    app = server()
    now = app.now()
    with transaction(app.database, write=False) as session:
        here = locate(session, app.plans, app.signer.worker(token), now=now)
        note_worker(here.worker.pseudonym)
        step = current_step(here.state)
    return to_step(token, step, arrival(now=now) if step.kind in {"stream", "streams"} else "")


@blueprint.get("/consent")
def consent(token: str) -> Response:
    """Show the consent text and ask for consent."""
    return show(token, CONSENT)


@blueprint.post("/consent")
def post_consent(token: str) -> Response:
    """Store the consent."""

    def act(session: Session, here: Whereabouts, page: PageToken) -> str | None:  # noqa: ARG001
        if request.form.get("agree") != "yes":
            return "consent.must_agree"
        current = here.plan.consent_sha256
        if request.form.get("text", current) != current:
            return "consent.changed"
        if not here.state.consented and is_paused(session, here.plan.id):
            return "consent.paused"
        give_consent(session, here, now=server().now())
        return None

    return take(token, CONSENT, act)


@blueprint.get("/<int:task>/choose")
def choose(token: str, task: int) -> Response:
    """Show the queries, or assign one that has become free where there is no choice."""
    step = Step("choose", task)
    app = server()
    worker, now = app.signer.worker(token), app.now()
    with transaction(app.database, write=False) as session:
        here = locate(session, app.plans, worker, now=now)
        is_given = current_step(here.state) == step and not here.task(step).kind.is_chosen
    if not is_given:
        return show(token, step)
    with transaction(app.database, write=True) as session:
        take_next(session, locate(session, app.plans, worker, now=now, lock=True), now=now)
        step = current_step(locate(session, app.plans, worker, now=now).state)
    return to_step(token, step)


@blueprint.post("/<int:task>/choose")
def post_choose(token: str, task: int) -> Response:
    """Assign the chosen query to the worker."""
    step = Step("choose", task)

    def act(session: Session, here: Whereabouts, page: PageToken) -> str | None:  # noqa: ARG001
        listed = listed_topics(here, here.task(step))
        number = request.form.get("topic", type=int)
        if number is None or not 1 <= number <= len(listed):
            return "choose.pick_one"
        if not here.state.tasks[task - 1].wants_slot:
            return None
        taken = take_slot(session, here, here.task(step), listed[number - 1].id, now=server().now())
        return None if taken else "choose.just_taken"

    return take(token, step, act)


@blueprint.get("/<int:task>/<int:query>/search")
def search(token: str, task: int, query: int) -> Response:
    """Show the query to search for, and start its clock the first time."""
    step = Step("search", task, query)
    app = server()
    with transaction(app.database, write=False) as session:
        here = locate(session, app.plans, app.signer.worker(token), now=app.now())
        starts = current_step(here.state) == step and here.slot(step).search_shown_at is None
    if starts:
        with transaction(app.database, write=True) as session:
            here = locate(session, app.plans, app.signer.worker(token), now=app.now(), lock=True)
            answers.show_search(session, here.slot(step), now=app.now())
    return show(token, step)


@blueprint.post("/<int:task>/<int:query>/search")
def post_search(token: str, task: int, query: int) -> Response:
    """Leave the search if it lasted long enough."""
    step = Step("search", task, query)

    def act(session: Session, here: Whereabouts, page: PageToken) -> str | None:  # noqa: ARG001
        least = of_form(here.task(step).entry, SearchedTask).search_seconds
        left = answers.leave_search(session, here.slot(step), least_seconds=least, now=server().now())
        return None if left else "search.too_early"

    return take(token, step, act)


@blueprint.get("/<int:task>/<int:query>/vote")
def vote(token: str, task: int, query: int) -> Response:
    """Show a query's intents."""
    return show(token, Step("vote", task, query))


@blueprint.post("/<int:task>/<int:query>/vote")
def post_vote(token: str, task: int, query: int) -> Response:
    """Store the intents that were ticked."""
    step = Step("vote", task, query)

    def act(session: Session, here: Whereabouts, page: PageToken) -> str | None:
        slot = here.slot(step)
        intents = here.task(step).topic(slot.topic_id).intents
        ticked = set(request.form.getlist("intent", type=int))
        if not ticked <= set(range(1, len(intents) + 1)) or bool(ticked) == ("none" in request.form):
            return "vote.tick_or_none"
        names = [name for place, (name, _) in enumerate(intents, start=1) if place in ticked]
        answers.vote(session, slot, names, page, now=server().now())
        return None

    return take(token, step, act)


@blueprint.get("/<int:task>/<int:query>/pair/<int:pair>")
def pair(token: str, task: int, query: int, pair: int) -> Response:
    """Show the two sides of a pair."""
    return show(token, Step("pair", task, query, pair))


@blueprint.post("/<int:task>/<int:query>/pair/<int:pair>")
def post_pair(token: str, task: int, query: int, pair: int) -> Response:
    """Store the preference for a pair."""
    step = Step("pair", task, query, pair)

    def act(session: Session, here: Whereabouts, page: PageToken) -> str | None:
        answer = _answer()
        if answer is None:
            return "pair.pick_one"
        answers.judge(session, here, step, answer, page, now=server().now())
        return None

    return take(token, step, act)


def _answer() -> Answer | None:
    choice, layout = request.form.get("choice", ""), request.form.get("layout", "")
    if choice not in CHOICES:
        return None
    return Answer(
        choice=choice,
        decision_ms=request.form.get("decision_ms", type=int),
        layout=layout if layout in LAYOUTS else None,
    )


@blueprint.get("/full")
def full(token: str) -> Response:
    """Show that there is nothing left to do."""
    return show(token, FULL)


@blueprint.get("/<int:task>/intro")
def intro(token: str, task: int) -> Response:
    """Show the page before a task."""
    return show(token, Step("intro", task))


@blueprint.post("/<int:task>/intro")
def post_intro(token: str, task: int) -> Response:
    """Store a try at the check; the second failure ends the worker's part."""
    step = Step("intro", task)

    def act(session: Session, here: Whereabouts, page: PageToken) -> str | Onward | None:
        now, plan = server().now(), here.task(step)
        picked = sent_options(plan.check, request.form.to_dict(flat=False))
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
        checked = checked_answers(entry.questions, request.form.to_dict(flat=False))
        if checked.refusals:
            return "questions.mend"
        reply(session, here.slot(step), checked.answers, page, now=now)
        if screens_out(entry.questions, checked.answers):
            stop(session, here, "screened_out", now=now)
            return Onward(STOPPED)
        return None

    return take(token, step, act)
