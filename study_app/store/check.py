"""Check of a database: its file, references, schema, and consistency rules.

The rules are in `study_app.store.rules`.
"""

import hashlib
from pathlib import Path

from sqlalchemy import Connection, ForeignKeyConstraint, Select, and_, func, select
from sqlalchemy.orm import Session

from metrics.errors import Fault, input_fault
from study_app.store.backups.sqlite import damage
from study_app.store.console_models import AuditEntry
from study_app.store.database import (
    METADATA,
    Database,
    database_errors_as_input,
    drift,
    is_empty,
    known_versions,
    refuse_unknown_database,
    shown_address,
    stored_version,
)
from study_app.store.media import shown_media
from study_app.store.models import LoadedStudy, StoredMedia
from study_app.store.rules import RULES

RESTORE = "restore a backup from before that"
UPGRADE = "bring the tables up to date: prefcal db upgrade"
SHOWN_IDS = 5
AUDIT_CURE = "somebody changed it by hand; compare it with a backup"


def check_database(database: Database) -> list[Fault]:
    """Return all faults of a database, [] without any.

    Checks that need a sound file or current tables run only when these are.

    Raises
    ------
    InputError
        If it cannot be reached, or no study was loaded.
    PrefcalError
        If it was written by a prefcal that this one cannot read.
    """
    address = shown_address(database.engine.url)
    if database.is_sqlite and Path(database.engine.url.database or "").exists():
        torn = damage(Path(database.engine.url.database or ""))
        if torn:
            return [Fault(problem=problem, cure=RESTORE, path=address) for problem in torn]
    if is_empty(database):
        raise input_fault(f"no study is loaded in {address}", cure="name --database")
    refuse_unknown_database(database)
    version, newest = stored_version(database), known_versions()[-1]
    if version != newest:
        return [Fault(problem=f"{address} is at version {version}, not {newest}", cure=UPGRADE)]
    with database_errors_as_input(database), database.engine.connect() as connection:
        differences = [
            Fault(problem=f"the tables differ from this version's: {difference}", cure=RESTORE)
            for difference in drift(connection)
        ]
        return differences or [
            *_lost_references(connection),
            *_broken_rules(connection),
            *_lost_media(connection),
            *broken_audit(connection),
        ]


def broken_audit(connection: Connection) -> list[Fault]:
    """Return a fault for each break in the chain of a study's audit.

    A removed last line cannot be detected: no later line holds its hash.
    """
    faults: dict[str, list[str]] = {}
    session = Session(connection)
    lines = select(AuditEntry, LoadedStudy.name).join(LoadedStudy, LoadedStudy.id == AuditEntry.study_id)
    last: tuple[str, int, str] = ("", 0, "")
    for act, study in session.execute(
        lines.order_by(AuditEntry.study_id, AuditEntry.number).execution_options(yield_per=1_000)
    ):
        before = last if last[0] == study else (study, 0, "")
        missing = range(before[1] + 1, act.number)
        if missing:
            span = (
                f"line {missing[0]} is" if len(missing) == 1 else f"lines {missing[0]} to {missing[-1]} are"
            )
            faults.setdefault(study, []).append(f"{span} missing")
        elif act.previous != before[2]:
            faults.setdefault(study, []).append(f"line {act.number} does not follow the line before it")
        if act.sha256 != act.digest:
            faults.setdefault(study, []).append(f"line {act.number} was changed")
        last = (study, act.number, act.sha256)
    return [
        Fault(problem=f"the audit of study {study}: {problem}", cure=AUDIT_CURE)
        for study, problems in faults.items()
        for problem in problems[:SHOWN_IDS]
    ]


def _lost_references(connection: Connection) -> list[Fault]:
    """Find references to missing rows, which only switched-off constraints allow."""
    faults = []
    for table in METADATA.sorted_tables:
        for constraint in table.foreign_key_constraints:
            number = connection.scalar(_lost(constraint))
            if number:
                parent = constraint.referred_table.name
                problem = f"{table.name}: {number} rows refer to rows of {parent} that are not there"
                faults.append(Fault(problem=problem, cure=RESTORE))
    return faults


def _lost(constraint: ForeignKeyConstraint) -> Select[int]:
    """Return the number of rows whose reference is set and leads nowhere."""
    parent = constraint.referred_table.alias("parent")
    pairs = [(key.parent, parent.c[key.column.name]) for key in constraint.elements]
    joined = constraint.table.outerjoin(parent, and_(*(child == column for child, column in pairs)))
    return (
        select(func.count())
        .select_from(joined)
        .where(*(child.is_not(None) for child, _ in pairs), *(column.is_(None) for _, column in pairs))
    )


def _lost_media(connection: Connection) -> list[Fault]:
    """Return a fault for each side whose picture or sound is missing or changed."""
    session = Session(connection)
    stored = set[str]()
    damaged = list[str]()
    for sha256, content in session.execute(
        select(StoredMedia.sha256, StoredMedia.bytes).execution_options(yield_per=1)
    ):
        stored.add(sha256)
        if hashlib.sha256(content).hexdigest() != sha256:
            damaged.append(f"media {sha256[:12]}: its bytes are not those that were loaded")
    lost = [
        f"summary {row}: what {system} shows of topic {topic} is not there"
        for row, topic, system, media in shown_media(session)
        if media.sha256 not in stored
    ]
    return [Fault(problem=problem, cure=RESTORE) for problem in (*lost[:SHOWN_IDS], *damaged[:SHOWN_IDS])]


def _broken_rules(connection: Connection) -> list[Fault]:
    faults = []
    for rule in RULES:
        rows = sorted(connection.scalars(rule.breaking))
        if rows:
            shown = ", ".join(map(str, rows[:SHOWN_IDS])) + (", ..." if len(rows) > SHOWN_IDS else "")
            faults.append(
                Fault(problem=f"{rule.table.__tablename__} {shown}: {rule.problem}", cure=rule.hint)
            )
    return faults
