"""The judgments of one task as arrays, and which systems they connect."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from calibration.tables.preferences import completed, counted_judgments
from metrics.arrays import Bools, Floats, Ints

FOR_LEFT = {"left": 1.0, "right": 0.0}
"""What a choice adds to the share of the system on the left; every other choice is a tie, half a vote."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JudgedSystems:
    """n judgments of one task; codes count from 0 without holes.

    Attributes
    ----------
    task : str
        Its name.
    systems : tuple of str
        Names, in alphabetical order; the code of a system is its place here.
    left, right : (n,) ndarray of int
        The system on either side.
    for_left : (n,) ndarray of float
        1 where the left one was preferred, 0 where the right one was, 0.5 for a tie.
    topic, worker : (n,) ndarray of int
        What was judged, and by whom.
    """

    task: str
    systems: tuple[str, ...]
    left: Ints
    right: Ints
    for_left: Floats
    topic: Ints
    worker: Ints

    @property
    def is_tie(self) -> Bools:
        """Whether nobody was preferred, (n,)."""
        return np.asarray(self.for_left == 0.5)

    @property
    def couple(self) -> Ints:
        """Number of each judgment's couple: that of the first system by name x systems + that of the second, (n,)."""
        first, second = np.minimum(self.left, self.right), np.maximum(self.left, self.right)
        return first * len(self.systems) + second

    def groups(self) -> list[list[str]]:
        """Return the systems in groups that no comparison connects; one group where all are connected."""
        return _components(self.systems, self.left, self.right, "weak")

    def one_sided(self, *, ties: bool) -> list[list[str]]:
        """Return the groups of systems between which all was decided one way; a single group where nothing was.

        Nobody's worth is infinite only if every system can be reached from every other by going from a system to one that was
        preferred to it, or tied with it (Ford 1957; for ties Davidson 1970).

        Parameters
        ----------
        ties : bool
            A tie counts both ways; else it counts for nothing.
        """
        half = 0.5 if ties else 1.0
        wins, losses = self.for_left >= half, self.for_left <= 1 - half
        start = np.concatenate([self.right[wins], self.left[losses]])
        end = np.concatenate([self.left[wins], self.right[losses]])
        return _components(self.systems, start, end, "strong")


def _components(
    systems: tuple[str, ...], start: Ints, end: Ints, kind: Literal["weak", "strong"]
) -> list[list[str]]:
    """Return the systems by connected component, larger groups first."""
    graph = coo_array((np.ones(len(start), dtype=np.int8), (start, end)), shape=(len(systems),) * 2)
    label = connected_components(graph.tocsr(), directed=True, connection=kind)[1]
    groups = [[systems[place] for place in np.flatnonzero(label == one)] for one in range(label.max() + 1)]
    return sorted(groups, key=len, reverse=True)


def tasks_judged(
    tables: Mapping[str, pd.DataFrame], *, exclude: bool = True, complete_only: bool = False
) -> Iterator[JudgedSystems]:
    """Yield the judgments of every task that has one that counts, in alphabetical order.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        With preferences, and workers where there are exclusions; unfiltered.
    exclude : bool
        Leave out excluded workers. Withdrawn workers and validation repeats never count.
    complete_only : bool
        Leave out workers who did not complete the study too.
    """
    preferences, workers = tables["preferences"], tables.get("workers")
    if complete_only:
        preferences = preferences[preferences["worker"].isin(completed(workers))]
    for task, rows in counted_judgments(preferences, workers=workers, exclude=exclude).groupby("task"):
        yield _judgments(str(task), rows)


def _judgments(task: str, rows: pd.DataFrame) -> JudgedSystems:
    sides = pd.concat([rows["system_left"], rows["system_right"]])
    codes, systems = pd.factorize(sides, sort=True)
    return JudgedSystems(
        task=task,
        systems=tuple(map(str, systems)),
        left=codes[: len(rows)],
        right=codes[len(rows) :],
        for_left=rows["choice"].map(FOR_LEFT).fillna(0.5).to_numpy(np.float64),
        topic=pd.factorize(rows["topic"])[0],
        worker=pd.factorize(rows["worker"])[0],
    )
