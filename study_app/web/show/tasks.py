"""Pages before a task, of ratings, of questions and of streams, as values."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from sqlalchemy import func, select

from study_app.protocol.domain import follow_length
from study_app.protocol.steps import Step
from study_app.protocol.streams import key_of
from study_app.services.worker.answers import (
    CheckProgress,
    PageRequest,
    newest_answer,
    sent_ratings,
    sheet_of,
    standing,
    wrong_answers,
)
from study_app.services.worker.ends import visit_code
from study_app.services.worker.streams import FollowedStream, ServedPage, followed
from study_app.services.worker.useful import questions_on_page
from study_app.store.task_models import Rating, Reply, StreamView
from study_app.study.entries import JudgingTask, Question, QuestionTask, TaskEntry, expect_entry_type
from study_app.study.question_answers import (
    RejectedAnswer,
    ReplyValue,
    checked_answers,
    field_of,
    number_text,
    range_of,
)
from study_app.tasks.kinds import STANDARD, CheckItem, check_of, kind_of
from study_app.web.pages.pages import (
    AwayPage,
    EnrolPage,
    FollowLine,
    ShownUpdate,
    StreamPage,
    StreamsPage,
    UsefulPage,
)
from study_app.web.pages.tasks import AskedQuestion, CheckLine, IntroPage, QuestionsPage, RatedLine, RatePage

EXAMPLE_DAY = datetime(2026, 9, 4, tzinfo=UTC)


def rate_page(page_request: PageRequest) -> RatePage:
    """Return the iUnits to rate, with earlier ratings.

    A refused form comes back as it was filled in.
    """
    progress, step = page_request.here, page_request.step
    task, slot, sheet = (
        progress.task(step),
        progress.slot(step),
        sheet_of(page_request.session, progress, step),
    )
    topic = task.topic(slot.topic_id)
    newest = newest_answer(page_request.session, Rating, sheet.id, until=page_request.until)
    given = (
        sent_ratings(sheet, page_request.sent)
        if page_request.sent
        else {}
        if newest is None
        else newest.ratings
    )
    return RatePage(
        language=page_request.language,
        query=topic.text,
        intent=dict(zip(topic.units, topic.intents, strict=True))[slot.unit][1],
        unit=step.query,
        units=progress.wanted(task),
        number=step.pair,
        total=len(progress.state.tasks[task.number - 1].slots[step.query - 1].answered),
        lines=tuple(
            RatedLine(
                number=number,
                text=topic.detail["iunits"][iunit],
                rating=given.get(iunit),
                missing=bool(page_request.sent) and iunit not in given,
            )
            for number, iunit in enumerate(sheet.iunits, start=1)
        ),
        error=page_request.error,
    )


def questions_page(page_request: PageRequest) -> QuestionsPage:
    """Return the questions, with earlier answers.

    A refused form comes back with the fault of each answer.
    """
    entry = expect_entry_type(page_request.task.entry, QuestionTask)
    newest = newest_answer(page_request.session, Reply, page_request.slot.id, until=page_request.until)
    refusals = checked_answers(entry.questions, page_request.sent).refusals if page_request.sent else {}
    stored = {} if newest is None else newest.answers
    return QuestionsPage(
        language=page_request.language,
        title=entry.title,
        questions=tuple(
            _asked(
                question,
                page_request.sent.get(field_of(question), ())
                if page_request.sent
                else _as_sent(question, stored),
                refusals.get(question.id),
            )
            for question in entry.questions
        ),
        error=page_request.error,
    )


def _as_sent(question: Question, stored: Mapping[str, ReplyValue]) -> Sequence[str]:
    """Return a stored answer as the values of its field."""
    answer = stored.get(question.id)
    if answer is None:
        return ()
    if isinstance(answer, int | float):
        return (number_text(answer),)
    if question.type == "text":
        return (str(answer),)
    chosen = answer if isinstance(answer, list) else [answer]
    return [str(number) for number, option in enumerate(question.options, start=1) if option in chosen]


def _asked(question: Question, sent: Sequence[str], refusal: RejectedAnswer | None) -> AskedQuestion:
    return AskedQuestion(
        field=field_of(question),
        text=question.text,
        type=question.type,
        required=question.required,
        options=tuple(enumerate(question.options, start=1)),
        picked=frozenset(sent) if question.options else frozenset(),
        value=sent[0] if sent and not question.options else "",
        range=range_of(question),
        refusal=refusal,
    )


def intro_page(page_request: PageRequest) -> IntroPage:
    """Return the page before a task.

    After a failed try it names the wrong answers.
    """
    task = page_request.task
    intro_progress = standing(page_request.session, page_request.here.worker, task, until=page_request.until)
    return introduction(
        task.entry, task.shows, page_request.language, intro_progress, page_request.sent, page_request.error
    )


def introduction(
    entry: TaskEntry,
    shows: frozenset[str],
    language: str,
    intro_progress: CheckProgress,
    sent: Mapping[str, Sequence[str]],
    error: str | None,
) -> IntroPage:
    """Return the page before a task at a given stage.

    ``shows`` is that of `CachedTask`; ``sent`` and ``error`` are those of `PageRequest`.
    """
    own = (entry.instructions or "").split("\n\n") if entry.instructions != STANDARD else ()
    return IntroPage(
        language=language,
        kind=entry.kind,
        shows=shows,
        paragraphs=tuple(text for text in map(str.strip, own) if text),
        example=entry.example,
        wide=entry.example and kind_of(entry).page == "pair",
        graded=isinstance(entry, JudgingTask) and entry.choices != "four",
        example_day=EXAMPLE_DAY,
        check=() if intro_progress.passed else _check(check_of(entry, shows), intro_progress, sent),
        tries_left=intro_progress.tries_left,
        passed=intro_progress.passed,
        error=error,
    )


def _check(
    check: Sequence[CheckItem], intro_progress: CheckProgress, sent: Mapping[str, Sequence[str]]
) -> tuple[CheckLine, ...]:
    """Return the questions of a check.

    Right answers stay picked; wrong ones are named and open again.

    A form that is no try, since it leaves a question out, comes back as it was filled in.
    """
    picks = intro_progress.picked if len(intro_progress.picked) == len(check) else (0,) * len(check)
    wrong = wrong_answers(check, picks) if any(picks) else ()
    picked = sent_options(check, sent) if sent else picks
    return tuple(
        CheckLine(
            number=number,
            question=item.question,
            options=item.options,
            is_standard=item.is_standard,
            picked=0 if number in wrong and picked == picks else option,
            wrong=picks[number - 1] if number in wrong else 0,
        )
        for number, (item, option) in enumerate(zip(check, picked, strict=True), start=1)
    )


def sent_options(check: Sequence[CheckItem], sent: Mapping[str, Sequence[str]]) -> tuple[int, ...]:
    """Return the chosen option of each question of a check.

    It is 0 where the form has no valid option.
    """
    values = [next(iter(sent.get(f"check-{number}", ())), "") for number in range(1, len(check) + 1)]
    return tuple(
        int(value) if value in map(str, range(1, len(item.options) + 1)) else 0
        for item, value in zip(check, values, strict=True)
    )


def enrol_page(page_request: PageRequest) -> EnrolPage:
    """Return the explanation of following.

    Its length is that of the event, whichever system reports it.
    """
    progress, step = page_request.here, page_request.step
    entry, slot = progress.task(step).following, progress.slot(step)
    system = next(iter(progress.task(step).systems))
    stream = page_request.plans.stream(page_request.session, progress.plan, slot.topic_id, system)
    length = follow_length(stream.end - stream.start, entry.days, entry.clock_factor)
    return EnrolPage(
        language=page_request.language,
        query=page_request.topic.text,
        seconds=length.total_seconds(),
        factor=entry.clock_factor,
        followed=slot.id in progress.follows
        and _was_before(page_request, progress.follows[slot.id].started_at),
    )


def streams_page(page_request: PageRequest) -> StreamsPage:
    """Return everything the worker follows, with what waits to be read."""
    task = page_request.task
    lines = []
    for number, slot in enumerate(page_request.here.slots[task.number], start=1):
        if slot.id in page_request.here.follows:
            followed_stream = followed(
                page_request.session,
                page_request.plans,
                page_request.here,
                Step("stream", task.number, number),
            )
            over = followed_stream.follow.ends_at <= page_request.now
            lines.append(
                FollowLine(
                    number=number,
                    title=task.topic(slot.topic_id).text,
                    new=0 if over else _waiting(page_request, followed_stream),
                    over=over,
                )
            )
    return StreamsPage(language=page_request.language, follows=tuple(lines), arrival=page_request.arrival)


def _waiting(page_request: PageRequest, followed_stream: FollowedStream) -> int:
    """Return the number of updates since the page was last brought up to date."""
    shown = select(func.max(StreamView.upto)).where(StreamView.follow_id == followed_stream.follow.id)
    return max(0, followed_stream.upto(page_request.now) - (page_request.session.scalar(shown) or 0))


def stream_page(page_request: PageRequest, followed_stream: FollowedStream, served: ServedPage) -> StreamPage:
    """Return a page of a stream as it was just served."""
    view = served.view
    shown = range(view.last, view.first - 1, -1) if view.last else range(0)
    return StreamPage(
        language=page_request.language,
        query=page_request.topic.text,
        at=moment(followed_stream.time(page_request.now)),
        new=view.upto - view.after,
        updates=tuple(
            ShownUpdate(
                key=key_of(position),
                text=followed_stream.stream.update(position).text,
                at=moment(followed_stream.stream.came_at(position)),
                read=position in served.read,
            )
            for position in shown
        ),
        below=view.first if view.first > view.after + 1 else None,
        is_portion=0 < view.last < view.upto,
        since=moment(followed_stream.stream.came_at(view.after)) if view.after else None,
        ends_at=followed_stream.follow.ends_at,
        several=_follows_several(page_request),
    )


def useful_page(page_request: PageRequest) -> UsefulPage:
    """Return the questions about the last visit that has any."""
    followed_stream = followed(page_request.session, page_request.plans, page_request.here, page_request.step)
    asked = questions_on_page(page_request.session, followed_stream.follow, served_at=page_request.until)
    return UsefulPage(
        language=page_request.language,
        query=page_request.topic.text,
        asked=tuple(
            (
                number,
                key_of(question.place),
                followed_stream.stream.update(question.place).text,
                next(
                    (
                        followed_stream.useful
                        for followed_stream in reversed(question.answers)
                        if _was_before(page_request, followed_stream.answered_at)
                    ),
                    None,
                ),
            )
            for number, question in enumerate(asked, start=1)
        ),
    )


def _was_before(page_request: PageRequest, at: datetime) -> bool:
    """Return whether something had happened when the page was displayed."""
    return page_request.until is None or at < page_request.until


def away_page(page_request: PageRequest) -> AwayPage:
    """Return the page between two visits, or after the last."""
    follow = page_request.here.follow(page_request.step)
    due = visit_code(page_request.session, page_request.here)
    return AwayPage(
        language=page_request.language,
        query=page_request.topic.text,
        address=page_request.home,
        ends_at=follow.ends_at,
        over=follow.ends_at <= page_request.now,
        several=_follows_several(page_request),
        code=None if due is None else due.code,
        back=None if due is None else due.back,
    )


def moment(seconds: float) -> datetime:
    """Return a time of a stream, moved into the calendar's range."""
    lowest, highest = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
    return datetime.fromtimestamp(min(max(seconds, lowest.timestamp()), highest.timestamp() - 1), UTC)


def _follows_several(page_request: PageRequest) -> bool:
    slots = page_request.here.slots[page_request.step.task]
    return sum(slot.id in page_request.here.follows for slot in slots) > 1
