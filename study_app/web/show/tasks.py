"""What the pages before a task, of ratings, of questions and of streams show a worker."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from sqlalchemy import func, select

from study_app.protocol.domain import follow_length
from study_app.protocol.steps import Step
from study_app.protocol.streams import key_of
from study_app.services.worker.answers import (
    CheckStanding,
    Look,
    newest_rating,
    newest_reply,
    sent_ratings,
    sheet_of,
    standing,
    wrong_answers,
)
from study_app.services.worker.ends import visit_code
from study_app.services.worker.streams import Followed, Served, followed
from study_app.services.worker.useful import questions_on_page
from study_app.store.task_models import StreamView
from study_app.study.entries import AskingTask, Question, TaskEntry, of_form
from study_app.study.question_answers import (
    Refusal,
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


def rate_page(look: Look) -> RatePage:
    """Return iUnits to rate, with the ratings so far; a refused form comes back as it was filled in."""
    here, step = look.here, look.step
    task, slot, sheet = here.task(step), here.slot(step), sheet_of(look.session, here, step)
    topic = task.topic(slot.topic_id)
    newest = newest_rating(look.session, sheet, until=look.until)
    given = sent_ratings(sheet, look.sent) if look.sent else {} if newest is None else newest.ratings
    return RatePage(
        language=look.language,
        query=topic.text,
        intent=dict(zip(topic.units, topic.intents, strict=True))[slot.unit][1],
        unit=step.query,
        units=task.wanted,
        number=step.pair,
        total=len(here.state.tasks[task.number - 1].slots[step.query - 1].answered),
        lines=tuple(
            RatedLine(
                number=number,
                text=topic.detail["iunits"][iunit],
                rating=given.get(iunit),
                missing=bool(look.sent) and iunit not in given,
            )
            for number, iunit in enumerate(sheet.iunits, start=1)
        ),
        error=look.error,
    )


def questions_page(look: Look) -> QuestionsPage:
    """Return the questions with the answers so far; a refused form comes back with what is wrong with each."""
    entry = of_form(look.here.task(look.step).entry, AskingTask)
    newest = newest_reply(look.session, look.here.slot(look.step), until=look.until)
    refusals = checked_answers(entry.questions, look.sent).refusals if look.sent else {}
    stored = {} if newest is None else newest.answers
    return QuestionsPage(
        language=look.language,
        title=entry.title,
        questions=tuple(
            _asked(
                question,
                look.sent.get(field_of(question), ()) if look.sent else _as_sent(question, stored),
                refusals.get(question.id),
            )
            for question in entry.questions
        ),
        error=look.error,
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


def _asked(question: Question, sent: Sequence[str], refusal: Refusal | None) -> AskedQuestion:
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


def intro_page(look: Look) -> IntroPage:
    """Return the page before a task; after a failed try it says which answers were wrong."""
    task = look.here.task(look.step)
    stand = standing(look.session, look.here.worker, task, until=look.until)
    return introduction(task.entry, task.shows, look.language, stand, look.sent, look.error)


def introduction(
    entry: TaskEntry,
    shows: frozenset[str],
    language: str,
    stand: CheckStanding,
    sent: Mapping[str, Sequence[str]],
    error: str | None,
) -> IntroPage:
    """Return the page before a task for a worker who is so far; ``shows`` as of `TaskPlan`, ``sent`` and ``error`` as of `Look`."""
    own = (entry.instructions or "").split("\n\n") if entry.instructions != STANDARD else ()
    return IntroPage(
        language=language,
        kind=entry.kind,
        shows=shows,
        paragraphs=tuple(text for text in map(str.strip, own) if text),
        example=entry.example,
        wide=entry.example and kind_of(entry).page == "pair",
        example_day=EXAMPLE_DAY,
        check=() if stand.passed else _check(check_of(entry, shows), stand, sent),
        tries_left=stand.tries_left,
        passed=stand.passed,
        error=error,
    )


def _check(
    check: Sequence[CheckItem], stand: CheckStanding, sent: Mapping[str, Sequence[str]]
) -> tuple[CheckLine, ...]:
    """Return the questions: what was right stays picked, what was wrong is named and open again.

    A form that is no try, since it leaves a question out, comes back as it was filled in.
    """
    tried = stand.picked if len(stand.picked) == len(check) else (0,) * len(check)
    wrong = wrong_answers(check, tried) if any(tried) else ()
    picked = sent_options(check, sent) if sent else tried
    return tuple(
        CheckLine(
            number=number,
            question=item.question,
            options=item.options,
            is_standard=item.is_standard,
            picked=0 if number in wrong and picked == tried else option,
            wrong=tried[number - 1] if number in wrong else 0,
        )
        for number, (item, option) in enumerate(zip(check, picked, strict=True), start=1)
    )


def sent_options(check: Sequence[CheckItem], sent: Mapping[str, Sequence[str]]) -> tuple[int, ...]:
    """Return the option that a form says for each question of a check, 0 where it says none that there is."""
    values = [next(iter(sent.get(f"check-{number}", ())), "") for number in range(1, len(check) + 1)]
    return tuple(
        int(value) if value in map(str, range(1, len(item.options) + 1)) else 0
        for item, value in zip(check, values, strict=True)
    )


def enrol_page(look: Look) -> EnrolPage:
    """Return what following means; its length is the event's, whichever system will tell of it."""
    here, step = look.here, look.step
    entry, slot = here.task(step).following, here.slot(step)
    system = next(iter(here.task(step).systems))
    stream = look.plans.stream(look.session, here.plan, slot.topic_id, system)
    length = follow_length(stream.end - stream.start, entry.days, entry.clock_factor)
    return EnrolPage(
        language=look.language,
        query=look.query,
        seconds=length.total_seconds(),
        factor=entry.clock_factor,
        followed=slot.id in here.follows and _was_before(look, here.follows[slot.id].started_at),
    )


def streams_page(look: Look) -> StreamsPage:
    """Return everything the worker follows, with what waits to be read."""
    task = look.here.task(look.step)
    lines = []
    for number, slot in enumerate(look.here.slots[task.number], start=1):
        if slot.id in look.here.follows:
            one = followed(look.session, look.plans, look.here, Step("stream", task.number, number))
            over = one.follow.ends_at <= look.now
            lines.append(
                FollowLine(
                    number=number,
                    title=task.topic(slot.topic_id).text,
                    new=0 if over else _waiting(look, one),
                    over=over,
                )
            )
    return StreamsPage(language=look.language, follows=tuple(lines), arrival=look.arrival)


def _waiting(look: Look, one: Followed) -> int:
    """Return how many updates came since the page last showed what there is."""
    shown = select(func.max(StreamView.upto)).where(StreamView.follow_id == one.follow.id)
    return max(0, one.upto(look.now) - (look.session.scalar(shown) or 0))


def stream_page(look: Look, one: Followed, served: Served) -> StreamPage:
    """Return a page of a stream as it was just served."""
    view = served.view
    shown = range(view.last, view.first - 1, -1) if view.last else range(0)
    return StreamPage(
        language=look.language,
        query=look.query,
        at=moment(one.time(look.now)),
        new=view.upto - view.after,
        updates=tuple(
            ShownUpdate(
                key=key_of(place),
                text=one.stream.update(place).text,
                at=moment(one.stream.came_at(place)),
                read=place in served.read,
            )
            for place in shown
        ),
        below=view.first if view.first > view.after + 1 else None,
        is_portion=0 < view.last < view.upto,
        since=moment(one.stream.came_at(view.after)) if view.after else None,
        ends_at=one.follow.ends_at,
        several=_follows_several(look),
    )


def useful_page(look: Look) -> UsefulPage:
    """Return the questions about the last visit that has any."""
    one = followed(look.session, look.plans, look.here, look.step)
    asked = questions_on_page(look.session, one.follow, served_at=look.until)
    return UsefulPage(
        language=look.language,
        query=look.query,
        asked=tuple(
            (
                number,
                key_of(question.place),
                one.stream.update(question.place).text,
                next(
                    (one.useful for one in reversed(question.answers) if _was_before(look, one.answered_at)),
                    None,
                ),
            )
            for number, question in enumerate(asked, start=1)
        ),
    )


def _was_before(look: Look, at: datetime) -> bool:
    """Say whether what happened then had happened when the page was looked at."""
    return look.until is None or at < look.until


def away_page(look: Look) -> AwayPage:
    """Return the page between two visits, or after the last."""
    follow = look.here.follow(look.step)
    due = visit_code(look.session, look.here)
    return AwayPage(
        language=look.language,
        query=look.query,
        address=look.home,
        ends_at=follow.ends_at,
        over=follow.ends_at <= look.now,
        several=_follows_several(look),
        code=None if due is None else due.code,
        back=None if due is None else due.back,
    )


def moment(seconds: float) -> datetime:
    """Return a time of a stream; one that no calendar has becomes the nearest that it has."""
    lowest, highest = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
    return datetime.fromtimestamp(min(max(seconds, lowest.timestamp()), highest.timestamp() - 1), UTC)


def _follows_several(look: Look) -> bool:
    slots = look.here.slots[look.step.task]
    return sum(slot.id in look.here.follows for slot in slots) > 1
