"""The report's section on numbers of people that a judge assists, beside those of people alone."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from calibration.judges.assist import MEANING
from study_app.report.folder import ReportInputs
from study_app.report.page import (
    LEVEL,
    NARROW,
    ReportTable,
    Section,
    decimal,
    percent,
    percent_interval,
    pluralise,
    points,
    points_interval,
    to_table,
)
from study_app.report.results import TaskResult

MAX_DIFFERENCES = 10
"""Differences that the page lists; the file has all."""
METHOD = (
    "Assisted numbers are prediction-powered (PPI++; Angelopoulos, Duchi and Zrnic 2023): people’s number on the pairs that they judged, less"
    " lambda times the difference of the judge’s own number there and on all its pairs. Lambda, from 0 to 1, is fitted for each topic to the"
    " pairs of all others; errors are clustered over topics and people as everywhere here. A judge that would widen an interval is not used."
    " They hold where the pairs that people judged were drawn by lot from the judge’s."
)


def assisted_sections(material: ReportInputs, results: Sequence[TaskResult]) -> Iterator[Section]:
    """Yield a section for each task with numbers that a judge assists."""
    ties = {result.task: result.ties for result in results}
    measures = material.judges.assisted
    measures = measures[measures["ties"] == measures["task"].map(ties)]
    ranking = material.ranking
    level = LEVEL if ranking is None else f"{100 * ranking.level:.4g}{NARROW}%"
    systems = measures.head(0) if ranking is None else ranking.assisted
    for number, task in enumerate(dict.fromkeys([*measures["task"], *systems["task"]])):
        key = f"assisted-{number + 1}" if number else "assisted"
        agreements, rates = (rows[rows["task"] == task] for rows in (measures, systems))
        first = (agreements if len(agreements) else rates).iloc[0]
        name = (
            f"the agreement of {first['measure']}"
            if len(agreements)
            else f"the win rate of {first['system']}"
        )
        tables = [
            *_table(f"{key}-agreement", f"Agreement in task {task}", agreements, ("measure", LEVEL)),
            *_table(f"{key}-win-rates", f"Win rates in task {task}", rates, ("system", level)),
        ]
        yield Section(
            key=key,
            title=_title(first, name),
            short="Assisted by a judge" if not number else f"Assisted, {task}",
            paragraphs=(_counts(first), MEANING, *_notes(material, str(task))),
            tables=tuple(tables),
        )


def _title(row: "pd.Series[Any]", name: str) -> str:
    """Say what a judge does for one number."""
    alone = f"{percent(row['people'])} ({percent_interval(row['people_low'], row['people_high'])})"
    if not row["weight"] > 0:
        return f"{row['judge']} is of no help: {name} is {alone}, as people alone say"
    return (
        f"With {row['judge']} {name} is {percent(row['estimate'])} ({percent_interval(row['low'], row['high'])}), people alone say {alone}:"
        f" an interval {_change(row['width_ratio'])}"
    )


def _change(ratio: float) -> str:
    if math.isnan(ratio):
        return "that is not known"
    if abs(ratio - 1) < 0.0005:
        return "as wide"
    return f"{percent(abs(1 - ratio))} {'narrower' if ratio < 1 else 'wider'}"


def _counts(row: "pd.Series[Any]") -> str:
    return (
        f"People judged {pluralise(row['pairs_people'], 'pair')} of {pluralise(row['topics_people'], 'topic')}, and {row['judge']}"
        f" {pluralise(row['pairs_judge'], 'pair')} of {pluralise(row['topics_judge'], 'topic')}."
    )


def _notes(material: ReportInputs, task: str) -> Iterator[str]:
    """Yield the notes of an agreement on assisted numbers; those of a ranking stand there."""
    for note in material.record.get("notes", ()):
        if note.startswith(f"{task}: ") and "assist" in note:
            said = note.removeprefix(f"{task}: ")
            yield f"{said[:1].upper()}{said[1:]}."


def _table(key: str, caption: str, rows: pd.DataFrame, of: tuple[str, str]) -> Iterator[ReportTable]:
    """Yield people's numbers and the assisted ones."""
    if rows.empty:
        return
    name, level = of
    rows = rows.fillna({"against": ""})
    is_single = rows["against"] == ""
    shown = pd.concat([rows[is_single], rows[~is_single].head(MAX_DIFFERENCES)])
    left_out = len(rows) - len(shown)
    more = f" {pluralise(left_out, 'difference')} more: the file has all." if left_out else ""

    def label(system: str, against: str) -> str:
        return f"{system} less {against}" if against else system

    yield to_table(
        key,
        f"{caption}: people alone, and assisted by {rows['judge'].iloc[0]}",
        shown,
        (
            (name.capitalize(), label, name, "against"),
            ("People alone", _value, "people", "against"),
            (f"{level} interval", _interval, "people_low", "people_high", "against"),
            ("Assisted", _value, "estimate", "against"),
            (f"{level} of it", _interval, "low", "high", "against"),
            ("Interval", _change, "width_ratio"),
            ("Weight", decimal, "weight"),
        ),
        note=f"Differences are in points. Weight: how far the judge is followed, from 0 to 1.{more}",
        for_papers=True,
    )


def _value(value: float, against: str) -> str:
    return points(value) if against else percent(value)


def _interval(low: float, high: float, against: str) -> str:
    return points_interval(low, high) if against else percent_interval(low, high)
