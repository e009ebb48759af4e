"""What to know before using the numbers of a duration fit: its diagnostics, the number of visits first."""

from collections.abc import Iterator

import numpy as np

from calibration.durations.at_risk import Exposure, Totals
from calibration.durations.checks import calendar_days, simulate_totals
from calibration.durations.other_laws.alternatives import COMPOUND, FRAILTY
from calibration.durations.other_laws.causes import (
    DAYS,
    DECISIVE_AIC,
    FADES,
    FEW_WORKERS,
    HOURS,
    LAW,
    LEFT,
    TOPICS,
    WITHIN,
    Causes,
)
from calibration.durations.other_laws.extended import TOGETHER, Extended
from calibration.durations.other_laws.laws import DROP_OUTS, GAMMA, GENERALISED_GAMMA, LOG_T, TWO_KINDS
from calibration.durations.result import DurationFit
from calibration.inference.results import info, warning
from calibration.inference.wording import shown_time
from calibration.user_model.model import Diagnostic
from metrics.arrays import Floats
from metrics.errors import counted

TOO_SMALL = (
    (30, ""),
    (12, ", and S comes out too small, by about a tenth"),
    (8, ", and S comes out too small, by about a fifth"),
    (0, ", and S comes out too small, by a third and more"),
)
"""Workers from which on S is off by so much as a rule: medians of 200 simulated studies of log-normal people, S = M, over a week."""
FEW_DAYS = 7
"""Calendar days below which a study is one draw of days that can hardly be compared."""
MOST_SILENT = 0.5
SIMULATIONS = 399
SIMULATED_WORKERS = 1_000_000


def diagnose(fit: DurationFit, exposure: Exposure, causes: Causes) -> tuple[Diagnostic, ...]:
    """Return every diagnostic of a fit; visits observed against simulated come first."""
    return (
        *_visits(fit, causes),
        *_few(fit),
        *_design(fit, exposure),
        *_within(fit, causes),
        *_time(fit, exposure, causes),
        *_between(fit, causes),
        *_better_law(fit, causes),
        *_topics(causes),
        *_spread(fit),
    )


def _visits(fit: DurationFit, causes: Causes) -> Iterator[Diagnostic]:
    """Compare the number of visits with the plain model's: it is what MSU takes from the fit."""
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
        f"Workers came back {seen[0]:.3g} times on average (median {seen[1]:.3g}, never {seen[2]:.1%}); workers of a "
        f"log-normal population, watched as long, do so {mean:.3g} times (median {median:.3g}, never {none:.1%})."
    )
    low, high = drawn.min(axis=0), drawn.max(axis=0)
    strange = (seen < low) | (seen > high)
    if times == SIMULATIONS and strange.any() and fit.held is None and not causes.named:
        yield warning("visits_per_worker", sentence + " The model does not reproduce this.")
    else:
        yield info("visits_per_worker", sentence)


def _summary(totals: Totals) -> Floats:
    n = totals.events
    return np.array([n.mean(), np.median(n), (n == 0).mean()])


def _few(fit: DurationFit) -> Iterator[Diagnostic]:
    if (fit.n_workers or 0) > FEW_WORKERS:
        return
    off = next(how for least, how in TOO_SMALL if (fit.n_workers or 0) >= least)
    yield warning(
        "few_workers",
        f"There are {fit.n_workers} workers. With {FEW_WORKERS} or fewer, the mean and the standard deviation (S) of the workers' means rest "
        f"on the log-normal law, which so few cannot confirm: with a heavy tail both come out far too small{off}. "
        "The intervals allow for such a tail where nothing speaks against it. Report the median and the quartiles, and ask more people.",
    )


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
    mean = float(fit.estimates[0])
    if mean > watched:
        yield warning(
            "extrapolated",
            f"The mean is {mean / watched:.1f} times as long as workers were watched ({shown_time(watched)}): it "
            "rests on the form of the distribution, not on observed times.",
        )


def _plain(fit: DurationFit) -> str:
    return f"the plain model says mean {shown_time(fit.top.mean)} and standard deviation {shown_time(fit.top.sd)}"


def _other(model: Extended) -> str:
    mean, sd = np.exp(model.values(model.point)[:2]).tolist()
    return f"the mean would be {shown_time(mean)} and the standard deviation {shown_time(sd)}"


def _within(fit: DurationFit, causes: Causes) -> Iterator[Diagnostic]:
    if causes.within is None:
        return
    sentence = causes.within.sentence
    if WITHIN not in causes.named:
        yield info("within_worker", sentence)
    elif causes.regular:
        numbers = f"the numbers are those of Weibull intervals; {_plain(fit)}" if fit.held else _plain(fit)
        yield warning(
            "regular_visits",
            f"{sentence} People come by habit, such as once a day at an hour of their own: {numbers}. Chance between visits "
            "is then smaller than the plain model thinks, and differences between workers are larger. MSU draws exponential "
            "times, which are less even than these.",
        )
    else:
        yield warning(
            "within_worker",
            f"{sentence} Unless it is extrapolated, the mean is robust to this; its interval is a worker bootstrap where there "
            "are enough workers.",
        )


def _time(fit: DurationFit, exposure: Exposure, causes: Causes) -> Iterator[Diagnostic]:
    if FADES in causes.named and causes.fade is not None:
        one = causes.fade
        last = float(exposure.stop.max()) / exposure.day_seconds
        times = (
            f"the mean time away is {shown_time(one.first)} on the first day and {shown_time(one.last)} after {last:.3g} days. "
            "One number is an average of both: say which time it is about."
        )
        if one.slope > 0:
            yield warning("interest_fades", f"Workers came less and less often: {times}")
        else:
            yield warning("interest_grows", f"Workers came more and more often: {times}")
    if LEFT in causes.named:
        yield warning(
            "drop_outs",
            f"About {causes.left:.0%} of the follows ended for good before their end: nobody came back any more, although the visits "
            f"before lead to expect it. {_left_numbers(fit)} Ask for a sign of life (last_seen_at).",
        )
    for left in (one for one in causes.doubted if one.name == DROP_OUTS):
        yield info(
            "drop_outs",
            f"Some people may have left for good ({causes.left:.0%}); {_other(left)}. It cannot be told, and the intervals hold both.",
        )
    if DAYS in causes.named and causes.days is not None:
        days = causes.days
        yield warning(
            "days_differ",
            f"Everybody came more on some of the {days.n_days} days than on others: {days.low:.2g} times as often as on average on "
            f"quiet days, {days.high:.2g} times on busy ones. The intervals hold the draw of the days too; the estimate is of "
            "these days, and others would give another.",
        )
    elif 0 < (count := len(calendar_days(exposure))) < FEW_DAYS:
        yield warning(
            "few_days",
            f"The study ran over {counted(count, 'day')}. So few hardly show whether people come more on some days "
            "than on others; if they do, the mean on other days may be further off than the interval says. Run over a week or more.",
        )
    if HOURS in causes.named:
        yield warning(
            "hours_differ",
            f"People come more at some hours of the day than at others, up to {causes.hours:.2g} times as often as on average. MSU "
            "draws times away without day and night; the mean is one over whole days.",
        )


def _left_numbers(fit: DurationFit) -> str:
    if fit.held is None:
        return f"With them, {_plain(fit)}, which is too long."
    return f"The numbers are of times away until then; {_plain(fit)}."


def _between(fit: DurationFit, causes: Causes) -> Iterator[Diagnostic]:
    of_law = fit.held is not None and fit.held.name in {GENERALISED_GAMMA, TWO_KINDS, GAMMA}
    if LAW in causes.named and not of_law:
        yield warning(
            "population_law",
            "The workers' means do not follow a log-normal law: some are far from the others, and the mean and the standard "
            "deviation rest on a tail that nobody saw. Report the median and the quartiles, which do not.",
        )
    elif fit.held is not None and fit.held.name == TOGETHER:
        yield info(
            "fitted_together",
            f"Sessions are fitted together with times away, because who comes more often stays longer, or less: {_plain(fit)}.",
        )
    elif of_law:
        law = fit.held.name.removesuffix(", exponential").removesuffix(" means") if fit.held else ""
        sentence = f"The numbers are of the law '{law}' of the workers' means; {_plain(fit)}."
        yield warning("population_law", f"The workers' means do not follow a log-normal law. {sentence}")
    else:
        yield from _open_laws(causes)


def _open_laws(causes: Causes) -> Iterator[Diagnostic]:
    """Say which laws of the workers' means the data leave open, and what they would give."""
    tails = {
        GENERALISED_GAMMA: "with a shorter tail, ",
        LOG_T: "with a heavier tail, of which the standard deviation has no upper end, ",
        TWO_KINDS: "with two kinds of people, ",
        GAMMA: "with gamma rates of coming back, ",
    }
    found = [f"{tails[one.name]}{_other(one)}" for one in causes.doubted if one.name in tails]
    if found:
        yield info(
            "population_law",
            f"The law of the workers' means is left open: {'; '.join(found)}. The intervals hold all of them; the median and the "
            "quartiles depend on the law least.",
        )


def _better_law(fit: DurationFit, causes: Causes) -> Iterator[Diagnostic]:
    """Name a law that nothing else named, if it is far better."""
    if not fit.laws or causes.named - {TOPICS, WITHIN} or fit.held is not None:
        return
    best, ours = fit.laws[0], next(law for law in fit.laws if law.name == COMPOUND)
    if ours.aic - best.aic <= DECISIVE_AIC:
        return
    shape = f" with shape {best.shape:.2f}" if best.name == FRAILTY else ""
    yield warning(
        "better_law",
        f"The law '{best.name}'{shape} describes the durations better (AIC lower by {ours.aic - best.aic:.0f}); its mean "
        f"is {shown_time(best.mean)}, its standard deviation {shown_time(best.sd)}.",
    )


def _topics(causes: Causes) -> Iterator[Diagnostic]:
    excess = causes.topics
    if TOPICS in causes.named and excess is not None:
        yield warning(
            "topics_differ",
            f"One worker's rates differ between topics {excess.observed / excess.expected:.1f} times as much as chance "
            "explains; the model has one mean for all topics of a worker.",
        )


def _spread(fit: DurationFit) -> Iterator[Diagnostic]:
    if not fit.estimates[1]:
        yield info(
            "no_spread",
            "Workers do not differ more than chance explains: S is 0, and the upper end of its interval is what is known.",
        )
