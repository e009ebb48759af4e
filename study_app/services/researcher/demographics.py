"""What a platform knows of the workers of a study, as far as they agreed that it is kept."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import select
from sqlalchemy.orm import Session

from study_app.store.models import LoadedStudy, PlatformIdentity, Worker
from study_app.store.task_models import ConsentText
from study_app.study.demographics import named_demographics

WITHHELD = frozenset({"", "CONSENT_REVOKED", "DATA_EXPIRED"})
"""Values by which Prolific says that it tells nothing (any more)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Demographics:
    """Values to keep, and why others are not.

    Attributes
    ----------
    by_column : dict of str to dict of str to str
        Column -> value of each worker, by pseudonym.
    not_agreed, unlisted, nameless : int
        Workers whose consent text named none of the columns or not all, who are in no line of the list, and whose platform id was deleted.
    strangers : int
        People of the list who are no workers of the study.
    contradictory : int
        Workers of whom the list says two things; the last line counts.
    """

    by_column: dict[str, dict[str, str]] = field(default_factory=dict)
    not_agreed: int = 0
    unlisted: int = 0
    nameless: int = 0
    strangers: int = 0
    contradictory: int = 0


def agreed_demographics(
    session: Session,
    study: LoadedStudy,
    columns: Sequence[str],
    listed: Mapping[str, Sequence[Mapping[str, str]]],
) -> Demographics:
    """Return what may be kept of the columns of a platform's list.

    Only of workers who agreed to a text that named the column, and who did not withdraw.

    Parameters
    ----------
    session : Session
        Only read from.
    study : LoadedStudy
        The study.
    columns : sequence of str
        Columns that the study file names.
    listed : mapping of str to sequence of mapping of str to str
        Lines of the list by platform id, each with the value of each column.
    """
    named = {
        text.sha256: named_demographics(text.text)
        for text in session.scalars(select(ConsentText).where(ConsentText.study_id == study.id))
    }
    workers = session.execute(
        select(Worker.pseudonym, Worker.consent_sha256, PlatformIdentity.platform_worker)
        .outerjoin(PlatformIdentity, PlatformIdentity.worker_id == Worker.id)
        .where(Worker.study_id == study.id, Worker.consented_at.is_not(None), Worker.withdrawn_at.is_(None))
    ).all()
    known = set(
        session.scalars(select(PlatformIdentity.platform_worker).where(PlatformIdentity.study_id == study.id))
    )
    by_column: defaultdict[str, dict[str, str]] = defaultdict(dict)
    counts = dict.fromkeys(("not_agreed", "unlisted", "nameless", "contradictory"), 0)
    for pseudonym, sha256, name in workers:
        lines = listed.get(name, ()) if name is not None else ()
        counts["nameless" if name is None else "unlisted"] += not lines
        allowed = [column for column in columns if column in named.get(sha256 or "", ())]
        counts["not_agreed"] += bool(lines) and len(allowed) < len(columns)
        is_contradictory = False
        for column in allowed:
            told = [line[column] for line in lines if line[column] not in WITHHELD]
            is_contradictory |= len(set(told)) > 1
            if told:
                by_column[column][pseudonym] = told[-1]
        counts["contradictory"] += is_contradictory
    return Demographics(by_column=dict(by_column), strangers=len(listed.keys() - known), **counts)
