"""Topic ids in their two forms, and what of the input takes no part in a score.

Topic ids are compared as text, never as numbers, in a long form (`TS14.11`, `MB226`) or a short one (`11`, `226`).

A score of files that do not belong together is a number like any other. So what takes no part is said by the command line and
warned of in Python, and each family has functions that count what is
left out of its runs and judgments, as `LeftOut` values: `metrics.push.streams`, `metrics.events`,
`metrics.ranked.lists` and `metrics.summaries.two_layered`. Nothing here changes a score.
"""

import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from metrics.errors import counted, printable
from metrics.results import Topics


def short_form(topic: str) -> str:
    """Drop what stands before the last dot or ``MB``: `TS14.11` -> `11`, `MB226` -> `226`, `MC2-E-0001` as it is."""
    return topic.rpartition(".")[2].rpartition("MB")[2]


class TopicNames:
    """Finds the id that the judgments use for a topic, whichever form a run writes.

    A written id is a judged one if both are equal, or if one is the short form of the other. `7` and `07` differ,
    and so do `TS13.11` and `TS14.11`. A short form that two judged topics share names neither.

    Parameters
    ----------
    judged : iterable of str
        Topic ids as the judgments name them.
    """

    def __init__(self, judged: Iterable[str]) -> None:
        names = list(dict.fromkeys(judged))
        shared = Counter(map(short_form, names))
        self._judged = {short_form(name): name for name in names if shared[short_form(name)] == 1}
        self._judged |= {name: name for name in names}

    def find(self, written: str) -> str | None:
        """Return the judged id that a written one means, None when it means none."""
        exact = self._judged.get(written)
        if exact is not None:
            return exact
        short = short_form(written)
        return short if self._judged.get(short) == short else None


MILLISECONDS = 1e11
"""Seconds up to which a time may well be meant (the year 5138); the same number of milliseconds is March 1973."""
Noun: TypeAlias = tuple[str, str]
"""One and many."""
TOPIC = ("judged topic", "judged topics")
EXCUSE = 'topics="run"'
"""How Python is asked for the mean over the topics of the run."""
SINGULAR = {"are": "is", "have": "has", "were": "was", "score": "scores", "get": "gets", "count": "counts"}


class LeftOutWarning(UserWarning):
    """More than half of a part of the input takes no part in the scores."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """How much of one part of the input has one thing against it.

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
        """Whether it is true of more than half where that is hardly ever meant."""
        return bool(self.cause) and 2 * self.count > self.of

    def sentence(self, line: int | None = None, *, excuse: str = EXCUSE) -> str:
        """Say it: ``2 of 5 updates are about topics that are not judged, such as 'TS14.9' (line 5), and are left out``.

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
        whole = counted(self.of, *self.noun)
        them = "it" if self.count == 1 else "them"
        way = f" ({excuse} leaves {them} out)" if self.is_excused and excuse else ""
        return f"{self.count} of {whole} {self._agreeing(self.says)}{example}{then}{way}"

    def warning(self, line: int | None = None, *, excuse: str = EXCUSE) -> str:
        """Say it with its likely cause."""
        return f"{self.sentence(line, excuse=excuse)}; {self.cause}"

    def _agreeing(self, words: str) -> str:
        """Put the verb that words begin with into the singular where one thing is counted."""
        verb, blank, rest = words.partition(" ")
        return f"{SINGULAR.get(verb, verb) if self.count == 1 else verb}{blank}{rest}"


def left_out_entries(
    chosen: NDArray[np.bool_],
    named: Sequence[str],
    *,
    among: NDArray[np.bool_] | None = None,
    noun: Noun,
    says: str,
    cause: str,
    then: str = "",
) -> list[LeftOut]:
    """Count the chosen ones of a run's entries; nothing where there is none.

    Parameters
    ----------
    chosen : (n,) ndarray of bool
        Which entries are meant.
    named : sequence of str
        Name of each entry; the first one chosen is the example.
    among : (n,) ndarray of bool, optional
        Of which entries it can be said at all; by default of every one.
    noun, says, cause, then
        As in `LeftOut`.
    """
    if not chosen.any():
        return []
    first = int(chosen.argmax())
    return [
        LeftOut(
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


def left_out_names(
    missing: Sequence[str], of: int, *, noun: Noun, says: str, cause: str, then: str = ""
) -> list[LeftOut]:
    """Count named things, such as topics, of which there are ``of``; nothing where none is missing."""
    if not missing:
        return []
    return [
        LeftOut(count=len(missing), of=of, noun=noun, says=says, cause=cause, example=missing[0], then=then)
    ]


def unjudged_entries(
    topics: Sequence[str], judged: Iterable[str], *, noun: Noun, says: str, cause: str
) -> list[LeftOut]:
    """Count the entries of a run, given by their topics as written, whose topic nobody judged."""
    names = TopicNames(judged)
    strange = {topic for topic in set(topics) if names.find(topic) is None}
    chosen = np.array([topic in strange for topic in topics], dtype=np.bool_)
    return left_out_entries(chosen, topics, noun=noun, says=says, cause=cause, then="are left out")


def topics_without(
    judged: Collection[str],
    own: Iterable[str | None],
    what: str,
    *,
    topics: Topics,
    cause: str = "",
    worth: str = "count as 0",
) -> list[LeftOut]:
    """Count the judged topics that are none of a run's own: they have no ``what`` there.

    Parameters
    ----------
    judged, own : collection of str
        Topics; None among a run's own is one that is not judged.
    what : str
        What there is none of: ``update``.
    topics : {'judged', 'run'}
        What the mean is over.
    cause : str
        As in `LeftOut`.
    worth : str
        What becomes of such a topic in a mean over all judged ones.
    """
    has = set(own)
    missing = [topic for topic in judged if topic not in has]
    is_excused = topics == "judged"
    then = worth if is_excused else "are left out of the mean"
    found = left_out_names(
        missing, len(judged), noun=TOPIC, says=f"have no {what} in the run", cause=cause, then=then
    )
    return [replace(part, is_excused=is_excused) for part in found]


class HasName(Protocol):
    """Judgments or a run."""

    @property
    def name(self) -> str:
        """How messages call it."""


C = TypeVar("C", bound=HasName)
R = TypeVar("R", bound=HasName)


def warn_of_most(
    judgments: C,
    runs: Iterable[R],
    of_judgments: Callable[[C], list[LeftOut]],
    of_run: Callable[[C, R], list[LeftOut]],
) -> None:
    """Warn who scores in Python of what is more than half of the judgments or of a run and takes no part.

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
