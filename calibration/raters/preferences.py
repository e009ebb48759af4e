"""What preferences tell of the people who gave them: how far they agree, and how far they lean to one side.

How far people agree with each other on which summary is better: Fleiss' kappa and Krippendorff's alpha of preferences.

The item is a pair of systems of one task and topic, its category who is better: one system, the other, or neither
(or, with four options, both good or both bad). Sides are taken back, validation repeats are left out. Intervals have the
topic as their unit, because pairs of a topic share its summaries and its judges; where workers judge several topics,
they have the worker as a unit too.

Position bias: how far people lean to one side of the screen when they choose one.

An intercept-only logit of left against right among the answers for one side, with the covariance clustered by worker, or by topic
where who judged is not known.
Validation repeats do not count. Where sides are drawn by lot for every judgment a lean is noise; where a pair was always
shown the same way round it cannot be told from a liking for the systems that stood there (`calibration.checks.uneven_sides`).
"""

import math
from collections.abc import Iterator
from types import MappingProxyType
from typing import Literal

import numpy as np
import pandas as pd

from calibration.inference.results import LEVEL, NotIdentifiedError, info, warning
from calibration.inference.uncertainty import Scale, StudentT
from calibration.raters.agreement import (
    FEWEST_WORKERS,
    RESAMPLES,
    Ratings,
    coefficient_uncertainty,
    fleiss_kappa,
)
from calibration.raters.consistency import clopper_pearson
from calibration.raters.measure import RaterMeasure
from calibration.tables.preferences import judged_pairs, knows_workers, resolved_sides
from calibration.user_model.model import Diagnostic
from metrics.agreement.agreement import QueryMean, mean_by_query
from metrics.arrays import Floats
from metrics.errors import percent

FLEISS, KRIPPENDORFF = "preference_fleiss_kappa", "preference_krippendorff_alpha"
_CATEGORIES = {
    3: {"votes_a": 0, "votes_b": 1, "equally_good": 2, "equally_bad": 2},
    4: {"votes_a": 0, "votes_b": 1, "equally_good": 2, "equally_bad": 3},
}


def fit_rater_agreement(
    preferences: pd.DataFrame,
    *,
    rng: np.random.Generator,
    options: Literal[3, 4] = 3,
    resamples: int = RESAMPLES,
) -> RaterMeasure:
    """Measure how far judges of the same pair agree beyond chance.

    Parameters
    ----------
    preferences : DataFrame
        Table preferences.
    rng : Generator
        Source of the bootstrap over topics.
    options : {3, 4}
        Categories: one better, the other better, equal; or equally good and equally bad apart.
    resamples : int
        Bootstrap samples.

    Returns
    -------
    RaterMeasure
        With ``preference_fleiss_kappa`` and ``preference_krippendorff_alpha`` (behind both ``_4`` for four options),
        for which of two systems is called the first is decided by lot: see `Ratings.exchangeable`. Its details:
        pairs, judges_a_pair (mean), and fleiss_kappa_as_shown, with the categories left, right and equal as they
        stood on the screen, where every pair was always shown the same way round.

    Raises
    ------
    NotIdentifiedError
        If no pair has two judgments, all judgments of such pairs are the same, or of four options only one of the
        equal ones was ever chosen.
    """
    judged = judged_pairs(preferences)
    ratings = _ratings(judged, options)
    if options == 4 and (ratings.counts[:, 2:].sum(axis=0) == 0).any():
        raise NotIdentifiedError("only one equal option was ever chosen: there are three categories")
    kappa, alpha = ratings.coefficients(np.ones((1, ratings.clusters)))[0].tolist()
    if np.isnan(kappa) or np.isnan(alpha):
        raise NotIdentifiedError("every judgment of the pairs with two or more is the same")
    suffix = "" if options == 3 else "_4"
    per_pair = ratings.counts.sum(axis=1)
    displayed_sides = _as_shown(preferences, options)
    details = {"pairs": float(len(per_pair)), "judges_a_pair": float(per_pair.mean())}
    if displayed_sides is not None:
        details["fleiss_kappa_as_shown"] = fleiss_kappa(displayed_sides)
    return RaterMeasure(
        parameters=MappingProxyType({FLEISS + suffix: kappa, KRIPPENDORFF + suffix: alpha}),
        unit="agreement beyond chance",
        method=f"pairs as items, {options} categories",
        uncertainty=coefficient_uncertainty(ratings, rng=rng, resamples=resamples),
        n_workers=int(ratings.worker.max()) + 1 if knows_workers(judged) else None,
        n_rows=len(ratings.item),
        sampled="topic",
        clusters=ratings.clusters,
        details=MappingProxyType(details),
        diagnostics=tuple(_diagnostics(ratings, displayed_sides)),
    )


def _ratings(judged: pd.DataFrame, options: Literal[3, 4]) -> Ratings:
    """Return the judgments of pairs that have two or more."""
    names = judged[["task", "topic", "system_a", "system_b"]]
    several = judged[names.groupby(list(names.columns), observed=True)["task"].transform("size") > 1]
    if several.empty:
        raise NotIdentifiedError("no pair has two judgments")
    item = several.groupby(list(names.columns)).ngroup().to_numpy()
    topic = pd.factorize(several["topic"])[0]
    cluster = np.zeros(int(item.max()) + 1, dtype=np.intp)
    cluster[item] = topic
    return Ratings(
        item=item,
        worker=pd.factorize(several["worker"])[0] if knows_workers(judged) else np.arange(len(several)),
        category=several["vote"].map(_CATEGORIES[options]).to_numpy(np.intp),
        cluster=cluster,
        values=np.arange(options, dtype=np.float64),
        exchangeable=True,
    )


def _as_shown(preferences: pd.DataFrame, options: Literal[3, 4]) -> Floats | None:
    """Return (pairs, options) counts of left, right and equal; None where a pair was shown both ways round."""
    rows = preferences[preferences["validation_of"].isna()]
    sides = resolved_sides(rows)
    couple = [rows["task"], rows["topic"], sides["system_a"], sides["system_b"]]
    ways = sides["is_swapped"].astype("int64").groupby(couple)
    if (ways.min() != ways.max()).any():
        return None
    codes = {"left": 0, "right": 1, "equally_good": 2, "equally_bad": options - 1}
    counts = pd.crosstab(couple, rows["choice"].map(codes)).reindex(columns=range(options), fill_value=0)
    return np.asarray(counts, dtype=np.float64)


def _diagnostics(ratings: Ratings, displayed_sides: Floats | None) -> Iterator[Diagnostic]:
    per_pair = ratings.counts.sum(axis=1).astype(int)
    most = int(np.bincount(per_pair).argmax())
    if displayed_sides is not None:
        yield info(
            "kappa_as_shown",
            "Every pair was always shown the same way round; with the categories left, right and equal as shown, Fleiss' "
            f"kappa is {fleiss_kappa(displayed_sides):.4f}{_on_complete(displayed_sides, most)}.",
        )
    if len(set(per_pair.tolist())) > 1:
        same = (per_pair == most).mean()
        yield info(
            "unequal_raters",
            f"The pairs have {per_pair.min()} to {per_pair.max()} judgments, {percent(same)} of them {most}.",
        )
    if ratings.clusters == 1:
        yield warning(
            "one_topic",
            "A single topic has pairs with two judgments or more: nothing is known about others, there is no interval.",
        )
    crossed = pd.Series(ratings.cluster[ratings.item]).groupby(ratings.worker).nunique().mean()
    if crossed > 1:
        few = int(ratings.worker.max()) + 1 < FEWEST_WORKERS
        yield info(
            "crossed_workers",
            f"A worker judged {crossed:.1f} topics on average: "
            + (
                "the intervals are for these workers only, who are too few to say anything about others."
                if few
                else "topics and workers are both taken as sampled. The intervals topic_jackknife and topic_bootstrap are "
                "for these workers only."
            ),
        )


def _on_complete(displayed_sides: Floats, most: int) -> str:
    complete = displayed_sides[displayed_sides.sum(axis=1) == most]
    if len(complete) == len(displayed_sides):
        return ""
    return f", and {fleiss_kappa(complete):.4f} on the {len(complete)} of {len(displayed_sides)} pairs with {most} judgments"


NAME = "left_share"


def fit_position_bias(preferences: pd.DataFrame, *, level: float = LEVEL) -> RaterMeasure:
    """Measure how often people who choose a side choose the left one.

    logit P(left) = b;  Var(b) = W / (W - 1) sum_w (sum_j (y_wj - p))^2 / (n p (1 - p))^2

    over workers w; over topics where who judged is not known.

    Parameters
    ----------
    preferences : DataFrame
        Table preferences.
    level : float
        Of the intervals that diagnostics speak of.

    Returns
    -------
    RaterMeasure
        With parameter ``left_share``, kept on the logit scale. Its details: log_odds and log_odds_se, sided (answers for
        a side), equal_share, and a_left_share: how often the system that comes first in the alphabet stood on
        the left, which should be one half.

    Raises
    ------
    NotIdentifiedError
        If nobody chose a side.
    """
    first = preferences[preferences["validation_of"].isna()]
    sided = first[first["choice"].isin(["left", "right"])]
    if sided.empty:
        raise NotIdentifiedError("nobody chose a side")
    cluster: Literal["worker", "topic"] = "worker" if knows_workers(first) else "topic"
    left = mean_by_query((sided["choice"] == "left").to_numpy(np.float64), sided[cluster])
    share = left.value
    is_open = 0 < share < 1 and left.standard_error > 0
    log_odds = math.log(share / (1 - share)) if 0 < share < 1 else math.copysign(math.inf, share - 0.5)
    error = left.standard_error / (share * (1 - share)) if is_open else math.nan
    sides = resolved_sides(first)
    return RaterMeasure(
        parameters=MappingProxyType({NAME: share}),
        unit="share",
        method=f"intercept-only logit, clustered by {cluster}",
        uncertainty=MappingProxyType(
            {
                f"{cluster}_sandwich": StudentT(
                    centre=np.array([log_odds]),
                    cov=np.array([[error**2]]),
                    df=left.units - 1,
                    scale=Scale.LOGIT,
                )
            }
            if is_open
            else {}
        ),
        n_workers=left.units if cluster == "worker" else None,
        n_rows=len(sided),
        sampled=cluster,
        clusters=left.units,
        details=MappingProxyType(
            {
                "log_odds": log_odds,
                "log_odds_se": error,
                "sided": float(len(sided)),
                "equal_share": 1 - len(sided) / len(first),
                "a_left_share": float((~sides["is_swapped"]).mean()),
            }
        ),
        diagnostics=tuple(_on_lean(left, level, cluster)),
    )


def left_share_by_worker(preferences: pd.DataFrame, *, level: float = LEVEL) -> pd.DataFrame:
    """Count how often each worker who chose a side chose the left one; validation repeats do not count.

    Returns
    -------
    DataFrame
        One row per worker who chose a side: worker, answers, share, low and high (Clopper and Pearson).
    """
    sided = preferences[preferences["validation_of"].isna() & preferences["choice"].isin(["left", "right"])]
    counts = (sided["choice"] == "left").groupby(sided["worker"]).agg(["sum", "size"])
    low, high = clopper_pearson(counts["sum"], counts["size"], level)
    return pd.DataFrame(
        {
            "worker": counts.index,
            "answers": counts["size"].to_numpy(),
            "share": (counts["sum"] / counts["size"]).to_numpy(),
            "low": low,
            "high": high,
        }
    )


def _on_lean(left: QueryMean, level: float, cluster: str) -> Iterator[Diagnostic]:
    low, high = left.confidence_interval(level)
    if left.value in (0, 1):
        side = "left" if left.value else "right"
        yield warning(
            "one_side_only", f"All {int(left.counts.sum())} answers for a side are for the {side} one."
        )
    elif left.units < 2:
        yield warning(
            f"one_{cluster}", f"With a single {cluster} nothing is known about others: there is no interval."
        )
    elif low > 1 / 2 or high < 1 / 2:
        yield warning(
            "position_bias",
            f"People lean to the {'left' if low > 1 / 2 else 'right'}: {percent(left.value)} of the answers for a side are for "
            f"the left one, {percent(level)} interval {percent(low)} to {percent(high)}.",
        )
