"""Whether visits and follows fit together: visits of nobody who follows, follows that end with their last visit.

Both are legal tables, and both make times away wrong without a sign: names that differ between the files turn people
who came into people who never did, and a follow that ends at the last visit hides the time until nobody came back.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from calibration.inference.results import NotIdentifiedError, warning
from calibration.user_model.model import Diagnostic
from calibration.visits.stays import milliseconds, places
from metrics.arrays import Bools

MOST_ORPHANS = 0.1
FAULTY_ORPHANS = 0.5
LEAST_FOLLOWS = 10
MANY_AT_LAST_VISIT = 0.9
CLOSE_MILLISECONDS = 1000
ASK = "are worker and topic names the same in both files?"


class Ends(NamedTuple):
    """How many follows have a visit, and how many of those end within a second of the end of their last one."""

    visited: int
    at_last_visit: int

    @property
    def is_suspicious(self) -> bool:
        """Whether the ends seem to be taken from the visits."""
        return self.visited >= LEAST_FOLLOWS and self.at_last_visit >= MANY_AT_LAST_VISIT * self.visited

    def __str__(self) -> str:
        """Say how many, as the beginning of a sentence."""
        return f"{self.at_last_visit} of {self.visited} follows with a visit end where their last visit does"


def orphans(visits: pd.DataFrame, follows: pd.DataFrame) -> Bools:
    """Return (v,) whether no follow has the visit's worker and topic."""
    return np.asarray(places(visits, follows[["worker", "topic"]]) < 0)


def orphans_in_words(count: int, visits: int) -> str:
    """Return a clause: `all 9 visits belong to no follow`, `3 of 9 visits belong to no follow`."""
    if count == visits == 1:
        return "the only visit belongs to no follow"
    some = f"{count} of {visits}" if count < visits else f"all {visits}"
    return f"{some} visits {'belongs' if count == 1 else 'belong'} to no follow"


def refuse_orphans(tables: Mapping[str, pd.DataFrame]) -> None:
    """Raise where so many visits belong to no follow that it can be no accident.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        visits; follows where there are any.

    Raises
    ------
    NotIdentifiedError
        If it is more than a tenth of the visits.
    """
    visits = tables["visits"]
    if "follows" not in tables or visits.empty:
        return
    count = int(orphans(visits, tables["follows"]).sum())
    if count > MOST_ORPHANS * len(visits):
        raise NotIdentifiedError(f"{orphans_in_words(count, len(visits))}: {ASK}")


def ends(visits: pd.DataFrame, follows: pd.DataFrame) -> Ends:
    """Compare each follow's end with the end of its last visit; systems of one worker and topic are one follow."""
    streams = ["worker", "topic"]
    ended = follows.groupby(streams, sort=False)["ended_at"].max()
    last = visits.groupby(streams, sort=False)["end"].max()
    both = pd.concat([ended, last], axis="columns", join="inner", keys=["ended", "last"])
    apart = np.abs(milliseconds(both["ended"]) - milliseconds(both["last"]))
    return Ends(visited=len(both), at_last_visit=int((apart <= CLOSE_MILLISECONDS).sum()))


def end_notes(tables: Mapping[str, pd.DataFrame]) -> tuple[Diagnostic, ...]:
    """Return a warning where follows seem to end with their last visit."""
    if "follows" not in tables:
        return ()
    found = ends(tables["visits"], tables["follows"])
    if not found.is_suspicious:
        return ()
    return (
        warning(
            "ended_at_last_visit",
            f"{found}; a follow must end with the study. Without the time in which nobody came back, times away come "
            "out too short.",
        ),
    )
