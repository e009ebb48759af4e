"""What a user model gives to the scores of push notifications: alpha, the contingency weights, and their uncertainty."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from calibration.user_model.model import UserModel, read_user_model
from metrics.errors import input_fault
from metrics.push.days import account
from metrics.push.pool import push_pool
from metrics.push.score import T11U, Contingency, PushMeasure, counted_topics
from metrics.push.streams import PushCollection, PushRun
from metrics.results import ALL, Topics, labelled
from metrics.wording import listed
from study_app.cli.output import Interval
from study_app.cli.score.push_draws import draw_alpha, draw_weights

ALPHA = "push_alpha"
WEIGHTS = ("push_P_E", "push_S_E", "push_P_0", "push_S_0")
"""Relative to G_E = 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PushModel:
    """What a command takes from its user model.

    Attributes
    ----------
    path : str
        The model's file, for messages.
    model : UserModel
        All of it.
    alpha : float or None
        None when the command names its own, or the model has none.
    contingency : Contingency or None
        With the model's weights; None when it has none.
    """

    path: str
    model: UserModel
    alpha: float | None
    contingency: Contingency | None

    def intervals(
        self,
        collection: PushCollection,
        runs: Iterable[PushRun],
        measures: Iterable[PushMeasure],
        *,
        topics: Topics,
        count: int,
        seed: int,
    ) -> dict[tuple[str, str, str], Interval]:
        """Return the 95 % interval of each (run, topic, metric) that the model moves, `all` included.

        They are quantiles over ``count`` draws of what comes from the model; all runs see the same draws.

        Raises
        ------
        InputError
            If the model has no interval to draw from.
        """
        drawn = self._drawn(measures, count, np.random.default_rng(seed))
        pool = push_pool(collection)
        found: dict[tuple[str, str, str], Interval] = {}
        for run in runs:
            counted = counted_topics(pool, run, topics)
            for label, variants in drawn.items():
                table = account(pool, run, variants[0].rules)
                values = np.array([one.topic_values(table) for one in variants])
                means = values[:, counted].mean(axis=1) if counted.any() else np.full(count, math.nan)
                ends = np.quantile(np.column_stack([values, means]), [0.025, 0.975], axis=0).T.tolist()
                found |= {
                    (run.name, topic, label): (low, high)
                    for topic, (low, high) in zip([*pool.topics, ALL], ends, strict=True)
                }
        return found

    def _drawn(
        self, measures: Iterable[PushMeasure], count: int, rng: np.random.Generator
    ) -> dict[str, Sequence[PushMeasure]]:
        """Return each measure that the model gives something, ``count`` times with parameters drawn anew."""
        drawn: dict[str, Sequence[PushMeasure]] = {}
        try:
            for label, one in labelled(measures).items():
                if isinstance(one, T11U) and self.alpha is not None:
                    alphas = draw_alpha(self.model, ALPHA, count, rng).tolist()
                    drawn[label] = [replace(one, alpha=alpha) for alpha in alphas]
                elif isinstance(one, Contingency):
                    rows = draw_weights(self.model, WEIGHTS, count, rng).tolist()
                    drawn[label] = [_weighted(one, dict(zip(WEIGHTS, row, strict=True))) for row in rows]
        except ValueError as error:
            raise input_fault(str(error), path=self.path, cure="leave out --draws") from None
        return drawn


def read_push_model(path: str, *, alpha: bool) -> PushModel:
    """Read a user model and take from it the contingency weights, and alpha if that is asked for.

    Raises
    ------
    InputError
        If the file is no user model, has nothing for push notifications, has only some of the weights, or a value that
        is infinite or out of range.
    """
    model = read_user_model(path)
    wanted = (ALPHA, *WEIGHTS) if alpha else WEIGHTS
    found = {name: _finite(model, name, path) for name in wanted if name in model.parameters}
    weights = {name: value for name, value in found.items() if name in WEIGHTS}
    if not found:
        cure = "leave out --model, or fit preferences about pushes"
        raise input_fault(f"the model has none of {listed(wanted)}", path=path, cure=cure)
    if weights and len(weights) < len(WEIGHTS):
        missing = listed(name for name in WEIGHTS if name not in weights)
        problem = f"the model has {listed(weights)}, but not {missing}"
        raise input_fault(problem, path=path, cure="give every weight an estimate, or none")
    if not 0 <= found.get(ALPHA, 0) <= 1:
        raise input_fault(f"{ALPHA} is {found[ALPHA]}", path=path, cure="it must be from 0 to 1")
    contingency = _weighted(Contingency(), weights) if weights else None
    return PushModel(path=path, model=model, alpha=found.get(ALPHA), contingency=contingency)


def _weighted(one: Contingency, weights: Mapping[str, float]) -> Contingency:
    """Return the measure with these weights, named as in the model."""
    p_e, s_e, p_0, s_0 = (weights[name] for name in WEIGHTS)
    return replace(one, P_E=p_e, S_E=s_e, P_0=p_0, S_0=s_0)


def _finite(model: UserModel, name: str, path: str) -> float:
    """Return a parameter's estimate."""
    estimate = model.parameters[name].estimate
    if estimate is None:
        raise input_fault(f"{name} is infinite", path=path, cure="give it a finite estimate")
    return float(estimate)
