"""Scores of two-layered summaries by M: defaults, ablations, fits and sweep."""

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from calibration.agree.judged_task import JudgedTask
from calibration.agree.measures.cross_fitted import patience_without_each_topic
from calibration.agree.measures.m_variants import (
    IntentShares,
    Positions,
    default_variants,
    fitted_variants,
    m_sweep,
    named_variants,
    uniform,
)
from calibration.agree.measures.variants import ParameterOrigin, ScoredMeasure, without_known
from calibration.agree.score_sources import Scorer, ScoreSources, ShownTexts, TaskScores, judged_summaries
from calibration.inference.results import NotIdentifiedError
from calibration.models.patience.pairs import given_probabilities
from calibration.tables.sources import TaskSources
from calibration.user_model.measures import intent_shares, patience_chars
from metrics.errors import input_fault, join_names
from metrics.readers.mobileclick import COLUMNS as COLLECTION_FILES
from metrics.readers.mobileclick import read_collection_files
from metrics.readers.mobileclick_runs import read_summary_run
from metrics.registry import Measure
from metrics.summaries.score import PAPER_PATIENCE
from metrics.summaries.trailtext import Probabilities
from metrics.summaries.two_layered import Link, Query, Summary

FROM_PREFERENCES = frozenset({"preferences", "grid"})
PATIENCE_SOURCES = ("preferences", "stops", "grid")


def scorer(task: JudgedTask, evidence: ScoreSources, named: Mapping[str, Measure]) -> Scorer:
    """Return the scores of a task's summaries; ``named`` are measures by name.

    Raises
    ------
    InputError
        If the systems judged and the systems with a run are not the same, a topic judged has no positions, or a file
        is faulty.
    """
    notes: list[str] = []
    positions = _positions(task, evidence, notes)
    if not positions:
        return lambda _: TaskScores(notes=tuple(notes))
    topics = set(task.topics.tolist())
    estimate = intent_shares(evidence.model, topics) if evidence.model else {}
    drawn = [intent_shares(model, topics) for model in evidence.drawn]
    collection_shares = given_probabilities(evidence.tables.get("intents"), estimate, positions["both"])
    notes += [
        f"{task.task}: {note}"
        for note in _taken(task, positions["both"], evidence, estimate, collection_shares)
    ]
    shares = IntentShares(collection=collection_shares, fitted=[estimate, *drawn] if estimate else [])
    default = PAPER_PATIENCE.get(task.language, PAPER_PATIENCE["en"])
    fixed = tuple(default_variants(positions, default, shares))
    more = tuple(named_variants(positions, without_known(named, fixed), shares))
    sweep = m_sweep(positions["both"], collection_shares, default)

    def score(judged: JudgedTask) -> TaskScores:
        added = list(notes)
        refitted = _at_fitted_patience(judged, evidence, positions["both"], collection_shares, added)
        return TaskScores(variants=(*fixed, *more, *refitted), sweeps=(sweep,), notes=tuple(added))

    return score


def _at_fitted_patience(
    task: JudgedTask,
    evidence: ScoreSources,
    positions: pd.DataFrame,
    collection_shares: Probabilities,
    notes: list[str],
) -> Iterator[ScoredMeasure]:
    """Yield M at every fitted patience, cross-fitted if needed.

    A patience fitted to these preferences is fitted again without each topic.
    """
    for source in PATIENCE_SOURCES:
        estimate = patience_chars(evidence.model, source, task.language) if evidence.model else None
        if estimate is None:
            continue
        drawn = [patience_chars(model, source, task.language) for model in evidence.drawn]
        in_sample, without = evidence.same_tables and source in FROM_PREFERENCES, None
        if in_sample:
            try:
                without = patience_without_each_topic(
                    task.pairs, positions, collection_shares, source=source, language=task.language
                )
            except NotIdentifiedError as error:
                notes.append(f"{task.task}: the patience from {source} is not cross-fitted, since {error}")
        fit = ParameterOrigin.IN_SAMPLE if in_sample else ParameterOrigin.OTHER_DATA
        patience = np.array([estimate, *drawn], dtype=np.float64)
        yield from fitted_variants(positions, collection_shares, source, patience, without=without, fit=fit)


def _taken(
    task: JudgedTask,
    positions: pd.DataFrame,
    evidence: ScoreSources,
    fitted: Probabilities,
    collection_shares: Probabilities,
) -> Iterator[str]:
    """Yield notes on assumptions in the place of missing tables."""
    intents = evidence.tables.get("intents")
    known_topics = set(fitted)
    if intents is not None:
        known_topics |= set(intents.loc[intents["probability"].notna(), "topic"])
    untold = [topic for topic in collection_shares if topic not in known_topics]
    if collection_shares == uniform(collection_shares):
        yield "the tables have no P(i|q), so every intent is equally probable"
    elif untold:
        yield f"no probability of intents is given for {join_names(untold)}: there they are equally probable"
    unknown = [
        f"{intent} of {topic}"
        for topic, intent in positions[["topic", "intent"]].drop_duplicates().itertuples(index=False)
        if topic in collection_shares and intent not in collection_shares[topic]
    ]
    if unknown:
        yield f"intents without a probability count nothing: {join_names(unknown)}"
    without = judged_summaries(task).difference(pd.MultiIndex.from_frame(positions[["topic", "system"]]))
    if len(without):
        summaries = join_names(f"{system} on {topic}" for topic, system in without)
        yield f"summaries without positions score 0, like summaries without iUnits: {summaries}"


def _positions(task: JudgedTask, evidence: ScoreSources, notes: list[str]) -> Positions:
    """Return the available positions of a task and of its ablations."""
    sources = evidence.sources.get(task.task)
    positions = {} if sources is None or sources.problems else sources.summary_positions()
    if sources is not None and sources.problems:
        notes.append(f"{task.task}: no agreement of single layers, since {'; '.join(sources.problems)}")
    table = evidence.of_task("positions", task.task)
    if table is not None:
        positions["both"] = table
    if positions:
        evidence.check_systems(
            task.task, set(positions["both"]["system"]) | set(sources.systems if sources else ())
        )
        _check_topics(task, positions["both"], evidence)
    if set(positions) == {"both"} and sources is None:
        notes.append(f"{task.task}: no agreement of single layers, since no collection and runs are named")
    return positions


def _check_topics(task: JudgedTask, positions: pd.DataFrame, evidence: ScoreSources) -> None:
    lost = set(task.topics.tolist()) - set(positions["topic"])
    if lost:
        raise input_fault(
            f"judged, but without positions: {join_names(sorted(lost))}",
            path=evidence.place,
            cure="write the table positions anew (prefcal features)",
        )


def texts(task: JudgedTask, sources: TaskSources) -> ShownTexts:
    """Return the lines of each summary: its first layer, with second layers.

    Each second layer follows its link.
    """
    collection = read_collection_files(
        {kind: source.path for kind, source in sources.collection.items() if kind in COLLECTION_FILES},
        name=str(sources.path("queries").parent),
    )
    runs = [read_summary_run(source.path, collection, name=name) for name, source in sources.systems.items()]
    return ShownTexts(
        topics={query.id: query.text for query in collection.queries.values()},
        sides={
            query.id: {run.name: _summary_lines(run.summaries[query.id], query) for run in runs}
            for query in collection.queries.values()
            if query.id in task.topics
        },
    )


def _summary_lines(summary: Summary, query: Query) -> str:
    """Return the first layer, each second layer indented below its link."""
    lines: list[str] = []
    for element in summary.first:
        if isinstance(element, Link):
            lines.append(f"[{query.intents[element.intent]}]")
            lines += [f"    {query.iunits[unit.id]}" for unit in summary.second.get(element.intent, ())]
        else:
            lines.append(query.iunits[element.id])
    return "\n".join(lines)
