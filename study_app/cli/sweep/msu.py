"""`prefcal sweep msu`: MSU for every population of a grid, by one process or many."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from metrics.errors import input_fault, join_names, pluralise
from metrics.files import write_atomically
from study_app.cli.options import ComputeOptions, option, output_folder, seed_option, with_options
from study_app.cli.progress import shown_progress
from study_app.cli.score.durations import decay, duration, multiple
from study_app.cli.score.events import DEFAULT_USERS, EventOptions, lengths_option, read_update_runs

if TYPE_CHECKING:
    from metrics.sweep.parts import SweepGrid
    from metrics.sweep.result import MSUSweep
    from metrics.sweep.sweep import Part, SweepPlan
    from metrics.sweep.tables import ReferenceMeasure

SHOWN = 10
Numbers = tuple[float, ...]


def _list_of(read: Callable[[str], float]) -> Callable[[str], Numbers]:
    """Return a parser of values separated by commas.

    Other text is wrong usage.
    """

    def numbers(text: str) -> Numbers:
        return tuple(read(part.strip()) for part in text.split(","))

    return numbers


@dataclass(frozen=True, kw_only=True)
class SweepOptions:
    """Options of a sweep."""

    lengths: str | None = lengths_option()
    preset: str | None = option(
        type=click.Choice(["paper"]), help="The 2,646 points of the MSU paper; explicit lists win."
    )
    away: Numbers | None = option(
        type=_list_of(duration), metavar="M,...", help="Mean times away, like 30m,1h,3h."
    )
    session: Numbers | None = option(
        type=_list_of(duration), metavar="M,...", help="Mean session lengths, like 30s,2m."
    )
    spread: Numbers | None = option(
        type=_list_of(multiple),
        metavar="R,...",
        help="Standard deviations over users, in multiples of the mean.  [default: 0.5,1,2]",
    )
    lateness: Numbers | None = option(
        type=_list_of(decay),
        metavar="L,...",
        help="Worth of a nugget one visit late.  [default: 0,0.1,0.25,0.5,0.75,0.9,1]",
    )
    users: int = option(
        type=click.IntRange(min=1),
        default=DEFAULT_USERS,
        metavar="N",
        help="Number of simulated users of each population.",
    )
    seed: int = seed_option(
        "Random seed of the users, the same for every population: as prefcal score msu --seed."
    )
    scores: str | None = option(
        metavar="FILE",
        help="Other measures of the runs to compare MSU with, besides ELG and LC: a CSV with run and a column per measure, or run,topic,metric,value.",
    )
    like: str | None = option(
        metavar="FILE",
        help="Scores by another measure, likewise: list the populations for whom MSU ranks the runs as it does. Needs --column.",
    )
    column: str | None = option(metavar="NAME", help="Measure of --like.")


@click.command("msu")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@with_options(files=EventOptions, choices=SweepOptions, engine=ComputeOptions)
@output_folder("Folder for the results; a sweep that was stopped goes on there.")
def msu(
    runs: tuple[str, ...],
    output: Path,
    *,
    files: EventOptions,
    choices: SweepOptions,
    engine: ComputeOptions,
) -> None:
    """Score runs by MSU for every population of a grid, and compare the rankings.

    Each is compared with those by ELG, LC and others. Writes into DIR: sweep.parquet, a row per point and run; best.csv, who is best for whom; correlation.csv, how alike MSU and other
    measures rank the runs at each point; report.html and its figures. Stopped in any way, the same command goes on where it was.
    """
    from metrics.readers.score_rows import read_score_rows
    from metrics.readers.tempsum import read_lengths
    from metrics.sweep.sweep import sweep_msu
    from metrics.sweep.tables import references

    folder, scores, like = output, choices.scores, choices.like
    _check_owner(folder)
    grid = _grid(choices)
    if (like is None) != (choices.column is None):
        raise click.UsageError("--like FILE and --column NAME go together")
    judged = files.read()
    words = None if choices.lengths is None else read_lengths(choices.lengths, judged.topics)
    systems = read_update_runs(runs, judged, words)
    names = [run.name for run in systems]
    reference = None if like is None else _reference(like, str(choices.column), names, list(judged.topics))
    further = None if scores is None else read_score_rows(scores)
    if further is not None:
        references(further, names, list(judged.topics), path=str(scores))  # names what the file lacks
    watched = _Progress()
    try:
        result = sweep_msu(
            judged,
            systems,
            folder,
            grid=grid,
            users=choices.users,
            seed=choices.seed,
            lengths=words,
            scores=further,
            jobs=engine.jobs,
            scheduler=engine.scheduler,
            watch=watched,
        )
    except KeyboardInterrupt:
        watched.say_stopped(folder)
        raise SystemExit(130) from None
    click.echo(result.summary())
    if reference is not None:
        _say_like(result, reference, str(like))
    from study_app.report.build import write_report  # with all that draws, after the computation

    click.echo(write_report(folder, tell=partial(click.echo, err=True)))


def _check_owner(folder: Path) -> None:
    """Refuse to overwrite a file that prefcal did not write.

    It raises `InputError` before anything is computed.
    """
    from metrics.sweep.parts import MANIFEST
    from metrics.sweep.tables import BEST, CORRELATION, LIKE, OTHERS, SWEEP

    if (folder / MANIFEST).exists():
        return
    foreign = [] if (folder / SWEEP).exists() else [BEST, CORRELATION, OTHERS, LIKE]
    foreign_file = next((folder / name for name in foreign if (folder / name).exists()), None)
    page = folder / "report.html"
    if foreign_file is None and page.exists():
        from study_app.report.build import is_own_page

        foreign_file = None if is_own_page(page) else page
    if foreign_file is not None:
        raise input_fault(
            "prefcal did not write this file, and a sweep would write over it",
            path=foreign_file,
            cure="name another folder with -o, or move the file",
        )


def _grid(choices: SweepOptions) -> "SweepGrid":
    from metrics.sweep.parts import SweepGrid

    lists = {name: getattr(choices, name) for name in ("away", "session", "spread", "lateness")}
    if choices.preset is None and (lists["away"] is None or lists["session"] is None):
        raise click.UsageError("say which people: --preset paper, or --away M,... and --session M,...")
    names = {"away": "away_seconds", "session": "session_seconds"}
    given = {names.get(name, name): values for name, values in lists.items() if values is not None}
    try:
        return SweepGrid(**given)
    except ValueError as error:
        of, _, problem = str(error).partition(" ")
        options = {f"{name}{what}_seconds": name for name in names for what in ("", "_mean")}
        option = options.get(of, of)
        raise click.UsageError(f"--{option} {problem}" if option in lists else str(error)) from None


class _Progress:
    """Printer of the plan, then of the number of finished populations."""

    def __init__(self) -> None:
        self._done = 0
        self._of = 0

    def __call__(self, plan: "SweepPlan", parts: "Iterator[Part]") -> "Iterator[Part]":
        click.echo(str(plan), err=True)
        self._done, self._of = plan.populations - plan.missing, plan.populations
        with shown_progress(plan.missing, self._line, unit=" populations", label="sweep") as count_one:
            for part in parts:
                yield part
                self._done += 1
                count_one()

    def _line(self, _: int) -> str:
        return f"still computing: {self._done:,} of {pluralise(self._of, 'population')} are done"

    def say_stopped(self, folder: Path) -> None:
        """Print what is kept of an interrupted sweep."""
        kept = f"{self._done:,} of {self._of:,} populations are kept" if self._of else "nothing was begun"
        click.echo(f"\n{folder}: stopped; {kept}; the same command goes on", err=True)


def _reference(path: str, column: str, runs: list[str], topics: list[str]) -> "ReferenceMeasure":
    """Read the measure of `--like`."""
    from metrics.readers.score_rows import read_score_rows
    from metrics.sweep.tables import references

    scores = read_score_rows(path)
    known = list(dict.fromkeys(score.metric for score in scores))
    if column not in known:
        raise input_fault(
            f"there is no measure {column!r}", path=path, line=1, cure=f"the measures are {join_names(known)}"
        )
    [reference] = references([score for score in scores if score.metric == column], runs, topics, path=path)
    return reference


def _say_like(found: "MSUSweep", wanted: "ReferenceMeasure", path: str) -> None:
    """Write like.csv, and print the points that come first in it."""
    from metrics.sweep.equivalent_populations import MIN_TOPICS, points_like, told_apart
    from metrics.sweep.result import in_words
    from metrics.sweep.tables import LIKE
    from study_app.cli.output import csv_text, table_text

    table = points_like(found, wanted)
    write_atomically(found.folder / LIKE, csv_text(list(table), table.itertuples(index=False)))
    shown = ["tau-b", "low", "high", "tau-AP"]
    rows = [[in_words(row), *row[shown].tolist()] for _, row in table.head(SHOWN).iterrows()]
    head = f"MSU ranks most like {wanted.name} for"
    if table["tau-b"].max() < 0:
        head = f"MSU ranks rather opposite to {wanted.name} for all people, least so for"
    click.echo(f"\n{head}\n{table_text(['people', *shown], rows)}{told_apart(table)}")
    if wanted.by_topic is None:
        click.echo(
            f"{path}: no scores by topic, so there are no intervals; write rows of run,topic,metric,value",
            err=True,
        )
    elif len(found.topics) < MIN_TOPICS:
        click.echo(f"{path}: fewer than {MIN_TOPICS} topics, so there are no intervals", err=True)
