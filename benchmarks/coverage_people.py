"""Coverage and warnings for people outside the models.

The models are those of reading, intents and preferences.

    python -m benchmarks.coverage_people [--replications 300] [--only reading|intents|preferences] [--jobs 1] [--scheduler ADDRESS]

Every line is one regime: the share of 95 % intervals that hold the truth (of intents: of all P(i|q)), the share of studies with a warning
(few people, items or voters apart), and the share in which the interval or the range of other laws holds the truth, or a warning names
the cause. The studies are drawn here, apart from the package's own simulators.
"""

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd

from benchmarks.replications import (
    commonest,
    few,
    holds,
    print_head,
    print_row,
    replicated,
    run_parts,
    warned,
)
from calibration.checks.judges import judge_kinds
from calibration.checks.registry import run_checks
from calibration.fit.findings import checked as checked_fit
from calibration.inference.results import NotIdentifiedError
from calibration.inference.uncertainty import Interval
from calibration.models.intents import IntentBallots, fit_intents
from calibration.models.reading.fit import MU as READING_MU
from calibration.models.reading.fit import SIGMA as READING_SIGMA
from calibration.models.reading.fit import fit_reading_speed
from calibration.models.reading.rows import readings
from calibration.tables.files import check_frame
from calibration.tables.preferences import judged_pairs
from calibration.tables.tables import TABLES
from metrics.parallel import Executor

MU, SIGMA, TAU = 1.290, 0.558, 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    label: str
    workers: int = 60
    items: int = 15
    item_sd: float = 0.0
    careless: float = 0.0
    idle: float = 0.0
    own_items: bool = False
    heavy: bool = False
    own_scale: float = 0.0
    own_idle: float = 0.0
    own_skims: float = 0.0
    fast: float = 0.0
    times: float = 1.0
    tabs: float = 0.0
    tabs_of: float = 1.0
    overhead: float = 0.0
    reads: bool = True

    @property
    def causes(self) -> set[str]:
        """The names of warnings that say why an interval misses."""
        named = {
            "items_differ": self.item_sd,
            "alike_times": self.careless,
            "extra_time": self.own_idle + self.tabs,
            "skimmed_reads": self.own_skims,
            "own_scatter": self.own_scale,
            "fast_workers": self.fast,
            "time_per_item": self.overhead,
        }
        return {name for name, size in named.items() if size}

    @property
    def truth(self) -> float:
        """Mu of everybody who reads, however fast; the fast ones are no readers where ``reads`` is false."""
        return MU + self.fast * float(np.log(self.times)) * self.reads

    def study(self, rng: np.random.Generator) -> pd.DataFrame:
        """Draw table reads; careless people take about a second for every item.

        ``heavy``: reads scatter like Student's t with 3 degrees of freedom. ``own_scale``: deviation over people of the log of their
        scatter. ``own_idle``, ``own_skims``: mean over people of the share of their reads that have a pause, or are skimmed (Beta, of
        parameters that add up to 2). ``fast``: share of the people who read ``times`` as fast. ``tabs``: share of the reads of ``tabs_of`` of the people
        that have a minute or so in the background beside them. ``overhead``: seconds for every item beside its length.
        """
        shape = (self.workers, self.items)
        words = np.broadcast_to(rng.integers(8, 41, shape if self.own_items else self.items), shape)
        speed = rng.normal(MU, SIGMA, (self.workers, 1)) + rng.normal(0, self.item_sd, self.items)
        speed = speed + self.scatter(rng, shape) - 1.6 * (rng.random(shape) < self.idle)
        speed[: round(self.fast * self.workers)] += np.log(self.times)
        seconds = words * np.exp(-speed) + self.overhead
        away = round(self.tabs_of * self.workers) if self.tabs else 0
        seconds[-away or self.workers :] += np.where(
            rng.random((away, self.items)) < self.tabs,
            rng.lognormal(np.log(60), 1.0, (away, self.items)),
            0.0,
        )
        number = round(self.careless * self.workers)
        seconds[:number] = np.exp(rng.normal(0, 0.6, (number, self.items)))
        worker, item = (axis.ravel() for axis in np.indices(shape))
        name = worker * self.items + item if self.own_items else item
        rows = {
            "worker": [f"W{u}" for u in worker],
            "topic": "Q",
            "page": [f"P{u}" for u in worker],
            "item": [f"U{i}" for i in name],
            "kind": "update",
            "words": words.ravel(),
            "dwell_seconds": seconds.ravel(),
        }
        return check_frame(pd.DataFrame(rows), TABLES["reads"])

    def scatter(self, rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
        """By how much (log) single reads are faster than their reader."""
        apart = TAU * rng.standard_t(3, shape) / np.sqrt(3) if self.heavy else rng.normal(0, TAU, shape)
        own = (self.workers, 1)
        if self.own_scale:
            apart *= np.exp(rng.normal(0, self.own_scale, own))
        for share, shift in ((self.own_idle, -1.6), (self.own_skims, 1.6)):
            if share:
                apart += shift * (rng.random(shape) < rng.beta(2 * share, 2 - 2 * share, own))
        return apart


READING = (
    Reading(label="as the model says, items of their own", own_items=True),
    Reading(label="as the model says, the same 15 items"),
    Reading(label="as the model says, 40 x 20, 10 % idle", own_items=True, workers=40, items=20, idle=0.1),
    Reading(label="as the model says, 150 x 30", own_items=True, workers=150, items=30),
    Reading(label="as the model says, 25 x 8", own_items=True, workers=25, items=8),
    Reading(label="the same 15 items, sd .3", item_sd=0.3),
    Reading(label="the same 25 items, sd .5, 10 % idle", item_sd=0.5, items=25, idle=0.1),
    Reading(label="the same 8 items, sd .6, 30 people", item_sd=0.6, items=8, workers=30),
    Reading(label="20 % take a second for every item", own_items=True, careless=0.2),
    Reading(label="10 % of 40 do, 10 % idle", own_items=True, careless=0.1, workers=40, idle=0.1),
    Reading(label="the same 15 items, sd .3, and 20 % do", item_sd=0.3, careless=0.2),
    Reading(label="5 % of the reads in a background tab", own_items=True, tabs=0.05),
    Reading(label="20 % of the reads in a background tab", own_items=True, tabs=0.2),
    Reading(label="40 % of the reads of a fifth of the people", own_items=True, tabs=0.4, tabs_of=0.2),
    Reading(label="80 % of the reads of a fifth of the people", own_items=True, tabs=0.8, tabs_of=0.2),
    Reading(label="reads with heavy tails", own_items=True, heavy=True),
    Reading(label="people scatter differently (sd .4 of the log)", own_items=True, own_scale=0.4),
    Reading(label="people pause in a share of their own", own_items=True, own_idle=0.15),
    Reading(label="people skim a share of their own", own_items=True, own_skims=0.15),
    Reading(
        label="a fifth of 50 people reads twice as fast",
        workers=50,
        items=12,
        own_items=True,
        fast=0.2,
        times=2,
    ),
    Reading(label="a fifth scrolls, 4 times as fast", own_items=True, fast=0.2, times=4, reads=False),
    Reading(label="a second for every item beside its length", own_items=True, overhead=1.0),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Voting:
    label: str
    people: int = 20
    topics: int = 8
    each: int = 8
    careless: float = 0.0
    breadth: float = 0.0
    rates: tuple[float, float] = (0.8, 1.6)
    rarest: float = 0.02
    ticks_all: float = 0.0

    @property
    def causes(self) -> set[str]:
        """The names of warnings that say why an interval misses."""
        named = {
            "random_ticks": self.careless,
            "ticks_everything": self.ticks_all,
            "ticking_breadth": self.breadth,
        }
        return {name for name, size in named.items() if size}

    def study(
        self, rng: np.random.Generator
    ) -> tuple[pd.DataFrame, pd.DataFrame, dict[tuple[str, str], float]]:
        """Draw tables intent_votes and intents, and the truth; careless people tick each intent with probability 1/2.

        ``rates`` are the parameters of the Beta law of intents, of which none is below ``rarest``; a share ``ticks_all`` of the people ticks nearly every intent.
        """
        rates = [
            rng.beta(*self.rates, rng.integers(4, 8)).clip(self.rarest, 0.95) for _ in range(self.topics)
        ]
        truth = {
            (f"Q{t}", f"i{i}"): r / rate.sum() for t, rate in enumerate(rates) for i, r in enumerate(rate)
        }
        rows = []
        for person in range(self.people):
            lean = rng.normal(0, self.breadth)
            for topic in rng.choice(self.topics, self.each, replace=False):
                odds = np.log(rates[topic] / (1 - rates[topic])) + lean
                odds = 0 * odds if person < round(self.careless * self.people) else odds
                odds = 0 * odds + 4 if person >= round((1 - self.ticks_all) * self.people) else odds
                ticked = np.flatnonzero(rng.random(len(odds)) < 1 / (1 + np.exp(-odds)))
                named: list[str | None] = [f"i{i}" for i in ticked] or [None]
                rows += [(f"W{person}", f"Q{topic}", intent) for intent in named]
        votes = check_frame(pd.DataFrame(rows, columns=["worker", "topic", "intent"]), TABLES["intent_votes"])
        offered = check_frame(pd.DataFrame(list(truth), columns=["topic", "intent"]), TABLES["intents"])
        return votes, offered, truth


VOTING = (
    Voting(label="as the model says, 20 people, 8 topics each"),
    Voting(label="people tick many or few (sd 1 on the logit)", breadth=1.0),
    Voting(label="20 % careless, 20 people, 8 topics each", careless=0.2),
    Voting(label="30 % careless, 20 people, 8 topics each", careless=0.3),
    Voting(label="20 % careless, 40 people, 3 topics each", careless=0.2, people=40, each=3),
    Voting(label="20 % careless, 80 people, a topic each", careless=0.2, people=80, each=1),
    Voting(
        label="rare intents, 30 % careless, 40 people, 3 of 6 topics",
        careless=0.3,
        people=40,
        topics=6,
        each=3,
        rates=(0.6, 3.0),
        rarest=0.001,
    ),
    Voting(
        label="rare intents, 25 % careless, 50 people, 3 of 6 topics",
        careless=0.25,
        people=50,
        topics=6,
        each=3,
        rates=(0.6, 3.0),
        rarest=0.001,
    ),
    Voting(
        label="rare intents, 35 % careless, 40 people, 2 of 6 topics",
        careless=0.35,
        people=40,
        topics=6,
        each=2,
        rates=(0.7, 3.0),
        rarest=0.001,
    ),
    Voting(label="20 % tick everything, 25 people, 6 topics", people=25, topics=6, each=6, ticks_all=0.2),
    Voting(
        label="30 % tick everything, 60 people, 2 of 6 topics", people=60, topics=6, each=2, ticks_all=0.3
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    label: str
    people: int = 14
    each: int = 10
    careless: float = 0.0
    taste: float = 0.0
    qualities: float = 0.0

    def study(self, rng: np.random.Generator) -> pd.DataFrame:
        """Draw table preferences of 7 systems on 10 topics; careless people draw their answer by lot.

        ``qualities``: systems have two, and a person's weights of them are .5 with this deviation; 0: they have one, of weight 1.
        """
        worth = rng.normal(0, 1, (10, 7))
        second = rng.normal(0, 1, (10, 7)) if self.qualities else 0 * worth
        one, other = np.triu_indices(7, 1)
        rows = []
        for person in range(self.people):
            weights = rng.normal(0.5, self.qualities, 2) if self.qualities else (1.0, 0.0)
            for topic in rng.choice(10, self.each, replace=False):
                own = weights[0] * worth[topic] + weights[1] * second[topic] + rng.normal(0, self.taste, 7)
                half = (own[one] - own[other]) / 2 * (person >= round(self.careless * self.people))
                chance = np.stack([np.exp(half), np.exp(-half), np.full(len(half), 0.7)])
                drawn = rng.random(len(half)) > (chance / chance.sum(axis=0)).cumsum(axis=0)[:2]
                rows += [
                    (
                        f"W{person}",
                        "t",
                        f"Q{topic}",
                        f"P{i}-{j}",
                        f"s{i}",
                        f"s{j}",
                        ("left", "right", "equally_good")[c],
                    )
                    for i, j, c in zip(one, other, drawn.sum(axis=0), strict=True)
                ]
        names = ["worker", "task", "topic", "pair", "system_left", "system_right", "choice"]
        return check_frame(pd.DataFrame(rows, columns=names), TABLES["preferences"])


JUDGING = (
    Judging(label="as the model says, 14 people, 10 topics each"),
    Judging(label="tastes of their own (sd .6)", taste=0.6),
    Judging(label="tastes of their own (sd .6), 56 people, 2 topics each", taste=0.6, people=56, each=2),
    Judging(label="20 % careless, 14 people, 10 topics each", careless=0.2),
    Judging(label="20 % careless, 56 people, 2 topics each", careless=0.2, people=56, each=2),
    Judging(label="people care for different things, 8 people", people=8, qualities=0.5),
    Judging(label="people care for different things, 14 people", qualities=0.5),
    Judging(
        label="people care for different things, 56 people, 2 topics each", qualities=0.5, people=56, each=2
    ),
)


class Checked(NamedTuple):
    """One study of a family that has checks: its number, its interval, its warnings, and what other laws say."""

    estimate: float
    interval: Interval
    sigma_held: bool
    said: frozenset[str]
    laws: list[Interval]

    def holds(self, regime: Reading) -> bool:
        """Say whether the interval or the range of other laws holds the truth, or a warning names the cause."""
        ends = [self.interval, *self.laws]
        low = min(-np.inf if end is None else end for end, _ in ends)
        high = max(np.inf if end is None else end for _, end in ends)
        return low <= regime.truth <= high or bool(self.said & regime.causes)


def of_study(number: int) -> np.random.Generator:
    return np.random.default_rng([number, 77])


def read(regime: Reading, number: int) -> Checked | None:
    data = readings(regime.study(of_study(number)))
    try:
        fit = fit_reading_speed(data)
    except NotIdentifiedError:
        return None
    findings = run_checks(fit, data)
    laws = [law for finding in findings for law in finding.sensitivity.get(READING_MU, ())]
    return Checked(
        estimate=float(fit.estimates[0]),
        interval=fit.conf_int()[READING_MU],
        sigma_held=holds(fit.conf_int()[READING_SIGMA], SIGMA),
        said=warned(findings),
        laws=[(law.low, law.high) if law.low is not None else (law.estimate, law.estimate) for law in laws],
    )


def reading(replications: int, engine: Executor) -> None:
    print_head("regime", "R", "mu covers", "sigma covers", "width", "warned", "held", "median mu", "warnings")
    for regime in READING:
        found = replicated(engine, partial(read, regime), replications)
        made = [one for one in found if one is not None]
        listed = commonest((one.said for one in made), len(made))
        cells = (
            str(len(found)),
            f"{np.mean([holds(one.interval, regime.truth) for one in made]):.3f}",
            f"{np.mean([one.sigma_held for one in made]):.3f}",
            f"{width(made, regime.workers):.2f}",
            f"{np.mean([bool(one.said) for one in made]):.2f}",
            f"{np.mean([one.holds(regime) for one in made]):.2f}",
            f"{np.median([one.estimate for one in made]):.3f}",
            listed + (f"; {len(found) - len(made)} refused" if len(made) < len(found) else ""),
        )
        print_row(regime.label, *cells)


def width(made: list[Checked], workers: int) -> float:
    """Return the median width, in units of what a good estimator's would be."""
    ends = np.array([one.interval for one in made], dtype=np.float64)
    middle, deviation = np.median(ends[:, 1] - ends[:, 0]), np.std([one.estimate for one in made])
    return float(middle / (2 * 1.96 * deviation * few(workers)))


class Voted(NamedTuple):
    """One study of votes: shares of P(i|q) that the intervals hold, and that they or other laws do; warnings; the mean error."""

    held: float
    held_or_named: float
    said: frozenset[str]
    error: float


def voted(regime: Voting, number: int) -> Voted:
    rng = of_study(number)
    votes, offered, truth = regime.study(rng)
    data = IntentBallots(votes=votes, offered=offered)
    fit, findings = checked_fit(fit_intents(data, rng=rng), data)
    entries = fit.entries()
    found = [(entries[topic][intent], p) for (topic, intent), p in truth.items() if topic in entries]
    said = warned(findings)
    held = [
        holds(
            (
                min(entry.interval[0] or 0.0, *(law.low or 0.0 for law in entry.sensitivity), 1.0),
                max(entry.interval[1] or 1.0, *(law.high or 1.0 for law in entry.sensitivity), 0.0),
            ),
            p,
        )
        for entry, p in found
    ]
    return Voted(
        held=float(np.mean([holds(entry.interval, p) for entry, p in found])),
        held_or_named=1.0 if said & regime.causes else float(np.mean(held)),
        said=said,
        error=float(np.mean([abs(entry.estimate - p) for entry, p in found])),
    )


def intents(replications: int, engine: Executor) -> None:
    print_head("study", "R", "covered", "warned", "held", "median error", "warnings")
    for regime in VOTING:
        found = replicated(engine, partial(voted, regime), replications)
        shares = (
            np.mean([of(one) for one in found])
            for of in (lambda o: o.held, lambda o: bool(o.said), lambda o: o.held_or_named)
        )
        error = f"{np.median([one.error for one in found]):.3f}"
        listed = commonest((one.said for one in found), len(found))
        print_row(regime.label, str(len(found)), *(f"{share:.3f}" for share in shares), error, listed)


def judged(regime: Judging, number: int) -> tuple[set[int] | None, set[str]]:
    """Return the workers reported as random, or None, and names of findings."""
    kinds = judge_kinds(judged_pairs(regime.study(of_study(number))))
    if kinds is None:
        return None, set()
    careless = kinds.careless
    named = {int(name[1:]) for name in kinds.judges[careless.is_careless]} if careless else None
    return named, {finding.name for finding in kinds.findings()}


def preferences(replications: int, engine: Executor) -> None:
    names = ("`careless_workers`", "named who are", "named who are not", "`judges_differ`", "`opposite_camp`")
    print_head("study", *names)
    for regime in JUDGING:
        found = replicated(engine, partial(judged, regime), replications)
        named = [each for each, _ in found if each is not None]
        others = (
            f"{np.mean([name in said for _, said in found]):.2f}"
            for name in ("judges_differ", "opposite_camp")
        )
        careless = round(regime.careless * regime.people)
        right = np.sum([sum(person < careless for person in each) for each in named]) / max(
            1, careless * len(named)
        )
        wrong = np.mean([sum(person >= careless for person in each) for each in named]) if named else 0.0
        share = f"{right:.0%}" if careless and named else "-"
        print_row(regime.label, f"{len(named) / replications:.2f}", share, f"{wrong:.1f} people", *others)


if __name__ == "__main__":
    run_parts(__doc__, 300, {"reading": reading, "intents": intents, "preferences": preferences})
