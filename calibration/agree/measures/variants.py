"""Scored measures whose agreement is reported, one set of parameters each.

What each variant is fitted to decides what its agreement means: parameters that were fitted to the same preferences
are re-fitted without each query before that query is judged (cross-fitted). M's variants are made in
`calibration.agree.measures.m_variants`, those of streams in `calibration.agree.measures.push` and `calibration.agree.measures.msu`.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal, TypeAlias, TypeVar

import pandas as pd

from metrics.registry import Measure
from metrics.results import ALL, Score
from metrics.topic_ids import STREAM_TOPICS, TopicNames

CONVERTED_MARK = "(converted)"
"""Suffix of measures whose judgments were made for another kind of collection."""

Family: TypeAlias = Literal["summaries", "push", "updates", "msu", "ranked", "answers", "scores"]
Over: TypeAlias = Literal["patience_chars", "alpha", "lateness"]


class ParameterOrigin(StrEnum):
    """Data that the parameters of a measure were fitted to."""

    NONE = "none"
    OTHER_DATA = "other_data"
    CROSS_FITTED = "cross_fitted"
    IN_SAMPLE = "in_sample"


class VariantRole(StrEnum):
    """Reason why a measure is reported.

    A named measure is one that the study or the command asks for.
    """

    DEFAULT = "default"
    NAMED = "named"
    FITTED = "fitted"
    ABLATION = "ablation"
    SCORES = "scores"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoredMeasure:
    """Scores of a measure under one set of parameters.

    Attributes
    ----------
    measure : str
        Its name in every table, unique within a task.
    family : str
        The subcommand of `prefcal score` that computes it; ``scores`` for what was computed elsewhere.
    role : VariantRole
        Why it is there.
    fit : ParameterOrigin
        What its parameters were fitted to.
    scores : Series of float, indexed by topic, system
        A score for every system of every topic judged; a system without an entry scores 0.
    patience_chars, alpha, lateness : float or None
        The parameter, where the variant has a single one; for a cross-fitted one the estimate from all queries.
    converted : bool
        Whether its judgments were made for another kind of collection.
    drawn : DataFrame or None
        The same scores with the fitted parameters drawn anew, one column a draw; None where nothing is drawn.
    """

    measure: str
    family: Family
    role: VariantRole
    scores: "pd.Series[float]"
    fit: ParameterOrigin = ParameterOrigin.NONE
    patience_chars: float | None = None
    alpha: float | None = None
    lateness: float | None = None
    converted: bool = False
    drawn: pd.DataFrame | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ParameterSweep:
    """Scores of a measure at many values of one parameter.

    Attributes
    ----------
    measure : str
        Its name without the parameter.
    over : str
        What varies.
    scores : DataFrame of float, indexed by topic, system
        One column a value, ascending; the columns are the values.
    converted : bool
        As in `ScoredMeasure`.
    """

    measure: str
    over: Over
    scores: pd.DataFrame
    converted: bool = False


def name_of(measure: str, *, converted: bool) -> str:
    """Return the name of a measure in tables."""
    return f"{measure} {CONVERTED_MARK}" if converted else measure


def scored_columns(
    scores: pd.DataFrame, family: Family, role: VariantRole, *, converted: bool = False, **more: Any
) -> Iterator[ScoredMeasure]:
    """Yield the columns of a frame of scores as measures without fitted parameters.

    Parameters
    ----------
    scores : DataFrame of float, indexed by topic, system
        One column a measure, by its name without a mark.
    family, role, converted, more
        Fields of `ScoredMeasure`, the same for all.
    """
    for name in scores.columns:
        yield ScoredMeasure(
            measure=name_of(str(name), converted=converted),
            family=family,
            role=role,
            scores=scores[name],
            converted=converted,
            **more,
        )


_Scores = TypeVar("_Scores")


def with_cross_fitted(
    measure: str,
    variant: Callable[[str, _Scores, ParameterOrigin], ScoredMeasure],
    cross_fitted: _Scores | None,
    scores: _Scores,
    fit: ParameterOrigin,
) -> Iterator[ScoredMeasure]:
    """Yield a measure with fitted parameters, its cross-fitted form first.

    Parameters
    ----------
    measure : str
        Name of the fair one of the two.
    variant : callable
        Makes a measure of its name, what it scores with, and what that was fitted to.
    cross_fitted, scores : object
        What either scores with; None where nothing is cross-fitted.
    fit : ParameterOrigin
        What ``scores`` was fitted to.
    """
    if cross_fitted is not None:
        yield variant(measure, cross_fitted, ParameterOrigin.CROSS_FITTED)
    yield variant(measure + " in sample" * (fit is ParameterOrigin.IN_SAMPLE), scores, fit)


def without_known(named: Mapping[str, Measure], variants: Iterable[ScoredMeasure]) -> dict[str, Measure]:
    """Return the named measures that are not among the variants anyway."""
    known = {variant.measure.removesuffix(f" {CONVERTED_MARK}") for variant in variants}
    return {name: variant for name, variant in named.items() if name not in known}


def scores_by_metric(scores: Iterable[Score], judged: Iterable[str]) -> pd.DataFrame:
    """Return scores of runs on judged topics, one column per metric.

    Parameters
    ----------
    scores : iterable of Score
        Of any family; the rows `all` are left out.
    judged : iterable of str
        Topics as the preferences name them, in their long or short form.

    Returns
    -------
    DataFrame of float, indexed by topic, system
        One column per metric, in the order of the scores.
    """
    names = TopicNames(judged, STREAM_TOPICS)
    columns: dict[str, dict[tuple[str, str], float]] = {}
    for score in scores:
        of_metric = columns.setdefault(score.metric, {})
        topic = None if score.topic == ALL else names.find(score.topic)
        if topic is not None:
            of_metric[topic, score.run] = score.value
    places = list(dict.fromkeys(key for of_metric in columns.values() for key in of_metric))
    index = pd.MultiIndex.from_arrays(
        [[one[part] for one in places] for part in (0, 1)], names=["topic", "system"]
    )
    return pd.DataFrame(
        {metric: [of_metric.get(key, math.nan) for key in places] for metric, of_metric in columns.items()},
        index=index,
        dtype="float64",
    )


def side_by_side(scores: Sequence["pd.Series[float]"]) -> pd.DataFrame | None:
    """Return scores as the columns of one frame, or None without any."""
    return pd.concat(scores, axis="columns", ignore_index=True) if scores else None
