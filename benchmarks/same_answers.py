"""False and missed alarms of checks of crowds.

The checks are `same_answers`, `adaptive_stopping`, `opposite_camp` and `careless_workers`.

python -m benchmarks.same_answers [STUDIES [copies|answers|times|stopping|kinds ...]] prints tables of docs/evidence.md. Each study has 12 people who judge the same 60 couples
of 4 systems (10 topics), unless its line says otherwise; a tie comes in 15 % of answers of somebody whose habit it is not.
"""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
from scipy.special import expit, logit

from calibration.checks.adaptive_stopping import adaptive_stopping
from calibration.checks.judges import judge_kinds
from calibration.checks.same_answers import find_same_answers
from calibration.simulate import SimulatedStudy, simulate_study
from calibration.tables.files import check_frame
from calibration.tables.preferences import judged_pairs
from calibration.tables.tables import TABLES


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowd:
    """People and what they are asked.

    Attributes
    ----------
    people, topics, systems, each : int
        Size; how many couples each person judges, 0: all.
    worth, taste : float
        Standard deviation of a system's worth on a topic, and of a person's own taste for it.
    camp, clickers, equals, lefts, copies : int
        People of an opposite camp, who click by lot, who call all equal, who always take the left one, and who copy the last person.
    noise : float
        Share of its answers that a copy gives anew by lot.
    fixed : bool
        Every pair is shown the same way round.
    """

    people: int = 12
    topics: int = 10
    systems: int = 4
    each: int = 0
    worth: float = 1.0
    taste: float = 0.3
    camp: int = 0
    clickers: int = 0
    equals: int = 0
    lefts: int = 0
    copies: int = 0
    noise: float = 0.0
    fixed: bool = False

    def study(self, rng: np.random.Generator) -> pd.DataFrame:
        """Draw table preferences."""
        worth = rng.normal(0, self.worth, (self.topics, self.systems))
        items = [
            (topic, *pair) for topic in range(self.topics) for pair in combinations(range(self.systems), 2)
        ]
        fixed = rng.random(len(items)) < 0.5
        original: dict[int, str] = {}
        chosen = rng.permutation(len(items))[: self.each or len(items)]
        rows = []
        for person in range(self.people):
            is_copy = self.people - person <= self.copies
            if not (is_copy and original):
                own = (-1 if person < self.camp else 1) * worth + rng.normal(0, self.taste, worth.shape)
                if self.each:
                    chosen = rng.permutation(len(items))[: self.each]
            for item in chosen:
                topic, i, j = items[item]
                odds = (
                    0.0 if self.camp <= person < self.camp + self.clickers else own[topic, i] - own[topic, j]
                )
                swapped = bool(fixed[item]) if self.fixed else rng.random() < 0.5
                tie = rng.random() < 0.15
                vote = "=" if tie else "a" if rng.random() < 1 / (1 + np.exp(-odds)) else "b"
                if person >= self.people - self.copies and item in original and rng.random() >= self.noise:
                    vote = original[int(item)]
                if person < self.equals:
                    vote = "="
                if person == self.people - self.copies and self.copies:
                    original[int(item)] = vote
                choice = "equally_good" if vote == "=" else "left" if (vote == "a") != swapped else "right"
                if person < self.lefts:
                    choice = "left"
                left, right = (j, i) if swapped else (i, j)
                rows.append((f"W{person:02d}", "t", f"Q{topic}", f"s{left}", f"s{right}", choice))
        names = ["worker", "task", "topic", "system_left", "system_right", "choice"]
        return check_frame(pd.DataFrame(rows, columns=names), TABLES["preferences"])


RIGHT = {
    "all alike": Crowd(),
    "tastes differ much": Crowd(taste=1.5),
    "items nearly all clear": Crowd(worth=4),
    "camp of 3 of 12": Crowd(camp=3, worth=2),
    "camp of 6 of 12": Crowd(camp=6, worth=2),
    "camp of 4 of 12, nearly all clear": Crowd(camp=4, worth=4),
    "3 of 12 by lot": Crowd(clickers=3),
    "3 of 12 call all equal": Crowd(equals=3),
    "3 of 12 always left, sides fixed": Crowd(lefts=3, fixed=True),
    "30 people, 20 of 60 couples each": Crowd(people=30, each=20),
    "60 people, 60 couples": Crowd(people=60),
}
COPIES = {
    "3 copies of 12": Crowd(copies=3),
    "3 copies of 12, tastes differ much": Crowd(copies=3, taste=1.5),
    "3 copies of 12, clear items (worth 2)": Crowd(copies=3, worth=2),
    "3 copies of 12, 10 % of answers anew": Crowd(copies=3, noise=0.1),
    "3 copies of 12, 5 % of answers anew": Crowd(copies=3, noise=0.05),
    "7 copies of 12": Crowd(copies=7),
    "5 copies of 14": Crowd(people=14, copies=5),
    "3 copies of 30, 20 of 60 couples each": Crowd(people=30, each=20, copies=3),
    "2 copies of 12": Crowd(copies=2),
}


def times_table(studies: int) -> None:
    """Print the same of tables of times of simulated studies of 20 people, without and with two copies of one of them."""
    names = ("follows", "visits", "reads", "stops")
    print("\n| table | nobody copies | two more names for one of 20 people |\n|---|---|---|")
    said = {name: [0, 0] for name in names[1:]}
    for number in range(studies):
        drawn = simulate_study(SimulatedStudy(workers=20, topics=6), np.random.default_rng([number, 8]))
        tables = {name: drawn[name] for name in names if name in drawn}
        for place, each in enumerate((tables, with_copies(tables, 2))):
            for found in find_same_answers(each):
                said[found.table][place] += 1
    for name, (right, copied) in said.items():
        if name in tables:
            print(f"| {name} | {right / studies:.2f} | {copied / studies:.2f} |", flush=True)


def ballots(rng: np.random.Generator, each: int, people: int = 20) -> pd.DataFrame:
    """Draw table intent_votes: topics of five intents, people of unequal breadth, of whom half judge a topic."""
    rows = list[tuple[str, str, str | None]]()
    topics = 2 * each // 5
    shares = rng.normal(-0.7, 1.2, (topics, 5))
    for person in range(people):
        breadth = rng.normal(0, 0.5)
        for topic in rng.permutation(topics)[: each // 5]:
            ticks = np.flatnonzero(rng.random(5) < expit(shares[topic] + breadth))
            rows += [(f"W{person:02d}", f"Q{topic}", f"I{intent}") for intent in ticks]
            rows += [] if len(ticks) else [(f"W{person:02d}", f"Q{topic}", None)]
    return pd.DataFrame(rows, columns=["worker", "topic", "intent"])


def ratings(rng: np.random.Generator, each: int, people: int = 20) -> pd.DataFrame:
    """Draw table importance: half of the iUnits each, ratings from 0 to 4 by people who are strict or mild."""
    means, rows = rng.normal(2, 1, 2 * each), []
    for person in range(people):
        mild = rng.normal(0, 0.5)
        for unit in rng.permutation(2 * each)[:each]:
            rating = float(np.clip(np.round(means[unit] + mild + rng.normal(0, 0.8)), 0, 4))
            rows.append((f"W{person:02d}", "Q0", "i", f"U{unit}", rating))
    return pd.DataFrame(rows, columns=["worker", "topic", "intent", "iunit", "rating"])


def answers_on_lateness(rng: np.random.Generator, each: int, people: int = 20) -> pd.DataFrame:
    """Draw table lateness: nuggets that all see, each as late as a lot says; L = .5, p0 of people .8 (sd .7 in log odds)."""
    rows = []
    for person in range(people):
        p0 = expit(logit(0.8) + rng.normal(0, 0.7))
        for nugget, late in enumerate(rng.integers(0, 5, each).tolist()):
            rows.append((f"W{person:02d}", "Q0", f"N{nugget}", late, bool(rng.random() < p0 * 0.5**late)))
    return pd.DataFrame(rows, columns=["worker", "topic", "nugget", "visits_late", "useful"])


def answers_table(studies: int) -> None:
    """Print from how many common answers one or two more names for one of 20 people are found."""
    print(
        "\n| answers of 20 people, each | nobody copies | one more name | two more names |\n|---|---|---|---|"
    )
    for name, draw in ANSWERS.items():
        for each in (15, 20, 30):
            said = [0, 0, 0]
            for number in range(studies):
                frame = draw(np.random.default_rng([number, each, 10]), each)
                own = frame[frame["worker"] == "W19"]
                for copies in range(3):
                    rows = pd.concat([frame, *(own.assign(worker=f"Z{place}") for place in range(copies))])
                    found = find_same_answers({name: rows.reset_index(drop=True)})
                    said[copies] += (
                        any("W19" in group for each in found for group in each.groups)
                        if copies
                        else bool(found)
                    )
            shares = " | ".join(f"{share / studies:.2f}" for share in said)
            print(f"| {name}, {each} | {shares} |", flush=True)


ANSWERS: dict[str, Callable[[np.random.Generator, int], pd.DataFrame]] = {
    "preferences": lambda rng, each: Crowd(people=20, each=each).study(rng),
    "intent_votes": ballots,
    "importance": ratings,
    "lateness": answers_on_lateness,
}


def with_copies(tables: Mapping[str, pd.DataFrame], times: int) -> dict[str, pd.DataFrame]:
    """Return tables in which other names bring all rows of the worker with the most visits again."""
    most = str(tables["visits"]["worker"].value_counts().idxmax())
    made = {}
    for name, frame in tables.items():
        own = frame[frame["worker"] == most] if "worker" in frame else frame[:0]
        made[name] = pd.concat(
            [frame, *(own.assign(worker=f"Z{place}") for place in range(times if len(own) else 0))]
        )
        made[name] = made[name].reset_index(drop=True)
    return made


def stopping_table(studies: int) -> None:
    """Print how often `adaptive_stopping` is said of 100 pairs in 10 topics, and with times and without."""
    print("\n| judgments of a pair | with times | without |\n|---|---|---|")
    for name, stop in STOPS.items():
        said = [0, 0]
        for number in range(studies):
            votes = judged_until(stop, np.random.default_rng([number, 6]))
            said[0] += bool(adaptive_stopping({"preferences": votes}))
            said[1] += bool(adaptive_stopping({"preferences": votes.assign(decided_at=pd.NaT)}))
        print(f"| {name} | {said[0] / studies:.2f} | {said[1] / studies:.2f} |", flush=True)


def judged_until(
    stop: Callable[[list[int], int, np.random.Generator], bool], rng: np.random.Generator
) -> pd.DataFrame:
    """Draw preferences on 100 pairs in 10 topics, one after the other until ``stop`` is true of the answers (1, -1, 0)."""
    rows, clock = [], 0
    for topic, pair in np.ndindex(10, 10):
        share, most, answers = rng.beta(2, 2), int(rng.integers(3, 8)), list[int]()
        while not stop(answers, most, rng):
            answers.append(0 if rng.random() < 0.15 else 1 if rng.random() < share else -1)
        for place, answer in enumerate(answers):
            clock += 1
            choice = {0: "equally_good", 1: "left", -1: "right"}[answer]
            rows.append((f"W{place}", "t", f"Q{topic}", f"a{pair}", f"b{pair}", choice, clock))
    names = ["worker", "task", "topic", "system_left", "system_right", "choice", "decided_at"]
    frame = pd.DataFrame(rows, columns=names)
    frame["decided_at"] = pd.Timestamp("2026-01-01", tz="UTC") + pd.to_timedelta(
        frame["decided_at"], unit="min"
    )
    return check_frame(frame, TABLES["preferences"])


STOPS: dict[str, Callable[[list[int], int, np.random.Generator], bool]] = {
    "5 each": lambda answers, _, __: len(answers) == 5,
    "3 to 7, drawn before": lambda answers, most, _: len(answers) == most,
    "any number, at least 2": lambda answers, _, rng: len(answers) >= 2 and rng.random() < 0.3,
    "until a lead of 2, at most 9": lambda answers, _, __: abs(sum(answers)) == 2 or len(answers) == 9,
    "until a lead of 3, at most 11": lambda answers, _, __: abs(sum(answers)) == 3 or len(answers) == 11,
    "3, and 2 more where they are not all alike": lambda answers, _, __: (
        len(answers) == 5 or (len(answers) == 3 and len(set(answers)) == 1)
    ),
}


def kinds_table(studies: int) -> None:
    """Print how often judges are called a camp, careless or different."""
    print(
        "\n| judges | `opposite_camp` | exactly the camp | `careless_workers` | named who are not | `judges_differ` |\n|---|---|---|---|---|---|"
    )
    for name, crowd in KINDS.items():
        camps = exact = careless = wrong = unclear = 0
        camp, by_lot = set(range(crowd.camp)), set(range(crowd.camp, crowd.camp + crowd.clickers))
        for number in range(studies):
            kinds = judge_kinds(judged_pairs(crowd.study(np.random.default_rng([number, 7]))))
            if kinds is None:
                continue
            unclear += kinds.unclear is not None
            if kinds.camp:
                camps += 1
                exact += {int(judge[1:]) for judge in kinds.judges[kinds.camp.is_careless]} == camp
            if kinds.careless:
                careless += 1
                wrong += len({int(judge[1:]) for judge in kinds.judges[kinds.careless.is_careless]} - by_lot)
        right = f"{exact / studies:.2f}" if camp else ""
        print(
            f"| {name} | {camps / studies:.2f} | {right} | {careless / studies:.2f} | {wrong / studies:.2f} | {unclear / studies:.2f} |",
            flush=True,
        )


KINDS = {
    "14 of one mind": Crowd(people=14),
    "tastes differ (sd .6)": Crowd(people=14, taste=0.6),
    "tastes differ much (sd 1.5)": Crowd(people=14, taste=1.5),
    "3 of 14 by lot": Crowd(people=14, clickers=3),
    "camp of 3 of 14": Crowd(people=14, camp=3),
    "camp of 5 of 14": Crowd(people=14, camp=5),
    "camp of 6 of 14": Crowd(people=14, camp=6),
    "camp of 3 of 14, clear items (worth 2)": Crowd(people=14, camp=3, worth=2),
    "camp of 3 and 3 by lot, of 14": Crowd(people=14, camp=3, clickers=3),
    "camp of 12 of 40, 20 of 60 couples each": Crowd(people=40, camp=12, each=20),
    "40 of one mind, 20 of 60 couples each": Crowd(people=40, each=20),
}


def copies_table(studies: int) -> None:
    """Print how often copies are reported, and whether all of them and nobody else are."""
    print("| crowd | `same_answers` | exactly the copies |\n|---|---|---|")
    for name, crowd in {**RIGHT, **COPIES}.items():
        said = exact = 0
        truth = (
            {f"W{person:02d}" for person in range(crowd.people - crowd.copies, crowd.people)}
            if crowd.copies
            else set()
        )
        for number in range(studies):
            found = find_same_answers({"preferences": crowd.study(np.random.default_rng([number, 9]))})
            said += bool(found)
            exact += bool(found) and {w for each in found for g in each.groups for w in g} == truth
        print(
            f"| {name} | {said / studies:.2f} | {exact / studies:.2f} |"
            if truth
            else f"| {name} | {said / studies:.2f} | |",
            flush=True,
        )


if __name__ == "__main__":
    TABLES_MADE = {
        "copies": copies_table,
        "answers": answers_table,
        "times": times_table,
        "stopping": stopping_table,
        "kinds": kinds_table,
    }
    for table in sys.argv[2:] or TABLES_MADE:
        TABLES_MADE[table](int(sys.argv[1]) if len(sys.argv) > 1 else 200)
