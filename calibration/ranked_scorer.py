"""Everything that scores the ranked lists of one task: the time-aware family, the plain one, fitted P(c|q)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from calibration.evidence import Evidence, Measured
from calibration.judged_task import JudgedTask
from calibration.score_files import judged_summaries
from calibration.study_sources import TaskSources
from calibration.user_model import UserModel
from calibration.variants import Fit, Role, Variant, scores_by_metric
from metrics.errors import input_fault
from metrics.ranked_lists import RankedCollection, RankedRun
from metrics.readers.ranked import read_ranked_collection, read_ranked_run
from metrics.time_aware import (
    IAERR,
    IANDCG,
    IAP,
    SBR,
    TIAAP,
    TIAERR,
    TIANDCG,
    TIAP,
    TIASBR,
    TSBR,
    RankedMeasure,
    ranked_scores,
)
from metrics.topics import TopicNames
from metrics.wording import listed

TIME_AWARE: tuple[type[RankedMeasure], ...] = (TIANDCG, TIAP, TIAERR, TIAAP, TSBR, TIASBR)
PLAIN: tuple[type[RankedMeasure], ...] = (IANDCG, IAP, IAERR, SBR)
"""The same measures without time: what is lost without it."""
USING_SHARES: tuple[type[RankedMeasure], ...] = (TIANDCG, TIAERR, TIASBR)
"""Those that P(c|q) enters."""

Shares = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RankedScorer:
    """Ranked lists scored; see `calibration.evidence.Scorer`."""

    variants: tuple[Variant, ...]
    notes: tuple[str, ...]

    def measured(self, task: JudgedTask) -> Measured:  # noqa: ARG002 - nothing is fitted to these preferences
        """Return the measures, whichever judgments count."""
        return Measured(variants=self.variants, notes=self.notes)


def ranked_scorer(task: JudgedTask, evidence: Evidence) -> RankedScorer | None:
    """Score the ranked lists of a task, None where its files cannot be used.

    Raises
    ------
    InputError
        If the systems judged and the systems with a run are not the same, a topic judged is not in the collection, or a
        file is faulty.
    """
    sources = evidence.sources.get(task.task)
    if sources is None:
        return None
    if sources.problems:
        return RankedScorer(
            variants=(), notes=(f"{task.task}: no scores, since {'; '.join(sources.problems)}",)
        )
    collection = _collection(sources)
    runs = [
        read_ranked_run(source.path, collection.grades, name=name) for name, source in sources.systems.items()
    ]
    evidence.check_systems(task.task, set(sources.systems))
    judged = task.topics.tolist()
    _check_topics(task, collection, evidence)
    return RankedScorer(
        variants=(
            *_given(collection, runs, judged),
            *_fitted(collection, runs, judged, evidence),
        ),
        notes=(),
    )


def _collection(sources: TaskSources) -> RankedCollection:
    return read_ranked_collection(
        qrels=sources.path("qrels"),
        windows=sources.path("windows"),
        intents=sources.path("intents") if "intents" in sources.collection else None,
    )


def _check_topics(task: JudgedTask, collection: RankedCollection, evidence: Evidence) -> None:
    names = TopicNames(collection.grades)
    unknown = {topic for topic, _ in judged_summaries(task) if names.find(topic) is None}
    if unknown:
        raise input_fault(
            f"judged, but not in {collection.name}: {listed(sorted(unknown))}",
            path=evidence.place,
            cure="name topics as the qrels do",
        )


def _given(
    collection: RankedCollection, runs: Sequence[RankedRun], judged: Sequence[str]
) -> Iterator[Variant]:
    """Yield the measures at their defaults: with time, then without."""
    scores = scores_by_metric(
        ranked_scores(collection, runs, [one() for one in (*TIME_AWARE, *PLAIN)]), judged
    )
    plain = {one().column for one in PLAIN}
    for name in scores.columns:
        yield _variant(name, scores[name], Role.ABLATION if name in plain else Role.DEFAULT, Fit.NONE)


def _fitted(
    collection: RankedCollection, runs: Sequence[RankedRun], judged: Sequence[str], evidence: Evidence
) -> Iterator[Variant]:
    """Yield the measures that P(c|q) enters, with the one from votes."""
    shares = {} if evidence.model is None else _shares(evidence.model, collection)
    if not shares:
        return
    measures = [one() for one in USING_SHARES]

    def scored(fitted: Shares) -> pd.DataFrame:
        known = replace(collection, probability={**collection.probability, **fitted})
        return scores_by_metric(ranked_scores(known, runs, measures), judged)

    estimate = scored(shares)
    drawn = [scored(_shares(model, collection)) for model in evidence.drawn]
    for name in estimate.columns:
        draws = pd.concat([one[name] for one in drawn], axis="columns", ignore_index=True) if drawn else None
        yield replace(_variant(f"{name} fitted P", estimate[name], Role.FITTED, Fit.OTHER_DATA), drawn=draws)


def _shares(model: UserModel, collection: RankedCollection) -> Shares:
    """Return the fitted P(c|q) of every topic of the collection whose subtopics the model knows all of."""
    names = TopicNames(collection.grades)
    fitted = {names.find(topic): shares for topic, shares in model.intents.items()}
    return {
        topic: {name: share.estimate for name, share in fitted[topic].items()}
        for topic in collection.grades
        if topic in fitted and set(collection.grades[topic]) <= set(fitted[topic])
    }


def _variant(measure: str, scores: "pd.Series[float]", role: Role, fit: Fit) -> Variant:
    return Variant(measure=measure, family="ranked", role=role, fit=fit, scores=scores)
