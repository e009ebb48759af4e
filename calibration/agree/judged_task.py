"""Judged pairs of one task, with their ceiling and diagnostics."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from calibration.agree.measures.variants import ParameterOrigin, ScoredMeasure
from calibration.agree.result import MIN_PAIRS, MIN_QUERIES
from calibration.inference.ordinal import no_grades
from calibration.inference.results import info, warning
from calibration.inference.sides import SideAdjustment, without_side
from calibration.inference.uneven_sides import UnevenSides, uneven_sides
from calibration.tables.files import give_back_memory
from calibration.tables.preferences import (
    VOTES,
    completed,
    exclusions,
    judged_pairs,
    knows_workers,
    votes_by_pair,
)
from calibration.user_model.model import Diagnostic
from metrics.agreement.ceiling import Ceiling, ceiling_of_people, panel_votes
from metrics.agreement.crossed_errors import (
    MIN_CLUSTERS,
    Crossing,
    VotesByPerson,
    crossing,
    effective_number,
    is_few,
    spread_of_tastes,
)
from metrics.arrays import Bools, Floats, Ints
from metrics.errors import join_names, percent, pluralise

DEFAULT_LANGUAGE = "en"
WORTH = {"votes_a": 1.0, "votes_b": 0.0, "equally_good": 0.5, "equally_bad": 0.5}
"""Contribution of a judgment to the vote share of system_a.

Equally good and equally bad each count as half a vote.
"""


@dataclass(frozen=True, kw_only=True, eq=False)
class JudgedTask:
    """Judgments and pairs of one task, with their ceiling and diagnostics.

    Attributes
    ----------
    task, language : str
        Name of the task; language of its texts, ``en`` where the table does not say.
    judgments : DataFrame
        One row per judgment that counts, as `calibration.tables.preferences.judged_pairs` gives it.
    pairs : DataFrame
        One row per pair: topic, pair, system_a, system_b, votes_a, votes_b, equally_good, equally_bad, votes,
        vote_share (of system_a, an equal vote counting half) and mean_decision_seconds.
    drew_sides : bool
        Whether the sides were drawn by lot, as in a study that prefcal served; else comparisons are made without the effect of the side.
    """

    task: str
    language: str
    judgments: pd.DataFrame
    pairs: pd.DataFrame
    drew_sides: bool = False

    @property
    def share(self) -> Floats:
        """Vote share of system_a in every pair."""
        return np.asarray(self.pairs["vote_share"], dtype=np.float64)

    @property
    def topics(self) -> NDArray[np.str_]:
        """Topic of every pair."""
        return np.asarray(self.pairs["topic"], dtype=np.str_)

    @property
    def systems(self) -> frozenset[str]:
        """Systems that were judged."""
        return frozenset(self.pairs["system_a"]) | frozenset(self.pairs["system_b"])

    @cached_property
    def votes(self) -> VotesByPerson:
        """Votes with query and worker.

        Judgments and pairs have the same order, so that a pair's index is its number.
        """
        vote, names = pd.factorize(self.judgments["vote"])
        query = pd.factorize(self.judgments["topic"], sort=True)[0]
        worker = pd.factorize(self.judgments["worker"], sort=True)[0] if self.knows_workers else None
        return VotesByPerson(
            pair=np.repeat(np.arange(len(self.pairs)), self.pairs["votes"]),
            for_a=np.array([WORTH[name] for name in names])[vote],
            crossing=crossing(query, worker),
        )

    @property
    def knows_workers(self) -> bool:
        """True if the judges are known."""
        return knows_workers(self.judgments)

    @cached_property
    def panel_share(self) -> Floats:
        """Vote share of system_a with one vote per worker and pair, (p,).

        It is NaN for a pair that fewer than two workers judged.
        """
        panel, is_kept = panel_votes(self.votes)
        share = np.full(len(self.pairs), np.nan)
        share[is_kept] = panel.share
        return share

    @cached_property
    def side(self) -> SideAdjustment | None:
        """Side effect on every vote, or None where sides were drawn by lot."""
        if self.drew_sides:
            return None
        left, right, _ = self._sides
        return without_side(left, right, np.where(self.is_swapped, 1 - self.votes.for_a, self.votes.for_a))

    @property
    def uneven(self) -> UnevenSides | None:
        """Sentence on sides that look not drawn by lot, or None."""
        left, right, systems = self._sides
        return uneven_sides(left, right, self.votes.crossing.query, systems)

    @cached_property
    def _sides(self) -> tuple[Ints, Ints, list[str]]:
        """Codes of the systems on the left and on the right of each judgment, and their names."""
        pair = [self.judgments["system_a"], self.judgments["system_b"]]
        systems = pd.Index(sorted(self.systems))
        codes = np.stack([systems.get_indexer(side) for side in pair])
        left, right = np.where(self.is_swapped, codes[::-1], codes)
        return left, right, list(systems)

    @property
    def is_swapped(self) -> Bools:
        """Mask of judgments with system_a on the right, (n,)."""
        return np.asarray(self.judgments["is_swapped"], dtype=np.bool_)

    @property
    def strength(self) -> Floats | None:
        """Signed strength of each judgment, above 0 for system_a, (n,); None where answers are not graded."""
        if "strength" not in self.judgments:
            return None
        return np.asarray(self.judgments["strength"], dtype=np.float64)

    @property
    def no_grades(self) -> str:
        """Reason why the answers are not graded, or an empty text."""
        return no_grades(self.strength)

    def as_preferences(self) -> pd.DataFrame:
        """Return the judgments as rows of table preferences, system_a on the left."""
        names = ["worker", "task", "topic", "pair", "system_a", "system_b", "vote"]
        judged = self.judgments.astype(dict.fromkeys(names, "str"))
        return pd.DataFrame(
            {
                **{name: judged[name] for name in names[:4]},
                "system_left": judged["system_a"],
                "system_right": judged["system_b"],
                "choice": judged["vote"].replace({"votes_a": "left", "votes_b": "right"}),
                "decision_seconds": judged["decision_seconds"],
                "language": self.language,
                "validation_of": None,
                "silent_days_revealed": None,
            }
        )

    @cached_property
    def ceiling(self) -> Ceiling:
        """Agreement of these people with each other."""
        found = ceiling_of_people(self.votes)
        give_back_memory(len(self.judgments))  # what its jackknife took
        return found

    @cached_property
    def no_ceiling(self) -> str:
        """Reason why these votes give no ceiling, or an empty text."""
        twice = self.pairs[~np.isnan(self.panel_share)]
        return why_no_ceiling(
            decided=int((self.share != 0.5).sum()), voted_twice=len(twice), queries=twice["topic"].nunique()
        )

    @cached_property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Diagnostics of people, queries and sides for intervals and tests."""
        return tuple(_diagnostics(self))


def why_no_ceiling(*, decided: int, voted_twice: int, queries: int) -> str:
    """Return the reason why votes give no ceiling, or an empty string.

    Parameters
    ----------
    decided : int
        Pairs with a majority.
    voted_twice : int
        Pairs with the votes of two people or more: others have no halves.
    queries : int
        Queries of these pairs.
    """
    for number, fewest, what in (
        (decided, MIN_PAIRS, "pairs with a majority"),
        (voted_twice, MIN_PAIRS, "pairs with the votes of two people or more"),
        (queries, MIN_QUERIES, "queries with such pairs"),
    ):
        if number < fewest:
            return f"a ceiling needs {fewest} {what}, and this study has {number or 'none'}"
    return ""


def judged_tasks(
    tables: Mapping[str, pd.DataFrame],
    *,
    exclude: bool = True,
    complete_only: bool = False,
    drew_sides: Collection[str] = (),
) -> list[JudgedTask]:
    """Return every task that has a counted preference, in alphabetical order.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        With preferences, and workers where there are exclusions; unfiltered.
    exclude : bool
        Leave out excluded workers. Withdrawn workers and validation repeats never count.
    complete_only : bool
        Leave out workers who did not complete the study too.
    drew_sides : collection of str
        Tasks whose sides were drawn by lot (`calibration.tables.study_json.StudyRecord.drew_sides`).
    """
    preferences, workers = tables["preferences"], tables.get("workers")
    if complete_only:
        preferences = preferences[preferences["worker"].isin(completed(workers))]
    judged = judged_pairs(preferences, workers=workers, exclude=exclude)
    pairs = votes_by_pair(judged)
    languages = preferences.groupby("task", observed=True)["language"].agg(_most_frequent)
    return [
        JudgedTask(
            task=str(task),
            language=languages[task],
            judgments=judged[judged["task"] == task].reset_index(drop=True),
            pairs=_with_shares(of_task, judged[judged["task"] == task]),
            drew_sides=str(task) in drew_sides,
        )
        for task, of_task in pairs.groupby("task")
    ]


def has_exclusions(tables: Mapping[str, pd.DataFrame]) -> bool:
    """Return whether leaving out excluded workers changes anything."""
    out = exclusions(tables.get("workers"))
    return bool(tables["preferences"]["worker"].isin(out[out == "excluded"].index).any())


def _with_shares(pairs: pd.DataFrame, judged: pd.DataFrame) -> pd.DataFrame:
    """Return the pairs of one task with the columns of their judgments.

    The columns have the order of the judgments.
    """
    votes = pairs[list(VOTES)].sum(axis="columns")
    ties = pairs["equally_good"] + pairs["equally_bad"]
    seconds = judged.groupby(["topic", "system_a", "system_b"], observed=True)["decision_seconds"].mean()
    shares = pairs.assign(
        votes=votes,
        vote_share=(pairs["votes_a"] + ties / 2) / votes,
        mean_decision_seconds=seconds.to_numpy(),
    )
    return shares.drop(columns="task").reset_index(drop=True)


def _most_frequent(languages: "pd.Series[str]") -> str:
    modes = languages.mode()
    return str(modes.iloc[0]) if len(modes) else DEFAULT_LANGUAGE


MIN_TOPICS = 5
"""Smallest number of queries to test a difference of measures.

`metrics.agreement.crossed_errors.is_few` has the limits for people, and for queries of intervals.
"""
WIDE_TASTES = 0.3
"""Largest spread of tastes at which the p of majorities holds.

One crowd in twenty whose p still holds exceeds it.
"""
JUDGED, EVERYBODY = "preferences", "workers"
"""Tables that no parameter is fitted to as other data."""


def testable(votes: VotesByPerson) -> bool:
    """Return whether people and queries are enough for a p value."""
    crossed = votes.crossing
    few_people = crossed.is_crossed and is_few(_parts(crossed.worker, votes))
    return not few_people and crossed.queries >= MIN_TOPICS


def _parts(cluster: Ints, votes: VotesByPerson) -> Floats:
    """Return the part of each cluster in a mean over pairs."""
    return np.asarray(np.bincount(cluster, votes.weight), dtype=np.float64)


def _diagnostics(task: JudgedTask) -> Iterator[Diagnostic]:
    votes, crossed = task.votes, task.votes.crossing
    share, share_of_query = (_parts(each, votes) for each in (crossed.worker, crossed.query))
    if not crossed.knows_workers:
        yield info(
            "workers_not_known",
            f"Who judged is not known: intervals and p are over {crossed.queries} queries.",
        )
    elif crossed.is_crossed and is_few(share):
        yield warning(
            "few_workers",
            _few("worker", share) + ": there are no intervals and no p. Four or more are needed.",
        )
    elif crossed.is_crossed:
        yield info(
            "crossed_workers",
            f"The same people judge several queries ({crossed.queries_each:.1f} a worker on average,"
            f" {crossed.most_queries_each} at most), so intervals and p are over queries and people at once, and measures are"
            " not exchanged within queries.",
        )
    if is_few(share_of_query):
        yield warning(
            "few_topics",
            _few("query", share_of_query) + ": there are no intervals and no p. Five or more are needed.",
        )
    elif crossed.queries < MIN_TOPICS:
        yield warning(
            "few_topics",
            f"{pluralise(crossed.queries, 'query', 'queries')} were judged, too few to test a difference: there is no p. Five or more are needed.",
        )
    yield from _on_sides(task)


def _few(what: str, share: Floats) -> str:
    """Return a sentence on few, or effectively few, clusters."""
    number = pluralise(len(share), what, "queries" if what == "query" else None)
    verb = "judged" if what == "worker" else "was judged" if len(share) == 1 else "were judged"
    if len(share) < MIN_CLUSTERS:
        return f"{number} {verb}, too few to estimate how much others differ"
    return (
        f"{number} {verb}, and one of them makes up {percent(share.max())} of the numbers, as if there were {effective_number(share):.1f}:"
        " too few to estimate how much others differ"
    )


def _on_sides(task: JudgedTask) -> Iterator[Diagnostic]:
    """Yield a diagnostic of sides that may not have been drawn by lot."""
    side = task.side
    if side is None:
        return
    uneven = task.uneven
    why = f"{uneven.sentence}." if uneven else "No study file states that sides were assigned at random."
    if not side.is_separable:
        yield warning(
            "side_not_separable",
            f"{why} The side effect cannot be told from the systems: comparisons are made with the votes as they are.",
        )
        return
    sentence = f"{why} By the votes the left side gains {side.side:+.2f} in log odds; comparisons are made without that effect."
    yield warning(uneven.name, sentence) if uneven else info("side_effect", sentence)


def wide_tastes(votes: VotesByPerson, differences: Mapping[str, Floats]) -> Iterator[Diagnostic]:
    """Yield a warning of tastes so different that few votes decide a majority.

    Comparisons by majority have no interval and no p then: equal measures would be told apart too often.

    Parameters
    ----------
    votes : VotesByPerson
        On p pairs.
    differences : mapping of str to (p,) ndarray of float
        Measure -> score differences.
    """
    nonzero = [difference for difference in differences.values() if difference.any()]
    spread = spread_of_tastes(votes, nonzero)
    if spread > WIDE_TASTES:
        yield warning(
            "tastes_differ",
            "People's tastes differ widely: the effect of a standard difference of scores on a person's mean vote (1 for, -1 against)"
            f" has a standard deviation of {spread:.2f} over people. Comparisons by majority have no interval and no p: they would"
            " distinguish equal measures too often. Use those by weighted and by votes (comparisons.csv), which allow for it, and let more people judge.",
        )


def same_people(
    variants: Sequence[ScoredMeasure],
    judges: Collection[str],
    crossing: Crossing,
    tables: Mapping[str, pd.DataFrame],
) -> Iterator[Diagnostic]:
    """Yield diagnostics of measures that were fitted to the same people.

    Parameters
    ----------
    variants : sequence of ScoredMeasure
        Of one task.
    judges : collection of str
        The workers whose preferences count.
    crossing : Crossing
        Who judged what.
    tables : mapping of str to DataFrame
        That the model was fitted to; empty where it was fitted to others.
    """
    crossed = [variant.measure for variant in variants if variant.fit is ParameterOrigin.CROSS_FITTED]
    if crossed and crossing.is_crossed:
        yield info(
            "same_people",
            f"{join_names(crossed)}: fitted to the other queries, which the same people judged; how well it predicts other people"
            " is not known.",
        )
    others = [variant.measure for variant in variants if variant.fit is ParameterOrigin.OTHER_DATA]
    took_part = [
        table["worker"]
        for name, table in tables.items()
        if name not in {JUDGED, EVERYBODY} and "worker" in table.columns
    ]
    both = len(set(judges) & set(pd.concat(took_part))) if others and took_part else 0
    if both:
        yield info(
            "same_people",
            f"{join_names(others)}: fitted to other data of the same study; {both} of the {pluralise(len(judges), 'worker')} who"
            " judged gave some of them.",
        )
