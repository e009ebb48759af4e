"""Simulated coverage of how far criteria go with the overall choice, as the report says it.

    python -m benchmarks.coverage_criteria [STUDIES [DESIGN ...]] [--jobs 1] [--scheduler ADDRESS] | python benchmarks/keep_rows.py docs/evidence/criteria.csv

People answer about two criteria and choose by Davidson's model; the weight of the first differs between topics and between people. The truth
is what one very large study of the same sort finds.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

import numpy as np
import pandas as pd

from benchmarks.replications import designs_parser, few, opened, print_head, print_row, replicated
from calibration.rank.explained import explained_choices

Rng: TypeAlias = np.random.Generator
SIDES = np.array(["right", "equally_good", "left"])
NAMES = ["correct", "short"]


@dataclass(frozen=True, kw_only=True)
class Design:
    """A sort of study: each of the people judges each topic so often."""

    people: int = 12
    topics: int = 20
    judgments: int = 2
    by_person: float = 0.6
    by_topic: float = 0.4


DESIGNS = {
    "12 people, 20 topics": Design(),
    "12 people, 6 topics": Design(topics=6, judgments=4),
    "30 people, 20 topics": Design(people=30, judgments=1),
    "12 people, 20 topics, weights alike": Design(by_person=0.0, by_topic=0.0),
}


def drawn_study(design: Design, rng: Rng) -> dict[str, pd.DataFrame]:
    """Draw the tables of one study."""
    worker, topic, _ = (code.ravel() for code in np.indices((design.people, design.topics, design.judgments)))
    of_person, on_topic = (
        rng.normal(0, design.by_person, design.people),
        rng.normal(0, design.by_topic, design.topics),
    )
    first = rng.choice([1, 0, -1], len(worker), p=[0.4, 0.2, 0.4])
    second = np.where(rng.random(len(worker)) < 0.4, first, rng.choice([1, 0, -1], len(worker)))
    lead = (2 + of_person[worker] + on_topic[topic]) * first + 0.5 * second + 0.2
    odds = np.stack([np.exp(-lead / 2), np.full(len(lead), 0.7), np.exp(lead / 2)])
    overall = (rng.random(len(lead)) > np.cumsum(odds / odds.sum(axis=0), axis=0)).sum(axis=0)
    judged = pd.DataFrame(
        {
            "judgment": np.arange(len(worker)).astype(str),
            "worker": worker.astype(str),
            "task": "t",
            "topic": topic.astype(str),
            "choice": SIDES[overall],
            "validation_of": None,
        }
    )
    asked = [
        pd.DataFrame({"judgment": judged["judgment"], "criterion": name, "choice": SIDES[answer + 1]})
        for name, answer in zip(NAMES, (first, second), strict=True)
    ]
    return {"preferences": judged, "criteria": pd.concat(asked, ignore_index=True)}


def found(design: Design, rng: Rng) -> pd.DataFrame:
    return explained_choices(drawn_study(design, rng)).set_index("criterion").loc[NAMES]


def held(design: Design, truth: pd.DataFrame, place: int, number: int) -> dict[str, float]:
    """Return whether one study's intervals hold the truth, and its estimates."""
    rows = found(design, np.random.default_rng([place, number]))
    values = {}
    for what in ("same", "weight"):
        inside = (rows[f"{what}_low"] <= truth[what]) & (truth[what] <= rows[f"{what}_high"])
        values |= {f"{what} {name}": float(inside[name]) for name in NAMES}
        values |= {f"{what} estimate": rows.loc["correct", what]}
        values |= {f"{what} width": rows.loc["correct", f"{what}_high"] - rows.loc["correct", f"{what}_low"]}
    return values


def main() -> None:
    columns = (
        head for what in ("same", "weight") for head in (f"{what}, first", f"{what}, second", "width / good")
    )
    print_head("design", "R", *columns)
    with opened(designs_parser(__doc__, 1000, "DESIGN")) as (options, engine):
        for name in options.names or DESIGNS:
            design, place = DESIGNS[name], list(DESIGNS).index(name)
            large = replace(design, people=400, topics=400, judgments=1)
            truth = found(large, np.random.default_rng(place))
            rows = pd.DataFrame(replicated(engine, partial(held, design, truth, place), options.studies))
            cells = []
            for what in ("same", "weight"):
                good = 2 * 1.96 * few(design.people, design.topics) * rows[f"{what} estimate"].std()
                cells += [f"{rows[f'{what} {each}'].mean():.3f}" for each in NAMES]
                cells += [f"{rows[f'{what} width'].median() / good:.2f}"]
            print_row(name, str(options.studies), *cells)


if __name__ == "__main__":
    main()
