"""What of two-layered summaries and their collection takes no part in the scores of `metrics.summaries.score`."""

from metrics.summaries.two_layered import Collection, IUnit, Run
from metrics.taking_part import LeftOut, left_out_names

IUNIT, QUERY = ("iUnit", "iUnits"), ("query", "queries")
PAIR = ("pair of iUnit and intent", "pairs of iUnit and intent")
CAUSE = "importance may be that of another collection, or not be rated yet"


def summaries_left_out(collection: Collection, run: Run) -> list[LeftOut]:
    """Count the iUnits in a run's summaries whose importance nobody rated for any intent, which gain nothing.

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
    return left_out_names(missing, len(shown), noun=IUNIT, says="have no importance", cause=CAUSE)


def summary_collection_left_out(collection: Collection) -> list[LeftOut]:
    """Count the queries without any importance above 0, and the intents for which nobody rated an iUnit that has other ratings.

    Every summary of such a query scores 0; such an iUnit gains nothing for that intent.
    """
    bare = [
        name
        for name, query in collection.queries.items()
        if not any(g > 0 for g in query.importance.values())
    ]
    found = left_out_names(
        bare,
        len(collection.queries),
        noun=QUERY,
        says="have no iUnit of importance above 0",
        cause=CAUSE,
        then="score 0",
    )
    return found + _unrated_for_an_intent(collection)


def _unrated_for_an_intent(collection: Collection) -> list[LeftOut]:
    """Count the pairs of iUnit and intent without a row, of iUnits that have one for another intent; many files leave out zeros."""
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
    return left_out_names(
        missing, len(pairs), noun=PAIR, says="have no row of importance", cause="", then="count 0"
    )


def _rated(collection: Collection) -> dict[str, set[str]]:
    """Return the iUnits of each query that were rated for an intent."""
    return {name: {iunit for _, iunit in query.importance} for name, query in collection.queries.items()}
