"""The report's tables on streams: every system by every measure, and for whom it is best."""

import numpy as np

from study_app.report.page import Table
from study_app.report.parts.fit_titles import lasting
from study_app.report.stream_scores import AWAY_SECONDS, LATENESSES, SESSION_SECONDS, PushScores, StreamScores
from study_app.report.wording import quantity

PUSH_COLUMNS = ("ELG-1", "ELG-0", "nCG-1", "nCG-0", "T11U", "silence-precision", "silence-recall")


def system_table(scores: StreamScores, task: str, key: str) -> Table:
    """Return MSU and ELG of every system, and the people for whom it is best (Table 3 of the stream paper).

    Raises
    ------
    TypeError
        If the streams have no form of updates.
    """
    scored, sweep = scores.updates, scores.sweep
    if scored is None or sweep is None:
        raise TypeError("there are no updates")
    ranks = {name: _ranks(scored.overall[name]) for name in ("ELG", "MSU", "MSU/s")}
    rows = []
    for system in np.argsort(ranks["ELG"], kind="stable"):
        best, (away, session, lateness) = sweep.best(int(system))
        values = {name: scored.overall[name][system] for name in ("updates", "ELG", "MSU", "MSU/s")}
        rows.append(
            (
                scored.systems[system],
                quantity(values["updates"]),
                f"{quantity(values['ELG'])} ({ranks['ELG'][system]})",
                f"{quantity(values['MSU'])} ({ranks['MSU'][system]})",
                f"{quantity(values['MSU/s'])} ({ranks['MSU/s'][system]})",
                str(best),
                lasting(AWAY_SECONDS[away]),
                lasting(SESSION_SECONDS[session]),
                f"{LATENESSES[lateness]:g}",
            )
        )
    return Table(
        name=f"{key}-systems",
        caption=f"Systems of {task} by ELG and by MSU, and the people for whom each is best"
        + (" (converted)" if scores.updates_converted else ""),
        columns=("System", "Updates", "ELG", "MSU", "MSU/s", "Best rank", "Away", "Visit", "L"),
        rows=tuple(rows),
        note=(
            "Ranks in brackets. Updates: mean over topics. Best rank: over all populations that were tried; of several"
            " that give it, the one of highest MSU: mean time away, mean visit, worth of a nugget one visit late."
        ),
    )


def push_table(pushes: PushScores, task: str, key: str) -> Table:
    """Return every system by every push measure."""
    scored = pushes.scored
    rows = tuple(
        (name, *(quantity(scored.overall[column][number]) for column in PUSH_COLUMNS))
        for number, name in enumerate(scored.systems)
    )
    return Table(
        name=f"{key}-push",
        caption=f"Systems of {task} by the measures of push notifications"
        + (" (converted)" if pushes.converted else ""),
        columns=("System", *PUSH_COLUMNS),
        rows=rows,
        note="T11U at α = 0.66, summed over days. A dash: the system is never quiet, or no day is silent.",
    )


def _ranks(values: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> list[int]:
    """Return each value's rank from 1, the largest first; equal values share the better rank."""
    return [1 + int((values > value).sum()) for value in values]
