"""The agreement of measures with the preferences of one task, as rows of the published tables.

`calibration.agree.study` brings the tasks together; the columns are listed in docs/agreement.md.

The interval of the vote-weighted agreement is over queries and over workers at once. Without a majority step the
agreement is a mean over votes, and both the queries and the people are samples. With V_c the cluster-robust variance over
clusters c,

    V = V_query + V_worker - V_both,    at least V_query,

where the clusters of V_both share query and worker (Cameron, Gelbach and Miller 2011). Student's t has min(queries,
workers) - 1 degrees of freedom. Where every worker judges one query it is the interval over queries alone. A majority
is no mean over votes, and workers are not resampled there: that would break majorities.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from calibration.agree.judged_task import WORTH, JudgedTask
from calibration.agree.measures.variants import Sweep, Variant
from metrics.agreement.agreement import (
    TIES,
    Agreement,
    Ties,
    agreement,
    agreements,
    pair_credit,
    score_difference,
)
from metrics.agreement.ceiling import Ceiling
from metrics.agreement.query_mean import simultaneous_band
from metrics.arrays import Floats, Ints

NOTHING = 1e-24
"""Variances below are rounding errors."""
Row = dict[str, Any]
Interval: TypeAlias = tuple[float, float]
CURVE_COLUMNS = (
    "task",
    "measure",
    "converted",
    "over",
    "value",
    "ties",
    "agreement",
    "low",
    "high",
    "band_low",
    "band_high",
    "metric_ties",
)
CEILING_COLUMNS = (
    "ceiling",
    "ceiling_low",
    "ceiling_high",
    "perfect",
    "perfect_low",
    "perfect_high",
)
DRAW_COLUMNS = ("draws", "draw_low", "draw_high", "draw_sd")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class VotesByPerson:
    """The votes on one task's p pairs with what they are samples of; one entry a judgment.

    Attributes
    ----------
    share : (p,) ndarray of float
        Vote share of system_a in every pair.
    pair, query, worker, both : (n,) ndarray of int
        Codes from 0 without holes; ``both`` is one of a query and worker.
    for_a : (n,) ndarray of float
        What the judgment adds to the share of system_a: 0, 0.5 or 1.
    weight : (n,) ndarray of float
        Its part in the mean over pairs.
    """

    share: Floats
    pair: Ints
    query: Ints
    worker: Ints
    both: Ints
    for_a: Floats
    weight: Floats

    def interval(self, difference: Floats, level: float = 0.95) -> tuple[float, float]:
        """Return the interval of the vote-weighted agreement of one measure.

        Parameters
        ----------
        difference : (p,) ndarray of float
            Score of system_a less that of system_b.
        level : float
            Confidence level.

        Returns
        -------
        (float, float)
            Cut at 0 and 1; of a single worker over queries alone; NaN for a single query, or without variation.
        """
        value = float(pair_credit(difference, self.share, ties="weighted").mean())
        reach = self.reach(difference, level)
        return (max(0.0, value - reach), min(1.0, value + reach)) if reach > 0 else (math.nan, math.nan)

    def reach(self, difference: Floats, level: float = 0.95) -> float:
        """Return half the width of the interval, uncut; NaN where there is none. Parameters as there."""
        value = pair_credit(difference, self.share, ties="weighted").mean()
        credit = 0.5 + np.sign(difference)[self.pair] * (self.for_a - 0.5)
        influence = (credit - value) * self.weight
        by_query, by_worker, by_both = (
            _variance(influence, code) for code in (self.query, self.worker, self.both)
        )
        error = math.sqrt(max(by_query, by_query + by_worker - by_both))
        units = min(self.query.max(), self.worker.max() or self.query.max()) + 1
        return float(stdtrit(units - 1, (1 + level) / 2)) * error if units > 1 and error > 0 else math.nan


def votes_by_person(task: JudgedTask) -> VotesByPerson:
    """Return the votes of a task, ready for the intervals of all its measures."""
    pairs, judged = task.pairs, task.judgments
    couple = ["topic", "system_a", "system_b"]
    number = pd.Series(np.arange(len(pairs)), index=pd.MultiIndex.from_frame(pairs[couple]))
    pair = number.loc[pd.MultiIndex.from_frame(judged[couple])].to_numpy(np.intp)
    query, worker = (pd.factorize(judged[name])[0] for name in ("topic", "worker"))
    return VotesByPerson(
        share=task.share,
        pair=pair,
        query=query,
        worker=worker,
        both=np.unique(query * (worker.max() + 1) + worker, return_inverse=True)[1],
        for_a=judged["vote"].map(WORTH).to_numpy(np.float64),
        weight=1 / (pairs["votes"].to_numpy(np.float64)[pair] * len(pairs)),
    )


def _variance(influence: Floats, cluster: Ints) -> float:
    """Return c / (c - 1) sum over the c clusters of (their influence)^2; 0 for a single one."""
    sums = np.bincount(cluster, influence)
    if sums.size < 2:
        return 0.0
    variance = float(sums.size / (sums.size - 1) * (sums**2).sum())
    return variance if variance > NOTHING else 0.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TaskAgreement:
    """The agreement of every variant with the preferences of one task.

    Attributes
    ----------
    rows : list of dict
        One row a variant and convention for ties, for agreement.csv.
    differences : dict of str to (pairs,) ndarray of float
        Measure -> score of system_a less that of system_b.
    """

    rows: list[Row]
    differences: dict[str, Floats]


def task_agreement(task: JudgedTask, variants: Sequence[Variant], *, exclusions: str) -> TaskAgreement:
    """Compare every variant with the preferences of one task.

    Parameters
    ----------
    task : JudgedTask
        The preferences that count.
    variants : sequence of Variant
        Of different names.
    exclusions : str
        ``applied`` or ``none``, for the column of that name.
    """
    differences = {
        variant.measure: score_differences(task, variant.scores.to_frame())[:, 0] for variant in variants
    }
    judges = _Judges(
        votes=votes_by_person(task),
        ceiling=task.ceiling(),
        no_ceiling=task.no_ceiling,
        exclusions=exclusions,
    )
    rows = [
        row
        for variant in variants
        for row in _agreement_rows(task, variant, differences[variant.measure], judges)
    ]
    return TaskAgreement(rows=rows, differences=differences)


def sweep_rows(task: JudgedTask, sweep: Sweep, *, rng: np.random.Generator) -> list[Row]:
    """Return the agreement of a measure at every value of a parameter, with a band that holds the whole curve.

    Parameters
    ----------
    task : JudgedTask
        The preferences that count.
    sweep : Sweep
        The scores.
    rng : Generator
        Source of the draws of the band.

    Returns
    -------
    list of dict
        One row a convention for ties and value.
    """
    differences, votes = score_differences(task, sweep.scores).T, votes_by_person(task)
    rows: list[Row] = []
    for ties in TIES:
        points = [agreement(one, task.share, task.topics, ties=ties) for one in differences]
        band = simultaneous_band([point.mean for point in points], rng=rng)
        for index, (value, point) in enumerate(zip(sweep.scores.columns, points, strict=True)):
            ends = (float(band[0][index]), float(band[1][index]))
            rows.append(
                {
                    "task": task.task,
                    "measure": sweep.measure,
                    "converted": sweep.converted,
                    "over": sweep.over,
                    "value": value,
                    "ties": ties,
                    **_point(votes, point, differences[index], ends),
                }
            )
    return rows


def constant_measures(differences: Mapping[str, Floats]) -> list[str]:
    """Return the measures that score the systems of every pair alike, so that they tell nothing apart."""
    return [measure for measure, difference in differences.items() if not difference.any()]


def pair_rows(task: JudgedTask, differences: Mapping[str, Floats]) -> pd.DataFrame:
    """Return one row a pair: its votes, and its score difference under every measure."""
    columns = {f"difference {measure}": difference for measure, difference in differences.items()}
    pairs = task.pairs.assign(**columns)
    pairs.insert(0, "task", task.task)
    return pairs


def score_differences(task: JudgedTask, scores: pd.DataFrame) -> Floats:
    """Return the score of system_a less that of system_b in every pair; a summary without a score has 0.

    Parameters
    ----------
    task : JudgedTask
        With p pairs.
    scores : DataFrame
        Indexed by topic, system; k columns.

    Returns
    -------
    (p, k) ndarray of float
    """
    sides = [
        scores.reindex(pd.MultiIndex.from_frame(task.pairs[["topic", side]])).fillna(0.0).to_numpy(np.float64)
        for side in ("system_a", "system_b")
    ]
    return score_difference(*sides)


class _Judges(NamedTuple):
    """What all measures of a task share: its votes, how well people agree, and who counts."""

    votes: VotesByPerson
    ceiling: Ceiling
    no_ceiling: str
    exclusions: str

    def ceiling_columns(self, ties: Ties) -> Row:
        """Return what a second panel and a perfect measure reach, with intervals; empty where the votes do not tell."""
        found = self.ceiling
        numbers = (
            found.panel(ties),
            *found.panel_interval(ties),
            found.perfect(ties),
            *found.perfect_interval(ties),
        )
        return dict(zip(CEILING_COLUMNS, (np.nan,) * 6 if self.no_ceiling else numbers, strict=True))


def _agreement_rows(task: JudgedTask, variant: Variant, difference: Floats, judges: _Judges) -> Iterator[Row]:
    for ties, found in agreements(difference, task.share, task.topics).items():
        low, high = _interval(judges.votes, found, difference)
        yield {
            "task": task.task,
            "language": task.language,
            "measure": variant.measure,
            "family": variant.family,
            "role": str(variant.role),
            "fit": str(variant.fit),
            "converted": variant.converted,
            "patience_chars": variant.patience_chars,
            "alpha": variant.alpha,
            "lateness": variant.lateness,
            "exclusions": judges.exclusions,
            "ties": ties,
            "agreement": found.value,
            "low": low,
            "high": high,
            **_draw_columns(task, variant, found),
            **judges.ceiling_columns(ties),
            "pairs": found.pairs,
            "tied_pairs": found.tied_pairs,
            "metric_ties": found.metric_ties,
            "vote_ties": found.vote_ties,
            "queries": found.mean.units,
            "workers": task.judgments["worker"].nunique(),
            "judgments": len(task.judgments),
            "mean_decision_seconds": task.judgments["decision_seconds"].mean(),
            "no_ceiling": judges.no_ceiling,
            "no_ceiling_interval": "" if judges.no_ceiling else judges.ceiling.no_interval,
        }


def _interval(votes: VotesByPerson, found: Agreement, difference: Floats) -> Interval:
    """Return the interval over queries; over queries and workers where no majority is taken."""
    if found.ties == "weighted":
        return votes.interval(difference)
    return found.mean.confidence_interval()


def _point(votes: VotesByPerson, found: Agreement, difference: Floats, band: Interval) -> Row:
    """Return one point of a curve; its band is as much wider as its interval is where workers count too."""
    low, high = _interval(votes, found, difference)
    if found.ties == "weighted":
        alone = float(stdtrit(found.mean.units - 1, 0.975)) * found.mean.standard_error
        wider = votes.reach(difference) / alone if alone > 0 else np.nan
        band = tuple(np.clip(found.value + wider * (np.array(band) - found.value), 0.0, 1.0).tolist())
    return {
        "agreement": found.value,
        "low": low,
        "high": high,
        "band_low": band[0],
        "band_high": band[1],
        "metric_ties": found.metric_ties,
    }


def _draw_columns(task: JudgedTask, variant: Variant, found: Agreement) -> Row:
    """Return how far the agreement spreads when the fitted parameters are drawn anew, from itself on."""
    if variant.drawn is None:
        return dict.fromkeys(DRAW_COLUMNS)
    credit = [
        pair_credit(one, task.share, ties=found.ties) for one in score_differences(task, variant.drawn).T
    ]
    values = [one[~np.isnan(one)].mean() if not np.isnan(one).all() else np.nan for one in credit]
    low, high = np.quantile(values, [0.025, 0.975])
    ends = np.fmin(low, found.value), np.fmax(high, found.value)
    return dict(zip(DRAW_COLUMNS, (len(values), *ends, np.std(values)), strict=True))
