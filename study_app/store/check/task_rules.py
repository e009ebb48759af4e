"""Rules between rows of introductions, ratings, answers to questions, and what platforms were told, as in `database_rules`."""

from sqlalchemy import Select, exists, func, or_, select

from study_app.store.check.rules import END, REPORT, Rule
from study_app.store.models import Assignment, PlatformEntry, PlatformIdentity, Slot, Task, Worker
from study_app.store.task_models import CodeShown, Introduction, PlatformRecord, Rating, Reply, Sheet
from study_app.tasks.checks import TRIES
from study_app.tasks.kinds import kinds_with

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
