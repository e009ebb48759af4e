"""What Prolific says of submissions and payments, read page by page and stored.

What a page has is used even where a later one cannot be read. But whoever is missing from a list that was not read to its end is not
said to be missing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from metrics.errors import PrefcalError, input_fault
from study_app.prolific.answers import ChangedAnswerError, ListedSubmission
from study_app.prolific.api import CallError, ProlificApi
from study_app.services.researcher.orders import (
    confirm_approvals,
    mark_confirmed,
    open_orders,
    remote_studies,
    shows_bonus,
)
from study_app.services.researcher.reconcile import ReconciledSubmission, reconcile
from study_app.services.worker.returns import FREED_STATES, free_place, plain_state
from study_app.store.database import transaction
from study_app.store.models import LoadedStudy, PlatformIdentity
from study_app.store.platform_models import ProlificStudy
from study_app.store.study_cache import StudyCache
from study_app.store.task_models import PlatformRecord
from study_app.study.platform_list import Submission, submission_of_cells

UNLISTED = frozenset({"not_listed", "shared_submission"})
"""Findings about who is in no list, which only a whole list can say."""
AT_A_TIME = 500
"""Most submissions named in one statement."""


@dataclass(kw_only=True)
class SyncReport:
    """What was read, what follows, and what could not be read.

    Attributes
    ----------
    read_at : datetime
        Time of the list.
    submissions : list of Submission
        What Prolific says.
    reconciled : list of ReconciledSubmission
        What to do about each.
    freed : int
        Slots of returned and timed-out workers that others may have now.
    confirmed : int
        Orders that Prolific shows as carried out.
    failures : list of str
        Why a list or a payment was not read to its end.
    """

    read_at: datetime
    submissions: list[Submission] = field(default_factory=list)
    reconciled: list[ReconciledSubmission] = field(default_factory=list)
    freed: int = 0
    confirmed: int = 0
    failures: list[str] = field(default_factory=list)


def add_remote_study(api: ProlificApi, remote: str) -> None:
    """Store that a study on Prolific sends workers here.

    Raises
    ------
    InputError
        If it belongs to another study, or its address leads elsewhere.
    """
    answer = api.study(remote)
    with transaction(api.database, write=True) as session:
        name = session.get_one(LoadedStudy, api.study_id).name
        known = session.scalars(select(ProlificStudy).where(ProlificStudy.remote == answer.id)).one_or_none()
        if known is not None and known.study_id != api.study_id:
            raise input_fault(
                f"study {remote} of Prolific sends workers to another study here", cure="name that one"
            )
        path = (answer.external_study_url or "").partition("?")[0].rstrip("/")
        if not path.endswith(f"/s/{name}"):
            raise input_fault(
                f"study {remote} of Prolific does not lead to /s/{name}, but to {path or 'nowhere'}",
                cure="name a study that sends workers to this one",
            )
        if known is None:
            session.add(ProlificStudy(study_id=api.study_id, label="", remote=answer.id, made_at=api.now()))


def sync(api: ProlificApi, plans: StudyCache) -> SyncReport:
    """Read every submission and every open payment of a study, and store what follows.

    Raises
    ------
    InputError
        If no study on Prolific is known to send workers here.
    PrefcalError
        If nothing at all could be read.
    """
    report = SyncReport(read_at=api.now())
    with transaction(api.database, write=False) as session:
        remotes = [
            (row.id, row.remote) for row in remote_studies(session, api.study_id) if row.remote is not None
        ]
    if not remotes:
        raise input_fault(
            "no study on Prolific is known to send workers here",
            cure="add one with prefcal prolific sync STUDY --prolific-study ID, or make one with prefcal prolific draft",
        )
    errors: list[PrefcalError] = []
    listed: dict[int, list[ListedSubmission]] = {}
    for row, remote in remotes:
        try:
            for page in api.submission_pages(remote):
                listed.setdefault(row, []).extend(page)
        except (CallError, ChangedAnswerError) as error:
            errors.append(error)
    if errors and not any(listed.values()):
        raise errors[0]
    report.failures += map(str, errors)
    with transaction(api.database, write=True) as session:
        _store(session, plans, api.study_id, listed, report)
    _confirm_bonuses(api, report)
    return report


def _store(
    session: Session,
    plans: StudyCache,
    study_id: int,
    listed: dict[int, list[ListedSubmission]],
    report: SyncReport,
) -> None:
    """Compare a list with what is stored, free places, and confirm what it shows."""
    at = report.read_at
    report.submissions = [
        submission_of_cells(
            {
                "id": row.participant_id,
                "submission": row.id,
                "status": row.status,
                "code": row.study_code or "",
            }
        )
        for rows in listed.values()
        for row in rows
    ]
    study = session.get_one(LoadedStudy, study_id)
    reconciled = reconcile(session, plans, study, report.submissions, now=at)
    report.reconciled = [row for row in reconciled if not report.failures or row.finding not in UNLISTED]
    for remote, rows in listed.items():
        for record, identity in _stored(session, study_id, [row.id for row in rows]):
            record.prolific_study_id = remote
            if plain_state(record.status) in FREED_STATES and record.read_at == at:
                report.freed += free_place(session, identity, record.submission, now=at)
    session.flush()
    report.confirmed += confirm_approvals(session, study_id, now=at)


def _stored(
    session: Session, study_id: int, submissions: Sequence[str]
) -> list[tuple[PlatformRecord, PlatformIdentity]]:
    """Return the stored records of submissions, with who they belong to."""
    found: list[tuple[PlatformRecord, PlatformIdentity]] = []
    for start in range(0, len(submissions), AT_A_TIME):
        rows = session.execute(
            select(PlatformRecord, PlatformIdentity)
            .join(PlatformIdentity, PlatformIdentity.id == PlatformRecord.identity_id)
            .where(
                PlatformIdentity.study_id == study_id,
                PlatformRecord.submission.in_(submissions[start : start + AT_A_TIME]),
            )
        )
        found += [(record, identity) for record, identity in rows]
    return found


def _confirm_bonuses(api: ProlificApi, report: SyncReport) -> None:
    """Confirm the bonuses that their submissions show; note what cannot be read and go on."""
    with transaction(api.database, write=False) as session:
        orders = open_orders(session, api.study_id, "bonus")
    for order in orders:
        try:
            bonuses = api.submission(order.submission).bonuses if order.submission else None
        except (CallError, ChangedAnswerError) as error:
            report.failures.append(f"bonus {order.id}: {error}")
            if not getattr(error, "is_about_content", False):
                return  # the others would not be answered either
            continue
        if bonuses is not None and shows_bonus(order, bonuses):
            with transaction(api.database, write=True) as session:
                mark_confirmed(session, [order.id], now=api.now())
            report.confirmed += 1
