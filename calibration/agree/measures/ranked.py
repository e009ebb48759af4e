"""Scores of ranked lists: time-aware, plain, and with fitted parameters.

P(c|q) and persistence can be fitted.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from calibration.agree.judged_task import JudgedTask
from calibration.agree.measures.variants import (
    ParameterOrigin,
    ScoredMeasure,
    VariantRole,
    scored_columns,
    scores_by_metric,
    side_by_side,
    without_known,
)
from calibration.agree.score_sources import Scorer, ScoreSources, ShownTexts, TaskScores, judged_summaries
from calibration.tables.sources import TaskSources
from calibration.user_model.measures import intent_shares, persistence
from calibration.user_model.model import UserModel
from metrics.errors import input_fault, join_names
from metrics.ranked.lists import SAY_WHICH, RankedCollection, RankedRun, single_ties_note
from metrics.ranked.measures import IAERR, IANDCG, IAP, RBP, TIAAP, TIAERR, TIANDCG, TIAP, RankedMeasure
from metrics.ranked.named import INSTALL, IrMeasuresMeasure, ListMeasure, has_ir_measures, ranked_measure
from metrics.ranked.recall import SBR, TIASBR, TSBR
from metrics.ranked.score import ranked_scores
from metrics.readers.ranked import read_ranked_collection, read_ranked_run
from metrics.readers.texts import read_document_texts, read_ranked_topics
from metrics.registry import Measure
from metrics.topic_ids import TopicNames

PLAIN = ("nDCG@{k}", "AP@{k}", "RR@{k}", "RBP(p=0.8)@{k}", "ERR@{k}", "P@{k}")
"""Measures of lists without windows, in the notation of ir_measures.

k is the displayed depth.
"""
Shares = Mapping[str, Mapping[str, float]]


def scorer(task: JudgedTask, evidence: ScoreSources, named: Mapping[str, Measure]) -> Scorer:
    """Return the scores of a task's ranked lists.

    Without the task's files it scores no measure, not even a named one.

    Raises
    ------
    InputError
        If the systems judged and the systems with a run are not the same, a topic judged is not in the collection, a
        measure asked for is undefined somewhere, or a file is faulty.
    """
    sources = evidence.sources.get(task.task)
    if sources is None:
        return lambda _: TaskScores()
    if sources.problems:
        note = f"{task.task}: no measures of ranked lists, since {'; '.join(sources.problems)}"
        return lambda _: TaskScores(notes=(note,))
    collection = _collection(sources)
    runs = [
        read_ranked_run(source.path, collection.grades, name=name) for name, source in sources.systems.items()
    ]
    evidence.check_systems(task.task, set(sources.systems))
    _check_topics(task, collection, evidence)
    lists = _Lists(
        collection=collection,
        runs=runs,
        judged=task.topics.tolist(),
        depth=sources.depth,
        language=task.language,
        evidence=evidence,
    )
    given = tuple(lists.given())
    variants = (
        *given,
        *lists.named(without_known(named, given)),
        *lists.fitted(),
        *lists.at_fitted_persistence(),
    )
    _check_defined(task, variants)
    ties = single_ties_note(runs)
    notes = tuple(f"{task.task}: {note}" for note in (*lists.missing(), *([ties] if ties else [])))
    return lambda _: TaskScores(variants=variants, notes=notes)


def _check_defined(task: JudgedTask, variants: Sequence[ScoredMeasure]) -> None:
    undefined = [variant.measure for variant in variants if variant.scores.isna().any()]
    if undefined:
        raise input_fault(
            f"{task.task}: {join_names(undefined)}: undefined for a list that was judged",
            cure="leave it out, or name a measure that every list has",
        )


def _collection(sources: TaskSources) -> RankedCollection:
    return read_ranked_collection(
        qrels=sources.path("qrels"),
        windows=sources.path("windows") if "windows" in sources.collection else None,
        intents=sources.path("intents") if "intents" in sources.collection else None,
    )


def _check_topics(task: JudgedTask, collection: RankedCollection, evidence: ScoreSources) -> None:
    names = TopicNames(collection.grades)
    unknown = {topic for topic, _ in judged_summaries(task) if names.find(topic) is None}
    if unknown:
        raise input_fault(
            f"judged, but not in {collection.name}: {join_names(sorted(unknown))}",
            path=evidence.place,
            cure="name topics as the qrels do",
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Lists:
    """Judged lists with their runs and measures."""

    collection: RankedCollection
    runs: Sequence[RankedRun]
    judged: Sequence[str]
    depth: int
    language: str
    evidence: ScoreSources

    def given(self) -> Iterator[ScoredMeasure]:
        """Yield the measures at their defaults.

        Time-aware measures come first, then their forms without time; lists without windows have the
        well-known measures.
        """
        k = self.depth
        time_aware: list[ListMeasure] = [
            TIANDCG(k=k),
            TIAP(k=k),
            TIAERR(k=k),
            TIAAP(),
            TSBR(k=k),
            TIASBR(k=k),
        ]
        plain: list[ListMeasure] = [IANDCG(k=k), IAP(k=k), IAERR(k=k), SBR(k=k)]
        known = [variant for variant in self._known() if _is_defined(variant, self.collection)]
        with_subtopics = any(len(self.collection.subtopics(topic)) > 1 for topic in self.collection.grades)
        if self.collection.undecided:
            time_aware, plain = [], []
        untimed = [*known, *(plain if with_subtopics or not known else ())]
        timed = ((time_aware, VariantRole.DEFAULT), (plain, VariantRole.ABLATION))
        for measures, role in timed if self.collection.is_timed else ((untimed, VariantRole.DEFAULT),):
            yield from scored_columns(self._scores(self.collection, measures), "ranked", role)

    def missing(self) -> Iterator[str]:
        """Return why defaults are missing, or an empty text."""
        if self.collection.undecided:
            yield f"measures by subtopic are left out: {self.collection.undecided}; {SAY_WHICH.partition('; or ')[2]}"
        if self.collection.is_timed:
            return
        if not has_ir_measures():
            names = join_names(text.format(k=self.depth) for text in PLAIN)
            yield f"{names} are left out: they need ir_measures ({INSTALL})"
        for variant in self._known():
            if not _is_defined(variant, self.collection):
                yield f"{variant.column} is left out: a grade is above {variant.largest_grade}"

    def _known(self) -> list[ListMeasure]:
        """Return the measures of lists without windows, none without ir_measures."""
        return [ranked_measure(text.format(k=self.depth)) for text in PLAIN] if has_ir_measures() else []

    def named(self, named: Mapping[str, Measure]) -> Iterator[ScoredMeasure]:
        """Yield the measures that a study names."""
        measures: dict[str, ListMeasure] = {
            name: variant
            for name, variant in named.items()
            if isinstance(variant, RankedMeasure | IrMeasuresMeasure)
        }
        yield from scored_columns(self._scores(self.collection, measures), "ranked", VariantRole.NAMED)

    def fitted(self) -> Iterator[ScoredMeasure]:
        """Yield the measures that use P(c|q), with the fitted one."""
        model = self.evidence.model
        if model is None or not _shares(model, self.collection):
            return
        estimate = self._with_shares_of(model)
        drawn = [self._with_shares_of(variant) for variant in self.evidence.drawn]
        for name in estimate.columns:
            yield _fitted(f"{name} fitted P", estimate[name], [variant[name] for variant in drawn])

    def at_fitted_persistence(self) -> Iterator[ScoredMeasure]:
        """Yield RBP of the entries shown, at the fitted persistence."""
        model = self.evidence.model
        p = None if model is None else persistence(model, self.language)
        if p is None:
            return
        drawn = [persistence(variant, self.language) for variant in self.evidence.drawn]
        every = {str(index): variant for index, variant in enumerate((p, *drawn)) if variant is not None}
        measures = {name: RBP(p=variant, k=self.depth) for name, variant in every.items()}
        scores = self._scores(self.collection, measures)
        yield _fitted("RBP@fitted", scores["0"], [scores[name] for name in [*measures][1:]])

    def _with_shares_of(self, model: UserModel) -> pd.DataFrame:
        shares = {**self.collection.probability, **_shares(model, self.collection)}
        k = self.depth
        timed: list[RankedMeasure] = [TIANDCG(k=k), TIAERR(k=k), TIASBR(k=k)]
        measures: list[ListMeasure] = [*timed] if self.collection.is_timed else []
        return self._scores(replace(self.collection, probability=shares), measures)

    def _scores(
        self, collection: RankedCollection, measures: Sequence[ListMeasure] | Mapping[str, ListMeasure]
    ) -> pd.DataFrame:
        return scores_by_metric(ranked_scores(collection, self.runs, measures), self.judged)


def _is_defined(measure: ListMeasure, collection: RankedCollection) -> bool:
    """Return whether every grade is small enough for a measure."""
    grades = (grade for topic in collection.grades.values() for of in topic.values() for grade in of.values())
    return measure.largest_grade is None or max(grades, default=0) <= measure.largest_grade


def _shares(model: UserModel, collection: RankedCollection) -> Shares:
    """Return the fitted P(c|q) of topics whose subtopics the model knows all of."""
    names = TopicNames(collection.grades)
    fitted = {names.find(topic): shares for topic, shares in intent_shares(model).items()}
    return {
        topic: fitted[topic]
        for topic in collection.grades
        if topic in fitted and set(collection.grades[topic]) <= set(fitted[topic])
    }


def _fitted(measure: str, scores: "pd.Series[float]", drawn: Sequence["pd.Series[float]"]) -> ScoredMeasure:
    return ScoredMeasure(
        measure=measure,
        family="ranked",
        role=VariantRole.FITTED,
        fit=ParameterOrigin.OTHER_DATA,
        scores=scores,
        drawn=side_by_side(drawn),
    )


def texts(task: JudgedTask, sources: TaskSources) -> ShownTexts:
    """Return the titles of each list's documents, best first, with windows if any.

    A document without a text was not displayed.
    """
    collection = _collection(sources)
    windows = collection.windows if collection.is_timed else None
    documents = read_document_texts(sources.path("texts")) if "texts" in sources.collection else {}
    judged = TopicNames(task.topics.tolist())
    sides: dict[str, dict[str, str]] = {}
    for system, source in sources.systems.items():
        run = read_ranked_run(source.path, collection.grades, name=system)
        for topic, ranking in run.rankings.items():
            if judged.find(topic):
                lines = [
                    f"{rank}. {(documents[name].title or documents[name].text) if documents else name}"
                    + ("" if windows is None else f" [{windows.get(name, '?')}]")
                    for rank, name in enumerate(ranking[: sources.depth], start=1)
                    if name in documents or not documents
                ]
                sides.setdefault(topic, {})[system] = "\n".join(lines)
    asked = read_ranked_topics(sources.path("topics")) if "topics" in sources.collection else {}
    return ShownTexts(topics={name: topic.text for name, topic in asked.items()}, sides=sides)
