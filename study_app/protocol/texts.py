"""Words of topics and of sides, as lines that people compare."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from study_app.protocol.sides import Side


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicTexts:
    """Texts of a topic by what they are, and what else its pages need.

    Attributes
    ----------
    texts : mapping of str to str
        ``question`` (or title), ``description``, ``intent NAME`` and ``iUnit NAME``, in the order of the page.
    rest : mapping
        Days, time windows, P(i|q): what a mended text leaves as it is.
    """

    texts: Mapping[str, str]
    rest: Mapping[str, Any]

    @classmethod
    def of(
        cls, text: str, detail: Mapping[str, Any] | None, intents: Iterable[tuple[str, str, float | None]]
    ) -> "TopicTexts":
        """Return the texts of a topic as it is stored."""
        more, intents = dict(detail or {}), list(intents)
        iunits, description = more.pop("iunits", {}), more.pop("description", None)
        more.pop("shows", None)
        return cls(
            texts={
                "question": text,
                **({"description": description} if description else {}),
                **{f"intent {name}": words for name, words, _ in intents},
                **{f"iUnit {name}": words for name, words in iunits.items()},
            },
            rest={**more, "intents": [(name, probability) for name, _, probability in intents]},
        )

    @property
    def sha256(self) -> str:
        """Digest of the texts."""
        return hashlib.sha256(json.dumps(self.texts, sort_keys=True).encode()).hexdigest()

    def lines(self) -> list[str]:
        """Return the texts, one a line."""
        return [f"{name}: {' '.join(text.split())}" for name, text in self.texts.items()]


def side_lines(side: Side) -> list[str]:
    """Return the visible words of a side, a line for each block."""
    return [
        " ".join(f"{block.title} {block.text}".split())
        for block, _ in side.layers()
        if (block.title + block.text).strip()
    ]
