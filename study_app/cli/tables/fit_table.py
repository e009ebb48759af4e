"""What `prefcal fit` prints: the parameters, what to know about them, what else was found."""

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from calibration.inference.wording import shown, shown_interval
from calibration.user_model.model import plain_name
from metrics.errors import counted
from study_app.cli.output import Cell, table_text

if TYPE_CHECKING:
    from calibration.fit.findings import ReportedFinding
    from calibration.fit.study import UserModelFit
    from calibration.models.intents import IntentFit
    from calibration.raters.quality import QualityReport
    from calibration.user_model.model import ParameterEntry

COLUMNS = ("name", "estimate", "low", "high", "level", "unit", "method", "workers", "rows")


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


IN_THE_FILE_ONLY = frozenset({"patience_chars_spread", "patience_chars_grid"})
"""Parameters that describe others: they stand in the model and in machine-readable output, not in the table for people."""
MOST_WARNINGS = 5
"""Warnings that are printed; all of them stand in quality.json."""


def for_people(fit: "UserModelFit", written: Sequence[Path], drawings: str, *, notes: bool) -> str:
    """Return the parameters, the most important warnings and where the rest is; with ``notes`` everything that is said of them."""
    parameters = fit.model.parameters
    parts = [_table(parameters) if parameters else _nothing(fit)]
    if fit.intents:
        parts.append(_about_intents(fit.intents))
    parts += _findings(fit.findings, list(parameters), notes=notes)
    if fit.quality.results:
        parts.append(_quality(fit.quality, _level(parameters)))
    parts.append(f"\nWritten to {_listed(written)}{f'; {drawings}' if drawings else ''}.")
    return "\n".join(parts)


def _listed(files: Sequence[Path]) -> str:
    """Return `a`, `a and b`, `a, b and c`."""
    *others, last = map(str, files)
    return f"{', '.join(others)} and {last}" if others else last


def _nothing(fit: "UserModelFit") -> str:
    holds = "holds P(i|q) alone" if fit.model.intents else "is empty"
    return f"No parameter could be fitted. The model written {holds}; the lines on stderr say why.\n"


def _level(parameters: Mapping[str, "ParameterEntry"]) -> float:
    return next((entry.level for entry in parameters.values()), 0.95)


def _table(parameters: Mapping[str, "ParameterEntry"]) -> str:
    """Return the table of parameters; medians and quartiles stand in the file."""
    from calibration.user_model.model import QUANTILES

    rows = [
        (
            name,
            _number(entry.estimate),
            shown_interval(entry.interval),
            _other_laws(entry),
            entry.unit,
            entry.workers,
            entry.rows,
        )
        for name, entry in parameters.items()
        if plain_name(name) not in IN_THE_FILE_ONLY | QUANTILES
    ]
    interval = f"{100 * _level(parameters):.4g} % interval"
    return table_text(("name", "estimate", interval, "other laws", "unit", "workers", "rows"), rows)


def _other_laws(entry: "ParameterEntry") -> str:
    """Return the range of a parameter under the laws that the data leave open: `8.1 (drop-outs) to 11.5 (tail)`."""
    if not entry.sensitivity:
        return ""
    ranked = sorted(entry.sensitivity, key=lambda law: math.inf if law.estimate is None else law.estimate)
    lowest, highest = ranked[0], ranked[-1]
    if lowest is highest:
        return f"{_number(lowest.estimate)} ({lowest.law})"
    return f"{_number(lowest.estimate)} ({lowest.law}) to {_number(highest.estimate)} ({highest.law})"


def _findings(
    findings: Sequence["ReportedFinding"], parameters: Sequence[str], *, notes: bool
) -> Iterator[str]:
    """Yield at most five warnings, then where the rest is; with ``notes`` all warnings and all notes."""
    warnings = [finding for finding in findings if finding.severity == "warning"]
    others = [finding for finding in findings if finding.severity != "warning"]
    shown = [*warnings, *others] if notes else warnings[:MOST_WARNINGS]
    if shown:
        yield ""
    yield from (f"{_mark(finding)} {_about(finding, parameters)}: {finding.sentence}" for finding in shown)
    left = [counted(len(warnings) - len(shown), "warning")] if len(warnings) > len(shown) else []
    left += [counted(len(others), "note")] if others and not notes else []
    if left:
        yield f"\n{' and '.join(left)} more: prefcal fit --notes, or quality.json."


def _mark(finding: "ReportedFinding") -> str:
    return "!" if finding.severity == "warning" else "-"


def _about(finding: "ReportedFinding", parameters: Sequence[str]) -> str:
    names = list(finding.parameters)
    return "all" if len(names) == len(parameters) > 1 else _together(names)


def _about_intents(intents: "IntentFit") -> str:
    topics = len({topic for topic, _ in intents.intents})
    result = intents.result
    return (
        f"P(i|q) of {len(intents.intents)} intents of {topics} topics from {result.n_rows} votes of "
        f"{result.n_workers} workers ({result.method})."
    )


def _together(names: list[str]) -> str:
    """Return the names of parameters; more than three of one family as the words that they begin with: ``away_*``."""
    first = names[0].partition("_")[0]
    alike = len(names) > 3 and all(name.partition("_")[0] == first for name in names)
    return f"{first}_*" if alike else "/".join(names)


def _number(value: float | None) -> str:
    return "no bound" if value is None or math.isinf(value) else shown(value)


def _quality(quality: "QualityReport", level: float) -> str:
    entries = quality.entries(level)
    rows = [
        (name, _number(entry.estimate), shown_interval(entry.interval), entry.unit, entry.workers, entry.rows)
        for name, entry in entries.items()
    ]
    interval = f"{100 * level:.4g} % interval"
    table = table_text(("name", "estimate", interval, "unit", "workers", "rows"), rows)
    return f"\nWorkers and raters:\n\n{table}"
