"""How many workers fail each check of care, for who watches a study. Checks mark workers and delete nothing."""

from collections import Counter
from dataclasses import dataclass

import pandas as pd
from sqlalchemy.orm import Session

from study_app.export.answers import searches_by_task
from study_app.export.people import validations, workers_table
from study_app.protocol.domain import (
    FLAGS,
    HURRIED_SHARE,
    MIN_DECISION_SECONDS,
    MIN_STRAIGHT,
    MIN_TIMED,
    MIN_VALIDATIONS,
    flags_by_worker,
)
from study_app.store.plan import StudyPlan

CHECKS = {
    "search": ("search time", "the mean search was shorter than min_search_seconds"),
    "consistency": (
        "validation pairs",
        f"of at least {MIN_VALIDATIONS} repeated pairs a smaller share than min_consistency was answered alike",
    ),
    "dwell": (
        "minimum dwell",
        f"of at least {MIN_TIMED} pairs {HURRIED_SHARE:.0%} or more were answered in less than {MIN_DECISION_SECONDS:g} s",
    ),
    "straight_lining": (
        "straight-lining",
        f"at least {MIN_STRAIGHT} answers, all of them the same option; or {MIN_STRAIGHT} for a side, all for the same side",
    ),
}
"""Name in table workers -> what it is called, and when a worker fails it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRate:
    """One check.

    Attributes
    ----------
    name : str
        A key of `CHECKS`.
    failed, judged : int
        Workers who fail it, of those about whom there is enough to tell.
    excludes : bool
        It belongs to the exclusion rule; if not it is a flag only.
    """

    name: str
    failed: int
    judged: int
    excludes: bool

    @property
    def title(self) -> str:
        """What the check is called."""
        return CHECKS[self.name][0]

    @property
    def meaning(self) -> str:
        """When a worker fails it."""
        return CHECKS[self.name][1]

    @property
    def rate(self) -> float | None:
        """Share of those judged who fail; None when nobody can be judged."""
        return self.failed / self.judged if self.judged else None


def check_rates(session: Session, plan: StudyPlan, preferences: pd.DataFrame) -> tuple[CheckRate, ...]:
    """Return each check over all workers who consented and did not withdraw; ``preferences`` is table preferences."""
    workers = workers_table(session, plan, searches_by_task(session, plan.id), preferences)
    failed = Counter(
        name
        for column in ("reason", "flags")
        for text in workers[column].dropna()
        for name in text.rpartition(": ")[2].split(", ")
    )
    repeats = Counter(one.worker for one in validations(preferences))
    judged = Counter(flag for flags in flags_by_worker(preferences).values() for flag in flags)
    judged["search"] = int(workers["mean_search_seconds"].notna().sum())
    judged["consistency"] = sum(number >= MIN_VALIDATIONS for number in repeats.values())
    return tuple(
        CheckRate(name=name, failed=failed[name], judged=judged[name], excludes=name not in FLAGS)
        for name in CHECKS
    )
