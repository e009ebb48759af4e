"""Weights of the contingency framework, from preferences between push streams.

The utility of a stream is G_E gain - P_E nonrelevant_eventful - S_E silent_eventful - P_0 nonrelevant_silent
+ S_0 silent_silent (Tan et al., SIGIR 2016, table 1), and the choice between two follows a logit of the difference with
ties (`calibration.push.likelihood`). There is no intercept: streams have no side of their own. Only ratios
have a meaning outside a study, so weights are reported relative to G_E. Errors allow for workers and topics
(`calibration.push.errors`).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from calibration.inference.clusters import cluster_counts
from calibration.inference.results import (
    LEVEL,
    CalibrationResult,
    GoodnessOfFit,
    NotIdentifiedError,
    Skipped,
    info,
)
from calibration.inference.uncertainty import Replicates, StudentT, Uncertainty
from calibration.inference.wording import finish, shown_level
from calibration.push.errors import STRONG_GAIN, FiellerRatios, PainByDays, RawWeights, with_sum
from calibration.push.likelihood import ChoiceMaximum, Ties, maximise, maximise_nonnegative
from calibration.push.notes import (
    SilentDays,
    note_on_sides,
    notes_on_clusters,
    notes_on_tie_labels,
    notes_on_weights,
    silent_days,
)
from calibration.push.pain import allowing_for, fitted_in, forms_of, left_open, notes_on_forms
from calibration.push.pairs import (
    OUTCOMES,
    WEIGHTS,
    PairVotes,
    PushJudgments,
    expected_shares,
    notes_on_judgments,
    pair_votes_of,
    push_judgments,
    simulated_tables,
    unexplained_test,
)
from calibration.push.search import (
    Judged,
    WeightSearch,
    judged_by,
    notes_on_collinearity,
    search_weights,
    variance_inflation,
)
from calibration.user_model.model import PARAMETERS, Diagnostic
from metrics.arrays import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RESAMPLES = 200
_METHODS = MappingProxyType(
    {
        "davidson": "difference logit, Davidson ties",
        "rao_kupper": "difference logit, Rao-Kupper ties",
        "half": "difference logit, half votes",
        "drop": "difference logit, ties dropped",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PushFit(CalibrationResult):
    """The fitted weights, relative to G_E.

    Attributes
    ----------
    skipped : tuple of Skipped
        Weights that the pairs cannot tell, and why.
    raw : RawWeights or None
        The weights in log odds with their covariance; None without intervals.
    silent : SilentDays or None
        Whether a silent day should be rewarded; None where that cannot be told, or was presumed by ``nonneg``.
    places : tuple of int
        FittedColumns of `WEIGHTS` that were fitted.
    maximum : ChoiceMaximum
        The fit to these columns.
    ties : str
        How ties were treated.
    votes : PairVotes
        How often which stream of each pair was preferred.
    """

    skipped: tuple[Skipped, ...]
    raw: RawWeights | None
    silent: SilentDays | None
    places: tuple[int, ...]
    maximum: ChoiceMaximum
    ties: Ties
    votes: PairVotes

    def goodness_of_fit(self, n_boot: int = 99, seed: int = 1) -> tuple[GoodnessOfFit, ...]:
        """Test whether people prefer streams for more than their cells.

        Parameters
        ----------
        n_boot, seed : int
            Simulated data sets, and the seed of their simulation.

        Returns
        -------
        tuple of GoodnessOfFit
            Empty for ``ties="half"``, which is no model of votes.
        """
        if self.ties == "half":
            return ()
        votes = self.votes.votes if self.maximum.tie is not None else self.votes.votes[:, :2]
        judged = votes.sum(axis=1) > 0
        difference = self.votes.difference[judged][:, self.places]
        return (
            unexplained_test(difference, votes[judged], self.maximum, self.ties, n_boot=n_boot, seed=seed),
        )

    def plot_weights(self, ax: "Axes", *, level: float = LEVEL) -> None:
        """Draw each weight with its interval beside G_E = 1."""
        weights = list(self.parameters.items())
        ax.plot([value for _, value in weights], range(len(weights)), "o", color="black")
        ax.axvline(0, color="0.6", linewidth=0.8)
        ax.axvline(1, color="#0072B2", linestyle=":", label="G_E = 1")
        intervals = self.conf_int(level).values()
        finite = [end for ends in intervals for end in ends if end is not None]
        shown = [0.0, 1.0, *self.parameters.values()]
        beside = (max(shown) - min(shown)) / 20
        left, right = min([min(shown) - beside, *finite]) - 0.1, max([max(shown) + beside, *finite]) + 0.1
        for place, (low, high) in enumerate(intervals):
            style = "--" if None in {low, high} else "-"
            ends = [left if low is None else low, right if high is None else high]
            ax.plot(ends, [place, place], color="black", linestyle=style)
        ax.set_yticks(range(len(weights)), [name.removeprefix("push_") for name, _ in weights])
        ax.set(xlim=(left, right), ylim=(len(weights) - 0.5, -0.5))
        ax.set_xlabel(f"weight relative to gain ({shown_level(level)} interval, dashed: open)")
        finish(ax, "Push weights beside gain", "an interval that holds 0 leaves the sign of a weight open")

    def simulate(self, n: int, rng: np.random.Generator) -> dict[str, pd.DataFrame]:
        """Draw tables preferences and push_cells with n judgments of the same pairs from the fitted model.

        Raises
        ------
        ValueError
            If ties were taken as half votes, which is no model of votes.
        """
        if self.ties == "half":
            raise ValueError("half votes are no model to simulate from; fit with ties='davidson'")
        shares = expected_shares(self.votes.difference[:, self.places], self.maximum, self.ties)
        return simulated_tables(self.votes, shares, n, rng)


def fit_push_weights(
    preferences: pd.DataFrame,
    push_cells: pd.DataFrame,
    *,
    rng: np.random.Generator | None = None,
    convention: str | None = None,
    ties: Ties = "davidson",
    nonneg: bool = False,
    resamples: int = RESAMPLES,
) -> PushFit:
    """Fit the weights of the contingency framework to preferences.

    Parameters
    ----------
    preferences, push_cells : DataFrame
        The tables; see `calibration.push.pairs.push_judgments` for what counts and how they are joined.
    rng : Generator, optional
        Source of the bootstrap over topics; without one there is none.
    convention : str, optional
        Which cells: by default ``track``, else the first in the alphabet.
    ties : {'davidson', 'rao_kupper', 'half', 'drop'}
        How equally good and equally bad judgments enter.
    nonneg : bool
        Allow no negative weight. Intervals are then those of the bootstrap: none without ``rng``.
    resamples : int
        Of the bootstrap.

    Returns
    -------
    PushFit
        With those of ``push_P_E``, ``push_S_E``, ``push_P_0``, ``push_S_0`` that can be told. Interval methods:
        ``delta`` (the default where G_E is at least 3 standard errors) and ``fieller``, with ``nonneg`` only
        ``bootstrap``; none with a single topic or worker.

    Raises
    ------
    NotIdentifiedError
        If there are no pairs with cells, everybody is undecided, G_E cannot be told or is not positive, or no other
        weight can be told.
    ValueError
        If there is no such treatment of ties.
    """
    judgments = push_judgments(preferences, push_cells, convention=convention)
    return fit_weights_to(judgments, rng=rng, ties=ties, nonneg=nonneg, resamples=resamples)


def fit_weights_to(
    judgments: PushJudgments,
    *,
    rng: np.random.Generator | None = None,
    ties: Ties = "davidson",
    nonneg: bool = False,
    resamples: int = RESAMPLES,
) -> PushFit:
    """Fit the weights to judgments that have their cells already; otherwise as `fit_push_weights`."""
    judged = judged_by(judgments, judgments.difference, ties)
    found = search_weights(judged, WEIGHTS, ties, nonneg=nonneg)
    if found.told == (0,):
        raise NotIdentifiedError("; ".join(dict.fromkeys(found.unclear.values())))
    votes, samples = pair_votes_of(judgments), None
    if rng is not None and judged.has_clusters:
        samples = bootstrap_weights(votes, found, ties, resamples=resamples, rng=rng, nonneg=nonneg)
    methods = _uncertainty(found, samples, judged.topics, nonneg=nonneg)
    silent = None if nonneg else _silent_days(found, methods, samples)
    forms = {} if nonneg else forms_of(found, partial(fitted_in, judgments, ties))
    methods = allowing_for(
        left_open(found, forms),
        methods,
        lambda other: _in_form(other, found, judged.topics),
    )
    return PushFit(
        parameters=MappingProxyType(_relative(found)),
        unit=PARAMETERS["push_P_E"],
        method=_METHODS[ties],
        uncertainty=MappingProxyType(methods),
        loglik=found.maximum.loglik,
        n_free=len(found.maximum.point),
        n_workers=judged.workers,
        n_rows=len(judged.vote),
        details=MappingProxyType(_details(judged, found)),
        diagnostics=(
            *_diagnostics(judgments, judged, found, ties, silent),
            *notes_on_forms(
                judgments,
                ties,
                dict(zip(found.kept, found.maximum.weights.tolist(), strict=True)),
                found,
                forms,
            ),
        ),
        skipped=_skipped(found.unclear),
        raw=found.raw,
        silent=silent,
        places=found.kept,
        maximum=found.maximum,
        ties=ties,
        votes=votes,
    )


def _relative(found: WeightSearch) -> dict[str, float]:
    ratios = found.weights[1:] / found.weights[0]
    return {f"push_{name}": ratio for name, ratio in zip(found.names[1:], ratios.tolist(), strict=True)}


def _skipped(unclear: dict[int, str]) -> tuple[Skipped, ...]:
    """Return the weights that cannot be told, those with one reason together."""
    reasons = dict.fromkeys(unclear[place] for place in sorted(unclear))
    return tuple(
        Skipped(
            names=tuple(f"push_{WEIGHTS[place]}" for place in sorted(unclear) if unclear[place] == reason),
            reason=reason,
        )
        for reason in reasons
    )


def _uncertainty(
    found: WeightSearch, samples: Floats | None, topics: int, *, nonneg: bool
) -> dict[str, Uncertainty]:
    replicates: dict[str, Uncertainty] = {}
    if samples is not None:
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = samples[:, 1:] / samples[:, :1]
        ratios[samples[:, 0] <= 0] = np.inf
        replicates["bootstrap"] = Replicates(values=ratios, clusters=topics, between="inverted_cdf")
    if nonneg or found.raw is None:
        return replicates
    ratios_of = found.raw
    delta = StudentT(centre=ratios_of.ratios, cov=ratios_of.ratio_cov, df=ratios_of.df)
    fieller = FiellerRatios(raw=ratios_of)
    if ratios_of.gain_in_errors >= STRONG_GAIN:
        return {"delta": delta, "fieller": fieller, **replicates}
    return {"fieller": fieller, "delta": delta, **replicates}


def _in_form(fit: WeightSearch, found: WeightSearch, topics: int) -> dict[str, Uncertainty]:
    """Return the errors in another form; where pain is counted by days only the sum of P_0 and S_0 is known."""
    if fit.raw is None or fit.names == found.names:
        return _uncertainty(fit, None, topics, nonneg=False)
    sums = _uncertainty(replace(fit, raw=with_sum(fit.raw)), None, topics, nonneg=False)
    return {name: PainByDays(fitted=one) for name, one in sums.items()}


def _silent_days(
    found: WeightSearch, methods: dict[str, Uncertainty], samples: Floats | None
) -> SilentDays | None:
    if found.raw is None or not methods or "S_0" not in found.names:
        return None
    share = None if samples is None else float((samples[:, found.names.index("S_0")] > 0).mean())
    return silent_days(found.raw, next(iter(methods.values())), share)


def _details(judged: Judged, found: WeightSearch) -> dict[str, float]:
    inflation = variance_inflation(judged.design[:, found.kept])
    details = {"topics": float(judged.topics), "ties": float((judged.vote == 0).sum())}
    details |= {f"{name}_log_odds": w for name, w in zip(found.names, found.weights.tolist(), strict=True)}
    if found.maximum.tie is not None:
        details["tie_parameter"] = found.maximum.tie
    kept = [WEIGHTS[place] for place in found.kept]
    return details | {f"vif_{name}": v for name, v in zip(kept, inflation.tolist(), strict=True)}


def _diagnostics(
    judgments: PushJudgments, judged: Judged, found: WeightSearch, ties: Ties, silent: SilentDays | None
) -> Iterator[Diagnostic]:
    design = judged.design[:, found.kept]
    yield from notes_on_judgments(judgments)
    yield from notes_on_clusters(judged.workers, judged.topics)
    yield from notes_on_collinearity([WEIGHTS[place] for place in found.kept], variance_inflation(design))
    if found.raw is not None:
        yield from notes_on_weights(found.raw)
        yield note_on_sides(design, judged.vote, ties, judged.worker)
        yield from notes_on_tie_labels(judgments, list(found.kept), found.maximum.weights)
    if silent is not None:
        yield info("silent_days", silent.sentence)
        if judgments.revealed is not None:
            yield info(
                "silent_days_revealed",
                f"In {judgments.revealed:.0%} of the judgments the page said which days were silent; elsewhere people "
                "cannot know it.",
            )


def bootstrap_weights(
    votes: PairVotes,
    found: WeightSearch,
    ties: Ties,
    *,
    resamples: int,
    rng: np.random.Generator,
    nonneg: bool = False,
) -> Floats:
    """Fit the weights again to samples of topics.

    Parameters
    ----------
    votes : PairVotes
        The judgments.
    found : WeightSearch
        Their fit.
    ties : str
        How ties enter.
    resamples : int
        Number of samples.
    rng : Generator
        Source of the samples.
    nonneg : bool
        Allow no negative weight.

    Returns
    -------
    (resamples, k) ndarray of float
        Weights that can be told, in log odds.
    """
    outcome = np.tile(OUTCOMES, len(votes.votes))
    count = votes.votes.ravel()
    used = (count > 0) & ((outcome != 0) | (ties != "drop"))
    design = np.repeat(votes.difference[:, found.kept], len(OUTCOMES), axis=0)[used]
    topic = np.unique(np.repeat(votes.topic, len(OUTCOMES))[used], return_inverse=True)[1]
    places = [found.kept.index(place) for place in found.told]
    search = maximise_nonnegative if nonneg else maximise
    return np.array(
        [
            search(
                design, outcome[used], ties, times=times[topic] * count[used], start=found.maximum.point
            ).weights[places]
            for times in cluster_counts(int(topic.max()) + 1, resamples, rng)
        ]
    )
