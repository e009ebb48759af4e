"""How often the intervals and the ranks of `prefcal rank` hold the truth, in many sorts of studies, beside bootstraps of votes.

    python -m benchmarks.coverage_rank [STUDIES [REGIME ...]] [--jobs 1] [--scheduler ADDRESS]

People vote by Davidson's model; systems are better or worse by topic and by person than they are on the whole, drawn here. The true win
rates are means over such topics and people, the true worths those of one very large study of the same sort. `votes` is the
percentile interval of 200 bootstrap samples of the votes, as if votes were independent; `choix`, where it is installed, that of
choix's ilsr_pairwise (ties left out, as choix knows none), against the same very large study in choix's own model. docs/rank.md quotes the table.
"""

import argparse
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.replications import engine_arguments, replicated
from calibration.rank.judgments import JudgedSystems, win_rates
from calibration.rank.ranking import ranks_left_open
from calibration.rank.worths import fit_worths, no_worths
from metrics.engine import Engine, open_engine

try:
    import choix
except ImportError:
    choix = None

Floats: TypeAlias = NDArray[np.float64]
Rng: TypeAlias = np.random.Generator
RESAMPLES = 200
TIE_WEIGHT, SIDE = 0.5, 0.15


@dataclass(frozen=True, kw_only=True)
class Regime:
    """A sort of study.

    Attributes
    ----------
    topics, systems : int
        How many.
    votes : int
        JudgedSystems of each couple on each topic.
    people : int or None
        Who judge all topics; None: as many people of its own for every topic as a couple has votes.
    spread : float
        The log worths go from minus to plus this.
    by_topic, by_person : float
        Standard deviations of a system's log worth over topics, and of what a person adds to it.
    lost : float
        Share of the couples of a topic that nobody judges.
    uneven : bool
        Votes of a couple on a topic are from 1 to twice ``votes``.
    """

    topics: int = 20
    systems: int = 6
    votes: int = 6
    people: int | None = None
    spread: float = 0.5
    by_topic: float = 0.5
    by_person: float = 0.4
    lost: float = 0.0
    uneven: bool = False


REGIMES = {
    "own people per topic": Regime(),
    "same 12 people": Regime(people=12),
    "same 12 people, all alike": Regime(people=12, spread=0.0),
    "6 topics, own people": Regime(topics=6),
    "6 topics, same 12 people": Regime(topics=6, people=12),
    "6 people, 20 topics": Regime(people=6, by_person=0.6),
    "unbalanced couples": Regime(people=20, lost=0.4, uneven=True),
    "2 systems, 12 people": Regime(systems=2, people=12, spread=0.2),
    "20 systems, 30 people": Regime(systems=20, people=30, votes=2),
    "15 systems alike, 6 topics": Regime(systems=15, topics=6, spread=0.0, votes=3),
}


def worths(regime: Regime) -> Floats:
    return np.linspace(-regime.spread, regime.spread, regime.systems)


def drawn_study(regime: Regime, rng: Rng) -> JudgedSystems:
    """Draw the judgments of one study."""
    first, second = np.triu_indices(regime.systems, 1)
    couples = len(first)
    votes = np.full((regime.topics, couples), regime.votes)
    if regime.uneven:
        votes = rng.integers(1, 2 * regime.votes + 1, size=votes.shape)
    votes[rng.random(votes.shape) < regime.lost] = 0
    topic, couple = (np.repeat(place.ravel(), votes.ravel()) for place in np.indices(votes.shape))
    number = np.concatenate([np.arange(many) for many in votes.ravel()])
    if regime.people is None:
        worker, people = topic * votes.max() + number, regime.topics * int(votes.max())
    else:
        turn = rng.permuted(np.tile(np.arange(regime.people), (votes.size, 1)), axis=1)
        worker, people = turn[topic * couples + couple, number], regime.people
    own = worths(regime)
    on_topic = rng.normal(0, regime.by_topic, (regime.topics, regime.systems))
    of_person = rng.normal(0, regime.by_person, (people, regime.systems))
    is_turned = rng.random(len(topic)) < 0.5
    left = np.where(is_turned, second[couple], first[couple])
    right = np.where(is_turned, first[couple], second[couple])
    value = [own[side] + on_topic[topic, side] + of_person[worker, side] for side in (left, right)]
    return JudgedSystems(
        task="drawn",
        systems=tuple(f"s{number:02d}" for number in range(regime.systems)),
        left=left,
        right=right,
        for_left=votes_for_left(value[0] - value[1] + SIDE, rng),
        topic=topic,
        worker=np.unique(worker, return_inverse=True)[1],
    )


def votes_for_left(log_odds: Floats, rng: Rng) -> Floats:
    """Draw votes by Davidson's model: 1, 0 or 0.5."""
    left, right = np.exp(log_odds / 2), np.exp(-log_odds / 2)
    total = left + right + TIE_WEIGHT
    chance = rng.random(len(log_odds))
    return np.where(chance < left / total, 1.0, np.where(chance < (left + right) / total, 0.0, 0.5))


def true_win_rates(regime: Regime, rng: Rng) -> Floats:
    """Return the mean over topics, people and sides of the share that prefers each system, over all opponents."""
    own = worths(regime)
    noise = rng.normal(0, np.sqrt(2 * (regime.by_topic**2 + regime.by_person**2)), 400_000)
    rates = np.zeros(regime.systems)
    for place in range(regime.systems):
        for other in {*range(regime.systems)} - {place}:
            for side in (SIDE, -SIDE):
                half = (own[place] - own[other] + noise + side) / 2
                up, down = np.exp(half), np.exp(-half)
                rates[place] += ((up + TIE_WEIGHT / 2) / (up + down + TIE_WEIGHT)).mean() / 2
    return rates / (regime.systems - 1)


def large_study(regime: Regime, rng: Rng) -> JudgedSystems:
    """Draw a study of the same sort in which chance plays hardly any part."""
    couples = regime.systems * (regime.systems - 1) // 2
    large = replace(regime, topics=600_000 // (couples * 3), votes=3, people=None, uneven=False)
    return drawn_study(large, rng)


def wins(study: JudgedSystems) -> Floats:
    """Return how often the system of the row won against that of the column; ties are left out."""
    won = np.where(study.for_left == 1, study.left, study.right)
    lost = np.where(study.for_left == 1, study.right, study.left)
    systems = len(study.systems)
    cell = (won * systems + lost)[~study.is_tie]
    return np.bincount(cell, minlength=systems**2).reshape(systems, systems).astype(float)


def of_votes(study: JudgedSystems, rng: Rng) -> tuple[Floats, Floats]:
    """Return the percentile intervals of win rates over bootstrap samples of votes: over couples, topics pooled."""
    systems = len(study.systems)
    cell, many = study.left * systems + study.right, systems**2
    counts = np.stack([np.bincount(cell[study.for_left == vote], minlength=many) for vote in (1, 0, 0.5)])
    n = int(counts.sum())
    drawn = rng.multinomial(n, counts.ravel() / n, size=RESAMPLES).reshape(RESAMPLES, 3, systems, systems)
    won = drawn[:, 0] + drawn[:, 1].transpose(0, 2, 1) + (drawn[:, 2] + drawn[:, 2].transpose(0, 2, 1)) / 2
    met = (drawn.sum(axis=1) + drawn.sum(axis=1).transpose(0, 2, 1)).astype(float)
    with np.errstate(invalid="ignore"):
        rates = np.nanmean(won / met, axis=2)
    low, high = np.quantile(rates, [0.025, 0.975], axis=0)
    return low, high


def of_choix(study: JudgedSystems, truth: Floats, rng: Rng) -> NDArray[np.bool_]:
    """Return whether choix's bootstrap of votes holds the true worths; the dense form has the same estimates as ilsr_pairwise."""
    won = wins(study)
    drawn = rng.multinomial(int(won.sum()), won.ravel() / won.sum(), size=RESAMPLES).reshape(-1, *won.shape)
    replicates = [choix.ilsr_pairwise_dense(sample.astype(float), alpha=1e-6) for sample in drawn]
    low, high = np.quantile(replicates, [0.025, 0.975], axis=0)
    return (low <= truth) & (truth <= high)


class Truth(NamedTuple):
    """What is true of a sort of study: win rates, worths, and worths in choix's own model where it is installed."""

    rates: Floats
    worth: Floats
    of_choix: Floats | None


def truth_of(regime: Regime, rng: Rng) -> Truth:
    large = large_study(regime, rng)
    rates, worth = true_win_rates(regime, rng), fit_worths(large).worth
    return Truth(rates, worth, None if choix is None else choix.ilsr_pairwise_dense(wins(large), alpha=1e-6))


def held(regime: Regime, truth: Truth, place: int, number: int) -> dict[str, float]:
    """Return the share of one study's intervals that hold the truth, and whether all of its ranks do."""
    rng = np.random.default_rng([place, number])
    study = drawn_study(regime, rng)
    shares = win_rates(study)
    variances = shares.influence.covariances()
    reach = variances.of_one_each().errors().reach(0.95)
    found = {"win rate": float((np.abs(shares.value - truth.rates) <= reach).mean())}
    if not no_worths(study):
        fitted = fit_worths(study)
        reach = fitted.variances.errors().reach(0.95)
        found["worth"] = float((np.abs(fitted.worth - truth.worth) <= reach).mean())
    own = worths(regime)
    best = 1 + (own[:, None] < own[None] - 1e-9).sum(axis=1)
    worst = regime.systems - (own[:, None] > own[None] + 1e-9).sum(axis=1)
    low, high = ranks_left_open(shares.value, variances, 0.95, rng)
    found["all ranks"] = float(((low <= best) & (high >= worst)).all())
    found["mean ranks open"] = float((high - low + 1).mean())
    lowest, highest = of_votes(study, rng)
    found["votes: win rate"] = float(((lowest <= truth.rates) & (truth.rates <= highest)).mean())
    if truth.of_choix is not None:
        found["choix: worth"] = float(of_choix(study, truth.of_choix, rng).mean())
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("studies", nargs="?", type=int, default=1000)
    parser.add_argument("regimes", nargs="*", metavar="REGIME")
    engine_arguments(parser)
    options = parser.parse_args()
    with open_engine(jobs=options.jobs, scheduler=options.scheduler) as engine:
        for name in options.regimes or REGIMES:
            print(f"{name:<28}{covered(name, options.studies, engine)}", flush=True)


def covered(name: str, studies: int, engine: Engine) -> str:
    """Return how often the truth was held: of single systems, and of all ranks of a study at once."""
    regime, place = REGIMES[name], list(REGIMES).index(name)
    truth = truth_of(regime, np.random.default_rng(place))
    means = pd.DataFrame(replicated(engine, partial(held, regime, truth, place), studies)).mean()
    return "  ".join(f"{what} {value:.3f}" for what, value in means.items())


if __name__ == "__main__":
    main()
