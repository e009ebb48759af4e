"""What of judged events and runs of updates takes no part in the scores of `metrics.updates.score` and `metrics.msu.score`."""

from collections.abc import Mapping

import numpy as np

from metrics.events import EventCollection, UpdateRun
from metrics.taking_part import (
    MILLISECONDS,
    TOPIC,
    LeftOut,
    left_out_entries,
    left_out_names,
    topics_without,
    unjudged_entries,
)
from metrics.topics import TopicNames

UPDATE = ("update", "updates")
JUDGED = ("update about judged topics", "updates about judged topics")
COLUMNS = "a line of a run is: qid team run doc sentence time confidence"


def updates_left_out(
    collection: EventCollection, run: UpdateRun, *, lengths: Mapping[str, Mapping[str, float]] | None = None
) -> list[LeftOut]:
    """Count what of a run takes no part, or has a time outside its event.

    Parameters
    ----------
    collection : EventCollection
        Judgments.
    run : UpdateRun
        What was given out.
    lengths : mapping of topic to mapping of update to float, optional
        Words of updates, where they are given.

    Returns
    -------
    list of LeftOut
        Of the updates those about topics that are not judged, those that were not sampled for judging, those before their
        event began or after it ended, and those without a given length; then the judged topics without an update. What
        was not found is not in the list.
    """
    names = TopicNames(collection.topics)
    found = {written: names.find(written) for written in set(run.topics)}
    topics = [found[written] for written in run.topics]
    events = [None if topic is None else collection.topics[topic] for topic in topics]
    judged = np.array([event is not None for event in events], dtype=np.bool_)
    entries = list(zip(events, run.updates, run.seconds.tolist(), strict=True))
    unsampled = [event is not None and update not in event.updates for event, update, _ in entries]
    outside = [event is not None and not event.start <= seconds <= event.end for event, _, seconds in entries]
    unmeasured = [
        lengths is not None and topic is not None and update not in lengths.get(topic, {})
        for topic, update in zip(topics, run.updates, strict=True)
    ]
    late = "the topics file may be of another year; a time is in seconds since 1970-01-01 UTC"
    if run.seconds.size and np.median(run.seconds) > MILLISECONDS:
        late = "the times are in milliseconds: divide them by 1000"
    return [
        *unjudged_entries(
            run.topics,
            collection.topics,
            noun=UPDATE,
            says="are about topics that are not judged",
            cause=f"the judgments may be of another year, or the columns swapped ({COLUMNS})",
        ),
        *left_out_entries(
            np.array(unsampled, dtype=np.bool_),
            run.updates,
            among=judged,
            noun=JUDGED,
            says="are not among the sampled ones",
            cause="the updates file may be of another year, or the run gives out what nobody judged",
        ),
        *left_out_entries(
            np.array(outside, dtype=np.bool_),
            run.updates,
            among=judged,
            noun=JUDGED,
            says="are from before the event begins or after it ends",
            cause=late,
        ),
        *left_out_entries(
            np.array(unmeasured, dtype=np.bool_),
            run.updates,
            among=judged,
            noun=JUDGED,
            says="have no length in the file of lengths",
            cause="the lengths may be of another year",
        ),
        *topics_without(
            collection.topics,
            found.values(),
            "update",
            "the run may be empty or not whole, or the judgments of another year",
        ),
    ]


def events_left_out(collection: EventCollection) -> list[LeftOut]:
    """Count what of the judgments takes no part.

    Returns
    -------
    list of LeftOut
        The topics that one of the files lacks; the matches that were skipped, where they are most of all (their numbers are
        in `EventCollection.skipped` anyhow); the judged topics without a match.
    """
    whole, skipped = len(collection.topics) + len(collection.incomplete), sum(collection.skipped)
    used = sum(len(of) for event in collection.topics.values() for of in event.matches.values())
    unmatched = [topic for topic, event in collection.topics.items() if not event.matches]
    cause = "the files may be of different years"
    matches = LeftOut(
        count=skipped,
        of=used + skipped,
        noun=("match", "matches"),
        says="are of a nugget or update that its own file does not have",
        cause=cause,
        then="are skipped",
    )
    return [
        *left_out_names(
            collection.incomplete,
            whole,
            noun=("topic", "topics"),
            says="are not in all of topics file, nuggets and updates",
            cause=cause,
            then="are left out",
        ),
        *([matches] if matches.is_most else []),
        *left_out_names(unmatched, len(collection.topics), noun=TOPIC, says="have no match", cause=cause),
    ]
