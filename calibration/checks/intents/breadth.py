"""Do people tick many or few, or every intent?

How many somebody ticks is a taste: logit q_ui = c logit q_i + b_u with b_u ~ N(0, s^2), c = sqrt(1 + s^2 / 2.9) so that the mean rates stay
(Zeger, Liang and Albert 1988). It cancels in P(i|q) nearly wholly. Who ticks every intent, ballot after ballot, says nothing of
which are meant, and draws the probabilities of a topic together: a class of such people is held beside tastes, so that nobody is named for a
broad one. On an edge the likelihood ratio has half a chi-squared with one degree of freedom (Self and Liang 1987).
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
"""What breadth, and people who tick everything, would both explain."""
SPREADS = np.linspace(0, 3, 31)
"""Values of s that are tried."""
EVERYTHING = 0.98
"""The chance of a tick of people who tick everything."""
FEW_OF_ALL = 0.05
"""Share of the voters up to which those who tick everything hardly move a probability."""
_ATTENUATION = 2.9
_NODES = 21


class Breadth(NamedTuple):
    """How broadly people tick: s, twice its gain, and people who tick everything beside s, with twice theirs."""

    spread: float
    ratio: float
    everything: CarelessClass
    ratio_of_everything: float


def check_breadth(fit: IntentFit, data: IntentBallots) -> Finding | None:
    """Say that people tick many or few: shares hardly depend on taste, but on people who tick everything they do."""
    found = breadth(data)
    p_value = edge_p(found.ratio)
    if p_value >= REJECTED or not found.spread:
        return None
    return Finding(
        name="ticking_breadth",
        p_value=p_value,
        explains=NUMBERS,
        gain=found.ratio / 2,
        sentence=f"Some people tick many intents and some few: their breadth differs by {found.spread:.1f} on the logit scale ({format_p(p_value)}). "
        "Where that is taste, the shares of a topic hardly depend on it. People who tick every intent, or tick at random, may look alike on few "
        "ballots, and draw the shares of a topic together.",
    )


def check_everything(fit: IntentFit, data: IntentBallots) -> Finding | None:
    """Hold people who tick every intent beside people of different breadth."""
    found = breadth(data)
    kind, p_value = found.everything, edge_p(found.ratio_of_everything)
    others = data.without(data.voters[kind.is_careless])
    if kind.count <= FEW_OF_ALL * len(data.voters) or others.counts.empty:
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
        gain=(found.ratio + found.ratio_of_everything) / 2,
        sentence=f"{kind.count} of {len(data.voters)} voters tick nearly every intent (more than breadth explains: {format_p(p_value)}). Such a "
        f"ballot does not say which intents are meant. Without them {largest_change(others.counts, data.counts)} with all voters, which changes most.",
        sensitivity=other_laws(
            "without who ticks all", explains, without.result.parameters, without.result.conf_int().values()
        ),
    )


@lru_cache(maxsize=2)
def breadth(data: IntentBallots) -> Breadth:
    """Fit s, and the share of people who tick everything at the likeliest s beside them."""
    everything = np.zeros(len(data.voters))
    for who, ticked in ballots_of(data):
        each = ticked * np.log(EVERYTHING) + ~ticked * np.log1p(-EVERYTHING)
        everything[who] += each.sum(axis=1)
    tables = [_logliks(data, float(spread)) for spread in SPREADS]
    best = int(np.argmax([table.sum() for table in tables]))
    ratio = 2 * float(tables[best].sum() - tables[0].sum())
    kinds = [careless_class(table, everything) for table in tables]
    top = max(kinds, key=lambda of: of.loglik)
    return Breadth(float(SPREADS[best]), ratio, top, max(0.0, 2 * (top.loglik - float(tables[best].sum()))))


def _logliks(data: IntentBallots, spread: float) -> Floats:
    """Return the (w,) log-likelihoods of each voter's ticks."""
    a, b = typical_prior(data)
    x, weight = roots_hermitenorm(_NODES)
    total = np.zeros((len(data.voters), _NODES))
    for who, ticked in ballots_of(data):
        rates = (ticked.sum(axis=0) + a) / (len(who) + a + b)
        p = expit(np.sqrt(1 + spread**2 / _ATTENUATION) * logit(rates) + spread * x[:, None])
        p = np.clip(p, 1e-9, 1 - 1e-9)
        total[who] += ticked @ np.log(p).T + (~ticked) @ np.log1p(-p).T
    return np.asarray(logsumexp(total + np.log(weight / weight.sum()), axis=1))
