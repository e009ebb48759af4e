"""Views of results before the end of a study, which every later export reports."""

from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from study_app.store.console_models import ResultsView
from study_app.store.models import Assignment, Judgment, Pair, Showing, Slot, Task, Worker


def add_results_view(session: Session, study_id: int, *, now: datetime) -> ResultsView:
    """Store that results are viewed now, with the number of judgments."""
    view = ResultsView(study_id=study_id, at=now, judgments=count_judgments(session, study_id))
    session.add(view)
    session.flush()
    return view


def results_views(session: Session, study_id: int) -> list[ResultsView]:
    """Return the views of results, the earliest first."""
    views = select(ResultsView).where(ResultsView.study_id == study_id)
    return list(session.scalars(views.order_by(ResultsView.at, ResultsView.id)))


def count_judgments(session: Session, study_id: int) -> int:
    """Count the judged pairs, without repeats, gold pairs and workers who have withdrawn."""
    judged = (
        select(func.count())
        .select_from(Judgment)
        .join(Judgment.showing)
        .join(Showing.pair)
        .join(Showing.slot)
        .join(Slot.assignment)
        .join(Assignment.worker)
        .join(Task, Task.id == Assignment.task_id)
        .where(
            Task.study_id == study_id,
            Judgment.revision == 1,
            Showing.repeats_id.is_(None),
            Pair.gold.is_(None),
            Worker.withdrawn_at.is_(None),
        )
    )
    return session.scalar(judged) or 0
