"""Sources of scores: tables, collections and runs, user model, external scores.

External scores are a frame, or a file in any form of `metrics.readers.score_rows`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pandas as pd

from calibration.agree.judged_task import JudgedTask
from calibration.agree.measures.variants import ParameterSweep, ScoredMeasure
from calibration.agree.result import OPTIONS, Arguments
from calibration.tables.sources import TaskSources
from calibration.tables.study_json import StudyRecord
from calibration.user_model.model import UserModel
from metrics.errors import FaultLog, input_fault, join_names, pluralise
from metrics.readers.lines import NUMBER, system_name
from metrics.readers.score_lines import TOPIC, UNDEFINED
from metrics.readers.score_rows import check_has_runs, read_score_table, read_score_text
from metrics.readers.score_table import NUMBER_CURE
from metrics.results import ALL
from metrics.topic_ids import STREAM_TOPICS, TopicNames

COLUMNS = ("run", "topic", "metric", "value")
SCORES = "scores"
"""Name of a frame in messages."""


def read_scores(scores: str | Path | pd.DataFrame, *, name: str = SCORES) -> pd.DataFrame:
    """Read and check scores of runs on topics, from a file or a frame; drop means.

    A metric with undefined values (`nan`), as some measures of push notifications have, is a fault only if all metrics have
    some: `scores_of_task` leaves it out.

    Parameters
    ----------
    scores : str, Path or DataFrame
        run, topic, metric, value; a file may have any form of `metrics.readers.score_rows` that names its runs.
    name : str
        Name of a frame in messages.

    Returns
    -------
    DataFrame
        run, topic, metric, value, in the order of the file.

    Raises
    ------
    InputError
        If the file cannot be read, lacks a column, has an empty cell, a value that is not a finite number, or two
        values of one run, topic and metric; or if all its scores are means over topics.

    Examples
    --------
    >>> import pandas as pd
    >>> read_scores(
    ...     pd.DataFrame([("A", "1", "nDCG", 0.5)], columns=["run", "topic", "metric", "value"])
    ... )
      run topic metric  value
    0   A     1   nDCG    0.5
    """
    path = name if isinstance(scores, pd.DataFrame) else scores
    log = FaultLog(path)
    frame = _score_rows(scores, log)
    lines = frame.pop("line")
    undefined = frame["value"].isna() & ~lines.isin([fault.line for fault in log.faults])
    is_of_topic = frame["topic"] != ALL
    undefined_metrics = set(frame["metric"][undefined & is_of_topic])
    is_allowed = ~is_of_topic | bool(set(frame["metric"]) - undefined_metrics)
    for line in lines[undefined & ~is_allowed].tolist():
        log.add(f"value is no finite number: {UNDEFINED!r}", line=line, cure=NUMBER_CURE)
    log.faults.sort(key=lambda fault: fault.line or 0)
    log.raise_if_any()
    frame = frame[is_of_topic].reset_index(drop=True)
    if frame.empty:
        raise input_fault(
            "no score of a single topic", path=path, cure="write one row per run, topic and metric"
        )
    return frame


def _score_rows(scores: str | Path | pd.DataFrame, log: FaultLog) -> pd.DataFrame:
    """Return the rows with line numbers, a frame's as in its CSV; log faulty cells."""
    if isinstance(scores, pd.DataFrame):
        missing = [name for name in COLUMNS if name not in scores.columns]
        if missing:
            log.add(
                f"there is no column {join_names(missing)}",
                line=1,
                cure=f"{log.path} need {join_names(COLUMNS)}",
            )
        log.raise_if_any()
        cells = scores[list(COLUMNS)].assign(value=scores["value"].map(str))
        table = read_score_text(cells.to_csv(index=False, lineterminator="\n").encode(), log)
    else:
        table = read_score_table(scores, log=log)
    check_has_runs(table, log)
    if not table.has_topics:
        log.add(f"there is no column {TOPIC!r}", line=1, cure="write one row per run, topic and metric")
        log.raise_if_any()
    return pd.DataFrame(
        {
            "run": np.array(table.runs, dtype=object)[table.run],
            "topic": np.array(table.topics, dtype=object)[table.topic],
            "metric": np.array(table.metrics, dtype=object)[table.metric],
            "value": table.value,
            "line": table.line,
        }
    ).astype(dict.fromkeys(COLUMNS[:3], "str"))


def scores_of_task(
    scores: pd.DataFrame, task: JudgedTask, *, path: str
) -> tuple[dict[str, "pd.Series[float]"], list[str]]:
    """Return scores on a task's topics by metric, and notes on metrics left out.

    Parameters
    ----------
    scores : DataFrame
        As `read_scores` returns it. Topics may be written in their short form.
    task : JudgedTask
        The preferences.
    path : str
        Name of the scores in messages.

    Returns
    -------
    found : dict of str to Series of float, indexed by topic, system
        Scores by metric, in the order of the file; without metrics that are undefined for a judged system and topic.
    notes : list of str
        A sentence for each metric left out.

    Raises
    ------
    InputError
        If a system that was judged has no score on a topic on which it was judged.
    """
    names = TopicNames(set(task.topics.tolist()), STREAM_TOPICS, where=path)
    rows = scores.assign(topic=scores["topic"].map(names.find)).dropna(subset="topic")
    if rows.empty:
        return {}, [f"{task.task}: none of its topics has a score"]
    judged = judged_summaries(task)
    log, scores_by_metric, notes = FaultLog(path), {}, []
    for metric, metric_rows in rows.groupby("metric", sort=False):
        values = metric_rows.set_index(["topic", "run"])["value"].rename_axis(["topic", "system"])
        missing = judged.difference(values.index)
        undefined = judged.intersection(values.index[values.isna()])
        if len(undefined):
            notes.append(f"{task.task}: {metric} is left out: undefined for {_named(undefined)}")
        else:
            scores_by_metric[str(metric)] = values
        if len(missing):
            log.add(
                f"{metric}: no score of {_named(missing)}",
                cure="score every system on every topic on which it was judged",
            )
    log.raise_if_any()
    return scores_by_metric, notes


def _named(judged: pd.MultiIndex) -> str:
    return join_names(f"{system} on {topic}" for topic, system in judged)


def with_system_names(scores: pd.DataFrame, tasks: list[JudgedTask]) -> pd.DataFrame:
    """Rename runs to the study's systems.

    `prefcal score` keeps ``.run`` in names; studies do not.
    """
    judged = {system for task in tasks for system in task.systems}
    names = {run: run if run in judged else system_name(run) for run in scores["run"].unique()}
    renamed = {run: name for run, name in names.items() if name in judged and name not in names}
    return scores.assign(run=scores["run"].replace(renamed))


def check_runs(scores: pd.DataFrame, tasks: list[JudgedTask], *, path: str) -> list[str]:
    """Return notes on the runs and the topics without judgments, if any.

    Raises
    ------
    InputError
        If a system that was judged has no score at all, or no topic is in both.
    """
    judged, scored = {system for task in tasks for system in task.systems}, set(scores["run"])
    if judged - scored:
        folded = {name.casefold(): name for name in sorted(scored)}
        near = [
            f"{folded[name.casefold()]} for {name}"
            for name in sorted(judged - scored)
            if name.casefold() in folded
        ]
        raise input_fault(
            f"judged without a score: {join_names(sorted(judged - scored), most=20)}",
            path=path,
            cure="give a score of every system on every topic on which it was judged"
            + (f"; names differ in case: {join_names(near)}" if near else ""),
        )
    unjudged = (("system", sorted(scored - judged)), ("topic", _unjudged_topics(scores, tasks, path=path)))
    return [
        f"{path}: scores of {pluralise(len(names), what)} that nobody judged are left out ({join_names(names)})"
        for what, names in unjudged
        if names
    ]


def _unjudged_topics(scores: pd.DataFrame, tasks: list[JudgedTask], *, path: str) -> list[str]:
    """Return the scored topics without judgments; raise if no topic of the scores was judged."""
    judged = sorted({topic for task in tasks for topic in task.topics.tolist()})
    scored = list(dict.fromkeys(scores["topic"].tolist()))
    names = TopicNames(judged, STREAM_TOPICS, where=path)
    unjudged = [topic for topic in scored if names.find(topic) is None]
    if len(unjudged) < len(scored):
        return [topic for topic in unjudged if topic != ALL]
    cure = "name topics as the judgments do"
    if {float(topic) for topic in judged if NUMBER.fullmatch(topic)} & {
        float(topic) for topic in scored if NUMBER.fullmatch(topic)
    }:
        cure += ": they are texts, and pandas reads 001 as 1 unless it is told dtype=str"
    raise input_fault(
        f"no topic is in both: judged are {join_names(judged, most=3)}; scored are {join_names(scored, most=3)}",
        path=path,
        cure=cure,
    )


def raise_unless_same(judged: set[str], present: set[str], *, what: str, path: str) -> None:
    """Raise `InputError` unless the judged systems are those that have ``what``."""
    if judged != present:
        without, unjudged = (
            join_names(sorted(names), most=20) for names in (judged - present, present - judged)
        )
        raise input_fault(
            f"judged without {what}: {without or 'none'}; with {what} but never judged: {unjudged or 'none'}",
            path=path,
            cure="name systems and runs alike, and give all of them",
        )


def judged_summaries(task: JudgedTask) -> pd.MultiIndex:
    """Return every (topic, system) that was judged."""
    sides = [
        task.pairs[["topic", side]].set_axis(["topic", "system"], axis="columns")
        for side in ("system_a", "system_b")
    ]
    return pd.MultiIndex.from_frame(pd.concat(sides).drop_duplicates())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoreSources:
    """All sources of scores.

    Attributes
    ----------
    tables : mapping of str to DataFrame
        As `calibration.tables.files.read_tables` returns them, unfiltered; preferences among them.
    sources : mapping of str to TaskSources
        Collections and runs by task.
    model : UserModel or None
        Fitted parameters.
    drawn : sequence of UserModel
        Copies of the model with estimates sampled from their uncertainty.
    same_tables : bool
        True if the model was fitted to these tables: parameters from the preferences are then cross-fitted.
    scores : DataFrame or None
        As `read_scores` returns them.
    seed : int
        Random seed of the users that MSU simulates.
    verdicts : DataFrame or None
        Those of judges that are no people (`calibration.judges.verdicts`), which no table above has.
    lengths : DataFrame or None
        Length of each side, as `read_scores` returns it; None: characters of what was shown.
    place, scores_place : str
        Names of the preferences and of the scores in messages.
    by : str or None
        The criterion whose answers stand in the preferences (`calibration.tables.criteria.by_criterion`); None: the overall choices.
    study : StudyRecord or None
        study.json: in which tasks sides were drawn by lot, which pairs were named, and what was done during the study.
    arguments : Arguments
        Names of the inputs in messages.
    """

    tables: Mapping[str, pd.DataFrame]
    sources: Mapping[str, TaskSources] = field(default_factory=dict)
    model: UserModel | None = None
    drawn: Sequence[UserModel] = ()
    same_tables: bool = True
    scores: pd.DataFrame | None = None
    seed: int = 1
    verdicts: pd.DataFrame | None = None
    lengths: pd.DataFrame | None = None
    place: str = "preferences"
    scores_place: str = "scores"
    by: str | None = None
    study: StudyRecord | None = None
    arguments: Arguments = OPTIONS

    def of_task(self, name: str, task: str) -> pd.DataFrame | None:
        """Return the rows of a table for a task, without column task; None if it has none."""
        table = self.tables.get(name)
        if table is None:
            return None
        rows = table[table["task"].isna() | (table["task"] == task)]
        return rows.drop(columns="task") if len(rows) else None

    def check_systems(self, task: str, with_run: set[str]) -> None:
        """Raise `InputError` unless the systems judged in a task are those with a run."""
        preferences = self.tables["preferences"]
        rows = preferences[preferences["task"] == task]
        judged = set(rows["system_left"]) | set(rows["system_right"])
        raise_unless_same(judged, with_run, what="a run", path=self.place)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TaskScores:
    """Measures of one task: their scores, curves and notes.

    Attributes
    ----------
    variants : tuple of ScoredMeasure
        The default one first.
    sweeps : tuple of ParameterSweep
        The same measures over a parameter.
    notes : tuple of str
        One sentence for each missing result, with the reason.
    """

    variants: tuple[ScoredMeasure, ...] = ()
    sweeps: tuple[ParameterSweep, ...] = ()
    notes: tuple[str, ...] = ()


Scorer: TypeAlias = Callable[[JudgedTask], TaskScores]
"""Function that scores a task's systems, given its judgments.

It reads the files once.

Parameters fitted to these judgments are cross-fitted.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownTexts:
    """Texts of topics and of sides, by the collection's names of topics.

    Attributes
    ----------
    topics : mapping of str to str
        Text by topic.
    sides : mapping of str to mapping of str to str
        Text of a side by topic and system.
    """

    topics: Mapping[str, str] = field(default_factory=dict)
    sides: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def topic(self, name: str) -> str:
        """Return the text of a topic, by its long or short name, or an empty string."""
        return self.topics.get(TopicNames(self.topics, STREAM_TOPICS).find(name) or "", "")

    def lengths(self, judged: pd.MultiIndex) -> "pd.Series[float] | None":
        """Return the characters of each (topic, system); NaN without a text, None without any."""
        names = TopicNames(self.sides, STREAM_TOPICS)
        topics = {topic: self.sides.get(names.find(topic) or "", {}) for topic in judged.unique(level=0)}
        lengths = [float(len(topics[topic].get(system, ""))) or np.nan for topic, system in judged]
        return pd.Series(lengths, judged) if np.isfinite(lengths).any() else None

    def side(self, topic: str, system: str) -> str:
        """Return the text that a system showed on a topic, or an empty string."""
        return self.sides.get(TopicNames(self.sides, STREAM_TOPICS).find(topic) or "", {}).get(system, "")
