"""Consistency of workers on repeated pairs, beyond that of habit alone.

It compares the answers to pairs that are displayed twice. The share of consistent repeats says little by itself: whoever clicks left or
right by lot is consistent half of the time, whoever always clicks `equally good` every time. So each worker's share is held against that of
somebody with the same habits who does not look: of l left, r right and e equal first answers, n in all, two drawn without replacement are
alike with probability

    chance = (2 l r + e (e - 1)) / (n (n - 1))                        when the repeat has the sides swapped,
    chance = (l (l - 1) + r (r - 1) + e (e - 1)) / (n (n - 1))        when it has not
    kappa = (share - chance) / (1 - chance)

A worker's habits are taken as known; that is what makes the worker's interval exact (Clopper and Pearson 1934).
"""

from collections.abc import Iterator
from types import MappingProxyType

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.special import bdtrc, betaincinv

from calibration.inference.clusters import cluster_uncertainty
from calibration.inference.results import LEVEL, NotIdentifiedError, info, warning
from calibration.inference.uncertainty import Replicates, StudentT
from calibration.raters.measure import RaterMeasure
from calibration.tables.preferences import WORKERS_UNKNOWN, knows_workers, resolved_sides
from calibration.user_model.model import Diagnostic
from metrics.arrays import Floats
from metrics.errors import percent

NAMES = ("consistency_share", "consistency_kappa", "identical_share", "identical_kappa")
CLICKS = MappingProxyType({"left or right by lot": 1 / 2, "any of the four options by lot": 3 / 8})
"""Consistency on swapped repeats of people who do not look, by habit."""
RESAMPLES = 2000
MIN_CONSISTENCY = 0.4
_EQUAL = ("equally_good", "equally_bad")
_OPTIONS = ("left", "right", *_EQUAL)


def fit_consistency(
    preferences: pd.DataFrame,
    *,
    rng: np.random.Generator,
    min_consistency: float = MIN_CONSISTENCY,
    resamples: int = RESAMPLES,
) -> RaterMeasure:
    """Estimate the consistency of all workers together.

    share = sum_w k_w / sum_w n_w,  kappa = sum_w (k_w - chance_w n_w) / sum_w (n_w - chance_w n_w)

    Parameters
    ----------
    preferences : DataFrame
        Table preferences with the validation repeats.
    rng : Generator
        Source of the bootstrap over workers.
    min_consistency : float
        The share below which a study excludes a worker, for a diagnostic.
    resamples : int
        Bootstrap samples.

    Returns
    -------
    RaterMeasure
        ``consistency_share`` and ``consistency_kappa`` (the same system, or an equal option, both times),
        ``identical_share`` and ``identical_kappa`` (the same of the four options). Its details: chance, and the ends of the
        exact 95 % intervals of consistent share and kappa as if all repeats were independent (share_exact_low, ...).

    Raises
    ------
    NotIdentifiedError
        If no pair was shown twice to the same worker, or habit alone leaves no repeat to be inconsistent.
    """
    if not knows_workers(preferences):
        raise NotIdentifiedError(WORKERS_UNKNOWN)
    rows = repeats(preferences)
    if rows.empty:
        raise NotIdentifiedError("no pair was shown twice to the same worker")
    worker = pd.factorize(rows["worker"])[0]
    sums = _sums(rows, worker)
    estimates = _coefficients(sums.sum(axis=0)[None])[0]
    if np.isnan(estimates).any():
        raise NotIdentifiedError("by habit alone every repeat would be consistent, as when all say `equal`")
    chance = float(sums[:, 2].sum() / sums[:, 0].sum())
    exact = np.array(clopper_pearson(sums[:, 1].sum(), sums[:, 0].sum(), LEVEL))
    kappas = (exact - chance) / (1 - chance)
    return RaterMeasure(
        parameters=MappingProxyType(dict(zip(NAMES, estimates.tolist(), strict=True))),
        unit="share of repeats",
        units=MappingProxyType({name: "agreement beyond chance" for name in NAMES if name.endswith("kappa")}),
        method="repeats against chance by habit",
        uncertainty=_uncertainty(sums, resamples, rng),
        n_workers=len(sums),
        sampled="worker",
        clusters=len(sums),
        n_rows=len(rows),
        details=MappingProxyType(
            {
                "chance": chance,
                "share_exact_low": float(exact[0]),
                "share_exact_high": float(exact[1]),
                "kappa_exact_low": float(kappas[0]),
                "kappa_exact_high": float(kappas[1]),
            }
        ),
        diagnostics=tuple(_diagnostics(sums, min_consistency)),
    )


def consistency_by_worker(preferences: pd.DataFrame, *, level: float = LEVEL) -> pd.DataFrame:
    """Return each worker's consistency with exact intervals.

    Parameters
    ----------
    preferences : DataFrame
        Table preferences with the validation repeats.
    level : float
        Confidence level.

    Returns
    -------
    DataFrame
        worker, repeats, consistent, share, share_low, share_high, chance, kappa, kappa_low, kappa_high; a row for each
        worker with a repeat, in alphabetical order. Kappa is missing for a worker who always says `equal`.
    """
    rows = repeats(preferences)
    counts = rows.groupby("worker", as_index=False).agg(
        repeats=("consistent", "size"), consistent=("consistent", "sum"), chance=("chance", "mean")
    )
    share = counts["consistent"] / counts["repeats"]
    low, high = clopper_pearson(counts["consistent"], counts["repeats"], level)
    columns = {"share": share, "share_low": low, "share_high": high}
    room = (1 - counts["chance"]).where(counts["chance"] < 1)
    kappas = {
        name.replace("share", "kappa"): (value - counts["chance"]) / room for name, value in columns.items()
    }
    return counts.assign(**columns, **kappas)[
        ["worker", "repeats", "consistent", *columns, "chance", *kappas]
    ]


def repeats(preferences: pd.DataFrame) -> pd.DataFrame:
    """Return every validation repeat with its answers, and the chance by habit alone.

    Returns
    -------
    DataFrame
        worker, is_swapped, consistent, identical (flags), chance and chance_identical (of the worker's habits); one row a
        repeat of a judgment of the same worker that is in the table.
    """
    sides = resolved_sides(preferences)
    judged = preferences[["judgment", "worker", "validation_of"]].assign(
        is_swapped=sides["is_swapped"], vote=sides["vote"]
    )
    both = judged[judged["validation_of"].notna()].merge(
        judged.drop(columns="validation_of"),
        left_on=["validation_of", "worker"],
        right_on=["judgment", "worker"],
        suffixes=("", "_first"),
    )
    swapped = both["is_swapped"] != both["is_swapped_first"]
    identical = both["vote"] == both["vote_first"]
    equal = both["vote"].isin(_EQUAL) & both["vote_first"].isin(_EQUAL)
    answers = _answers(preferences).reindex(both["worker"]).to_numpy(np.float64)
    chance, chance_identical = _chance(answers, swapped)
    return pd.DataFrame(
        {
            "worker": both["worker"],
            "is_swapped": swapped,
            "consistent": identical | equal,
            "identical": identical,
            "chance": chance,
            "chance_identical": chance_identical,
        }
    )


def pass_probability(repeats: int, share: float, min_consistency: float = MIN_CONSISTENCY) -> float:
    """Return the probability to pass the rule at a given consistency ``share``.

    It is P(X / n >= min_consistency),  X ~ Binomial(n, share)

    With ``share`` one half, clicks on left or right by lot, four of five pass "at least 40 % of 5 repeats".
    """
    needed = np.ceil(min_consistency * repeats - 1e-9)
    return float(bdtrc(needed - 1, repeats, share))


def clopper_pearson(successes: ArrayLike, n: ArrayLike, level: float) -> tuple[Floats, Floats]:
    """Return the exact interval of a share (Clopper and Pearson 1934).

    An end is 0 or 1 where the counts are all on that side.
    """
    seen, trials, tail = np.asarray(successes), np.asarray(n), (1 - level) / 2
    low = betaincinv(np.maximum(seen, 1), trials - np.maximum(seen, 1) + 1, tail)
    high = betaincinv(np.minimum(seen, trials - 1) + 1, trials - np.minimum(seen, trials - 1), 1 - tail)
    return np.where(seen == 0, 0.0, low), np.where(seen == trials, 1.0, high)


def _answers(preferences: pd.DataFrame) -> pd.DataFrame:
    """Return the numbers of first answers by option, of each worker.

    A worker with fewer than two has the crowd's numbers.
    """
    first = preferences["validation_of"].isna().to_numpy()
    worker, workers = pd.factorize(preferences["worker"][first], sort=True)
    option = pd.Index(_OPTIONS).get_indexer(preferences["choice"][first])
    cells = np.bincount(worker * len(_OPTIONS) + option, minlength=len(workers) * len(_OPTIONS))
    counts = pd.DataFrame(cells.reshape(-1, len(_OPTIONS)), index=workers, columns=list(_OPTIONS))
    few = counts.sum(axis=1) < 2
    counts.loc[few] = counts.sum().to_numpy()
    return counts


def _chance(answers: Floats, swapped: "pd.Series[bool]") -> tuple[Floats, Floats]:
    """Return the chances of consistent and identical repeats by habit.

    The input is (n, 4) numbers of answers, each result (n,).
    """
    left, right, good, bad = answers.T
    n = answers.sum(axis=1)
    again = left * (left - 1) + right * (right - 1)
    sided = np.where(swapped, 2 * left * right, again)
    equal, same = (good + bad) * (good + bad - 1), good * (good - 1) + bad * (bad - 1)
    return (sided + equal) / (n * (n - 1)), (sided + same) / (n * (n - 1))


def _sums(rows: pd.DataFrame, worker: "np.ndarray[tuple[int], np.dtype[np.intp]]") -> Floats:
    """Return each worker's sums over repeats, (workers, 5).

    The sums are repeats, consistent ones, those by chance, identical ones and those by chance.
    """
    columns = rows[["consistent", "chance", "identical", "chance_identical"]].to_numpy(np.float64)
    return np.stack([np.bincount(worker), *(np.bincount(worker, column) for column in columns.T)], axis=1)


def _coefficients(sums: Floats) -> Floats:
    """Convert (b, 5) sums over workers to (b, 4) values of `NAMES`.

    kappa is NaN where the share by chance is 1.
    """
    n = sums[:, :1]
    share, chance = sums[:, [1, 3]] / n, sums[:, [2, 4]] / n
    room = np.where(chance < 1 - 1e-12, 1 - chance, np.nan)
    kappa = (share - chance) / room
    return np.stack([share[:, 0], kappa[:, 0], share[:, 1], kappa[:, 1]], axis=1)


def _uncertainty(
    sums: Floats, resamples: int, rng: np.random.Generator
) -> MappingProxyType[str, StudentT | Replicates]:
    """Return the jackknife and the bootstrap over workers.

    The result is empty where every worker was consistent.
    """
    if (sums[:, 1] == sums[:, 0]).all():
        return MappingProxyType({})
    return cluster_uncertainty(
        lambda weights: _coefficients(weights @ sums), len(sums), rng=rng, resamples=resamples, unit="worker"
    )


def _diagnostics(sums: Floats, min_consistency: float) -> Iterator[Diagnostic]:
    typical = int(np.median(sums[:, 0]))
    passing = ", ".join(
        f"{who} {percent(pass_probability(typical, share, min_consistency))}" for who, share in CLICKS.items()
    )
    yield info(
        "passing_by_chance",
        f"With {typical} repeats, 'at least {percent(min_consistency)} consistent' is passed by somebody who clicks {passing} "
        "of the time.",
    )
    if (sums[:, 1] == sums[:, 0]).all():
        yield warning(
            "no_inconsistent_repeat", "Every repeat was consistent: there is no interval over workers."
        )
