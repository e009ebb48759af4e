"""Ranked-list measures under a user model: fitted P(c|q) and its uncertainty."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np

from calibration.user_model.draws import Draws, Part
from calibration.user_model.family import FamilyModel, Spread
from calibration.user_model.measures import intent_shares, sum_fault
from calibration.user_model.model import UserModel, load_model
from metrics.arrays import Floats
from metrics.errors import FaultLog, join_names
from metrics.ranked.lists import RankedCollection, RankedRun
from metrics.ranked.measures import TIAERR, TIANDCG, RankedMeasure
from metrics.ranked.named import ListMeasure
from metrics.ranked.recall import TIASBR
from metrics.ranked.score import ranked_scores
from metrics.results import ALL, Score, ScoreKey, Topics
from metrics.topic_ids import TopicNames


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RankedModel(FamilyModel[RankedRun, ListMeasure]):
    """Measures of ranked lists under a user model; see `FamilyModel`.

    A score is the mean, under P(c|q), of the scores of users who have one subtopic each in mind: under the draws these
    alone are computed.

    Attributes
    ----------
    collection : RankedCollection
        The judgments, with the fitted P(c|q).
    """

    parts: ClassVar[tuple[Part, ...]] = ("intents",)

    collection: RankedCollection

    @property
    def measures(self) -> list[ListMeasure]:
        """Measures that use P(c|q)."""
        return [TIANDCG(), TIAERR(), TIASBR()]

    def _scores(
        self, runs: Sequence[RankedRun], labels: Mapping[str, ListMeasure], topics: Topics
    ) -> list[Score]:
        return ranked_scores(self.collection, runs, labels, topics=topics)

    def _spreads(
        self, draws: Draws, runs: Sequence[RankedRun], labels: Mapping[str, ListMeasure], topics: Topics
    ) -> Iterator[Spread]:
        drawn = {
            topic: np.array(
                [
                    [shares[topic][measure] for measure in self.collection.subtopics(topic)]
                    for shares in draws.shares
                ]
            )
            for topic in self.model.intents
        }
        moved = {label: measure for label, measure in labels.items() if isinstance(measure, RankedMeasure)}
        one_each = self._scores_of_one_subtopic(runs, moved)
        for run in runs:
            counted = [topic for topic in drawn if topics == "judged" or topic in run.rankings]
            for metric in moved:
                values = {topic: drawn[topic] @ one_each[run.name, topic, metric] for topic in drawn}
                of_counted = [values[topic] for topic in counted] or [np.full(draws.count, math.nan)]
                values[ALL] = np.mean(of_counted, axis=0)
                yield [(run.name, topic, metric) for topic in values], np.column_stack([*values.values()])

    def _scores_of_one_subtopic(
        self, runs: Sequence[RankedRun], labels: Mapping[str, RankedMeasure]
    ) -> dict[ScoreKey, Floats]:
        """Return scores by key with P(c|q) = 1 for one subtopic in turn, (C,).

        Every subtopic of the topic has its turn.
        """
        subtopics = {topic: self.collection.subtopics(topic) for topic in self.model.intents}
        scores: dict[ScoreKey, list[float]] = {}
        for chosen in range(max(map(len, subtopics.values()))):
            certain = {
                topic: {one: float(key == chosen) for key, one in enumerate(of)}
                for topic, of in subtopics.items()
            }
            for score in ranked_scores(replace(self.collection, probability=certain), runs, labels):
                if score.topic != ALL and chosen < len(subtopics[score.topic]):
                    scores.setdefault(score[:3], []).append(score.value)
        return {key: np.array(values) for key, values in scores.items()}


def ranked_model(model: UserModel | str | Path, collection: RankedCollection) -> RankedModel:
    """Build the model of ranked lists from a user model: P(c|q) of judged topics.

    Parameters
    ----------
    model : UserModel, str or Path
        As `prefcal fit` makes it, or its file.
    collection : RankedCollection
        Judgments; their own P(c|q) is left aside.

    Returns
    -------
    RankedModel
        ``score(runs, measures, draws=, seed=)``, ``measures`` and ``notes``.

    Raises
    ------
    InputError
        If the file is no user model; if it has no P(c|q) of a judged topic, none of one of its subtopics, or some that
        do not add up to 1.

    Examples
    --------
    >>> import prefcal
    >>> folder = "examples/ranked_lists/collection"
    >>> collection = prefcal.read_ranked_collection(
    ...     qrels=f"{folder}/qrels.txt",
    ...     windows=f"{folder}/windows.txt",
    ...     intents=f"{folder}/intents.txt",
    ... )
    >>> run = prefcal.read_ranked_run("examples/ranked_lists/runs/newest.txt", collection.grades)
    >>> asked = {
    ...     topic: {intent: {"estimate": share} for intent, share in shares.items()}
    ...     for topic, shares in collection.probability.items()
    ... }
    >>> model = prefcal.UserModel.model_validate({"intents": asked})
    >>> len(ranked_model(model, collection).score([run]))
    15
    """
    whole, path = load_model(model)
    names = TopicNames(collection.grades)
    fitted = {names.find(written): of for written, of in whole.intents.items()}
    intents = {topic: fitted.get(topic, {}) for topic in collection.grades}
    model = whole.part([], intents)
    shares = intent_shares(model)
    log = FaultLog(path)
    for topic, of in shares.items():
        missing = [subtopic for subtopic in collection.grades[topic] if subtopic not in of]
        wrong = sum_fault(topic, of)
        if missing:
            problem = f"the model has no probability of subtopic {join_names(missing)} of topic {topic!r}"
            log.add(problem, cure="score without --intents fitted")
        elif wrong:
            log.add(wrong.problem, cure=wrong.cure)
    log.raise_if_any()
    return RankedModel(path=path, model=model, collection=replace(collection, probability=shares))
