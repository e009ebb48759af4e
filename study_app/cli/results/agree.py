"""Commands `prefcal agree` and `prefcal report`."""

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from metrics.errors import InputError
from metrics.files import relative_path
from study_app.cli.options import (
    MAX_COUNT,
    assist_option,
    by_option,
    option,
    output_folder,
    same_answers_option,
    seed_option,
    typed_options,
    with_options,
)
from study_app.cli.output import Printed, next_step
from study_app.cli.score.options import check_draws

if TYPE_CHECKING:
    from collections.abc import Iterator

    from calibration.agree.folder import StreamTables
    from calibration.agree.result import AgreementTables, NamedComparisons
    from calibration.agree.score_sources import ScoreSources
    from calibration.user_model.model import UserModel


def _named_paths(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> dict[str, Path]:
    """Split values like NAME=PATH at the first equals sign."""
    paths = {}
    for value in values:
        name, _, path = value.partition("=")
        if not (name and path):
            raise click.BadParameter(f"{value!r} is not like {param.metavar}", ctx=ctx, param=param)
        paths[name] = Path(path)
    return paths


@dataclass(frozen=True, kw_only=True)
class AgreeOptions:
    """Options of an agreement."""

    model: str | None = option(
        metavar="FILE", help="User model, as prefcal fit writes it: adds fitted parameters."
    )
    draws: int | None = option(
        type=click.IntRange(2, MAX_COUNT),
        metavar="N",
        help="Draw the fitted parameters N times: adds the spread of the agreement.",
    )
    scores: str | None = option(
        metavar="FILE", help="CSV with run, topic, metric, value: adds measures of your own."
    )
    lengths: str | None = option(
        metavar="FILE",
        help="CSV with run, topic, metric, value: how long each side is, for judges that are no people; by default the characters"
        " of what was shown.",
    )
    collection: dict[str, Path] = option(
        metavar="KIND=PATH",
        callback=_named_paths,
        multiple=True,
        help="File of the collection (queries, iunits, intents, ...), instead of the one in study.json.",
    )
    runs: dict[str, Path] = option(
        "--run",
        metavar="NAME=PATH",
        callback=_named_paths,
        multiple=True,
        help="Run of a system, instead of the one in study.json.",
    )
    measures: tuple[str, ...] = option(
        "--measure", metavar="MEASURE", help="Add this measure to the table; repeatable. For names see above."
    )
    primary: tuple[str, str] | None = option(
        nargs=2,
        metavar="MEASURE MEASURE",
        help="Primary comparison, instead of the study's; all others are exploratory. Named now, it counts as named at analysis.",
    )
    compare: tuple[str, ...] = option(
        metavar="MEASURE",
        help="Measure of the family that is corrected together, instead of the study's; repeatable, others are compared"
        " with the first.",
    )
    complete_only: bool = option(help="Count only workers who completed the study.")
    by: str | None = by_option()
    same_answers: str = same_answers_option()
    assist: str | None = assist_option("agreements, and their differences,")
    ordinal: bool = option(
        help="Compare measures by graded answers (column strength), too, in a cumulative-link model: rows by grades of comparisons.csv."
    )
    seed: int = seed_option()

    def __post_init__(self) -> None:
        """Refuse to draw from no model."""
        check_draws(self.model, self.draws)


@click.command()
@click.argument("tables", type=click.Path())
@with_options(choices=AgreeOptions, printed=Printed)
@output_folder("Folder for the results.")
def agree(tables: str, output: Path, *, choices: AgreeOptions, printed: Printed) -> None:
    """Measure how well measures agree with the preferences in TABLES.

    TABLES is a folder as prefcal export writes it. Writes agreement.csv, comparisons.csv, curve.csv, pairs.csv, disagreements.csv and agree.json into DIR, with
    reading.csv where pages logged what was read and opened, and stream_scores.csv and stream_correlations.csv for a study of streams, and prints
    the agreement. Which system people
    prefer stands there too (ranking.csv, duels.csv, rank.json), as prefcal rank finds it. Judges that are no people (workers
    of kind model) are held against the people, beside one more person: judge.csv, judge_topics.csv, judge_people.csv, judge_axis.csv; with
    --assist JUDGE its verdicts on pairs that nobody judged narrow the intervals (assisted_agreement.csv).

    A MEASURE is called as the printed table calls it, or as prefcal measures prints it, with any value of its
    parameters; one that the table lacks is added to it. For example:

    \b
    pairs of summaries     M@840, M@1500 uniform P, M@preferences, MMeasure(patience=840)
    pairs of streams       ELG-1, nCG-0, T11U(alpha=0.5), T11U@preferences, MSU@0.1
    pairs of ranked lists  TIA-nDCG@5, T-SBR@10, TIASBR(alpha=0.2), IA-P@5

    Pairs of ranked lists take every measure of ir_measures too, such as nDCG@10 or RBP(p=0.8), where prefcal[measures] is
    installed. What ends in @preferences, @grid, @stops, @fitted or fitted P needs --model.
    """  # noqa: D301 - click keeps lines as they are after a backspace
    from calibration.agree.agree_tables import agree
    from calibration.agree.folder import write_agreement
    from calibration.checks.votes import VoteChecks
    from study_app.cli.results.agree_table import agreement_text

    check_folder(output, tables)
    evidence, record = _evidence(tables, choices, output)
    counted: dict[str, Any] = {
        "complete_only": choices.complete_only,
        "same_answers": choices.same_answers,
    }
    checks = VoteChecks(tables=evidence.tables, complete_only=choices.complete_only)
    results = agree(
        evidence,
        checks=checks,
        named_comparisons=_wanted(choices),
        measures=choices.measures,
        assist=choices.assist,
        ordinal=choices.ordinal,
        seed=choices.seed,
        **counted,
    )
    record |= {
        "draws": choices.draws,
        **counted,
        "assist": choices.assist,
        "seed": choices.seed,
        **_commands(output),
    }
    write_agreement(results, output, record, _streams(tables, evidence.model, choices))
    notes = (
        *results.notes,
        *results.warnings,
        *_rank(evidence, tables, output, record, {**counted, "checks": checks}),
    )
    if printed.is_for_people:
        click.echo(agreement_text(results), nl=False)
        click.echo("".join(_assisted(results)), nl=False)
    else:
        frame = results.agreement.astype(object).where(results.agreement.notna(), None)
        printed.rows(list(frame.columns), frame.to_numpy().tolist())
    for note in notes:
        click.echo(note, err=True)
    if printed.is_for_people:
        next_step(f"report {output}")


def _assisted(results: "AgreementTables") -> "Iterator[str]":
    """Yield the numbers that a judge assists, of each task under its leading convention for ties."""
    from calibration.agree.folder import JUDGES
    from calibration.agree.result import leading_ties
    from study_app.cli.results.assisted_text import assisted_lines

    for task, rows in results.judges.assisted.groupby("task", sort=False):
        ties = leading_ties(results.agreement.query("task == @task and exclusions == 'applied'"))
        lines = assisted_lines(rows[rows["ties"] == ties], "measure", file=JUDGES["assisted"])
        yield "\n".join(
            ["", *([f"Task {task}"] if results.judges.assisted["task"].nunique() > 1 else []), *lines, ""]
        )


def check_folder(folder: Path, tables: str) -> None:
    """Refuse to write among the tables: the next export there would be refused."""
    if folder.resolve() == Path(tables).resolve():
        raise click.UsageError(f"-o {folder} is the folder of the tables; name another for the results")


def _rank(
    evidence: "ScoreSources", tables: str, folder: Path, record: dict[str, Any], counted: dict[str, Any]
) -> list[str]:
    """Write which systems people prefer, or return why that is unknown.

    In the second case the ranks of an earlier run are deleted.
    """
    from calibration.rank.folder import remove_ranking, write_ranking
    from calibration.rank.ranking import rank_systems
    from calibration.tables.study_json import read_study

    try:
        ranking = rank_systems(evidence.tables, study=read_study(tables), place=evidence.place, **counted)
    except InputError as error:
        remove_ranking(folder)
        return [f"no ranking: {error}"]
    kept = ("tables", "tables_sha256", "complete_only", "same_answers", "command")
    write_ranking(replace(ranking, by=evidence.by), folder, {key: record[key] for key in kept})
    return []


def _wanted(choices: AgreeOptions) -> "NamedComparisons | None":
    """Return the comparisons that the command names, None where it names none."""
    from calibration.agree.result import NamedComparisons

    named = choices.primary or choices.compare
    return NamedComparisons(primary=choices.primary, compare=choices.compare) if named else None


def _evidence(tables: str, choices: AgreeOptions, folder: Path) -> "tuple[ScoreSources, dict[str, Any]]":
    """Read everything that is named; return it with what agree.json says of it."""
    from calibration.agree.folder import file_record
    from calibration.agree.score_sources import ScoreSources, read_scores
    from calibration.tables.files import tables_sha256
    from calibration.tables.sources import study_sources
    from calibration.tables.study_json import read_study
    from calibration.user_model.model import read_user_model
    from study_app.cli.tables.folder import read_with_verdicts

    read, verdicts = read_with_verdicts(tables, for_votes=True, by=choices.by)
    digest, model, study = tables_sha256(tables), choices.model, read_study(tables)
    judged = read["preferences"]["task"].unique().tolist() if "preferences" in read else []
    fitted = read_user_model(model) if model else None
    evidence = ScoreSources(
        tables=read,
        verdicts=verdicts,
        sources=study_sources(tables, judged, collection=choices.collection, runs=choices.runs),
        model=fitted,
        drawn=_draws(fitted, choices.draws, choices.seed),
        seed=choices.seed,
        same_tables=fitted is not None and fitted.tables_sha256 in {digest, None},
        scores=read_scores(choices.scores) if choices.scores else None,
        lengths=read_scores(choices.lengths) if choices.lengths else None,
        place=str(Path(tables) / "preferences.csv"),
        scores_place=choices.scores or "scores",
        by=choices.by,
        study=study,
    )
    return evidence, {
        "tables": relative_path(tables, folder),
        "tables_sha256": digest,
        "model": file_record(model, folder),
        "scores": file_record(choices.scores, folder),
        "lengths": file_record(choices.lengths, folder),
        "collection": {kind: relative_path(path, folder) for kind, path in choices.collection.items()},
        "runs": {name: relative_path(path, folder) for name, path in choices.runs.items()},
    }


def _draws(model: "UserModel | None", draws: int | None, seed: int) -> "list[UserModel]":
    """Draw user models as often as asked for.

    A line on stderr names the parameters that cannot be drawn.
    """
    if model is None or draws is None:
        return []
    from calibration.user_model.draws import draw_model

    models = draw_model(model, draws, seed)
    for what, why in models.kept.items():
        click.echo(f"--draws keeps {what}, since {why}", err=True)
    return models.models(model)


def _streams(tables: str, model: "UserModel | None", choices: AgreeOptions) -> "StreamTables":
    """Score the streams of the study, of tasks without pairs too."""
    from calibration.agree.stream_scores import score_streams
    from calibration.tables.sources import study_sources
    from calibration.tables.study_json import read_study

    study = read_study(tables)
    if study is None:
        return score_streams({})
    sources = study_sources(tables, study.tasks, collection=choices.collection, runs=choices.runs)
    return score_streams(sources, model)


def _commands(folder: Path) -> dict[str, list[str]]:
    """Return the command as typed, and as typed in the folder of results."""
    context = click.get_current_context()
    typed = {name: _seen_from(Path.cwd(), name, value) for name, value in context.params.items()}
    again = {name: _seen_from(folder, name, value) for name, value in context.params.items()}
    words = (["prefcal", "agree", *typed_options(context, each)] for each in (typed, again))
    return dict(zip(("command", "again"), words, strict=True))


def _seen_from(folder: Path, name: str, value: Any) -> Any:
    """Return an option with its paths, if it has any, as they are seen from a folder."""
    if name in {"collection", "runs"}:
        return {kind: relative_path(path, folder) for kind, path in value.items()}
    return (
        relative_path(value, folder)
        if name in {"tables", "model", "scores", "lengths", "output"} and value
        else value
    )


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path())
@click.option(
    "--style",
    metavar="FILE",
    type=click.Path(),
    help="Colours, fonts and settings of matplotlib, in YAML; see docs/report.md.",
)
def report(folder: str, *, style: str | None) -> None:
    """Write DIR/report.html, one self-contained page about the results in DIR.

    They are those of prefcal demo, agree, rank or sweep. Every figure is written into DIR/figures too, as SVG and PDF, and every table into DIR/report-tables, as CSV; those that papers print as LaTeX too.

    Reads agreement.csv, comparisons.csv, curve.csv, pairs.csv, disagreements.csv, agree.json, ranking.csv, duels.csv,
    rank.json, user-model.json, truth.json, the folder tables, and sweep.json with the tables of a sweep; what is missing is left
    out of the page with a sentence.
    """
    from study_app.report.build import write_report

    report_style = None
    if style is not None:
        from study_app.report.drawing.style import read_look

        report_style = read_look(style)
    click.echo(write_report(folder, report_style=report_style, tell=partial(click.echo, err=True)))
