"""Reading speed over workers: log words per second, normal with mean mu and standard deviation sigma.

Fitted by the likelihood of `calibration.reading.mixture`, or by medians (`calibration.reading.medians`),
which are its start. Which rows of table reads count is said in `calibration.reading.rows`, what not to do in
`calibration.reading.medians`.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from calibration.inference.clusters import cluster_counts
from calibration.inference.goodness import notes_on_few
from calibration.inference.results import NotIdentifiedError, info, warning
from calibration.inference.uncertainty import Replicates, Scale, StudentT, Uncertainty
from calibration.reading.items import (
    SIGNIFICANT,
    ClickThrough,
    ItemEffects,
    clear_slope,
    click_through,
    item_effects,
    length_notes,
    note_on_fast,
)
from calibration.reading.medians import MAD_TO_SD, MedianFit, bootstrap_medians, fit_medians, worker_medians
from calibration.reading.mixture import (
    N_FREE,
    MixtureFit,
    MixtureTop,
    bootstrap_mixture,
    fit_mixture,
    mixture_top,
)
from calibration.reading.result import ReadingSpeedFit, ReadingSummary
from calibration.reading.rows import TimedReads, length_unit, readings
from calibration.user_model.model import Diagnostic
from metrics.arrays import Floats

MANY_CUT = 0.5
AT_THE_SHORTEST = 0.05
LEAST_ROWS = 40
MUCH_OF_ERROR = 0.2
"""Share of the variance of mu from which on that of the items is worth a warning: the interval is a tenth wider."""
_NEAR = 1.01
_OUTLYING = 3.0
NAMES = ("reading_speed_mu", "reading_speed_sigma")
SCALES = (Scale.IDENTITY, Scale.LOG)
LEAST_WORKERS = 3
MANY_OUTLIERS = 0.1
_LEAST_SPREAD_SE = 2.0
_ONE_SPEED = 0.02
"""Log speeds within 2 % are one speed: so much comes of rounding times."""
Method: TypeAlias = Literal["mixture", "median"]


def fit_reading_speed(
    reads: pd.DataFrame,
    *,
    language: str | None = None,
    method: Method = "mixture",
    resamples: int = 0,
    rng: np.random.Generator | None = None,
) -> ReadingSpeedFit:
    """Fit mean and spread of log reading speed over workers.

    Parameters
    ----------
    reads : DataFrame
        Table reads, of one language. Optional columns may be missing.
    language : str, optional
        Japanese is measured in characters a second (column ``chars``), every other in words.
    method : {'mixture', 'median'}
        Marginal likelihood with idle and skimmed reads in the model, or worker medians with random effects,
        which is faster and breaks where a third of the reads are idle.
    resamples : int
        Samples of workers for the further interval method ``worker_bootstrap``; 0: without it.
    rng : Generator, optional
        Their source; not needed without them.

    Returns
    -------
    ReadingSpeedFit
        With ``reading_speed_mu`` and ``reading_speed_sigma``; errors are kept on (mu, log sigma).

    Raises
    ------
    NotIdentifiedError
        If fewer than 3 workers read two items to their ends (with one each, the spread over workers and the
        spread over items are one number), if nearly everybody was interrupted in more than half of their
        reads, or if workers differ by no more than chance.
    ValueError
        If ``resamples`` is positive and there is no ``rng``.
    """
    if resamples and rng is None:
        raise ValueError("a bootstrap needs rng")
    everybody = readings(reads, language=language)
    unit = length_unit(language)
    _check_identified(everybody, unit)
    of_all = _Sample.of(everybody)
    careless = click_through(*of_all)
    rest = None if careless is None else everybody.of(~careless.kind.is_one[everybody.worker])
    sample = of_all if rest is None else _Sample.of(rest)
    data, medians, top = sample
    fit = _best_fit(sample, method)
    effects = item_effects(data, medians, clear_slope(data, medians))
    uncertainty = _uncertainty(data, fit, effects)
    if rng is not None and resamples:
        mixture = top if fit.n_free == N_FREE else None
        uncertainty["worker_bootstrap"] = _bootstrap(medians, mixture, resamples, rng)
    return ReadingSpeedFit(
        parameters=MappingProxyType(dict(zip(NAMES, (fit.mu, fit.sigma), strict=True))),
        unit=f"log {unit} per second",
        units=MappingProxyType(dict.fromkeys(NAMES, f"log {unit} per second")),
        method=fit.method,
        uncertainty=MappingProxyType(uncertainty),
        n_workers=data.n_workers,
        n_rows=len(data.worker),
        n_censored=int(data.cut.sum()),
        loglik=fit.loglik,
        n_free=fit.n_free,
        details=MappingProxyType(_details(data, fit, effects)),
        diagnostics=(
            *(() if careless is None else (_on_careless(careless, _with_all(of_all, method), unit),)),
            *_diagnostics(data, medians, fit, unit, failed=method == "mixture" and fit.n_free != N_FREE),
            *_on_items(effects, fit),
        ),
        careless=MappingProxyType({} if careless is None else careless.kind.by_name(everybody.names)),
        summaries=ReadingSummary.of(data, medians, fit.centres),
    )


class _Sample(NamedTuple):
    """Reads, their fit by medians, and the top of their likelihood."""

    data: TimedReads
    medians: MedianFit
    top: MixtureTop | None

    @classmethod
    def of(cls, data: TimedReads) -> "_Sample":
        medians = fit_medians(data)
        return cls(data, medians, mixture_top(data, medians))


def _best_fit(sample: _Sample, method: Method) -> "_Fitted":
    """Fit by the mixture where that is wanted and has a maximum, else by medians."""
    data, medians, top = sample
    mixture = fit_mixture(top) if top is not None and method == "mixture" else None
    fit = _of_medians(medians) if mixture is None else _of_mixture(mixture)
    if not np.isfinite(fit.cov).all() or math.sqrt(fit.cov[1, 1]) > _LEAST_SPREAD_SE:
        raise NotIdentifiedError(
            f"the speeds of {data.n_workers} workers differ by no more than chance: their spread is not known"
        )
    return fit


def _uncertainty(data: TimedReads, fit: "_Fitted", effects: ItemEffects) -> dict[str, Uncertainty]:
    """Return the errors by workers, and before them those by workers and items where these differ."""
    centre = np.array([fit.mu, math.log(fit.sigma)])
    workers = data.n_workers - 1
    errors: dict[str, Uncertainty] = {}
    if effects.mu_variance > 0:
        both = fit.cov + np.diag([effects.mu_variance, 0.0])
        # Satterthwaite: of a sum of two estimated variances
        df = both[0, 0] ** 2 / (fit.cov[0, 0] ** 2 / workers + effects.mu_variance**2 / (effects.items - 1))
        errors["two_way"] = StudentT(centre=centre, cov=both, df=float(df), scale=SCALES)
    return errors | {
        how: StudentT(centre=centre, cov=cov, df=workers, scale=SCALES) for how, cov in fit.covs.items()
    }


def _with_all(everybody: _Sample, method: Method) -> "_Fitted | None":
    """Return the fit of everybody, careless or not; None where there is none."""
    try:
        return _best_fit(everybody, method)
    except NotIdentifiedError:
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fitted:
    """What both methods give."""

    method: str
    mu: float
    sigma: float
    tau: float
    idle: float
    skimmed: float
    covs: dict[str, Floats]
    loglik: float
    n_free: int
    centres: Floats

    @property
    def cov(self) -> Floats:
        return next(iter(self.covs.values()))


def _of_mixture(fit: MixtureFit) -> _Fitted:
    return _Fitted(
        method="mixture likelihood",
        mu=fit.mu,
        sigma=fit.sigma,
        tau=fit.tau,
        idle=fit.idle,
        skimmed=fit.skimmed,
        covs={"wald": fit.cov, "sandwich": fit.robust_cov},
        loglik=fit.loglik,
        n_free=N_FREE,
        centres=fit.centres,
    )


def _of_medians(fit: MedianFit) -> _Fitted:
    return _Fitted(
        method="worker medians, random effects",
        mu=fit.mu,
        sigma=fit.sigma,
        tau=fit.tau,
        idle=0.0,
        skimmed=0.0,
        covs={"wald": fit.cov},
        loglik=fit.loglik,
        n_free=2,
        centres=fit.medians,
    )


def _check_identified(data: TimedReads, unit: str) -> None:
    complete = np.bincount(data.worker[~data.cut], minlength=data.n_workers)
    why = ", ".join(f"{count} {reason}" for reason, count in data.left_out.items())
    left_out = f" (rows not used: {why})" if why else ""
    if not len(complete):
        raise NotIdentifiedError(
            f"no read of an iUnit, update or entry of a list with a number of {unit} can be used{left_out}"
        )
    if (complete > 0).sum() < LEAST_WORKERS:
        raise NotIdentifiedError(
            f"{(complete > 0).sum()} workers read something to its end, {LEAST_WORKERS} are needed{left_out}"
        )
    if (complete > 1).sum() < LEAST_WORKERS:
        raise NotIdentifiedError(
            f"fewer than {LEAST_WORKERS} workers read two items to their ends: how far workers differ cannot be told from how "
            "far one worker's reads do"
        )
    if (~np.isnan(worker_medians(data))).sum() < LEAST_WORKERS:
        raise NotIdentifiedError(
            "more than half of what nearly every worker read was interrupted by the end of a visit"
        )
    log_speed = data.log_speed[~data.cut]
    if np.ptp(log_speed) < _ONE_SPEED:
        speed = f"{math.exp(float(np.median(log_speed))):.3g} {unit} a second"
        raise NotIdentifiedError(
            f"all {len(log_speed)} reads have one speed, {speed}: people's times differ, so these were computed and not "
            "measured"
        )


def _bootstrap(
    medians: MedianFit, mixture: MixtureTop | None, resamples: int, rng: np.random.Generator
) -> Replicates:
    workers = len(medians.medians)
    counts = cluster_counts(workers, resamples, rng)
    values = bootstrap_medians(medians, counts) if mixture is None else bootstrap_mixture(mixture, counts)
    return Replicates(values=values, scale=SCALES, clusters=workers)


def _details(data: TimedReads, fit: _Fitted, effects: ItemEffects) -> dict[str, float]:
    low, high = np.quantile(np.exp(data.log_length), [0.025, 0.975])
    return {
        "residual_scale": fit.tau,
        "share_idle": fit.idle,
        "share_skimmed": fit.skimmed,
        "share_interrupted": float(data.cut.mean()),
        "reads_per_worker": len(data.worker) / data.n_workers,
        "item_spread": effects.spread,
        "short_length": float(low),
        "long_length": float(high),
    }


def _diagnostics(
    data: TimedReads, medians: MedianFit, fit: _Fitted, unit: str, *, failed: bool
) -> Iterator[Diagnostic]:
    per_second = math.exp(fit.mu)
    yield info(
        "reading_rate",
        f"The median worker reads exp(mu) = {per_second:.2g} {unit} a second, {60 * per_second:.0f} a minute.",
    )
    if data.left_out:
        shown = ", ".join(f"{count} {why}" for why, count in data.left_out.items())
        yield info("reads_not_used", f"Reads left out: {shown}.")
    if failed:
        yield warning(
            "mixture_failed",
            "The likelihood with idle and skimmed reads has no maximum inside its bounds here; worker medians stand in for it.",
        )
    if fit.n_free == N_FREE:
        yield info(
            "outlying_reads",
            f"By the fit {fit.idle:.0%} of the reads have an idle pause in them and {fit.skimmed:.0%} were skimmed.",
        )
    elif (share := outlying_share(data, medians)) > MANY_OUTLIERS:
        yield warning(
            "outlying_reads",
            f"{share:.0%} of the reads lie beyond 3 MAD of their worker's median, where 4 % would be usual: idle or skimmed "
            "reads bias medians.",
        )
    yield from reading_notes(data, medians)
    yield from note_on_fast(medians, unit)


def reading_notes(data: TimedReads, medians: MedianFit) -> Iterator[Diagnostic]:
    """Yield a diagnostic for every assumption that the reads speak against, or cannot speak about."""
    if data.of_lists:
        yield warning(
            "from_lists",
            "All reads are entries of ranked lists, which people scan to compare two lists: this is how fast they judged "
            "such lists, and not how fast they read a text.",
        )
    yield from notes_on_few(workers=data.n_workers)
    if data.cut.mean() > MANY_CUT:
        yield warning(
            "many_interrupted",
            f"{data.cut.mean():.0%} of the reads were interrupted by the end of the visit: slow reading is extrapolated.",
        )
    yield from length_notes(data, medians)
    yield from _shortest_note(data)


def _on_items(effects: ItemEffects, fit: _Fitted) -> Iterator[Diagnostic]:
    if effects.p_value < SIGNIFICANT and effects.mu_variance > MUCH_OF_ERROR * fit.cov[0, 0]:
        yield warning(
            "items_differ",
            f"The {effects.items} items are read at speeds of their own, that differ by a factor of {math.exp(effects.spread):.2f} "
            "(one standard deviation): the interval of mu allows for other items, and more workers with the same items would "
            "not make it much shorter.",
        )


def _on_careless(careless: ClickThrough, with_all: _Fitted | None, unit: str) -> Diagnostic:
    """Say who was left out as careless, and what the numbers are with them."""
    of, number = len(careless.kind.posterior), careless.kind.count
    how = (
        f"took about {careless.seconds:.2g} s for every item, whatever its length"
        if careless.gamma
        else f"read {math.exp(careless.typical):.2g} {unit} a second, which is no reading"
    )
    numbers = (
        "with them there is no fit"
        if with_all is None
        else f"with them mu is {with_all.mu:.3g} and sigma {with_all.sigma:.3g}"
    )
    return warning(
        "careless_workers",
        f"{number} of {of} workers {how}: they clicked through. The numbers are those of the other {of - number}; {numbers}. "
        "Look at these workers in careless.csv, and publish both.",
    )


def _shortest_note(data: TimedReads) -> Iterator[Diagnostic]:
    """Warn of many complete dwell times next to the shortest one."""
    seconds = np.exp(data.log_length - data.log_speed)[~data.cut]
    shortest = float(seconds.min())
    share = float((seconds <= _NEAR * shortest).mean())
    if len(seconds) >= LEAST_ROWS and share > AT_THE_SHORTEST:
        yield warning(
            "minimum_dwell",
            f"{share:.0%} of the dwell times are {shortest:.3g} s, the shortest there is: a least time on the page, or clocks "
            "that count whole seconds, make fast readers look slower.",
        )


def outlying_share(data: TimedReads, medians: MedianFit) -> float:
    """Return the share of complete reads further than 3 MAD from their worker's median; 4 % of normal ones are."""
    residual = (data.log_speed - medians.medians[data.worker])[~data.cut]
    return float((np.abs(residual) > _OUTLYING * medians.tau / MAD_TO_SD).mean())
