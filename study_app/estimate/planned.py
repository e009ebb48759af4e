"""Sizes and costs of a study file's tasks for `prefcal plan`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from metrics.errors import input_fault
from study_app.estimate.content import StudyContent
from study_app.estimate.estimate import estimate
from study_app.study.entries import AssignedPairTask, ChosenTopicTask, FollowedTask
from study_app.tasks.content import TaskContent
from study_app.tasks.kinds import kind_of
from study_app.tasks.workload import Capacity, SecondsRange, followed_days


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedStudy:
    """Sizes of one task for a plan, with the time and cost of a worker.

    Attributes
    ----------
    task : str
        Name of the task.
    sizes : mapping of str to int
        Value of each option of the plan; what the study does not limit is missing.
    pairs_each : int or None
        Pairs of a query that one worker judges, where those are not all.
    seconds : SecondsRange
        Time of one worker for the whole study.
    price : float or None
        Price of one worker, with the platform's fee; None without a reward.
    currency : str
        Currency of the price.
    """

    task: str
    sizes: Mapping[str, int]
    pairs_each: int | None
    seconds: SecondsRange
    price: float | None
    currency: str


def planned_study(content: StudyContent, kinds: Sequence[str], name: str | None) -> PlannedStudy:
    """Return the sizes of the only task of these kinds, or of the named one.

    Raises
    ------
    InputError
        If there is no such task, or several and none is named.
    """
    task = _task(content, kinds, name)
    task_capacity, estimated = kind_of(task.entry).capacity(task), estimate(content)
    sizes = {option: value for option, value in _sizes(task, task_capacity).items() if value is not None}
    entry = task.entry
    pairs = (
        entry.pairs_and_repeats(max(task.pairs_of_topics))[0] if isinstance(entry, ChosenTopicTask) else None
    )
    return PlannedStudy(
        task=str(entry.name),
        sizes=MappingProxyType(sizes),
        pairs_each=None if pairs == sizes.get("pairs") else pairs,
        seconds=estimated.seconds,
        price=None if estimated.cost is None else estimated.cost.with_fee,
        currency="" if estimated.cost is None else estimated.cost.currency,
    )


def _task(content: StudyContent, kinds: Sequence[str], name: str | None) -> TaskContent:
    of_kind = [task for task in content.tasks if task.entry.kind in kinds]
    named = [task for task in of_kind if name in {None, task.entry.name}]
    if len(named) == 1:
        return named[0]
    path, names = content.file.path, ", ".join(str(task.entry.name) for task in of_kind)
    if not of_kind:
        problem, cure = (
            f"there is no task of kind {' or '.join(kinds)}",
            "name another file, or give the sizes as options",
        )
    elif name is None:
        problem, cure = f"there are several such tasks: {names}", "name one with --task"
    else:
        problem, cure = f"there is no such task as {name}", f"name one of {names} with --task"
    raise input_fault(problem, path=path, cure=cure)


def _sizes(task: TaskContent, task_capacity: Capacity | None) -> dict[str, int | None]:
    people, topics = None if task_capacity is None else task_capacity.workers, len(task.topics)
    match task.entry:
        case ChosenTopicTask() as entry:
            return {
                "queries": topics,
                "pairs": max(task.pairs_of_topics),
                "workers": None
                if task_capacity is None or task_capacity.each is None
                else task_capacity.each[0],
                "queries_a_worker": min(entry.queries_per_worker, topics),
            }
        case AssignedPairTask():
            return {
                "topics": topics,
                "pairs": None if task_capacity is None else task_capacity.a_worker,
                "workers": people,
                "days": _shown_days(task),
            }
        case FollowedTask() as entry:
            return {"workers": people, "days": max(1, round(followed_days(entry, task.streams.values())))}
    raise TypeError(f"no plan is about tasks of kind {task.entry.kind}")


def _shown_days(task: TaskContent) -> int | None:
    """Return the number of days that the pairs of a task display.

    Where profiles differ, the first counts.
    """
    details = [topic.detail or {} for topic in task.topics]
    return next((len(detail["days"]) for detail in details if "days" in detail), None)
