"""Lists by platform id: whom to approve, to pay and to ask, as the platform's list said that was read last; bonuses; who was marked as paid."""

import csv
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from sqlalchemy import ColumnElement, Select, case, func, select, update
from sqlalchemy.orm import Session

from metrics.errors import plain_cell
from study_app.services.researcher.reconcile import Reconciled, SubmissionState, never_listed
from study_app.store.models import PlatformIdentity
from study_app.store.plan import Plans, StudyPlan
from study_app.store.task_models import PlatformRecord

LISTS: Mapping[str, tuple[SubmissionState, ...]] = {
    "approve": ("pay_without_code", "pay"),
    "pay": ("not_handed_in", "ended_early"),
    "ask": ("unknown_state", "not_listed", "shared_submission", "same_work", "wrong_code", "no_data"),
}
"""What is to be done -> the findings with which it is."""

PAYABLE = ("approve", "pay")
"""Lists of which all can be marked as paid."""

COLUMNS = ("platform_id", "submission", "status", "finding")
UNREAD = "unread"


def _finding() -> ColumnElement[str]:
    """Return what is advised of a submission now; lists that an earlier prefcal read have told nothing."""
    stored = func.coalesce(PlatformRecord.finding, UNREAD)
    marked = PlatformRecord.marked_paid_at.is_not(None) & (stored != "paid")
    return case((marked, "marked_paid"), else_=stored)


def _records(study: int) -> Select[str, str, str, str]:
    return (
        select(
            PlatformIdentity.platform_worker,
            PlatformRecord.submission,
            PlatformRecord.status,
            _finding().label("finding"),
        )
        .join(PlatformIdentity, PlatformIdentity.id == PlatformRecord.identity_id)
        .where(PlatformIdentity.study_id == study)
        .order_by(PlatformRecord.id)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PaymentState:
    """How many submissions, or workers in no list, there are of each finding, and when the last list was read."""

    counts: Mapping[str, int]
    read_at: datetime | None

    def of_list(self, name: str) -> int:
        """How many are on a list."""
        return sum(self.counts.get(finding, 0) for finding in LISTS[name])


def payment_state(session: Session, plans: Plans, plan: StudyPlan, *, now: datetime) -> PaymentState:
    """Count the submissions of a study by what is to be done."""
    read_at = last_read(session, plan.id)
    if read_at is None:
        return PaymentState(counts={}, read_at=None)
    finding = _records(plan.id).order_by(None).subquery().c.finding
    counted = session.execute(select(finding, func.count()).group_by(finding))
    counts = Counter({name: number for name, number in counted})  # noqa: C416 - rows are not tuples to mypy
    counts.update(one.finding for one in never_listed(session, plans, plan, now=now))
    return PaymentState(counts=counts, read_at=read_at)


def last_read(session: Session, study: int) -> datetime | None:
    """Return when a list of a study was read last, None when none was."""
    newest = (
        select(func.max(PlatformRecord.read_at))
        .join(PlatformIdentity, PlatformIdentity.id == PlatformRecord.identity_id)
        .where(PlatformIdentity.study_id == study)
    )
    return session.scalar(newest)


def payment_list(
    session: Session, plans: Plans, plan: StudyPlan, name: str, *, now: datetime
) -> Sequence[tuple[str, ...]]:
    """Return the rows of a list, as `COLUMNS` names them."""
    found = session.execute(_records(plan.id).where(_finding().in_(LISTS[name])))
    strangers = never_listed(session, plans, plan, now=now) if "not_listed" in LISTS[name] else []
    return [*(tuple(row) for row in found), *(_row(one) for one in strangers)]


def _row(one: Reconciled) -> tuple[str, str, str, str]:
    return one.worker, one.submission, one.status, one.finding


def list_text(rows: Sequence[tuple[str, ...]]) -> str:
    """Return rows as CSV; no cell is one that a spreadsheet would compute."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([plain_cell(cell) for cell in row] for row in rows)
    return text.getvalue()


def mark_paid(session: Session, study: int, name: str, *, now: datetime) -> int:
    """Mark every submission on a list as paid, which a later list of the platform does not undo; return how many."""
    mine = (
        select(PlatformRecord.id)
        .join(PlatformIdentity, PlatformIdentity.id == PlatformRecord.identity_id)
        .where(PlatformIdentity.study_id == study, _finding().in_(LISTS[name]))
    )
    marked = session.scalars(mine).all()
    session.execute(update(PlatformRecord).where(PlatformRecord.id.in_(marked)).values(marked_paid_at=now))
    return len(marked)


def bonus_lines(ids: Mapping[str, str], amounts: Mapping[str, Decimal]) -> str:
    """Return a line ``participant_id,amount`` for each worker: pseudonym -> id, pseudonym -> amount.

    Ids stand as the platform gave them, in quotes where they hold a comma: on the generic platform anybody can choose one.
    """
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerows((ids[worker], f"{amount:.2f}") for worker, amount in amounts.items())
    return lines.getvalue()
