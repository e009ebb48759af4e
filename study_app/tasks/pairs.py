"""What the kinds of task have in common in which pairs of systems are judged: lengths, capacity, and how they are told.

Workers choose a topic and judge its pairs (`ChosenPairs`), or get one pair after another (`TakenPairs`).
"""

import math
from collections.abc import Sequence

from study_app.study.entries import ChosenPairs, JudgedTask, TakenPairs
from study_app.tasks.content import TaskContent
from study_app.tasks.workload import (
    DECIDING,
    NOTHING,
    READ_AGAIN,
    Capacity,
    Span,
    counted,
    exactly,
    of_chosen_topics,
    read_once,
    reading_seconds,
    shown_seconds,
    workers_to_fill,
)

OPTIONS = "left better, right better, equally good, equally bad"
REPEATED_COMMENTS = {
    "validation_swapped": "repeats have their sides swapped: tells a preference from a habit",
    "min_consistency": (
        "a worker with a smaller share of consistent repeats is left out of analyses (Kato et al. 2016, 4.2)"
    ),
}
JUDGED_COMMENTS = {
    "criteria": "stand under the four options",
    "compare": "measures that the report is to compare, as `prefcal agree` or `prefcal measures` writes them",
    "primary": "two of them: the comparison that this study is made for",
}
"""Comments of a new study file.

Kato et al. 2016: Two-layered Summaries for Mobile Search: Does the Evaluation Measure Reflect User Preferences?, EVIA 2016.
"""


def chosen_seconds(content: TaskContent, entry: ChosenPairs, *, before: Span = NOTHING) -> Span:
    """Return for how long a worker is busy with the topics they choose; ``before``: with each before its pairs."""
    pairs, repeats = entry.pairs_and_repeats
    each = [
        before + _pair_pages(_sides(content, entry, topic.id), pairs=pairs, pages=pairs + repeats)
        for topic in content.topics
    ]
    return of_chosen_topics(each, entry.queries_per_worker)


def taken_seconds(content: TaskContent, entry: TakenPairs) -> Span:
    """Return for how long a worker is busy with the pairs they get: topic after topic, all its pairs."""
    possible, wanted = entry.pairs_of_a_topic, entry.pairs_of_a_worker(len(content.topics))
    repeats = min(entry.validation_pairs, wanted if wanted > 1 else 0)
    size = min(possible, wanted)
    each = []
    for topic in content.topics:
        profile = " ".join([topic.text, str((topic.detail or {}).get("description", ""))])
        whole = read_once(reading_seconds(profile, entry.language)) + _pair_pages(
            _sides(content, entry, topic.id), pairs=size, pages=size
        )
        each.append(Span(whole.low / size, whole.high / size))
    low, high = min(one.low for one in each), max(one.high for one in each)
    longest = max(shown_seconds(side, entry.language) for side in content.shown.values())
    repeat = READ_AGAIN.times(0, 2 * longest) + DECIDING
    return Span(low * wanted, high * wanted) + repeat.times(repeats)


def _sides(content: TaskContent, entry: JudgedTask, topic: str) -> list[float]:
    """Return the seconds that each system's side of a topic takes to read."""
    return [shown_seconds(content.shown[topic, system], entry.language) for system in entry.systems]


def _pair_pages(texts: Sequence[float], *, pairs: int, pages: int) -> Span:
    """Return the length of the pair pages of one topic.

    Parameters
    ----------
    texts : sequence of float
        Seconds to read what each system shows.
    pairs : int
        How many different pairs are shown; so many systems at least are seen for the first time.
    pages : int
        Pairs and repeats.
    """
    mean = sum(texts) / len(texts)
    new = min(len(texts), 2 * pairs)
    return read_once(mean * new) + READ_AGAIN.times(mean * (2 * pages - new)) + DECIDING.times(pages)


def slots_for_judgments(entry: ChosenPairs, judgments: int) -> int:
    """Return how many workers must take a topic so that each of its pairs has so many judgments on average."""
    return math.ceil(judgments * entry.pairs_of_a_topic / entry.pairs_and_repeats[0])


def chosen_capacity(content: TaskContent, entry: ChosenPairs, slots: int | None) -> Capacity:
    """Return what is collected where so many workers may take a topic (None for no limit)."""
    topics, of_topic = len(content.topics), entry.pairs_of_a_topic
    pairs, _ = entry.pairs_and_repeats
    return Capacity(
        answers="judgments of",
        thing="pair",
        things=topics * of_topic,
        each=None if slots is None else (slots * pairs // of_topic, math.ceil(slots * pairs / of_topic)),
        workers=workers_to_fill(topics, slots, entry.queries_per_worker),
        a_worker=entry.pairs_of_a_worker(topics),
    )


def taken_capacity(content: TaskContent, entry: TakenPairs) -> Capacity:
    """Return what is collected where workers get one pair after another."""
    pairs = len(content.topics) * entry.pairs_of_a_topic
    return Capacity(
        answers="judgments of",
        thing="pair",
        things=pairs,
        each=exactly(entry.judgments_per_pair),
        workers=workers_to_fill(pairs, entry.judgments_per_pair, entry.pairs_per_worker),
        a_worker=entry.pairs_of_a_worker(len(content.topics)),
    )


def judging(entry: ChosenPairs) -> str:
    """Say how many pairs of a topic a worker judges."""
    pairs, repeats = entry.pairs_and_repeats
    again = f", {repeats} of them twice" if repeats else ""
    return f"judges {counted(pairs, 'pair')} of {len(entry.systems)} systems{again}"
