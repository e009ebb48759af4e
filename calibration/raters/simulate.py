"""Simulator of raters: importance, votes on pairs, repeats by care or habit."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from calibration.tables.files import check_frame
from calibration.tables.tables import TABLES
from metrics.arrays import Bools, Floats, Ints

Texts: TypeAlias = NDArray[np.object_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessors:
    """Simulated assessors who rate iUnits from 0 to 4.

    A rating is round(2 + topic + iUnit + lean + noise), cut to the scale.

    Attributes
    ----------
    per_topic : int
        Assessors of each topic; each rates all its iUnits.
    topic_sd, iunit_sd, lean_sd, noise_sd : float
        Standard deviations of a topic's level, of an iUnit within its topic, of one person's level in one topic, and
        of one rating.
    shared : bool
        The same people rate every topic; otherwise each topic has its own.
    missing : float
        Share of ratings that were never given.
    """

    per_topic: int = 2
    topic_sd: float = 0.5
    iunit_sd: float = 1.0
    lean_sd: float = 0.5
    noise_sd: float = 0.8
    shared: bool = True
    missing: float = 0.0


def simulate_importance(
    topics: int, iunits: int, assessors: Assessors, rng: np.random.Generator
) -> pd.DataFrame:
    """Draw table importance: ``iunits`` of each topic, for one intent ``i``."""
    level = rng.normal(0, assessors.topic_sd, (topics, 1, 1))
    worth = rng.normal(0, assessors.iunit_sd, (topics, iunits, 1))
    noise = rng.normal(0, assessors.noise_sd, (topics, iunits, assessors.per_topic))
    lean = rng.normal(0, assessors.lean_sd, (topics, 1, assessors.per_topic))
    rating = np.clip(np.rint(2 + level + worth + lean + noise), 0, 4)
    topic, iunit, person = (axis.ravel() for axis in np.indices(rating.shape))
    kept = rng.random(rating.size) >= assessors.missing
    worker = person if assessors.shared else topic * assessors.per_topic + person
    rows = pd.DataFrame(
        {
            "worker": [f"A{number}" for number in worker],
            "topic": [f"Q{number:03d}" for number in topic],
            "intent": "i",
            "iunit": [f"U{number}" for number in iunit],
            "rating": rating.ravel(),
        }
    )
    return check_frame(rows[kept].reset_index(drop=True), TABLES["importance"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowd:
    """Simulated judges of pairs, some answers with care, the others by habit.

    A pair's shares of votes for the one system, for the other and for equal are Dirichlet around the topic's own shares,
    and these around ``shares``. A careful person has one vote for a pair and repeats it; others click by habit.

    Attributes
    ----------
    per_pair : int
        Judgments of each pair.
    shares : three floats
        Of votes for a system, for the other, for equal; the first two alike, since systems have no order.
    pair_spread, topic_spread : float
        In (0, 1]: how far shares vary between pairs of a topic, and between topics; 1 / (1 + concentration).
    shared : bool
        Everybody judges every topic; otherwise each topic has its own judges.
    care : float
        Mean probability that an answer is given with care; a Beta over people.
    care_spread : float
        In [0, 1): 1 / (1 + concentration) of that Beta; 0: all alike.
    left_habit : float
        Log odds of left over right of a careless answer; never `equal`.
    left_sd : float
        Standard deviation of people's own log odds of left.
    repeats : int
        Validation pairs of each person, sides swapped.
    missing : float
        Share of judgments (and their repeats) that were never given.
    """

    per_pair: int = 10
    shares: tuple[float, float, float] = (0.35, 0.35, 0.3)
    pair_spread: float = 0.3
    topic_spread: float = 0.05
    shared: bool = False
    care: float = 1.0
    care_spread: float = 0.0
    left_habit: float = 0.0
    left_sd: float = 0.0
    repeats: int = 0
    missing: float = 0.0


def simulate_judgments(topics: int, pairs: int, crowd: Crowd, rng: np.random.Generator) -> pd.DataFrame:
    """Draw table preferences: ``pairs`` of each topic, with random sides.

    Equal options are good or bad at random.
    """
    people = crowd.per_pair * (1 if crowd.shared else topics)
    topic, pair, seat = (axis.ravel() for axis in np.indices((topics, pairs, crowd.per_pair)))
    worker = seat if crowd.shared else topic * crowd.per_pair + seat
    care = _people_care(crowd, people, rng)
    left = 1 / (1 + np.exp(-rng.normal(crowd.left_habit, crowd.left_sd, people)))
    shares = _pair_shares(topics, pairs, crowd, rng)[topic, pair]
    vote = (rng.random((len(topic), 1)) > shares[:, :2].cumsum(axis=1)).sum(axis=1)
    kept = np.flatnonzero(rng.random(len(topic)) >= crowd.missing)
    first = _shown(vote, care[worker], left[worker], rng.random(len(topic)) < 0.5, rng)
    rows = _table(topic[kept], pair[kept], worker[kept], (first[0][kept], first[1][kept]))
    again = np.array(_repeated(worker, kept, crowd.repeats, rng), dtype=np.intp)
    second = _shown(vote[again], care[worker[again]], left[worker[again]], ~first[1][again], rng)
    repeats = _table(topic[again], pair[again], worker[again], second)
    number = {row: f"J{index}" for index, row in enumerate(kept.tolist())}
    repeats["judgment"] = [f"R{index}" for index in range(len(again))]
    repeats["validation_of"] = [number[row] for row in again.tolist()]
    rows["judgment"] = list(number.values())
    return check_frame(pd.concat([rows, repeats], ignore_index=True), TABLES["preferences"])


def _people_care(crowd: Crowd, people: int, rng: np.random.Generator) -> Floats:
    if crowd.care_spread == 0 or crowd.care in (0, 1):
        return np.full(people, crowd.care)
    concentration = 1 / crowd.care_spread - 1
    return rng.beta(crowd.care * concentration, (1 - crowd.care) * concentration, people)


def _pair_shares(topics: int, pairs: int, crowd: Crowd, rng: np.random.Generator) -> Floats:
    """Draw shares of votes, (topics, pairs, 3)."""
    of_topic = rng.dirichlet(np.array(crowd.shares) * (1 / crowd.topic_spread - 1), topics)
    drawn = rng.standard_gamma(of_topic[:, None, :] * (1 / crowd.pair_spread - 1), (topics, pairs, 3))
    drawn = np.maximum(drawn, 1e-300)
    return np.asarray(drawn / drawn.sum(axis=2, keepdims=True))


def _shown(
    vote: Ints,
    care: Floats,
    left: Floats,
    swapped: Bools,
    rng: np.random.Generator,
) -> tuple[Texts, Bools]:
    """Return the clicked options, and whether the second system stood on the left."""
    careful = rng.random(len(vote)) < care
    side = np.where(careful, np.where(swapped, 1 - vote, vote), rng.random(len(vote)) > left)
    equal = np.where(rng.random(len(vote)) < 0.5, "equally_good", "equally_bad")
    choice = np.where(careful & (vote == 2), equal, np.where(side == 0, "left", "right"))
    return choice.astype(object), swapped


def _repeated(
    worker: Ints,
    kept: Ints,
    repeats: int,
    rng: np.random.Generator,
) -> list[int]:
    """Return the judgments that are repeated: a number of each person."""
    rows: list[int] = []
    for person in range(int(worker.max()) + 1) if repeats else ():
        own = kept[worker[kept] == person]
        rows += sorted(rng.choice(own, size=min(repeats, len(own)), replace=False).tolist())
    return rows


def _table(
    topic: Ints,
    pair: Ints,
    worker: Ints,
    shown: tuple[Texts, Bools],
) -> pd.DataFrame:
    choice, swapped = shown
    one, other = ([f"{name}{number}" for number in pair] for name in "ab")
    return pd.DataFrame(
        {
            "worker": [f"W{number}" for number in worker],
            "task": "pairs",
            "topic": [f"Q{number:03d}" for number in topic],
            "pair": [f"P{number}" for number in pair],
            "system_left": np.where(swapped, other, one),
            "system_right": np.where(swapped, one, other),
            "choice": choice,
        }
    )
