"""Is a database whole? Its file, its references, its schema, and the rules of `database_rules`. Changes nothing."""

from pathlib import Path

from sqlalchemy import Connection, ForeignKeyConstraint, Select, and_, func, select

from metrics.errors import Fault, input_fault
from study_app.store.backup.sqlite import damage
from study_app.store.check.rules import RULES
from study_app.store.check.task_rules import TASK_RULES
from study_app.store.database import Database, faults_named, is_empty, shown_address
from study_app.store.schema import METADATA
from study_app.store.schema_version import drift, known_versions, refuse_newer_database, stored_version

RESTORE = "restore a backup from before that"
UPGRADE = "bring the tables up to date: prefcal db upgrade"
SHOWN_IDS = 5


def check_database(database: Database) -> list[Fault]:
    """Return all that is wrong with a database, [] when nothing is.

    What needs sound files or today's tables is looked at only when they are.

    Raises
    ------
    InputError
        If it cannot be reached, or no study was loaded.
    PrefcalError
        If it was written by a newer prefcal.
    """
    address = shown_address(database.engine.url)
    if database.is_sqlite and Path(database.engine.url.database or "").exists():
        torn = damage(Path(database.engine.url.database or ""))
        if torn:
            return [Fault(problem=problem, cure=RESTORE, path=address) for problem in torn]
    if is_empty(database):
        raise input_fault(f"no study is loaded in {address}", cure="name --database")
    refuse_newer_database(database)
    version, newest = stored_version(database), known_versions()[-1]
    if version != newest:
        return [Fault(problem=f"{address} is at version {version}, not {newest}", cure=UPGRADE)]
    with faults_named(database), database.engine.connect() as connection:
        differences = [
            Fault(problem=f"the tables differ from this version's: {difference}", cure=RESTORE)
            for difference in drift(connection)
        ]
        return differences or [*_lost_references(connection), *_broken_rules(connection)]


def _lost_references(connection: Connection) -> list[Fault]:
    """Look for rows that refer to rows which are not there; constraints forbid them, switched-off ones do not."""
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


def _broken_rules(connection: Connection) -> list[Fault]:
    faults = []
    for rule in (*RULES, *TASK_RULES):
        rows = list(connection.scalars(rule.breaking))
        if rows:
            shown = ", ".join(map(str, rows[:SHOWN_IDS])) + (", ..." if len(rows) > SHOWN_IDS else "")
            faults.append(Fault(problem=f"{rule.table} {shown}: {rule.problem}", cure=rule.cure))
    return faults
