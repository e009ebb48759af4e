"""Judgments of one task as arrays, and win rates of systems.

Win rates of systems and shares of couples come with what each judgment adds to their errors:

    share(s, o, t)  = (judgments that prefer s to o + half of the ties) / judgments of the couple, on topic t
    win_rate(s)     = mean over topics t of the mean over opponents o of share(s, o, t)
    share_a(a, b)   = mean over topics t of share(a, b, t)

Every topic weighs the same, and on a topic every opponent, however many judgments it has. What was not judged takes no part.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import pandas as pd
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from calibration.inference.sides import SideAdjustment, without_side
from calibration.rank.crossed import CrossedClusters, Influence, model_part
from calibration.tables.preferences import (
    WORKERS_UNKNOWN,
    completed,
    counted_judgments,
    knows_workers,
    systems_shown,
)
from calibration.tables.study_json import StudyRecord
from metrics.arrays import Bools, Floats, Ints
from metrics.errors import input_fault


@dataclass(frozen=True, kw_only=True, eq=False)
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
    topic : (n,) ndarray of int
        What was judged.
    worker : (n,) ndarray of int or None
        By whom; None where that is not known.
    has_drawn_sides : bool
        Who stood on which side was drawn by lot.
    fixed_topic : str or None
        The one topic that all judgments are of, where each topic is ranked for itself; None where topics are a sample.
    topics : tuple of str
        Names of the topics by code.
    strength : (n,) ndarray of float or None
        Signed strength of graded answers: above 0 for the left one, 0 for neither, NaN where it is not known; None without any.
    """

    task: str
    systems: tuple[str, ...]
    left: Ints
    right: Ints
    for_left: Floats
    topic: Ints
    worker: Ints | None
    has_drawn_sides: bool = True
    fixed_topic: str | None = None
    topics: tuple[str, ...] = ()
    strength: Floats | None = None

    @property
    def label(self) -> str:
        """The task, and the topic where it is fixed."""
        return self.task if self.fixed_topic is None else f"{self.task}, {self.fixed_topic}"

    @cached_property
    def crossing(self) -> CrossedClusters:
        """Clusters of the judgments by topic and worker."""
        return CrossedClusters(self.topic, self.worker, is_topic_fixed=self.fixed_topic is not None)

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
    groups = [
        [systems[index] for index in np.flatnonzero(label == component)]
        for component in range(label.max() + 1)
    ]
    return sorted(groups, key=len, reverse=True)


def tasks_judged(
    tables: Mapping[str, pd.DataFrame],
    *,
    exclude: bool = True,
    complete_only: bool = False,
    study: StudyRecord | None = None,
    by_topic: bool = False,
    adaptive: bool = False,
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
    study : StudyRecord or None
        study.json of the tables, which says of which tasks the sides were drawn by lot; without it, of none.
    by_topic : bool
        Yield those of every task and topic, the topic fixed.
    adaptive : bool
        Count pairs that were drawn by the answers before them, too.

    Raises
    ------
    InputError
        If only those who completed the study are to count, and nobody knows who judged.
    """
    preferences, workers = tables["preferences"], tables.get("workers")
    if complete_only:
        if not knows_workers(preferences):
            raise input_fault(WORKERS_UNKNOWN, cure="count everybody's judgments")
        preferences = preferences[preferences["worker"].isin(completed(workers))]
    counted = counted_judgments(preferences, workers=workers, exclude=exclude, adaptive=adaptive)
    for key, rows in counted.groupby(["task", "topic"] if by_topic else ["task"], observed=True):
        task, topic = str(key[0]), str(key[1]) if by_topic else None
        drawn = study is not None and study.drew_sides(task)
        yield _judgments(task, rows, has_drawn_sides=drawn, fixed_topic=topic)


def verdicts_judged(verdicts: pd.DataFrame) -> Iterator[JudgedSystems]:
    """Yield the usable verdicts of one judge that is no person, task by task.

    A contradiction between orders is a tie. Sides count as drawn where each pair was asked equally often in both orders, or where a verdict
    is not of one order.

    Parameters
    ----------
    verdicts : DataFrame
        As `calibration.judges.verdicts.split_verdicts` returns them, of one judge.
    """
    swapped, vote = verdicts["is_swapped"], verdicts["vote"]
    first, second = verdicts["system_a"].astype("str"), verdicts["system_b"].astype("str")
    is_sided = vote.isin(["votes_a", "votes_b"])
    is_left = (vote == "votes_a") ^ swapped
    rows = pd.DataFrame(
        {
            "task": verdicts["task"].astype("str"),
            "topic": verdicts["topic"].astype("str"),
            "worker": pd.Series(None, index=verdicts.index, dtype="str"),
            "system_left": first.mask(swapped, second),
            "system_right": second.mask(swapped, first),
            "choice": np.where(is_sided, np.where(is_left, "left", "right"), "equally_good"),
            "turned": np.where(verdicts["order"].isna(), 0, np.where(swapped, 1, -1)),
        }
    )
    rows["couple"] = rows["topic"] + "\0" + first + "\0" + second
    is_usable = vote != "no_answer"
    for task, asked in rows.groupby("task"):
        is_even = bool((asked.groupby("couple")["turned"].sum() == 0).all())
        usable = asked[is_usable[asked.index]]
        if len(usable):
            yield _judgments(str(task), usable, has_drawn_sides=is_even)


def _judgments(
    task: str, rows: pd.DataFrame, *, has_drawn_sides: bool, fixed_topic: str | None = None
) -> JudgedSystems:
    """Return the judgments of a task, ordered by topic and worker.

    Sums over both then read memory in order.
    """
    codes, systems = pd.factorize(pd.concat(systems_shown(rows)), sort=True)
    choice, (topic, topics) = rows["choice"], pd.factorize(rows["topic"])
    worker = pd.factorize(rows["worker"])[0] if knows_workers(rows) else None
    order = np.argsort(topic if worker is None else topic * len(rows) + worker, kind="stable")
    return JudgedSystems(
        task=task,
        systems=tuple(map(str, systems)),
        left=codes[: len(rows)][order],
        right=codes[len(rows) :][order],
        for_left=np.select([choice == "left", choice == "right"], [1.0, 0.0], 0.5)[order],
        topic=topic[order],
        worker=None if worker is None else worker[order],
        has_drawn_sides=has_drawn_sides,
        fixed_topic=fixed_topic,
        topics=tuple(map(str, topics)),
        strength=_signed_strength(rows, order),
    )


def _signed_strength(rows: pd.DataFrame, order: Ints) -> Floats | None:
    if "strength" not in rows or rows["strength"].isna().all():
        return None
    strength, choice = rows["strength"].to_numpy(np.float64, na_value=np.nan), rows["choice"]
    return np.asarray(np.select([choice == "left", choice == "right"], [strength, -strength], 0.0)[order])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JudgedShares:
    """k estimates, each a weighted mean of judgments, and how each judgment moves them.

    Attributes
    ----------
    value : (k,) ndarray of float
        Win rates, or shares of couples, without an effect of the side where sides were not drawn.
    raw : (k,) ndarray of float
        The same as people voted.
    topics, judgments : (k,) ndarray of int
        How many have a part in each.
    influence : Influence
        What each judgment adds to the errors.
    """

    value: Floats
    raw: Floats
    topics: Ints
    judgments: Ints
    influence: Influence


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Duels:
    """Every couple of systems that was judged.

    Attributes
    ----------
    first, second : (k,) ndarray of int
        Codes of the two systems, the first in the alphabet first.
    shares : JudgedShares
        JudgedShares of the first.
    """

    first: Ints
    second: Ints
    shares: JudgedShares


def side_adjustment(judged: JudgedSystems) -> SideAdjustment | None:
    """Return what the side added to each vote; None where sides were drawn by lot, and votes stay as they are."""
    return None if judged.has_drawn_sides else without_side(judged.left, judged.right, judged.for_left)


def win_rates(judged: JudgedSystems, adjustment: SideAdjustment | None = None) -> JudgedShares:
    """Return the win rate of every system, in the order of ``judged.systems``, by votes adjusted as `side_adjustment` says."""
    systems = len(judged.systems)
    system = np.stack([judged.left, judged.right])
    couple, couples = pd.factorize(judged.topic * systems**2 + judged.couple)
    votes = np.bincount(couple)
    cell, cells = pd.factorize((judged.topic * systems + system).ravel())
    opponents = np.bincount(cell.reshape(2, -1)[:, _first_of_each(couple, len(couples))].ravel())
    return _shares(
        judged,
        adjustment,
        estimate=system,
        is_left=np.array([[True], [False]]),
        weight=1 / (votes[couple] * opponents[cell.reshape(2, -1)]),
        topics=np.bincount(cells % systems),
    )


def duels(judged: JudgedSystems, adjustment: SideAdjustment | None = None) -> Duels:
    """Return the share of the first system of every couple that was judged, in the order of the names; votes as in `win_rates`."""
    systems = len(judged.systems)
    couple, keys = pd.factorize(judged.couple, sort=True)
    cell, cells = pd.factorize(judged.topic * len(keys) + couple)
    shares = _shares(
        judged,
        adjustment,
        estimate=couple[None],
        is_left=(judged.left < judged.right)[None],
        weight=1 / np.bincount(cell)[cell][None],
        topics=np.bincount(cells % len(keys)),
    )
    return Duels(first=keys // systems, second=keys % systems, shares=shares)


def is_balanced(judged: JudgedSystems) -> bool:
    """Say whether every couple of the task's systems was judged on every topic."""
    systems = len(judged.systems)
    couples = len(pd.unique(judged.topic * systems**2 + judged.couple))
    return couples == (int(judged.topic.max()) + 1) * systems * (systems - 1) // 2


def _first_of_each(code: Ints, codes: int) -> Ints:
    """Return the place of a judgment of each code."""
    index = np.empty(codes, dtype=np.intp)
    index[code] = np.arange(len(code))
    return index


def _shares(
    judged: JudgedSystems,
    adjustment: SideAdjustment | None,
    *,
    estimate: Ints,
    is_left: Bools,
    weight: Floats,
    topics: Ints,
) -> JudgedShares:
    """Return weighted means of votes by estimate.

    Parameters
    ----------
    judged, adjustment
        The votes, and what to take off those for the left.
    estimate : (m, n) ndarray of int
        To which estimates a judgment adds.
    is_left : ndarray of bool, broadcast to (m, n)
        Whether it adds the vote for its left system, else that for its right one.
    weight : (m, n) ndarray of float
        Adding up to 1 on each topic of an estimate.
    topics : (k,) ndarray of int
        How many topics an estimate has.
    """
    weight = weight / topics[estimate]
    for_left = judged.for_left if adjustment is None else judged.for_left - adjustment.excess
    vote = np.where(is_left, for_left, 1 - for_left)
    value = _by_estimate(estimate, weight * vote)
    raw = value
    model = None
    if adjustment is not None and adjustment.is_separable:
        raw = _by_estimate(estimate, weight * np.where(is_left, judged.for_left, 1 - judged.for_left))
        model = model_part(adjustment, estimate, np.where(is_left, weight, -weight))
    return JudgedShares(
        value=value,
        raw=raw,
        topics=topics,
        judgments=np.bincount(estimate.ravel()),
        influence=Influence(
            estimate=estimate,
            error=weight * (vote - value[estimate]),
            weight=weight,
            crossing=judged.crossing,
            model=model,
        ),
    )


def _by_estimate(estimate: Ints, values: Floats) -> Floats:
    return np.asarray(np.bincount(estimate.ravel(), values.ravel()), dtype=np.float64)
