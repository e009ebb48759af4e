"""Is a database whole? Its file, its references, its schema, and the rules between rows. Changes nothing.

The rules of introductions, ratings, answers to questions and what platforms were told stand here, the others in
`study_app.store.rules`.
"""

from pathlib import Path

from sqlalchemy import Connection, ForeignKeyConstraint, Select, and_, exists, func, or_, select
from sqlalchemy.orm import Session

from metrics.errors import Fault, input_fault
from study_app.store.backups.sqlite import damage
from study_app.store.console_models import Act
from study_app.store.database import (
    METADATA,
    Database,
    drift,
    faults_named,
    is_empty,
    known_versions,
    refuse_newer_database,
    shown_address,
    stored_version,
)
from study_app.store.models import (
    Assignment,
    LoadedStudy,
    PlatformEntry,
    PlatformIdentity,
    Slot,
    Task,
    Worker,
)
from study_app.store.rules import END, REPORT, RULES, Rule
from study_app.store.task_models import CodeShown, Introduction, PlatformRecord, Rating, Reply, Sheet
from study_app.tasks.kinds import TRIES, kinds_with

_RATED = exists().where(Rating.sheet_id == Sheet.id)


def _numbered(answer: type[Rating | Reply], parent: str) -> Select[int]:
    """Return the ids of what has revisions that are not 1, 2, 3 and so on."""
    key = getattr(answer, parent)
    return select(key).group_by(key).having(func.max(answer.revision) != func.count()).order_by(key)


def _after_end(answers: Select[int], answer: type[Rating | Reply]) -> Select[int]:
    """Return the ids of answers that came after their worker's part had ended."""
    return (
        answers.join(Assignment, Assignment.id == Slot.assignment_id)
        .join(Worker, Worker.id == Assignment.worker_id)
        .where(answer.decided_at > END)
        .order_by(answer.id)
    )


TASK_RULES = (
    Rule(
        table="worker",
        problem=f"have tries at a check that are not 1 to {TRIES}",
        breaking=select(Introduction.worker_id)
        .group_by(Introduction.worker_id, Introduction.task_id)
        .having(
            or_(func.max(Introduction.number) != func.count(), func.max(Introduction.number) > TRIES),
        )
        .order_by(Introduction.worker_id),
    ),
    Rule(
        table="worker",
        problem="were stopped for a check that they did not fail",
        breaking=select(Worker.id)
        .where(
            Worker.stopped_as == "failed_checks",
            ~exists().where(Introduction.worker_id == Worker.id, Introduction.passed.is_(False)),
        )
        .order_by(Worker.id),
        cure=REPORT,
    ),
    Rule(
        table="introduction",
        problem="of a worker of one study to a task of another",
        breaking=select(Introduction.id)
        .join(Worker, Worker.id == Introduction.worker_id)
        .join(Task, Task.id == Introduction.task_id)
        .where(Worker.study_id != Task.study_id)
        .order_by(Introduction.id),
    ),
    Rule(
        table="sheet",
        problem="asks about another intent than its slot holds",
        breaking=select(Sheet.id).join(Sheet.slot).where(Sheet.intent_id != Slot.unit).order_by(Sheet.id),
    ),
    Rule(
        table="sheet",
        problem="has ratings whose revisions are not 1, 2, 3 and so on",
        breaking=_numbered(Rating, "sheet_id"),
    ),
    Rule(
        table="rating",
        problem="came after its worker's part had ended (was the clock set back?)",
        breaking=_after_end(select(Rating.id).join(Rating.sheet).join(Sheet.slot), Rating),
        cure=REPORT,
    ),
    Rule(
        table="slot",
        problem="done although a page of iUnits has no ratings",
        breaking=select(Slot.id)
        .where(Slot.done_at.is_not(None), exists().where(Sheet.slot_id == Slot.id, ~_RATED))
        .order_by(Slot.id),
        cure=REPORT,
    ),
    Rule(
        table="slot",
        problem="has answers whose revisions are not 1, 2, 3 and so on",
        breaking=_numbered(Reply, "slot_id"),
    ),
    Rule(
        table="reply",
        problem="came after its worker's part had ended (was the clock set back?)",
        breaking=_after_end(select(Reply.id).join(Slot, Slot.id == Reply.slot_id), Reply),
        cure=REPORT,
    ),
    Rule(
        table="reply",
        problem="of a task that asks no questions",
        breaking=select(Reply.id)
        .join(Slot, Slot.id == Reply.slot_id)
        .join(Assignment, Assignment.id == Slot.assignment_id)
        .join(Task, Task.id == Assignment.task_id)
        .where(Task.kind.not_in(kinds_with("questions")))
        .order_by(Reply.id),
    ),
    Rule(
        table="code_shown",
        problem="was shown though it is not the code of how its worker's part ended",
        breaking=select(CodeShown.id)
        .join(Worker, Worker.id == CodeShown.worker_id)
        .where(
            CodeShown.kind != "visit",
            or_(
                END.is_(None),
                CodeShown.kind != func.coalesce(Worker.stopped_as, "complete"),
                CodeShown.code != Worker.completion_code,
            ),
        )
        .order_by(CodeShown.id),
        cure=REPORT,
    ),
    Rule(
        table="worker",
        problem="were shown the code of their end for the first time twice",
        breaking=select(CodeShown.worker_id)
        .where(CodeShown.kind != "visit")
        .group_by(CodeShown.worker_id)
        .having(func.count() > 1)
        .order_by(CodeShown.worker_id),
        cure=REPORT,
    ),
    Rule(
        table="code_shown",
        problem="is for an arrival of another worker",
        breaking=select(CodeShown.id)
        .join(PlatformEntry, PlatformEntry.id == CodeShown.entry_id)
        .join(PlatformIdentity, PlatformIdentity.id == PlatformEntry.identity_id)
        .where(PlatformIdentity.worker_id != CodeShown.worker_id)
        .order_by(CodeShown.id),
    ),
    Rule(
        table="platform_record",
        problem="says that work was paid which was not handed in",
        breaking=select(PlatformRecord.id)
        .where(PlatformRecord.paid, ~PlatformRecord.confirmed)
        .order_by(PlatformRecord.id),
    ),
)


RESTORE = "restore a backup from before that"
UPGRADE = "bring the tables up to date: prefcal db upgrade"
SHOWN_IDS = 5
AUDIT_CURE = "somebody changed it by hand; compare it with a backup"


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
        return differences or [
            *_lost_references(connection),
            *_broken_rules(connection),
            *broken_audit(connection),
        ]


def broken_audit(connection: Connection) -> list[Fault]:
    """Return a fault for each place where the audit of a study is no unbroken chain of lines.

    That its last lines were cut off cannot be seen: nothing follows that would hold their hash.
    """
    faults: dict[str, list[str]] = {}
    session = Session(connection)
    lines = select(Act, LoadedStudy.name).join(LoadedStudy, LoadedStudy.id == Act.study_id)
    last: tuple[str, int, str] = ("", 0, "")
    for act, study in session.execute(
        lines.order_by(Act.study_id, Act.number).execution_options(yield_per=1_000)
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
