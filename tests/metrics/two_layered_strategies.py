"""Random collections and runs of two-layered summaries, small enough to shrink to something readable."""

from hypothesis import strategies as st

from metrics.summaries.two_layered import Collection, IUnit, Link, Query, Run, Summary

IUNITS = tuple(f"u{number}" for number in range(6))
INTENTS = ("i0", "i1", "i2")


@st.composite
def queries(draw):
    """A query whose last iUnit, u5, is of no importance to anybody."""
    lengths = st.integers(0, 9).map(lambda length: "x" * length)
    ratings = st.sampled_from([0.0, 0.5, 1.0, 2.5, 4.0])
    votes = draw(st.lists(st.integers(0, 5), min_size=3, max_size=3).filter(any))
    return Query(
        id="q",
        text="query",
        iunits={iunit: draw(lengths) for iunit in IUNITS},
        intents={intent: draw(lengths) for intent in INTENTS},
        importance={(intent, iunit): draw(ratings) for intent in INTENTS for iunit in IUNITS[:-1]},
        probability={intent: vote / sum(votes) for intent, vote in zip(INTENTS, votes, strict=True)},
    )


@st.composite
def summaries(draw):
    """Any first layer, with a second layer, perhaps empty, for every intent it links to."""
    iunits = st.sampled_from(IUNITS).map(IUnit)
    first = tuple(draw(st.lists(iunits | st.sampled_from(INTENTS).map(Link), max_size=8)))
    linked = {element.intent for element in first if isinstance(element, Link)}
    return Summary(
        first=first, second={intent: tuple(draw(st.lists(iunits, max_size=4))) for intent in sorted(linked)}
    )


def collection_of(query):
    """A collection with one query."""
    return Collection(name="collection", queries={query.id: query})


def run_of(summary, *, name="run"):
    """A run with one summary."""
    return Run(name=name, description="", summaries={"q": summary})
