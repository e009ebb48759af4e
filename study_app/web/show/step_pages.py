"""Pages of a worker's steps as values, up to the finish, stop and code pages."""

import math
from collections.abc import Callable, Mapping
from functools import partial

from study_app.protocol.sides import Side
from study_app.protocol.steps import FULL, current_step
from study_app.services.researcher.studies import is_paused
from study_app.services.worker.answers import (
    PageRequest,
    ShownPair,
    newest_answer,
    search_seconds,
    shown_pair,
)
from study_app.services.worker.availability import open_topics
from study_app.services.worker.ends import DueCode, has_answer
from study_app.services.worker.slots import listed_topics
from study_app.services.worker.worker_progress import WorkerProgress, gets_more
from study_app.store.models import Ballot
from study_app.store.study_cache import CachedTask, CachedTopic, SlotRow
from study_app.study.entries import JudgingTask, StudyEntry, TaskWithSearch, expect_entry_type
from study_app.study.pair_answers import REASON, answer_fields, question_fields, scale_options
from study_app.study.platforms import platform_of, way_back
from study_app.tasks.task_kind import SideForm
from study_app.web.pages.pages import (
    ChoosePage,
    ConsentPage,
    EndPage,
    FinishPage,
    MessagePage,
    PairPage,
    PairQuestion,
    SearchPage,
    ShownSide,
    StopPage,
    VotePage,
    WorkerPage,
)
from study_app.web.show.tasks import (
    away_page,
    enrol_page,
    intro_page,
    questions_page,
    rate_page,
    streams_page,
    useful_page,
)

TEXTS = {
    "complete": "done.text",
    "screened_out": "stopped.screened_out",
    "failed_checks": "stopped.failed_checks",
    "partial": "stopped.partial",
}
"""Key of the text about an end, by the way in which a worker's part ended."""
NOTHING = {"partial": "stopped.nothing"}
"""Key of the text about an end for workers without answers, where it differs."""


def finish_page(page_request: PageRequest) -> FinishPage:
    """Return the last page before the code."""
    return FinishPage(
        language=page_request.language, withdrawal_code=page_request.here.worker.withdrawal_code
    )


def stop_page(page_request: PageRequest) -> StopPage:
    """Return the question whether to stop here."""
    is_full = current_step(page_request.here.state) == FULL
    text = "stop.full" if is_full else "stop.answers" if has_answer(page_request.here) else "stop.nothing"
    return StopPage(language=page_request.language, text=text, is_full=is_full)


def end_page(progress: WorkerProgress, due: DueCode, *, just: bool) -> EndPage:
    """Return the page with the code.

    ``just`` is true if the worker finished with the form before.

    A worker who ended early reads why before going back. One who withdrew keeps the code of the work that was done.
    """
    finished, withdrawn = due.kind == "complete", progress.state.withdrawn
    leads_on = due.back is not None and not due.back.fields
    heading = "withdrawn.heading" if withdrawn else "done.heading" if finished else "stopped.heading"
    text = TEXTS[due.kind] if has_answer(progress) else NOTHING.get(due.kind, TEXTS[due.kind])
    return EndPage(
        language=progress.plan.language,
        heading=heading,
        text="withdrawn.with_code" if withdrawn else text,
        label="done.code" if finished else "stopped.code",
        code=due.code,
        back=due.back,
        at_once=just and finished and leads_on and progress.plan.entry.return_at_once,
        withdrawal_code=None if withdrawn else progress.worker.withdrawal_code,
    )


def message_page(page_request: PageRequest) -> MessagePage:
    """Return a page with a message only.

    Such a message is that the study is full, or that the worker has withdrawn.

    A worker who has begun and finds the study full is offered to stop, which gives the code for a part of the work; one who
    has not is told to return the place on the platform.
    """
    kind, has_begun = page_request.step.kind, page_request.here.state.consented
    leaves = kind == "full" and not has_begun
    return MessagePage(
        language=page_request.language,
        heading=f"{kind}.heading",
        text=platform_of(page_request.here.plan.entry).full_text if leaves else f"{kind}.text",
        stops=kind == "full" and has_begun,
    )


def kept_out_page(entry: StudyEntry, *, worker: str, parameters: Mapping[str, str]) -> MessagePage:
    """Return the page of somebody whom a study keeps out.

    It has the code of those who are screened out and the way to hand it in, where the study has them; else it says how to give up the
    place at the platform.
    """
    code = entry.codes.screened_out
    back = way_back(entry, "screened_out", code, worker=worker, parameters=parameters)
    leaves = code is None and back is None and entry.platform != "generic"
    return MessagePage(
        language=entry.tasks[0].language,
        heading="kept_out.heading",
        text="kept_out.text",
        leave="kept_out.return_place" if leaves else "",
        code=code,
        back=back,
    )


def page_of(page_request: PageRequest) -> WorkerPage:
    """Return the content of a step's page."""
    return PAGES[page_request.step.kind](page_request)


def consent_page(page_request: PageRequest) -> ConsentPage:
    """Return the consent page."""
    progress = page_request.here
    return ConsentPage(
        language=page_request.language,
        title=progress.plan.entry.title,
        paragraphs=consent_paragraphs(progress.plan.consent),
        text_sha256=progress.plan.consent_sha256,
        withdrawal_code=progress.worker.withdrawal_code,
        given=progress.state.consented,
        error=page_request.error or ("consent.paused" if _must_wait(page_request) else None),
    )


def _must_wait(page_request: PageRequest) -> bool:
    return not page_request.here.state.consented and is_paused(
        page_request.session, page_request.here.plan.id
    )


def consent_paragraphs(text: str) -> tuple[str, ...]:
    """Return the paragraphs of a consent text: an empty line is between two."""
    return tuple(paragraph for paragraph in map(str.strip, text.split("\n\n")) if paragraph)


def choose_page(page_request: PageRequest) -> ChoosePage:
    """Return the list of available queries, under fixed numbers."""
    progress, task = page_request.here, page_request.task
    topic_ids = [slot.topic_id for slot in progress.slots[task.number]]
    may_take = progress.state.tasks[task.number - 1].wants_slot
    free = (
        open_topics(page_request.session, task, besides=topic_ids, now=page_request.now)
        if may_take
        else set()
    )
    numbered = enumerate(listed_topics(progress, task), start=1)
    return ChoosePage(
        language=page_request.language,
        offered=tuple((number, topic.text) for number, topic in numbered if topic.id in free),
        taken=task.topic(topic_ids[-1]).text if topic_ids and not may_take else None,
        searches=task.has_search,
        error=page_request.error,
    )


def search_page(page_request: PageRequest) -> SearchPage:
    """Return the search page with the seconds that are left."""
    entry, slot = page_request.task.entry, page_request.slot
    gone = search_seconds(slot, now=page_request.now)
    whole = expect_entry_type(entry, TaskWithSearch).whole_search_seconds
    return SearchPage(
        language=page_request.language,
        query=page_request.topic.text,
        seconds_left=math.ceil(max(0.0, whole - gone)),
        seconds=math.ceil(whole),
        left=slot.search_left_at is not None
        and (page_request.until is None or slot.search_left_at < page_request.until),
        error=page_request.error,
    )


def vote_page(page_request: PageRequest) -> VotePage:
    """Return the intents to tick, with earlier ticks.

    A refused form comes back as it was filled in.
    """
    topic = page_request.topic
    ticked, none_ticked = (
        _sent_ticks(page_request, topic) if page_request.sent else _stored_ticks(page_request, topic)
    )
    return VotePage(
        language=page_request.language,
        query=topic.text,
        intents=tuple((position, text) for position, (_, text) in enumerate(topic.intents, start=1)),
        ticked=ticked,
        none_ticked=none_ticked,
        error=page_request.error,
    )


def _sent_ticks(page_request: PageRequest, topic: CachedTopic) -> tuple[frozenset[int], bool]:
    """Return the positions of the ticked intents, and whether none applies."""
    sent = page_request.sent.get("intent", ())
    ticked = (position for position in range(1, len(topic.intents) + 1) if str(position) in sent)
    return frozenset(ticked), "none" in page_request.sent


def _stored_ticks(page_request: PageRequest, topic: CachedTopic) -> tuple[frozenset[int], bool]:
    """Return the same of the newest vote that is stored."""
    newest = newest_answer(page_request.session, Ballot, page_request.slot.id, until=page_request.until)
    names = () if newest is None else newest.intents
    ticked = (position for position, (name, _) in enumerate(topic.intents, start=1) if name in names)
    return frozenset(ticked), names == []


def pair_page(page_request: PageRequest) -> PairPage:
    """Return a pair's two sides in the worker's order, with the current answer."""
    progress = page_request.here
    task = progress.task(page_request.step)
    shown = page_request.shown or shown_pair(
        page_request.session, progress, page_request.step, until=page_request.until
    )
    entry = expect_entry_type(task.entry, JudgingTask)  # type: ignore[type-abstract]
    topic = _topic_of(task, progress.slot(page_request.step), shown)
    filled, options = _filled(page_request, entry, shown), scale_options(entry.choices)
    number, total = _place(page_request, task)
    form = task.kind.side
    if form is None:
        raise TypeError(f"no pairs in a task of kind {task.entry.kind}")
    left, right = (
        page_request.plans.side(
            page_request.session,
            progress.plan,
            topic,
            system,
            partial(_shown_side, form),
            reveals_silence=bool(shown.reveals_silence),
        )
        for system in (shown.left_system_id, shown.right_system_id)
    )
    return PairPage(
        language=page_request.language,
        query=topic.text,
        description=topic.detail.get("description"),
        windows=tuple(topic.detail.get("windows", ())),
        asked_at=topic.detail.get("asked_at"),
        number=number,
        total=total,
        form=form.name,
        shows=task.shows_of(topic) if task.kind.is_chosen else task.shows,
        left=left,
        right=right,
        criteria=entry.shown_criteria,
        options=options,
        graded=entry.choices != "four",
        questions=tuple(
            PairQuestion(
                field=field,
                text=text,
                picked=filled.get(field),
                missing=bool(page_request.sent) and filled.get(field) not in dict(options),
            )
            for field, text in zip(
                question_fields(entry),
                (None, *(criterion.text for criterion in entry.asked_criteria)),
                strict=True,
            )
        ),
        reason=entry.reason,
        reason_text=filled.get(REASON, ""),
        error=page_request.error,
    )


def _filled(page_request: PageRequest, entry: JudgingTask, shown: ShownPair) -> Mapping[str, str]:
    """Return the fields of a pair's form as they were sent, else as they are stored."""
    if page_request.sent:
        return {name: values[0] for name, values in page_request.sent.items() if values}
    return {} if shown.answer is None else answer_fields(entry, shown.answer)


def _shown_side(form: SideForm, side: Side, topic: CachedTopic, reveals: bool) -> ShownSide:  # noqa: FBT001 - as `StudyCache.side` calls it
    return ShownSide(
        form=form.name, value=form.value(side, topic.detail, reveals), content=side.digest(topic.name)
    )


def _topic_of(task: CachedTask, slot: SlotRow, shown: ShownPair) -> CachedTopic:
    """Return the topic of a pair; a repeated or gold one may be of another topic than its slot's."""
    if shown.pair_id in task.gold:
        return task.topic(task.gold[shown.pair_id])
    topics = (topic for topic in task.topics if shown.pair_id in topic.units)
    return next(topics, None) or task.topic(slot.topic_id)


def _place(page_request: PageRequest, task: CachedTask) -> tuple[int, int]:
    """Return the number of a pair, and the total.

    They count a chosen query's pairs, otherwise the whole task's.

    Pairs that are still to be taken are counted as if there were room for all of them.
    """
    step, slots = page_request.step, page_request.here.state.tasks[task.number - 1].slots
    if task.kind.is_chosen:
        return step.pair, len(slots[step.query - 1].answered)
    answers = [len(slot.answered) for slot in slots]
    wanted = page_request.here.wanted(task)
    to_come = wanted - len(slots)
    entry = expect_entry_type(task.entry, JudgingTask)  # type: ignore[type-abstract]
    checks = min(entry.validation_pairs, wanted - 1) + min(entry.gold_per_worker, len(task.gold))
    may_come = to_come and gets_more(page_request.session, page_request.here, task, now=page_request.now)
    expected = to_come + checks if may_come else 0
    return sum(answers[: step.query - 1]) + step.pair, sum(answers) + expected


PAGES: dict[str, Callable[[PageRequest], WorkerPage]] = {
    "consent": consent_page,
    "choose": choose_page,
    "search": search_page,
    "vote": vote_page,
    "pair": pair_page,
    "enrol": enrol_page,
    "streams": streams_page,
    "useful": useful_page,
    "away": away_page,
    "intro": intro_page,
    "rate": rate_page,
    "questions": questions_page,
    "finish": finish_page,
    "stop": stop_page,
    "full": message_page,
    "withdrawn": message_page,
}
