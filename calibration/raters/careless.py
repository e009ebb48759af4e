"""Who clicks at random: a class of judges whose preferences have nothing to do with those of the others.

Only answers for a side count, of pairs for which somebody else chose a side too: how often somebody finds both equal is a matter
of taste. With v of the others for the system that was chosen and w for the other one, a judge who follows them with power g chooses it
with odds ((v + 1/2) / (w + 1/2))^g; who clicks by lot has g = 0, whatever side they lean to, for sides are drawn by lot. Tastes differ,
so people follow the others more and less (`calibration.inference.following`): only who follows nobody is careless.
"""

import numpy as np
import pandas as pd

from calibration.inference.careless import CarelessClass
from calibration.inference.following import POWERS, who_follows_nobody
from calibration.inference.results import warning
from calibration.user_model.model import Diagnostic
from metrics.arrays import Floats, Places

_PAIR = ["task", "topic", "system_a", "system_b"]
_HALF = 0.5


def random_clickers(judged: pd.DataFrame) -> tuple["pd.Index[str]", CarelessClass] | None:
    """Find who clicks at random; None where nothing speaks clearly for such judges.

    Parameters
    ----------
    judged : DataFrame
        What `calibration.tables.preferences.judged_pairs` returns, or the part of it that is of one task.

    Returns
    -------
    (Index of str, CarelessClass) or None
        The judges, in the order of the posteriors.
    """
    sided = judged[judged["vote"].isin(["votes_a", "votes_b"])]
    judges = pd.Index(sided["worker"].unique())
    worker = judges.get_indexer(sided["worker"])
    pair = sided.groupby(_PAIR).ngroup().to_numpy()
    sign = np.where(sided["vote"] == "votes_a", 1.0, -1.0)
    found = who_follows_nobody(lambda weight: _logliks(worker, pair, sign, weight), len(judges), tastes=True)
    return None if found is None else (judges, found)


def note_on_clickers(kind: CarelessClass) -> Diagnostic:
    """Say how many click at random, and what to do."""
    return warning(
        "careless_workers",
        f"{kind.count} of {len(kind.posterior)} judges click as if at random: what they prefer has nothing to do with what the others "
        "prefer. They are counted all the same, which draws every number that rests on preferences towards chance: look at them in "
        "careless.csv (prefcal fit writes it), mark them as excluded in workers.csv, make the numbers again, and publish both.",
    )


def _logliks(
    worker: Places,
    pair: Places,
    sign: Floats,
    weight: Floats,
) -> Floats:
    """(judges, powers) log-likelihoods of the sides chosen, where the others count with these weights."""
    own = weight[worker]
    total, lead = np.bincount(pair, own), np.bincount(pair, own * sign)
    others, ahead = total[pair] - own, (lead[pair] - own * sign) * sign
    odds = np.log((others + ahead) / 2 + _HALF) - np.log((others - ahead) / 2 + _HALF)
    each = -np.logaddexp(0, -POWERS * np.where(others > 0, odds, 0.0)[:, None])
    values = np.zeros((len(weight), len(POWERS)))
    np.add.at(values, worker, each)
    return values
