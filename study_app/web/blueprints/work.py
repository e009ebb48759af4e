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
from study_app.services.worker.worker_progress import WorkerProgress, load_progress
from study_app.store.database import transaction
from study_app.store.tokens import PageToken
from study_app.study.entries import JudgingTask, QuestionTask, TaskWithSearch, expect_entry_type
from study_app.study.pair_answers import read_pair_form
from study_app.study.question_answers import checked_answers, screens_out
from study_app.web.blueprints.step_views import NextStep, arrival, render_step, submit_step, to_step
from study_app.web.serving import note_worker, server
from study_app.web.show.tasks import sent_options

blueprint = Blueprint("work", __name__, url_prefix="/w/<token>")
LAYOUTS = {"side_by_side", "stacked"}


@blueprint.get("/", strict_slashes=False)
def resume(token: str) -> Response:
    """Redirect to the current step; pass the arrival source on to streams."""
    app = server()
    now = app.now()
    with transaction(app.database, write=False) as session:
        progress = load_progress(session, app.plans, app.signer.worker(token), now=now)
        note_worker(progress.worker.pseudonym)
        step = current_step(progress.state)
    return to_step(token, step, arrival(now=now) if step.kind in {"stream", "streams"} else "")


@blueprint.get("/consent")
def consent(token: str) -> Response:
    """Show the consent text and ask for consent."""
    return render_step(token, CONSENT)


@blueprint.post("/consent")
def post_consent(token: str) -> Response:
    """Store the consent."""

    def store(session: Session, progress: WorkerProgress, page: PageToken) -> str | None:  # noqa: ARG001
        if request.form.get("agree") != "yes":
            return "consent.must_agree"
        current = progress.plan.consent_sha256
        if request.form.get("text", current) != current:
            return "consent.changed"
        if not progress.state.consented and is_paused(session, progress.plan.id):
            return "consent.paused"
        give_consent(session, progress, now=server().now())
        return None

    return submit_step(token, CONSENT, store)


@blueprint.get("/<int:task>/choose")
def choose(token: str, task: int) -> Response:
    """Show the queries, or assign one that has become free where there is no choice."""
    step = Step("choose", task)
    app = server()
    worker, now = app.signer.worker(token), app.now()
    with transaction(app.database, write=False) as session:
        progress = load_progress(session, app.plans, worker, now=now)
        is_given = current_step(progress.state) == step and not progress.task(step).kind.is_chosen
    if not is_given:
        return render_step(token, step)
    with transaction(app.database, write=True) as session:
        take_next(session, load_progress(session, app.plans, worker, now=now, lock=True), now=now)
        step = current_step(load_progress(session, app.plans, worker, now=now).state)
    return to_step(token, step)


@blueprint.post("/<int:task>/choose")
def post_choose(token: str, task: int) -> Response:
    """Assign the chosen query to the worker."""
    step = Step("choose", task)

    def store(session: Session, progress: WorkerProgress, page: PageToken) -> str | None:  # noqa: ARG001
        listed = listed_topics(progress, progress.task(step))
        number = request.form.get("topic", type=int)
        if number is None or not 1 <= number <= len(listed):
            return "choose.pick_one"
        if not progress.state.tasks[task - 1].wants_slot:
            return None
        taken = take_slot(session, progress, progress.task(step), listed[number - 1].id, now=server().now())
        return None if taken else "choose.just_taken"

    return submit_step(token, step, store)


@blueprint.get("/<int:task>/<int:query>/search")
def search(token: str, task: int, query: int) -> Response:
    """Show the query to search for, and start its clock the first time."""
    step = Step("search", task, query)
    app = server()
    with transaction(app.database, write=False) as session:
        progress = load_progress(session, app.plans, app.signer.worker(token), now=app.now())
        starts = current_step(progress.state) == step and progress.slot(step).search_shown_at is None
    if starts:
        with transaction(app.database, write=True) as session:
            progress = load_progress(session, app.plans, app.signer.worker(token), now=app.now(), lock=True)
            answers.show_search(session, progress.slot(step), now=app.now())
    return render_step(token, step)


@blueprint.post("/<int:task>/<int:query>/search")
def post_search(token: str, task: int, query: int) -> Response:
    """Leave the search if it lasted long enough."""
    step = Step("search", task, query)

    def store(session: Session, progress: WorkerProgress, page: PageToken) -> str | None:  # noqa: ARG001
        least = expect_entry_type(progress.task(step).entry, TaskWithSearch).search_seconds
        left = answers.leave_search(session, progress.slot(step), least_seconds=least, now=server().now())
        return None if left else "search.too_early"

    return submit_step(token, step, store)


@blueprint.get("/<int:task>/<int:query>/vote")
def vote(token: str, task: int, query: int) -> Response:
    """Show a query's intents."""
    return render_step(token, Step("vote", task, query))


@blueprint.post("/<int:task>/<int:query>/vote")
def post_vote(token: str, task: int, query: int) -> Response:
    """Store the intents that were ticked."""
    step = Step("vote", task, query)

    def store(session: Session, progress: WorkerProgress, page: PageToken) -> str | None:
        slot = progress.slot(step)
        intents = progress.task(step).topic(slot.topic_id).intents
        ticked = set(request.form.getlist("intent", type=int))
        if not ticked <= set(range(1, len(intents) + 1)) or bool(ticked) == ("none" in request.form):
            return "vote.tick_or_none"
        names = [name for position, (name, _) in enumerate(intents, start=1) if position in ticked]
        answers.vote(session, slot, names, page, now=server().now())
        return None

    return submit_step(token, step, store)


@blueprint.get("/<int:task>/<int:query>/pair/<int:pair>")
def pair(token: str, task: int, query: int, pair: int) -> Response:
    """Show the two sides of a pair."""
    return render_step(token, Step("pair", task, query, pair))


@blueprint.post("/<int:task>/<int:query>/pair/<int:pair>")
def post_pair(token: str, task: int, query: int, pair: int) -> Response:
    """Store the preference for a pair."""
    step = Step("pair", task, query, pair)

    def store(session: Session, progress: WorkerProgress, page: PageToken) -> str | None:
        entry = expect_entry_type(progress.task(step).entry, JudgingTask)  # type: ignore[type-abstract]
        form, layout = read_pair_form(entry, request.form.to_dict(flat=False)), request.form.get("layout", "")
        if form.answer is None:
            return form.fault
        answer = Answer(
            pair=form.answer,
            decision_ms=request.form.get("decision_ms", type=int),
            layout=layout if layout in LAYOUTS else None,
        )
        answers.judge(session, progress, step, answer, page, now=server().now())
        return None

    return submit_step(token, step, store)


@blueprint.get("/full")
def full(token: str) -> Response:
    """Show that there is nothing left to do."""
    return render_step(token, FULL)


@blueprint.get("/<int:task>/intro")
def intro(token: str, task: int) -> Response:
    """Show the page before a task."""
    return render_step(token, Step("intro", task))


@blueprint.post("/<int:task>/intro")
def post_intro(token: str, task: int) -> Response:
    """Store a try at the check; the second failure ends the worker's part."""
    step = Step("intro", task)

    def store(session: Session, progress: WorkerProgress, page: PageToken) -> str | NextStep | None:
        now, plan = server().now(), progress.task(step)
        picked = sent_options(plan.check, request.form.to_dict(flat=False))
        if not all(picked):
            return None if progress.state.tasks[task - 1].introduction else "intro.answer_all"
        stand = attempt(session, progress.worker, plan, picked, page, now=now)
        if stand.passed:
            return None
        if stand.tries_left:
            return "intro.wrong"
        stop(session, progress, "failed_checks", now=now)
        return NextStep(STOPPED)

    return submit_step(token, step, store)


@blueprint.get("/<int:task>/<int:query>/rate/<int:sheet>")
def rate(token: str, task: int, query: int, sheet: int) -> Response:
    """Show iUnits to rate."""
    return render_step(token, Step("rate", task, query, sheet))


@blueprint.post("/<int:task>/<int:query>/rate/<int:sheet>")
def post_rate(token: str, task: int, query: int, sheet: int) -> Response:
    """Store the ratings of a sheet."""
    step = Step("rate", task, query, sheet)

    def store(session: Session, progress: WorkerProgress, page: PageToken) -> str | None:
        ratings = sent_ratings(sheet_of(session, progress, step), request.form.to_dict(flat=False))
        whole = store_ratings(session, progress, step, ratings, page, now=server().now())
        return None if whole else "rate.rate_all"

    return submit_step(token, step, store)


@blueprint.get("/<int:task>/<int:query>/questions")
def questions(token: str, task: int, query: int) -> Response:
    """Show the questions of a task."""
    return render_step(token, Step("questions", task, query))


@blueprint.post("/<int:task>/<int:query>/questions")
def post_questions(token: str, task: int, query: int) -> Response:
    """Store the answers; one that screens out ends the worker's part."""
    step = Step("questions", task, query)

    def store(session: Session, progress: WorkerProgress, page: PageToken) -> str | NextStep | None:
        entry, now = expect_entry_type(progress.task(step).entry, QuestionTask), server().now()
        checked = checked_answers(entry.questions, request.form.to_dict(flat=False))
        if checked.refusals:
            return "questions.mend"
        reply(session, progress.slot(step), checked.answers, page, now=now)
        if screens_out(entry.questions, checked.answers):
            stop(session, progress, "screened_out", now=now)
            return NextStep(STOPPED)
        return None

    return submit_step(token, step, store)
