"""Which of many things that may be wrong with the plain model is, and which model has the numbers then.

Every cause is tested on the same data; their p-values are corrected together (Holm 1979), so that people who are as the model
says are left in peace. Causes that explain the same thing compete by likelihood: only the one that explains most is named.
"""

import math
from dataclasses import dataclass, field

from scipy.special import chdtrc, ndtr

from calibration.durations.at_risk import Design, Exposure, Totals
from calibration.durations.checks import (
    Days,
    Excess,
    compare_days,
    compare_hours,
    topics_apart,
    within_worker_test,
)
from calibration.durations.maximum import DurationMaximum
from calibration.durations.other_laws.alternatives import (
    FRAILTY,
    Alternative,
    alternatives,
    weibull_model,
    weibull_test,
)
from calibration.durations.other_laws.extended import Extended
from calibration.durations.other_laws.laws import (
    GAMMA,
    GENERALISED_GAMMA,
    LOG_T,
    TWO_KINDS,
    Fade,
    drop_outs,
    fade,
    heavy_tail,
    may_lack_sd,
    population_laws,
)
from calibration.inference.results import GoodnessOfFit
from metrics.agreement.comparison import holm

WITHIN, FADES, LEFT, DAYS, HOURS, TOPICS, LAW = "within", "fades", "left", "days", "hours", "topics", "law"

JOINT_LEVEL = 0.025
"""Share of right studies in which any cause but the law between workers is named."""
CLEAR_RATIO = {"window": 5.02, "count": 6.63}
"""Likelihood ratio beyond which another law between workers is named: one right study in forty, and in a hundred."""
CLEAR_TAILS = {"window": 2.71, "count": 5.41}
"""The same for heavier tails, a parameter at its bound: one right study in twenty, and in a hundred."""
BETTER_RATIO = {GENERALISED_GAMMA: 0.0, LOG_T: 0.1, TWO_KINDS: 1.0, GAMMA: -3.0, LEFT: 1.0}
"""Likelihood ratio beyond which the intervals hold a law with a shorter tail, a heavier one, two kinds of people, gamma rates, or drop-outs too."""
FEW_WORKERS = 60
"""Up to it no law between workers can be told from another: a heavy tail is held unless it explains clearly worse."""
TWO_KINDS_OF_FEW = 4.0
"""Likelihood ratio of two kinds of people among so few."""
WORSE_RATIO = -5.41
TWO_RATIO = 9.2
DECISIVE_AIC = 10.0
STRAIGHT = 0.05
"""A p-value below it has days fall, or rise, along a line, and not only differ."""
BY_ITSELF = 1e-4
"""A p-value below it names uneven days beside uneven intervals that are more evident."""
MANY_PIECES = 200_000
MANY_WORKERS = 5000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Causes:
    """What was found.

    Attributes
    ----------
    named : frozenset of str
        The causes that are told.
    held : Extended or None
        The model that has the numbers; None: the plain one.
    doubted : tuple of Extended
        Models with a shorter or a heavier tail, gamma rates, two kinds of people, or drop-outs, from which the plain one cannot be told: the intervals hold all.
    within : GoodnessOfFit or None
        The test of an exponential law within workers.
    laws : tuple of Alternative
        All laws on the same data, best first; empty for very large data.
    fade : Fade or None
        Interest in time.
    left : float
        Share of follows that ended for good, by the model of drop-outs.
    days : Days or None
        The calendar days compared.
    hours : float
        How many times as often people come at the busiest hour as on average.
    topics : Excess or None
        How a worker's visits spread over topics.
    regular : bool
        Whether a worker's intervals are more even than exponential ones, clearly or not.
    """

    named: frozenset[str]
    held: Extended | None
    doubted: tuple[Extended, ...]
    within: GoodnessOfFit | None
    laws: tuple[Alternative, ...] = ()
    fade: Fade | None = None
    left: float = 0.0
    days: Days | None = None
    hours: float = 1.0
    topics: Excess | None = None
    regular: bool = False


@dataclass(slots=True, kw_only=True, eq=False)
class _Evidence:
    """Models with their gain of twice the log-likelihood over the plain one, and p-values of the causes."""

    models: dict[str, Extended] = field(default_factory=dict)
    gain: dict[str, float] = field(default_factory=dict)
    p_values: dict[str, float] = field(default_factory=dict)


def find_causes(exposure: Exposure, top: DurationMaximum) -> Causes:
    """Test everything that may be wrong with the plain model of these data.

    Parameters
    ----------
    exposure : Exposure
        The data.
    top : DurationMaximum
        The plain fit of them, in seconds.
    """
    small = len(exposure.event) <= MANY_PIECES and exposure.units <= MANY_WORKERS
    plain = exposure.seen_by_seconds is None and small
    found = _Evidence()
    if plain:
        for model in population_laws(exposure.totals(), top):
            _enter(found, model.name, model, top)
    watched = plain and exposure.design == "window"
    fading = fade(exposure, top) if watched else None
    if fading is not None:
        found.gain[FADES] = 2 * (fading.loglik - top.top.loglik)
        found.p_values[FADES] = float(chdtrc(1, max(found.gain[FADES], 0.0)))
    leaving = drop_outs(exposure, top) if watched else None
    if leaving is not None:
        _enter(found, LEFT, leaving[0], top)
        found.p_values[LEFT] = float(chdtrc(1, max(found.gain[LEFT], 0.0))) / 2
    laws = alternatives(exposure, top, found.models.values()) if len(exposure.event) <= MANY_PIECES else ()
    spacings = within_worker_test(exposure)
    within = spacings or weibull_test(laws)
    regular = (
        spacings.statistic < 0 if spacings else any(law.name == FRAILTY and law.shape > 1 for law in laws)
    )
    found.gain[WITHIN] = next(
        (2 * (law.loglik - top.top.loglik) for law in laws if law.name == FRAILTY), math.inf
    )
    if within is not None:
        found.p_values[WITHIN] = within.p_value
    days = compare_days(exposure) if watched else None
    hours = compare_hours(exposure) if watched else None
    topics = topics_apart(exposure) if exposure.design == "window" else None
    for cause, p_value in (
        (DAYS, days and days.p_value),
        (HOURS, hours and hours[0]),
        (TOPICS, topics and float(ndtr(-topics.z))),
    ):
        if p_value is not None:
            found.p_values[cause] = p_value
    named = _named(found, days, exposure.design, regular=regular)
    held = _held(found, named, exposure, laws, regular=regular)
    return Causes(
        named=named,
        held=held,
        doubted=_doubted(found, named, exposure.totals(), top) if held is None else (),
        within=within,
        laws=laws,
        fade=fading,
        left=leaving[1] if leaving else 0.0,
        days=days,
        hours=hours[1] if hours else 1.0,
        topics=topics,
        regular=regular,
    )


def _enter(found: _Evidence, name: str, model: Extended, top: DurationMaximum) -> None:
    found.models[name] = model
    found.gain[name] = 2 * (model.loglik - top.top.loglik)


def _named(found: _Evidence, days: Days | None, design: Design, *, regular: bool) -> frozenset[str]:
    """Return the causes that are clear, without those that another one explains."""
    adjusted = holm(list(found.p_values.values()))
    named = {name for name, p in zip(found.p_values, adjusted, strict=True) if p <= JOINT_LEVEL}
    if HOURS in named and found.p_values[HOURS] < found.p_values.get(FADES, 1.0):
        named.discard(FADES)
    if DAYS in named and days is not None and days.trend_p_value > STRAIGHT:
        named -= {FADES, LEFT}
    if WITHIN in named and not regular:
        named -= _explained(found.p_values, named)
    rivals = {name: found.gain[name] for name in (WITHIN, FADES, LEFT) if name in named}
    if law := _law_gain(found, design):
        rivals[LAW] = law
    return frozenset(
        named - {WITHIN, FADES, LEFT} | ({max(rivals, key=rivals.__getitem__)} if rivals else set())
    )


def _explained(p_values: dict[str, float], named: set[str]) -> set[str]:
    """Return what of uneven intervals and uneven days and hours is there because of the other, by the smaller p."""
    common = named & {DAYS, HOURS}
    if any(p_values[one] <= p_values[WITHIN] for one in common):
        return {WITHIN}
    return {one for one in common if p_values[one] > BY_ITSELF}


def _law_gain(found: _Evidence, design: Design) -> float:
    """Return how much the best of the other laws between workers gains, if one is clearly better; else 0."""
    clear = {GENERALISED_GAMMA: CLEAR_RATIO[design], TWO_KINDS: TWO_RATIO, LOG_T: CLEAR_TAILS[design]}
    gains = {name: found.gain[name] for name in clear if found.gain.get(name, 0.0) > clear[name]}
    return max(gains.values(), default=0.0)


def _held(
    found: _Evidence,
    named: frozenset[str],
    exposure: Exposure,
    laws: tuple[Alternative, ...],
    *,
    regular: bool,
) -> Extended | None:
    """Return the model that clearly explains what is named, whose numbers are published; None for the plain one."""
    if WITHIN in named:
        weibull = next((law for law in laws if law.name == FRAILTY), None)
        return weibull_model(exposure, weibull) if regular and weibull is not None else None
    if LEFT in named:
        return found.models[LEFT]
    if LAW not in named:
        return None
    gamma, kinds, tails, rates = (found.models[name] for name in (GENERALISED_GAMMA, TWO_KINDS, LOG_T, GAMMA))
    if kinds.aic < gamma.aic - DECISIVE_AIC:
        return kinds
    clear = CLEAR_RATIO[exposure.design]
    if gamma.point[2] < 0 and rates.aic < gamma.aic:  # a power tail
        told = found.gain[GAMMA] > clear and rates.aic < tails.aic and not may_lack_sd(rates)
        return rates if told else None
    return gamma if gamma.loglik > tails.loglik and found.gain[GENERALISED_GAMMA] > clear else None


def _doubted(
    found: _Evidence, named: frozenset[str], totals: Totals, top: DurationMaximum
) -> tuple[Extended, ...]:
    """Return the models that explain the data as well as the plain one, or a little better, with other numbers."""
    if named - {TOPICS, LAW}:
        return ()
    short = GENERALISED_GAMMA in found.models and found.models[GENERALISED_GAMMA].point[2] > 0
    asked = {GENERALISED_GAMMA: short, LOG_T: True, TWO_KINDS: True, GAMMA: True, LEFT: LAW not in named}
    models, least = found.models, BETTER_RATIO
    if len(totals) <= FEW_WORKERS and LOG_T in models:
        least = BETTER_RATIO | {TWO_KINDS: TWO_KINDS_OF_FEW}
        heavy = heavy_tail(totals, top)
        if 2 * (heavy.loglik - top.top.loglik) > WORSE_RATIO:
            models, least = models | {LOG_T: heavy}, least | {LOG_T: -math.inf}
    return tuple(
        models[name] for name, may in asked.items() if may and found.gain.get(name, -math.inf) > least[name]
    )
