"""Scores of streams by every measure: pushes, updates, MSU, and utilities."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

import pandas as pd

from calibration.agree.judged_task import JudgedTask
from calibration.agree.measures.cross_fitted import alpha_without_each_topic, weights_without_each_topic
from calibration.agree.measures.msu import DEFAULTS, UpdateStreams
from calibration.agree.measures.push import (
    PushScores,
    fitted_t11u,
    fitted_utility,
    named_push_scores,
    push_measure_scores,
)
from calibration.agree.measures.stream_files import StreamFiles, read_stream_files
from calibration.agree.measures.variants import (
    ParameterOrigin,
    ScoredMeasure,
    VariantRole,
    scored_columns,
    without_known,
)
from calibration.agree.score_sources import Scorer, ScoreSources, ShownTexts, TaskScores, judged_summaries
from calibration.inference.results import NotIdentifiedError
from calibration.models.push.judgments import CELL_SIGNS, DEFAULT_CONVENTION
from calibration.tables.sources import PUSH_FILES, TaskSources
from calibration.user_model.model import PUSH_WEIGHTS, lacking_push_weights
from calibration.user_model.push import push_alpha
from metrics.errors import input_fault, join_names
from metrics.readers.texts import read_profiles
from metrics.readers.trees import read_xml
from metrics.registry import Measure
from metrics.topic_ids import STREAM_TOPICS, TopicNames


def scorer(task: JudgedTask, evidence: ScoreSources, named: Mapping[str, Measure]) -> Scorer:
    """Return the scores of a task's streams; ``named`` are measures by name.

    Raises
    ------
    InputError
        If the systems judged and the systems with a run are not the same, a stream judged has no cells, or a file is
        faulty.
    """
    notes: list[str] = []
    files = _files(task, evidence, notes)
    pushes = _push_scores(task, evidence, files, notes)
    if pushes is not None:
        _check_streams(task, pushes.cells, evidence)
    updates = _update_streams(task, evidence, files, notes)
    if pushes is None and updates is None:
        return lambda _: TaskScores(notes=tuple(notes))
    sweeps = [] if pushes is None else [pushes.sweep()]
    update_variants: tuple[ScoredMeasure, ...] = ()
    if updates is not None:
        update_variants = tuple(_update_variants(task, updates, evidence, notes))
        sweeps.append(updates.sweep(evidence.model))
    fixed = () if pushes is None else tuple(pushes.fixed())
    more = without_known(named, (*fixed, *update_variants))
    by_name = tuple(_named(task, more, files, pushes, updates))
    is_native = updates is not None and not updates.converted
    of_files = (*update_variants, *fixed) if is_native else (*fixed, *update_variants)

    def score(judged: JudgedTask) -> TaskScores:
        added = list(notes)
        refitted = () if pushes is None else _at_fitted_weights(judged, evidence, pushes, added)
        return TaskScores(variants=(*of_files, *by_name, *refitted), sweeps=tuple(sweeps), notes=tuple(added))

    return score


def _at_fitted_weights(
    task: JudgedTask, evidence: ScoreSources, pushes: PushScores, notes: list[str]
) -> Iterator[ScoredMeasure]:
    """Yield utilities at fitted weights, cross-fitted if needed.

    Weights fitted to these preferences are fitted again without each topic.
    """
    model, drawn = evidence.model, evidence.drawn
    if model is None:
        return
    fit = ParameterOrigin.IN_SAMPLE if evidence.same_tables else ParameterOrigin.OTHER_DATA
    without_weights = without_alpha = None
    if any(name in model.parameters for name in PUSH_WEIGHTS):
        try:
            if fit is ParameterOrigin.IN_SAMPLE:
                without_weights = weights_without_each_topic(task, pushes.cells)
        except NotIdentifiedError as error:
            notes.append(f"{task.task}: the contingency utility is not cross-fitted, since {error}")
        yield from fitted_utility(pushes, model, drawn, without_weights, fit)
        lacking = lacking_push_weights(model)
        notes += [f"{task.task}: {lacking}"] if lacking else []
    alpha = push_alpha(model)
    if alpha is not None:
        try:
            if fit is ParameterOrigin.IN_SAMPLE:
                without_alpha = alpha_without_each_topic(task, pushes.cells)
        except NotIdentifiedError as error:
            notes.append(f"{task.task}: alpha is not cross-fitted, since {error}")
        yield from fitted_t11u(pushes, alpha, drawn, without_alpha, fit)


def _named(
    task: JudgedTask,
    named: Mapping[str, Measure],
    files: StreamFiles | None,
    pushes: PushScores | None,
    updates: UpdateStreams | None,
) -> Iterator[ScoredMeasure]:
    """Yield the named measures that the cells and the files allow."""
    if pushes is not None:
        of_cells = list(pushes.of_cells(named))
        yield from of_cells
        if files is not None and files.pushes is not None:
            more = without_known(named, of_cells)
            scores = named_push_scores(files.pushes, files.push_runs, more, task.topics.tolist())
            yield from scored_columns(scores, "push", VariantRole.NAMED, converted=pushes.converted)
    if updates is not None:
        yield from updates.named(named)


def _files(task: JudgedTask, evidence: ScoreSources, notes: list[str]) -> StreamFiles | None:
    sources = evidence.sources.get(task.task)
    if sources is None:
        notes.append(f"{task.task}: only measures of the cells, since no collection and runs are named")
        return None
    if sources.problems:
        notes.append(f"{task.task}: only measures of the cells, since {'; '.join(sources.problems)}")
        return None
    return read_stream_files(sources)


def _push_scores(
    task: JudgedTask, evidence: ScoreSources, files: StreamFiles | None, notes: list[str]
) -> PushScores | None:
    """Return cells and daily measures, with cells of the table if there is one.

    Cells of the table are those that weights are fitted to.
    """
    cells = _table_cells(task, evidence)
    if files is None:
        return None if cells is None else PushScores(cells=cells, daily=pd.DataFrame(), converted=False)
    evidence.check_systems(task.task, {run.name for run in files.push_runs})
    if files.pushes is None:
        notes.append(
            f"{task.task}: no push measures, since the ids of updates do not say when they were posted"
        )
        return None
    counted, daily = push_measure_scores(files.pushes, files.push_runs, task.topics.tolist())
    return PushScores(
        cells=counted if cells is None else cells,
        daily=daily,
        converted=files.pushes.converted_from is not None,
    )


def _table_cells(task: JudgedTask, evidence: ScoreSources) -> pd.DataFrame | None:
    """Return the cells of each stream from table push_cells, or None.

    Raises
    ------
    InputError
        If a stream has different cells in different pairs: then it has no score.
    """
    rows = evidence.of_task("push_cells", task.task)
    if rows is None:
        return None
    named = sorted(rows["convention"].dropna().unique())
    if named:
        rows = rows[rows["convention"] == (DEFAULT_CONVENTION if DEFAULT_CONVENTION in named else named[0])]
    cells = rows[["topic", "system", *CELL_SIGNS]].drop_duplicates().set_index(["topic", "system"])
    twice = cells.index[cells.index.duplicated()]
    if len(twice):
        raise input_fault(
            f"push_cells differ from pair to pair for {join_names(f'{system} on {topic}' for topic, system in twice.unique())}",
            path=evidence.place,
            cure="count every stream of a topic over the same days",
        )
    return cells


def _check_streams(task: JudgedTask, cells: pd.DataFrame, evidence: ScoreSources) -> None:
    missing = judged_summaries(task).difference(cells.index)
    if len(missing):
        raise input_fault(
            f"judged, but without cells: {join_names(f'{system} on {topic}' for topic, system in missing)}",
            path=evidence.place,
            cure="write the table push_cells anew (prefcal features), or name collection and runs",
        )


def _update_streams(
    task: JudgedTask, evidence: ScoreSources, files: StreamFiles | None, notes: list[str]
) -> UpdateStreams | None:
    if files is None:
        return None
    if files.events is None:
        notes.append(f"{task.task}: no MSU, since no file of texts is named")
        return None
    skipped = files.events.skipped.sentence(nuggets="the file of nuggets", updates="the file of updates")
    notes += [f"{task.task}: {skipped}"] if skipped else []
    return UpdateStreams(
        events=files.events,
        runs=files.update_runs,
        judged=tuple(dict.fromkeys(task.topics.tolist())),
        language=task.language,
        seed=evidence.seed,
    )


def _update_variants(
    task: JudgedTask, updates: UpdateStreams, evidence: ScoreSources, notes: list[str]
) -> Iterator[ScoredMeasure]:
    """Yield MSU, and the track's measures for a collection of events."""
    yield from updates.named(DEFAULTS, VariantRole.DEFAULT)
    if evidence.model is None:
        return
    fitted = updates.fitted(evidence.model, evidence.drawn)
    if fitted is not None:
        yield fitted
        missing = updates.missing(evidence.model)
        if missing:
            notes.append(
                f"{task.task}: MSU@fitted takes {join_names(missing)} from the paper, which the model lacks"
            )


def texts(task: JudgedTask, sources: TaskSources) -> ShownTexts:
    """Return the pushes of each system on the judged days, oldest first, in UTC.

    A push without a text was not displayed; where no push has a text, its id is the text.
    """
    files = read_stream_files(sources)
    spans = files.spans()
    names, judged = TopicNames(spans, STREAM_TOPICS), TopicNames(task.topics.tolist(), STREAM_TOPICS)
    sides: dict[str, dict[str, str]] = {}
    for run in files.push_runs:
        shown: dict[str, list[tuple[int, str]]] = {}
        for written, item, seconds in zip(run.topics, run.tweets, run.epochs.tolist(), strict=True):
            topic, text = names.find(written), files.texts.get(item, "") if files.texts else item
            if not text or topic is None or judged.find(topic) is None:
                continue
            begin, end = spans[topic]
            if begin <= seconds < end:
                shown.setdefault(topic, []).append((seconds, text))
        for topic, pushed in shown.items():
            lines = [f"{_moment(seconds)} {text}" for seconds, text in sorted(pushed, key=lambda one: one[0])]
            sides.setdefault(topic, {})[run.name] = "\n".join(lines)
    return ShownTexts(topics=_stream_topics(sources), sides=sides)


def _stream_topics(sources: TaskSources) -> Mapping[str, str]:
    """Return the titles of interest profiles or events."""
    if "topics" not in sources.collection:
        return {}
    if sources.form == PUSH_FILES:
        return {name: profile.title for name, profile in read_profiles(sources.path("topics")).items()}
    events = [
        {child.tag: child.text.strip() for child in event.children}
        for event in read_xml(sources.path("topics")).children
    ]
    return {event.get("id", ""): event.get("title", "") for event in events}


def _moment(seconds: int) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M}"
