"""Modeled Stream Utility, its standard error and MSU per second, as values.

A run's updates on one topic are prepared once, and read by every user at once. The formulas are over what the users gained and the seconds
that they spent. Means over users are kept up to date block by block, so that memory does not grow with their number. Source: Baruah,
Smucker, Clarke: Evaluating Streams of Evolving News Events (SIGIR 2015), sections 3 and 4.
"""

import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple, TypeAlias

import numpy as np

from metrics.arrays import Bools, Floats, Ints
from metrics.events import Event, UpdateRun
from metrics.msu.trails import Stream, Trails
from metrics.registry import Measure, ParameterRange, measure, short_number

Window: TypeAlias = Literal["since_last_read", "since_last_session"]
UNIT = ParameterRange(0, 1, "lie in [0, 1]")
UnlistedWords: TypeAlias = (
    Annotated[float, ParameterRange(0, sys.float_info.max, "be 0 or more")] | Literal["topic_mean"]
)


class ReadingSetting(NamedTuple):
    """Order and scope in which users read a stream.

    window says which updates a visit shows: all that are newer than the newest one read, or of these only the ones
    that came after the last session's end. unlisted_words is the length of an update whose text is not known: a
    number of words, or the mean of the topic's known lengths.
    """

    window: Window
    unlisted_words: UnlistedWords


class StreamTopic:
    """One topic, prepared for any number of runs.

    Parameters
    ----------
    event : Event
        Judgments.
    lengths : mapping of str to float
        Words of updates; of others the words in their texts are counted (`text_words`), and one that has none is as
        long as the setting says.
    setting : ReadingSetting
        How users meet a stream.
    """

    def __init__(self, event: Event, lengths: Mapping[str, float], setting: ReadingSetting) -> None:
        self._event = event
        self._lengths = lengths
        self._unlisted = _unlisted_words(event, lengths, setting)
        self._place = {name: number for number, name in enumerate(event.nuggets)}
        self._known = np.array(
            [nugget.seconds - event.start for nugget in event.nuggets.values()], dtype=np.float64
        )
        self._readings: dict[str, tuple[float, list[int]]] = {}

    def stream(self, run: UpdateRun, entries: Ints) -> Stream:
        """Prepare a run's entries for this topic in order of display, last one first.

        The newest entry is displayed first; at equal times the higher confidence, then the later entry in the
        run.
        """
        order = entries[np.lexsort((entries, run.confidence[entries], run.seconds[entries]))]
        read = [self._reading(run.updates[entry]) for entry in order.tolist()]
        return Stream(
            end=self._event.end - self._event.start,
            emitted=run.seconds[order] - self._event.start,
            words=np.array([words for words, _ in read], dtype=np.float64),
            first_nugget=np.cumsum([0, *(len(nugget_indices) for _, nugget_indices in read)], dtype=np.int64),
            nugget=np.array([one for _, nugget_indices in read for one in nugget_indices], dtype=np.int64),
            known=self._known,
        )

    def _reading(self, update: str) -> tuple[float, list[int]]:
        """Return the number of words of an update, and the indices of its nuggets."""
        if update not in self._readings:
            nugget_indices = [self._place[name] for name in self._event.nuggets_of(update)]
            self._readings[update] = (self._words(update), nugget_indices)
        return self._readings[update]

    def _words(self, update: str) -> float:
        if update in self._lengths:
            return self._lengths[update]
        sampled = self._event.updates.get(update)
        return self._unlisted if sampled is None else float(text_words(sampled.text))


def text_words(text: str) -> int:
    """Count the words of a text, split at ASCII white space only.

    A no-break space does not split.
    """
    return len(text.encode().split())


def read(
    stream: Stream, users: Trails, worth: Floats, *, window: Window, ends_with_topic: bool
) -> tuple[Floats, Floats]:
    """Simulate every user's reading of a stream.

    Parameters
    ----------
    stream : Stream
        What there is to read.
    users : Trails
        Who reads when.
    worth : (late, decays) ndarray of float64
        What a nugget that comes ``late`` visits late is worth; the last row is for all that come later still.
    window : {'since_last_read', 'since_last_session'}
        See `ReadingSetting`.
    ends_with_topic : bool
        See `metrics.msu.trails.Users`.

    Returns
    -------
    gain : (decays, users) ndarray of float64
        The worth of all nuggets read.
    seconds : (users,) ndarray of float64
        Time spent on fully read updates.
    """
    from metrics.msu.kernels import read_stream  # noqa: PLC0415 - half a second that other measures do not pay

    within = stream if ends_with_topic else stream._replace(end=math.inf)
    gain, seconds = read_stream(users, within, worth, window == "since_last_session")
    return gain.T, seconds


def _unlisted_words(event: Event, lengths: Mapping[str, float], setting: ReadingSetting) -> float:
    """Return the length of an update of this topic whose length is not known."""
    if setting.unlisted_words != "topic_mean":
        return float(setting.unlisted_words)
    texts = {name: float(text_words(update.text)) for name, update in event.updates.items()}
    known = list((texts | dict(lengths)).values())
    return sum(known) / len(known)


class UserTotals:
    """Running means and squared deviations over users, for one run.

    Arrays have a row per topic and a last row for each user's mean over the counted topics; it is NaN if none
    counts.

    Parameters
    ----------
    counted : (topics,) ndarray of bool
        The topics of the last row.
    decays : int
        How many lateness decays.

    Attributes
    ----------
    users : int
        How many were met.
    mean_gain : (topics + 1, decays) ndarray of float64
        Mean gain of a user.
    squares : (topics + 1, decays) ndarray of float64
        Sum over users of the squared deviation from this mean.
    mean_seconds : (topics + 1,) ndarray of float64
        Mean time spent on fully read updates.
    mean_rate : (topics + 1, decays) ndarray of float64
        Mean of a user's gain per second, 0 for one who spent no time; in the last row, of the mean of these over topics.
    """

    def __init__(self, counted: Bools, decays: int) -> None:
        rows = counted.size + 1
        self.counted = counted
        self.users = 0
        self.mean_gain = np.zeros((rows, decays))
        self.squares = np.zeros((rows, decays))
        self.mean_seconds = np.zeros(rows)
        self.mean_rate = np.zeros((rows, decays))

    def add(self, gain: Floats, seconds: Floats) -> None:
        """Add a block of users.

        Parameters
        ----------
        gain : (topics, decays, users) ndarray of float64
            What each gained.
        seconds : (topics, users) ndarray of float64
            Time each spent on fully read updates.
        """
        new = seconds.shape[1]
        share = new / (self.users + new)
        gains = with_mean(gain, self.counted)
        block = gains.mean(axis=2)
        step = block - self.mean_gain
        self.squares += ((gains - block[:, :, None]) ** 2).sum(axis=2) + step**2 * share * self.users
        self.mean_gain += step * share
        self.mean_seconds += (with_mean(seconds, self.counted).mean(axis=1) - self.mean_seconds) * share
        rates = with_mean(rate(gain, seconds[:, None, :]), self.counted).mean(axis=2)
        self.mean_rate += (rates - self.mean_rate) * share
        self.users += new


def with_mean(values: Floats, counted: Bools) -> Floats:
    """Append the mean of the counted entries to each row of an array.

    The mean of no entries is NaN.
    """
    none = np.full(values.shape[1:], np.nan)
    mean = values[counted].mean(axis=0) if counted.any() else none
    return np.concatenate([values, mean[None]])


def rate(gain: Floats, seconds: Floats) -> Floats:
    """Divide entry by entry; 0 where no time was spent, NaN where undefined."""
    values = np.where(np.isnan(seconds), np.nan, np.zeros_like(gain))
    np.divide(gain, seconds, out=values, where=seconds > 0)
    return values


SOURCE = "Baruah, Smucker and Clarke, SIGIR 2015"
Ratio: TypeAlias = Literal["of_totals", "mean_of_ratios"]


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class StreamMeasure(Measure, ABC):
    """Base of the MSU measures, with the setting in which users read.

    Attributes
    ----------
    lateness : float
        L in [0, 1]: a nugget that comes k visits late is worth f + (1 - f) L^k, with 0^0 = 1.
    floor : float
        f in [0, 1]: what a nugget is still worth however late it comes; 0 in the paper.
    window : {'since_last_read', 'since_last_session'}
        A visit shows everything newer than the newest update read, or of that only what came after the last session's
        end: the paper's words, by which updates that came during a session are lost.
    unlisted_words : float or 'topic_mean'
        Length of an update whose text is not known.
    """

    family = "msu"

    lateness: Annotated[float, UNIT] = 0.5
    floor: Annotated[float, UNIT] = 0.0
    window: Window = "since_last_read"
    unlisted_words: UnlistedWords = 30

    @property
    def column(self) -> str:
        """Column name, always with the lateness decay: ``MSU@0.5``, ``MSU@0.5+0.1``.

        The second form has a floor.
        """
        floor = f"+{short_number(self.floor)}" if self.floor else ""
        return f"{self.name}@{short_number(self.lateness)}{floor}"

    @property
    def setting(self) -> ReadingSetting:
        """Order and scope in which users read."""
        return ReadingSetting(self.window, self.unlisted_words)

    @abstractmethod
    def values(self, totals: UserTotals, decay: int) -> Floats:
        """Return the score of each topic, then of all together, (topics + 1,).

        Parameters
        ----------
        totals : UserTotals
            What the users gained and spent.
        decay : int
            The place of L among the decays they were simulated with.
        """


@measure
class MSU(StreamMeasure):
    """Mean gain of a user.

    MSU = mean over users of mean over topics of sum over nuggets read of L^lambda(n)

    A nugget n is first read lambda(n) visits after it was known; L is ``lateness``, the decay of its worth with each of them.

    Examples
    --------
    The name says the lateness.

    >>> MSU(lateness=0.9)
    MSU(lateness=0.9)
    """

    name = "MSU"
    source = f"{SOURCE}, section 3"
    definition = "New nuggets that a simulated user reads, worth less by each visit they are late."

    def values(self, totals: UserTotals, decay: int) -> Floats:
        """Return the mean over users, (topics + 1,)."""
        return totals.mean_gain[:, decay]

    def user_values(self, gain: Floats, seconds: Floats, counted: Bools) -> Floats:  # noqa: ARG002
        """Return each user's score, (topics + 1, users).

        `MSUPerSecond.user_values` has the same parameters.
        """
        return with_mean(gain, counted)


@measure
class MSUStandardError(StreamMeasure):
    """Standard error of MSU over users: sd / sqrt(users), undefined for a single user.

    Examples
    --------
    >>> MSUStandardError().column
    'MSU-se@0.5'
    """

    name = "MSU-se"
    source = f"{SOURCE}, section 3"
    definition = "Standard error of MSU over the simulated users."

    def values(self, totals: UserTotals, decay: int) -> Floats:
        """Return sd over users / sqrt(users), (topics + 1,)."""
        if totals.users < 2:
            return np.full(len(totals.mean_gain), math.nan)
        variance = totals.squares[:, decay] / (totals.users - 1)
        return np.sqrt(variance / totals.users)


@measure
class MSUPerSecond(StreamMeasure):
    """Gain in a second of reading.

    MSU/s = total gain / total seconds spent on fully read updates, over users (and topics); 0 if nothing was read

    Attributes
    ----------
    ratio : {'of_totals', 'mean_of_ratios'}
        Divide the totals, or take the mean over users (and topics) of each user's own ratio.

    Examples
    --------
    >>> MSUPerSecond(lateness=0.9).column
    'MSU/s@0.9'
    """

    name = "MSU/s"
    source = f"{SOURCE}, section 4"
    definition = "Gain of all simulated users per second they spend on updates read to the end."

    ratio: Ratio = "of_totals"

    def values(self, totals: UserTotals, decay: int) -> Floats:
        """Return gain / seconds, (topics + 1,)."""
        if self.ratio == "mean_of_ratios":
            return totals.mean_rate[:, decay]
        return rate(totals.mean_gain[:, decay], totals.mean_seconds)

    def user_values(self, gain: Floats, seconds: Floats, counted: Bools) -> Floats:
        """Return each user's gain per second, (topics + 1, users).

        Parameters
        ----------
        gain, seconds : (topics, users) ndarray of float64
            What each user gained, and the time spent.
        counted : (topics,) ndarray of bool
            The topics of the last row.
        """
        if self.ratio == "mean_of_ratios":
            return with_mean(rate(gain, seconds), counted)
        return rate(with_mean(gain, counted), with_mean(seconds, counted))
