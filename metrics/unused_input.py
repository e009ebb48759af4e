"""Counts of the input that is not used in a score.

A score of files that do not belong together is a number like any other. So the command line prints what is not used, and Python warns
of it. Each family has functions that count what is left out of its runs and judgments, as `UnusedInput` values: `metrics.push.streams`,
`metrics.events`, `metrics.ranked.lists` and `metrics.summaries.two_layered`. Nothing here changes a score.
"""

import re
import warnings
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from metrics.errors import join_names, pluralise, printable
from metrics.results import Topics
from metrics.topic_ids import TopicNames

MILLISECONDS = 1e11
"""Largest plausible time in seconds (the year 5138); beyond are milliseconds.

The same number of milliseconds is in March 1973.
"""
Noun: TypeAlias = tuple[str, str]
"""Singular and plural."""
TOPIC = ("judged topic", "judged topics")
EXCUSE = 'topics="run"'
"""Hint to Python users who want the mean over the topics of the run."""
MAX_NAMES = 4
SINGULAR = {"are": "is", "have": "has", "were": "was", "score": "scores", "get": "gets", "count": "counts"}


class LeftOutWarning(UserWarning):
    """Warning that more than half of a part of the input is not used in the scores."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnusedInput:
    """Part of the input that is not used, with its count and its reason.

    Attributes
    ----------
    count, of : int
        How many of how many, 1 <= count <= of.
    noun : (str, str)
        What is counted, one and many: ``push``, ``pushes``.
    says : str
        What is the matter with them, after their number: ``are of tweets in no pool``.
    cause : str
        Where it comes from when it is true of more than half; empty where that is nothing odd.
    example : str
        The first of them, as written; empty where there is nothing to name.
    entry : int or None
        The first of them among the entries of its run; None where it is no entry.
    then : str
        What becomes of them: ``are left out``; empty where ``says`` has said so.
    is_excused : bool
        They are topics, and the mean over the topics of the run leaves them out.
    """

    count: int
    of: int
    noun: Noun
    says: str
    cause: str
    example: str = ""
    entry: int | None = None
    then: str = ""
    is_excused: bool = False

    @property
    def is_most(self) -> bool:
        """True if more than half is unused, where that is hardly ever meant."""
        return bool(self.cause) and 2 * self.count > self.of

    def sentence(self, line: int | None = None, *, excuse: str = EXCUSE) -> str:
        """Return a sentence with the count, the reason and an example.

        For example: ``2 of 5 updates are about topics that are not judged, such as 'TS14.9' (line 5), and are
        left out``.

        Parameters
        ----------
        line : int, optional
            Where the example stands in its file.
        excuse : str
            How the mean over the topics of the run is asked for; empty where it cannot be.
        """
        at_line = "" if line is None else f" (line {line})"
        example = f", such as {printable(repr(self.example))}{at_line}" if self.example else ""
        then = f"{',' if example else ''} and {self._agreeing(self.then)}" if self.then else ""
        whole = pluralise(self.of, *self.noun)
        them = "it" if self.count == 1 else "them"
        way = f" ({excuse} leaves {them} out)" if self.is_excused and excuse else ""
        return f"{self.count} of {whole} {self._agreeing(self.says)}{example}{then}{way}"

    def warning(self, line: int | None = None, *, excuse: str = EXCUSE) -> str:
        """Return the sentence with its likely cause."""
        return f"{self.sentence(line, excuse=excuse)}; {self.cause}"

    def _agreeing(self, words: str) -> str:
        """Return words whose leading verb agrees with a count of one."""
        verb, blank, rest = words.partition(" ")
        return f"{SINGULAR.get(verb, verb) if self.count == 1 else verb}{blank}{rest}"


def count_unused_entries(
    chosen: NDArray[np.bool_] | Sequence[bool],
    named: Sequence[str],
    *,
    among: NDArray[np.bool_] | None = None,
    noun: Noun,
    says: str,
    cause: str,
    then: str = "",
) -> list[UnusedInput]:
    """Count the chosen entries of a run, as a list of at most one count.

    Parameters
    ----------
    chosen : (n,) array_like of bool
        Which entries are meant.
    named : sequence of str
        Name of each entry; the first one chosen is the example.
    among : (n,) ndarray of bool, optional
        Of which entries it can be said at all; by default of every one.
    noun, says, cause, then
        As in `UnusedInput`.
    """
    entries = np.flatnonzero(chosen).tolist()
    of = len(named) if among is None else int(among.sum())
    counts = count_unused_names(
        [named[entry] for entry in entries], of, noun=noun, says=says, cause=cause, then=then
    )
    return [replace(count, entry=entries[0]) for count in counts]


def count_unused_names(
    missing: Sequence[str], of: int, *, noun: Noun, says: str, cause: str, then: str = ""
) -> list[UnusedInput]:
    """Count unused names, such as topics, as a list of at most one count."""
    if not missing:
        return []
    return [
        UnusedInput(
            count=len(missing), of=of, noun=noun, says=says, cause=cause, example=missing[0], then=then
        )
    ]


def unjudged_entries(
    topics: Sequence[str],
    judged: Collection[str],
    *,
    prefix: re.Pattern[str],
    noun: Noun,
    says: str,
    cause: str,
) -> list[UnusedInput]:
    """Count the entries of a run on topics that nobody judged."""
    names = TopicNames(judged, prefix)
    strange = {topic for topic in set(topics) if names.find(topic) is None}
    chosen = [topic in strange for topic in topics]
    cause = cause if set(topics) - strange else no_topic_in_both(topics, judged, cause)
    return count_unused_entries(chosen, topics, noun=noun, says=says, cause=cause, then="are left out")


def no_topic_in_both(written: Iterable[str], judged: Iterable[str], cause: str) -> str:
    """Return a sentence on a run and judgments without a common topic."""
    if not cause:
        return ""
    here, there = (
        join_names(map(printable, dict.fromkeys(names)), most=MAX_NAMES) for names in (written, judged)
    )
    return f"no topic is in both: the run has {here}, the judgments have {there}; {cause}"


def topics_without(
    judged: Collection[str],
    own: Iterable[str | None],
    what: str,
    *,
    topics: Topics,
    cause: str = "",
    worth: str = "count as 0",
) -> list[UnusedInput]:
    """Count the judged topics that a run lacks.

    Parameters
    ----------
    judged, own : collection of str
        Topics; None among a run's own is one that is not judged.
    what : str
        What there is none of: ``update``.
    topics : {'judged', 'run'}
        What the mean is over.
    cause : str
        As in `UnusedInput`.
    worth : str
        What becomes of such a topic in a mean over all judged ones.
    """
    has = set(own)
    if has == {None}:
        return []  # it has others alone: `unjudged_entries` says so
    missing = [topic for topic in judged if topic not in has]
    is_excused = topics == "judged"
    then = worth if is_excused else "are left out of the mean"
    counts = count_unused_names(
        missing, len(judged), noun=TOPIC, says=f"have no {what} in the run", cause=cause, then=then
    )
    return [replace(part, is_excused=is_excused) for part in counts]


class HasName(Protocol):
    """Judgments or a run, called by a name."""

    @property
    def name(self) -> str:
        """Name in messages."""


C = TypeVar("C", bound=HasName)
R = TypeVar("R", bound=HasName)


def warn_if_mostly_unused(
    judgments: C,
    runs: Iterable[R],
    of_judgments: Callable[[C], list[UnusedInput]],
    of_run: Callable[[C, R], list[UnusedInput]],
) -> None:
    """Warn of each part of the input that is mostly unused.

    Parameters
    ----------
    judgments, runs
        What is scored; a warning each.
    of_judgments, of_run : callable
        The family's functions that count.
    """
    counts = [
        (judgments.name, of_judgments(judgments)),
        *((run.name, of_run(judgments, run)) for run in runs),
    ]
    for name, parts in counts:
        most = [f"{name}: {part.warning()}" for part in parts if part.is_most]
        if most:
            warnings.warn("\n".join(most), LeftOutWarning, stacklevel=3)
