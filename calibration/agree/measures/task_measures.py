"""Everything that scores the systems of one task: the measures of its kind, and scores from elsewhere."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from calibration.agree.evidence import Evidence, FixedScorer, Measured, Scorer, scores_of_task
from calibration.agree.judged_task import JudgedTask
from calibration.agree.measures.kinds import KINDS
from calibration.agree.measures.names import measure_called, printed_name
from calibration.agree.measures.variants import Fit, Role, Variant
from metrics.registry import Measure

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
        return f"prefcal has no measures for tasks of kind {kind}; yours can be given with --scores"


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
