"""Preferences as votes: the one place where sides are resolved and it is decided which judgments count.

A pair is an unordered couple of systems of one task and topic; here it always stands as (system_a, system_b) with
system_a < system_b, whatever side each was shown on. Validation repeats never count, nor do workers left out by
`calibration.tables.exclusion`. Late judgments and workers who did not finish count.
"""

import pandas as pd

from calibration.tables.exclusion import left_out

VOTES = ("votes_a", "votes_b", "equally_good", "equally_bad")
"""What a judgment can be once its sides are resolved; the columns of `pair_votes`."""

_PAIR = ["task", "topic", "system_a", "system_b"]


def resolved_sides(rows: pd.DataFrame) -> pd.DataFrame:
    """Say of each judgment what it is about and for whom, whatever side each system was shown on.

    Parameters
    ----------
    rows : DataFrame
        Rows of the table preferences.

    Returns
    -------
    DataFrame
        With the index of the rows: system_a, system_b (system_a < system_b), is_swapped (system_a stood on the right) and
        vote, one of `VOTES`.
    """
    swapped = rows["system_left"] > rows["system_right"]
    a_side = pd.Series("left", index=rows.index).mask(swapped, "right")
    is_tie = ~rows["choice"].isin(["left", "right"])
    return pd.DataFrame(
        {
            "system_a": rows["system_left"].mask(swapped, rows["system_right"]),
            "system_b": rows["system_right"].mask(swapped, rows["system_left"]),
            "is_swapped": swapped,
            "vote": rows["choice"].where(is_tie, "votes_b").mask(rows["choice"] == a_side, "votes_a"),
        }
    )


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
        One row a judgment: worker, task, topic, pair, decision_seconds, system_a, system_b (system_a < system_b) and
        vote, one of `VOTES`. Ordered by task, topic, system_a, system_b, worker, and by the table's order within.
    """
    out = left_out(workers, exclude=exclude).index
    rows = preferences[preferences["validation_of"].isna() & ~preferences["worker"].isin(out)]
    sides = resolved_sides(rows).drop(columns="is_swapped")
    judged = rows[["worker", "task", "topic", "pair", "decision_seconds"]].assign(**dict(sides.items()))
    return judged.sort_values([*_PAIR, "worker"], kind="stable", ignore_index=True)


def pair_votes(
    preferences: pd.DataFrame, *, workers: pd.DataFrame | None = None, exclude: bool = True
) -> pd.DataFrame:
    """Count the votes of every pair that has one; parameters as in `judged_pairs`.

    Returns
    -------
    DataFrame
        One row a pair, ordered by task, topic, system_a, system_b: task, topic, pair, system_a, system_b
        (system_a < system_b) and the numbers votes_a, votes_b, equally_good, equally_bad. Should one couple go by
        several pair ids, the first in the alphabet stands for it.
    """
    judged = judged_pairs(preferences, workers=workers, exclude=exclude)
    marked = judged.assign(**{vote: (judged["vote"] == vote).astype("int64") for vote in VOTES})
    counts: pd.DataFrame = marked.groupby(_PAIR, as_index=False).agg(
        {"pair": "min"} | dict.fromkeys(VOTES, "sum")
    )
    return counts[["task", "topic", "pair", "system_a", "system_b", *VOTES]]
