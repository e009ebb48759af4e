"""Weights of the contingency framework, from preferences between push streams.

The utility of a stream is G_E gain - P_E nonrelevant_eventful - S_E silent_eventful - P_0 nonrelevant_silent
+ S_0 silent_silent (Tan et al., SIGIR 2016, table 1), and the choice between two follows a logit of the difference with
ties (`calibration.inference.choice`). There is no intercept: streams have no side of their own. Only ratios
have a meaning outside a study, so weights are reported relative to G_E.

Judgments of one topic share its streams, and what the cells do not explain stays with the streams; judgments of one person share that
person. The covariance is that of both ways at once (`calibration.inference.choice.crossed_covariance`), Student's t has
min(workers, topics) - 1 degrees of freedom, and the interval of a ratio is Fieller's, however strong gain is. Doubts are in
`calibration.checks.push`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
import pandas as pd
from scipy.special import stdtr, stdtrit

from calibration.inference.choice import (
    TIES,
    ChoiceMaximum,
    ChoiceModel,
    Ties,
    crossed_covariance,
    maximise,
    separated_columns,
)
from calibration.inference.formatting import format_p, label_axes, shown_level
from calibration.inference.results import (
    LEVEL,
    CalibrationResult,
    NotIdentifiedError,
    SkippedParameters,
    info,
    on_single,
)
from calibration.inference.uncertainty import Interval, Scale, Scales
from calibration.models.push.columns import identified, variance_inflation
from calibration.models.push.judgments import (
    WEIGHTS,
    PairVotes,
    PushJudgments,
    expected_shares,
    pair_votes_of,
    simulated_tables,
)
from calibration.user_model.model import PARAMETERS, Diagnostic
from metrics.arrays import Floats, Ints
from metrics.errors import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_METHODS = MappingProxyType(
    {
        "davidson": "difference logit, Davidson ties",
        "half": "difference logit, half votes",
        "drop": "difference logit, ties dropped",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FitData:
    """Design, votes and clusters of a fit.

    Attributes
    ----------
    design : (n, k) ndarray of float
        Left minus right.
    vote : (n,) ndarray of float
        1, -1, or 0 for a tie.
    worker, topic : (n,) ndarray of int
        From 0 without holes.
    """

    design: Floats
    vote: Floats
    worker: Ints
    topic: Ints

    @property
    def workers(self) -> int:
        """Number of workers."""
        return int(self.worker.max()) + 1

    @property
    def topics(self) -> int:
        """Number of profiles."""
        return int(self.topic.max()) + 1

    def model(self, ties: Ties) -> ChoiceModel:
        """Return the model of the choices, each judgment counted once."""
        return ChoiceModel(design=self.design, vote=self.vote, ties=ties, times=np.ones(len(self.vote)))

    @property
    def has_clusters(self) -> bool:
        """True if there are several workers and several topics.

        Otherwise differences between them are unknown.
        """
        return min(self.workers, self.topics) > 1


def fit_data(judgments: PushJudgments, design: Floats, ties: Ties) -> FitData:
    """Return the fit data of judgments with a (n, k) design.

    Convention ``drop`` leaves out ties.

    Raises
    ------
    ValueError
        If there is no such treatment of ties.
    NotIdentifiedError
        If nobody preferred a stream.
    """
    if ties not in TIES:
        raise ValueError(f"ties must be one of {', '.join(TIES)}, got {ties!r}")
    if not judgments.vote.any():
        raise NotIdentifiedError("every judgment is a tie: nobody preferred a stream")
    used = judgments.vote != 0 if ties == "drop" else np.ones(len(judgments.vote), dtype=bool)
    worker, topic = (pd.factorize(code[used], sort=True)[0] for code in (judgments.worker, judgments.topic))
    return FitData(design=design[used], vote=judgments.vote[used], worker=worker, topic=topic)


@dataclass(frozen=True, slots=True, kw_only=True)
class RawWeights:
    """Weights as fitted, in log odds.

    Attributes
    ----------
    names : tuple of str
        G_E first.
    weights : (k,) ndarray of float
        Estimates.
    cov : (k, k) ndarray of float
        Their covariance.
    df : int
        Degrees of freedom of Student's t.
    """

    names: tuple[str, ...]
    weights: Floats
    cov: Floats
    df: int

    @property
    def in_errors(self) -> Floats:
        """Weights in standard errors, (k,)."""
        return np.asarray(self.weights / np.sqrt(np.diag(self.cov)))

    def t(self, level: float) -> float:
        """Return the half-width of an interval in standard errors."""
        return float(stdtrit(self.df, (1 + level) / 2))

    @property
    def ratios(self) -> Floats:
        """Weights relative to G_E, (k - 1,)."""
        return np.asarray(self.weights[1:] / self.weights[0])

    @property
    def ratio_cov(self) -> Floats:
        """Covariance of the ratios by the delta method, (k - 1, k - 1)."""
        slopes = np.column_stack([-self.ratios, np.eye(len(self.ratios))]) / self.weights[0]
        return np.asarray(slopes @ self.cov @ slopes.T)


@dataclass(frozen=True, slots=True, kw_only=True)
class FiellerRatios:
    """Fieller's intervals of ratios to G_E.

    An interval is {r : (w - r g)^2 <= t^2 Var(w - r g)}.

    They hold their level however weak g is. Where the set has no end, so has the interval; of two rays the one with
    the estimate is taken, because G_E is positive.

    Attributes
    ----------
    raw : RawWeights
        With a positive G_E.
    """

    raw: RawWeights

    @property
    def scale(self) -> Scales:
        """Working scale: the identity."""
        return Scale.IDENTITY

    @property
    def cov(self) -> Floats:
        """Covariance by the delta method, (k, k)."""
        return self.raw.ratio_cov

    def intervals(self, level: float) -> tuple[Interval, ...]:
        """Return the interval of each ratio."""
        t = self.raw.t(level)
        return tuple(self._interval(column, t) for column in range(1, len(self.raw.weights)))

    def _interval(self, column: int, t: float) -> Interval:
        g, w = self.raw.weights[0], self.raw.weights[column]
        v = self.raw.cov
        a = g**2 - t**2 * v[0, 0]
        half_b = g * w - t**2 * v[0, column]
        c = w**2 - t**2 * v[column, column]
        inside = half_b**2 - a * c
        if inside <= 0:
            return None, None
        roots = sorted((half_b + sign * np.sqrt(inside)) / a for sign in (-1, 1))
        if a > 0:
            return float(roots[0]), float(roots[1])
        return (float(roots[1]), None) if w / g >= roots[1] else (None, float(roots[0]))

    def draws(self, n: int, rng: np.random.Generator) -> Floats:
        """Draw ratios from normal draws of the weights with a positive G_E, (n, k)."""
        kept = np.empty((0, len(self.raw.weights)))
        while len(kept) < n:
            drawn = rng.multivariate_normal(self.raw.weights, self.raw.cov, size=2 * n)
            kept = np.concatenate([kept, drawn[drawn[:, 0] > 0]])
        return np.asarray(kept[:n, 1:] / kept[:n, :1])


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightFit:
    """Weights that the judgments identify, with their covariance.

    Attributes
    ----------
    names : tuple of str
        Of the weights that can be told.
    weights : (k,) ndarray of float
        Their estimates, in log odds.
    raw : RawWeights or None
        The same with their covariance; None where nothing is known about differences between workers or topics.
    kept, told : tuple of int
        FittedColumns that were fitted, and those among them whose weights can be told.
    unclear : dict of int to str
        The other columns -> why.
    maximum : ChoiceMaximum
        The fit to the columns kept.
    """

    names: tuple[str, ...]
    weights: Floats
    raw: RawWeights | None
    kept: tuple[int, ...]
    told: tuple[int, ...]
    unclear: dict[int, str]
    maximum: ChoiceMaximum


def fit_identified_weights(
    judged: FitData,
    names: tuple[str, ...],
    ties: Ties,
    *,
    needed: int = 1,
    errors: bool = True,
) -> WeightFit:
    """Fit the weights that the judgments identify.

    Parameters
    ----------
    judged : Judged
        The judgments.
    names : tuple of str
        Of the design's columns, gain first.
    ties : str
        How ties enter.
    needed : int
        The first so many weights must be told.
    errors : bool
        Find their covariance too, which takes most of the time.

    Raises
    ------
    NotIdentifiedError
        If one of the needed weights cannot be told, or that of gain is not positive.
    """
    columns = identified(judged.design, names)
    _need(columns.unclear, needed)
    kept = list(columns.kept)
    maximum = maximise(judged.design[:, kept], judged.vote, ties)
    endless = separated_columns(maximum, judged.design[:, kept])
    unclear = columns.unclear | {
        kept[
            column
        ]: f"every vote follows what {names[kept[column]]} weighs, so that no finite weight explains them best"
        for column in endless
    }
    _need(unclear, needed)
    _need_gain(float(maximum.weights[0]))
    identified_columns = tuple(column for column in kept if column not in unclear)
    places = [kept.index(column) for column in identified_columns]
    weight_fit = WeightFit(
        names=tuple(names[column] for column in identified_columns),
        weights=maximum.weights[places],
        raw=None,
        kept=tuple(kept),
        told=identified_columns,
        unclear=unclear,
        maximum=maximum,
    )
    if not errors or not judged.has_clusters:
        return weight_fit
    return replace(weight_fit, raw=_with_errors(judged, weight_fit, places, ties))


def _need(unclear: dict[int, str], needed: int) -> None:
    for column in range(needed):
        if column in unclear:
            raise NotIdentifiedError(unclear[column])


def _need_gain(gain: float) -> None:
    if not gain > 0:
        raise NotIdentifiedError(
            f"these people do not prefer streams with more gain (its weight is {gain:.2g} in log odds), so no weight can be "
            "estimated relative to it; if there are many judgments, check the signs of the cells, and that choice names the side "
            "on which a stream was shown"
        )


def _with_errors(judged: FitData, weight_fit: WeightFit, places: list[int], ties: Ties) -> RawWeights:
    model = replace(judged, design=judged.design[:, weight_fit.kept]).model(ties)
    cov = crossed_covariance(model, weight_fit.maximum.point, judged.worker, judged.topic)
    return RawWeights(
        names=weight_fit.names,
        weights=weight_fit.weights,
        cov=cov[np.ix_(places, places)],
        df=min(judged.workers, judged.topics) - 1,
    )


SILENT_LEVEL = 0.05
Verdict: TypeAlias = Literal["supported", "not supported", "undecided"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SilentDays:
    """Answer whether silence on a silent day should be rewarded.

    S_0 > 0 rewards it, as in ELG-1; ELG-0 does not.

    Attributes
    ----------
    ratio : float
        S_0 / G_E.
    interval : (float or None, float or None)
        Its 95 % interval.
    p_value : float
        One-sided, of S_0 <= 0.
    """

    ratio: float
    interval: Interval
    p_value: float

    @property
    def verdict(self) -> Verdict:
        """Verdict on S_0 > 0 at 5 %: supported, not supported or undecided.

        It is supported where S_0 <= 0 is rejected at 5 %, not supported where S_0 >= 0 is, else undecided.
        """
        if self.p_value < SILENT_LEVEL:
            return "supported"
        return "not supported" if self.p_value > 1 - SILENT_LEVEL else "undecided"

    @property
    def sentence(self) -> str:
        """Verdict as a sentence."""
        low, high = ("no bound" if end is None else f"{end:.2f}" for end in self.interval)
        unclear = ": these judgments do not identify it" if self.verdict == "undecided" else ""
        answer = f"Silent days: reward {self.verdict}{unclear} (95 % CI of S_0/G_E from {low} to {high})"
        return f"{answer}; one-sided {format_p(self.p_value)}."


def silent_days(raw: RawWeights | None) -> SilentDays | None:
    """Return the answer on silent days, or None if S_0 is not identified."""
    if raw is None or "S_0" not in raw.names:
        return None
    column = raw.names.index("S_0")
    return SilentDays(
        ratio=float(raw.ratios[column - 1]),
        interval=FiellerRatios(raw=raw).intervals(1 - SILENT_LEVEL)[column - 1],
        p_value=float(stdtr(raw.df, -raw.in_errors[column])),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PushFit(CalibrationResult):
    """Fitted weights, relative to G_E.

    Attributes
    ----------
    skipped : tuple of SkippedParameters
        Weights that the pairs cannot tell, and why.
    search : WeightFit
        The weights in log odds with their covariance, which columns of `WEIGHTS` were fitted, and the maximum.
    ties : str
        How ties were treated.
    votes : PairVotes
        How often which stream of each pair was preferred.
    """

    skipped: tuple[SkippedParameters, ...]
    search: WeightFit
    ties: Ties
    votes: PairVotes

    @property
    def silent(self) -> SilentDays | None:
        """Answer on silent days, or None if S_0 is not identified."""
        return silent_days(self.search.raw)

    def plot_weights(self, ax: "Axes", *, level: float = LEVEL) -> None:
        """Plot each weight with its interval beside G_E = 1."""
        weights = list(self.parameters.items())
        ax.plot([value for _, value in weights], range(len(weights)), "o", color="black")
        ax.axvline(0, color="0.6", linewidth=0.8)
        ax.axvline(1, color="#0072B2", linestyle=":", label="G_E = 1")
        intervals = self.conf_int(level).values()
        finite = [end for ends in intervals for end in ends if end is not None]
        shown = [0.0, 1.0, *self.parameters.values()]
        beside = (max(shown) - min(shown)) / 20
        left, right = min([min(shown) - beside, *finite]) - 0.1, max([max(shown) + beside, *finite]) + 0.1
        for index, (low, high) in enumerate(intervals):
            style = "--" if None in {low, high} else "-"
            ends = [left if low is None else low, right if high is None else high]
            ax.plot(ends, [index, index], color="black", linestyle=style)
        ax.set_yticks(range(len(weights)), [name.removeprefix("push_") for name, _ in weights])
        ax.set(xlim=(left, right), ylim=(len(weights) - 0.5, -0.5))
        ax.set_xlabel(f"weight relative to gain ({shown_level(level)} interval, dashed: open)")
        label_axes(
            ax, "Push weights beside gain", "an interval that holds 0 leaves the sign of a weight open"
        )

    def simulate(self, n: int, rng: np.random.Generator) -> dict[str, pd.DataFrame]:
        """Draw tables preferences and push_cells with n judgments from the fitted model.

        The pairs are those of the data.

        Raises
        ------
        ValueError
            If ties were taken as half votes, which is no model of votes.
        """
        if self.ties == "half":
            raise ValueError("half votes are no model to simulate from; fit with ties='davidson'")
        shares = expected_shares(self.votes.difference[:, self.search.kept], self.search.maximum, self.ties)
        return simulated_tables(self.votes, shares, n, rng)


def fit_push_weights(judgments: PushJudgments, *, ties: Ties = "davidson") -> PushFit:
    """Fit the weights of the contingency framework to preferences.

    Parameters
    ----------
    judgments : PushJudgments
        As `calibration.models.push.judgments.push_judgments` joins them of tables preferences and push_cells.
    ties : {'davidson', 'half', 'drop'}
        How equally good and equally bad judgments enter.

    Returns
    -------
    PushFit
        With those of ``push_P_E``, ``push_S_E``, ``push_P_0``, ``push_S_0`` that can be told. Interval method: ``fieller``; none with a
        single topic or worker.

    Raises
    ------
    NotIdentifiedError
        If everybody is undecided, G_E cannot be told or is not positive, or no other weight can be told.
    ValueError
        If there is no such treatment of ties.
    """
    judged = fit_data(judgments, judgments.difference, ties)
    weight_fit = fit_identified_weights(judged, WEIGHTS, ties)
    if weight_fit.told == (0,):
        raise NotIdentifiedError("; ".join(dict.fromkeys(weight_fit.unclear.values())))
    return PushFit(
        parameters=MappingProxyType(_relative(weight_fit)),
        unit=PARAMETERS["push_P_E"],
        method=_METHODS[ties],
        uncertainty=MappingProxyType(
            {} if weight_fit.raw is None else {"fieller": FiellerRatios(raw=weight_fit.raw)}
        ),
        loglik=weight_fit.maximum.loglik,
        n_free=len(weight_fit.maximum.point),
        n_workers=judged.workers,
        n_rows=len(judged.vote),
        details=MappingProxyType(_details(judged, weight_fit)),
        diagnostics=(*facts_of(judgments, judged), *_on_silent_days(judgments, weight_fit)),
        skipped=_skipped(weight_fit.unclear),
        search=weight_fit,
        ties=ties,
        votes=pair_votes_of(judgments),
    )


def facts_of(judgments: PushJudgments, judged: FitData) -> Iterator[Diagnostic]:
    """Yield notes on the cells in use, and on missing intervals."""
    if judgments.convention is not None:
        yield info("convention", f"The cells are those of the convention {judgments.convention}.")
    yield from on_single("worker", judged.workers)
    yield from on_single("topic", judged.topics)


def _on_silent_days(judgments: PushJudgments, weight_fit: WeightFit) -> Iterator[Diagnostic]:
    silent = silent_days(weight_fit.raw)
    if silent is None:
        return
    yield info("silent_days", silent.sentence)
    if judgments.revealed is not None:
        yield info(
            "silent_days_revealed",
            f"In {percent(judgments.revealed)} of the judgments the page said which days were silent; elsewhere people "
            "cannot know it.",
        )


def _relative(weight_fit: WeightFit) -> dict[str, float]:
    ratios = weight_fit.weights[1:] / weight_fit.weights[0]
    return {f"push_{name}": ratio for name, ratio in zip(weight_fit.names[1:], ratios.tolist(), strict=True)}


def _skipped(unclear: dict[int, str]) -> tuple[SkippedParameters, ...]:
    """Return the weights that are not identified, grouped by reason."""
    reasons = dict.fromkeys(unclear[column] for column in sorted(unclear))
    return tuple(
        SkippedParameters(
            names=tuple(f"push_{WEIGHTS[column]}" for column in sorted(unclear) if unclear[column] == reason),
            reason=reason,
        )
        for reason in reasons
    )


def _details(judged: FitData, weight_fit: WeightFit) -> dict[str, float]:
    inflation = variance_inflation(judged.design[:, weight_fit.kept])
    details = {"topics": float(judged.topics), "ties": float((judged.vote == 0).sum())}
    details |= {
        f"{name}_log_odds": w for name, w in zip(weight_fit.names, weight_fit.weights.tolist(), strict=True)
    }
    if weight_fit.maximum.tie is not None:
        details["tie_parameter"] = weight_fit.maximum.tie
    kept = [WEIGHTS[column] for column in weight_fit.kept]
    return details | {f"vif_{name}": v for name, v in zip(kept, inflation.tolist(), strict=True)}
