"""How much longer `prefcal agree` takes where judges that are no people judged too.

    python -m benchmarks.agree_judges [JUDGMENTS]

A million votes of 500 people, by default, on 100,000 pairs of 2,223 queries with ten systems each; three measures. The same again with three
judges, each in both orders of every pair: 600,000 verdicts. The whole command in a process of its own, reading and writing included.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.command import run_prefcal, shown_use

PEOPLE, TOPICS, SYSTEMS, PAIRS, MILLION = 500, 2_223, 10, 100_000, 1_000_000
JUDGES = {"careful": 0.5, "quick": 1.5, "random": 9.0}
"""Each with the spread of its errors."""
MEASURES = {"A": 0.3, "B": 0.5, "C": 1.0}


def write_study(room: Path, judgments: int) -> None:
    """Write tables of people alone, tables with judges, and scores."""
    rng = np.random.default_rng(1)
    worth = rng.normal(0, 0.7, (TOPICS, SYSTEMS))
    first, second = np.triu_indices(SYSTEMS, 1)
    topic = np.repeat(np.arange(TOPICS), len(first))[:PAIRS]
    low, high = np.tile(first, TOPICS)[:PAIRS], np.tile(second, TOPICS)[:PAIRS]
    lead = worth[topic, low] - worth[topic, high]
    pair = np.arange(judgments) % PAIRS
    people = _rows(
        rng, topic, low, high, pair, lead[pair] + rng.logistic(size=judgments), rng.random(judgments) < 0.5
    )
    people.insert(0, "worker", [f"w{number}" for number in rng.integers(0, PEOPLE, judgments)])
    verdicts = []
    for judge, spread in JUDGES.items():
        for order in (1, 2):
            seen = lead + rng.normal(0, spread, PAIRS)
            rows = _rows(rng, topic, low, high, np.arange(PAIRS), seen, np.full(PAIRS, order == 2))
            verdicts.append(rows.assign(worker=judge, order=order, repeat=1))
    for name, frames in (("people", [people]), ("judges", [people, *verdicts])):
        (room / name).mkdir()
        rows = pd.concat(frames, ignore_index=True)
        rows.insert(0, "judgment", [f"j{number}" for number in range(len(rows))])
        rows.astype({"order": "Int64", "repeat": "Int64"} if name == "judges" else {}).to_csv(
            room / name / "preferences.csv", index=False
        )
    pd.DataFrame({"worker": list(JUDGES), "kind": "model"}).to_csv(
        room / "judges" / "workers.csv", index=False
    )
    names, topics = np.tile(np.arange(SYSTEMS), TOPICS), np.repeat(np.arange(TOPICS), SYSTEMS)
    scores = pd.concat(
        pd.DataFrame(
            {
                "run": [f"s{number}" for number in names],
                "topic": [f"t{number}" for number in topics],
                "metric": measure,
                "value": worth.ravel() + rng.normal(0, spread, worth.size),
            }
        )
        for measure, spread in MEASURES.items()
    )
    scores.to_csv(room / "scores.csv", index=False)


def _rows(rng, topic, low, high, pair, lead, is_swapped) -> pd.DataFrame:  # noqa: ANN001 - arrays all
    """Return rows of preferences: a lead above 0 is for the system of the lower number."""
    is_tie = np.abs(lead) < 0.3
    left = np.where(is_swapped, high[pair], low[pair])
    right = np.where(is_swapped, low[pair], high[pair])
    side = np.where((lead > 0) != is_swapped, "left", "right")
    equal = np.where(rng.random(len(lead)) < 0.5, "equally_good", "equally_bad")
    return pd.DataFrame(
        {
            "task": "pairs",
            "topic": [f"t{number}" for number in topic[pair]],
            "system_left": [f"s{number}" for number in left],
            "system_right": [f"s{number}" for number in right],
            "choice": np.where(is_tie, equal, side),
        }
    )


def main(judgments: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        write_study(Path(name), judgments)
        print("| tables | processor | peak memory |\n|---|---|---|")
        seconds = []
        for tables in ("people", "judges"):
            words = ("agree", tables, "--scores", "scores.csv", "-o", f"results-{tables}")
            used = run_prefcal(*words, folder=Path(name))
            seconds.append(used.ru_utime + used.ru_stime)
            print(f"| {tables} | {shown_use(used)} |")
        print(f"\nwith judges {seconds[1] / seconds[0]:.2f} times the time without")


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else MILLION)
