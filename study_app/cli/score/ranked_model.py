"""What a user model gives to the scores of ranked lists: fitted P(c|q), and its uncertainty."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from calibration.user_model.model import IntentEntry, read_user_model
from metrics.errors import FaultLog, input_fault
from metrics.ranked.lists import RankedCollection, RankedRun
from metrics.ranked.score import RankedMeasure, ranked_scores
from metrics.results import ALL, Topics
from metrics.topics import TopicNames
from metrics.wording import listed
from study_app.cli.output import Interval
from study_app.cli.score.model_draws import FloatArray, draw_shares

SUM_TOLERANCE = 0.01

Place: TypeAlias = tuple[str, str, str]
"""Run, topic and metric."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedModel:
    """What a command takes from its user model.

    Attributes
    ----------
    path : str
        The model's file, for messages.
    intents : mapping of str to mapping of str to IntentEntry
        Judged topic -> subtopic -> P(c|q) and its interval.
    collection : RankedCollection
        The judgments, with the fitted P(c|q).
    """

    path: str
    intents: Mapping[str, Mapping[str, IntentEntry]]
    collection: RankedCollection

    def intervals(
        self,
        runs: Sequence[RankedRun],
        measures: Sequence[RankedMeasure],
        *,
        topics: Topics,
        count: int,
        seed: int,
    ) -> dict[Place, Interval]:
        """Return the 95 % interval of each (run, topic, metric), `all` included: quantiles over draws of P(c|q).

        A score is the mean, under P(c|q), of the scores of users who have one subtopic each in mind: these alone are
        computed. All runs and measures see the same draws.

        Raises
        ------
        InputError
            If the model has no interval to draw from.
        """
        drawn = self._draws(count, seed)
        one_each = self._scores_of_one_subtopic(runs, measures)
        found: dict[Place, Interval] = {}
        for run in runs:
            counted = [topic for topic in drawn if topics == "judged" or topic in run.rankings]
            for metric in dict.fromkeys(one.column for one in measures):
                values = {topic: drawn[topic] @ one_each[run.name, topic, metric] for topic in drawn}
                of_counted = [values[topic] for topic in counted] or [np.full(count, math.nan)]
                values[ALL] = np.mean(of_counted, axis=0)
                for topic, scores in values.items():
                    low, high = np.quantile(scores, [0.025, 0.975]).tolist()
                    found[run.name, topic, metric] = low, high
        return found

    def _draws(self, count: int, seed: int) -> dict[str, FloatArray]:
        """Topic -> (count, C): draws of its P(c|q), subtopics in the order of the collection."""
        try:
            drawn = list(draw_shares(self.intents, count, np.random.default_rng(seed)))
        except ValueError as error:
            raise input_fault(str(error), path=self.path, cure="leave out --draws") from None
        return {
            topic: np.array(
                [[shares[topic][one] for one in self.collection.subtopics(topic)] for shares in drawn]
            )
            for topic in self.intents
        }

    def _scores_of_one_subtopic(
        self, runs: Sequence[RankedRun], measures: Sequence[RankedMeasure]
    ) -> dict[Place, FloatArray]:
        """Each place -> (C,): the score if P(c|q) were 1 for one subtopic, for each of the topic's."""
        subtopics = {topic: self.collection.subtopics(topic) for topic in self.intents}
        scores: dict[Place, list[float]] = {}
        for chosen in range(max(map(len, subtopics.values()))):
            certain = {
                topic: {one: float(place == chosen) for place, one in enumerate(of)}
                for topic, of in subtopics.items()
            }
            for score in ranked_scores(replace(self.collection, probability=certain), runs, measures):
                if score.topic != ALL and chosen < len(subtopics[score.topic]):
                    scores.setdefault(score[:3], []).append(score.value)
        return {place: np.array(values) for place, values in scores.items()}


def read_ranked_model(path: str, collection: RankedCollection) -> RankedModel:
    """Read a user model and take the P(c|q) of every judged topic from it.

    Raises
    ------
    InputError
        If the file is no user model; if it has no P(c|q) of a judged topic, none of one of its subtopics, or some that
        do not add up to 1.
    """
    names = TopicNames(collection.grades)
    fitted = {names.find(written): of for written, of in read_user_model(path).intents.items()}
    intents = {topic: fitted.get(topic, {}) for topic in collection.grades}
    log = FaultLog(path)
    for topic, of in intents.items():
        missing = [one for one in collection.grades[topic] if one not in of]
        total = math.fsum(share.estimate for share in of.values())
        if missing:
            problem = f"the model has no probability of subtopic {listed(missing)} of topic {topic!r}"
            log.add(problem, cure="score without --intents fitted")
        elif abs(total - 1) > SUM_TOLERANCE:
            problem = f"the intents of {topic!r} add up to {total:.6g}, not 1"
            log.add(problem, cure="divide each estimate by their sum")
    log.raise_if_any()
    shares = {topic: {one: share.estimate for one, share in of.items()} for topic, of in intents.items()}
    return RankedModel(path=path, intents=intents, collection=replace(collection, probability=shares))
