"""Was this still of use: which updates a worker is asked about after a visit, and the answers."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from study_app.protocol.domain import drawn
from study_app.protocol.steps import Step
from study_app.protocol.stream_rules import Asked, drawn_questions, single_new_nuggets, visits_late
from study_app.services.worker.streams import Followed, places_read
from study_app.services.worker.whereabouts import Whereabouts
from study_app.store.models import Assignment, PageLoad, Slot, Worker
from study_app.store.task_models import Follow, StreamView, UsefulAnswer, UsefulQuestion


def ask(
    session: Session, here: Whereabouts, step: Step, one: Followed, view: StreamView, *, now: datetime
) -> bool:
    """Draw and store what is to be asked after a visit; says whether a question of it waits for an answer.

    Parameters
    ----------
    view : StreamView
        Page of the visit whose form was sent.
    """
    stored = questions(session, one.follow)
    of_visit = [question for question in stored if question.visit == view.visit]
    room = one.entry.ask_per_visit - len(of_visit)
    if room > 0:
        asked = {question.nugget for question in stored}
        candidates = [one for one in _candidates(session, one, view) if one.nugget not in asked]
        rng = drawn(
            here.plan.entry.seed,
            here.worker.number,
            f"useful {step.task}.{step.query}.{view.visit}.{len(of_visit)}",
        )
        new = [
            UsefulQuestion(
                follow_id=one.follow.id,
                visit=view.visit,
                place=question.place,
                nugget=question.nugget,
                visits_late=question.visits_late,
                asked_at=now,
            )
            for question in drawn_questions(candidates, _asked_so_far(session, here.plan.id), room, rng)
        ]
        session.add_all(new)
        session.flush()
        of_visit += new
    return any(not question.answers for question in of_visit)


def questions(session: Session, follow: Follow) -> Sequence[UsefulQuestion]:
    """Return every question about a stream, in the order in which they were drawn."""
    mine = select(UsefulQuestion).where(UsefulQuestion.follow_id == follow.id)
    return session.scalars(mine.order_by(UsefulQuestion.id)).all()


def questions_on_page(
    session: Session, follow: Follow, *, served_at: datetime | None = None
) -> list[UsefulQuestion]:
    """Return the questions that the page shows: those of the last visit that has any, in the order of their numbers.

    With ``served_at``, what it showed then.
    """
    known = [
        question
        for question in questions(session, follow)
        if served_at is None or question.asked_at <= served_at
    ]
    return [question for question in known if question.visit == known[-1].visit]


def answer(session: Session, question: UsefulQuestion, *, useful: bool, page: str, now: datetime) -> None:
    """Store an answer; the same again changes nothing, another one is a new revision."""
    newest = question.answers[-1] if question.answers else None
    if newest is None or newest.useful != useful:
        revision = 1 if newest is None else newest.revision + 1
        question.answers.append(
            UsefulAnswer(revision=revision, useful=useful, page_key=page, answered_at=now)
        )
        session.flush()


def _asked_so_far(session: Session, study: int) -> Mapping[int, int]:
    """Return visits late -> how often the study has asked workers who have not withdrawn."""
    counted = (
        select(UsefulQuestion.visits_late, func.count())
        .join(Follow, Follow.id == UsefulQuestion.follow_id)
        .join(Follow.slot)
        .join(Slot.assignment)
        .join(Assignment.worker)
        .where(Worker.study_id == study, Worker.withdrawn_at.is_(None))
        .group_by(UsefulQuestion.visits_late)
    )
    return {late: number for late, number in session.execute(counted)}  # noqa: C416 - rows are not tuples to mypy


def _candidates(session: Session, one: Followed, view: StreamView) -> list[Asked]:
    """Return what could be asked after a visit: the updates read in it that brought exactly one new nugget."""
    wanted = select(StreamView).where(StreamView.follow_id == one.follow.id, StreamView.visit <= view.visit)
    views = session.scalars(wanted.order_by(StreamView.id)).all()
    now = places_read(session, one, [earlier for earlier in views if earlier.visit == view.visit])
    told = {name for place in now for name, _ in one.stream.update(place).nuggets}
    rivals = [
        place
        for place, update in enumerate(one.stream.updates[: view.upto], start=1)
        if any(name in told for name, _ in update.nuggets)
    ]
    before = places_read(
        session,
        one,
        [
            earlier
            for earlier in views
            if earlier.visit < view.visit and any(earlier.first <= place <= earlier.last for place in rivals)
        ],
    )
    nuggets = {place: [name for name, _ in one.stream.update(place).nuggets] for place in (*rivals, *now)}
    times = _visit_times(session, one, views)
    found = []
    for place, nugget in single_new_nuggets(now, before, nuggets):
        known = dict(one.stream.update(place).nuggets)[nugget]
        found.append(Asked(place=place, nugget=nugget, visits_late=visits_late(known, times)))
    return found


def _visit_times(session: Session, one: Followed, views: Sequence[StreamView]) -> list[float]:
    """Return when each visit began, on the stream's clock; a page that never gave a sign of life was no visit."""
    keys = [view.key for view in views]
    logged = set(session.scalars(select(PageLoad.key).where(PageLoad.key.in_(keys))))
    alive = {view.visit for view in views if view.left_at is not None or view.key in logged}
    began: dict[int, float] = {}
    for view in views:
        if view.visit in alive:
            began.setdefault(view.visit, one.time(view.served_at))
    return sorted(began.values())
