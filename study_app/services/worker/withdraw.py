"""Taking consent back with the code that only the worker holds."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from study_app.store.models import Study, Worker


@dataclass(frozen=True, slots=True, kw_only=True)
class Withdrawal:
    """Whose answers do not count any more; ``again`` when they did not before either."""

    study: str
    pseudonym: str
    again: bool


def withdraw(session: Session, code: str, *, now: datetime) -> Withdrawal | None:
    """Withdraw the worker who holds a code; None when nobody does. A code copied by hand may be in capitals."""
    if not code.isprintable():  # PostgreSQL refuses NUL even in a question
        return None
    found = session.execute(
        select(Worker, Study.name)
        .join(Study)
        .where(Worker.withdrawal_code == code.strip().lower())
        .with_for_update(of=Worker)
    ).one_or_none()
    if found is None:
        return None
    worker, study = found
    again = worker.withdrawn_at is not None
    worker.withdrawn_at = worker.withdrawn_at or now
    session.flush()
    return Withdrawal(study=study, pseudonym=worker.pseudonym, again=again)
