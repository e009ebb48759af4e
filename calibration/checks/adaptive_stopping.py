"""Does the number of judgments of a pair depend on its answers, as where people judge until one system leads?

Then the last answer is that which made the lead, and a pair that people disagree on has more answers. Where the number was fixed before, or
has any other cause than the answers, neither holds:

- any order of the answers of a pair is as likely as any other, so the last one is for the system that leads in the end with probability
  (answers for it) / (all answers). Over pairs with different answers, the excess has the variance sum p (1 - p).
- the share of couples of answers that agree has the same mean whatever their number, so within a topic it has no covariance with it;
  the variance is that of White (1980).

The smaller p counts twice (Bonferroni). The order needs times (`decided_at`); without them the second test is alone.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import pandas as pd
from scipy.special import ndtr

from calibration.checks.finding import Finding
from calibration.inference.formatting import format_p
from calibration.tables.preferences import counted_tables, resolved_sides

LEVEL = 0.01
"""Judging until a lead shows far more clearly; a fixed number must hardly ever be suspected."""
FEWEST_PAIRS = 10
"""Pairs with different answers, or with different numbers of them."""
_TIES = ("equally_good", "equally_bad")


def adaptive_stopping(
    tables: Mapping[str, pd.DataFrame], *, exclude: bool = True, complete_only: bool = False
) -> dict[str, Finding]:
    """Return task -> what is said of it, for tasks whose number of judgments depends on the answers.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        With preferences, and workers where there are exclusions; parameters as in `counted_tables`.
    """
    votes = {name: tables[name] for name in ("preferences", "workers") if name in tables}
    return _by_task(counted_tables(votes, exclude=exclude, complete_only=complete_only)["preferences"])


def check_adaptive_stopping(preferences: pd.DataFrame) -> Iterator[Finding]:
    """Say of each task that its number of judgments depends on the answers, named where there are several tasks."""
    tasks = preferences["task"].unique()
    for task, finding in _by_task(preferences).items():
        yield finding if len(tasks) == 1 else replace(finding, sentence=f"Task {task}: {finding.sentence}")


def _by_task(rows: pd.DataFrame) -> dict[str, Finding]:
    rows = rows[rows["validation_of"].isna()]
    sides = resolved_sides(rows)
    judged = pd.DataFrame(
        {
            "task": rows["task"].astype("str"),
            "topic": rows["topic"].astype("str"),
            "pair": sides["system_a"].astype("str") + "\t" + sides["system_b"].astype("str"),
            "vote": sides["vote"].astype("str").replace(dict.fromkeys(_TIES, "equal")),
            "decided_at": rows.get("decided_at", pd.NaT),
        }
    )
    made = {str(task): _finding(of_task) for task, of_task in judged.groupby("task")}
    return {task: finding for task, finding in made.items() if finding is not None}


def _finding(judged: pd.DataFrame) -> Finding | None:
    counts = judged.pivot_table(
        index=["topic", "pair"], columns="vote", values="task", aggfunc="size", fill_value=0
    )
    number = counts.sum(axis=1)
    p_values = [_more_where_people_differ(counts, number)]
    seen = "pairs that people disagree on have more judgments than others of their topic"
    if judged["decided_at"].notna().all():
        last = judged.sort_values("decided_at", kind="stable").groupby(["topic", "pair"])["vote"].last()
        p_order, observed, expected, pairs = _last_makes_the_lead(counts, number, last)
        p_values.append(p_order)
        if p_order <= p_values[0]:
            seen = (
                f"in {observed} of {pairs} pairs with different answers the last one is for the system that leads, where the order of"
                f" answers would make it {expected:.0f}"
            )
    p_value = min(1.0, len(p_values) * min(p_values))
    if p_value >= LEVEL:
        return None
    return Finding(
        name="adaptive_stopping",
        severity="warning",
        p_value=p_value,
        sentence=f"The number of judgments depends on the answers: {seen} ({format_p(p_value)}). Where people judge until one system leads, shares lie"
        " too far from one half and intervals are too narrow; fix the number of judgments before, or say how it was chosen.",
    )


def _last_makes_the_lead(
    counts: pd.DataFrame, number: "pd.Series[int]", last: "pd.Series[str]"
) -> tuple[float, int, float, int]:
    """Return the p of the order of answers, how often the last was for the lead, how often it would be, and of how many pairs."""
    most = counts.max(axis=1)
    leads = counts.eq(most, axis=0)
    chance = counts.where(leads, 0).sum(axis=1) / number
    differ = (most < number) & (chance < 1)
    if differ.sum() < FEWEST_PAIRS:
        return 1.0, 0, 0.0, 0
    column = counts.columns.get_indexer(last.reindex(counts.index))
    made = leads.to_numpy()[np.arange(len(counts)), column][differ.to_numpy()]
    p = chance[differ].to_numpy()
    score = (made.sum() - p.sum() - 0.5) / np.sqrt((p * (1 - p)).sum())
    return float(ndtr(-score)), int(made.sum()), float(p.sum()), int(differ.sum())


def _more_where_people_differ(counts: pd.DataFrame, number: "pd.Series[int]") -> float:
    """Return the p of fewer agreeing couples of answers where there are more answers."""
    several = number > 1
    agreeing = ((counts * (counts - 1)).sum(axis=1) / (number * (number - 1)))[several]
    frame = pd.DataFrame({"number": number[several], "agreeing": agreeing})
    topic = frame.index.get_level_values("topic")
    centred = frame - frame.groupby(topic).transform("mean")
    size = frame.groupby(topic)["number"].transform("size")
    product = centred["number"] * centred["agreeing"] * np.sqrt(size / np.maximum(size - 1, 1))
    if (centred["number"].abs() > 1e-9).sum() < FEWEST_PAIRS or not (product**2).sum():
        return 1.0
    return float(ndtr(product.sum() / np.sqrt((product**2).sum())))
