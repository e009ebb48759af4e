"""Judgments of pairs of push streams, with the contingency cells of both.

A judgment compares the stream shown left with the one shown right, so everything here is left minus right; which sides
the systems were on does not matter otherwise. With the cells' signs taken into x = (gain, -nonrelevant_eventful,
-silent_eventful, -nonrelevant_silent, silent_silent) the utility of a stream is u = x . (G_E, P_E, S_E, P_0, S_0), and
every weight of Tan et al. (SIGIR 2016, table 1) is positive when people like what the framework says they like.

The framework counts pushes. What else people may feel (`transform_cells`) is for the simulator and for `calibration.checks.push.pain_form`; a weight
is what one push costs in each of these forms (1^theta = 1).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal, TypeAlias

import numpy as np
import pandas as pd

from calibration.inference.choice import ChoiceMaximum, ChoiceModel, Ties
from calibration.inference.results import NotIdentifiedError
from calibration.tables.files import check_frame
from calibration.tables.preferences import resolved_sides
from calibration.tables.tables import TABLES
from metrics.arrays import Bools, Floats, Ints

WEIGHTS = ("G_E", "P_E", "S_E", "P_0", "S_0")
CELL_SIGNS = MappingProxyType(
    {
        "gain": 1.0,
        "nonrelevant_eventful": -1.0,
        "silent_eventful": -1.0,
        "nonrelevant_silent": -1.0,
        "silent_silent": 1.0,
    }
)
"""Sign of each cell in the utility, in the order of `WEIGHTS`."""
PAIN = [1, 3]
"""Indices of the cells that count non-relevant pushes."""
DEFAULT_CONVENTION = "track"
TASK = "pushes"
OUTCOMES = np.array([1.0, -1.0, 0.0])
"""Vote of each column of `PairVotes.votes`."""


PainForm: TypeAlias = Literal["count", "square", "three_halves", "three_quarters", "root", "any", "day"]
FORMS: MappingProxyType[PainForm, Callable[[Floats], Floats]] = MappingProxyType(
    {
        "count": lambda count: count,
        "square": np.square,
        "three_halves": lambda count: np.maximum(count, 0) ** 1.5,
        "three_quarters": lambda count: np.maximum(count, 0) ** 0.75,
        "root": lambda count: np.sqrt(np.maximum(count, 0)),
        "any": lambda count: (count > 0).astype(np.float64),
        "day": lambda count: np.sqrt(np.maximum(count, 0)),
    }
)
"""Transformation of a count of pushes by form.

Cells do not count eventful days with a push; the root of their pushes replaces them.
"""
Part: TypeAlias = Literal["pain", "gain"]
PLACES: MappingProxyType[Part, list[int]] = MappingProxyType({"pain": PAIN, "gain": [0]})
"""Indices in `WEIGHTS` of pain and of gain."""


def transform_cells(x: Floats, form: PainForm, part: Part = "pain") -> Floats:
    """Apply a form to pain or gain in signed cells: (..., 5) -> (..., 5).

    Pain is the non-relevant pushes.
    """
    changed = x.copy()
    counted = x[..., PLACES[part]]
    changed[..., PLACES[part]] = np.sign(counted) * FORMS[form](np.abs(counted))
    if form == "day":  # a silent day has a push or is silent, so that its weight is that of both
        changed[..., PAIN[1]] = 0.0
    return changed


@dataclass(frozen=True, slots=True, kw_only=True)
class PushJudgments:
    """Judgments of n pairs of push streams, without names.

    Attributes
    ----------
    left, right : (n, 5) ndarray of float
        x of the stream on either side.
    vote : (n,) ndarray of float
        1: left is better, -1: right is better, 0: equal.
    good : (n,) ndarray of bool
        The streams were called equally good.
    first_is_left : (n,) ndarray of bool
        The system that is first in the alphabet was shown left.
    worker, topic, pair : (n,) ndarray of int
        Numbers from 0 without holes; a pair is a couple of streams.
    convention : str or None
        Which cells were taken.
    without_cells, unequal_days : int
        Judgments left out because a stream has no cells, or because the streams were counted over different days.
    revealed : float or None
        Share of judgments whose page said which days were silent; None if nobody recorded it.
    """

    left: Floats
    right: Floats
    vote: Floats
    good: Bools
    first_is_left: Bools
    worker: Ints
    topic: Ints
    pair: Ints
    convention: str | None = None
    without_cells: int = 0
    unequal_days: int = 0
    revealed: float | None = None

    @property
    def difference(self) -> Floats:
        """Cells of left minus those of right, x, (n, 5)."""
        return self.left - self.right

    def in_form(self, form: PainForm, part: Part) -> "PushJudgments":
        """Return the judgments with a form applied to pain or gain."""
        return replace(
            self, left=transform_cells(self.left, form, part), right=transform_cells(self.right, form, part)
        )

    @property
    def workers(self) -> int:
        """Number of workers."""
        return int(self.worker.max()) + 1

    @property
    def topics(self) -> int:
        """Number of profiles."""
        return int(self.topic.max()) + 1


def push_judgments(
    preferences: pd.DataFrame, push_cells: pd.DataFrame, *, convention: str | None = None
) -> PushJudgments:
    """Join judgments with the cells of both streams.

    Parameters
    ----------
    preferences : DataFrame
        Table preferences. Validation repeats do not count, nor do tasks or topics that have no cells at all.
    push_cells : DataFrame
        Table push_cells. A row without a task or a pair stands for every task or pair of its topic and system.
    convention : str, optional
        Which cells to take where there are several: by default ``track``, else the first in the alphabet.

    Raises
    ------
    NotIdentifiedError
        If no judgment has the cells of both its streams, or none has the convention asked for.
    """
    cells, chosen = _of_convention(push_cells, convention)
    rows = preferences[preferences["validation_of"].isna() & _is_about(preferences, cells)]
    left, right = (_looked_up(rows, cells, side) for side in ("left", "right"))
    has_cells = left[list(CELL_SIGNS)].notna().all(axis=1) & right[list(CELL_SIGNS)].notna().all(axis=1)
    same_days = ~(left["days"] != right["days"]) | left["days"].isna() | right["days"].isna()
    used = (has_cells & same_days).to_numpy()
    if not used.any():
        raise NotIdentifiedError(
            "no judged pair has cells of both its systems over the same days (task, topic, pair, system)"
        )
    counted = rows[used]
    choice, sides = counted["choice"], resolved_sides(counted)
    return PushJudgments(
        left=_signed(left[used]),
        right=_signed(right[used]),
        vote=(choice == "left").to_numpy(np.float64) - (choice == "right").to_numpy(np.float64),
        good=(choice == "equally_good").to_numpy(bool),
        first_is_left=~sides["is_swapped"].to_numpy(bool),
        worker=pd.factorize(counted["worker"])[0],
        topic=_numbers(counted, ["task", "topic"]),
        pair=_numbers(
            counted.assign(**dict(sides.items())), ["task", "topic", "pair", "system_a", "system_b"]
        ),
        convention=chosen,
        without_cells=int((~has_cells).sum()),
        unequal_days=int((has_cells & ~same_days).sum()),
        revealed=_share(counted["silent_days_revealed"]),
    )


def _share(flags: "pd.Series[bool]") -> float | None:
    known = flags.dropna()
    return float(known.astype(float).mean()) if len(known) else None


def _of_convention(push_cells: pd.DataFrame, asked: str | None) -> tuple[pd.DataFrame, str | None]:
    named = sorted(push_cells["convention"].dropna().unique())
    if asked is None and not named:
        return push_cells, None
    chosen = asked or (DEFAULT_CONVENTION if DEFAULT_CONVENTION in named else named[0])
    if chosen not in named:
        raise NotIdentifiedError(f"push_cells has no rows of the convention {chosen!r}")
    return push_cells[push_cells["convention"] == chosen], chosen


def _is_about(preferences: pd.DataFrame, cells: pd.DataFrame) -> "pd.Series[bool]":
    """Return which judgments are about push streams.

    Their task and topic have cells, where the cells name tasks.
    """
    of_topic = preferences["topic"].isin(cells["topic"])
    return of_topic & (preferences["task"].isin(cells["task"]) | bool(cells["task"].isna().any()))


def _looked_up(rows: pd.DataFrame, cells: pd.DataFrame, side: str) -> pd.DataFrame:
    """Return the cells and days of the stream on one side of each row, if any.

    Cells that name task and pair come before those that leave either open.
    """
    cell_columns = [*CELL_SIGNS, "days"]
    stream_cells = pd.DataFrame(np.nan, index=rows.index, columns=cell_columns)
    keyed = rows.assign(system=rows[f"system_{side}"])
    for keys in (["task", "pair"], ["task"], ["pair"], []):
        of_kind = cells[
            (cells["task"].notna() == ("task" in keys)) & (cells["pair"].notna() == ("pair" in keys))
        ]
        if len(of_kind):
            on = [*keys, "topic", "system"]
            merged = keyed[on].merge(of_kind[[*on, *cell_columns]], on=on, how="left").set_axis(rows.index)
            stream_cells = stream_cells.mask(stream_cells["gain"].isna(), merged[cell_columns])
    return stream_cells


def _signed(cells: pd.DataFrame) -> Floats:
    return np.asarray(cells[list(CELL_SIGNS)].to_numpy(np.float64) * np.array(list(CELL_SIGNS.values())))


def _numbers(rows: pd.DataFrame, columns: list[str]) -> Ints:
    return np.asarray(rows.groupby(columns, dropna=False, sort=False).ngroup(), dtype=np.intp)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairVotes:
    """Votes of m pairs of streams, each pair in one direction, whatever its sides.

    Attributes
    ----------
    first, second : (m, 5) ndarray of float
        x of the two streams.
    topic : (m,) ndarray of int
        Number of the profile.
    votes : (m, 3) ndarray of float
        How often the first was better, the second, or neither.
    """

    first: Floats
    second: Floats
    topic: "np.ndarray[tuple[int], np.dtype[np.intp]]"
    votes: Floats

    @property
    def difference(self) -> Floats:
        """Cells of first minus those of second, (m, 5)."""
        return self.first - self.second


def pair_votes_of(judgments: PushJudgments) -> PairVotes:
    """Count the votes of each pair, in the direction of its first judgment."""
    _, seen, pair = np.unique(judgments.pair, return_index=True, return_inverse=True)
    first, second = judgments.left[seen], judgments.right[seen]
    turned = judgments.first_is_left != judgments.first_is_left[seen][pair]
    vote = np.where(turned, -judgments.vote, judgments.vote)
    votes = np.zeros((len(seen), 3))
    np.add.at(votes, (pair, np.where(vote > 0, 0, np.where(vote < 0, 1, 2))), 1.0)
    return PairVotes(first=first, second=second, topic=judgments.topic[seen], votes=votes)


def expected_shares(difference: Floats, maximum: ChoiceMaximum, ties: Ties) -> Floats:
    """Return the outcome probabilities of each pair: (m, k) -> (m, 3).

    It is (m, 2) without ties.
    """
    outcomes = OUTCOMES if maximum.tie is not None else OUTCOMES[:2]
    m = len(difference)
    model = ChoiceModel(
        design=np.repeat(difference, len(outcomes), axis=0),
        vote=np.tile(outcomes, m),
        ties=ties,
        times=np.ones(m * len(outcomes)),
    )
    return np.exp(model.terms(maximum.point).loglik).reshape(m, len(outcomes))


def simulated_tables(
    pairs: PairVotes, shares: Floats, n: int, rng: np.random.Generator
) -> dict[str, pd.DataFrame]:
    """Draw tables preferences and push_cells of n judgments, with random sides.

    Pairs are as frequent as in the data.
    """
    m = len(pairs.votes)
    pair = rng.choice(m, size=n, p=pairs.votes.sum(axis=1) / pairs.votes.sum())
    outcome = (rng.random((n, 1)) > shares[pair].cumsum(axis=1)[:, :-1]).sum(axis=1)
    swapped = rng.random(n) < 0.5
    on_left = np.where(swapped, 1 - outcome, outcome)
    tie = np.where(rng.random(n) < 0.5, "equally_good", "equally_bad")
    names = np.array([f"P{number}" for number in range(m)], dtype=object)
    topics = np.array([f"T{number}" for number in pairs.topic], dtype=object)
    preferences = pd.DataFrame(
        {
            "judgment": [f"J{number}" for number in range(n)],
            "worker": [f"W{number}" for number in range(n)],
            "task": TASK,
            "topic": topics[pair],
            "pair": names[pair],
            "system_left": np.where(swapped, "B", "A"),
            "system_right": np.where(swapped, "A", "B"),
            "choice": np.where(outcome == 2, tie, np.where(on_left == 0, "left", "right")),
        }
    )
    signs = np.array(list(CELL_SIGNS.values()))
    cells = [
        pd.DataFrame(x * signs, columns=list(CELL_SIGNS)).assign(
            task=TASK, topic=topics, pair=names, system=system
        )
        for system, x in (("A", pairs.first), ("B", pairs.second))
    ]
    return {
        "preferences": check_frame(preferences, TABLES["preferences"]),
        "push_cells": check_frame(pd.concat(cells, ignore_index=True), TABLES["push_cells"]),
    }
