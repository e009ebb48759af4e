"""What to know of a task's judgments before using its numbers: who judged what, and where there are too few."""

from collections.abc import Iterator

from calibration.inference.results import info, warning
from calibration.user_model.model import Diagnostic
from metrics.agreement.people import Crossing
from metrics.wording import counted

FEWEST_WORKERS = 4
"""People from which a difference of measures is tested."""
FEWEST_TOPICS = 5
"""Queries, likewise."""


def testable(crossing: Crossing) -> bool:
    """Say whether there are people and queries enough for a p value that holds."""
    return crossing.workers >= FEWEST_WORKERS and crossing.queries >= FEWEST_TOPICS


def diagnostics(crossing: Crossing) -> tuple[Diagnostic, ...]:
    """Return what the people and queries of a task make of its intervals and tests."""
    return tuple(_diagnostics(crossing))


def _diagnostics(crossing: Crossing) -> Iterator[Diagnostic]:
    if crossing.is_crossed:
        yield info(
            "crossed_workers",
            f"The same people judge several queries ({crossing.queries_each:.1f} a worker in the mean,"
            f" {crossing.most_queries_each} at most), so intervals and p are over queries and people at once.",
        )
    if crossing.workers < FEWEST_WORKERS:
        yield warning(
            "few_workers",
            f"{counted(crossing.workers, 'worker')} judged, too few to tell how much people differ: there is no p, and"
            f" intervals are less reliable than they say; let {FEWEST_WORKERS} or more judge.",
        )
    if crossing.queries < FEWEST_TOPICS:
        yield warning(
            "few_topics",
            f"{counted(crossing.queries, 'query', 'queries')} judged, too few to tell how much queries differ: there is no p, and"
            f" intervals are less reliable than they say; let {FEWEST_TOPICS} or more be judged.",
        )
