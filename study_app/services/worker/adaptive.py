"""Search for the best system of a task with adaptive pairs: what is known, what is left of its budget, and the next pairs."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from random import Random

from sqlalchemy import bindparam, case, func, select
from sqlalchemy.orm import Session

from study_app.protocol.adaptive import BestSearch, DrawnPair, best_searches, draw_pairs
from study_app.services.worker.tallies import task_tallies
from study_app.store.models import Assignment, Judgment, Pair, Showing, Slot, Topic, Worker
from study_app.store.revisions import is_newest
from study_app.store.study_cache import CachedTask
from study_app.study.entries import AdaptivePairs, AssignedPairTask

_VOTES = (
    select(
        Showing.pair_id,
        Showing.left_system_id,
        func.sum(case((Judgment.choice == "left", 1), else_=0)),
        func.sum(case((Judgment.choice == "right", 1), else_=0)),
        func.count(),
    )
    .select_from(Judgment)
    .join(Showing, Showing.id == Judgment.showing_id)
    .join(Pair, Pair.id == Showing.pair_id)
    .join(Topic, Topic.id == Pair.topic_id)
    .join(Slot, Slot.id == Showing.slot_id)
    .join(Assignment, Assignment.id == Slot.assignment_id)
    .join(Worker, Worker.id == Assignment.worker_id)
    .where(
        Topic.task_id == bindparam("task"),
        Showing.repeats_id.is_(None),
        Pair.gold.is_(None),
        Worker.withdrawn_at.is_(None),
        is_newest(Judgment),
    )
    .group_by(Showing.pair_id, Showing.left_system_id)
)


def adaptive_pairs(task: CachedTask) -> AdaptivePairs | None:
    """Return how a task's pairs are chosen by the answers so far; None where they are not."""
    return task.entry.adaptive if isinstance(task.entry, AssignedPairTask) else None


@dataclass(frozen=True, kw_only=True, eq=False)
class TaskSearch:
    """Searches of one task, and its budget.

    Attributes
    ----------
    searches : sequence of BestSearch
        One over all topics, or one a topic.
    options : AdaptivePairs
        Of the study file.
    """

    searches: Sequence[BestSearch]
    options: AdaptivePairs

    @property
    def shown(self) -> int:
        """Number of showings in done and in live slots, repeats not counted."""
        return sum(search.shown for search in self.searches)

    @property
    def budget_left(self) -> int:
        """Number of showings that the budget still allows."""
        return max(0, self.options.budget - self.shown)

    def open_pairs(self, besides: Collection[int]) -> int:
        """Return how many showings are open to a worker who has had the pairs ``besides``."""
        open_searches = [search for search in self.searches if not search.is_over(self.options.stop_at)]
        pairs = sum(tally.pair not in besides for search in open_searches for tally in search.tallies)
        return min(pairs, self.budget_left)

    def has_open(self, besides: Collection[int]) -> bool:
        """Return whether a worker who has had the pairs ``besides`` can get another."""
        return self.open_pairs(besides) > 0

    def draw(self, besides: Collection[int], count: int, rng: Random) -> list[DrawnPair]:
        """Draw the next pairs, as `study_app.protocol.adaptive.draw_pairs`, within the budget."""
        return draw_pairs(
            self.searches,
            besides=besides,
            count=min(count, self.budget_left),
            uniform_share=self.options.uniform_share,
            stop_at=self.options.stop_at,
            rng=rng,
        )


def load_search(session: Session, task: CachedTask, *, now: datetime) -> TaskSearch:
    """Return the search of a task with adaptive pairs as it stands ``now``.

    Raises
    ------
    TypeError
        If the task's pairs are not adaptive.
    """
    options = adaptive_pairs(task)
    if options is None:
        raise TypeError(f"the pairs of task {task.entry.name} are not adaptive")
    votes = {
        (pair, left): (int(for_left), int(for_right), int(total - for_left - for_right))
        for pair, left, for_left, for_right, total in session.connection().execute(_VOTES, {"task": task.id})
    }
    topics = {unit: topic.id for topic in task.topics for unit in topic.units}
    tallies = [tally for tally in task_tallies(session, task.id, now=now) if tally.pair in topics]
    return TaskSearch(searches=best_searches(tallies, topics, votes), options=options)
