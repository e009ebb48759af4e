"""Time that a task takes a worker, and the number of workers it can take.

Every length is a range. Its low end is a quick worker on the shortest texts, its high end a slow one who reads everything on the longest.
People who have tried the study out know better; until then these numbers are what rewards can be set by. Of pairs, workers choose a topic
and judge its pairs (`ChosenTopicTask`), or get one pair after another (`AssignedPairTask`).
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from metrics.errors import percent, pluralise
from study_app.protocol.sides import CHARS_PER_SECOND, LOOK_SECONDS, WORDS_PER_SECOND, text_block
from study_app.protocol.streams import UpdateStream
from study_app.study.entries import (
    ALL,
    AssignedPairTask,
    ChosenTopicTask,
    FollowedTask,
    JudgingTask,
    expect_entry_type,
)
from study_app.tasks.content import TaskContent

DAY_SECONDS = 86_400
OPTIONS = "left better, right better, equally good, equally bad"
GRADED_OPTIONS = "{} steps from left much better to right much better, about the same in the middle"
STEPS = {"graded5": "five", "graded7": "seven"}
REPEATED_COMMENTS = {
    "validation_swapped": "repeats have their sides swapped: tells a preference from a habit",
    "min_consistency": (
        "a worker with a smaller share of consistent repeats is left out of analyses (Kato et al. 2016, 4.2)"
    ),
    "gold_pairs": "pairs with a known answer: a file with `topic a b answer` on each line; null for none",
    "gold_per_worker": "of these, how many a worker sees",
    "min_gold": "a worker with a smaller share of right answers to them is left out of analyses",
}
JUDGED_COMMENTS = {
    "choices": "four; or graded5, graded7: by how much a side is better",
    "criteria": "stand above the two sides; one with name: and text: is asked",
    "reason": "null; or optional, required: why, in a few words",
    "compare": "measures that the report is to compare, as `prefcal agree` or `prefcal measures` writes them",
    "primary": "two of them: the comparison that this study is made for",
}
"""Comments of a new study file on keys that several kinds have.

The source is Kato et al. 2016: Two-layered Summaries for Mobile Search: Does the Evaluation Measure Reflect
User Preferences?, EVIA 2016.
"""
ASSIGNED_CURES = {
    "pairs": "write all, a file with `topic a b` on each line, or {adaptive: best, budget: N}",
    "systems": "write NAME: FILE, one line per system, two at least",
    "collection": "write topics: FILE below it",
}
"""Hints for missing keys of a task that gives workers one pair after another."""


def assigned_comments(topic: str) -> dict[str, str]:
    """Return the comments of a new study file for a task of assigned pairs."""
    return {
        "pairs": f"all pairs of a {topic}, or a file with `topic a b` on each line: exactly these",
        "judgments_per_pair": "workers who judge each pair; null is no limit",
        "pairs_per_worker": f"pairs that a worker judges, of one {topic} as far as there is room",
        "validation_pairs": "pairs that a worker sees once more",
        **REPEATED_COMMENTS,
        **JUDGED_COMMENTS,
    }


@dataclass(frozen=True, slots=True)
class SecondsRange:
    """A length of time in seconds, from ``low`` to ``high``."""

    low: float
    high: float

    def __add__(self, other: "SecondsRange") -> "SecondsRange":
        """Return the length of one after the other."""
        return SecondsRange(self.low + other.low, self.high + other.high)

    def times(self, low: float, high: float | None = None) -> "SecondsRange":
        """Return the length of so many, from ``low`` to ``high`` of them."""
        return SecondsRange(self.low * low, self.high * (low if high is None else high))


NOTHING = SecondsRange(0, 0)

AGREEING = SecondsRange(5, 20)

READ_ONCE = SecondsRange(0.3, 1)
"""Share of a text that is read at its first appearance.

Second layers are included.
"""


READ_AGAIN = SecondsRange(0.05, 0.25)
"""Share of a text that is read when it was on an earlier page."""


STANDARD_INTRODUCTION = SecondsRange(30, 90)
"""prefcal's own words before a task, with its example and check."""


EXAMPLE = SecondsRange(10, 30)

CHECK_QUESTION = SecondsRange(5, 15)

CHOOSING = SecondsRange(5, 30)

AFTER_SEARCH = SecondsRange(0, 60)
"""Seconds of search beyond the time asked for."""


TICKING = SecondsRange(1, 3)

RATING = SecondsRange(2, 6)

DECIDING = SecondsRange(3, 10)
"""Seconds to choose between two sides, beside reading them."""


CRITERION = SecondsRange(2, 6)
"""Seconds to answer about an asked criterion, after the overall question."""


REASON = {"optional": SecondsRange(0, 20), "required": SecondsRange(10, 40)}
"""Seconds to write a reason."""


ENROLLING = SecondsRange(10, 30)

VISITS_A_DAY = SecondsRange(1, 3)
"""Visits of a stream, a day of its event."""


OPENING = SecondsRange(3, 10)
"""Finding a stream again and leaving it, beside reading."""


STILL_OF_USE = SecondsRange(3, 8)

ANSWERING = {
    "text": SecondsRange(15, 60),
    "single": SecondsRange(3, 8),
    "multiple": SecondsRange(5, 15),
    "number": SecondsRange(3, 10),
}

FINISHING = SecondsRange(2, 10)

READING_ASSUMED = (
    f"reading {WORDS_PER_SECOND:g} words/s, in Japanese {CHARS_PER_SECOND:g} characters/s",
    f"{percent(READ_ONCE.low)} to {percent(READ_ONCE.high)} of a text is read",
)

PAIRS_ASSUMED = (
    f"{percent(READ_AGAIN.low)} to {percent(READ_AGAIN.high)} when it comes again",
    f"{DECIDING.low:g} to {DECIDING.high:g} s to decide on a pair",
)
CRITERIA_ASSUMED = (f"{CRITERION.low:g} to {CRITERION.high:g} s for each criterion",)
LOOKING_ASSUMED = (f"{LOOK_SECONDS:g} s to look at a picture",)
"""Assumptions in words about all times, about pairs, about criteria that are asked, and about pictures."""


def reading_seconds(text: str, language: str) -> float:
    """Return the seconds to read a whole text once."""
    return text_block(text, key="", id="", kind="").seconds(language)


def read_once(seconds: float) -> SecondsRange:
    """Return the seconds that a worker reads a new text.

    ``seconds`` are those of the whole text.
    """
    return READ_ONCE.times(seconds)


def of_chosen_topics(each: Sequence[SecondsRange], pair_count: int) -> SecondsRange:
    """Return the time for the topics that a worker chooses.

    It ranges from the shortest topics to the longest.
    """
    pair_count = min(pair_count, len(each))
    choosing = CHOOSING.times(sum(len(each) - done > 1 for done in range(pair_count)))
    low = sum(sorted(length.low for length in each)[:pair_count])
    high = sum(sorted((length.high for length in each), reverse=True)[:pair_count])
    return choosing + SecondsRange(low, high)


def followed_days(entry: FollowedTask, streams: Iterable[UpdateStream]) -> float:
    """Return for how many days of its event a stream is followed, at most."""
    longest: float = max(stream.end - stream.start for stream in streams)
    return min(entry.days, longest / DAY_SECONDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """Answers that a task collects, and the workers that fill it.

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
    budget : int or None
        Most answers of all things together; None where each thing has a limit of its own, or none.
    """

    answers: str
    thing: str
    things: int
    each: tuple[int, int] | None
    workers: int | None
    a_worker: int
    budget: int | None = None


def workers_to_fill(places: int, limit: int | None, pair_count: int) -> int | None:
    """Return the fewest workers who fill ``places`` of ``limit`` slots each.

    No worker is twice in one place. Each does ``pair_count`` places, or fewer when there are no more.
    """
    if limit is None:
        return None
    return math.ceil(limit * places / min(pair_count, places))


def exact_answers_each(limit: int | None) -> tuple[int, int] | None:
    """Return the range of answers of each thing where all get the same number."""
    return None if limit is None else (limit, limit)


def count_phrase(number: int, thing: str) -> str:
    """Return ``1 pair``, ``3 queries``, ``8 iUnits for an intent``."""
    if number == 1:
        return f"1 {thing}"
    first, _, rest = thing.partition(" ")
    plural = f"{first[:-1]}ies" if first.endswith("y") else f"{first}s"
    return f"{number} {plural} {rest}".rstrip()


def range_phrase(numbers: Sequence[int]) -> str:
    """Return ``3 to 8``, or the one number that all are."""
    low, high = min(numbers, default=0), max(numbers, default=0)
    return f"{low}" if low == high else f"{low} to {high}"


def choosing(topics: int, pair_count: int) -> str:
    """Return the words for a worker's choice of queries."""
    return "takes the only query" if topics == 1 else f"chooses {min(pair_count, topics)} of {topics} queries"


def chosen_seconds(
    content: TaskContent, entry: ChosenTopicTask, *, before: SecondsRange = NOTHING
) -> SecondsRange:
    """Return the time of a worker with chosen topics.

    ``before`` is the time before the pairs of each.
    """
    each = []
    for topic, couples in content.system_pairs.items():
        pairs, repeats = entry.pairs_and_repeats(len(couples))
        sides = _sides(content, entry, topic)
        pages = _pair_pages(sides, pairs=pairs, pages=pairs + repeats, deciding=_deciding(entry))
        each.append(before + pages)
    return of_chosen_topics(each, entry.queries_per_worker) + _gold_seconds(content, entry)


def taken_seconds(content: TaskContent, entry: AssignedPairTask) -> SecondsRange:
    """Return the time of a worker with assigned pairs: all pairs of topic after topic."""
    pair_count = entry.pairs_of_a_worker(content.pairs_of_topics)
    repeats = entry.repeats_of_a_worker(content.pairs_of_topics)
    each = []
    for topic, possible in zip(content.topics, content.pairs_of_topics, strict=True):
        if not possible:
            continue
        size = min(possible, pair_count)
        profile = " ".join([topic.text, str((topic.detail or {}).get("description", ""))])
        whole = read_once(reading_seconds(profile, entry.language)) + _pair_pages(
            _sides(content, entry, topic.id), pairs=size, pages=size, deciding=_deciding(entry)
        )
        each.append(SecondsRange(whole.low / size, whole.high / size))
    low, high = min(length.low for length in each), max(length.high for length in each)
    longest = max(side.seconds(entry.language) for side in content.sides.values())
    repeat = READ_AGAIN.times(0, 2 * longest) + _deciding(entry)
    judged = SecondsRange(low * pair_count, high * pair_count) + repeat.times(repeats)
    return judged + _gold_seconds(content, entry)


def _deciding(entry: JudgingTask) -> SecondsRange:
    """Return the time to answer what a pair page asks, beside reading."""
    reason = NOTHING if entry.reason is None else REASON[entry.reason]
    return DECIDING + CRITERION.times(len(entry.asked_criteria)) + reason


def _gold_seconds(content: TaskContent, entry: JudgingTask) -> SecondsRange:
    """Return the time of a worker's gold pairs, of the shortest sides or the longest."""
    number = gold_of_a_worker(content)
    lengths = [
        sum(content.sides[topic, system].seconds(entry.language) for system in gold.systems)
        for topic, golds in content.gold.items()
        for gold in golds
    ]
    if not number:
        return NOTHING
    one = READ_ONCE.times(min(lengths), max(lengths)) + _deciding(entry)
    return one.times(number)


def gold_of_a_worker(content: TaskContent) -> int:
    """Return the most gold pairs that a worker sees of a task."""
    entry = content.entry
    if not isinstance(entry, JudgingTask):
        return 0
    numbers = sorted(map(len, content.gold.values()), reverse=True)
    topics = entry.queries_per_worker if isinstance(entry, ChosenTopicTask) else len(numbers)
    return min(entry.gold_per_worker, sum(numbers[:topics]))


def _sides(content: TaskContent, entry: JudgingTask, topic: str) -> list[float]:
    """Return the reading time of each system's side of a topic.

    The systems are those in some pair of it.
    """
    systems = dict.fromkeys(system for couple in content.system_pairs[topic] for system in couple)
    return [content.sides[topic, system].seconds(entry.language) for system in systems]


def _pair_pages(texts: Sequence[float], *, pairs: int, pages: int, deciding: SecondsRange) -> SecondsRange:
    """Return the length of the pair pages of one topic.

    Parameters
    ----------
    texts : sequence of float
        Seconds to read what each system shows.
    pairs : int
        How many different pairs are shown; so many systems at least are seen for the first time.
    pages : int
        Pairs and repeats.
    deciding : SecondsRange
        Time to answer what a page asks.
    """
    mean = sum(texts) / len(texts)
    new = min(len(texts), 2 * pairs)
    return read_once(mean * new) + READ_AGAIN.times(mean * (2 * pages - new)) + deciding.times(pages)


def slots_for_judgments(entry: ChosenTopicTask, judgments: int) -> int:
    """Return the workers of a topic that give each pair its judgments on average."""
    pairs, _ = entry.pairs_and_repeats(entry.pairs_of_a_topic)
    return math.ceil(judgments * entry.pairs_of_a_topic / pairs)


def chosen_capacity(content: TaskContent, entry: ChosenTopicTask, slots: int | None) -> Capacity:
    """Return the capacity where ``slots`` workers may take a topic, None for no limit."""
    shares = [entry.pairs_and_repeats(pairs)[0] / pairs for pairs in content.pairs_of_topics]
    each = None if slots is None else (math.floor(slots * min(shares)), math.ceil(slots * max(shares)))
    return Capacity(
        answers="judgments of",
        thing="pair",
        things=sum(content.pairs_of_topics),
        each=each,
        workers=workers_to_fill(len(content.topics), slots, entry.queries_per_worker),
        a_worker=entry.pairs_of_a_worker(content.pairs_of_topics),
    )


def taken_capacity(content: TaskContent, entry: AssignedPairTask) -> Capacity:
    """Return the capacity where workers get one pair after another."""
    pairs = sum(content.pairs_of_topics)
    if entry.adaptive is not None:
        a_worker = entry.pairs_of_a_worker(content.pairs_of_topics)
        return Capacity(
            answers="judgments of",
            thing="pair",
            things=pairs,
            each=None,
            budget=entry.adaptive.budget,
            workers=math.ceil(entry.adaptive.budget / a_worker),
            a_worker=a_worker,
        )
    return Capacity(
        answers="judgments of",
        thing="pair",
        things=pairs,
        each=exact_answers_each(entry.judgments_per_pair),
        workers=workers_to_fill(pairs, entry.judgments_per_pair, entry.pairs_per_worker),
        a_worker=entry.pairs_of_a_worker(content.pairs_of_topics),
    )


def judging(content: TaskContent, entry: ChosenTopicTask) -> str:
    """Return the number of pairs of a topic that a worker judges, in words."""
    each = [entry.pairs_and_repeats(possible) for possible in content.pairs_of_topics]
    pairs, repeats = (sorted(set(numbers)) for numbers in zip(*each, strict=True))
    again = (f", {range_phrase(repeats)} of them twice" if repeats[-1] else "") + _and_gold(content)
    judged = count_phrase(pairs[0], "pair") if len(pairs) == 1 else f"{range_phrase(pairs)} pairs"
    return f"judges {judged} of {len(entry.systems)} systems{again}"


def _and_gold(content: TaskContent) -> str:
    """Return the gold pairs of a worker, in words; empty without any."""
    number = gold_of_a_worker(content)
    return f", and {pluralise(number, 'gold pair')}" if number else ""


def taking(content: TaskContent, entry: AssignedPairTask) -> str:
    """Return the number of assigned pairs of a worker, and of all, in words."""
    pair_count = entry.pairs_of_a_worker(content.pairs_of_topics)
    repeats = entry.repeats_of_a_worker(content.pairs_of_topics)
    again = (f", {repeats} of them twice" if repeats else "") + _and_gold(content)
    return f"judges {pair_count} of {count_phrase(sum(content.pairs_of_topics), 'pair')}{again}"


def assigned_work(content: TaskContent, topic: str) -> str:
    """Return the numbers of pairs, systems and topics of a task, in words.

    The task assigns pairs.
    """
    entry = expect_entry_type(content.entry, AssignedPairTask)
    return (
        f"{taking(content, entry)}: {len(entry.systems)} systems, {count_phrase(len(content.topics), topic)}"
    )


def options_phrase(protocol: Mapping[str, Any]) -> str:
    """Return the options of a task's pairs, in words."""
    steps = STEPS.get(str(protocol.get("choices")))
    return OPTIONS if steps is None else GRADED_OPTIONS.format(steps)


def chosen_only(protocol: Mapping[str, Any]) -> str:
    """Return a remark for the report if a file named the pairs, or nothing."""
    pairs = protocol.get("pairs", ALL)
    if isinstance(pairs, Mapping):
        return (
            f" (pairs chosen by the answers so far, to find the best system with at most {pairs['budget']:,} judgments; a share of"
            f" {pairs['uniform_share']:g} of the pairs drawn whatever the answers were)"
        )
    return ", only pairs that the study file names" if isinstance(pairs, str) and pairs != ALL else ""
