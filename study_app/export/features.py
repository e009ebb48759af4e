"""The tables that come from collections and runs alone: positions and intents, for exports and without a study."""

import io
from collections.abc import Iterable

import pandas as pd

from calibration.tables import TABLES
from study_app.study_content import StudyContent
from study_app.summary_content import SummaryContent


def feature_tables(content: StudyContent) -> dict[str, pd.DataFrame]:
    """Return positions and intents of everything a study file names; no positions without runs and importance."""
    tasks = [(str(task.entry.name), task) for task in content.tasks if isinstance(task, SummaryContent)]
    derived = [(name, task.tables["positions"]) for name, task in tasks if "positions" in task.tables]
    offered = (
        (query.id, intent, None if query.probability is None else query.probability.get(intent, 0.0))
        for _, task in tasks
        for query in task.queries
        for intent in query.intents
    )
    return {"intents": intents_table(offered)} | positions_table(derived)


def intents_table(offered: Iterable[tuple[str, str, float | None]]) -> pd.DataFrame:
    """Return table intents from topic, intent, probability: each once, with the first probability that is known."""
    frame = pd.DataFrame(offered, columns=list(TABLES["intents"].column_names))
    return frame.groupby(["topic", "intent"], sort=False, as_index=False)["probability"].first()


def positions_table(derived: Iterable[tuple[str, bytes]]) -> dict[str, pd.DataFrame]:
    """Return table positions under its name, from each task's part as Parquet; {} when no task has one."""
    frames = [pd.read_parquet(io.BytesIO(content)).assign(task=task) for task, content in derived]
    return {"positions": pd.concat(frames)} if frames else {}
