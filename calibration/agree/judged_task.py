"""The preferences of one task, ready to be compared with scores: its pairs with their votes, and its judgments."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from calibration.tables.preferences import VOTES, completed, judged_pairs, left_out, votes_by_pair
from metrics.agreement.ceiling import Ceiling, ceiling
from metrics.agreement.people import VotesByPerson, crossing
from metrics.arrays import Floats

DEFAULT_LANGUAGE = "en"
WORTH = {"votes_a": 1.0, "votes_b": 0.0, "equally_good": 0.5, "equally_bad": 0.5}
"""What a judgment adds to the vote share of system_a: equally good and equally bad are both half a vote."""
FEWEST_PAIRS = 10
"""Pairs with a majority from which an agreement is a finding; as many with two votes or more make a ceiling."""
FEWEST_QUERIES = 2
"""Queries, likewise."""
Row: TypeAlias = "pd.Series[object]"
"""A row of agreement.csv."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JudgedTask:
    """What the people of one task preferred.

    Attributes
    ----------
    task, language : str
        Name of the task; language of its texts, ``en`` where the table does not say.
    judgments : DataFrame
        One row per judgment that counts, as `calibration.tables.preferences.judged_pairs` gives it.
    pairs : DataFrame
        One row per pair: topic, pair, system_a, system_b, votes_a, votes_b, equally_good, equally_bad, votes,
        vote_share (of system_a, an equal vote counting half) and mean_decision_seconds.
    """

    task: str
    language: str
    judgments: pd.DataFrame
    pairs: pd.DataFrame

    @property
    def share(self) -> Floats:
        """Vote share of system_a in every pair."""
        return np.asarray(self.pairs["vote_share"], dtype=np.float64)

    @property
    def topics(self) -> NDArray[np.str_]:
        """The topic of every pair."""
        return np.asarray(self.pairs["topic"], dtype=np.str_)

    @property
    def systems(self) -> frozenset[str]:
        """Every system that was judged."""
        return frozenset(self.pairs["system_a"]) | frozenset(self.pairs["system_b"])

    def votes(self) -> VotesByPerson:
        """Return the votes with who gave them; pairs in the order of ``pairs``."""
        couple = ["topic", "system_a", "system_b"]
        number = pd.Series(np.arange(len(self.pairs)), index=pd.MultiIndex.from_frame(self.pairs[couple]))
        query, worker = (pd.factorize(self.judgments[name])[0] for name in ("topic", "worker"))
        return VotesByPerson(
            pair=number.loc[pd.MultiIndex.from_frame(self.judgments[couple])].to_numpy(np.intp),
            for_a=self.judgments["vote"].map(WORTH).to_numpy(np.float64),
            crossing=crossing(query, worker),
        )

    def ceiling(self) -> Ceiling:
        """Return how well these people agree with each other."""
        return ceiling(
            np.asarray(self.judgments["vote"].map(WORTH), dtype=np.float64),
            self.judgments.groupby(["topic", "system_a", "system_b"]).ngroup().to_numpy(),
            pd.factorize(self.judgments["topic"], sort=True)[0],
            worker=pd.factorize(self.judgments["worker"], sort=True)[0],
        )

    @property
    def no_ceiling(self) -> str:
        """Say why these votes tell no ceiling; nothing where they tell one."""
        twice = self.pairs[self.pairs["votes"] > 1]
        return why_no_ceiling(
            decided=int((self.share != 0.5).sum()), voted_twice=len(twice), queries=twice["topic"].nunique()
        )


def why_no_ceiling(*, decided: int, voted_twice: int, queries: int) -> str:
    """Say why votes tell no ceiling; nothing where they tell one.

    Parameters
    ----------
    decided : int
        Pairs with a majority.
    voted_twice : int
        Pairs with two votes or more: others have no halves.
    queries : int
        Queries of the pairs with two votes or more.
    """
    for number, fewest, what in (
        (decided, FEWEST_PAIRS, "pairs with a majority"),
        (voted_twice, FEWEST_PAIRS, "pairs with two votes or more"),
        (queries, FEWEST_QUERIES, "queries with such pairs"),
    ):
        if number < fewest:
            return f"a ceiling needs {fewest} {what}, and this study has {number or 'none'}"
    return ""


def judged_tasks(
    tables: Mapping[str, pd.DataFrame], *, exclude: bool = True, complete_only: bool = False
) -> list[JudgedTask]:
    """Return every task that has a preference that counts, in alphabetical order.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        With preferences, and workers where there are exclusions; unfiltered.
    exclude : bool
        Leave out excluded workers. Withdrawn workers and validation repeats never count.
    complete_only : bool
        Leave out workers who did not complete the study too.
    """
    preferences, workers = tables["preferences"], tables.get("workers")
    if complete_only:
        preferences = preferences[preferences["worker"].isin(completed(workers))]
    judged = judged_pairs(preferences, workers=workers, exclude=exclude)
    pairs = votes_by_pair(judged)
    languages = preferences.groupby("task")["language"].agg(_most_frequent)
    return [
        JudgedTask(
            task=str(task),
            language=languages[task],
            judgments=judged[judged["task"] == task].reset_index(drop=True),
            pairs=_with_shares(of_task, judged[judged["task"] == task]),
        )
        for task, of_task in pairs.groupby("task")
    ]


def has_exclusions(tables: Mapping[str, pd.DataFrame]) -> bool:
    """Say whether leaving out excluded workers changes anything."""
    out = left_out(tables.get("workers"))
    return bool(tables["preferences"]["worker"].isin(out[out == "excluded"].index).any())


def _with_shares(pairs: pd.DataFrame, judged: pd.DataFrame) -> pd.DataFrame:
    couple = ["topic", "system_a", "system_b"]
    seconds = judged.groupby(couple)["decision_seconds"].mean().rename("mean_decision_seconds")
    votes = pairs[list(VOTES)].sum(axis="columns")
    ties = pairs["equally_good"] + pairs["equally_bad"]
    shares = pairs.assign(votes=votes, vote_share=(pairs["votes_a"] + ties / 2) / votes)
    return shares.merge(seconds, on=couple, how="left").drop(columns="task")


def _most_frequent(languages: "pd.Series[str]") -> str:
    found = languages.mode()
    return str(found.iloc[0]) if len(found) else DEFAULT_LANGUAGE


def decided(row: Row) -> int:
    """Return how many pairs have a majority."""
    return int(row["pairs"] - row["vote_ties"])


def tells(row: Row) -> bool:
    """Say whether there are pairs and queries enough for a finding."""
    return decided(row) >= FEWEST_PAIRS and int(row["queries"]) >= FEWEST_QUERIES
