"""How long a worker is busy with each task: from the texts that are shown, and assumptions that are stated here.

Every length is a range. Its low end is a quick worker on the shortest texts, its high end a slow one who reads everything on the longest.
Whoever has tried the study out knows better; until then these numbers are what rewards can be set by.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

from metrics.summaries.trailtext import counted_chars
from metrics.summaries.two_layered import Query
from study_app.estimate.content import AnyContent
from study_app.study.entries import (
    IntentVotes,
    IUnitImportance,
    Question,
    Questions,
    RankedPairs,
    StreamPairs,
    StreamVisits,
    SummaryPairs,
    TaskEntry,
)
from study_app.tasks.content import TaskContent
from study_app.tasks.stream_visits import StreamContent
from study_app.tasks.summary_pairs import SummaryContent

WORDS_PER_SECOND = 4.0
"""Silent reading of English: near the 238 words a minute of Brysbaert's meta-analysis (Journal of Memory and Language, 2019)."""
CHARS_PER_SECOND = 6.0
"""Silent reading of Japanese; assumed."""
DAY_SECONDS = 86_400


@dataclass(frozen=True, slots=True)
class Span:
    """A length of time in seconds, from ``low`` to ``high``."""

    low: float
    high: float

    def __add__(self, other: "Span") -> "Span":
        """Return the length of one after the other."""
        return Span(self.low + other.low, self.high + other.high)

    def times(self, low: float, high: float | None = None) -> "Span":
        """Return the length of so many, from ``low`` to ``high`` of them."""
        return Span(self.low * low, self.high * (low if high is None else high))


NOTHING = Span(0, 0)
AGREEING = Span(5, 20)
READ_ONCE = Span(0.3, 1)
"""Share of a text, second layers included, that is read when it is there for the first time."""
READ_AGAIN = Span(0.05, 0.25)
"""The same of a text that was on an earlier page of the worker."""
STANDARD_INTRODUCTION = Span(30, 90)
"""prefcal's own words before a task, with its example and check."""
EXAMPLE = Span(10, 30)
CHECK_QUESTION = Span(5, 15)
CHOOSING = Span(5, 30)
AFTER_SEARCH = Span(0, 60)
"""How much longer than asked for a worker goes on searching."""
TICKING = Span(1, 3)
RATING = Span(2, 6)
DECIDING = Span(3, 10)
"""Which of two sides is better, beside reading them."""
ENROLLING = Span(10, 30)
VISITS_A_DAY = Span(1, 3)
"""Visits of a stream, a day of its event."""
OPENING = Span(3, 10)
"""Finding a stream again and leaving it, beside reading."""
STILL_OF_USE = Span(3, 8)
ANSWERING = {"text": Span(15, 60), "single": Span(3, 8), "multiple": Span(5, 15), "number": Span(3, 10)}
FINISHING = Span(2, 10)

PAIRS = {"summary_pairs", "stream_pairs", "ranked_pairs"}
ASSUMPTIONS: tuple[tuple[str, AbstractSet[str] | None], ...] = (
    (f"reading {WORDS_PER_SECOND:g} words/s, in Japanese {CHARS_PER_SECOND:g} characters/s", None),
    (f"{READ_ONCE.low:.0%} to {READ_ONCE.high:.0%} of a text is read", None),
    (f"{READ_AGAIN.low:.0%} to {READ_AGAIN.high:.0%} when it comes again", PAIRS),
    (f"{DECIDING.low:g} to {DECIDING.high:g} s to decide on a pair", PAIRS),
    (f"{RATING.low:g} to {RATING.high:g} s a rating", {"iunit_importance"}),
    (f"{TICKING.low:g} to {TICKING.high:g} s a tick", {"intent_votes"}),
    (f"up to {AFTER_SEARCH.high:g} s of search more than is asked for", {"summary_pairs"}),
    (
        f"{VISITS_A_DAY.low:g} to {VISITS_A_DAY.high:g} visits of a stream a day of its event",
        {"stream_visits"},
    ),
)
"""What the lengths rest on, in words, and for which kinds of task (None: for all)."""


def assumptions(kinds: Iterable[str]) -> tuple[str, ...]:
    """Return what the lengths of tasks of these kinds rest on."""
    present = set(kinds)
    return tuple(words for words, where in ASSUMPTIONS if where is None or where & present)


def reading_seconds(text: str, language: str) -> float:
    """Return how long a text takes to read once, all of it."""
    if language == "ja":
        return counted_chars(text) / CHARS_PER_SECOND
    return len(text.split()) / WORDS_PER_SECOND


def consent_seconds(text: str, language: str) -> Span:
    """Return how long the consent page takes."""
    return _read(reading_seconds(text, language)) + AGREEING


def task_seconds(content: AnyContent) -> Span:
    """Return for how long one worker is busy with a task, its introduction included."""
    return _introduction(content.entry) + _pages_seconds(content)


def _pages_seconds(content: AnyContent) -> Span:
    match content:
        case StreamContent():
            return _visits(content)
        case SummaryContent():
            return _summary_seconds(content)
        case TaskContent(entry=RankedPairs() as ranked):
            return _chosen_pairs([topic.id for topic in content.topics], content.shown, ranked)
        case TaskContent(entry=StreamPairs() as pushed):
            return _taken_pairs(content, pushed)
        case TaskContent(entry=Questions() as asked):
            return _total(_question(one, asked.language) for one in asked.questions)
    raise TypeError(f"no task of kind {content.entry.kind} has such a content")


def _summary_seconds(content: SummaryContent) -> Span:
    match content.entry:
        case IntentVotes() as votes:
            return _of_queries([_ballot(query, votes) for query in content.queries], votes)
        case IUnitImportance() as importance:
            return _ratings(content, importance)
        case SummaryPairs() as pairs:
            return _chosen_pairs([query.id for query in content.queries], content.summaries, pairs)


def pairs_of_a_worker(entry: SummaryPairs | RankedPairs) -> tuple[int, int]:
    """Return how many pairs of a query a worker judges, and how many of these once more."""
    possible = math.comb(len(entry.systems), 2)
    pairs = possible if entry.pairs == "all" else min(entry.pairs, possible)
    return pairs, min(entry.validation_pairs, pairs if pairs > 1 else 0)


def _introduction(entry: TaskEntry) -> Span:
    if entry.instructions is None:
        return NOTHING
    if entry.instructions == "standard":
        words = STANDARD_INTRODUCTION
    else:
        words = _read(reading_seconds(entry.instructions, entry.language)) + (
            EXAMPLE if entry.example else NOTHING
        )
    return words + CHECK_QUESTION.times(len(entry.check or ()))


def _read(seconds: float) -> Span:
    return READ_ONCE.times(seconds)


def _total(spans: Iterable[Span]) -> Span:
    return sum(spans, NOTHING)


def _of_queries(each: Sequence[Span], entry: IntentVotes | SummaryPairs | RankedPairs) -> Span:
    """Return the length of as many topics as a worker does: the shortest of them to the longest."""
    wanted = min(entry.queries_per_worker, len(each))
    choosing = CHOOSING.times(sum(len(each) - done > 1 for done in range(wanted)))
    low = sum(sorted(one.low for one in each)[:wanted])
    high = sum(sorted((one.high for one in each), reverse=True)[:wanted])
    return choosing + Span(low, high)


def _ballot(query: Query, entry: IntentVotes) -> Span:
    text = " ".join([query.text, *query.intents.values()])
    return _read(reading_seconds(text, entry.language)) + TICKING.times(len(query.intents))


def _ratings(content: SummaryContent, entry: IUnitImportance) -> Span:
    """Return the length of the intents that a worker gets: of queries with few short iUnits to long ones."""
    each = [
        RATING.times(len(query.iunits))
        + _read(reading_seconds(" ".join(query.iunits.values()), entry.language))
        for query in content.queries
        for _ in query.intents
    ]
    wanted = min(entry.intents_per_worker, len(each))
    low, high = min(one.low for one in each), max(one.high for one in each)
    return Span(low * wanted, high * wanted)


def _chosen_pairs(
    topics: Sequence[str],
    shown: Mapping[tuple[str, str], Mapping[str, Any]],
    entry: SummaryPairs | RankedPairs,
) -> Span:
    pairs, repeats = pairs_of_a_worker(entry)
    search = NOTHING
    if isinstance(entry, SummaryPairs) and entry.search_seconds:
        asked = max(entry.search_seconds, entry.min_search_seconds)
        search = Span(asked, asked) + AFTER_SEARCH
    each = []
    for topic in topics:
        texts = [_side_seconds(shown[topic, system], entry.language) for system in entry.systems]
        each.append(search + _pair_pages(texts, pairs=pairs, pages=pairs + repeats))
    return _of_queries(each, entry)


def _taken_pairs(content: TaskContent, entry: StreamPairs) -> Span:
    """Return the length of the pairs that a worker gets: topic after topic, all its pairs."""
    possible = math.comb(len(entry.systems), 2)
    wanted = min(entry.pairs_per_worker, possible * len(content.topics))
    repeats = min(entry.validation_pairs, wanted if wanted > 1 else 0)
    each = []
    for topic in content.topics:
        texts = [_side_seconds(content.shown[topic.id, system], entry.language) for system in entry.systems]
        profile = _read(reading_seconds(_profile(topic.text, topic.detail), entry.language))
        size = min(possible, wanted)
        pages = _pair_pages(texts, pairs=size, pages=size)
        each.append(Span((profile.low + pages.low) / size, (profile.high + pages.high) / size))
    low, high = min(one.low for one in each), max(one.high for one in each)
    longest = max(_side_seconds(side, entry.language) for side in content.shown.values())
    repeat = READ_AGAIN.times(0, 2 * longest) + DECIDING
    return Span(low * wanted, high * wanted) + repeat.times(repeats)


def _profile(text: str, detail: Mapping[str, Any] | None) -> str:
    return " ".join([text, str((detail or {}).get("description", ""))])


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
    return _read(mean * new) + READ_AGAIN.times(mean * (2 * pages - new)) + DECIDING.times(pages)


def _side_seconds(content: Mapping[str, Any], language: str) -> float:
    """Return how long one side takes to read, all its layers; `models.Summary` describes the forms."""
    [items] = [part for name, part in content.items() if name in {"first", "pushes", "list"}]
    return sum(_item_seconds(item, language) for item in items)


def _item_seconds(item: Mapping[str, Any], language: str) -> float:
    own = item["chars"] / CHARS_PER_SECOND if language == "ja" else item["words"] / WORDS_PER_SECOND
    return float(own + sum(_item_seconds(below, language) for below in item.get("second", ())))


def _visits(content: StreamContent) -> Span:
    entry = content.entry
    wanted = min(entry.topics_per_worker, len(content.events))
    days = stream_days(content)
    each = [_stream_seconds(stream, entry) for stream in content.streams.values()]
    reading = Span(READ_ONCE.low * min(each), READ_ONCE.high * max(each))
    a_visit = OPENING + STILL_OF_USE.times(0, entry.ask_per_visit)
    visits = Span(max(1.0, VISITS_A_DAY.low * days), max(1.0, VISITS_A_DAY.high * days))
    return (ENROLLING + reading + a_visit.times(visits.low, visits.high)).times(wanted)


def stream_days(content: StreamContent) -> float:
    """Return for how many days of its event a stream is followed, at most."""
    return min(content.entry.days, max(event.seconds for event in content.events) / DAY_SECONDS)


def _stream_seconds(stream: Mapping[str, Any], entry: StreamVisits) -> float:
    """Return how long all updates take to read that come while the stream is followed."""
    until = stream["start"] + entry.days * DAY_SECONDS
    return sum(_item_seconds(update, entry.language) for update in stream["updates"] if update["at"] <= until)


def _question(question: Question, language: str) -> Span:
    text = " ".join([question.text, *question.options])
    return _read(reading_seconds(text, language)) + ANSWERING[question.type]
