"""Agreement of measures with one task's preferences, and its disagreements.

Disagreements are the pairs on which measures and votes differ most.

`calibration.agree.agree_tables` brings the tasks together; the columns are listed in docs/agreement.md. Every interval is over the queries and over the people who judged them (`metrics.agreement.crossed_errors`).
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from calibration.agree.judged_task import JudgedTask
from calibration.agree.measures.kinds import KINDS
from calibration.agree.measures.variants import ParameterSweep, ScoredMeasure
from calibration.agree.result import DIFFERENCE_COLUMNS
from calibration.agree.score_sources import ShownTexts
from calibration.tables.sources import TaskSources
from metrics.agreement.agreement import (
    TIES,
    Agreement,
    Ties,
    agreement,
    agreements,
    pair_credit,
    score_difference,
    simultaneous_band,
)
from metrics.arrays import Floats
from metrics.readers.texts import read_ranked_topics

Row = dict[str, Any]
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
THERE_COLUMNS = ("agreement_there", "pairs_there")
DRAW_COLUMNS = ("draws", "draw_low", "draw_high", "draw_sd")
AGREEMENT_COLUMNS = (
    *(
        "task",
        "language",
        "measure",
        "family",
        "role",
        "fit",
        "converted",
        "patience_chars",
        "alpha",
        "lateness",
    ),
    *("exclusions", "ties", "agreement", "low", "high", *DRAW_COLUMNS, *CEILING_COLUMNS),
    *(*THERE_COLUMNS, *DIFFERENCE_COLUMNS),
    *("pairs", "tied_pairs", "metric_ties", "vote_ties", "queries", "workers", "judgments"),
    *("mean_decision_seconds", "no_ceiling", "queries_per_worker", "warnings", "no_ceiling_interval"),
)


def task_agreement(
    task: JudgedTask, variants: Sequence[ScoredMeasure], *, exclusions: str
) -> tuple[list[Row], dict[str, Floats]]:
    """Compare every variant with the preferences of one task.

    Parameters
    ----------
    task : JudgedTask
        The preferences that count.
    variants : sequence of ScoredMeasure
        Of different names.
    exclusions : str
        ``applied`` or ``none``, for the column of that name.

    Returns
    -------
    rows : list of dict
        One row a variant and convention for ties, for agreement.csv.
    differences : dict of str to (pairs,) ndarray of float
        Measure -> score of system_a less that of system_b.
    """
    differences = {
        variant.measure: score_differences(task, variant.scores.to_frame())[:, 0] for variant in variants
    }
    rows = [
        _agreement_row(task, variant, estimate, differences[variant.measure], exclusions)
        for variant in variants
        for estimate in agreements(differences[variant.measure], task.share, task.topics).values()
    ]
    return rows, differences


def sweep_rows(task: JudgedTask, sweep: ParameterSweep, *, rng: np.random.Generator) -> list[Row]:
    """Return the agreement of a measure along a parameter, with a band.

    The band covers the whole curve.

    Parameters
    ----------
    task : JudgedTask
        The preferences that count.
    sweep : ParameterSweep
        The scores.
    rng : Generator
        Source of the draws of the band.

    Returns
    -------
    list of dict
        One row a convention for ties and value.
    """
    differences, votes = score_differences(task, sweep.scores).T, task.votes
    rows: list[Row] = []
    for ties in TIES:
        points = [agreement(difference, task.share, task.topics, ties=ties) for difference in differences]
        reach = np.array([votes.error(difference, ties).half_width() for difference in differences])
        band = simultaneous_band([point.mean for point in points], reach=reach, rng=rng)
        for index, (value, point) in enumerate(zip(sweep.scores.columns, points, strict=True)):
            rows.append(
                {
                    "task": task.task,
                    "measure": sweep.measure,
                    "converted": sweep.converted,
                    "over": sweep.over,
                    "value": value,
                    "ties": ties,
                    "agreement": point.value,
                    "low": max(0.0, point.value - reach[index]) if reach[index] > 0 else np.nan,
                    "high": min(1.0, point.value + reach[index]) if reach[index] > 0 else np.nan,
                    "band_low": float(band[0][index]),
                    "band_high": float(band[1][index]),
                    "metric_ties": point.metric_ties,
                }
            )
    return rows


def pair_rows(task: JudgedTask, differences: Mapping[str, Floats]) -> pd.DataFrame:
    """Return one row per pair: votes, and score difference under each measure."""
    columns = {f"difference {measure}": difference for measure, difference in differences.items()}
    pairs = task.pairs.assign(**columns)
    pairs.insert(0, "task", task.task)
    return pairs


def score_differences(task: JudgedTask, scores: pd.DataFrame) -> Floats:
    """Return the score of system_a less that of system_b in every pair.

    A summary without a score counts as 0.

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
    return score_difference(*(side.fillna(0.0).to_numpy(np.float64) for side in _of_sides(task, scores)))


def length_differences(task: JudgedTask, lengths: "pd.Series[float]") -> Floats:
    """Return the length of system_a's side less that of system_b's in every pair, (p,); NaN where one is unknown."""
    first, second = (side.to_numpy(np.float64)[:, 0] for side in _of_sides(task, lengths.to_frame()))
    return np.asarray(first - second)


def _of_sides(task: JudgedTask, values: pd.DataFrame) -> list[pd.DataFrame]:
    """Return the rows of a frame, indexed by topic and system, of system_a and of system_b of every pair."""
    sides = (task.pairs[["topic", side]] for side in ("system_a", "system_b"))
    return [values.reindex(pd.MultiIndex.from_frame(side)) for side in sides]


def _agreement_row(
    task: JudgedTask, variant: ScoredMeasure, estimate: Agreement, difference: Floats, exclusions: str
) -> Row:
    crossed = task.votes.crossing
    low, high = task.votes.interval(difference, estimate.ties)
    return {
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
        "exclusions": exclusions,
        "ties": estimate.ties,
        "agreement": estimate.value,
        "low": low,
        "high": high,
        **_draw_columns(task, variant, estimate),
        **_ceiling_columns(task, estimate.ties),
        **_there_columns(task, difference, estimate.ties),
        "pairs": estimate.pairs,
        "tied_pairs": estimate.tied_pairs,
        "metric_ties": estimate.metric_ties,
        "vote_ties": estimate.vote_ties,
        "queries": estimate.mean.units,
        "workers": crossed.workers if task.knows_workers else np.nan,
        "judgments": len(task.judgments),
        "mean_decision_seconds": task.judgments["decision_seconds"].mean(),
        "no_ceiling": task.no_ceiling,
        "queries_per_worker": crossed.queries_each,
        "warnings": " ".join(
            diagnostic.name for diagnostic in task.diagnostics if diagnostic.severity == "warning"
        ),
        "no_ceiling_interval": "" if task.no_ceiling else task.ceiling.no_interval,
    }


def _ceiling_columns(task: JudgedTask, ties: Ties) -> Row:
    """Return the ceilings with intervals; NaN where votes give none."""
    if task.no_ceiling:
        return dict.fromkeys(CEILING_COLUMNS, np.nan)
    panel, perfect = task.ceiling.panel[ties], task.ceiling.perfect[ties]
    numbers = (panel.value, *panel.interval(), perfect.value, *perfect.interval())
    return dict(zip(CEILING_COLUMNS, numbers, strict=True))


def _there_columns(task: JudgedTask, difference: Floats, ties: Ties) -> Row:
    """Return the agreement on the pairs of the ceilings, and its distance from them.

    The columns are the agreement, the number of pairs, and the distance from a second panel.
    """
    share = task.panel_share
    there = ~np.isnan(share)
    credit = pair_credit(difference[there], share[there], ties=ties)
    value = float(np.nanmean(credit)) if np.isfinite(credit).any() else np.nan
    less = (np.nan,) * 3 if task.no_ceiling else task.ceiling.less_panel(difference[there], ties)
    return dict(zip((*THERE_COLUMNS, *DIFFERENCE_COLUMNS), (value, int(there.sum()), *less), strict=True))


def _draw_columns(task: JudgedTask, variant: ScoredMeasure, estimate: Agreement) -> Row:
    """Return the spread of the agreement over draws of fitted parameters."""
    if variant.drawn is None:
        return dict.fromkeys(DRAW_COLUMNS)
    credit = [
        pair_credit(column, task.share, ties=estimate.ties)
        for column in score_differences(task, variant.drawn).T
    ]
    values = [column[~np.isnan(column)].mean() if not np.isnan(column).all() else np.nan for column in credit]
    low, high = np.quantile(values, [0.025, 0.975])
    ends = np.fmin(low, estimate.value), np.fmax(high, estimate.value)
    return dict(zip(DRAW_COLUMNS, (len(values), *ends, np.std(values)), strict=True))


Texts = Mapping[str, str]
MAX_PAIRS = 10
PAIR = ("pair", "system_a", "system_b", "votes_a", "votes_b", "equally_good", "equally_bad")
COLUMNS = (
    "task",
    "measure",
    "rank",
    "topic",
    "topic_text",
    *PAIR,
    "vote_share",
    "difference",
    "disagreement",
    "text_a",
    "text_b",
)


def shown_texts(
    task: JudgedTask, sources: TaskSources | None, media: pd.DataFrame | None = None
) -> ShownTexts:
    """Read the texts of a task, none where its files are unusable.

    The text of a picture is its description in table media.

    Raises
    ------
    InputError
        If a file is faulty.
    """
    if media is not None and (media["task"] == task.task).any():
        return _picture_texts(media[media["task"] == task.task], sources)
    kind = None if sources is None else KINDS.get(sources.kind)
    if sources is None or kind is None or sources.problems:
        return ShownTexts()
    return kind.texts(task, sources)


def _picture_texts(media: pd.DataFrame, sources: TaskSources | None) -> ShownTexts:
    """Return the words for the pictures of a task, with their hashes.

    A picture without a description has its path.
    """
    sides: dict[str, dict[str, str]] = {}
    for row in media.to_dict("records"):
        words = (row[name] for name in ("alt", "path") if isinstance(row.get(name), str))
        sides.setdefault(row["topic"], {})[row["system"]] = f"{next(words, '')} [{row['media'][:12]}]".strip()
    file = None if sources is None else sources.collection.get("topics")
    asked = read_ranked_topics(file.path) if file is not None and file.problem is None else {}
    return ShownTexts(topics={name: topic.text for name, topic in asked.items()}, sides=sides)


def disagreement(difference: Floats, share: Floats) -> Floats:
    """Return how strongly score and votes disagree on each pair.

    |2 y - 1| |M(R) - M(R')| / max |M(R) - M(R')|,  0 where they agree or either is tied

    Parameters
    ----------
    difference, share : (pairs,) ndarray of float
        M(R) - M(R'), and the share y of votes for R.

    Returns
    -------
    (pairs,) ndarray of float in [0, 1]
    """
    largest = np.abs(difference).max(initial=0.0)
    opposed = difference * (share - 0.5) < 0
    return np.where(opposed, np.abs((2 * share - 1) * difference) / (largest or 1.0), 0.0)


def disagreement_rows(
    task: JudgedTask,
    measure: str,
    difference: Floats,
    texts: ShownTexts,
    *,
    most: int = MAX_PAIRS,
) -> list[Row]:
    """Return the pairs on which a measure and the votes disagree most.

    The strongest disagreement comes first.

    Parameters
    ----------
    task : JudgedTask
        The preferences that count, of p pairs.
    measure : str
        Its name, for the rows.
    difference : (p,) ndarray of float
        Score of system_a less that of system_b.
    texts : ShownTexts
        What was to be read.
    most : int
        So many pairs at most; equal disagreements stand in the order of the pairs.
    """
    strength = disagreement(difference, task.share)
    order = np.argsort(-strength, kind="stable")[:most]
    pairs = task.pairs.to_dict("records")
    rows: list[Row] = []
    for rank, index in enumerate((index for index in order.tolist() if strength[index] > 0), start=1):
        pair = pairs[index]
        topic = pair["topic"]
        rows.append(
            {
                "task": task.task,
                "measure": measure,
                "rank": rank,
                "topic": topic,
                "topic_text": texts.topic(topic),
                **{name: pair[name] for name in PAIR},
                "vote_share": pair["vote_share"],
                "difference": difference[index],
                "disagreement": strength[index],
                "text_a": texts.side(topic, pair["system_a"]),
                "text_b": texts.side(topic, pair["system_b"]),
            }
        )
    return rows
