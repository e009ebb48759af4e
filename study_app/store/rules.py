"""Rules between rows that the schema cannot hold.

The server keeps them: rows that break one were changed by hand, or by a fault that should be reported.
"""

from dataclasses import dataclass

from sqlalchemy import Select, and_, exists, func, or_, select
from sqlalchemy.orm import aliased

from study_app.store.models import (
    Assignment,
    Ballot,
    Judgment,
    PageLoad,
    Pair,
    PlatformEntry,
    PlatformIdentity,
    Showing,
    Slot,
    StoredEvent,
    System,
    Task,
    Topic,
    Worker,
)
from study_app.store.task_models import (
    CodeShown,
    Follow,
    Introduction,
    PlatformRecord,
    Rating,
    Reply,
    Sheet,
    StreamView,
    UsefulAnswer,
    UsefulQuestion,
)
from study_app.tasks.kinds import TRIES, kinds_with

BY_HAND = "undo what was changed by hand, or restore a backup from before"
REPORT = "keep the database and report this with the server's log"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rule:
    """What must hold of every row of a table.

    Attributes
    ----------
    table : str
        Whose rows.
    problem : str
        What is wrong with a row that breaks it.
    breaking : Select
        Ids of the rows that break it.
    cure : str
        What to do then.
    """

    table: str
    problem: str
    breaking: Select[int]
    cure: str = BY_HAND


END = func.coalesce(Worker.completed_at, Worker.stopped_at)
_WORK = select(Worker.id)
_RATED = exists().where(Rating.sheet_id == Sheet.id)
_ANSWERED = exists().where(Judgment.showing_id == Showing.id)
_REPEATED, _REPEATED_SLOT = aliased(Showing), aliased(Slot)


def _misnumbered(answer: type[Judgment | Ballot | UsefulAnswer | Rating | Reply], parent: str) -> Select[int]:
    """Select what has revisions that are not 1, 2, 3 and so on."""
    key = getattr(answer, parent)
    return select(key).group_by(key).having(func.max(answer.revision) != func.count())


def _after_end(answers: Select[int], answer: type[Judgment | Ballot | Rating | Reply]) -> Select[int]:
    """Select answers that came after their worker's part had ended."""
    return (
        answers.join(Assignment, Assignment.id == Slot.assignment_id)
        .join(Worker, Worker.id == Assignment.worker_id)
        .where(answer.decided_at > END)
    )


_OTHERS_PAGE = (
    select(Judgment.id)
    .join(Showing, Showing.id == Judgment.showing_id)
    .join(Slot, Slot.id == Showing.slot_id)
    .join(Assignment, Assignment.id == Slot.assignment_id)
    .join(PageLoad, PageLoad.key == Judgment.page_key)
    .where(or_(PageLoad.worker_id != Assignment.worker_id, PageLoad.showing_id != Judgment.showing_id))
)
_OTHER_SYSTEMS = (
    select(Showing.id)
    .join(Pair)
    .where(
        ~or_(
            and_(Showing.left_system_id == Pair.system_a_id, Showing.right_system_id == Pair.system_b_id),
            and_(Showing.left_system_id == Pair.system_b_id, Showing.right_system_id == Pair.system_a_id),
        )
    )
)
_SHOWN_EITHER_WAY = [
    (
        side,
        select(func.count())
        .where(Showing.pair_id == Pair.id, Showing.left_system_id == system, Showing.repeats_id.is_(None))
        .scalar_subquery(),
    )
    for side, system in ((Pair.shown_a_left, Pair.system_a_id), (Pair.shown_b_left, Pair.system_b_id))
]
_STORED_UPTO = (
    select(func.count())
    .where(StoredEvent.page_load_id == PageLoad.id, StoredEvent.number <= PageLoad.upto)
    .scalar_subquery()
)

RULES = (
    Rule(
        table="worker",
        problem="finished without a completion code, or have one without an end",
        breaking=_WORK.where(
            or_(
                and_(Worker.completed_at.is_not(None), Worker.completion_code.is_(None)),
                and_(
                    Worker.completed_at.is_(None),
                    Worker.stopped_at.is_(None),
                    Worker.completion_code.is_not(None),
                ),
            )
        ),
    ),
    Rule(
        table="worker",
        problem="have two ends, or one without a time",
        breaking=_WORK.where(
            or_(
                and_(Worker.completed_at.is_not(None), Worker.stopped_at.is_not(None)),
                Worker.stopped_at.is_(None) != Worker.stopped_as.is_(None),
            )
        ),
    ),
    Rule(
        table="worker",
        problem="finished, or were given work, without consent",
        breaking=_WORK.where(
            Worker.consented_at.is_(None),
            or_(Worker.completed_at.is_not(None), exists().where(Assignment.worker_id == Worker.id)),
        ),
    ),
    Rule(
        table="worker",
        problem="have consented to no text, or to a text without a time",
        breaking=_WORK.where(Worker.consented_at.is_(None) != Worker.consent_sha256.is_(None)),
    ),
    Rule(
        table="worker",
        problem="finished although a pair shown to them has no answer",
        breaking=_WORK.where(
            Worker.completed_at.is_not(None),
            select(Showing.id)
            .join(Slot, Slot.id == Showing.slot_id)
            .join(Assignment, Assignment.id == Slot.assignment_id)
            .where(Assignment.worker_id == Worker.id, ~_ANSWERED)
            .exists(),
        ),
        cure=REPORT,
    ),
    Rule(
        table="assignment",
        problem="of a worker of one study to a task of another",
        breaking=select(Assignment.id)
        .join(Worker, Worker.id == Assignment.worker_id)
        .join(Task, Task.id == Assignment.task_id)
        .where(Worker.study_id != Task.study_id),
    ),
    Rule(
        table="slot",
        problem="holds a query of another task",
        breaking=select(Slot.id)
        .join(Assignment, Assignment.id == Slot.assignment_id)
        .join(Topic, Topic.id == Slot.topic_id)
        .where(Topic.task_id != Assignment.task_id),
    ),
    Rule(
        table="slot",
        problem="done although a pair of it has no answer",
        breaking=select(Slot.id).where(
            Slot.done_at.is_not(None), exists().where(Showing.slot_id == Slot.id, ~_ANSWERED)
        ),
        cure=REPORT,
    ),
    Rule(
        table="showing",
        problem="shows a pair of another query",
        breaking=select(Showing.id)
        .join(Slot, Slot.id == Showing.slot_id)
        .join(Pair, Pair.id == Showing.pair_id)
        .where(Pair.topic_id != Slot.topic_id, Showing.repeats_id.is_(None)),
    ),
    Rule(table="showing", problem="shows other systems than its pair has", breaking=_OTHER_SYSTEMS),
    Rule(
        table="pair",
        problem="says another number of showings than there are",
        breaking=select(Pair.id).where(or_(*(side != there for side, there in _SHOWN_EITHER_WAY))),
    ),
    Rule(
        table="showing",
        problem="repeats another pair, or another worker's",
        breaking=select(Showing.id)
        .join(_REPEATED, _REPEATED.id == Showing.repeats_id)
        .join(Slot, Slot.id == Showing.slot_id)
        .join(_REPEATED_SLOT, _REPEATED_SLOT.id == _REPEATED.slot_id)
        .where(
            or_(
                _REPEATED.pair_id != Showing.pair_id,
                _REPEATED_SLOT.assignment_id != Slot.assignment_id,
            )
        ),
    ),
    Rule(
        table="judgment",
        problem="came from a page of another worker or pair",
        breaking=_OTHERS_PAGE,
        cure=REPORT,
    ),
    Rule(
        table="judgment",
        problem="came after its worker's part had ended (was the clock set back?)",
        breaking=_after_end(select(Judgment.id).join(Judgment.showing).join(Showing.slot), Judgment),
        cure=REPORT,
    ),
    Rule(
        table="ballot",
        problem="came after its worker's part had ended (was the clock set back?)",
        breaking=_after_end(select(Ballot.id).join(Slot, Slot.id == Ballot.slot_id), Ballot),
        cure=REPORT,
    ),
    Rule(
        table="showing",
        problem="has answers whose revisions are not 1, 2, 3 and so on",
        breaking=_misnumbered(Judgment, "showing_id"),
    ),
    Rule(
        table="slot",
        problem="has votes whose revisions are not 1, 2, 3 and so on",
        breaking=_misnumbered(Ballot, "slot_id"),
    ),
    Rule(
        table="useful_question",
        problem="has answers whose revisions are not 1, 2, 3 and so on",
        breaking=_misnumbered(UsefulAnswer, "question_id"),
    ),
    Rule(
        table="page_load",
        problem="says that it has events which are not stored",
        breaking=select(PageLoad.id).where(PageLoad.upto != _STORED_UPTO),
    ),
    Rule(
        table="follow",
        problem="follows a system of another task",
        breaking=select(Follow.id)
        .join(Slot, Slot.id == Follow.slot_id)
        .join(Topic, Topic.id == Slot.topic_id)
        .join(System, System.id == Follow.system_id)
        .where(System.task_id != Topic.task_id),
    ),
    Rule(
        table="useful_question",
        problem="asks about an update that no page showed",
        breaking=select(UsefulQuestion.id).where(
            ~exists().where(
                StreamView.follow_id == UsefulQuestion.follow_id,
                UsefulQuestion.place.between(StreamView.first, StreamView.last),
            )
        ),
    ),
    Rule(
        table="worker",
        problem=f"have tries at a check that are not 1 to {TRIES}",
        breaking=select(Introduction.worker_id)
        .group_by(Introduction.worker_id, Introduction.task_id)
        .having(
            or_(func.max(Introduction.number) != func.count(), func.max(Introduction.number) > TRIES),
        ),
    ),
    Rule(
        table="worker",
        problem="were stopped for a check that they did not fail",
        breaking=select(Worker.id).where(
            Worker.stopped_as == "failed_checks",
            ~exists().where(Introduction.worker_id == Worker.id, Introduction.passed.is_(False)),
        ),
        cure=REPORT,
    ),
    Rule(
        table="introduction",
        problem="of a worker of one study to a task of another",
        breaking=select(Introduction.id)
        .join(Worker, Worker.id == Introduction.worker_id)
        .join(Task, Task.id == Introduction.task_id)
        .where(Worker.study_id != Task.study_id),
    ),
    Rule(
        table="sheet",
        problem="asks about another intent than its slot holds",
        breaking=select(Sheet.id).join(Sheet.slot).where(Sheet.intent_id != Slot.unit),
    ),
    Rule(
        table="sheet",
        problem="has ratings whose revisions are not 1, 2, 3 and so on",
        breaking=_misnumbered(Rating, "sheet_id"),
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
        breaking=select(Slot.id).where(
            Slot.done_at.is_not(None), exists().where(Sheet.slot_id == Slot.id, ~_RATED)
        ),
        cure=REPORT,
    ),
    Rule(
        table="slot",
        problem="has answers whose revisions are not 1, 2, 3 and so on",
        breaking=_misnumbered(Reply, "slot_id"),
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
        .where(Task.kind.not_in(kinds_with("questions"))),
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
        ),
        cure=REPORT,
    ),
    Rule(
        table="worker",
        problem="were shown the code of their end for the first time twice",
        breaking=select(CodeShown.worker_id)
        .where(CodeShown.kind != "visit")
        .group_by(CodeShown.worker_id)
        .having(func.count() > 1),
        cure=REPORT,
    ),
    Rule(
        table="code_shown",
        problem="is for an arrival of another worker",
        breaking=select(CodeShown.id)
        .join(PlatformEntry, PlatformEntry.id == CodeShown.entry_id)
        .join(PlatformIdentity, PlatformIdentity.id == PlatformEntry.identity_id)
        .where(PlatformIdentity.worker_id != CodeShown.worker_id),
    ),
    Rule(
        table="platform_record",
        problem="says that work was paid which was not handed in",
        breaking=select(PlatformRecord.id).where(PlatformRecord.paid, ~PlatformRecord.confirmed),
    ),
)
