"""Views of consent, searches, votes, pairs, ratings, questions and introductions."""

from flask import Blueprint, request
from werkzeug.wrappers import Response

from study_app.protocol.steps import STOPPED, Step, current_step
from study_app.services.researcher.studies import is_paused
from study_app.services.worker import answers
from study_app.services.worker.answers import Answer, attempt, reply, sent_ratings, sheet_of
from study_app.services.worker.answers import rate as store_ratings
from study_app.services.worker.ends import stop
from study_app.services.worker.entry import give_consent
from study_app.services.worker.slots import listed_topics, take_next, take_slot
from study_app.services.worker.worker_progress import load_progress
from study_app.store.database import transaction
from study_app.study.entries import JudgingTask, QuestionTask, TaskWithSearch, expect_entry_type
from study_app.study.pair_answers import read_pair_form
from study_app.study.question_answers import checked_answers, screens_out
from study_app.web.blueprints.step_views import (
    NextStep,
    StepForm,
    arrival,
    render_step,
    step_form,
    step_page,
    to_step,
)
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


@step_form(blueprint, "/consent", shows="Show the consent text and ask for consent.")
def post_consent(form: StepForm) -> str | None:
    """Store the consent."""
    plan = form.progress.plan
    if request.form.get("agree") != "yes":
        return "consent.must_agree"
    if request.form.get("text", plan.consent_sha256) != plan.consent_sha256:
        return "consent.changed"
    if not form.progress.state.consented and is_paused(form.session, plan.id):
        return "consent.paused"
    give_consent(form.session, form.progress, now=form.now)
    return None


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


@step_form(blueprint, "/<int:task>/choose")
def post_choose(form: StepForm) -> str | None:
    """Assign the chosen query to the worker."""
    listed = listed_topics(form.progress, form.task)
    number = request.form.get("topic", type=int)
    if number is None or not 1 <= number <= len(listed):
        return "choose.pick_one"
    if not form.progress.state.tasks[form.step.task - 1].wants_slot:
        return None
    taken = take_slot(form.session, form.progress, form.task, listed[number - 1].id, now=form.now)
    return None if taken else "choose.just_taken"


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


@step_form(blueprint, "/<int:task>/<int:query>/search")
def post_search(form: StepForm) -> str | None:
    """Leave the search if it lasted long enough."""
    least = expect_entry_type(form.task.entry, TaskWithSearch).search_seconds
    left = answers.leave_search(form.session, form.slot, least_seconds=least, now=form.now)
    return None if left else "search.too_early"


@step_form(blueprint, "/<int:task>/<int:query>/vote", shows="Show a query's intents.")
def post_vote(form: StepForm) -> str | None:
    """Store the intents that were ticked."""
    intents = form.task.topic(form.slot.topic_id).intents
    ticked = set(request.form.getlist("intent", type=int))
    if not ticked <= set(range(1, len(intents) + 1)) or bool(ticked) == ("none" in request.form):
        return "vote.tick_or_none"
    names = [name for position, (name, _) in enumerate(intents, start=1) if position in ticked]
    answers.vote(form.session, form.slot, names, form.page, now=form.now)
    return None


@step_form(blueprint, "/<int:task>/<int:query>/pair/<int:pair>", shows="Show the two sides of a pair.")
def post_pair(form: StepForm) -> str | None:
    """Store the preference for a pair."""
    entry = expect_entry_type(form.task.entry, JudgingTask)  # type: ignore[type-abstract]
    sent, layout = read_pair_form(entry, request.form.to_dict(flat=False)), request.form.get("layout", "")
    if sent.answer is None:
        return sent.fault
    answer = Answer(
        pair=sent.answer,
        decision_ms=request.form.get("decision_ms", type=int),
        layout=layout if layout in LAYOUTS else None,
    )
    answers.judge(form.session, form.progress, form.step, answer, form.page, now=form.now)
    return None


step_page(blueprint, "/full", "full", "Show that there is nothing left to do.")


@step_form(blueprint, "/<int:task>/intro", shows="Show the page before a task.")
def post_intro(form: StepForm) -> str | NextStep | None:
    """Store a try at the check; the second failure ends the worker's part."""
    now, task = form.now, form.task
    picked = sent_options(task.check, request.form.to_dict(flat=False))
    if not all(picked):
        return None if form.progress.state.tasks[form.step.task - 1].introduction else "intro.answer_all"
    stand = attempt(form.session, form.progress.worker, task, picked, form.page, now=now)
    if stand.passed:
        return None
    if stand.tries_left:
        return "intro.wrong"
    stop(form.session, form.progress, "failed_checks", now=now)
    return NextStep(STOPPED)


@step_form(blueprint, "/<int:task>/<int:query>/rate/<int:sheet>", shows="Show iUnits to rate.")
def post_rate(form: StepForm) -> str | None:
    """Store the ratings of a sheet."""
    sheet = sheet_of(form.session, form.progress, form.step)
    ratings = sent_ratings(sheet, request.form.to_dict(flat=False))
    whole = store_ratings(form.session, form.progress, form.step, ratings, form.page, now=form.now)
    return None if whole else "rate.rate_all"


@step_form(blueprint, "/<int:task>/<int:query>/questions", shows="Show the questions of a task.")
def post_questions(form: StepForm) -> str | NextStep | None:
    """Store the answers; one that screens out ends the worker's part."""
    entry, now = expect_entry_type(form.task.entry, QuestionTask), form.now
    checked = checked_answers(entry.questions, request.form.to_dict(flat=False))
    if checked.refusals:
        return "questions.mend"
    reply(form.session, form.slot, checked.answers, form.page, now=now)
    if screens_out(entry.questions, checked.answers):
        stop(form.session, form.progress, "screened_out", now=now)
        return NextStep(STOPPED)
    return None
