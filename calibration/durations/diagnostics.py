"""What to know before using M and S of durations: each a name, a severity, and a sentence for a paper."""

from collections.abc import Iterator

import numpy as np

from calibration.durations.alternatives import COMPOUND, FRAILTY
from calibration.durations.checks import Excess, half_window, silent_end, simulate_totals, topics_apart
from calibration.durations.exposure import Exposure
from calibration.durations.likelihood import Totals
from calibration.durations.result import DurationFit
from calibration.inference.goodness import REJECTED
from calibration.inference.results import info, warning
from calibration.inference.wording import shown_time
from calibration.user_model.model import Diagnostic
from metrics.arrays import Floats

DECISIVE_AIC = 10.0
CLEAR = 2.5
MOST_SILENT = 0.5
SIMULATIONS = 99
SIMULATED_WORKERS = 1_000_000


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
