"""What the scores of a task can come from: tables, collections and runs, a user model, scores from elsewhere."""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import pandas as pd

from calibration.cross_fit import patience_without_each_topic
from calibration.judged_task import JudgedTask
from calibration.patience_grid import PAPER_PATIENCE
from calibration.results import NotIdentifiedError
from calibration.score_files import raise_unless_same, scores_of_task
from calibration.study_sources import TaskSources
from calibration.user_model import UserModel
from calibration.variants import (
    Fit,
    Role,
    Variant,
    default_variants,
    fitted_variants,
    given_probabilities,
    uniform,
)
from metrics.errors import input_fault
from metrics.summary_readings import Probabilities
from metrics.trailtext import Layers
from metrics.wording import listed

SCORES_MARK = "from scores"
"""Stands behind the name of a measure from elsewhere that is called like one of ours."""

FROM_PREFERENCES = frozenset({"preferences", "grid"})
PATIENCE_SOURCES = ("preferences", "stops", "grid")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evidence:
    """Everything that scores can come from.

    Attributes
    ----------
    tables : mapping of str to DataFrame
        As `calibration.table_files.read_tables` returns them, unfiltered; preferences among them.
    sources : mapping of str to TaskSources
        Collections and runs by task.
    model : UserModel or None
        Fitted parameters.
    same_tables : bool
        Whether the model was fitted to these tables: then what it took from the preferences is cross-fitted.
    scores : DataFrame or None
        As `calibration.score_files.read_scores` returns them.
    place, scores_place : str
        How messages call the preferences, and the scores.
    """

    tables: Mapping[str, pd.DataFrame]
    sources: Mapping[str, TaskSources] = field(default_factory=dict)
    model: UserModel | None = None
    same_tables: bool = True
    scores: pd.DataFrame | None = None
    place: str = "preferences"
    scores_place: str = "scores"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TaskMeasures:
    """Everything that scores the systems of one task.

    Attributes
    ----------
    task : JudgedTask
        The preferences that count.
    variants : tuple of Variant
        The paper's default first; empty where nothing scores the task.
    positions : DataFrame or None
        Rows of the table positions, for a sweep over the patience.
    given : mapping of topic to mapping of intent to float
        P(i|q).
    default_patience : float
        The paper's L for the task's language.
    notes : tuple of str
        What is missing and why, one sentence each.
    """

    task: JudgedTask
    variants: tuple[Variant, ...]
    positions: pd.DataFrame | None
    given: Probabilities
    default_patience: float
    notes: tuple[str, ...]


def task_measures(task: JudgedTask, evidence: Evidence) -> TaskMeasures:
    """Score the systems of one task in every way that the evidence allows.

    Raises
    ------
    InputError
        If the systems judged and the systems with a run are not the same, a topic judged has no positions, a score
        is missing, or a run is faulty.
    """
    notes: list[str] = []
    positions = _positions(task, evidence, notes)
    default = PAPER_PATIENCE.get(task.language, PAPER_PATIENCE["en"])
    given: Probabilities = {}
    variants: list[Variant] = []
    if positions:
        fitted = _fitted_intents(evidence.model, set(task.topics.tolist()))
        given = given_probabilities(evidence.tables.get("intents"), fitted, positions["both"])
        if given == uniform(given):
            notes.append(f"{task.task}: every intent is equally probable, as far as the tables say")
        variants += default_variants(positions, default, given=given, fitted=fitted)
        variants += _at_fitted_patience(task, positions["both"], given, evidence, notes)
    variants += _from_elsewhere(task, evidence, {one.measure for one in variants})
    if not variants:
        notes.append(f"{task.task}: nothing scores its systems; add the table positions or give --scores")
    return TaskMeasures(
        task=task,
        variants=tuple(variants),
        positions=positions.get("both"),
        given=given,
        default_patience=default,
        notes=tuple(notes),
    )


def _positions(task: JudgedTask, evidence: Evidence, notes: list[str]) -> dict[Layers, pd.DataFrame]:
    """Return the positions of a task and of its ablations, as far as there are any."""
    found: dict[Layers, pd.DataFrame] = {}
    sources = evidence.sources.get(task.task)
    if sources is not None and sources.kind == "summary_pairs":
        if sources.problems:
            notes.append(f"{task.task}: no agreement of single layers, since {'; '.join(sources.problems)}")
        else:
            found = sources.summary_positions()
    table = evidence.tables.get("positions")
    if table is not None and (table["task"].isna() | (table["task"] == task.task)).any():
        found["both"] = table[table["task"].isna() | (table["task"] == task.task)].drop(columns="task")
    if found:
        _check_systems(task, found["both"], set(sources.systems) if sources else set(), evidence)
    if set(found) == {"both"} and sources is None:
        notes.append(f"{task.task}: no agreement of single layers, since no collection and runs are named")
    return found


def _check_systems(task: JudgedTask, positions: pd.DataFrame, with_run: set[str], evidence: Evidence) -> None:
    preferences = evidence.tables["preferences"]
    of_task = preferences[preferences["task"] == task.task]
    judged = set(of_task["system_left"]) | set(of_task["system_right"])
    raise_unless_same(judged, set(positions["system"]) | with_run, what="a run", path=evidence.place)
    lost = set(task.topics.tolist()) - set(positions["topic"])
    if lost:
        raise input_fault(
            f"judged, but without positions: {listed(sorted(lost))}",
            path=evidence.place,
            cure="write the table positions anew (prefcal features)",
        )


def _at_fitted_patience(
    task: JudgedTask, positions: pd.DataFrame, given: Probabilities, evidence: Evidence, notes: list[str]
) -> list[Variant]:
    variants: list[Variant] = []
    for source in PATIENCE_SOURCES:
        patience = _patience(evidence.model, f"patience_chars_{source}", task.language)
        if patience is None:
            continue
        in_sample = evidence.same_tables and source in FROM_PREFERENCES
        without = None
        if in_sample:
            try:
                without = patience_without_each_topic(
                    task.pairs, positions, given, source=source, language=task.language
                )
            except NotIdentifiedError as error:
                notes.append(f"{task.task}: the patience from {source} is not cross-fitted, since {error}")
        variants += fitted_variants(
            positions,
            given,
            source=source,
            patience=patience,
            without=without,
            fit=Fit.IN_SAMPLE if in_sample else Fit.OTHER_DATA,
        )
    return variants


def _patience(model: UserModel | None, name: str, language: str) -> float | None:
    """Return a fitted patience, infinity for an estimate without bound, None where there is none."""
    parameters = model.parameters if model else {}
    entry = parameters.get(f"{name}[{language}]") or parameters.get(name)
    if entry is None:
        return None
    return math.inf if entry.estimate is None else entry.estimate


def _fitted_intents(model: UserModel | None, topics: set[str]) -> dict[str, dict[str, float]]:
    intents = model.intents if model else {}
    return {
        topic: {intent: entry.estimate for intent, entry in entries.items()}
        for topic, entries in intents.items()
        if topic in topics
    }


def _from_elsewhere(task: JudgedTask, evidence: Evidence, taken: Collection[str]) -> list[Variant]:
    """Return the measures of --scores; one that is called like one of ours says where it is from."""
    if evidence.scores is None:
        return []
    found = scores_of_task(evidence.scores, task, path=evidence.scores_place)
    return [
        Variant(
            measure=f"{metric} ({SCORES_MARK})" if metric in taken else metric,
            role=Role.SCORES,
            fit=Fit.NONE,
            patience_chars=None,
            scores=scores,
        )
        for metric, scores in found.items()
    ]
