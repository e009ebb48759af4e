"""Agreement of measures with preferences, from a folder of tables.

Each measure is reported with every parameter value that it has. The systems of a task are scored by the measures of its kind, and by scores
from elsewhere; `calibration.agree.task_agreement` compares the scores with the preferences, `calibration.agree.comparisons` the measures
with each other. The columns of the results are listed in docs/agreement.md.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from calibration.agree.assisted import assisted_rows
from calibration.agree.comparisons import COLUMNS as COMPARISON_COLUMNS
from calibration.agree.comparisons import PlannedComparison, comparison_rows, couples, in_same_order
from calibration.agree.judge_tables import judge_tables
from calibration.agree.judged_task import (
    JudgedTask,
    has_exclusions,
    judged_tasks,
    same_people,
    wide_tastes,
)
from calibration.agree.measures.kinds import KINDS
from calibration.agree.measures.names import measure_called, printed_name, resolved, resolved_for_all
from calibration.agree.measures.variants import ParameterOrigin, ScoredMeasure, VariantRole
from calibration.agree.reading import reading_rows
from calibration.agree.result import (
    AgreementTables,
    NamedComparisons,
    judged_things,
    leading_ties,
    wanted_by_study,
)
from calibration.agree.score_sources import (
    Scorer,
    ScoreSources,
    ShownTexts,
    TaskScores,
    check_runs,
    judged_summaries,
    scores_of_task,
    with_system_names,
)
from calibration.agree.task_agreement import (
    AGREEMENT_COLUMNS,
    COLUMNS,
    CURVE_COLUMNS,
    DRAW_COLUMNS,
    Row,
    disagreement_rows,
    length_differences,
    pair_rows,
    score_differences,
    shown_texts,
    sweep_rows,
    task_agreement,
)
from calibration.checks.judges import judge_kinds
from calibration.checks.same_answers import SameAnswersOption, one_cluster
from calibration.checks.votes import VoteChecks, names_in_two_cases
from calibration.judges.assist import AGREEMENTS, assisted_tasks, verdicts_by
from calibration.judges.numbers import JudgeTables, joined
from calibration.judges.verdicts import Verdicts, split_verdicts
from calibration.tables.files import give_back_memory
from calibration.tables.preferences import adaptive_tasks
from calibration.tables.study_json import STUDY_FILE
from calibration.user_model.model import Diagnostic
from metrics.agreement.agreement import agreement, precision
from metrics.arrays import Floats
from metrics.errors import Fault, InputError, input_fault, join_names, percent
from metrics.registry import Measure

FINE_ENOUGH, LARGE_SCORE = 1e-3, 1e6
"""Share of the spread of scores that rounding may lose, and smallest such score.

Below that score rounding loses nothing.
"""
SCORES_MARK = "from scores"
"""Suffix of an external measure that has the name of the package's own."""


def task_scorer(task: JudgedTask, evidence: ScoreSources, names: Iterable[str] = ()) -> Scorer:
    """Return the function that scores a task's systems, with external scores.

    It scores by the measures of the task's kind and by external scores.

    Parameters
    ----------
    task : JudgedTask
        The preferences that count.
    evidence : ScoreSources
        Tables, files, fitted parameters, scores.
    names : iterable of str
        Measures to be scored besides those that every such task has; a name that has scores from elsewhere means those.

    Raises
    ------
    InputError
        If the systems judged and the systems with a run are not the same, a topic judged is not scored, or a file is
        faulty.
    """
    kind = task_kind(task.task, evidence)
    named = _measures_called(names, kind, evidence)
    own = KINDS[kind].scorer(task, evidence, named) if kind in KINDS else lambda _: TaskScores()

    def score(judged: JudgedTask) -> TaskScores:
        scores = own(judged)
        elsewhere, left_out = _from_elsewhere(
            judged, evidence, {variant.measure for variant in scores.variants}
        )
        notes = (*scores.notes, *left_out)
        if not (scores.variants or elsewhere or notes):
            notes = (f"{judged.task}: {_unscored(kind, evidence)}",)
        return TaskScores(variants=(*scores.variants, *elsewhere), sweeps=scores.sweeps, notes=notes)

    return score


def _unscored(kind: str, evidence: ScoreSources) -> str:
    """Return the reason why nothing scores a task of a kind."""
    if kind in KINDS:
        return "nothing scores its systems"
    return f"prefcal has no measures for tasks of kind {kind}; yours can be given with {evidence.arguments.scores}"


def task_kind(task: str, evidence: ScoreSources) -> str:
    """Return the kind of a task by study.json, else by its tables."""
    if task in evidence.sources:
        return evidence.sources[task].kind
    return "stream_pairs" if evidence.of_task("push_cells", task) is not None else "summary_pairs"


def _measures_called(names: Iterable[str], kind: str, evidence: ScoreSources) -> dict[str, Measure]:
    """Return measures by printed name, of names without external scores."""
    elsewhere = set() if evidence.scores is None else set(evidence.scores["metric"])
    measures = [measure_called(name, kind) for name in names if name not in elsewhere]
    return {printed_name(measure, kind): measure for measure in measures if measure is not None}


def _from_elsewhere(
    task: JudgedTask, evidence: ScoreSources, taken: Collection[str]
) -> tuple[tuple[ScoredMeasure, ...], list[str]]:
    """Return the measures of --scores, and notes on those left out.

    A measure named like one of the package's own also names its source.
    """
    if evidence.scores is None:
        return (), []
    found, left_out = scores_of_task(evidence.scores, task, path=evidence.scores_place)
    variants = tuple(
        ScoredMeasure(
            measure=f"{metric} ({SCORES_MARK})" if metric in taken else metric,
            family="scores",
            role=VariantRole.SCORES,
            scores=scores,
        )
        for metric, scores in found.items()
    )
    return variants, left_out


class _TaskResult(NamedTuple):
    """Rows of one task for each table, with diagnostics and notes."""

    agreement: list[Row]
    comparisons: list[Row]
    curve: list[Row]
    pairs: pd.DataFrame
    disagreements: list[Row]
    notes: list[str]
    known: tuple[Diagnostic, ...]
    judges: JudgeTables


def agree(  # noqa: PLR0913 - one argument an option of the command
    evidence: ScoreSources,
    *,
    named_comparisons: NamedComparisons | None = None,
    measures: Sequence[str] = (),
    complete_only: bool = False,
    same_answers: SameAnswersOption = "apart",
    checks: VoteChecks | None = None,
    assist: str | None = None,
    ordinal: bool = False,
    seed: int = 1,
) -> AgreementTables:
    """Compare every measure that the evidence allows with the preferences.

    Judges that are no people are held against those who judged, and count nowhere else. Excluded and withdrawn workers and validation
    repeats do not count. Where leaving out the excluded ones changes
    anything, the agreement stands a second time with them (column ``exclusions``).

    Parameters
    ----------
    evidence : ScoreSources
        Tables, files, fitted parameters, scores.
    named_comparisons : Wanted, optional
        Which measures to compare, instead of what the study names.
    measures : sequence of str
        Names of measures to add to the table of every task that has them.
    complete_only : bool
        Count only workers who completed the study.
    same_answers : {'apart', 'one-cluster'}
        Workers who give the same answers count apart, or each group of them as one person; they are named either way.
    checks : VoteChecks, optional
        Those of these tables, where a ranking shares them.
    assist : str, optional
        A judge that is no person, whose verdicts on all pairs assist the numbers of people (`calibration.judges.assist`).
    ordinal : bool
        Compare measures in a model of graded answers, too.
    seed : int
        Decides the sign flips and the draws of the band.

    Raises
    ------
    InputError
        If there are no preferences, if nothing scores any task, if the systems judged and the systems scored are not the
        same, a measure or judge that is named is unknown, that judge can assist nothing, or no task has the graded answers asked for.
    """
    if evidence.verdicts is None:
        people, verdicts = split_verdicts(evidence.tables)
        evidence = replace(evidence, tables=people, verdicts=verdicts)
    if "preferences" not in evidence.tables:
        raise input_fault(
            f"there is no table preferences in {Path(evidence.place).parent}, so there is nothing to agree with"
            f" (only {join_names(evidence.tables) or 'nothing'})",
            cure="only tasks of pairs have agreement; prefcal fit uses visits and votes",
        )
    assistant = None if assist is None else verdicts_by(assist, evidence.verdicts)
    checks = checks or VoteChecks(tables=evidence.tables, complete_only=complete_only)
    if same_answers == "one-cluster":
        evidence = replace(evidence, tables=one_cluster(evidence.tables, checks.same))
    copies = tuple(each.finding(as_one=same_answers == "one-cluster").diagnostic for each in checks.same)
    tasks = _tasks(evidence, exclude=True, complete_only=complete_only)
    if not tasks and evidence.tables["preferences"].empty:
        raise input_fault("the table has no rows", path=evidence.place, cure="check that workers have judged")
    if not tasks:
        raise input_fault(
            "no preference counts", path=evidence.place, cure="see which workers are excluded or incomplete"
        )
    notes, stopping = (
        [*names_in_two_cases(evidence.tables["preferences"]), *_on_adaptive(evidence.tables["preferences"])],
        checks.stopping,
    )
    notes += _ungraded(tasks, evidence) if ordinal else []
    if evidence.scores is not None:
        evidence = replace(evidence, scores=with_system_names(evidence.scores, tasks))
        notes += check_runs(evidence.scores, tasks, path=evidence.scores_place)
    with_excluded = has_exclusions(evidence.tables)
    everybody = _tasks(evidence, exclude=False, complete_only=complete_only) if with_excluded else tasks
    asked = {task.task: _asked(task.task, evidence, named_comparisons) for task in everybody}
    scorers = {
        task.task: task_scorer(task, evidence, (*asked[task.task].names, *measures)) for task in everybody
    }
    measured = {task.task: scorers[task.task](task) for task in tasks}
    variants = {task: task_scores.variants for task, task_scores in measured.items() if task_scores.variants}
    missing = [note for task_scores in measured.values() for note in task_scores.notes]
    notes += [*_on_lengths(evidence), *missing]
    judged = {task.task: _verdicts(task.task, evidence) for task in tasks}
    compared = [task for task in tasks if task.task in variants or len(judged[task.task])]
    words = evidence.arguments
    if not compared:
        with_measures = any(task_kind(task.task, evidence) in KINDS for task in tasks)
        files = f"{words.files}, add table positions or push_cells (prefcal features), or " * with_measures
        raise input_fault(
            f"nothing scores the systems that were judged ({'; '.join(missing)})",
            cure=f"{files}give {words.scores}; {words.rank} shows without scores which system people prefer",
        )
    kinds = {task: task_kind(task, evidence) for task in variants}
    resolved_for_all(
        NamedComparisons(compare=tuple(measures)), variants, kinds, arguments=words, options=words.added
    )
    if named_comparisons is None:
        named = _named_by_study(evidence, asked, variants, notes)
    else:
        named = resolved_for_all(
            replace(named_comparisons, at_analysis=True), variants, kinds, arguments=words
        )
    rng = np.random.default_rng(seed)
    results = {
        task.task: _compared(
            task, measured[task.task], named.get(task.task), judged[task.task], evidence, rng, ordinal=ordinal
        )
        for task in compared
    }
    notes += [note for result in results.values() for note in result.notes]
    rows = _rows(result.agreement for result in results.values())
    if with_excluded:
        rows += _with_everybody(everybody, scorers)
    comparisons = _frame((result.comparisons for result in results.values()), COMPARISON_COLUMNS)
    assisted, about_it = _assisted(compared, variants, comparisons, assistant, evidence)
    return AgreementTables(
        agreement=_numeric(pd.DataFrame(rows, columns=list(AGREEMENT_COLUMNS))),
        comparisons=comparisons,
        curve=_frame((result.curve for result in results.values()), CURVE_COLUMNS),
        pairs=pd.concat([result.pairs for result in results.values()], ignore_index=True),
        disagreements=_frame((result.disagreements for result in results.values()), COLUMNS),
        wanted=named,
        notes=(*notes, *about_it, *(evidence.study.history if evidence.study else ())),
        diagnostics={
            task: (*result.known, *copies, *([stopping[task].diagnostic] if task in stopping else ()))
            for task, result in results.items()
        },
        reading=reading_rows(evidence.tables, complete_only=complete_only),
        judges=replace(joined([result.judges for result in results.values()]), assisted=assisted),
        by=evidence.by,
    )


def _on_adaptive(preferences: pd.DataFrame) -> Iterator[str]:
    """Yield for each task with adaptive pairs which of them count."""
    for task in sorted(adaptive_tasks(preferences)):
        yield (
            f"{task}: pairs were chosen by the answers before them, to find the best system: only those drawn whatever the answers were"
            " count here (adaptive_pairs)"
        )


def _assisted(
    tasks: Sequence[JudgedTask],
    variants: Mapping[str, Sequence[ScoredMeasure]],
    comparisons: pd.DataFrame,
    verdicts: Verdicts | None,
    evidence: ScoreSources,
) -> tuple[pd.DataFrame, list[str]]:
    """Return the numbers that a judge assists, if any, and notes on them."""
    if verdicts is None:
        return JudgeTables().assisted, []
    tasks = [task for task in tasks if task.task in variants]
    if not tasks:
        raise input_fault(
            "no measure scores what was judged, so there is no agreement for a judge to assist",
            cure=f"give {evidence.arguments.scores}; {evidence.arguments.rank} assists win rates without any",
        )
    rows, notes = assisted_tasks(
        lambda task: assisted_rows(task, variants[task.task], comparisons, verdicts, evidence.study), tasks
    )
    return pd.DataFrame(rows, columns=list(AGREEMENTS)), notes


def _ungraded(tasks: Sequence[JudgedTask], evidence: ScoreSources) -> list[str]:
    """Return notes on tasks whose answers are not graded; raises `InputError` if none are."""
    why_not = {task.task: why for task in tasks if (why := task.no_grades)}
    if len(why_not) == len(tasks):
        raise InputError(
            [
                Fault(
                    problem=f"task {task}: {why}",
                    cure="compare by choices alone, without ordinal, or give a strength to every answer for a side (column strength)",
                    path=evidence.place,
                )
                for task, why in why_not.items()
            ]
        )
    return [f"{task}: {why}, so measures are not compared by grades" for task, why in why_not.items()]


def _rows(of_tasks: Iterable[list[Row]]) -> list[Row]:
    return [row for rows in of_tasks for row in rows]


def _frame(of_tasks: Iterable[list[Row]], columns: Sequence[str]) -> pd.DataFrame:
    return pd.DataFrame(_rows(of_tasks), columns=pd.Index(columns))


def _tasks(evidence: ScoreSources, *, exclude: bool, complete_only: bool) -> list[JudgedTask]:
    study = evidence.study
    sided = () if study is None else [task for task in study.tasks if study.drew_sides(task)]
    return judged_tasks(evidence.tables, exclude=exclude, complete_only=complete_only, drew_sides=sided)


def _known(
    task: JudgedTask,
    variants: Sequence[ScoredMeasure],
    evidence: ScoreSources,
    differences: Mapping[str, Floats],
) -> tuple[Diagnostic, ...]:
    """Return the diagnostics of the judgments and judges of a task."""
    judges = set(task.judgments["worker"].unique())
    fitted_to = evidence.tables if evidence.model is not None and evidence.same_tables else {}
    kinds = judge_kinds(task.judgments)
    return (
        *task.diagnostics,
        *(
            each.diagnostic
            for each in (kinds.findings(partial(_without_people, task, variants)) if kinds else ())
        ),
        *wide_tastes(task.votes, differences),
        *same_people(variants, judges, task.votes.crossing, fitted_to),
    )


def _without_people(task: JudgedTask, variants: Sequence[ScoredMeasure], people: Collection[str]) -> str:
    """Return a sentence with the agreement of three measures without some people."""
    rows = task.as_preferences()
    (others,) = judged_tasks({"preferences": rows[~rows["worker"].isin(people)]}) or (None,)
    if others is None:
        return ""
    said = []
    for variant in variants[:3]:
        without, whole = (
            agreement(
                score_differences(judged, variant.scores.to_frame())[:, 0],
                judged.share,
                judged.topics,
                ties="half",
            ).value
            for judged in (others, task)
        )
        said.append(f"{variant.measure} {percent(without, 1)} for {percent(whole, 1)}")
    return f"Without them, agreement with a tie as half: {', '.join(said)}."


def _asked(task: str, evidence: ScoreSources, named_comparisons: NamedComparisons | None) -> NamedComparisons:
    """Return the comparisons that the caller names, else those of the study."""
    if named_comparisons is not None:
        return named_comparisons
    sources = evidence.sources.get(task)
    return NamedComparisons() if sources is None else wanted_by_study(sources.protocol)


def _named_by_study(
    evidence: ScoreSources,
    asked: Mapping[str, NamedComparisons],
    variants: Mapping[str, Sequence[ScoredMeasure]],
    notes: list[str],
) -> dict[str, NamedComparisons]:
    """Return the comparisons of the study by task; note those that nothing scores."""
    named: dict[str, NamedComparisons] = {}
    for task, of_task in variants.items():
        sources = evidence.sources.get(task)
        if sources is None:
            named[task] = NamedComparisons()
            continue
        path = str(Path(evidence.place).with_name(STUDY_FILE))
        named[task], missing = resolved(asked[task], of_task, task=task, kind=sources.kind, place=path)
        notes += missing
    return named


def _compared(
    task: JudgedTask,
    measured: TaskScores,
    named_comparisons: NamedComparisons | None,
    verdicts: pd.DataFrame,
    evidence: ScoreSources,
    rng: np.random.Generator,
    *,
    ordinal: bool,
) -> _TaskResult:
    """Compare the measures of one task with its preferences, and with each other; the judges too."""
    rows, differences = task_agreement(task, measured.variants, exclusions="applied")
    texts = shown_texts(task, evidence.sources.get(task.task), evidence.tables.get("media"))
    judges, left_out = _judges(task, verdicts, measured.variants, differences, evidence, texts)
    notes = [*left_out, *_notes(task, measured.variants, differences)]
    comparisons: list[Row] = []
    disagreements: list[Row] = []
    if measured.variants and named_comparisons is not None:
        constant = [measure for measure, difference in differences.items() if not difference.any()]
        made = couples(named_comparisons, measured.variants, constant=constant)
        comparisons = comparison_rows(
            task, made, differences, rng, leading_ties(pd.DataFrame(rows)), ordinal=ordinal
        )
        looked_at = named_comparisons.primary[0] if named_comparisons.primary else _highest(rows)
        disagreements = disagreement_rows(task, looked_at, differences[looked_at], texts)
        notes += _in_same_order(task, made, differences)
    give_back_memory(len(task.judgments))  # what the comparisons took
    return _TaskResult(
        agreement=rows,
        comparisons=comparisons,
        curve=[row for sweep in measured.sweeps for row in sweep_rows(task, sweep, rng=rng)],
        pairs=pair_rows(task, differences),
        disagreements=disagreements,
        notes=[f"{task.task}: {note}" for note in notes],
        known=_known(task, measured.variants, evidence, differences),
        judges=judges,
    )


def _on_lengths(evidence: ScoreSources) -> list[str]:
    """Return a note if lengths are of no use; refuse those of several metrics."""
    if evidence.lengths is None:
        return []
    metrics = evidence.lengths["metric"].unique().tolist()
    if len(metrics) > 1:
        raise input_fault(
            f"{len(metrics)} metrics ({join_names(metrics)}), and a side has one length",
            path="lengths",
            cure="keep the rows of one metric",
        )
    if evidence.verdicts is None or evidence.verdicts.empty:
        return ["lengths are not used: the tables have no verdicts of a judge"]
    return []


def _verdicts(task: str, evidence: ScoreSources) -> pd.DataFrame:
    """Return the verdicts of judges on a task."""
    verdicts = evidence.verdicts
    return pd.DataFrame() if verdicts is None else verdicts[verdicts["task"] == task]


def _judges(
    task: JudgedTask,
    verdicts: pd.DataFrame,
    variants: Sequence[ScoredMeasure],
    differences: Mapping[str, Floats],
    evidence: ScoreSources,
    texts: ShownTexts,
) -> tuple[JudgeTables, list[str]]:
    """Hold the judges of a task against its people."""
    if verdicts.empty:
        return JudgeTables(), []
    media = evidence.tables.get("media")
    lengths = None
    if evidence.lengths is not None:
        lengths = evidence.lengths.set_index(["topic", "run"])["value"]
    elif media is None or not (media["task"] == task.task).any():
        lengths = texts.lengths(judged_summaries(task))
    longer = None if lengths is None else length_differences(task, lengths)
    notes = []
    if evidence.lengths is not None and longer is not None and not np.isfinite(longer).any():
        notes = ["no judged side has a length, so a preference for longer sides is not reported"]
    tables, left_out = judge_tables(
        task, verdicts, variants=variants, differences=differences, lengths=longer
    )
    return tables, [*notes, *left_out]


def _highest(rows: Sequence[Row]) -> str:
    """Return the measure of highest agreement by the leading convention.

    Measures fitted in sample are left out where there are others.
    """
    frame = pd.DataFrame(rows)
    leading = frame[frame["ties"] == leading_ties(frame)]
    fair = leading[leading["fit"] != ParameterOrigin.IN_SAMPLE]
    among = (fair if len(fair) else leading).fillna({"agreement": -1.0})
    return str(among.loc[among["agreement"].idxmax(), "measure"])


def _notes(
    task: JudgedTask,
    variants: Sequence[ScoredMeasure],
    differences: Mapping[str, Floats],
) -> Iterator[str]:
    """Yield notes on constant measures and lost digits."""
    things = judged_things(task.pairs)[1]
    for measure, difference in differences.items():
        if not difference.any():
            yield f"{measure} scores the {things} of every pair alike, so its agreement cannot be estimated"
    for variant in variants:
        scores = variant.scores.reindex(judged_summaries(task)).fillna(0.0)
        largest, spread = float(scores.abs().max()), float(scores.max() - scores.min())
        if precision(largest) > FINE_ENOUGH * spread and largest >= LARGE_SCORE:
            yield (
                f"{variant.measure} has scores about {largest:.0e} that differ by {spread:.2g} at most; differences below"
                f" {precision(largest):.0e} are lost and count as ties: subtract a constant from all scores"
            )


def _in_same_order(
    task: JudgedTask, made: Sequence[PlannedComparison], differences: Mapping[str, Floats]
) -> Iterator[str]:
    """Yield a note on each group of measures that put all pairs in one order."""
    things = judged_things(task.pairs)[1]
    groups: dict[tuple[float, ...], dict[str, None]] = {}
    for comparison in made:
        against = differences[comparison.against]
        if in_same_order(differences[comparison.measure], against):
            group = groups.setdefault(tuple(np.sign(against)), {})
            group |= dict.fromkeys((comparison.against, comparison.measure))
    for *names, last in groups.values():
        yield (
            f"{', '.join(names)} and {last} put the {things} of every pair in the same order, so they"
            " always agree equally often with people, and are not compared by agreement"
        )


def _with_everybody(everybody: Sequence[JudgedTask], scorers: Mapping[str, Scorer]) -> list[Row]:
    """Return the rows of agreement with the excluded workers counted."""
    return _rows(
        task_agreement(task, variants, exclusions="none")[0]
        for task in everybody
        if (variants := scorers[task.task](task).variants)
    )


def _numeric(agreement: pd.DataFrame) -> pd.DataFrame:
    """Convert columns that may be empty to float."""
    return agreement.astype(dict.fromkeys(("patience_chars", "alpha", "lateness", *DRAW_COLUMNS), "float64"))
