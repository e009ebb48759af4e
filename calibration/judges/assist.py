"""Numbers of people, assisted by a judge: people's votes on some pairs, a judge's verdicts on all (prediction-powered inference, PPI++).

A number of people on all pairs, such as the agreement of a measure with their majority or the win rate of a system, is estimated from the
pairs that people judged, and moved by what the judge's own number does between these pairs and all:

    estimate = people - lambda (judge on people's pairs - judge on all pairs)

Whatever the judge prefers, the bracket is about 0 where people's pairs are drawn by lot from all, so a bad judge leaves the estimate where it is, only
less exact; lambda in [0, 1] keeps it from that: 0 is people alone. (Angelopoulos, Bates, Fannjiang, Jordan and Zrnic 2023, Science;
Angelopoulos, Duchi and Zrnic 2023, "PPI++", arXiv:2311.01453.)

With a_i what pair i of people adds to the error of people's number, and b_i to that of the judge's on the same pairs, the bracket varies by which pairs
people judged, and lambda = sum a_i b_i / sum b_i^2, the slope over pairs. It is fitted for each topic to the pairs of all other topics, so that no vote decides how
much itself is corrected: with d_q the part of topic q in the bracket the estimate is people - sum_q lambda_q d_q. A slope over the sums of topics instead
follows chance with the few topics that studies have: its intervals come out narrower than the spread of its estimates.

The error is over topics and people (`metrics.agreement.crossed_errors`): on a pair that people judged, the votes together are moved by -lambda_q b_i, and each topic
adds what its pairs add to the judge's number on all, also where nobody judged it. Student's t has the degrees of freedom of people's topics. A
judge that would widen an interval by more than `MAX_WIDENING` is not used.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd

from calibration.judges.resolved import resolved_verdicts
from calibration.judges.verdicts import Verdicts
from metrics.agreement.crossed_errors import Crossing, crossing
from metrics.arrays import Bools, Floats, Indices, Ints, summed
from metrics.errors import Fault, InputError, input_fault, join_names, pluralise

MAX_WIDENING = 1.05
"""Largest width, relative to that of people alone, with which a judge is used."""
FEW_TOPICS = 20
"""Smallest number of topics with people's votes without a warning."""
NUMBERS = (
    *("people", "people_low", "people_high", "estimate", "low", "high", "width_ratio", "weight"),
    *("pairs_people", "pairs_judge", "topics_people", "topics_judge"),
)
"""Columns of every assisted number."""
AGREEMENTS = ("task", "judge", "measure", "against", "ties", *NUMBERS)
"""Columns of assisted_agreement.csv."""
WIN_RATES = ("task", "judge", "system", "against", *NUMBERS)
"""Columns of assisted_win_rates.csv."""
MEANING = (
    "Assisted numbers are those of people on all of the judge's pairs, not the judge's: people's votes correct it, so a poor judge moves nothing,"
    " and a good one narrows the interval. That protects against the numbers of a judge alone; the saving is small where people judged pairs of"
    " every topic. It holds where the pairs that people judged were drawn by lot from the judge's."
)


def least_width_ratio(correlation: float) -> float:
    """Return the least width of an interval with a judge, relative to that of people alone: sqrt(1 - R^2), or 1 for R below 0.

    Reached where the judge judged endlessly more pairs, of other topics, than people; R is the correlation of a_i and b_i over pairs.
    """
    return math.sqrt(1 - max(0.0, correlation) ** 2)


def verdicts_by(judge: str, verdicts: Verdicts | None, *, path: str | None = None) -> Verdicts:
    """Return the verdicts of one judge; ``path`` is named in the fault.

    Raises
    ------
    InputError
        If there is no such judge.
    """
    names = [] if verdicts is None else list(dict.fromkeys(verdicts["judge"]))
    if verdicts is None or judge not in names:
        cure = (
            f"name one of {join_names(names)}" if names else "prefcal judge import puts judges beside people"
        )
        raise input_fault(f"no judge is called {judge!r}", path=path, cure=cure)
    return verdicts[verdicts["judge"] == judge]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JudgedPairs:
    """All pairs of one task that people or a judge judged; those of people first.

    Attributes
    ----------
    pairs : DataFrame
        Topic, system_a, system_b of each of P pairs, as texts.
    share : (P,) ndarray of float
        Share of system_a in the judge's first verdict: 0, 0.5 or 1; NaN without a verdict.
    topic : (P,) ndarray of int
        Codes of topics; those of people's pairs are the first.
    labelled : int
        Pairs that people judged.
    """

    pairs: pd.DataFrame
    share: Floats
    topic: Indices
    labelled: int

    @property
    def why_useless(self) -> str:
        """Reason why the verdicts can assist nothing, or an empty text."""
        is_judged = ~np.isnan(self.share)
        if not is_judged[: self.labelled].any():
            return (
                "the judge judged none of the pairs that people judged, so nobody knows how far to follow it"
            )
        if not is_judged[self.labelled :].any():
            pairs = pluralise(self.labelled, "pair")
            return (
                f"the judge judged no pair besides the {pairs} that people judged, so it adds nothing to them"
            )
        return ""


def judged_pairs_of(people: pd.DataFrame, topic: Ints, verdicts: Verdicts) -> JudgedPairs:
    """Put the pairs that a judge judged below those that people judged.

    Parameters
    ----------
    people : DataFrame
        topic, system_a, system_b of p pairs of one task, each once.
    topic : (p,) ndarray of int
        Codes of their topics, from 0 without holes.
    verdicts : DataFrame
        Those of one judge on this task.
    """
    names = ["topic", "system_a", "system_b"]
    labelled, rows = people[names].astype("str"), verdicts[names].astype("str")
    pairs = pd.concat([labelled, rows]).drop_duplicates(ignore_index=True)
    place = pd.MultiIndex.from_frame(pairs).get_indexer(pd.MultiIndex.from_frame(rows))
    code = dict(zip(labelled["topic"], topic.tolist(), strict=True))
    for name in pairs["topic"]:
        code.setdefault(name, len(code))
    return JudgedPairs(
        pairs=pairs,
        share=(1 + resolved_verdicts(verdicts, place, len(pairs)).first) / 2,
        topic=pairs["topic"].map(code).to_numpy(np.intp),
        labelled=len(labelled),
    )


class JudgeNumber(NamedTuple):
    """A judge's number of some question, on people's p pairs and on all.

    Attributes
    ----------
    labelled, whole : float
        The number on the pairs that people judged, and on all.
    by_pair : (p,) ndarray of float
        What each of people's pairs adds to the error of ``labelled``.
    by_topic : (T,) ndarray of float
        What each topic adds to the error of ``whole``.
    """

    labelled: float
    whole: float
    by_pair: Floats
    by_topic: Floats


def judge_number(credit: Floats, labelled: Floats, whole: Floats, topic: Indices) -> JudgeNumber:
    """Return weighted means of what each pair adds to a judge's number.

    Parameters
    ----------
    credit : (P,) ndarray of float
        What pairs add, by the judge's verdicts; those of people first.
    labelled, whole : (p,), (P,) ndarray of float
        Weights of the pairs in either mean, adding up to 1 (or to 0 where the judge judged none); 0 where ``credit`` is NaN.
    topic : (P,) ndarray of int
        Topics of the pairs.
    """
    known, p = np.nan_to_num(credit), len(labelled)
    on_labelled, on_all = float(known[:p] @ labelled), float(known @ whole)
    return JudgeNumber(
        labelled=on_labelled if labelled.any() else on_all,
        whole=on_all,
        by_pair=labelled * (known[:p] - on_labelled),
        by_topic=summed(whole * (known - on_all), topic, int(topic.max()) + 1),
    )


def equal_weights(counts: Bools) -> Floats:
    """Return equal weights of the pairs that count, adding up to 1."""
    return np.asarray(counts / max(int(counts.sum()), 1), dtype=np.float64)


class PeopleNumber(NamedTuple):
    """A number from n judgments of people.

    Attributes
    ----------
    value : float
        The number.
    influence, weight : (n,) ndarray of float
        What each judgment adds to its error, and its part in it (`metrics.agreement.crossed_errors.Crossing.error`).
    """

    value: float
    influence: Floats
    weight: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class AssistedNumber:
    """A number of people alone, and assisted by a judge, with their intervals; NaN where unknown.

    Attributes
    ----------
    people, people_low, people_high : float
        From people's votes alone.
    estimate, low, high : float
        Assisted.
    width_ratio : float
        Width of the second interval over that of the first.
    weight : float
        Mean lambda: how far the judge is followed, from 0 to 1.
    """

    people: float
    people_low: float
    people_high: float
    estimate: float
    low: float
    high: float
    width_ratio: float
    weight: float


class VotesOnPairs:
    """Who judged what: the same for all numbers of a task.

    Parameters
    ----------
    judgments : Crossing
        Topic and worker of each of n judgments; topics have the codes of ``pairs``.
    pair : (n,) ndarray of int
        Pair of each judgment, from 0 without holes.
    pairs : JudgedPairs
        All pairs.
    """

    def __init__(self, judgments: Crossing, pair: Ints, pairs: JudgedPairs) -> None:
        self.judgments, self.pair, self.pairs = judgments, pair, pairs
        self.votes = np.bincount(pair)
        self.topics = int(pairs.topic.max()) + 1

    @cached_property
    def _with_topics(self) -> Crossing:
        """Judgments, and below them a row of each topic, of nobody else, for what the judge adds there."""
        each, known = np.arange(self.topics), self.judgments
        worker = np.append(known.worker, known.workers + each) if known.knows_workers else None
        return crossing(np.append(known.query, each), worker)

    def assisted(
        self,
        people: PeopleNumber,
        judge: JudgeNumber,
        *,
        level: float = 0.95,
        ends: tuple[float, float] = (0.0, 1.0),
    ) -> AssistedNumber:
        """Return a number with the help of a judge.

        Parameters
        ----------
        people, judge : PeopleNumber, JudgeNumber
            The same question, answered by either.
        level : float
            Of the intervals.
        ends : (float, float)
            Least and largest value that there can be; intervals are cut there.
        """
        p = self.pairs.labelled
        topic = self.pairs.topic[:p]
        slopes = self._slopes(summed(people.influence, self.pair, p), judge.by_pair, topic)
        part = summed(people.weight, self.judgments.query, self.topics)
        bracket = summed(judge.by_pair, topic, self.topics) - judge.by_topic
        bracket += (judge.labelled - judge.whole) * part
        off = (slopes[topic] * judge.by_pair / self.votes)[self.pair]
        influence = np.append(people.influence - off, slopes * judge.by_topic)
        error = self._with_topics.error(influence, np.append(people.weight, np.zeros(self.topics)))
        alone = self.judgments.error(people.influence, people.weight).half_width(level)
        reach = error.half_width(level)
        estimate, weight = float(people.value - slopes @ bracket), float(slopes @ part)
        if not slopes.any() or reach > MAX_WIDENING * alone:
            reach, estimate, weight = alone, people.value, 0.0
        low, high = _cut(people.value, alone, ends)
        return AssistedNumber(
            people=people.value,
            people_low=low,
            people_high=high,
            **dict(zip(("low", "high"), _cut(estimate, reach, ends), strict=True)),
            estimate=float(np.clip(estimate, *ends)),
            width_ratio=reach / alone,
            weight=weight,
        )

    def _slopes(self, people: Floats, judge: Floats, topic: Indices) -> Floats:
        """Return lambda of each topic, (T,), fitted to the pairs of all others."""
        product, square = (summed(each, topic, self.topics) for each in (people * judge, judge**2))
        product, square = product.sum() - product, square.sum() - square
        slopes = np.divide(product, square, out=np.zeros(self.topics), where=square > _NOTHING)
        return np.asarray(np.clip(slopes, 0, 1))

    @property
    def counts(self) -> dict[str, int]:
        """Return the numbers of pairs and topics of people and judge, as `NUMBERS` calls them."""
        is_judged = ~np.isnan(self.pairs.share)
        return {
            "pairs_people": self.pairs.labelled,
            "pairs_judge": int(is_judged.sum()),
            "topics_people": self.judgments.queries,
            "topics_judge": len(np.unique(self.pairs.topic[is_judged])),
        }

    def note(self) -> str:
        """Return a sentence on too few topics, or an empty text."""
        topics = self.judgments.queries
        if topics >= FEW_TOPICS:
            return ""
        return (
            f"people judged pairs of {pluralise(topics, 'topic')}, fewer than {FEW_TOPICS}: how far the judge may be followed is known"
            " roughly, and so are the assisted intervals (few_topics)"
        )


_NOTHING = 1e-18
_Task = TypeVar("_Task")


def assisted_tasks(
    of_task: Callable[[_Task], tuple[list[dict[str, Any]], list[str]]], tasks: Iterable[_Task]
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return rows and notes of every task that a judge assists, and a note on each other one.

    Raises
    ------
    InputError
        If it assists none.
    """
    rows: list[dict[str, Any]] = []
    notes: list[str] = []
    faults: list[Fault] = []
    for task in tasks:
        try:
            of_this, about_it = of_task(task)
        except InputError as error:
            faults += error.faults
        else:
            rows += of_this
            notes += about_it
    if not rows:
        raise InputError(faults)
    return rows, [*notes, *(fault.problem for fault in faults)]


def _cut(value: float, reach: float, ends: tuple[float, float]) -> tuple[float, float]:
    if math.isnan(reach):
        return math.nan, math.nan
    return max(ends[0], value - reach), min(ends[1], value + reach)
