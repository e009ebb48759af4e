"""How many workers a task can take, and how many answers each thing in it gets when they have come. Pure counting."""

import math
from dataclasses import dataclass

from study_app.estimate.content import AnyContent
from study_app.estimate.workload import pairs_of_a_worker
from study_app.study.entries import (
    IntentVotes,
    IUnitImportance,
    RankedPairs,
    StreamPairs,
    StreamVisits,
    SummaryPairs,
)
from study_app.tasks.stream_visits import StreamContent
from study_app.tasks.summary_pairs import SummaryContent


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """What a task collects.

    Attributes
    ----------
    answers, thing : str
        What is collected, and about what: "judgments of", "pair".
    things : int
        How many of these there are.
    each : (int, int) or None
        How many answers each gets when the task is full: at least, at most. None without a limit.
    workers : int or None
        How many workers fill the task when each does all that they are asked to; None without a limit.
    a_worker : int
        About how many things one worker answers.
    """

    answers: str
    thing: str
    things: int
    each: tuple[int, int] | None
    workers: int | None
    a_worker: int


def capacity(content: AnyContent) -> Capacity | None:
    """Return what a task collects; None of questions, which everybody answers."""
    match content.entry:
        case IntentVotes() as votes:
            return _of_votes(content, votes)
        case IUnitImportance() as importance:
            return _of_ratings(content, importance)
        case SummaryPairs() | RankedPairs() as chosen:
            return _of_chosen_pairs(content, chosen)
        case StreamPairs() as taken:
            return _of_taken_pairs(content, taken)
        case StreamVisits() as visits:
            return _of_visits(content, visits)
    return None


def topic_count(content: AnyContent) -> int:
    """Return how many queries, profiles or events a task has."""
    if isinstance(content, SummaryContent):
        return len(content.queries)
    return len(content.events if isinstance(content, StreamContent) else content.topics)


def workers_to_fill(places: int, limit: int | None, wanted: int) -> int | None:
    """Return the fewest workers who fill ``places`` of ``limit`` slots each, none of them twice in one place.

    Each does ``wanted`` places, fewer when there are no more.
    """
    if limit is None:
        return None
    return math.ceil(limit * places / min(wanted, places))


def _of_votes(content: AnyContent, entry: IntentVotes) -> Capacity:
    queries = topic_count(content)
    limit = entry.votes_per_query
    return Capacity(
        answers="votes on",
        thing="query",
        things=queries,
        each=_exactly(limit),
        workers=workers_to_fill(queries, limit, entry.queries_per_worker),
        a_worker=min(entry.queries_per_worker, queries),
    )


def _of_ratings(content: AnyContent, entry: IUnitImportance) -> Capacity:
    queries = content.queries if isinstance(content, SummaryContent) else ()
    intents = sum(len(query.intents) for query in queries)
    rated = sum(len(query.intents) * len(query.iunits) for query in queries)
    limit, wanted = entry.assessors_per_iunit, min(entry.intents_per_worker, intents)
    return Capacity(
        answers="ratings of",
        thing="iUnit for an intent",
        things=rated,
        each=_exactly(limit),
        workers=workers_to_fill(intents, limit, wanted),
        a_worker=round(rated * wanted / intents),
    )


def _of_chosen_pairs(content: AnyContent, entry: SummaryPairs | RankedPairs) -> Capacity:
    queries, of_query = topic_count(content), math.comb(len(entry.systems), 2)
    pairs, _ = pairs_of_a_worker(entry)
    if isinstance(entry, SummaryPairs):
        slots = entry.workers_per_query
    else:
        wanted = entry.judgments_per_pair
        slots = None if wanted is None else math.ceil(wanted * of_query / pairs)
    each = None if slots is None else (slots * pairs // of_query, math.ceil(slots * pairs / of_query))
    return Capacity(
        answers="judgments of",
        thing="pair",
        things=queries * of_query,
        each=each,
        workers=workers_to_fill(queries, slots, entry.queries_per_worker),
        a_worker=min(entry.queries_per_worker, queries) * pairs,
    )


def _of_taken_pairs(content: AnyContent, entry: StreamPairs) -> Capacity:
    pairs = topic_count(content) * math.comb(len(entry.systems), 2)
    limit = entry.judgments_per_pair
    return Capacity(
        answers="judgments of",
        thing="pair",
        things=pairs,
        each=_exactly(limit),
        workers=workers_to_fill(pairs, limit, entry.pairs_per_worker),
        a_worker=min(entry.pairs_per_worker, pairs),
    )


def _of_visits(content: AnyContent, entry: StreamVisits) -> Capacity:
    events, limit = topic_count(content), entry.workers_per_stream
    of_event = None if limit is None else limit * len(entry.systems)
    return Capacity(
        answers="followers of",
        thing="stream",
        things=events * len(entry.systems),
        each=_exactly(limit),
        workers=workers_to_fill(events, of_event, entry.topics_per_worker),
        a_worker=min(entry.topics_per_worker, events),
    )


def _exactly(limit: int | None) -> tuple[int, int] | None:
    return None if limit is None else (limit, limit)
