"""Times away and session lengths of MSU's users: M and S of the workers' means, from tables or from totals.

Model and likelihood stand in `calibration.durations.likelihood`, what counts as a time away in `calibration.durations.exposures`.
"""

import math
from collections.abc import Iterator, Mapping
from types import MappingProxyType

import numpy as np
import pandas as pd

from calibration.durations.alternatives import COMPOUND, FRAILTY, alternatives, weibull_test
from calibration.durations.checks import (
    Excess,
    half_window,
    many_cut,
    silent_end,
    simulate_totals,
    topics_apart,
    within_worker_test,
)
from calibration.durations.exposures import Dropout, Inclusion, Unit, Window, away_exposure, session_exposure
from calibration.durations.likelihood import Exposure, Totals
from calibration.durations.maximum import DurationMaximum, maximum
from calibration.durations.result import DurationFit, DurationProfile, WorkerBootstrap
from calibration.inference.goodness import REJECTED
from calibration.inference.results import NotIdentifiedError, info, warning
from calibration.inference.uncertainty import Scale, StudentT, Uncertainty
from calibration.inference.wording import shown_time
from calibration.user_model.model import Diagnostic
from metrics.arrays import Floats

DECISIVE_AIC = 10.0
CLEAR = 2.5
MOST_SILENT = 0.5
SIMULATIONS = 99
SIMULATED_WORKERS = 1_000_000
AWAY = ("away_mean_seconds", "away_sd_seconds")
SESSION = ("session_mean_seconds", "session_sd_seconds")
METHOD = "marginal likelihood"
RESAMPLES = 500
MANY_WORKERS = 20_000
MANY_PIECES = 200_000
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
        parameters=MappingProxyType({names[0]: top.mean, names[1]: top.sd}),
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
        centre = np.log([top.mean, top.sd])
        methods["delta"] = StudentT(centre=centre, cov=top.log_cov, df=df, scale=Scale.LOG)
    methods["worker_bootstrap"] = WorkerBootstrap(totals=totals, top=top, resamples=resamples, seed=seed)
    first = "worker_bootstrap" if rejected else "profile"
    if len(totals) > MANY_WORKERS and "delta" in methods:
        first = "delta"
    return {first: methods.pop(first), **methods}


def diagnose(fit: DurationFit, exposure: Exposure) -> tuple[Diagnostic, ...]:
    """Return every diagnostic of a fit; visits observed against simulated come first."""
    notes = [*_visits(fit), *_design(fit, exposure), *_laws(fit)]
    if exposure.design == "window" and exposure.seen_by_seconds is None:
        notes += [*_ends(silent_end(exposure, fit.top)), *_grows(half_window(exposure, fit.top))]
    if exposure.design == "window":
        notes += _topics(topics_apart(exposure))
    if not fit.top.sigma:
        notes.append(
            warning(
                "no_spread",
                "Workers do not differ more than chance explains: S is 0, and the upper end of its interval is what is known.",
            )
        )
    return tuple(notes)


def _visits(fit: DurationFit) -> Iterator[Diagnostic]:
    """Compare the number of visits with the model's: it is what MSU takes from the fit."""
    if fit.design == "count":
        return
    rng = np.random.default_rng(1)
    times = max(9, min(SIMULATIONS, SIMULATED_WORKERS // len(fit.totals)))
    drawn = np.array(
        [
            _summary(simulate_totals(fit.totals, fit.top.mu, fit.top.sigma, fit.design, rng))
            for _ in range(times)
        ]
    )
    seen = _summary(fit.totals)
    mean, median, none = np.median(drawn, axis=0)
    sentence = (
        f"Workers came back {seen[0]:.3g} times on average (median {seen[1]:.3g}, never {seen[2]:.1%}); workers of the "
        f"fitted population, watched as long, do so {mean:.3g} times (median {median:.3g}, never {none:.1%})."
    )
    low, high = drawn.min(axis=0), drawn.max(axis=0)
    strange = (seen < low) | (seen > high)
    if times == SIMULATIONS and strange.any():
        yield warning("visits_per_worker", sentence + " The model does not reproduce this.")
    else:
        yield info("visits_per_worker", sentence)


def _summary(totals: Totals) -> Floats:
    n = totals.events
    return np.array([n.mean(), np.median(n), (n == 0).mean()])


def _design(fit: DurationFit, exposure: Exposure) -> Iterator[Diagnostic]:
    if exposure.design == "count":
        return
    silent = float((fit.totals.events == 0).mean())
    watched = float(np.median(exposure.follow_seconds[exposure.follow_unit >= 0]))
    if silent:
        yield (warning if silent > MOST_SILENT else info)(
            "never_came_back",
            f"{silent:.1%} of the workers have no complete interval; they count with their time.",
        )
    if fit.top.mean > watched / 2:
        yield warning(
            "extrapolated",
            f"The mean is {fit.top.mean / watched:.1f} times as long as workers were watched ({shown_time(watched)}): it "
            "rests on the form of the distribution, not on observed times.",
        )


def _laws(fit: DurationFit) -> Iterator[Diagnostic]:
    if fit.within is not None:
        rejected = fit.within.p_value < REJECTED
        sentence = fit.within.sentence
        if rejected:
            sentence += (
                " Unless it is extrapolated, the mean is robust to this; its interval is a worker bootstrap."
            )
        yield (warning if rejected else info)("within_worker", sentence)
    by_name = {law.name: law for law in fit.laws}
    if not fit.laws:
        return
    best, ours = fit.laws[0], by_name[COMPOUND]
    if ours.aic - best.aic <= DECISIVE_AIC:
        return
    frailty = by_name.get(FRAILTY)
    shape = f" with shape {best.shape:.2f}" if frailty is best else ""
    yield warning(
        "better_law",
        f"The law '{best.name}'{shape} describes the durations better (AIC lower by {ours.aic - best.aic:.0f}); its mean "
        f"is {shown_time(best.mean)}, its standard deviation {shown_time(best.sd)}.",
    )


def _ends(excess: Excess | None) -> Iterator[Diagnostic]:
    if excess is not None and excess.z > CLEAR:
        yield warning(
            "dropout",
            f"In the last third of its time, nobody came back in {excess.observed:.0f} follows, where the fit expects "
            f"{excess.expected:.0f}: some workers may have left for good, which makes times away look longer.",
        )


def _grows(excess: Excess | None) -> Iterator[Diagnostic]:
    if excess is None or abs(excess.z) < CLEAR:
        return
    how = "longer" if excess.z > 0 else "shorter"
    yield warning(
        "window_dependent",
        f"From the first half of everybody's time the mean would be {shown_time(excess.expected)}, from all of it "
        f"{shown_time(excess.observed)}: times became {how} in the course of the study.",
    )


def _topics(excess: Excess | None) -> Iterator[Diagnostic]:
    if excess is not None and excess.z > CLEAR:
        yield warning(
            "topics_differ",
            f"One worker's rates differ between topics {excess.observed / excess.expected:.1f} times as much as chance "
            "explains; the model has one mean for all topics of a worker.",
        )
