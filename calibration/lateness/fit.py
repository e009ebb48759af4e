"""Lateness decay L from answers, and what is often done instead.

L says how much less often an update is still of use for each visit that it comes late.

useful ~ Bernoulli(p0 L^lambda), lambda = visits late, 0^0 = 1 (`calibration.lateness.likelihood`). p0 is fitted: not
every update is of use even in time, and to fix it at 1 would make L too small. Answers of one worker belong together,
so every error is clustered by worker (`calibration.lateness.floor`).

What is often done instead is for comparison only (`prefcal fit --compare naive`); each function's docstring says how it is off.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.special import logit

from calibration.inference.clusters import cluster_counts, sandwich
from calibration.inference.results import LEVEL, CalibrationResult, GoodnessOfFit, NotIdentifiedError
from calibration.inference.uncertainty import Replicates, Scale, StudentT, Uncertainty
from calibration.lateness.floor import decay_uncertainty, floored_uncertainty
from calibration.lateness.laws import ChosenCurve, chosen_curve
from calibration.lateness.likelihood import (
    LatenessCounts,
    certain_decay,
    chances,
    lateness_counts,
    log_likelihood,
    maximum,
    scores_and_information,
)
from calibration.lateness.notes import notes_on_fit, plot_shares, shape_test
from calibration.tables.files import checked
from calibration.tables.tables import TABLES
from calibration.user_model.model import FLOOR, LATENESS, PARAMETERS, USE_IN_TIME
from metrics.arrays import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DECAY, P0 = LATENESS, USE_IN_TIME
RESAMPLES = 500


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class LatenessFit(CalibrationResult):
    """The fitted decay.

    Attributes
    ----------
    counts : LatenessCounts
        Answers by worker, without names, and level; where careless workers are apart each answer counts as often as its worker is in
        earnest.
    """

    counts: LatenessCounts

    def goodness_of_fit(self, n_boot: int = 99, seed: int = 1) -> tuple[GoodnessOfFit, ...]:  # noqa: ARG002
        """Test whether the shares of useful updates fall geometrically; by formula, so nothing is simulated.

        Returns
        -------
        tuple of GoodnessOfFit
            Empty where there is nothing to compare, see `calibration.lateness.notes.shape_test`.
        """
        decay, p0, *floor = self.estimates.tolist()
        test = shape_test(decay, p0, self.counts, *floor)
        return () if test is None else (test,)

    def plot_proportions(self, ax: "Axes", *, level: float = LEVEL) -> None:
        """Draw the share of useful updates at each lateness, and the fitted curve."""
        plot_shares(ax, self.counts, self.estimates.tolist(), level=level)

    def simulate(self, n: int, rng: np.random.Generator) -> pd.DataFrame:
        """Draw table lateness with n rows from the fitted model: levels as often as in the data, workers alike.

        Workers answer as many rows each as in the data, on average.
        """
        counts, (decay, p0, *floor) = self.counts, self.estimates.tolist()
        level = rng.choice(counts.level, size=n, p=counts.total_asked / counts.total_asked.sum())
        rows = pd.DataFrame(
            {
                "worker": [f"W{place % counts.workers}" for place in range(n)],
                "topic": "E000",
                "nugget": [f"N{place}" for place in range(n)],
                "visits_late": level.astype(np.int64),
                "useful": rng.random(n) < chances(decay, p0, level, *floor),
            }
        )
        return checked(rows, TABLES["lateness"])


def fit_lateness(
    lateness: pd.DataFrame, *, rng: np.random.Generator | None = None, resamples: int = RESAMPLES
) -> LatenessFit:
    """Fit the decay L and the share p0 of updates that are of use in time.

    Parameters
    ----------
    lateness : DataFrame
        Table lateness.
    rng : Generator, optional
        Source of the worker bootstrap; without one there is no interval method ``bootstrap``.
    resamples : int
        Of the bootstrap.

    Returns
    -------
    LatenessFit
        With parameters ``lateness_decay`` and ``lateness_p0``, both in [0, 1], and ``lateness_floor`` where a floor explains the
        answers decisively better. Interval methods: ``sandwich`` (the default, one-sided at an edge) and ``bootstrap``
        (not with a floor); none with a single worker. Its details: levels, in_time and late (numbers of answers), design_effect, and
        plain_decay and plain_p0 where another law was found.

    Raises
    ------
    NotIdentifiedError
        If nobody was asked about an update in time, or about a late one, or nothing was of use to anybody.
    """
    if not len(lateness):
        raise NotIdentifiedError("nobody was asked whether an update was still of use")
    return fit_lateness_counts(lateness_counts(lateness), rng=rng, resamples=resamples)


def fit_lateness_counts(
    counts: LatenessCounts, *, rng: np.random.Generator | None = None, resamples: int = RESAMPLES
) -> LatenessFit:
    """Fit answers that are counted already; otherwise as `fit_lateness`."""
    check_counts(counts)
    choice = chosen_curve(counts)
    used = choice.counts
    return LatenessFit(
        parameters=MappingProxyType(dict(zip((DECAY, P0, FLOOR), choice.estimates, strict=False))),
        unit=PARAMETERS[DECAY],
        units=MappingProxyType({name: PARAMETERS[name] for name in (P0, FLOOR)}),
        method=_method(choice),
        uncertainty=_uncertainty(choice, rng, resamples),
        loglik=log_likelihood(
            choice.decay, choice.p0, used.level, used.total_asked, used.total_useful, choice.floor or 0.0
        ),
        n_workers=counts.workers,
        n_rows=int(counts.total_asked.sum()),
        details=MappingProxyType(_details(choice, counts)),
        diagnostics=tuple(notes_on_fit(choice, counts)),
        counts=used,
    )


def _method(choice: ChosenCurve) -> str:
    apart = ", careless workers apart" if choice.is_in_earnest else ""
    return f"binomial likelihood{apart if choice.floor is None else ', with a floor'}"


def _details(choice: ChosenCurve, counts: LatenessCounts) -> dict[str, float]:
    asked, effect = counts.total_asked, _design_effect(*choice.plain, counts)
    details = {
        "levels": float(len(counts.level)),
        "in_time": float(asked[0]),
        "late": float(asked[1:].sum()),
    }
    if effect is not None:
        details["design_effect"] = effect
    if choice.found is not None:
        details |= {"plain_decay": choice.plain[0], "plain_p0": choice.plain[1]}
    return details


def check_counts(counts: LatenessCounts) -> None:
    """Check that a decay can be told.

    Raises
    ------
    NotIdentifiedError
        If nobody was asked about an update in time, or about a late one, or nothing was of use to anybody.
    """
    if counts.level[0] > 0:
        raise NotIdentifiedError(
            "nobody was asked about an update in time (visits_late 0), and without the share of those that are of "
            "use the decay cannot be told"
        )
    if len(counts.level) == 1:
        raise NotIdentifiedError("nobody was asked about a late update (visits_late 1 or more)")
    if not counts.useful.any():
        raise NotIdentifiedError("no update was of use to anybody, in time or late")


def _uncertainty(
    choice: ChosenCurve, rng: np.random.Generator | None, resamples: int
) -> MappingProxyType[str, Uncertainty]:
    counts = choice.counts
    if counts.workers < 2:
        return MappingProxyType({})
    if choice.floor is not None:
        error = floored_uncertainty(choice.decay, choice.p0, choice.floor, counts)
        return MappingProxyType({"sandwich": error})
    methods: dict[str, Uncertainty] = {
        "sandwich": decay_uncertainty(choice.decay, choice.p0, counts, choice.floors)
    }
    if rng is not None:
        methods["bootstrap"] = _bootstrap(counts, rng, resamples)
    return MappingProxyType(methods)


def _bootstrap(counts: LatenessCounts, rng: np.random.Generator, resamples: int) -> Replicates:
    """Draw workers with replacement, and nuggets too where they are shared; a sample that cannot tell the decay is left out."""
    asked, useful = _resampled(counts, rng, resamples)
    usable = (asked[:, 0] > 0) & (asked[:, 1:].sum(axis=1) > 0) & (useful.sum(axis=1) > 0)
    fits = []
    for n, s in zip(asked[usable], useful[usable], strict=True):
        asked_at = n > 0
        fits.append(maximum(counts.level[asked_at], n[asked_at], s[asked_at]))
    return Replicates(values=np.array(fits), clusters=counts.clusters)


def _resampled(counts: LatenessCounts, rng: np.random.Generator, resamples: int) -> tuple[Floats, Floats]:
    """Return the questions and the yeses of each sample, (resamples, k) each.

    An answer counts as often as its worker times as its nugget was drawn: the pigeonhole bootstrap (Owen 2007).
    """
    times = cluster_counts(counts.workers, resamples, rng)
    crossing, by_nugget = counts.crossing, counts.by_nugget
    if crossing is None or by_nugget is None or by_nugget.workers < 2:
        return np.asarray(times @ counts.asked), np.asarray(times @ counts.useful)
    both = [
        (of_worker[crossing.worker] * of_nugget[crossing.nugget])
        @ np.hstack([crossing.asked, crossing.useful])
        for of_worker, of_nugget in zip(times, cluster_counts(by_nugget.workers, resamples, rng), strict=True)
    ]
    asked, useful = np.hsplit(np.array(both), 2)
    return asked, useful


def _design_effect(decay: float, p0: float, counts: LatenessCounts) -> float | None:
    """Return how many times larger the variance of log L is because workers differ; None on an edge and for a single worker.

    The share of useful updates may differ between workers without moving this ratio much, because L is told by
    differences within workers; workers whose own L differ move it.
    """
    if counts.workers < 2 or not 0 < decay < 1 or p0 == 1:
        return None
    scores, information = scores_and_information(decay, p0, counts)
    scores, whole = scores[:, :2], information.sum(axis=0)[:2, :2]
    return float(sandwich(scores, whole)[0, 0] / np.linalg.inv(whole)[0, 0])


def naive_unclustered(lateness: pd.DataFrame) -> CalibrationResult:
    """Take every answer for an independent one, with normal quantiles: a binomial GLM with log link.

    The estimate is that of `fit_lateness` where it finds no better law; intervals are too narrow when workers differ in how lateness matters to them,
    and there is none at L = 0 or p0 = 1.
    """
    counts = _counts(lateness)
    decay, p0 = maximum(counts.level, counts.total_asked, counts.total_useful)
    error = unclustered_error(decay, p0, counts)
    return _result(
        "answers taken as independent",
        {DECAY: decay, P0: p0},
        counts,
        {} if error is None else {"model": error},
    )


def unclustered_error(decay: float, p0: float, counts: LatenessCounts) -> StudentT | None:
    """Return the error that a plain decay would have if answers were independent; None at L = 0 or p0 = 1."""
    if decay == 0 or p0 == 1:
        return None
    information = scores_and_information(decay, p0, counts)[1][:, :2, :2]
    slope = np.array([1.0, 1 / (1 - p0)])  # d logit p0 = d log p0 / (1 - p0)
    return StudentT(
        centre=np.array([np.log(decay), logit(p0)]),
        cov=slope[:, None] * np.linalg.inv(information.sum(axis=0)) * slope,
        df=np.inf,
        scale=(Scale.LOG, Scale.LOGIT),
    )


def naive_lumped(lateness: pd.DataFrame) -> CalibrationResult:
    """Divide the share of useful late updates by the share of useful ones in time, however late they are.

    L is too small as soon as updates are more than one visit late: with lateness even on 1 to 4 and L = .5 it comes out
    near .23.
    """
    counts = _counts(lateness)
    asked, useful = counts.total_asked, counts.total_useful
    p0 = useful[0] / asked[0]
    if p0 == 0:
        raise NotIdentifiedError("no update in time was of use, so there is nothing to divide by")
    ratio = float(useful[1:].sum() / asked[1:].sum() / p0)
    return _result("late against in time", {DECAY: ratio, P0: float(p0)}, counts)


def naive_log_regression(lateness: pd.DataFrame) -> CalibrationResult:
    """Fit a line to the logarithms of the shares by least squares.

    Levels without a yes have no logarithm and drop out, and the few yeses of late levels weigh as much as the many of
    early ones: L is too large when it is small.
    """
    counts = _counts(lateness)
    share = counts.total_useful / counts.total_asked
    seen = share > 0
    if seen.sum() < 2:
        raise NotIdentifiedError(
            "fewer than two levels of lateness have a yes: there is no line through logarithms"
        )
    slope, intercept = np.polyfit(counts.level[seen], np.log(share[seen]), 1)
    return _result(
        "line through log shares", {DECAY: float(np.exp(slope)), P0: float(np.exp(intercept))}, counts
    )


def naive_certain_in_time(lateness: pd.DataFrame) -> CalibrationResult:
    """Fix p0 at 1, so that every update in time is of use by definition.

    What keeps updates in time from being of use is then charged to lateness: L is too small when p0 < 1.
    """
    counts = _counts(lateness)
    late = counts.level > 0
    return _result(
        "p0 fixed at 1",
        {DECAY: certain_decay(counts.level[late], counts.total_asked[late], counts.total_useful[late])},
        counts,
    )


def _counts(lateness: pd.DataFrame) -> LatenessCounts:
    """Count the answers; raises `NotIdentifiedError` as `fit_lateness` does."""
    if not len(lateness):
        raise NotIdentifiedError("nobody was asked whether an update was still of use")
    counts = lateness_counts(lateness)
    check_counts(counts)
    return counts


def _result(
    method: str,
    params: dict[str, float],
    counts: LatenessCounts,
    uncertainty: Mapping[str, Uncertainty] = MappingProxyType({}),
) -> CalibrationResult:
    return CalibrationResult(
        parameters=MappingProxyType(params),
        unit=PARAMETERS[DECAY],
        units=MappingProxyType({P0: PARAMETERS[P0]}),
        method=method,
        uncertainty=MappingProxyType(dict(uncertainty)),
        n_workers=counts.workers,
        n_rows=int(counts.total_asked.sum()),
    )


NAIVE: MappingProxyType[str, Callable[[pd.DataFrame], CalibrationResult]] = MappingProxyType(
    {
        "unclustered": naive_unclustered,
        "lumped": naive_lumped,
        "log_regression": naive_log_regression,
        "certain_in_time": naive_certain_in_time,
    }
)
"""Name -> baseline; each raises `NotIdentifiedError` as `fit_lateness` does."""
