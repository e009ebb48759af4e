"""The steps that every fit to judged pushes takes: which weights can be told, their maximum, their covariance."""

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from calibration.inference.results import NotIdentifiedError
from calibration.inference.uncertainty import Floats
from calibration.push.checks import check_votes, identified, without_maximum
from calibration.push.errors import RawWeights, two_way_covariance
from calibration.push.likelihood import (
    TIES,
    ChoiceModel,
    Maximum,
    Ties,
    maximise,
    maximise_nonnegative,
)
from calibration.push.pairs import PushJudgments

Ints: TypeAlias = NDArray[np.intp]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What enters a fit.

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
        """How many judged."""
        return int(self.worker.max()) + 1

    @property
    def topics(self) -> int:
        """How many profiles were judged."""
        return int(self.topic.max()) + 1

    @property
    def has_clusters(self) -> bool:
        """Whether anything is known about differences between workers and between topics."""
        return min(self.workers, self.topics) > 1


def judged_by(judgments: PushJudgments, design: Floats, ties: Ties) -> Judged:
    """Return judgments with a (n, k) design; without ties for ``drop``.

    Raises
    ------
    ValueError
        If there is no such treatment of ties.
    NotIdentifiedError
        If nobody preferred a stream.
    """
    if ties not in TIES:
        raise ValueError(f"ties must be one of {', '.join(TIES)}, got {ties!r}")
    check_votes(judgments.vote)
    used = judgments.vote != 0 if ties == "drop" else np.ones(len(judgments.vote), dtype=bool)
    worker, topic = (
        np.unique(code[used], return_inverse=True)[1] for code in (judgments.worker, judgments.topic)
    )
    return Judged(design=design[used], vote=judgments.vote[used], worker=worker, topic=topic)


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightSearch:
    """What was found.

    Attributes
    ----------
    names : tuple of str
        Of the weights that can be told.
    weights : (k,) ndarray of float
        Their estimates, in log odds.
    raw : RawWeights or None
        The same with their covariance; None where nothing is known about differences between workers or topics.
    kept, told : tuple of int
        Columns that were fitted, and those among them whose weights can be told.
    unclear : dict of int to str
        The other columns -> why.
    maximum : Maximum
        The fit to the columns kept.
    """

    names: tuple[str, ...]
    weights: Floats
    raw: RawWeights | None
    kept: tuple[int, ...]
    told: tuple[int, ...]
    unclear: dict[int, str]
    maximum: Maximum


def search_weights(
    judged: Judged, names: tuple[str, ...], ties: Ties, *, needed: int = 1, nonneg: bool = False
) -> WeightSearch:
    """Fit what can be told.

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
    nonneg : bool
        Allow no negative weight.

    Raises
    ------
    NotIdentifiedError
        If one of the needed weights cannot be told, or that of gain is not positive.
    """
    columns = identified(judged.design, names)
    _need(columns.unclear, needed)
    kept = list(columns.kept)
    search = maximise_nonnegative if nonneg else maximise
    maximum = search(judged.design[:, kept], judged.vote, ties)
    endless = without_maximum(maximum, judged.design[:, kept])
    unclear = columns.unclear | {
        kept[
            place
        ]: f"every vote follows what {names[kept[place]]} weighs, so that no finite weight explains them best"
        for place in endless
    }
    _need(unclear, needed)
    _need_gain(float(maximum.weights[0]))
    told = tuple(place for place in kept if place not in unclear)
    places = [kept.index(place) for place in told]
    found = WeightSearch(
        names=tuple(names[place] for place in told),
        weights=maximum.weights[places],
        raw=None,
        kept=tuple(kept),
        told=told,
        unclear=unclear,
        maximum=maximum,
    )
    return replace(found, raw=_with_errors(judged, found, places, ties)) if judged.has_clusters else found


def _need(unclear: dict[int, str], needed: int) -> None:
    for place in range(needed):
        if place in unclear:
            raise NotIdentifiedError(unclear[place])


def _need_gain(gain: float) -> None:
    if not gain > 0:
        raise NotIdentifiedError(
            f"these people do not prefer streams with more gain (its weight is {gain:.2g} in log odds), so nothing can be "
            "told relative to it; if there are many judgments, check the signs of the cells, and that choice names the side "
            "on which a stream was shown"
        )


def _with_errors(judged: Judged, found: WeightSearch, places: list[int], ties: Ties) -> RawWeights:
    model = ChoiceModel(
        design=judged.design[:, found.kept], vote=judged.vote, ties=ties, times=np.ones(len(judged.vote))
    )
    cov = two_way_covariance(model, found.maximum.point, judged.worker, judged.topic)
    return RawWeights(
        names=found.names,
        weights=found.weights,
        cov=cov[np.ix_(places, places)],
        df=min(judged.workers, judged.topics) - 1,
    )
