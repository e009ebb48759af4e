"""Arrival of workers from a platform, and their consent."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import bindparam, func, insert, select, update
from sqlalchemy.orm import Session

from study_app.services.worker.availability import has_open
from study_app.services.worker.worker_progress import WorkerProgress
from study_app.store.models import LoadedStudy, PlatformEntry, PlatformIdentity, Worker
from study_app.store.pseudonym_keys import pseudonym_key
from study_app.store.study_cache import CachedStudy, StudyCache, insert_row, update_rows
from study_app.store.task_models import ConsentText
from study_app.store.tokens import NewToken, time_shift
from study_app.study.id_list import LOOKED_UP, is_listed_out
from study_app.study.shared_pseudonyms import shared_pseudonym

PSEUDONYM_LETTERS = 10
WITHDRAWAL_LETTERS = 12

_STUDY = select(LoadedStudy.id, LoadedStudy.version).where(LoadedStudy.name == bindparam("name"))
_LOCKED_STUDY = (
    select(LoadedStudy.id).where(LoadedStudy.id == bindparam("study")).with_for_update(key_share=True)
)
_KNOWN = (
    select(PlatformIdentity.id, Worker.id, Worker.pseudonym, Worker.consented_at)
    .join(Worker, Worker.id == PlatformIdentity.worker_id)
    .where(
        PlatformIdentity.study_id == bindparam("study"),
        PlatformIdentity.platform == bindparam("platform"),
        PlatformIdentity.platform_worker == bindparam("worker"),
    )
)
_AGREED_AT = select(Worker.consented_at).where(
    Worker.study_id == bindparam("study"), Worker.pseudonym == bindparam("pseudonym")
)
_NAMELESS = (
    select(Worker.id, Worker.consented_at)
    .outerjoin(PlatformIdentity, PlatformIdentity.worker_id == Worker.id)
    .where(
        Worker.study_id == bindparam("study"),
        Worker.pseudonym == bindparam("pseudonym"),
        PlatformIdentity.id.is_(None),
    )
)
_ARRIVALS = select(PlatformEntry.parameters).where(PlatformEntry.identity_id == bindparam("identity"))
_LAST_NUMBER = select(func.max(Worker.number)).where(Worker.study_id == bindparam("study"))
_IS_BACK = (
    update(Worker)
    .where(Worker.id == bindparam("came"), Worker.returned_at.is_not(None))
    .values({"returned_at": None})
)
_NEW_WORKER, _NEW_IDENTITY, _NEW_ARRIVAL = insert(Worker), insert(PlatformIdentity), insert(PlatformEntry)


@dataclass(frozen=True, slots=True, kw_only=True)
class Visitor:
    """Visitor at the study's door, as the platform announces them.

    Attributes
    ----------
    platform : str
        Name of the platform.
    worker : str
        The worker's id there.
    parameters : mapping of str to str
        Other parameters of this visit: submission and session ids.
    """

    platform: str
    worker: str
    parameters: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class KnownWorker:
    """Visitor who has been here before.

    It has the row of the identity, None where the platform id was deleted and the key of shared pseudonyms tells who it is, the row of
    the worker, and the time of consent.
    """

    identity_id: int | None
    worker_id: int
    pseudonym: str
    consented_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """Arrival of a visitor who was let in.

    Attributes
    ----------
    worker_id : int
        The worker's row.
    pseudonym : str
    is_new : bool
        They were never here before.
    is_invited : bool
        They were here before, but not under this submission or session id.
    """

    worker_id: int
    pseudonym: str
    is_new: bool
    is_invited: bool


def find_study(session: Session, plans: StudyCache, name: str) -> CachedStudy | None:
    """Return the loaded study of a name, None for an unknown name."""
    if not name.isprintable():  # PostgreSQL refuses NUL even in a question
        return None
    row = session.connection().execute(_STUDY, {"name": name}).one_or_none()
    return None if row is None else plans.of(session, row.id, row.version)


def loaded_studies(session: Session, plans: StudyCache) -> list[CachedStudy]:
    """Return every study in the order of first loading."""
    rows = session.execute(select(LoadedStudy.id, LoadedStudy.version).order_by(LoadedStudy.id)).all()
    return [plans.of(session, row.id, row.version) for row in rows]


def known_worker(session: Session, loaded_study: CachedStudy, visitor: Visitor) -> KnownWorker | None:
    """Return the worker that a visitor is, None for a new visitor."""
    who = {"study": loaded_study.id, "platform": visitor.platform, "worker": visitor.worker}
    row = session.connection().execute(_KNOWN, who).one_or_none()
    if row is not None:
        return KnownWorker(*row)
    key = _key(session, loaded_study)
    if key is None:
        return None
    pseudonym = shared_pseudonym(key, visitor.platform, visitor.worker)
    sought = {"study": loaded_study.id, "pseudonym": pseudonym}
    nameless = session.connection().execute(_NAMELESS, sought).one_or_none()
    return None if nameless is None else KnownWorker(None, nameless.id, pseudonym, nameless.consented_at)


def is_kept_out(session: Session, loaded_study: CachedStudy, name: str) -> bool:
    """Return whether a study keeps out an id of its platform: by a list, or since they took part in an earlier study."""
    entry = loaded_study.entry
    return is_listed_out(entry, name) or any(
        _took_part(session, study, entry.platform, name)
        for study, digests in entry.kept_out.items()
        if LOOKED_UP in digests
    )


def _took_part(session: Session, study: str, platform: str, name: str) -> bool:
    """Return whether the worker with an id at a platform agreed to take part in a study, by name.

    Where the id was deleted, pseudonyms that come from a key still tell.
    """
    row = session.connection().execute(_STUDY, {"name": study}).one_or_none()
    if row is None:
        return False
    who = {"study": row.id, "platform": platform, "worker": name}
    known = session.connection().execute(_KNOWN, who).one_or_none()
    if known is not None:
        return known.consented_at is not None
    key = pseudonym_key(session, row.id)
    if key is None:
        return False
    sought = {"study": row.id, "pseudonym": shared_pseudonym(key, platform, name)}
    return session.connection().scalar(_AGREED_AT, sought) is not None


def is_full(session: Session, loaded_study: CachedStudy, *, now: datetime) -> bool:
    """Return whether no task that opens the study has room for one more worker."""
    opening = [task for task in loaded_study.tasks if task.opens_study] or loaded_study.tasks
    return not any(has_open(session, task, held=(), now=now) for task in opening)


def arrive(
    session: Session, loaded_study: CachedStudy, visitor: Visitor, *, now: datetime, new_token: NewToken
) -> Arrival:
    """Admit a visitor, as the same worker whenever they come back."""
    session.connection().execute(_LOCKED_STUDY, {"study": loaded_study.id})
    earlier = known_worker(session, loaded_study, visitor)
    worker = earlier or _new_worker(session, loaded_study, visitor, now=now, new_token=new_token)
    identity = worker.identity_id or _insert_identity(session, loaded_study, visitor, worker.worker_id)
    is_invited = earlier is not None and _is_invited(session, identity, visitor)
    if is_invited:
        session.connection().execute(_IS_BACK, {"came": worker.worker_id})
    insert_row(
        session,
        _NEW_ARRIVAL,
        {"identity_id": identity, "arrived_at": now, "parameters": dict(visitor.parameters)},
    )
    return Arrival(
        worker_id=worker.worker_id,
        pseudonym=worker.pseudonym,
        is_new=earlier is None,
        is_invited=is_invited,
    )


def give_consent(session: Session, progress: WorkerProgress, *, now: datetime) -> None:
    """Store a worker's consent to the current text; the first consent counts."""
    if progress.worker.consented_at is None:
        update_rows(
            session,
            progress.worker,
            consented_at=now,
            last_seen_at=now,
            consent_sha256=progress.plan.consent_sha256,
        )


def consent_text(session: Session, loaded_study: CachedStudy, sha256: str) -> str:
    """Return the consent text of a hash, the current text if it is the same."""
    if sha256 == loaded_study.consent_sha256:
        return loaded_study.consent
    kept = select(ConsentText.text).where(
        ConsentText.study_id == loaded_study.id, ConsentText.sha256 == sha256
    )
    return session.scalars(kept).one()


def _is_invited(session: Session, identity: int, visitor: Visitor) -> bool:
    """Return whether a known worker arrives under a new submission or session id."""
    earlier = session.connection().scalars(_ARRIVALS, {"identity": identity})
    known = {item for parameters in earlier for item in parameters.items()}
    return not known >= visitor.parameters.items()


def lacks_key(session: Session, loaded_study: CachedStudy) -> bool:
    """Return whether the key of a study's shared pseudonyms was deleted, so that nobody new can get one."""
    return loaded_study.shares_pseudonyms and _key(session, loaded_study) is None


def _key(session: Session, loaded_study: CachedStudy) -> str | None:
    return pseudonym_key(session, loaded_study.id) if loaded_study.shares_pseudonyms else None


def _new_worker(
    session: Session, loaded_study: CachedStudy, visitor: Visitor, *, now: datetime, new_token: NewToken
) -> KnownWorker:
    last = session.connection().scalar(_LAST_NUMBER, {"study": loaded_study.id})
    key = _key(session, loaded_study)
    if key is None and loaded_study.shares_pseudonyms:
        raise RuntimeError(f"the key of the pseudonyms of {loaded_study.name} is not in the database")
    pseudonym = (
        new_token(PSEUDONYM_LETTERS)
        if key is None
        else shared_pseudonym(key, visitor.platform, visitor.worker)
    )
    withdrawal_code = new_token(WITHDRAWAL_LETTERS)
    worker = insert_row(
        session,
        _NEW_WORKER,
        {
            "study_id": loaded_study.id,
            "number": (last or 0) + 1,
            "pseudonym": pseudonym,
            "withdrawal_code": withdrawal_code,
            "times_moved_ms": time_shift(withdrawal_code),
            "arrived_at": now,
            "last_seen_at": now,
        },
    )
    return KnownWorker(None, worker, pseudonym, None)


def _insert_identity(session: Session, loaded_study: CachedStudy, visitor: Visitor, worker: int) -> int:
    return insert_row(
        session,
        _NEW_IDENTITY,
        {
            "study_id": loaded_study.id,
            "worker_id": worker,
            "platform": visitor.platform,
            "platform_worker": visitor.worker,
        },
    )
