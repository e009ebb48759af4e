"""From a folder of tables to agreement: how well each measure agrees with the preferences, under which parameters.

The systems of a task are scored by the measures of its kind, and by scores from elsewhere; `calibration.agree.task_agreement` compares the
scores with the preferences, `calibration.agree.comparisons` the measures with each other. The columns of the results are listed
in docs/agreement.md.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from calibration.agree.comparisons import COLUMNS as COMPARISON_COLUMNS
from calibration.agree.comparisons import Couple, comparison_rows, couples, in_same_order
from calibration.agree.evidence import (
    Evidence,
    FixedScorer,
    Measured,
    Scorer,
    check_runs,
    judged_summaries,
    scores_of_task,
    with_system_names,
)
from calibration.agree.judged_task import (
    JudgedTask,
    diagnostics,
    has_exclusions,
    judged_tasks,
    names_in_two_cases,
    same_people,
    wide_tastes,
)
from calibration.agree.measures.kinds import KINDS
from calibration.agree.measures.names import measure_called, printed_name, resolved, resolved_for_all
from calibration.agree.measures.variants import Fit, Role, Variant
from calibration.agree.result import AgreementTables, Wanted, judged_things, leading_ties, wanted_by_study
from calibration.agree.task_agreement import (
    COLUMNS,
    CURVE_COLUMNS,
    DRAW_COLUMNS,
    Row,
    constant_measures,
    disagreement_rows,
    pair_rows,
    score_differences,
    shown_texts,
    sweep_rows,
    task_agreement,
)
from calibration.checks.adaptive_stopping import adaptive_stopping
from calibration.checks.same_answers import SameAnswersOption, one_cluster, same_votes
from calibration.raters.consistency import judge_kinds, note_on_camp, note_on_clickers
from calibration.tables.study import STUDY_FILE
from calibration.user_model.model import Diagnostic
from metrics.agreement.agreement import agreement, precision
from metrics.arrays import Floats
from metrics.errors import input_fault, listed
from metrics.registry import Measure

FINE_ENOUGH, LARGE_SCORE = 1e-3, 1e6
"""Share of the spread of scores that may be lost without a word, and scores below which nothing is."""
SCORES_MARK = "from scores"
"""Stands behind the name of a measure from elsewhere that is called like one of ours."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TaskScorer:
    """What scores one task: files are read and systems scored once, see `calibration.agree.evidence.Scorer`."""

    evidence: Evidence
    own: Scorer

    def measured(self, task: JudgedTask) -> Measured:
        """Return every measure that the evidence allows.

        Raises
        ------
        InputError
            If a score is missing.
        """
        found = self.own.measured(task)
        elsewhere, left_out = _from_elsewhere(task, self.evidence, {one.measure for one in found.variants})
        notes = (*found.notes, *left_out)
        if not (found.variants or elsewhere or notes):
            notes = (f"{task.task}: {self._unscored(task)}",)
        return Measured(variants=(*found.variants, *elsewhere), sweeps=found.sweeps, notes=notes)

    def _unscored(self, task: JudgedTask) -> str:
        """Say why nothing scores a task."""
        kind = task_kind(task.task, self.evidence)
        if kind in KINDS:
            return "nothing scores its systems"
        return f"prefcal has no measures for tasks of kind {kind}; yours can be given with {self.evidence.arguments.scores}"


def task_scorer(task: JudgedTask, evidence: Evidence, names: Iterable[str] = ()) -> TaskScorer:
    """Read what scores the systems of a task.

    Parameters
    ----------
    task : JudgedTask
        The preferences that count.
    evidence : Evidence
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
    own = KINDS[kind].scorer(task, evidence, named) if kind in KINDS else FixedScorer(found=Measured())
    return TaskScorer(evidence=evidence, own=own)


def task_kind(task: str, evidence: Evidence) -> str:
    """Return what was judged: as study.json says, else as the tables do."""
    if task in evidence.sources:
        return evidence.sources[task].kind
    return "stream_pairs" if evidence.of_task("push_cells", task) is not None else "summary_pairs"


def _measures_called(names: Iterable[str], kind: str, evidence: Evidence) -> dict[str, Measure]:
    """Return printed name -> measure, of the names that are measures and have no scores from elsewhere."""
    elsewhere = set() if evidence.scores is None else set(evidence.scores["metric"])
    measures = [measure_called(name, kind) for name in names if name not in elsewhere]
    return {printed_name(one, kind): one for one in measures if one is not None}


def _from_elsewhere(
    task: JudgedTask, evidence: Evidence, taken: Collection[str]
) -> tuple[tuple[Variant, ...], list[str]]:
    """Return the measures of --scores, one that is called like one of ours saying where it is from; and what is left out."""
    if evidence.scores is None:
        return (), []
    found, left_out = scores_of_task(evidence.scores, task, path=evidence.scores_place)
    variants = tuple(
        Variant(
            measure=f"{metric} ({SCORES_MARK})" if metric in taken else metric,
            family="scores",
            role=Role.SCORES,
            fit=Fit.NONE,
            scores=scores,
        )
        for metric, scores in found.items()
    )
    return variants, left_out


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Scored:
    """A task with its measures."""

    task: JudgedTask
    measured: Measured


class _Result(NamedTuple):
    """The rows of one task for each table."""

    agreement: list[Row]
    comparisons: list[Row]
    curve: list[Row]
    pairs: pd.DataFrame
    disagreements: list[Row]
    notes: list[str]
    known: tuple[Diagnostic, ...]


def agree(
    evidence: Evidence,
    *,
    wanted: Wanted | None = None,
    measures: Sequence[str] = (),
    complete_only: bool = False,
    same_answers: SameAnswersOption = "apart",
    seed: int = 1,
) -> AgreementTables:
    """Compare every measure that the evidence allows with the preferences.

    Excluded and withdrawn workers and validation repeats do not count. Where leaving out the excluded ones changes
    anything, the agreement stands a second time with them (column ``exclusions``).

    Parameters
    ----------
    evidence : Evidence
        Tables, files, fitted parameters, scores.
    wanted : Wanted, optional
        Which measures to compare, instead of what the study names.
    measures : sequence of str
        Names of measures to add to the table of every task that has them.
    complete_only : bool
        Count only workers who completed the study.
    same_answers : {'apart', 'one-cluster'}
        Workers who give the same answers count apart, or each group of them as one person; they are named either way.
    seed : int
        Decides the sign flips and the draws of the band.

    Raises
    ------
    InputError
        If there are no preferences, if nothing scores any task, if the systems judged and the systems scored are not the
        same, or a measure that is named is unknown.
    """
    same = (
        same_votes(evidence.tables, complete_only=complete_only) if "preferences" in evidence.tables else ()
    )
    if same_answers == "one-cluster":
        evidence = replace(evidence, tables=one_cluster(evidence.tables, same))
    copies = tuple(each.finding(as_one=same_answers == "one-cluster").diagnostic for each in same)
    tasks = _tasks(evidence, exclude=True, complete_only=complete_only)
    if not tasks and evidence.tables["preferences"].empty:
        raise input_fault("the table has no rows", path=evidence.place, cure="see whether anybody has judged")
    if not tasks:
        raise input_fault(
            "no preference counts", path=evidence.place, cure="see which workers are excluded or incomplete"
        )
    notes = names_in_two_cases(tasks)
    if evidence.scores is not None:
        evidence = replace(evidence, scores=with_system_names(evidence.scores, tasks))
        notes += check_runs(evidence.scores, tasks, path=evidence.scores_place)
    with_excluded = has_exclusions(evidence.tables)
    everybody = _tasks(evidence, exclude=False, complete_only=complete_only) if with_excluded else tasks
    asked = {task.task: _asked(task.task, evidence, wanted) for task in everybody}
    scorers = {
        task.task: task_scorer(task, evidence, (*asked[task.task].names, *measures)) for task in everybody
    }
    every = [_Scored(task=task, measured=scorers[task.task].measured(task)) for task in tasks]
    scored = [one for one in every if one.measured.variants]
    missing = [note for one in every for note in one.measured.notes]
    notes += missing
    if not scored:
        words = evidence.arguments
        raise input_fault(
            f"nothing scores the systems that were judged ({'; '.join(missing)})",
            cure=f"{words.files}, add table positions or push_cells (prefcal features), or give {words.scores}; "
            f"{words.rank} says without any which system people prefer",
        )
    _check_added(measures, evidence, scored)
    named = _named(evidence, scored, wanted, notes)
    rng = np.random.default_rng(seed)
    results = [_result(one, named[one.task.task], evidence, rng) for one in scored]
    notes += [note for result in results for note in result.notes]
    stopping = adaptive_stopping(evidence.tables, complete_only=complete_only)
    rows = [row for result in results for row in result.agreement]
    if with_excluded:
        rows += _with_everybody(everybody, scorers)
    return AgreementTables(
        agreement=_numeric(pd.DataFrame(rows)),
        comparisons=pd.DataFrame(
            [row for result in results for row in result.comparisons], columns=pd.Index(COMPARISON_COLUMNS)
        ),
        curve=pd.DataFrame(
            [row for result in results for row in result.curve], columns=pd.Index(CURVE_COLUMNS)
        ),
        pairs=pd.concat([result.pairs for result in results], ignore_index=True),
        disagreements=pd.DataFrame(
            [row for result in results for row in result.disagreements], columns=pd.Index(COLUMNS)
        ),
        wanted=named,
        notes=(*notes, *filter(None, [evidence.looks])),
        diagnostics={
            one.task.task: (
                *result.known,
                *copies,
                *(found.diagnostic for task, found in stopping.items() if task == one.task.task),
            )
            for one, result in zip(scored, results, strict=True)
        },
    )


def _tasks(evidence: Evidence, *, exclude: bool, complete_only: bool) -> list[JudgedTask]:
    if "preferences" not in evidence.tables:
        raise input_fault(
            f"there is no table preferences in {Path(evidence.place).parent}, so there is nothing to agree with"
            f" (only {listed(evidence.tables) or 'nothing'})",
            cure="only tasks of pairs have agreement; what visits and votes tell, prefcal fit takes",
        )
    return judged_tasks(
        evidence.tables, exclude=exclude, complete_only=complete_only, drew_sides=evidence.drew_sides
    )


def _known(scored: _Scored, evidence: Evidence, differences: Mapping[str, Floats]) -> tuple[Diagnostic, ...]:
    """Return what to know of the judgments of a task, and of the people whom its measures were fitted to."""
    votes = scored.task.votes
    crossing = votes.crossing
    judges = set(scored.task.judgments["worker"].unique())
    fitted_to = evidence.tables if evidence.model is not None and evidence.same_tables else {}
    kinds = judge_kinds(scored.task.judgments)
    camp = [] if kinds is None or kinds.camp is None else list(kinds.judges[kinds.camp.is_one])
    return (
        *diagnostics(scored.task),
        *([note_on_clickers(kinds.careless)] if kinds and kinds.careless else []),
        *([note_on_camp(kinds.camp, _without_people(scored, camp))] if kinds and kinds.camp else []),
        *wide_tastes(votes, differences),
        *same_people(scored.measured.variants, judges, crossing, fitted_to),
    )


def _without_people(scored: _Scored, people: Collection[str]) -> str:
    """Say what the first measures agree without some people, the votes that most of a pair's other people have deciding."""
    (task,) = judged_tasks({"preferences": _as_rows(scored.task, without=people)}) or (None,)
    if task is None:
        return ""
    said = []
    for variant in scored.measured.variants[:3]:
        both = [
            agreement(
                score_differences(one, variant.scores.to_frame())[:, 0], one.share, one.topics, ties="half"
            ).value
            for one in (task, scored.task)
        ]
        said.append(f"{variant.measure} {both[0]:.1%} for {both[1]:.1%}")
    return f"Without them, agreement with a tie as half: {', '.join(said)}."


def _as_rows(task: JudgedTask, *, without: Collection[str]) -> pd.DataFrame:
    """Return the judgments of a task without some people as rows of table preferences, system_a on the left."""
    kept = task.judgments[~task.judgments["worker"].astype("str").isin(without)]
    sides = {"votes_a": "left", "votes_b": "right"}
    return pd.DataFrame(
        {
            **{name: kept[name].astype("str") for name in ("worker", "task", "topic", "pair")},
            "system_left": kept["system_a"].astype("str"),
            "system_right": kept["system_b"].astype("str"),
            "choice": kept["vote"].astype("str").replace(sides),
            "decision_seconds": kept["decision_seconds"],
            "language": task.language,
            "validation_of": None,
        }
    )


def _asked(task: str, evidence: Evidence, wanted: Wanted | None) -> Wanted:
    """Return what is named for a task: by the caller, else by the study."""
    if wanted is not None:
        return wanted
    sources = evidence.sources.get(task)
    return Wanted() if sources is None else wanted_by_study(sources.protocol)


def _check_added(measures: Sequence[str], evidence: Evidence, scored: Sequence[_Scored]) -> None:
    """Raise `InputError` unless every measure that the caller adds scores a task."""
    variants = {one.task.task: one.measured.variants for one in scored}
    kinds = {task: task_kind(task, evidence) for task in variants}
    words = evidence.arguments
    resolved_for_all(Wanted(compare=tuple(measures)), variants, kinds, arguments=words, options=words.added)


def _named(
    evidence: Evidence, scored: Sequence[_Scored], wanted: Wanted | None, notes: list[str]
) -> dict[str, Wanted]:
    """Return which comparisons are named for each task: by the caller, else by the study."""
    if wanted is not None:
        wanted = replace(wanted, at_analysis=True)
        variants = {one.task.task: one.measured.variants for one in scored}
        kinds = {task: task_kind(task, evidence) for task in variants}
        return resolved_for_all(wanted, variants, kinds, arguments=evidence.arguments)
    named: dict[str, Wanted] = {}
    for one in scored:
        task = one.task.task
        sources = evidence.sources.get(task)
        if sources is None:
            named[task] = Wanted()
            continue
        named[task], missing = resolved(
            _asked(task, evidence, None),
            one.measured.variants,
            task=task,
            kind=sources.kind,
            place=str(Path(evidence.place).with_name(STUDY_FILE)),
        )
        notes += missing
    return named


def _result(scored: _Scored, wanted: Wanted, evidence: Evidence, rng: np.random.Generator) -> _Result:
    """Compare the measures of one task with its preferences, and with each other."""
    task, measured = scored.task, scored.measured
    found = task_agreement(task, measured.variants, exclusions="applied")
    constant = constant_measures(found.differences)
    looked_at = wanted.primary[0] if wanted.primary else _highest(found.rows)
    made = couples(wanted, measured.variants, constant=constant)
    texts = shown_texts(task, evidence.sources.get(task.task), evidence.tables.get("media"))
    return _Result(
        agreement=found.rows,
        comparisons=comparison_rows(
            task, made, found.differences, rng, leading_ties(pd.DataFrame(found.rows))
        ),
        curve=[row for sweep in measured.sweeps for row in sweep_rows(task, sweep, rng=rng)],
        pairs=pair_rows(task, found.differences),
        disagreements=disagreement_rows(task, looked_at, found.differences[looked_at], texts),
        notes=[
            *(
                f"{task.task}: {measure} scores the {judged_things(task.pairs)[1]} of every pair alike, so nothing can be said of it"
                for measure in constant
            ),
            *_same_orders(task, made, found.differences),
            *_lost_precision(task, measured.variants),
        ],
        known=_known(scored, evidence, found.differences),
    )


def _highest(rows: Sequence[Row]) -> str:
    """Return the measure of highest agreement by the leading convention, those fitted in sample left out where there are others."""
    frame = pd.DataFrame(rows)
    leading = frame[frame["ties"] == leading_ties(frame)]
    fair = leading[leading["fit"] != Fit.IN_SAMPLE]
    among = (fair if len(fair) else leading).fillna({"agreement": -1.0})
    return str(among.loc[among["agreement"].idxmax(), "measure"])


def _same_orders(
    task: JudgedTask, made: Sequence[Couple], differences: Mapping[str, Floats]
) -> Iterator[str]:
    """Yield a sentence for every two measures that cannot differ."""
    for one in made:
        if in_same_order(differences[one.measure], differences[one.against]):
            yield (
                f"{task.task}: {one.against} and {one.measure} put the {judged_things(task.pairs)[1]} of every pair in the same order, so they"
                " agree with people alike, whatever people prefer, and are not compared by agreement"
            )


def _lost_precision(task: JudgedTask, variants: Sequence[Variant]) -> Iterator[str]:
    """Yield a sentence for every measure whose scores are so large that numbers in a computer hardly tell them apart."""
    for variant in variants:
        scores = variant.scores.reindex(judged_summaries(task)).fillna(0.0)
        largest, spread = float(scores.abs().max()), float(scores.max() - scores.min())
        if precision(largest) > FINE_ENOUGH * spread and largest >= LARGE_SCORE:
            yield (
                f"{task.task}: {variant.measure} has scores about {largest:.0e} that differ by {spread:.2g} at most; differences below"
                f" {precision(largest):.0e} are lost and count as ties: subtract from all scores what they have in common"
            )


def _with_everybody(everybody: Sequence[JudgedTask], scorers: Mapping[str, TaskScorer]) -> list[Row]:
    """Return the rows of agreement once more, the excluded workers counted."""
    return [
        row
        for task in everybody
        if (variants := scorers[task.task].measured(task).variants)
        for row in task_agreement(task, variants, exclusions="none").rows
    ]


def _numeric(agreement: pd.DataFrame) -> pd.DataFrame:
    """Make numbers of the columns that are empty for some measures or all."""
    return agreement.astype(dict.fromkeys(("patience_chars", "alpha", "lateness", *DRAW_COLUMNS), "float64"))
