"""What the pages of ratings, of questions and before a task show a worker."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from study_app.services.worker.answers import Look
from study_app.services.worker.forms import (
    Standing,
    newest_rating,
    newest_reply,
    sent_ratings,
    sheet_of,
    standing,
    wrong_answers,
)
from study_app.study.entries import AskingTask, Question, TaskEntry, of_form
from study_app.study.question_answers import (
    Answer,
    Refusal,
    checked_answers,
    field_of,
    number_text,
    range_of,
)
from study_app.tasks.kinds import STANDARD, CheckItem, check_of, kind_of
from study_app.web.pages.tasks import AskedQuestion, CheckLine, IntroPage, QuestionsPage, RatedLine, RatePage

EXAMPLE_DAY = datetime(2026, 9, 4, tzinfo=UTC)


def rate_page(look: Look) -> RatePage:
    """Return iUnits to rate, with the ratings so far; a refused form comes back as it was filled in."""
    here, step = look.here, look.step
    task, slot, sheet = here.task(step), here.slot(step), sheet_of(look.session, here, step)
    topic = task.topic(slot.topic_id)
    newest = newest_rating(look.session, sheet)
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
    newest = newest_reply(look.session, look.here.slot(look.step))
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


def _as_sent(question: Question, stored: Mapping[str, Answer]) -> Sequence[str]:
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


def _asked(question: Question, said: Sequence[str], refusal: Refusal | None) -> AskedQuestion:
    return AskedQuestion(
        field=field_of(question),
        text=question.text,
        type=question.type,
        required=question.required,
        options=tuple(enumerate(question.options, start=1)),
        picked=frozenset(said) if question.options else frozenset(),
        value=said[0] if said and not question.options else "",
        range=range_of(question),
        refusal=refusal,
    )


def intro_page(look: Look) -> IntroPage:
    """Return the page before a task; after a failed try it says which answers were wrong."""
    task = look.here.task(look.step)
    stand = standing(look.session, look.here.worker, task)
    return introduction(task.entry, look.language, stand, look.sent, look.error)


def introduction(
    entry: TaskEntry, language: str, stand: Standing, sent: Mapping[str, Sequence[str]], error: str | None
) -> IntroPage:
    """Return the page before a task for a worker who is so far; ``sent`` and ``error`` as `Look` has them."""
    own = (entry.instructions or "").split("\n\n") if entry.instructions != STANDARD else ()
    return IntroPage(
        language=language,
        kind=entry.kind,
        paragraphs=tuple(text for text in map(str.strip, own) if text),
        example=entry.example,
        wide=entry.example and kind_of(entry).page == "pair",
        example_day=EXAMPLE_DAY,
        check=() if stand.passed else _check(check_of(entry), stand, sent),
        tries_left=stand.tries_left,
        passed=stand.passed,
        error=error,
    )


def _check(
    check: Sequence[CheckItem], stand: Standing, sent: Mapping[str, Sequence[str]]
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
    said = [next(iter(sent.get(f"check-{number}", ())), "") for number in range(1, len(check) + 1)]
    return tuple(
        int(value) if value in map(str, range(1, len(item.options) + 1)) else 0
        for item, value in zip(check, said, strict=True)
    )
