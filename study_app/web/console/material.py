"""Judgments of each pair, and which system is preferred so far.

All is counted by the database. The counts of pairs do not say which system stood on which side: together with the side that a worker
picked that would be the worker's vote. Looking at results early is allowed, and every view of them is on record.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from flask import Blueprint, Response, request
from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session
from werkzeug.exceptions import NotFound

from study_app.store.models import Assignment, Judgment, Pair, Showing, Slot, Topic, Worker
from study_app.store.results_views import add_results_view, results_views
from study_app.store.revisions import is_newest
from study_app.store.study_cache import CachedStudy, CachedTask, CachedTopic
from study_app.web.console.auth import ConsoleRequest, manager_required, row_number, viewer_required
from study_app.web.console.layout import page

blueprint = Blueprint("material", __name__)
MAX_CELLS = 20_000
"""Most cells of a matrix; the topics beyond are not shown."""


@blueprint.get("/r/<study>/material")
@viewer_required
def material(console_request: ConsoleRequest) -> Response:
    """Show the judgments of a task by topic and pair of systems."""
    task = _task(console_request)
    return page(
        "console/material.html",
        console_request,
        task=task,
        matrix=pair_matrix(console_request.session, task) if task.kind.page == "pair" else None,
        views=results_views(console_request.session, console_request.study.id),
    )


def _task(console_request: ConsoleRequest) -> CachedTask:
    """Return the task of the number in the address, else the first with pairs."""
    tasks = console_request.study.tasks
    if "task" not in request.args:
        return next((task for task in tasks if task.kind.page == "pair"), tasks[0])
    number = max(1, row_number(request.args["task"]) or 1)
    if number > len(tasks):
        raise NotFound
    return tasks[number - 1]


@blueprint.get("/r/<study>/material/results")
@viewer_required
def results(console_request: ConsoleRequest) -> Response:
    """Explain what opening the results means, without showing any."""
    views = results_views(console_request.session, console_request.study.id)
    return page("console/results.html", console_request, votes=None, views=views)


@blueprint.post("/r/<study>/material/results")
@manager_required("look at who is preferred")
def post_results(console_request: ConsoleRequest) -> Response:
    """Show who is preferred so far, and store that it was looked at."""
    session, study = console_request.session, console_request.study
    view = add_results_view(session, study.id, now=console_request.now)
    console_request.note(f"at {view.judgments} judgments")
    votes, views = votes_so_far(session, study), results_views(session, study.id)
    return page("console/results.html", console_request, votes=votes, views=views)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairMatrix:
    """Judgments of a task by topic and pair of systems.

    Attributes
    ----------
    system_pairs : tuple of (str, str)
        Names of both systems, in the order of the study file.
    rows : tuple of (CachedTopic, tuple)
        The first topics, as many as `MAX_CELLS` holds, each with the judgments of each pair of systems, repeats not counted; None where
        the topic has no such pair.
    highest : int
        The most judgments that a pair of the task has.
    judgments, repeats, gold : int
        Of the whole task; repeats are validation pairs, and gold is of pairs with a known answer. They are no judgments.
    silent_days : mapping of bool to int, or None
        Judgments, repeats not counted, on pages that said which days were silent, and that did not; None where the task has no days.
    """

    system_pairs: tuple[tuple[str, str], ...]
    rows: tuple[tuple[CachedTopic, tuple[int | None, ...]], ...]
    highest: int
    judgments: int
    repeats: int
    gold: int
    silent_days: Mapping[bool, int] | None


def pair_matrix(session: Session, task: CachedTask) -> PairMatrix:
    """Count the judgments of a task with pairs, of workers who have not withdrawn."""
    by_order = list(task.systems).index
    pairs = {
        pair: (topic, tuple(sorted(systems, key=by_order)))
        for pair, topic, *systems in session.execute(
            select(Pair.id, Pair.topic_id, Pair.system_a_id, Pair.system_b_id)
            .join(Topic, Topic.id == Pair.topic_id)
            .where(Topic.task_id == task.id, Pair.gold.is_(None))
        )
    }
    system_pairs = sorted({systems for _, systems in pairs.values()}, key=lambda ids: [*map(by_order, ids)])
    cells = dict.fromkeys(pairs.values(), 0)
    silent: Counter[bool | None] = Counter()
    repeats = gold = 0
    for pair, is_repeat, reveals, number in session.execute(_judgment_counts(task)):
        if pair in task.gold:
            gold += number
        elif is_repeat:
            repeats += number
        else:
            cells[pairs[pair]] += number
            silent[reveals] += number
    return PairMatrix(
        system_pairs=tuple((task.systems[first], task.systems[second]) for first, second in system_pairs),
        rows=tuple(
            (topic, tuple(cells.get((topic.id, systems)) for systems in system_pairs))
            for topic in task.topics[: MAX_CELLS // max(1, len(system_pairs))]
        ),
        highest=max(cells.values(), default=0),
        judgments=sum(cells.values()),
        repeats=repeats,
        gold=gold,
        silent_days={reveals: silent[reveals] for reveals in (True, False)} if set(silent) - {None} else None,
    )


def _judgment_counts(task: CachedTask) -> Select[int, bool, bool | None, int]:
    """Select pair, is repeat, reveals silent days, and number of judgments."""
    is_repeat = Showing.repeats_id.is_not(None)
    return (
        select(Showing.pair_id, is_repeat, Showing.reveals_silence, func.count())
        .join(Judgment, (Judgment.showing_id == Showing.id) & (Judgment.revision == 1))
        .join(Showing.slot)
        .join(Slot.assignment)
        .join(Assignment.worker)
        .where(Assignment.task_id == task.id, Worker.withdrawn_at.is_(None))
        .group_by(Showing.pair_id, is_repeat, Showing.reveals_silence)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemPairVotes:
    """Votes of one pair of systems over all topics; equal is half a vote for each."""

    first: str
    second: str
    for_first: int
    for_second: int
    equal: int

    @property
    def judgments(self) -> int:
        """Number of judgments."""
        return self.for_first + self.for_second + self.equal

    @property
    def share(self) -> float:
        """The first system's share of the votes."""
        return (self.for_first + self.equal / 2) / self.judgments


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskVotes:
    """Votes of one task: judged pairs, and each system's share, best first."""

    task: str
    kind: str
    pairs: tuple[SystemPairVotes, ...]
    systems: tuple[tuple[str, float, int], ...]


def votes_so_far(session: Session, study: CachedStudy) -> list[TaskVotes]:
    """Count the votes of every task with pairs.

    Newest revisions count; repeats and workers who withdrew do not.
    """
    return [_task_votes(session, task) for task in study.tasks if task.kind.page == "pair"]


def _task_votes(session: Session, task: CachedTask) -> TaskVotes:
    by_order = list(task.systems).index
    votes: defaultdict[tuple[int, ...], Counter[int | None]] = defaultdict(Counter)
    for left, right, choice, number in session.execute(_choices(task)):
        preferred = {"left": left, "right": right}.get(choice)
        votes[tuple(sorted((left, right), key=by_order))][preferred] += number
    pairs = tuple(
        SystemPairVotes(
            first=task.systems[first],
            second=task.systems[second],
            for_first=votes[first, second][first],
            for_second=votes[first, second][second],
            equal=votes[first, second][None],
        )
        for first, second in sorted(votes, key=lambda ids: [*map(by_order, ids)])
    )
    return TaskVotes(task=str(task.entry.name), kind=task.entry.kind, pairs=pairs, systems=_shares(pairs))


def _choices(task: CachedTask) -> Select[int, int, str, int]:
    return (
        select(Showing.left_system_id, Showing.right_system_id, Judgment.choice, func.count())
        .join(Judgment, Judgment.showing_id == Showing.id)
        .join(Showing.slot)
        .join(Slot.assignment)
        .join(Assignment.worker)
        .where(
            Assignment.task_id == task.id,
            Showing.repeats_id.is_(None),
            Showing.pair_id.not_in(select(Pair.id).where(Pair.gold.is_not(None))),
            Worker.withdrawn_at.is_(None),
            is_newest(Judgment),
        )
        .group_by(Showing.left_system_id, Showing.right_system_id, Judgment.choice)
    )


def _shares(pairs: tuple[SystemPairVotes, ...]) -> tuple[tuple[str, float, int], ...]:
    """Return each system with its share of votes and judgments, best first."""
    votes: defaultdict[str, float] = defaultdict(float)
    judgments: Counter[str] = Counter()
    for pair in pairs:
        votes[pair.first] += pair.share * pair.judgments
        votes[pair.second] += (1 - pair.share) * pair.judgments
        judgments.update({pair.first: pair.judgments, pair.second: pair.judgments})
    rows = [(name, votes[name] / judgments[name], judgments[name]) for name in votes]
    return tuple(sorted(rows, key=lambda row: -row[1]))
