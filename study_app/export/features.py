"""The tables that come from collections and runs alone: positions, push_cells and intents, for exports and without a study."""

import io
from collections import defaultdict
from collections.abc import Iterable

import pandas as pd

from calibration.tables.tables import TABLES
from study_app.estimate.content import StudyContent


def feature_tables(content: StudyContent) -> dict[str, pd.DataFrame]:
    """Return positions, push_cells and intents of everything a study file names, those that it has anything for."""
    derived = [
        (str(task.entry.name), table, rows) for task in content.tasks for table, rows in task.tables.items()
    ]
    offered = [
        (topic.id, intent, topic.probability(intent))
        for task in content.tasks
        for topic in task.topics
        for intent in topic.intents
    ]
    intents = {"intents": intents_table(offered)} if offered else {}
    return intents | derived_tables(derived)


def intents_table(offered: Iterable[tuple[str, str, float | None]]) -> pd.DataFrame:
    """Return table intents from topic, intent, probability: each once, with the first probability that is known."""
    frame = pd.DataFrame(offered, columns=list(TABLES["intents"].column_names))
    return frame.groupby(["topic", "intent"], sort=False, as_index=False)["probability"].first()


def derived_tables(derived: Iterable[tuple[str, str, bytes]]) -> dict[str, pd.DataFrame]:
    """Return table -> its rows over all tasks, from (task, table, that task's part as Parquet)."""
    parts: defaultdict[str, list[pd.DataFrame]] = defaultdict(list)
    for task, table, content in derived:
        parts[table].append(pd.read_parquet(io.BytesIO(content)).assign(task=task))
    return {table: pd.concat(frames) for table, frames in parts.items()}
