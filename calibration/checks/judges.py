"""Do some judges click at random, or prefer the opposite of what the others prefer?

A class of judges clicks at random whose preferences have nothing to do with those of the others. Only answers for a side count, of pairs for which somebody else chose a side too: how often somebody finds both equal is a matter
of taste. With v of the others for the system that was chosen and w for the other one, a judge who follows them with power g chooses it
with odds ((v + 1/2) / (w + 1/2))^g; who clicks by lot has g = 0, whatever side they lean to, for sides are drawn by lot. Tastes differ,
so people follow the others more and less (`calibration.inference.people`): only who follows nobody is careless, and who clearly prefers the
opposite (g < 0) is of a camp.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from calibration.checks.finding import Finding
from calibration.inference.people import SIGNED_POWERS, CarelessClass, kinds_of_people
from calibration.tables.preferences import judged_pairs, knows_workers
from metrics.arrays import Floats, Places

_PAIR = ["task", "topic", "system_a", "system_b"]
_HALF = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeKinds:
    """What kinds of judges there are, see `calibration.inference.people.KindsOfPeople`.

    Attributes
    ----------
    judges : Index of str
        In the order of the posteriors.
    careless, camp : CarelessClass or None
        Who clicks at random, and who prefers the opposite of what the others prefer.
    """

    judges: "pd.Index[str]"
    careless: CarelessClass | None
    camp: CarelessClass | None

    def findings(self, others: str = "") -> tuple[Finding, ...]:
        """Return what to say of them; ``others`` is a sentence with the numbers without the camp."""
        return (
            *([_on_clickers(self.careless, self.judges)] if self.careless else []),
            *([_on_camp(self.camp, others)] if self.camp else []),
        )


def judge_kinds(judged: pd.DataFrame) -> JudgeKinds | None:
    """Find who clicks at random, and who prefers the opposite; None where who judged is not known.

    Parameters
    ----------
    judged : DataFrame
        What `calibration.tables.preferences.judged_pairs` returns, or the part of it that is of one task.
    """
    if not knows_workers(judged):
        return None
    sided = judged[judged["vote"].isin(["votes_a", "votes_b"])]
    worker, judges = pd.factorize(sided["worker"])
    pair = sided.groupby(_PAIR, observed=True).ngroup().to_numpy()
    sign = np.where(sided["vote"] == "votes_a", 1.0, -1.0)
    kinds = kinds_of_people(lambda weight: _logliks(worker, pair, sign, weight), len(judges))
    return JudgeKinds(judges=judges, careless=kinds.careless, camp=kinds.camp)


def check_judges(preferences: pd.DataFrame) -> tuple[Finding, ...]:
    """Say how many click at random, and how many prefer the opposite."""
    kinds = judge_kinds(judged_pairs(preferences))
    return kinds.findings() if kinds else ()


def _on_camp(kind: CarelessClass, others: str) -> Finding:
    return Finding(
        name="opposite_camp",
        severity="warning",
        sentence=f"{kind.count} of {len(kind.posterior)} judges prefer the opposite of what the others prefer, as clearly as these prefer it: two camps, and nobody is "
        "careless for that. Every number that rests on preferences is of both together, and of other people by how many of each there are: say so, "
        f"and look at the camps apart.{' ' * bool(others)}{others}",
    )


def _on_clickers(kind: CarelessClass, judges: Iterable[str]) -> Finding:
    return Finding(
        name="careless_workers",
        severity="warning",
        sentence=f"{kind.count} of {len(kind.posterior)} judges click as if at random: what they prefer has nothing to do with what the others "
        "prefer. They are counted, which draws every number that rests on preferences towards chance; careless.csv (prefcal fit writes it) "
        "says how likely each judge is one of them.",
        people=kind.by_name(judges),
    )


def _logliks(
    worker: Places,
    pair: Places,
    sign: Floats,
    weight: Floats,
) -> Floats:
    """(judges, signed powers) log-likelihoods of the sides chosen, where the others count with these weights, a camp the other way round."""
    own = weight[worker]
    total, lead = np.bincount(pair, abs(own)), np.bincount(pair, own * sign)
    others, ahead = total[pair] - abs(own), (lead[pair] - own * sign) * sign
    odds = np.log((others + ahead) / 2 + _HALF) - np.log((others - ahead) / 2 + _HALF)
    odds = np.where(others > 0, odds, 0.0)
    each = (np.bincount(worker, np.log1p(np.exp(-power * odds)), len(weight)) for power in SIGNED_POWERS)
    return -np.stack(list(each), axis=1, dtype=np.float64)
