"""Silent errors of `prefcal fit` and `prefcal agree`, by regime.

Tables on disk, the command, and what it wrote.

    python -m benchmarks.battery [FAMILY ...] [--replications 30] [--only WORDS] [--jobs 1] [--scheduler ADDRESS]

A line is a parameter in one regime: the share of studies whose 95 % interval holds the truth, that have a warning of the right
name, that have any warning (but of few workers, topics or nuggets), that refuse the parameter, and that are silent: neither.
Of agreement it is a way of comparing two measures that are equal: how often it rejects at 5 %, has a warning, and rejects without one.
"""

import argparse
import json
import tempfile
from collections import Counter
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd

from benchmarks import people_tables as people
from benchmarks.people_regimes import FAMILIES, JUDGES, Regime, Tables
from benchmarks.replications import engine_arguments, replicated
from metrics.parallel import Executor, open_engine
from study_app.cli import cli

REJECTED = 0.05
HEAD = (
    "| people | parameter | truth | median | covered | named | any warning | refused | silent | warnings |\n"
    + "|---" * 10
    + "|"
)


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


def outcomes(family: str, place: int, seed: int) -> dict[str, tuple[float, float, set[str]] | None]:
    """Return of every parameter of one study its estimate, whether the interval holds the truth, and its warnings."""
    regime = FAMILIES[family][place]
    with tempfile.TemporaryDirectory() as folder:
        model = fitted(regime.tables(np.random.default_rng([seed, 1616])), Path(folder))
    if "fault" in model:
        print(model["fault"])
    found = {name: (outcome(model, name, regime), warnings(model, name)) for name in regime.truth}
    return {name: None if one is None else (*one, said) for name, (one, said) in found.items()}


def rows(family: str, place: int, replications: int, engine: Executor) -> list[str]:
    found = replicated(engine, partial(outcomes, family, place), replications)
    regime = FAMILIES[family][place]
    return [row(regime, name, [of[name] for of in found]) for name in regime.truth]


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


def told_apart(label: str, seed: int) -> tuple[dict[str, float], bool]:
    with tempfile.TemporaryDirectory() as folder:
        tables = people.judged_scores(np.random.default_rng([seed, 1616]), **JUDGES[label])
        return compared(tables, Path(folder))


def agreement(replications: int, engine: Executor) -> None:
    """Print how often equal measures are told apart."""
    print("| people | by | rejected | any warning | rejected without one |\n" + "|---" * 5 + "|")
    for label in JUDGES:
        p_values, warned = zip(*replicated(engine, partial(told_apart, label), replications), strict=True)
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
    engine_arguments(parser)
    chosen = parser.parse_args()
    print(HEAD)
    with open_engine(jobs=chosen.jobs, scheduler=chosen.scheduler) as engine:
        tables_of(chosen, engine)


def tables_of(chosen: argparse.Namespace, engine: Executor) -> None:
    """Print what was chosen."""
    families = [one for one in chosen.family or (*FAMILIES, "agree") if one != "agree"]
    if "agree" in chosen.family or not chosen.family:
        agreement(chosen.replications, engine)
    print(HEAD if families else "")
    for family in families:
        for place, regime in enumerate(FAMILIES[family]):
            if chosen.only in regime.label:
                print("\n".join(rows(family, place, chosen.replications, engine)), flush=True)


if __name__ == "__main__":
    main()
