"""Agreement of measures with people, assisted by a judge: the rows of assisted_agreement.csv."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace

import numpy as np
import pandas as pd

from calibration.agree.comparisons import agreement_without_side
from calibration.agree.judged_task import JudgedTask
from calibration.agree.measures.variants import ParameterOrigin, ScoredMeasure
from calibration.agree.result import ComparisonBasis
from calibration.agree.task_agreement import Row, score_differences
from calibration.judges.assist import (
    JudgedPairs,
    PeopleNumber,
    VotesOnPairs,
    equal_weights,
    judge_number,
    judged_pairs_of,
)
from calibration.judges.lot import against_lot
from calibration.judges.verdicts import Verdicts
from calibration.tables.study_json import StudyRecord
from metrics.agreement.agreement import TIES, Ties, pair_credit
from metrics.arrays import Floats
from metrics.errors import input_fault, pluralise


class AssistedAgreement:
    """Agreement of one task's measures, by people's votes and the verdicts of a judge.

    Parameters
    ----------
    task : JudgedTask
        The preferences that count, on p pairs.
    verdicts : DataFrame
        Those of one judge on this task.
    """

    def __init__(self, task: JudgedTask, verdicts: Verdicts) -> None:
        self.task, votes = task, task.votes
        topic = np.zeros(len(task.pairs), dtype=np.intp)
        topic[votes.pair] = votes.crossing.query
        self.pairs: JudgedPairs = judged_pairs_of(task.pairs, topic, verdicts)
        self.votes = VotesOnPairs(votes.crossing, votes.pair, self.pairs)

    def differences(self, scores: "pd.Series[float]") -> tuple[Floats, int]:
        """Return score differences of all pairs, NaN without a score, and how many of the judge's pairs have none."""
        pairs = self.pairs.pairs
        difference = score_differences(replace(self.task, pairs=pairs), scores.to_frame())[:, 0]
        sides = (pd.MultiIndex.from_frame(pairs[["topic", side]]) for side in ("system_a", "system_b"))
        lacks_score = ~np.logical_and.reduce([side.isin(scores.dropna().index) for side in sides])
        lacks_score[: self.pairs.labelled] = False  # as in the agreement of people alone
        return np.where(lacks_score, np.nan, difference), int(lacks_score.sum())

    def credit(self, difference: Floats, ties: Ties) -> Floats:
        """Return the credit of each pair by the judge's verdict, (P,); NaN for a pair that does not count."""
        credit = np.full(len(difference), np.nan)
        known = ~np.isnan(difference + self.pairs.share)
        credit[known] = pair_credit(difference[known], self.pairs.share[known], ties=ties)
        return credit

    def row(self, people: PeopleNumber, credit: Floats, *, least: float = 0.0) -> Row:
        """Return the numbers of a row."""
        counts = ~np.isnan(credit)
        labelled = equal_weights(counts[: self.pairs.labelled])
        judge = judge_number(credit, labelled, equal_weights(counts), self.pairs.topic)
        return asdict(self.votes.assisted(people, judge, ends=(least, 1.0))) | self.votes.counts


def assisted_rows(
    task: JudgedTask,
    variants: Sequence[ScoredMeasure],
    comparisons: pd.DataFrame,
    verdicts: Verdicts,
    study: StudyRecord | None = None,
) -> tuple[list[Row], list[str]]:
    """Return the assisted agreement of every measure, and of every comparison that was made.

    Parameters
    ----------
    task : JudgedTask
        The preferences that count.
    variants : sequence of ScoredMeasure
        The measures; those fitted to the same votes have no row.
    comparisons : DataFrame
        Rows of comparisons.csv; of this task are used those by majorities and by weighted votes.
    verdicts : DataFrame
        Those of one judge.
    study : StudyRecord, optional
        study.json of the tables.

    Raises
    ------
    InputError
        If the judge can assist nothing.
    """
    verdicts = verdicts[verdicts["task"] == task.task]
    judge = AssistedAgreement(task, verdicts)
    if reason := judge.pairs.why_useless:
        raise input_fault(
            f"{task.task}: {reason}", cure="let the judge judge all pairs, also those without votes"
        )
    fair = [variant for variant in variants if variant.fit is not ParameterOrigin.IN_SAMPLE]
    scored = {variant.measure: judge.differences(variant.scores) for variant in fair}
    differences = {measure: difference for measure, (difference, _) in scored.items()}
    head = {"task": task.task, "judge": str(verdicts["judge"].iloc[0])}
    rows = [head | row for row in (*_of_each(judge, differences), *_of_two(judge, differences, comparisons))]
    notes = [judge.votes.note(), *against_lot(task.task, judge.pairs, study)]
    unscored = max((number for _, number in scored.values()), default=0)
    if unscored:
        notes.append(f"{pluralise(unscored, 'pair')} of the judge lack a score and assist nothing")
    return rows, [f"{task.task}: {note}" for note in notes if note]


def _of_each(judge: AssistedAgreement, differences: dict[str, Floats]) -> Iterator[Row]:
    votes, p = judge.task.votes, judge.pairs.labelled
    for measure, difference in differences.items():
        for ties in TIES:
            credit = pair_credit(difference[:p], votes.share, ties=ties)
            if np.isnan(credit).all():
                continue
            people = PeopleNumber(
                float(np.nanmean(credit)),
                votes.influence(difference[:p], ties),
                votes.weight_of(difference[:p], ties),
            )
            yield {"measure": measure, "against": "", "ties": ties} | judge.row(
                people, judge.credit(difference, ties)
            )


def _of_two(
    judge: AssistedAgreement, differences: dict[str, Floats], comparisons: pd.DataFrame
) -> Iterator[Row]:
    task, p = judge.task, judge.pairs.labelled
    is_own = (comparisons["task"] == task.task) & comparisons["by"].isin(
        [ComparisonBasis.MAJORITY, ComparisonBasis.WEIGHTED]
    )
    made = comparisons[is_own & comparisons["difference"].notna()]
    for measure, against, ties in made[["measure", "against", "ties"]].itertuples(index=False):
        if not {measure, against} <= set(differences):
            continue
        both = [differences[name] for name in (measure, against)]
        (first, influence), (second, other) = (agreement_without_side(task, each[:p], ties) for each in both)
        people = PeopleNumber(first.value - second.value, influence - other, task.votes.weight)
        one, two = (judge.credit(each, ties) for each in both)
        row = judge.row(people, one - two, least=-1.0)
        yield {"measure": measure, "against": against, "ties": ties} | row
