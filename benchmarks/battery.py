"""How often `prefcal fit` and `prefcal agree` are wrong without a word, regime by regime: tables on disk, the command, and what it wrote.

    python -m benchmarks.battery [FAMILY ...] [--replications 30] [--only WORDS]

A line is a parameter in one regime: the share of studies whose 95 % interval holds the truth, that have a warning of the right
name, that have any warning (but of few workers, topics or nuggets), that refuse the parameter, and that are silent: neither.
Of agreement it is a way of comparing two measures that are equal: how often it rejects at 5 %, has a warning, and rejects without one.
"""

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
import pandas as pd

from benchmarks import coverage_patience_people as stops_of
from benchmarks import people_durations as durations
from benchmarks import people_tables as people
from benchmarks.coverage_people import Reading, Voting
from study_app.cli import cli

Tables = dict[str, pd.DataFrame]
REJECTED = 0.05
HEAD = (
    "| people | parameter | truth | median | covered | named | any warning | refused | silent | warnings |\n"
    + "|---" * 10
    + "|"
)


class Regime(NamedTuple):
    """What people are like, what is true of them, and under which names a warning says why it is missed."""

    label: str
    tables: Callable[[np.random.Generator], Tables]
    truth: dict[str, float]
    names: str = ""


def fitted(tables: Tables, folder: Path) -> dict[str, Any]:
    """Run `prefcal fit` on tables that are written first."""
    for name, frame in tables.items():
        frame.to_csv(folder / f"{name}.csv", index=False, date_format="%Y-%m-%dT%H:%M:%S.%fZ")
    fault = run("fit", str(folder), "-o", str(folder / "model.json"))
    if fault:
        return {"parameters": {}, "fault": fault}
    model: dict[str, Any] = json.loads((folder / "model.json").read_text())
    return model


def run(*words: str) -> str:
    """Run a command of prefcal here; return its fault, if any."""
    quiet = StringIO()
    try:
        with redirect_stdout(quiet), redirect_stderr(quiet):
            cli.main(list(words), standalone_mode=False)
    except (SystemExit, click.ClickException) as stop:
        return f"{stop} {quiet.getvalue()[-300:]}"
    return ""


def away(label: str, who: durations.People, names: str = "", workers: int = 100, days: float = 7) -> Regime:
    mean, deviation = durations.truth_of(who)
    truth = {"away_mean_seconds": mean, "away_sd_seconds": deviation}
    if who.correlation is not None:
        truth |= {"session_mean_seconds": durations.SESSION, "session_sd_seconds": durations.SESSION}
    return Regime(label, lambda rng: durations.tables(who, workers, days, rng), truth, names)


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


CARELESS, LAW = "careless_workers", "population_law"
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
    ),
    "sessions": (
        away("A D -.6", P(means=L(), correlation=-0.6)),
        away("A D -.9", P(means=L(), correlation=-0.9)),
        away("A D .6", P(means=L(), correlation=0.6)),
        away("A D 0", P(means=L(), correlation=0.0)),
    ),
    "reading": (
        reading("right, own items", own_items=True),
        reading("right, 40 people, 20 items", workers=40, items=20),
        reading("items sd .4", "items_differ", item_sd=0.4),
        reading("items sd .2", "items_differ", item_sd=0.2),
        reading("15 % careless", CARELESS, careless=0.15),
        reading("30 % careless", CARELESS, careless=0.3),
        reading("20 % fast x2", CARELESS, fast=0.2, times=2),
        reading("20 % fast x3", CARELESS, fast=0.2, times=3),
        reading("20 % fast x4", CARELESS, fast=0.2, times=4),
        reading("20 % fast x6", CARELESS, fast=0.2, times=6),
        reading("10 % fast x4", CARELESS, fast=0.1, times=4),
        reading("30 % fast x4", CARELESS, fast=0.3, times=4),
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
        patience("30 % by chance", CARELESS, careless=0.3, people=15),
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
        stops("10 % to the end", CARELESS, finish=0.1),
        stops("30 % at once", CARELESS, quit_at_once=0.3),
        stops("exponential, 40 people", "decay_exponential", exponential=True, people=40),
    ),
    "votes": (
        votes("right, 20 x 8"),
        votes("right, 60 x 2", people=60, each=2),
        votes("right, 80 x 1", people=80, each=1),
        votes("15 % careless, 20 x 8", CARELESS, careless=0.15),
        votes("30 % careless, 40 x 3", CARELESS, careless=0.3, people=40, each=3),
        votes("20 % careless, 60 x 2", CARELESS, careless=0.2, people=60, each=2),
        votes("20 % careless, 80 x 1", CARELESS, careless=0.2, people=80, each=1),
        votes("30 % careless, 80 x 1", CARELESS, careless=0.3, people=80, each=1),
    ),
}


def holds(interval: tuple[float | None, float | None], truth: float) -> bool:
    low, high = interval
    return (low is None or low <= truth) and (high is None or truth <= high)


def outcome(model: dict[str, Any], name: str, regime: Regime) -> tuple[float, float] | None:
    """Return the estimate of a parameter and whether its interval holds the truth; None where it is refused."""
    if name == "P(i|q)":
        entries = model.get("intents", {})
        shares = [
            holds(entries[topic][intent]["interval"], truth)
            for (topic, intent), truth in regime.tables.truth.items()  # type: ignore[attr-defined]
            if intent in entries.get(topic, {})
        ]
        return (float("nan"), float(np.mean(shares))) if shares else None
    entry = model["parameters"].get(name)
    if entry is None or entry.get("estimate") is None:
        return None
    return entry["estimate"], holds(entry["interval"], regime.truth[name])


def rows(regime: Regime, replications: int) -> list[str]:
    found: dict[str, list[tuple[float, float, set[str]] | None]] = {name: [] for name in regime.truth}
    for seed in range(replications):
        with tempfile.TemporaryDirectory() as folder:
            model = fitted(regime.tables(np.random.default_rng([seed, 1616])), Path(folder))
        if "fault" in model:
            print(model["fault"])
        for name in regime.truth:
            one, said = outcome(model, name, regime), warnings(model, name)
            found[name].append(None if one is None else (*one, said))
    return [row(regime, name, of) for name, of in found.items()]


def warnings(model: dict[str, Any], name: str) -> set[str]:
    """Return the warnings that stand beside a parameter."""
    said = model["parameters"].get(name, {}).get("diagnostics", [])
    if name == "P(i|q)":
        said = model.get("intents_diagnostics", [])
    return {note["name"] for note in said if note["severity"] == "warning"}


def row(regime: Regime, name: str, found: list[tuple[float, float, set[str]] | None]) -> str:
    made = [one for one in found if one is not None]
    causes = set(regime.names.split(",")) - {""}
    said = [{one for one in warned if not one.startswith("few_")} for *_, warned in made]
    silent = [
        1 - held if held < 1 and not warned else 0 for (_, held, _), warned in zip(made, said, strict=True)
    ]
    shares = (
        np.mean([held for _, held, _ in made] or [0]),
        np.mean([bool(warned & causes) for warned in said] or [0]),
        np.mean([bool(warned) for warned in said] or [0]),
        1 - len(made) / len(found),
        sum(silent) / len(found),
    )
    names = Counter(one for *_, warned in made for one in warned)
    listed = ", ".join(f"{one} {count / len(found):.2f}" for one, count in names.most_common())
    middle = f"{np.median([value for value, *_ in made]):.3g}" if made else "-"
    cells = " | ".join(f"{share:.2f}" for share in shares)
    return f"| {regime.label} | {name} | {regime.truth[name]:.3g} | {middle} | {cells} | {listed} |"


JUDGES: dict[str, dict[str, Any]] = {
    "5 people judge all": {"people": 5},
    "14 people": {"people": 14},
    "8 people, 1 to 21 pairs": {"people": 8, "pairs": (1, 21)},
    "7 of its own, many ties": {"people": 7, "own_people": True, "ties": 2.0},
    "8 people, tastes of sd 1.2": {"people": 8, "taste": 1.2},
    "14 people, tastes of sd 1.6": {"people": 14, "taste": 1.6},
}


def compared(tables: Tables, folder: Path) -> tuple[dict[str, float], bool]:
    """Run `prefcal agree` on equal measures; return p by way of comparing, and whether there is a warning."""
    (folder / "tables").mkdir()
    tables["preferences"].to_csv(folder / "tables" / "preferences.csv", index=False)
    tables["scores"].to_csv(folder / "scores.csv", index=False)
    fault = run("agree", str(folder / "tables"), "--scores", str(folder / "scores.csv"), "-o", str(folder))
    if fault:
        raise RuntimeError(fault)
    found = pd.read_csv(folder / "comparisons.csv").set_index("by")["p_t"].to_dict()
    notes = json.loads((folder / "agree.json").read_text())["diagnostics"]["t"]
    return found, any(note["severity"] == "warning" and not note["name"].startswith("few_") for note in notes)


def agreement(replications: int) -> None:
    """Print how often equal measures are told apart."""
    print("| people | by | rejected | any warning | rejected without one |\n" + "|---" * 5 + "|")
    for label, settings in JUDGES.items():
        p_values, warned = [], []
        for seed in range(replications):
            with tempfile.TemporaryDirectory() as folder:
                tables = people.judged_scores(np.random.default_rng([seed, 1616]), **settings)
                p, said = compared(tables, Path(folder))
            p_values.append(p)
            warned.append(said)
        rejected = pd.DataFrame(p_values) < REJECTED
        silent = rejected[~np.array(warned)].sum() / replications
        for by in rejected:
            print(
                f"| {label} | {by} | {rejected[by].mean():.3f} | {np.mean(warned):.2f} | {silent[by]:.3f} |"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("family", nargs="*", choices=[[], *FAMILIES, "agree"], default=[])
    parser.add_argument("--replications", type=int, default=30)
    parser.add_argument("--only", default="")
    chosen = parser.parse_args()
    print(HEAD)
    families = [one for one in chosen.family or (*FAMILIES, "agree") if one != "agree"]
    if "agree" in chosen.family or not chosen.family:
        agreement(chosen.replications)
    print(HEAD if families else "")
    for family in families:
        for regime in FAMILIES[family]:
            if chosen.only in regime.label:
                print("\n".join(rows(regime, chosen.replications)), flush=True)


if __name__ == "__main__":
    main()
