"""Times away and session lengths of MSU's users: M and S of the workers' means, from tables or from totals.

Model and likelihood stand in `calibration.durations.likelihood`, what counts as a time away in `calibration.durations.exposures`.
"""

import math
from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
import pandas as pd

from calibration.durations.alternatives import alternatives, weibull_test
from calibration.durations.checks import many_cut, within_worker_test
from calibration.durations.diagnostics import diagnose
from calibration.durations.exposure import Exposure
from calibration.durations.exposures import Dropout, Inclusion, Unit, Window, away_exposure, session_exposure
from calibration.durations.likelihood import Totals
from calibration.durations.maximum import Maximum, maximum
from calibration.durations.result import DurationFit
from calibration.durations.uncertainty import DurationProfile, WorkerBootstrap
from calibration.inference.results import NotIdentifiedError, warning
from calibration.inference.uncertainty import Scale, StudentT, Uncertainty

AWAY = ("away_mean_seconds", "away_sd_seconds")
SESSION = ("session_mean_seconds", "session_sd_seconds")
METHOD = "marginal likelihood"
RESAMPLES = 500
MANY_WORKERS = 20_000
MANY_PIECES = 200_000
REJECTED = 0.05
LEAST_SESSION_SECONDS = 1.0


def fit_away(  # noqa: PLR0913 - the options of prefcal fit
    tables: Mapping[str, pd.DataFrame],
    *,
    factor: float = 1.0,
    gap_seconds: float = 0.0,
    unit: Unit = "worker",
    inclusion: Inclusion = "all_enrolled",
    dropout: Dropout = "study_end",
    window: Window | None = None,
    rng: np.random.Generator | None = None,
    resamples: int = RESAMPLES,
) -> DurationFit:
    """Fit M_A and S_A: how long workers stay away from a stream.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        visits; follows; prompts where there were any. Rows of excluded workers have left them.
    factor, gap_seconds, unit, inclusion, dropout, window
        See `away_exposure`. study.json has factor (clock), gap_seconds (visit_gap_seconds) and, for tables without
        follows, the window (started_at, ended_at).
    rng : Generator, optional
        Source of the worker bootstrap's seed; the same one each time by default.
    resamples : int
        Of the worker bootstrap.

    Returns
    -------
    DurationFit
        With parameters ``away_mean_seconds`` and ``away_sd_seconds``, in stream seconds.

    Raises
    ------
    NotIdentifiedError
        If the tables cannot tell them; the message says why.
    """
    exposure = away_exposure(
        tables,
        factor=factor,
        gap_seconds=gap_seconds,
        unit=unit,
        inclusion=inclusion,
        dropout=dropout,
        window=window,
    )
    if not exposure.event.any():
        raise NotIdentifiedError("nobody came back by themselves")
    return fit_exposure(exposure, names=AWAY, seconds="stream seconds", rng=rng, resamples=resamples)


def fit_session(
    tables: Mapping[str, pd.DataFrame],
    *,
    unit: Unit = "worker",
    rng: np.random.Generator | None = None,
    resamples: int = RESAMPLES,
) -> DurationFit:
    """Fit M_D and S_D: how much time workers have when they visit a stream.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        visits; follows where there are any. Rows of excluded workers have left them.
    unit
        See `session_exposure`.
    rng, resamples
        See `fit_away`.

    Returns
    -------
    DurationFit
        With parameters ``session_mean_seconds`` and ``session_sd_seconds``, in wall seconds.

    Raises
    ------
    NotIdentifiedError
        If the tables cannot tell them; the message says why.
    """
    exposure = session_exposure(tables, unit=unit)
    if not exposure.event.any():
        raise NotIdentifiedError("no visit ended because the worker left")
    fit = fit_exposure(exposure, names=SESSION, seconds="seconds", rng=rng, resamples=resamples)
    if fit.top.mean >= LEAST_SESSION_SECONDS:
        return fit
    sentence = (
        f"The mean session takes {fit.top.mean:.2g} s, which nobody reads in: the times of the visits may have been read in "
        "another unit, such as seconds as milliseconds."
    )
    return fit.noted(warning("session_below_a_second", sentence))


def fit_exposure(
    exposure: Exposure,
    *,
    names: tuple[str, str],
    seconds: str = "seconds",
    rng: np.random.Generator | None = None,
    resamples: int = RESAMPLES,
) -> DurationFit:
    """Fit times at risk from anywhere: estimates, intervals, other laws, diagnostics.

    Parameters
    ----------
    exposure : Exposure
        The data, with an event.
    names : (str, str)
        What M and S are called.
    seconds : str
        Their unit.
    rng, resamples
        See `fit_away`.

    Raises
    ------
    NotIdentifiedError
        If fewer than two workers are in the data, or the likelihood has no maximum.
    """
    totals = exposure.totals()
    top = fit_durations(totals)
    laws = alternatives(exposure, top) if len(exposure.event) <= MANY_PIECES else ()
    within = within_worker_test(exposure) or weibull_test(laws)
    rejected = within is not None and within.p_value < REJECTED
    seed = int((rng or np.random.default_rng(1)).integers(2**32))
    uncertainty = interval_methods(totals, top, rejected=rejected, resamples=resamples, seed=seed)
    fit = DurationFit(
        params=MappingProxyType({names[0]: top.mean, names[1]: top.sd}),
        unit=seconds,
        method=METHOD,
        uncertainty=MappingProxyType(uncertainty),
        n_workers=len(totals),
        n_rows=len(exposure.event),
        n_censored=int((~exposure.event).sum()),
        loglik=top.top.loglik,
        details=MappingProxyType({"mu": top.mu, "sigma": top.sigma}),
        totals=totals,
        top=top,
        design=exposure.design,
        within=within,
        many_cut=many_cut(exposure),
        laws=laws,
    )
    return fit.noted(*exposure.notes, *diagnose(fit, exposure))


def fit_durations(totals: Totals) -> Maximum:
    """Maximise the likelihood of (n, T): the core, on arrays.

    Parameters
    ----------
    totals : Totals
        n and T of each worker.

    Returns
    -------
    Maximum
        M, S, mu, sigma, log-likelihood; in the unit of T.

    Raises
    ------
    NotIdentifiedError
        If there are fewer than two workers, no events, or no maximum.
    """
    if len(totals) < 2:
        raise NotIdentifiedError("there is a single worker, so how workers differ is unknown")
    if not totals.events.any():
        raise NotIdentifiedError("all durations were cut before they were complete")
    scale = float(np.exp(np.log(totals.seconds).mean()))
    return _in_seconds(maximum(totals.in_units_of(scale)), scale, float(totals.events.sum()))


def _in_seconds(top: Maximum, scale: float, events: float) -> Maximum:
    """Return a maximum found in units of ``scale``; each event's density has a second in its unit."""
    moved = top.top._replace(loglik=top.top.loglik - events * math.log(scale))
    return Maximum(mu=top.mu + math.log(scale), log_sigma=top.log_sigma, top=moved)


def interval_methods(
    totals: Totals, top: Maximum, *, rejected: bool, resamples: int, seed: int
) -> dict[str, Uncertainty]:
    """Return every interval method, the default first.

    Parameters
    ----------
    totals, top
        The data and their maximum.
    rejected : bool
        Intervals within workers are not exponential: the likelihood is wrong, and the worker bootstrap comes first.
    resamples, seed : int
        Of the worker bootstrap, which is made when it is asked for.
    """
    df = len(totals) - 1
    methods: dict[str, Uncertainty] = {"profile": DurationProfile(totals=totals, top=top, df=df)}
    if top.sigma and np.all(np.linalg.eigvalsh(-top.top.hessian) > 0):
        centre = np.log([top.mean, top.sd])
        methods["delta"] = StudentT(centre=centre, cov=top.log_cov, df=df, scale=Scale.LOG)
    methods["worker_bootstrap"] = WorkerBootstrap(totals=totals, top=top, resamples=resamples, seed=seed)
    first = "worker_bootstrap" if rejected else "profile"
    if len(totals) > MANY_WORKERS and "delta" in methods:
        first = "delta"
    return {first: methods.pop(first), **methods}
