"""Rules between the keys of a study file that its schema cannot hold: what contradicts what, and where."""

from collections.abc import Iterator, Mapping, Sequence

from metrics.errors import FaultLog
from study_app.study.entries import Contradiction, JudgedTask, Kinds, Place, StudyEntry, TaskEntry
from study_app.study.platforms import PLATFORMS


def note_contradictions(entry: StudyEntry, lines: Mapping[Place, int], log: FaultLog, kinds: Kinds) -> None:
    """Add a fault for each rule that a study file breaks which fits the schema."""
    found = [*_names(entry.tasks), *_alike(entry.tasks, kinds), *_platform(entry)]
    for number, task in enumerate(entry.tasks):
        of_task = [*_check(task), *kinds[task.kind].rules(task), *_comparison(task)]
        found += [(("tasks", number, *place), wrong, cure) for place, wrong, cure in of_task]
    for place, wrong, cure in found:
        log.add(wrong, line=_line(place, lines), cure=cure)


def _line(place: Place, lines: Mapping[Place, int]) -> int:
    around = (place[:size] for size in range(len(place), 0, -1))
    return next((lines[outer] for outer in around if outer in lines), 1)


def _names(tasks: Sequence[TaskEntry]) -> Iterator[Contradiction]:
    names = [task.name for task in tasks]
    for number, name in enumerate(names):
        if name in names[:number]:
            yield ("tasks", number), f"two tasks are named {name!r}", "give each task a name of its own"


def _alike(tasks: Sequence[TaskEntry], kinds: Kinds) -> Iterator[Contradiction]:
    """Find what all tasks of a kind must have alike: streams of different clocks could not be put together."""
    for kind in dict.fromkeys(task.kind for task in tasks):
        (first, one), *others = [(number, task) for number, task in enumerate(tasks) if task.kind == kind]
        for key in kinds[kind].same_in_all:
            value = getattr(one, key)
            for number, task in others:
                if getattr(task, key) != value:
                    yield (
                        ("tasks", number, key),
                        f"tasks.{number + 1}.{key} is {getattr(task, key):g}, but {value:g} in task {first + 1}",
                        f"give all {kind} of a study the same {key}",
                    )


def _platform(entry: StudyEntry) -> Iterator[Contradiction]:
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


def _comparison(task: TaskEntry) -> Iterator[Contradiction]:
    if isinstance(task, JudgedTask) and task.primary is not None and task.primary[0] == task.primary[1]:
        yield ("primary",), "a measure is compared with itself", "name two"


def _check(task: TaskEntry) -> Iterator[Contradiction]:
    if task.check and task.instructions is None:
        yield (("check",), "a check without instructions", "add instructions: standard, or your own text")
    for number, question in enumerate(task.check or ()):
        if question.answer > len(question.options):
            yield (
                ("check", number, "answer"),
                f"answer {question.answer} of {len(question.options)} options",
                "write the number of the right option, counted from 1",
            )
