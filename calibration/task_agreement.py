"""The agreement of measures with the preferences of one task, as rows of the published tables.

`calibration.agree` brings the tasks together; the columns are listed in docs/agreement.md.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from calibration.judged_task import JudgedTask
from calibration.variants import Fit, Variant, m_from_given, sweep
from metrics.agreement import TIES, agreement, agreements, score_difference
from metrics.ceiling import Ceiling
from metrics.comparison import Comparison, compare, holm
from metrics.query_mean import simultaneous_band
from metrics.summary_readings import Probabilities

Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TaskAgreement:
    """The agreement of every variant with the preferences of one task, as rows for the tables.

    Attributes
    ----------
    agreement : list of dict
        One row a variant and convention for ties.
    comparisons : list of dict
        One row a variant other than the first: its difference from the first.
    pairs : DataFrame
        One row a pair: its votes, and its score difference under every variant.
    """

    agreement: list[Row]
    comparisons: list[Row]
    pairs: pd.DataFrame


def task_agreement(
    task: JudgedTask, variants: Sequence[Variant], *, exclusions: str, rng: np.random.Generator
) -> TaskAgreement:
    """Compare every variant with the preferences of one task.

    Parameters
    ----------
    task : JudgedTask
        The preferences that count.
    variants : sequence of Variant
        The first is what the others are compared with.
    exclusions : str
        ``applied`` or ``none``, for the column of that name.
    rng : Generator
        Source of the splits of the ceiling and of the sign flips.
    """
    differences = {
        variant.measure: score_differences(task, variant.scores.to_frame())[:, 0] for variant in variants
    }
    ceiling = task.ceiling(rng)
    return TaskAgreement(
        agreement=[
            row
            for variant in variants
            for row in _agreement_rows(task, variant, differences[variant.measure], ceiling, exclusions)
        ],
        comparisons=_comparison_rows(task, variants, differences, rng),
        pairs=_pair_rows(task, differences),
    )


def curve_rows(
    task: JudgedTask,
    positions: pd.DataFrame,
    given: Probabilities,
    default: float,
    *,
    rng: np.random.Generator,
) -> list[Row]:
    """Return the agreement of M at every patience of the sweep, with a band that holds the whole curve.

    Parameters
    ----------
    task : JudgedTask
        The preferences that count.
    positions : DataFrame
        Rows of the table positions of the task.
    given : mapping of topic to mapping of intent to float
        P(i|q).
    default : float
        The patience in the middle of the sweep, in counted characters.
    rng : Generator
        Source of the draws of the band.

    Returns
    -------
    list of dict
        One row a convention for ties and patience.
    """
    patiences = sweep(default)
    scores = m_from_given(positions, given, patiences)
    differences = score_differences(task, scores).T
    rows: list[Row] = []
    for ties in TIES:
        points = [agreement(one, task.share, task.topics, ties=ties) for one in differences]
        low, high = simultaneous_band([point.mean for point in points], rng=rng)
        for index, point in enumerate(points):
            pointwise = point.mean.confidence_interval()
            rows.append(
                {
                    "task": task.task,
                    "ties": ties,
                    "patience_chars": patiences[index],
                    "agreement": point.value,
                    "low": pointwise[0],
                    "high": pointwise[1],
                    "band_low": low[index],
                    "band_high": high[index],
                    "metric_ties": point.metric_ties,
                }
            )
    return rows


def score_differences(task: JudgedTask, scores: pd.DataFrame) -> NDArray[np.float64]:
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


def _agreement_rows(
    task: JudgedTask, variant: Variant, difference: NDArray[np.float64], ceiling: Ceiling, exclusions: str
) -> Iterator[Row]:
    for ties, found in agreements(difference, task.share, task.topics).items():
        low, high = found.mean.confidence_interval()
        ceiling_low, ceiling_high = ceiling.panel_interval(ties)
        perfect_low, perfect_high = ceiling.perfect_interval(ties)
        yield {
            "task": task.task,
            "language": task.language,
            "measure": variant.measure,
            "role": str(variant.role),
            "fit": str(variant.fit),
            "patience_chars": variant.patience_chars,
            "exclusions": exclusions,
            "ties": ties,
            "agreement": found.value,
            "low": low,
            "high": high,
            "ceiling": ceiling.panel(ties),
            "ceiling_low": ceiling_low,
            "ceiling_high": ceiling_high,
            "perfect": ceiling.perfect(ties),
            "perfect_low": perfect_low,
            "perfect_high": perfect_high,
            "pairs": found.pairs,
            "tied_pairs": found.tied_pairs,
            "metric_ties": found.metric_ties,
            "vote_ties": found.vote_ties,
            "queries": found.mean.units,
            "workers": task.judgments["worker"].nunique(),
            "judgments": len(task.judgments),
            "mean_decision_seconds": task.judgments["decision_seconds"].mean(),
        }


def _comparison_rows(
    task: JudgedTask,
    variants: Sequence[Variant],
    differences: Mapping[str, NDArray[np.float64]],
    rng: np.random.Generator,
) -> list[Row]:
    """Compare every variant with the first, under the paper's convention; in-sample ones are no fair rivals."""
    first, *others = (variant for variant in variants if variant.fit is not Fit.IN_SAMPLE)
    mean = {name: agreement(one, task.share, task.topics).mean for name, one in differences.items()}
    results = [compare(mean[other.measure], mean[first.measure], rng=rng) for other in others]
    adjusted = holm([result.p_t for result in results])
    return [
        {"task": task.task, "measure": other.measure, "against": first.measure}
        | _comparison(result)
        | {"p_holm": p_holm}
        for other, result, p_holm in zip(others, results, adjusted.tolist(), strict=True)
    ]


def _comparison(result: Comparison) -> Row:
    low, high = result.confidence_interval()
    return {
        "difference": result.difference,
        "low": low,
        "high": high,
        "minimum_detectable": result.minimum_detectable(),
        "queries": result.queries,
        "p_t": result.p_t,
        "p_sign_flip": result.p_sign_flip,
    }


def _pair_rows(task: JudgedTask, differences: Mapping[str, NDArray[np.float64]]) -> pd.DataFrame:
    columns = {f"difference {measure}": difference for measure, difference in differences.items()}
    pairs = task.pairs.assign(**columns)
    pairs.insert(0, "task", task.task)
    return pairs
