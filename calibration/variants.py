"""The measures whose agreement is reported: one metric under one set of parameters, scored for every summary.

What each variant is fitted to decides what its agreement means: parameters that were fitted to the same preferences
are re-fitted without each query before that query is judged (cross-fitted).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from metrics.summaries import m_from_positions
from metrics.summary_readings import Probabilities
from metrics.trailtext import Layers
from metrics.types import short_number

SWEEP_OCTAVES = 4
"""The paper's sweep ends at 16 times the default; ours begins at 1/16."""
SWEEP_STEPS_PER_OCTAVE = 4


class Fit(StrEnum):
    """What the parameters of a variant were fitted to."""

    NONE = "none"
    OTHER_DATA = "other_data"
    CROSS_FITTED = "cross_fitted"
    IN_SAMPLE = "in_sample"


class Role(StrEnum):
    """Why a variant is in the table."""

    DEFAULT = "default"
    FITTED = "fitted"
    ABLATION = "ablation"
    SCORES = "scores"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Variant:
    """A metric under one set of parameters.

    Attributes
    ----------
    measure : str
        Its name in every table, unique within a task.
    role : Role
        Why it is there.
    fit : Fit
        What its parameters were fitted to.
    patience_chars : float or None
        L, where the variant has a single one; for a cross-fitted one the estimate from all queries.
    scores : Series of float, indexed by topic, system
        A score for every system of every topic judged; a system without an entry scores 0.
    """

    measure: str
    role: Role
    fit: Fit
    patience_chars: float | None
    scores: "pd.Series[float]"


Positions: TypeAlias = Mapping[Layers, pd.DataFrame]
"""Ablation -> rows of the table positions of one task; ``both`` is the measure itself."""

_WITHOUT: dict[Layers, str] = {"first": "first layer only", "second": "second layers only"}


def default_variants(
    positions: Positions, patience: float, *, given: Probabilities, fitted: Probabilities
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
    fitted : mapping of topic to mapping of intent to float
        P(i|q) from votes; empty where none was fitted.
    """
    name = f"M@{short_number(patience)}"

    def variant(label: str, role: Role, scores: "pd.Series[float]", fit: Fit = Fit.NONE) -> Variant:
        return Variant(measure=label, role=role, fit=fit, patience_chars=patience, scores=scores)

    yield variant(name, Role.DEFAULT, m_scores(positions["both"], given, patience))
    for layers, words in _WITHOUT.items():
        if layers in positions:
            yield variant(f"{name} {words}", Role.ABLATION, m_scores(positions[layers], given, patience))
    if uniform(given) != given:
        yield variant(
            f"{name} uniform P", Role.ABLATION, m_scores(positions["both"], uniform(given), patience)
        )
    if fitted:
        scores = m_scores(positions["both"], {**given, **fitted}, patience)
        yield variant(f"{name} fitted P", Role.FITTED, scores, Fit.OTHER_DATA)


def fitted_variants(
    positions: pd.DataFrame,
    given: Probabilities,
    *,
    source: str,
    patience: float,
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
    source : str
        Where the patience comes from, for the name: ``preferences``, ``stops``, ``grid``.
    patience : float
        The estimate from all queries.
    without : mapping of str to float, or None
        Topic -> the estimate from all other queries; None where nothing was fitted to these preferences.
    fit : Fit
        What ``patience`` was fitted to.
    """
    if without is not None:
        yield Variant(
            measure=f"M@{source}",
            role=Role.FITTED,
            fit=Fit.CROSS_FITTED,
            patience_chars=patience,
            scores=_m_scores_by_topic(positions, given, without, patience),
        )
    yield Variant(
        measure=f"M@{source}" + (" in sample" if fit is Fit.IN_SAMPLE else ""),
        role=Role.FITTED,
        fit=fit,
        patience_chars=patience,
        scores=m_scores(positions, given, patience),
    )


def sweep(default: float) -> NDArray[np.float64]:
    """Return the values of L from 1/16 to 16 times the default, evenly on the log scale."""
    steps = SWEEP_OCTAVES * SWEEP_STEPS_PER_OCTAVE
    return default * 2.0 ** (np.arange(-steps, steps + 1) / SWEEP_STEPS_PER_OCTAVE)


def m_from_given(
    positions: pd.DataFrame, probability: Probabilities, patience: NDArray[np.float64]
) -> pd.DataFrame:
    """Return M of every summary that meets an iUnit: rows topic, system, one column a patience."""
    return m_from_positions(positions.drop(columns="task", errors="ignore"), probability, patience)


def m_scores(positions: pd.DataFrame, probability: Probabilities, patience: float) -> "pd.Series[float]":
    """Return M of every summary that meets an iUnit, indexed by topic, system."""
    return m_from_given(positions, probability, np.array([patience])).iloc[:, 0]


def uniform(given: Probabilities) -> Probabilities:
    """Return equal probabilities for the same intents."""
    return {topic: dict.fromkeys(intents, 1 / len(intents)) for topic, intents in given.items()}


def given_probabilities(
    intents: pd.DataFrame | None, fallback: Probabilities, positions: pd.DataFrame
) -> dict[str, dict[str, float]]:
    """Return P(i|q) of every topic with positions: the collection's, else the fallback, else uniform.

    Parameters
    ----------
    intents : DataFrame or None
        Table intents; a topic without any probability in it has none.
    fallback : mapping of topic to mapping of intent to float
        Fitted from votes.
    positions : DataFrame
        For the topics, and for their intents where nothing else names them.
    """
    met = positions.groupby("topic")["intent"].unique()
    found = {str(topic): dict.fromkeys(map(str, names), 1 / len(names)) for topic, names in met.items()}
    if intents is not None:
        offered = intents[intents["topic"].isin(list(found))]
        for topic, rows in offered.groupby("topic"):
            found[str(topic)] = dict.fromkeys(rows["intent"].tolist(), 1 / len(rows))
    found |= {topic: dict(fallback[topic]) for topic in found if topic in fallback}
    if intents is not None:
        for topic, rows in offered[offered["probability"].notna()].groupby("topic"):
            found[str(topic)] = dict(zip(rows["intent"], rows["probability"], strict=True))
    return found


def _m_scores_by_topic(
    positions: pd.DataFrame, given: Probabilities, without: Mapping[str, float], otherwise: float
) -> "pd.Series[float]":
    """Return M with a patience of its own for each topic; a topic that entered no fit has the common one."""
    return pd.concat(
        [
            m_scores(rows, given, without.get(str(topic), otherwise))
            for topic, rows in positions.groupby("topic")
        ]
    )
