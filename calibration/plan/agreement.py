"""Planned studies of agreement: of one measure, or of the difference of two.

People vote as in `calibration.plan.votes`. A measure scores a system s of a query q, which people like v_qs, with m_qs ~ N(0, 1) of
correlation rho_q to v_qs, so that it explains a part of what people like and the rest is unexplained. How well a measure does differs
between queries: atanh rho_q ~ N(atanh rho, query_spread^2). rho is searched such that the agreement is what one says it is; two measures
choose the same system in a share of pairs that one says too. Intervals and tests are those of `prefcal agree`, over queries and people
(`metrics.agreement.crossed_errors`).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import numpy as np

from calibration.agree.judged_task import MIN_TOPICS, testable
from calibration.plan.simulation import MAX_SIZE, NO_ESTIMATE, Design, SimulatedEstimate
from calibration.plan.votes import JudgePopulation, Sizes, draw_votes
from metrics.agreement.agreement import Ties, pair_credit
from metrics.agreement.crossed_errors import MIN_CLUSTERS, StandardError
from metrics.arrays import Floats
from metrics.errors import input_fault

LEVEL = 0.95
SEARCH_QUERIES = 2000
"""Number of queries in the search for rho.

Agreement is then known to about half a point.
"""
_SEARCH_SEED = 7
_CLOSEST = 0.9999


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementDesign(Design):
    """Design of a study of one measure's agreement.

    Attributes
    ----------
    queries, pairs, workers : int
        Numbers of queries, of pairs of a query (of the fewest systems that make so many) and of judges of each pair.
    fewest_pairs : int or None
        Smallest number of pairs of a query, where all numbers up to ``pairs`` are equally likely; None: ``pairs`` in each.
    queries_each : int
        Queries that a person judges.
    pairs_each : int or None
        Pairs that a person judges of each of these queries; None for all.
    most_pairs : int or None
        Largest possible number of pairs of a query; None: no limit.
    true : float
        The agreement of the measure over infinitely many queries, for the design as it was made (`resized` keeps the
        measure, and with more workers a pair its agreement rises a little).
    ties : str
        The convention, a key of `metrics.agreement.agreement.TIES`.
    judges : JudgePopulation
        Parameters of the simulated people.
    tell_from : float or None
        Null value of the agreement, which the study is to reject.
    rho : float
        Correlation that gives this agreement, found by a search; see the module.

    Examples
    --------
    >>> design = AgreementDesign(queries=12, pairs=21, workers=10, true=0.75)
    >>> design.resized("queries", 24).queries
    24
    """

    varies: ClassVar[tuple[str, ...]] = ("queries", "pairs", "workers")

    queries: int
    pairs: int
    workers: int
    true: float
    ties: Ties = "against"
    judges: JudgePopulation = field(default_factory=JudgePopulation)
    tell_from: float | None = None
    fewest_pairs: int | None = None
    most_pairs: int | None = None
    queries_each: int = 1
    pairs_each: int | None = None
    rho: float = math.nan

    @property
    def truth(self) -> float:
        """True agreement."""
        return self.true

    def ready(self) -> Self:
        """Return the design with the measure's rho computed.

        Raises
        ------
        InputError
            If no measure can agree so well or so badly with these people.
        """
        return replace(self, rho=_search(self, self.true)) if math.isnan(self.rho) else self

    def bounds(self, vary: str) -> tuple[int, int]:
        """Return the bounds of a size; two queries are needed to see how they differ."""
        if vary == "pairs":
            return self.fewest_pairs or 1, max(self.pairs, self.most_pairs or MAX_SIZE)
        return 2 if vary == "queries" else 1, MAX_SIZE

    def people(self) -> int:
        """Return the number of workers, if all finish and none does more."""
        return self.sizes.people

    def judgments(self) -> int:
        """Return the number of judgments, without those lost by drop-outs."""
        return round(self.sizes.judgments * (1 - self.judges.drop_out / 2))

    @property
    def sizes(self) -> Sizes:
        """Return the sizes of the study."""
        return Sizes(
            queries=self.queries,
            pairs=self.pairs,
            workers=self.workers,
            fewest_pairs=self.fewest_pairs,
            queries_each=self.queries_each,
            pairs_each=self.pairs_each,
        )

    def simulated(self, rng: np.random.Generator) -> SimulatedEstimate:
        """Simulate a study and return the interval of the agreement.

        `prefcal agree` prints the same interval.
        """
        votes = draw_votes(self.sizes, self.judges, rng)
        difference = votes.difference(_measure(votes.liked, self.rho, self.judges.query_spread, rng))
        people = votes.by_person()
        value = float(np.nanmean(pair_credit(difference, people.share, ties=self.ties)))
        return _outcome(value, people.error(difference, self.ties), (0.0, 1.0), self.tell_from)


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferenceDesign(Design):
    """Design of a study of the difference of two measures' agreements.

    Both are measured on the same votes.

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

    Examples
    --------
    >>> import prefcal
    >>> study = prefcal.AgreementDesign(queries=12, pairs=21, workers=10, true=0.75)
    >>> DifferenceDesign(study=study, other=0.7).same_choice
    0.8
    """

    varies: ClassVar[tuple[str, ...]] = AgreementDesign.varies

    study: AgreementDesign
    other: float
    same_choice: float = 0.8
    rho_other: float = math.nan

    @property
    def truth(self) -> float:
        """True difference."""
        return self.study.true - self.other

    def ready(self) -> Self:
        """Return the design with both measures' rho computed.

        Raises
        ------
        InputError
            If no measure can agree so well or so badly, or two such measures cannot choose the same system so often.
        """
        study = self.study.ready()
        if not math.isnan(self.rho_other):
            return replace(self, study=study)
        design = replace(self, study=study, rho_other=_search(study, self.other))
        low, high = _possible_alike(study.rho, design.rho_other)
        if not low <= _alike(self.same_choice) <= high:
            least, most = (0.5 + math.asin(alike) / math.pi for alike in (low, high))
            raise input_fault(
                f"two measures with agreements of {study.true:g} and {self.other:g} cannot choose the same system in "
                f"{self.same_choice:g} of the pairs",
                cure=f"give --same-choice from {least:.2f} to {most:.2f}",
            )
        return design

    def size(self, vary: str) -> int:
        """Return ``queries``, ``pairs`` or ``workers``."""
        return self.study.size(vary)

    def resized(self, vary: str, size: int) -> Self:
        """Return the design with another size and the same measures."""
        return replace(self, study=self.study.resized(vary, size))

    def bounds(self, vary: str) -> tuple[int, int]:
        """Return the bounds of a size, those of a single measure."""
        return self.study.bounds(vary)

    def people(self) -> int:
        """Return the number of workers, if all finish and none does more."""
        return self.study.people()

    def judgments(self) -> int:
        """Return the number of judgments."""
        return self.study.judgments()

    def check_tested(self) -> None:
        """Raise `InputError` if `prefcal agree` would print no p.

        Without a p the difference is never detected.
        """
        if self.study.queries < MIN_TOPICS or self.people() < MIN_CLUSTERS:
            raise input_fault(
                f"no such study tells two measures apart: with fewer than {MIN_TOPICS} queries or {MIN_CLUSTERS} people "
                "prefcal agree prints no p",
                cure="give more --queries or --workers",
            )

    def simulated(self, rng: np.random.Generator) -> SimulatedEstimate:
        """Simulate a study and return the interval of the difference.

        `prefcal agree` prints the same interval; without a p nothing is detected.
        """
        study = self.study
        votes = draw_votes(study.sizes, study.judges, rng)
        first, second = map(
            votes.difference, _two_measures(votes.liked, self, study.judges.query_spread, rng)
        )
        people, ties = votes.by_person(), study.ties
        first_agreement, second_agreement = (
            np.nanmean(pair_credit(each, people.share, ties=ties)) for each in (first, second)
        )
        influence = people.influence(first, ties) - people.influence(second, ties)
        error = people.crossing.error(influence, people.weight)
        tell_from = 0.0 if testable(people) else None
        return _outcome(float(first_agreement - second_agreement), error, (-1.0, 1.0), tell_from)


def _outcome(
    estimate: float, error: StandardError, ends: tuple[float, float], tell_from: float | None
) -> SimulatedEstimate:
    """Return the outcome with Student's t interval, or none without variation."""
    if not error.standard_error > 0:
        return replace(NO_ESTIMATE, estimate=estimate)
    reach = error.half_width(LEVEL)
    low, high = max(ends[0], estimate - reach), min(ends[1], estimate + reach)
    detects_difference = tell_from is not None and not low <= tell_from <= high
    return SimulatedEstimate(
        estimate=estimate,
        low=low,
        high=high,
        told=detects_difference,
        standard_error=error.standard_error,
        df=error.df,
    )


def _measure(liked: Floats, rho: float, spread: float, rng: np.random.Generator) -> Floats:
    """Draw scores that correlate with people's preferences."""
    by_query = _by_query(rho, spread * rng.standard_normal((len(liked), 1)))
    return by_query * liked + np.sqrt(1 - by_query**2) * rng.standard_normal(liked.shape)


def _two_measures(
    liked: Floats, design: DifferenceDesign, spread: float, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Draw scores of two measures that correlate with preferences and each other.

    The effects of queries on both measures correlate likewise.
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
    """Return the correlation of two scores whose differences agree in sign this often."""
    return math.sin(math.pi * (same_choice - 0.5))


def _possible_alike(one: float, other: float) -> tuple[float, float]:
    """Return the bounds of the correlation of two measures given those with a third."""
    reach = math.sqrt((1 - one**2) * (1 - other**2))
    return one * other - reach, one * other + reach


def _search(design: AgreementDesign, goal: float) -> float:
    """Return the rho at which a measure has the desired agreement with these people."""
    rng = np.random.default_rng(_SEARCH_SEED)
    sizes = replace(design.sizes, queries=SEARCH_QUERIES, queries_each=1)
    votes = draw_votes(sizes, design.judges, rng)
    share, seed = votes.by_person().share, int(rng.integers(2**32))

    def reached(rho: float) -> float:
        draws = np.random.default_rng(seed)  # the same draws for every rho, so that agreement rises with it
        difference = votes.difference(_measure(votes.liked, rho, design.judges.query_spread, draws))
        return float(np.nanmean(pair_credit(difference, share, ties=design.ties)))

    least, most = reached(-_CLOSEST), reached(_CLOSEST)
    if not least < goal < most:
        raise input_fault(
            f"no measure can have an agreement of {goal:g} with such people: it would be from {least:.2f} to "
            f"{most:.2f}",
            cure="give another agreement, or people who are more decided (--strength) or more of them (--workers)",
        )
    return _bisected(lambda rho: reached(rho) < goal)


def _bisected(too_low: Callable[[float], bool]) -> float:
    low, high = -_CLOSEST, _CLOSEST
    while high - low > 1e-4:
        middle = (low + high) / 2
        low, high = (middle, high) if too_low(middle) else (low, middle)
    return (low + high) / 2
