"""Tables of a small study of summaries with a known truth, for the tests of agreement and of the report."""

import itertools

import numpy as np
import pandas as pd

from calibration.agree.agree_tables import agree
from calibration.agree.score_sources import ScoreSources
from calibration.tables.files import check_frame
from calibration.tables.tables import TABLES
from metrics.summaries.score import m_from_positions

SYSTEMS = ("alpha", "beta", "gamma", "delta")
TASK = "summaries"


def table(name, rows):
    """Rows as a checked table."""
    return check_frame(pd.DataFrame(rows), TABLES[name])


def positions(topics, rng, *, systems=SYSTEMS):
    """Two intents a topic; each summary meets six of its iUnits at offsets of its own."""
    return [
        {
            "task": TASK,
            "topic": topic,
            "system": system,
            "intent": intent,
            "iunit": f"u{unit}",
            "importance": float(rng.integers(0, 5)),
            "offset_chars": float(rng.integers(20, 3000)),
        }
        for topic in topics
        for system in systems
        for intent in ("i1", "i2")
        for unit in range(6)
    ]


def intents(topics):
    return [
        {"topic": topic, "intent": intent, "probability": p}
        for topic in topics
        for intent, p in (("i1", 0.75), ("i2", 0.25))
    ]


def preferences(scores, workers, rng, *, sensitivity, ties=0.5, language="en"):
    """Every worker judges all pairs of every topic, by Davidson's model on the scores, sides at random."""
    rows = []
    for topic in sorted({topic for topic, _ in scores}):
        systems = sorted(system for where, system in scores if where == topic)
        for worker, (one, other) in itertools.product(range(workers), itertools.combinations(systems, 2)):
            left, right = (one, other) if rng.random() < 0.5 else (other, one)
            lead = sensitivity * (scores[topic, left] - scores[topic, right])
            odds = np.array([np.exp(lead / 2), np.exp(-lead / 2), ties / 2, ties / 2])
            rows.append(
                {
                    "judgment": f"j{len(rows)}",
                    "worker": f"w{worker:02d}",
                    "task": TASK,
                    "topic": topic,
                    "pair": f"{topic}-{one}-{other}",
                    "system_left": left,
                    "system_right": right,
                    "choice": rng.choice(
                        ["left", "right", "equally_good", "equally_bad"], p=odds / odds.sum()
                    ),
                    "decision_seconds": float(rng.integers(5, 40)),
                    "language": language,
                }
            )
    return rows


def study(seed=1, *, topics=6, workers=8, patience=800.0, sensitivity=1.0, language="en"):
    """Tables of a study whose workers prefer by M at a true patience."""
    rng = np.random.default_rng(seed)
    names = [f"q{number}" for number in range(topics)]
    where = table("positions", positions(names, rng))
    given = {topic: {"i1": 0.75, "i2": 0.25} for topic in names}
    m = m_from_positions(where.drop(columns="task"), given, [patience]).iloc[:, 0]
    judged = preferences(m.to_dict(), workers, rng, sensitivity=sensitivity / m.std() * 2, language=language)
    return {
        "preferences": table("preferences", judged),
        "positions": where,
        "intents": table("intents", intents(names)),
    }


def measured(tables, **evidence):
    return agree(ScoreSources(tables=tables, **evidence))


def value(found, measure, ties="against", column="agreement", exclusions="applied"):
    rows = found.agreement
    row = rows[(rows["measure"] == measure) & (rows["ties"] == ties) & (rows["exclusions"] == exclusions)]
    assert len(row) == 1
    return row[column].iloc[0]
