"""Do people differ in the number of intents they tick, or tick every intent?

Breadth, how many intents a person tends to tick, is modelled by logit q_ui = c logit q_i + b_u with b_u ~ N(0, s^2); c = sqrt(1 + s^2 / 2.9)
keeps the mean rates (Zeger, Liang and Albert 1988). It nearly cancels in P(i|q). Beside it a share of people may tick every intent with the
same chance: `EVERYTHING`, or `EVEN` by lot (`calibration.checks.intents.random_ticks` says so of these). Their ballots do not say which intents
are meant, and pull the probabilities of a topic together. Such a class is fitted together with breadth, and with rates to which its people do
not count (EM), and must explain more than breadth alone and than the other class. All lie on the edge of their range when absent, so a
likelihood ratio has half a chi-squared with one degree of freedom (Self and Liang 1987).
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit, logsumexp, roots_hermitenorm

from calibration.checks.finding import REJECTED, Finding, edge_p, explains_at, other_laws
from calibration.checks.intents.ballots import ballots_of, largest_change
from calibration.inference.formatting import format_p
from calibration.inference.heterogeneity import CarelessClass, careless_class
from calibration.inference.results import NotIdentifiedError
from calibration.models.intents import IntentBallots, IntentFit, fit_intents
from metrics.arrays import Floats

NUMBERS = "numbers of ticks"
"""Fact that breadth and people who tick everything would both explain."""
SPREADS = np.linspace(0, 3, 31)
"""Grid of s."""
EVERYTHING, EVEN = 0.98, 0.5
"""Chance that a person who ticks everything, or by lot, ticks an intent."""
FEW_OF_ALL = 0.05
"""Share of voters who tick everything up to which no probability changes much."""
_ATTENUATION = 2.9
_ROUNDS = 6
_NODES = 21
"""Nodes of the Gauss-Hermite quadrature over b_u."""


class TickingClass(NamedTuple):
    """People who tick every intent with the same chance.

    ``ratio`` is the likelihood ratio against the best law without them.
    """

    kind: CarelessClass
    ratio: float


class Breadth(NamedTuple):
    """Laws of breadth and of people who tick everything, or by lot.

    Attributes
    ----------
    spread : float
        The likeliest s.
    ratio : float
        Likelihood ratio of s against s = 0.
    everything, by_lot : TickingClass
    """

    spread: float
    ratio: float
    everything: TickingClass
    by_lot: TickingClass


def check_breadth(fit: IntentFit, data: IntentBallots) -> Finding | None:
    """Test whether people differ in the number of intents they tick."""
    laws = breadth(data)
    p_value = edge_p(laws.ratio)
    if p_value >= REJECTED or not laws.spread:
        return None
    return Finding(
        name="ticking_breadth",
        p_value=p_value,
        explains=NUMBERS,
        gain=laws.ratio / 2,
        sentence=f"Some people tick many intents and some few: their breadth has a standard deviation of {laws.spread:.1f} on the logit scale "
        f"({format_p(p_value)}). Breadth itself hardly changes the shares of a topic. With few ballots, people who tick every intent or at random can "
        "look like a difference in breadth; they pull the shares of a topic together.",
    )


def check_everything(fit: IntentFit, data: IntentBallots) -> Finding | None:
    """Test whether some people tick every intent, beyond differences in breadth."""
    laws = breadth(data)
    careless, p_value = laws.everything.kind, edge_p(laws.everything.ratio)
    others = data.without(data.voters[careless.is_careless])
    if careless.count <= FEW_OF_ALL * len(data.voters) or others.counts.empty:
        return None
    try:
        without = fit_intents(others, rng=np.random.default_rng(1))
    except NotIdentifiedError:
        return None
    return Finding(
        name="ticks_everything",
        p_value=p_value,
        explains=NUMBERS,
        gain=(laws.ratio + laws.everything.ratio) / 2,
        sentence=f"{careless.count} of {len(data.voters)} voters tick nearly every intent (more than breadth explains: {format_p(p_value)}). Such a "
        f"ballot does not say which intents are meant. Largest change without them: {largest_change(others.counts, data.counts)} with all voters.",
        sensitivity=other_laws(
            "without who ticks all",
            explains_at(p_value),
            without.result.parameters,
            without.result.conf_int().values(),
        ),
    )


@lru_cache(maxsize=2)
def breadth(data: IntentBallots) -> Breadth:
    """Fit breadth alone, then breadth together with people who tick everything, or by lot."""
    by_spread = [float(_logliks(data, float(spread), np.ones(len(data.voters))).sum()) for spread in SPREADS]
    loglik = max(by_spread)
    everything, by_lot = (_class(data, chance) for chance in (EVERYTHING, EVEN))
    return Breadth(
        spread=float(SPREADS[int(np.argmax(by_spread))]),
        ratio=2 * (loglik - by_spread[0]),
        everything=TickingClass(everything, 2 * (everything.loglik - max(loglik, by_lot.loglik))),
        by_lot=TickingClass(by_lot, 2 * (by_lot.loglik - max(loglik, everything.loglik))),
    )


def _class(data: IntentBallots, chance: float) -> CarelessClass:
    """Find people who tick every intent with this chance.

    The others have their likeliest spread; where s = 0 already shows none, the class is empty.
    """
    careless, number = np.zeros(len(data.voters)), np.zeros((2, len(data.voters)))
    for voters, ticked in ballots_of(data):
        careless[voters] += (ticked * np.log(chance) + ~ticked * np.log1p(-chance)).sum(axis=1)
        number[0, voters] += ticked.sum(axis=1)
        number[1, voters] += ticked.shape[1]
    share = number[0] / number[1]
    nearer = np.abs(share - np.median(share)) <= np.abs(share - chance)
    starts = (_climbed(data, careless, weight) for weight in (np.ones(len(share)), nearer.astype(np.float64)))
    best = max(starts, key=lambda kind: kind.loglik)
    if not best.count:
        return best
    weight = 1 - best.posterior
    kinds = (careless_class(_logliks(data, float(spread), weight), careless) for spread in SPREADS)
    return max(kinds, key=lambda kind: kind.loglik)


def _climbed(data: IntentBallots, careless: Floats, weight: Floats) -> CarelessClass:
    """Climb to the likeliest class among people of one breadth.

    ``weight``, (w,), is each person's initial weight in the rates.
    """
    for _ in range(_ROUNDS):
        kind = careless_class(_logliks(data, 0.0, weight), careless)
        weight = 1 - kind.posterior
    return kind


def _logliks(data: IntentBallots, spread: float, counted: Floats) -> Floats:
    """Compute the log-likelihood of each voter's ticks at s = ``spread``, (w,).

    ``counted``, (w,), is each voter's weight in the rates.
    """
    a, b = data.prior.typical
    x, weight = roots_hermitenorm(_NODES)
    total = np.zeros((len(data.voters), _NODES))
    for voters, ticked in ballots_of(data):
        own = counted[voters]
        rates = (own @ ticked + a) / (own.sum() + a + b)
        p = expit(np.sqrt(1 + spread**2 / _ATTENUATION) * logit(rates) + spread * x[:, None])
        p = np.clip(p, 1e-9, 1 - 1e-9)
        total[voters] += ticked @ np.log(p).T + (~ticked) @ np.log1p(-p).T
    return np.asarray(logsumexp(total + np.log(weight / weight.sum()), axis=1))
