"""Planned studies that rank systems: whether two of them are told apart.

People vote as in `calibration.plan.votes`. Two of k systems lie g above and g below the others, which are alike: v_qs ~ N(g, 1),
N(-g, 1), N(0, 1). A system that people like by d more than another on average gets the share

    f(d) = E[P(first) + P(equal) / 2],   log odds = strength (d + z sqrt(2 + 2 taste^2)) / sqrt(2) e^(sensitivity u),   z, u ~ N(0, 1)

of their votes, so that the win rates of the two, each the mean over k - 1 opponents, are apart by

    D = 2 (f(2 g) + (k - 2) f(g)) / (k - 1) - 1,

and g is searched such that D is what one says it is. The interval is that by which `prefcal rank` draws its ranks: of the difference of
the two win rates, over topics and people (`calibration.rank.crossed`), at once with those of all other pairs of systems.
"""

import math
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from scipy.optimize import brentq

from calibration.inference.choice import choice_probabilities
from calibration.plan.simulation import MAX_SIZE, NO_ESTIMATE, Design, SimulatedEstimate
from calibration.plan.votes import JudgePopulation, Sizes, draw_votes, systems_for
from calibration.rank.judgments import JudgedSystems, win_rates
from calibration.rank.ranking import LEVEL
from metrics.errors import input_fault

FARTHEST_GAP = 100.0
"""Largest g that is searched: nobody prefers the worse of the two."""
NODES = 60
"""Points of the quadrature in each direction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankDesign(Design):
    """Design of a study that ranks systems, of which two are a given distance apart.

    Attributes
    ----------
    queries, pairs, workers : int
        Queries; pairs of a query, all that its systems make; people who judge each pair.
    difference : float
        What the win rates of the two systems are apart in endlessly many queries.
    queries_each : int
        That a person judges.
    pairs_each : int or None
        Of each of these queries; None for all pairs.
    judges : JudgePopulation
        What people are like.
    gap : float
        g, which the search found; see the module.

    Examples
    --------
    >>> RankDesign(queries=25, pairs=21, workers=14, difference=0.05).systems
    7
    """

    varies: ClassVar[tuple[str, ...]] = ("queries", "workers")

    queries: int
    pairs: int
    workers: int
    difference: float = 0.05
    judges: JudgePopulation = field(default_factory=JudgePopulation)
    queries_each: int = 1
    pairs_each: int | None = None
    gap: float = math.nan

    @property
    def truth(self) -> float:
        """True difference of the two win rates."""
        return self.difference

    @property
    def systems(self) -> int:
        """Number of systems, k."""
        return systems_for(self.pairs)

    @property
    def quantile(self) -> float:
        """Quantile of Student's t for one of the intervals that hold for all pairs of systems at once."""
        return 1 - (1 - LEVEL) / 2 / self.pairs

    def ready(self) -> Self:
        """Return the design with g computed.

        Raises
        ------
        InputError
            If the pairs are not all that some number of systems make, or win rates cannot be so far apart.
        """
        if self.pairs != math.comb(self.systems, 2):
            fewer, more = (math.comb(systems, 2) for systems in (self.systems - 1, self.systems))
            raise input_fault(
                f"{self.pairs:,} pairs are not all pairs of any number of systems, and a ranking is planned of all",
                cure=f"give {fewer:,} pairs ({self.systems - 1:,} systems) or {more:,} ({self.systems:,} systems)",
            )
        if not math.isnan(self.gap):
            return self
        most = self.expected_difference(FARTHEST_GAP)
        if not 0 < self.difference < most:
            raise input_fault(
                f"win rates cannot be {self.difference:g} apart with such people: at most {most:.2f}",
                cure="give a smaller difference",
            )
        gap = brentq(lambda gap: self.expected_difference(gap) - self.difference, 0, FARTHEST_GAP)
        return replace(self, gap=float(gap))

    def expected_difference(self, gap: float) -> float:
        """Return D, how far g sets the win rates of the two systems apart."""
        opponents = self.systems - 1
        shares = self._share(2 * gap) + (opponents - 1) * self._share(gap)
        return 2 * shares / opponents - 1

    def _share(self, distance: float) -> float:
        """Return f, the share of votes of a system that people like by so much more on average."""
        people = self.judges
        node, weight = hermegauss(NODES)
        weight = weight / weight.sum()
        liked = distance + node[:, None] * math.sqrt(2 + 2 * people.taste_sd**2)
        log_odds = people.strength / math.sqrt(2) * liked * np.exp(people.sensitivity_sd * node)
        first, _, tie = choice_probabilities(log_odds, np.asarray(math.log(people.tie_weight)))
        return float(weight @ (first + tie / 2) @ weight)

    def bounds(self, vary: str) -> tuple[int, int]:
        """Return the bounds of a size; two queries are needed to see how they differ."""
        return 2 if vary == "queries" else 1, MAX_SIZE

    @property
    def sizes(self) -> Sizes:
        """Return the sizes of the study."""
        return Sizes(
            queries=self.queries,
            pairs=self.pairs,
            workers=self.workers,
            queries_each=self.queries_each,
            pairs_each=self.pairs_each,
        )

    def people(self) -> int:
        """Return the number of workers, if all finish."""
        return self.sizes.people

    def judgments(self) -> int:
        """Return the number of judgments, without those lost by drop-outs."""
        return round(self.sizes.judgments * (1 - self.judges.drop_out / 2))

    def simulated(self, rng: np.random.Generator) -> SimulatedEstimate:
        """Simulate a study and return the interval of the difference by which `prefcal rank` draws its ranks."""
        quality = np.zeros(self.systems)
        quality[:2] = self.gap, -self.gap
        drawn = draw_votes(self.sizes, self.judges, rng, quality=quality)
        made = ~np.isnan(drawn.votes)
        query, pair, _ = np.nonzero(made)
        judged = JudgedSystems(
            task="planned",
            systems=tuple(map(str, range(self.systems))),
            left=drawn.pairs[pair, 0],
            right=drawn.pairs[pair, 1],
            for_left=drawn.votes[made],
            topic=np.unique(query, return_inverse=True)[1],
            worker=np.unique(drawn.judges[made], return_inverse=True)[1],
        )
        rates = win_rates(judged)
        estimate = float(rates.value[0] - rates.value[1])
        errors = rates.influence.covariances().of_differences().errors()
        reach = float(errors.simultaneous_reach(LEVEL, self.systems)[0, 1])
        if not reach > 0:
            return replace(NO_ESTIMATE, estimate=estimate)
        return SimulatedEstimate(
            estimate=estimate,
            low=max(-1.0, estimate - reach),
            high=min(1.0, estimate + reach),
            told=estimate > reach,
            standard_error=float(errors.standard_error[0, 1]),
            df=float(errors.scarcer_df[0, 1]),
        )
