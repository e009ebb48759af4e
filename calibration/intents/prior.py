"""What is known of the Beta distribution from which the tick rates of all intents come: averaged over, not fixed."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import betaln

from metrics.arrays import Floats

FEWEST_INTENTS = 8
"""Below this many intents in all, a and b cannot be told and are 1."""
_MEANS = np.linspace(0.01, 0.99, 50)
_CONCENTRATIONS = np.geomspace(0.1, 1000.0, 60)


@dataclass(frozen=True, slots=True, kw_only=True)
class BetaPrior:
    """What is known of the Beta distribution of tick rates: values of (a, b) with weights that add up to 1.

    Attributes
    ----------
    a, b, weight : (m,) ndarray of float
    """

    a: Floats
    b: Floats
    weight: Floats

    @property
    def mean_rate(self) -> float:
        """The average of a / (a + b)."""
        return float(self.weight @ (self.a / (self.a + self.b)))

    @property
    def concentration(self) -> float:
        """The average of a + b, on the log scale."""
        return float(np.exp(self.weight @ np.log(self.a + self.b)))

    @property
    def typical(self) -> tuple[float, float]:
        """The (a, b) of the mean rate and the concentration."""
        return self.mean_rate * self.concentration, (1 - self.mean_rate) * self.concentration

    def mean_rates(self, n: Floats, voters: Floats) -> Floats:
        """Return E(q_i | n_i) = E((n_i + a) / (W_i + a + b)): (k,) and (k,) -> (k,)."""
        return ((n[:, None] + self.a) / (voters[:, None] + self.a + self.b)) @ self.weight

    def rate_draws(self, n: Floats, voters: Floats, draws: int, rng: np.random.Generator) -> Floats:
        """Draw (a, b), and with it q_i ~ Beta(n_i + a, W_i - n_i + b): (k,) and (k,) -> (draws, k)."""
        drawn = rng.choice(len(self.weight), size=draws, p=self.weight)
        return rng.beta(n + self.a[drawn, None], voters - n + self.b[drawn, None])


FLAT = BetaPrior(a=np.ones(1), b=np.ones(1), weight=np.ones(1))


def beta_posterior(n: Floats, voters: Floats) -> BetaPrior:
    """Return the posterior of (a, b) given votes, on a grid of mean m = a / (a + b) and concentration s = a + b.

    p(m, s | n) ~ (1 + s)^-2 prod_i B(n_i + a, W_i - n_i + b) / B(a, b)

    The prior is flat in m and in 1 / (1 + s), how far one vote moves a rate from m.

    Parameters
    ----------
    n, voters : (k,) ndarray of float
        n_i and W_i.
    """
    return next(beta_posteriors([n], voters))


def beta_posteriors(studies: Iterable[Floats], voters: Floats) -> Iterator[BetaPrior]:
    """Yield the `beta_posterior` of each of several collections of votes by as many voters.

    What n ticks of W voters say of the grid is worked out once, for all collections in which they come.

    Parameters
    ----------
    studies : iterable of (k,) ndarray of float
        n_i of each collection.
    voters : (k,) ndarray of float
        W_i.
    """
    mean, concentration = (axis.ravel() for axis in np.meshgrid(_MEANS, _CONCENTRATIONS))
    a, b = mean * concentration, (1 - mean) * concentration
    before, alone = -2 * np.log1p(concentration), betaln(a, b)
    spacing = np.log(concentration)  # the grid is even on the log scale
    told: dict[tuple[float, float], Floats] = {}
    for n in studies:
        different, times = np.unique(np.stack([n, voters], axis=1), axis=0, return_counts=True)
        pairs = [(ticked, asked) for ticked, asked in different.tolist()]
        told |= {
            (ticked, asked): betaln(ticked + a, asked - ticked + b) - alone
            for ticked, asked in pairs
            if (ticked, asked) not in told
        }
        loglik = times @ np.stack([told[pair] for pair in pairs])
        weight = np.exp(loglik + before + spacing - loglik.max())
        yield BetaPrior(a=a, b=b, weight=weight / weight.sum())


def rates_prior(n: Floats, voters: Floats) -> BetaPrior:
    """Return `beta_posterior`, or the flat prior where intents are too few to tell a and b."""
    return beta_posterior(n, voters) if len(n) >= FEWEST_INTENTS else FLAT
