"""`prefcal rank`: which system people prefer."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from metrics.errors import join_names
from metrics.files import relative_path
from study_app.cli.options import (
    FiniteFloat,
    assist_option,
    by_option,
    exclude_option,
    option,
    output_folder,
    same_answers_option,
    seed_option,
    typed_options,
    with_options,
)
from study_app.cli.output import Printed, table_text, wrapped

if TYPE_CHECKING:
    import pandas as pd

    from calibration.rank.folder import Ranking


MAX_TOPICS = 40
"""Topics whose best system is printed; ranking.csv has all."""


@dataclass(frozen=True, kw_only=True)
class RankOptions:
    """Options of a ranking."""

    task: str | None = option(
        metavar="TASK", help="Only this task of the study; by default every task of pairs."
    )
    within: str | None = option(
        type=click.Choice(["topic"]),
        help="Rank the systems or items of each topic for itself, with intervals over people: for tasks with one topic, or whose items"
        " belong to one topic each, such as passages and arguments.",
    )
    raters: str | None = option(
        metavar="NAME",
        help="Rank by the verdicts of this judge, a language model or a rule in TABLES, in place of people's answers. Is printed only.",
    )
    ordinal: bool = option(
        help="Take worths and ranks from the strength of graded answers (column strength), by a cumulative-link model."
    )
    level: float = option(
        type=FiniteFloat(min=0.5, max=1, min_open=True, max_open=True),
        default=0.95,
        help="Confidence level of the intervals, and of all ranks of a task together.",
    )
    exclude: str = exclude_option()
    by: str | None = by_option()
    same_answers: str = same_answers_option()
    assist: str | None = assist_option("win rates, and differences from the best,")
    seed: int = seed_option(
        "Changes nothing, since ranks need no random draw; accepted as in other commands."
    )


@click.command()
@click.argument("tables", type=click.Path())
@with_options(choices=RankOptions, printed=Printed)
@output_folder("Folder for ranking.csv, duels.csv, the figure and LaTeX.", required=False)
def rank(tables: str, output: Path | None, *, choices: RankOptions, printed: Printed) -> None:
    """Rank systems by the judgments of people in TABLES.

    TABLES is a folder as prefcal export writes it. For every system it prints the win rate (the share of its duels that it wins, a tie as half a win, every topic and every opponent weighing
    the same) and the ranks that the judgments leave open; systems that cannot be distinguished share a range. ranking.csv (-o DIR) has the
    worth too: log odds of Davidson's model, with ties and an effect of the side.

    Intervals are over topics and people at once; over topics alone where who judged is not known. Where sides were not drawn by a study that
    prefcal served, the effect of the side is taken off (win_rate_raw is with it). docs/rank.md says what is assumed.

    With --within topic it prints the best of every topic, and how many may be the best.
    """
    from calibration.judges.assist import verdicts_by
    from calibration.rank.folder import write_ranking
    from calibration.rank.ranking import rank_by_judge, rank_systems
    from calibration.tables.files import tables_sha256
    from calibration.tables.study_json import read_study
    from study_app.cli.results.agree import check_folder
    from study_app.cli.tables.folder import read_with_verdicts

    if choices.raters is not None and ({output, choices.within, choices.assist} != {None} or choices.ordinal):
        raise click.UsageError(
            "--raters prints a table, and cannot be used with -o, --within, --assist or --ordinal"
        )
    if choices.ordinal and choices.within is not None:
        raise click.UsageError("--ordinal ranks over topics, and cannot be used with --within")
    if output is not None:
        check_folder(output, tables)
    people, verdicts = read_with_verdicts(tables, for_votes=True, by=choices.by)
    if choices.raters is not None:
        place = f"{tables}/preferences.csv"
        by_judge = rank_by_judge(
            verdicts, choices.raters, task=choices.task, level=choices.level, place=place
        )
        _print(replace(by_judge, by=choices.by), printed, None)
        return
    ranking = rank_systems(
        people,
        task=choices.task,
        within=choices.within,  # type: ignore[arg-type]
        level=choices.level,
        exclude=choices.exclude == "rules",
        study=read_study(tables),
        same_answers=choices.same_answers,  # type: ignore[arg-type]
        assist=None if choices.assist is None else verdicts_by(choices.assist, verdicts),
        ordinal=choices.ordinal,
        place=f"{tables}/preferences.csv",
    )
    ranking = replace(ranking, by=choices.by)
    if output is not None:
        context = click.get_current_context()
        values = {name: value for name, value in context.params.items() if name != "seed"}
        record: dict[str, Any] = {
            "tables": relative_path(tables, output),
            "tables_sha256": tables_sha256(tables),
            "exclude": choices.exclude,
            "same_answers": choices.same_answers,
            "assist": choices.assist,
            "command": ["prefcal", "rank", *typed_options(context, values)],
        }
        write_ranking(ranking, output, record)
        _write_figures(ranking, output)
    _print(ranking, printed, output)


def _print(ranking: "Ranking", printed: Printed, folder: Path | None) -> None:
    """Print a ranking, and on stderr what to know of it."""
    if printed.is_for_people:
        click.echo("\n".join(ranking_lines(ranking, folder)))
    else:
        frame = ranking.ranking.astype(object)
        printed.rows(list(frame.columns), frame.to_numpy().tolist())
    is_answer = printed.is_for_people and not ranking.is_of_topics
    answers = [f"{task}: {sentence}" for task, sentence in ranking.too_few.items() if is_answer]
    if not printed.is_for_people:
        for sentence in filter(None, (ranking.whose, ranking.about)):
            click.echo(sentence, err=True)
    for note in ranking.notes:
        if not note.startswith(tuple(answers)):  # it is the answer
            click.echo(note, err=True)


def ranking_lines(ranking: "Ranking", folder: Path | None) -> Iterator[str]:
    """Yield the answer and a table for every task, then how to read them."""
    from calibration.rank.folder import ASSISTED, GRADED
    from study_app.cli.results.assisted_text import assisted_lines

    share = f"{100 * ranking.level:.4g} %"
    for sentence in filter(None, (ranking.whose, ranking.about)):
        yield wrapped(sentence)
    if ranking.is_of_topics:
        yield from _lines_within(ranking, share)
        where = f"in {folder}" if folder else "with -o DIR"
        yield f"All ranks, worths and duels of each topic: ranking.csv and duels.csv {where}."
        return
    tasks = list(ranking.ranking.groupby("task", sort=False))
    for task, rows in tasks:
        if len(tasks) > 1:
            yield f"Task {task}"
        best = ranking.best_systems.get(str(task))
        answer = (
            f"{best.sentence(ranking.level)}."
            if best
            else _answer(rows, ranking.too_few.get(str(task)), share, ordinal=ranking.ordinal)
        )
        yield f"{wrapped(answer)}\n"
        columns = ["worth", share, "win rate"] if ranking.ordinal else ["win rate", share]
        cells = [_cells(row, ordinal=ranking.ordinal) for _, row in rows.iterrows()]
        yield table_text(["rank", "system", *columns], cells)
    rows = ranking.ranking
    judged = f"{ranking.duels['judgments'].sum():,} judgments"
    if len(ranking.too_few) < len(tasks):
        yield wrapped(
            f"{judged}; intervals are over {ranking.samples}. At {share} all ranks of a task are right at once."
        )
    else:
        yield f"{judged}; no intervals, and all ranks are open."
    if ranking.ordinal:
        yield wrapped(f"{GRADED} Win rates and duels count the choice alone.")
    if ranking.whose is not None:
        return
    where = f"in {folder}" if folder else "with -o DIR"
    for task, assisted in ranking.assisted.groupby("task", sort=False):
        yield f"\nTask {task}" if len(tasks) > 1 else ""
        yield from assisted_lines(assisted, "system", level=ranking.level, file=f"{ASSISTED} {where}")
        yield ""
    yield f"Worths and duels: ranking.csv and duels.csv {where}."


def _lines_within(ranking: "Ranking", share: str) -> Iterator[str]:
    """Yield how many topics have a best system, and the best of each."""
    from calibration.rank.folder import best_in_words, ranks_in_words
    from study_app.cli.results.agree_table import percent, percent_range

    best = ranking.best()
    several = len(set(best["task"])) > 1
    yield f"{wrapped(best_in_words(best))}\n"
    yield table_text(
        ["topic", "best", "win rate", share, "its rank", "may be the best"],
        [
            [
                f"{row['task']}, {row['topic']}" if several else row["topic"],
                row["system"],
                percent(row["win_rate"], 0),
                percent_range(row["win_low"], row["win_high"], 0),
                ranks_in_words(row["rank_low"], row["rank_high"]),
                "it alone" if row["may_be_first"] == 1 else f"{row['may_be_first']} of {row['systems']}",
            ]
            for _, row in best.head(MAX_TOPICS).iterrows()
        ],
    )
    if len(best) > MAX_TOPICS:
        yield f"and {len(best) - MAX_TOPICS:,} more topics"
    judged = f"{ranking.duels['judgments'].sum():,} judgments"
    if best["win_low"].isna().all():
        yield f"{judged}; no intervals, and all ranks are open."
        return
    yield wrapped(
        f"{judged}; topics are fixed, and intervals are over {ranking.samples}. At {share} all ranks of a topic are right at once."
    )


def _answer(rows: "pd.DataFrame", too_few: str | None, level: str, *, ordinal: bool) -> str:
    """Return the preferred system, or why it is unknown."""
    from calibration.rank.folder import NO_GRADED_WORTHS
    from study_app.cli.results.agree_table import percent, percent_range

    if too_few:
        return f"{too_few[:1].upper()}{too_few[1:]}."
    if ordinal and rows["worth"].isna().all():
        return f"{NO_GRADED_WORTHS}."
    best, first = rows.iloc[0], rows.loc[rows["rank_low"] == 1, "system"].tolist()
    if ordinal:
        lead = f"{best['system']} has the highest worth by graded answers, {_worth(best)}"
    else:
        rate = f"{percent(best['win_rate'], 0)} of its comparisons"
        lead = f"{best['system']} wins {rate} ({percent_range(best['win_low'], best['win_high'], 0)})"
    if len(first) == 1:
        return f"{lead}; it is first ({level} confidence)."
    if len(first) == len(rows):
        return f"These judgments do not tell which is first: any of {len(rows)} systems may be ({level} confidence)."
    return f"{lead}; the first is one of {join_names(first)} ({level} confidence)."


def _worth(row: "pd.Series[Any]") -> str:
    """Format a worth with its interval."""
    return f"{row['worth']:+.2f} ({_worth_range(row)})"


def _worth_range(row: "pd.Series[Any]") -> str:
    from study_app.cli.results.agree_table import NO_INTERVAL

    low, high = row["worth_low"], row["worth_high"]
    return NO_INTERVAL if low != low else f"{low:+.2f} to {high:+.2f}"  # noqa: PLR0124 - NaN


def _cells(row: "pd.Series[Any]", *, ordinal: bool) -> list[str]:
    from calibration.rank.folder import ranks_in_words
    from study_app.cli.results.agree_table import NONE, percent, percent_range

    rate = percent(row["win_rate"], 0)
    own = (
        [NONE if row["worth"] != row["worth"] else f"{row['worth']:+.2f}", _worth_range(row), rate]
        if ordinal
        else [rate, percent_range(row["win_low"], row["win_high"], 0)]
    )
    return [ranks_in_words(row["rank_low"], row["rank_high"]), row["system"], *own]


def _write_figures(ranking: "Ranking", folder: Path) -> None:
    """Write figure and tables of every task beside the CSV files."""
    from study_app.report.build import write_section
    from study_app.report.parts.ranking import ranking_sections

    for section in ranking_sections(ranking):
        write_section(section, folder)
