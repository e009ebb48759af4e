"""Do some judges click at random, or prefer the opposite of the others?

Only answers for a side count, of pairs for which somebody else chose a side too: how often somebody finds both equal is a matter of taste.
With v of the others for the system that was chosen and w for the other one, a judge who follows them with power g chooses it with odds
((v + 1/2) / (w + 1/2))^g; who clicks by lot has g = 0, whatever side they lean to, for sides are drawn by lot, and a camp that prefers the
opposite has g < 0.

Judges click at random where a share of them with g = 0, beside one g for all the others, explains clearly more than one g for all: twice the
gain in log-likelihood is above `CLEAR_GAIN`, which chance exceeds in some 2 % of studies (half of it is 0 and half chi-squared with 1 degree of
freedom: Self and Liang 1987). Tastes differ, so people follow the others more and less: the class must also explain more than powers that are
spread over people, by `CLEARER`; and a camp more than both, by `CAMP_GAIN`.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from calibration.checks.finding import Finding
from calibration.inference.heterogeneity import (
    MAX_MINORITY_SHARE,
    MIN_PEOPLE,
    POWERS,
    CarelessClass,
    careless_class,
)
from calibration.tables.preferences import knows_workers, resolved_sides
from metrics.arrays import Floats, Indices

CLEAR_GAIN = 4.0
"""Smallest gain (twice the log-likelihood) that shows random judges.

That people who click at random must explain beyond one power of all.
"""
CLEARER = 1.5
"""Log-likelihood that random judges must explain beyond tastes."""
CAMP_GAIN = 2.0
"""Log-likelihood that a camp must explain beyond tastes or random answers."""
SIGNED_POWERS = np.concatenate([-POWERS[:0:-1], POWERS])
"""Powers of judges who may also prefer the opposite of the others."""
_TRIED = np.array([0.25, 0.5, 1.0, 1.5, 2.0, 3.0])
_SPREADS = (0.15, 0.3, 0.5, 0.8, 1.2)
_ROUNDS = 2
_MIN_SHARE = 1e-9
_PAIR = ["task", "topic", "system_a", "system_b"]
_HALF = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeKinds:
    """Kinds of judges, with their numbers and names.

    Attributes
    ----------
    judges : Index of str
        In the order of the posteriors.
    careless, camp : CarelessClass or None
        Who clicks at random, and who prefers the opposite of what the others prefer; None where nothing speaks clearly for such people.
    """

    judges: "pd.Index[str]"
    careless: CarelessClass | None
    camp: CarelessClass | None

    def findings(self, others: str = "") -> tuple[Finding, ...]:
        """Return findings on kinds of judges.

        ``others`` is a sentence with the numbers without the camp.
        """
        return (
            *([_on_clickers(self.careless, self.judges)] if self.careless else []),
            *([_on_camp(self.camp, others)] if self.camp else []),
        )


def judge_kinds(judged: pd.DataFrame) -> JudgeKinds | None:
    """Find random judges and a camp of opposite taste, or return None.

    None where who judged is not known.

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
    careless, camp = _kinds(lambda weight: _logliks(worker, pair, sign, weight), len(judges))
    return JudgeKinds(judges=judges, careless=careless, camp=camp)


def check_judges(preferences: pd.DataFrame) -> tuple[Finding, ...]:
    """Report the numbers of random judges and of the opposite camp."""
    rows = preferences[preferences["validation_of"].isna()]
    kinds = judge_kinds(rows[["worker", "task", "topic"]].assign(**dict(resolved_sides(rows).items())))
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


def _kinds(
    logliks: Callable[[Floats], Floats], people: int
) -> tuple[CarelessClass | None, CarelessClass | None]:
    """Separate random judges from a camp.

    ``logliks``: (w,) weights with which people count for the others, negative for a camp -> (w, 25) log-likelihoods of each person's answers
    by their power, under `SIGNED_POWERS`.
    """
    if people < MIN_PEOPLE:
        return None, None
    careless = _at_random(logliks, people)
    weight = np.ones(people)
    for _ in range(_ROUNDS + 2):
        table = logliks(weight)
        camp, earnest = _likeliest_camp(table)
        weight = 1 - 2 * camp.posterior  # a camp counts the other way round
    by_lot = table[:, _column(0)]
    beside = careless_class(earnest, by_lot)
    alone = max(careless_class(table[:, _column(power)], by_lot).loglik for power in _TRIED)
    gain = max(camp.loglik, beside.loglik - CAMP_GAIN) - max(alone, _spread_loglik(table, SIGNED_POWERS))
    if not (gain > CAMP_GAIN and camp.count and camp.share <= MAX_MINORITY_SHARE):
        is_doubtful = careless is not None and camp.loglik > alone + CAMP_GAIN / 2
        return None if is_doubtful else careless, None
    is_clear = (
        2 * (beside.loglik - float(earnest.sum())) > CLEAR_GAIN
        and beside.count
        and beside.share <= MAX_MINORITY_SHARE
    )
    return beside if is_clear else None, camp


def _at_random(logliks: Callable[[Floats], Floats], people: int) -> CarelessClass | None:
    """Find random judges in passes, each of which weighs earlier ones less.

    They count less for the others.
    """
    found = _class(logliks(np.ones(people)))
    for _ in range(_ROUNDS):
        if found is None:
            return None
        found = _class(logliks(1 - found.posterior)) or found
    return found


def _class(table: Floats) -> CarelessClass | None:
    logliks = table[:, _column(0) :]
    best = max(
        (careless_class(earnest, logliks[:, 0]) for earnest in logliks.T[1:]), key=lambda one: one.loglik
    )
    gain = 2 * (best.loglik - float(logliks.sum(axis=0).max()))
    if gain < CLEAR_GAIN or not best.count or best.share > MAX_MINORITY_SHARE:
        return None
    return best if best.loglik > _spread_loglik(logliks, POWERS) + CLEARER else None


def _likeliest_camp(table: Floats) -> tuple[CarelessClass, Floats]:
    """Return the likeliest camp, and each judge's log-likelihood in it or against it."""
    followers, camps = (table[:, [_column(sign * power) for power in _TRIED]] for sign in (1, -1))
    own, other, camp = max(
        ((own, other, careless_class(own, other)) for own in followers.T for other in camps.T),
        key=lambda one: one[2].loglik,
    )
    share = min(max(camp.share, _MIN_SHARE), 1 - _MIN_SHARE)
    return camp, np.logaddexp(own + np.log1p(-share), other + np.log(share))


def _column(power: float) -> int:
    return int(np.abs(SIGNED_POWERS - power).argmin())


def _spread_loglik(logliks: Floats, powers: Floats) -> float:
    """Return the highest log-likelihood of powers spread over people."""
    highest = logliks.max(axis=1, keepdims=True)
    mean, spread = (axis.ravel() for axis in np.meshgrid(powers, _SPREADS))
    weight = np.exp(-0.5 * ((powers[:, None] - mean) / spread) ** 2)
    each = np.log(np.exp(logliks - highest) @ (weight / weight.sum(axis=0)))
    return float((each + highest).sum(axis=0).max())


def _logliks(
    worker: Indices,
    pair: Indices,
    sign: Floats,
    weight: Floats,
) -> Floats:
    """Return log-likelihoods of the sides chosen, (judges, signed powers).

    Where the others count with these weights, a camp the other way round.
    """
    own = weight[worker]
    total, lead = np.bincount(pair, abs(own)), np.bincount(pair, own * sign)
    others, ahead = total[pair] - abs(own), (lead[pair] - own * sign) * sign
    odds = np.log((others + ahead) / 2 + _HALF) - np.log((others - ahead) / 2 + _HALF)
    odds = np.where(others > 0, odds, 0.0)
    each = (np.bincount(worker, np.log1p(np.exp(-power * odds)), len(weight)) for power in SIGNED_POWERS)
    return -np.stack(list(each), axis=1, dtype=np.float64)
