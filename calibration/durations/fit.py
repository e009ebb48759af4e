"""Times away and session lengths of MSU's users: M and S of the workers' means, from tables or from totals.

Model and likelihood stand in `calibration.durations.likelihood`, what counts as a time away in `calibration.durations.exposures`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pandas as pd

from calibration.durations.at_risk import Exposure, Totals
from calibration.durations.checks import Refits, many_cut
from calibration.durations.errors import CommonScale, DurationProfile, EitherLaw, WorkerBootstrap
from calibration.durations.exposures import Dropout, Inclusion, Unit, Window, away_exposure, session_exposure
from calibration.durations.maximum import DurationMaximum, maximum
from calibration.durations.notes import diagnose
from calibration.durations.other_laws.causes import DAYS, WITHIN, Causes, find_causes
from calibration.durations.other_laws.extended import (
    Extended,
    Together,
    fit_together,
    log_normal_values,
)
from calibration.durations.other_laws.laws import LOG_T, may_lack_sd
from calibration.durations.result import DurationFit
from calibration.inference.results import NotIdentifiedError, warning
from calibration.inference.uncertainty import Scale, StudentT, Uncertainty

_VALUES = ("mean", "sd", "median", "quartile_low", "quartile_high")
AWAY = tuple(f"away_{value}_seconds" for value in _VALUES)
SESSION = tuple(f"session_{value}_seconds" for value in _VALUES)
METHOD = "marginal likelihood"
RESAMPLES = 500
MANY_WORKERS = 20_000
FEW_WORKERS = 20
"""Below it resamples of workers tell too little, and the profile stays the default."""
LEAST_SESSION_SECONDS = 1.0
TAIL_DF = 5.0
"""Degrees of freedom of the errors of heavy tails that are left open, however many workers: few of them are in a tail."""


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
        With the parameters `AWAY`, in stream seconds.

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
    return fit_times_away(exposure, rng=rng, resamples=resamples)


def fit_times_away(
    exposure: Exposure, *, rng: np.random.Generator | None = None, resamples: int = RESAMPLES
) -> DurationFit:
    """Do what `fit_away` does with times away that are known already."""
    if not exposure.event.any():
        raise NotIdentifiedError("nobody came back by themselves")
    return fit_exposure(exposure, names=AWAY, seconds="stream seconds", rng=rng, resamples=resamples)


def fit_session(
    tables: Mapping[str, pd.DataFrame],
    *,
    unit: Unit = "worker",
    rng: np.random.Generator | None = None,
    beside: Exposure | None = None,
    resamples: int = RESAMPLES,
) -> DurationFit:
    """Fit M_D and S_D: how much time workers have when they visit a stream.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        visits; follows where there are any. Rows of excluded workers have left them.
    unit
        See `session_exposure`.
    beside : Exposure, optional
        Times away of the same tables; where who comes often stays longer, or less, both are fitted together.
    rng, resamples
        See `fit_away`.

    Returns
    -------
    DurationFit
        With the parameters `SESSION`, in wall seconds.

    Raises
    ------
    NotIdentifiedError
        If the tables cannot tell them; the message says why.
    """
    return fit_session_lengths(
        session_exposure(tables, unit=unit), rng=rng, beside=beside, resamples=resamples
    )


def fit_session_lengths(
    exposure: Exposure,
    *,
    rng: np.random.Generator | None = None,
    beside: Exposure | None = None,
    resamples: int = RESAMPLES,
) -> DurationFit:
    """Do what `fit_session` does with sessions that are known already."""
    if not exposure.event.any():
        raise NotIdentifiedError("no visit ended because the worker left")
    together = None if beside is None else _together(beside, exposure)
    fit = fit_exposure(
        exposure, names=SESSION, seconds="seconds", together=together, rng=rng, resamples=resamples
    )
    if fit.top.mean >= LEAST_SESSION_SECONDS:
        return fit
    sentence = (
        f"The mean session takes {fit.top.mean:.2g} s, which nobody reads in: the times of the visits may have been read in "
        "another unit, such as seconds as milliseconds."
    )
    return fit.noted(warning("session_below_a_second", sentence))


def _together(away: Exposure, session: Exposure) -> Together | None:
    """Fit both together; None where that cannot be done."""
    try:
        tops = fit_durations(away.totals()), fit_durations(session.totals())
        return fit_together(away, tops[0], session, tops[1])
    except NotIdentifiedError:
        return None


def fit_exposure(
    exposure: Exposure,
    *,
    names: Sequence[str],
    seconds: str = "seconds",
    together: Together | None = None,
    rng: np.random.Generator | None = None,
    resamples: int = RESAMPLES,
) -> DurationFit:
    """Fit times at risk from anywhere: estimates, intervals, other laws, diagnostics.

    Parameters
    ----------
    exposure : Exposure
        The data, with an event.
    names : sequence of str
        What M, S, the median, the lower and the upper quartile are called.
    seconds : str
        Their unit.
    together : Together, optional
        The same with other durations of the same people; it has the numbers where both go together and nothing else is wrong.
    rng, resamples
        See `fit_away`.

    Raises
    ------
    NotIdentifiedError
        If fewer than two workers are in the data, or the likelihood has no maximum.
    """
    totals = exposure.totals()
    top = fit_durations(totals)
    causes = find_causes(exposure, top)
    if together is not None and not causes.named and together.is_linked:
        causes = replace(causes, held=together.model, doubted=())
    seed = int((rng or np.random.default_rng(1)).integers(2**32))
    plain = interval_methods(totals, top, rejected=WITHIN in causes.named, resamples=resamples, seed=seed)
    held, uncertainty = _errors(causes, plain)
    values = held.values(held.point) if held else log_normal_values(top.mu, top.sigma)
    fit = DurationFit(
        parameters=MappingProxyType(dict(zip(names, np.exp(values).tolist(), strict=True))),
        unit=seconds,
        method=f"{METHOD}, {held.name}" if held else METHOD,
        uncertainty=MappingProxyType(uncertainty),
        n_workers=len(totals),
        n_rows=len(exposure.event),
        n_censored=int((~exposure.event).sum()),
        loglik=held.loglik if held else top.top.loglik,
        n_free=held.n_free if held else 2,
        details=MappingProxyType({"mu": top.mu, "sigma": top.sigma}),
        totals=totals,
        top=top,
        design=exposure.design,
        within=causes.within,
        many_cut=many_cut(exposure),
        laws=causes.laws,
        refits=Refits(totals=totals, top=top, design=exposure.design),
        held=held,
        together=together,
    )
    return fit.noted(*exposure.notes, *diagnose(fit, exposure, causes))


def _errors(
    causes: Causes, plain: Mapping[str, Uncertainty]
) -> tuple[Extended | None, Mapping[str, Uncertainty]]:
    """Return the model whose numbers are published, None for the plain one, and how far they may be off."""
    held = causes.held.error() if causes.held else None
    errors = (law.error(TAIL_DF if law.name == LOG_T else math.inf) for law in causes.doubted)
    others = tuple(one for one in errors if one is not None)
    found = dict(plain)
    if held is not None:
        found = {"delta": held}
    elif others:
        heavy = any(may_lack_sd(law) for law in causes.doubted)
        found = {
            "either_law": EitherLaw(plain=next(iter(plain.values())), others=others, heavy=heavy),
            **plain,
        }
    if DAYS in causes.named and causes.days is not None:
        error, df = causes.days.log_error, causes.days.n_days - 1
        found = {name: CommonScale(inner=one, error=error, df=df) for name, one in found.items()}
    return causes.held if held is not None else None, found


def fit_durations(totals: Totals) -> DurationMaximum:
    """Maximise the likelihood of (n, T): the core, on arrays.

    Parameters
    ----------
    totals : Totals
        n and T of each worker.

    Returns
    -------
    DurationMaximum
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


def plain_estimates(exposure: Exposure, names: Sequence[str]) -> dict[str, float]:
    """Return what the plain model alone says, without errors or tests; names and refusals as of `fit_exposure`."""
    top = fit_durations(exposure.totals())
    return dict(zip(names, np.exp(log_normal_values(top.mu, top.sigma)).tolist(), strict=True))


def _in_seconds(top: DurationMaximum, scale: float, events: float) -> DurationMaximum:
    """Return a maximum found in units of ``scale``; each event's density has a second in its unit."""
    moved = top.top._replace(loglik=top.top.loglik - events * math.log(scale))
    return DurationMaximum(mu=top.mu + math.log(scale), log_sigma=top.log_sigma, top=moved)


def interval_methods(
    totals: Totals, top: DurationMaximum, *, rejected: bool, resamples: int, seed: int
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
        centre = log_normal_values(top.mu, top.sigma)
        methods["delta"] = StudentT(centre=centre, cov=top.log_cov, df=df, scale=Scale.LOG)
    methods["worker_bootstrap"] = WorkerBootstrap(totals=totals, top=top, resamples=resamples, seed=seed)
    first = "worker_bootstrap" if rejected and len(totals) >= FEW_WORKERS else "profile"
    if len(totals) > MANY_WORKERS and "delta" in methods:
        first = "delta"
    return {first: methods.pop(first), **methods}
