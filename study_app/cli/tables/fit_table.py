"""What `prefcal fit` prints: the parameters, what to know about them, what else was found."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from calibration.inference.wording import shown, shown_interval
from study_app.cli.output import Cell, table_text

if TYPE_CHECKING:
    from calibration.fit.study import UserModelFit
    from calibration.fit.visits import NaiveEstimate
    from calibration.intents.fit import IntentFit
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


def for_people(fit: "UserModelFit", written: Sequence[Path], drawings: str) -> str:
    """Return everything that was found in tables and sentences, and every file that was written."""
    parameters = fit.model.parameters
    parts = [_table(parameters) if parameters else _nothing(fit)]
    if fit.intents:
        parts.append(_about_intents(fit.intents))
    parts += _sentences(parameters)
    if fit.naive:
        parts.append(f"\nNaive estimates, to compare and not to use:\n\n{_naive(fit.naive, parameters)}")
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
    rows = [
        (
            name,
            _number(entry.estimate),
            shown_interval(entry.interval),
            entry.unit,
            entry.method,
            entry.workers,
            entry.rows,
        )
        for name, entry in parameters.items()
    ]
    interval = f"{100 * _level(parameters):.4g} % interval"
    return table_text(("name", "estimate", interval, "unit", "method", "workers", "rows"), rows)


def _about_intents(intents: "IntentFit") -> str:
    topics = len({topic for topic, _ in intents.intents})
    result = intents.result
    notes = "".join(f"\nintents: {note.severity}: {note.sentence}" for note in result.diagnostics)
    return (
        f"P(i|q) of {len(intents.intents)} intents of {topics} topics from {result.n_rows} votes of "
        f"{result.n_workers} workers ({result.method}).{notes}"
    )


def _sentences(entries: Mapping[str, "ParameterEntry"]) -> Iterator[str]:
    """Yield each diagnostic once, warnings first, behind the parameters that it is about."""
    parameters_by_sentence: dict[str, list[str]] = {}
    for severity in ("warning", "info"):
        for name, entry in entries.items():
            for note in entry.diagnostics:
                if note.severity == severity:
                    parameters_by_sentence.setdefault(f"{note.severity}: {note.sentence}", []).append(name)
    for sentence, names in parameters_by_sentence.items():
        about = "all" if len(names) == len(entries) > 1 else _together(names)
        yield f"{about}: {sentence}"


def _together(names: list[str]) -> str:
    """Return the names of parameters; more than three of one family as the words that they begin with: ``away_*``."""
    first = names[0].partition("_")[0]
    alike = len(names) > 3 and all(name.partition("_")[0] == first for name in names)
    return f"{first}_*" if alike else "/".join(names)


def _naive(naive: Sequence["NaiveEstimate"], parameters: Mapping[str, "ParameterEntry"]) -> str:
    rows = [
        (one.name, _number(parameters[one.name].estimate), _number(one.estimate), one.baseline)
        for one in naive
    ]
    about = {f"{one.baseline}: {one.about}": None for one in naive}
    return "\n".join([table_text(("name", "estimate", "naive", "baseline"), rows), *about])


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
    return _lines(["\nWorkers and raters:\n", table, *_sentences(entries)])


def _lines(parts: Iterable[str]) -> str:
    return "\n".join(parts)
