"""The steps that every fit to judged pushes takes: which weights can be told, their maximum, their covariance.

If non-relevant pushes were counted as days with any push, P_0 and S_0 would be counted by cells that add up to the
silent days, the same for both streams: then only P_0 + S_0 can be told. Such combinations are found from the null space of
the differences and named.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from calibration.inference.results import NotIdentifiedError, warning
from calibration.push.errors import RawWeights, two_way_covariance
from calibration.push.likelihood import (
    TIES,
    ChoiceMaximum,
    ChoiceModel,
    Ties,
    maximise,
    maximise_nonnegative,
    without_maximum,
)
from calibration.push.pairs import SIGNS, PushJudgments
from calibration.user_model.model import Diagnostic
from metrics.arrays import Floats, Ints

SMALLEST_SINGULAR_VALUE = 1e-8
"""Relative to the largest, of columns scaled to one length."""
LARGEST_VIF = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedColumns:
    """Which columns of a design enter a fit.

    Attributes
    ----------
    kept : tuple of int
        Independent columns that span all others.
    unclear : mapping of int to str
        FittedColumns whose own weight cannot be told -> why.
    """

    kept: tuple[int, ...]
    unclear: dict[int, str]


def identified(design: Floats, names: tuple[str, ...]) -> FittedColumns:
    """Tell which weights a design can tell apart.

    Parameters
    ----------
    design : (n, k) ndarray of float
        Left minus right.
    names : tuple of str
        Of its columns. Where columns depend on each other, the first ones are kept.
    """
    length = np.sqrt((design**2).sum(axis=0))
    scaled = np.divide(design, length, out=np.zeros_like(design), where=length > 0)
    kept: list[int] = []
    unclear: dict[int, str] = {}
    for place, name in enumerate(names):
        if length[place] == 0:
            cell = f" ({_cell(name)})" if _cell(name) else ""
            unclear[place] = f"no judged pair differs in what {name} weighs{cell}"
            continue
        if _rank(scaled[:, [*kept, place]]) > len(kept):
            kept.append(place)
            continue
        share = np.linalg.lstsq(scaled[:, kept], scaled[:, place], rcond=None)[0]
        # x_place = sum of share_j x_j, so that w_j + share_j w_place is what can be told
        parts = {known: part * length[place] / length[known] for known, part in zip(kept, share, strict=True)}
        tied = {
            known: part for known, part in parts.items() if abs(part) * length[known] > 1e-6 * length[place]
        }
        reason = _combination(names, place, tied)
        unclear |= dict.fromkeys([*tied, place], reason)
    return FittedColumns(kept=tuple(kept), unclear=unclear)


def _cell(name: str) -> str:
    return dict(zip(("G_E", "P_E", "S_E", "P_0", "S_0"), SIGNS, strict=True)).get(name, "")


def _rank(scaled: Floats) -> int:
    values = np.linalg.svd(scaled, compute_uv=False)
    return int((values > SMALLEST_SINGULAR_VALUE * values[0]).sum())


def _combination(names: tuple[str, ...], place: int, tied: dict[int, float]) -> str:
    sums = [_sum(names[kept], part, names[place]) for kept, part in tied.items()]
    return f"only {' and '.join(sums)} can be told, because these cells change together in every judged pair"


def _sum(one: str, part: float, other: str) -> str:
    factor = "" if abs(abs(part) - 1) < 1e-6 else f"{abs(part):.3g} "
    return f"{one} {'+' if part > 0 else '-'} {factor}{other}"


def variance_inflation(design: Floats) -> Floats:
    """Return 1 / (1 - R^2) of each of k independent columns on the others, about 0: (n, k) -> (k,)."""
    scaled = design / np.sqrt((design**2).sum(axis=0))
    return np.asarray(np.diag(np.linalg.inv(scaled.T @ scaled)))


def check_votes(vote: Floats) -> None:
    """Refuse votes that are all ties.

    Raises
    ------
    NotIdentifiedError
        If nobody preferred a stream.
    """
    if not vote.any():
        raise NotIdentifiedError("every judgment is a tie: nobody preferred a stream")


def notes_on_collinearity(names: list[str], inflation: Floats) -> Iterator[Diagnostic]:
    """Warn of cells that nearly move together."""
    high = [
        f"{name} ({factor:.0f})"
        for name, factor in zip(names, inflation, strict=True)
        if factor > LARGEST_VIF
    ]
    if high:
        yield warning(
            "collinear_cells",
            f"Cells nearly move together in the judged pairs (variance inflation above {LARGEST_VIF:.0f}): "
            f"{', '.join(high)}.",
        )


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
    worker, topic = (pd.factorize(code[used], sort=True)[0] for code in (judgments.worker, judgments.topic))
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


def search_weights(
    judged: Judged,
    names: tuple[str, ...],
    ties: Ties,
    *,
    needed: int = 1,
    nonneg: bool = False,
    worth_errors: Callable[[WeightSearch], bool] | None = None,
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
    worth_errors : callable, optional
        Whether the errors of what was found are wanted, which take most of the time; by default they are.

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
    if not judged.has_clusters or (worth_errors is not None and not worth_errors(found)):
        return found
    return replace(found, raw=_with_errors(judged, found, places, ties))


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
