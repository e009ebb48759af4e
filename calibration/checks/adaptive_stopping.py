"""Does the number of judgments of a pair depend on its answers?

An example is judging that stops once a system leads.

If it does, the last answer makes the lead, and pairs with disagreement have more answers. If the number does not depend on the answers:

- all orders of the answers of a pair are equally likely, so the last one is for the leading system with probability
  p = (answers for it) / (all answers); over pairs with different answers, the number of such last answers has the variance sum p (1 - p).
- the probability that two answers of a pair agree does not depend on their number, so within a topic the covariance of the share of
  agreeing answers with the number is 0; its variance is that of White (1980).

The result is twice the smaller of the two p-values (Bonferroni). The first test needs times (`decided_at`); without them only the
second is made.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import pandas as pd
from scipy.special import ndtr

from calibration.checks.finding import Finding
from calibration.inference.formatting import format_p
from calibration.tables.preferences import VOTES, counted_tables, resolved_sides

LEVEL = 0.01
"""Significance level.

It is strict, because stopping at a lead gives far smaller p-values.
"""
MIN_PAIRS = 10
"""Smallest number of pairs for a test.

Such a pair has different answers, or a number of answers unlike its topic's mean.
"""
_KINDS = np.array([0, 1, 2, 2])
"""Kind of answer of each of `VOTES`: both sorts of ties are one."""


def adaptive_stopping(
    tables: Mapping[str, pd.DataFrame], *, exclude: bool = True, complete_only: bool = False
) -> dict[str, Finding]:
    """Return a finding for each task whose number of judgments depends on the answers.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        Table preferences, and table workers if workers are excluded.
    exclude, complete_only : bool
        As in `counted_tables`.

    Returns
    -------
    dict of str to Finding
        By task.
    """
    votes = {name: tables[name] for name in ("preferences", "workers") if name in tables}
    return _by_task(counted_tables(votes, exclude=exclude, complete_only=complete_only)["preferences"])


def check_adaptive_stopping(preferences: pd.DataFrame) -> Iterator[Finding]:
    """Yield a finding for each task whose number of judgments depends on the answers.

    The sentence names the task if there are several.
    """
    tasks = preferences["task"].unique()
    for task, finding in _by_task(preferences).items():
        yield finding if len(tasks) == 1 else replace(finding, sentence=f"Task {task}: {finding.sentence}")


def _by_task(rows: pd.DataFrame) -> dict[str, Finding]:
    rows = rows[rows["validation_of"].isna()]
    sides = resolved_sides(rows)
    judged = pd.DataFrame(
        {
            "task": rows["task"],
            "pair": rows.groupby(
                [rows["topic"], sides["system_a"], sides["system_b"]], observed=True, sort=False
            ).ngroup(),
            "topic": pd.factorize(rows["topic"])[0],
            "vote": _KINDS[pd.Categorical(sides["vote"], categories=list(VOTES)).codes],
            "decided_at": rows.get("decided_at", pd.NaT),
        }
    )
    findings = {str(task): _finding(task_rows) for task, task_rows in judged.groupby("task", observed=True)}
    return {task: finding for task, finding in findings.items() if finding is not None}


def _finding(judged: pd.DataFrame) -> Finding | None:
    counts = judged.pivot_table(
        index=["topic", "pair"], columns="vote", values="task", aggfunc="size", fill_value=0
    )
    number = counts.sum(axis=1)
    p_values = [_more_where_people_differ(counts, number)]
    evidence = "pairs with disagreement have more judgments than other pairs of their topic"
    if judged["decided_at"].notna().all():
        last = judged.sort_values("decided_at", kind="stable").groupby(["topic", "pair"])["vote"].last()
        p_order, observed, expected, pairs = _last_makes_the_lead(counts, number, last)
        p_values.append(p_order)
        if p_order <= p_values[0]:
            evidence = (
                f"in {observed} of {pairs} pairs with different answers the last answer is for the leading system, {expected:.0f} expected"
                " by chance"
            )
    p_value = min(1.0, len(p_values) * min(p_values))
    if p_value >= LEVEL:
        return None
    return Finding(
        name="adaptive_stopping",
        severity="warning",
        p_value=p_value,
        sentence=f"The number of judgments depends on the answers: {evidence} ({format_p(p_value)}). If judging stops when one system leads,"
        " shares are too far from one half and intervals too narrow; fix the number of judgments in advance, or report how it was chosen.",
    )


def _last_makes_the_lead(
    counts: pd.DataFrame, number: "pd.Series[int]", last: "pd.Series[int]"
) -> tuple[float, int, float, int]:
    """Test whether the last answer is for the leading system more often than chance.

    Returns
    -------
    p_value : float
    observed, expected : int, float
        Pairs whose last answer is for the leading system.
    pairs : int
        Pairs tested.
    """
    most = counts.max(axis=1)
    leads = counts.eq(most, axis=0)
    chance = counts.where(leads, 0).sum(axis=1) / number
    differ = (most < number) & (chance < 1)
    if differ.sum() < MIN_PAIRS:
        return 1.0, 0, 0.0, 0
    column = counts.columns.get_indexer(last.reindex(counts.index))
    is_for_leader = leads.to_numpy()[np.arange(len(counts)), column][differ.to_numpy()]
    p = chance[differ].to_numpy()
    z = (is_for_leader.sum() - p.sum() - 0.5) / np.sqrt((p * (1 - p)).sum())
    return float(ndtr(-z)), int(is_for_leader.sum()), float(p.sum()), int(differ.sum())


def _more_where_people_differ(counts: pd.DataFrame, number: "pd.Series[int]") -> float:
    """Test whether pairs with more answers have less agreement; return p."""
    several = number > 1
    agreeing = ((counts * (counts - 1)).sum(axis=1) / (number * (number - 1)))[several]
    frame = pd.DataFrame({"number": number[several], "agreeing": agreeing})
    topic = frame.index.get_level_values("topic")
    centred = frame - frame.groupby(topic).transform("mean")
    size = frame.groupby(topic)["number"].transform("size")
    product = centred["number"] * centred["agreeing"] * np.sqrt(size / np.maximum(size - 1, 1))
    if (centred["number"].abs() > 1e-9).sum() < MIN_PAIRS or not (product**2).sum():
        return 1.0
    return float(ndtr(product.sum() / np.sqrt((product**2).sum())))
