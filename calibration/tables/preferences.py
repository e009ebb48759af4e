"""Exclusion of workers, and judgments as votes on pairs of systems.

Only this module resolves sides and decides which judgments count. A pair is an unordered couple of systems of one task and topic; here it
always stands as (system_a, system_b) with system_a < system_b, whatever side each was shown on. Validation repeats and gold pairs never
count, nor do workers left out: excluded and withdrawn workers leave every table, not only the preferences. Exclusion is a rule applied at
analysis; who is excluded stands in the table workers. Late judgments and workers who did not finish count.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from calibration.tables.people import is_gold
from calibration.tables.tables import JUDGE_KIND

FOLLOWING = frozenset({"follows", "visits", "prompts", "activity"})
"""Tables in which a withdrawn worker stays.

A follow is censored at the withdrawal.
"""


def exclusions(
    workers: pd.DataFrame | None, *, exclude: bool = True, complete_only: bool = False
) -> "pd.Series[Any]":
    """Return the reason of exclusion of each worker who does not count.

    Parameters
    ----------
    workers : DataFrame or None
        Table workers; None when there is none, then everybody counts.
    exclude : bool
        Leave out workers with ``excluded`` true (`--exclude none` passes False). Withdrawn workers never count.
    complete_only : bool
        Leave out workers without ``completed_at``.

    Returns
    -------
    Series of str, indexed by worker
        ``model``, ``excluded``, ``withdrawn`` or ``incomplete``, the first that holds. A worker with no such mark, or in no
        row, counts. Judges that are no people never do.
    """
    if workers is None:
        return pd.Series({}, dtype="str")
    rows = workers.set_index("worker")
    why = pd.Series("", index=rows.index, dtype="str")
    if complete_only:
        why = why.mask(rows["completed_at"].isna(), "incomplete")
    why = why.mask(rows["withdrawn_at"].notna(), "withdrawn")
    if exclude:
        why = why.mask(rows["excluded"].fillna(value=False).astype(bool), "excluded")
    if "kind" in rows:
        why = why.mask((rows["kind"] == JUDGE_KIND).to_numpy(bool, na_value=False), JUDGE_KIND)
    return why[why != ""]


def completed(workers: pd.DataFrame | None) -> frozenset[str]:
    """Return the workers whose every required answer is stored."""
    if workers is None:
        return frozenset()
    return frozenset(workers.loc[workers["completed_at"].notna(), "worker"])


def counted_tables(
    tables: Mapping[str, pd.DataFrame], *, exclude: bool = True, complete_only: bool = False
) -> MappingProxyType[str, pd.DataFrame]:
    """Return the tables without the rows of workers who do not count.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        As `calibration.tables.files.read_tables` returns them.
    exclude : bool
        See `exclusions`.
    complete_only : bool
        Keep the rows of workers who completed the study and of nobody else, not even of those in no workers row.

    Returns
    -------
    mapping of str to DataFrame
        The same tables; those with a column ``worker`` filtered and numbered anew. A withdrawn worker stays in
        `FOLLOWING`, an excluded one in none.
    """
    workers = tables.get("workers")
    why = exclusions(workers, exclude=exclude)
    kept = completed(workers) if complete_only else None
    return MappingProxyType(
        {
            name: _without(frame, why if name not in FOLLOWING else why[why != "withdrawn"], kept)
            for name, frame in tables.items()
        }
    )


def _without(frame: pd.DataFrame, why: "pd.Series[Any]", kept: frozenset[str] | None) -> pd.DataFrame:
    if "worker" not in frame.columns:
        return frame
    counts = ~frame["worker"].isin(why.index)
    if kept is not None:
        counts &= frame["worker"].isin(kept)
    return frame if counts.all() else frame[counts].reset_index(drop=True)


VOTED = (
    "worker",
    "task",
    "topic",
    "pair",
    "system_left",
    "system_right",
    "choice",
    "decision_seconds",
    "language",
    "validation_of",
    "drawn",
)
"""Columns of the table preferences that agreement and ranks use."""
VOTES = ("votes_a", "votes_b", "equally_good", "equally_bad")
"""Votes with resolved sides: the columns of `pair_votes`."""
_PAIR = ["task", "topic", "system_a", "system_b"]


def resolved_sides(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the pair and vote of each judgment, whatever the sides of its systems.

    Parameters
    ----------
    rows : DataFrame
        Rows of the table preferences.

    Returns
    -------
    DataFrame
        With the index of the rows: system_a, system_b (system_a < system_b), is_swapped (system_a stood on the right) and
        vote, one of `VOTES`. Names are texts or ordered categories, as those of the rows.
    """
    left, right = systems_shown(rows)
    swapped, choice = left > right, rows["choice"]
    is_sided, is_for_a = choice.isin(["left", "right"]), (choice == "left") ^ swapped
    code = np.select([is_sided & is_for_a, is_sided, choice == "equally_good"], [0, 1, 2], 3)
    vote = pd.Series(pd.Categorical.from_codes(code, list(VOTES)), index=rows.index)
    return pd.DataFrame(
        {
            "system_a": left.mask(swapped, right),
            "system_b": right.mask(swapped, left),
            "is_swapped": swapped,
            "vote": vote if isinstance(choice.dtype, pd.CategoricalDtype) else vote.astype("str"),
        }
    )


def systems_shown(rows: pd.DataFrame) -> tuple["pd.Series[Any]", "pd.Series[Any]"]:
    """Return the systems on the left and on the right.

    Categories stay categories, in alphabetical order.
    """
    left, right = rows["system_left"], rows["system_right"]
    if not isinstance(left.dtype, pd.CategoricalDtype):
        return left, right
    systems = left.cat.categories.union(right.cat.categories)
    return left.cat.set_categories(systems), right.cat.set_categories(systems)


WORKERS_UNKNOWN = "who judged is not known: table preferences has no column worker"
"""Reason why measures of people cannot be estimated."""


def knows_workers(judgments: pd.DataFrame) -> bool:
    """Return whether the judges are known.

    Column ``worker`` is filled in all rows of preferences or in none.
    """
    return judgments.empty or bool(judgments["worker"].notna().any())


def adaptive_tasks(preferences: pd.DataFrame) -> frozenset[str]:
    """Return the tasks with pairs that were chosen by the answers before them."""
    if "drawn" not in preferences:
        return frozenset()
    return frozenset(
        preferences.loc[(preferences["drawn"] == "adaptive").to_numpy(bool, na_value=False), "task"]
    )


def counted_judgments(
    preferences: pd.DataFrame,
    *,
    workers: pd.DataFrame | None = None,
    exclude: bool = True,
    adaptive: bool = False,
) -> pd.DataFrame:
    """Return the rows of table preferences that count.

    Validation repeats, gold pairs and excluded workers are left out. ``adaptive`` also counts pairs that were drawn by
    the answers before them. Shares of such votes are biased, so only likelihoods may use them. Other
    parameters are those of `judged_pairs`.
    """
    out = exclusions(workers, exclude=exclude).index
    counts = preferences["validation_of"].isna() & ~preferences["worker"].isin(out) & ~is_gold(preferences)
    if not adaptive and "drawn" in preferences:
        counts &= ~(preferences["drawn"] == "adaptive").to_numpy(bool, na_value=False)
    return preferences[counts]


def judged_pairs(
    preferences: pd.DataFrame, *, workers: pd.DataFrame | None = None, exclude: bool = True
) -> pd.DataFrame:
    """Resolve the sides of every judgment that counts.

    Parameters
    ----------
    preferences : DataFrame
        Table preferences.
    workers : DataFrame or None
        Table workers, to leave out those excluded or withdrawn; None when the rows are filtered already.
    exclude : bool
        Leave out excluded workers (withdrawn ones always are).

    Returns
    -------
    DataFrame
        One row per judgment: worker, task, topic, pair, decision_seconds, system_a, system_b (system_a < system_b), is_swapped
        (system_a stood on the right) and vote, one of `VOTES`; texts or ordered categories, as in the table. Where answers are graded also
        strength, above 0 for system_a, 0 for neither. Ordered by task,
        topic, system_a, system_b, worker, and by the table's order within.
    """
    rows = counted_judgments(preferences, workers=workers, exclude=exclude)
    sides = resolved_sides(rows)
    judged = rows[["worker", "task", "topic", "pair", "decision_seconds"]].assign(**dict(sides.items()))
    if "strength" in rows and rows["strength"].notna().any():
        sign = np.select([sides["vote"] == "votes_a", sides["vote"] == "votes_b"], [1.0, -1.0], 0.0)
        strength = rows["strength"].to_numpy(np.float64, na_value=np.nan)
        judged["strength"] = np.where(sign == 0, 0.0, sign * strength)
    return judged.sort_values([*_PAIR, "worker"], kind="stable", ignore_index=True)


def pair_votes(
    preferences: pd.DataFrame, *, workers: pd.DataFrame | None = None, exclude: bool = True
) -> pd.DataFrame:
    """Count the votes of every judged pair, as `votes_by_pair` does.

    `judged_pairs` has the parameters.
    """
    return votes_by_pair(judged_pairs(preferences, workers=workers, exclude=exclude))


def votes_by_pair(judged: pd.DataFrame) -> pd.DataFrame:
    """Count the votes of every pair in what `judged_pairs` returned.

    Returns
    -------
    DataFrame
        One row per pair, ordered by task, topic, system_a, system_b: task, topic, pair, system_a, system_b
        (system_a < system_b), all texts, and the numbers votes_a, votes_b, equally_good, equally_bad. Should one couple
        go by several pair ids, the first in the alphabet stands for it.
    """
    marked = judged.assign(**{vote: (judged["vote"] == vote).astype("int64") for vote in VOTES})
    counts: pd.DataFrame = marked.groupby(_PAIR, as_index=False, observed=True).agg(
        {"pair": "min"} | dict.fromkeys(VOTES, "sum")
    )
    names = ["task", "topic", "pair", "system_a", "system_b"]
    return counts[[*names, *VOTES]].astype(dict.fromkeys(names, "str"))
