"""Do some judges click at random, or prefer the opposite of the others?

Only answers for a side count: how often somebody finds both equal is a matter of taste. Of pair i people see one difference theta_i, drawn from
a standard normal law, and judge u chooses the system that it favours with probability

    1 / (1 + exp(-g_u theta_i))        (item response model of two parameters, Birnbaum 1968)

so somebody who clicks by lot has g = 0, whatever side they lean to, for sides are drawn by lot, and a camp that prefers the opposite has g < 0.
What a judge's answers say of g is their probability given the answers of the others on the same pairs, averaged over theta_i; how far each of
the others counts is found in turn (nonparametric maximum likelihood of the powers, Laird 1978). Since theta_i is as likely positive as
negative, a camp of half of the people is found as well as a small one.

Then laws of powers are compared by their highest log-likelihood: one power of all; powers spread over people, N(m, s^2), for tastes differ;
and with it a share of people with g = 0, a mirrored camp N(-m, s^2), or both.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import csr_array, diags_array
from scipy.sparse.linalg import eigsh
from scipy.special import log_expit, roots_hermitenorm

from calibration.checks.finding import NEARLY, Finding
from calibration.inference.heterogeneity import MIN_PEOPLE, CarelessClass
from calibration.tables.preferences import knows_workers, resolved_sides
from metrics.arrays import Bools, Floats, Indices

CLEAR_GAIN = 2.0
"""Log-likelihood that unequal powers, or random judges, must explain."""
CAMP_GAIN = 1.5
"""Log-likelihood that a camp must explain beyond tastes or random answers."""
BESIDE = 1.0
"""Log-likelihood that random judges must explain beside a camp."""
POWERS = np.arange(-20, 21) / 4
"""Grid of g."""
_NODES, _MASS = roots_hermitenorm(21)
_CHOSEN = log_expit(POWERS[:, None] * _NODES)
"""(powers, nodes) log-probability of an answer for the side of theta."""
_PROBABILITY = np.exp(_CHOSEN)
_ROWS_AT_ONCE = 20_000
_MEANS, _SPREADS = (
    axis.ravel() for axis in np.meshgrid(POWERS[POWERS >= 0], [0.01, 0.15, 0.3, 0.5, 0.8, 1.2, 1.8])
)
_LAWS = np.exp(-(((POWERS[:, None] - _MEANS) / _SPREADS) ** 2) / 2)
_LAWS /= _LAWS.sum(axis=0)
_BY_LOT = len(POWERS) // 2
_ROUNDS, _STEPS = 4, 40
_PAIR = ["task", "topic", "system_a", "system_b"]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeKinds:
    """Kinds of judges, with their numbers and names.

    Attributes
    ----------
    judges : Index of str
        In the order of the posteriors.
    careless, camp : CarelessClass or None
        Who clicks at random, and who prefers the opposite of what the others prefer; None where nothing speaks clearly for such people.
    unclear : (int, int) or None
        How many may click at random, and how many follow the others in any case, where judges clearly differ in how far they follow the others
        and neither class explains it clearly better than tastes.
    """

    judges: "pd.Index[str]"
    careless: CarelessClass | None
    camp: CarelessClass | None
    unclear: tuple[int, int] | None

    def findings(self, without: "Callable[[pd.Index[str]], str] | None" = None) -> tuple[Finding, ...]:
        """Return findings on kinds of judges.

        ``without`` returns a sentence with the numbers without some people.
        """
        sentences = (
            ("careless_workers", _on_clickers, self.careless),
            ("opposite_camp", _on_camp, self.camp),
        )
        findings = [
            Finding(
                name=name,
                severity="warning",
                sentence=f"{sentence(kind)} {without(self.judges[kind.is_careless]) if without else ''}".strip(),
                people=kind.by_name(self.judges) if kind is self.careless else {},
            )
            for name, sentence, kind in sentences
            if kind is not None
        ]
        if self.unclear is not None:
            findings.append(
                Finding(
                    name="judges_differ",
                    severity="warning",
                    sentence=_on_unclear(*self.unclear, len(self.judges)),
                )
            )
        return tuple(findings)


def judge_kinds(judged: pd.DataFrame) -> JudgeKinds | None:
    """Find random judges and a camp of opposite taste, or return None.

    The result is None where judges are unknown or fewer than `MIN_PEOPLE`.

    Parameters
    ----------
    judged : DataFrame
        What `calibration.tables.preferences.judged_pairs` returns, or the part of it that is of one task.
    """
    if not knows_workers(judged):
        return None
    sided = judged[judged["vote"].isin(["votes_a", "votes_b"])]
    worker, judges = pd.factorize(sided["worker"])
    if len(judges) < MIN_PEOPLE:
        return None
    pair = sided.groupby(_PAIR, observed=True).ngroup().to_numpy()
    sign = np.where(sided["vote"] == "votes_a", 1.0, -1.0)
    answers = _Answers(worker, pair, sign)
    logliks, laws = max(map(answers.fitted, answers.starts()), key=lambda one: one[1]["both"].loglik)
    one_power = float(logliks[:, _BY_LOT:].sum(axis=0).max())
    careless, camp = _classes(laws)
    unclear = None
    if (
        careless is camp is None
        and max(laws[name].loglik for name in ("tastes", "by lot")) > one_power + CLEAR_GAIN
    ):
        lost = logliks.max(axis=1) - logliks[:, _BY_LOT]
        follows = logliks.argmax(axis=1) > _BY_LOT
        by_lot, follow = int((lost < NEARLY).sum()), int((follows & (lost >= NEARLY)).sum())
        unclear = (by_lot, follow) if follow < len(judges) else None
    return JudgeKinds(judges=judges, careless=careless, camp=camp, unclear=unclear)


def check_judges(preferences: pd.DataFrame) -> tuple[Finding, ...]:
    """Report the numbers of random judges and of the opposite camp."""
    rows = preferences[preferences["validation_of"].isna()]
    kinds = judge_kinds(rows[["worker", "task", "topic"]].assign(**dict(resolved_sides(rows).items())))
    return kinds.findings() if kinds else ()


def _on_camp(kind: CarelessClass) -> str:
    return (
        f"{kind.count} of {len(kind.posterior)} judges prefer the opposite of what the others prefer, just as clearly: two camps, neither of them "
        "careless. Numbers from preferences average both camps and depend on their sizes: report this, and analyse "
        "the camps separately."
    )


def _on_clickers(kind: CarelessClass) -> str:
    return (
        f"{kind.count} of {len(kind.posterior)} judges click as if at random: their preferences are unrelated to those of the others. "
        "They are counted, which moves every number from preferences towards chance; careless.csv (prefcal fit writes it) "
        "has each judge's probability of being one of them."
    )


def _on_unclear(by_lot: int, follow: int, judges: int) -> str:
    against = judges - by_lot - follow
    return (
        f"Judges follow the others very differently: {follow} of {judges} clearly, {by_lot} no more than answers by lot might"
        f"{f', and {against} prefer rather the opposite' if against else ''}. Clicking at random would explain it, and so would different tastes: "
        "numbers from preferences average all judges; more answers per judge would distinguish the two."
    )


class _Law(NamedTuple):
    """Law of powers at its maximum likelihood.

    It has the shares of its kinds, (kinds,), and each person's probability of each, (kinds, w).
    """

    loglik: float
    shares: Floats
    posterior: Floats

    def kind(self, number: int) -> CarelessClass:
        return CarelessClass(
            share=float(self.shares[number]), posterior=self.posterior[number], loglik=self.loglik
        )


class _PairBlock(NamedTuple):
    """All answers on some pairs: (n,) workers and pairs, and (n, 1) whether the first system was chosen.

    ``of_worker`` and ``of_pair`` sum rows, (workers, n) and (pairs, n).
    """

    worker: Indices
    pair: Indices
    is_first: Bools
    of_worker: csr_array
    of_pair: csr_array


def _pair_blocks(worker: Indices, pair: Indices, sign: Floats) -> list[_PairBlock]:
    """Cut answers into blocks of whole pairs, so that the memory of very many answers is that of some."""
    order = np.argsort(pair, kind="stable")
    begins = np.searchsorted(pair[order], np.arange(pair.max() + 2))
    blocks, first, n_workers = [], 0, int(worker.max()) + 1
    while first < len(begins) - 1:
        beyond = int(np.searchsorted(begins, begins[first] + _ROWS_AT_ONCE, side="right")) - 1
        stop = max(beyond, first + 1)
        rows = order[begins[first] : begins[stop]]
        of, within, ones = worker[rows], pair[rows] - first, np.ones(len(rows))
        number = np.arange(len(rows))
        blocks.append(
            _PairBlock(
                of,
                within,
                sign[rows, None] > 0,
                csr_array((ones, (of, number)), shape=(n_workers, len(rows))),
                csr_array((ones, (within, number))),
            )
        )
        first = stop
    return blocks


class _Answers:
    """Answers for a side: worker, pair and system (1, -1) of each row."""

    def __init__(self, worker: Indices, pair: Indices, sign: Floats) -> None:
        self._blocks = _pair_blocks(worker, pair, sign)
        self._signs = csr_array((sign, (worker, pair)))

    def starts(self) -> list[Floats]:
        """Return powers to start from, (w,) each.

        One start is 1 for all; the other is 1 or -1 by the first eigenvector of the judges' agreement.
        """
        alike = self._signs @ self._signs.T
        alike = alike - diags_array(alike.diagonal())
        starts = [np.ones(alike.shape[0])]
        if alike.count_nonzero():
            ahead = eigsh(alike, k=1, which="LA", v0=np.random.default_rng(1).random(alike.shape[0]))[1][:, 0]
            opposed = np.where(ahead * np.sign(ahead.sum()) < -1e-9, -1.0, 1.0)
            starts += [opposed] if (opposed < 0).any() else []
        return starts

    def fitted(self, start: Floats) -> tuple[Floats, Mapping[str, _Law]]:
        """Fit laws of powers, and return (w, powers) log-likelihoods with them."""
        weight = (start[:, None] == POWERS).astype(np.float64)
        for _ in range(_ROUNDS):
            logliks = self._logliks(weight)
            likelihood = np.exp(logliks - logliks.max(axis=1, keepdims=True))
            mass = np.full(len(POWERS), 1 / len(POWERS))
            for _ in range(_STEPS):
                weight = likelihood * mass
                weight /= weight.sum(axis=1, keepdims=True)
                mass = weight.mean(axis=0)
        tastes, camp = (np.maximum(likelihood @ law, 1e-300) for law in (_LAWS, _LAWS[::-1]))
        by_lot = np.broadcast_to(likelihood[:, [_BY_LOT]], tastes.shape)
        kinds = {
            "tastes": [tastes],
            "by lot": [tastes, by_lot],
            "camp": [tastes, camp],
            "both": [tastes, camp, by_lot],
        }
        highest = float(logliks.max(axis=1).sum())
        return logliks, {name: _likeliest(np.stack(each), highest) for name, each in kinds.items()}

    def _logliks(self, weight: Floats) -> Floats:
        """Compute (w, powers) log-likelihoods from the answers of the others.

        ``weight``, (w, powers), has the probabilities of the others' powers.
        """
        of_answer = weight @ _CHOSEN
        total = np.zeros(weight.shape)
        for block in self._blocks:
            each = np.where(block.is_first, of_answer[block.worker], of_answer[block.worker, ::-1])
            others = (np.log(_MASS) + block.of_pair @ each)[block.pair] - each
            chance = np.exp(others - others.max(axis=1, keepdims=True))
            chance = np.where(block.is_first, chance, chance[:, ::-1])
            chance /= chance.sum(axis=1, keepdims=True)
            total += block.of_worker @ np.log(chance @ _PROBABILITY.T)
        return total


def _likeliest(likelihood: Floats, highest: float) -> _Law:
    """Fit shares of kinds under each law, and return the likeliest law.

    ``likelihood``, (kinds, w, laws), is divided by each person's largest; ``highest`` is the sum of the logs
    of these.
    """
    shares = np.full((len(likelihood), 1, likelihood.shape[2]), 1 / len(likelihood))
    for _ in range(_STEPS if len(likelihood) > 1 else 0):
        posterior = likelihood * shares
        shares = (posterior / posterior.sum(axis=0)).mean(axis=1, keepdims=True)
    mixed = likelihood * shares
    logliks = np.log(mixed.sum(axis=0)).sum(axis=0) + highest
    best = int(logliks.argmax())
    return _Law(float(logliks[best]), shares[:, 0, best], mixed[:, :, best] / mixed[:, :, best].sum(axis=0))


def _classes(laws: Mapping[str, _Law]) -> tuple[CarelessClass | None, CarelessClass | None]:
    """Return random judges and the camp, each None where not clear."""
    tastes, by_lot, camps, both = (laws[name] for name in ("tastes", "by lot", "camp", "both"))
    has_lot = both.loglik > camps.loglik + BESIDE
    opposed = both if has_lot else camps
    if opposed.loglik - BESIDE * has_lot > max(tastes.loglik, by_lot.loglik) + CAMP_GAIN:
        camp, careless = opposed.kind(int(opposed.shares[1] <= opposed.shares[0])), None
        if has_lot:
            careless = opposed.kind(2)
        return _minority(careless), _minority(camp)
    return _minority(by_lot.kind(1) if by_lot.loglik > tastes.loglik + CLEAR_GAIN else None), None


def _minority(kind: CarelessClass | None) -> CarelessClass | None:
    """Return a class of at most half of the people, or None."""
    return kind if kind is not None and 0 < kind.count <= len(kind.posterior) / 2 else None
