"""Verdicts of a judge on pairs, from its answers in both orders and over repeats.

An answer is 1 for system_a, -1 for system_b, 0 for a tie; an answer that cannot be used counts as a tie. The answers of one repeat,
in both orders, make one verdict: a system's where all of them are for it, else a tie. So two orders that contradict each other make a tie.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from metrics.arrays import Bools, Floats, Ints

CONTRADICTS, NO_ANSWER = "contradicts", "no_answer"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ResolvedVerdicts:
    """Verdicts of one judge on p pairs.

    Attributes
    ----------
    first : (p,) ndarray of float
        Verdict of the first repeat: 1 for system_a, -1 for system_b, 0 for a tie; NaN where the judge gave none.
    majority : (p,) ndarray of float
        The side for which most verdicts of all repeats are, in the same way.
    answers, unusable : int
        Number of answers, and of those that cannot be used.
    verdicts : int
        Number of verdicts: one a pair and repeat.
    in_two_orders, contradictions : int
        Verdicts with usable answers in two orders, and those whose orders differ.
    in_one_order : int
        Pairs judged in one order only, where the judge was asked in both elsewhere.
    sided, first_sided : int
        Answers for a side whose order is known, and those for the side that came first.
    repeated, changed, reversed : int
        Pairs judged again; those on which not all verdicts are the same; those with verdicts for both sides.
    repeats : int
        Largest number of verdicts on a pair.
    """

    first: Floats
    majority: Floats
    answers: int
    unusable: int
    verdicts: int
    in_two_orders: int
    contradictions: int
    in_one_order: int
    sided: int
    first_sided: int
    repeated: int
    changed: int
    reversed: int
    repeats: int

    @property
    def is_judged(self) -> Bools:
        """(p,) whether the judge gave a verdict on a pair."""
        return np.asarray(~np.isnan(self.first))


def resolved_verdicts(rows: pd.DataFrame, pair: Ints, pairs: int) -> ResolvedVerdicts:
    """Resolve the answers of one judge.

    Parameters
    ----------
    rows : DataFrame
        n rows of a frame of verdicts: order, is_swapped, repeat, vote.
    pair : (n,) ndarray of int
        Place of the pair of each row; -1 for a pair that no person judged, whose rows are left out.
    pairs : int
        Number of pairs p.
    """
    rows, pair = rows[pair >= 0], pair[pair >= 0]
    vote = rows["vote"].astype("str").to_numpy()
    worth = np.where(vote == "votes_a", 1.0, np.where(vote == "votes_b", -1.0, 0.0))
    is_unusable = vote == NO_ANSWER
    repeat = rows["repeat"].fillna(1).to_numpy(np.int64)
    repeat_code = np.unique(repeat, return_inverse=True)[1]
    cells, cell = np.unique(pair * (int(repeat_code.max(initial=0)) + 1) + repeat_code, return_inverse=True)
    size, total = np.bincount(cell), np.bincount(cell, worth)
    lacks_answer = np.bincount(cell, is_unusable) > 0
    verdict = np.where(np.abs(total) == size, np.sign(total), 0.0)
    sided_answers = np.bincount(cell, worth != 0)
    is_same = (np.abs(total) == size) | (sided_answers == 0)
    is_contradiction = np.bincount(cell, vote == CONTRADICTS) > 0
    has_two = ((size > 1) | bool(is_contradiction.any())) & ~lacks_answer
    place = cells // (int(repeat_code.max(initial=0)) + 1)
    of_pair = np.bincount(place, minlength=pairs)
    plus, minus = (np.bincount(place, verdict == side, minlength=pairs) for side in (1, -1))
    changed = (of_pair > 1) & (plus < of_pair) & (minus < of_pair) & (plus + minus > 0)
    judged, start = np.unique(place, return_index=True)
    first = np.full(pairs, np.nan)
    first[judged] = verdict[start]
    is_sided = rows["order"].notna().to_numpy() & (worth != 0)
    is_first = (worth > 0) != rows["is_swapped"].to_numpy(np.bool_)
    return ResolvedVerdicts(
        first=first,
        majority=np.where(of_pair > 0, np.sign(plus - minus), np.nan),
        answers=len(rows),
        unusable=int(is_unusable.sum()),
        verdicts=len(cells),
        in_two_orders=int(has_two.sum()),
        contradictions=int((has_two & (is_contradiction | ~is_same)).sum()),
        in_one_order=int((size == 1).sum()) if size.max(initial=0) > 1 else 0,
        sided=int(is_sided.sum()),
        first_sided=int((is_sided & is_first).sum()),
        repeated=int((of_pair > 1).sum()),
        changed=int(changed.sum()),
        reversed=int(((plus > 0) & (minus > 0)).sum()),
        repeats=int(of_pair.max(initial=0)),
    )
