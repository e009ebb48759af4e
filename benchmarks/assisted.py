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
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.replications import opened, replicated
from calibration.agree.assisted import assisted_rows
from calibration.agree.judged_task import JudgedTask, judged_tasks
from calibration.agree.measures.variants import ParameterOrigin, ScoredMeasure, VariantRole
from calibration.agree.task_agreement import score_differences
from calibration.judges.assist import JudgedPairs, PeopleNumber, VotesOnPairs, judge_number
from calibration.rank.assisted import assisted_win_rates
from calibration.rank.judgments import JudgedSystems, tasks_judged, win_rates
from metrics.agreement.agreement import pair_credit
from metrics.agreement.crossed_errors import VotesByPerson, crossing

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
    """Votes of a crowd that nobody knows, and the first verdict of a judge, on P pairs of passages.

    Attributes
    ----------
    topic : (P,) ndarray of int
        Codes.
    votes : list of ndarray of float
        Of each pair: 1, 0 for its first side.
    people : (P,) ndarray of float
        Their mean.
    share : (P,) ndarray of float
        The verdict: 1, 0, or 0.5 where both orders contradict each other.
    differences : dict of str to (P,) ndarray of float
        Measure -> score of the first side less that of the second.
    """

    topic: NDArray[np.intp]
    votes: list[Floats]
    people: Floats
    share: Floats
    differences: dict[str, Floats]

    def truth(self, measure: str) -> float:
        """Return the weighted agreement of a measure on all pairs."""
        return float(pair_credit(self.differences[measure], self.people, ties="weighted").mean())


MEASURES = {"fused ranks": "rrf63", "grades": "umbrela_gpt4", "length": "chars"}
"""Measure -> column of items.csv.gz."""


@lru_cache
def passages(folder: str) -> Passages:
    """Read them."""
    text = dict.fromkeys(("topic", "item", "left", "right", "first", "second"), str)
    votes, verdicts, items = (
        pd.read_csv(Path(folder) / f"{name}.csv.gz", dtype=text) for name in ("votes", "gpt4o", "items")
    )
    for frame in (votes, verdicts):
        frame["a"], frame["b"] = np.sort(frame.iloc[:, 1:3].to_numpy(str), axis=1).T
    key = ["topic", "a", "b"]
    verdicts = verdicts.drop_duplicates(key, ignore_index=True)
    votes["for_a"] = (votes["choice"] == np.where(votes["left"] == votes["a"], "left", "right")).astype(float)
    by_pair = votes.groupby(key)["for_a"].apply(np.array)
    said = np.where(verdicts["first"] == verdicts["a"], "first", "second")
    is_tie = verdicts["verdict"] == "contradicts"
    scores = items.set_index("item")[list(MEASURES.values())]
    scores = scores.fillna(scores.min() - 1)
    of_pairs = by_pair.loc[list(verdicts[key].itertuples(index=False))].tolist()
    return Passages(
        pd.factorize(verdicts["topic"])[0],
        of_pairs,
        np.array([each.mean() for each in of_pairs]),
        np.where(is_tie, 0.5, (verdicts["verdict"] == said).astype(float)),
        {
            name: scores.loc[verdicts["a"], column].to_numpy() - scores.loc[verdicts["b"], column].to_numpy()
            for name, column in MEASURES.items()
        },
    )


def passages_numbers(folder: str, with_new_topics: bool, number: int) -> Floats:  # noqa: FBT001 - of a partial
    """Draw labels on 20 % of every topic's pairs, and return the weighted agreement of each measure with both judges, (2, 3, 7)."""
    data, rng = passages(folder), np.random.default_rng([21, number])
    topics = int(data.topic.max()) + 1
    drawn = rng.integers(topics, size=topics) if with_new_topics else np.arange(topics)
    labelled, rest = [], []
    for name in drawn:
        places = rng.permutation(np.flatnonzero(data.topic == name))
        many = max(1, round(0.2 * len(places)))
        labelled.append(places[:many])
        rest.append(places[many:])
    place = np.concatenate([*labelled, *rest])
    topic = np.concatenate(
        [np.repeat(np.arange(topics), [len(each) for each in part]) for part in (labelled, rest)]
    )
    said = [data.votes[pair] for pair in np.concatenate(labelled)]
    p, pair = len(said), np.repeat(np.arange(len(said)), [len(each) for each in said])
    votes = VotesByPerson(pair=pair, for_a=np.concatenate(said), crossing=crossing(topic[pair], None))

    def of_judge(share: Floats, measure: str) -> list[float]:
        difference = data.differences[measure][place]
        credit = pair_credit(difference, share, ties="weighted")
        judge = judge_number(credit, np.full(p, 1 / p), np.full(len(place), 1 / len(place)), topic)
        people = PeopleNumber(
            float(pair_credit(difference[:p], votes.share, ties="weighted").mean()),
            votes.influence(difference[:p], "weighted"),
            votes.weight,
        )
        pairs = JudgedPairs(pairs=pd.DataFrame(), share=share, topic=topic, labelled=p)
        found = asdict(VotesOnPairs(votes.crossing, pair, pairs).assisted(people, judge))
        return [*(found[name] for name in NAMES), data.truth(measure)]

    share = data.share[place]
    return np.array([[of_judge(each, measure) for measure in MEASURES] for each in (share, 1 - share)])


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
    with opened(parser) as (options, engine):
        if options.dl21 is not None:
            folder = str(options.dl21)
            header("labels drawn from", "judge", "R", *MEASURES)
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
