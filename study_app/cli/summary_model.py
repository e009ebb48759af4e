"""What a user model gives to the scores of summaries: patience, fitted P(i|q), and the uncertainty of both."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from metrics.errors import InputError
from metrics.results import ALL, labelled
from metrics.summaries import MMeasure, read_once
from metrics.summary_readings import FloatArray, Intents, intent_probabilities
from metrics.two_layered import Collection, Run
from study_app.cli.model_draws import draw_patience, draw_shares
from study_app.cli.model_file import Parameter, Shares, UserModel, patience_of, read_model
from study_app.cli.output import Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryModel:
    """What a command takes from its user model.

    Attributes
    ----------
    path : str
        The model's file, for messages.
    model : UserModel
        All of it.
    patience : Parameter or None
        None when the command names patiences of its own.
    shares : mapping of topic to mapping of intent to float, or None
        None when P(i|q) is not the fitted one.
    """

    path: str
    model: UserModel
    patience: Parameter | None
    shares: Shares | None

    def patience_chars(self) -> float:
        """Return the fitted L, in counted characters; inf when there is no decay."""
        if self.patience is None or self.patience.estimate is None:
            return math.inf
        return self.patience.estimate

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
        """
        rng = np.random.default_rng(seed)
        patiences = self._patiences(count, rng)
        shares = {one.intents: self._shares(collection, one.intents, count, rng) for one in measures}
        topics = [*collection.queries, ALL]
        found: dict[tuple[str, str, str], Interval] = {}
        for run in runs:
            for label, one, read in read_once(collection, run, labelled(measures)):
                drawn = [one if length is None else replace(one, patience=length) for length in patiences]
                values = np.array(
                    [
                        read.expectations(each.discount, probability)
                        for each, probability in zip(drawn, shares[one.intents], strict=True)
                    ]
                )
                values = np.column_stack([values, values.mean(axis=1)])
                ends = np.quantile(values, [0.025, 0.975], axis=0).T.tolist()
                found |= {
                    (run.name, topic, label): (low, high)
                    for topic, (low, high) in zip(topics, ends, strict=True)
                }
        return found

    def _patiences(self, count: int, rng: np.random.Generator) -> list[float] | list[None]:
        """Draw L; None where the command names its own."""
        if self.patience is None:
            return [None] * count
        drawn: list[float] = draw_patience(self.model, self.patience, count, rng, path=self.path).tolist()
        return drawn

    def _shares(
        self, collection: Collection, intents: Intents, count: int, rng: np.random.Generator
    ) -> list[FloatArray]:
        """Draw P(i|q) of every reader; the same each time where it is not the fitted one."""
        if intents != "fitted":
            return [intent_probabilities(collection, intents)] * count
        return [
            intent_probabilities(collection, intents, drawn) for drawn in draw_shares(self.model, count, rng)
        ]


def read_summary_model(path: str, collection: Collection, *, patience: bool, intents: bool) -> SummaryModel:
    """Read a user model and take from it what is asked for.

    Raises
    ------
    InputError
        If the file has not the form of a model; if it lacks what is asked for; if its intents are not the
        collection's.
    """
    model = read_model(path)
    shares = model.shares() if intents else None
    if shares is not None:
        try:
            intent_probabilities(collection, "fitted", shares)
        except InputError as error:
            raise InputError([replace(fault, path=path) for fault in error.faults]) from None
    return SummaryModel(
        path=path, model=model, patience=patience_of(model, path) if patience else None, shares=shares
    )
