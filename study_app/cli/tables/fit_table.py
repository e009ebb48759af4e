"""Printed answer of `prefcal fit`: parameters in people's units, and warnings."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from calibration.user_model.units import for_people, label, other_laws, scales
from metrics.errors import pluralise
from study_app.cli.output import Cell, table_text, wrapped

if TYPE_CHECKING:
    import pandas as pd

    from calibration.fit.findings import ReportedFinding
    from calibration.fit.user_model_fit import UserModelFit
    from calibration.tables.study_json import StudyRecord
    from calibration.user_model.model import ParameterEntry

COLUMNS = ("name", "estimate", "low", "high", "level", "unit", "method", "workers", "rows")
MAX_WARNINGS = 5
"""Warnings that are printed; all of them stand in quality.json."""
FAMILIES = {
    "away": "time away",
    "session": "session",
    "reading": "reading speed",
    "lateness": "lateness",
    "patience": "patience",
    "persistence": "RBP",
    "push": "push weights",
    "intents": "P(intent | query)",
    "quality": "raters",
}
"""Names of the families, in the order of the table."""
NOT_FITTED = {
    "away_": "time away",
    "session_": "session",
    "lateness_": "lateness",
    "reading_": "reading speed",
    "patience_chars_preferences": "patience by preferences",
    "patience_chars_stops": "patience by stops",
    "rbp_p": "rbp_p",
    "push_": "push weights",
    "intents": "P(intent | query)",
}
"""Common name of the parameters that begin alike, as a paper's table has it."""


def machine_row(name: str, entry: "ParameterEntry") -> tuple[Cell, ...]:
    """Return a row under `COLUMNS`."""
    estimate = math.inf if entry.estimate is None else entry.estimate
    return (
        name,
        estimate,
        *entry.interval,
        entry.level,
        entry.unit,
        entry.method,
        entry.workers,
        entry.rows,
    )


@dataclass(frozen=True)
class FitText:
    """A fit for people.

    Attributes
    ----------
    fit : UserModelFit
        All of it.
    tables : mapping of str to DataFrame
        The rows that count.
    record : StudyRecord or None
        study.json.
    folder, model_file : Path
        Where the tables are, and where the model was written.
    unasked : sequence of str
        How the names of parameters begin that belong to kinds of study that were not run.
    """

    fit: "UserModelFit"
    tables: "Mapping[str, pd.DataFrame]"
    record: "StudyRecord | None"
    folder: Path
    model_file: Path
    unasked: Sequence[str]

    def lines(self, *, notes: bool) -> Iterator[str]:
        """Yield the printed lines.

        With ``notes`` it adds all warnings and notes, and the agreement among raters.
        """
        parameters, labels = self.fit.model.parameters, [FAMILIES["intents"]]
        yield f"{self.fit.model.study or self.folder}: {self._size()}\n"
        if parameters:
            columns, rows = parameter_table(parameters)
            labels += [str(row[0]) for row in rows]
            yield table_text(columns, rows).rstrip("\n")
        elif not self.fit.intents:
            yield "No parameter could be fitted: the model is empty, and the lines on stderr say why."
        if self.fit.intents:
            topics = {topic for topic, _ in self.fit.intents.intents}
            intents = pluralise(len(self.fit.intents.intents), "intent")
            probability_file = self.model_file.parent / "collection" / "probability.tsv"
            yield f"{labels[0]:<{max(map(len, labels))}}  {intents} of {pluralise(len(topics), 'topic')}, in {probability_file}"
        yield from self._findings(notes=notes)
        if notes and self.fit.quality.results:
            yield from self._raters()
        yield from self._rest(notes=notes)

    def _size(self) -> str:
        """Return the numbers of workers, topics and days in the tables."""
        asked = [table for name, table in self.tables.items() if name not in {"workers", "intents"}]
        many = [
            (len(set().union(*(table[column] for table in asked if column in table)) - {None}), column)
            for column in ("worker", "topic")
        ]
        sizes = [pluralise(number, word) for number, word in many if number]
        follows = self.tables.get("follows")
        if follows is not None and len(follows):
            factor = self.record.clock.factor if self.record else 1.0
            first, last = follows["started_at"].min(), follows["ended_at"].max()
            calendar = last.normalize() - first.normalize() if factor == 1 else (last - first) * factor
            sizes.append(pluralise(1 + calendar.days, "day"))
        return ", ".join(sizes) or "no rows that count"

    def _findings(self, *, notes: bool) -> Iterator[str]:
        warnings = by_importance(self.fit.findings)
        shown = warnings if notes else warnings[:MAX_WARNINGS]
        if shown:
            yield ""
        yield from (_finding("!", warning) for warning in shown)
        others = [finding for finding in self.fit.findings if finding.severity != "warning"]
        if notes:
            yield from (_finding("-", [finding]) for finding in others)

    def _raters(self) -> Iterator[str]:
        level = next((entry.level for entry in self.fit.model.parameters.values()), 0.95)
        entries = self.fit.quality.entries(level)
        printed = scales(entries)
        rows = [
            (
                label(name, entries),
                printed[name].amount(entry.estimate),
                printed[name].interval(entry.interval),
                entry.workers,
                entry.rows,
            )
            for name, entry in entries.items()
        ]
        columns = ("workers and raters", "estimate", f"{100 * level:.4g} %", "workers", "rows")
        yield f"\n{table_text(columns, rows)}".rstrip("\n")

    def _rest(self, *, notes: bool) -> Iterator[str]:
        """Yield the place of further notes, and the parameters without data."""
        sentences = []
        left = len(by_importance(self.fit.findings)) - MAX_WARNINGS
        others = sum(finding.severity != "warning" for finding in self.fit.findings)
        more = [pluralise(left, "warning")] if left > 0 else []
        more += [pluralise(others, "note")] if others else []
        if more and not notes:
            sentences.append(f"{' and '.join(more)} more: prefcal fit --notes, or quality.json.")
        missing = [NOT_FITTED[name] for name in self.unasked if name in NOT_FITTED]
        if missing:
            sentences.append(f"Not fitted: {', '.join(missing)} (no such study).")
        if len(self.fit.careless):
            sentences.append("Workers who may be careless: careless.csv.")
        if sentences:
            yield f"\n{wrapped('  '.join(sentences))}"

    def following(self) -> str:
        """Return the command that usually follows; empty where none does."""
        if not (self.fit.model.parameters or self.fit.intents):
            return ""
        if "preferences" in self.tables and len(self.tables["preferences"]):
            return f"agree {self.folder} --model {self.model_file} -o results"
        if "away_mean_seconds" in self.fit.model.parameters:
            return f"score msu RUN... --model {self.model_file}"
        return ""


def parameter_table(parameters: "Mapping[str, ParameterEntry]") -> tuple[list[str], list[list[Cell]]]:
    """Return columns and rows in people's units, to three digits.

    Units are hours, words a second and characters.
    """
    level = next(entry.level for entry in parameters.values())
    columns = ["parameter", "estimate", f"{100 * level:.4g} %", "other laws"]
    printed = scales(parameters)
    rows: list[list[Cell]] = [
        [
            label(name, parameters),
            printed[name].amount(entry.estimate),
            printed[name].interval(entry.interval),
            other_laws(entry, printed[name]),
        ]
        for name, entry in for_people(parameters).items()
    ]
    if not any(row[3] for row in rows):
        return columns[:3], [row[:3] for row in rows]
    return columns, rows


def by_importance(findings: "Sequence[ReportedFinding]") -> "list[list[ReportedFinding]]":
    """Return the warnings by importance, those in the same words together.

    Each cause, and each family of parameters in the order of the table, has its turn before another has a second one; within a family
    come first few people, topics or days, which no model mends.
    """
    together: dict[tuple[str, str], list[ReportedFinding]] = {}
    for finding in findings:
        if finding.severity == "warning":
            together.setdefault((finding.name, finding.sentence), []).append(finding)
    left, ordered = list(together.values()), []
    causes: Counter[str] = Counter()
    families: Counter[str] = Counter()
    order = list(FAMILIES)

    def turn(group: "list[ReportedFinding]") -> tuple[int, int, bool, int]:
        first = min(order.index(each.family) for each in group)
        is_few = group[0].name.startswith(("few_", "one_"))
        return causes[group[0].name], families[order[first]], not is_few, first

    while left:
        best = min(left, key=turn)
        left.remove(best)
        causes[best[0].name] += 1
        families.update(each.family for each in best)
        ordered.append(best)
    return ordered


def _finding(mark: str, group: "Sequence[ReportedFinding]") -> str:
    """Return one paragraph about some families of parameters."""
    families = {each.family for each in group}
    named = ", ".join(words for family, words in FAMILIES.items() if family in families)
    return wrapped(f"{mark} {group[0].sentence} ({named})", indent="  ")
