"""Win rates of people, assisted by a judge: the rows of assisted_win_rates.csv.

The judge's win rate of a system is that of people (`calibration.rank.judgments`) with one vote a pair, its verdict: on the pairs that people
judged, and on all of its pairs of the same systems.
"""

from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd

from calibration.inference.sides import SideAdjustment
from calibration.judges.assist import (
    JudgedPairs,
    JudgeNumber,
    PeopleNumber,
    VotesOnPairs,
    judge_number,
    judged_pairs_of,
)
from calibration.judges.lot import against_lot
from calibration.judges.verdicts import Verdicts
from calibration.rank.judgments import JudgedShares, JudgedSystems, side_adjustment, win_rates
from calibration.rank.notes import too_few
from calibration.tables.study_json import StudyRecord
from metrics.agreement.crossed_errors import crossing
from metrics.arrays import Bools, Floats, Indices
from metrics.errors import input_fault


def assisted_win_rates(
    judged: JudgedSystems, verdicts: Verdicts, level: float, study: StudyRecord | None = None
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the assisted win rate of every system, and the difference of the best from each other one.

    Parameters
    ----------
    judged : JudgedSystems
        The judgments of people on one task.
    verdicts : DataFrame
        Those of one judge.
    level : float
        Of the intervals.
    study : StudyRecord, optional
        study.json of the tables.

    Raises
    ------
    InputError
        If the judge can assist nothing.
    """
    rows = verdicts[verdicts["task"] == judged.task]
    known = rows["system_a"].isin(judged.systems) & rows["system_b"].isin(judged.systems)
    pair, people = _pairs(judged)
    systems = len(judged.systems)
    pairs = judged_pairs_of(
        pd.DataFrame(
            {
                "topic": np.array(judged.topics)[people // systems**2],
                "system_a": np.array(judged.systems)[people // systems % systems],
                "system_b": np.array(judged.systems)[people % systems],
            }
        ),
        people // systems**2,
        rows[known],
    )
    if reason := pairs.why_useless:
        raise input_fault(
            f"{judged.task}: {reason}", cure="let the judge judge all pairs, also those without votes"
        )
    rates = win_rates(judged)
    adjustment = None if too_few(judged, rates) else side_adjustment(judged)
    rates = win_rates(judged, adjustment)
    votes = VotesOnPairs(crossing(judged.topic, judged.worker), pair, pairs)
    judge = _JudgeWinRates(judged, pairs)
    best = int(np.argmax(np.round(rates.value, 12)))
    head = {"task": judged.task, "judge": str(rows["judge"].iloc[0])}

    def row(system: int, against: int | None) -> dict[str, Any]:
        ours, its = _of_people(rates, adjustment, system), judge.of(system)
        if against is not None:
            ours = _difference(ours, _of_people(rates, adjustment, against))
            its = _less(its, judge.of(against))
        ends = (0.0, 1.0) if against is None else (-1.0, 1.0)
        number = votes.assisted(ours, its, level=level, ends=ends)
        names = {
            "system": judged.systems[system],
            "against": "" if against is None else judged.systems[against],
        }
        return head | names | asdict(number) | votes.counts

    order = np.argsort(-np.round(rates.value, 12), kind="stable").tolist()
    made = [*((system, None) for system in order), *((best, other) for other in order if other != best)]
    notes = [votes.note(), *against_lot(judged.task, pairs, study)]
    return [row(*each) for each in made], [f"{judged.task}: {note}" for note in notes if note]


def _pairs(judged: JudgedSystems) -> tuple[Indices, Indices]:
    """Return the pair of each judgment, and of each pair topic x systems^2 + couple."""
    code, keys = pd.factorize(judged.topic * len(judged.systems) ** 2 + judged.couple)
    return code, np.asarray(keys, dtype=np.intp)


def _of_people(rates: JudgedShares, adjustment: SideAdjustment | None, system: int) -> PeopleNumber:
    influence, is_own = rates.influence, rates.influence.estimate == system
    weight = np.where(is_own, influence.weight, 0.0)
    moved = np.where(is_own, influence.error, 0.0).sum(axis=0)
    if adjustment is not None:
        moved += adjustment.influence(weight[0] - weight[1])
    return PeopleNumber(float(rates.value[system]), moved, weight.sum(axis=0))


def _difference(one: PeopleNumber, other: PeopleNumber) -> PeopleNumber:
    return PeopleNumber(
        one.value - other.value, one.influence - other.influence, (one.weight + other.weight) / 2
    )


def _less(one: JudgeNumber, other: JudgeNumber) -> JudgeNumber:
    return JudgeNumber(
        one.labelled - other.labelled,
        one.whole - other.whole,
        one.by_pair - other.by_pair,
        one.by_topic - other.by_topic,
    )


class _JudgeWinRates:
    """Win rates of a judge, on people's pairs and on all."""

    def __init__(self, judged: JudgedSystems, pairs: JudgedPairs) -> None:
        code = {name: place for place, name in enumerate(judged.systems)}
        self.pairs, self.systems = pairs, len(judged.systems)
        self.side = np.stack(
            [pairs.pairs[side].map(code).to_numpy(np.intp) for side in ("system_a", "system_b")]
        )
        is_judged = ~np.isnan(pairs.share)
        self.whole = self._weights(is_judged)
        self.labelled = self._weights(is_judged & (np.arange(len(is_judged)) < pairs.labelled))

    def _weights(self, is_used: Bools) -> Floats:
        """Return the weight of each pair in the win rate of either side, (2, P)."""
        cell = self.pairs.topic * self.systems + self.side
        used = cell[:, is_used].ravel()
        opponents = np.bincount(used, minlength=int(cell.max()) + 1)
        topics = np.bincount(np.unique(used) % self.systems, minlength=self.systems)
        total = opponents[cell] * topics[self.side]
        weights = np.divide(1.0, total, out=np.zeros(cell.shape), where=is_used & (total > 0))
        return np.asarray(weights, dtype=np.float64)

    def of(self, system: int) -> JudgeNumber:
        """Return the win rate of one system."""
        is_own, share = self.side == system, self.pairs.share
        labelled, whole = (
            np.where(is_own, weight, 0.0).sum(axis=0) for weight in (self.labelled, self.whole)
        )
        credit = np.where(is_own[0], share, 1 - share)
        return judge_number(credit, labelled[: self.pairs.labelled], whole, self.pairs.topic)
