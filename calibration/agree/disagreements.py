"""The pairs on which a measure and the votes disagree most, with what was to be read on either side."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from calibration.agree.evidence import ShownTexts
from calibration.agree.judged_task import JudgedTask
from calibration.agree.measures.kinds import KINDS
from calibration.tables.sources import TaskSources
from metrics.arrays import Floats

Texts = Mapping[str, str]
MOST_PAIRS = 10
PAIR = ("pair", "system_a", "system_b", "votes_a", "votes_b", "equally_good", "equally_bad")
COLUMNS = (
    "task",
    "measure",
    "rank",
    "topic",
    "topic_text",
    *PAIR,
    "vote_share",
    "difference",
    "disagreement",
    "text_a",
    "text_b",
)
Row = dict[str, Any]


def shown_texts(task: JudgedTask, sources: TaskSources | None) -> ShownTexts:
    """Read the texts of a task; none where its files cannot be used.

    Raises
    ------
    InputError
        If a file is faulty.
    """
    kind = None if sources is None else KINDS.get(sources.kind)
    if sources is None or kind is None or sources.problems:
        return ShownTexts()
    return kind.texts(task, sources)


def disagreement(difference: Floats, share: Floats) -> Floats:
    """Return how strongly score and votes disagree about each pair.

    |2 y - 1| |M(R) - M(R')| / max |M(R) - M(R')|,  0 where they agree or either is tied

    Parameters
    ----------
    difference, share : (pairs,) ndarray of float
        M(R) - M(R'), and the share y of votes for R.

    Returns
    -------
    (pairs,) ndarray of float in [0, 1]
    """
    largest = np.abs(difference).max(initial=0.0)
    opposed = difference * (share - 0.5) < 0
    return np.where(opposed, np.abs((2 * share - 1) * difference) / (largest or 1.0), 0.0)


def disagreement_rows(
    task: JudgedTask,
    measure: str,
    difference: Floats,
    texts: ShownTexts,
    *,
    most: int = MOST_PAIRS,
) -> list[Row]:
    """Return the pairs of a task on which a measure and the votes disagree most, the strongest first.

    Parameters
    ----------
    task : JudgedTask
        The preferences that count, of p pairs.
    measure : str
        Its name, for the rows.
    difference : (p,) ndarray of float
        Score of system_a less that of system_b.
    texts : ShownTexts
        What was to be read.
    most : int
        So many pairs at most; equal disagreements stand in the order of the pairs.
    """
    strength = disagreement(difference, task.share)
    order = np.argsort(-strength, kind="stable")[:most]
    pairs = task.pairs.to_dict("records")
    rows: list[Row] = []
    for rank, place in enumerate((place for place in order.tolist() if strength[place] > 0), start=1):
        pair = pairs[place]
        topic = pair["topic"]
        rows.append(
            {
                "task": task.task,
                "measure": measure,
                "rank": rank,
                "topic": topic,
                "topic_text": texts.topic(topic),
                **{name: pair[name] for name in PAIR},
                "vote_share": pair["vote_share"],
                "difference": difference[place],
                "disagreement": strength[place],
                "text_a": texts.side(topic, pair["system_a"]),
                "text_b": texts.side(topic, pair["system_b"]),
            }
        )
    return rows
