"""The Temporal Summarization measures written out in one loop: slow, and as close to their definition as code can be."""

import math

from metrics.topic_ids import short_form


def score(event, run, topic, *, year, binary=False, unsampled=None):
    """Every measure of one run and topic, plain and confidence-biased, by its column."""
    unsampled = unsampled or ("count" if year == "2014" else "skip")
    nuggets = {name: one for name, one in event.nuggets.items() if year == "2013" or one.importance > 0}
    worth = {name: relevance(one.importance, binary) for name, one in nuggets.items()}
    length = mean([words(one, year) for one in nuggets.values()])
    columns = zip(run.topics, run.updates, run.seconds.tolist(), run.confidence.tolist(), strict=True)
    lines = [line[1:] for line in columns if line[0] in {topic, short_form(topic)}]
    entries = [
        (seconds, update, 1 / (1 + place) if year == "2014" else min(confidence, 1000))
        for place, (update, seconds, confidence) in enumerate(lines)
    ]
    found, rows = set(), []
    for seconds, update, weight in sorted(entries, key=lambda entry: entry[0]):
        if update not in event.updates and unsampled == "skip":
            continue
        one = event.updates.get(update)
        judged = one.original if one is not None and one.original in event.updates else update
        one = event.updates.get(judged)
        size, marked = (1, set()) if one is None else (words(one, year), set())
        gain = late_gain = late = 0.0
        for match in event.matches.get(judged, ()) if one is not None else ():
            if match.nugget in nuggets and match.nugget not in found:
                found.add(match.nugget)
                marked |= marks(one.text.encode(), match.start, match.end)
                factor = 1 - 2 / math.pi * math.atan((seconds - nuggets[match.nugget].seconds) / 21600)
                gain += worth[match.nugget]
                late_gain += worth[match.nugget] * factor
                late += factor
        rows.append((weight, gain, late_gain, late, 1 + over(max(0, size - len(marked)), length)))
    return columns_of(rows, sorted(worth.values(), reverse=True), len(found), year)


def columns_of(rows, worth, found, year):
    n = len(rows)
    verbosity = sum(row[4] for row in rows)
    weight = sum(row[0] for row in rows)
    result = {"updates": n}
    for prefix, total in {
        "": lambda place: sum(row[place] for row in rows),
        "conf-": lambda place: sum(row[0] * row[place] for row in rows) / weight if weight > 0 else 0.0,
    }.items():
        plain = {
            "E[Gain]": over(total(1), verbosity),
            "ELG": over(total(2), verbosity),
            "C": over(total(1), sum(worth)),
            "LC": over(total(2), sum(worth)),
            "E[Latency]": over(total(3), n if year == "2014" else found),
            "E[Verbosity]": over(total(4), n),
        }
        best = mean(worth[:n])
        plain["nE[Gain]"] = over(plain["E[Gain]"], best)
        plain["nELG"] = over(plain["ELG"], best)
        plain["HM"] = over(2 * plain["nELG"] * plain["LC"], plain["nELG"] + plain["LC"])
        result |= {prefix + name: value for name, value in plain.items()}
    return result


def relevance(importance, binary):
    return float(importance != 0) if binary else math.exp(importance) / math.exp(3)


def words(one, year):
    return one.text.count(" ") + 1 if year == "2014" else one.words


def marks(text, start, end):
    """The numbers of the words that a match marks, counted from 0 and without -1."""
    b1 = sum(byte == ord(" ") for byte in text[: start + 1])
    b2 = sum(byte == ord(" ") for byte in text[:end])
    return {word for word in range(b1 - 1, b2) if word >= 0}


def mean(values):
    return over(sum(values), len(values))


def over(numerator, denominator):
    return numerator / denominator if denominator else 0.0
