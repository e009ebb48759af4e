"""M-measure in all the ways whose agreement is reported: default, ablations, fitted patience, fitted P(i|q), sweep."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pandas as pd

from calibration.agree.measures.variants import Fit, Role, Sweep, Variant, side_by_side
from metrics.arrays import Floats
from metrics.registry import Measure, short_number
from metrics.summaries.readings import Probabilities
from metrics.summaries.score import MMeasure, m_from_positions
from metrics.summaries.trailtext import Layers

SWEEP_OCTAVES = 4
"""The paper's sweep ends at 16 times the default; ours begins at 1/16."""
SWEEP_STEPS_PER_OCTAVE = 4


Positions: TypeAlias = Mapping[Layers, pd.DataFrame]
"""Ablation -> rows of the table positions of one task; ``both`` is the measure itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedShares:
    """P(i|q) from votes: topic -> intent -> probability, as estimated and in each draw."""

    estimate: Probabilities
    drawn: Sequence[Probabilities] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FittedPatience:
    """A fitted patience.

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
    positions: Positions, patience: float, *, given: Probabilities, fitted: FittedShares
) -> Iterator[Variant]:
    """Yield M at the paper's default patience, and what is left of it without each of its parts (its Fig. 4).

    Uniform P is left out where it is the given one.

    Parameters
    ----------
    positions : mapping of str to DataFrame
        With ``both``; ablations without positions are left out.
    patience : float
        L in counted characters.
    given : mapping of topic to mapping of intent to float
        The collection's P(i|q).
    fitted : FittedShares
        P(i|q) from votes; empty where none was fitted.
    """
    name, both = f"M@{short_number(patience)}", positions["both"]
    yield _variant(name, Role.DEFAULT, m_scores(both, given, patience), patience)
    for layers, words in _WITHOUT.items():
        if layers in positions:
            scores = m_scores(positions[layers], given, patience)
            yield _variant(f"{name} {words}", Role.ABLATION, scores, patience)
    if uniform(given) != given:
        scores = m_scores(both, uniform(given), patience)
        yield _variant(f"{name} uniform P", Role.ABLATION, scores, patience)
    if fitted.estimate:
        scores = m_scores(both, {**given, **fitted.estimate}, patience)
        drawn = [m_scores(both, {**given, **shares}, patience) for shares in fitted.drawn]
        yield _variant(f"{name} fitted P", Role.FITTED, scores, patience, Fit.OTHER_DATA, side_by_side(drawn))


def named_variants(
    positions: Positions, named: Mapping[str, Measure], *, given: Probabilities, fitted: FittedShares
) -> Iterator[Variant]:
    """Yield the M-measures that were asked for by name, as far as there are positions and probabilities for them.

    Parameters
    ----------
    positions, given, fitted
        As in `default_variants`.
    named : mapping of str to Measure
        Name -> measure.
    """
    shares = {"given": given, "uniform": uniform(given)}
    for name, one in named.items():
        if not isinstance(one, MMeasure) or one.layers not in positions:
            continue
        rows, patience = positions[one.layers], one.patience
        if one.intents != "fitted":
            yield _variant(name, Role.NAMED, m_scores(rows, shares[one.intents], patience), patience)
        elif fitted.estimate:
            scores = m_scores(rows, {**given, **fitted.estimate}, patience)
            drawn = [m_scores(rows, {**given, **each}, patience) for each in fitted.drawn]
            yield _variant(name, Role.NAMED, scores, patience, Fit.OTHER_DATA, side_by_side(drawn))


def fitted_variants(
    positions: pd.DataFrame,
    given: Probabilities,
    patience: FittedPatience,
    *,
    without: Mapping[str, float] | None,
    fit: Fit,
) -> Iterator[Variant]:
    """Yield M at a fitted patience: as it is, and cross-fitted where it was fitted to these preferences.

    Parameters
    ----------
    positions : DataFrame
        Rows of the table positions of one task.
    given : mapping of topic to mapping of intent to float
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
        scores = _m_scores_by_topic(positions, given, without, patience.estimate, value).iloc[:, 0]
        drawn = None
        if patience.drawn is not None:
            drawn = _m_scores_by_topic(positions, given, without, patience.estimate, patience.drawn)
        yield _variant(name, Role.FITTED, scores, patience.estimate, Fit.CROSS_FITTED, drawn)
    yield _variant(
        name + (" in sample" if fit is Fit.IN_SAMPLE else ""),
        Role.FITTED,
        m_from_given(positions, given, value).iloc[:, 0],
        patience.estimate,
        fit,
        None if patience.drawn is None else m_from_given(positions, given, patience.drawn),
    )


def m_sweep(positions: pd.DataFrame, given: Probabilities, default: float) -> Sweep:
    """Return M at every patience of the sweep."""
    patience = sweep(default)
    scores = m_from_given(positions, given, patience).set_axis(pd.Index(patience), axis="columns")
    return Sweep(measure="M", over="patience_chars", scores=scores)


def sweep(default: float) -> Floats:
    """Return the values of L from 1/16 to 16 times the default, evenly on the log scale."""
    steps = SWEEP_OCTAVES * SWEEP_STEPS_PER_OCTAVE
    return default * 2.0 ** (np.arange(-steps, steps + 1) / SWEEP_STEPS_PER_OCTAVE)


def m_from_given(positions: pd.DataFrame, probability: Probabilities, patience: Floats) -> pd.DataFrame:
    """Return M of every summary that meets an iUnit: rows topic, system, one column a patience."""
    return m_from_positions(positions.drop(columns="task", errors="ignore"), probability, patience)


def m_scores(positions: pd.DataFrame, probability: Probabilities, patience: float) -> "pd.Series[float]":
    """Return M of every summary that meets an iUnit, indexed by topic, system."""
    return m_from_given(positions, probability, np.array([patience])).iloc[:, 0]


def uniform(given: Probabilities) -> Probabilities:
    """Return equal probabilities for the same intents."""
    return {topic: dict.fromkeys(intents, 1 / len(intents)) for topic, intents in given.items()}


def _variant(
    measure: str,
    role: Role,
    scores: "pd.Series[float]",
    patience: float,
    fit: Fit = Fit.NONE,
    drawn: pd.DataFrame | None = None,
) -> Variant:
    return Variant(
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
    given: Probabilities,
    without: Mapping[str, float],
    estimate: float,
    patience: Floats,
) -> pd.DataFrame:
    """Return M with a patience of its own for each topic, one column for each value that the estimate is moved to."""
    return pd.concat(
        [
            m_from_given(rows, given, _moved(without.get(str(topic), estimate), estimate, patience)).set_axis(
                range(patience.size), axis="columns"
            )
            for topic, rows in positions.groupby("topic")
        ]
    )


def _moved(own: float, estimate: float, patience: Floats) -> Floats:
    """Move a topic's patience as the common one is moved: by the same factor, without decay by the same step in 1/L."""
    if math.isfinite(estimate) and np.isfinite(patience).all():
        return np.asarray(own * (patience / estimate))
    decay = np.maximum(0.0, 1 / own + (1 / patience - 1 / estimate))
    return np.asarray(np.divide(1.0, decay, out=np.full(patience.shape, np.inf), where=decay > 0))
