"""Do some workers give the same answers or times, like one person?

They may be one person with several accounts.

Two workers may agree because an item is easy, because both have the same habit, or because they share a taste. So each couple of workers
with enough items in common is held against all three. Of item i, with m_ic answers c among m_i, two of the *others* (neither u nor v)
agree with probability

    p_i = (sum_c m_ic (m_ic - 1) without u and v + K p) / ((m_i - 2) (m_i - 3) + K)

where p is the share over all items. By habit, two people whose shares of answers are q_u and q_v agree with sum_c q_uc q_vc. The larger of
the two, averaged over the items that both answered, is a. A share c of answers that are alike whatever the item makes it
c + (1 - c) a: taste makes c larger than 0 for many couples, copies make it 1 for few. So c is found for all couples
at once (a discrete mixture of binomials, EM, Laird 1978), and a couple is reported that agrees more often than the highest c of the couples
below `COPIES` allows. The upper tail of a sum of unequal chances is at most that of a binomial with their mean (Hoeffding 1956), so

    P = P(X >= k),  X ~ Binomial(n, c + (1 - c) a),

and a couple is reported where P times the number of couples is below `REJECTED` (Bonferroni) and at least half of the answers are alike beyond chance.

Times and dwells are real numbers: two rows with the same one are alike, as answers are.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

import numpy as np
import pandas as pd
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components
from scipy.special import betainc

from calibration.checks.finding import REJECTED, Finding
from calibration.inference.formatting import format_p
from calibration.tables.preferences import FOLLOWING, counted_tables, knows_workers, resolved_sides
from metrics.arrays import Floats, Ints
from metrics.errors import join_names, pluralise

SameAnswersOption: TypeAlias = Literal["apart", "one-cluster"]
"""Treatment of workers who give the same answers: separate, or one person.

The first counts each worker, the second each group.
"""
MIN_ANSWERS, MIN_TIMES = 10, 5
"""Smallest numbers of items that two workers must share: answers, times.

Times say more than choices.
"""
COPIES = 0.7
"""Largest share of agreement beyond chance that a shared taste explains.

`benchmarks/same_answers.py` set it.
"""
MIN_ALIKE_SHARE = 0.5
"""Smallest share of alike answers beyond chance that is reported.

A smaller share does not suggest one person, however clear it is.
"""
PRIOR_COUPLES = 6
"""Prior weight K of the agreement on all items in each item's chance.

It adds K worker pairs that agree as often as on all items.
"""
_SHARES = np.array([-0.6, -0.3, -0.15, *np.arange(0, 0.951, 0.05), 0.98, 1.0])
_MAX_COUPLES = 20_000
"""Largest number of couples that estimate tastes; of more, evenly chosen ones."""
_ROUNDS = 200
_MIN_MASS = 0.01
_BLOCK = 256
_SHOWN_WORKERS, _SHOWN_GROUPS = 6, 3


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CodedAnswers:
    """Answers of workers as codes, one row an answer.

    Attributes
    ----------
    workers : Index of str
        Their names.
    worker, item, answer : (n,) ndarray of int
        Who, about what, and which; a worker has one answer an item.
    habits : (workers, options) ndarray of float or None
        How often each chose each option as it stood on the screen; None where nothing can be chosen by habit, as of times.
    fewest : int
        Items that two workers must share.
    """

    workers: "pd.Index[str]"
    worker: Ints
    item: Ints
    answer: Ints
    habits: Floats | None
    fewest: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SameAnswers:
    """Groups of workers of one table who give the same answers.

    Attributes
    ----------
    table : str
        Where they do.
    groups : tuple of tuple of str
        The workers of each group, in alphabetical order.
    alike, shared : int
        Of the couple that stands out most: items on which both answered alike, and items that both answered.
    p_value : float
        How often people who share no more than a taste would have such a couple.
    """

    table: str
    groups: tuple[tuple[str, ...], ...]
    alike: int
    shared: int
    p_value: float

    @property
    def what_was_seen(self) -> str:
        """Return a sentence on the workers who give the same answers, and how far."""
        people = sum(map(len, self.groups))
        shown = [join_names(group, most=_SHOWN_WORKERS) for group in self.groups[:_SHOWN_GROUPS]]
        names = "; ".join(shown) + ("; ..." if len(self.groups) > _SHOWN_GROUPS else "")
        several = f" in {len(self.groups)} groups" if len(self.groups) > 1 else ""
        return (
            f"{pluralise(people, 'worker')}{several} {_WHAT[self.table]} ({names}): {self.alike} of {self.shared} that two of them share are"
            f" alike, more than tastes, habits and easy items explain ({format_p(self.p_value)})"
        )

    def said(self, *, as_one: bool) -> str:
        """Return the sentence on the workers, with the effect on intervals.

        Where each group counts as one person, the sentence says so.
        """
        if as_one:
            return (
                f"{self.what_was_seen}. Each group counts as one person, as --same-answers one-cluster says."
            )
        return (
            f"{self.what_was_seen}. If they are one person each, intervals are too narrow: --same-answers one-cluster"
            " (same_answers in Python) counts each group as one person."
        )

    def finding(self, *, as_one: bool = False) -> Finding:
        """Return a finding: a warning, or a note if each group counts as one person."""
        severity: Literal["warning", "info"] = "info" if as_one else "warning"
        return Finding(
            name="same_answers",
            severity=severity,
            sentence=self.said(as_one=as_one),
            p_value=None if as_one else self.p_value,
        )


def same_votes(
    tables: Mapping[str, pd.DataFrame], *, exclude: bool = True, complete_only: bool = False
) -> tuple[SameAnswers, ...]:
    """Find workers who give the same answers in the preferences that count.

    `counted_tables` has the parameters.
    """
    votes = {name: tables[name] for name in ("preferences", "workers") if name in tables}
    return find_same_answers(counted_tables(votes, exclude=exclude, complete_only=complete_only))


def find_same_answers(tables: Mapping[str, pd.DataFrame]) -> tuple[SameAnswers, ...]:
    """Find workers who give the same answers, table by table.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        Only rows that count.

    Returns
    -------
    tuple of SameAnswers
        One for each table in which some stand out; the level is shared by the tables (Bonferroni).
    """
    present = [name for name in READERS if name in tables and len(tables[name])]
    made = ((name, READERS[name](tables)) for name in present)
    return tuple(
        groups
        for name, answers in made
        if answers is not None and (groups := _in_one_table(name, answers, len(present)))
    )


def one_cluster(
    tables: Mapping[str, pd.DataFrame], same_answers: Iterable[SameAnswers]
) -> MappingProxyType[str, pd.DataFrame]:
    """Return tables in which each group has the name of its first worker.

    Where a worker has one row per item (`ONE_ROW`), such as a visit or a ballot, the rows of the first member
    that has any stay.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        Any tables.
    same_answers : iterable of SameAnswers
        Groups of several tables that share a worker are one.
    """
    first = first_of_each(same_answers)
    if not first:
        return MappingProxyType(dict(tables))
    made = {name: _relabelled(name, frame, first) for name, frame in tables.items()}
    if "follows" in tables:
        gone = _rows_gone(tables["follows"], first)
        made |= {
            name: _relabelled(name, tables[name][~_streams(tables[name]).isin(gone)], first)
            for name in FOLLOWING & tables.keys()
        }
    return MappingProxyType(made)


def first_of_each(same_answers: Iterable[SameAnswers]) -> dict[str, str]:
    """Return the first worker of the group of each worker.

    Groups that share a worker are merged.
    """
    groups = [group for each in same_answers for group in each.groups]
    names = sorted({worker for group in groups for worker in group})
    index = {name: number for number, name in enumerate(names)}
    links = [(index[group[0]], index[worker]) for group in groups for worker in group]
    if not links:
        return {}
    label = _components(np.array(links), len(names))
    firsts = [names[int(np.flatnonzero(label == group)[0])] for group in label]
    return dict(zip(names, firsts, strict=True))


ONE_ROW: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "workers": (),
        "intent_votes": ("topic",),
        "importance": ("topic", "intent", "iunit"),
        "follows": ("topic", "system"),
        "visits": ("topic",),
        "prompts": ("topic",),
        "activity": ("topic",),
    }
)
"""Key of the rows that a worker has once, by table, beside ``worker``."""


def _streams(frame: pd.DataFrame) -> pd.MultiIndex:
    return pd.MultiIndex.from_arrays([frame["worker"].astype("str"), frame["topic"].astype("str")])


def _rows_gone(follows: pd.DataFrame, first: Mapping[str, str]) -> pd.MultiIndex:
    """Return (worker, topic) of follows that an earlier group member has too.

    The visits of these follows go as well.
    """
    every = _streams(follows).unique()
    frame = every.to_frame(index=False, name=["worker", "topic"])
    label = frame["worker"].map(first).fillna(frame["worker"])
    return every[
        (frame["worker"] != frame["worker"].groupby([label, frame["topic"]]).transform("min")).to_numpy()
    ]


def _relabelled(name: str, frame: pd.DataFrame, first: Mapping[str, str]) -> pd.DataFrame:
    if "worker" not in frame.columns or not frame["worker"].isin(first).any():
        return frame.reset_index(drop=True)
    own = frame["worker"].astype("str").where(frame["worker"].notna())
    label = own.map(first).fillna(own)
    renamed = frame.assign(worker=label.astype(frame["worker"].dtype))
    if name not in ONE_ROW:
        return renamed
    keys = [label, *(frame[column] for column in ONE_ROW[name] if frame[column].notna().all())]
    kept = own == own.groupby(keys, observed=True).transform("min")
    return renamed[kept].reset_index(drop=True)


def _in_one_table(table: str, answers: CodedAnswers, tests: int) -> SameAnswers | None:
    couples = _couples(answers)
    if couples is None or len(answers.workers) < 3:
        return None
    p_values = couples.p_values() * len(couples.shared) * tests
    is_same = (p_values < REJECTED) & (
        couples.alike >= _alike(MIN_ALIKE_SHARE, couples.chance) * couples.shared
    )
    if not is_same.any():
        return None
    links = np.column_stack([couples.first[is_same], couples.second[is_same]])
    label = _components(links, len(answers.workers))
    names = np.asarray(answers.workers, dtype=object)
    size = np.bincount(label)
    groups = (tuple(sorted(map(str, names[label == group]))) for group in np.flatnonzero(size > 1))
    best = int(np.lexsort((-couples.alike, p_values, ~is_same))[0])
    return SameAnswers(
        table=table,
        groups=tuple(sorted(groups)),
        alike=int(couples.alike[best]),
        shared=int(couples.shared[best]),
        p_value=float(min(1, p_values[best])),
    )


def _components(links: Ints, number: int) -> Ints:
    graph = coo_array((np.ones(len(links)), (links[:, 0], links[:, 1])), shape=(number, number))
    return np.asarray(connected_components(graph.tocsr(), directed=False)[1])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Couples:
    """Couples of workers who share enough items.

    Attributes
    ----------
    first, second : (c,) ndarray of int
        The workers.
    shared, alike : (c,) ndarray of float
        Items that both answered, and those on which they answered alike.
    chance : (c,) ndarray of float
        The share that would be alike by items and habits.
    """

    first: Ints
    second: Ints
    shared: Floats
    alike: Floats
    chance: Floats

    def p_values(self) -> Floats:
        """Return p of each couple's alike answers, under the highest shared taste.

        The highest shared taste is the largest share of alike answers that tastes explain here.
        """
        chance = _alike(self._highest_taste(), self.chance)
        some = np.maximum(self.alike, 1)
        return np.where(self.alike > 0, betainc(some, self.shared - some + 1, chance), 1.0)  # P(X >= k)

    def _highest_taste(self) -> float:
        some = np.unique(np.linspace(0, len(self.shared) - 1, _MAX_COUPLES).astype(np.intp))
        shared, alike, chance = (array[some, None] for array in (self.shared, self.alike, self.chance))
        at_each = np.clip(_alike(_SHARES, chance), 1e-9, 1 - 1e-9)
        loglik = alike * np.log(at_each) + (shared - alike) * np.log1p(-at_each)
        likelihood = np.exp(loglik - loglik.max(axis=1, keepdims=True))
        mass = np.full(len(_SHARES), 1 / len(_SHARES))
        for _ in range(_ROUNDS):
            mass *= (1 / (likelihood @ mass)) @ likelihood / len(likelihood)
        of_tastes = np.where(_SHARES <= COPIES + 1e-9, mass, 0)
        if not of_tastes.sum():
            return 0.0
        above = np.cumsum(of_tastes[::-1])[::-1] / of_tastes.sum()
        return float(max(0.0, _SHARES[above >= _MIN_MASS].max()))


def _alike(share: "float | Floats", chance: Floats) -> Floats:
    """Return the couples' shares of alike answers beyond chance; negative is less.

    The share does not depend on the item.
    """
    return np.asarray(np.where(np.asarray(share) < 0, chance * (1 + share), share + (1 - share) * chance))


def _couples(answers: CodedAnswers) -> Couples | None:
    """Count the items that each couple of workers shares, in blocks, or return None.

    The result is None where no couple shares enough.
    """
    workers, items = len(answers.workers), int(answers.item.max()) + 1
    one = np.ones(len(answers.worker))
    of_item = np.bincount(answers.item, minlength=items)
    option = pd.factorize(answers.item * (np.int64(answers.answer.max()) + 1) + answers.answer)[0]
    same = np.bincount(option)[option]
    pairs = np.bincount(answers.item, same - 1.0, items)  # ordered couples of the item that agree
    everywhere = (pairs.sum() + 1) / ((of_item * (of_item - 1.0)).sum() + 2)
    weight = (of_item - 2.0) * (of_item - 3.0) + PRIOR_COUPLES
    base = (pairs + PRIOR_COUPLES * everywhere) / weight
    shape = (workers, items)
    asked = csr_array((one, (answers.worker, answers.item)), shape=shape)
    by_item = csr_array((base[answers.item], (answers.worker, answers.item)), shape=shape)
    own = csr_array((2 * (same - 1) / weight[answers.item], (answers.worker, answers.item)), shape=shape)
    chosen = csr_array((one, (answers.worker, option)), shape=(workers, int(option.max()) + 1))
    returned = csr_array((2 / weight[answers.item], (answers.worker, option)), shape=chosen.shape)
    blocks = []
    for start in range(0, workers, _BLOCK):
        few = slice(start, start + _BLOCK)
        shared = (asked[few] @ asked.T).toarray()
        first, second = np.nonzero(shared >= answers.fewest)
        later = second > first + start
        at = first[later], second[later]
        if not len(at[0]):
            continue
        alike = (chosen[few] @ chosen.T).toarray()[at]
        expected = (by_item[few] @ asked.T - own[few] @ asked.T - asked[few] @ own.T).toarray()[at]
        expected += (returned[few] @ chosen.T).toarray()[at]
        blocks.append((at[0] + start, at[1], shared[at], alike, expected))
    if not blocks:
        return None
    first, second, shared, alike, expected = (np.concatenate(column) for column in zip(*blocks, strict=True))
    chance = np.clip(expected / shared, 1e-6, 1)
    if answers.habits is not None:
        chance = np.maximum(
            chance, np.einsum("co,co->c", answers.habits[first], answers.habits[second], optimize=True)
        )
    return Couples(first=first, second=second, shared=shared, alike=alike, chance=chance)


def _answers(
    worker: "pd.Series[str]",
    item: Iterable["pd.Series"],
    answer: "pd.Series",
    habit: "pd.Series | None",
    fewest: int,
) -> CodedAnswers | None:
    """Return coded answers, the first of each worker and item."""
    frame = pd.DataFrame(
        {
            "worker": pd.factorize(worker.astype("str"))[0],
            "item": _codes(item),
            "answer": pd.factorize(answer)[0],
            "habit": 0 if habit is None else pd.factorize(habit)[0],
        }
    )
    workers = pd.Index(pd.unique(worker.astype("str")))
    frame = frame.drop_duplicates(["worker", "item"])
    if frame.empty:
        return None
    counts = None
    if habit is not None:
        counts = np.zeros((len(workers), int(frame["habit"].max()) + 1))
        np.add.at(counts, (frame["worker"], frame["habit"]), 1.0)
        counts /= counts.sum(axis=1, keepdims=True)
    return CodedAnswers(
        workers=workers,
        worker=frame["worker"].to_numpy(),
        item=pd.factorize(frame["item"])[0],
        answer=frame["answer"].to_numpy(),
        habits=counts,
        fewest=fewest,
    )


def _codes(columns: Iterable["pd.Series"]) -> Ints:
    """Return one code for each combination of values; a missing one is a value."""
    code = None
    for column in columns:
        values = pd.factorize(column, use_na_sentinel=False)[0].astype(np.int64)
        code = (
            values
            if code is None
            else pd.factorize(code * (int(values.max(initial=0)) + 1) + values)[0].astype(np.int64)
        )
    return np.asarray(code)


def _preferences(tables: Mapping[str, pd.DataFrame]) -> CodedAnswers | None:
    rows = tables["preferences"]
    rows = rows[rows["validation_of"].isna()]
    if not knows_workers(rows) or rows.empty:
        return None
    sides = resolved_sides(rows)
    item = [rows["task"], rows["topic"], sides["system_a"], sides["system_b"]]
    return _answers(rows["worker"], item, sides["vote"], rows["choice"], MIN_ANSWERS)


def _intent_votes(tables: Mapping[str, pd.DataFrame]) -> CodedAnswers | None:
    votes = tables["intent_votes"]
    ballots = votes[["worker", "topic"]].drop_duplicates()
    ticks = votes[votes["intent"].notna() & (votes["intent"] != "")]
    offered = pd.concat([ticks, tables["intents"]]) if "intents" in tables else ticks
    offered = offered[["topic", "intent"]].drop_duplicates()
    rows = ballots.merge(offered, on="topic").merge(
        ticks.assign(is_ticked=1)[["worker", "topic", "intent", "is_ticked"]],
        on=["worker", "topic", "intent"],
        how="left",
    )
    is_ticked = rows["is_ticked"].fillna(0)
    return _answers(rows["worker"], [rows["topic"], rows["intent"]], is_ticked, is_ticked, MIN_ANSWERS)


def _lateness(tables: Mapping[str, pd.DataFrame]) -> CodedAnswers | None:
    rows = tables["lateness"]
    item = [rows["topic"], rows["nugget"], rows["visits_late"]]
    return _answers(rows["worker"], item, rows["useful"], rows["useful"], MIN_ANSWERS)


def _importance(tables: Mapping[str, pd.DataFrame]) -> CodedAnswers | None:
    rows = tables["importance"]
    item = [rows["topic"], rows["intent"], rows["iunit"]]
    return _answers(rows["worker"], item, rows["rating"], rows["rating"], MIN_ANSWERS)


def _reads(tables: Mapping[str, pd.DataFrame]) -> CodedAnswers | None:
    rows = tables["reads"]
    rows = rows[rows["dwell_seconds"] > 0]
    shown = ["topic", "system", "kind", "item"]
    again = rows.groupby(["worker", *shown], dropna=False, observed=True).cumcount()
    dwell = rows["dwell_seconds"].round(3)
    return _answers(rows["worker"], [*(rows[name] for name in shown), again], dwell, None, MIN_TIMES)


def _stops(tables: Mapping[str, pd.DataFrame]) -> CodedAnswers | None:
    """Return how far each unfinished text was read."""
    rows = tables["stops"]
    rows = rows[~rows["reached_end"].astype(bool) & (rows["chars_read"] > 0)]
    again = rows.groupby(["worker", "topic", "system"], dropna=False, observed=True).cumcount()
    return _answers(
        rows["worker"], [rows["topic"], rows["system"], again], rows["chars_read"], None, MIN_TIMES
    )


def _visits(tables: Mapping[str, pd.DataFrame]) -> CodedAnswers | None:
    """Return the length of each visit, and its delay after the first of its stream."""
    rows = tables["visits"]
    began = rows["start"].groupby([rows["worker"], rows["topic"]], observed=True).transform("min")
    after, long = (
        (times.dt.total_seconds() * 1000).round().astype(np.int64)
        for times in (rows["start"] - began, rows["end"] - rows["start"])
    )
    times = pd.Series(_codes([after, long]), index=rows.index)
    return _answers(rows["worker"], [rows["topic"], rows["visit"]], times, None, MIN_TIMES)


READERS: Mapping[str, Callable[[Mapping[str, pd.DataFrame]], CodedAnswers | None]] = MappingProxyType(
    {
        "preferences": _preferences,
        "intent_votes": _intent_votes,
        "importance": _importance,
        "lateness": _lateness,
        "reads": _reads,
        "stops": _stops,
        "visits": _visits,
    }
)
"""Function that reads the answers, by table."""
_WHAT: Mapping[str, str] = MappingProxyType(
    {
        "preferences": "give the same answers",
        "intent_votes": "tick the same intents",
        "importance": "give the same ratings",
        "lateness": "give the same answers",
        "reads": "have the same reading times",
        "stops": "stop reading at the same places",
        "visits": "have the same times of visits",
    }
)
