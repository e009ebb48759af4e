"""Who took part, and what is missing of them in the logs.

Who took part: whose rows are exported, the table workers, how the exclusion rule judges each, and what they agreed to.

What is missing from the logs: holes in the numbers, pages that just stop, answers and pages without a log.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np
import pandas as pd
from sqlalchemy import BigInteger, case, func, select, type_coerce
from sqlalchemy.orm import Session

from calibration.tables.tables import TABLES
from study_app.export.event_log import EventLog, times
from study_app.logs.event_arrays import CLOSE, KIND, LEAVE, NUMBER, SUBMIT, Int64s
from study_app.protocol.domain import (
    EXCLUSION_RULE,
    FLAGS,
    SHARED,
    exclusion_reasons,
    flags_by_worker,
    is_consistent,
)
from study_app.store.models import (
    Assignment,
    Judgment,
    PageLoad,
    PlatformIdentity,
    Showing,
    Slot,
    Worker,
)
from study_app.store.plan import StudyPlan
from study_app.store.submissions import sharers, takes_part
from study_app.store.task_models import ConsentText, Follow, StreamView
from study_app.study.entries import JudgingTask, SearchedTask
from study_app.study.platforms import platform_of

WORKERS_AT_ONCE = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class Validation:
    """A pair that a worker was asked twice.

    Attributes
    ----------
    consistent : bool
        The same system both times, or an equal option both times.
    same_option : bool
        The same of the four options both times, seen from the systems.
    """

    worker: str
    task: str
    consistent: bool
    same_option: bool


def logged_events(session: Session, study_id: int) -> int:
    """Return about how many events are exported, as page loads count them."""
    counted = select(func.coalesce(func.sum(PageLoad.upto), 0)).join(Worker, Worker.id == PageLoad.worker_id)
    return int(session.scalar(counted.where(takes_part(study_id))) or 0)


def worker_groups(session: Session, study_id: int) -> Iterator[dict[int, str]]:
    """Yield rows and pseudonyms of those who take part in order of the pseudonyms, a few at a time: what is large is done group by group."""
    workers = session.execute(
        select(Worker.id, Worker.pseudonym).where(takes_part(study_id)).order_by(Worker.pseudonym)
    ).all()
    for start in range(0, len(workers), WORKERS_AT_ONCE):
        yield dict(workers[start : start + WORKERS_AT_ONCE])


def validations(preferences: pd.DataFrame) -> list[Validation]:
    """Compare each validation pair with the judgment it repeats, both as they finally stand."""
    sides = ["choice", "system_left", "system_right"]
    answers = dict(
        zip(preferences["judgment"], preferences[sides].itertuples(index=False, name=None), strict=True)
    )
    repeats = preferences[preferences["validation_of"].notna()]
    columns = repeats[["worker", "task", "judgment", "validation_of"]]
    return [
        _validation(worker, task, answers[first], answers[second])
        for worker, task, second, first in columns.itertuples(index=False, name=None)
    ]


def _validation(
    worker: str, task: str, first: tuple[str, str, str], second: tuple[str, str, str]
) -> Validation:
    consistent = is_consistent(first, second)
    is_tie = first[0] not in {"left", "right"}
    return Validation(
        worker=worker,
        task=task,
        consistent=consistent,
        same_option=consistent and (not is_tie or first[0] == second[0]),
    )


def workers_table(
    session: Session,
    plan: StudyPlan,
    searches: pd.DataFrame,
    preferences: pd.DataFrame,
    complete: Mapping[int, datetime] | None = None,
) -> pd.DataFrame:
    """Return table workers: everybody who ever consented; a worker who withdrew has no figures any more.

    Parameters
    ----------
    searches : DataFrame
        worker, task, seconds.
    preferences : DataFrame
        Table preferences.
    complete : mapping of int to datetime, optional
        Worker (row) -> when the data were complete, of all with complete data; by default of those who pressed the last button.
    """
    complete_at = complete or {}
    stored = session.execute(
        select(
            Worker.id,
            Worker.pseudonym,
            PlatformIdentity.platform,
            Worker.consented_at,
            Worker.completed_at,
            Worker.withdrawn_at,
            Worker.stopped_as,
        )
        .outerjoin(PlatformIdentity, PlatformIdentity.worker_id == Worker.id)
        .where(Worker.study_id == plan.id, Worker.consented_at.is_not(None))
        .order_by(Worker.pseudonym)
    ).all()
    searched, repeated = _searches(plan, searches), _repeats(plan, preferences)
    flags, shared = flags_by_worker(preferences), sharers(session, plan.id, platform_of(plan.entry))
    rows: list[tuple[object, ...]] = []
    for row, worker, platform, consented_at, pressed_at, withdrawn_at, stopped_as in stored:
        completed_at = pressed_at or complete_at.get(row)
        known = (worker, platform, consented_at, completed_at, withdrawn_at)
        if withdrawn_at is not None:
            rows.append((*known, None, None, None, None, "withdrawn", None))
            continue
        ended_as = "complete" if completed_at is not None else stopped_as
        up = [flag for flag in FLAGS if flags.get(worker, {}).get(flag)] + [SHARED] * (row in shared)
        figures = _figures(searched.get(worker, ()), repeated.get(worker, ()))
        rows.append((*known, *figures, ended_as, ", ".join(up) or None))
    return pd.DataFrame(rows, columns=list(TABLES["workers"].column_names))


def _searches(plan: StudyPlan, searches: pd.DataFrame) -> dict[str, list[tuple[float, float]]]:
    """Return worker -> seconds of each search, and the least that its task wants."""
    least = {
        str(task.entry.name): float(task.entry.min_search_seconds)
        for task in plan.tasks
        if isinstance(task.entry, SearchedTask)
    }
    seconds_by_worker: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
    for worker, task, seconds in searches[["worker", "task", "seconds"]].itertuples(index=False, name=None):
        seconds_by_worker[worker].append((seconds, least[task]))
    return seconds_by_worker


def _repeats(plan: StudyPlan, preferences: pd.DataFrame) -> dict[str, list[tuple[bool, float]]]:
    """Return worker -> whether each repeat was consistent, and the share of them that its task wants."""
    least = {
        str(task.entry.name): task.entry.min_consistency
        for task in plan.tasks
        if isinstance(task.entry, JudgingTask)
    }
    repeats: defaultdict[str, list[tuple[bool, float]]] = defaultdict(list)
    for one in validations(preferences):
        repeats[one.worker].append((one.consistent, least[one.task]))
    return repeats


def _figures(
    searches: Sequence[tuple[float, float]], repeats: Sequence[tuple[bool, float]]
) -> tuple[float | None, float | None, bool, str | None]:
    """Return mean search time and consistency over all tasks, and what the rule says."""
    reasons = exclusion_reasons(searches=searches, validations=repeats)
    return (
        _mean([seconds for seconds, _ in searches]),
        _mean([consistent for consistent, _ in repeats]),
        bool(reasons),
        f"rule {EXCLUSION_RULE}: {', '.join(reasons)}" if reasons else None,
    )


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


FOLDER = "consent"
NAME = re.compile(rf"{FOLDER}/[0-9a-f]{{64}}\.txt")


def write_consents(session: Session, study_id: int, folder: Path) -> None:
    """Write ``consent/SHA256.txt`` for each text that a worker who takes part agreed to, byte for byte; none, no folder."""
    agreed = select(Worker.consent_sha256).where(takes_part(study_id)).distinct()
    texts = select(ConsentText.sha256, ConsentText.text).where(
        ConsentText.study_id == study_id, ConsentText.sha256.in_(agreed)
    )
    for sha256, text in session.execute(texts.order_by(ConsentText.sha256)):
        (folder / FOLDER).mkdir(exist_ok=True)
        (folder / FOLDER / f"{sha256}.txt").write_bytes(text.encode())


STREAM_PAGES = ("stream_pages", "stream_pages_by_form_only", "silent_stream_pages")
"""Pages of streams that were served; those without a log of which the form tells, as without script; and those that are
silent altogether, because nobody looked (a prefetch, a preview of a link) or everything was lost."""


PAGE_GAPS = ("pages", "pages_with_gaps", "pages_without_end", "events", "missing")
"""Page loads that logged anything; those with a missing event; those that did not tell of their end; events stored; events missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogGaps:
    """What is missing from all logs together; see `PAGE_GAPS`, `MissingLogs` and `STREAM_PAGES`."""

    pages: int
    pages_with_gaps: int
    pages_without_end: int
    missing_events: int
    unlogged_answers: int
    stream_pages: int
    stream_pages_by_form_only: int
    silent_stream_pages: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingLogs:
    """What is missing, worker by worker.

    Attributes
    ----------
    unlogged_answers : Counter
        Worker -> answers to pairs, as they finally stand, whose page logged nothing.
    streams : mapping of str to Counter
        Worker -> pages of streams, by `STREAM_PAGES`.
    pages : Counter
        What is missing from the pages counted in by `add`, by `PAGE_GAPS`.
    """

    unlogged_answers: Counter[str]
    streams: Mapping[str, Counter[str]]
    pages: Counter[str]

    def add(self, gaps: pd.DataFrame) -> None:
        """Count in what some pages logged, as `page_gaps` returns it."""
        self.pages.update(_page_figures(gaps).sum().to_dict())

    def by_worker(self, workers: Sequence[str], gaps: pd.DataFrame) -> pd.DataFrame:
        """Return some people's rows of the raw table worker_gaps."""
        pages = _page_figures(gaps).groupby(gaps["worker"]).sum().reindex(workers, fill_value=0)
        served = [self.streams.get(worker, Counter[str]()) for worker in workers]
        others = {name: [counts[name] for counts in served] for name in STREAM_PAGES}
        unlogged = [self.unlogged_answers[worker] for worker in workers]
        return pages.assign(unlogged_answers=unlogged, **others).reset_index(names="worker")

    def total(self) -> LogGaps:
        """Add up what is missing."""
        served = sum(self.streams.values(), Counter[str]())
        return LogGaps(
            pages=self.pages["pages"],
            pages_with_gaps=self.pages["pages_with_gaps"],
            pages_without_end=self.pages["pages_without_end"],
            missing_events=self.pages["missing"],
            unlogged_answers=self.unlogged_answers.total(),
            **{name: served[name] for name in STREAM_PAGES},
        )


def missing_logs(session: Session, study_id: int) -> MissingLogs:
    """Return what is missing from the logs of a study, before any page is counted in."""
    return MissingLogs(
        unlogged_answers=_unlogged_answers(session, study_id),
        streams=_stream_pages(session, study_id),
        pages=Counter(),
    )


def _page_figures(gaps: pd.DataFrame) -> pd.DataFrame:
    """Return what `PAGE_GAPS` names, of each page."""
    columns = (np.ones(len(gaps)), gaps["missing"] > 0, ~gaps["has_end"], gaps["events"], gaps["missing"])
    return pd.DataFrame(dict(zip(PAGE_GAPS, columns, strict=True))).astype("int64")


def page_gaps(session: Session, workers: Sequence[int], log: EventLog) -> pd.DataFrame:
    """Return what came of each page load of some people that logged anything, in order of the pseudonyms and of serving.

    The columns are those of the raw table page_gaps, and ``row``, that of the page load. Numbers begin at 1, so whatever is not
    stored below the highest is missing. ``has_end``: `close`, `submit` or `leave` is stored. Without it the last events may be
    lost, and nobody knows how many.
    """
    loads = (
        select(
            PageLoad.id,
            Worker.pseudonym,
            PageLoad.key,
            PageLoad.step,
            Showing.name,
            type_coerce(PageLoad.served_at, BigInteger),
            type_coerce(PageLoad.first_received_at, BigInteger),
        )
        .join(Worker, Worker.id == PageLoad.worker_id)
        .outerjoin(Showing, Showing.id == PageLoad.showing_id)
        .where(Worker.id.in_(workers))
        .order_by(Worker.pseudonym, PageLoad.served_at, PageLoad.key)
    )
    names = ["row", "worker", "page", "step", "judgment", "served_at", "first_received_at"]
    pages = pd.DataFrame(session.execute(loads).all(), columns=names)
    order, first = log.order(pages["row"].tolist())
    number, events = log.log[order, NUMBER], np.diff(first)
    page = np.repeat(np.arange(len(pages)), events)
    highest, has_end = np.zeros(len(pages), np.int64), np.zeros(len(pages), bool)
    np.maximum.at(highest, page, number)
    has_end[page[np.isin(log.log[order, KIND], (CLOSE, SUBMIT, LEAVE))]] = True
    return pages.assign(
        served_at=times(pages["served_at"].to_numpy(np.int64)),
        first_received_at=times(pages["first_received_at"].to_numpy(np.int64)),
        events=events,
        highest=highest,
        missing=highest - events,
        missing_numbers=_missing_numbers(page, number, len(pages)),
        has_end=has_end,
    )


def _missing_numbers(page: Int64s, number: Int64s, pages: int) -> list[str]:
    """Return the numbers missing of each page, such as ``4-6 9``: each hole lies before an event that came."""
    before = np.where(np.diff(page, prepend=-1) == 0, np.roll(number, 1), 0)
    holes: list[list[str]] = [[] for _ in range(pages)]
    for event in np.flatnonzero(number > before + 1).tolist():
        first, last = before[event] + 1, number[event] - 1
        holes[page[event]].append(f"{first}" if first == last else f"{first}-{last}")
    return [" ".join(some) for some in holes]


def _unlogged_answers(session: Session, study_id: int) -> Counter[str]:
    newest = (
        select(Judgment.showing_id, func.max(Judgment.revision).label("revision"))
        .group_by(Judgment.showing_id)
        .subquery()
    )
    answers = (
        select(Worker.pseudonym, func.count())
        .select_from(Judgment)
        .join(newest, (newest.c.showing_id == Judgment.showing_id) & (newest.c.revision == Judgment.revision))
        .join(Judgment.showing)
        .join(Showing.slot)
        .join(Slot.assignment)
        .join(Assignment.worker)
        .outerjoin(PageLoad, PageLoad.key == Judgment.page_key)
        .where(takes_part(study_id), PageLoad.id.is_(None))
        .group_by(Worker.pseudonym)
    )
    return Counter(dict(session.execute(answers).all()))


def _stream_pages(session: Session, study_id: int) -> dict[str, Counter[str]]:
    form_only = case((PageLoad.id.is_(None) & StreamView.left_at.is_not(None), 1), else_=0)
    silent = case((PageLoad.id.is_(None) & StreamView.left_at.is_(None), 1), else_=0)
    served = (
        select(Worker.pseudonym, func.count(), func.sum(form_only), func.sum(silent))
        .select_from(StreamView)
        .join(StreamView.follow)
        .join(Follow.slot)
        .join(Slot.assignment)
        .join(Assignment.worker)
        .outerjoin(PageLoad, PageLoad.key == StreamView.key)
        .where(takes_part(study_id))
        .group_by(Worker.pseudonym)
    )
    return {
        worker: Counter(dict(zip(STREAM_PAGES, counts, strict=True)))
        for worker, *counts in session.execute(served)
    }
