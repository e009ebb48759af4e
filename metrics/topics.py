"""Topic ids: compared as text, never as numbers, in a long form (`TS14.11`, `MB226`) or a short one (`11`, `226`)."""

from collections import Counter
from collections.abc import Iterable


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
