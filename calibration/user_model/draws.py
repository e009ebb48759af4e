"""Draws of a user model's parameters, jointly where they were fitted jointly.

A user model holds estimates and intervals, not the data, so the draws are normal approximations, each on the scale
on which its parameter is least skewed. `draw_model` is the one way to draw a model; the laws of its parts stand below it.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from types import MappingProxyType
from typing import Literal, TypeAlias, get_args

import numpy as np
from scipy.special import ndtr, ndtri

from calibration.user_model.model import (
    ALPHA,
    LATENESS,
    LOG_SPEED,
    PARAMETERS,
    PATIENCE,
    PATIENCE_SPREAD,
    PERSISTENCE,
    PUSH_WEIGHTS,
    IntentEntry,
    JointEntry,
    ParameterEntry,
    UserModel,
    plain_name,
)
from metrics.arrays import Floats
from metrics.msu.trails import RANGES

Shares: TypeAlias = dict[str, dict[str, float]]
"""P(i|q) by topic and intent."""
Drawn: TypeAlias = dict[str, Floats]
"""Draws of each parameter, (count,)."""
Draw: TypeAlias = Callable[[UserModel, Sequence[str], int, np.random.Generator], Drawn]

Part: TypeAlias = Literal["patience", "alpha", "lateness", "weights", "population", "intents", "persistence"]
PARTS: tuple[Part, ...] = get_args(Part)
"""Parts of a model that can be drawn, in the order of drawing."""
PART_OF: Mapping[str, Part] = MappingProxyType(
    {
        **dict.fromkeys(
            (name for name in PARAMETERS if name.startswith(PATIENCE) and name != PATIENCE_SPREAD), "patience"
        ),
        ALPHA: "alpha",
        PERSISTENCE: "persistence",
        LATENESS: "lateness",
        **dict.fromkeys(PUSH_WEIGHTS, "weights"),
        **dict.fromkeys(RANGES, "population"),
    }
)
"""Part of each parameter, by name without language; others are never drawn."""

MIN_SD = 1e-12
"""Smallest standard deviation of a share, which keeps formulas finite.

An interval without width needs it.
"""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Draws:
    """Repeated draws of a user model.

    Attributes
    ----------
    count : int
        How often.
    parameters : mapping of str to (count,) ndarray of float
        Those that were drawn; patience may be infinite.
    shares : sequence of mapping of topic to mapping of intent to float
        P(i|q), one of each draw; empty where it was not drawn.
    kept : mapping of str to str
        What could not be drawn and keeps its estimate -> why.
    """

    count: int
    parameters: Mapping[str, Floats]
    shares: Sequence[Shares]
    kept: Mapping[str, str]

    def models(self, model: UserModel) -> list[UserModel]:
        """Yield the model with its estimates moved, once for each draw.

        The models differ in nothing else.
        """
        return [self._moved(model, number) for number in range(self.count)]

    def _moved(self, model: UserModel, number: int) -> UserModel:
        parameters = dict(model.parameters)
        for name, values in self.parameters.items():
            drawn = float(values[number])
            estimate = drawn if math.isfinite(drawn) else None
            parameters[name] = parameters[name].model_copy(update={"estimate": estimate})
        intents = model.intents
        if self.shares:
            intents = {
                topic: {
                    intent: entry.model_copy(update={"estimate": self.shares[number][topic][intent]})
                    for intent, entry in entries.items()
                }
                for topic, entries in model.intents.items()
            }
        return model.model_copy(update={"parameters": parameters, "intents": intents})


def draw_model(model: UserModel, count: int, seed: int, *, parts: Iterable[Part] = PARTS) -> Draws:
    """Draw a user model, jointly where its estimates were fitted jointly.

    Parameters
    ----------
    model : UserModel
        As fitted.
    count, seed : int
        How many draws, and their seed.
    parts : iterable of {'patience', 'alpha', 'lateness', 'weights', 'population', 'intents', 'persistence'}
        What is drawn, in this order; the same parts of the same model give the same draws.

    Returns
    -------
    Draws
        ``models(model)`` yields the model once a draw.

    Raises
    ------
    InputError
        If an estimate that is to be drawn has no interval.

    Examples
    --------
    >>> import prefcal
    >>> entry = {"estimate": 840, "low": 700, "high": 1000}
    >>> model = prefcal.UserModel.model_validate({"parameters": {"patience_chars": entry}})
    >>> len(list(draw_model(model, 3, seed=1).models(model)))
    3
    """
    rng = np.random.default_rng(seed)
    parameters: Drawn = {}
    shares: list[Shares] = []
    kept: dict[str, str] = {}
    for part in parts:
        for names in _groups(model, part):
            try:
                parameters |= _LAWS[part](model, names, count, rng)
            except ValueError as error:
                kept[f"the estimate of {', '.join(names)}"] = str(error)
        if part == "intents" and model.intents:
            try:
                shares = list(_shares(model.intents, count, rng))
            except ValueError as error:
                kept["the estimates of P(i|q)"] = str(error)
    return Draws(count=count, parameters=parameters, shares=shares, kept=kept)


def _groups(model: UserModel, part: Part) -> list[tuple[str, ...]]:
    """Return the parameters of a part, in groups that one law draws jointly."""
    names = tuple(name for name in model.parameters if PART_OF.get(plain_name(name)) == part)
    if part in {"weights", "population"}:
        return [names] if names else []
    return [(name,) for name in names]


def _joint(model: UserModel, names: Iterable[str], count: int, rng: np.random.Generator) -> Drawn:
    """Draw the parameters that the model's joint entries cover.

    Normal on the scale of their block, around the estimates. Where a block of logarithms has an estimate that is not
    positive, that parameter is not drawn: it has no logarithm.

    Raises
    ------
    ValueError
        If a covariance has not a row and a column for each name.
    """
    wanted = set(names)
    draws: Drawn = {}
    for block in model.joint:
        covariance = _square(block)
        places = [
            index for index, name in enumerate(block.names) if name in wanted and _has(model, block, name)
        ]
        if places:
            chosen = covariance[np.ix_(places, places)]
            steps = rng.multivariate_normal(np.zeros(len(places)), chosen, count, check_valid="ignore")
            draws |= {
                block.names[index]: _moved(model, block, block.names[index], steps[:, column])
                for column, index in enumerate(places)
            }
    return draws


def _patience(model: UserModel, names: Sequence[str], count: int, rng: np.random.Generator) -> Drawn:
    """Draw a patience L in counted characters; inf where endless is not excluded.

    Normal on the log scale around the estimate, with the standard deviation of its joint fit where there is one,
    otherwise with the width of the interval. Where the estimate or the upper end is infinite there is no log scale:
    then normal in 1 / L around the estimate, with the width of the interval's lower half, cut at 1 / L = 0.

    Raises
    ------
    ValueError
        If there is neither a joint fit nor a lower end of the interval.
    """
    (name,) = names
    patience, log_sd = model.parameters[name], _joint_log_sd(model, name)
    low, high = patience.interval
    z = _quantile(patience)
    normal = rng.standard_normal(count)
    if log_sd is None and low and high:
        log_sd = math.log(high / low) / (2 * z)
    if log_sd is not None and patience.estimate is not None:
        return {name: np.asarray(patience.estimate * np.exp(log_sd * normal))}
    if not low:
        raise ValueError("the interval has no lower end")
    decay = 0.0 if patience.estimate is None else 1 / patience.estimate
    moved = np.maximum(0.0, decay + (1 / low - decay) / z * normal)
    return {name: np.asarray(np.divide(1.0, moved, out=np.full(count, np.inf), where=moved > 0))}


def _joint_log_sd(model: UserModel, name: str) -> float | None:
    """Return the deviation of a parameter's logarithm from a joint fit, or None.

    It is a standard deviation.
    """
    for joint in model.joint:
        if joint.scale == "log" and name in joint.names:
            index = joint.names.index(name)
            return math.sqrt(joint.covariance[index][index])
    return None


def _share(model: UserModel, names: Sequence[str], count: int, rng: np.random.Generator) -> Drawn:
    """Draw alpha or the persistence, in [0, 1].

    Normal on the logit scale with the width of the interval. Where estimate or interval touch 0 or 1, or an end is
    open: normal around the estimate, with the spread that the other end tells, and cut at 0 and 1.

    Raises
    ------
    ValueError
        If no end of the interval lies between 0 and 1.
    """
    (name,) = names
    entry = model.parameters[name]
    estimate, ends = entry.estimate or 0.0, [end for end in entry.interval if end is not None and 0 < end < 1]
    normal = rng.standard_normal(count)
    if len(ends) == 2 and 0 < estimate < 1:
        sd = abs(_logit(ends[1]) - _logit(ends[0])) / (2 * _quantile(entry))
        return {name: np.asarray(1 / (1 + np.exp(-(_logit(estimate) + sd * normal))))}
    return {name: np.clip(estimate + _deviation(name, entry, ends) * normal, 0.0, 1.0)}


def _decay(model: UserModel, names: Sequence[str], count: int, rng: np.random.Generator) -> Drawn:
    """Draw a lateness decay from a normal law cut at 0 and 1.

    The law has the estimate as centre and the interval's width.

    Raises
    ------
    ValueError
        If both ends of the interval are open.
    """
    (name,) = names
    entry = model.parameters[name]
    sd = _deviation(name, entry, entry.interval)
    return {name: np.clip((entry.estimate or 0.0) + sd * rng.standard_normal(count), 0.0, 1.0)}


def _weights(model: UserModel, names: Sequence[str], count: int, rng: np.random.Generator) -> Drawn:
    """Draw contingency weights by their joint covariance, or else each by itself.

    In the second case each is normal with the width of its interval.

    Raises
    ------
    ValueError
        If an interval is needed and open at both ends, or the covariance is no square of numbers.
    """
    together = _joint(model, names, count, rng)
    if set(together) == set(names):
        return together
    entries = {name: model.parameters[name] for name in names}
    mean = np.array([entry.estimate or 0.0 for entry in entries.values()])
    sd = np.array([_deviation(name, entry, entry.interval) for name, entry in entries.items()])
    return dict(zip(names, (mean + sd * rng.standard_normal((count, len(names)))).T, strict=True))


def _population(model: UserModel, names: Sequence[str], count: int, rng: np.random.Generator) -> Drawn:
    """Draw parameters of the people who read streams.

    Those that were fitted together come from their joint covariance; others from a normal on the log scale with the
    width of their interval, or of its one half when the other end is open or 0. `LOG_SPEED` is normal itself. An
    estimate of 0 stays 0.

    Raises
    ------
    ValueError
        If a parameter has neither a joint covariance nor an end of an interval.
    """
    draws = _joint(model, names, count, rng)
    for name in names:
        if name not in draws:
            entry = model.parameters[name]
            estimate = entry.estimate or 0.0
            if plain_name(name) == LOG_SPEED:
                draws[name] = estimate + _deviation(name, entry, entry.interval) * rng.standard_normal(count)
            else:
                draws[name] = estimate * np.exp(_log_deviation(name, entry) * rng.standard_normal(count))
    return draws


_LAWS: Mapping[Part, Draw] = MappingProxyType(
    {
        "patience": _patience,
        "alpha": _share,
        "persistence": _share,
        "lateness": _decay,
        "weights": _weights,
        "population": _population,
    }
)


def _shares(
    intents: Mapping[str, Mapping[str, IntentEntry]], count: int, rng: np.random.Generator
) -> Iterator[Shares]:
    """Yield ``count`` draws of every topic's P(i|q).

    Each share is drawn from a normal around its estimate with the width of its 95 % interval, truncated at 0; then
    the shares of a topic are divided by their sum.

    Raises
    ------
    ValueError
        If a share has no interval.
    """
    cells = [share for shares in intents.values() for share in shares.values()]
    mean = np.array([share.estimate for share in cells])
    sd = np.array([_share_deviation(share) for share in cells])
    below = ndtr(-mean / sd)
    moved = np.maximum(0.0, mean + sd * ndtri(below + (1 - below) * rng.random((count, mean.size))))
    for row in moved.tolist():
        values = iter(row)
        topics = {topic: {intent: next(values) for intent in shares} for topic, shares in intents.items()}
        yield {topic: _normalised(shares) for topic, shares in topics.items()}


def _has(model: UserModel, block: JointEntry, name: str) -> bool:
    """Return whether a joint entry can draw the parameter."""
    estimate = model.parameters[name].estimate
    if estimate is None:
        return False
    return estimate > 0 or block.scale == "identity" or plain_name(name) == LOG_SPEED


def _moved(model: UserModel, block: JointEntry, name: str, steps: Floats) -> Floats:
    estimate = model.parameters[name].estimate or 0.0
    is_added = block.scale == "identity" or plain_name(name) == LOG_SPEED
    return estimate + steps if is_added else np.asarray(estimate * np.exp(steps))


def _square(block: JointEntry) -> Floats:
    if {len(block.covariance), *map(len, block.covariance)} != {len(block.names)}:
        raise ValueError(f"the joint covariance of {', '.join(block.names)} is not square")
    return np.array(block.covariance, dtype=np.float64)


def _deviation(name: str, entry: ParameterEntry, ends: Iterable[float | None]) -> float:
    """Return the standard deviation of a normal law with these interval ends, or None.

    The law has the estimate as its centre; an open end gives None.
    """
    estimate = entry.estimate or 0.0
    return _mean_half(name, entry, [abs(end - estimate) for end in ends if end is not None])


def _log_deviation(name: str, entry: ParameterEntry) -> float:
    """Return the standard deviation of the logarithm, or None for an estimate of 0."""
    if not entry.estimate:
        return 0.0
    ends = [end for end in entry.interval if end is not None and end > 0]
    return _mean_half(name, entry, [abs(math.log(end / entry.estimate)) for end in ends])


def _mean_half(name: str, entry: ParameterEntry, halves: Sequence[float]) -> float:
    """Return the standard deviation of a normal law from the mean half-width."""
    if not halves:
        raise ValueError(f"{name} has no interval to draw from")
    return sum(halves) / len(halves) / _quantile(entry)


def _share_deviation(share: IntentEntry) -> float:
    """Return the standard deviation of a normal law as wide as the share's interval.

    The interval is at 95 %.
    """
    low, high = share.interval
    if low is None or high is None:
        raise ValueError("an intent has no interval")
    return max((high - low) / (2 * NormalDist().inv_cdf(0.975)), MIN_SD)


def _quantile(entry: ParameterEntry) -> float:
    """Return the normal quantile of a two-sided interval."""
    return float(NormalDist().inv_cdf(0.5 + entry.level / 2))


def _normalised(shares: dict[str, float]) -> dict[str, float]:
    """Divide shares by their sum."""
    total = math.fsum(shares.values())
    return {intent: share / total for intent, share in shares.items()}


def _logit(share: float) -> float:
    return math.log(share / (1 - share))
