"""Simulated coverage of agreement with unequal loads, few people, or fixed sides.

    python -m benchmarks.agreement_loads [STUDIES] [--only loads|sides] [--jobs 1] [--scheduler ADDRESS]

Loads: designs of the size of four crowds of WMT 2016, whose largest judge gave .15 to .29 of 10,188 to 30,519 votes, and small ones. People
differ in how far they follow a measure, queries too. The truth is the mean of all studies of a line.

Sides: 12 people judge 20 queries of 5 systems, one of which always stood on the left; people lean to the left by .8 in log odds. Two measures are
equally good, one of which likes that system and one of which does not. Votes as they are (not offered) stand beside what `agree` does with them.
"""

import argparse
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.replications import opened, replicated
from calibration.agree.comparisons import PlannedComparison, comparison_rows
from calibration.agree.judged_task import judged_tasks
from calibration.agree.result import ComparisonRole, NamedWhen
from calibration.tables.files import check_frame
from calibration.tables.tables import TABLES
from metrics.agreement.agreement import Ties, pair_credit
from metrics.agreement.crossed_errors import VotesByPerson, crossing
from metrics.parallel import Executor

Rng: TypeAlias = np.random.Generator
Floats: TypeAlias = NDArray[np.float64]
SEED, NU = 37, 0.6
TIES: tuple[Ties, ...] = ("half", "weighted")


class Loads(NamedTuple):
    """Design of a study with unequal loads.

    Queries, pairs a query, votes a pair, people, the exponent of their loads (Zipf), and the spread of their slopes.
    """

    queries: int
    pairs: int
    votes: int
    people: int
    exponent: float
    taste: float = 0.6


LOADS = {
    "DE-EN: 35 people, 20,900 votes": Loads(760, 21, 1, 35, 1.1),
    "DE-EN, people of one taste": Loads(760, 21, 1, 35, 1.1, 0.0),
    "FI-EN: 37 people, 30,500 votes": Loads(970, 16, 2, 37, 1.1),
    "RO-EN: 43 people, 15,800 votes": Loads(520, 15, 2, 43, 0.8),
    "TR-EN: 33 people, 10,200 votes": Loads(640, 16, 1, 33, 1.0),
    "4 people, 20 queries": Loads(20, 6, 4, 4, 0.0),
    "6 people, unequal": Loads(20, 6, 3, 6, 0.8),
    "8 people, unequal": Loads(20, 6, 4, 8, 1.0),
    "12 people": Loads(20, 6, 6, 12, 0.0),
    "12 people, 4 queries": Loads(4, 8, 6, 12, 0.0),
    "30 people, 6 queries": Loads(6, 6, 10, 30, 0.5),
}


def votes_of(log_odds: Floats, rng: Rng) -> Floats:
    """Draw votes of 1, 0 and .5 from Davidson's model."""
    one, other = np.exp(log_odds / 2), np.exp(-log_odds / 2)
    place = rng.random(log_odds.shape) * (one + other + NU)
    return np.where(place < one, 1.0, np.where(place < one + NU, 0.5, 0.0))


def study_of(loads: Loads, rng: Rng) -> tuple[VotesByPerson, Floats]:
    """Draw the votes of a study, and a measure's score differences."""
    pairs = loads.queries * loads.pairs
    share = 1 / np.arange(1, loads.people + 1) ** loads.exponent
    chances = np.log(share) + rng.gumbel(
        size=(pairs, loads.people)
    )  # the largest: a draw without replacement
    worker = np.argsort(-chances, axis=1)[:, : loads.votes].ravel()
    pair = np.repeat(np.arange(pairs), loads.votes)
    query = pair // loads.pairs
    difference = 1.4 * rng.normal(size=pairs)
    slope = (
        0.5
        + 0.3 * rng.normal(size=loads.queries)[query]
        + loads.taste * rng.normal(size=loads.people)[worker]
    )
    log_odds = slope * difference[pair] + 0.6 * rng.normal(size=pairs)[pair]
    codes = np.unique(worker, return_inverse=True)[1]
    votes = VotesByPerson(pair=pair, for_a=votes_of(log_odds, rng), crossing=crossing(query, codes))
    return votes, difference


def one_study(loads: Loads, number: int) -> list[tuple[float, float, float]]:
    """Return agreement, reach and degrees of freedom under each convention."""
    votes, difference = study_of(loads, np.random.default_rng([SEED, number]))
    found = []
    for ties in TIES:
        error = votes.error(difference, ties)
        value = float(pair_credit(difference, votes.share, ties=ties).mean())
        found.append((value, error.half_width(), error.df))
    return found


def print_loads(engine: Executor, studies: int) -> None:
    """Print coverage, and the median width beside 2 x 1.96 standard deviations of the estimates."""
    print("regime | ties: covers, width / (2 x 1.96 sd), median df", flush=True)
    for name, loads in LOADS.items():
        found = np.array(replicated(engine, partial(one_study, loads), studies))
        parts = []
        for place, ties in enumerate(TIES):
            value, reach, df = found[:, place].T
            covers = np.mean(np.abs(value - value.mean()) <= reach)
            parts.append(
                f"{ties}: {covers:.3f}, {np.nanmedian(reach) / (1.96 * value.std(ddof=1)):.2f}, {np.nanmedian(df):.1f}"
            )
        print(f"{name:32s} | {' | '.join(parts)}", flush=True)


SIDES = {
    "one system always left, lean .8, 1 vote a pair": (1, 0.8, True),
    "one system always left, lean .8, 4 votes": (4, 0.8, True),
    "one system always left, lean .8, 9 votes": (9, 0.8, True),
    "sides by lot, lean .8, 4 votes": (4, 0.8, False),
    "sides by lot, no lean, 4 votes": (4, 0.0, False),
}


def sided_study(votes: int, lean: float, always: bool, rng: Rng) -> tuple[pd.DataFrame, Floats]:  # noqa: FBT001 - from a table
    """Draw table preferences, and the score differences of two measures, (pairs, 2)."""
    queries, people, systems = 20, 12, 5
    taste = 0.3 * rng.normal(size=(2, people))
    first, second = np.triu_indices(systems, 1)
    rows, differences = [], []
    for query in range(queries):
        values = rng.normal(size=(3, systems))
        values[:2, 0] += 0.7, -0.7
        apart = values[:, first] - values[:, second]
        differences.append(apart[:2].T)
        for pair, (a, b) in enumerate(zip(first, second, strict=True)):
            for worker in rng.choice(people, votes, replace=False):
                a_left = bool(a == 0 and always) or rng.random() < 0.5
                log_odds = (0.5 + taste[:, worker]) @ apart[:2, pair] + 0.6 * apart[2, pair]
                vote = float(votes_of(np.array(log_odds if a_left else -log_odds) + lean, rng))
                choice = {1.0: "left", 0.0: "right"}.get(vote, "equally_good")
                left, right = (a, b) if a_left else (b, a)
                rows.append(
                    (f"w{worker}", "t", f"q{query:02d}", f"{query}-{a}-{b}", f"s{left}", f"s{right}", choice)
                )
    columns = ["worker", "task", "topic", "pair", "system_left", "system_right", "choice"]
    return pd.DataFrame(rows, columns=columns), np.concatenate(differences)


def one_sided_study(settings: tuple[int, float, bool], number: int) -> list[bool]:
    """Say whether equal measures are told apart: with votes as they are, then as `agree` compares them, each in three ways."""
    rng = np.random.default_rng([SEED, number])
    frame, differences = sided_study(*settings, rng)
    preferences = check_frame(frame, TABLES["preferences"])
    couple = PlannedComparison(
        standing=ComparisonRole.FAMILY, measure="A", against="B", in_family=True, named=NamedWhen.NOWHERE
    )
    found = []
    for drew_sides in (["t"], []):
        (task,) = judged_tasks({"preferences": preferences}, drew_sides=drew_sides)
        rows = comparison_rows(task, [couple], {"A": differences[:, 0], "B": differences[:, 1]}, rng)
        found += [row["p_t"] < 0.05 for row in rows]
    return found


def print_sides(engine: Executor, studies: int) -> None:
    """Print how often equal measures are distinguished at 5 %."""
    print(
        "regime | votes as they are: majority, weighted, votes | as agree compares: majority, weighted, votes",
        flush=True,
    )
    for name, settings in SIDES.items():
        rejected = np.mean(replicated(engine, partial(one_sided_study, settings), studies), axis=0)
        raw, made = (" ".join(f"{share:.3f}" for share in part) for part in np.split(rejected, 2))
        print(f"{name:48s} | {raw} | {made}", flush=True)


PARTS = {"loads": print_loads, "sides": print_sides}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("studies", nargs="?", type=int, default=300)
    parser.add_argument("--only", choices=PARTS)
    with opened(parser) as (options, engine):
        for name, part in PARTS.items():
            if options.only in (None, name):
                part(engine, options.studies)


if __name__ == "__main__":
    main()
