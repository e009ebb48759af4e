"""Gain and cost of each update of a run, as TREC Temporal Summarization counts.

Source: the track's evaluation programs of 2013 and 2014, and Baruah, Smucker, Clarke: Evaluating Streams of Evolving
News Events (SIGIR 2015), section 2. The measures in `metrics.updates.measures` are formulas over an `Account`.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from metrics.arrays import Floats
from metrics.events import Event, Match, Nugget

Convention: TypeAlias = Literal["2014", "2013"]
Unsampled: TypeAlias = Literal["count", "skip"]

BLANK = b" "
GREATEST_IMPORTANCE = 3
LATENCY_STEP_SECONDS = 21_600
INFINITE_CONFIDENCE = 1000.0
UNSAMPLED_WORDS = 1


class CountingRules(NamedTuple):
    """Rules by which the updates of a run are counted.

    convention is the year of the track whose program is followed, binary makes every counted nugget equally relevant,
    unsampled says what becomes of an update that was never judged: one word without text, or nothing.
    """

    convention: Convention
    binary: bool
    unsampled: Unsampled


class SampledUpdate(NamedTuple):
    """Words of a sampled update, and the words that each match marks for a nugget.

    Words are counted from 0.
    """

    words: int
    matches: tuple[tuple[str, range], ...]


@dataclass(frozen=True, slots=True)
class UpdateGains:
    """Gains and costs of one run's updates on one topic, in order of time.

    Updates of equal times stand in file order.

    Attributes
    ----------
    gain, latency_gain : (n,) ndarray of float64
        sum R(nugget) over the nuggets that are new in an update, and the same with each R times its latency factor.
    latency : (n,) ndarray of float64
        sum of these factors.
    verbosity : (n,) ndarray of float64
        V >= 1.
    weight : (n,) ndarray of float64
        Confidence: 1 / (1 + position in the file within the topic) in 2014, the run's own value in 2013.
    nuggets : int
        How many were found.
    relevance : (nuggets of the topic,) ndarray of float64
        R of every counted nugget, the largest first.
    """

    gain: Floats
    latency_gain: Floats
    latency: Floats
    verbosity: Floats
    weight: Floats
    nuggets: int
    relevance: Floats


class JudgedTopic:
    """Judgments of one topic, prepared for any number of runs.

    Parameters
    ----------
    event : Event
        Judgments.
    rules : CountingRules
        How they are used. R(n) = exp(importance) / exp(3), or 1 if binary. In 2014 nuggets with importance <= 0 are
        dropped and words are counted in the texts; in 2013 all stay (R = 0 for importance 0 if binary) and the length
        columns hold words.
    """

    def __init__(self, event: Event, rules: CountingRules) -> None:
        self.rules = rules
        self.updates = event.updates
        self.nuggets = _counted(event.nuggets, rules)
        self.relevance = {name: _relevance(nugget, rules) for name, nugget in self.nuggets.items()}
        lengths = [_nugget_words(nugget, rules) for nugget in self.nuggets.values()]
        self.nugget_words = sum(lengths) / len(lengths) if lengths else 0.0
        self._matches = event.matches
        self._readings: dict[str, SampledUpdate] = {}

    def account(self, updates: Iterable[str], seconds: Floats, confidence: Floats) -> UpdateGains:
        """Count the entries of a run for this topic.

        Parameters
        ----------
        updates : iterable of str
            Updates in file order.
        seconds : (n,) ndarray of float64
            When each was given out.
        confidence : (n,) ndarray of float64
            How sure the run was; used in 2013 only.
        """
        weight = self._weights(confidence).tolist()
        entries = sorted(zip(seconds.tolist(), updates, weight, strict=True), key=lambda entry: entry[0])
        known_nuggets: set[str] = set()
        rows = [
            (*self._contribution(reading, when, known_nuggets), one_weight)
            for when, update, one_weight in entries
            if (reading := self._reading(update)) is not None
        ]
        gain, latency_gain, latency, verbosity, weights = np.array(rows, dtype=np.float64).reshape(-1, 5).T
        relevance = np.array(sorted(self.relevance.values(), reverse=True), dtype=np.float64)
        return UpdateGains(gain, latency_gain, latency, verbosity, weights, len(known_nuggets), relevance)

    def _weights(self, confidence: Floats) -> Floats:
        """Return the weight of each entry, from its position or its confidence."""
        if self.rules.convention == "2014":
            return 1 / np.arange(1, confidence.size + 1, dtype=np.float64)
        return np.where(confidence == math.inf, INFINITE_CONFIDENCE, confidence)

    def _reading(self, update: str) -> SampledUpdate | None:
        """Return the sampled update that an entry shows, or None.

        It is a copy's original if that is sampled too; an entry with None does not count.
        """
        sampled = self.updates.get(update)
        if sampled is None:
            return None if self.rules.unsampled == "skip" else SampledUpdate(UNSAMPLED_WORDS, ())
        original = sampled.original
        judged = original if original is not None and original in self.updates else update
        if judged not in self._readings:
            self._readings[judged] = self._judged_reading(judged)
        return self._readings[judged]

    def _judged_reading(self, update: str) -> SampledUpdate:
        text = self.updates[update].text.encode()
        words = text.count(BLANK) + 1 if self.rules.convention == "2014" else self.updates[update].words
        matches = self._matches.get(update, ())
        return SampledUpdate(
            words,
            tuple(
                (match.nugget, marked_words(text, match)) for match in matches if match.nugget in self.nuggets
            ),
        )

    def _contribution(
        self, reading: SampledUpdate, seconds: float, known_nuggets: set[str]
    ) -> tuple[float, float, float, float]:
        """Record an update's nuggets and return its gains, latency and verbosity.

        The result is (gain, latency gain, latency, verbosity).
        """
        gain = latency_gain = latency = 0.0
        marked: set[int] = set()
        for name, words in reading.matches:
            if name not in known_nuggets:
                known_nuggets.add(name)
                marked.update(words)
                factor = latency_factor(seconds - self.nuggets[name].seconds)
                gain += self.relevance[name]
                latency_gain += self.relevance[name] * factor
                latency += factor
        surplus = max(0, reading.words - len(marked))
        return gain, latency_gain, latency, 1 + (surplus / self.nugget_words if self.nugget_words else 0.0)


def marked_words(text: bytes, match: Match) -> range:
    """Return a text's words (from 0) that a match marks as relevant.

    The track's programs mark the same words.

    With b1 blanks in the bytes 0 .. start, that of start included, and b2 blanks before byte end: the words b1 - 1 to
    b2 - 1, without -1. This lies one word to the left of the match, and a text's last word is never marked.
    """
    first = text.count(BLANK, 0, match.start + 1) - 1
    return range(max(0, first), text.count(BLANK, 0, match.end))


def latency_factor(late_seconds: float) -> float:
    """Return the share of its gain that a nugget keeps at a delay, in (0, 2).

    The share is 1 on time and more when early.

    1 - (2 / pi) atan(late / 6 hours)
    """
    return 1 - 2 / math.pi * math.atan(late_seconds / LATENCY_STEP_SECONDS)


def _counted(nuggets: Mapping[str, Nugget], rules: CountingRules) -> dict[str, Nugget]:
    """Return the nuggets that count under the rules."""
    return {
        name: nugget
        for name, nugget in nuggets.items()
        if rules.convention == "2013" or nugget.importance > 0
    }


def _relevance(nugget: Nugget, rules: CountingRules) -> float:
    """Return the relevance R of a nugget."""
    if rules.binary:
        return float(nugget.importance != 0)
    return math.exp(nugget.importance) / math.exp(GREATEST_IMPORTANCE)


def _nugget_words(nugget: Nugget, rules: CountingRules) -> int:
    """Return the length of a nugget in words."""
    return nugget.text.count(" ") + 1 if rules.convention == "2014" else nugget.words
