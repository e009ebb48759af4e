"""Estimates of a study's time, answers and cost, with warnings."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from calibration.agree.measures.names import is_name, nearest_name, what_is_missing
from metrics.agreement.crossed_errors import MIN_CLUSTERS
from metrics.errors import join_names, pluralise
from study_app.estimate.consent import added_sentence, consent_warnings
from study_app.estimate.content import StudyContent
from study_app.protocol.domain import MIN_VALIDATIONS
from study_app.study.entries import (
    AssignedPairTask,
    ChosenTopicTask,
    JudgingTask,
    QuestionTask,
    StudyEntry,
    TaskEntry,
)
from study_app.study.platforms import PLATFORMS
from study_app.study.standard_texts import looks_japanese
from study_app.tasks.content import TaskContent
from study_app.tasks.kinds import KINDS, STANDARD, check_of, kind_of
from study_app.tasks.workload import (
    AGREEING,
    CHECK_QUESTION,
    CRITERIA_ASSUMED,
    EXAMPLE,
    FINISHING,
    NOTHING,
    READING_ASSUMED,
    STANDARD_INTRODUCTION,
    Capacity,
    SecondsRange,
    gold_of_a_worker,
    read_once,
    reading_seconds,
)

JUDGMENTS_PER_SYSTEM = 10
"""Judgments of each system below which a budget is too small to find the best."""
MAX_PAGE_BYTES, MAX_WORKER_BYTES = 20_000_000, 100_000_000
"""Bytes of media above which a warning is printed, a page and a worker.

They take 20 s and more at an assumed 8 Mbit/s.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class MediaLoad:
    """Most bytes of media that a browser loads, for one page and for all pages.

    Repeated media are loaded once.
    """

    page: int
    worker: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskEstimate:
    """Estimate of a task: worker's time in seconds, answers, and bytes loaded.

    Answers are None for questions, and bytes for a task without pictures or sounds.
    """

    content: TaskContent
    seconds: SecondsRange
    capacity: Capacity | None
    load: MediaLoad | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Cost in ``currency``: of a worker, of an hour, and in all with the fee.

    The last is None without a limit of workers.
    """

    currency: str
    reward: float
    with_fee: float
    an_hour: SecondsRange
    total: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyEstimate:
    """Estimate of a study.

    Attributes
    ----------
    consent, seconds : SecondsRange
        Time of the consent page; of the whole study.
    added : str
        What the page of consent adds to the text; empty where that names minutes and pay.
    tasks : tuple of TaskEstimate
        In order.
    workers : int or None
        Number of workers that the study can take; None without a limit.
    cost : Cost or None
        None without a reward.
    warnings : tuple of str
        Warnings, a line each.
    """

    consent: SecondsRange
    added: str
    seconds: SecondsRange
    tasks: tuple[TaskEstimate, ...]
    workers: int | None
    cost: Cost | None
    warnings: tuple[str, ...]


def estimate(content: StudyContent) -> StudyEstimate:
    """Estimate a study whose files have all been read.

    It raises `InputError` where a picture or sound has changed since.
    """
    entry = content.file.entry
    tasks = tuple(
        TaskEstimate(
            content=task,
            seconds=task_seconds(task),
            capacity=kind_of(task.entry).capacity(task),
            load=media_load(task),
        )
        for task in content.tasks
    )
    consent = consent_seconds(entry.whole_consent, entry.tasks[0].language)
    seconds = sum((task.seconds for task in tasks), consent + FINISHING)
    workers = _workers(tasks)
    return StudyEstimate(
        consent=consent,
        added=added_sentence(entry, seconds),
        seconds=seconds,
        tasks=tasks,
        workers=workers,
        cost=_cost(entry, seconds, workers),
        warnings=(
            *consent_warnings(entry, seconds),
            *_of_study(entry, tasks, workers),
            *_of_tasks(tasks),
        ),
    )


def shown_consent(content: StudyContent) -> str:
    """Return the text that workers agree to.

    It is that of the study file, and a sentence with the length and the pay that the text does not name.
    """
    entry = content.file.entry
    consent = consent_seconds(entry.whole_consent, entry.tasks[0].language)
    added = added_sentence(entry, sum(map(task_seconds, content.tasks), consent + FINISHING))
    return f"{entry.whole_consent}\n\n{added}" if added else entry.whole_consent


def assumptions(tasks: Iterable[TaskEntry]) -> tuple[str, ...]:
    """Return the assumptions about reading and answering of these tasks."""
    tasks = list(tasks)
    present = {task.kind for task in tasks}
    asks = any(isinstance(task, JudgingTask) and task.asked_criteria for task in tasks)
    of_kinds = (words for name, kind in KINDS.items() if name in present for words in kind.assumed)
    return tuple(dict.fromkeys([*READING_ASSUMED, *of_kinds, *CRITERIA_ASSUMED[:asks]]))


def consent_seconds(text: str, language: str) -> SecondsRange:
    """Return the time for the consent page."""
    return read_once(reading_seconds(text, language)) + AGREEING


def task_seconds(content: TaskContent) -> SecondsRange:
    """Return a worker's time for a task, its introduction included."""
    return _introduction(content.entry) + kind_of(content.entry).seconds(content)


def media_load(content: TaskContent) -> MediaLoad | None:
    """Return the bytes that a worker's browser loads of a task, or None.

    The result is None without pictures or sounds.

    A worker is given the pairs with the most bytes. Raises `InputError` where a file has changed since it was read.
    """
    if not content.media or not isinstance(content.entry, JudgingTask):
        return None
    sizes = {sha256: len(read()) for sha256, read in content.media.items()}
    shown = {key: {media.sha256 for media in side.media()} for key, side in content.sides.items()}
    pages = [
        shown[topic, one] | shown[topic, other]
        for topic, couples in content.shown_pairs.items()
        for one, other in couples
    ]
    largest = sorted((sum(sizes[sha256] for sha256 in page) for page in pages), reverse=True)
    pair_count = content.entry.pairs_of_a_worker(content.pairs_of_topics)
    every = sum(sizes[sha256] for sha256 in frozenset().union(*pages))
    return MediaLoad(page=largest[0], worker=min(sum(largest[:pair_count]), every))


def _introduction(entry: TaskEntry) -> SecondsRange:
    if entry.instructions is None:
        return NOTHING
    if entry.instructions == STANDARD:
        words = STANDARD_INTRODUCTION
    else:
        words = read_once(reading_seconds(entry.instructions, entry.language)) + (
            EXAMPLE if entry.example else NOTHING
        )
    return words + CHECK_QUESTION.times(len(entry.check or ()))


def _workers(tasks: tuple[TaskEstimate, ...]) -> int | None:
    """Return the number of workers before no task has room any more."""
    limits = [task.capacity.workers for task in tasks if task.capacity is not None]
    finite = [limit for limit in limits if limit is not None]
    return max(finite) if finite and len(finite) == len(limits) else None


def _cost(entry: StudyEntry, seconds: SecondsRange, workers: int | None) -> Cost | None:
    if entry.reward is None:
        return None
    with_fee = entry.reward * (1 + entry.platform_fee)
    return Cost(
        currency=entry.currency,
        reward=entry.reward,
        with_fee=with_fee,
        an_hour=SecondsRange(entry.reward * 3600 / seconds.high, entry.reward * 3600 / seconds.low),
        total=None if workers is None else workers * with_fee,
    )


def _of_platform(entry: StudyEntry) -> Iterator[str]:
    """Yield warnings about codes, pay and keys that do not suit the platform."""
    has_fixed_code = PLATFORMS[entry.platform].fixed_code
    if has_fixed_code and entry.completion_code is None and not _speaks_for_itself(entry.return_url):
        yield f"platform {entry.platform} checks one code for everybody; write it as completion_code"
    if has_fixed_code and not _speaks_for_itself(entry.early_return_url):
        if entry.codes.failed_checks is None and any(check_of(task) for task in entry.tasks):
            yield "whoever fails a check gets no code; write one as codes: failed_checks"
        if entry.codes.screened_out is None and any(
            isinstance(task, QuestionTask) and task.screens for task in entry.tasks
        ):
            yield "whoever is screened out gets no code; write one as codes: screened_out"
    for platform in PLATFORMS.values():
        for key in platform.own_keys:
            if key in entry.model_fields_set and entry.platform != platform.name:
                yield f"{key} is for platform {platform.name} only, and not used"


def _speaks_for_itself(address: str | None) -> bool:
    """Return whether an address reports the end of a part without a code."""
    return address is not None and "{code}" not in address


def _of_study(entry: StudyEntry, tasks: tuple[TaskEstimate, ...], workers: int | None) -> Iterator[str]:
    yield from _of_platform(entry)
    if all(task.capacity is None for task in tasks):
        yield "there are only questions, which do not open the study to workers; add another task"
    repeats = sum(_repeats(task.content) for task in tasks)
    if 0 < repeats < MIN_VALIDATIONS:
        yield (
            f"a worker gets {repeats} repeats in all, but consistency is judged from {MIN_VALIDATIONS} on; "
            "raise validation_pairs"
        )
    gold = sum(gold_of_a_worker(task.content) for task in tasks if _wants_gold(task.content.entry))
    if 0 < gold < MIN_VALIDATIONS:
        yield (
            f"a worker gets {pluralise(gold, 'gold pair')} in all, but gold pairs exclude nobody with fewer than {MIN_VALIDATIONS}; "
            "raise gold_per_worker, or add to gold_pairs"
        )
    for task in tasks:
        limit = None if task.capacity is None else task.capacity.workers
        if limit is not None and limit != workers:
            others = "more" if workers is None else str(workers - limit)
            yield (
                f"{task.content.entry.name} is full after {limit} workers; {others} can still come for other tasks"
            )


def _wants_gold(entry: TaskEntry) -> bool:
    return isinstance(entry, JudgingTask) and entry.min_gold > 0


def _of_tasks(tasks: tuple[TaskEstimate, ...]) -> Iterator[str]:
    for task in tasks:
        name = task.content.entry.name
        warnings = [
            *_too_much(task.content),
            *_too_few(task),
            *_language(task.content),
            *_same(task.content),
            *_measures(task.content),
            *_unrated(task.content),
            *_heavy(task.load),
        ]
        yield from (f"{name}: {line}" for line in warnings)


def _too_much(content: TaskContent) -> Iterator[str]:
    """Yield warnings about settings that exceed the collection."""
    entry, kind = content.entry, kind_of(content.entry)
    units, called = units_there(content)
    if kind.wanted(entry) > units:
        yield f"{kind.wanted_key} is {kind.wanted(entry)}, but there are no more than {units} {called}"
    if isinstance(entry, ChosenTopicTask):
        pairs, repeats = entry.pairs_and_repeats(max(content.pairs_of_topics))
        if entry.pairs_each not in {None, pairs}:
            yield f"pairs is {entry.pairs}, but a query has no more than {pairs}"
        if entry.validation_pairs > repeats:
            yield (
                f"validation_pairs is {entry.validation_pairs}, but no more than {repeats} of {pairs} pairs can be repeated; "
                f"write {repeats}"
            )


def units_there(content: TaskContent) -> tuple[int, str]:
    """Return the number of things that a worker gets some of, and their name."""
    kind, topics = kind_of(content.entry), len(content.topics)
    if kind.unit == "pair":
        return sum(content.pairs_of_topics), "pairs"
    if kind.unit == "intent":
        return sum(len(topic.intents) for topic in content.topics), "intents"
    return topics, "events" if kind.page == "stream" else "queries"


def _too_few(task: TaskEstimate) -> Iterator[str]:
    """Yield warnings about missing answers, few topics and missing repeats.

    Pairs may lack answers, topics be too few for an interval, checks have no repeats.
    """
    entry, capacity = task.content.entry, task.capacity
    if capacity is not None and capacity.each is not None and capacity.each[0] == 0:
        yield f"some {capacity.thing}s would get no answer; raise the number of workers, or pairs"
    if isinstance(entry, JudgingTask) and entry.validation_pairs == 0 and entry.min_consistency > 0:
        yield "validation_pairs is 0, so min_consistency excludes no worker; write 0 there too"
    judged = sum(pairs > 0 for pairs in task.content.pairs_of_topics)
    if isinstance(entry, AssignedPairTask) and entry.adaptive is not None:
        systems = len(entry.systems)
        if entry.adaptive.budget < JUDGMENTS_PER_SYSTEM * systems:
            yield (
                f"pairs.budget is {entry.adaptive.budget:,} judgments of {pluralise(systems, 'system')}: too few to find the best;"
                f" write {JUDGMENTS_PER_SYSTEM * systems:,} or more"
            )
    elif isinstance(entry, JudgingTask) and judged < MIN_CLUSTERS:
        yield (
            f"{pluralise(judged, 'topic')} with pairs: there are no intervals with fewer than {MIN_CLUSTERS}, however many answer; "
            "add topics"
        )


def _repeats(content: TaskContent) -> int:
    """Return the number of repeats that a worker's consistency is judged by."""
    entry = content.entry
    if not isinstance(entry, JudgingTask) or not entry.min_consistency:
        return 0
    return entry.repeats_of_a_worker(content.pairs_of_topics)


def _language(content: TaskContent) -> Iterator[str]:
    """Yield a warning about texts in another language than their pages."""
    texts = [text for shown in content.shown.values() for text in shown.texts()]
    language = content.entry.language
    if texts and looks_japanese(texts) != (language == "ja"):
        yield f"language is {language}, but the texts do not look like that; it decides pages, reading time and criteria"


def _same(content: TaskContent) -> Iterator[str]:
    """Yield a warning about systems with equal sides, which leave no choice."""
    if not isinstance(content.entry, JudgingTask):
        return
    judged = [(topic, couple) for topic, couples in content.system_pairs.items() for couple in couples]
    digests = content.digests
    alike: dict[tuple[str, str], list[str]] = {}
    for topic, (one, other) in judged:
        if digests[topic, one] == digests[topic, other]:
            alike.setdefault((one, other), []).append(topic)
    of = Counter(couple for _, couple in judged)
    for (one, other), topics in alike.items():
        yield f"{one} and {other} show the same of {len(topics)} of {of[one, other]} topics ({join_names(topics)})"


def _measures(content: TaskContent) -> Iterator[str]:
    """Yield warnings about measures that a task of this kind does not have."""
    entry = content.entry
    if isinstance(entry, JudgingTask):
        for name in dict.fromkeys([*entry.compare, *(entry.primary or ())]):
            if not is_name(name, entry.kind):
                near = nearest_name(name, entry.kind)
                meant = f"; did you mean {near}?" if near else ""
                install = what_is_missing(entry.kind)
                if install is not None:
                    meant += f"; measures of ir_measures need {install}"
                yield f"{name!r} is not a measure of {entry.kind}: prefcal agree needs its --scores{meant}"


def _heavy(load: MediaLoad | None) -> Iterator[str]:
    """Yield a warning about media that are slow and costly on a phone."""
    for what, number, most in (
        ()
        if load is None
        else (
            ("a page", load.page, MAX_PAGE_BYTES),
            ("a worker", load.worker, MAX_WORKER_BYTES),
        )
    ):
        if number > most:
            yield f"{what} loads up to {number / 1e6:.0f} MB, and {most / 1e6:.0f} MB is much on a phone; save the files smaller"


def _unrated(content: TaskContent) -> Iterator[str]:
    """Yield a warning about iUnits that a file of importances leaves out."""
    if not isinstance(content.entry, JudgingTask) or "importance" not in content.files:
        return
    queries = [topic.query for topic in content.topics if topic.query is not None]
    rated = {(query.id, iunit) for query in queries for _, iunit in query.importance}
    every = [(query.id, iunit) for query in queries for iunit in query.iunits]
    missing = [iunit for query, iunit in every if (query, iunit) not in rated]
    if missing:
        is_single = len(missing) == 1
        yield (
            f"{len(missing)} of {pluralise(len(every), 'iUnit')} {'has' if is_single else 'have'} no importance, such as "
            f"{missing[0]!r}; {'it counts' if is_single else 'they count'} 0"
        )
