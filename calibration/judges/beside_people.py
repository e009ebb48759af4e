"""A judge beside people: how well its verdicts agree with their votes, how well one more person's do, and how it goes about it.

Judge and people are compared on the same pairs. On a pair, let j be the judge's verdict and v_1 ... v_n the votes of its n people: 1 for
system_a, -1 for system_b, 0 for a tie. Then

    one person:  (1 + j mean_i v_i) / 2                           how often the judge agrees with one person
    two people:  (1 + (s^2 - sum_i v_i^2) / (n (n - 1))) / 2,      s = sum_i v_i

a tie on either side counting half, both on average over the pairs that two people or more judged, on which a person has one vote. With the
majority the judge agrees as a measure does, under each rule for ties (`metrics.agreement.agreement`).

These numbers are of the first verdict of the judge on a pair, which is what its user gets who asks once. What is said of the judge
by itself beside people (kappa, circles, the longer side) is of the majority of all its verdicts. Kappa is Cohen's (1960) on the pairs that
have a majority on both sides; a circle is three sides of a topic of which each is preferred to the next (Kendall and Babington Smith 1940).

Intervals are over topics and people (`metrics.agreement.crossed_errors`); where nobody knows who judged, over topics alone: the sums of topics over
the number of pairs, Student's t with topics - 1 degrees of freedom.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import coo_array

from calibration.judges.people_in_turn import PeopleInTurn, judge_and_each_person
from calibration.judges.resolved import ResolvedVerdicts, resolved_verdicts
from metrics.agreement.agreement import TIES, Ties, pair_credit, standard_error
from metrics.agreement.ceiling import panel_votes
from metrics.agreement.crossed_errors import (
    UNKNOWN,
    Crossing,
    StandardError,
    VotesByPerson,
    is_few,
)
from metrics.arrays import Bools, Floats, Indices, summed

AS_GOOD = 0.05
"""Farthest end of the interval of a difference from one more person, at which a judge is as good as one."""


class Estimate(NamedTuple):
    """A number with its 95 % interval, and how many pairs it is of; NaN where it is unknown."""

    value: float = math.nan
    low: float = math.nan
    high: float = math.nan
    pairs: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Circles:
    """Circles among the triads of a topic whose three pairs are decided."""

    circles: int
    triads: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JudgeBesidePeople:
    """Numbers of one judge on one task.

    Attributes
    ----------
    agreement, agreement_there : mapping of str to Estimate
        Agreement with the majority by rule for ties: on all pairs that people and judge judged, and on those that two people or more did.
    two_people, difference : Estimate
        How often two people agree with each other on a pair; `one_person` less that.
    longer, longer_people : Estimate
        Share of the judge's verdicts, and of people's votes, for the longer side; unknown without lengths.
    kappa : Estimate
        Cohen's kappa of judge and majority on pairs that both decide, without interval.
    circles, circles_people : Circles
        Of the judge, and of people's majorities.
    verdicts : ResolvedVerdicts
        The judge's verdicts on all p pairs.
    by_topic : DataFrame
        One row a topic, the worst first: topic, pairs, agreement_half, pairs_there, one_person, two_people, contradicts.
    people : PeopleInTurn or None
        The judge against each person in turn; None where nobody knows who judged.
    """

    agreement: Mapping[Ties, Estimate]
    agreement_there: Mapping[Ties, Estimate]
    two_people: Estimate
    difference: Estimate
    longer: Estimate
    longer_people: Estimate
    kappa: Estimate
    circles: Circles
    circles_people: Circles
    verdicts: ResolvedVerdicts
    by_topic: pd.DataFrame
    people: PeopleInTurn | None

    @property
    def one_person(self) -> Estimate:
        """How often the judge agrees with one person on a pair: no majority is taken."""
        return self.agreement_there["weighted"]


class PeoplesVotes:
    """The votes of people on the pairs of one task, to hold judges against.

    Parameters
    ----------
    pairs : DataFrame
        One row a pair: topic, system_a, system_b.
    votes : VotesByPerson
        On these p pairs.
    """

    def __init__(self, pairs: pd.DataFrame, votes: VotesByPerson) -> None:
        self.pairs, self.votes = pairs.reset_index(drop=True), _with_topics_only(votes)
        self._on: dict[tuple[bytes, bool], VotesByPerson] = {}

    @cached_property
    def panel(self) -> tuple[VotesByPerson, Bools]:
        """One vote a person on each pair that two people or more judged, and (p,) which pairs these are."""
        panel, is_there = panel_votes(self.votes)
        return _with_topics_only(panel), is_there

    def on(self, is_kept: Bools, *, there: bool = False) -> VotesByPerson:
        """Return the votes on some of the p pairs; with ``there`` those of the panel, on those of them that two people or more judged."""
        votes, is_there = self.panel if there else (self.votes, None)
        kept = is_kept if is_there is None else is_kept[is_there]
        key = kept.tobytes(), there
        if key not in self._on:
            self._on[key] = _with_topics_only(votes.of_pairs(kept))
        return self._on[key]

    @cached_property
    def _index(self) -> pd.MultiIndex:
        return pd.MultiIndex.from_frame(self.pairs[["topic", "system_a", "system_b"]].astype("str"))

    def places(self, verdicts: pd.DataFrame) -> Indices:
        """Return the place of the pair of each verdict, -1 where no person judged it."""
        names = ["topic", "system_a", "system_b"]
        couples, code = _distinct(verdicts[names])
        found = self._index.get_indexer(pd.MultiIndex.from_frame(couples))
        return np.asarray(found[code], dtype=np.intp)

    def beside(self, verdicts: pd.DataFrame, lengths: Floats | None = None) -> JudgeBesidePeople:
        """Hold a judge against people.

        Parameters
        ----------
        verdicts : DataFrame
            Those of one judge on this task, as `calibration.judges.verdicts` has them.
        lengths : (p,) ndarray of float, optional
            Length of system_a's side less that of system_b's in each pair; NaN where it is unknown.
        """
        resolved = resolved_verdicts(verdicts, self.places(verdicts), len(self.pairs))
        is_judged, is_there = resolved.is_judged, self.panel[1]
        there = is_judged & is_there
        panel, lead = self.on(is_judged, there=True), resolved.first[there]
        there_by = {ties: agreement_with(panel, lead, ties) for ties in TIES}
        two, of_two = two_people(panel)
        of_one = panel.influence(lead, "weighted") if there.any() else of_two
        longer = _Longer(self, resolved, lengths)
        return JudgeBesidePeople(
            agreement={
                ties: agreement_with(self.on(is_judged), resolved.first[is_judged], ties) for ties in TIES
            },
            agreement_there=there_by,
            two_people=two,
            difference=_estimate(there_by["weighted"].value - two.value, panel, of_one - of_two, floor=-1.0),
            longer=longer.of_judge(),
            longer_people=longer.of_people(),
            kappa=self._kappa(resolved.majority),
            circles=self._circles(resolved.majority),
            circles_people=self._circles(np.where(is_judged, np.sign(self.votes.share - 0.5), np.nan)),
            verdicts=resolved,
            by_topic=self._by_topic(resolved),
            people=judge_and_each_person(panel, lead) if panel.crossing.knows_workers else None,
        )

    def _kappa(self, verdict: Floats) -> Estimate:
        majority = np.sign(self.votes.share - 0.5)
        is_decided = (np.nan_to_num(verdict) != 0) & (majority != 0)
        pairs = int(is_decided.sum())
        if not pairs:
            return Estimate()
        judge, people = verdict[is_decided] > 0, majority[is_decided] > 0
        chance = judge.mean() * people.mean() + (1 - judge.mean()) * (1 - people.mean())
        kappa = ((judge == people).mean() - chance) / (1 - chance) if chance < 1 else math.nan
        return Estimate(float(kappa), pairs=pairs)

    @cached_property
    def _nodes(self) -> Indices:
        """(2, p) number of each side of each pair among the sides of all topics."""
        topics = self.pairs["topic"].astype("str").to_numpy()
        sides = [self.pairs[side].astype("str").to_numpy() for side in ("system_a", "system_b")]
        both = pd.DataFrame({"topic": np.tile(topics, 2), "side": np.concatenate(sides)})
        return _distinct(both)[1].reshape(2, -1)

    def _circles(self, verdict: Floats) -> Circles:
        decided = np.flatnonzero(np.nan_to_num(verdict) != 0)
        if not decided.size:
            return Circles(circles=0, triads=0)
        first, second = self._nodes[:, decided]
        is_first = verdict[decided] > 0
        winner, loser = np.where(is_first, first, second), np.where(is_first, second, first)
        size = int(self._nodes.max()) + 1
        wins = coo_array((np.ones(len(decided)), (winner, loser)), shape=(size, size)).tocsr()
        either = wins + wins.T
        return Circles(
            circles=round(float((wins @ wins).multiply(wins.T).sum()) / 3),
            triads=round(float((either @ either).multiply(either).sum()) / 6),
        )

    def _by_topic(self, resolved: ResolvedVerdicts) -> pd.DataFrame:
        share, is_there = np.full(len(self.pairs), np.nan), self.panel[1]
        share[is_there] = self.panel[0].share
        two = np.full(len(self.pairs), np.nan)
        two[is_there] = _credit_of_two(self.panel[0])
        lead, is_judged = resolved.first, resolved.is_judged
        credit = np.full(len(self.pairs), np.nan)
        credit[is_judged] = pair_credit(lead[is_judged], self.votes.share[is_judged], ties="half")
        frame = pd.DataFrame(
            {
                "topic": self.pairs["topic"].astype("str"),
                "agreement_half": credit,
                "one_person": 0.5 + lead * (share - 0.5),
                "two_people": np.where(is_judged, two, np.nan),
                "ties": np.where(is_judged, lead == 0, np.nan),
            }
        )
        of_topics = frame.groupby("topic", sort=True)
        table = of_topics.mean().assign(
            pairs=of_topics["agreement_half"].count(), pairs_there=of_topics["one_person"].count()
        )
        columns = ["topic", "pairs", "agreement_half", "pairs_there", "one_person", "two_people", "ties"]
        table = table[table["pairs"] > 0].reset_index()[columns]
        return table.sort_values("agreement_half", kind="stable", ignore_index=True)


class _Longer:
    """How often judge and people prefer the longer side, on the pairs whose sides differ in length."""

    def __init__(self, people: PeoplesVotes, resolved: ResolvedVerdicts, lengths: Floats | None) -> None:
        self.people, self.verdict = people, resolved.majority
        self.lead = np.sign(np.zeros(len(self.verdict)) if lengths is None else np.nan_to_num(lengths))

    def of_judge(self) -> Estimate:
        is_kept = (self.lead != 0) & (np.nan_to_num(self.verdict) != 0)
        if not is_kept.any():
            return Estimate()
        votes = self.people.on(is_kept)
        credit = (self.lead == self.verdict)[is_kept].astype(np.float64)
        value = float(credit.mean())
        of_pair = (credit - value) / len(credit)
        query = np.zeros(len(credit), dtype=np.intp)
        query[votes.pair] = votes.crossing.query
        error = _over_topics(summed(of_pair, query, votes.crossing.queries), np.bincount(query) / len(credit))
        return _with_interval(value, error, len(credit))

    def of_people(self) -> Estimate:
        is_kept = (self.lead != 0) & ~np.isnan(self.verdict)
        return agreement_with(self.people.on(is_kept), self.lead[is_kept], "weighted")


def agreement_with(votes: VotesByPerson, lead: Floats, ties: Ties) -> Estimate:
    """Return the agreement of verdicts, or of score differences, with votes.

    Parameters
    ----------
    votes : VotesByPerson
        As `PeoplesVotes.on` returns them, on p pairs.
    lead : (p,) ndarray of float
        Above 0 for system_a, below for system_b, 0 for a tie.
    ties : str
        The rule, a key of `metrics.agreement.agreement.TIES`.
    """
    credit = pair_credit(lead, votes.share, ties=ties) if len(lead) else lead
    pairs = int((~np.isnan(credit)).sum())
    if not pairs:
        return Estimate()
    return _with_interval(float(np.nanmean(credit)), votes.error(lead, ties), pairs)


def two_people(panel: VotesByPerson) -> tuple[Estimate, Floats]:
    """Return how often two people agree on a pair, and what each judgment adds to its error.

    The latter is (c - mean c + 2 (m - c)) / n / pairs, c the pair's number of n votes, and m that of its couples with this judgment: the
    projection of a mean over couples (Hajek 1968).
    """
    if not panel.pair.size:
        return Estimate(), np.zeros(0)
    credit, votes, lead = _credit_of_two(panel), panel.votes, 2 * panel.for_a - 1
    total = panel.cast[2] - panel.cast[0]
    with_it = 0.5 + lead * (total[panel.pair] - lead) / (votes[panel.pair] - 1) / 2
    value = float(credit.mean())
    influence = (2 * with_it - credit[panel.pair] - value) * panel.weight
    return _estimate(value, panel, influence), influence


def _credit_of_two(panel: VotesByPerson) -> Floats:
    """Return the share of couples of people on each pair who agree, a tie counting half."""
    votes, total, sided = panel.votes, panel.cast[2] - panel.cast[0], panel.cast[2] + panel.cast[0]
    return np.asarray(0.5 + (total**2 - sided) / (votes * (votes - 1)) / 2, dtype=np.float64)


def _estimate(value: float, votes: VotesByPerson, influence: Floats, *, floor: float = 0.0) -> Estimate:
    if not votes.pair.size:
        return Estimate()
    return _with_interval(
        value, votes.crossing.error(influence, votes.weight), votes.cast.shape[1], floor=floor
    )


def _with_interval(value: float, error: StandardError, pairs: int, *, floor: float = 0.0) -> Estimate:
    reach = error.half_width()
    if math.isnan(reach):
        return Estimate(value, pairs=pairs)
    return Estimate(value, max(floor, value - reach), min(1.0, value + reach), pairs)


def _over_topics(sums: Floats, share: Floats) -> StandardError:
    """Return sqrt(Q / (Q - 1) sum U_q^2), with Q - 1 degrees of freedom for Q topics; unknown with few."""
    topics = int((share > 0).sum())
    error = standard_error(sums, topics)
    return UNKNOWN if is_few(share) or not error > 0 else StandardError(error, topics - 1)


class _TopicsOnly(Crossing):
    """Judgments of people whom nobody knows: topics are what was sampled."""

    def error(self, influence: Floats, weight: Floats) -> StandardError:
        sums = (summed(values, self.query, self.queries) for values in (influence, weight))
        return _over_topics(*sums)


def _with_topics_only(votes: VotesByPerson) -> VotesByPerson:
    """Return votes whose intervals are over topics alone where nobody knows who judged."""
    crossed = votes.crossing
    if crossed.knows_workers or isinstance(crossed, _TopicsOnly):
        return votes
    alone = _TopicsOnly(
        query=crossed.query,
        worker=crossed.worker,
        cell=crossed.cell,
        worker_of_cell=crossed.worker_of_cell,
        knows_workers=False,
    )
    return replace(votes, crossing=alone)


def _distinct(frame: pd.DataFrame) -> tuple[pd.DataFrame, Indices]:
    """Return the distinct rows of a frame of names as texts, and (n,) which of them each row is."""
    codes = np.zeros(len(frame), dtype=np.int64)
    for name in frame.columns:
        code, names = pd.factorize(frame[name])
        codes = pd.factorize(codes * (len(names) + 1) + code)[0]
    start = np.flatnonzero(~pd.Series(codes).duplicated().to_numpy())
    return frame.iloc[start].astype("str"), codes.astype(np.intp)
