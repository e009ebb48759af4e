"""Questions about the use of updates after a visit to a stream, and their answers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import bindparam, exists, func, insert, select
from sqlalchemy.orm import Session

from study_app.protocol.domain import (
    UsefulQuestionDraw,
    drawn_questions,
    single_new_nuggets,
    visits_late,
)
from study_app.protocol.steps import Step
from study_app.services.worker.streams import FollowedStream, places_read
from study_app.services.worker.worker_progress import WorkerProgress
from study_app.store.models import Assignment, PageLoad, Slot, Worker
from study_app.store.study_cache import FollowRow, StreamViewRow, columns, insert_row
from study_app.store.task_models import Follow, StreamView, UsefulAnswer, UsefulQuestion

# Written once: these run whenever a stream is left.
_VIEWS_SO_FAR = (
    select(exists().where(PageLoad.key == StreamView.key), *columns(StreamView, StreamViewRow))
    .where(StreamView.follow_id == bindparam("follow"), StreamView.visit <= bindparam("visit"))
    .order_by(StreamView.id)
)
_QUESTIONS = (
    select(UsefulQuestion.id, UsefulQuestion.visit, UsefulQuestion.place, UsefulQuestion.nugget)
    .add_columns(UsefulQuestion.asked_at, UsefulAnswer.useful, UsefulAnswer.answered_at)
    .outerjoin(UsefulQuestion.answers)
    .where(UsefulQuestion.follow_id == bindparam("follow"))
    .order_by(UsefulQuestion.id, UsefulAnswer.revision)
)
_ASKED_SO_FAR = (
    select(UsefulQuestion.visits_late, func.count())
    .join(Follow, Follow.id == UsefulQuestion.follow_id)
    .join(Follow.slot)
    .join(Slot.assignment)
    .join(Assignment.worker)
    .where(Worker.study_id == bindparam("study"), Worker.withdrawn_at.is_(None))
    .group_by(UsefulQuestion.visits_late)
)
_NEW_QUESTION, _NEW_ANSWER = insert(UsefulQuestion), insert(UsefulAnswer)


class UsefulReply(NamedTuple):
    """Revision of the answer to a question about an update."""

    useful: bool
    answered_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionRow:
    """Question about an update, and the answers to it, oldest first."""

    id: int
    visit: int
    place: int
    nugget: str
    asked_at: datetime
    answers: list[UsefulReply] = field(default_factory=list)


def ask(
    session: Session,
    progress: WorkerProgress,
    step: Step,
    followed_stream: FollowedStream,
    view: StreamViewRow,
    *,
    now: datetime,
) -> bool:
    """Draw and store the questions after a visit.

    It returns whether a question of the visit waits for an answer.

    Parameters
    ----------
    view : StreamViewRow
        Page of the visit whose form was sent.
    """
    stored = questions(session, followed_stream.follow)
    of_visit = [question for question in stored if question.visit == view.visit]
    room = followed_stream.entry.ask_per_visit - len(of_visit)
    if room > 0:
        asked = {question.nugget for question in stored}
        candidates = [
            followed_stream
            for followed_stream in _candidates(session, followed_stream, view)
            if followed_stream.nugget not in asked
        ]
        rng = progress.rng(f"useful {step.task}.{step.query}.{view.visit}.{len(of_visit)}")
        so_far = _asked_so_far(session, progress.plan.id) if candidates else {}
        drawn_now = drawn_questions(candidates, so_far, room, rng)
        if drawn_now:
            row = {"follow_id": followed_stream.follow.id, "visit": view.visit, "asked_at": now}
            session.connection().execute(_NEW_QUESTION, [row | asdict(question) for question in drawn_now])
            return True
    return any(not question.answers for question in of_visit)


def questions(session: Session, follow: FollowRow) -> Sequence[QuestionRow]:
    """Return every question about a stream, in the order of drawing."""
    asked: dict[int, QuestionRow] = {}
    rows = session.connection().execute(_QUESTIONS, {"follow": follow.id})
    for row, visit, update_index, nugget, asked_at, useful, answered_at in rows:
        if row not in asked:
            asked[row] = QuestionRow(
                id=row, visit=visit, place=update_index, nugget=nugget, asked_at=asked_at
            )
        if answered_at is not None:
            asked[row].answers.append(UsefulReply(useful, answered_at))
    return list(asked.values())


def questions_on_page(
    session: Session, follow: FollowRow, *, served_at: datetime | None = None
) -> list[QuestionRow]:
    """Return the questions of the page, by number.

    They belong to the last visit that has any, as of ``served_at`` if given.
    """
    known = [
        question
        for question in questions(session, follow)
        if served_at is None or question.asked_at <= served_at
    ]
    return [question for question in known if question.visit == known[-1].visit]


def answer(session: Session, question: QuestionRow, *, useful: bool, page: str, now: datetime) -> None:
    """Store an answer about use.

    The same answer again changes nothing; another one is a new revision.
    """
    newest = question.answers[-1] if question.answers else None
    if newest is None or newest.useful != useful:
        row = {"question_id": question.id, "revision": len(question.answers) + 1, "useful": useful}
        insert_row(session, _NEW_ANSWER, row | {"page_key": page, "answered_at": now})


def _asked_so_far(session: Session, study: int) -> Mapping[int, int]:
    """Count the study's questions by visits late, without workers who withdrew."""
    counted = session.connection().execute(_ASKED_SO_FAR, {"study": study})
    return {late: number for late, number in counted}  # noqa: C416 - rows are not tuples to mypy


def _candidates(
    session: Session, followed_stream: FollowedStream, view: StreamViewRow
) -> list[UsefulQuestionDraw]:
    """Return the possible questions after a visit.

    Each is about an update read in it with exactly one new nugget.
    """
    so_far = {"follow": followed_stream.follow.id, "visit": view.visit}
    rows = session.connection().execute(_VIEWS_SO_FAR, so_far).all()
    views = [StreamViewRow(*row[1:]) for row in rows]
    now = places_read(session, [earlier for earlier in views if earlier.visit == view.visit])
    nuggets_now = {name for update_index in now for name, _ in followed_stream.stream.brought(update_index)}
    rivals = [
        update_index
        for update_index in range(1, view.upto + 1)
        if any(name in nuggets_now for name, _ in followed_stream.stream.brought(update_index))
    ]
    before = places_read(
        session,
        [
            earlier
            for earlier in views
            if earlier.visit < view.visit
            and any(earlier.first <= update_index <= earlier.last for update_index in rivals)
        ],
    )
    nuggets = {
        update_index: [name for name, _ in followed_stream.stream.brought(update_index)]
        for update_index in (*rivals, *now)
    }
    times = _visit_times(
        followed_stream, [view for view, row in zip(views, rows, strict=True) if row[0]], views
    )
    candidates = []
    for update_index, nugget in single_new_nuggets(now, before, nuggets):
        known = dict(followed_stream.stream.brought(update_index))[nugget]
        candidates.append(
            UsefulQuestionDraw(place=update_index, nugget=nugget, visits_late=visits_late(known, times))
        )
    return candidates


def _visit_times(
    followed_stream: FollowedStream, logged: Iterable[StreamViewRow], views: Sequence[StreamViewRow]
) -> list[float]:
    """Return the start of each visit, in stream time.

    A page without any activity is no visit.
    """
    alive = {view.visit for view in (*logged, *(view for view in views if view.left_at is not None))}
    began: dict[int, float] = {}
    for view in views:
        if view.visit in alive:
            began.setdefault(view.visit, followed_stream.time(view.served_at))
    return sorted(began.values())
