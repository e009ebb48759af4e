"""Tables of a small study with graded answers, two criteria, reasons, repeats and gold pairs."""

import numpy as np
import pandas as pd

WORTHS = {"a": 0.9, "b": 0.2, "c": -0.3, "d": -0.8}
"""How good each system is, in log odds; of criterion `short` it is the other way round."""
CUTS = (0.4, 1.5)
"""Signed strengths change where worth and noise cross these, on either side."""


def answer(lead, rng, cuts=CUTS):
    """Draw choice and strength of a pair whose left side is better by this much."""
    grade = lead + rng.logistic()
    strength = sum(abs(grade) > cut for cut in cuts)
    return ("equally_good" if not strength else "left" if grade > 0 else "right"), strength


def graded_study(*, workers=12, topics=6, seed=1):
    """Return preferences, criteria, workers: everybody judges each topic's six couples, one twice, and three gold pairs of a topic."""
    rng = np.random.default_rng(seed)
    names, rows, asked = list(WORTHS), [], []
    couples = [(one, other) for place, one in enumerate(names) for other in names[place + 1 :]]
    for worker in range(workers):
        shown = [(f"q{topic}", *couple) for topic in range(topics) for couple in couples]
        shown += [("q0", "a", "b", f"J{worker}-0")] + [("gold", *couples[each], None) for each in range(3)]
        for number, (topic, one, other, *repeats) in enumerate(shown):
            left, right = (one, other) if rng.random() < 0.5 else (other, one)
            lead = WORTHS[left] - WORTHS[right]
            choice, strength = answer(lead, rng)
            judgment = f"J{worker}-{number}"
            rows.append(
                {
                    "judgment": judgment,
                    "worker": f"w{worker}",
                    "task": "answers",
                    "topic": topic,
                    "system_left": left,
                    "system_right": right,
                    "choice": choice,
                    "strength": strength,
                    "decision_seconds": 5 + 20 * rng.random(),
                    "validation_of": repeats[0] if repeats else None,
                    "gold": ("left" if lead > 0 else "right") if topic == "gold" else None,
                    "reason": f"because of {judgment}" if rng.random() < 0.3 else None,
                }
            )
            for criterion, about in (("correct", lead), ("short", -lead)):
                choice, strength = answer(about, rng)
                asked.append(
                    {"judgment": judgment, "criterion": criterion, "choice": choice, "strength": strength}
                )
    judged = pd.DataFrame(rows)
    of_gold = judged[judged["gold"].notna()]
    right = (of_gold["choice"] == of_gold["gold"]).groupby(of_gold["worker"]).mean()
    people = pd.DataFrame({"worker": right.index, "gold_right": right.to_numpy(), "excluded": False})
    return {"preferences": judged, "criteria": pd.DataFrame(asked), "workers": people}
