"""Hold checks against people of other mechanisms than the models.

    python -m benchmarks.fresh_people votes|points|pushes|reading [--replications 100] [--jobs 1] [--scheduler ADDRESS]

Tables of docs/evidence.md. Votes are Thurstone's (1927): a side's worth plus normal noise at every look, and a tie where both are closer than
the person can tell. Worths are skewed, tastes are loadings on two features of the systems. Points: votes of people who prefer what is nearer to
a point of their own (Coombs 1950), without noise, but with lapses. Streams have over-dispersed counts and runs of
silent days. Reading times have log errors of Student's t, pauses of Pareto's law. Nothing is drawn by the package's simulators or its likelihoods. Each line is a regime: the share of studies
with a warning (few_* apart), with one that names the cause, for numbers the share whose interval holds the truth, and whose interval, other laws
or named cause do, and the commonest names.
"""

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd

from benchmarks.replications import commonest, holds, hull, opened, print_head, print_row, replicated, warned
from calibration.checks.judges import judge_kinds
from calibration.checks.registry import run_checks
from calibration.checks.same_answers import find_same_answers
from calibration.inference.results import NotIdentifiedError
from calibration.models.push.judgments import push_judgments
from calibration.models.push.weights import fit_push_weights
from calibration.models.reading.fit import MU, fit_reading_speed
from calibration.models.reading.rows import readings
from calibration.tables.files import check_frame
from calibration.tables.preferences import judged_pairs
from calibration.tables.tables import TABLES
from metrics.parallel import Executor

Rng = np.random.Generator
SYSTEMS = 5


class Said(NamedTuple):
    """What one study said: names of warnings, whether its interval holds the truth, and whether anything does."""

    names: frozenset[str]
    held: bool | None = None
    somehow: bool | None = None


class Regime(NamedTuple):
    """A label, what draws and judges one study, and the names that say the cause."""

    label: str
    study: Callable[[Rng], Said | None]
    causes: frozenset[str] = frozenset()


def thurstone(left: float, right: float, fuzzy: float, rng: Rng) -> str:
    """Return which side is preferred at one look."""
    apart = left - right + np.sqrt(2) * rng.standard_normal()
    return "equally_good" if abs(apart) < fuzzy else "left" if apart > 0 else "right"


def nearer(left: float, right: float, fuzzy: float, rng: Rng) -> str:
    """Return which side is nearer, without noise but for lapses: one answer in seven is by lot."""
    if rng.random() < 1 / 7:
        return str(rng.choice(["left", "right", "equally_good"]))
    return "equally_good" if abs(left - right) < fuzzy else "left" if left > right else "right"


def preferences(rows: Sequence[tuple[str, ...]]) -> pd.DataFrame:
    names = ["worker", "task", "topic", "pair", "system_left", "system_right", "choice"]
    return check_frame(pd.DataFrame(rows, columns=names), TABLES["preferences"])


def votes(
    rng: Rng,
    *,
    people: int = 12,
    topics: int = 6,
    each: int = 60,
    spread: float = 1.2,
    taste: float = 0.4,
    clear: float = 0.0,
    camp: int = 0,
    clickers: int = 0,
    copies: int = 0,
    slips: float = 0.0,
    apart: float | None = None,
) -> Said:
    """Judge pairs, by worths or by people's own points, ``apart`` from each other; a share ``clear`` of topics has worths four times as far apart, and the last ``copies`` people answer like one, but for ``slips``."""
    worth = spread * (rng.gamma(1.5, 1, (topics, SYSTEMS)) - 1.5)
    worth *= np.where(rng.random((topics, 1)) < clear, 4.0, 1.0)
    features = rng.laplace(0, 1 / np.sqrt(2), (topics, SYSTEMS, 2))
    couples = [(t, i, j) for t in range(topics) for i, j in combinations(range(SYSTEMS), 2)]
    answers: dict[tuple[int, int, int], str] = {}
    rows: list[tuple[str, ...]] = []
    for person in range(people):
        own = worth * (-1 if person < camp else 1) + taste * features @ rng.standard_t(5, 2) * np.sqrt(0.6)
        if apart is not None:
            point = np.array([1.5, 0.0]) + apart * rng.standard_normal(2)
            own = -np.linalg.norm(features - point, axis=2) * (-1 if person < camp else 1)
        own = 0 * own if camp <= person < camp + clickers else own
        fuzzy = rng.gamma(2, 0.2)
        for place in rng.permutation(len(couples))[:each]:
            topic, i, j = couples[place]
            if rng.random() < 0.5:
                i, j = j, i
            look = thurstone if apart is None else nearer
            choice = look(own[topic, i], own[topic, j], fuzzy, rng)
            copied = answers.get((topic, i, j)) if person > people - copies - 1 else None
            if copied and rng.random() >= slips:
                choice = copied
            if person == people - copies - 1 and copies:
                other = {"left": "right", "right": "left"}.get(choice, choice)
                answers |= {(topic, i, j): choice, (topic, j, i): other}
            rows.append((f"w{person:02}", "t", f"q{topic}", f"{place}", f"s{i}", f"s{j}", choice))
    table = preferences(rows)
    kinds = judge_kinds(judged_pairs(table))
    names = {each.name for each in kinds.findings()} if kinds else set()
    return Said(frozenset(names | {"same_answers" for _ in find_same_answers({"preferences": table})}))


def streams(topics: int, days: int, rng: Rng) -> np.ndarray:
    """Return (topics, systems, 5) numbers of gain, and of pushes and silent days on eventful and silent days."""
    cells = np.zeros((topics, SYSTEMS, 5))
    for topic in range(topics):
        silent = np.zeros(days, dtype=bool)
        for day in range(1, days):
            silent[day] = rng.random() < (0.6 if silent[day - 1] else 0.25)
        for system in range(SYSTEMS):
            found = rng.negative_binomial(1.2, 0.55, days) * ~silent
            pushed = rng.negative_binomial(0.8, 0.5, days)
            quiet = found + pushed == 0
            gain = (found * rng.choice([0.4, 0.7, 1.0], days)).sum()
            parts = (pushed * ~silent, quiet & ~silent, pushed * silent, quiet & silent)
            cells[topic, system] = (gain, *(part.sum() for part in parts))
    return cells


def pushes(
    rng: Rng, *, people: int = 50, topics: int = 40, each: int = 20, days: int = 10, cv: float = 0.0
) -> Said | None:
    """Judge pairs of streams; people's weights of pushes are gamma with this coefficient of variation."""
    truth = np.array([1.0, 0.5, 0.2, 0.5, 0.3])
    cells, rows = streams(topics, days, rng), []
    sign = np.array([1, -1, -1, -1, 1])
    for person in range(people):
        own = truth.copy()
        if cv:
            own[[1, 3]] *= rng.gamma(1 / cv**2, cv**2, 2)
        fuzzy = rng.gamma(2, 0.2)
        for _ in range(each):
            topic, (i, j) = int(rng.integers(topics)), rng.choice(SYSTEMS, 2, replace=False)
            left, right = (0.35 * float(cells[topic, s] * sign @ own) for s in (i, j))
            pair = f"{topic}/{min(i, j)}-{max(i, j)}"
            rows.append(
                (
                    f"w{person}",
                    "push",
                    f"q{topic}",
                    pair,
                    f"s{i}",
                    f"s{j}",
                    thurstone(left, right, fuzzy, rng),
                )
            )
    names = ("gain", "nonrelevant_eventful", "silent_eventful", "nonrelevant_silent", "silent_silent")
    shown = [
        (f"q{t}", f"{t}/{i}-{j}", f"s{s}", days, "track", *cells[t, s])
        for t in range(topics)
        for i, j in combinations(range(SYSTEMS), 2)
        for s in (i, j)
    ]
    table = pd.DataFrame(shown, columns=["topic", "pair", "system", "days", "convention", *names])
    judged = push_judgments(preferences(rows), check_frame(table.assign(task="push"), TABLES["push_cells"]))
    return judgment_of(
        lambda: fit_push_weights(judged), judged, "push_P_E", 0.5, {"own_weights", "pain_form"}
    )


def reading(
    rng: Rng,
    *,
    people: int = 60,
    items: int = 15,
    alike: float = 0.0,
    pauses: float = 0.0,
    own_pauses: tuple[float, float] | None = None,
    df: float = 4.0,
) -> Said | None:
    """Read items; ``alike`` is the share of people who take about two seconds for each, ``own_pauses`` the Beta law of the share of reads with a pause."""
    rows = []
    for person in range(people):
        speed = 1.29 + 0.55 * rng.standard_normal()
        words = np.round(rng.gamma(4, 6, items) + 5)
        seconds = words * np.exp(-speed - 0.4 * rng.standard_t(df, items))
        if person < round(alike * people):
            seconds = 2 * rng.gamma(12, 1 / 12, items)
        share = rng.beta(*own_pauses) if own_pauses else pauses
        seconds = seconds + np.where(rng.random(items) < share, 20 * rng.pareto(1.5, items) + 5, 0)
        rows += [
            (f"w{person}", "q", f"p{person}", f"u{person}-{k}", "update", int(w), float(s))
            for k, (w, s) in enumerate(zip(words, seconds, strict=True))
        ]
    names = ["worker", "topic", "page", "item", "kind", "words", "dwell_seconds"]
    data = readings(check_frame(pd.DataFrame(rows, columns=names), TABLES["reads"]))
    return judgment_of(lambda: fit_reading_speed(data), data, MU, 1.29, {"alike_times", "extra_time"})


def judgment_of(
    make: Callable[[], object], data: object, name: str, truth: float, causes: set[str]
) -> Said | None:
    """Return what the checks of a fit say, and whether the truth is held; None where it is refused by name."""
    try:
        fit = make()
    except NotIdentifiedError:
        return None
    findings = run_checks(fit, data)
    names = warned(findings)
    ends = [fit.conf_int()[name]]  # type: ignore[attr-defined] # every fit has it
    ends += [(law.low, law.high) for each in findings for law in each.sensitivity.get(name, ())]
    return Said(names, holds(ends[0], truth), holds(hull(ends), truth) or bool(names & causes))


COPIES, CAMP = frozenset({"same_answers"}), frozenset({"opposite_camp"})
LOT = frozenset({"careless_workers", "judges_differ"})
OWN, ALIKE = frozenset({"own_weights", "pain_form"}), frozenset({"alike_times"})
EXTRA = frozenset({"extra_time"})
FAMILIES = {
    "votes": (
        Regime("all alike", partial(votes, taste=0.0)),
        Regime("tastes by features", votes),
        Regime("strong tastes by features", partial(votes, taste=1.5)),
        Regime("half of the topics clear", partial(votes, clear=0.5)),
        Regime("40 people, 30 of 60 pairs", partial(votes, people=40, each=30)),
        Regime("2 copies of one of 12", partial(votes, copies=2), COPIES),
        Regime("2 copies, 15 % slips", partial(votes, copies=2, slips=0.15), COPIES),
        Regime("2 copies, strong tastes", partial(votes, copies=2, taste=1.5), COPIES),
        Regime("1 copy of one of 20, 30 of 60 pairs", partial(votes, people=20, each=30, copies=1), COPIES),
        Regime("camp of 3 of 12", partial(votes, camp=3), CAMP),
        Regime("camp of 5 of 12, tastes by features", partial(votes, camp=5, taste=0.8), CAMP),
        Regime("3 of 12 by lot", partial(votes, clickers=3), LOT),
    ),
    "points": (
        Regime("points alike", partial(votes, apart=0.2)),
        Regime("points apart", partial(votes, apart=0.8)),
        Regime("points far apart", partial(votes, apart=1.6)),
        Regime("2 copies of one of 12", partial(votes, apart=0.8, copies=2), COPIES),
        Regime("2 copies, 15 % slips", partial(votes, apart=0.8, copies=2, slips=0.15), COPIES),
        Regime(
            "1 copy of one of 20, 30 of 60 pairs",
            partial(votes, apart=0.8, people=20, each=30, copies=1),
            COPIES,
        ),
        Regime("camp of 4 of 12", partial(votes, apart=0.8, camp=4), CAMP),
        Regime("3 of 12 by lot", partial(votes, apart=0.8, clickers=3), LOT),
    ),
    "pushes": (
        Regime("right, 50 x 20, 40 topics", pushes),
        Regime("right, 20 x 30, 20 topics", partial(pushes, people=20, each=30, topics=20)),
        Regime("right, 100 x 20, 40 topics", partial(pushes, people=100)),
        Regime("own weights, CV .5", partial(pushes, cv=0.5), OWN),
        Regime("own weights, CV 1", partial(pushes, cv=1.0), OWN),
    ),
    "reading": (
        Regime("right, 60 x 15", reading),
        Regime(
            "40 x 20, a tenth of the reads with 5 s or more beside",
            partial(reading, people=40, items=20, pauses=0.1),
            EXTRA,
        ),
        Regime("right, 60 x 15, nearly normal errors", partial(reading, df=30.0)),
        Regime("15 % take the same time", partial(reading, alike=0.15), ALIKE),
        Regime("10 % of 40 do", partial(reading, people=40, alike=0.1), ALIKE),
        Regime("pauses in a share of their own, Beta(1, 4)", partial(reading, own_pauses=(1, 4)), EXTRA),
        Regime("pauses in a share of their own, Beta(.4, 2)", partial(reading, own_pauses=(0.4, 2)), EXTRA),
    ),
}


def one(regime: Regime, number: int) -> Said | None:
    return regime.study(np.random.default_rng([number, 4127]))


def row(regime: Regime, replications: int, engine: Executor) -> list[str]:
    made = [said for said in replicated(engine, partial(one, regime), replications) if said]
    shares = [
        np.mean([bool(said.names) for said in made]),
        np.mean([bool(said.names & regime.causes) for said in made]) if regime.causes else np.float64(np.nan),
    ]
    if any(said.held is not None for said in made):
        shares += [np.mean([getattr(said, what) for said in made]) for what in Said._fields[1:]]
    cells = ["-" if np.isnan(share) else f"{share:.2f}" for share in shares]
    return [regime.label, str(len(made)), *cells, commonest((said.names for said in made), len(made))]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("family", choices=FAMILIES)
    parser.add_argument("--replications", type=int, default=100)
    with opened(parser) as (options, engine):
        numbers = () if options.family in ("votes", "points") else ("covers", "held")
        print_head("regime", "studies", "warned", "cause named", *numbers, "warnings")
        for regime in FAMILIES[options.family]:
            print_row(*row(regime, options.replications, engine))
