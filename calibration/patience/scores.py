"""How judgments pull at patience, slope and tie weight, and how much of that people and topics have in common.

Judgments of a topic share its summaries, and judgments of a person the person's patience. So the variance is clustered by topics
and by people at once; where nobody judges more than one topic that is the one by topics.
"""

from typing import NamedTuple

import numpy as np

from calibration.inference.clusters import crossed_variance
from calibration.inference.davidson import choice_probabilities
from calibration.patience.pairs import JudgedSummaries
from metrics.arrays import Floats, Ints


class BestPlace(NamedTuple):
    """Where a likelihood stands: kappa, slope and log tie weight."""

    kappa: float
    slope: float
    log_tie: float


class Rows(NamedTuple):
    """What was judged, a row per judgment, or a row per pair where nobody knows who judged.

    Attributes
    ----------
    scores : (n, 3) ndarray of float
        Gradient of each row's log-likelihood, in the order of `BestPlace`.
    topic, worker : (n,) ndarray of int
        What each row is clustered by; the topic again where nobody knows who judged.
    """

    scores: Floats
    topic: Ints
    worker: Ints


class ClusterDesign(NamedTuple):
    """How many times larger variances are than the model's, and what is left to tell that from.

    Attributes
    ----------
    kappa, slope : float
        Of kappa, and of the slope at a given kappa; 1 for a single topic.
    df : int
        One less than the topics, or than the people where these judge several topics and are fewer.
    crossed : bool
        Somebody judged several topics.
    """

    kappa: float
    slope: float
    df: int
    crossed: bool


def score_rows(pairs: JudgedSummaries, place: BestPlace) -> Rows:
    """Return what every row pulls at the three parameters."""
    kappa = np.array([place.kappa])
    difference = pairs.differences(kappa)[0]
    by_kappa = place.slope * pairs.difference_slopes(kappa)[0]
    first, second, tie = choice_probabilities(place.slope * difference, np.asarray(place.log_tie))
    lead = first - second
    if pairs.judgments is None:
        n, votes = pairs.votes.total, pairs.votes
        residual, tied = votes.first - votes.second - n * lead, votes.ties - n * tie
        topic = worker = pairs.topic
    else:
        of, given = pairs.judgments.pair, pairs.judgments.lead
        residual, tied = given - lead[of], (given == 0) - tie[of]
        by_kappa, difference = by_kappa[of], difference[of]
        topic, worker = pairs.topic[of], pairs.judgments.worker
    scores = np.stack([residual * by_kappa / 2, residual * difference / 2, tied], axis=1)
    return Rows(scores=scores, topic=topic, worker=worker)


def information(pairs: JudgedSummaries, place: BestPlace) -> Floats:
    """Return minus the expected second derivatives, (3, 3); the last row and column are 0 where nobody saw a tie."""
    kappa = np.array([place.kappa])
    difference = pairs.differences(kappa)[0]
    by_kappa = place.slope * pairs.difference_slopes(kappa)[0]
    first, second, tie = choice_probabilities(place.slope * difference, np.asarray(place.log_tie))
    n, lead = pairs.votes.total, first - second
    odds = np.stack([by_kappa / 2, difference / 2])
    matrix = np.zeros((3, 3))
    matrix[:2, :2] = odds * (n * (first + second - lead**2)) @ odds.T
    matrix[:2, 2] = matrix[2, :2] = -odds @ (n * lead * tie)
    matrix[2, 2] = n @ (tie * (1 - tie))
    return matrix


def design(pairs: JudgedSummaries, place: BestPlace) -> ClusterDesign:
    """Return the design effects at the maximum of the likelihood."""
    rows, matrix = score_rows(pairs, place), information(pairs, place)
    topics, people = len(pairs.topics), len(np.unique(rows.worker))
    crossed = pairs.judgments is not None and _cells(rows) > people
    if topics < 2:
        return ClusterDesign(1.0, 1.0, 0, crossed)
    df = max(min(topics, people) - 1, 1) if crossed else topics - 1
    return ClusterDesign(_effect(rows, matrix, 0), _effect(rows, matrix[1:, 1:], 1), df, crossed)


def _cells(rows: Rows) -> int:
    """Return how many couples of a person and a topic there are."""
    return int(np.unique(np.stack([rows.worker, rows.topic]), axis=1).shape[1])


def _effect(rows: Rows, matrix: Floats, first: int) -> float:
    """Return clustered over model variance of the parameter ``first``, given those before it."""
    model = np.linalg.pinv(matrix, hermitian=True)
    if model[0, 0] <= 0:
        return 1.0
    influence = rows.scores[:, first:] @ model[0]
    return crossed_variance(influence, rows.topic, rows.worker) / float(model[0, 0])
