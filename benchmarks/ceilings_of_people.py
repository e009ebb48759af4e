"""Ceilings predicted from half of real people's votes, against the other half.

    python -m benchmarks.ceilings_of_people TABLES... [--splits 20]

TABLES are folders as `prefcal import` makes them, of real crowds with several people a pair, such as the preferences on music similarity of Urbano
and others (2010) or on arguments of Habernal and Gurevych (UKPConvArg1, 2016). The votes of every pair are split into two panels
at random. The first says how often a second panel of its size would be on the side of its majority; then it is counted how often the
second one, which is such a panel, is. A person's votes on a pair stay in one panel.
"""

import argparse

import numpy as np
from numpy.typing import NDArray

from calibration.agree.judged_task import JudgedTask, judged_tasks
from calibration.tables.files import read_tables
from metrics.agreement.agreement import TIES, pair_credit
from metrics.agreement.ceiling import ceiling, one_vote_each

SEED = 37


def predicted_and_found(task: JudgedTask, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return prediction, its ends, and what the other panel reached, (conventions, 4)."""
    votes = task.votes
    worker = votes.crossing.worker
    kept, vote = one_vote_each(votes.for_a, votes.pair, worker)
    pair, query, worker = votes.pair[kept], votes.crossing.query[kept], worker[kept]
    order = np.lexsort((rng.random(len(pair)), pair))
    place = np.empty(len(pair), dtype=np.intp)
    begins = np.searchsorted(pair[order], np.arange(pair.max() + 1))
    place[order] = np.arange(len(pair)) - begins[pair[order]]
    size = np.bincount(pair)[pair] // 2
    first, second = place < size, (place >= size) & (place < 2 * size)
    made = ceiling(vote[first], pair[first], query[first], worker=worker[first])
    shares = [
        np.bincount(pair[half], vote[half], pair.max() + 1)
        / np.maximum(np.bincount(pair[half], minlength=pair.max() + 1), 1)
        for half in (first, second)
    ]
    there = np.bincount(pair[first], minlength=pair.max() + 1) > 1
    by_chance = np.where(
        shares[1][there] == 0.5, rng.choice([-1.0, 1.0], int(there.sum())), shares[1][there] - 0.5
    )
    return np.array(
        [
            [
                made.panel[ties].value,
                *made.panel[ties].interval(),
                float(np.nanmean(pair_credit(by_chance, shares[0][there], ties=ties))),
            ]
            for ties in TIES
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", nargs="+", metavar="TABLES")
    parser.add_argument("--splits", type=int, default=20)
    options = parser.parse_args()
    print(
        "| crowd | ties | predicted | the other panel | difference | within the interval |\n|---|---|---|---|---|---|"
    )
    for folder in options.tables:
        for task in judged_tasks(read_tables(folder)):
            rng = np.random.default_rng(SEED)
            found = np.array([predicted_and_found(task, rng) for _ in range(options.splits)])
            predicted, low, high, other = np.moveaxis(found, 2, 0)
            held = ((low <= other) & (other <= high)).mean(axis=0)
            for number, ties in enumerate(TIES):
                row = (predicted.mean(axis=0)[number], other.mean(axis=0)[number])
                print(
                    f"| {task.task} ({len(task.pairs):,} pairs) | {ties} | {row[0]:.3f} | {row[1]:.3f} | {row[0] - row[1]:+.3f} | {held[number]:.2f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
