"""The time-aware measures as the paper writes them, sum by sum and slowly, for the tests.

Every function takes a collection, its topic "q" and a list of documents, and knows nothing of arrays.
"""

from math import log2

PLAIN = "any time"


def rel(collection, document, subtopic, window=PLAIN):
    """Grade of a document for a subtopic, 0 if it lies in another window."""
    grade = max(0, collection.grades["q"].get(subtopic, {}).get(document, 0))
    return grade if window == PLAIN or collection.windows.get(document) == window else 0


def subtopics(collection):
    return list(dict.fromkeys([*collection.grades["q"], *collection.probability.get("q", {})]))


def relevant(collection):
    """Documents that are relevant to any subtopic."""
    documents = {document for judged in collection.grades["q"].values() for document in judged}
    return [one for one in sorted(documents) if any(rel(collection, one, c) for c in subtopics(collection))]


def p_window(collection):
    """P(t|q) of each window that has a relevant document."""
    found = relevant(collection)
    windows = [collection.windows[one] for one in found]
    return {window: windows.count(window) / len(found) for window in sorted(set(windows))}


def p_subtopic(collection):
    names = subtopics(collection)
    given = collection.probability.get("q")
    return {one: given.get(one, 0) if given else 1 / len(names) for one in names}


def precision(collection, documents, k, window):
    """Mean precision over subtopics, in one window."""
    names = subtopics(collection)
    return sum(sum(rel(collection, one, c, window) > 0 for one in documents[:k]) / k for c in names) / len(
        names
    )


def tia_p(collection, documents, k):
    return sum(p * precision(collection, documents, k, t) for t, p in p_window(collection).items())


def tia_ap(collection, documents, k=None):
    wanted = relevant(collection)
    total = 0.0
    for rank, document in enumerate(documents[:k], start=1):
        total += tia_p(collection, documents, rank) * (document in wanted)
    return total / len(wanted) if wanted else 0.0


def dcg(grades, k, gains):
    return sum(
        (2 ** (grade if gains == "graded" else min(grade, 1)) - 1) / log2(1 + rank)
        for rank, grade in enumerate(grades[:k], start=1)
    )


def ndcg(collection, documents, k, subtopic, window, gains):
    judged = collection.grades["q"].get(subtopic, {})
    best = sorted((rel(collection, one, subtopic, window) for one in judged), reverse=True)
    ideal = dcg(best, k, gains)
    return (
        dcg([rel(collection, one, subtopic, window) for one in documents], k, gains) / ideal if ideal else 0.0
    )


def err(collection, documents, k, subtopic, window, stop):
    """One reader's expected reciprocal rank."""
    probability = {
        "literal": lambda grade: 1.0 if grade else 0.0,
        "half": lambda grade: 0.5 if grade else 0.0,
        "graded": lambda grade: (2**grade - 1) / 8,
    }[stop]
    total, reading = 0.0, 1.0
    for rank, document in enumerate(documents[:k], start=1):
        stops = probability(rel(collection, document, subtopic, window))
        total += reading * stops / rank
        reading *= 1 - stops
    return total


def expected(collection, cell, *, renorm=False):
    """sum_t P(t|q) sum_c P(c|q) cell(c, t); with ``renorm`` over the subtopics that a window has."""
    total = 0.0
    for window, p_t in p_window(collection).items():
        shares = p_subtopic(collection)
        if renorm:
            here = {c: p for c, p in shares.items() if in_window(collection, c, window)}
            shares = {c: p / sum(here.values()) for c, p in here.items()} if sum(here.values()) else {}
        total += p_t * sum(p * cell(c, window) for c, p in shares.items())
    return total


def in_window(collection, subtopic, window):
    """How many documents of a window are relevant to a subtopic."""
    return sum(rel(collection, one, subtopic, window) > 0 for one in relevant(collection))


def p_within(collection, window, kind):
    """P(c|q,t)."""
    counts = {c: in_window(collection, c, window) for c in subtopics(collection)}
    if kind == "uniform_in_t":
        counts = {c: int(count > 0) for c, count in counts.items()}
    return {c: count / sum(counts.values()) for c, count in counts.items()}


def text_tia_err(collection, documents, k, stop, kind):
    return sum(
        p_t * p_c * err(collection, documents, k, c, PLAIN, stop)
        for window, p_t in p_window(collection).items()
        for c, p_c in p_within(collection, window, kind).items()
    )


def covered(collection, documents, k, by):
    """Subtopics and windows that the top of a list covers."""
    names = {c for c in subtopics(collection) if any(rel(collection, one, c) for one in documents[:k])}
    counted = documents[:k] if by == "any" else [one for one in documents[:k] if one in relevant(collection)]
    return names, {collection.windows.get(one) for one in counted} & set(p_window(collection))


def sbr(collection, documents, k):
    names, _ = covered(collection, documents, k, "any")
    return len(names) / len(subtopics(collection))


def t_sbr(collection, documents, k, by):
    names, windows = covered(collection, documents, k, by)
    return (len(names) + len(windows)) / (len(subtopics(collection)) + len(p_window(collection)))


def tia_sbr(collection, documents, k, by, alpha):
    names, windows = covered(collection, documents, k, by)
    of_subtopics = sum(p_subtopic(collection)[c] for c in names)
    return alpha * of_subtopics + (1 - alpha) * sum(p_window(collection)[t] for t in windows)
