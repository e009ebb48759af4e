"""What simulated users read of one stream: the run's updates on one topic, prepared, and read by every user at once.

Source: Baruah, Smucker, Clarke: Evaluating Streams of Evolving News Events (SIGIR 2015), sections 3 and 4.
"""

import math
from collections.abc import Mapping
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from metrics.events import Event, UpdateRun
from metrics.stream_arrays import FloatArray, IntArray, Stream, Trails

Window: TypeAlias = Literal["since_last_read", "since_last_session"]
UnlistedWords: TypeAlias = float | Literal["topic_mean"]


class Setting(NamedTuple):
    """How users meet a stream.

    window says which updates a visit shows: all that are newer than the newest one read, or of these only the ones
    that came after the last session's end. unlisted_words is the length of an update whose text is not known: a
    number of words, or the mean of the topic's known lengths.
    """

    window: Window
    unlisted_words: UnlistedWords


def stream(
    event: Event, run: UpdateRun, entries: IntArray, lengths: Mapping[str, float], setting: Setting
) -> Stream:
    """Prepare a run's entries for one topic.

    Newest first; equal times by higher confidence, then the entry that stands later in the run first. A length is
    taken from ``lengths``, else counted in the update's text (`text_words`), else the setting's.
    """
    order = np.lexsort((entries, run.confidence[entries], run.seconds[entries]))
    updates = [run.updates[entry] for entry in entries[order].tolist()]
    unlisted = _unlisted_words(event, lengths, setting)
    place = {name: number for number, name in enumerate(event.nuggets)}
    told = [[place[name] for name in event.nuggets_of(update)] for update in updates]
    return Stream(
        end=event.end - event.start,
        emitted=run.seconds[entries[order]] - event.start,
        words=np.array([_words(event, update, lengths, unlisted) for update in updates], dtype=np.float64),
        first_nugget=np.cumsum([0, *map(len, told)], dtype=np.int64),
        nugget=np.array([one for of_update in told for one in of_update], dtype=np.int64),
        known=np.array([nugget.seconds - event.start for nugget in event.nuggets.values()], dtype=np.float64),
    )


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
    worth : (decays, late) ndarray of float64
        What a nugget that comes ``late`` visits late is worth; ``late`` reaches at least to the most visits of a user.
    window : {'since_last_read', 'since_last_session'}
        See `Setting`.
    ends_with_topic : bool
        See `metrics.stream_trails.Users`.

    Returns
    -------
    gain : (decays, users) ndarray of float64
        The worth of all nuggets read.
    seconds : (users,) ndarray of float64
        Time spent on fully read updates.
    """
    from metrics._kernels import read_stream  # noqa: PLC0415 - half a second that other measures do not pay

    within = one if ends_with_topic else one._replace(end=math.inf)
    return read_stream(users, within, worth, window == "since_last_session")


def _unlisted_words(event: Event, lengths: Mapping[str, float], setting: Setting) -> float:
    """Return the length of an update of this topic whose length is not known."""
    if setting.unlisted_words != "topic_mean":
        return float(setting.unlisted_words)
    texts = {name: float(text_words(update.text)) for name, update in event.updates.items()}
    known = list((texts | dict(lengths)).values())
    return sum(known) / len(known)


def _words(event: Event, update: str, lengths: Mapping[str, float], unlisted: float) -> float:
    """Return the length of one update."""
    if update in lengths:
        return lengths[update]
    sampled = event.updates.get(update)
    return unlisted if sampled is None else float(text_words(sampled.text))
