"""Topic ids, and what of the input takes no part in a score.

Topic ids are compared as text, never as numbers. Updates and pushes have a long form too (`TS14.11`, `MB226`) and a short one
(`11`, `226`); in ranked lists `31.1` and `32.1` are two topics.

A score of files that do not belong together is a number like any other. So what takes no part is said by the command line and
warned of in Python, and each family has functions that count what is
left out of its runs and judgments, as `UnusedInput` values: `metrics.push.streams`, `metrics.events`,
`metrics.ranked.lists` and `metrics.summaries.two_layered`. Nothing here changes a score.
"""

import re
import warnings
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from metrics.errors import input_fault, join_names, pluralise, printable
from metrics.results import Topics

STREAM_TOPICS = re.compile(r"(?:TS[0-9]{2}\.|MB)(?=.)")
"""Prefix of the long form of a topic of updates or pushes: ``TS14.`` or ``MB``."""


def short_form(topic: str, prefix: re.Pattern[str] = STREAM_TOPICS) -> str:
    """Remove the prefix of a long topic id: `TS14.11` -> `11`, `MB226` -> `226`.

    `31.1` and `MC2-E-0001` have no other form.
    """
    long = prefix.match(topic)
    return topic if long is None else topic[long.end() :]


class TopicNames:
    """Judged topic ids, found by whichever form of the id a run writes.

    A written id is a judged one if both are equal, or if one is the short form of the other. `7` and `07` differ,
    and so do `TS13.11` and `TS14.11`.

    Parameters
    ----------
    judged : iterable of str
        Topic ids as the judgments name them.
    prefix : Pattern, optional
        `STREAM_TOPICS` for updates and pushes; without it there are no forms, and ids are compared as text.
    where : str or Path, optional
        The file or run whose topics are looked up, for the message.
    """

    def __init__(
        self,
        judged: Iterable[str],
        prefix: re.Pattern[str] | None = None,
        *,
        where: str | Path | None = None,
    ) -> None:
        self._judged = frozenset(judged)
        self._prefix, self._where = prefix, where
        self._long: defaultdict[str, set[str]] = defaultdict(set)
        for name in self._judged:
            self._long[self._short(name)].add(name)

    def find(self, written: str) -> str | None:
        """Return the judged id for an id as written, or None.

        Raises
        ------
        InputError
            If a short form would be that of two long ones, judged or written: which of them is meant, nothing says.
        """
        if written in self._judged:
            return written
        short = self._short(written)
        if short == written:
            meant = self._long.get(short, set())
        elif short in self._judged:
            self._long[short] |= {short, written}
            meant = self._long[short] - {short}
        else:
            return None
        if len(meant) > 1:
            raise input_fault(
                f"topic {short!r} would be {' and '.join(sorted(meant))} at once",
                path=self._where,
                cure="write the long form of these topics in the judgments and in the run",
            )
        return short if short in self._judged else next(iter(meant), None)

    def _short(self, topic: str) -> str:
        return topic if self._prefix is None else short_form(topic, self._prefix)


MILLISECONDS = 1e11
"""Largest plausible time in seconds (the year 5138); beyond are milliseconds.

The same number of milliseconds is March 1973.
"""
Noun: TypeAlias = tuple[str, str]
"""Singular and plural."""
TOPIC = ("judged topic", "judged topics")
EXCUSE = 'topics="run"'
"""Hint to Python users who want the mean over the topics of the run."""
MOST_NAMED = 4
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

        ``2 of 5 updates are about topics that are not judged, such as 'TS14.9' (line 5), and are left out``.

        Parameters
        ----------
        line : int, optional
            Where the example stands in its file.
        excuse : str
            How the mean over the topics of the run is asked for; empty where it cannot be.
        """
        place = "" if line is None else f" (line {line})"
        example = f", such as {printable(repr(self.example))}{place}" if self.example else ""
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
    chosen: NDArray[np.bool_],
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
    chosen : (n,) ndarray of bool
        Which entries are meant.
    named : sequence of str
        Name of each entry; the first one chosen is the example.
    among : (n,) ndarray of bool, optional
        Of which entries it can be said at all; by default of every one.
    noun, says, cause, then
        As in `UnusedInput`.
    """
    if not chosen.any():
        return []
    first = int(chosen.argmax())
    return [
        UnusedInput(
            count=int(chosen.sum()),
            of=chosen.size if among is None else int(among.sum()),
            noun=noun,
            says=says,
            cause=cause,
            example=named[first],
            entry=first,
            then=then,
        )
    ]


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
    chosen = np.array([topic in strange for topic in topics], dtype=np.bool_)
    cause = cause if set(topics) - strange else no_topic_in_both(topics, judged, cause)
    return count_unused_entries(chosen, topics, noun=noun, says=says, cause=cause, then="are left out")


def no_topic_in_both(written: Iterable[str], judged: Iterable[str], cause: str) -> str:
    """Return a sentence on a run and judgments without a common topic."""
    if not cause:
        return ""
    here, there = (
        join_names(map(printable, dict.fromkeys(names)), most=MOST_NAMED) for names in (written, judged)
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
    found = count_unused_names(
        missing, len(judged), noun=TOPIC, says=f"have no {what} in the run", cause=cause, then=then
    )
    return [replace(part, is_excused=is_excused) for part in found]


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
