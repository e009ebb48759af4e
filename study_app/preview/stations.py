"""Pages of a study for its preview, each with the way to reach it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from study_app.estimate.content import StudyContent
from study_app.preview.copies import StudyCopy, Walker, Wanted
from study_app.simulate.browser import Page
from study_app.study.entries import FollowedTask, JudgingTask, QuestionTask, TaskEntry, TaskWithSearch
from study_app.study.platforms import platform_of
from study_app.tasks.content import TaskContent
from study_app.tasks.kinds import check_of, kind_of
from study_app.tasks.task_kind import Page as AnswerPage

ANSWERED = {"vote", "rate", "pair", "questions", "enrol"}
"""Pages on which the first answer of a task is given."""

Lead = Callable[[StudyCopy], str]
"""Callable that brings a copy to a page, and returns the page's path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRecipe:
    """Page of the study: its part, its name and the way to reach it.

    Attributes
    ----------
    at_door : bool
        It is reached by the study's own address, before there is a worker's address.
    other_device : bool
        It is viewed on the device that the study is not for.
    """

    part: str
    name: str
    lead: Lead
    at_door: bool = False
    other_device: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerMessage:
    """Page with a message of the server, whatever the worker does.

    ``key`` names its words in the catalogue, ``status`` is the HTTP status; ``reference``: it has the number
    of the request.
    """

    part: str
    name: str
    key: str
    status: int
    reference: bool = False


def stations(content: StudyContent) -> tuple[PageRecipe | ServerMessage, ...]:
    """Return every page that a worker of the study can see, in workers' order."""
    entry = content.file.entry
    listed = [*_door(content)]
    for number in range(1, len(entry.tasks) + 1):
        listed += _of_task(content, number)
    return (*listed, *_ends(content), *TROUBLES)


TROUBLE = "When something goes wrong"
TROUBLES = (
    ServerMessage(
        part=TROUBLE, name="The database does not answer", key="unavailable", status=503, reference=True
    ),
    ServerMessage(part=TROUBLE, name="A fault of the server", key="failure", status=500, reference=True),
    ServerMessage(part=TROUBLE, name="No such study", key="no_study", status=404),
    ServerMessage(
        part=TROUBLE, name="An unknown worker's address", key="bad_address", status=404, reference=True
    ),
    ServerMessage(
        part=TROUBLE, name="The bare address of the server", key="bare_address", status=404, reference=True
    ),
    ServerMessage(part=TROUBLE, name="No such page", key="not_found", status=404, reference=True),
    ServerMessage(part=TROUBLE, name="A form of another page", key="bad_form", status=403),
    ServerMessage(part=TROUBLE, name="A form that is too large", key="too_large", status=413, reference=True),
    ServerMessage(part=TROUBLE, name="Any other bad request", key="bad_request", status=400, reference=True),
)


def _door(content: StudyContent) -> Iterator[PageRecipe | ServerMessage]:
    entry = content.file.entry
    part = "At the door"
    yield PageRecipe(part=part, name="The platform's link", lead=lambda copy: copy.entrance, at_door=True)
    yield PageRecipe(part=part, name="Consent", lead=_first("consent"))
    if platform_of(entry).takes_form:
        yield PageRecipe(part=part, name="Before the work is accepted", lead=_door_without_id, at_door=True)
    else:
        yield PageRecipe(part=part, name="Without an id", lead=_door_without_id, at_door=True)
    if entry.device != "any":
        yield PageRecipe(
            part=part,
            name="On the wrong device",
            lead=lambda copy: copy.entrance,
            at_door=True,
            other_device=True,
        )
    if platform_of(entry).takes_form:
        yield ServerMessage(part=part, name="An unknown site for handing in", key="bad_host", status=400)
    if entry.ids is not None:
        yield ServerMessage(part=part, name="Not in the list of ids", key="not_invited", status=403)
    if entry.keep_out is not None:
        yield ServerMessage(part=part, name="Kept out", key="kept_out", status=403)
    if entry.ids is not None or entry.keep_out is not None:
        yield ServerMessage(
            part=part, name="Too many strangers from one network", key="too_often", status=429
        )
    if entry.signing_keys is not None:
        yield ServerMessage(part=part, name="Not signed by the platform", key="not_signed", status=403)
    yield PageRecipe(part=part, name="Paused", lead=_paused, at_door=True)
    yield ServerMessage(part=part, name="A full disk", key="no_room", status=503)
    if _can_be_full(content):
        yield PageRecipe(part=part, name="Full", lead=_full, at_door=True)


def _of_task(content: StudyContent, number: int) -> Iterator[PageRecipe]:
    task = content.tasks[number - 1]
    entry = task.entry
    part = f"Task {number}: {entry.name}"
    if entry.instructions is not None:
        yield PageRecipe(part=part, name="Introduction", lead=_first("intro", number))
    for name, step, nth in _pages(task):
        yield PageRecipe(part=part, name=name, lead=_first(step, number, nth))


ONE_PAGE: dict[AnswerPage, str] = {"vote": "Votes", "rate": "Ratings", "questions": "Questions"}
"""Name of each kind of answer page that is previewed once."""


def _pages(task: TaskContent) -> Iterator[tuple[str, str, int]]:
    """Yield (name, kind of page, number within the kind) of a task's pages.

    The page before the task is left out.
    """
    entry, topics = task.entry, len(task.topics)
    kind = kind_of(entry)
    if kind.is_chosen and topics > 1:
        yield "Choice", "choose", 1
    if isinstance(entry, TaskWithSearch) and entry.search_seconds:
        yield "Search", "search", 1
    if kind.page in ONE_PAGE:
        yield ONE_PAGE[kind.page], kind.page, 1
    if isinstance(entry, JudgingTask):
        yield "First pair", "pair", 1
        if entry.pairs_of_a_worker(task.pairs_of_topics) > 1:
            yield "Second pair", "pair", 2
    if isinstance(entry, FollowedTask):
        yield from _stream_pages(entry, topics)


def _stream_pages(entry: FollowedTask, topics: int) -> Iterator[tuple[str, str, int]]:
    yield "Enrolment", "enrol", 1
    yield "Stream, first visit", "stream", 1
    yield "Away", "away", 1
    yield "Stream, a later visit", "stream", 2
    if entry.ask_per_visit:
        yield "Still of use?", "useful", 1
    if min(entry.topics_per_worker, topics) > 1:
        yield "Everything that is followed", "streams", 1


def _ends(content: StudyContent) -> Iterator[PageRecipe]:
    entry = content.file.entry
    part = "The end"
    yield PageRecipe(part=part, name="Finish", lead=_first("finish"))
    yield PageRecipe(part=part, name="Done", lead=_first("done"))
    yield PageRecipe(part=part, name="Stop here?", lead=_stopping)
    yield PageRecipe(part=part, name="Stopped", lead=_stopped)
    checked = next((n for n, task in enumerate(entry.tasks, start=1) if _has_check(task)), None)
    if checked is not None:
        yield PageRecipe(part=part, name="Failed the check", lead=_ended("intro", checked, Walker.fail_check))
    screening = next((n for n, task in enumerate(entry.tasks, start=1) if _screens(task)), None)
    if screening is not None:
        yield PageRecipe(
            part=part, name="Screened out", lead=_ended("questions", screening, Walker.screen_out)
        )
    if _can_be_full(content):
        yield PageRecipe(part=part, name="Full in the meantime", lead=_full_meanwhile)
    yield PageRecipe(
        part=part,
        name="Withdraw",
        lead=lambda _copy: f"/withdraw?language={entry.tasks[0].language}",
        at_door=True,
    )
    yield PageRecipe(part=part, name="Withdrawn", lead=_withdrawn)


def _can_be_full(content: StudyContent) -> bool:
    held_tasks = [
        capacity for task in content.tasks if (capacity := kind_of(task.entry).capacity(task)) is not None
    ]
    return bool(held_tasks) and all(capacity.workers is not None for capacity in held_tasks)


def _has_check(task: TaskEntry) -> bool:
    return task.instructions is not None and bool(check_of(task))


def _screens(task: TaskEntry) -> bool:
    return isinstance(task, QuestionTask) and task.screens


def _nth(step: str, task: int | None, nth: int) -> Wanted:
    """Return a condition that is true of the ``nth`` different page of a kind.

    Two loads of one stream are two pages.
    """
    seen: list[str] = []

    def wanted(page: Page) -> bool:
        if page.step != step or (task is not None and page.task != task):
            return False
        seen.append(page.url)
        return len(seen) >= nth

    return wanted


def _first(step: str, task: int | None = None, nth: int = 1) -> Lead:
    return lambda copy: _path(copy.walker.walk(copy.entrance, _nth(step, task, nth)))


def _path(page: Page) -> str:
    return page.url.removeprefix("http://localhost")


def _door_without_id(copy: StudyCopy) -> str:
    return copy.entrance.partition("?")[0]


def _paused(copy: StudyCopy) -> str:
    copy.pause()
    return copy.entrance


def _full(copy: StudyCopy) -> str:
    copy.fill()
    return copy.entrance


def _full_meanwhile(copy: StudyCopy) -> str:
    page = copy.walker.walk(copy.entrance, _nth("consent", None, 1))
    copy.fill()
    return _path(copy.walker.open(copy.walker.send(page, agree="yes"), ""))


def _begun(copy: StudyCopy) -> Page:
    """Return the page after consent."""
    page = copy.walker.walk(copy.entrance, _nth("consent", None, 1))
    return copy.walker.answer(page)


def _stopping(copy: StudyCopy) -> str:
    return _path(copy.walker.open(_begun(copy), "stop"))


def _stopped(copy: StudyCopy) -> str:
    """Stop after a first answer, so that there is a partial code."""
    page = copy.walker.walk(copy.entrance, lambda page: page.step in ANSWERED)
    page = copy.walker.open(copy.walker.answer(page), "stop")
    return _path(copy.walker.open(copy.walker.send(page, stop="yes"), ""))


def _withdrawn(copy: StudyCopy) -> str:
    page = _begun(copy)
    copy.withdraw()
    return _path(copy.walker.open(page, ""))


def _ended(step: str, task: int, answer: Callable[[Walker, Page], Page]) -> Lead:
    """Return the way to what comes after an answer on a page of a task that ends the worker's part."""

    def lead(copy: StudyCopy) -> str:
        page = copy.walker.walk(copy.entrance, _nth(step, task, 1))
        return _path(copy.walker.open(answer(copy.walker, page), ""))

    return lead
