"""Judges that are no people beside the people of a task, as tables, and beside the measures on one axis.

The axis is how often each agrees with one person's vote on a pair, a tie counting half: the only question that a judge, a measure, one more
person, a second panel and a measure that knew what most people prefer can all be asked. All of it is of the same pairs: those that
two people or more and every judge judged.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from calibration.agree.judged_task import JudgedTask, why_no_ceiling
from calibration.agree.measures.variants import ParameterOrigin, ScoredMeasure
from calibration.judges.beside_people import Estimate, PeoplesVotes, agreement_with, two_people
from calibration.judges.numbers import (
    AXIS,
    JUDGE,
    MEASURE,
    NUMBERS,
    PANEL,
    PEOPLE,
    PERFECT,
    PERSON,
    TOPICS,
    JudgeTables,
    judge_row,
)
from metrics.agreement.ceiling import ceiling_of_people
from metrics.arrays import Bools, Floats
from metrics.errors import pluralise


def judge_tables(
    task: JudgedTask,
    verdicts: pd.DataFrame,
    *,
    variants: Sequence[ScoredMeasure],
    differences: Mapping[str, Floats],
    lengths: Floats | None,
) -> tuple[JudgeTables, list[str]]:
    """Hold every judge of a task against its people.

    Parameters
    ----------
    task : JudgedTask
        The preferences that count, on p pairs.
    verdicts : DataFrame
        Those of all judges on this task (`calibration.judges.verdicts`).
    variants : sequence of ScoredMeasure
        The measures; those that were fitted to the same votes do not stand on the axis.
    differences : mapping of str to (p,) ndarray of float
        Measure -> score differences.
    lengths : (p,) ndarray of float or None
        Length of system_a's side less that of system_b's.

    Returns
    -------
    tables : JudgeTables
        Of this task.
    notes : list of str
        A sentence on the verdicts of each judge that are left out, or of one order only.
    """
    people = PeoplesVotes(task.pairs, task.votes)
    numbers, topics, persons = [], [], []
    notes: list[str] = []
    leads: dict[str, Floats] = {}
    for judge, rows in verdicts.groupby("judge", sort=False, observed=True):
        beside = people.beside(rows, lengths)
        head = {"task": task.task, "judge": str(judge)}
        numbers.append(judge_row(task.task, str(judge), beside, rows))
        topics.append(beside.by_topic.assign(**head)[list(TOPICS)])
        if beside.people is not None:
            names = _names(task, beside.verdicts.is_judged & people.panel[1])
            table = beside.people.table.assign(worker=names, **head)
            persons.append(table[list(PEOPLE)])
        leads[str(judge)] = beside.verdicts.first
        notes += _notes(str(judge), beside.verdicts.answers, len(rows), beside.verdicts.in_one_order)
    fair = {
        one.measure: differences[one.measure] for one in variants if one.fit is not ParameterOrigin.IN_SAMPLE
    }
    axis = list(_axis_rows(task, people, leads, fair))
    return (
        JudgeTables(
            numbers=pd.DataFrame(numbers, columns=list(NUMBERS)),
            topics=pd.concat(topics, ignore_index=True),
            people=pd.concat(persons, ignore_index=True) if persons else JudgeTables().people,
            axis=pd.DataFrame(axis, columns=list(AXIS)),
        ),
        notes,
    )


def _names(task: JudgedTask, is_kept: Bools) -> list[str]:
    """Return the workers who judged some of the pairs, in the order of their numbers."""
    code, names = pd.factorize(task.judgments["worker"], sort=True)
    return [str(names[each]) for each in np.unique(code[is_kept[task.votes.pair]])]


def _notes(judge: str, counted: int, given: int, in_one_order: int) -> Iterator[str]:
    if given > counted:
        yield (
            f"{judge}: {given - counted:,} of {pluralise(given, 'answer')} are on pairs without a vote of people that counts, and left out"
        )
    if in_one_order:
        yield f"{judge}: {pluralise(in_one_order, 'verdict')} in one order only, since the other order was not asked or has no usable answer; taken as given"


def _axis_rows(
    task: JudgedTask,
    people: PeoplesVotes,
    leads: Mapping[str, Floats],
    differences: Mapping[str, Floats],
) -> Iterator[dict[str, Any]]:
    """Yield what stands on the axis; nothing without pairs in common."""
    is_there = people.panel[1]
    judged = np.all([~np.isnan(lead) for lead in leads.values()], axis=0)
    common = judged & is_there
    if not common.any():
        return
    panel = people.on(judged, there=True)

    def row(kind: str, name: str, estimate: Estimate) -> dict[str, Any]:
        value, low, high, _ = estimate
        return dict(zip(AXIS, (task.task, kind, name, value, low, high, int(common.sum())), strict=True))

    for kind, rated in ((JUDGE, leads), (MEASURE, differences)):
        for name, lead in rated.items():
            yield row(kind, name, agreement_with(panel, lead[common], "weighted"))
    yield row(PERSON, "one more person", two_people(panel)[0])
    limits = task.ceiling if (common == is_there).all() else ceiling_of_people(panel)
    decided, topics = int((panel.share != 0.5).sum()), panel.crossing.queries
    if not why_no_ceiling(decided=decided, voted_twice=int(common.sum()), queries=topics):
        for kind, name, limit in (
            (PANEL, "a second panel", limits.panel["weighted"]),
            (PERFECT, "a perfect measure", limits.perfect["weighted"]),
        ):
            yield row(kind, name, Estimate(limit.value, *limit.interval()))
