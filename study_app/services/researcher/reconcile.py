"""What a platform's list and the stored data say together: who is to be paid, and who handed in what.

A missing code is never a ground for rejecting anybody: whoever has complete data is to be paid.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias, cast

from sqlalchemy import Select, func, or_, select
from sqlalchemy.orm import Session

from study_app.services.researcher.completion import complete_workers, rows_by_owner, unpressed_workers
from study_app.services.worker.ends import visited_between
from study_app.store.models import Assignment, LoadedStudy, PlatformEntry, PlatformIdentity, Slot, Worker
from study_app.store.plan import Plans, StudyPlan
from study_app.store.submissions import sharers
from study_app.store.task_models import CodeShown, Follow, PlatformRecord
from study_app.study.platform_list import Submission
from study_app.study.platforms import Platform, platform_of

SubmissionState: TypeAlias = Literal[
    "pay_without_code",
    "pay",
    "unknown_state",
    "not_handed_in",
    "not_listed",
    "shared_submission",
    "same_work",
    "ended_early",
    "no_data",
    "wrong_code",
    "unknown",
    "open",
    "marked_paid",
    "paid",
]
SUBMISSION_STATES: dict[SubmissionState, str] = {
    "pay_without_code": "complete data, but no code or another one: pay; a missing code is no reason to reject anybody",
    "pay": "complete data and the right code, not paid yet: pay",
    "unknown_state": "the platform's word for its state is not known: look there before you pay or ask",
    "not_handed_in": "complete data, but nothing handed in: pay by a bonus, or ask the platform",
    "not_listed": "complete data, but the list does not have this id, which may be made up: ask the platform, pay no bonus",
    "shared_submission": "complete data under a submission that the list has for another id: pay that one only",
    "same_work": "handed in once more by one person for one piece of work, which pays under another submission: pay that one only",
    "ended_early": "ended early and handed in the code for that: pay what was agreed",
    "wrong_code": "handed in a code that the study did not give them, and there are no complete data: ask them",
    "no_data": "handed in without complete data: ask them what went wrong",
    "unknown": "nobody in this study has this id: they never came, or their id was deleted",
    "open": "nothing handed in, and nothing to pay: no complete data, or another submission of the same person pays for them",
    "marked_paid": "marked as paid in the console, whatever the list says",
    "paid": "paid, for complete data or for what was agreed",
}
"""Meaning of each state and what to do, those first that need something done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReconciledSubmission:
    """A submission, or a worker who is in no line of the platform's list.

    ``ended``: how the worker's part here ended, empty if not: complete, screened_out, failed_checks, partial, withdrawn; unpressed if they
    answered everything and did not press the last button.
    """

    worker: str
    submission: str
    status: str
    ended: str
    finding: SubmissionState


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """A worker of the study, with all that their submissions are compared with.

    ``is_complete``: every required answer is stored, the last button pressed or not.
    """

    identity: PlatformIdentity
    worker: Worker
    entries: Sequence[PlatformEntry]
    follows: Sequence[int]
    is_complete: bool


def reconcile(
    session: Session, plans: Plans, study: LoadedStudy, submissions: Collection[Submission], *, now: datetime
) -> list[ReconciledSubmission]:
    """Store what the platform says of each submission of a known worker, and say of each what is to be done.

    Workers whose data are complete and who stand in no line come too. Order: as `SUBMISSION_STATES`, then as in the list.
    """
    plan = plans.of(session, study.id, study.version)
    everybody = list(_known(session, plans, _identified(plan.id), now=now))
    known = {one.identity.platform_worker: one for one in everybody}
    records = _stored(session, plan.id)
    rows: list[tuple[Submission, str, PlatformRecord | None]] = []
    for one in submissions:
        person = known.get(one.worker)
        if person is None:
            rows.append((one, "", None))
            continue
        key = person.identity.id, one.submission
        record = records.setdefault(key, PlatformRecord(identity_id=key[0], submission=key[1]))
        record.status, record.confirmed, record.paid, record.read_at = (
            one.status,
            one.confirmed,
            one.paid,
            now,
        )
        finding = _finding(session, plan, person, one) if one.known else "unknown_state"
        if record.marked_paid_at is not None and finding != "paid":
            finding = "marked_paid"
        record.finding = finding
        session.add(record)
        rows.append((one, _ended(person), record))
    _pay_once(session, plan, everybody, records)
    reconciled = [
        _row(one, ended, "unknown" if record is None else cast("SubmissionState", record.finding))
        for one, ended, record in rows
    ]
    listed = {one.worker for one in submissions}
    taken = {one.submission for one in submissions if one.submission}
    reconciled += [
        _unlisted(plan, person, taken)
        for name, person in known.items()
        if name not in listed and person.is_complete
    ]
    session.flush()
    order = list(SUBMISSION_STATES)
    return sorted(reconciled, key=lambda one: order.index(one.finding))


def never_listed(
    session: Session, plans: Plans, plan: StudyPlan, *, now: datetime
) -> list[ReconciledSubmission]:
    """Return the workers with complete data whom no list of the platform had that was read, in order of arrival."""
    records = (
        select(PlatformRecord)
        .join(PlatformIdentity, PlatformIdentity.id == PlatformRecord.identity_id)
        .where(PlatformIdentity.study_id == plan.id)
    )
    listed = records.with_only_columns(PlatformRecord.identity_id)
    unlisted = _identified(plan.id).where(
        PlatformIdentity.id.not_in(listed), Worker.consented_at.is_not(None), Worker.stopped_at.is_(None)
    )
    taken = set(session.scalars(records.with_only_columns(PlatformRecord.submission).distinct())) - {""}
    return [
        _unlisted(plan, person, taken)
        for person in _known(session, plans, unlisted, now=now)
        if person.is_complete
    ]


def _identified(study: int) -> Select[PlatformIdentity, Worker]:
    return (
        select(PlatformIdentity, Worker)
        .join(Worker, Worker.id == PlatformIdentity.worker_id)
        .where(PlatformIdentity.study_id == study)
        .order_by(Worker.number)
    )


def _known(
    session: Session,
    plans: Plans,
    wanted: Select[PlatformIdentity, Worker],
    *,
    now: datetime,
) -> Iterator[_Known]:
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
        yield _Known(
            identity=identity,
            worker=worker,
            entries=entries[identity.id],
            follows=follows[worker.id],
            is_complete=worker.completed_at is not None or worker.id in unpressed,
        )


_FOLLOWS = select(Assignment.worker_id, Follow.id).join(Follow.slot).join(Slot.assignment)


def _stored(session: Session, study: int) -> dict[tuple[int, str], PlatformRecord]:
    """Return what lists of the platform said before: (identity, submission) -> record."""
    of_study = PlatformIdentity.id == PlatformRecord.identity_id
    records = (
        select(PlatformRecord).join(PlatformIdentity, of_study).where(PlatformIdentity.study_id == study)
    )
    records = records.order_by(PlatformRecord.id)
    return {(record.identity_id, record.submission): record for record in session.scalars(records)}


_PAYS: tuple[SubmissionState, ...] = (
    "paid",
    "marked_paid",
    "pay",
    "ended_early",
    "pay_without_code",
    "not_handed_in",
)
"""Findings under which a submission pays for a person's whole part, the one that pays before others first."""


def _pay_once(
    session: Session,
    plan: StudyPlan,
    everybody: Sequence[_Known],
    records: dict[tuple[int, str], PlatformRecord],
) -> None:
    """Let one of several submissions pay for one piece of work, such as one that was returned and one that was handed in later.

    Those of lists that were read before count too. In a diary each visit is a piece of work of its own. What was paid stays so.
    """
    of_person: defaultdict[int, list[PlatformRecord]] = defaultdict(list)
    for (identity, _), record in records.items():
        if record.finding in _PAYS:
            of_person[identity].append(record)
    for person in everybody:
        same_work = [
            record
            for record in of_person[person.identity.id]
            if not _is_of_visit(session, plan, person, record.submission)
        ]
        newest_first = reversed(same_work)
        for record in sorted(
            newest_first, key=lambda record: _PAYS.index(cast("SubmissionState", record.finding))
        )[1:]:
            if record.finding not in {"paid", "marked_paid"}:
                record.finding = "open" if record.finding == "not_handed_in" else "same_work"


def _finding(session: Session, plan: StudyPlan, person: _Known, one: Submission) -> SubmissionState:
    due = _due(session, plan, person, one)
    if due:
        if one.paid:
            return "paid"
        if not one.confirmed:
            return "not_handed_in"
        return "pay" if one.code in due else "pay_without_code"
    if not one.confirmed:
        return "open"
    ended = person.worker.stopped_as is not None
    if ended and one.code is not None and one.code == person.worker.completion_code:
        return "paid" if one.paid else "ended_early"
    return "no_data" if one.code is None or ended else "wrong_code"


def _unlisted(plan: StudyPlan, person: _Known, taken: Collection[str]) -> ReconciledSubmission:
    """Say what it means that a platform's list does not have a worker; ``taken`` are the submissions that it has."""
    name = platform_of(plan.entry).submission_parameter
    came_under = {entry.parameters.get(name or "") for entry in person.entries}
    return ReconciledSubmission(
        worker=person.identity.platform_worker,
        submission="",
        status="",
        ended=_ended(person),
        finding="not_listed" if came_under.isdisjoint(taken) else "shared_submission",
    )


def _due(session: Session, plan: StudyPlan, person: _Known, one: Submission) -> set[str]:
    """Return the codes that stand for complete data of a submission: empty while the data are not complete.

    Of a diary that is the code of the visit that was paid for, when there was one; and at its end the code of the whole.
    """
    whole = person.worker.completion_code or plan.entry.completion_code or ""
    due = {whole} if person.is_complete else set()
    if plan.entry.visit_code is not None and _is_of_visit(session, plan, person, one.submission):
        due.add(plan.entry.visit_code)
    return due


def _is_of_visit(session: Session, plan: StudyPlan, person: _Known, submission: str) -> bool:
    """Say whether a submission of a diary with codes for visits stands for a visit, which is paid by itself."""
    return plan.entry.visit_code is not None and any(
        _was_visited(session, person, entry) for entry in _entries(person, submission)
    )


def _entries(person: _Known, submission: str) -> list[PlatformEntry]:
    """Return the arrivals of a submission, by its id in what the platform said; all where the list has no ids."""
    return [entry for entry in person.entries if not submission or submission in entry.parameters.values()]


def _was_visited(session: Session, person: _Known, entry: PlatformEntry) -> bool:
    """Say whether there was a visit between an arrival and the next one of another submission."""
    later = (
        other.arrived_at
        for other in person.entries
        if other.id > entry.id and other.parameters != entry.parameters
    )
    return visited_between(session, person.follows, entry.arrived_at, next(later, None))


def _ended(person: _Known) -> str:
    worker = person.worker
    if worker.withdrawn_at is not None:
        return "withdrawn"
    if worker.completed_at is not None:
        return "complete"
    return worker.stopped_as or ("unpressed" if person.is_complete else "")


def _row(listed: Submission, ended: str, finding: SubmissionState) -> ReconciledSubmission:
    return ReconciledSubmission(
        worker=listed.worker,
        submission=listed.submission,
        status=listed.status,
        ended=ended,
        finding=finding,
    )


def identities(session: Session, study: int) -> dict[str, str]:
    """Return pseudonym -> id at the platform, in order of arrival; without those whose id was deleted."""
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


def in_a_list(session: Session, study: int) -> set[str]:
    """Return the pseudonyms of the workers whose id some list of the platform had that was read."""
    query = (
        select(Worker.pseudonym)
        .join(PlatformIdentity, PlatformIdentity.worker_id == Worker.id)
        .join(PlatformRecord, PlatformRecord.identity_id == PlatformIdentity.id)
        .where(Worker.study_id == study)
    )
    return set(session.scalars(query))


def completed(session: Session, plans: Plans, plan: StudyPlan, *, now: datetime) -> list[str]:
    """Return the pseudonyms of those with complete data who have not withdrawn, in order of arrival."""
    complete = complete_workers(session, plans, plan, now=now)
    query = select(Worker.id, Worker.pseudonym).where(
        Worker.study_id == plan.id, Worker.withdrawn_at.is_(None)
    )
    rows = session.execute(query.order_by(Worker.number))
    return [pseudonym for worker, pseudonym in rows if worker in complete]


ENDS = ("screened_out", "failed_checks", "partial")


@dataclass(frozen=True, slots=True, kw_only=True)
class PaymentCounts:
    """Numbers of workers with complete data, codes and payments; none of them follows from another.

    Attributes
    ----------
    complete : int
        Every required answer is stored, the last button pressed or not.
    shown : int
        The completion code was shown.
    confirmed, paid : int
        The platform's list, as read last, has some work of theirs as handed in; as paid, or it was marked so in the console.
    early : dict of str to int
        How a part ended that was not completed -> workers.
    visit_codes : int
        Codes for single visits that were shown.
    shared : int
        Workers who came under a submission of the platform under which another one came too.
    """

    complete: int
    shown: int
    confirmed: int
    paid: int
    early: dict[str, int]
    visit_codes: int
    shared: int


def count_payments(session: Session, study: int, platform: Platform, *, complete: int) -> PaymentCounts:
    """Count the workers of a study by codes and payments; ``complete`` of them have complete data."""
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
