"""Measures of the TREC Temporal Summarization track, as values.

Sources: the track's evaluation programs of 2013 and 2014; Baruah, Smucker, Clarke: Evaluating Streams of Evolving News
Events (SIGIR 2015), section 2. Bringing and costing is counted in `metrics.updates.account`, with which the symbols
here are explained: G gain, L latency-discounted gain, V verbosity, l latency factors, w confidence, R relevance, n the
number of updates. 0/0 is 0.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from metrics.arrays import Floats
from metrics.registry import Measure, measure
from metrics.updates.account import Convention, CountingRules, Unsampled, UpdateGains

TRACK = "TREC Temporal Summarization track, evaluation programs of 2013 and 2014"
PAPER = "Baruah, Smucker and Clarke, SIGIR 2015"


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class UpdateMeasure(Measure, ABC):
    """Base of the measures of updates, with the rules of counting.

    Attributes
    ----------
    convention : {'2014', '2013'}
        The year whose program is followed.
    binary : bool
        Every relevant nugget is worth 1; otherwise exp(importance - 3).
    unsampled : {'count', 'skip'} or None
        An update that was never judged counts as one word without nuggets, or not at all. None: as the year does,
        count in 2014 and skip in 2013.
    """

    family = "updates"

    convention: Convention = "2014"
    binary: bool = False
    unsampled: Unsampled | None = None

    @property
    def rules(self) -> CountingRules:
        """Return the rules by which updates are counted."""
        by_year: Unsampled = "count" if self.convention == "2014" else "skip"
        return CountingRules(self.convention, self.binary, self.unsampled or by_year)

    @abstractmethod
    def topic_value(self, account: UpdateGains) -> float:
        """Return the score of one topic, from updates counted by `rules`."""


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ConfidenceWeightedMeasure(UpdateMeasure):
    """Base of the measures that have a confidence-biased form too.

    That form replaces sum(x) by sum(w x) / sum(w), or by 0 if sum(w) <= 0.

    Attributes
    ----------
    confidence : bool
        Take the confidence-biased form.
    """

    confidence: bool = False

    @property
    def column(self) -> str:
        """Column name: ``ELG``, or confidence-biased ``conf-ELG``."""
        return f"conf-{self.name}" if self.confidence else self.name

    def total(self, values: Floats, account: UpdateGains) -> float:
        """Return the sum, or its confidence-biased form."""
        if not self.confidence:
            return float(values.sum())
        weights = float(account.weight.sum())
        return float(account.weight @ values) / weights if weights > 0 else 0.0

    def per_verbosity(self, values: Floats, account: UpdateGains) -> float:
        """Return total / sum V."""
        return ratio(self.total(values, account), float(account.verbosity.sum()))

    def per_relevance(self, values: Floats, account: UpdateGains) -> float:
        """Return total / sum of all R."""
        return ratio(self.total(values, account), float(account.relevance.sum()))


def ratio(numerator: float, denominator: float) -> float:
    """Divide, with 0 where the divisor is 0."""
    return numerator / denominator if denominator else 0.0


def ideal_gain(account: UpdateGains) -> float:
    """Return the mean of the min(n, nuggets) largest R.

    Updates of one nugget each could gain no more.
    """
    best = account.relevance[: account.gain.size]
    return float(best.mean()) if best.size else 0.0


def harmonic_mean(one: float, other: float) -> float:
    """Return 2ab / (a + b), 0 if both are 0."""
    return ratio(2 * one * other, one + other)


@measure
class ExpectedGain(ConfidenceWeightedMeasure):
    """E[Gain] = sum G / sum V.

    Examples
    --------
    >>> ExpectedGain(convention="2013").column
    'E[Gain]'
    """

    name = "E[Gain]"
    source = f"{TRACK}; {PAPER}, eq. 1 without latency"
    definition = "Relevance of the new nuggets in an update, per update of normal length."

    def topic_value(self, account: UpdateGains) -> float:
        """Return sum G / sum V."""
        return self.per_verbosity(account.gain, account)


@measure
class ExpectedLatencyGain(ConfidenceWeightedMeasure):
    """ELG = sum L / sum V: the track's first measure of 2013.

    Examples
    --------
    >>> ExpectedLatencyGain(unsampled="skip").column
    'ELG'
    """

    name = "ELG"
    source = f"{TRACK}; {PAPER}, eq. 1"
    definition = "E[Gain], each nugget worth less the later it is told."

    def topic_value(self, account: UpdateGains) -> float:
        """Return sum L / sum V."""
        return self.per_verbosity(account.latency_gain, account)


@measure
class NormalisedGain(ConfidenceWeightedMeasure):
    """nE[Gain] = E[Gain] / mean of the min(n, nuggets) largest R.

    Examples
    --------
    >>> NormalisedGain().column
    'nE[Gain]'
    """

    name = "nE[Gain]"
    source = TRACK
    definition = "E[Gain] divided by that of equally many updates with one best nugget each."

    def topic_value(self, account: UpdateGains) -> float:
        """Return E[Gain] / ideal."""
        return ratio(self.per_verbosity(account.gain, account), ideal_gain(account))


@measure
class NormalisedLatencyGain(ConfidenceWeightedMeasure):
    """nELG = ELG / mean of the min(n, nuggets) largest R.

    Examples
    --------
    >>> NormalisedLatencyGain(convention="2013").column
    'nELG'
    """

    name = "nELG"
    source = TRACK
    definition = "ELG divided by the E[Gain] of equally many updates with one best nugget each."

    def topic_value(self, account: UpdateGains) -> float:
        """Return ELG / ideal."""
        return ratio(self.per_verbosity(account.latency_gain, account), ideal_gain(account))


@measure
class Comprehensiveness(ConfidenceWeightedMeasure):
    """C = sum G / sum of all R.

    Examples
    --------
    >>> Comprehensiveness(binary=True).column
    'C'
    """

    name = "C"
    source = f"{TRACK}; {PAPER}, section 2"
    definition = "Share of the relevance of all nuggets that the run found."

    def topic_value(self, account: UpdateGains) -> float:
        """Return sum G / sum R."""
        return self.per_relevance(account.gain, account)


@measure
class LatencyComprehensiveness(ConfidenceWeightedMeasure):
    """LC = sum L / sum of all R; above 1 when nuggets come early.

    Examples
    --------
    >>> LatencyComprehensiveness().column
    'LC'
    """

    name = "LC"
    source = f"{TRACK}; {PAPER}, section 2"
    definition = "Comprehensiveness, each nugget worth less the later it is told."

    def topic_value(self, account: UpdateGains) -> float:
        """Return sum L / sum R."""
        return self.per_relevance(account.latency_gain, account)


@measure
class HarmonicMean(ConfidenceWeightedMeasure):
    """HM = 2 nELG LC / (nELG + LC): the track's first measure of 2014.

    Examples
    --------
    >>> HarmonicMean().column
    'HM'
    """

    name = "HM"
    source = TRACK
    definition = "Harmonic mean of nELG and LC."

    def topic_value(self, account: UpdateGains) -> float:
        """Return the harmonic mean of nELG and LC."""
        normalised = ratio(self.per_verbosity(account.latency_gain, account), ideal_gain(account))
        return harmonic_mean(normalised, self.per_relevance(account.latency_gain, account))


@measure
class ExpectedVerbosity(ConfidenceWeightedMeasure):
    """E[Verbosity] = sum V / n.

    Examples
    --------
    >>> ExpectedVerbosity().column
    'E[Verbosity]'
    """

    name = "E[Verbosity]"
    source = TRACK
    definition = "Length of an update: 1, and its surplus words in mean nuggets; less is better."

    def topic_value(self, account: UpdateGains) -> float:
        """Return sum V / n."""
        return ratio(self.total(account.verbosity, account), account.gain.size)


@measure
class ExpectedLatency(ConfidenceWeightedMeasure):
    """E[Latency] = sum l / n in 2014, sum l / nuggets found in 2013.

    Examples
    --------
    >>> ExpectedLatency().column
    'E[Latency]'
    """

    name = "E[Latency]"
    source = TRACK
    definition = "Latency factors of the nuggets found, per update (2014) or per nugget (2013)."

    def topic_value(self, account: UpdateGains) -> float:
        """Return sum l / n, or per nugget."""
        per = account.gain.size if self.convention == "2014" else account.nuggets
        return ratio(self.total(account.latency, account), per)


@measure
class UpdateCount(UpdateMeasure):
    """updates = n.

    Examples
    --------
    >>> UpdateCount().column
    'updates'
    """

    name = "updates"
    source = TRACK
    definition = "Number of updates that count."

    def topic_value(self, account: UpdateGains) -> float:
        """Return n."""
        return float(account.gain.size)


MEASURES: tuple[type[UpdateMeasure], ...] = (
    ExpectedGain,
    ExpectedLatencyGain,
    NormalisedGain,
    NormalisedLatencyGain,
    Comprehensiveness,
    LatencyComprehensiveness,
    HarmonicMean,
    ExpectedVerbosity,
    ExpectedLatency,
    UpdateCount,
)
"""Every measure of the family, in the order in which the command line prints them."""
