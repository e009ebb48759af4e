"""Which system people prefer: win rates, worths, ranks and duels, as `prefcal rank` or `prefcal agree` wrote them."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import pandas as pd

from calibration.rank.folder import Ranking, ranks_in_words
from metrics.errors import listed
from study_app.report.drawing.figures import Mark
from study_app.report.drawing.ranking_figures import win_rate_rows
from study_app.report.page import (
    NARROW,
    Figure,
    ReportTable,
    Section,
    counted,
    decimal,
    decimal_interval,
    p_value,
    percent,
    percent_interval,
)

QUESTION = "Which system do people prefer"
MOST_DUELS = 45
"""Couples of systems that the page lists; duels.csv has all."""
UNTOLD = "A dotted row has no interval: topics are all alike, or they or people are too few. That is not certainty."


def ranking_sections(ranking: Ranking | None) -> Iterator[Section]:
    """Yield a section for each task that was ranked."""
    if ranking is None:
        return
    tasks = list(ranking.ranking.groupby("task", sort=False))
    for number, (task, rows) in enumerate(tasks):
        key = f"ranking-{number + 1}" if number else "ranking"
        met = ranking.duels[ranking.duels["task"] == task]
        question = QUESTION if len(tasks) == 1 else f"{QUESTION}, task {task}"
        yield Section(
            key=key,
            title=f"{question}? {preferred(rows, ranking.too_few.get(str(task)))}",
            short=QUESTION if len(tasks) == 1 else f"{QUESTION}, {task}",
            paragraphs=tuple(_paragraphs(ranking, str(task), rows, met)),
            figures=(_figure(ranking, str(task), rows, key, question),),
            tables=tuple(_tables(rows, met, ranking.level, key)),
        )


def preferred(rows: pd.DataFrame, too_few: str | None = None) -> str:
    """Say which systems may be the first, with the win rate of the one that is; where people or topics are too few, say that."""
    if too_few:
        return f"{too_few[:1].upper()}{too_few[1:]}"
    first = rows[rows["rank_low"] == 1]
    best = rows.iloc[0]
    if len(first) == 1:
        rate = f"{percent(best['win_rate'])} ({percent_interval(best['win_low'], best['win_high'])})"
        return f"{best['system']}: its win rate is {rate}"
    if len(first) == len(rows):
        return f"These judgments do not tell: any of {counted(len(rows), 'system')} may be the first"
    return f"One of {listed(first['system'].tolist(), most=4)}: each of these may be the first of {len(rows)}"


def ranking_summary(ranking: Ranking | None) -> Iterator[str]:
    """Yield one sentence a task for the top of the page."""
    if ranking is None:
        return
    tasks = list(ranking.ranking.groupby("task", sort=False))
    for task, rows in tasks:
        of_task = f", task {task}" if len(tasks) > 1 else ""
        yield f"{QUESTION}{of_task}? {preferred(rows, ranking.too_few.get(str(task)))}."


def _paragraphs(ranking: Ranking, task: str, rows: pd.DataFrame, met: pd.DataFrame) -> Iterator[str]:
    judgments = int(met["judgments"].sum())
    counts = (
        f"{counted(judgments, 'judgment')} of {counted(len(rows), 'system')}, on up to"
        f" {counted(int(rows['topics'].max()), 'topic')}. A win rate is the share of duels that a system wins, a tie as half a win;"
        " every topic and every opponent weighs the same."
    )
    if task in ranking.too_few:
        yield counts
    else:
        yield (
            f"{counts} Intervals are over {ranking.samples}. At {_level(ranking.level)} the ranks of all systems are right at once:"
            " systems that these judgments cannot tell apart share a range."
        )
    yield from (
        f"{note[:1].upper()}{note[1:]}."
        for note in (one.removeprefix(f"{task}: ") for one in ranking.notes if one.startswith(f"{task}: "))
    )


def _level(level: float) -> str:
    return f"{100 * level:.4g}{NARROW}%"


def _figure(ranking: Ranking, task: str, rows: pd.DataFrame, key: str, question: str) -> Figure:
    marks = [
        Mark(label=row["system"], value=row["win_rate"], low=row["win_low"], high=row["win_high"], sign="o")
        for row in rows.to_dict("records")
    ]
    ranks = [ranks_in_words(row["rank_low"], row["rank_high"]) for row in rows.to_dict("records")]
    return Figure(
        name=key,
        title=f"{question}? {preferred(rows, ranking.too_few.get(task))}",
        wide=True,
        draw=partial(win_rate_rows, marks=marks, ranks=ranks),
        alt="Win rate of each system, and its ranks: "
        + "; ".join(
            f"{mark.label} {percent(mark.value)} ({percent_interval(mark.low, mark.high)}), rank {rank}"
            for mark, rank in zip(marks, ranks, strict=True)
        )
        + ".",
        caption=(
            f"Win rate with its {_level(ranking.level)} interval over {ranking.samples}; on the right the ranks that are left"
            " open. Dashed: one half, as often preferred as not."
            + (f" {UNTOLD}" if rows["win_low"].isna().any() else "")
        ),
    )


def _tables(rows: pd.DataFrame, met: pd.DataFrame, level: float, key: str) -> Iterator[ReportTable]:
    share = _level(level)
    yield ReportTable(
        name=key,
        caption="Systems, the best first",
        columns=(
            "system",
            "rank",
            "win rate",
            f"its {share}",
            "worth",
            f"{share} of it",
            "topics",
            "judgments",
        ),
        rows=tuple(_system_row(row) for row in rows.to_dict("records")),
        note="Worth: log odds of being preferred, by Davidson’s model with ties and an effect of the side, over all judgments;"
        " all worths add up to 0.",
        text_columns=frozenset({0, 1}),
    )
    if len(met) <= MOST_DUELS:
        yield ReportTable(
            name=key.replace("ranking", "duels"),
            caption="Duels: every two systems that were compared",
            columns=("first", "second", "share of the first", share, "p", "p Holm", "judgments"),
            rows=tuple(_duel_row(row) for row in met.to_dict("records")),
            note="Share: mean over topics, a tie as half a win. p: of a share of one half; Holm’s p is over all duels.",
            text_columns=frozenset({0, 1}),
        )


def _system_row(row: dict[str, Any]) -> tuple[str, ...]:
    return (
        row["system"],
        ranks_in_words(row["rank_low"], row["rank_high"]),
        percent(row["win_rate"]),
        percent_interval(row["win_low"], row["win_high"]),
        decimal(row["worth"]),
        decimal_interval(row["worth_low"], row["worth_high"]),
        str(row["topics"]),
        str(row["judgments"]),
    )


def _duel_row(row: dict[str, Any]) -> tuple[str, ...]:
    return (
        row["system_a"],
        row["system_b"],
        percent(row["share_a"]),
        percent_interval(row["low"], row["high"]),
        p_value(row["p"]),
        p_value(row["p_holm"]),
        str(row["judgments"]),
    )
