"""Collections and runs of two-layered summaries, as values.

The values do not depend on the format of the files.

`metrics.readers.mobileclick` reads them, `metrics.summaries.score` scores them. Texts and ids are kept as written.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeAlias

from metrics.unused_input import UnusedInput, count_unused_names


@dataclass(frozen=True, slots=True)
class IUnit:
    """An iUnit in a layer.

    Attributes
    ----------
    id : str
        One of its query's `Query.iunits`.

    Examples
    --------
    >>> IUnit("U1").id
    'U1'
    """

    id: str


@dataclass(frozen=True, slots=True)
class Link:
    """A link in a first layer.

    Attributes
    ----------
    intent : str
        One of its query's `Query.intents`, whose text is the anchor.

    Examples
    --------
    >>> Link("I1").intent
    'I1'
    """

    intent: str


Element: TypeAlias = IUnit | Link


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """Query with its judgments.

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

    Examples
    --------
    >>> import prefcal
    >>> collection = prefcal.read_summary_collection("examples/two_layered/collection")
    >>> query = next(iter(collection.queries.values()))
    >>> query.text, len(query.iunits), list(query.intents.values())
    ('mount fuji', 28, ['The volcano', 'Climbing to the top', 'Best views', 'Getting there', 'Faith and art'])
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

    Examples
    --------
    >>> import prefcal
    >>> collection = prefcal.read_summary_collection("examples/two_layered/collection")
    >>> len(collection.queries)
    8
    >>> collection
    Collection('examples/two_layered/collection', queries=8)
    """

    name: str
    queries: Mapping[str, Query]
    files: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def __repr__(self) -> str:
        """Format as ``Collection('collection', queries=8)``, never dumped."""
        return f"Collection({self.name!r}, queries={len(self.queries)})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A two-layered summary of one query.

    Attributes
    ----------
    first : tuple of IUnit or Link
        The first layer in reading order.
    second : mapping of str to tuple of IUnit
        Intent -> its second layer in reading order; one for each intent that the first layer links to.

    Examples
    --------
    >>> import prefcal
    >>> summary = Summary(
    ...     first=(prefcal.IUnit("U1"), prefcal.Link("I1")), second={"I1": (prefcal.IUnit("U2"),)}
    ... )
    >>> summary.second["I1"][0].id
    'U2'
    """

    first: tuple[Element, ...]
    second: Mapping[str, tuple[IUnit, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One system's summaries by query.

    Attributes
    ----------
    name : str
        What stands in the column ``run`` of scores.
    description : str
        What the run says of itself.
    summaries : mapping of str to Summary
        By query id.

    Examples
    --------
    >>> import prefcal
    >>> collection = prefcal.read_summary_collection("examples/two_layered/collection")
    >>> run = prefcal.read_summary_run("examples/two_layered/runs/good-order.xml", collection)
    >>> run.name, len(run.summaries)
    ('good-order', 8)
    """

    name: str
    description: str
    summaries: Mapping[str, Summary]

    def __repr__(self) -> str:
        """``Run('good-order', summaries=8)``."""
        return f"Run({self.name!r}, summaries={len(self.summaries)})"


IUNIT, QUERY = ("iUnit", "iUnits"), ("query", "queries")
PAIR = ("pair of iUnit and intent", "pairs of iUnit and intent")
CAUSE = "importance may be that of another collection, or not be rated yet"


def summaries_left_out(collection: Collection, run: Run) -> list[UnusedInput]:
    """Count the iUnits of a run without any rating, which gain nothing.

    Such an iUnit has no importance for any intent.

    Readers refuse what a collection does not have at all: queries, iUnits and intents that are unknown or missing.
    """
    shown = [
        (query, element.id)
        for query, summary in run.summaries.items()
        for layer in (summary.first, *summary.second.values())
        for element in layer
        if isinstance(element, IUnit)
    ]
    rated = _rated(collection)
    missing = [iunit for query, iunit in shown if iunit not in rated[query]]
    return count_unused_names(missing, len(shown), noun=IUNIT, says="have no importance", cause=CAUSE)


def summary_collection_left_out(collection: Collection) -> list[UnusedInput]:
    """Count queries without importance, and intents with unrated iUnits.

    These queries have no importance above 0; the iUnits are rated for other intents.

    Every summary of such a query scores 0; such an iUnit gains nothing for that intent.
    """
    bare = [
        name
        for name, query in collection.queries.items()
        if not any(g > 0 for g in query.importance.values())
    ]
    counts = count_unused_names(
        bare,
        len(collection.queries),
        noun=QUERY,
        says="have no iUnit of importance above 0",
        cause=CAUSE,
        then="score 0",
    )
    return counts + _unrated_for_an_intent(collection)


def _unrated_for_an_intent(collection: Collection) -> list[UnusedInput]:
    """Count the pairs of iUnit and intent without a row.

    The iUnit has a rating for another intent; many files leave out zeros.
    """
    rated = _rated(collection)
    pairs = [
        (name, intent, iunit)
        for name, query in collection.queries.items()
        for iunit in query.iunits
        if iunit in rated[name]
        for intent in query.intents
    ]
    missing = [
        f"{iunit} for {intent}"
        for name, intent, iunit in pairs
        if (intent, iunit) not in collection.queries[name].importance
    ]
    return count_unused_names(
        missing, len(pairs), noun=PAIR, says="have no row of importance", cause="", then="count 0"
    )


def _rated(collection: Collection) -> dict[str, set[str]]:
    """Return the iUnits of each query that were rated for an intent."""
    return {name: {iunit for _, iunit in query.importance} for name, query in collection.queries.items()}
