"""Steps of a worker through a study: open pages, and the next one; pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Step:
    """Page of a worker's study.

    ``task``, ``query`` and ``pair`` (or sheet) count from 1, or are 0 where they have no meaning.
    """

    kind: str
    task: int = 0
    query: int = 0
    pair: int = 0

    @property
    def path(self) -> str:
        """Path below the worker's address: ``consent``, ``1/choose``, ``1/2/pair/3``."""
        numbers = "".join(f"{number}/" for number in (self.task, self.query) if number)
        return f"{numbers}{self.kind}" + (f"/{self.pair}" if self.pair else "")


def step_of(path: str) -> Step:
    """Return the step of a path below a worker's address, the inverse of `Step.path`."""
    parts = path.split("/")
    index = next(index for index, part in enumerate(parts) if not part.isdigit())
    before, after = [int(part) for part in parts[:index]], [int(part) for part in parts[index + 1 :]]
    task, query = (*before, 0, 0)[:2]
    return Step(parts[index], task, query, after[0] if after else 0)


CONSENT = Step("consent")
STOP = Step("stop")
STOPPED = Step("stopped")
FULL = Step("full")
FINISH = Step("finish")
DONE = Step("done")
WITHDRAWN = Step("withdrawn")

ONE_PAGE = {"vote", "questions"}
"""Kinds of answer pages that a slot has only one of; other kinds are numbered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotState:
    """Progress of a worker with one query.

    Attributes
    ----------
    id, topic : int
        Rows of the database.
    searched : bool
        The search page was left.
    answered : tuple of bool
        For each page of the slot, in order, whether it has an answer: its pairs, its sheets of iUnits, its one vote or
        questionnaire. Of a stream: whether its days are over.
    followed : bool
        The worker has begun to follow its stream.
    """

    id: int
    topic: int
    searched: bool
    answered: tuple[bool, ...]
    followed: bool = False

    @property
    def is_done(self) -> bool:
        """True if every page has its answer."""
        return self.searched and all(self.answered)

    @property
    def runs(self) -> bool:
        """True if its stream is being followed."""
        return self.followed and not self.is_done


def is_settled(slots: Sequence[SlotState]) -> bool:
    """Return whether a worker's slots of a task need nothing now.

    A followed stream needs nothing. The latest slot is checked first, as the likeliest to be open.
    """
    return all(slot.is_done or slot.followed for slot in reversed(slots))


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskState:
    """Progress of a worker with one task.

    Attributes
    ----------
    page : str
        Kind of its answer pages: pair, rate, vote, questions or stream.
    has_search : bool
        A search page comes before them.
    choices : int
        Number of queries to choose from; 0 where the server assigns the next one.
    wanted : int
        Number of queries, pairs or intents that a worker is asked to do.
    has_room : bool
        Something that the worker does not hold can take one more worker; False while the worker's own slots need something.
    slots : tuple of SlotState
        Slots of the worker, in order.
    introduction : bool or None
        Whether the page before the task was passed; None where there is none.
    opens_study : bool
        Free slots of it are a reason to let a worker in: not in questions, which are never full.
    """

    page: str
    has_search: bool
    choices: int
    wanted: int
    has_room: bool
    slots: tuple[SlotState, ...]
    introduction: bool | None = None
    opens_study: bool = True

    @property
    def wants_slot(self) -> bool:
        """True if the worker should take a query now.

        More are wanted, there is room, and those held need nothing. A stream needs nothing as soon as it is
        followed: several run side by side.
        """
        return (
            self.has_room
            and len(self.slots) < self.wanted
            and is_settled(self.slots)
            and not self.awaits_introduction
        )

    @property
    def awaits_introduction(self) -> bool:
        """True if the page before the task comes now; False without work after it."""
        return self.introduction is False and (self.has_room or bool(self.slots))

    @property
    def has_choice(self) -> bool:
        """True if the worker picks the next query; False when only one is left."""
        return self.choices - len(self.slots) > 1


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerState:
    """Progress of a worker with the whole study."""

    consented: bool
    completed: bool
    withdrawn: bool
    tasks: tuple[TaskState, ...]
    stopped: bool = False

    @property
    def opening(self) -> tuple[TaskState, ...]:
        """Tasks whose room opens the study; all tasks where none does."""
        return tuple(task for task in self.tasks if task.opens_study) or self.tasks

    @property
    def has_all(self) -> bool:
        """True if every required answer is stored and nothing begun is unfinished."""
        something = any(task.slots for task in self.opening)
        missing = any(task.has_room and not task.slots for task in self.tasks)
        unfinished = any(not slot.is_done for task in self.tasks for slot in task.slots)
        return self.consented and something and not missing and not unfinished

    @property
    def is_complete(self) -> bool:
        """True if every required answer is stored, even without the last button.

        The button was pressed, or only the button is missing; a worker who withdrew at that point is complete
        too.
        """
        return self.completed or current_step(replace(self, withdrawn=False)) == FINISH


def open_steps(state: WorkerState) -> tuple[Step, ...]:
    """Return every step that the worker may open, in order; the last is current."""
    if state.withdrawn:
        return (WITHDRAWN,)
    if state.completed:
        return (DONE,)
    if state.stopped:
        return (STOPPED,)
    if not state.consented:
        return (CONSENT,) if any(task.has_room for task in state.opening) else (FULL,)
    steps = [CONSENT, STOP]
    for number, task in enumerate(state.tasks, start=1):
        steps += _task_steps(number, task)
        if (
            task.awaits_introduction
            or task.wants_slot
            or not all(slot.is_done for slot in reversed(task.slots))
        ):
            return tuple(steps)
    return (*steps, FINISH if state.has_all else FULL)


def after_page(state: WorkerState, step: Step) -> Step | None:
    """Return the step after the answer to one of a slot's numbered pages.

    It is the next step without an answer, of this slot or of those after it. Returns None when nothing more
    is known to be needed.

    None when what is held needs nothing more that is known from here.
    """
    slots = state.tasks[step.task - 1].slots
    for query, slot in enumerate(slots[step.query - 1 :], start=step.query):
        for number, answered in enumerate(slot.answered, start=1):
            if slot.searched and not answered and (query, number) != (step.query, step.pair):
                return Step(step.kind, step.task, query, number)
    return None


def part_of(state: WorkerState, step: Step) -> tuple[int, int] | None:
    """Return the number of a page's part of the study, and the number of parts.

    A task is a part when the worker has something of it or can still get it: one that was full when they came
    to it is passed over, and so is one that would be full now. Returns None on pages of no task, and where
    there is one part only.
    """
    parts = [
        number
        for number, task in enumerate(state.tasks, start=1)
        if number == step.task or task.slots or task.has_room
    ]
    return (parts.index(step.task) + 1, len(parts)) if step.task and len(parts) > 1 else None


def current_step(state: WorkerState) -> Step:
    """Return the next step."""
    return open_steps(state)[-1]


def _task_steps(number: int, task: TaskState) -> list[Step]:
    begun = task.has_room or bool(task.slots)
    steps = [Step("intro", number)] if task.introduction is not None and begun else []
    if task.awaits_introduction:
        return steps
    if task.choices > 1 and task.slots:
        steps.append(Step("choose", number))
    if task.page == "stream":
        return [*steps, *_stream_steps(number, task)]
    for query, slot in enumerate(task.slots, start=1):
        steps += _slot_steps(number, query, task, slot)
        if not slot.is_done:
            return steps
    if task.wants_slot:
        steps.append(Step("choose", number))
    return steps


def _slot_steps(number: int, query: int, task: TaskState, slot: SlotState) -> list[Step]:
    steps = [Step("search", number, query)] if task.has_search else []
    if not slot.searched:
        return steps
    if task.page in ONE_PAGE:
        return [*steps, Step(task.page, number, query)]
    reached = slot.answered.index(False) + 1 if False in slot.answered else len(slot.answered)
    return steps + [Step(task.page, number, query, page) for page in range(1, reached + 1)]


def _stream_steps(number: int, task: TaskState) -> list[Step]:
    """Return the pages of a task with streams.

    Of several streams that run, the list of them is the current page. What belongs to a stream stays open
    after its days, so that a form that comes late finds its page.
    """
    slots = list(enumerate(task.slots, start=1))
    followed = [(query, slot) for query, slot in slots if slot.followed]
    steps = [Step("enrol", number, query) for query, _ in followed]
    for kind in ("useful", "away", "stream"):
        steps += [Step(kind, number, query) for query, _ in followed]
    if len(followed) > 1:
        steps.append(Step("streams", number))
    running = [Step("stream", number, query) for query, slot in followed if slot.runs]
    if len(running) == 1:
        steps.remove(running[0])
        steps.append(running[0])
    steps += [Step("enrol", number, query) for query, slot in slots if not slot.followed]
    if task.wants_slot:
        steps.append(Step("choose", number))
    return steps
