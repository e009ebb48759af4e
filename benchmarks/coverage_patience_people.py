"""Patience and persistence of people within and outside the models.

A table of docs/evidence.md.

    python -m benchmarks.coverage_patience_people [--replications 200] [--only preferences|stops|lists] [--jobs 1] [--scheduler ADDRESS]

Each line is one regime: the median estimate, the share of 95 % intervals that hold the truth, the median width in units of 2 x 1.96 standard
deviations of the estimate (2 x t with fewer than 30 people or 20 topics; log scale for L, logit for p), the share with any warning (but of few people or topics), and the share in which the interval or the range of other laws holds the truth, or a warning names
the cause (`CAUSES`), or the number is refused. The truth is the median over people; of another form of decay it is the nearest line in a study of 150 people on
the same texts. The generators are apart from those of the package.
"""

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import expit, logit, stdtrit

from benchmarks.replications import print_head, print_row, replicated, run_parts, warned
from calibration.checks.registry import run_checks
from calibration.inference.results import NotIdentifiedError
from calibration.models.patience.pairs import JudgedSummaries, summary_pairs
from calibration.models.patience.preferences import fit_patience_from_preferences
from calibration.models.patience.simulate import simulate_summaries
from calibration.models.patience.stops import fit_patience_from_stops, stops_of_texts
from calibration.models.persistence import fit_persistence, list_steps
from calibration.tables.files import check_frame
from calibration.tables.preferences import judged_pairs, pair_votes
from calibration.tables.tables import TABLES
from metrics.arrays import Floats
from metrics.parallel import Executor

DECAYS: Mapping[str, Callable[[Floats], Floats]] = {
    "linear": lambda share: np.maximum(0, 1 - share),
    "exponential": lambda share: np.exp(-share),
    "step": lambda share: (share < 1).astype(float),
    "hyperbolic": lambda share: 1 / (1 + share),
}
"""Name -> interest at so many patiences of text."""
EFFECT, TIES, SENSITIVITY, TASTE = 1.0, 0.6, 0.3, 0.3
PATIENCE = {"preferences": 840.0, "stops": 1500.0}
NEAREST_TO_EXPONENTIAL = 2503.0
"""L of the line nearest to the survival curve of exponential stops with a 1/e length of 1500 on these texts, from 20,000 people."""
PREFERENCES: Mapping[str, dict[str, Any]] = {
    "right, 10 people on 25 topics": {},
    "right, 8 people on 8 topics": {"people": 8, "topics": 8},
    "right, 14 people per topic, 8 topics": {"people": 14, "topics": 8, "own": True},
    "right, 14 people per topic, 25 topics": {"people": 14, "own": True},
    "one of 8 topics has 70 % of the judgments": {"people": 14, "topics": 8, "own": True, "heavy": 230},
    "patience CV .4, 10 people on 25 topics": {"cv": 0.4},
    "patience CV .8, 10 people on 25 topics": {"cv": 0.8},
    "patience CV .8, 14 people per topic": {"cv": 0.8, "people": 14, "topics": 8, "own": True},
    "decay exponential": {"decay": "exponential"},
    "decay exponential, effect 2": {"decay": "exponential", "effect": 2.0},
    "decay exponential, effect .6, 8 people on 10 topics": {
        "decay": "exponential", "effect": 0.6, "people": 8, "topics": 10,
    },
    "all up to the length, nothing beyond": {"decay": "step"},
    "the same, effect .5, 12 people on 18 topics": {"decay": "step", "effect": 0.5, "people": 12, "topics": 18},
    "decay hyperbolic": {"decay": "hyperbolic"},
    "decay hyperbolic, effect 2": {"decay": "hyperbolic", "effect": 2.0},
    "a bonus of .5 for the first, patience CV .5, 12 people on 18 topics": {
        "first": 0.5, "cv": 0.5, "people": 12, "topics": 18,
    },
    "nobody reads": {"careless": 1.0},
    "20 % by chance, 20 people": {"careless": 0.2, "people": 20},
}  # fmt: skip
"""Label -> what people are like."""
STOPS: Mapping[str, dict[str, Any]] = {
    "right, 100 people x 4": {},
    "right, 20 people x 4": {"people": 20},
    "right, 60 people x 6 of the same 12 texts": {"people": 60, "each": 6, "texts": 12},
    "texts differ, sd .4, 12 texts": {"people": 60, "each": 6, "texts": 12, "text_sd": 0.4},
    "texts differ, sd .2, 20 texts": {"people": 60, "each": 10, "texts": 20, "text_sd": 0.2},
    "screens of 300 characters": {"screen": 300.0},
    "screens of 350, least and most known, 60 people x 5": {
        "screen": 350.0, "least": True, "people": 60, "each": 5,
    },
    "screens of 250, 20 people x 6": {"screen": 250.0, "people": 20, "each": 6},
    "patience CV .4": {"cv": 0.4},
    "patience CV .8": {"cv": 0.8},
    "20 % go to the end": {"finish": 0.2},
    "20 % stop at once": {"quit_at_once": 0.2},
    "decay exponential": {"exponential": True},
}  # fmt: skip
LISTS: Mapping[str, dict[str, Any]] = {
    "right, 60 people x 4 lists of 20": {},
    "right, 20 people x 4": {"people": 20},
    "right, 60 people x 6 of the same 12 lists": {"each": 6, "lists": 12},
    "p .82 or .942, 60 people x 6 lists of 40": {"kinds": (0.82, 0.942), "each": 6, "ranks": 40},
    "the same of lists, 36 lists": {
        "kinds": (0.82, 0.942),
        "each": 6,
        "ranks": 40,
        "by": "list",
        "lists": 36,
    },
    "p .7 or .9, 30 people x 8": {"kinds": (0.7, 0.9), "people": 30, "each": 8},
    "logit p differs between 20 lists, sd .5": {"list_sd": 0.5, "lists": 20},
    "a tenth always goes to the end": {"finish": 0.1},
    "they stop anywhere with the same chance": {"tiring": True},
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
    heavy: int = 0,
    number: int | None = None,
) -> JudgedSummaries:
    """Draw judgments of all pairs by the same people, or by people of each topic's own; the median patience is the truth.

    People lean to the left by log odds of their own (deviation ``lean``), and by ``first`` all the same. With ``heavy``, the first topic has so many
    people of its own; ``number`` is that of the collection, drawn by default.
    """
    drawn = int(rng.integers(20))
    positions, probabilities = collection(topics, drawn if number is None else number)
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
    for place, group in enumerate(groups):
        used = np.isin(topic[one], group)
        a, b = one[used], other[used]
        for one_of in range(heavy if heavy and place == 0 else people):
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
            rows.append(pd.DataFrame({"worker": f"{group[0]}-{one_of}"} | made))
    table = pd.concat(rows, ignore_index=True)
    systems, turned = index.get_level_values(1).to_numpy(), table["turned"]
    sides = [np.where(turned, table[far], table[near]) for near, far in (("a", "b"), ("b", "a"))]
    sided = np.where(table["choice"] == 2, 2, np.where(turned, 1 - table["choice"], table["choice"]))
    preferences = check_frame(
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
    return check_frame(table if least else table.drop(columns="chars_least"), TABLES["stops"])


def listed(
    rng: np.random.Generator,
    *,
    people: int = 60,
    each: int = 4,
    lists: int = 40,
    ranks: int = 20,
    kinds: tuple[float, ...] = (0.8,),
    by: str = "person",
    list_sd: float = 0.0,
    finish: float = 0.0,
    tiring: bool = False,
) -> pd.DataFrame:
    """Draw table stops of ranked lists, three entries of which fill a screen; kinds of people, or of lists, are as many of each."""
    worker = np.repeat(np.arange(people), each)
    text = np.concatenate([rng.permutation(lists)[:each] for _ in range(people)])
    p = np.array(kinds)[(worker if by == "person" else text) % len(kinds)]
    p = 1 / (1 + (1 - p) / p * np.exp(-list_sd * rng.normal(size=lists)[text]))
    read = rng.integers(1, ranks + 1, len(p)) if tiring else rng.geometric(1 - p)
    read = np.where((rng.random(people) < finish)[worker], ranks, read)
    seen = np.minimum(read + 2, ranks)
    return check_frame(
        pd.DataFrame(
            {
                "worker": [f"w{one}" for one in worker],
                "topic": [f"q{one}" for one in text],
                "system": "A",
                "layout": "stacked",
                "chars_read": seen * 140.0,
                "text_chars": ranks * 140.0,
                "reached_end": seen == ranks,
                "rank_read": seen,
                "ranks": ranks,
            }
        ),
        TABLES["stops"],
    )


def true_persistence(people: Mapping[str, Any]) -> float:
    """Return the p of mean depth, of whole lists; of one kind that is its p."""
    kinds, ranks = np.array(people.get("kinds", (0.8,))), people.get("ranks", 20)
    k = np.arange(1, ranks - 3)
    depth = float((kinds[:, None] ** k).sum(axis=1).mean())
    return float(brentq(lambda p: float((p**k).sum()) - depth, 0.01, 0.999))


@cache
def nearest_line(decay: str, effect: float, topics: int, number: int) -> float:
    """Return the L of the line nearest to a decay, on one collection."""
    rng = np.random.default_rng([number, topics, 7])
    pairs = judged(rng, topics=topics, people=150, decay=decay, effect=effect, number=number)
    return float(fit_patience_from_preferences(pairs, n_workers=150).estimates[0])


CAUSES: Mapping[str, frozenset[str]] = {
    "cv": frozenset({"patience_differs"}),
    "exponential": frozenset({"decay_exponential"}),
    "careless": frozenset({"answers_by_chance"}),
    "text_sd": frozenset({"texts_differ"}),
    "finish": frozenset({"alike_stops", "always_to_the_end"}),
    "quit_at_once": frozenset({"alike_stops"}),
    "list_sd": frozenset({"texts_differ"}),
    "tiring": frozenset({"same_persistence_at_every_depth"}),
}
"""What makes people unlike the model -> names under which a warning says so; kinds of people, lists and decay have their own: `KINDS`."""
SMOOTH = frozenset({"decay_exponential", "decay_hyperbolic"})
KINDS = {
    "person": frozenset({"patience_differs"}),
    "list": frozenset({"texts_differ"}),
    "exponential": SMOOTH,
    "hyperbolic": SMOOTH,
    "step": frozenset({"decay_step"}),
}


def causes(people: Mapping[str, Any]) -> frozenset[str]:
    """Return the names under which a warning says why an interval misses."""
    kind = people.get("by", "person") if "kinds" in people else people.get("decay")
    return KINDS.get(kind, frozenset()).union(*(CAUSES.get(name, frozenset()) for name in people))


class Told(NamedTuple):
    """What one study says: its estimate, width and whether the interval holds the truth; whether a check warns (few_* apart) and names the cause, and whether other laws hold it."""

    estimate: float
    width: float
    holds: bool
    warned: bool
    named: bool
    others_hold: bool


def told(part: str, people: Mapping[str, Any], seed: int) -> Told | None:
    """Fit one study; None where it is refused."""
    rng = np.random.default_rng([seed, 5])
    try:
        fit, data, truth, scale = PARTS[part][1](rng, people)
    except NotIdentifiedError:
        return None
    ((name, (low, high)),) = fit.conf_int().items()
    ends = (0.0 if low is None else low, np.inf if high is None else high)
    with np.errstate(divide="ignore"):
        width = float(scale(ends[1]) - scale(ends[0]))
    findings = run_checks(fit, data)
    warnings = warned(findings)
    laws = [law for one in findings for law in one.sensitivity.get(name, ())]
    values = [end for law in laws for end in (law.estimate, law.low, law.high) if end is not None]
    others = bool(values) and min(*ends, *values) <= truth <= max(*ends, *values)
    held = ends[0] <= truth <= ends[1]
    named = bool(warnings & causes(people))
    return Told(float(scale(fit.estimates[0])), width, held, bool(warnings), named, others)


def fit_preferences(rng: np.random.Generator, people: Mapping[str, Any]) -> Any:
    number = int(np.random.default_rng(rng.bit_generator.seed_seq).integers(20))  # type: ignore[attr-defined]
    pairs = judged(rng, **people)
    fit = fit_patience_from_preferences(pairs, n_workers=1)
    truth = PATIENCE["preferences"]
    if "decay" in people:
        truth = nearest_line(people["decay"], people.get("effect", EFFECT), people.get("topics", 25), number)
    return fit, pairs, truth, np.log


def fit_texts(rng: np.random.Generator, people: Mapping[str, Any]) -> Any:
    stops = stops_of_texts(stopped(rng, **people))
    truth = NEAREST_TO_EXPONENTIAL if "exponential" in people else PATIENCE["stops"]
    return fit_patience_from_stops(stops, rng=rng, resamples=400), stops, truth, np.log


def fit_lists(rng: np.random.Generator, people: Mapping[str, Any]) -> Any:
    steps = list_steps(listed(rng, **people))
    return fit_persistence(steps), steps, true_persistence(people), logit


def reference(part: str, people: Mapping[str, Any]) -> float:
    """Return 1.96, or Student's t with few people or topics."""
    sizes = {
        "preferences": [people.get("topics", 25)] + ([] if people.get("own") else [people.get("people", 10)]),
        "stops": [people.get("people", 100), people.get("texts", 99)],
        "lists": [people.get("people", 60), people.get("lists", 40)],
    }[part]
    few = min(sizes)
    return float(stdtrit(few - 1, 0.975)) if few < 20 or (people.get("people", 99) < 30) else 1.96


def cells(part: str, label: str, people: Mapping[str, Any], found: list[Told | None]) -> list[str]:
    fits = [one for one in found if one is not None]
    refused = 1 - len(fits) / len(found)
    if not fits:
        return [f"{part}: {label}", str(len(found)), *["-"] * 4, "1.00", f"{refused:.2f}"]
    estimates = np.array([one.estimate for one in fits])
    finite = estimates[np.isfinite(estimates)]
    middle = np.exp(np.median(estimates)) if part != "lists" else expit(np.median(estimates))
    width = np.median([one.width for one in fits]) / (2 * reference(part, people) * finite.std())
    warns = np.mean([one.warned for one in fits])
    held = np.mean([one.holds or one.others_hold or one.named for one in fits])
    covers = np.mean([one.holds for one in fits])
    shown = f"{middle:.0f}" if part != "lists" else f"{middle:.3f}"
    shares = [f"{share:.2f}" for share in (width, warns, held, refused)]
    return [f"{part}: {label}", str(len(found)), shown, f"{covers:.3f}", *shares]


def table(part: str, replications: int, engine: Executor) -> None:
    print_head("regime", "R", "median estimate", "covers", "width", "warned", "held", "refused")
    for label, people in PARTS[part][0].items():
        found = replicated(engine, partial(told, part, people), replications)
        print_row(*cells(part, label, people, found))


PARTS: Mapping[str, tuple[Mapping[str, dict[str, Any]], Callable[..., Any]]] = {
    "stops": (STOPS, fit_texts),
    "lists": (LISTS, fit_lists),
    "preferences": (PREFERENCES, fit_preferences),
}

if __name__ == "__main__":
    run_parts(__doc__, 200, {part: partial(table, part) for part in PARTS})
