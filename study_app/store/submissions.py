"""Conditions on workers: who is exported, and who shares a platform's submission.

Under a shared submission more than one worker arrived: one person with several ids, or an address that was
passed on.
"""

from sqlalchemy import ColumnElement, and_, func, select
from sqlalchemy.orm import Session

from study_app.store.models import PlatformEntry, PlatformIdentity, Worker
from study_app.study.platforms import Platform


def takes_part(study_id: int) -> ColumnElement[bool]:
    """Return the condition that a worker's rows are exported.

    The worker consented and did not withdraw.
    """
    return and_(Worker.study_id == study_id, Worker.consented_at.is_not(None), Worker.withdrawn_at.is_(None))


def submission_of(platform: Platform) -> ColumnElement[str] | None:
    """Return the column of an arrival's submission.

    It returns None where the platform has no submissions.
    """
    name = platform.submission_parameter
    return None if name is None else PlatformEntry.parameters[name].as_string()


def sharers(session: Session, study: int, platform: Platform) -> set[int]:
    """Return the workers (rows) of a study who share a submission with another."""
    submission = submission_of(platform)
    if submission is None:
        return set()
    came = (
        select(submission.label("submission"), PlatformIdentity.worker_id.label("worker"))
        .join(PlatformIdentity, PlatformIdentity.id == PlatformEntry.identity_id)
        .where(PlatformIdentity.study_id == study)
        .cte("came")
    )
    several = select(came.c.submission).group_by(came.c.submission)
    several = several.having(func.count(came.c.worker.distinct()) > 1)
    return set(session.scalars(select(came.c.worker).where(came.c.submission.in_(several))))


def other_of_submission(
    session: Session, study: int, platform: Platform, *, worker: str, submission: str | None
) -> str | None:
    """Return the pseudonym of another worker under a submission, or None."""
    said = submission_of(platform)
    if said is None or submission is None:
        return None
    others = (
        select(Worker.pseudonym)
        .join(PlatformIdentity, PlatformIdentity.worker_id == Worker.id)
        .join(PlatformEntry, PlatformEntry.identity_id == PlatformIdentity.id)
        .where(
            PlatformIdentity.study_id == study,
            PlatformIdentity.platform_worker != worker,
            said == submission,
        )
    )
    return session.scalars(others.order_by(Worker.number).limit(1)).one_or_none()
