"""From a folder of tables to agreement: how well each measure agrees with the preferences, under which parameters.

Brings the tasks together: `calibration.evidence` scores their systems, `calibration.task_agreement` compares the
scores with the preferences. The columns of the results are listed in docs/agreement.md.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from calibration.evidence import Evidence, TaskMeasures, task_measures
from calibration.judged_task import JudgedTask, has_exclusions, judged_tasks
from calibration.score_files import check_runs
from calibration.task_agreement import curve_rows, task_agreement
from metrics.errors import input_fault


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AgreementTables:
    """What `prefcal agree` writes.

    Attributes
    ----------
    agreement : DataFrame
        One row a task, measure, treatment of exclusions and convention for ties.
    comparisons : DataFrame
        One row a task and measure: its difference from the task's first measure.
    curve : DataFrame
        One row a task, convention and patience; empty without positions.
    pairs : DataFrame
        One row a pair: votes, and the score difference under every measure.
    notes : tuple of str
        What is missing and why, one sentence each.
    """

    agreement: pd.DataFrame
    comparisons: pd.DataFrame
    curve: pd.DataFrame
    pairs: pd.DataFrame
    notes: tuple[str, ...]


def agree(evidence: Evidence, *, complete_only: bool = False, seed: int = 1) -> AgreementTables:
    """Compare every measure that the evidence allows with the preferences.

    Excluded and withdrawn workers and validation repeats do not count. Where leaving out the excluded ones changes
    anything, the agreement stands a second time with them (column ``exclusions``).

    Parameters
    ----------
    evidence : Evidence
        Tables, files, fitted parameters, scores.
    complete_only : bool
        Count only workers who completed the study.
    seed : int
        Decides the splits of the ceiling, the sign flips and the draws of the band.

    Raises
    ------
    InputError
        If there are no preferences, if nothing scores any task, or if the systems judged and the systems scored are
        not the same.
    """
    tasks = _tasks(evidence, exclude=True, complete_only=complete_only)
    if not tasks:
        raise input_fault(
            "no preference counts", path=evidence.place, cure="see which workers are excluded or incomplete"
        )
    if evidence.scores is not None:
        check_runs(evidence.scores, tasks, path=evidence.scores_place)
    every = [task_measures(task, evidence) for task in tasks]
    scored = [measures for measures in every if measures.variants]
    if not scored:
        raise input_fault(
            "nothing scores the systems that were judged",
            path=evidence.place,
            cure="add the table positions (prefcal features), or give --scores",
        )
    rng = np.random.default_rng(seed)
    results = [task_agreement(one.task, one.variants, exclusions="applied", rng=rng) for one in scored]
    rows = [row for result in results for row in result.agreement]
    if has_exclusions(evidence.tables):
        rows += _with_everybody(evidence, rng, complete_only=complete_only)
    return AgreementTables(
        agreement=pd.DataFrame(rows),
        comparisons=pd.DataFrame([row for result in results for row in result.comparisons]),
        curve=pd.DataFrame([row for measures in scored for row in _curve(measures, rng)]),
        pairs=pd.concat([result.pairs for result in results], ignore_index=True),
        notes=tuple(note for measures in every for note in measures.notes),
    )


def _tasks(evidence: Evidence, *, exclude: bool, complete_only: bool) -> list[JudgedTask]:
    if "preferences" not in evidence.tables:
        raise input_fault(
            "there is no table preferences", path=evidence.place, cure="give the tables of a study of pairs"
        )
    return judged_tasks(evidence.tables, exclude=exclude, complete_only=complete_only)


def _with_everybody(
    evidence: Evidence, rng: np.random.Generator, *, complete_only: bool
) -> list[dict[str, object]]:
    """Return the rows of agreement once more, the excluded workers counted."""
    tasks = _tasks(evidence, exclude=False, complete_only=complete_only)
    every = [task_measures(task, evidence) for task in tasks]
    return [
        row
        for measures in every
        if measures.variants
        for row in task_agreement(measures.task, measures.variants, exclusions="none", rng=rng).agreement
    ]


def _curve(measures: TaskMeasures, rng: np.random.Generator) -> list[dict[str, object]]:
    if measures.positions is None:
        return []
    return curve_rows(measures.task, measures.positions, measures.given, measures.default_patience, rng=rng)
