"""A judge against each person in turn: the alternative annotator test (Calderon, Reichart and Dror 2025).

On each pair that a person judged with others, the person's vote and the judge's verdict are held against the votes of the others: which
agrees with more of them, a tie counting half? The judge's advantage is the share of the person's pairs on which it does at least as well
as the person; the person's share likewise. The judge wins against a person if, with p from a t test over topics of

    person's share - judge's share >= COST,

which is one-sided, this is rejected after the correction of Benjamini and Yekutieli (2001) over all persons tested. COST is what a judge
that is cheaper than people may be worse by. Persons with few pairs or topics are not tested.
"""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import stdtr
from scipy.stats import false_discovery_control

from metrics.agreement.crossed_errors import MIN_CLUSTERS, VotesByPerson
from metrics.arrays import Floats

COST = 0.1
"""Of the source, for crowd workers."""
MIN_PAIRS = 30
"""Pairs from which a person is tested, as in the source; topics are as for every interval."""
LEVEL = 0.05


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PeopleInTurn:
    """The judge against each person.

    Attributes
    ----------
    table : DataFrame
        One row a person, by number: worker (code), pairs, topics, judge_with_others, person_with_others (how often each agrees with one
        of the others), judge_as_good, person_as_good (share of pairs on which each does at least as well), p, p_adjusted (NaN if not tested).
    advantage : float
        Mean of ``judge_as_good`` over people.
    tested, beaten : int
        People tested, and those against whom the judge wins.
    """

    table: pd.DataFrame
    advantage: float
    tested: int
    beaten: int


def judge_and_each_person(panel: VotesByPerson, verdict: Floats) -> PeopleInTurn:
    """Hold a judge against each person.

    Parameters
    ----------
    panel : VotesByPerson
        One vote a person on p pairs, each of two people or more.
    verdict : (p,) ndarray of float
        Of the judge: 1 for system_a, -1 for system_b, 0 for a tie.
    """
    vote, pair, crossed = 2 * panel.for_a - 1, panel.pair, panel.crossing
    votes = panel.votes[pair]
    others = ((panel.cast[2] - panel.cast[0])[pair] - vote) / (votes - 1)
    of_person, of_judge = 0.5 + vote * others / 2, 0.5 + verdict[pair] * others / 2
    person_as_good, judge_as_good = of_person >= of_judge, of_judge >= of_person
    pairs = np.bincount(crossed.worker, minlength=crossed.workers)

    def mean(values: Floats) -> Floats:
        return np.asarray(np.bincount(crossed.worker, values, crossed.workers) / np.maximum(pairs, 1))

    topics = np.bincount(crossed.worker_of_cell, minlength=crossed.workers)
    behind = person_as_good.astype(np.float64) - judge_as_good
    apart = mean(behind)
    of_cell = np.bincount(crossed.cell, behind - apart[crossed.worker], len(crossed.worker_of_cell))
    squares = np.bincount(crossed.worker_of_cell, of_cell**2, crossed.workers)
    is_tested = (pairs >= MIN_PAIRS) & (topics >= MIN_CLUSTERS)
    error = np.sqrt(topics / np.maximum(topics - 1, 1) * squares) / np.maximum(pairs, 1)
    far = np.where(apart < COST, -np.inf, np.inf)
    lead = np.divide(apart - COST, error, out=far, where=error > 1e-12)
    p = np.where(is_tested, stdtr(np.maximum(topics - 1, 1), lead), np.nan)
    adjusted = p.copy()
    if is_tested.any():
        adjusted[is_tested] = false_discovery_control(p[is_tested], method="by")
    table = pd.DataFrame(
        {
            "worker": np.arange(crossed.workers),
            "pairs": pairs,
            "topics": topics,
            "judge_with_others": mean(of_judge),
            "person_with_others": mean(of_person),
            "judge_as_good": mean(judge_as_good.astype(np.float64)),
            "person_as_good": mean(person_as_good.astype(np.float64)),
            "p": p,
            "p_adjusted": adjusted,
        }
    )
    return PeopleInTurn(
        table=table,
        advantage=float(table["judge_as_good"].mean()) if len(table) else math.nan,
        tested=int(is_tested.sum()),
        beaten=int((adjusted[is_tested] <= LEVEL).sum()),
    )
