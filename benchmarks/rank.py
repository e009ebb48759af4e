"""Time and memory of `prefcal rank`, beside choix and evalica if installed.

    python benchmarks/rank.py [JUDGMENTS SYSTEMS TOPICS WORKERS]

prefcal ranks with ties; choix's ilsr_pairwise with 200 bootstrap samples and evalica's Bradley-Terry (no intervals) take the same judgments, the
ties left out. choix is timed on few of its samples and the rest is reckoned. docs/rank.md quotes what it prints.
"""

import resource
import sys
import time
from collections.abc import Callable
from contextlib import suppress

import numpy as np
import pandas as pd

from calibration.rank.ranking import rank_systems

RESAMPLES, TIMED = 200, 2


def drawn(judgments: int, systems: int, topics: int, workers: int) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    left = rng.integers(systems, size=judgments)
    right = (left + rng.integers(1, systems, size=judgments)) % systems
    worth = np.linspace(-1, 1, systems)
    half = (worth[left] - worth[right] + 0.1) / 2
    weights = np.stack([np.exp(half), np.exp(-half), np.full(judgments, 0.5)])
    choice = (rng.random(judgments) * weights.sum(axis=0) > weights.cumsum(axis=0)).sum(axis=0)
    names = np.array([f"s{number:03d}" for number in range(systems)], dtype=object)
    return pd.DataFrame(
        {
            "task": "t",
            "worker": np.array([f"w{n}" for n in range(workers)])[rng.integers(workers, size=judgments)],
            "topic": np.array([f"q{n}" for n in range(topics)])[rng.integers(topics, size=judgments)],
            "system_left": names[left],
            "system_right": names[right],
            "choice": np.array(["left", "right", "equally_good"])[choice],
            "validation_of": None,
        }
    )


def timed(what: str, run: Callable[[], object], times: float = 1) -> None:
    """Print wall and processor seconds, and the largest memory so far."""
    wall, processor = time.perf_counter(), time.process_time()
    run()
    wall, processor = (
        times * (now - before)
        for now, before in ((time.perf_counter(), wall), (time.process_time(), processor))
    )
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"{what:<60} {wall:8.1f} s  {processor:8.1f} s of processor  {memory:.2f} GB", flush=True)


def main() -> None:
    size = [int(word) for word in sys.argv[1:]] or [1_000_000, 100, 200, 500]
    table = drawn(*size)
    print(f"{size[0]:,} judgments, {size[1]} systems, {size[2]} topics, {size[3]} workers")
    timed("prefcal rank, all intervals and ranks", lambda: rank_systems({"preferences": table}))
    decided = table[table["choice"] != "equally_good"]
    timed("prefcal rank, the same without ties", lambda: rank_systems({"preferences": decided}))
    won = decided["choice"] == "left"
    winner = decided["system_left"].where(won, decided["system_right"]).to_numpy()
    loser = decided["system_right"].where(won, decided["system_left"]).to_numpy()
    with suppress(ImportError):
        import choix  # noqa: PLC0415

        votes = np.stack([pd.factorize(side, sort=True)[0] for side in (winner, loser)], axis=1)
        rng = np.random.default_rng(1)

        def bootstrap() -> None:
            for _ in range(TIMED):
                choix.ilsr_pairwise(size[1], votes[rng.integers(len(votes), size=len(votes))])

        timed(f"choix ilsr_pairwise x {RESAMPLES} (timed {TIMED})", bootstrap, RESAMPLES / TIMED)
    with suppress(ImportError):
        import evalica  # noqa: PLC0415

        first = [evalica.Winner.X] * len(winner)
        timed(
            "evalica bradley_terry, one estimate",
            lambda: evalica.bradley_terry(list(winner), list(loser), first),
        )


if __name__ == "__main__":
    main()
