"""Win rates of systems and shares of couples, with what each judgment adds to their errors.

    share(s, o, t)  = (judgments that prefer s to o + half of the ties) / judgments of the couple, on topic t
    win_rate(s)     = mean over topics t of the mean over opponents o of share(s, o, t)
    share_a(a, b)   = mean over topics t of share(a, b, t)

Every topic weighs the same, and on a topic every opponent, however many judgments it has. What was not judged takes no part.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from calibration.rank.crossed import Influence
from calibration.rank.judgments import JudgedSystems
from metrics.arrays import Floats, Ints


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JudgedShares:
    """k estimates, each a weighted mean of judgments, and how each judgment moves them.

    Attributes
    ----------
    value : (k,) ndarray of float
        Win rates, or shares of couples.
    topics, judgments : (k,) ndarray of int
        How many have a part in each.
    influence : Influence
        What each judgment adds to the errors.
    """

    value: Floats
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


def win_rates(judged: JudgedSystems) -> JudgedShares:
    """Return the win rate of every system, in the order of ``judged.systems``."""
    systems = len(judged.systems)
    system = np.stack([judged.left, judged.right])
    couple, couples = pd.factorize(judged.topic * systems**2 + judged.couple)
    votes = np.bincount(couple)
    cell, cells = pd.factorize((judged.topic * systems + system).ravel())
    opponents = np.bincount(cell.reshape(2, -1)[:, _first_of_each(couple, len(couples))].ravel())
    return _shares(
        judged,
        estimate=system,
        vote=np.stack([judged.for_left, 1 - judged.for_left]),
        weight=1 / (votes[couple] * opponents[cell.reshape(2, -1)]),
        topics=np.bincount(cells % systems),
    )


def duels(judged: JudgedSystems) -> Duels:
    """Return the share of the first system of every couple that was judged, in the order of the names."""
    systems = len(judged.systems)
    couple, keys = pd.factorize(judged.couple, sort=True)
    cell, cells = pd.factorize(judged.topic * len(keys) + couple)
    for_first = np.where(judged.left < judged.right, judged.for_left, 1 - judged.for_left)
    shares = _shares(
        judged,
        estimate=couple[None],
        vote=for_first[None],
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
    place = np.empty(codes, dtype=np.intp)
    place[code] = np.arange(len(code))
    return place


def _shares(
    judged: JudgedSystems, *, estimate: Ints, vote: Floats, weight: Floats, topics: Ints
) -> JudgedShares:
    """Return weighted means of votes by estimate; ``weight`` adds up to 1 on each topic of an estimate."""
    weight = weight / topics[estimate]
    value = np.asarray(np.bincount(estimate.ravel(), (weight * vote).ravel()), dtype=np.float64)
    return JudgedShares(
        value=value,
        topics=topics,
        judgments=np.bincount(estimate.ravel()),
        influence=Influence(
            estimate=estimate,
            error=weight * (vote - value[estimate]),
            weight=weight,
            topic=judged.topic,
            worker=judged.worker,
        ),
    )
