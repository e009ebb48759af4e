"""Variants of M-measure whose agreement is reported."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pandas as pd

from calibration.agree.measures.variants import (
    ParameterOrigin,
    ParameterSweep,
    ScoredMeasure,
    VariantRole,
    side_by_side,
)
from metrics.arrays import Floats
from metrics.registry import Measure, short_number
from metrics.summaries.score import MMeasure, m_from_positions
from metrics.summaries.trailtext import Layers, Probabilities

SWEEP_OCTAVES = 4
"""Octaves of patience on either side of the default in a sweep.

The paper's sweep ends at 16 times the default; this one begins at 1/16.
"""
SWEEP_STEPS_PER_OCTAVE = 4
Positions: TypeAlias = Mapping[Layers, pd.DataFrame]
"""Rows of the table positions of one task, by ablation; ``both`` is M itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedShares:
    """P(i|q) from votes, by topic and intent, as estimated and in each draw."""

    estimate: Probabilities
    drawn: Sequence[Probabilities] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FittedPatience:
    """Fitted patience with its draws and its cross-fitted values.

    Attributes
    ----------
    source : str
        What it was fitted to, for the name: ``preferences``, ``stops``, ``grid``.
    estimate : float
        L in counted characters, perhaps infinite.
    drawn : (n,) ndarray of float, or None
        Draws of it; None where nothing is drawn.
    """

    source: str
    estimate: float
    drawn: Floats | None = None


_WITHOUT: dict[Layers, str] = {"first": "first layer only", "second": "second layers only"}


def default_variants(
    positions: Positions, patience: float, *, collection_shares: Probabilities, fitted: FittedShares
) -> Iterator[ScoredMeasure]:
    """Yield M at the paper's default patience, and its ablations (its Fig. 4).

    Uniform P is left out where the given P is uniform.

    Parameters
    ----------
    positions : mapping of str to DataFrame
        With ``both``; ablations without positions are left out.
    patience : float
        L in counted characters.
    collection_shares : mapping of topic to mapping of intent to float
        The collection's P(i|q).
    fitted : FittedShares
        P(i|q) from votes; empty where none was fitted.
    """
    name, both = f"M@{short_number(patience)}", positions["both"]
    yield _variant(name, VariantRole.DEFAULT, m_scores(both, collection_shares, patience), patience)
    for layers, words in _WITHOUT.items():
        if layers in positions:
            scores = m_scores(positions[layers], collection_shares, patience)
            yield _variant(f"{name} {words}", VariantRole.ABLATION, scores, patience)
    if uniform(collection_shares) != collection_shares:
        scores = m_scores(both, uniform(collection_shares), patience)
        yield _variant(f"{name} uniform P", VariantRole.ABLATION, scores, patience)
    if fitted.estimate:
        scores = m_scores(both, {**collection_shares, **fitted.estimate}, patience)
        drawn = [m_scores(both, {**collection_shares, **shares}, patience) for shares in fitted.drawn]
        yield _variant(
            f"{name} fitted P",
            VariantRole.FITTED,
            scores,
            patience,
            ParameterOrigin.OTHER_DATA,
            side_by_side(drawn),
        )


def named_variants(
    positions: Positions,
    named: Mapping[str, Measure],
    *,
    collection_shares: Probabilities,
    fitted: FittedShares,
) -> Iterator[ScoredMeasure]:
    """Yield the M-measures that a study names, if they can be computed.

    A measure needs positions, and probabilities of its kind.

    Parameters
    ----------
    positions, given, fitted
        As in `default_variants`.
    named : mapping of str to Measure
        Name -> measure.
    """
    shares = {"given": collection_shares, "uniform": uniform(collection_shares)}
    for name, measure in named.items():
        if not isinstance(measure, MMeasure) or measure.layers not in positions:
            continue
        rows, patience = positions[measure.layers], measure.patience
        if measure.intents != "fitted":
            yield _variant(
                name, VariantRole.NAMED, m_scores(rows, shares[measure.intents], patience), patience
            )
        elif fitted.estimate:
            scores = m_scores(rows, {**collection_shares, **fitted.estimate}, patience)
            drawn = [m_scores(rows, {**collection_shares, **each}, patience) for each in fitted.drawn]
            yield _variant(
                name, VariantRole.NAMED, scores, patience, ParameterOrigin.OTHER_DATA, side_by_side(drawn)
            )


def fitted_variants(
    positions: pd.DataFrame,
    collection_shares: Probabilities,
    patience: FittedPatience,
    *,
    without: Mapping[str, float] | None,
    fit: ParameterOrigin,
) -> Iterator[ScoredMeasure]:
    """Yield M at a fitted patience, cross-fitted if fitted to these preferences.

    A cross-fitted measure comes beside the plain one.

    Parameters
    ----------
    positions : DataFrame
        Rows of the table positions of one task.
    collection_shares : mapping of topic to mapping of intent to float
        P(i|q).
    patience : FittedPatience
        The estimate from all queries.
    without : mapping of str to float, or None
        Topic -> the estimate from all other queries; None where nothing was fitted to these preferences. In each draw
        it is moved as far as the estimate from all queries.
    fit : Fit
        What ``patience`` was fitted to.
    """
    value, name = np.array([patience.estimate]), f"M@{patience.source}"
    if without is not None:
        scores = _m_scores_by_topic(positions, collection_shares, without, patience.estimate, value).iloc[
            :, 0
        ]
        drawn = None
        if patience.drawn is not None:
            drawn = _m_scores_by_topic(
                positions, collection_shares, without, patience.estimate, patience.drawn
            )
        yield _variant(
            name, VariantRole.FITTED, scores, patience.estimate, ParameterOrigin.CROSS_FITTED, drawn
        )
    yield _variant(
        name + (" in sample" if fit is ParameterOrigin.IN_SAMPLE else ""),
        VariantRole.FITTED,
        m_from_given(positions, collection_shares, value).iloc[:, 0],
        patience.estimate,
        fit,
        None if patience.drawn is None else m_from_given(positions, collection_shares, patience.drawn),
    )


def m_sweep(positions: pd.DataFrame, collection_shares: Probabilities, default: float) -> ParameterSweep:
    """Return M at every patience of the sweep."""
    patience = sweep(default)
    scores = m_from_given(positions, collection_shares, patience).set_axis(pd.Index(patience), axis="columns")
    return ParameterSweep(measure="M", over="patience_chars", scores=scores)


def sweep(default: float) -> Floats:
    """Return patiences from 1/16 to 16 times the default, even on the log scale."""
    steps = SWEEP_OCTAVES * SWEEP_STEPS_PER_OCTAVE
    return default * 2.0 ** (np.arange(-steps, steps + 1) / SWEEP_STEPS_PER_OCTAVE)


def m_from_given(positions: pd.DataFrame, probability: Probabilities, patience: Floats) -> pd.DataFrame:
    """Return M of every summary with an iUnit, one column a patience.

    Rows are (topic, system).
    """
    return m_from_positions(positions.drop(columns="task", errors="ignore"), probability, patience)


def m_scores(positions: pd.DataFrame, probability: Probabilities, patience: float) -> "pd.Series[float]":
    """Return M of every summary with an iUnit, indexed by topic, system."""
    return m_from_given(positions, probability, np.array([patience])).iloc[:, 0]


def uniform(collection_shares: Probabilities) -> Probabilities:
    """Return equal probabilities for the same intents."""
    return {topic: dict.fromkeys(intents, 1 / len(intents)) for topic, intents in collection_shares.items()}


def _variant(
    measure: str,
    role: VariantRole,
    scores: "pd.Series[float]",
    patience: float,
    fit: ParameterOrigin = ParameterOrigin.NONE,
    drawn: pd.DataFrame | None = None,
) -> ScoredMeasure:
    return ScoredMeasure(
        measure=measure,
        family="summaries",
        role=role,
        fit=fit,
        patience_chars=patience,
        scores=scores,
        drawn=drawn,
    )


def _m_scores_by_topic(
    positions: pd.DataFrame,
    collection_shares: Probabilities,
    without: Mapping[str, float],
    estimate: float,
    patience: Floats,
) -> pd.DataFrame:
    """Return M with a patience per topic, one column per moved estimate."""
    return pd.concat(
        [
            m_from_given(
                rows, collection_shares, _moved(without.get(str(topic), estimate), estimate, patience)
            ).set_axis(range(patience.size), axis="columns")
            for topic, rows in positions.groupby("topic")
        ]
    )


def _moved(own: float, estimate: float, patience: Floats) -> Floats:
    """Move a topic's patience by the shift of the common one.

    It moves by the same factor or, without decay, by the same step in 1/L.
    """
    if math.isfinite(estimate) and np.isfinite(patience).all():
        return np.asarray(own * (patience / estimate))
    decay = np.maximum(0.0, 1 / own + (1 / patience - 1 / estimate))
    return np.asarray(np.divide(1.0, decay, out=np.full(patience.shape, np.inf), where=decay > 0))
