"""How `prefcal study check` tells what a study asks for, as text and as JSON."""

import json
import math
import textwrap
from collections.abc import Sequence
from typing import Any

from study_app.estimate.content import StudyContent
from study_app.estimate.estimate import Cost, StudyEstimate, TaskEstimate, assumptions
from study_app.tasks.content import TaskContent
from study_app.tasks.kinds import kind_of
from study_app.tasks.workload import Capacity, Span, counted

MINUTE_SECONDS = 60
LINE_LENGTH = 100


def as_text(content: StudyContent, estimated: StudyEstimate, left_out: Sequence[str]) -> str:
    """Return what people read."""
    entry = content.file.entry
    lines = [
        f"{entry.study}: no faults; platform {entry.platform}, device {entry.device}",
        "",
        "What a worker does",
        f"  consent: {_minutes(estimated.consent)}",
    ]
    for number, task in enumerate(estimated.tasks, start=1):
        lines += [f"  {_head(number, task)}: {_minutes(task.seconds)}", f"    {what_is_done(task.content)}"]
    lines += [f"  in all: {_minutes(estimated.seconds)}", "", "What the study collects"]
    lines += [
        f"  task {number}, {task.content.entry.name}: {what_is_collected(task.capacity)}"
        for number, task in enumerate(estimated.tasks, start=1)
    ]
    lines += [
        f"  workers: {_up_to(estimated.workers)}",
        f"  cost: {_cost(estimated.cost, estimated.workers)}",
    ]
    if estimated.warnings:
        lines += ["", "Look at this", *(f"  {line}" for line in estimated.warnings)]
    if left_out:
        lines += ["", "What no worker will see", *left_out]
    basis = f"Minutes are estimates: {'; '.join(assumptions(entry.tasks))}. See docs/study-file.md."
    return "\n".join([*lines, "", *textwrap.wrap(basis, LINE_LENGTH)]) + "\n"


def as_json(content: StudyContent, estimated: StudyEstimate, left_out: Sequence[str]) -> str:
    """Return the same for machines."""
    entry = content.file.entry
    whole = {
        "study": entry.study,
        "platform": entry.platform,
        "device": entry.device,
        "minutes": _pair(estimated.seconds),
        "consent_minutes": _pair(estimated.consent),
        "tasks": [_task_json(number, task) for number, task in enumerate(estimated.tasks, start=1)],
        "workers": estimated.workers,
        "cost": _cost_json(estimated.cost),
        "warnings": list(estimated.warnings),
        "left_out": [line.strip() for line in left_out],
        "assumptions": list(assumptions(entry.tasks)),
    }
    return json.dumps(whole, ensure_ascii=False, indent=2) + "\n"


def what_is_done(content: TaskContent) -> str:
    """Say in a line what one worker does in a task."""
    return kind_of(content.entry).work(content)


def what_is_collected(held: Capacity | None) -> str:
    """Say in a line how many workers a task takes and what it has then."""
    if held is None:
        return "answers of everybody"
    if held.workers is None or held.each is None:
        return f"no limit of workers; each adds {held.answers} {held.a_worker} of {counted(held.things, held.thing)}"
    low, high = held.each
    each = f"{low}" if low == high else f"{low} or {high}"
    return f"{held.workers} workers; {each} {held.answers} each of {counted(held.things, held.thing)}"


def _head(number: int, task: TaskEstimate) -> str:
    entry = task.content.entry
    return f"task {number}, {entry.name} ({entry.kind}, {entry.language})"


def _exact(amount: float) -> str:
    """Write an amount of money with as many decimals as it takes, two at least, so that sums add up."""
    return f"{amount:.2f}" if math.isclose(amount, round(amount, 2)) else f"{amount:.4f}".rstrip("0")


def _cost(cost: Cost | None, workers: int | None) -> str:
    if cost is None:
        return "write reward (and currency, platform_fee) to have it worked out"
    total = (
        "no limit"
        if cost.total is None
        else f"{workers} workers x {_exact(cost.with_fee)} = {cost.total:.2f}"
    )
    return (
        f"{cost.reward:.2f} {cost.currency} a worker, {_exact(cost.with_fee)} with the platform's fee; {total}; "
        f"a worker earns {cost.an_hour.low:.2f} to {cost.an_hour.high:.2f} {cost.currency} an hour"
    )


def _up_to(workers: int | None) -> str:
    return "no limit" if workers is None else f"{workers}, then the study is full"


def _minutes(span: Span) -> str:
    low, high = (_rounded(seconds) for seconds in (span.low, span.high))
    return f"{low} min" if low == high else f"{low} to {high} min"


def _rounded(seconds: float) -> str:
    minutes = seconds / MINUTE_SECONDS
    return f"{minutes:.0f}" if minutes >= 10 else f"{minutes:.1f}"


def _pair(span: Span) -> list[float]:
    return [round(span.low / MINUTE_SECONDS, 2), round(span.high / MINUTE_SECONDS, 2)]


def _task_json(number: int, task: TaskEstimate) -> dict[str, Any]:
    entry, held = task.content.entry, task.capacity
    return {
        "number": number,
        "name": entry.name,
        "kind": entry.kind,
        "language": entry.language,
        "minutes": _pair(task.seconds),
        "worker": what_is_done(task.content),
        "workers": None if held is None else held.workers,
        "answers": None if held is None else f"{held.answers} a {held.thing}",
        "number_of_these": None if held is None else held.things,
        "answers_each": None if held is None or held.each is None else list(held.each),
        "of_a_worker": None if held is None else held.a_worker,
    }


def _cost_json(cost: Cost | None) -> dict[str, Any] | None:
    if cost is None:
        return None
    return {
        "currency": cost.currency,
        "reward": cost.reward,
        "with_fee": round(cost.with_fee, 4),
        "total": None if cost.total is None else round(cost.total, 2),
        "an_hour": [round(cost.an_hour.low, 2), round(cost.an_hour.high, 2)],
    }
