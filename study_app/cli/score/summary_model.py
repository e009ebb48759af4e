"""What a user model gives to the scores of summaries: patience, fitted P(i|q), and the uncertainty of both."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from calibration.user_model.model import ParameterEntry, UserModel, read_user_model
from metrics.errors import FaultLog, InputError, input_fault
from metrics.results import ALL, labelled
from metrics.summaries.readings import FloatArray, Intents, intent_probabilities
from metrics.summaries.score import MMeasure, read_once
from metrics.summaries.two_layered import Collection, Run
from metrics.wording import listed
from study_app.cli.output import Interval
from study_app.cli.score.model_draws import Shares, draw_patience, draw_shares, joint_log_sd

PATIENCE = "patience_chars"
SUM_TOLERANCE = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryModel:
    """What a command takes from its user model.

    Attributes
    ----------
    path : str
        The model's file, for messages.
    model : UserModel
        All of it.
    patience : ParameterEntry or None
        None when the command names patiences of its own.
    shares : mapping of topic to mapping of intent to float, or None
        P(i|q); None when it is not the fitted one.
    """

    path: str
    model: UserModel
    patience: ParameterEntry | None
    shares: Shares | None

    def patience_chars(self) -> float:
        """Return the fitted L, in counted characters; inf when there is no decay."""
        return _or_infinite(None if self.patience is None else self.patience.estimate)

    def intervals(
        self,
        collection: Collection,
        runs: Iterable[Run],
        measures: Sequence[MMeasure],
        *,
        count: int,
        seed: int,
    ) -> dict[tuple[str, str, str], Interval]:
        """Return the 95 % interval of each (run, topic, metric), `all` included: quantiles of M over the draws.

        In each of ``count`` draws all that comes from the model is drawn anew; what does not, stays. All runs and
        measures see the same draws.

        Raises
        ------
        InputError
            If the model has no interval to draw from.
        """
        patiences, shares = self._draws(collection, measures[0].intents, count, seed)
        topics = [*collection.queries, ALL]
        found: dict[tuple[str, str, str], Interval] = {}
        for run in runs:
            for label, one, read in read_once(collection, run, labelled(measures)):
                drawn = [one if length is None else replace(one, patience=length) for length in patiences]
                values = np.array(
                    [
                        read.expectations(each.discount, share)
                        for each, share in zip(drawn, shares, strict=True)
                    ]
                )
                values = np.column_stack([values, values.mean(axis=1)])
                ends = np.quantile(values, [0.025, 0.975], axis=0).T.tolist()
                found |= {
                    (run.name, topic, label): (low, high)
                    for topic, (low, high) in zip(topics, ends, strict=True)
                }
        return found

    def _draws(
        self, collection: Collection, intents: Intents, count: int, seed: int
    ) -> tuple[Sequence[float | None], list[FloatArray]]:
        """Draw L (None: each measure keeps its own) and P(i|q) of every reader."""
        rng = np.random.default_rng(seed)
        patiences: Sequence[float | None] = [None] * count
        shares = [intent_probabilities(collection, intents, self.shares)] * count
        try:
            if self.patience is not None:
                log_sd = joint_log_sd(self.model, PATIENCE)
                patiences = draw_patience(self.patience, log_sd, count, rng).tolist()
            if self.shares is not None:
                drawn = draw_shares(self.model.intents, count, rng)
                shares = [intent_probabilities(collection, intents, share) for share in drawn]
        except ValueError as error:
            raise input_fault(str(error), path=self.path, cure="leave out --draws") from None
        return patiences, shares


def read_summary_model(path: str, collection: Collection, *, patience: bool, intents: bool) -> SummaryModel:
    """Read a user model and take from it what is asked for.

    Raises
    ------
    InputError
        If the file is no user model; if it lacks what is asked for; if its intents are not the collection's.
    """
    model = read_user_model(path)
    return SummaryModel(
        path=path,
        model=model,
        patience=_patience(model, path) if patience else None,
        shares=_shares(model, path, collection) if intents else None,
    )


def _patience(model: UserModel, path: str) -> ParameterEntry:
    """Return the fitted patience, checked: 0 <= low <= estimate <= high and estimate > 0."""
    found = model.parameters.get(PATIENCE)
    if found is None:
        others = [name for name in model.parameters if name.startswith(PATIENCE)]
        problem = f"the model has no {PATIENCE}" + (f", only {listed(others)}" if others else "")
        raise input_fault(problem, path=path, cure="say which patience you want with --patience")
    low, high = found.interval
    ends = [low or 0.0, _or_infinite(found.estimate), _or_infinite(high)]
    if ends != sorted(ends) or ends[0] < 0 or ends[1] == 0:
        problem = f"{PATIENCE} is {found.estimate} with the interval {list(found.interval)}"
        raise input_fault(problem, path=path, cure="an estimate above 0 must lie in its interval")
    return found


def _shares(model: UserModel, path: str, collection: Collection) -> Shares:
    """Return the fitted P(i|q), checked: the collection's intents, adding up to 1 for each query."""
    log = FaultLog(path)
    shares: Shares = {}
    for query in collection.queries.values():
        fitted = {intent: share.estimate for intent, share in model.intents.get(query.id, {}).items()}
        shares[query.id] = fitted
        total = math.fsum(fitted.values())
        if fitted and abs(total - 1) > SUM_TOLERANCE:
            problem = f"the intents of {query.id!r} add up to {total:.6g}, not 1"
            log.add(problem, cure="divide each estimate by their sum")
    try:
        intent_probabilities(collection, "fitted", shares)
    except InputError as error:
        log.faults += [replace(fault, path=path) for fault in error.faults]
    log.raise_if_any()
    return shares


def _or_infinite(value: float | None) -> float:
    """Return the number; None stands for infinity."""
    return math.inf if value is None else value
