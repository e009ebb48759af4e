"""Test whether sides look drawn by lot, the same for fit, rank and agreement.

Under lots each judgment puts either system on the left with probability 1/2, so a system, and the first of a couple, is on the left in
Binomial(n, 1/2) of its n judgments. The smallest exact two-sided p over all systems and all couples counts times their number
(Bonferroni). Couples are tested too because a system's own count stays even where it stands left of one rival and right of another.
Sides that are balanced within a couple vary less, so they are named less often.
The test only names what is uneven: it never says that sides were drawn. That is known of a study that was served
(`calibration.tables.study_json.StudyRecord.drew_sides`).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import bdtr

from metrics.arrays import Ints
from metrics.errors import percent, pluralise

UNEVEN = 0.01
"""Smallest probability of sides as uneven as these that is not named."""


class UnevenSides(NamedTuple):
    """Name of the finding, and a sentence without its full stop."""

    name: str
    sentence: str


def uneven_sides(left: Ints, right: Ints, topic: Ints, systems: Sequence[str]) -> UnevenSides | None:
    """Return what shows that sides were not drawn by lot, or None.

    Parameters
    ----------
    left, right : (n,) ndarray of int
        The system on either side: its place in ``systems``.
    topic : (n,) ndarray of int
        Code of the topic.
    systems : sequence of str
        Their names, in alphabetical order.
    """
    many = len(systems)
    first, second = np.minimum(left, right), np.maximum(left, right)
    couple, couples = pd.factorize(first * many + second)
    pair = pd.factorize(couple * (int(topic.max()) + 1) + topic)[0]
    times, first_left = np.bincount(pair), np.bincount(pair, left == first)
    has_kept = (first_left == 0) | (first_left == times)
    if has_kept.all() and 0.5 ** float((times - 1).sum()) < UNEVEN:
        several = pluralise(int((times > 1).sum()), "pair")
        return UnevenSides("sides_not_drawn", f"Each of {several} kept its sides every time")
    on_left = np.append(np.bincount(left, minlength=many), np.bincount(couple, left == first))
    shown = np.append(np.bincount(np.append(left, right), minlength=many), np.bincount(couple))
    chance = np.minimum(1, 2 * bdtr(np.minimum(on_left, shown - on_left), shown, 0.5))
    least = int(np.argmin(chance))
    if chance[least] * len(chance) >= UNEVEN:
        return None
    share, number = on_left[least] / shown[least], f"{shown[least]:,} judgments"
    if least < many:
        name, of, whose = systems[least], "", "its "
    else:
        code, other = divmod(int(couples[least - many]), many)
        name, of, whose = systems[code], f" of {systems[other]}", "their "
    if share in {0, 1}:
        side = "left" if share else "right"
        return UnevenSides("sides_not_drawn", f"{name} stood on the {side}{of} in all of {whose}{number}")
    return UnevenSides("uneven_sides", f"{name} stood on the left{of} in {percent(share)} of {whose}{number}")
