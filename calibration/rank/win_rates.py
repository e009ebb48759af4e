"""Win rates of systems and shares of couples, with what each judgment adds to their errors.

    share(s, o, t)  = (judgments that prefer s to o + half of the ties) / judgments of the couple, on topic t
    win_rate(s)     = mean over topics t of the mean over opponents o of share(s, o, t)
    share_a(a, b)   = mean over topics t of share(a, b, t)

Every topic weighs the same, and on a topic every opponent, however many judgments it has. What was not judged takes no part.
"""

from dataclasses import dataclass

import numpy as np

from calibration.rank.crossed import Influence
from calibration.rank.judgments import Judgments
from metrics.arrays import Floats, Ints


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Shares:
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
    shares : Shares
        Shares of the first.
    """

    first: Ints
    second: Ints
    shares: Shares


def win_rates(judged: Judgments) -> Shares:
    """Return the win rate of every system, in the order of ``judged.systems``."""
    systems, n = len(judged.systems), len(judged.left)
    system = np.concatenate([judged.left, judged.right])
    topic, worker = np.tile(judged.topic, 2), np.tile(judged.worker, 2)
    couples = judged.topic * systems**2 + judged.couple
    couple, votes = _numbered(couples)
    cell, _ = _numbered(topic * systems + system)
    opponents = _opponents(couples, cell, n)
    weight = 1 / (np.tile(votes[couple], 2) * opponents[cell])
    return _shares(
        system, topic, worker, np.concatenate([judged.for_left, 1 - judged.for_left]), weight, cell
    )


def duels(judged: Judgments) -> Duels:
    """Return the share of the first system of every couple that was judged, in the order of the names."""
    systems = len(judged.systems)
    keys, couple = np.unique(judged.couple, return_inverse=True)
    cell, votes = _numbered(judged.topic * systems**2 + judged.couple)
    for_first = np.where(judged.left < judged.right, judged.for_left, 1 - judged.for_left)
    return Duels(
        first=keys // systems,
        second=keys % systems,
        shares=_shares(couple, judged.topic, judged.worker, for_first, 1 / votes[cell], cell),
    )


def is_balanced(judged: Judgments) -> bool:
    """Say whether every couple of the systems of a topic was judged on every topic."""
    systems = len(judged.systems)
    couples = len(np.unique(judged.topic * systems**2 + judged.couple))
    return couples == (int(judged.topic.max()) + 1) * systems * (systems - 1) // 2


def _opponents(couples: Ints, cell: Ints, n: int) -> Floats:
    """Return how many opponents each system had on each topic, by number of the cell of both."""
    first = np.unique(couples, return_index=True)[1]
    return np.bincount(np.concatenate([cell[first], cell[n + first]])).astype(np.float64)


def _numbered(keys: Ints) -> tuple[Ints, Floats]:
    """Return the number of each key, from 0 without holes, and how often each occurs."""
    _, number, times = np.unique(keys, return_inverse=True, return_counts=True)
    return number, times.astype(np.float64)


def _shares(estimate: Ints, topic: Ints, worker: Ints, vote: Floats, weight: Floats, cell: Ints) -> Shares:
    """Return weighted means of votes by estimate; ``weight`` adds up to 1 in each ``cell``, a topic of an estimate."""
    topics = np.bincount(estimate[np.unique(cell, return_index=True)[1]])
    weight = weight / topics[estimate]
    value = np.bincount(estimate, weight * vote)
    return Shares(
        value=value,
        topics=topics,
        judgments=np.bincount(estimate),
        influence=Influence(
            estimate=estimate,
            topic=topic,
            worker=worker,
            error=weight * (vote - value[estimate]),
            weight=weight,
        ),
    )
