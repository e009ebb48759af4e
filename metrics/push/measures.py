"""Measures of push notifications as values: ELG, nCG, T11U, silence.

Source: Tan, Roegiest, Lin, Clarke: An Exploration of Evaluation Metrics for Mobile Push Notifications (SIGIR 2016).
What a day comes to is counted in `metrics.push.days`; here stand the formulas over it. The contingency framework is in
`metrics.push.contingency`, scoring in `metrics.push.score`.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

import numpy as np

from metrics.arrays import Bools, Floats
from metrics.push.days import (
    PAPER,
    TRACK,
    DayTable,
    Denominator,
    DuplicateDelay,
    GainOf,
    Order,
    PushRules,
    RedundantDay,
    Unpooled,
)
from metrics.registry import Measure, Parameter, Share, measure, short_number

Convention: TypeAlias = Literal["track", "paper"]

SOURCE = "Tan, Roegiest, Lin and Clarke, SIGIR 2016"
CONVENTIONS: MappingProxyType[str, tuple[PushRules, RedundantDay]] = MappingProxyType(
    {"track": (TRACK, "silent"), "paper": (PAPER, "eventful")}
)


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class PushMeasure(Measure, ABC):
    """Base of the push measures, with the rules of counting.

    Attributes
    ----------
    convention : {'track', 'paper'}
        The rules of the TREC 2015 script, with which the paper's figures were made, or those of the paper's text.
    order, denom, gain, clip, dup_delay : optional
        One rule each that departs from the convention, see `metrics.push.days.Rules`; None follows it.
    unpooled : {'skip', 'nonrel'}
        See `metrics.push.days.Rules`.
    """

    family = "push"

    convention: Convention = "track"
    order: Order | None = None
    denom: Denominator | None = None
    gain: GainOf | None = None
    clip: bool | None = None
    dup_delay: DuplicateDelay | None = None
    unpooled: Unpooled = "skip"

    def parameters(self) -> dict[str, Parameter]:
        """Every parameter and its value, those of the family last."""
        return _shared_last(Measure.parameters(self))

    @classmethod
    def defaults(cls) -> dict[str, Parameter]:
        """Every parameter and its default, in the same order."""
        return _shared_last(super(PushMeasure, cls).defaults())

    @property
    def rules(self) -> PushRules:
        """Rules by which pushes are counted."""
        departures = ("order", "denom", "gain", "clip", "dup_delay")
        given: dict[str, Any] = {name: getattr(self, name) for name in departures}
        given = {name: value for name, value in given.items() if value is not None}
        rules, _ = CONVENTIONS[self.convention]
        return replace(rules, unpooled=self.unpooled, **given)

    @abstractmethod
    def topic_values(self, table: DayTable) -> Floats:
        """Return the score of each topic, (topics,), from days counted by `rules`."""

    def overall(self, table: DayTable, topics: Bools) -> float:
        """Return the mean over the flagged topics, NaN over none.

        The flags are a (topics,) array.
        """
        values = self.topic_values(table)[topics].tolist()
        return math.fsum(values) / len(values) if values else math.nan


def _shared_last(parameters: dict[str, Parameter]) -> dict[str, Parameter]:
    shared = [field.name for field in fields(PushMeasure)]
    return {name: parameters[name] for name in sorted(parameters, key=lambda name: name in shared)}


def ratio(numerator: Floats, denominator: Floats, *, undefined: float = 0.0) -> Floats:
    """Divide entry by entry, with ``undefined`` where the divisor is 0."""
    values = np.full(denominator.shape, undefined)
    np.divide(numerator, denominator, out=values, where=denominator > 0)
    return values


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class DailyMeasure(PushMeasure):
    """Base of measures with a score a day; a topic's is the mean over its days.

    Attributes
    ----------
    silent_days : {0, 1}
        What a silent day without pushes scores. A silent day with a push scores 0.
    redundant_day : {'silent', 'eventful'}, optional
        What a day is on which the run has used every cluster before; None: silent in the track, eventful in the paper.
    """

    silent_days: Literal[0, 1] = 1
    redundant_day: RedundantDay | None = None

    @property
    def column(self) -> str:
        """Column name, always with the score of silence: ``ELG-1``."""
        return f"{self.name}-{short_number(self.silent_days)}"

    def day_values(self, table: DayTable) -> Floats:
        """Return the score of each day, (rows,)."""
        silent = table.silent(self.redundant_day or CONVENTIONS[self.convention][1])
        return np.where(silent, self.silent_days * table.quiet, self.eventful_values(table))

    @abstractmethod
    def eventful_values(self, table: DayTable) -> Floats:
        """Return the score of each day as if it were eventful, (rows,)."""

    def topic_values(self, table: DayTable) -> Floats:
        """Return the mean over the days of each topic, (topics,)."""
        return table.means(self.day_values(table))


@measure
class ELG(DailyMeasure):
    """Expected latency-discounted gain: a day's gain divided by its number of pushes.

    ELG = (1/N) sum G(t);  0 on an eventful day without pushes

    Examples
    --------
    ELG-0, by which a silent day without pushes is worth nothing:

    >>> ELG(silent_days=0)
    ELG(silent_days=0)
    """

    name = "ELG"
    source = f"{SOURCE}, eq. 1"
    definition = "Gain of a day's pushes, less for latency, per push; mean over days."

    def eventful_values(self, table: DayTable) -> Floats:
        """Return gain / number of pushes, (rows,)."""
        return ratio(table.gain, table.pushes)


@measure
class NCG(DailyMeasure):
    """Normalised cumulative gain: a day's gain divided by the most left to gain.

    nCG = (1/Z) sum G(t);  0 on an eventful day with Z = 0

    Examples
    --------
    Pushes in the order of time, whatever the order in the file:

    >>> NCG(order="time").column
    'nCG-1'
    """

    name = "nCG"
    source = f"{SOURCE}, eq. 2"
    definition = "Gain of a day's pushes, less for latency, of the largest possible; mean over days."

    def eventful_values(self, table: DayTable) -> Floats:
        """Return gain / Z, (rows,)."""
        return ratio(table.gain, table.ideal)


@measure
class T11U(PushMeasure):
    """Linear utility of TREC 2012: gain less pain, summed over days.

    T11U = alpha G - (1 - alpha) N_x

    Attributes
    ----------
    alpha : float
        Weight of gain against pain, in [0, 1].
    redundant : {'ignored', 'pain'}
        Whether N_x counts redundant pushes besides non-relevant ones; the paper leaves it open.

    Examples
    --------
    >>> T11U(alpha=0.5)
    T11U(alpha=0.5)
    """

    name = "T11U"
    source = f"{SOURCE}, eq. 3"
    definition = "alpha * gain - (1 - alpha) * number of non-relevant pushes, summed over days."

    alpha: Share = 0.66
    redundant: Literal["ignored", "pain"] = "ignored"

    def topic_values(self, table: DayTable) -> Floats:
        """Return the sum over the days of each topic, (topics,)."""
        pain = table.nonrelevant + (table.redundant if self.redundant == "pain" else 0.0)
        return self.alpha * table.totals(table.gain) - (1 - self.alpha) * table.totals(pain)


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class SilenceMeasure(PushMeasure):
    """Base of shares of topic-days, micro-averaged over topics.

    A run's score is not the mean of its topics' scores.

    Attributes
    ----------
    redundant_day : {'silent', 'eventful'}
        Whether days on which the run has used every cluster before are silent; the paper counts by the pool alone.
    """

    redundant_day: RedundantDay = "eventful"

    @abstractmethod
    def counted_days(self, table: DayTable) -> Bools:
        """Return the mask of the days in the denominator, (rows,)."""

    def topic_values(self, table: DayTable) -> Floats:
        """Return the share in each topic, (topics,); NaN without days."""
        return ratio(*self._totals(table), undefined=math.nan)

    def overall(self, table: DayTable, topics: Bools) -> float:
        """Return the share in the flagged topics together; NaN without days."""
        hits, counted = (totals[topics].sum() for totals in self._totals(table))
        return float(hits / counted) if counted else math.nan

    def _totals(self, table: DayTable) -> tuple[Floats, Floats]:
        """Return the numbers of silent quiet days and of counted days, (topics,) each."""
        hits = table.silent(self.redundant_day) & table.quiet
        return table.totals(hits), table.totals(self.counted_days(table))


@measure
class SilencePrecision(SilenceMeasure):
    """Share of the quiet topic-days that were silent: hits / quiet.

    It is NaN for a run that is never quiet.

    Examples
    --------
    >>> SilencePrecision().column
    'silence-precision'
    """

    name = "silence-precision"
    source = f"{SOURCE}, section 3"
    definition = "Share of the topic-days without pushes that had nothing relevant."

    def counted_days(self, table: DayTable) -> Bools:
        """Return the mask of days without pushes, (rows,)."""
        return table.quiet


@measure
class SilenceRecall(SilenceMeasure):
    """Share of the silent topic-days that were quiet: hits / silent.

    It is NaN where no day is silent.

    Examples
    --------
    >>> SilenceRecall(redundant_day="silent").column
    'silence-recall'
    """

    name = "silence-recall"
    source = f"{SOURCE}, section 3"
    definition = "Share of the topic-days with nothing relevant that had no pushes."

    def counted_days(self, table: DayTable) -> Bools:
        """Return the mask of silent days, (rows,)."""
        return table.silent(self.redundant_day)
