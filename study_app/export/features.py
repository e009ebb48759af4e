"""The tables that come from collections and runs alone: positions, push_cells and intents, for exports and without a study."""

import io
from collections import defaultdict
from collections.abc import Iterable

import pandas as pd

from calibration.tables.tables import TABLES
from study_app.estimate.content import StudyContent
from study_app.tasks.stream_visits import StreamContent
from study_app.tasks.summary_pairs import SummaryContent


def feature_tables(content: StudyContent) -> dict[str, pd.DataFrame]:
    """Return positions, push_cells and intents of everything a study file names, those that it has anything for."""
    made = [(str(task.entry.name), task) for task in content.tasks if not isinstance(task, StreamContent)]
    derived = [(name, table, rows) for name, task in made for table, rows in task.tables.items()]
    with_queries = [task for task in content.tasks if isinstance(task, SummaryContent)]
    offered = (
        (query.id, intent, None if query.probability is None else query.probability.get(intent, 0.0))
        for task in with_queries
        for query in task.queries
        for intent in query.intents
    )
    intents = {"intents": intents_table(offered)} if with_queries else {}
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
