"""Tables of people outside the models, with values of their own.

Others than those of the coverage programs.

Every generator here is written from the description of what people do, without the simulators of the package and without its
likelihoods. Times away, sessions, reading, votes and stops have theirs in `people_durations`, `coverage_people` and
`coverage_patience_people`.
"""

import math
from typing import Any

import numpy as np
import pandas as pd

Tables = dict[str, pd.DataFrame]
Rng = np.random.Generator
SYSTEMS = 7


def late_answers(
    rng: Rng,
    *,
    people: int = 50,
    each: int = 20,
    decay: float = 0.5,
    nuggets: int = 0,
    nugget_sd: float = 0.0,
    floor: float = 0.0,
    careless: float = 0.0,
    yes: float = 0.5,
    own_decay: float = 0.0,
    form: str = "geometric",
    levels: int = 6,
) -> Tables:
    """Whether updates were of use; the nuggets of people's own, or ``nuggets`` shared ones that are each as late to everybody.

    ``own_decay`` is the deviation of people's own decay on the logit; ``form`` is geometric, linear (use ends after four visits) or
    step (use ends after two).
    """
    number = nuggets or people * each
    late, interest = rng.integers(0, levels, number), nugget_sd * rng.standard_normal(number)
    rows = []
    for person in range(people):
        which = (
            rng.choice(number, each, replace=False)
            if nuggets
            else np.arange(person * each, (person + 1) * each)
        )
        odds = math.log(decay / (1 - decay)) + own_decay * rng.normal()
        own = 1 / (1 + math.exp(-odds))
        start = 1 / (1 + np.exp(-1.3 - 0.6 * rng.normal() - interest[which]))
        left = {
            "geometric": own ** late[which],
            "linear": np.maximum(0.02, 1 - late[which] / 4),
            "step": np.where(late[which] <= 2, 1.0, 0.1),
        }[form]
        chance = start * (floor + (1 - floor) * left)
        if rng.random() < careless:
            chance = np.full(each, yes)
        useful = rng.random(each) < chance
        rows += [
            (f"w{person}", "E", f"n{one}", int(late[one]), bool(answer))
            for one, answer in zip(which, useful, strict=True)
        ]
    return {"lateness": pd.DataFrame(rows, columns=["worker", "topic", "nugget", "visits_late", "useful"])}


def pushes(
    rng: Rng,
    *,
    topics: int = 40,
    people: int = 50,
    each: int = 20,
    days: int = 10,
    power: float = 1.0,
    sharp: float = 0.3,
    unexplained: float = 0.0,
    own: float = 0.2,
    left_sd: float = 0.0,
    always_left: float = 0.0,
    ties: float = 0.6,
    weights: tuple[float, ...] = (1.0, 0.5, 0.3, 0.5, 0.4),
    noise: float = 0.6,
    by_day: bool = False,
    gain_power: float = 1.0,
    gain_by_day: bool = False,
) -> Tables:
    """Cells of five streams a topic and judgments of pairs of them; pain grows with the count to this power, 0 for any push at all.

    ``noise``: how many pushes that are not relevant a stream has a day. ``by_day``: pain grows with that power of each day's pushes. Gain
    grows with what is relevant to ``gain_power``, or is that of a day with anything relevant (``gain_by_day``). People lean to the left
    side by log odds of their own (``left_sd``), or take it always (a share ``always_left``).
    """
    cells, judged = [], []
    values, of_days = np.empty((topics, 5, 5)), np.empty((topics, 5, 3))
    for topic in range(topics):
        silent = rng.random(days) < 0.3
        for system in range(5):
            found = rng.poisson(0.8 * rng.lognormal(-0.2, 0.6), days) * ~silent
            pushed = rng.poisson(noise * rng.lognormal(-0.2, 0.7), days)
            nothing = found + pushed == 0
            gain = (found * rng.choice([0.5, 1.0], days)).sum()
            values[topic, system] = (
                gain,
                (pushed * ~silent).sum(),
                (nothing & ~silent).sum(),
                (pushed * silent).sum(),
                (nothing & silent).sum(),
            )
            day = (pushed > 0) if power == 0 else pushed**power
            of_days[topic, system] = (day * ~silent).sum(), (day * silent).sum(), (found > 0).sum()
    names = ("gain", "nonrelevant_eventful", "silent_eventful", "nonrelevant_silent", "silent_silent")
    couples = [(one, other) for one in range(5) for other in range(one)]
    for topic in range(topics):
        for one, other in couples:
            cells += [
                (f"T{topic}", f"T{topic}/{one}-{other}", f"s{s}", days, "track", *values[topic, s])
                for s in (one, other)
            ]
    feel = values.copy()
    feel[..., 0] **= gain_power
    for place in (1, 3):
        feel[..., place] = (values[..., place] > 0) if power == 0 else values[..., place] ** power
    if by_day:
        feel[..., [1, 3]] = of_days[..., :2]
    if gain_by_day:
        feel[..., 0] = of_days[..., 2]
    liking = unexplained * rng.standard_normal((topics, 5))
    sign = np.array([1, -1, -1, -1, 1])
    for person in range(people):
        mine = np.array(weights) + own * rng.standard_normal(5)
        lean = left_sd * rng.standard_normal() if left_sd else 0.0
        lean = 50.0 if always_left and rng.random() < always_left else lean
        for _ in range(each):
            topic, (one, other) = int(rng.integers(topics)), couples[rng.integers(len(couples))]
            left, right = (one, other) if rng.random() < 0.5 else (other, one)
            worth = [sharp * (feel[topic, s] * sign @ mine) + liking[topic, s] for s in (left, right)]
            choice = _choice(np.array([worth[0] - worth[1] + lean]), rng, ties)[0]
            judged.append(
                (
                    f"w{person}",
                    "push",
                    f"T{topic}",
                    f"T{topic}/{one}-{other}",
                    f"s{left}",
                    f"s{right}",
                    choice,
                )
            )
    columns = ["topic", "pair", "system", "days", "convention", *names]
    return {
        "push_cells": pd.DataFrame(cells, columns=columns).assign(task="push"),
        "preferences": _preferences(judged),
    }


def summaries(
    rng: Rng,
    *,
    topics: int = 25,
    people: int = 10,
    own_people: bool = False,
    patience: float = 840.0,
    cv: float = 0.0,
    exponential: bool = False,
    effect: float = 1.0,
    careless: float = 0.0,
    taste: float = 0.3,
    ties: float = 0.6,
    always_left: float = 0.0,
    by_rank: bool = False,
    share_judged: float = 1.0,
) -> Tables:
    """Summaries of seven systems, and judgments of all pairs of a topic; patience is the median, of an exponential decay the 1/e length.

    ``by_rank`` has worth fall with the rank of an iUnit, as far as with characters on average. Each person judges ``share_judged`` of the pairs.
    """
    positions, intents, judged = [], [], []
    who = np.exp(math.sqrt(math.log1p(cv**2)) * rng.standard_normal(people * (topics if own_people else 1)))
    keen = np.exp(rng.normal(0, 0.3, len(who)))
    at_random = rng.random(len(who)) < careless
    leaning = 50.0 * (rng.random(len(who)) < always_left) if always_left else np.zeros(len(who))
    worths: list[tuple[str, np.ndarray, np.ndarray]] = []
    for topic in range(topics):
        share = rng.dirichlet(np.full(3, 2.0))
        intents += [(f"q{topic}", f"i{k}", round(p, 6)) for k, p in enumerate(share[:-1])]
        intents.append((f"q{topic}", "i2", round(1 - sum(round(p, 6) for p in share[:-1]), 6)))
        grade = rng.integers(0, 5, (20, 3)).astype(float)
        gains, places = np.zeros((SYSTEMS, 12)), np.zeros((SYSTEMS, 12))
        for system in range(SYSTEMS):
            chosen = rng.choice(20, 12, replace=False)
            ends = np.cumsum(rng.integers(30, 190, 12))
            gains[system] = grade[chosen] @ share
            places[system] = 110.0 * np.arange(1, 13) if by_rank else ends
            positions += [
                ("t", f"q{topic}", f"s{system}", f"i{k}", f"u{u}", grade[u, k], end)
                for u, end in zip(chosen, ends, strict=True)
                for k in range(3)
                if grade[u, k] > 0
            ]
        worths.append((f"q{topic}", gains, places))
    one, other = np.triu_indices(SYSTEMS, 1)

    def m(gains: np.ndarray, places: np.ndarray, length: float) -> np.ndarray:
        decay = np.exp(-places / length) if exponential else np.maximum(0, 1 - places / length)
        return (gains * decay).sum(axis=1)

    apart = np.concatenate([(w := m(g, p, patience))[one] - w[other] for _, g, p in worths])
    slope = effect / apart.std()
    for number, (topic_name, gains, places) in enumerate(worths):
        liked = taste * rng.standard_normal(SYSTEMS)
        for person in range(people):
            human = person + (number * people if own_people else 0)
            worth = m(gains, places, patience * who[human]) * slope * keen[human] + liked
            odds = (worth[one] - worth[other]) * (0 if at_random[human] else 1) + leaning[human]
            used = rng.random(len(one)) < share_judged if share_judged < 1 else np.ones(len(one), bool)
            judged += [
                (f"w{human}", "t", topic_name, f"{topic_name}/{a}-{b}", f"s{a}", f"s{b}", choice)
                for a, b, choice, has in zip(one, other, _choice(odds, rng, ties), used, strict=True)
                if has
            ]
    columns = ["task", "topic", "system", "intent", "iunit", "importance", "offset_chars"]
    return {
        "positions": pd.DataFrame(positions, columns=columns),
        "intents": pd.DataFrame(intents, columns=["topic", "intent", "probability"]),
        "preferences": _preferences(judged),
    }


def judged_scores(
    rng: Rng,
    *,
    queries: int = 20,
    people: int = 8,
    own_people: bool = False,
    pairs: tuple[int, int] = (6, 6),
    taste: float = 0.6,
    slope: float = 0.5,
    ties: float = 0.6,
    unexplained: float = 0.6,
    always_left: float = 0.0,
    careless: float = 0.0,
    seen: float = 1.0,
) -> Tables:
    """Preferences, and (table scores, run topic metric value) two measures that explain them equally well; everybody judges a share ``seen`` of the queries."""
    own = slope + taste * rng.standard_normal((people * (queries if own_people else 1), 2))
    human_count = len(own)
    lean = 50.0 * (rng.random(human_count) < always_left) if always_left else np.zeros(human_count)
    earnest = rng.random(human_count) >= careless if careless else np.ones(human_count)
    scores, judged = [], []
    for query in range(queries):
        number = int(rng.integers(pairs[0], pairs[1] + 1))
        systems = math.ceil((1 + math.sqrt(1 + 8 * number)) / 2)
        value = rng.standard_normal((systems, 3))
        one, other = (
            side[:number] for side in rng.permutation(np.array(np.triu_indices(systems, 1)), axis=1)
        )
        used = sorted({*one.tolist(), *other.tolist()})
        scores += [
            (f"s{s}", f"q{query}", name, value[s, k]) for s in used for k, name in enumerate(("A", "B"))
        ]
        for person in range(people):
            human = person + (query * people if own_people else 0)
            if seen < 1 and rng.random() > seen:
                continue
            worth = earnest[human] * (value[:, :2] @ own[human] + unexplained * value[:, 2])
            judged += [
                (f"w{human}", "t", f"q{query}", f"q{query}/{a}-{b}", f"s{a}", f"s{b}", choice)
                for a, b, choice in zip(
                    one, other, _choice(worth[one] - worth[other] + lean[human], rng, ties), strict=True
                )
            ]
    return {
        "preferences": _preferences(judged),
        "scores": pd.DataFrame(scores, columns=["run", "topic", "metric", "value"]),
    }


def _choice(odds: np.ndarray, rng: Rng, ties: float = 0.6) -> np.ndarray:
    """Draw who is preferred: each side as e to half of the log odds, a tie with this weight."""
    weight = np.stack([np.exp(odds / 2), np.exp(-odds / 2), np.full(len(odds), ties)])
    drawn = (rng.random(len(odds)) > (weight / weight.sum(axis=0)).cumsum(axis=0)[:2]).sum(axis=0)
    return np.array(["left", "right", "equally_good"])[drawn]


def _preferences(rows: list[tuple[Any, ...]]) -> pd.DataFrame:
    names = ["worker", "task", "topic", "pair", "system_left", "system_right", "choice"]
    frame = pd.DataFrame(rows, columns=names)
    return frame.assign(judgment=[f"j{number}" for number in range(len(frame))])


def reads(
    rng: Rng,
    *,
    people: int = 60,
    items: int = 15,
    mu: float = 1.29,
    sigma: float = 0.558,
    tau: float = 0.5,
    floor: float = 0.0,
    learning: float = 0.0,
    whole_seconds: bool = False,
    bots: int = 0,
    heavy: bool = False,
    words: tuple[int, int] = (8, 40),
    kinds_of_people: float = 0.0,
) -> Tables:
    """Times of reading items of one's own: ``floor`` seconds for each beside its length, a speed that rises by ``learning`` from the first to the last.

    Heavy: the speeds of people follow Student's t with 3 degrees of freedom on the log scale. ``kinds_of_people``: half of them read so much
    faster than the mean, and half slower (log). The median over people stays exp(mu).
    """
    rows = []
    for person in range(people):
        own = mu + sigma * (rng.standard_t(3) if heavy else rng.normal())
        own += kinds_of_people * rng.choice([-1, 1])
        length = rng.integers(words[0], words[1] + 1, items)
        course = learning * (np.arange(items) / max(1, items - 1) - 0.5)
        seconds = floor + length * np.exp(-(own + course + rng.normal(0, tau, items)))
        if person < bots:
            seconds = 0.15 * rng.lognormal(0, 0.1, items)
        if whole_seconds:
            seconds = np.maximum(1, np.round(seconds))
        rows += [
            (f"W{person}", "Q", f"P{person}", f"U{person}-{k}", "update", int(length[k]), float(seconds[k]))
            for k in range(items)
        ]
    columns = ["worker", "topic", "page", "item", "kind", "words", "dwell_seconds"]
    return {"reads": pd.DataFrame(rows, columns=columns)}


def read_depths(
    rng: Rng,
    *,
    people: int = 60,
    each: int = 5,
    patience: float = 1100.0,
    sd: float = 0.0,
    heavy: bool = False,
    lengths: tuple[float, float] = (0.5, 2.5),
    rounded: float = 0.0,
    tiring: float = 0.0,
    by_time: float = 0.0,
) -> Tables:
    """How far people read into texts of their own, evenly up to their patience.

    ``sd`` (log) or heavy tails make people differ; ``tiring`` has patience fall by so much (log) from the first text to the last, around its mean;
    ``by_time`` has it differ from text to text (log sd), as if time ended it.
    """
    rows = []
    for person in range(people):
        own = patience * math.exp(sd * (rng.standard_t(3) if heavy else rng.standard_normal()))
        for text in range(each):
            now = own * math.exp(tiring * (0.5 - text / max(1, each - 1)) + by_time * rng.standard_normal())
            stop, length = rng.random() * now, round(rng.uniform(*lengths) * patience)
            stop = round(stop / rounded) * rounded if rounded else stop
            rows.append(
                (
                    f"w{person}",
                    f"q{person}-{text}",
                    "A",
                    "stacked",
                    round(min(stop, length)),
                    length,
                    stop >= length,
                )
            )
    columns = ["worker", "topic", "system", "layout", "chars_read", "text_chars", "reached_end"]
    return {"stops": pd.DataFrame(rows, columns=columns)}
