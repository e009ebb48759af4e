"""Regimes of the battery: people, truth, and warnings that explain a miss.

Values and generators are others than those that the package was tuned on.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchmarks import coverage_patience_people as stops_of
from benchmarks import people_durations as durations
from benchmarks import people_tables as people
from benchmarks.coverage_people import Reading, Voting

Tables = dict[str, pd.DataFrame]


class Regime(NamedTuple):
    """People, their truth, and the names of warnings that explain a miss."""

    label: str
    tables: Callable[[np.random.Generator], Tables]
    truth: dict[str, float]
    names: str = ""


def away(label: str, who: durations.People, names: str = "", workers: int = 100, days: float = 7) -> Regime:
    mean, deviation = durations.truth_of(who)
    truth = {"away_mean_seconds": mean, "away_sd_seconds": deviation}
    if who.correlation is not None:
        truth |= {"session_mean_seconds": durations.SESSION, "session_sd_seconds": durations.SESSION}
    return Regime(label, lambda rng: durations.tables(who, workers, days, rng), truth, names)


def slow(label: str, names: str = "", **settings: Any) -> Regime:
    return Regime(
        label,
        lambda rng: people.reads(rng, **settings),
        {"reading_speed_mu": settings.get("mu", 1.29)},
        names,
    )


def depths(label: str, names: str = "", **settings: Any) -> Regime:
    truth = {"patience_chars_stops": settings.get("patience", 1100.0)}
    return Regime(label, lambda rng: people.read_depths(rng, **settings), truth, names)


def reading(
    label: str,
    names: str = "",
    *,
    fast: float = 0.0,
    times: float = 1.0,
    spread: float = 0.3,
    **settings: Any,
) -> Regime:
    """``fast`` is the share of people who take a time that follows length, but ``times`` faster than readers."""
    who = Reading(label=label, **settings)

    def tables(rng: np.random.Generator) -> Tables:
        reads = who.study(rng)
        hurried = reads["worker"].isin([f"W{u}" for u in range(round(fast * who.workers))])
        own = dict(zip(reads["worker"].unique(), np.exp(rng.normal(0, spread, who.workers)), strict=True))
        factor = np.where(hurried, times * reads["worker"].map(own).to_numpy(float), 1.0)
        return {"reads": reads.assign(dwell_seconds=reads["dwell_seconds"] / factor)}

    return Regime(label, tables, {"reading_speed_mu": 1.29}, names)


def late(label: str, names: str = "", **settings: Any) -> Regime:
    truth = {"lateness_decay": settings.get("decay", 0.5)}
    return Regime(label, lambda rng: people.late_answers(rng, **settings), truth, names)


def push(label: str, names: str = "", **settings: Any) -> Regime:
    truth = {"push_P_E": 0.5, "push_P_0": 0.5}
    return Regime(label, lambda rng: people.pushes(rng, **settings), truth, names)


def patience(label: str, names: str = "", **settings: Any) -> Regime:
    truth = {"patience_chars_preferences": settings.get("patience", 840.0)}
    return Regime(label, lambda rng: people.summaries(rng, **settings), truth, names)


def stops(label: str, names: str = "", **settings: Any) -> Regime:
    return Regime(
        label,
        lambda rng: {"stops": stops_of.stopped(rng, **settings)},
        {"patience_chars_stops": 1500.0},
        names,
    )


def votes(label: str, names: str = "", **settings: Any) -> Regime:
    """The truth of P(i|q) differs from study to study: of it the mean share of intervals that hold it counts."""
    who = Voting(label=label, **settings)

    def tables(rng: np.random.Generator) -> Tables:
        cast, offered, truth = who.study(rng)
        tables.truth = truth  # type: ignore[attr-defined] # of the newest draw
        return {"intent_votes": cast, "intents": offered}

    return Regime(label, tables, {"P(i|q)": float("nan")}, names)


CARELESS, LAW = "careless_workers", "heavy_tails,short_tails,two_kinds_of_people"
P, L = durations.People, durations.log_normal
FAMILIES: dict[str, tuple[Regime, ...]] = {
    "away": (
        away("right", P(means=L())),
        away("right, S = .6 M", P(means=L(0.6))),
        away("gamma .7", P(means=durations.gamma(0.7)), LAW),
        away("gamma 3", P(means=durations.gamma(3)), LAW),
        away("uniform .2-1.8", P(means=durations.uniform(0.2)), LAW),
        away("uniform .5-1.5", P(means=durations.uniform(0.5)), LAW),
        away("heavy .6", P(means=durations.heavy(0.6)), LAW),
        away("heavy .6, 50 people", P(means=durations.heavy(0.6)), LAW, workers=50),
        away("heavy .4, 40 people", P(means=durations.heavy(0.4)), LAW, workers=40),
        away("two kinds .4 1.6", P(means=durations.two_kinds(0.4, 1.6)), LAW),
        away("habits", P(means=durations.beyond_a_day(0.7), daily=True), "regular_visits"),
        away("days sd .4", P(means=L(), pace=durations.common_days(0.4)), "days_differ"),
        away("days sd .5, 400", P(means=L(), pace=durations.common_days(0.5)), "days_differ", workers=400),
        away("days sd .25", P(means=L(), pace=durations.common_days(0.25)), "days_differ"),
        away("fading 10 d", P(means=L(), pace=durations.fading(10)), "interest_fades"),
        away("fading 5 d", P(means=L(), pace=durations.fading(5)), "interest_fades"),
        away("drop-outs 15 %", P(means=L(), leaving=0.15), "drop_outs"),
        away("drop-outs 5 %", P(means=L(), leaving=0.05), "drop_outs"),
        away("right, 25 people, 14 d", P(means=L()), workers=25, days=14),
        away("right, 60 people, 4 d", P(means=L(0.4)), workers=60, days=4),
        away("right, 150 people, 3 d", P(means=L(1.5)), workers=150, days=3),
        away("right, 400 people", P(means=L()), workers=400, days=4),
        away("right, 10 people, 14 d", P(means=L(0.7)), workers=10, days=14),
        away("right, enrol over half", P(means=L(), enrolled_by=0.5), workers=80, days=10),
        away("gamma 1.5, 60 people, 14 d", P(means=durations.gamma(1.5)), LAW, workers=60, days=14),
        away("gamma .5, 150 people", P(means=durations.gamma(0.5)), LAW, workers=150),
        away("uniform .1, 40 people, 14 d", P(means=durations.uniform(0.1)), LAW, workers=40, days=14),
        away("uniform .4, 250 people", P(means=durations.uniform(0.4)), LAW, workers=250),
        away("heavy .8, 150 people", P(means=durations.heavy(0.8)), LAW, workers=150),
        away("heavy .5, 400 people, 14 d", P(means=durations.heavy(0.5)), LAW, workers=400, days=14),
        away("heavy .6, 25 people", P(means=durations.heavy(0.6)), LAW, workers=25),
        away("two kinds .3 3, 80 %, 150", P(means=durations.two_kinds(0.3, 3, 0.8)), LAW, workers=150),
        away("two kinds .2 1.2, 25 %, 70", P(means=durations.two_kinds(0.2, 1.2, 0.25)), LAW, workers=70),
        away("asleep 8 h", P(means=L(), pace=durations.asleep(8)), "hours_differ"),
        away("asleep 9 h, 40 people", P(means=L(0.7), pace=durations.asleep(9)), "hours_differ", workers=40),
        away("fading 20 d, 150, 14 d", P(means=L(), pace=durations.fading(20)), "interest_fades", 150, 14),
        away("growing 6 d", P(means=L(), pace=durations.fading(-6)), "interest_grows"),
        away("drop-outs 20 %, 60 people, 14 d", P(means=L(), leaving=0.2), "drop_outs", 60, 14),
        away("drop-outs 40 %, 25 people", P(means=L(), leaving=0.4), "drop_outs", 25, 10),
        away("bursts, shape .5", P(means=L(), within=0.5), "uneven_visits"),
        away("even, shape 2", P(means=L(), within=2.0), "regular_visits"),
        away("even, shape 3, 40 people", P(means=L(0.5), within=3.0), "regular_visits", workers=40, days=10),
        away("1 bot of 70", P(means=L(), bots=1), LAW, workers=70),
        away("3 bots of 100", P(means=L(), bots=3), LAW),
        away(
            "habits 1 + .3, 40",
            P(means=durations.beyond_a_day(0.3), daily=True),
            "regular_visits",
            workers=40,
        ),
        away(
            "days sd .6, 30 people, 14 d",
            P(means=L(), pace=durations.common_days(0.6)),
            "days_differ",
            30,
            14,
        ),
    ),
    "sessions": (
        away("A D -.6", P(means=L(), correlation=-0.6)),
        away("A D -.9", P(means=L(), correlation=-0.9)),
        away("A D .6", P(means=L(), correlation=0.6)),
        away("A D 0", P(means=L(), correlation=0.0)),
        away("A D .3, 60 people", P(means=L(), correlation=0.3), workers=60, days=10),
        away("A D -.3, 150 people", P(means=L(), correlation=-0.3), workers=150, days=5),
        away("A D -.6, 25 people", P(means=L(), correlation=-0.6), workers=25, days=14),
        away("A D .6, bursts", P(means=L(), correlation=0.6, within=0.6), "uneven_visits"),
    ),
    "reading": (
        reading("right, own items", own_items=True),
        reading("right, 40 people, 20 items", workers=40, items=20),
        reading("items sd .4", "items_differ", item_sd=0.4),
        reading("items sd .2", "items_differ", item_sd=0.2),
        reading("15 % careless", "alike_times", careless=0.15),
        reading("30 % careless", "alike_times", careless=0.3),
        reading("20 % fast x2", "fast_workers", fast=0.2, times=2),
        reading("20 % fast x3", "fast_workers", fast=0.2, times=3),
        reading("20 % fast x4", "fast_workers", fast=0.2, times=4),
        reading("20 % fast x6", "fast_workers", fast=0.2, times=6),
        reading("10 % fast x4", "fast_workers", fast=0.1, times=4),
        reading("30 % fast x4", "fast_workers", fast=0.3, times=4),
        slow("right, 25 people, 8 items", people=25, items=8),
        slow("right, 150 people, 30 items", people=150, items=30, mu=1.5, sigma=0.4),
        slow("right, 10 people", people=10, items=20),
        slow("floor 1 s", "time_per_item", floor=1.0),
        slow("floor 3 s, 25 people", "time_per_item", people=25, floor=3.0),
        slow("floor 1 s, long texts", "time_per_item", floor=1.0, words=(20, 120)),
        slow("floor 2 s, one length", "time_per_item,narrow_lengths", floor=2.0, words=(15, 25)),
        slow("learning .5", learning=0.5),
        slow("learning 1, 25 people", learning=1.0, people=25),
        slow("whole seconds", "minimum_dwell", whole_seconds=True, words=(4, 20)),
        slow("5 bots of 60", "alike_times", bots=5),
        slow("2 bots of 25", "alike_times", bots=2, people=25),
        slow("heavy, 60 people", heavy=True),
        slow("two kinds +-.8", kinds_of_people=0.8, sigma=0.2),
        slow("tau 1", tau=1.0, people=100),
    ),
    "lateness": (
        late("right"),
        late("right, .7", decay=0.7),
        late("nuggets 20, sd .8", "nuggets_differ", nuggets=20 + 10, nugget_sd=0.8),
        late("nuggets 40, sd 1.3", "nuggets_differ", nuggets=40, nugget_sd=1.3),
        late("floor .1", "lateness_floor,not_geometric", floor=0.1),
        late("floor .25", "lateness_floor,not_geometric", floor=0.25),
        late("15 % careless", CARELESS, careless=0.15),
        late("30 % careless", CARELESS, careless=0.3),
        late("20 % careless, .3 yes", CARELESS, careless=0.2, yes=0.3),
        late("20 % careless, .95 yes", CARELESS, careless=0.2, yes=0.95),
        late("own decay .8", "workers_decay_differently", own_decay=0.8),
        late("right, 10 people x 40", people=10, each=40),
        late("right, 150 x 6, .3", people=150, each=6, decay=0.3),
        late("right, 25 x 10, 3 levels", people=25, each=10, levels=3),
        late("own decay .5, 150 x 10", "workers_decay_differently", people=150, each=10, own_decay=0.5),
        late("own decay 1.2, 25", "workers_decay_differently", people=25, own_decay=1.2),
        late("10 % always yes", CARELESS, careless=0.1, yes=1.0),
        late("15 % never yes", CARELESS, careless=0.15, yes=0.02),
        late("30 % careless, 25 x 12", CARELESS, careless=0.3, people=25, each=12),
        late("8 nuggets, sd 1", "nuggets_differ", nuggets=8, each=8, people=60, nugget_sd=1.0),
        late("floor .2, .3, 25 people", "lateness_floor,not_geometric", floor=0.2, decay=0.3, people=25),
        late("floor .35, 150 x 8", "lateness_floor,not_geometric", floor=0.35, people=150, each=8),
    ),
    "push": (
        push("right"),
        push("right, 10 topics, unexplained .6", topics=10, unexplained=0.6),
        push("right, 10 topics, 20 x 20", topics=10, people=20),
        push("power .5", "pain_form", power=0.5),
        push("power .3", "pain_form", power=0.3),
        push("power .7", "pain_form", power=0.7),
        push("power 0", "pain_form", power=0),
        push("power .5, 15 topics", "pain_form", power=0.5, topics=15, unexplained=0.4),
        push("right, 10 people x 60", people=10, each=60),
        push("right, 150 x 6, 20 topics", people=150, each=6, topics=20),
        push("right, own weights sd .6", own=0.6),
        push("right, 8 people, 8 topics", people=8, each=80, topics=8),
        push("lean left sd 1", "side_bias", left_sd=1.0),
        push("15 % always left", "side_bias,careless_workers", always_left=0.15),
        push("many ties", ties=4.0),
        push("sharp, power .5, 150 x 20", "pain_form", power=0.5, people=150, sharp=0.8),
        push("sharp, any push", "pain_form", power=0, sharp=0.8),
        push("unexplained 1.2, 12 topics", topics=12, unexplained=1.2, people=30),
    ),
    "patience": (
        patience("right, 10 on 25"),
        patience("right, 14 own on 10", people=14, topics=10, own_people=True),
        patience("right, effect .6", effect=0.6),
        patience("right, 500, 8 on 10", patience=500.0, people=8, topics=10),
        patience("CV .6", "patience_differs", cv=0.6),
        patience("CV .3", "patience_differs", cv=0.3),
        patience("exponential, 1", "decay_exponential", exponential=True),
        patience("exponential, .6", "decay_exponential", exponential=True, effect=0.6),
        patience("exponential, 1.5, 500", "decay_exponential", exponential=True, effect=1.5, patience=500.0),
        patience(
            "exponential, .8, 8 on 10", "decay_exponential", exponential=True, effect=0.8, people=8, topics=10
        ),
        patience("nobody reads", careless=1.0),
        patience("30 % by chance", "answers_by_chance", careless=0.3, people=15),
        patience("right, 1500, 25 x 8", patience=1500.0, people=25, topics=8),
        patience("right, 400, 5 on 30, ties 3", patience=400.0, people=5, topics=30, ties=3.0),
        patience("right, taste .8", taste=0.8),
        patience("right, few pairs", share_judged=0.15, people=30),
        patience("20 % always left", "answers_by_chance,side_bias", always_left=0.2, people=20),
        patience("by rank", "decay_exponential", by_rank=True),
        patience("CV 1.2, 25 people", "patience_differs", cv=1.2, people=25, topics=12),
        patience("CV .5, 6 own on 20", "patience_differs", cv=0.5, people=6, topics=20, own_people=True),
        patience(
            "exponential, 2, few pairs",
            "decay_exponential",
            exponential=True,
            effect=2,
            share_judged=0.2,
            people=25,
        ),
    ),
    "stops": (
        stops("right"),
        stops("right, 40 x 6 of 12", people=40, each=6, texts=12),
        stops("texts .3", "texts_differ", people=60, each=6, texts=15, text_sd=0.3),
        stops("texts .6", "texts_differ", people=60, each=6, texts=15, text_sd=0.6),
        stops("screens 400", screen=400.0),
        stops("screens 200", screen=200.0),
        stops("CV .6", "patience_differs", cv=0.6),
        stops("CV .25", "patience_differs", cv=0.25),
        stops("10 % to the end", "alike_stops", finish=0.1),
        stops("30 % at once", "alike_stops", quit_at_once=0.3),
        stops("exponential, 40 people", "decay_exponential", exponential=True, people=40),
        depths("right, 25 x 5", people=25),
        depths("right, 150 x 3, short texts", people=150, each=3, lengths=(0.4, 0.9), patience=2500.0),
        depths("right, 10 x 12", people=10, each=12),
        depths("right, 400 x 2", people=400, each=2),
        depths("own sd .4", "patience_differs", sd=0.4),
        depths("own sd .7, 25 x 4", "patience_differs", sd=0.7, people=25, each=4),
        depths("own sd .4, 200 x 2", "patience_differs", sd=0.4, people=200, each=2),
        depths(
            "own sd .5, one text each", "patience_differs,straight_survival_curve", sd=0.5, people=200, each=1
        ),
        depths("heavy .4", "patience_differs", sd=0.4, heavy=True),
        depths("rounded 100", "stops_by_screen", rounded=100.0),
        depths("rounded 500", "stops_by_screen", rounded=500.0),
        depths("tiring .8", "texts_differ,patience_differs", tiring=0.8),
        depths("by time .5", "patience_differs", by_time=0.5),
        depths("by time .3, 150 x 4", "patience_differs", by_time=0.3, people=150, each=4),
        depths("exponential-like .9", "patience_differs,decay_exponential", by_time=0.9),
    ),
    "votes": (
        votes("right, 20 x 8"),
        votes("right, 60 x 2", people=60, each=2),
        votes("right, 80 x 1", people=80, each=1),
        votes("15 % careless, 20 x 8", "random_ticks", careless=0.15),
        votes("30 % careless, 40 x 3", "random_ticks", careless=0.3, people=40, each=3),
        votes("20 % careless, 60 x 2", "random_ticks", careless=0.2, people=60, each=2),
        votes("20 % careless, 80 x 1", "random_ticks", careless=0.2, people=80, each=1),
        votes("30 % careless, 80 x 1", "random_ticks", careless=0.3, people=80, each=1),
        votes("right, 10 x 8", people=10),
        votes("breadth 1.5, 30 x 4", "ticking_breadth", breadth=1.5, people=30, each=4),
        votes("breadth .7, 150 x 2", "ticking_breadth", breadth=0.7, people=150, each=2),
        votes("25 % careless, 12 x 8", "random_ticks", careless=0.25, people=12),
        votes("25 % careless, 25 x 2", "random_ticks", careless=0.25, people=25, each=2),
    ),
}


JUDGES: dict[str, dict[str, Any]] = {
    "5 people judge all": {"people": 5},
    "14 people": {"people": 14},
    "8 people, 1 to 21 pairs": {"people": 8, "pairs": (1, 21)},
    "7 of its own, many ties": {"people": 7, "own_people": True, "ties": 2.0},
    "8 people, tastes of sd 1.2": {"people": 8, "taste": 1.2},
    "14 people, tastes of sd 1.6": {"people": 14, "taste": 1.6},
    "50 people": {"people": 50},
    "8 people, 21 pairs": {"people": 8, "pairs": (21, 21)},
    "14 people, 1 to 30 pairs": {"people": 14, "pairs": (1, 30)},
    "8 people, one pair": {"people": 8, "pairs": (1, 1)},
    "8 people, half of the votes ties": {"people": 8, "ties": 2.5},
    "14 people, 80 % ties": {"people": 14, "ties": 10.0},
    "5 people, 80 % ties": {"people": 5, "ties": 10.0, "pairs": (10, 10)},
    "5 of its own, 1 to 10 pairs": {"people": 5, "own_people": True, "pairs": (1, 10)},
    "10 people see half": {"people": 10, "seen": 0.5},
    "14 people, 3 always left": {"people": 14, "always_left": 0.2},
    "14 people, 3 by chance": {"people": 14, "careless": 0.2},
    "14 people, 8 queries, 1 to 30 pairs": {"people": 14, "queries": 8, "pairs": (1, 30)},
}
