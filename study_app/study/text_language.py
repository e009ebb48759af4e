"""Which language texts are in, as far as their letters tell. Pure."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

JAPANESE = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
SHARE_JAPANESE = 0.2


def looks_japanese(texts: Iterable[str]) -> bool:
    """Say whether a fifth of the characters are Japanese; not so of no text at all."""
    joined = "".join(texts)
    return bool(joined) and len(JAPANESE.findall(joined)) > SHARE_JAPANESE * len(joined)


def texts_in(shown: Any) -> Iterator[str]:
    """Yield every text of what a page shows: of each mapping what stands under ``text``, however deep it lies."""
    if isinstance(shown, dict):
        for key, value in shown.items():
            if key == "text" and isinstance(value, str):
                yield value
            else:
                yield from texts_in(value)
    elif isinstance(shown, list | tuple):
        for one in shown:
            yield from texts_in(one)
