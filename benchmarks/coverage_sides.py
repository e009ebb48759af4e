"""Simulated coverage of how long systems are read and how often their sources are opened, as `prefcal agree` says it.

    python -m benchmarks.coverage_sides [STUDIES [DESIGN ...]] [--jobs 1] [--scheduler ADDRESS] | python benchmarks/keep_rows.py docs/evidence/sides.csv

People and topics differ in how long a side is read (log-normal), and in how readily each of its two sources is opened (logit-normal).
"""

from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
import pandas as pd
from scipy.special import expit
from scipy.stats import norm

from benchmarks.replications import designs_parser, opened, print_head, print_row, replicated
from calibration.agree.reading import OPENED_NUMBER, OPENED_SHARE, SECONDS, reading_rows
from metrics.arrays import Floats

Rng: TypeAlias = np.random.Generator
SOURCES = 2
MEAN_LOG, NOISE = 3.0, 0.5
OPENS = -1.0
QUANTITIES = (SECONDS, OPENED_SHARE, OPENED_NUMBER)


@dataclass(frozen=True, kw_only=True)
class Design:
    """A sort of study: each of the people judges so many of the topics; by how much these differ, in logs and log odds."""

    people: int = 20
    topics: int = 12
    each: int = 6
    by_person: float = 0.4
    by_topic: float = 0.4


DESIGNS = {
    "20 people, 12 topics, 6 each": Design(),
    "12 people, 12 topics, all": Design(people=12, each=12),
    "40 people, 30 topics, 8 each": Design(people=40, topics=30, each=8),
    "20 people, 6 topics, all": Design(topics=6),
    "20 people, 12 topics, 6 each, people alike": Design(by_person=0.0),
    "20 people, 12 topics, 6 each, topics alike": Design(by_topic=0.0),
}


def truth(design: Design) -> dict[str, float]:
    """Return the means over all people and topics; shares by quadrature."""
    spread = np.hypot(design.by_person, design.by_topic)
    grid = norm.ppf((np.arange(20_000) + 0.5) / 20_000)
    opens = expit(OPENS + 2 * spread * grid)
    return {
        SECONDS: float(np.exp(MEAN_LOG + (spread**2 + NOISE**2) / 2)),
        OPENED_SHARE: float((1 - (1 - opens) ** SOURCES).mean()),
        OPENED_NUMBER: float(SOURCES * opens.mean()),
    }


def drawn_study(design: Design, rng: Rng) -> dict[str, pd.DataFrame]:
    """Draw preferences and reads of one study, of which the left system counts."""
    topic = np.concatenate([rng.permutation(design.topics)[: design.each] for _ in range(design.people)])
    worker = np.repeat(np.arange(design.people), design.each)

    def effects(scale: float) -> Floats:
        by_person = rng.normal(0, scale * design.by_person, design.people)
        return np.asarray(by_person[worker] + rng.normal(0, scale * design.by_topic, design.topics)[topic])

    seconds = np.exp(MEAN_LOG + effects(1) + rng.normal(0, NOISE, len(topic)))
    opened = rng.random((SOURCES, len(topic))) < expit(OPENS + effects(2))
    judged = pd.DataFrame(
        {
            "judgment": np.arange(len(topic)).astype(str),
            "worker": worker.astype(str),
            "task": "t",
            "topic": topic.astype(str),
            "system_left": "a",
            "system_right": "b",
            "validation_of": None,
        }
    )
    left = judged[["judgment", "topic"]].assign(system="a", side="left", dwell_seconds=0.0)
    reads = [left.assign(item="b1", kind="iunit", dwell_seconds=seconds)]
    for source in range(SOURCES):
        reads += [
            left.assign(item=f"b1:{source}", kind="link"),
            left[opened[source]].assign(item=f"b1:{source}:text", kind="iunit"),
        ]
    return {"preferences": judged, "reads": pd.concat(reads, ignore_index=True)}


def held(design: Design, place: int, number: int) -> dict[str, float]:
    """Return whether one study's intervals hold the truth, and its estimates and widths."""
    tables = drawn_study(design, np.random.default_rng([place, number]))
    rows = reading_rows(tables).query("system == 'a'").set_index("quantity")
    values: dict[str, float] = {}
    for name, value in truth(design).items():
        low, high = rows.loc[name, "low"], rows.loc[name, "high"]
        values |= {f"{name} holds": float(low <= value <= high), f"{name} estimate": rows.loc[name, "value"]}
        values |= {f"{name} width": high - low}
    return values


def main() -> None:
    print_head(
        "design", "R", *(head for name in QUANTITIES for head in (name.replace("_", " "), "width / good"))
    )
    with opened(designs_parser(__doc__, 1000, "DESIGN")) as (options, engine):
        for name in options.names or DESIGNS:
            design, place = DESIGNS[name], list(DESIGNS).index(name)
            rows = pd.DataFrame(replicated(engine, partial(held, design, place), options.studies))
            cells = []
            for quantity in QUANTITIES:
                good = 2 * 1.96 * rows[f"{quantity} estimate"].std()
                cells += [
                    f"{rows[f'{quantity} holds'].mean():.3f}",
                    f"{rows[f'{quantity} width'].median() / good:.2f}",
                ]
            print_row(name, str(options.studies), *cells)


if __name__ == "__main__":
    main()
