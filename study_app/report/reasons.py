"""Reasons that people gave, beside the pairs of the disagreements."""

import pandas as pd

from calibration.tables.preferences import counted_judgments, resolved_sides

MAX_REASONS, MAX_CHARS = 3, 200
"""Reasons shown of a pair, and characters of each."""
_FOR = {"votes_a": "for A", "votes_b": "for B"}


def with_reasons(
    disagreements: pd.DataFrame | None, preferences: pd.DataFrame | None, workers: pd.DataFrame | None
) -> pd.DataFrame | None:
    """Return the disagreements with a column ``reasons``, where the tables have any.

    Parameters
    ----------
    disagreements : DataFrame or None
        As disagreements.csv has them.
    preferences, workers : DataFrame or None
        Tables of people, unfiltered; reasons of repeats and of excluded workers are left out.
    """
    if disagreements is None or preferences is None or preferences["reason"].isna().all():
        return disagreements
    counted = counted_judgments(preferences, workers=workers).dropna(subset="reason")
    sides = resolved_sides(counted)
    key = ["task", "topic", "system_a", "system_b"]
    reasons = counted[["task", "topic", "reason"]].assign(
        system_a=sides["system_a"],
        system_b=sides["system_b"],
        what=[
            f"{_FOR.get(vote, 'for neither')}: {_cut(reason)}"
            for vote, reason in zip(sides["vote"], counted["reason"], strict=True)
        ],
    )
    of_pair = reasons.groupby(key, observed=True)["what"].agg(_listed).rename("reasons").reset_index()
    return disagreements.merge(of_pair, on=key, how="left")


def _cut(reason: str) -> str:
    text = " ".join(reason.split())
    return text if len(text) <= MAX_CHARS else f"{text[:MAX_CHARS].rstrip()}…"


def _listed(reasons: "pd.Series[str]") -> str:
    more = len(reasons) - MAX_REASONS
    return " · ".join([*reasons.head(MAX_REASONS), *([f"and {more} more"] if more > 0 else [])])
