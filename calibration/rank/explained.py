"""How far what people answer about criteria goes with their overall choice.

Of the judgments of a task in which people were asked about a criterion too:

    same      share whose answer about the criterion is the overall choice: the same side, or neither side both times
    opposite  share whose answer is for the other side
    weight    b of Davidson's model of the overall choice with all criteria at once,
              P(left) : P(right) : P(neither) = exp(U / 2) : exp(-U / 2) : nu,   U = b . x + side

x_i is 1 where criterion i favours the left side, -1 where it favours the right one, 0 where neither. So b_i is by how much the log odds of
the overall choice move with an answer about criterion i, the other criteria alike. It says what goes together, not what causes what.
Intervals are over topics and people, as those of all worths (`calibration.rank.crossed`).
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from calibration.inference.choice import ChoiceModel, maximise, separated_columns, with_side
from calibration.rank.crossed import CrossedClusters, Influence
from calibration.rank.worths import inverse, rank_of
from calibration.tables.preferences import counted_judgments, knows_workers
from metrics.arrays import Floats, Ints

COLUMNS = (
    "task",
    "criterion",
    "judgments",
    "same",
    "same_low",
    "same_high",
    "opposite",
    "weight",
    "weight_low",
    "weight_high",
)


def explained_choices(
    tables: Mapping[str, pd.DataFrame], *, exclude: bool = True, level: float = 0.95
) -> pd.DataFrame:
    """Return how far each criterion goes with the overall choice.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        Those of people, unfiltered; no row without table criteria.
    exclude : bool
        Leave out excluded workers; repeats never count.
    level : float
        Of every interval.

    Returns
    -------
    DataFrame
        One row per task and criterion, the one that goes with the overall choice most often first: `COLUMNS`. Ends are NaN
        where people or topics are too few, weights too where the overall choice follows the criteria without exception or criteria say the same.
    """
    if "criteria" not in tables or "preferences" not in tables:
        return pd.DataFrame(columns=list(COLUMNS))
    counted = counted_judgments(tables["preferences"], workers=tables.get("workers"), exclude=exclude)
    counted = counted.assign(overall=_signed(counted["choice"])).dropna(subset="judgment")
    asked = tables["criteria"].assign(about=_signed(tables["criteria"]["choice"]))
    wide = asked.pivot_table(index="judgment", columns="criterion", values="about", observed=True)
    rows = [
        row
        for task, judged in counted[counted["judgment"].isin(wide.index)].groupby("task", observed=True)
        for row in _of_task(str(task), judged, wide.loc[judged["judgment"]].dropna(axis=1, how="all"), level)
    ]
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    return frame.sort_values(["task", "same"], ascending=[True, False], kind="stable", ignore_index=True)


def _signed(choice: "pd.Series[Any]") -> Floats:
    return np.select([choice == "left", choice == "right"], [1.0, -1.0], 0.0)


def _of_task(task: str, judged: pd.DataFrame, about: pd.DataFrame, level: float) -> Iterator[dict[str, Any]]:
    answers, overall = about.to_numpy(np.float64), judged["overall"].to_numpy(np.float64)
    topic = pd.factorize(judged["topic"])[0]
    worker = pd.factorize(judged["worker"])[0] if knows_workers(judged) else None
    weights, reach = _weights(answers, overall, topic, worker, level)
    for number, criterion in enumerate(about.columns):
        known = ~np.isnan(answers[:, number])
        mine, choice = answers[known, number], overall[known]
        same = (mine == choice).astype(np.float64)
        clusters = _clusters(topic[known], None if worker is None else worker[known])
        spread = _influence((same - same.mean())[None], clusters).variances().errors().half_width(level)[0]
        yield {
            "task": task,
            "criterion": str(criterion),
            "judgments": len(same),
            "same": same.mean(),
            "same_low": np.clip(same.mean() - spread, 0, 1),
            "same_high": np.clip(same.mean() + spread, 0, 1),
            "opposite": (mine * choice < 0).mean(),
            "weight": weights[number],
            "weight_low": weights[number] - reach[number],
            "weight_high": weights[number] + reach[number],
        }


def _clusters(topic: Ints, worker: Ints | None) -> CrossedClusters:
    """Return clusters by topic and worker, numbered anew without holes."""
    return CrossedClusters(
        pd.factorize(topic)[0], None if worker is None else pd.factorize(worker)[0], is_topic_fixed=False
    )


def _influence(scores: Floats, clusters: CrossedClusters) -> Influence:
    """Return the influence of judgments on means of their scores, (p, n)."""
    parameters, judgments = scores.shape
    return Influence(
        estimate=np.repeat(np.arange(parameters, dtype=np.int32)[:, None], judgments, axis=1),
        error=scores / judgments,
        weight=np.full(scores.shape, 1 / judgments),
        crossing=clusters,
    )


def _weights(
    answers: Floats, overall: Floats, topic: Ints, worker: Ints | None, level: float
) -> tuple[Floats, Floats]:
    """Return the weight of each criterion, and how far its interval reaches; NaN where there is none."""
    known = ~np.isnan(answers).any(axis=1)
    unknown = np.full(answers.shape[1], np.nan)
    if not overall[known].any():
        return unknown, unknown
    model = ChoiceModel(
        design=with_side(answers[known]),
        vote=overall[known],
        ties="davidson",
        times=np.ones(int(known.sum())),
    )
    if rank_of(model.design) < model.design.shape[1]:
        return unknown, unknown
    maximum = maximise(model.design, model.vote, model.ties)
    if separated_columns(maximum, model.design):
        return unknown, unknown
    scores, _ = model.row_derivatives(maximum.point)
    influence = _influence(scores.T, _clusters(topic[known], None if worker is None else worker[known]))
    bread = len(scores) * inverse(maximum.information)
    reach = influence.covariances().through(bread).of_each().errors().half_width(level)
    return maximum.weights[:-1], reach[: answers.shape[1]]
