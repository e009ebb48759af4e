"""What simulated users read of one stream: the run's updates on one topic, prepared, and read by every user at once.

Source: Baruah, Smucker, Clarke: Evaluating Streams of Evolving News Events (SIGIR 2015), sections 3 and 4.
"""

import math
from collections.abc import Mapping
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from metrics.events import Event, UpdateRun
from metrics.msu.trails import FloatArray, IntArray, Stream, Trails

Window: TypeAlias = Literal["since_last_read", "since_last_session"]
UnlistedWords: TypeAlias = float | Literal["topic_mean"]


class ReadingSetting(NamedTuple):
    """How users meet a stream.

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
            [one.seconds - event.start for one in event.nuggets.values()], dtype=np.float64
        )
        self._readings: dict[str, tuple[float, list[int]]] = {}

    def stream(self, run: UpdateRun, entries: IntArray) -> Stream:
        """Prepare a run's entries for this topic, from the one that is shown last to the one that is shown first.

        Shown is the newest first; of equal times the higher confidence, then the entry that stands later in the run.
        """
        order = entries[np.lexsort((entries, run.confidence[entries], run.seconds[entries]))]
        read = [self._reading(run.updates[entry]) for entry in order.tolist()]
        return Stream(
            end=self._event.end - self._event.start,
            emitted=run.seconds[order] - self._event.start,
            words=np.array([words for words, _ in read], dtype=np.float64),
            first_nugget=np.cumsum([0, *(len(told) for _, told in read)], dtype=np.int64),
            nugget=np.array([one for _, told in read for one in told], dtype=np.int64),
            known=self._known,
        )

    def _reading(self, update: str) -> tuple[float, list[int]]:
        """Return an update's words, and the places of its nuggets."""
        if update not in self._readings:
            told = [self._place[name] for name in self._event.nuggets_of(update)]
            self._readings[update] = (self._words(update), told)
        return self._readings[update]

    def _words(self, update: str) -> float:
        if update in self._lengths:
            return self._lengths[update]
        sampled = self._event.updates.get(update)
        return self._unlisted if sampled is None else float(text_words(sampled.text))


def text_words(text: str) -> int:
    """Count the words of a text: its pieces between ASCII white space, which no-break spaces are not."""
    return len(text.encode().split())


def read(
    one: Stream, users: Trails, worth: FloatArray, *, window: Window, ends_with_topic: bool
) -> tuple[FloatArray, FloatArray]:
    """Let every user read a stream.

    Parameters
    ----------
    one : Stream
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

    within = one if ends_with_topic else one._replace(end=math.inf)
    gain, seconds = read_stream(users, within, worth, window == "since_last_session")
    return gain.T, seconds


def _unlisted_words(event: Event, lengths: Mapping[str, float], setting: ReadingSetting) -> float:
    """Return the length of an update of this topic whose length is not known."""
    if setting.unlisted_words != "topic_mean":
        return float(setting.unlisted_words)
    texts = {name: float(text_words(update.text)) for name, update in event.updates.items()}
    known = list((texts | dict(lengths)).values())
    return sum(known) / len(known)
