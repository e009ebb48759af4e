"""Simulated coverage of the ceilings' intervals, and their time.

The time is that of a million judgments.

    python -m benchmarks.coverage_ceilings [STUDIES [REGIME ...]] [--jobs 1] [--scheduler ADDRESS]
    python -m benchmarks.coverage_ceilings STUDIES [REGIME ...] --difference
    python -m benchmarks.coverage_ceilings million

People vote by Davidson's model on strengths of preference that are drawn here, apart from the package's simulators. The truth is what
a second panel of other people, and a metric that knows which side is preferred, reach in a very large study of the
same sort; where neither side is preferred the metric takes one by chance. The difference is that of a measure, which sees strengths with an
error, from a second panel. The tables are Markdown, for keep_rows.py; docs/evidence.md shows them.
"""

import argparse
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from benchmarks.replications import opened, replicated
from metrics.agreement.agreement import TIES, pair_credit
from metrics.agreement.ceiling import Ceiling, ceiling
from metrics.parallel import Executor

Rng: TypeAlias = np.random.Generator
Floats: TypeAlias = NDArray[np.float64]

STRENGTHS: dict[str, Callable[[Rng, tuple[int, int]], Floats]] = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "strong": lambda rng, shape: 2 * rng.choice([-1, 1], size=shape) * (1 + 0.3 * rng.normal(size=shape)),
    "half equal": lambda rng, shape: rng.choice([0, 1], size=shape) * 1.7 * rng.normal(size=shape),
}


@dataclass(frozen=True, kw_only=True)
class Regime:
    """A sort of study.

    Attributes
    ----------
    queries, pairs, votes : int
        Pairs a query, and votes a pair.
    strengths : str
        Of `STRENGTHS`.
    scale : float
        Log odds of a strength of 1.
    tie_weight : float
        nu of Davidson's model.
    people : int or None
        Who judge all queries, each of them by so many as there are votes a pair; None: own people of every query.
    taste : float
        Standard deviation of what a person likes a system more than others do, in log odds.
    gain : float
        Standard deviation of the log of a person's factor on all log odds.
    queries_differ : float
        Standard deviation of the log of a query's factor on all strengths.
    lost : float
        Share of judgments that were never made, so that votes a pair differ.
    """

    queries: int = 20
    pairs: int = 10
    votes: int = 10
    strengths: str = "normal"
    scale: float = 1.2
    tie_weight: float = 0.6
    people: int | None = None
    taste: float = 0.0
    gain: float = 0.3
    queries_differ: float = 0.0
    lost: float = 0.0


REGIMES = {
    "25 queries x 21 pairs x 14 votes": Regime(queries=25, pairs=21, votes=14),
    "few pairs: 12 x 3 x 8": Regime(queries=12, pairs=3, votes=8),
    "few pairs: 8 x 2 x 14": Regime(queries=8, pairs=2, votes=14),
    "56 % of the votes are ties": Regime(tie_weight=3.0),
    "71 % of the votes are ties": Regime(tie_weight=6.0),
    "weak preferences": Regime(scale=0.4),
    "strong preferences": Regime(strengths="strong", tie_weight=0.3),
    "strong preferences, 50 votes": Regime(votes=50, strengths="strong", tie_weight=0.3),
    "no preferences at all": Regime(scale=0.0),
    "3 votes": Regime(queries=25, votes=3),
    "5 votes": Regime(queries=25, votes=5),
    "50 votes": Regime(queries=10, votes=50),
    "half of the pairs equal, 5 votes": Regime(votes=5, strengths="half equal"),
    "half of the pairs equal, 14 votes": Regime(votes=14, strengths="half equal"),
    "gain differs: sd .9": Regime(gain=0.9),
    "queries differ: sd .7": Regime(queries=15, queries_differ=0.7),
    "a third of the votes missing": Regime(lost=0.33),
    "the same 5 people, taste .6": Regime(queries=25, pairs=21, votes=5, people=5, taste=0.6),
    "the same 14 people, taste .6": Regime(queries=25, votes=14, people=14, taste=0.6),
    "the same 10 people, gain differs: sd .9": Regime(people=10, gain=0.9),
    "40 people, each judges 5 queries, taste .6": Regime(queries=25, votes=8, people=40, taste=0.6),
    "the same 10 people, taste 1.5": Regime(people=10, taste=1.5),
}


SEEN = 0.6
"""Standard deviation of a measure's errors, in log odds."""


class Study(NamedTuple):
    """Votes (queries, pairs, votes) of 1, 0 or .5, NaN for none; who votes (queries, votes); how strongly which side is preferred."""

    votes: Floats
    who: NDArray[np.int64]
    strength: Floats


def drawn(regime: Regime, rng: Rng, strength: Floats | None = None) -> Study:
    """Draw a study; with strengths that are given, another panel of the same pairs."""
    shape = (regime.queries, regime.pairs)
    if strength is None:
        strength = _strength(regime, rng)
    people = regime.people or regime.queries * regime.votes
    who = np.arange(people).reshape(shape[0], -1) if regime.people is None else _assigned(regime, rng)
    taste = regime.taste * rng.normal(size=(people, 2 * regime.pairs))
    more = np.moveaxis((taste[:, : regime.pairs] - taste[:, regime.pairs :])[who], 2, 1)
    own = np.exp(regime.gain * rng.normal(size=people))[who][:, None]
    log_odds = (strength[..., None] + more) * own
    one, other = np.exp(log_odds / 2), np.exp(-log_odds / 2)
    place = rng.random(log_odds.shape) * (one + other + regime.tie_weight)
    votes = np.where(place < one, 1.0, np.where(place < one + other, 0.0, 0.5))
    votes[rng.random(votes.shape) < regime.lost] = np.nan
    return Study(votes, who, strength)


def _strength(regime: Regime, rng: Rng) -> Floats:
    factor = np.exp(regime.queries_differ * rng.normal(size=(regime.queries, 1)))
    return regime.scale * factor * STRENGTHS[regime.strengths](rng, (regime.queries, regime.pairs))


def _assigned(regime: Regime, rng: Rng) -> NDArray[np.int64]:
    return np.stack(
        [rng.choice(regime.people or 0, regime.votes, replace=False) for _ in range(regime.queries)]
    )


def truth(regime: Regime, rng: Rng) -> Floats:
    """Return what a second panel, a perfect metric and a measure reach, (3, conventions): of people of its own for every query."""
    large = replace(regime, queries=400, people=None)
    rounds = max(2, round(400_000 / (400 * regime.pairs * regime.votes / 5)))
    reached, errors = [], np.random.default_rng(4)
    for _ in range(rounds):
        strength = _strength(large, rng)
        first, second = drawn(large, rng, strength), drawn(replace(large, lost=0.0), rng, strength)
        twice = (~np.isnan(first.votes)).sum(axis=2).ravel() >= 2
        share = np.nanmean(first.votes.reshape(-1, regime.votes)[twice], axis=1)
        by_chance = rng.choice([-1e-9, 1e-9], size=share.size)
        choices = (
            np.nansum(np.where(np.isnan(first.votes), np.nan, second.votes) - 0.5, axis=2),
            np.sign(first.strength),
            measured(first, errors),
        )
        reached.append(
            [
                [
                    np.nanmean(pair_credit(choice.ravel()[twice] + by_chance, share, ties=ties))
                    for ties in TIES
                ]
                for choice in choices
            ]
        )
    return np.asarray(np.mean(reached, axis=0))


def measured(study: Study, rng: Rng) -> Floats:
    """Return the score differences of a measure that sees strengths with an error."""
    return study.strength + SEEN * rng.normal(size=study.strength.shape)


def found_in(study: Study) -> Ceiling:
    made = ~np.isnan(study.votes)
    query, pair, voter = np.nonzero(made)
    return ceiling(
        study.votes[made], query * study.votes.shape[1] + pair, query, worker=study.who[query, voter]
    )


def ceilings_of(study: Study) -> tuple[Floats, Floats]:
    """Return the ceilings (2, conventions) and their intervals (2, conventions, 2)."""
    found = found_in(study)
    values = [[found.panel[ties].value for ties in TIES], [found.perfect[ties].value for ties in TIES]]
    ends = [
        [found.panel[ties].interval() for ties in TIES],
        [found.perfect[ties].interval() for ties in TIES],
    ]
    return np.array(values), np.array(ends)


def ceilings_of_one(regime: Regime, number: int) -> tuple[Floats, Floats]:
    return ceilings_of(drawn(regime, np.random.default_rng([3, number])))


def coverage_row(name: str, regime: Regime, studies: int, engine: Executor) -> str:
    """Return a row on both ceilings: of ties that count half, and the least coverage of a convention."""
    true = truth(regime, np.random.default_rng(3))[:2]
    values, ends = (
        np.array(part)
        for part in zip(*replicated(engine, partial(ceilings_of_one, regime), studies), strict=True)
    )
    held = ((ends[..., 0] <= true) & (true <= ends[..., 1])).mean(axis=0)
    both = [cells(regime, true[row], values[:, row], ends[:, row]) for row in (0, 1)]
    least = [shown(of_one.min()) for of_one in held]
    return f"| {' | '.join([name, str(studies), *both[0], least[0], *both[1], least[1]])} |"


def cells(regime: Regime, true: Floats, values: Floats, ends: Floats, spec: str = ".3f") -> tuple[str, ...]:
    """Return true value and mean estimate, coverage, median width, and that over what the spread of estimates asks for, where a tie counts half."""
    half = list(TIES).index("half")
    truth, value, (low, high) = true[half], values[:, half], ends[:, half].T
    width = np.nanmedian(high - low)
    clusters = min(regime.queries, regime.people or regime.queries)
    asked = 2 * float(stdtrit(clusters - 1, 0.975)) * np.nanstd(value)
    means = f"{shown(truth, spec)}, {shown(np.nanmean(value), spec)}"
    return means, shown(((low <= truth) & (truth <= high)).mean()), shown(width), shown(width / asked)


def shown(value: float, spec: str = ".2f") -> str:
    """Return a number without the 0 before its point."""
    text = format(value, spec)
    return text.replace("0.", ".", 1) if abs(float(text)) < 1 else text


def difference_of_one(regime: Regime, number: int) -> Floats:
    """Return the difference from a second panel with its interval, (conventions, 3)."""
    study = drawn(regime, np.random.default_rng([3, number]))
    twice = (~np.isnan(study.votes)).sum(axis=2).ravel() >= 2
    scores = measured(study, np.random.default_rng([4, number])).ravel()[twice]
    found = found_in(study)
    return np.array([found.less_panel(scores, ties) for ties in TIES])


def difference_row(name: str, regime: Regime, studies: int, engine: Executor) -> str:
    """Return a row on ties that count half: truth, mean, coverage, width, that over what the spread of estimates asks for; other conventions' coverage."""
    panel, _, measure = truth(regime, np.random.default_rng(3))
    true = measure - panel
    found = np.array(replicated(engine, partial(difference_of_one, regime), studies))
    held = ((found[..., 1] <= true) & (true <= found[..., 2])).mean(axis=0)
    others = " ".join(shown(share) for ties, share in zip(TIES, held, strict=True) if ties != "half")
    row = (name, str(studies), *cells(regime, true, found[..., 0], found[..., 1:], "+.3f"), others)
    return f"| {' | '.join(row)} |"


def million() -> None:
    """Print how long a million judgments take, and the most memory."""
    for name, regime in {
        "1,000 queries x 21 pairs x 48 votes of 1,000 people": Regime(
            queries=1000, pairs=21, votes=48, people=1000
        ),
        "10,000 queries x 10 pairs x 10 votes of own people": Regime(queries=10_000),
    }.items():
        study = drawn(regime, np.random.default_rng(1))
        begun = time.perf_counter()
        ceilings_of(study)
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"{name}: {time.perf_counter() - begun:.1f} s, at most {most:.0f} MB with the study itself",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("studies", nargs="?", default="300")
    parser.add_argument("regimes", nargs="*", metavar="REGIME")
    parser.add_argument("--difference", action="store_true")
    with opened(parser) as (options, engine):
        if options.studies == "million":
            million()
        else:
            print_table(options, engine)


def print_table(options: argparse.Namespace, engine: Executor) -> None:
    """Print a row of each regime."""
    row = difference_row if options.difference else coverage_row
    of_one = "true, mean estimate | covered | width | of what is needed"
    head = (
        f"studies | R | {of_one} | covered: {', '.join(ties for ties in TIES if ties != 'half')}"
        if options.difference
        else f"studies | R | second panel: {of_one} | least | perfect measure: {of_one} | least"
    )
    print(f"| {head} |\n{'|---' * (head.count('|') + 1)}|")
    for name in options.regimes or REGIMES:
        print(row(name, REGIMES[name], int(options.studies), engine), flush=True)


if __name__ == "__main__":
    main()
