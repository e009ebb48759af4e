"""The bootstrap of the push weights: topics are drawn whole, with all their judgments.

What the cells do not explain stays with the streams of a topic, so the topic is what varies from study to study. Judgments of
one pair with the same outcome are one row that counts several times: a sample costs no more for many people than for few.
"""

import numpy as np

from calibration.inference.clusters import cluster_counts
from calibration.push.data import OUTCOMES, PairVotes
from calibration.push.likelihood import Ties, maximise, maximise_nonnegative
from calibration.push.search import WeightSearch
from metrics.arrays import Floats


def bootstrap_weights(
    votes: PairVotes,
    found: WeightSearch,
    ties: Ties,
    *,
    resamples: int,
    rng: np.random.Generator,
    nonneg: bool = False,
) -> Floats:
    """Fit the weights again to samples of topics.

    Parameters
    ----------
    votes : PairVotes
        The judgments.
    found : WeightSearch
        Their fit.
    ties : str
        How ties enter.
    resamples : int
        Number of samples.
    rng : Generator
        Source of the samples.
    nonneg : bool
        Allow no negative weight.

    Returns
    -------
    (resamples, k) ndarray of float
        Weights that can be told, in log odds.
    """
    outcome = np.tile(OUTCOMES, len(votes.votes))
    count = votes.votes.ravel()
    used = (count > 0) & ((outcome != 0) | (ties != "drop"))
    design = np.repeat(votes.difference[:, found.kept], len(OUTCOMES), axis=0)[used]
    topic = np.unique(np.repeat(votes.topic, len(OUTCOMES))[used], return_inverse=True)[1]
    places = [found.kept.index(place) for place in found.told]
    search = maximise_nonnegative if nonneg else maximise
    return np.array(
        [
            search(
                design, outcome[used], ties, times=times[topic] * count[used], start=found.maximum.point
            ).weights[places]
            for times in cluster_counts(int(topic.max()) + 1, resamples, rng)
        ]
    )
