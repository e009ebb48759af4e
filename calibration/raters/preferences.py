"""Agreement of workers on preferences: Fleiss' kappa and Krippendorff's alpha.

The item is a pair of systems of one task and topic, its category who is better: one system, the other, or neither
(or, with four options, both good or both bad). Sides are taken back, validation repeats are left out. Intervals have the
topic as their unit, because pairs of a topic share its summaries and its judges; where workers judge several topics,
they have the worker as a unit too.
"""

from collections.abc import Iterator
from types import MappingProxyType
from typing import Literal

import numpy as np
import pandas as pd

from calibration.inference.results import NotIdentifiedError, info, warning
from calibration.raters.agreement import (
    MIN_WORKERS,
    RESAMPLES,
    Ratings,
    coefficient_uncertainty,
    fleiss_kappa,
)
from calibration.raters.measure import RaterMeasure
from calibration.tables.preferences import judged_pairs, knows_workers, resolved_sides
from calibration.user_model.model import Diagnostic
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
    """Estimate the agreement of judges of the same pair beyond chance.

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
    """Return counts of left, right and equal, (pairs, options), or None.

    The result is None where a pair was displayed both ways round.
    """
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
        few = int(ratings.worker.max()) + 1 < MIN_WORKERS
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
