"""Section on criteria: how far what people answered about each goes with their overall choice."""

from collections.abc import Iterator

import pandas as pd

from calibration.rank.explained import explained_choices
from metrics.errors import join_names
from study_app.report.folder import ReportInputs
from study_app.report.page import (
    LEVEL,
    Column,
    Section,
    decimal,
    decimal_interval,
    percent,
    percent_interval,
    to_table,
)

COLUMNS: tuple[Column, ...] = (
    ("Criterion", str, "criterion"),
    ("Same answer", percent, "same"),
    (LEVEL, percent_interval, "same_low", "same_high"),
    ("Opposite", percent, "opposite"),
    ("Weight", decimal, "weight"),
    (f"{LEVEL} of it", decimal_interval, "weight_low", "weight_high"),
    ("Judgments", str, "judgments"),
)
NOTE = (
    "Same answer: the same side as the overall choice, or neither both times. Opposite: the other side. Weight: by how much an answer about"
    " the criterion moves the log odds of the overall choice, the other criteria alike (Davidson’s model with ties and an effect of the"
    " side). Intervals are over topics and people."
)
NO_CAUSE = "People answered about criteria on the same page as the overall choice, so this says what goes together and not what causes what."
NO_WEIGHTS = "There are no weights: the overall choice follows the criteria without exception, criteria say the same, or nobody answered about all."


def criteria_sections(material: ReportInputs) -> Iterator[Section]:
    """Yield a section for each task in which people were asked about criteria too."""
    tasks = list(explained_choices(material.tables).groupby("task", sort=False))
    for number, (task, rows) in enumerate(tasks):
        first = rows.iloc[0]
        key = f"criteria-{number + 1}" if number else "criteria"
        yield Section(
            key=key,
            title=(
                f"Overall choice and answer about {first['criterion']} are the same in {percent(first['same'])} of judgments"
                f" ({percent_interval(first['same_low'], first['same_high'])})"
            ),
            short="Criteria" if len(tasks) == 1 else f"Criteria, {task}",
            paragraphs=(f"{_others(rows)}{NO_CAUSE}", *([NO_WEIGHTS] if rows["weight"].isna().all() else [])),
            tables=(
                to_table(key, "Criteria and the overall choice", rows, COLUMNS, note=NOTE, for_papers=True),
            ),
        )


def _others(rows: pd.DataFrame) -> str:
    """Say in how many judgments the other criteria go with the overall choice."""
    if len(rows) == 1:
        return ""
    shares = [
        f"{row['criterion']} {percent(row['same'])} ({percent_interval(row['same_low'], row['same_high'])})"
        for row in rows[1:].to_dict("records")
    ]
    return f"Of the other criteria this share is: {join_names(shares)}. "
