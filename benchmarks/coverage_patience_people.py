"""Patience where people are not as the model says: what is covered, and what is warned of. A table of docs/calibration_patience.md.

    python -m benchmarks.coverage_patience_people [--replications 40] [--only preferences|stops] [--jobs 1] [--scheduler ADDRESS]

Each line is one regime: median estimate, the share of 95 % intervals that hold the truth, the share of studies with a warning of the
right name, with any warning (but of few people or topics), refused, those that miss the truth without a warning of the right name, and those
that miss it without any. The generators are apart from those of the package.
"""

import argparse
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import NamedTuple

import numpy as np
import pandas as pd

from benchmarks.replications import engine_arguments, replicated
from calibration.inference.results import CalibrationResult, NotIdentifiedError
from calibration.patience.pairs import JudgedSummaries, summary_pairs
from calibration.patience.preferences import fit_patience_from_preferences
from calibration.patience.simulate import simulate_summaries
from calibration.patience.stops import fit_patience_from_stops
from calibration.tables.files import checked
from calibration.tables.preferences import judged_pairs, pair_votes
from calibration.tables.tables import TABLES
from metrics.arrays import Floats
from metrics.parallel import Engine, open_engine

DECAYS: Mapping[str, Callable[[Floats], Floats]] = {
    "linear": lambda share: np.maximum(0, 1 - share),
    "exponential": lambda share: np.exp(-share),
    "step": lambda share: (share < 1).astype(float),
    "hyperbolic": lambda share: 1 / (1 + share),
}
"""Name -> interest at so many patiences of text."""
EFFECT, TIES, SENSITIVITY, TASTE = 1.0, 0.6, 0.3, 0.3
PATIENCE = {"preferences": 840.0, "stops": 1500.0}
# label -> (names of the right warnings, what people are like)
SIDES = "side_bias,patience_differs"
PREFERENCES: Mapping[str, tuple[str, dict[str, object]]] = {
    "right, 10 people on 25 topics": ("", {}),
    "right, 8 people on 8 topics": ("", {"people": 8, "topics": 8}),
    "right, 14 people per topic, 8 topics": ("", {"people": 14, "topics": 8, "own": True}),
    "patience CV .4, 10 people on 25 topics": ("patience_differs", {"cv": 0.4}),
    "patience CV .8, 10 people on 25 topics": ("patience_differs", {"cv": 0.8}),
    "patience CV .8, 14 people per topic": (
        "patience_differs",
        {"cv": 0.8, "people": 14, "topics": 8, "own": True},
    ),
    "decay exponential": ("decay_exponential", {"decay": "exponential"}),
    "decay exponential, effect 2": ("decay_exponential", {"decay": "exponential", "effect": 2.0}),
    "decay exponential, 14 people per topic, 8 topics": (
        "decay_exponential",
        {"decay": "exponential", "people": 14, "topics": 8, "own": True},
    ),
    "decay exponential, effect .6, 8 people on 10 topics": (
        "decay_exponential",
        {"decay": "exponential", "effect": 0.6, "people": 8, "topics": 10},
    ),
    "all up to the length, nothing beyond": ("decay_step", {"decay": "step"}),
    "the same, effect .5, 12 people on 18 topics": (
        "decay_step",
        {"decay": "step", "effect": 0.5, "people": 12, "topics": 18},
    ),
    "the same, 14 people per topic, 8 topics": (
        "decay_step",
        {"decay": "step", "people": 14, "topics": 8, "own": True},
    ),
    "decay hyperbolic": ("decay_hyperbolic", {"decay": "hyperbolic"}),
    "decay hyperbolic, effect 2": ("decay_hyperbolic", {"decay": "hyperbolic", "effect": 2.0}),
    "decay hyperbolic, 400, patience CV .5, 12 people on 18 topics": (
        "decay_hyperbolic,patience_differs",
        {"decay": "hyperbolic", "cv": 0.5, "patience": 400.0, "people": 12, "topics": 18},
    ),
    "a bonus of .5 for the first, patience CV .5, 12 people on 18 topics": (
        SIDES,
        {"first": 0.5, "cv": 0.5, "people": 12, "topics": 18},
    ),
    "people lean to a side (sd 1), decay exponential, 12 people on 18 topics": (
        SIDES + ",decay_exponential",
        {"lean": 1.0, "decay": "exponential", "people": 12, "topics": 18},
    ),
    "nobody reads": ("refused", {"careless": 1.0}),
    "20 % by chance, 20 people": ("careless_workers", {"careless": 0.2, "people": 20}),
}
STOPS: Mapping[str, tuple[str, dict[str, object]]] = {
    "right, 100 people x 4": ("", {}),
    "right, 20 people x 4": ("", {"people": 20}),
    "right, 60 people x 6 of the same 12 texts": ("", {"people": 60, "each": 6, "texts": 12}),
    "texts differ, sd .4, 12 texts": ("texts_differ", {"people": 60, "each": 6, "texts": 12, "text_sd": 0.4}),
    "texts differ, sd .2, 20 texts": (
        "texts_differ",
        {"people": 60, "each": 10, "texts": 20, "text_sd": 0.2},
    ),
    "screens of 300 characters": ("stops_by_screen", {"screen": 300.0}),
    "screens of 150 characters": ("stops_by_screen", {"screen": 150.0}),
    "screens of 350, least and most known, 60 people x 5": (
        "stops_by_screen",
        {"screen": 350.0, "least": True, "people": 60, "each": 5},
    ),
    "screens of 600, least and most known, 80 people x 5": (
        "stops_by_screen",
        {"screen": 600.0, "least": True, "people": 80, "each": 5},
    ),
    "screens of 250, 20 people x 6": ("stops_by_screen", {"screen": 250.0, "people": 20, "each": 6}),
    "patience CV .4": ("patience_differs", {"cv": 0.4}),
    "patience CV .8": ("patience_differs", {"cv": 0.8}),
    "20 % go to the end": ("careless_workers", {"finish": 0.2}),
    "20 % stop at once": ("careless_workers", {"quit_at_once": 0.2}),
    "decay exponential": ("decay_exponential", {"exponential": True}),
}


@cache
def collection(topics: int, number: int) -> tuple[pd.DataFrame, Mapping[str, Mapping[str, float]]]:
    tables, probabilities = simulate_summaries(topics, np.random.default_rng([number, topics, 77]))
    return tables["positions"], probabilities


def judged(
    rng: np.random.Generator,
    *,
    topics: int = 25,
    people: int = 10,
    own: bool = False,
    cv: float = 0.0,
    decay: str = "linear",
    effect: float = EFFECT,
    careless: float = 0.0,
    lean: float = 0.0,
    first: float = 0.0,
    patience: float = PATIENCE["preferences"],
) -> JudgedSummaries:
    """Draw judgments of all pairs by the same people, or by people of each topic's own; the median patience is the truth.

    People lean to the left by log odds of their own (deviation ``lean``), and by ``first`` all the same.
    """
    positions, probabilities = collection(topics, int(rng.integers(20)))
    weight = np.array(
        [probabilities[t][i] for t, i in zip(positions["topic"], positions["intent"], strict=True)]
    ) * positions["importance"].to_numpy(float)
    summary, index = pd.factorize(pd.MultiIndex.from_frame(positions[["topic", "system"]]))
    offset = positions["offset_chars"].to_numpy(float)

    def worth(length: float) -> Floats:
        return np.bincount(summary, weight * DECAYS[decay](offset / length), len(index))

    topic = index.get_level_values(0).to_numpy()
    one, other = np.triu_indices(len(index), 1)
    same = topic[one] == topic[other]
    one, other = one[same], other[same]
    middle = worth(patience)
    slope = effect / (middle[one] - middle[other]).std()
    taste = rng.normal(0, TASTE, len(index))
    groups = [[name] for name in np.unique(topic)] if own else [list(np.unique(topic))]
    rows = []
    for group in groups:
        used = np.isin(topic[one], group)
        a, b = one[used], other[used]
        for number in range(people):
            m = worth(patience * np.exp(np.sqrt(np.log1p(cv**2)) * rng.normal()))
            odds = slope * np.exp(rng.normal(0, SENSITIVITY)) * (m[a] - m[b]) + taste[a] - taste[b]
            half = odds / 2 * (rng.random() >= careless)
            turned = np.zeros(len(half), dtype=bool)
            if lean or first:
                turned = rng.random(len(half)) < 0.5
                half += np.where(turned, -1, 1) * (first + lean * rng.normal()) / 2
            weights = np.stack([np.exp(half), np.exp(-half), np.full(len(half), TIES)])
            drawn = (rng.random(len(half)) > (weights / weights.sum(axis=0))[:2].cumsum(axis=0)).sum(axis=0)
            made = {"a": a, "b": b, "turned": turned, "choice": drawn}
            rows.append(pd.DataFrame({"worker": f"{group[0]}-{number}"} | made))
    table = pd.concat(rows, ignore_index=True)
    systems, turned = index.get_level_values(1).to_numpy(), table["turned"]
    sides = [np.where(turned, table[far], table[near]) for near, far in (("a", "b"), ("b", "a"))]
    sided = np.where(table["choice"] == 2, 2, np.where(turned, 1 - table["choice"], table["choice"]))
    preferences = checked(
        pd.DataFrame(
            {
                "judgment": [f"J{number}" for number in range(len(table))],
                "worker": table["worker"],
                "task": "summaries",
                "topic": topic[table["a"]],
                "pair": topic[table["a"]] + "/" + systems[table["a"]] + "/" + systems[table["b"]],
                "system_left": systems[sides[0]],
                "system_right": systems[sides[1]],
                "choice": np.array(["left", "right", "equally_good"])[sided],
            }
        ),
        TABLES["preferences"],
    )
    return summary_pairs(pair_votes(preferences), positions, probabilities, judged=judged_pairs(preferences))


def stopped(
    rng: np.random.Generator,
    *,
    people: int = 100,
    each: int = 4,
    texts: int = 0,
    text_sd: float = 0.0,
    cv: float = 0.0,
    screen: float = 0.0,
    finish: float = 0.0,
    quit_at_once: float = 0.0,
    exponential: bool = False,
    least: bool = False,
) -> pd.DataFrame:
    """Draw table stops; the median patience is the truth. ``least``: the table also has where the last screen began."""
    patience, number = PATIENCE["stops"], texts or people * each
    lengths, interest = (
        np.round(rng.uniform(0.2, 1.6, number) * patience),
        np.exp(rng.normal(0, text_sd, number)),
    )
    rows = []
    for person in range(people):
        own = patience * np.exp(np.sqrt(np.log1p(cv**2)) * rng.normal())
        kind = rng.choice(3, p=[finish, quit_at_once, 1 - finish - quit_at_once])
        which = (
            rng.choice(texts, each, replace=False) if texts else np.arange(person * each, (person + 1) * each)
        )
        depth = rng.exponential(size=each) if exponential else rng.random(each)
        stop = np.choose(kind, [np.full(each, np.inf), 60 * rng.random(each), depth * own * interest[which]])
        seen = np.ceil(stop / screen) * screen if screen else stop
        read, end = np.minimum(seen, lengths[which]), seen >= lengths[which]
        begun = np.ceil(read / screen - 1).clip(0) * screen if screen else read
        rows += [
            (f"w{person}", f"q{text}", "A", "stacked", round(x), length, ended, low)
            for text, x, length, ended, low in zip(which, read, lengths[which], end, begun, strict=True)
        ]
    columns = [
        "worker",
        "topic",
        "system",
        "layout",
        "chars_read",
        "text_chars",
        "reached_end",
        "chars_least",
    ]
    table = pd.DataFrame(rows, columns=columns)
    return checked(table if least else table.drop(columns="chars_least"), TABLES["stops"])


class Told(NamedTuple):
    """What one study says: its estimate, whether the interval holds the truth, names of all notes, and of warnings but few_*."""

    estimate: float
    holds: bool
    notes: frozenset[str]
    warnings: frozenset[str]


def told(
    make: Callable[[np.random.Generator, dict[str, object]], CalibrationResult],
    people: dict[str, object],
    truth: float,
    seed: int,
) -> Told | None:
    """Fit one study; None where it is refused."""
    try:
        fit = make(np.random.default_rng([seed, 5]), people)
    except NotIdentifiedError:
        return None
    ((_, (low, high)),) = fit.conf_int().items()
    return Told(
        estimate=float(fit.estimates[0]),
        holds=(low is None or low <= truth) and (high is None or truth <= high),
        notes=frozenset(note.name for note in fit.diagnostics),
        warnings=frozenset(
            note.name
            for note in fit.diagnostics
            if note.severity == "warning" and not note.name.startswith("few_")
        ),
    )


def fit_preferences(rng: np.random.Generator, people: dict[str, object]) -> CalibrationResult:
    return fit_patience_from_preferences(judged(rng, **people), n_workers=1, with_jackknife=False)


def fit_stops(rng: np.random.Generator, people: dict[str, object]) -> CalibrationResult:
    return fit_patience_from_stops(stopped(rng, **people), rng=rng, resamples=400)


def line(label: str, right: str, truth: float, found: list[Told | None]) -> str:
    fits = [one for one in found if one is not None]
    made = max(len(fits), 1)
    names = set(right.split(","))
    counts = [sum(one.holds for one in fits), sum(bool(names & one.notes) for one in fits)]
    counts.append(sum(bool(one.warnings) for one in fits))
    wrong = [sum(not one.holds and not names & one.warnings for one in fits)]
    wrong.append(sum(not one.holds and not one.warnings for one in fits))
    shares = " | ".join(f"{count / made:.2f}" for count in counts)
    middle = f"{np.median([one.estimate for one in fits]):.0f}" if fits else "-"
    refused = (len(found) - len(fits)) / len(found)
    unnamed, silent = (count / len(found) for count in wrong)
    return f"| {label} | {truth:.0f} | {middle} | {shares} | {refused:.2f} | {unnamed:.2f} | {silent:.2f} |"


def table(part: str, replications: int, engine: Engine) -> None:
    regimes, fit = PARTS[part]
    for label, (right, people) in regimes.items():
        truth = people.get("patience", PATIENCE[part])
        found = replicated(engine, partial(told, fit, people, truth), replications)
        print(line(f"{part}: {label}", right, truth, found), flush=True)


PARTS = {"preferences": (PREFERENCES, fit_preferences), "stops": (STOPS, fit_stops)}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replications", type=int, default=40)
    parser.add_argument("--only", choices=PARTS)
    engine_arguments(parser)
    options = parser.parse_args()
    with open_engine(jobs=options.jobs, scheduler=options.scheduler) as engine:
        for part in PARTS:
            if options.only in (None, part):
                table(part, options.replications, engine)
