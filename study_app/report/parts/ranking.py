"""Ranking of systems by preferences: win rates, worths, ranks and duels."""

import re
from collections.abc import Iterable, Iterator
from functools import partial

import pandas as pd

from calibration.rank.folder import GRADED, NO_GRADED_WORTHS, Ranking, best_in_words, ranks_in_words
from metrics.errors import join_names
from study_app.report.drawing.figures import CurveMark, rows_with_intervals
from study_app.report.page import (
    NARROW,
    Column,
    Figure,
    ReportTable,
    Section,
    decimal,
    decimal_interval,
    p_value,
    percent,
    percent_interval,
    pluralise,
    to_table,
)

QUESTION = "Which system do people prefer"
MAX_DUELS = 45
"""Couples of systems that the page lists; duels.csv has all."""
MAX_TOPICS = 40
"""Most topics in the figure, where each is ranked for itself."""
UNTOLD = "A dotted row has no interval: topics are all alike, or they or people are too few. That is not certainty."


def ranking_sections(ranking: Ranking | None) -> Iterator[Section]:
    """Yield a section for each task that was ranked."""
    if ranking is None:
        return
    if ranking.is_of_topics:
        yield _best_of_topics(ranking)
        return
    tasks = list(ranking.ranking.groupby("task", sort=False))
    for number, (task, rows) in enumerate(tasks):
        key = f"ranking-{number + 1}" if number else "ranking"
        met = ranking.duels[ranking.duels["task"] == task]
        yield Section(
            key=key,
            title=_title(ranking, str(task), rows),
            short="Systems" if len(tasks) == 1 else f"Systems, {task}",
            paragraphs=tuple(_paragraphs(ranking, str(task), rows, met)),
            figures=(_figure(ranking, str(task), rows, key),),
            tables=tuple(_tables(ranking, rows, met, key)),
        )


def _best_of_topics(ranking: Ranking) -> Section:
    """Return the section of topics that were ranked each for itself: the best of each."""
    best = ranking.best()
    several = len(set(best["task"])) > 1
    best["ranking"] = best["task"] + ", " + best["topic"] if several else best["topic"]
    plotted = best.head(MAX_TOPICS)
    marks = [
        CurveMark(
            label=f"{row['ranking']}: {row['system']}",
            value=row["win_rate"],
            low=row["win_low"],
            high=row["win_high"],
            sign="o",
        )
        for row in plotted.to_dict("records")
    ]
    may_be = [
        f"{few} of {all_}" for few, all_ in zip(plotted["may_be_first"], plotted["systems"], strict=True)
    ]
    title = best_in_words(best).removesuffix(".")
    columns: tuple[Column, ...] = (
        ("topic", str, "ranking"),
        ("best", str, "system"),
        ("win rate", percent, "win_rate"),
        (f"its {_level(ranking)}", percent_interval, "win_low", "win_high"),
        ("may be the best", str, "may_be_first"),
        ("of", str, "systems"),
        ("judgments", str, "judgments"),
    )
    counted = (
        f"{pluralise(int(ranking.duels['judgments'].sum()), 'judgment')} of {pluralise(len(best), 'topic')}, each ranked for itself."
        " A win rate is the share of duels that an item wins, a tie as half a win; every opponent weighs the same. Topics are fixed, and"
        f" intervals are over people. At {_level(ranking)} the ranks of all items of a topic are right at once."
    )
    return Section(
        key="ranking",
        title=title,
        short="Best of each topic",
        paragraphs=(
            *filter(None, [ranking.about]),
            counted,
            *_sentences(ranking, ranking.notes),
        ),
        figures=(
            Figure(
                name="ranking",
                title=title,
                wide=True,
                draw=partial(
                    rows_with_intervals,
                    marks=marks,
                    label="win rate",
                    ranks=may_be,
                    ranks_label="may be best",
                ),
                alt=f"Win rate of the best item of each topic, and how many may be the best: {'; '.join(mark.label for mark in marks)}.",
                caption=(
                    f"The best item of each topic: win rate with its {_level(ranking)} interval over people; on the right how many items may"
                    " be the best. Dashed: one half, as often preferred as not."
                    + (f" {UNTOLD}" if plotted["win_low"].isna().any() else "")
                    + (f" The first {MAX_TOPICS} of {len(best)} topics." if len(best) > MAX_TOPICS else "")
                ),
            ),
        ),
        tables=(to_table("ranking", "The best of each topic", best, columns, for_papers=True),),
    )


def _title(ranking: Ranking, task: str, rows: pd.DataFrame) -> str:
    """Return the answer about a task."""
    best = ranking.best_systems.get(task)
    return best.sentence(ranking.level) if best else preferred(ranking, task, rows)


def preferred(ranking: Ranking, task: str, rows: pd.DataFrame) -> str:
    """Return the systems of a task that may be the best, with the win rate, or worth, of a sole one.

    With too few people or topics it returns that remark.
    """
    too_few = ranking.too_few.get(task)
    if too_few:
        return f"{too_few[:1].upper()}{too_few[1:]}"
    if ranking.ordinal and rows["worth"].isna().all():
        return NO_GRADED_WORTHS
    first = rows[rows["rank_low"] == 1]
    best = rows.iloc[0]
    if len(first) == 1 and ranking.ordinal:
        worth = f"{decimal(best['worth'])} ({decimal_interval(best['worth_low'], best['worth_high'])})"
        return f"{best['system']} is first: its worth by graded answers is {worth}"
    if len(first) == 1:
        rate = f"{percent(best['win_rate'])} ({percent_interval(best['win_low'], best['win_high'])})"
        return f"{best['system']} is first: its win rate is {rate}"
    if len(first) == len(rows):
        return f"These judgments do not tell: any of {pluralise(len(rows), 'system')} may be the first"
    return f"One of {join_names(first['system'].tolist(), most=4)}: each of these may be the first of {len(rows)}"


def _paragraphs(ranking: Ranking, task: str, rows: pd.DataFrame, met: pd.DataFrame) -> Iterator[str]:
    yield from filter(None, [ranking.about])
    counts = (
        f"{judgments_in_words(rows, met)}. A win rate is the share of duels that a system wins, a tie as half a win;"
        " every topic and every opponent weighs the same."
    )
    if ranking.ordinal:
        counts += f" {GRADED}"
    if task in ranking.too_few:
        yield counts
    else:
        yield (
            f"{counts} Intervals are over {ranking.samples}. At {_level(ranking)} the ranks of all systems are right at once:"
            " systems that these judgments cannot distinguish share a range."
        )
    yield from notes_of(ranking, task)


def judgments_in_words(rows: pd.DataFrame, met: pd.DataFrame) -> str:
    """Return the number of judgments of a ranking, in words."""
    judgments = pluralise(int(met["judgments"].sum()), "judgment")
    return f"{judgments} of {pluralise(len(rows), 'system')}, on up to {pluralise(int(rows['topics'].max()), 'topic')}"


def notes_of(ranking: Ranking, task: str) -> list[str]:
    """Return the notes on the ranks of a task, one sentence each."""
    notes = (note.removeprefix(f"{task}: ") for note in ranking.notes if note.startswith(f"{task}: "))
    return _sentences(ranking, notes)


def _sentences(ranking: Ranking, notes: Iterable[str]) -> list[str]:
    """Return notes as sentences with a capital, but where they begin with the name of a system or ranking."""
    names = {str(name) for column in ("task", "topic", "system") for name in ranking.ranking.get(column, ())}
    is_named = re.compile(rf"(?:{'|'.join(map(re.escape, names))})(?!\w)").match
    return [f"{note if is_named(note) else note[:1].upper() + note[1:]}." for note in notes]


def _level(ranking: Ranking) -> str:
    return f"{100 * ranking.level:.4g}{NARROW}%"


def _figure(ranking: Ranking, task: str, rows: pd.DataFrame, key: str) -> Figure:
    of_worths = ranking.ordinal and bool(rows["worth"].notna().all())
    value, low, high = (
        ("worth", "worth_low", "worth_high") if of_worths else ("win_rate", "win_low", "win_high")
    )
    marks = [
        CurveMark(label=row["system"], value=row[value], low=row[low], high=row[high], sign="o")
        for row in rows.to_dict("records")
    ]
    ranks = list(map(ranks_in_words, rows["rank_low"], rows["rank_high"]))
    what, number, interval = (
        ("Worth", decimal, decimal_interval) if of_worths else ("Win rate", percent, percent_interval)
    )
    caption = (
        f"{mark.label} {number(mark.value)} ({interval(mark.low, mark.high)}), rank {rank}"
        for mark, rank in zip(marks, ranks, strict=True)
    )
    return Figure(
        name=key,
        title=_title(ranking, task, rows),
        wide=True,
        draw=partial(
            rows_with_intervals,
            marks=marks,
            label="worth (log odds)" if of_worths else "win rate",
            ranks=ranks,
            of_worths=of_worths,
        ),
        alt=f"{what} of each system, and its ranks: {'; '.join(caption)}.",
        caption=(
            f"{what} with its {_level(ranking)} interval over {ranking.samples}; on the right the ranks that are left"
            f" open. Dashed: {'the mean system' if of_worths else 'one half, as often preferred as not'}."
            + (f" {UNTOLD}" if rows[low].isna().any() else "")
        ),
    )


def _tables(ranking: Ranking, rows: pd.DataFrame, met: pd.DataFrame, key: str) -> Iterator[ReportTable]:
    level = _level(ranking)
    systems: tuple[Column, ...] = (
        ("system", str, "system"),
        ("rank", ranks_in_words, "rank_low", "rank_high"),
        ("win rate", percent, "win_rate"),
        (f"its {level}", percent_interval, "win_low", "win_high"),
        ("worth", decimal, "worth"),
        (f"{level} of it", decimal_interval, "worth_low", "worth_high"),
        ("topics", str, "topics"),
        ("judgments", str, "judgments"),
    )
    model = "a cumulative-link model of graded answers" if ranking.ordinal else "Davidson’s model with ties"
    note = (
        f"Worth: log odds of being preferred, by {model} and an effect of the side, over all judgments;"
        " all worths add up to 0."
    )
    yield to_table(key, "Systems, the best first", rows, systems, note=note, for_papers=True)
    duels: tuple[Column, ...] = (
        ("first", str, "system_a"),
        ("second", str, "system_b"),
        ("share of the first", percent, "share_a"),
        (level, percent_interval, "low", "high"),
        ("p", p_value, "p"),
        ("p Holm", p_value, "p_holm"),
        ("judgments", str, "judgments"),
    )
    if len(met) <= MAX_DUELS:
        note = "Share: mean over topics, a tie as half a win. p: of a share of one half; Holm’s p is over all duels."
        caption = "Duels: every two systems that were compared"
        yield to_table(key.replace("ranking", "duels"), caption, met, duels, note=note, for_papers=True)
