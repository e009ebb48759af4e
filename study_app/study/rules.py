"""Rules between the keys of a study file that its schema cannot hold: what contradicts what, and where."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from metrics.errors import FaultLog
from metrics.push.streams import parsed_day
from study_app.study.entries import (
    AnyTask,
    EventFiles,
    JudgedTask,
    Question,
    Questions,
    StreamPairs,
    StreamVisits,
    StudyEntry,
    TaskEntry,
)
from study_app.study.platforms import PLATFORMS

Place: TypeAlias = tuple[str | int, ...]
Found: TypeAlias = tuple[Place, str, str]
"""Where, what is wrong, how to mend it."""

MOST_DAYS = 100
"""Of push streams: each has its place on the page, also one without pushes."""


def note_contradictions(entry: StudyEntry, lines: Mapping[Place, int], log: FaultLog) -> None:
    """Add a fault for each rule that a study file breaks which fits the schema."""
    found = [*_names(entry.tasks), *_clocks(entry.tasks), *_platform(entry)]
    for number, task in enumerate(entry.tasks):
        found += [((("tasks", number, *place)), wrong, cure) for place, wrong, cure in _of_task(task)]
    for place, wrong, cure in found:
        log.add(wrong, line=_line(place, lines), cure=cure)


def _line(place: Place, lines: Mapping[Place, int]) -> int:
    around = (place[:size] for size in range(len(place), 0, -1))
    return next((lines[outer] for outer in around if outer in lines), 1)


def _names(tasks: Sequence[AnyTask]) -> Iterator[Found]:
    names = [task.name for task in tasks]
    for number, name in enumerate(names):
        if name in names[:number]:
            yield ("tasks", number), f"two tasks are named {name!r}", "give each task a name of its own"


def _clocks(tasks: Sequence[AnyTask]) -> Iterator[Found]:
    """Find streams of different clocks: their away times could not be put together."""
    streams = [(number, task) for number, task in enumerate(tasks) if isinstance(task, StreamVisits)]
    for key in ("clock_factor", "idle_seconds"):
        for number, task in streams[1:]:
            first, other = getattr(streams[0][1], key), getattr(task, key)
            if other != first:
                yield (
                    ("tasks", number, key),
                    f"tasks.{number + 1}.{key} is {other:g}, but {first:g} in task {streams[0][0] + 1}",
                    f"give all stream_visits of a study the same {key}",
                )


def _platform(entry: StudyEntry) -> Iterator[Found]:
    form = PLATFORMS[entry.platform].return_form
    if form is not None and entry.return_url is None:
        yield (
            ("platform",),
            f"platform {entry.platform} needs return_url, which only you know",
            f"write return_url: {form}",
        )
    if form is not None and "{id}" in form and "{id}" not in (entry.return_url or "{id}"):
        yield (
            ("return_url",),
            f"return_url without {{id}}: platform {entry.platform} could not tell whom to credit",
            f"write {{id}} where the platform writes XXXX: {form}",
        )
    if entry.id_parameter in entry.extra_parameters:
        yield (
            ("extra_parameters",),
            f"extra_parameters has the id parameter {entry.id_parameter!r}",
            "name other parameters there",
        )


def _of_task(task: AnyTask) -> Iterator[Found]:
    yield from _check(task)
    if isinstance(task, Questions):
        yield from _questions(task)
    if isinstance(task, StreamPairs):
        yield from _days(task)
    if isinstance(task, JudgedTask) and task.primary is not None and task.primary[0] == task.primary[1]:
        yield ("primary",), "a measure is compared with itself", "name two"


def _check(task: TaskEntry) -> Iterator[Found]:
    if task.check and task.instructions is None:
        yield (("check",), "a check without instructions", "add instructions: standard, or your own text")
    for number, question in enumerate(task.check or ()):
        if question.answer > len(question.options):
            yield (
                ("check", number, "answer"),
                f"answer {question.answer} of {len(question.options)} options",
                "write the number of the right option, counted from 1",
            )


def _questions(task: Questions) -> Iterator[Found]:
    ids = [question.id for question in task.questions]
    for number, question in enumerate(task.questions):
        place: Place = ("questions", number)
        if question.id in ids[:number]:
            yield (*place, "id"), f"two questions are named {question.id!r}", "give each an id of its own"
        yield from ((((*place, *inner)), wrong, cure) for inner, wrong, cure in _question(question))


def _question(question: Question) -> Iterator[Found]:
    chosen = question.type in {"single", "multiple"}
    if chosen and len(question.options) < 2:
        yield ("options",), f"a {question.type} question needs two options at least", "list its options"
    if not chosen and question.options:
        yield ("options",), f"a {question.type} question has no options", "remove them, or write type: single"
    if len(set(question.options)) < len(question.options):
        yield ("options",), "two options are the same", "keep one of them"
    for wanted in question.screen_out:
        if wanted not in question.options:
            yield (
                ("screen_out",),
                f"{wanted!r} is none of the options",
                "write it as it stands under options",
            )
    if question.type != "number" and (question.min is not None or question.max is not None):
        yield ("min",), f"a {question.type} question has no least or greatest number", "remove min and max"
    if question.min is not None and question.max is not None and question.min > question.max:
        yield ("min",), "min is more than max", "exchange them"


def _days(task: StreamPairs) -> Iterator[Found]:
    is_events = isinstance(task.collection, EventFiles)
    if task.days is None and not is_events:
        yield ((), "days is missing", "write days: [YYYYMMDD, YYYYMMDD], the first and the last")
    if task.days is not None and is_events:
        yield (("days",), "days are those of the events", "remove days")
    if task.days is not None:
        yield from _span(*task.days)


def _span(first: str, last: str) -> Iterator[Found]:
    try:
        days = (parsed_day(last) - parsed_day(first)).days + 1
    except ValueError as error:
        yield ("days",), str(error), "write each as YYYYMMDD"
        return
    if days < 1:
        yield ("days",), "the first day is after the last", "exchange them"
    if days > MOST_DAYS:
        yield (
            ("days",),
            f"{days} days are more than anybody can judge on a page",
            f"take {MOST_DAYS} days or fewer",
        )
