"""A list of bonuses by the platform's ids, from pseudonyms, since nothing else of a study knows the ids."""

import csv
import io
from collections.abc import Mapping
from decimal import Decimal

from sqlalchemy import select
from sqlalchemy.orm import Session

from study_app.store.models import PlatformIdentity, Worker


def identities(session: Session, study: int) -> dict[str, str]:
    """Return pseudonym -> id at the platform, in order of arrival; without those whose id was deleted."""
    found = (
        select(Worker.pseudonym, PlatformIdentity.platform_worker)
        .join(PlatformIdentity, PlatformIdentity.worker_id == Worker.id)
        .where(Worker.study_id == study)
        .order_by(Worker.number)
    )
    return {pseudonym: name for pseudonym, name in session.execute(found)}  # noqa: C416 - rows are not tuples to mypy


def pseudonyms(session: Session, study: int) -> set[str]:
    """Return the pseudonyms of all workers."""
    return set(session.scalars(select(Worker.pseudonym).where(Worker.study_id == study)))


def without_identity(session: Session, study: int) -> set[str]:
    """Return the pseudonyms of the workers whose id at the platform was deleted."""
    return pseudonyms(session, study) - identities(session, study).keys()


def completed(session: Session, study: int) -> list[str]:
    """Return the pseudonyms of those with complete data who have not withdrawn, in order of arrival."""
    found = select(Worker.pseudonym).where(
        Worker.study_id == study, Worker.completed_at.is_not(None), Worker.withdrawn_at.is_(None)
    )
    return list(session.scalars(found.order_by(Worker.number)))


def bonus_lines(ids: Mapping[str, str], amounts: Mapping[str, Decimal]) -> str:
    """Return a line ``participant_id,amount`` for each worker: pseudonym -> id, pseudonym -> amount.

    Ids stand as the platform gave them, in quotes where they hold a comma: on the generic platform anybody can choose one.
    """
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerows((ids[worker], f"{amount:.2f}") for worker, amount in amounts.items())
    return lines.getvalue()
