"""Whether the pairs that people judged were drawn by lot from those of a judge, as assisted numbers assume.

The table cannot prove it. What speaks against it is said: a study file that named the pairs, and pairs with some system, or pairs that the
judge calls a tie, more or less often among people's than lots would draw them. On topic t with n_t pairs of the judge, L_t of them people's and x_t
with the feature, lots draw x of them by the hypergeometric law, and

    z = (|sum_t (l_t - L_t x_t / n_t)| - 1/2) / sqrt(sum_t L_t (n_t - L_t) / (n_t - 1) x_t / n_t (1 - x_t / n_t))

l_t being the number found. The largest z of all features is rejected at 1 % after Bonferroni's correction.
"""

import numpy as np
from scipy.special import ndtr

from calibration.judges.assist import JudgedPairs
from calibration.tables.study_json import StudyRecord
from metrics.errors import percent

LEVEL = 0.01
"""Largest probability of such pairs, were they drawn by lot, with which it is said."""
MIN_VARIANCE = 5.0
"""Smallest variance of a feature's number for which it is taken as normal."""
HOLDS = "assisted numbers hold only for pairs drawn by lot from the judge's (pairs_not_drawn)"


def against_lot(task: str, pairs: JudgedPairs, study: StudyRecord | None) -> list[str]:
    """Return a sentence where something speaks against people's pairs having been drawn by lot.

    Parameters
    ----------
    task : str
        Its name.
    pairs : JudgedPairs
        Of people and of the judge.
    study : StudyRecord or None
        study.json of the tables.
    """
    file = None if study is None else study.pairs_file(task)
    named = "" if file is None else f"the study file took the pairs that people judged from {file}"
    found = [each for each in (named, _uneven(pairs)) if each]
    return [f"{' and '.join(found)}; {HOLDS}"] if found else []


def _uneven(pairs: JudgedPairs) -> str:
    """Say which pairs people judged too often or too seldom for lots, or nothing."""
    known = np.flatnonzero(~np.isnan(pairs.share))
    topic, is_labelled = pairs.topic[known], known < pairs.labelled
    sides = [pairs.pairs[side].to_numpy(str)[known] for side in ("system_a", "system_b")]
    names, side = np.unique(np.concatenate(sides), return_inverse=True)
    ties = np.flatnonzero(pairs.share[known] == 0.5)
    row = np.concatenate([np.tile(np.arange(len(known)), 2), ties])
    feature = np.concatenate([side, np.full(len(ties), len(names))])
    keys, cell = np.unique(topic[row] * (len(names) + 1) + feature, return_inverse=True)
    own_topic, own_feature = np.divmod(keys, len(names) + 1)
    total, labelled = (np.bincount(topic, part) for part in (np.ones(len(topic)), is_labelled))
    n, drawn, share = total[own_topic], labelled[own_topic], np.bincount(cell) / total[own_topic]
    spread = drawn * (n - drawn) / np.maximum(n - 1, 1) * share * (1 - share)
    there = drawn * (n - drawn) > 0
    count, expected, variance = (
        np.bincount(own_feature, part * there, len(names) + 1)
        for part in (np.bincount(cell, is_labelled[row]), drawn * share, spread)
    )
    tested = np.flatnonzero(variance >= MIN_VARIANCE)
    if not len(tested):
        return ""
    z = (np.abs(count - expected)[tested] - 0.5) / np.sqrt(variance[tested])
    most = int(np.argmax(z))
    if 2 * ndtr(-z[most]) * len(tested) >= LEVEL:
        return ""
    place = tested[most]
    whole = labelled[(labelled > 0) & (labelled < total)].sum()
    what = "that the judge calls a tie" if place == len(names) else f"with {names[place]}"
    return (
        f"of the pairs that people judged {percent(count[place] / whole)} are pairs {what}, where lots would draw"
        f" {percent(expected[place] / whole)}"
    )
