"""`prefcal rank`: which system people prefer."""

from typing import TYPE_CHECKING, Any

import click

from study_app.cli.output import (
    Number,
    Output,
    folder_option,
    format_option,
    same_answers_option,
    table_text,
    typed_options,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from calibration.rank.folder import Ranking


@click.command()
@click.argument("tables", type=click.Path())
@click.option("--task", metavar="TASK", help="Only this task of the study; else every task of pairs.")
@click.option(
    "--level",
    type=Number(min=0.5, max=1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Of every interval, and of all ranks of a task at once.",
)
@click.option(
    "--exclude",
    type=click.Choice(["rules", "none"]),
    default="rules",
    show_default=True,
    help="Leave out the workers that the study's rules exclude, or keep them.",
)
@same_answers_option
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=1,
    show_default=True,
    expose_value=False,
    help="Changes nothing: ranks need no random draw. Accepted as in the other commands.",
)
@format_option("What to print.")
@folder_option("Folder for ranking.csv, duels.csv, the figure and LaTeX.", path_type=str, required=False)
def rank(
    tables: str,
    *,
    task: str | None,
    level: float,
    exclude: str,
    same_answers: str,
    format_: str,
    folder: str | None,
) -> None:
    """Say which system people prefer, from the judgments in TABLES, a folder as prefcal export writes it.

    For every system it prints the win rate (the share of its duels that it wins, a tie as half a win, every topic and every opponent weighing
    the same), the worth (log odds of Davidson's model, with ties and an effect of the side), and the ranks that
    the judgments leave open. Systems that nobody can tell apart share a range of ranks.

    Intervals are over topics and people at once; over topics where nobody knows who judged. Where sides were not drawn by a study that
    prefcal served, the effect of the side is taken off (win_rate_raw is with it). docs/rank.md says what is assumed.
    """
    from calibration.rank.folder import write_ranking
    from calibration.rank.ranking import rank_systems
    from calibration.tables.files import tables_sha256
    from calibration.tables.study import read_study
    from study_app.cli.results.agree import check_folder
    from study_app.cli.tables.folder import read_with_warnings

    if folder is not None:
        check_folder(folder, tables)
    ranking = rank_systems(
        read_with_warnings(tables, for_votes=True),
        task=task,
        level=level,
        exclude=exclude == "rules",
        study=read_study(tables),
        same_answers=same_answers,  # type: ignore[arg-type]
        place=f"{tables}/preferences.csv",
    )
    below = [f"{task}: {sentence}" for task, sentence in ranking.too_few.items() if format_ == "table"]
    for note in ranking.notes:
        if not note.startswith(tuple(below)):  # it stands below the table
            click.echo(note, err=True)
    if folder is not None:
        context = click.get_current_context()
        command = ["prefcal", "rank", *typed_options(context, context.params)]
        record: dict[str, Any] = {"tables": tables, "tables_sha256": tables_sha256(tables)}
        write_ranking(
            ranking, folder, record | {"exclude": exclude, "same_answers": same_answers, "command": command}
        )
        _write_figures(ranking, folder)
    if format_ == "table":
        click.echo("\n\n".join(ranking_texts(ranking)))
        click.echo(f"\n{_how_sure(ranking)}")
    else:
        frame = ranking.ranking.astype(object)
        Output(format=format_).rows(list(frame.columns), frame.to_numpy().tolist())


def _how_sure(ranking: "Ranking") -> str:
    """Say what intervals and ranks promise, or that people or topics are too few for any."""
    tasks = len(ranking.ranking["task"].unique())
    lines = [
        f"{f'{task}: ' if tasks > 1 else ''}{sentence}. There are no intervals, and all ranks are left open."
        for task, sentence in ranking.too_few.items()
    ]
    if len(ranking.too_few) < tasks:
        lines.append(
            f"Intervals are over {ranking.samples}. At {100 * ranking.level:.4g} % the ranks of all systems of a task are right at once:"
            " systems that cannot be told apart share a range."
        )
    return "\n".join(lines)


def ranking_texts(ranking: "Ranking") -> "Iterator[str]":
    """Yield the ranking of every task as a table for people."""
    share = f"{100 * ranking.level:.4g} %"
    for task, rows in ranking.ranking.groupby("task", sort=False):
        columns = ["system", "topics", "judgments", "win rate", share, "worth", share, "rank"]
        yield f"Task {task}\n\n{table_text(columns, [_cells(row) for _, row in rows.iterrows()])}".rstrip(
            "\n"
        )


def _cells(row: "pd.Series[Any]") -> list[str]:
    from calibration.rank.folder import ranks_in_words
    from study_app.cli.results.agree_table import interval, number

    return [
        row["system"],
        f"{row['topics']:,}",
        f"{row['judgments']:,}",
        number(row["win_rate"]),
        interval(row["win_low"], row["win_high"]),
        number(row["worth"]),
        interval(row["worth_low"], row["worth_high"]),
        ranks_in_words(row["rank_low"], row["rank_high"]),
    ]


def _write_figures(ranking: "Ranking", folder: str) -> None:
    """Write figure and tables of every task beside the CSV files."""
    from study_app.report.build import write_section
    from study_app.report.parts.ranking import ranking_sections

    for section in ranking_sections(ranking):
        write_section(section, folder)
