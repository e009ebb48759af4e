"""What to know of a task's judgments before using its numbers: who judged what, and where there are too few."""

from collections.abc import Collection, Iterator, Mapping, Sequence

import pandas as pd

from calibration.agree.measures.variants import Fit, Variant
from calibration.inference.results import info, warning
from calibration.user_model.model import Diagnostic
from metrics.agreement.people import Crossing, VotesByPerson, spread_of_tastes
from metrics.arrays import Floats
from metrics.wording import counted, listed

FEWEST_WORKERS = 4
"""People from which a difference of measures is tested."""
FEWEST_TOPICS = 5
"""Queries, likewise."""
WIDE_TASTES = 0.3
"""Spread of tastes above which the p of majorities is too small: it is exceeded by one crowd in twenty whose p still holds."""
JUDGED, EVERYBODY = "preferences", "workers"
"""The tables that no parameter is fitted to as other data."""


def testable(crossing: Crossing) -> bool:
    """Say whether there are people and queries enough for a p value that holds."""
    return crossing.workers >= FEWEST_WORKERS and crossing.queries >= FEWEST_TOPICS


def diagnostics(crossing: Crossing) -> tuple[Diagnostic, ...]:
    """Return what the people and queries of a task make of its intervals and tests."""
    return tuple(_diagnostics(crossing))


def _diagnostics(crossing: Crossing) -> Iterator[Diagnostic]:
    if crossing.is_crossed and crossing.workers > 1:
        yield info(
            "crossed_workers",
            f"The same people judge several queries ({crossing.queries_each:.1f} a worker on average,"
            f" {crossing.most_queries_each} at most), so intervals and p are over queries and people at once, and measures are"
            " not exchanged within queries.",
        )
    if crossing.workers == 1:
        yield warning(
            "few_workers",
            "1 worker judged: intervals are over queries alone and say nothing of other people, and there is no p; let"
            f" {FEWEST_WORKERS} or more judge.",
        )
    elif crossing.workers < FEWEST_WORKERS:
        yield warning(
            "few_workers",
            f"{counted(crossing.workers, 'worker')} judged, too few to tell how much people differ: there is no p, and"
            f" intervals are less reliable than they say; let {FEWEST_WORKERS} or more judge.",
        )
    if crossing.queries < FEWEST_TOPICS:
        yield warning(
            "few_topics",
            f"{counted(crossing.queries, 'query was', 'queries were')} judged, too few to tell how much queries differ: there is no p, and"
            f" intervals are less reliable than they say; let {FEWEST_TOPICS} or more be judged.",
        )


def wide_tastes(votes: VotesByPerson, differences: Mapping[str, Floats]) -> Iterator[Diagnostic]:
    """Warn where people follow the measures so differently that few votes decide a majority, and its p is too small.

    Parameters
    ----------
    votes : VotesByPerson
        On p pairs.
    differences : mapping of str to (p,) ndarray of float
        Measure -> score differences.
    """
    told = [one for one in differences.values() if one.any()]
    spread = spread_of_tastes(votes, told)
    if spread > WIDE_TASTES:
        yield warning(
            "tastes_differ",
            "People's own tastes differ widely: a standard difference of scores moves the mean vote (1 for, -1 against) of one person by"
            f" {spread:.2f} more or less than that of another (standard deviation). The p of comparisons by majority is then too small:"
            " use those by weighted and by votes, which allow for it, and let more people judge.",
        )


def same_people(
    variants: Sequence[Variant],
    judges: Collection[str],
    crossing: Crossing,
    tables: Mapping[str, pd.DataFrame],
) -> Iterator[Diagnostic]:
    """Yield which measures were fitted to what the same people did elsewhere.

    Parameters
    ----------
    variants : sequence of Variant
        Of one task.
    judges : collection of str
        The workers whose preferences count.
    crossing : Crossing
        Who judged what.
    tables : mapping of str to DataFrame
        That the model was fitted to; empty where it was fitted to others.
    """
    crossed = [one.measure for one in variants if one.fit is Fit.CROSS_FITTED]
    if crossed and crossing.is_crossed:
        yield info(
            "same_people",
            f"{listed(crossed)}: fitted to the other queries, which the same people judged; how well it predicts other people"
            " is not known.",
        )
    others = [one.measure for one in variants if one.fit is Fit.OTHER_DATA]
    took_part = [
        table["worker"]
        for name, table in tables.items()
        if name not in {JUDGED, EVERYBODY} and "worker" in table.columns
    ]
    both = len(set(judges) & set(pd.concat(took_part))) if others and took_part else 0
    if both:
        yield info(
            "same_people",
            f"{listed(others)}: fitted to other data of the same study; {both} of the {counted(len(judges), 'worker')} who"
            " judged gave some of them.",
        )
