"""Arriving from a platform, and agreeing to take part."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import bindparam, func, select
from sqlalchemy.orm import Session

from study_app.models import PlatformEntry, PlatformIdentity, Study, Worker
from study_app.plan import Plans, StudyPlan
from study_app.rows import change
from study_app.services.quota import has_open
from study_app.services.whereabouts import Whereabouts
from study_app.task_models import ConsentText
from study_app.tokens import NewToken

PSEUDONYM_LETTERS = 10
WITHDRAWAL_LETTERS = 12

_IDENTITY = select(PlatformIdentity).where(
    PlatformIdentity.study_id == bindparam("study"),
    PlatformIdentity.platform == bindparam("platform"),
    PlatformIdentity.platform_worker == bindparam("worker"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Visitor:
    """Somebody at the door, as the platform announces them.

    Attributes
    ----------
    platform : str
        Name of the platform.
    worker : str
        The worker's id there.
    parameters : mapping of str to str
        Everything else it said of this visit: submission and session ids.
    """

    platform: str
    worker: str
    parameters: Mapping[str, str]


def find_study(session: Session, plans: Plans, name: str) -> StudyPlan | None:
    """Return a loaded study, None when there is none of that name."""
    if not name.isprintable():  # PostgreSQL refuses NUL even in a question
        return None
    row = session.execute(select(Study.id, Study.version).where(Study.name == name)).one_or_none()
    return None if row is None else plans.of(session, row.id, row.version)


def loaded_studies(session: Session, plans: Plans) -> list[StudyPlan]:
    """Return every study, in the order in which they were first loaded."""
    rows = session.execute(select(Study.id, Study.version).order_by(Study.id)).all()
    return [plans.of(session, row.id, row.version) for row in rows]


def is_known(session: Session, plan: StudyPlan, visitor: Visitor) -> bool:
    """Say whether the visitor has been here before."""
    return _identity(session, plan, visitor) is not None


def has_begun(session: Session, plan: StudyPlan, visitor: Visitor) -> bool:
    """Say whether the visitor has agreed to take part before."""
    identity = _identity(session, plan, visitor)
    return identity is not None and session.get_one(Worker, identity.worker_id).consented_at is not None


def is_invitation(session: Session, plan: StudyPlan, visitor: Visitor) -> bool:
    """Say whether somebody known arrives under a submission or session id that they did not come with before."""
    identity = _identity(session, plan, visitor)
    if identity is None:
        return False
    earlier = select(PlatformEntry.parameters).where(PlatformEntry.identity_id == identity.id)
    known = {item for parameters in session.scalars(earlier) for item in parameters.items()}
    return not known >= visitor.parameters.items()


def is_full(session: Session, plan: StudyPlan, *, now: datetime) -> bool:
    """Say whether no task that is a reason to come has room for one more worker."""
    opening = [task for task in plan.tasks if task.opens_study] or plan.tasks
    return not any(has_open(session, task, held=(), now=now) for task in opening)


def arrive(
    session: Session, plan: StudyPlan, visitor: Visitor, *, now: datetime, new_token: NewToken
) -> Worker:
    """Let a visitor in: the same worker whenever they come back."""
    session.execute(select(Study.id).where(Study.id == plan.id).with_for_update())
    identity = _identity(session, plan, visitor)
    if identity is None:
        identity = PlatformIdentity(
            study_id=plan.id,
            worker_id=_new_worker(session, plan, now=now, new_token=new_token).id,
            platform=visitor.platform,
            platform_worker=visitor.worker,
        )
        session.add(identity)
        session.flush()
    session.add(PlatformEntry(identity_id=identity.id, arrived_at=now, parameters=dict(visitor.parameters)))
    return session.get_one(Worker, identity.worker_id)


def give_consent(session: Session, here: Whereabouts, *, now: datetime) -> None:
    """Note that the worker agreed to the consent text as it is now; the first time counts."""
    if here.worker.consented_at is None:
        change(
            session,
            here.worker,
            consented_at=now,
            last_seen_at=now,
            consent_sha256=here.plan.consent_sha256,
        )


def consent_text(session: Session, plan: StudyPlan, sha256: str) -> str:
    """Return the consent text of that hash, as the study file once had it; what stands there now if it is the same."""
    if sha256 == plan.consent_sha256:
        return plan.entry.consent
    kept = select(ConsentText.text).where(ConsentText.study_id == plan.id, ConsentText.sha256 == sha256)
    return session.scalars(kept).one()


def _identity(session: Session, plan: StudyPlan, visitor: Visitor) -> PlatformIdentity | None:
    who = {"study": plan.id, "platform": visitor.platform, "worker": visitor.worker}
    return session.scalars(_IDENTITY, who).one_or_none()


def _new_worker(session: Session, plan: StudyPlan, *, now: datetime, new_token: NewToken) -> Worker:
    last = session.scalar(select(func.max(Worker.number)).where(Worker.study_id == plan.id))
    worker = Worker(
        study_id=plan.id,
        number=(last or 0) + 1,
        pseudonym=new_token(PSEUDONYM_LETTERS),
        withdrawal_code=new_token(WITHDRAWAL_LETTERS),
        arrived_at=now,
        last_seen_at=now,
    )
    session.add(worker)
    session.flush()
    return worker
