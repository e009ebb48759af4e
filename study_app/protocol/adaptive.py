"""Pairs chosen by the answers so far, so that the best system is found with few judgments.

A share of the pairs is drawn whatever the answers are; from these come win rates, ranks and agreement. The other pairs are those of
`calibration.rank.best`. Every pair is drawn with a known probability, which is stored.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from random import Random
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from study_app.protocol.domain import PairTally

if TYPE_CHECKING:
    from calibration.rank.best import BestPosterior
    from metrics.arrays import Floats

OrderedVotes: TypeAlias = Mapping[tuple[int, int], tuple[int, int, int]]
"""(pair, system on the left) -> votes for the left, for the right, ties."""
PairDraw: TypeAlias = Literal["uniform", "adaptive"]


class DrawnPair(NamedTuple):
    """A pair that a worker gets, the probability with which it was drawn, and how."""

    pair: int
    chance: float
    drawn: PairDraw


@dataclass(frozen=True, kw_only=True, eq=False)
class BestSearch:
    """Search for the best of some systems.

    Attributes
    ----------
    tallies : sequence of PairTally
        All pairs of the systems, over all topics.
    votes : mapping
        As `OrderedVotes`.
    """

    tallies: Sequence[PairTally]
    votes: OrderedVotes

    @cached_property
    def systems(self) -> list[int]:
        """The systems in ascending order."""
        return sorted({system for tally in self.tallies for system in (tally.system_a, tally.system_b)})

    @property
    def shown(self) -> int:
        """Number of showings."""
        return sum(tally.shown for tally in self.tallies)

    @cached_property
    def judgments(self) -> int:
        """Number of judgments."""
        return sum(
            sum(self.votes.get((tally.pair, left), ()))
            for tally in self.tallies
            for left in self._ways(tally)
        )

    @cached_property
    def posterior(self) -> "BestPosterior | None":
        """Posterior of the worths; None until there are as many judgments as systems."""
        import numpy as np  # noqa: PLC0415 - only adaptive tasks need it

        from calibration.rank.best import CoupleVotes, best_posterior  # noqa: PLC0415

        if self.judgments < len(self.systems):
            return None
        place = {system: number for number, system in enumerate(self.systems)}
        counts: dict[tuple[int, int], list[int]] = {}
        for tally in self.tallies:
            for left in self._ways(tally):
                right = tally.system_b if left == tally.system_a else tally.system_a
                row = counts.setdefault((place[left], place[right]), [0, 0, 0])
                for number, votes in enumerate(self.votes.get((tally.pair, left), ())):
                    row[number] += votes
        rows = np.array([(*couple, *row) for couple, row in counts.items() if sum(row)])
        return best_posterior(
            CoupleVotes(
                left=rows[:, 0],
                right=rows[:, 1],
                for_left=rows[:, 2].astype(float),
                for_right=rows[:, 3].astype(float),
                ties=rows[:, 4].astype(float),
                systems=len(self.systems),
            )
        )

    @cached_property
    def best(self) -> tuple[int, float] | None:
        """The system most likely to be the best, and the probability that it is; None until something is known.

        The draws depend on the number of judgments only, so that all servers say the same.
        """
        import numpy as np  # noqa: PLC0415

        if self.posterior is None:
            return None
        p_best = self.posterior.probabilities(np.random.default_rng(self.judgments), draws=STOP_DRAWS)
        return self.systems[int(p_best.argmax())], float(p_best.max())

    def is_over(self, stop_at: float | None) -> bool:
        """Return whether the best system is known well enough."""
        return stop_at is not None and self.best is not None and self.best[1] >= stop_at

    def couple_chances(self, rng: Random) -> "Floats | None":
        """Return the probability that each couple is the next, as `calibration.rank.best.couple_chances`; None until something is known."""
        import numpy as np  # noqa: PLC0415

        from calibration.rank.best import couple_chances  # noqa: PLC0415

        return (
            None
            if self.posterior is None
            else couple_chances(self.posterior, np.random.default_rng(rng.getrandbits(64)))
        )

    @staticmethod
    def _ways(tally: PairTally) -> tuple[int, int]:
        return tally.system_a, tally.system_b


STOP_DRAWS = 4000
"""Posterior draws from which the probability of the best is counted: .95 is known to .0034."""


def best_searches(
    tallies: Sequence[PairTally], topics: Mapping[int, int], votes: OrderedVotes
) -> list[BestSearch]:
    """Return one search over all topics, or one for each where no system is in the pairs of two topics.

    Parameters
    ----------
    tallies : sequence of PairTally
        All pairs of the task.
    topics : mapping of int to int
        Topic of each pair.
    votes : mapping
        As `OrderedVotes`.
    """
    of_topic: dict[int, list[PairTally]] = {}
    where: dict[int, set[int]] = {}
    for tally in tallies:
        of_topic.setdefault(topics[tally.pair], []).append(tally)
        for system in (tally.system_a, tally.system_b):
            where.setdefault(system, set()).add(topics[tally.pair])
    is_shared = any(len(places) > 1 for places in where.values())
    groups = [list(tallies)] if is_shared else list(of_topic.values())
    return [BestSearch(tallies=group, votes=votes) for group in groups]


@dataclass(kw_only=True)
class _OpenSearch:
    """A search with the pairs that a worker has not had."""

    search: BestSearch
    pairs: list[PairTally]
    given: int = 0
    chances: "Floats | None" = field(init=False, default=None)


def draw_pairs(
    searches: Sequence[BestSearch],
    *,
    besides: Collection[int],
    count: int,
    uniform_share: float,
    stop_at: float | None,
    rng: Random,
) -> list[DrawnPair]:
    """Draw the next pairs of a worker, no pair twice; [] where every search is over.

    The search with the fewest showings comes first. In it a pair is drawn uniformly with the probability ``uniform_share``, and always
    until there are as many judgments as systems. Else its couple is drawn by `couple_chances`, on a topic on which it was shown least.

    Parameters
    ----------
    searches : sequence of BestSearch
        From `best_searches`.
    besides : collection of int
        Pairs that the worker has had.
    count : int
        How many to draw, fewer when there are no more.
    uniform_share, stop_at
        As in the study file.
    rng : Random
        From `rng_for`.
    """
    held = set(besides)
    left = [
        _OpenSearch(search=search, pairs=[tally for tally in search.tallies if tally.pair not in held])
        for search in searches
        if not search.is_over(stop_at)
    ]
    drawn: list[DrawnPair] = []
    while len(drawn) < count and (some := [each for each in left if each.pairs]):
        fewest = min(each.search.shown + each.given for each in some)
        least = [each for each in some if each.search.shown + each.given == fewest]
        chosen = rng.choice(least)
        if not chosen.given:
            chosen.chances = chosen.search.couple_chances(rng)
        pair = _draw_pair(chosen, uniform_share, rng)
        drawn.append(pair._replace(chance=pair.chance / len(least)))
        chosen.given += 1
        chosen.pairs = [tally for tally in chosen.pairs if tally.pair != pair.pair]
    return drawn


def _draw_pair(at: _OpenSearch, uniform_share: float, rng: Random) -> DrawnPair:
    uniform = 1 / len(at.pairs)
    if at.chances is None:
        return DrawnPair(rng.choice(at.pairs).pair, uniform, "uniform")
    adaptive = _adaptive_chances(at)
    is_uniform = rng.random() < uniform_share
    weights = [uniform] * len(at.pairs) if is_uniform else adaptive
    (number,) = rng.choices(range(len(at.pairs)), weights)
    chance = uniform_share * uniform + (1 - uniform_share) * adaptive[number]
    return DrawnPair(at.pairs[number].pair, chance, "uniform" if is_uniform else "adaptive")


def _adaptive_chances(at: _OpenSearch) -> list[float]:
    """Return the probability of each open pair: that of its couple, shared by the topics on which the couple was shown least."""
    place = {system: number for number, system in enumerate(at.search.systems)}
    couples: dict[tuple[int, int], list[int]] = {}
    for number, tally in enumerate(at.pairs):
        couples.setdefault((place[tally.system_a], place[tally.system_b]), []).append(number)
    chances = [0.0] * len(at.pairs)
    for (first, second), numbers in couples.items():
        fewest = min(at.pairs[number].shown for number in numbers)
        least = [number for number in numbers if at.pairs[number].shown == fewest]
        for number in least:
            chances[number] = float(at.chances[first, second]) / len(least) if at.chances is not None else 0.0
    total = sum(chances)
    return [chance / total for chance in chances] if total > 0 else [1 / len(chances)] * len(chances)
