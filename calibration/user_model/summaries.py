"""Summary measures under a user model: patience, fitted P(i|q), uncertainty."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np

from calibration.user_model.draws import Draws, Part, Shares
from calibration.user_model.family import FamilyModel, Spread
from calibration.user_model.measures import intent_shares, patience_chars, sum_fault
from calibration.user_model.model import PATIENCE, UserModel, load_model
from metrics.errors import InputError, input_fault, join_names
from metrics.results import ALL, Score, Topics
from metrics.summaries.score import MMeasure, read_once, summary_scores
from metrics.summaries.trailtext import Intents, intent_probabilities
from metrics.summaries.two_layered import Collection, Run


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SummaryModel(FamilyModel[Run, MMeasure]):
    """M under a user model; see `FamilyModel`.

    Attributes
    ----------
    collection : Collection
        Judgments.
    patience : float or None
        The fitted L, in counted characters; inf when there is no decay, None when it is not taken.
    shares : mapping of topic to mapping of intent to float, or None
        P(i|q); None when it is not the fitted one.
    """

    parts: ClassVar[tuple[Part, ...]] = ("patience", "intents")

    collection: Collection
    patience: float | None
    shares: Shares | None

    @property
    def measures(self) -> list[MMeasure]:
        """M at the fitted patience, with the fitted P(i|q) if used."""
        intents: Intents = "given" if self.shares is None else "fitted"
        patience = MMeasure().patience if self.patience is None else self.patience
        return [MMeasure(patience=patience, intents=intents)]

    def _scores(self, runs: Sequence[Run], labels: Mapping[str, MMeasure], topics: Topics) -> list[Score]:  # noqa: ARG002 - a run has every query
        return summary_scores(self.collection, runs, labels, fitted=self.shares)

    def _spreads(
        self,
        draws: Draws,
        runs: Sequence[Run],
        labels: Mapping[str, MMeasure],
        topics: Topics,  # noqa: ARG002 - a run has every query
    ) -> Iterator[Spread]:
        kinds = {measure.intents for measure in labels.values()}
        shares = {intents: self._shares(intents, draws) for intents in kinds}
        for run in runs:
            for label, measure, read in read_once(self.collection, run, labels):
                each = zip(self._moved(measure, draws), shares[measure.intents], strict=True)
                values = np.array([read.expectations(moved.discount, share) for moved, share in each])
                places = [(run.name, topic, label) for topic in [*self.collection.queries, ALL]]
                yield places, np.column_stack([values, values.mean(axis=1)])

    def _shares(self, intents: Intents, draws: Draws) -> list[np.ndarray]:
        """Return P(i|q) of every reader, once for each draw."""
        if intents == "fitted" and draws.shares:
            return [intent_probabilities(self.collection, intents, drawn) for drawn in draws.shares]
        return [intent_probabilities(self.collection, intents, self.shares)] * draws.count

    def _moved(self, measure: MMeasure, draws: Draws) -> list[MMeasure]:
        """Yield a measure for each draw, with the fitted patience replaced by a drawn one."""
        if PATIENCE not in draws.parameters or measure.patience != self.patience:
            return [measure] * draws.count
        return [replace(measure, patience=drawn) for drawn in draws.parameters[PATIENCE].tolist()]


def summary_model(
    model: UserModel | str | Path, collection: Collection, *, patience: bool = True, intents: bool = False
) -> SummaryModel:
    """Build the model of summaries from a user model.

    Parameters
    ----------
    model : UserModel, str or Path
        As `prefcal fit` makes it, or its file.
    collection : Collection
        Judgments.
    patience, intents : bool
        What is taken: the patience L, and P(i|q) in place of the collection's.

    Returns
    -------
    SummaryModel
        ``score(runs, measures, draws=, seed=)``, ``measures`` and ``notes``.

    Raises
    ------
    InputError
        If the file is no user model; if it lacks what is asked for; if its intents are not the collection's.

    Examples
    --------
    >>> import prefcal
    >>> collection = prefcal.read_summary_collection("examples/two_layered/collection")
    >>> run = prefcal.read_summary_run("examples/two_layered/runs/good-order.xml", collection)
    >>> model = prefcal.UserModel.model_validate({"parameters": {"patience_chars": {"estimate": 840}}})
    >>> scores = summary_model(model, collection).score([run])
    >>> round(float(scores.query("topic == 'all'")["value"].iloc[0]), 2)
    21.39
    """
    user_model, path = load_model(model)
    if patience:
        _check_patience(user_model, path)
    return SummaryModel(
        path=path,
        model=user_model.part([PATIENCE] if patience else [], user_model.intents if intents else None),
        collection=collection,
        patience=patience_chars(user_model) if patience else None,
        shares=_shares(user_model, path, collection) if intents else None,
    )


def _check_patience(model: UserModel, path: str) -> None:
    """Raise unless 0 <= low <= estimate <= high and estimate > 0 for the patience."""
    entry = model.parameters.get(PATIENCE)
    if entry is None:
        others = [name for name in model.parameters if name.startswith(PATIENCE)]
        problem = f"the model has no {PATIENCE}" + (f", only {join_names(others)}" if others else "")
        raise input_fault(problem, path=path, cure="say which patience you want with --patience")
    low, high = entry.interval
    ends = [low or 0.0, _or_infinite(entry.estimate), _or_infinite(high)]
    if ends != sorted(ends) or ends[0] < 0 or ends[1] == 0:
        problem = f"{PATIENCE} is {entry.estimate} with the interval {list(entry.interval)}"
        raise input_fault(problem, path=path, cure="an estimate above 0 must lie in its interval")


def _shares(model: UserModel, path: str, collection: Collection) -> Shares:
    """Return the fitted P(i|q), checked against the collection.

    Intents must be the collection's, and each query's values add up to 1.
    """
    fitted = intent_shares(model)
    shares = {query.id: fitted.get(query.id, {}) for query in collection.queries.values()}
    faults = [sum_fault(topic, of) for topic, of in shares.items() if of]
    try:
        intent_probabilities(collection, "fitted", shares)
    except InputError as error:
        faults += error.faults
    shown_faults = [replace(fault, path=path) for fault in faults if fault is not None]
    if shown_faults:
        raise InputError(shown_faults)
    return shares


def _or_infinite(value: float | None) -> float:
    """Return the number, or infinity for None."""
    return math.inf if value is None else value
