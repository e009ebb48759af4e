"""Answers about late updates, counted by worker, nugget, topic and lateness.

They say whether the update was still of use; codes replace all names.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd

from calibration.inference.results import NotIdentifiedError
from metrics.arrays import Floats, Indices, Ints


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AnswerCells:
    """Answers by worker and nugget at once.

    Attributes
    ----------
    worker, nugget, topic : (c,) ndarray of int
        Of each couple of a worker and a nugget that there are answers of, from 0 without holes; a nugget has one topic.
    asked, useful : (c, k) ndarray of float
        Questions, and those answered with yes.
    """

    worker: Ints
    nugget: Ints
    topic: Ints
    asked: Floats
    useful: Floats


class SharedWay(NamedTuple):
    """Answers regrouped by nuggets (or topics), and by couples of one and a worker."""

    alone: "LatenessCounts"
    by_worker: "LatenessCounts"


@dataclass(frozen=True, kw_only=True, eq=False)
class LatenessCounts:
    """Answers by worker and level of lateness.

    Attributes
    ----------
    level : (k,) ndarray of float
        lambda, ascending, each once.
    asked, useful : (w, k) ndarray of float
        Questions, and those answered with yes.
    cells : AnswerCells or None
        The same answers by worker and nugget; None where each answer is on a nugget of its own.
    """

    level: Floats
    asked: Floats
    useful: Floats
    cells: AnswerCells | None = None

    @property
    def workers(self) -> int:
        """Number of workers, or of other clusters that stand in their place."""
        return len(self.asked)

    @property
    def nuggets(self) -> int | None:
        """Number of nuggets asked about; None if unknown."""
        return None if self.cells is None else int(self.cells.nugget.max()) + 1

    @property
    def topics(self) -> int | None:
        """Number of topics asked about; None if unknown."""
        return None if self.cells is None else int(self.cells.topic.max()) + 1

    @property
    def total_asked(self) -> Floats:
        """Questions of all workers by level, (k,)."""
        return np.asarray(self.asked.sum(axis=0))

    @property
    def total_useful(self) -> Floats:
        """Useful answers of all workers by level, (k,)."""
        return np.asarray(self.useful.sum(axis=0))

    def by(self, *ways: Ints) -> "LatenessCounts":
        """Regroup the answers by other clusters in the place of workers.

        Cells that share all their indices in ``ways`` are one cluster.
        """
        cells = self.cells
        if cells is None:
            raise ValueError("these answers have no cells")
        _, cluster = np.unique(np.column_stack(ways), axis=0, return_inverse=True)
        question_counts, useful = (np.zeros((int(cluster.max()) + 1, len(self.level))) for _ in range(2))
        np.add.at(question_counts, cluster.ravel(), cells.asked)
        np.add.at(useful, cluster.ravel(), cells.useful)
        return LatenessCounts(level=self.level, asked=question_counts, useful=useful)

    @cached_property
    def shared_ways(self) -> dict[str, SharedWay]:
        """The answers by `nugget` and by `topic`, where workers share them.

        A way needs several clusters, one of them asked of two workers.
        """
        if self.cells is None:
            return {}
        worker = self.cells.worker
        clusters = {"nugget": self.cells.nugget, "topic": self.cells.topic}
        ways = {name: SharedWay(self.by(way), self.by(worker, way)) for name, way in clusters.items()}
        return {name: way for name, way in ways.items() if 1 < way.alone.workers < way.by_worker.workers}

    def weighted(self, weight: Floats) -> "LatenessCounts":
        """Return the answers with each worker's counted ``weight`` times, (w,)."""
        cells = self.cells
        if cells is not None:
            own = weight[cells.worker][:, None]
            cells = replace(cells, asked=cells.asked * own, useful=cells.useful * own)
        own = weight[:, None]
        return replace(self, asked=self.asked * own, useful=self.useful * own, cells=cells)

    def of(self, workers: Ints) -> "LatenessCounts":
        """Select the answers of some workers, at the levels that they were asked about."""
        asked_at = self.asked[workers].any(axis=0)
        cells = self.cells
        if cells is not None:
            index = np.full(self.workers, -1)
            index[workers] = np.arange(len(workers))
            kept = index[cells.worker] >= 0
            cells = AnswerCells(
                worker=index[cells.worker[kept]],
                nugget=np.unique(cells.nugget[kept], return_inverse=True)[1],
                topic=np.unique(cells.topic[kept], return_inverse=True)[1],
                asked=cells.asked[kept][:, asked_at],
                useful=cells.useful[kept][:, asked_at],
            )
        question_counts, useful = self.asked[workers][:, asked_at], self.useful[workers][:, asked_at]
        return LatenessCounts(level=self.level[asked_at], asked=question_counts, useful=useful, cells=cells)

    def at(self, levels: slice) -> "LatenessCounts":
        """Select the answers at some of the levels."""
        cells = self.cells
        if cells is not None:
            cells = replace(cells, asked=cells.asked[:, levels], useful=cells.useful[:, levels])
        level, question_counts, useful = self.level[levels], self.asked[:, levels], self.useful[:, levels]
        return LatenessCounts(level=level, asked=question_counts, useful=useful, cells=cells)


def lateness_counts(lateness: pd.DataFrame) -> LatenessCounts:
    """Count the rows of table lateness by worker, nugget and visits_late.

    Raises
    ------
    NotIdentifiedError
        If there are none.
    """
    if lateness.empty:
        raise NotIdentifiedError("nobody was asked whether an update was still of use")
    return counted(
        pd.factorize(lateness["worker"])[0],
        lateness["visits_late"].to_numpy(np.float64),
        lateness["useful"].to_numpy(np.float64),
        lateness.groupby(["topic", "nugget"], sort=False).ngroup().to_numpy(),
        pd.factorize(lateness["topic"])[0],
    )


def counted(
    worker: Indices,
    late: Floats,
    useful: Floats,
    nugget: Indices | None = None,
    topic: Indices | None = None,
) -> LatenessCounts:
    """Count answers by worker, nugget, topic and level; (n,) codes each.

    Codes count from 0.

    Without ``nugget`` each answer is on a nugget of its own; without ``topic`` all are on one topic.
    """
    level, level_index = np.unique(late, return_inverse=True)
    question_counts, yes = _tally(worker, level_index, useful, len(level))
    cells = None
    if nugget is not None:
        topic = np.zeros(len(worker), np.intp) if topic is None else topic
        cells = _cells(worker, nugget, topic, level_index, useful, len(level))
    return LatenessCounts(level=level, asked=question_counts, useful=yes, cells=cells)


def _cells(
    worker: Indices, nugget: Indices, topic: Indices, level_index: Indices, useful: Floats, levels: int
) -> AnswerCells:
    couples, first, couple = np.unique(
        worker * (nugget.max() + 1) + nugget, return_index=True, return_inverse=True
    )
    by_worker, by_nugget = np.divmod(couples, nugget.max() + 1)
    question_counts, yes = _tally(couple, level_index, useful, levels)
    return AnswerCells(
        worker=by_worker,
        nugget=np.unique(by_nugget, return_inverse=True)[1],
        topic=np.unique(topic[first], return_inverse=True)[1],
        asked=question_counts,
        useful=yes,
    )


def _tally(cluster: Indices, level_index: Indices, useful: Floats, levels: int) -> tuple[Floats, Floats]:
    """Return the questions and the yeses of each cluster at each level."""
    question_counts = np.zeros((cluster.max() + 1, levels))
    yes = np.zeros_like(question_counts)
    np.add.at(question_counts, (cluster, level_index), 1.0)
    np.add.at(yes, (cluster, level_index), useful)
    return question_counts, yes
