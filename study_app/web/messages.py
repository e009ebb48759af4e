"""Everything a worker reads that does not come from the study file, by language.

`templates/locale/LANGUAGE.yaml` has the pages that every study has, `LANGUAGE.tasks.yaml` what comes before a task, ratings and
questions.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

LANGUAGES = ("en", "ja")


class Messages:
    """The catalogues.

    Parameters
    ----------
    folder : Path
        Holds ``LANGUAGE.yaml`` and ``LANGUAGE.tasks.yaml`` for each of `LANGUAGES`, all with the same keys.
    more : iterable of mapping
        Language -> key -> words, as kinds of task bring them.
    """

    def __init__(self, folder: Path, more: Iterable[Mapping[str, Mapping[str, str]]] = ()) -> None:
        brought = list(more)
        self.catalogues: Mapping[str, Mapping[str, str]] = {
            language: {
                key: text
                for name in (f"{language}.yaml", f"{language}.tasks.yaml")
                for key, text in _flat(_parsed(folder / name))
            }
            | {key: text for words in brought for key, text in words.get(language, {}).items()}
            for language in LANGUAGES
        }

    def text(self, language: str, key: str, **values: object) -> str:
        """Return a message with its values filled in; raises KeyError for one that is not in the catalogue."""
        message = self.catalogues[language][key]
        return message.format(**values) if values else message


def _parsed(path: Path) -> Any:
    return yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)


def _flat(node: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    for key, value in node.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{key}.")
        else:
            yield f"{before}{key}", str(value)
