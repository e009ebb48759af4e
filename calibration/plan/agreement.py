"""Planned studies of agreement: how well one measure agrees with preferences, or whether two measures differ in it.

People and measures are those of `calibration.patience.simulate.Judges` with scores from a normal law. In a query q every
system s is liked by v_qs ~ N(0, 1); a measure scores it m_qs with correlation rho_q to v_qs, so that it explains a
part of what people like and the rest is unexplained. The log odds of a pair are strength (v_qs - v_qr) / sqrt(2)
times a person's own factor, and votes follow Davidson's model (`calibration.inference.davidson`). How well a measure does
differs between queries: atanh rho_q ~ N(atanh rho, query_spread^2). rho is searched such that the agreement is what
one says it is; two measures choose the same system in a share of pairs that one says too.

Agreement, interval and test are those of `metrics.agreement.agreement`, `metrics.agreement.query_mean` and `metrics.agreement.comparison`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, NamedTuple, Self

import numpy as np

from calibration.inference.davidson import choice_probabilities
from calibration.plan.simulation import MOST, NOTHING, Outcome, people_needed
from metrics.agreement.agreement import Ties, agreement, pair_credit
from metrics.agreement.comparison import Comparison
from metrics.agreement.query_mean import QueryMean, standard_error
from metrics.arrays import Floats, Places
from metrics.errors import input_fault

LEVEL = 0.95
SEARCH_QUERIES = 2000
"""Queries behind the search for rho; agreement is then known to about half a point."""
_SEARCH_SEED = 7
_CLOSEST = 0.9999


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """Who judges, and what they are like.

    Attributes
    ----------
    strength : float
        Log odds of a pair of usual distance: how decided people are. At 1.2 and 14 workers the majority of a pair
        holds 69 % of the votes.
    tie_weight : float
        nu of Davidson's model; at 0.6 about a fifth of the judgments are ties.
    sensitivity_sd : float
        Standard deviation of the log of a person's own factor on all log odds.
    query_spread : float
        Standard deviation over queries of a measure's correlation with what people like, on Fisher's scale.
    taste_sd : float
        Standard deviation of a person's own liking of a system, alike in all queries that they judge, where what everybody likes has
        1. At 0 a person's answers to two queries have no more in common than those of two people.
    """

    strength: float = 1.2
    tie_weight: float = 0.6
    sensitivity_sd: float = 0.3
    query_spread: float = 0.2
    taste_sd: float = 0.0


class _Votes(NamedTuple):
    """What people of some queries like (queries, systems), the pairs (p, 2), and their vote shares (queries, p)."""

    liked: Floats
    pairs: Places
    share: Floats

    def agreement(self, scores: Floats, ties: Ties) -> QueryMean:
        """Return the agreement with a measure's (queries, systems) scores."""
        names = np.repeat(np.arange(len(scores)).astype(str), len(self.pairs))
        return agreement(self._difference(scores), self.share.ravel(), names, ties=ties).mean

    def value(self, scores: Floats, ties: Ties) -> float:
        """Return the value of the agreement alone."""
        return float(np.nanmean(pair_credit(self._difference(scores), self.share.ravel(), ties=ties)))

    def _difference(self, scores: Floats) -> Floats:
        return (scores[:, self.pairs[:, 0]] - scores[:, self.pairs[:, 1]]).ravel()


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementDesign:
    """A study of one measure's agreement.

    Attributes
    ----------
    queries : int
        How many.
    pairs : int
        Judged in each query: of the fewest systems that make so many.
    workers : int
        Who judge each pair.
    queries_each : int
        That a person judges.
    pairs_each : int or None
        Of each of these queries; None for all pairs. It counts people, and does not change how they are simulated.
    true : float
        The agreement of the measure in endlessly many queries, for the design as it was made (`resized` keeps the
        measure, and with more workers a pair its agreement rises a little).
    ties : str
        The convention, a key of `metrics.agreement.agreement.TIES`.
    people : People
        As said.
    tell_from : float or None
        The agreement that the true one is to be told from.
    rho : float
        What the search found; see the module.
    """

    queries: int
    pairs: int
    workers: int
    true: float
    ties: Ties = "against"
    judges: People = field(default_factory=People)
    tell_from: float | None = None
    queries_each: int = 1
    pairs_each: int | None = None
    rho: float = math.nan

    @property
    def log_scale(self) -> bool:
        """Errors are alike as they are."""
        return False

    @property
    def truth(self) -> float:
        """The true agreement."""
        return self.true

    def searched(self) -> Self:
        """Return the design with the measure found.

        Raises
        ------
        InputError
            If no measure can agree so well or so badly with these people.
        """
        return replace(self, rho=_search(self, self.true))

    def size(self, vary: str) -> int:
        """Return ``queries``, ``pairs`` or ``workers``."""
        return int(getattr(self, vary))

    def resized(self, vary: str, size: int) -> Self:
        """Return the study with another number of one of them, and the same measure."""
        changed: dict[str, Any] = {vary: size}
        return replace(self, **changed)

    def bounds(self, vary: str) -> tuple[int, int]:
        """Two queries are needed to tell how queries differ."""
        return 2 if vary == "queries" else 1, MOST

    def people(self) -> int:
        """Return the number of workers, when each does what one does."""
        return self.people_of(self.queries)

    def people_of(self, queries: int) -> int:
        """Return the number of workers for so many queries."""
        return people_needed(
            queries, self.pairs, self.workers, queries_each=self.queries_each, pairs_each=self.pairs_each
        )

    def judgments(self) -> int:
        """Return their number in all."""
        return self.queries * self.pairs * self.workers

    def simulated(self, rng: np.random.Generator) -> Outcome:
        """Draw a study and return the query t interval of the agreement."""
        votes = _drawn(self, self.queries, rng)
        mean = votes.agreement(_measure(votes.liked, self.rho, self.judges.query_spread, rng), self.ties)
        low, high = mean.confidence_interval(LEVEL)
        return _outcome(mean.value, low, high, mean.standard_error, mean.units, self.tell_from)


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferenceDesign:
    """A study of the difference of two measures' agreement with the same votes.

    Attributes
    ----------
    study : AgreementDesign
        Its size and people; ``true`` is the first measure's agreement.
    other : float
        The second measure's agreement.
    same_choice : float
        Share of pairs in which both measures choose the same system.
    rho_other : float
        What the search found.
    """

    study: AgreementDesign
    other: float
    same_choice: float = 0.8
    rho_other: float = math.nan

    @property
    def log_scale(self) -> bool:
        """Errors are alike as they are."""
        return False

    @property
    def truth(self) -> float:
        """The true difference."""
        return self.study.true - self.other

    def searched(self) -> Self:
        """Return the design with both measures found.

        Raises
        ------
        InputError
            If no measure can agree so well or so badly, or two such measures cannot choose the same system so often.
        """
        study = self.study.searched()
        found = replace(self, study=study, rho_other=_search(study, self.other))
        low, high = _possible_alike(study.rho, found.rho_other)
        if not low <= _alike(self.same_choice) <= high:
            least, most = (0.5 + math.asin(alike) / math.pi for alike in (low, high))
            raise input_fault(
                f"two measures with agreements of {study.true:g} and {self.other:g} cannot choose the same system in "
                f"{self.same_choice:g} of the pairs",
                cure=f"give --same-choice from {least:.2f} to {most:.2f}",
            )
        return found

    def size(self, vary: str) -> int:
        """Return ``queries``, ``pairs`` or ``workers``."""
        return self.study.size(vary)

    def resized(self, vary: str, size: int) -> Self:
        """Return the study with another number of one of them, and the same measures."""
        return replace(self, study=self.study.resized(vary, size))

    def bounds(self, vary: str) -> tuple[int, int]:
        """As of a single measure."""
        return self.study.bounds(vary)

    def people(self) -> int:
        """Return the number of workers, when each does what one does."""
        return self.study.people()

    def judgments(self) -> int:
        """Return their number in all."""
        return self.study.judgments()

    def simulated(self, rng: np.random.Generator) -> Outcome:
        """Draw a study and return the paired query t interval of the difference."""
        study = self.study
        votes = _drawn(study, study.queries, rng)
        first, second = (
            votes.agreement(scores, study.ties)
            for scores in _two_measures(votes.liked, self, study.judges.query_spread, rng)
        )
        units = int(((first.counts > 0) | (second.counts > 0)).sum())
        found = Comparison(
            difference=first.value - second.value,
            standard_error=standard_error(first.influence - second.influence, units),
            queries=units,
            p_t=math.nan,
            p_sign_flip=math.nan,
        )
        low, high = found.confidence_interval(LEVEL)
        return _outcome(found.difference, low, high, found.standard_error, units, 0.0)


def _outcome(
    estimate: float, low: float, high: float, error: float, units: int, tell_from: float | None
) -> Outcome:
    """Return what a study with an interval of Student's t prints; nothing where queries do not differ."""
    if math.isnan(low):
        return replace(NOTHING, estimate=estimate)
    told = tell_from is not None and not low <= tell_from <= high
    return Outcome(
        estimate=estimate, low=low, high=high, told=told, standard_error=error, df=float(units - 1)
    )


def systems_for(pairs: int) -> int:
    """Return the fewest systems that make so many pairs: 7 for 21."""
    return math.ceil((1 + math.sqrt(1 + 8 * pairs)) / 2)


def _drawn(design: AgreementDesign, queries: int, rng: np.random.Generator) -> _Votes:
    """Draw what people like and how they vote."""
    people, systems = design.judges, systems_for(design.pairs)
    every = np.array(list(combinations(range(systems), 2)))
    pairs = every[np.sort(rng.choice(len(every), design.pairs, replace=False))]
    liked = rng.standard_normal((queries, systems))
    log_odds = people.strength / math.sqrt(2) * (liked[:, pairs[:, 0]] - liked[:, pairs[:, 1]])
    own = np.exp(people.sensitivity_sd * rng.standard_normal((queries, 1, design.workers)))
    log_tie = np.asarray(math.log(people.tie_weight))
    by_person = log_odds[:, :, None] + people.strength / math.sqrt(2) * _tastes(design, queries, pairs, rng)
    first, second, _ = choice_probabilities(by_person * own, log_tie)
    drawn = rng.random(first.shape)
    votes = np.where(drawn < first, 1.0, np.where(drawn < first + second, 0.0, 0.5))
    return _Votes(liked, pairs, votes.mean(axis=2))


def _tastes(design: AgreementDesign, queries: int, pairs: Places, rng: np.random.Generator) -> Floats:
    """Draw how much more each worker of each query likes the first system of a pair than others do; (queries, p, workers).

    Queries take people in turn, so that nobody has one twice. Without tastes nothing is drawn.
    """
    if not design.judges.taste_sd:
        return np.zeros((1, 1, 1))
    people = design.people_of(queries)
    liking = design.judges.taste_sd * rng.standard_normal((people, systems_for(design.pairs)))
    person = np.arange(queries * design.workers).reshape(queries, design.workers) % people
    more = liking[:, pairs[:, 0]] - liking[:, pairs[:, 1]]
    return np.asarray(np.moveaxis(more[person], 2, 1))


def _measure(liked: Floats, rho: float, spread: float, rng: np.random.Generator) -> Floats:
    """Draw scores that correlate with what people like."""
    by_query = _by_query(rho, spread * rng.standard_normal((len(liked), 1)))
    return by_query * liked + np.sqrt(1 - by_query**2) * rng.standard_normal(liked.shape)


def _two_measures(
    liked: Floats, design: DifferenceDesign, spread: float, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Draw scores of two measures that correlate with what people like and with each other.

    What the queries do to them is as alike as they are.
    """
    alike = _alike(design.same_choice)
    fates = rng.standard_normal((2, len(liked), 1))
    fates[1] = alike * fates[0] + math.sqrt(1 - alike**2) * fates[1]
    one, other = (
        _by_query(rho, spread * fate)
        for rho, fate in zip((design.study.rho, design.rho_other), fates, strict=True)
    )
    rests = rng.standard_normal((2, *liked.shape))
    shared = np.clip((alike - one * other) / np.sqrt((1 - one**2) * (1 - other**2)), -1, 1)
    rests[1] = shared * rests[0] + np.sqrt(1 - shared**2) * rests[1]
    return (
        one * liked + np.sqrt(1 - one**2) * rests[0],
        other * liked + np.sqrt(1 - other**2) * rests[1],
    )


def _by_query(rho: float, moved: Floats) -> Floats:
    return np.asarray(np.clip(np.tanh(math.atanh(rho) + moved), -_CLOSEST, _CLOSEST))


def _alike(same_choice: float) -> float:
    """Return the correlation of two normal scores whose differences have one sign in this share of pairs."""
    return math.sin(math.pi * (same_choice - 0.5))


def _possible_alike(one: float, other: float) -> tuple[float, float]:
    """Return the least and the highest correlation of two measures that correlate so with a third thing."""
    reach = math.sqrt((1 - one**2) * (1 - other**2))
    return one * other - reach, one * other + reach


def _search(design: AgreementDesign, wanted: float) -> float:
    """Return the rho at which a measure has the wanted agreement with these people."""
    rng = np.random.default_rng(_SEARCH_SEED)
    votes = _drawn(design, SEARCH_QUERIES, rng)
    seed = int(rng.integers(2**32))

    def reached(rho: float) -> float:
        draws = np.random.default_rng(seed)  # the same draws for every rho, so that agreement rises with it
        return votes.value(_measure(votes.liked, rho, design.judges.query_spread, draws), design.ties)

    least, most = reached(-_CLOSEST), reached(_CLOSEST)
    if not least < wanted < most:
        raise input_fault(
            f"no measure can have an agreement of {wanted:g} with such people: it would be from {least:.2f} to "
            f"{most:.2f}",
            cure="give another agreement, or people who are more decided (--strength) or more of them (--workers)",
        )
    return _bisected(lambda rho: reached(rho) < wanted)


def _bisected(too_low: Callable[[float], bool]) -> float:
    low, high = -_CLOSEST, _CLOSEST
    while high - low > 1e-4:
        middle = (low + high) / 2
        low, high = (middle, high) if too_low(middle) else (low, middle)
    return (low + high) / 2
