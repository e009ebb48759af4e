"""What the scores of a task can come from: tables, collections and runs, a user model, scores from elsewhere."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import pandas as pd

from calibration.agree.judged_task import JudgedTask
from calibration.agree.measures.variants import Sweep, Variant
from calibration.agree.score_files import raise_unless_same
from calibration.tables.sources import TaskSources
from calibration.user_model.model import UserModel
from metrics.topics import TopicNames


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evidence:
    """Everything that scores can come from.

    Attributes
    ----------
    tables : mapping of str to DataFrame
        As `calibration.tables.files.read_tables` returns them, unfiltered; preferences among them.
    sources : mapping of str to TaskSources
        Collections and runs by task.
    model : UserModel or None
        Fitted parameters.
    drawn : sequence of UserModel
        The model again and again, its estimates drawn from what it says of their uncertainty.
    same_tables : bool
        Whether the model was fitted to these tables: then what it took from the preferences is cross-fitted.
    scores : DataFrame or None
        As `calibration.agree.score_files.read_scores` returns them.
    seed : int
        Of the users that MSU simulates.
    place, scores_place : str
        How messages call the preferences, and the scores.
    looks : str or None
        That somebody looked at results while the study ran, as study.json tells it.
    """

    tables: Mapping[str, pd.DataFrame]
    sources: Mapping[str, TaskSources] = field(default_factory=dict)
    model: UserModel | None = None
    drawn: Sequence[UserModel] = ()
    same_tables: bool = True
    scores: pd.DataFrame | None = None
    seed: int = 1
    place: str = "preferences"
    scores_place: str = "scores"
    looks: str | None = None

    def of_task(self, name: str, task: str) -> pd.DataFrame | None:
        """Return the rows of a table that are about a task, without the column task; None where there are none."""
        table = self.tables.get(name)
        if table is None:
            return None
        rows = table[table["task"].isna() | (table["task"] == task)]
        return rows.drop(columns="task") if len(rows) else None

    def check_systems(self, task: str, with_run: set[str]) -> None:
        """Raise `InputError` with both lists unless the systems judged in a task are those that have a run."""
        preferences = self.tables["preferences"]
        of_task = preferences[preferences["task"] == task]
        judged = set(of_task["system_left"]) | set(of_task["system_right"])
        raise_unless_same(judged, with_run, what="a run", path=self.place)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Measured:
    """What scores the systems of one task.

    Attributes
    ----------
    variants : tuple of Variant
        The main one first.
    sweeps : tuple of Sweep
        The same measures over a parameter.
    notes : tuple of str
        What is missing and why, one sentence each.
    """

    variants: tuple[Variant, ...] = ()
    sweeps: tuple[Sweep, ...] = ()
    notes: tuple[str, ...] = ()


class Scorer(Protocol):
    """Files read and systems scored once, for whichever judgments count."""

    def measured(self, task: JudgedTask) -> Measured:
        """Return every measure; what was fitted to these preferences is cross-fitted to those that count."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FixedScorer:
    """Measures that no preference has a part in, perhaps none at all; see `Scorer`."""

    found: Measured

    def measured(self, task: JudgedTask) -> Measured:  # noqa: ARG002 - whichever judgments count
        """Return the measures."""
        return self.found


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownTexts:
    """Texts by the names that the collection has for topics.

    Attributes
    ----------
    topics : mapping of str to str
        Topic -> what it is about.
    sides : mapping of str to mapping of str to str
        Topic -> system -> what it showed.
    """

    topics: Mapping[str, str] = field(default_factory=dict)
    sides: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def topic(self, name: str) -> str:
        """Return what a topic is about, by its long or short name; empty where that is unknown."""
        return self.topics.get(TopicNames(self.topics).find(name) or "", "")

    def side(self, topic: str, system: str) -> str:
        """Return what a system showed on a topic; empty where that is unknown, or nothing."""
        return self.sides.get(TopicNames(self.sides).find(topic) or "", {}).get(system, "")
