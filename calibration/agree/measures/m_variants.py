"""Variants of M-measure whose agreement is reported."""

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
    with_cross_fitted,
)
from metrics.arrays import Floats
from metrics.registry import Measure, short_number
from metrics.summaries.score import MMeasure, m_from_positions
from metrics.summaries.trailtext import Intents, Layers, Probabilities

SWEEP_OCTAVES = 4
"""Octaves of patience on either side of the default in a sweep.

The paper's sweep ends at 16 times the default; this one begins at 1/16.
"""
SWEEP_STEPS_PER_OCTAVE = 4
Positions: TypeAlias = Mapping[Layers, pd.DataFrame]
"""Rows of the table positions of one task, by ablation; ``both`` is M itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IntentShares:
    """P(i|q) by topic and intent.

    Attributes
    ----------
    collection : mapping of topic to mapping of intent to float
        The collection's.
    fitted : sequence of such mappings
        The estimate from votes, and draws of it; empty where none was fitted.
    """

    collection: Probabilities
    fitted: Sequence[Probabilities] = ()

    def of(self, intents: Intents) -> list[Probabilities]:
        """Return the shares of a kind, with draws where they are fitted; none where the kind adds nothing."""
        if intents == "fitted":
            return [{**self.collection, **shares} for shares in self.fitted]
        return [self.collection if intents == "given" else uniform(self.collection)]


VARIANTS: tuple[tuple[str, VariantRole, Layers, Intents], ...] = (
    ("", VariantRole.DEFAULT, "both", "given"),
    (" first layer only", VariantRole.ABLATION, "first", "given"),
    (" second layers only", VariantRole.ABLATION, "second", "given"),
    (" uniform P", VariantRole.ABLATION, "both", "uniform"),
    (" fitted P", VariantRole.FITTED, "both", "fitted"),
)
"""Variants at the paper's default patience: ending of the name, role, layers, intents."""


def default_variants(positions: Positions, patience: float, shares: IntentShares) -> Iterator[ScoredMeasure]:
    """Yield M at the paper's default patience, and its ablations (its Fig. 4).

    Uniform P is left out where the given P is uniform.

    Parameters
    ----------
    positions : mapping of str to DataFrame
        With ``both``; ablations without positions are left out.
    patience : float
        L in counted characters.
    shares : IntentShares
        P(i|q).
    """
    is_uniform = uniform(shares.collection) == shares.collection
    for ending, role, layers, intents in VARIANTS:
        if intents != "uniform" or not is_uniform:
            measure = MMeasure(patience=patience, layers=layers, intents=intents)
            named = {f"M@{short_number(patience)}{ending}": measure}
            yield from named_variants(positions, named, shares, role)


def named_variants(
    positions: Positions,
    named: Mapping[str, Measure],
    shares: IntentShares,
    role: VariantRole = VariantRole.NAMED,
) -> Iterator[ScoredMeasure]:
    """Yield the M-measures that can be computed.

    A measure needs positions, and probabilities of its kind.

    Parameters
    ----------
    positions, shares
        As in `default_variants`.
    named : mapping of str to Measure
        Name -> measure.
    role : VariantRole
        Why they are there.
    """
    for name, measure in named.items():
        if not isinstance(measure, MMeasure) or measure.layers not in positions:
            continue
        rows, patience = positions[measure.layers], np.array([measure.patience])
        scores = [m_scores(rows, each, patience).iloc[:, 0] for each in shares.of(measure.intents)]
        if scores:
            yield ScoredMeasure(
                measure=name,
                family="summaries",
                role=role,
                fit=ParameterOrigin.OTHER_DATA if measure.intents == "fitted" else ParameterOrigin.NONE,
                patience_chars=measure.patience,
                scores=scores[0],
                drawn=side_by_side(scores[1:]),
            )


def fitted_variants(
    positions: pd.DataFrame,
    collection_shares: Probabilities,
    source: str,
    patience: Floats,
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
    source : str
        What the patience was fitted to, for the name: ``preferences``, ``stops``, ``grid``.
    patience : (1 + n,) ndarray of float
        The estimate from all queries, in counted characters and perhaps infinite, and n draws of it.
    without : mapping of str to float, or None
        Topic -> the estimate from all other queries; None where nothing was fitted to these preferences. In each draw
        it is moved as far as the estimate from all queries.
    fit : ParameterOrigin
        What ``patience`` was fitted to.
    """
    estimate = float(patience[0])

    def variant(measure: str, scores: pd.DataFrame, fit: ParameterOrigin) -> ScoredMeasure:
        return ScoredMeasure(
            measure=measure,
            family="summaries",
            role=VariantRole.FITTED,
            fit=fit,
            patience_chars=estimate,
            scores=scores.iloc[:, 0],
            drawn=scores.iloc[:, 1:] if len(patience) > 1 else None,
        )

    by_topic = None
    if without is not None:
        by_topic = pd.concat(
            m_scores(rows, collection_shares, _moved(without.get(str(topic), estimate), patience)).set_axis(
                range(patience.size), axis="columns"
            )
            for topic, rows in positions.groupby("topic")
        )
    scores = m_scores(positions, collection_shares, patience)
    yield from with_cross_fitted(f"M@{source}", variant, by_topic, scores, fit)


def m_sweep(positions: pd.DataFrame, collection_shares: Probabilities, default: float) -> ParameterSweep:
    """Return M at patiences from 1/16 to 16 times the default, even on the log scale."""
    steps = SWEEP_OCTAVES * SWEEP_STEPS_PER_OCTAVE
    patience = default * 2.0 ** (np.arange(-steps, steps + 1) / SWEEP_STEPS_PER_OCTAVE)
    scores = m_scores(positions, collection_shares, patience).set_axis(pd.Index(patience), axis="columns")
    return ParameterSweep(measure="M", over="patience_chars", scores=scores)


def m_scores(positions: pd.DataFrame, probability: Probabilities, patience: Floats) -> pd.DataFrame:
    """Return M of every summary with an iUnit, one column a patience.

    Rows are (topic, system).
    """
    return m_from_positions(positions.drop(columns="task", errors="ignore"), probability, patience)


def uniform(collection_shares: Probabilities) -> Probabilities:
    """Return equal probabilities for the same intents."""
    return {topic: dict.fromkeys(intents, 1 / len(intents)) for topic, intents in collection_shares.items()}


def _moved(own: float, patience: Floats) -> Floats:
    """Move a topic's patience by the shift of the common one, (1 + n,) with the estimate first.

    It moves by the same factor or, without decay, by the same step in 1/L.
    """
    estimate = patience[0]
    if np.isfinite(patience).all():
        return np.asarray(own * (patience / estimate))
    decay = np.maximum(0.0, 1 / own + (1 / patience - 1 / estimate))
    return np.asarray(np.divide(1.0, decay, out=np.full(patience.shape, np.inf), where=decay > 0))
