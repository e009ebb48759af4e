"""Simulated coverage of intervals, ranks and p values of `prefcal rank`.

In many sorts of studies, beside a bootstrap of votes.

    python -m benchmarks.coverage_rank [STUDIES [REGIME ...]] [--jobs 1] [--scheduler ADDRESS] [--wmt16 DIR] [--votes]

People vote by Davidson's model; systems are better or worse by topic and by person than they are on the whole, drawn here. The true win
rates are means over such topics and people, the true worths those of one very large study of the same sort. Of tables that were
imported, with sides that were not drawn, the truth is without the effect of the side.

A regime of WMT16 takes from the public files (topic, worker, left, right, better; github cfedermann/wmt16) who judged what, and draws the votes.

With --votes the bootstraps too: `votes` is the percentile interval of 200 bootstrap samples of the votes, as if votes were independent;
`choix`, where it is installed, that of choix's ilsr_pairwise (ties left out, as choix knows none), against the same very large study in
choix's own model. docs/evidence.md shows the table.
"""

from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.replications import designs_parser, opened, replicated
from calibration.rank.judgments import JudgedSystems, duels, side_adjustment, win_rates
from calibration.rank.ranking import ranks_left_open
from calibration.rank.worths import fit_worths, no_worths
from metrics.parallel import Executor

try:
    import choix
except ImportError:
    choix = None

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.signedinteger]
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
    busiest : float
        With ``people``: share of the judgments that one of them gave. The others share the rest.
    side : float
        Log odds of the left side over the right one between equals.
    imported : bool
        Nobody knows that sides were drawn: the effect of the side is taken off.
    always_left : bool
        With ``imported``: the best system always stood on the left.
    design : str
        Name of a file of WMT16 that says who judged what.
    within : bool
        One topic, which is fixed.
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
    busiest: float = 0.0
    side: float = SIDE
    imported: bool = False
    always_left: bool = False
    design: str = ""
    within: bool = False


_WITHIN = Regime(topics=1, by_topic=0.0, within=True)
_WMT16 = ("deu-eng", "fin-eng", "ron-eng", "tur-eng")
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
    **{
        f"same {people} people, all alike": Regime(people=people, votes=min(people, 6), spread=0.0)
        for people in (3, 4, 5, 6, 8)
    },
    "same 4 people": Regime(people=4, votes=4),
    "15 systems alike, 4 people": Regime(systems=15, people=4, votes=4, spread=0.0),
    **{
        f"{topics} topics, 30 people, alike": Regime(topics=topics, people=30, spread=0.0)
        for topics in (3, 4, 5, 6)
    },
    "4 topics, same 12 people": Regime(topics=4, people=12),
    "12 people, one gave half": Regime(people=12, busiest=0.5),
    "30 people, one gave .3, alike": Regime(people=30, busiest=0.3, spread=0.0),
    "lean .8, drawn sides, imported": Regime(people=12, side=0.8, imported=True),
    "lean .8, best always left": Regime(people=12, side=0.8, imported=True, always_left=True),
    "lean .8, one always left, alike": Regime(
        people=12, side=0.8, imported=True, always_left=True, spread=0.0
    ),
    "lean .8, best always left, own": Regime(side=0.8, imported=True, always_left=True),
    "within a topic, 30 items, 100 people": replace(_WITHIN, systems=30, votes=5, people=100, spread=1.5),
    "within a topic, 30 items, alike": replace(_WITHIN, systems=30, votes=5, people=100, spread=0.0),
    "within a topic, 10 items, 12 people": replace(_WITHIN, systems=10, votes=5, people=12),
    "within a topic, 10 items, 6 people": replace(_WITHIN, systems=10, votes=5, people=6),
    "within a topic, one of 20 gave .3": replace(_WITHIN, systems=10, people=20, busiest=0.3),
    "within a topic, imported, lean .8": replace(
        _WITHIN, systems=10, people=30, votes=5, side=0.8, imported=True
    ),
    **{f"WMT16 {name}": Regime(design=name, imported=True) for name in _WMT16},
    **{f"WMT16 {name}, alike": Regime(design=name, imported=True, spread=0.0) for name in _WMT16},
}


class Design(NamedTuple):
    """Who judged what: arrays of codes, one entry a judgment, and how many systems there are."""

    topic: Ints
    worker: Ints
    left: Ints
    right: Ints
    systems: int


def worths(regime: Regime, systems: int) -> Floats:
    return np.linspace(-regime.spread, regime.spread, systems)


@lru_cache
def wmt16(folder: str, name: str) -> Design:
    """Read who judged what from a public file."""
    frame = pd.read_csv(Path(folder) / f"{name}.csv.gz", dtype=str)
    codes, systems = pd.factorize(pd.concat([frame["left"], frame["right"]]), sort=True)
    return Design(
        topic=pd.factorize(frame["topic"])[0],
        worker=pd.factorize(frame["worker"])[0],
        left=codes[: len(frame)],
        right=codes[len(frame) :],
        systems=len(systems),
    )


def drawn_design(regime: Regime, rng: Rng) -> Design:
    """Draw who judges what in one study."""
    first, second = np.triu_indices(regime.systems, 1)
    couples = len(first)
    votes = np.full((regime.topics, couples), regime.votes)
    if regime.uneven:
        votes = rng.integers(1, 2 * regime.votes + 1, size=votes.shape)
    votes[rng.random(votes.shape) < regime.lost] = 0
    topic, couple = (np.repeat(place.ravel(), votes.ravel()) for place in np.indices(votes.shape))
    number = np.concatenate([np.arange(many) for many in votes.ravel()])
    if regime.people is None:
        worker = topic * votes.max() + number
    elif regime.busiest:
        share = np.append(
            regime.busiest, np.full(regime.people - 1, (1 - regime.busiest) / (regime.people - 1))
        )
        worker = rng.choice(regime.people, size=len(topic), p=share)
    else:
        turn = rng.permuted(np.tile(np.arange(regime.people), (votes.size, 1)), axis=1)
        worker = turn[topic * couples + couple, number]
    is_turned = rng.random(len(topic)) < 0.5
    left = np.where(is_turned, second[couple], first[couple])
    right = np.where(is_turned, first[couple], second[couple])
    best = regime.systems - 1
    if regime.always_left:
        left, right = np.where(right == best, right, left), np.where(right == best, left, right)
    return Design(topic, np.unique(worker, return_inverse=True)[1], left, right, regime.systems)


def drawn_study(regime: Regime, rng: Rng, folder: str = "") -> JudgedSystems:
    """Draw the judgments of one study."""
    design = wmt16(folder, regime.design) if regime.design else drawn_design(regime, rng)
    topic, worker, left, right, systems = design
    own = worths(regime, systems)
    on_topic = rng.normal(0, regime.by_topic, (int(topic.max()) + 1, systems))
    of_person = rng.normal(0, regime.by_person, (int(worker.max()) + 1, systems))
    value = [own[side] + on_topic[topic, side] + of_person[worker, side] for side in (left, right)]
    return JudgedSystems(
        task="drawn",
        systems=tuple(f"s{number:02d}" for number in range(systems)),
        left=left,
        right=right,
        for_left=votes_for_left(value[0] - value[1] + regime.side, rng),
        topic=topic,
        worker=worker,
        has_drawn_sides=not regime.imported,
        fixed_topic="topic" if regime.within else None,
    )


def votes_for_left(log_odds: Floats, rng: Rng) -> Floats:
    """Draw votes by Davidson's model: 1, 0 or 0.5."""
    left, right = np.exp(log_odds / 2), np.exp(-log_odds / 2)
    total = left + right + TIE_WEIGHT
    chance = rng.random(len(log_odds))
    return np.where(chance < left / total, 1.0, np.where(chance < (left + right) / total, 0.0, 0.5))


def true_shares(regime: Regime, systems: int, rng: Rng) -> Floats:
    """Return the share that prefers the system of the row to that of the column, over topics, people and sides."""
    own = worths(regime, systems)
    noise = rng.normal(0, np.sqrt(2 * (regime.by_topic**2 + regime.by_person**2)), 400_000)
    shares = np.zeros((systems, systems))
    for side in (0.0,) if regime.imported else (regime.side, -regime.side):
        for difference in np.unique((own[:, None] - own).round(9)):
            half = (difference + noise + side) / 2
            up, down = np.exp(half), np.exp(-half)
            share = ((up + TIE_WEIGHT / 2) / (up + down + TIE_WEIGHT)).mean()
            shares[np.isclose(own[:, None] - own, difference)] += share
    return shares / (1 if regime.imported else 2)


def large_study(regime: Regime, systems: int, rng: Rng) -> JudgedSystems:
    """Draw a study of the same sort in which chance plays hardly any part."""
    couples = systems * (systems - 1) // 2
    large = replace(
        regime,
        topics=600_000 // (couples * 3),
        votes=3,
        people=None,
        uneven=False,
        systems=systems,
        design="",
        busiest=0.0,
        within=False,
    )
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
    """What is true of a sort of study: shares of couples, win rates, worths, and worths in choix's own model where it is asked for."""

    shares: Floats
    rates: Floats
    worth: Floats
    of_choix: Floats | None


def truth_of(regime: Regime, folder: str, rng: Rng, *, votes: bool) -> Truth:
    study = drawn_study(regime, rng, folder)
    systems = len(study.systems)
    shares = true_shares(regime, systems, rng)
    if regime.design:
        expected = replace(study, for_left=shares[study.left, study.right], has_drawn_sides=True)
        rates = win_rates(expected).value
    else:
        rates = (shares.sum(axis=1) - np.diagonal(shares)) / (systems - 1)
    large = large_study(regime, systems, rng)
    of_choix = choix.ilsr_pairwise_dense(wins(large), alpha=1e-6) if votes and choix else None
    return Truth(shares, rates, fit_worths(large).worth, of_choix)


def held(
    regime: Regime, truth: Truth, folder: str, place: int, number: int, *, votes: bool = False
) -> dict[str, float]:
    """Return the share of one study's intervals that hold the truth, whether all of its ranks do, and how often a true p is below .05."""
    rng = np.random.default_rng([place, number])
    study = drawn_study(regime, rng, folder)
    adjustment = side_adjustment(study)
    shares = win_rates(study, adjustment)
    variances = shares.influence.covariances()
    reach = variances.of_each().errors().half_width(0.95)
    counts = {"win rate": _held(shares.value - truth.rates, reach), "width": float(2 * np.median(reach))}
    counts["refused"] = float(np.isnan(reach).mean())
    if not no_worths(study):
        fitted = fit_worths(study)
        counts["worth"] = _held(fitted.worth - truth.worth, fitted.variances.errors().half_width(0.95))
    met = duels(study, adjustment)
    errors = met.shares.influence.variances().errors()
    counts["duels"] = _held(met.shares.value - truth.shares[met.first, met.second], errors.half_width(0.95))
    if not regime.spread:
        p = errors.p_values(met.shares.value - 0.5)
        counts["p < .05"] = float((p[~np.isnan(p)] < 0.05).mean()) if (~np.isnan(p)).any() else np.nan
    own = worths(regime, len(study.systems))
    best = 1 + (own[:, None] < own[None] - 1e-9).sum(axis=1)
    worst = len(own) - (own[:, None] > own[None] + 1e-9).sum(axis=1)
    low, high = ranks_left_open(shares.value, variances, 0.95)
    counts["all ranks"] = float(((low <= best) & (high >= worst)).all())
    counts["mean ranks open"] = float((high - low + 1).mean())
    if votes:
        lowest, highest = of_votes(study, rng)
        counts["votes: win rate"] = float(((lowest <= truth.rates) & (truth.rates <= highest)).mean())
    if truth.of_choix is not None:
        counts["choix: worth"] = float(of_choix(study, truth.of_choix, rng).mean())
    return counts


def _held(error: Floats, reach: Floats) -> float:
    """Return the share of intervals that hold the truth, of those that there are."""
    known = ~np.isnan(reach)
    return float((np.abs(error[known]) <= reach[known]).mean()) if known.any() else np.nan


def main() -> None:
    parser = designs_parser(__doc__, 1000, "REGIME")
    parser.add_argument("--wmt16", metavar="DIR", default="", help="folder of the files of WMT16")
    parser.add_argument("--votes", action="store_true", help="the bootstraps of votes too")
    with opened(parser) as (options, engine):
        known = [name for name, regime in REGIMES.items() if options.wmt16 or not regime.design]
        for name in options.names or known:
            line = covered(name, options.studies, engine, options.wmt16, votes=options.votes)
            print(f"{name:<38}{line}", flush=True)


def covered(name: str, studies: int, engine: Executor, folder: str, *, votes: bool) -> str:
    """Return how often the truth was held: of single systems, and of all ranks of a study at once."""
    regime, place = REGIMES[name], list(REGIMES).index(name)
    truth = truth_of(regime, folder, np.random.default_rng(place), votes=votes)
    one = partial(held, regime, truth, folder, place, votes=votes)
    means = pd.DataFrame(replicated(engine, one, studies)).mean()
    return "  ".join([f"R {studies}", *(f"{what} {value:.3f}" for what, value in means.items())])


if __name__ == "__main__":
    main()
