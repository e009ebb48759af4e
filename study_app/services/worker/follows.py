"""Following a stream: beginning to, and what a follow and its stream are together."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from study_app.protocol.domain import drawn
from study_app.protocol.steps import Step
from study_app.protocol.stream_rules import fewest, follow_length, stream_time
from study_app.services.worker.slots import queue_for
from study_app.services.worker.whereabouts import Whereabouts
from study_app.store.models import Assignment, Slot, Worker
from study_app.store.plan import Plans, TaskPlan
from study_app.store.rows import change
from study_app.store.stream_models import Follow
from study_app.study.entries import FollowedTask
from study_app.tasks.update_stream import UpdateStream


@dataclass(frozen=True, slots=True, kw_only=True)
class Followed:
    """A stream that a worker follows: the row, what there is to read, and what the study file says of the task."""

    follow: Follow
    stream: UpdateStream
    entry: FollowedTask

    def time(self, now: datetime) -> float:
        """Return the time in the stream, in seconds since 1970."""
        return stream_time(self.follow.started_at, self.stream.start, self.entry.clock_factor, now)

    def upto(self, now: datetime) -> int:
        """Return the place of the newest update there is; 0 for none."""
        return self.stream.upto(self.time(now))


def followed(session: Session, plans: Plans, here: Whereabouts, step: Step) -> Followed:
    """Return what the worker follows at a step."""
    follow = here.follow(step)
    return Followed(
        follow=follow,
        stream=plans.stream(session, here.plan, here.slot(step).topic_id, follow.system_id),
        entry=here.task(step).following,
    )


def enrol(session: Session, plans: Plans, here: Whereabouts, step: Step, *, now: datetime) -> Follow:
    """Let the worker follow an event from now on, as the system that has the fewest followers tells it.

    Enrolling again changes nothing. The place is taken for good: the slot is done as far as anybody else is concerned.
    """
    slot, task = here.slot(step), here.task(step)
    if slot.id in here.follows:
        return here.follows[slot.id]
    queue_for(session, task)
    rng = drawn(here.plan.entry.seed, here.worker.number, f"system {task.number}.{slot.position}")
    tallies = system_tallies(session, task, slot.topic_id)
    system = rng.choice(fewest(tallies, task.following.workers_per_stream))
    stream = plans.stream(session, here.plan, slot.topic_id, system)
    length = follow_length(stream.end - stream.start, task.following.days, task.following.clock_factor)
    follow = Follow(slot_id=slot.id, system_id=system, started_at=now, ends_at=now + length)
    session.add(follow)
    change(session, slot, done_at=follow.ends_at, expires_at=follow.ends_at)
    session.flush()
    return follow


def system_tallies(session: Session, task: TaskPlan, topic: int) -> dict[int, int]:
    """Return system -> how many workers who have not withdrawn follow it on an event."""
    counted = (
        select(Follow.system_id, func.count())
        .join(Follow.slot)
        .join(Slot.assignment)
        .join(Assignment.worker)
        .where(Slot.topic_id == topic, Worker.withdrawn_at.is_(None))
        .group_by(Follow.system_id)
    )
    found = {system: number for system, number in session.execute(counted)}  # noqa: C416 - rows are not tuples to mypy
    return {system: found.get(system, 0) for system in task.systems}
