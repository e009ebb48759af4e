"""Topic ids in long and short forms.

Topic ids are compared as text, never as numbers. Updates and pushes have a long form too (`TS14.11`, `MB226`) and a short one
(`11`, `226`); in ranked lists `31.1` and `32.1` are two topics.
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from metrics.errors import input_fault

STREAM_TOPICS = re.compile(r"(?:TS[0-9]{2}\.|MB)(?=.)")

"""Prefix of the long form of a topic of updates or pushes: ``TS14.`` or ``MB``."""


def short_form(topic: str, prefix: re.Pattern[str] = STREAM_TOPICS) -> str:
    """Remove the prefix of a long topic id: `TS14.11` -> `11`, `MB226` -> `226`.

    `31.1` and `MC2-E-0001` have no other form.
    """
    long = prefix.match(topic)
    return topic if long is None else topic[long.end() :]


class TopicNames:
    """Judged topic ids, found by either form of the id.

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
            If a short form belongs to two long ones, judged or written, and is ambiguous.
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
