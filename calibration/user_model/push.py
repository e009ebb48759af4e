"""Push measures under a user model: alpha, contingency weights, uncertainty."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np

from calibration.user_model.draws import Draws, Part
from calibration.user_model.family import FamilyModel, Spread
from calibration.user_model.model import ALPHA, PUSH_WEIGHTS, UserModel, lacking_push_weights, load_model
from metrics.errors import input_fault, join_names
from metrics.push.contingency import Contingency
from metrics.push.days import count_pushes
from metrics.push.measures import T11U, PushMeasure
from metrics.push.pool import push_pool
from metrics.push.score import counted_topics, push_scores
from metrics.push.streams import PushCollection, PushRun
from metrics.results import ALL, Score, Topics


def push_alpha(model: UserModel) -> float | None:
    """Return T11U's weight of gain against pain, or None if it was not fitted.

    It is 1 where the pain is negligible.
    """
    entry = model.entry(ALPHA)
    if entry is None:
        return None
    return 1.0 if entry.estimate is None else entry.estimate


def contingency(model: UserModel) -> Contingency | None:
    """Return the contingency utility with a model's weights, or None without any.

    A weight that it lacks counts as 0.
    """
    entries = [model.entry(name) for name in PUSH_WEIGHTS]
    if not any(entries):
        return None
    p_e, s_e, p_0, s_0 = (0.0 if entry is None else entry.estimate or 0.0 for entry in entries)
    return Contingency(P_E=p_e, S_E=s_e, P_0=p_0, S_0=s_0)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PushModel(FamilyModel[PushRun, PushMeasure]):
    """T11U and the contingency utility under a user model; see `FamilyModel`.

    Attributes
    ----------
    collection : PushCollection
        Judgments.
    alpha : float or None
        None when it is not taken, or the model has none.
    contingency : Contingency or None
        With the model's weights; None when it has none.
    """

    parts: ClassVar[tuple[Part, ...]] = ("alpha", "weights")

    collection: PushCollection
    alpha: float | None
    contingency: Contingency | None

    @property
    def measures(self) -> list[PushMeasure]:
        """T11U at the fitted alpha and the utility with the fitted weights, if fitted."""
        t11u = None if self.alpha is None else T11U(alpha=self.alpha)
        return [measure for measure in (t11u, self.contingency) if measure is not None]

    def _scores(
        self, runs: Sequence[PushRun], labels: Mapping[str, PushMeasure], topics: Topics
    ) -> list[Score]:
        return push_scores(self.collection, runs, labels, topics=topics)

    def _spreads(
        self, draws: Draws, runs: Sequence[PushRun], labels: Mapping[str, PushMeasure], topics: Topics
    ) -> Iterator[Spread]:
        moved = {label: self._moved(measure, draws) for label, measure in labels.items()}
        pool = push_pool(self.collection)
        for run in runs:
            counted = counted_topics(pool, run, topics)
            for label, variants in moved.items():
                if variants:
                    table = count_pushes(pool, run, variants[0].rules)
                    values = np.array([measure.topic_values(table) for measure in variants])
                    means = (
                        values[:, counted].mean(axis=1) if counted.any() else np.full(draws.count, math.nan)
                    )
                    places = [(run.name, topic, label) for topic in [*pool.topics, ALL]]
                    yield places, np.column_stack([values, means])

    def _moved(self, measure: PushMeasure, draws: Draws) -> list[PushMeasure]:
        """Yield a measure with the fitted parameters of each draw.

        A measure without such parameters yields None.
        """
        if isinstance(measure, T11U) and measure.alpha == self.alpha:
            return [replace(measure, alpha=alpha) for alpha in draws.parameters[ALPHA].tolist()]
        if (
            isinstance(measure, Contingency)
            and self.contingency
            and measure.weights == self.contingency.weights
        ):
            names = [name for name in PUSH_WEIGHTS if name in draws.parameters]
            rows = zip(*(draws.parameters[name].tolist() for name in names), strict=True)
            keys = [name.removeprefix("push_") for name in names]
            return [replace(measure, **dict(zip(keys, row, strict=True))) for row in rows]
        return []


def push_model(model: UserModel | str | Path, collection: PushCollection, *, alpha: bool = True) -> PushModel:
    """Build the model of push notifications from a user model.

    It takes the contingency weights, and alpha.

    Weights that it lacks count as 0 beside others that it has; the ``notes`` say so.

    Parameters
    ----------
    model : UserModel, str or Path
        As `prefcal fit` makes it, or its file.
    collection : PushCollection
        Judgments.
    alpha : bool
        Whether alpha is taken.

    Returns
    -------
    PushModel
        ``score(runs, measures, draws=, seed=)``, ``measures`` and ``notes``.

    Raises
    ------
    InputError
        If the file is no user model, has nothing for push notifications, or a value that is infinite or out of range.

    Examples
    --------
    >>> import prefcal
    >>> folder = "examples/push_streams/collection"
    >>> collection = prefcal.read_push_collection(
    ...     qrels=f"{folder}/qrels.txt",
    ...     clusters=f"{folder}/clusters.json",
    ...     epochs=f"{folder}/epochs.txt",
    ...     days="20121008:20121014",
    ... )
    >>> run = prefcal.read_push_run("examples/push_streams/runs/careful.txt")
    >>> model = prefcal.UserModel.model_validate({"parameters": {"push_alpha": {"estimate": 0.5}}})
    >>> scores = push_model(model, collection).score([run])
    >>> scores["metric"].unique().tolist()
    ['T11U']
    """
    whole, path = load_model(model)
    names = (ALPHA, *PUSH_WEIGHTS) if alpha else PUSH_WEIGHTS
    estimates = {name: _finite(whole, name, path) for name in names if name in whole.parameters}
    if not estimates:
        cure = "leave out --model, or fit preferences about pushes"
        raise input_fault(f"the model has none of {join_names(names)}", path=path, cure=cure)
    if not 0 <= estimates.get(ALPHA, 0) <= 1:
        raise input_fault(f"{ALPHA} is {estimates[ALPHA]}", path=path, cure="it must be from 0 to 1")
    utility, lacking = contingency(whole), lacking_push_weights(whole)
    return PushModel(
        path=path,
        model=whole.part(names),
        notes=(lacking,) if utility and lacking else (),
        collection=collection,
        alpha=estimates.get(ALPHA),
        contingency=utility,
    )


def _finite(model: UserModel, name: str, path: str) -> float:
    """Return a parameter's estimate if it is finite."""
    estimate = model.parameters[name].estimate
    if estimate is None:
        raise input_fault(f"{name} is infinite", path=path, cure="give it a finite estimate")
    return float(estimate)
