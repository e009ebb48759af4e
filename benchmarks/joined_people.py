"""What joining two waves without shared pseudonyms does to intervals.

python -m benchmarks.joined_people [STUDIES] draws studies of 16 people with tastes of their own, each of whom judges in two waves about different
topics, and gives each person one name, or another name in each wave. It prints for several tastes how wide the interval of a win rate is
with two names, as a share of the width with one, and how often both hold the win rate of all people.
"""

import sys
from itertools import combinations

import numpy as np
import pandas as pd
from scipy.special import expit

from calibration.rank.ranking import rank_systems

SYSTEMS, PEOPLE, TOPICS = 4, 16, 40
WORTHS = np.array([0.5, 0.2, 0.0, -0.4])
TASTES = (0.0, 0.5, 1.0, 2.0)
POPULATION = 200_000


def preferences(rng: np.random.Generator, taste: float) -> pd.DataFrame:
    """Draw votes on all pairs of 12 of 40 topics each, six in either wave."""
    rows = []
    for person in range(PEOPLE):
        own = WORTHS + rng.normal(0, taste, SYSTEMS)
        for wave in (0, 1):
            for topic in rng.choice(TOPICS // 2, 6, replace=False) + wave * TOPICS // 2:
                for i, j in combinations(range(SYSTEMS), 2):
                    left, right = (i, j) if rng.random() < 0.5 else (j, i)
                    choice = "left" if rng.random() < expit(own[left] - own[right]) else "right"
                    rows.append((f"p{person}", wave, "pairs", f"t{topic}", f"s{left}", f"s{right}", choice))
    columns = ["worker", "wave", "task", "topic", "system_left", "system_right", "choice"]
    frame = pd.DataFrame(rows, columns=columns)
    pair = (
        frame["topic"]
        + frame[["system_left", "system_right"]].min(axis=1)
        + frame[["system_left", "system_right"]].max(axis=1)
    )
    return frame.assign(
        judgment=[str(number) for number in frame.index],
        pair=pair,
        validation_of=None,
        decision_seconds=np.nan,
    )


def truth(taste: float) -> float:
    """Return the win rate of the first system among all people."""
    own = WORTHS + np.random.default_rng(0).normal(0, taste, (POPULATION, SYSTEMS))
    return float(np.mean([expit(own[:, 0] - own[:, j]).mean() for j in range(1, SYSTEMS)]))


def main(studies: int) -> None:
    """Print a row for each taste."""
    print(
        "| tastes, sd in log odds | R | width with two names / one | covers, one name | covers, two names |\n|---|---|---|---|---|"
    )
    for taste in TASTES:
        true, widths, covered = truth(taste), [], []
        for study in range(studies):
            rng = np.random.default_rng([study, int(10 * taste)])
            frame = preferences(rng, taste)
            intervals = []
            for named in (frame, frame.assign(worker=frame["worker"] + "." + frame["wave"].astype(str))):
                row = rank_systems({"preferences": named}).ranking.set_index("system").loc["s0"]
                intervals.append((row["win_low"], row["win_high"]))
            (low, high), (low_two, high_two) = intervals
            widths.append((high_two - low_two) / (high - low))
            covered.append((low <= true <= high, low_two <= true <= high_two))
        one, two = np.mean(covered, axis=0)
        print(f"| {taste:g} | {studies} | {np.median(widths):.2f} | {one:.3f} | {two:.3f} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
