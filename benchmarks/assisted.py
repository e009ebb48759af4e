"""Simulated coverage and width of numbers that a judge assists, beside people alone.

    python -m benchmarks.assisted [STUDIES [STUDY ...]] [--jobs 1] [--scheduler ADDRESS]
    python -m benchmarks.assisted --dl21 DIR [DRAWS]

People vote by Davidson's model; a system is better or worse by topic, and liked more or less by a person, than it is on the whole. People vote
on some pairs, the judge on all: a good one knows what most people like nearly, a useless one nothing, a biased one likes what the measure
likes too much, and one always says the opposite of the good one. Columns for each of the agreement of a measure, the difference of two measures, a win rate
and the difference of two of these: coverage assisted / by people alone, median width assisted / by people alone, spread (standard deviation) of the
estimates assisted / of people alone. The true numbers are those of one very large study.

With --dl21 labels are drawn from the votes of a crowd on pairs of passages (a folder with votes.csv.gz, gpt4o.csv.gz and items.csv.gz), 20 % of every
topic's pairs, of topics drawn with replacement: the truth is the number on all.
"""

import argparse
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.replications import engine_arguments, replicated
from calibration.agree.assisted import assisted_rows
from calibration.agree.judged_task import JudgedTask, judged_tasks
from calibration.agree.measures.variants import ParameterOrigin, ScoredMeasure, VariantRole
from calibration.agree.task_agreement import score_differences
from calibration.rank.assisted import assisted_win_rates
from calibration.rank.judgments import JudgedSystems, tasks_judged, win_rates
from metrics.agreement.agreement import pair_credit
from metrics.parallel import open_engine

Floats: TypeAlias = NDArray[np.float64]
TASK, TIES = "task", "half"
JUDGES = ("good", "useless", "biased", "opposite")
QUANTITIES = ("agreement", "difference", "win rate", "its difference")
COMPARED = pd.DataFrame(
    {
        "task": [TASK],
        "by": ["majority"],
        "measure": ["one"],
        "against": ["other"],
        "ties": [TIES],
        "difference": [0.0],
    }
)


@dataclass(frozen=True, kw_only=True)
class Study:
    """A sort of study.

    Attributes
    ----------
    topics, systems, votes : int
        How many; votes of a pair that people judge.
    people : int or None
        Who judge all topics; None: nobody knows who judged, and everybody judges one pair.
    labelled : float
        Share of the pairs of a topic that people judge.
    labelled_topics : float
        Share of the topics of which people judge pairs.
    """

    topics: int = 40
    systems: int = 8
    votes: int = 3
    people: int | None = None
    labelled: float = 0.2
    labelled_topics: float = 1.0


STUDIES = {
    "20 % of every topic's pairs, people unknown": Study(),
    "20 % of every topic's pairs, 24 people": Study(people=24),
    "all pairs of a third of 60 topics, 24 people": Study(
        topics=60, people=24, labelled=1.0, labelled_topics=1 / 3
    ),
    "20 % of every topic's pairs, 12 topics": Study(topics=12),
}


@dataclass(frozen=True, kw_only=True, eq=False)
class DrawnStudy:
    """Judgments, verdicts by judge, and scores by measure."""

    preferences: pd.DataFrame
    verdicts: dict[str, pd.DataFrame]
    scores: dict[str, "pd.Series[float]"]


def drawn_study(study: Study, rng: np.random.Generator) -> DrawnStudy:
    """Draw what people and judges say."""
    names = np.array([f"s{place}" for place in range(study.systems)])
    topics = np.array([f"q{place:05d}" for place in range(study.topics)])
    liked = np.linspace(-0.5, 0.5, study.systems) + 0.8 * rng.standard_normal((study.topics, study.systems))
    scores = 0.5 * liked + 0.9 * rng.standard_normal((2, *liked.shape))
    first, second = np.triu_indices(study.systems, 1)
    is_labelled = rng.random((study.topics, len(first))) < study.labelled
    for topic in range(study.topics):
        is_labelled[topic, rng.integers(len(first))] = True
    unseen = rng.permutation(study.topics)[round(study.labelled_topics * study.topics) :]
    is_labelled[unseen] = False
    topic, couple = (np.repeat(place, study.votes) for place in np.nonzero(is_labelled))
    a, b = first[couple], second[couple]
    if study.people is None:
        worker, taste = np.arange(len(topic)), np.zeros((1, study.systems))
        lead = 0.5 * (rng.standard_normal(len(topic)) - rng.standard_normal(len(topic)))
    else:
        turn = rng.permuted(np.tile(np.arange(study.people), (len(topic) // study.votes, 1)), axis=1)
        worker, taste = (
            turn[:, : study.votes].ravel(),
            0.5 * rng.standard_normal((study.people, study.systems)),
        )
        lead = taste[worker, a] - taste[worker, b]
    odds = liked[topic, a] - liked[topic, b] + lead
    weights = np.stack([np.exp(odds / 2), np.full(len(odds), 0.5), np.exp(-odds / 2)])
    choice = (rng.random(len(odds)) > np.cumsum(weights / weights.sum(axis=0), axis=0)).sum(axis=0)
    preferences = pd.DataFrame(
        {
            "worker": None if study.people is None else [f"w{one}" for one in worker],
            "task": TASK,
            "topic": topics[topic],
            "pair": "",
            "system_left": names[a],
            "system_right": names[b],
            "choice": np.array(["left", "equally_good", "right"])[choice],
            "decision_seconds": np.nan,
            "language": "en",
            "validation_of": None,
        }
    )
    of_judge = liked + 0.5 * rng.standard_normal(liked.shape)
    says = {
        "good": of_judge,
        "useless": rng.standard_normal(liked.shape),
        "biased": 0.5 * liked + scores[0] + 0.5 * rng.standard_normal(liked.shape),
        "opposite": -of_judge,
    }
    index = pd.MultiIndex.from_product([topics, names], names=["topic", "system"])
    return DrawnStudy(
        preferences=preferences,
        verdicts={
            judge: pd.DataFrame(
                {
                    "judge": judge,
                    "task": TASK,
                    "topic": np.repeat(topics, len(first)),
                    "system_a": np.tile(names[first], study.topics),
                    "system_b": np.tile(names[second], study.topics),
                    "order": pd.array([1] * first.size * study.topics, dtype="Int64"),
                    "is_swapped": False,
                    "repeat": 1,
                    "vote": np.where((value[:, first] > value[:, second]).ravel(), "votes_a", "votes_b"),
                }
            )
            for judge, value in says.items()
        },
        scores={
            name: pd.Series(score.ravel(), index)
            for name, score in zip(("one", "other"), scores, strict=True)
        },
    )


def measures(scores: dict[str, "pd.Series[float]"]) -> list[ScoredMeasure]:
    """Return scores as measures."""
    return [
        ScoredMeasure(
            measure=name, family="scores", role=VariantRole.SCORES, fit=ParameterOrigin.NONE, scores=score
        )
        for name, score in scores.items()
    ]


NAMES = ("people", "people_low", "people_high", "estimate", "low", "high")


class Truth(NamedTuple):
    """Agreement of both measures, and the win rate of every system."""

    agreements: tuple[float, ...]
    win_rates: Floats


def numbers(task: JudgedTask, judged: JudgedSystems, drawn: DrawnStudy, judge: str, true: Truth) -> Floats:
    """Return numbers and intervals of people alone and assisted, and the truth, of each quantity, (4, 7)."""
    verdicts = drawn.verdicts[judge]
    rows = assisted_rows(task, measures(drawn.scores), COMPARED, verdicts)[0]
    single = next(row for row in rows if row["measure"] == "one" and row["ties"] == TIES)
    difference = next(row for row in rows if row["against"])
    wins = assisted_win_rates(judged, verdicts, 0.95)[0]
    win = next(row for row in wins if row["system"] == "s5")
    duel = next(row for row in wins if row["against"])
    rates = dict(zip(judged.systems, true.win_rates, strict=True))
    targets = (
        true.agreements[0],
        true.agreements[0] - true.agreements[1],
        rates["s5"],
        rates[duel["system"]] - rates[duel["against"]],
    )
    return np.array(
        [
            [*(row[name] for name in NAMES), target]
            for row, target in zip((single, difference, win, duel), targets, strict=True)
        ]
    )


@lru_cache
def truth(study: Study) -> Truth:
    """Return the numbers of a very large study, in which everybody judges one pair."""
    many = replace(study, topics=5000, people=None, labelled=1.0, labelled_topics=1.0)
    drawn = drawn_study(many, np.random.default_rng(0))
    tables = {"preferences": drawn.preferences}
    (task,) = judged_tasks(tables, drew_sides=[TASK])
    (judged,) = tasks_judged(tables)
    agreements = (
        pair_credit(score_differences(task, score.to_frame())[:, 0], task.share, ties=TIES)
        for score in drawn.scores.values()
    )
    return Truth(tuple(float(credit.mean()) for credit in agreements), win_rates(judged).value)


def study_numbers(study: Study, number: int) -> Floats:
    """Draw one study, and return its numbers with each judge, (judges, 4, 7)."""
    drawn = drawn_study(study, np.random.default_rng([7, number]))
    tables = {"preferences": drawn.preferences}
    (task,) = judged_tasks(tables, drew_sides=[TASK])
    (judged,) = tasks_judged(tables)
    judged = replace(judged, has_drawn_sides=True)
    return np.stack([numbers(task, judged, drawn, judge, truth(study)) for judge in JUDGES])


def summary(values: Floats) -> list[str]:
    """Return coverage assisted and alone, and width and spread, assisted over alone, of some studies, (R, 7)."""
    people, low, high, estimate, its_low, its_high, target = values.T
    known = ~np.isnan(low + its_low)
    assisted, alone = (
        ((ends[0] <= target) & (target <= ends[1]))[known].mean()
        for ends in ((its_low, its_high), (low, high))
    )
    width = np.mean((its_high - its_low)[known]) / np.mean((high - low)[known])
    spread = np.std(estimate - target) / np.std(people - target)
    return [f"{dotted(assisted)} / {dotted(alone)}", f"{dotted(width)} / {dotted(spread)}"]


class Passages(NamedTuple):
    """Votes, verdicts and scores on pairs of passages, by topic."""

    votes: dict[str, pd.DataFrame]
    verdicts: dict[str, pd.DataFrame]
    scores: dict[str, "pd.Series[float]"]


@lru_cache
def passages(folder: str) -> Passages:
    """Read the votes of a crowd and the first verdict of a judge on each pair."""
    text = dict.fromkeys(("topic", "item", "left", "right", "first", "second"), str)
    votes, verdicts, items = (
        pd.read_csv(Path(folder) / f"{name}.csv.gz", dtype=text) for name in ("votes", "gpt4o", "items")
    )
    for frame in (votes, verdicts):
        frame["system_a"], frame["system_b"] = np.sort(frame.iloc[:, 1:3].to_numpy(str), axis=1).T
    key = ["topic", "system_a", "system_b"]
    is_first = verdicts["verdict"].map({"first": True, "second": False})
    chosen = np.where(is_first == True, verdicts["first"], verdicts["second"])  # noqa: E712 - has a third value
    verdicts["vote"] = np.where(chosen == verdicts["system_a"], "votes_a", "votes_b")
    verdicts.loc[is_first.isna(), "vote"] = "contradicts"
    verdicts = verdicts.drop_duplicates(key).assign(judge="good", task=TASK, is_swapped=False, repeat=1)
    verdicts["order"] = pd.array([pd.NA] * len(verdicts), dtype="Int64")
    votes = votes.merge(verdicts[key], on=key).rename(
        columns={"left": "system_left", "right": "system_right"}
    )
    votes = votes.assign(
        worker=None, task=TASK, pair="", decision_seconds=np.nan, language="en", validation_of=None
    )
    index = pd.MultiIndex.from_frame(items[["topic", "item"]].set_axis(["topic", "system"], axis=1))
    return Passages(
        dict(iter(votes.groupby("topic"))),
        dict(iter(verdicts.groupby("topic"))),
        {
            name: items[column].fillna(items[column].min() - 1).set_axis(index)
            for name, column in (("fused ranks", "rrf63"), ("grades", "umbrela_gpt4"), ("length", "chars"))
        },
    )


OPPOSITE = {"votes_a": "votes_b", "votes_b": "votes_a"}


def passages_numbers(folder: str, with_new_topics: bool, number: int) -> Floats:  # noqa: FBT001 - of a partial
    """Draw labels on 20 % of every topic's pairs, and return the weighted agreement of each measure with both judges, (2, 3, 7)."""
    data, rng = passages(folder), np.random.default_rng([21, number])
    names = sorted(data.votes)
    drawn = rng.choice(names, len(names)) if with_new_topics else names
    votes, verdicts, scores = [], [], {name: [] for name in data.scores}
    for place, name in enumerate(drawn):
        topic = f"{place:02d}"
        pairs = data.verdicts[name]
        some = pairs.sample(max(1, round(0.2 * len(pairs))), random_state=rng)[["system_a", "system_b"]]
        votes.append(data.votes[name].merge(some, on=["system_a", "system_b"]).assign(topic=topic))
        verdicts.append(pairs.assign(topic=topic))
        for measure, score in data.scores.items():
            scores[measure].append(pd.concat({topic: score.loc[name]}, names=["topic", "system"]))
    (task,) = judged_tasks({"preferences": pd.concat(votes, ignore_index=True)}, drew_sides=[TASK])
    said = pd.concat(verdicts, ignore_index=True)
    scored = measures({name: pd.concat(parts) for name, parts in scores.items()})
    true = passages_truth(folder)
    rows = (
        assisted_rows(task, scored, COMPARED, judge)[0]
        for judge in (said, said.assign(vote=said["vote"].replace(OPPOSITE)))
    )
    return np.array(
        [
            [
                [*(row[name] for name in NAMES), true[row["measure"]]]
                for row in found
                if row["ties"] == "weighted"
            ]
            for found in rows
        ]
    )


@lru_cache
def passages_truth(folder: str) -> dict[str, float]:
    """Return the weighted agreement of each measure on all pairs."""
    data = passages(folder)
    (task,) = judged_tasks(
        {"preferences": pd.concat(data.votes.values(), ignore_index=True)}, drew_sides=[TASK]
    )
    return {
        name: float(
            pair_credit(score_differences(task, score.to_frame())[:, 0], task.share, ties="weighted").mean()
        )
        for name, score in data.scores.items()
    }


def dotted(value: float) -> str:
    """Format three digits, without a zero before the point."""
    return f"{value:.3f}".removeprefix("0")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("studies", nargs="?", type=int, default=500)
    parser.add_argument("names", nargs="*", default=list(STUDIES))
    parser.add_argument("--dl21", type=Path)
    engine_arguments(parser)
    options = parser.parse_args()
    with open_engine(jobs=options.jobs, scheduler=options.scheduler) as engine:
        if options.dl21 is not None:
            folder = str(options.dl21)
            header("labels drawn from", "judge", "R", *passages_truth(folder))
            for what, is_new in (("the same topics", False), ("topics drawn anew", True)):
                draw = partial(passages_numbers, folder, is_new)
                results = np.stack(replicated(engine, draw, options.studies))
                for judge, of_judge in zip(("GPT-4o", "opposite"), np.moveaxis(results, 1, 0), strict=True):
                    line(what, judge, str(options.studies), *cells(of_judge))
            return
        header("study", "judge", "R", *QUANTITIES)
        for name in options.names:
            results = np.stack(replicated(engine, partial(study_numbers, STUDIES[name]), options.studies))
            for judge, of_judge in zip(JUDGES, np.moveaxis(results, 1, 0), strict=True):
                line(name, judge, str(options.studies), *cells(of_judge))


def header(*names: str) -> None:
    """Print the head of the table: two columns a quantity."""
    columns = [
        *names[:3],
        *(f"{name}: {what}" for name in names[3:] for what in ("coverage", "width, spread")),
    ]
    line(*columns)
    line(*["---"] * len(columns))


def cells(values: Floats) -> list[str]:
    """Return the cells of a judge from all studies, (R, quantities, 7)."""
    return [cell for of_quantity in np.moveaxis(values, 1, 0) for cell in summary(of_quantity)]


def line(*columns: str) -> None:
    """Print a row."""
    print("|", " | ".join(columns), "|", flush=True)


if __name__ == "__main__":
    main()
