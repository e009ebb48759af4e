"""Collections and runs of two-layered summaries as values, whatever files they were read from.

`metrics.readers.mobileclick` reads them, `metrics.summaries.score` scores them. Texts and ids are kept as written.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class IUnit:
    """An iUnit in a layer; ``id`` is one of its query's `Query.iunits`."""

    id: str


@dataclass(frozen=True, slots=True)
class Link:
    """A link in a first layer; ``intent`` is one of its query's `Query.intents`, whose text is the anchor."""

    intent: str


Element: TypeAlias = IUnit | Link


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One query with its judgments.

    Attributes
    ----------
    id : str
        As the collection writes it, prefix included.
    text : str
        What is searched for.
    iunits : mapping of str to str
        iUnit -> text, in the order of the collection.
    intents : mapping of str to str
        Intent -> text, in the order of the collection; never empty.
    importance : mapping of (str, str) to float
        (intent, iUnit) -> g >= 0, the mean over assessors; what is missing has 0.
    probability : mapping of str to float, or None
        Intent -> P(i|q) >= 0 as given (their sum is 1 to within 0.01; a missing one is 0); None when the
        collection has no probabilities.
    """

    id: str
    text: str
    iunits: Mapping[str, str]
    intents: Mapping[str, str]
    importance: Mapping[tuple[str, str], float]
    probability: Mapping[str, float] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """Queries by id, in the order of the collection.

    Attributes
    ----------
    name : str
        How messages call it.
    queries : mapping of str to Query
        By id.
    files : mapping of str to str
        Table, such as ``iunits`` -> its file, for messages; empty for a collection that was not read from files.
    """

    name: str
    queries: Mapping[str, Query]
    files: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A two-layered summary of one query.

    Attributes
    ----------
    first : tuple of IUnit or Link
        The first layer in reading order.
    second : mapping of str to tuple of IUnit
        Intent -> its second layer in reading order; one for each intent that the first layer links to.
    """

    first: tuple[Element, ...]
    second: Mapping[str, tuple[IUnit, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One system's summaries by query; ``name`` stands in the column run of scores."""

    name: str
    description: str
    summaries: Mapping[str, Summary]
