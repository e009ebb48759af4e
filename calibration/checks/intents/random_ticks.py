"""Do some people tick as if by lot, whatever the others tick?

How many intents somebody ticked on a ballot is taken as given, so that nobody is named for ticking many or few; the question is
which ones. With o_i the odds that the other voters of the topic give to intent i, a voter who follows them with power g ticks the set
T of k intents with probability

    prod_{i in T} o_i^g / sum of the same over all sets of k intents        (conditional logit, McFadden 1974)

and one who ticks by lot has g = 0: all sets of k are as likely. A share of such voters beside one g of all others is held beside one g of
all; twice the gain has half a chi-squared with one degree of freedom where there are none (Self and Liang 1987).

Where nothing speaks clearly for such voters there may be some all the same, the more the fewer topics people vote on: of a single ballot
nobody can say who filled it in. Then the probabilities with as many as the votes leave open stand beside the fit.
"""

from functools import partial

import numpy as np
import pandas as pd

from calibration.checks.finding import NEARLY, REJECTED, Finding, edge_p, other_laws
from calibration.checks.intents.ballots import Ballots, ballots_of, largest_change
from calibration.checks.intents.breadth import NUMBERS, breadth
from calibration.inference.formatting import format_p
from calibration.inference.heterogeneity import (
    MAX_MINORITY_SHARE,
    MIN_PEOPLE,
    POWERS,
    CarelessClass,
    careless_class,
    share_left_open,
)
from calibration.inference.results import LEVEL, NotIdentifiedError
from calibration.inference.uncertainty import Replicates
from calibration.models.intents import DRAWS, IntentBallots, IntentFit, fit_intents, normalised
from metrics.arrays import Bools, Floats
from metrics.errors import percent

MIN_EARNEST_PART = 0.02
"""Smallest part of a probability not taken for random, so that none is 0."""
_ROUNDS = 2


def check_random_ticks(fit: IntentFit, data: IntentBallots) -> Finding | None:
    """Compare a share of voters who tick by lot with voters who follow others."""
    p_value, kind = random_tickers(data)
    laws, explains, gain = breadth(data), "", 0.0
    if (by_number := edge_p(laws.by_lot.ratio)) < p_value and laws.by_lot.kind.share <= MAX_MINORITY_SHARE:
        p_value, kind = by_number, laws.by_lot.kind
        explains, gain = NUMBERS, (laws.ratio + laws.by_lot.ratio) / 2
    p_value = min(1.0, 2 * p_value)
    if kind is None or not kind.count or p_value >= REJECTED:
        return _left_open(fit, data, p_value)
    others = data.without(data.voters[kind.is_careless])
    try:
        without = fit_intents(others, rng=np.random.default_rng(1))
    except NotIdentifiedError:
        return None
    return Finding(
        name="random_ticks",
        p_value=p_value,
        explains=explains,
        gain=gain,
        sentence=f"{kind.count} of {len(data.voters)} voters tick other intents than the rest, as if by lot ({format_p(p_value)}). Largest change without "
        f"them: {largest_change(others.counts, data.counts)} with all voters.",
        sensitivity=other_laws(
            "without ticks by lot", "better", without.result.parameters, without.result.conf_int().values()
        ),
    )


def _left_open(fit: IntentFit, data: IntentBallots, p_value: float) -> Finding | None:
    """Return the probabilities if as many tick by lot as the votes leave open.

    With a share s of ticks that are spread evenly over the m intents of a topic, p = (1 - s) P + s / m. How many of a topic's voters
    tick by lot is a matter of chance, too.
    """
    share = largest_random_share(data)
    if not share:
        return None
    rng, topic = np.random.default_rng(1), pd.factorize(data.counts["topic"])[0]
    values = np.stack([*fit.result.draw_parameters(DRAWS, rng).values()], axis=1)
    asked = fit.voters[np.unique(topic, return_index=True)[1]].astype(np.int64)
    by_lot = (rng.binomial(asked, share, (len(values), len(asked))) / asked)[:, topic]
    even = 1 / np.bincount(topic)[topic]
    earnest = Replicates(
        values=normalised(np.maximum(values - by_lot * even, MIN_EARNEST_PART * values), topic)
    )
    middle = normalised(
        np.maximum(fit.result.estimates - share * even, MIN_EARNEST_PART * fit.result.estimates)[None], topic
    )[0]
    return Finding(
        name="random_ticks",
        p_value=p_value,
        sentence=f"Nothing shows that anybody ticks by lot ({format_p(p_value)}); the votes leave open that {percent(share)} of the ticks are such.",
        sensitivity=other_laws(
            "as many ticks by lot as may be",
            "as well",
            dict(zip(fit.result.parameters, middle.tolist(), strict=True)),
            earnest.intervals(LEVEL),
        ),
    )


def random_tickers(data: IntentBallots) -> tuple[float, CarelessClass | None]:
    """Return p of no random tickers, and their class, or None.

    The result is None where they are no minority, or people are too few.
    """
    logliks = partial(_logliks, ballots_of(data), prior=data.prior.typical)
    if len(data.voters) < MIN_PEOPLE:
        return 1.0, None
    table = logliks(np.ones(len(data.voters)))
    kind = _class(table)
    p_value = edge_p(2 * (kind.loglik - float(table.sum(axis=0).max())))
    for _ in range(_ROUNDS if p_value < REJECTED else 0):
        kind = _class(logliks(1 - kind.posterior))
    return p_value, kind if kind.share <= MAX_MINORITY_SHARE else None


def largest_random_share(data: IntentBallots) -> float:
    """Return the largest share of ticks by lot that the votes leave open."""
    ballots, ticks = ballots_of(data), np.zeros(len(data.voters))
    for who, ticked in ballots:
        ticks[who] += ticked.sum(axis=1)
    return share_left_open(_logliks(ballots, np.ones(len(ticks)), data.prior.typical), ticks, NEARLY)


def _class(table: Floats) -> CarelessClass:
    """Fit the share of voters who follow nobody, beside one power of all others."""
    return max((careless_class(earnest, table[:, 0]) for earnest in table.T[1:]), key=lambda of: of.loglik)


def _logliks(ballots: Ballots, weight: Floats, prior: tuple[float, float]) -> Floats:
    """Return log-likelihoods, (voters, powers), with weighted other voters."""
    total = np.zeros((len(weight), len(POWERS)))
    for who, ticked in ballots:
        total[who] += _ballot_logliks(ticked, _odds(ticked, weight[who], prior))
    return total


def _odds(ticked: Bools, weight: Floats, prior: tuple[float, float]) -> Floats:
    """Return the log odds of each tick by the other voters of the topic, (w, intents)."""
    a, b = prior
    own = weight[:, None] * ticked
    rate = (own.sum(axis=0) - own + a) / ((weight.sum() - weight)[:, None] + a + b)
    return np.asarray(np.log(rate) - np.log1p(-rate))


def _ballot_logliks(ticked: Bools, odds: Floats) -> Floats:
    """Return log-likelihoods of the ticked intents given their number, (w, powers)."""
    odds = odds - odds.mean(axis=1, keepdims=True)
    chance = np.exp(POWERS[:, None, None] * odds)  # (powers, w, intents)
    sets = np.zeros((*chance.shape[:2], odds.shape[1] + 1))
    sets[..., 0] = 1.0  # sums over all sets of k of the first intents
    for index in range(odds.shape[1]):
        sets[..., 1:] += chance[..., index, None] * sets[..., :-1]
    number = ticked.sum(axis=1)
    chosen = (odds * ticked).sum(axis=1)
    return np.asarray((POWERS[:, None] * chosen - np.log(sets[:, np.arange(len(number)), number])).T)
