"""Generator for preferences between push streams: streams with their cells, and people who judge pairs of them."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations
from types import MappingProxyType
from typing import Literal, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit

from calibration.davidson import choice_probabilities
from calibration.push_weights_pairs import SIGNS, WEIGHTS
from calibration.table_files import checked
from calibration.tables import TABLES
from calibration.uncertainty import Floats

Ints: TypeAlias = NDArray[np.intp]
TieLaw: TypeAlias = Literal["davidson", "rao_kupper"]

TASK = "pushes"
CONVENTION = "track"
TRUTH = MappingProxyType({"G_E": 1.0, "P_E": 0.5, "S_E": 0.3, "P_0": 0.5, "S_0": 0.4})
_RELEVANT_A_DAY = 0.6
_OTHERS_A_DAY = 0.5
_HIGHLY_RELEVANT = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class PushJudges:
    """People who judge pairs of streams by the contingency framework.

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
    """

    weights: Mapping[str, float] = field(default_factory=lambda: TRUTH)
    sharpness: float = 0.25
    workers: int = 50
    pairs_per_worker: int = 20
    tie_weight: float = 0.6
    tie_law: TieLaw = "davidson"
    weight_cv: float = 0.35
    unexplained_sd: float = 0.0
    left_bias: float = 0.0
    label_slope: float = 0.0


def simulate_push_cells(
    topics: int, rng: np.random.Generator, *, systems: int = 6, days: int = 10, silent_share: float = 0.25
) -> pd.DataFrame:
    """Draw table push_cells for all pairs of systems of each topic.

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
    silent = rng.random((topics, 1, days)) < silent_share
    relevant = rng.poisson(_rates(_RELEVANT_A_DAY, topics, systems, rng) * ~silent)
    eventful, quiet_day = (_rates(_OTHERS_A_DAY, topics, systems, rng) for _ in range(2))
    other = rng.poisson(np.where(silent, quiet_day, eventful))
    gain = (relevant + rng.binomial(relevant, _HIGHLY_RELEVANT)) / 2
    nothing = relevant + other == 0
    cells = (gain, other * ~silent, nothing & ~silent, other * silent, nothing & silent)
    totals = dict(zip(SIGNS, (cell.sum(axis=2) for cell in cells), strict=True))
    return checked(_cell_rows(totals, days), TABLES["push_cells"])


def _rates(mean: float, topics: int, systems: int, rng: np.random.Generator) -> Floats:
    own = rng.normal(0, 0.5, (1, systems, 1)) + rng.normal(0, 0.5, (topics, systems, 1))
    return np.asarray(mean * np.exp(own))


def _cell_rows(totals: dict[str, Floats], days: int) -> pd.DataFrame:
    """Return two rows a pair of systems from (topics, systems) totals."""
    topics, systems = totals["gain"].shape
    couples = list(combinations(range(systems), 2))
    topic = np.repeat(np.arange(topics), 2 * len(couples))
    system = np.tile(np.ravel(couples), topics)
    pair = np.tile(np.repeat([f"S{one}/S{two}" for one, two in couples], 2), topics)
    names = np.char.add("MB", np.char.zfill(topic.astype(str), 3))
    return pd.DataFrame(
        {
            "task": TASK,
            "topic": names,
            "pair": np.char.add(np.char.add(names, "/"), pair),
            "system": np.char.add("S", system.astype(str)),
            "days": float(days),
            "convention": CONVENTION,
            **{cell: values[topic, system] for cell, values in totals.items()},
        }
    )


def simulate_push_preferences(
    cells: pd.DataFrame, judges: PushJudges, rng: np.random.Generator
) -> pd.DataFrame:
    """Draw table preferences.

    Parameters
    ----------
    cells : DataFrame
        Table push_cells of `simulate_push_cells`: two rows after each other are a pair.
    judges : PushJudges
        Who judges.
    rng : Generator
        Source of the draws.

    Returns
    -------
    DataFrame
        Sides are drawn at random.
    """
    n = judges.workers * judges.pairs_per_worker
    worker = np.repeat(np.arange(judges.workers), judges.pairs_per_worker)
    first = 2 * rng.integers(0, len(cells) // 2, n)
    swapped = rng.random(n) < 0.5
    left, right = first + swapped, first + ~swapped
    signed = cells[list(SIGNS)].to_numpy(np.float64) * np.array(list(SIGNS.values()))
    own = _own_weights(judges, rng)[worker]
    liking = _liking(cells, judges.unexplained_sd, rng)
    utilities = [judges.sharpness * (signed[side] * own).sum(axis=1) + liking[side] for side in (left, right)]
    choice = _choices(utilities[0] - utilities[1] + judges.left_bias, judges, rng)
    good = rng.random(n) < expit(judges.label_slope * (utilities[0] + utilities[1]) / judges.sharpness)
    tie = np.where(good, "equally_good", "equally_bad")
    rows = pd.DataFrame(
        {
            "judgment": [f"J{number}" for number in range(n)],
            "worker": np.char.add("W", worker.astype(str)),
            "task": TASK,
            "topic": cells["topic"].to_numpy()[first],
            "pair": cells["pair"].to_numpy()[first],
            "system_left": cells["system"].to_numpy()[left],
            "system_right": cells["system"].to_numpy()[right],
            "choice": np.where(choice == 2, tie, np.where(choice == 0, "left", "right")),
        }
    )
    return checked(rows, TABLES["preferences"])


def _own_weights(judges: PushJudges, rng: np.random.Generator) -> Floats:
    truth = np.array([judges.weights[name] for name in WEIGHTS])
    spread = judges.weight_cv * np.abs(truth).mean()
    return np.asarray(truth + spread * rng.standard_normal((judges.workers, len(truth))))


def _liking(cells: pd.DataFrame, sd: float, rng: np.random.Generator) -> Floats:
    """Return one draw for each stream, the same in all its pairs."""
    stream = cells.groupby(["topic", "system"], sort=False).ngroup().to_numpy()
    return np.asarray(rng.normal(0, sd, stream.max() + 1)[stream])


def _choices(log_odds: Floats, judges: PushJudges, rng: np.random.Generator) -> Ints:
    """Return 0 for left, 1 for right, 2 for a tie."""
    if judges.tie_law == "davidson":
        left, right, _ = choice_probabilities(log_odds, np.asarray(math.log(judges.tie_weight)))
    else:
        threshold = math.log(judges.tie_weight)
        left, right = expit(log_odds - threshold), expit(-log_odds - threshold)
    drawn = rng.random(len(log_odds))
    return np.asarray((drawn >= left).astype(np.intp) + (drawn >= left + right))
