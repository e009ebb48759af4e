"""Reconciliation of a platform's list of submissions with the stored data.

A missing code is never a ground for rejection: every worker with complete data is to be paid.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Select, func, or_, select
from sqlalchemy.orm import Session

from metrics.errors import pluralise
from study_app.services.researcher.completion import complete_workers, rows_by_owner, unpressed_workers
from study_app.services.worker.ends import visited_between
from study_app.services.worker.entry import is_kept_out
from study_app.store.models import Assignment, LoadedStudy, PlatformEntry, PlatformIdentity, Slot, Worker
from study_app.store.study_cache import CachedStudy, StudyCache
from study_app.store.submissions import sharers
from study_app.store.task_models import CodeShown, Follow, PlatformRecord
from study_app.study.platform_list import Submission
from study_app.study.platforms import Platform, platform_of

SUBMISSION_STATES: dict[str, str] = {
    "pay_without_code": "complete data, but no code or another submission: pay; a missing code is no reason to reject anybody",
    "pay": "complete data and the right code, not paid yet: pay",
    "unknown_state": "the platform's word for its state is not known: look there before you pay or ask",
    "not_handed_in": "complete data, but nothing handed in: pay by a bonus, or ask the platform",
    "not_listed": "complete data, but the list does not have this id, which may be made up: ask the platform, pay no bonus",
    "shared_submission": "complete data under a submission that the list has for another id: pay that one only",
    "same_work": "second submission by one worker for the same work, which is paid under another submission: pay that one only",
    "ended_early": "ended early and handed in the code for that: pay what was agreed",
    "wrong_code": "handed in a code that the study did not give them, and there are no complete data: ask them",
    "no_data": "handed in without complete data: ask them what went wrong",
    "kept_out": "was not let in (keep_out): pay what was agreed if the code of screened_out was handed in",
    "unknown": "nobody in this study has this id: they never came, or their id was deleted",
    "open": "nothing handed in, and nothing to pay: no complete data, or another submission of the same person pays for them",
    "marked_paid": "marked as paid in the console, whatever the list says",
    "paid_by_api": "an approval or a bonus was sent by the API, and the list does not show it yet: do not pay again; its order may still wait for you",
    "paid": "paid, for complete data or for what was agreed",
}
"""Meaning of each state and what to do, those first that need something done."""


_NOT_IN_IT = frozenset({"not_listed", "shared_submission"})
"""Findings of people who stand in no line of the list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReconciledSubmission:
    """A submission, or a worker who is in no line of the platform's list.

    ``worker`` is the id at the platform; ``pseudonym`` is empty where nobody here has it. ``ended``: how the worker's part here ended, empty if not: complete, screened_out, failed_checks, partial, withdrawn; unpressed if they
    answered everything and did not press the last button.
    """

    worker: str
    submission: str
    status: str
    ended: str
    finding: str
    pseudonym: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _KnownWorker:
    """A worker of the study, with the data that submissions are compared with.

    ``is_complete`` is true if every required answer is stored, whether or not the last button was pressed.
    """

    identity: PlatformIdentity
    row: Worker
    entries: Sequence[PlatformEntry]
    follows: Sequence[int]
    is_complete: bool


def reconcile(
    session: Session,
    plans: StudyCache,
    study: LoadedStudy,
    submissions: Collection[Submission],
    *,
    now: datetime,
) -> list[ReconciledSubmission]:
    """Store the platform's list, and return the action due on each submission.

    Workers with complete data and no submission are added. The order is that of `SUBMISSION_STATES`, then of
    the list.
    """
    loaded_study = plans.of(session, study.id, study.version)
    everybody = list(_known_workers(session, plans, _identified(study.id), now=now))
    known = {worker.identity.platform_worker: worker for worker in everybody}
    records = _stored_records(session, study.id)
    rows: list[tuple[Submission, _KnownWorker | None, PlatformRecord | None]] = []
    for submission in submissions:
        worker, record = known.get(submission.worker), None
        if worker is not None:
            key = worker.identity.id, submission.submission
            record = records.setdefault(key, PlatformRecord(identity_id=key[0], submission=key[1]))
            record.status, record.confirmed = submission.status, submission.confirmed
            record.paid, record.read_at = submission.paid, now
            record.finding = "unknown_state"
            if submission.known:
                record.finding = _finding(session, loaded_study, worker, submission)
            if record.marked_paid_at is not None and record.finding != "paid":
                record.finding = "marked_paid"
            session.add(record)
        rows.append((submission, worker, record))
    _pay_once(session, loaded_study, everybody, records)
    reconciled = [
        ReconciledSubmission(
            worker=submission.worker,
            submission=submission.submission,
            status=submission.status,
            ended="" if worker is None else _ended(worker),
            finding=_stranger(session, loaded_study, submission) if record is None else record.finding or "",
            pseudonym="" if worker is None else worker.row.pseudonym,
        )
        for submission, worker, record in rows
    ]
    listed = {submission.worker for submission in submissions}
    taken = {submission.submission for submission in submissions} - {""}
    reconciled += [
        _unlisted(loaded_study, worker, taken)
        for name, worker in known.items()
        if name not in listed and worker.is_complete
    ]
    session.flush()
    order = list(SUBMISSION_STATES)
    return sorted(reconciled, key=lambda row: order.index(row.finding))


def list_detail(reconciled: Sequence[ReconciledSubmission], lines: int) -> str:
    """Say for the audit how long a list was, and how many people of the study stand in it."""
    known = {row.pseudonym for row in reconciled if row.pseudonym and row.finding not in _NOT_IN_IT}
    strangers = sum(not row.pseudonym for row in reconciled)
    words = f"{pluralise(lines, 'line')}, of {pluralise(len(known), 'person', 'people')} of this study"
    return words + (f" and {strangers} with ids unknown here" if strangers else "")


def _stranger(session: Session, study: CachedStudy, submission: Submission) -> str:
    return "kept_out" if is_kept_out(session, study, submission.worker) else "unknown"


def never_listed(
    session: Session, plans: StudyCache, study: CachedStudy, *, now: datetime
) -> list[ReconciledSubmission]:
    """Return the workers with complete data who are in no list, by arrival."""
    records = (
        select(PlatformRecord)
        .join(PlatformIdentity, PlatformIdentity.id == PlatformRecord.identity_id)
        .where(PlatformIdentity.study_id == study.id)
    )
    listed = records.with_only_columns(PlatformRecord.identity_id)
    unlisted = _identified(study.id).where(
        PlatformIdentity.id.not_in(listed), Worker.consented_at.is_not(None), Worker.stopped_at.is_(None)
    )
    taken = set(session.scalars(records.with_only_columns(PlatformRecord.submission).distinct())) - {""}
    return [
        _unlisted(study, worker, taken)
        for worker in _known_workers(session, plans, unlisted, now=now)
        if worker.is_complete
    ]


def _identified(study: int) -> Select[PlatformIdentity, Worker]:
    return (
        select(PlatformIdentity, Worker)
        .join(Worker, Worker.id == PlatformIdentity.worker_id)
        .where(PlatformIdentity.study_id == study)
        .order_by(Worker.number)
    )


def _known_workers(
    session: Session,
    plans: StudyCache,
    wanted: Select[PlatformIdentity, Worker],
    *,
    now: datetime,
) -> Iterator[_KnownWorker]:
    people = session.execute(wanted).all()
    ids, workers = [identity.id for identity, _ in people], [worker.id for _, worker in people]
    entries = rows_by_owner(
        session,
        select(PlatformEntry.identity_id, PlatformEntry).order_by(PlatformEntry.id),
        PlatformEntry.identity_id,
        ids,
    )
    follows = rows_by_owner(session, _FOLLOWS, Assignment.worker_id, workers)
    unpressed = unpressed_workers(session, plans, [worker for _, worker in people], now=now)
    for identity, worker in people:
        yield _KnownWorker(
            identity=identity,
            row=worker,
            entries=entries[identity.id],
            follows=follows[worker.id],
            is_complete=worker.completed_at is not None or worker.id in unpressed,
        )


_FOLLOWS = select(Assignment.worker_id, Follow.id).join(Follow.slot).join(Slot.assignment)


def _stored_records(session: Session, study: int) -> dict[tuple[int, str], PlatformRecord]:
    """Return the stored records of a study, by identity and submission."""
    of_study = PlatformIdentity.id == PlatformRecord.identity_id
    records = (
        select(PlatformRecord).join(PlatformIdentity, of_study).where(PlatformIdentity.study_id == study)
    )
    records = records.order_by(PlatformRecord.id)
    return {(record.identity_id, record.submission): record for record in session.scalars(records)}


PAYS: tuple[str, ...] = (
    "paid",
    "marked_paid",
    "pay",
    "ended_early",
    "pay_without_code",
    "not_handed_in",
)
"""Findings under which a submission pays a person's whole part, in order."""


def _pay_once(
    session: Session,
    study: CachedStudy,
    everybody: Sequence[_KnownWorker],
    records: dict[tuple[int, str], PlatformRecord],
) -> None:
    """Choose one of several submissions to pay for one piece of work.

    Those of earlier lists count too. In a diary each visit is a piece of work of its own. A paid submission
    stays paid.
    """
    of_person: defaultdict[int, list[PlatformRecord]] = defaultdict(list)
    for (identity, _), record in records.items():
        if record.finding in PAYS:
            of_person[identity].append(record)
    for worker in everybody:
        same_work = [
            record
            for record in of_person[worker.identity.id]
            if not _is_of_visit(session, study, worker, record.submission)
        ]
        newest_first = reversed(same_work)
        for record in sorted(newest_first, key=lambda record: PAYS.index(record.finding or ""))[1:]:
            if record.finding not in {"paid", "marked_paid"}:
                record.finding = "open" if record.finding == "not_handed_in" else "same_work"


def _finding(session: Session, study: CachedStudy, worker: _KnownWorker, submission: Submission) -> str:
    due = _due(session, study, worker, submission)
    if due:
        if submission.paid:
            return "paid"
        if not submission.confirmed:
            return "not_handed_in"
        return "pay" if submission.code in due else "pay_without_code"
    if not submission.confirmed:
        return "open"
    ended = worker.row.stopped_as is not None
    if ended and submission.code is not None and submission.code == worker.row.completion_code:
        return "paid" if submission.paid else "ended_early"
    return "no_data" if submission.code is None or ended else "wrong_code"


def _unlisted(study: CachedStudy, worker: _KnownWorker, taken: Collection[str]) -> ReconciledSubmission:
    """Return a worker who is in no list; ``taken`` are the listed submissions."""
    name = platform_of(study.entry).submission_parameter
    came_under = {entry.parameters.get(name or "") for entry in worker.entries}
    return ReconciledSubmission(
        worker=worker.identity.platform_worker,
        submission="",
        status="",
        ended=_ended(worker),
        finding="not_listed" if came_under.isdisjoint(taken) else "shared_submission",
        pseudonym=worker.row.pseudonym,
    )


def _due(session: Session, study: CachedStudy, worker: _KnownWorker, submission: Submission) -> set[str]:
    """Return the codes that stand for complete data of a submission, if complete.

    In a diary it is the code of the paid visit, if any, and at its end the code of the whole.
    """
    whole = worker.row.completion_code or study.entry.completion_code or ""
    due = {whole} if worker.is_complete else set()
    if study.entry.visit_code is not None and _is_of_visit(session, study, worker, submission.submission):
        due.add(study.entry.visit_code)
    return due


def _is_of_visit(session: Session, study: CachedStudy, worker: _KnownWorker, submission: str) -> bool:
    """Return True if a submission stands for a visit that is paid by itself."""
    return study.entry.visit_code is not None and any(
        _was_visited(session, worker, entry) for entry in _entries(worker, submission)
    )


def _entries(worker: _KnownWorker, submission: str) -> list[PlatformEntry]:
    """Return the arrivals of a submission by its id, all if the list has no ids."""
    return [entry for entry in worker.entries if not submission or submission in entry.parameters.values()]


def _was_visited(session: Session, worker: _KnownWorker, entry: PlatformEntry) -> bool:
    """Return True if a visit came before the next arrival of another submission."""
    later = (
        other.arrived_at
        for other in worker.entries
        if other.id > entry.id and other.parameters != entry.parameters
    )
    return visited_between(session, worker.follows, entry.arrived_at, next(later, None))


def _ended(worker: _KnownWorker) -> str:
    if worker.row.withdrawn_at is not None:
        return "withdrawn"
    if worker.row.completed_at is not None:
        return "complete"
    return worker.row.stopped_as or ("unpressed" if worker.is_complete else "")


def identities(session: Session, study: int) -> dict[str, str]:
    """Return the platform id of each pseudonym that has one, by arrival."""
    query = (
        select(Worker.pseudonym, PlatformIdentity.platform_worker)
        .join(PlatformIdentity, PlatformIdentity.worker_id == Worker.id)
        .where(Worker.study_id == study)
        .order_by(Worker.number)
    )
    return {pseudonym: name for pseudonym, name in session.execute(query)}  # noqa: C416 - rows are not tuples to mypy


def pseudonyms(session: Session, study: int) -> set[str]:
    """Return the pseudonyms of all workers."""
    return set(session.scalars(select(Worker.pseudonym).where(Worker.study_id == study)))


def without_identity(session: Session, study: int) -> set[str]:
    """Return the pseudonyms of the workers whose id at the platform was deleted."""
    return pseudonyms(session, study) - identities(session, study).keys()


def consenters(session: Session, study: int) -> tuple[list[str], int]:
    """Return the platform ids of those who agreed to take part, and the number of those whose id was deleted."""
    agreed = (
        select(PlatformIdentity.platform_worker)
        .select_from(Worker)
        .outerjoin(PlatformIdentity, PlatformIdentity.worker_id == Worker.id)
        .where(Worker.study_id == study, Worker.consented_at.is_not(None))
    )
    names = session.scalars(agreed).all()
    known = [name for name in names if name is not None]
    return known, len(names) - len(known)


def in_a_list(session: Session, study: int) -> set[str]:
    """Return the pseudonyms of the workers whose id was in some list."""
    query = (
        select(Worker.pseudonym)
        .join(PlatformIdentity, PlatformIdentity.worker_id == Worker.id)
        .join(PlatformRecord, PlatformRecord.identity_id == PlatformIdentity.id)
        .where(Worker.study_id == study)
    )
    return set(session.scalars(query))


def completed(session: Session, plans: StudyCache, study: CachedStudy, *, now: datetime) -> list[str]:
    """Return the pseudonyms of workers with complete data, by arrival."""
    complete = complete_workers(session, plans, study, now=now)
    query = select(Worker.id, Worker.pseudonym).where(
        Worker.study_id == study.id, Worker.withdrawn_at.is_(None)
    )
    rows = session.execute(query.order_by(Worker.number))
    return [pseudonym for worker, pseudonym in rows if worker in complete]


ENDS = ("screened_out", "failed_checks", "partial")


@dataclass(frozen=True, slots=True, kw_only=True)
class PaymentCounts:
    """Numbers of workers with complete data, codes and payments.

    Attributes
    ----------
    complete : int
        Every required answer is stored, the last button pressed or not.
    shown : int
        The completion code was shown.
    confirmed, paid : int
        Workers whose work the latest platform list has as handed in; as paid, or who were marked so in the console.
    early : dict of str to int
        Workers by the end of a part that was not completed.
    visit_codes : int
        Codes for single visits that were shown.
    shared : int
        Workers who share a submission of the platform with another worker.
    """

    complete: int
    shown: int
    confirmed: int
    paid: int
    early: dict[str, int]
    visit_codes: int
    shared: int


def count_payments(session: Session, study: int, platform: Platform, *, complete: int) -> PaymentCounts:
    """Count the workers of a study by codes and payments."""
    ends = [func.count().filter(Worker.stopped_as == end) for end in ENDS]
    early = session.execute(select(*ends).where(Worker.study_id == study)).one()
    is_whole, is_visit = CodeShown.kind == "complete", CodeShown.kind == "visit"
    shown, visit_codes = session.execute(
        select(func.count().filter(is_whole), func.count().filter(is_visit))
        .select_from(CodeShown)
        .join(Worker, Worker.id == CodeShown.worker_id)
        .where(Worker.study_id == study)
    ).one()
    is_paid = or_(PlatformRecord.paid, PlatformRecord.marked_paid_at.is_not(None))
    worker = PlatformIdentity.worker_id.distinct()
    confirmed, paid = session.execute(
        select(func.count(worker).filter(PlatformRecord.confirmed), func.count(worker).filter(is_paid))
        .select_from(PlatformIdentity)
        .join(PlatformRecord, PlatformRecord.identity_id == PlatformIdentity.id)
        .where(PlatformIdentity.study_id == study)
    ).one()
    return PaymentCounts(
        complete=complete,
        shown=shown,
        confirmed=confirmed,
        paid=paid,
        early=dict(zip(ENDS, early, strict=True)),
        visit_codes=visit_codes,
        shared=len(sharers(session, study, platform)),
    )
