"""Do some workers give the same answers or times, like one person?

They may be one person with several accounts. Two workers may agree because an item is easy, because both have the same habit, or because
they share a taste. So each answer that two workers share counts by how rare it is. Worker v, who answers like the others, would give the
answer of u on item i with probability

    q ~ (n + K g) f

up to a factor that makes the options sum to 1: n of the answers on the item, without that of v, are this one; g is its share on
items of this kind (as of the same two systems in all topics), K its weight, at its highest likelihood (Dirichlet's law of items, Minka
2000); f says how much more often v chooses what stands there, as the left side, than the items alone explain. Of both directions the mean
counts. A share c of answers that are alike whatever the item makes it

    P(alike) = c + (1 - c) q,    for c < 0: (1 + c) q

Of people with tastes of their own c has a Laplace law around 0, cut off at `TASTE`, whose width is that of all couples of the study
(highest likelihood, beside a share of copies); of copies it is one of `COPIES`. The likelihood of a couple's answers under the law of
tastes, divided by that under the law of copies, is at or below p in a share of at most p of the couples that are not copies (Markov's
inequality). So it is an upper bound of p, and nearly p where all answers are alike. A couple is reported where it is below `OF_COUPLES` of
`REJECTED` after Bonferroni's correction over couples and tables, if no c up to `CLOSE` explains its answers better than copies do; so is a
chain of two couples, such as one person with three names, under one common c, at the rest of the level over all such chains, if each of
both gives half of what is needed. Times and dwells are real numbers: two rows with the same one are alike, as answers are.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

import numpy as np
import pandas as pd
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components
from scipy.special import gammaln, logsumexp

from calibration.checks.finding import REJECTED, Finding
from calibration.inference.formatting import format_p
from calibration.tables.preferences import FOLLOWING, VOTES, counted_tables, knows_workers, resolved_sides
from metrics.arrays import Bools, Floats, Ints
from metrics.errors import join_names, pluralise

SameAnswersOption: TypeAlias = Literal["apart", "one-cluster"]
"""Treatment of workers who give the same answers: separate, or one person.

The first counts each worker, the second each group.
"""
MIN_ANSWERS, MIN_TIMES = 10, 5
"""Smallest numbers of items that two workers must share: answers, times.

Times say more than choices.
"""
TASTE, COPIES = 0.8, (0.85, 0.9, 0.95, 0.99)
"""Largest share of alike answers beyond chance of a shared taste, and those of copies."""
CLOSE = 0.7
"""Share than which no smaller one may explain a couple's answers better than copies do, however rare tastes like that are."""
OF_COUPLES = 0.8
"""Part of the level that couples have; groups of three have the rest."""
_SHARES = np.append(np.arange(-12, 17) / 20, COPIES)
_IS_COPY = _SHARES > TASTE + 1e-9
_SPREADS = np.array([0.005, 0.03, 0.06, 0.1, 0.15, 0.2, 0.3, 0.45])
_FEWEST = 3
"""Smallest number of common items of couples that tell how alike tastes are."""
_LIKELY = 3.0
"""Log-likelihood ratio from which workers are not counted in what others would answer in their group's place."""
_KIND_WEIGHT = 4.0
"""Weight of all answers in the chances of a kind of items."""
_ITEM_WEIGHTS = 2.0 ** np.arange(-2, 8)
_MAX_COUPLES, _MAX_FOR_TASTES = 20_000, 4_000
"""Largest numbers of couples that may be named, and that estimate tastes, evenly chosen."""
_ROUNDS = 40
_BLOCK, _COUPLES_AT_ONCE, _MAX_LIKELY, _MAX_GROUPS = 256, 512, 500, 20
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
    kind : (items,) ndarray of int
        Kind of each item: items of a kind are alike.
    habit : (n, options) ndarray of int or None
        What each answer is on the screen; None where nothing can be chosen by habit, as of times.
    fewest : int
        Items that two workers must share.
    """

    workers: "pd.Index[str]"
    worker: Ints
    item: Ints
    answer: Ints
    kind: Ints
    habit: Ints | None
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
    p_values = couples.p_values(tests)
    is_same = p_values < REJECTED
    if not is_same.any():
        return None
    links = np.column_stack([couples.first[is_same], couples.second[is_same]])
    label = _components(links, len(answers.workers))
    names = np.asarray(answers.workers, dtype=object)
    size = np.bincount(label)
    groups = (tuple(sorted(map(str, names[label == group]))) for group in np.flatnonzero(size > 1))
    best = int(np.lexsort((-couples.alike, p_values))[0])
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
    """Couples of workers who share enough items, those that may be one person.

    Attributes
    ----------
    first, second : (c,) ndarray of int
        The workers.
    shared, alike : (c,) ndarray of int
        Items that both answered, and those on which they answered alike.
    logliks : (c, shares) ndarray of float
        Log-likelihood of what is alike under each of `_SHARES`.
    law : (shares,) ndarray of float
        Law of the shares of people who are not one, and of copies: each sums to 1.
    number, threes : int
        All couples that share enough items, and all chains of two of them.
    """

    first: Ints
    second: Ints
    shared: Ints
    alike: Ints
    logliks: Floats
    law: Floats
    number: int
    threes: int

    def p_values(self, tests: int) -> Floats:
        """Return an upper bound of each couple's p, corrected for all couples, or all groups of three, and ``tests`` tables."""
        ratio = _log_ratio(self.logliks, self.law)
        is_close = self.logliks[:, _IS_COPY].max(axis=1) > self.logliks[:, _SHARES < CLOSE + 1e-9].max(axis=1)
        ratio = np.where(is_close, ratio, -np.inf)
        log_p = np.log(self.number * tests / OF_COUPLES) - ratio
        of_three = np.log(max(self.threes, 1) * tests / (1 - OF_COUPLES))
        likely = np.flatnonzero(ratio > (of_three - np.log(REJECTED)) / 2)
        likely = likely[np.argsort(-ratio[likely], kind="stable")][:_MAX_LIKELY]
        ends = np.column_stack([self.first[likely], self.second[likely]])
        one, other = np.nonzero(
            np.triu((ends[:, None, :, None] == ends[None, :, None, :]).any(axis=(2, 3)), 1)
        )
        chains = likely[np.column_stack([one, other])]
        log_p_three = of_three - _log_ratio(self.logliks[chains].sum(axis=1), self.law)
        for column in chains.T:
            np.minimum.at(log_p, column, log_p_three)
        return np.asarray(np.exp(np.minimum(log_p, 0.0)))


def _log_ratio(logliks: Floats, law: Floats) -> Floats:
    """Return the log-likelihood of copies less that of other people."""
    with np.errstate(divide="ignore"):
        copies, others = (
            logsumexp(logliks[..., kind] + np.log(law[kind]), axis=-1) for kind in (_IS_COPY, ~_IS_COPY)
        )
    return np.asarray(copies - others)


def _law(logliks: Floats) -> Floats:
    """Return the likeliest law of shares: Laplace's of tastes, and an even one of copies, whose number is estimated with it."""
    highest = logliks.max(axis=1, keepdims=True)
    likelihood = np.maximum(np.exp(logliks - highest), 1e-300)
    tastes = np.where(_IS_COPY, 0.0, np.exp(-np.abs(_SHARES) / _SPREADS[:, None]))
    copies = _IS_COPY / _IS_COPY.sum()
    tastes /= tastes.sum(axis=1, keepdims=True)
    others, same = likelihood @ tastes.T, (likelihood @ copies)[:, None]
    part = np.full(len(_SPREADS), 0.01)
    for _ in range(_ROUNDS):
        part = np.clip((part * same / (part * same + (1 - part) * others)).mean(axis=0), 1e-9, 0.5)
    total = np.log(part * same + (1 - part) * others).sum(axis=0)
    return np.asarray(tastes[int(total.argmax())] + copies)


class _Chances:
    """Chances that a worker answers an item as another did, by what this one and all others answered.

    Answers of the workers ``out`` are not counted, but for those of the other worker of a couple.
    """

    def __init__(self, answers: CodedAnswers, out: Ints | tuple[()] = ()) -> None:
        self._of, worker, item, answer = answers, answers.worker, answers.item, answers.answer
        options = np.int64(answer.max()) + 1
        place, self._option = np.unique(item * options + answer, return_index=True, return_inverse=True)[1:]
        counted = 1.0 - np.isin(worker, out)
        self._counted, self._alike, self._asked = (
            counted,
            np.bincount(self._option, counted),
            np.bincount(item, counted),
        )
        kind = answers.kind[item]
        of_kind, whole = (
            np.unique(kind * options + answer, return_inverse=True)[1],
            np.bincount(answer, counted),
        )
        prior = (
            np.bincount(of_kind, counted)[of_kind] + _KIND_WEIGHT * (whole[answer] + 1) / (whole + 1).sum()
        )
        self._prior = prior / (np.bincount(kind, counted)[kind] + _KIND_WEIGHT)
        self._weight = max(_ITEM_WEIGHTS, key=lambda weight: self._fit_of_items(self._prior[place], weight))
        shape = (len(answers.workers), len(self._asked))
        self._row = csr_array((np.arange(len(worker)) + 1, (worker, item)), shape=shape)
        self._is_asked = (self._row > 0).astype(np.intp)
        self._chosen = csr_array((np.ones(len(worker)), (worker, self._option)), shape=(shape[0], len(place)))
        if answers.habit is not None:
            self._base, self._habit = self._by_habit(answers.habit, int(options))

    def _fit_of_items(self, prior: Floats, weight: float) -> float:
        """Return the log-likelihood of a weight of the kinds in the items' chances (Dirichlet's law, Minka 2000)."""
        items = gammaln(weight) - gammaln(self._asked + weight)
        return float(items.sum() + (gammaln(self._alike + weight * prior) - gammaln(weight * prior)).sum())

    def _by_habit(self, habit: Ints, options: int) -> tuple[Floats, Floats]:
        """Return (items, options) weights of answers, and (n, options) factors of the workers' habits."""
        of, rows = self._of, np.arange(len(self._counted))
        counts, kinds = np.zeros((len(self._asked), options)), np.zeros((int(of.kind.max()) + 1, options))
        np.add.at(counts, (of.item, of.answer), self._counted)
        np.add.at(kinds, (of.kind[of.item], of.answer), self._counted)
        whole = kinds.sum(axis=0) + 1
        kinds = (kinds + _KIND_WEIGHT * whole / whole.sum()) / (
            kinds.sum(axis=1, keepdims=True) + _KIND_WEIGHT
        )
        base = counts + self._weight * kinds[of.kind]
        chance = base[of.item]
        chance[rows, of.answer] -= self._counted
        given, expected = np.ones((2, len(of.workers), int(habit.max()) + 1))
        np.add.at(given, (of.worker, habit[rows, of.answer]), 1.0)
        np.add.at(expected, (of.worker[:, None], habit), chance / chance.sum(axis=1, keepdims=True))
        return base, (given / expected)[of.worker[:, None], habit]

    def couples(self) -> Iterator[tuple[Ints, Ints, Ints, Ints]]:
        """Yield the couples that share `_FEWEST` items, block by block: workers, items, and those that are alike."""
        asked = self._is_asked.astype(np.float64)
        for start in range(0, asked.shape[0], _BLOCK):
            few = slice(start, start + _BLOCK)
            shared = (asked[few] @ asked.T).toarray()
            first, second = np.nonzero(shared >= _FEWEST)
            later = second > first + start
            at = first[later], second[later]
            alike = (self._chosen[few] @ self._chosen.T).toarray()[at] if later.any() else shared[at]
            yield at[0] + start, at[1], shared[at].astype(np.intp), alike.astype(np.intp)

    def logliks(self, first: Ints, second: Ints) -> Floats:
        """Return the (c, shares) log-likelihoods of what is alike and what is not."""
        blocks = [slice(at, at + _COUPLES_AT_ONCE) for at in range(0, len(first), _COUPLES_AT_ONCE)]
        return np.concatenate([self._of_couples(first[block], second[block]) for block in blocks])

    def _of_couples(self, first: Ints, second: Ints) -> Floats:
        one = self._row[first].multiply(self._is_asked[second]).tocoo()
        other = self._is_asked[first].multiply(self._row[second]).tocoo()
        mine, others, couple = one.data - 1, other.data - 1, one.coords[0]
        is_alike = self._option[mine] == self._option[others]
        chance = (self._chance(mine, others, is_alike) + self._chance(others, mine, is_alike)) / 2
        chance = np.clip(chance, 1e-9, 1 - 1e-9)
        differ = np.bincount(couple, np.where(is_alike, 0.0, np.log1p(-chance)), len(first))
        number = np.bincount(couple[~is_alike], minlength=len(first))
        found = np.empty((len(first), len(_SHARES)))
        for place, share in enumerate(_SHARES):
            if share < 0:
                each = np.log(np.where(is_alike, chance * (1 + share), 1 - chance * (1 + share)))
                found[:, place] = np.bincount(couple, each, len(first))
            else:
                alike = np.log(share + (1 - share) * chance[is_alike])
                found[:, place] = (
                    np.bincount(couple[is_alike], alike, len(first)) + differ + number * np.log1p(-share)
                )
        return found

    def _chance(self, of: Ints, like: Ints, is_alike: Bools) -> Floats:
        """Return how likely the worker of each row ``of`` gives the answer of row ``like``."""
        more, less = 1 - self._counted[like], self._counted[of]
        if self._of.habit is None:
            alike = (
                self._alike[self._option[like]] + self._weight * self._prior[like] + more - less * is_alike
            )
            return np.asarray(alike / (self._asked[self._of.item[of]] + self._weight + more - less))
        rows = np.arange(len(of))
        weight = self._base[self._of.item[of]]
        weight[rows, self._of.answer[of]] -= less
        weight[rows, self._of.answer[like]] += more
        weight *= self._habit[of]
        return np.asarray(weight[rows, self._of.answer[like]] / weight.sum(axis=1))


def _couples(answers: CodedAnswers) -> Couples | None:
    """Return the couples that may be one person, or None where none share enough."""
    chances = _Chances(answers)
    first, second, shared, alike = map(np.concatenate, zip(*chances.couples(), strict=True))
    enough = np.flatnonzero(shared >= answers.fewest)
    if not len(enough):
        return None
    beyond = (alike / shared - alike.sum() / shared.sum()) * np.sqrt(shared)
    likely = enough[2 * alike[enough] >= shared[enough]]
    most = likely[np.argsort(-beyond[likely], kind="stable")[:_MAX_COUPLES]]
    if not len(most):
        return None
    evenly = np.linspace(0, len(first) - 1, min(len(first), _MAX_FOR_TASTES)).astype(np.intp)
    law = _law(chances.logliks(first[evenly], second[evenly]))
    degree = np.bincount(np.concatenate([first[enough], second[enough]]))
    first, second = first[most], second[most]
    logliks = chances.logliks(first, second)
    ratio = _log_ratio(logliks, law)
    label = _components(np.column_stack([first, second])[ratio > _LIKELY], len(answers.workers))
    size = np.bincount(label)
    for group in np.flatnonzero((size > 2) & (size <= len(label) / 2))[:_MAX_GROUPS]:
        inside = np.flatnonzero((label[first] == group) & (label[second] == group))
        apart = _Chances(answers, np.flatnonzero(label == group))
        logliks[inside] = apart.logliks(first[inside], second[inside])
    return Couples(
        first=first,
        second=second,
        shared=shared[most],
        alike=alike[most],
        logliks=logliks,
        law=law,
        number=len(enough),
        threes=int((degree * (degree - 1) // 2).sum()),
    )


def _answers(
    worker: "pd.Series[str]",
    item: Iterable["pd.Series"],
    answer: "pd.Series",
    *,
    kind: Iterable["pd.Series"] = (),
    is_swapped: "pd.Series | None" = None,
    is_time: bool = False,
) -> CodedAnswers | None:
    """Return coded answers, the first of each worker and item.

    ``kind``: what items have in common; ``is_swapped``: whether answers 0 and 1 stood in the place of each other on the screen.
    """
    rows = pd.DataFrame(
        {
            "worker": pd.factorize(worker)[0],
            "item": _codes(item),
            "answer": pd.factorize(answer)[0] if is_time else answer.to_numpy(),
            "kind": _codes(kind) if kind else 0,
            "is_swapped": False if is_swapped is None else is_swapped.to_numpy(),
        }
    ).drop_duplicates(["worker", "item"])
    if rows.empty:
        return None
    habit = None
    if not is_time:
        habit = np.tile(np.arange(rows["answer"].max() + 1), (len(rows), 1))
        swapped = rows["is_swapped"].to_numpy()
        habit[swapped, :2] = habit[swapped, 1::-1]
    number, place = np.unique(rows["item"], return_inverse=True)
    of_item = np.zeros(len(number), dtype=np.intp)
    of_item[place] = rows["kind"]
    return CodedAnswers(
        workers=pd.Index(worker.unique().astype("str")),
        worker=rows["worker"].to_numpy(),
        item=place,
        answer=rows["answer"].to_numpy(),
        kind=of_item,
        habit=habit,
        fewest=MIN_TIMES if is_time else MIN_ANSWERS,
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
    vote = pd.Series(
        pd.Categorical(sides["vote"], categories=list(VOTES)).codes.astype(np.intp), index=rows.index
    )
    kind = [rows["task"], sides["system_a"], sides["system_b"]]
    return _answers(rows["worker"], item, vote, kind=kind, is_swapped=sides["is_swapped"])


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
    is_ticked = rows["is_ticked"].fillna(0).astype(np.intp)
    return _answers(rows["worker"], [rows["topic"], rows["intent"]], is_ticked)


def _lateness(tables: Mapping[str, pd.DataFrame]) -> CodedAnswers | None:
    rows = tables["lateness"]
    item = [rows["topic"], rows["nugget"], rows["visits_late"]]
    return _answers(rows["worker"], item, rows["useful"].astype(np.intp), kind=item[2:])


def _importance(tables: Mapping[str, pd.DataFrame]) -> CodedAnswers | None:
    rows = tables["importance"]
    item = [rows["topic"], rows["intent"], rows["iunit"]]
    rating = pd.Series(pd.factorize(rows["rating"])[0], index=rows.index)
    return _answers(rows["worker"], item, rating)


def _reads(tables: Mapping[str, pd.DataFrame]) -> CodedAnswers | None:
    rows = tables["reads"]
    rows = rows[rows["dwell_seconds"] > 0]
    shown = ["topic", "system", "kind", "item"]
    again = rows.groupby(["worker", *shown], dropna=False, observed=True).cumcount()
    dwell = rows["dwell_seconds"].round(3)
    return _answers(rows["worker"], [*(rows[name] for name in shown), again], dwell, is_time=True)


def _stops(tables: Mapping[str, pd.DataFrame]) -> CodedAnswers | None:
    """Return how far each unfinished text was read."""
    rows = tables["stops"]
    rows = rows[~rows["reached_end"].astype(bool) & (rows["chars_read"] > 0)]
    again = rows.groupby(["worker", "topic", "system"], dropna=False, observed=True).cumcount()
    return _answers(rows["worker"], [rows["topic"], rows["system"], again], rows["chars_read"], is_time=True)


def _visits(tables: Mapping[str, pd.DataFrame]) -> CodedAnswers | None:
    """Return the length of each visit, and its delay after the first of its stream."""
    rows = tables["visits"]
    began = rows["start"].groupby([rows["worker"], rows["topic"]], observed=True).transform("min")
    after, long = (
        (times.dt.total_seconds() * 1000).round().astype(np.int64)
        for times in (rows["start"] - began, rows["end"] - rows["start"])
    )
    times = pd.Series(_codes([after, long]), index=rows.index)
    return _answers(rows["worker"], [rows["topic"], rows["visit"]], times, is_time=True)


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
