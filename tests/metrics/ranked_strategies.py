"""Random judged topics with time windows, and ranked lists, small enough to shrink to something readable."""

from hypothesis import strategies as st

from metrics.ranked.lists import RankedCollection, RankedRun

DOCUMENTS = tuple(f"d{number}" for number in range(9))
SUBTOPICS = ("a", "b", "c")
WINDOWS = ("1990", "1991", "1992")
UNJUDGED = ("u1", "u2")


@st.composite
def collections(draw, *, windows=WINDOWS, least_grade=-1):
    """One topic; some documents lie in no window, and then are relevant to nothing."""
    window = draw(st.dictionaries(st.sampled_from([*DOCUMENTS, *UNJUDGED]), st.sampled_from(windows)))
    judged = sorted(window) or ["nothing"]
    judged = [document for document in judged if document not in UNJUDGED]
    grades = st.dictionaries(st.sampled_from(judged), st.integers(least_grade, 3)) if judged else st.just({})
    subtopics = draw(st.lists(st.sampled_from(SUBTOPICS), min_size=1, unique=True))
    shares = draw(st.none() | st.lists(st.integers(0, 9), min_size=len(subtopics), max_size=len(subtopics)))
    probability = {}
    if shares is not None and sum(shares):
        probability = {"q": {one: share / sum(shares) for one, share in zip(subtopics, shares, strict=True)}}
    return RankedCollection(
        name="collection",
        grades={
            "q": {
                one: {doc: grade for doc, grade in draw(grades).items() if grade <= 0 or doc in window}
                for one in subtopics
            }
        },
        windows=window,
        probability=probability,
    )


lists = st.lists(st.sampled_from([*DOCUMENTS, *UNJUDGED, "x"]), unique=True).map(tuple)
depths = st.sampled_from([1, 2, 3, 5, 20])


def run_of(*documents, name="run", topic="q"):
    """A run with one list."""
    return RankedRun(name=name, rankings={topic: tuple(documents)})
