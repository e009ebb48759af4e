"""Do people differ in the number of intents they tick, or tick every intent?

Breadth, how many intents a person tends to tick, is modelled by logit q_ui = c logit q_i + b_u with b_u ~ N(0, s^2); c = sqrt(1 + s^2 / 2.9)
keeps the mean rates (Zeger, Liang and Albert 1988). It nearly cancels in P(i|q). A person who ticks every intent on every ballot does not
say which are meant, and pulls the probabilities of a topic together. The class of such people is fitted together with breadth, so that
people of great breadth are not counted in it. Both lie on the edge of their range when absent, so a likelihood ratio has half a chi-squared
with one degree of freedom (Self and Liang 1987).
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit, logsumexp, roots_hermitenorm

from calibration.checks.finding import REJECTED, Explains, Finding, edge_p, other_laws
from calibration.checks.intents.ballots import ballots_of, largest_change, typical_prior
from calibration.inference.formatting import format_p
from calibration.inference.heterogeneity import CarelessClass, careless_class
from calibration.inference.results import NotIdentifiedError
from calibration.models.intents import IntentBallots, IntentFit, fit_intents_to
from metrics.arrays import Floats

NUMBERS = "numbers of ticks"
"""Fact that breadth and people who tick everything would both explain."""
SPREADS = np.linspace(0, 3, 31)
"""Grid of s."""
EVERYTHING = 0.98
"""Chance that a person who ticks everything ticks an intent."""
FEW_OF_ALL = 0.05
"""Share of voters who tick everything up to which no probability changes much."""
_ATTENUATION = 2.9
_NODES = 21
"""Nodes of the Gauss-Hermite quadrature over b_u."""


class Breadth(NamedTuple):
    """Laws of breadth and of people who tick everything.

    Attributes
    ----------
    spread : float
        The likeliest s.
    ratio : float
        Likelihood ratio of s against s = 0.
    everything : CarelessClass
        People who tick everything, among people of different breadth.
    ratio_of_everything : float
        Likelihood ratio of both laws against breadth alone.
    """

    spread: float
    ratio: float
    everything: CarelessClass
    ratio_of_everything: float


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
    careless, p_value = laws.everything, edge_p(laws.ratio_of_everything)
    others = data.without(data.voters[careless.is_careless])
    if careless.count <= FEW_OF_ALL * len(data.voters) or others.counts.empty:
        return None
    try:
        without = fit_intents_to(others, rng=np.random.default_rng(1))
    except NotIdentifiedError:
        return None
    explains: Explains = "better" if p_value < REJECTED else "as well"
    return Finding(
        name="ticks_everything",
        p_value=p_value,
        explains=NUMBERS,
        gain=(laws.ratio + laws.ratio_of_everything) / 2,
        sentence=f"{careless.count} of {len(data.voters)} voters tick nearly every intent (more than breadth explains: {format_p(p_value)}). Such a "
        f"ballot does not say which intents are meant. Largest change without them: {largest_change(others.counts, data.counts)} with all voters.",
        sensitivity=other_laws(
            "without who ticks all", explains, without.result.parameters, without.result.conf_int().values()
        ),
    )


@lru_cache(maxsize=2)
def breadth(data: IntentBallots) -> Breadth:
    """Fit breadth alone, then breadth together with people who tick everything."""
    everything = np.zeros(len(data.voters))
    for voters, ticked in ballots_of(data):
        logliks = ticked * np.log(EVERYTHING) + ~ticked * np.log1p(-EVERYTHING)
        everything[voters] += logliks.sum(axis=1)
    by_spread = [_logliks(data, float(spread)) for spread in SPREADS]
    best = int(np.argmax([logliks.sum() for logliks in by_spread]))
    loglik = float(by_spread[best].sum())
    ratio = 2 * float(by_spread[best].sum() - by_spread[0].sum())
    mixtures = [careless_class(logliks, everything) for logliks in by_spread]
    top = max(mixtures, key=lambda mixture: mixture.loglik)
    return Breadth(float(SPREADS[best]), ratio, top, max(0.0, 2 * (top.loglik - loglik)))


def _logliks(data: IntentBallots, spread: float) -> Floats:
    """Return the log-likelihood of each voter's ticks at s = ``spread``, (w,)."""
    a, b = typical_prior(data)
    x, weight = roots_hermitenorm(_NODES)
    total = np.zeros((len(data.voters), _NODES))
    for voters, ticked in ballots_of(data):
        rates = (ticked.sum(axis=0) + a) / (len(voters) + a + b)
        p = expit(np.sqrt(1 + spread**2 / _ATTENUATION) * logit(rates) + spread * x[:, None])
        p = np.clip(p, 1e-9, 1 - 1e-9)
        total[voters] += ticked @ np.log(p).T + (~ticked) @ np.log1p(-p).T
    return np.asarray(logsumexp(total + np.log(weight / weight.sum()), axis=1))
