"""Simulator of preferences between push streams, and of their cells.

It also simulates the people who judge the pairs.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations
from types import MappingProxyType
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from scipy.special import expit

from calibration.inference.choice import choice_probabilities
from calibration.models.push.judgments import CELL_SIGNS, WEIGHTS, PainForm, PushJudgments, transform_cells
from calibration.tables.files import check_frame
from calibration.tables.tables import TABLES
from metrics.arrays import Bools, Floats, Ints

TieLaw: TypeAlias = Literal["davidson", "rao_kupper"]

TASK = "pushes"
CONVENTION = "track"
TRUTH = MappingProxyType({"G_E": 1.0, "P_E": 0.5, "S_E": 0.3, "P_0": 0.5, "S_0": 0.4})
_RELEVANT_A_DAY = 0.6
_OTHERS_A_DAY = 0.5
_HIGHLY_RELEVANT = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class PushJudges:
    """Simulated judges of pairs of streams, by the contingency framework.

    Attributes
    ----------
    weights : mapping of str to float
        True weights by name, as in `TRUTH`.
    sharpness : float
        Log odds of a unit of utility.
    workers, pairs_per_worker : int
        How many people, and how many pairs, drawn at random, each judges.
    tie_weight : float
        nu of Davidson's model, theta > 1 of Rao and Kupper's.
    tie_law : {'davidson', 'rao_kupper'}
        Which of them.
    weight_cv : float
        Standard deviation of a person's own weights around the true ones, in units of the mean absolute weight.
    unexplained_sd : float
        Standard deviation, in log odds, of what people like about a stream of a topic beyond its cells.
    left_bias : float
        Log odds of the left side.
    label_slope : float
        Log odds of calling a tie good for each unit of the two streams' summed utility; 0: at random.
    pain : {'count', 'square', 'three_halves', 'three_quarters', 'root', 'any', 'day'}
        What non-relevant pushes are felt as: their number, a power of it, whether there is any; or the days with any (P_0 is then part
        of S_0).
    gain : {'count', 'square', 'three_halves', 'three_quarters', 'root', 'any'}
        The same for what is relevant.
    """

    weights: Mapping[str, float] = field(default_factory=lambda: dict(TRUTH))
    sharpness: float = 0.25
    workers: int = 50
    pairs_per_worker: int = 20
    tie_weight: float = 0.6
    tie_law: TieLaw = "davidson"
    weight_cv: float = 0.35
    unexplained_sd: float = 0.0
    left_bias: float = 0.0
    label_slope: float = 0.0
    pain: PainForm = "count"
    gain: PainForm = "count"


def simulate_push_cells(
    topics: int, rng: np.random.Generator, *, systems: int = 6, days: int = 10, silent_share: float = 0.25
) -> pd.DataFrame:
    """Draw table push_cells for all pairs of systems of each topic.

    Two consecutive rows are a pair.

    Systems differ in how much they find, how much else they push on eventful days, and how much on silent ones.

    Parameters
    ----------
    topics : int
        Interest profiles.
    rng : Generator
        Source of the draws.
    systems, days : int
        Of each topic.
    silent_share : float in [0, 1]
        Chance that a day is silent.
    """
    cells = _drawn_cells(topics, rng, systems=systems, days=days, silent_share=silent_share)
    topic, couple = np.divmod(np.arange(topics * len(_couples(systems))), len(_couples(systems)))
    pair = np.array([f"S{first}/S{second}" for first, second in _couples(systems)])[couple]
    names = np.char.add("MB", np.char.zfill(topic.astype(str), 3))
    system = _couples(systems)[couple]
    rows = {
        "task": TASK,
        "topic": np.repeat(names, 2),
        "pair": np.repeat(np.char.add(np.char.add(names, "/"), pair), 2),
        "system": np.char.add("S", system.ravel().astype(str)),
        "days": float(days),
        "convention": CONVENTION,
    }
    values = cells[topic[:, None], system].reshape(-1, len(CELL_SIGNS))
    totals = dict(zip(CELL_SIGNS, values.T, strict=True))
    return check_frame(pd.DataFrame(rows | totals), TABLES["push_cells"])


def simulate_push_preferences(
    cells: pd.DataFrame, judges: PushJudges, rng: np.random.Generator
) -> pd.DataFrame:
    """Draw table preferences; sides are drawn at random.

    Parameters
    ----------
    cells : DataFrame
        Table push_cells of `simulate_push_cells`.
    judges : PushJudges
        Who judges.
    rng : Generator
        Source of the draws.
    """
    stream = cells.groupby(["topic", "system"], sort=False).ngroup().to_numpy().reshape(-1, 2)
    x = _signed(cells[list(CELL_SIGNS)].to_numpy(np.float64)).reshape(-1, 2, len(CELL_SIGNS))
    simulated = _drawn_judgments(x, stream, judges, rng)
    left, right = 2 * simulated.pair + simulated.swapped, 2 * simulated.pair + ~simulated.swapped
    n = len(simulated.pair)
    tie = np.where(simulated.good, "equally_good", "equally_bad")
    rows = pd.DataFrame(
        {
            "judgment": np.char.add("J", np.arange(n).astype(str)),
            "worker": np.char.add("W", simulated.worker.astype(str)),
            "task": TASK,
            "topic": cells["topic"].to_numpy()[left],
            "pair": cells["pair"].to_numpy()[left],
            "system_left": cells["system"].to_numpy()[left],
            "system_right": cells["system"].to_numpy()[right],
            "choice": np.where(simulated.vote == 0, tie, np.where(simulated.vote > 0, "left", "right")),
        }
    )
    return check_frame(rows, TABLES["preferences"])


def simulate_push_judgments(
    topics: int,
    judges: PushJudges,
    rng: np.random.Generator,
    *,
    systems: int = 6,
    days: int = 10,
    silent_share: float = 0.25,
) -> PushJudgments:
    """Draw joined judgments, without the detour over tables.

    They equal the joined tables of `simulate_push_cells` and `simulate_push_preferences`.

    The same generator gives the same judgments as by way of the tables, in a small part of the time.
    """
    cells = _drawn_cells(topics, rng, systems=systems, days=days, silent_share=silent_share)
    topic = np.repeat(np.arange(topics), len(_couples(systems)))
    system = np.tile(_couples(systems), (topics, 1))
    x = _signed(cells[topic[:, None], system])
    simulated = _drawn_judgments(x, topic[:, None] * systems + system, judges, rng)
    side = simulated.swapped.astype(np.intp)
    return PushJudgments(
        left=x[simulated.pair, side],
        right=x[simulated.pair, 1 - side],
        vote=simulated.vote,
        good=simulated.good & (simulated.vote == 0),
        first_is_left=~simulated.swapped,
        worker=simulated.worker,
        topic=np.unique(topic[simulated.pair], return_inverse=True)[1],
        pair=np.unique(simulated.pair, return_inverse=True)[1],
        convention=CONVENTION,
    )


def _couples(systems: int) -> Ints:
    return np.array(list(combinations(range(systems), 2)))


def _signed(cells: Floats) -> Floats:
    return np.asarray(cells * np.array(list(CELL_SIGNS.values())))


def _drawn_cells(
    topics: int, rng: np.random.Generator, *, systems: int, days: int, silent_share: float
) -> Floats:
    """Return (topics, systems, 5) cells in the order of `SIGNS`."""
    silent = rng.random((topics, 1, days)) < silent_share
    relevant = rng.poisson(_rates(_RELEVANT_A_DAY, topics, systems, rng) * ~silent)
    eventful, quiet_day = (_rates(_OTHERS_A_DAY, topics, systems, rng) for _ in range(2))
    other = rng.poisson(np.where(silent, quiet_day, eventful))
    gain = (relevant + rng.binomial(relevant, _HIGHLY_RELEVANT)) / 2
    nothing = relevant + other == 0
    cells = (gain, other * ~silent, nothing & ~silent, other * silent, nothing & silent)
    return np.stack([cell.sum(axis=2) for cell in cells], axis=2).astype(np.float64)


def _rates(mean: float, topics: int, systems: int, rng: np.random.Generator) -> Floats:
    own = rng.normal(0, 0.5, (1, systems, 1)) + rng.normal(0, 0.5, (topics, systems, 1))
    return np.asarray(mean * np.exp(own))


class _Drawn(NamedTuple):
    """Drawn judgments, (n,) each: worker, pair, order, vote, word for a tie.

    Order says whether the pair's first stream was on the right; the vote is for the left.
    """

    worker: Ints
    pair: Ints
    swapped: Bools
    vote: Floats
    good: Bools


def _drawn_judgments(x: Floats, stream: Ints, judges: PushJudges, rng: np.random.Generator) -> _Drawn:
    """Draw from (pairs, 2, 5) signed cells of (pairs, 2) streams."""
    n = judges.workers * judges.pairs_per_worker
    x = transform_cells(transform_cells(x, judges.pain), judges.gain, "gain")
    worker = np.repeat(np.arange(judges.workers), judges.pairs_per_worker)
    pair, swapped = rng.integers(0, len(x), n), rng.random(n) < 0.5
    own = _own_weights(judges, rng)[worker]
    liking = rng.normal(0, judges.unexplained_sd, stream.max() + 1)[stream]
    places = (swapped.astype(np.intp), (~swapped).astype(np.intp))
    left, right = (
        judges.sharpness * (x[pair, index] * own).sum(axis=1) + liking[pair, index] for index in places
    )
    vote = _votes(left - right + judges.left_bias, judges, rng)
    good = rng.random(n) < expit(judges.label_slope * (left + right) / judges.sharpness)
    return _Drawn(worker, pair, swapped, vote, good)


def _own_weights(judges: PushJudges, rng: np.random.Generator) -> Floats:
    truth = np.array([judges.weights[name] for name in WEIGHTS])
    spread = judges.weight_cv * np.abs(truth).mean()
    return np.asarray(truth + spread * rng.standard_normal((judges.workers, len(truth))))


def _votes(log_odds: Floats, judges: PushJudges, rng: np.random.Generator) -> Floats:
    """Return 1 for left, -1 for right, 0 for a tie."""
    if judges.tie_law == "davidson":
        left, right, _ = choice_probabilities(log_odds, np.asarray(math.log(judges.tie_weight)))
    else:
        threshold = math.log(judges.tie_weight)
        left, right = expit(log_odds - threshold), expit(-log_odds - threshold)
    simulated = rng.random(len(log_odds))
    return np.where(simulated < left, 1.0, np.where(simulated < left + right, -1.0, 0.0))
