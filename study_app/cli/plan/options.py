"""What the commands of `prefcal plan` have in common: their options, and the way from a design to an answer."""

import functools
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from study_app.cli.output import FORMATS, MOST, Number, OutFile, engine_options
from study_app.cli.progress import NowAndThen

if TYPE_CHECKING:
    from calibration.plan.search import Wish
    from calibration.plan.simulation import Design, Track
    from study_app.cli.plan.question import PlanQuestion
    from study_app.estimate.planned import PlannedStudy


Command: TypeAlias = Callable[..., None]

KEY = "prefcal.planned_study"
BUSY = ("pairs", "queries_a_worker", "days")
"""What moves how long one person is busy."""


def study_options(kinds: Sequence[str]) -> tuple[Callable[[Command], Command], ...]:
    """Return the options that fill in the sizes from a task of one of these kinds."""

    def fill_in(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
        both = {**ctx.params, param.name: value}
        if both.get("study") and {"study", "task"} <= both.keys():
            ctx.default_map = {
                **(ctx.default_map or {}),
                **_read(ctx, both["study"], kinds, both["task"]).sizes,
            }
        return value

    return (
        click.option(
            "--study",
            type=click.Path(path_type=Path),
            metavar="FILE",
            is_eager=True,
            callback=fill_in,
            help="A study file: its sizes are the defaults here, and the answer says minutes and money.",
        ),
        click.option(
            "--task",
            metavar="NAME",
            is_eager=True,
            callback=fill_in,
            help="Which task of --study, where several are of a kind that can be planned for.",
        ),
    )


def _read(ctx: click.Context, file: Path, kinds: Sequence[str], task: str | None) -> "PlannedStudy":
    from study_app.estimate.content import read_whole_study
    from study_app.estimate.planned import planned_study

    found: PlannedStudy = planned_study(read_whole_study(file), kinds, task)
    ctx.meta[KEY] = found
    return found


def study_of_plan() -> "tuple[PlannedStudy | None, bool]":
    """Return the study that the plan is of, if any, and whether one person's minutes are still those of its file."""
    ctx = click.get_current_context()
    study: PlannedStudy | None = ctx.meta.get(KEY)
    if study is None and ctx.params.get("task"):
        raise click.UsageError("--task needs --study: the file that the task is in")
    if study is None:
        return None, False
    changed = {name for name, value in study.sizes.items() if ctx.params.get(name) != value}
    return study, not changed & set(BUSY)


FIGURES = (".svg", ".pdf", ".png")
DEFAULT_POWER = 0.8


def plan_options(*, vary: Sequence[str], studies: int, kinds: Sequence[str]) -> Callable[[Command], Command]:
    """Add the options that every plan has; they come as one argument ``wanted`` of type `PlanOptions`.

    Parameters
    ----------
    vary : sequence of str
        The sizes that may be varied, the default first.
    studies : int
        The default number of simulated studies of each size.
    kinds : sequence of str
        The kinds of task that it is about.
    """
    options: tuple[Callable[[Command], Command], ...] = (
        *study_options(kinds),
        click.option(
            "--width",
            type=Number(min=0, min_open=True),
            help="Find the size at which the 95 % interval is at most so wide, from end to end.",
        ),
        click.option(
            "--sure",
            type=Number(0, 1, min_open=True),
            default=0.5,
            show_default=True,
            help="With --width: the share of studies whose interval is to be that narrow. 0.5 is a typical study.",
        ),
        click.option(
            "--power",
            type=Number(0, 1, min_open=True, max_open=True),
            help="Find the size at which so large a share of studies finds what is true.",
        ),
        click.option(
            "--vary",
            type=click.Choice(vary),
            default=vary[0],
            show_default=True,
            help="Which size may change; the others stay as they are given.",
        ),
        click.option(
            "--studies",
            type=click.IntRange(20, MOST),
            default=studies,
            show_default=True,
            help="Simulated studies of each size: more is slower and steadier.",
        ),
        click.option(
            "--seed",
            type=click.IntRange(min=0),
            default=1,
            show_default=True,
            help="Decides every random draw: the same seed gives the same answer.",
        ),
        click.option(
            "--format",
            "format_",
            type=click.Choice(FORMATS),
            default="table",
            show_default=True,
            help="An answer for people; csv or json for machines.",
        ),
        click.option(
            "-o",
            "--output",
            "figure",
            metavar="FILE",
            type=OutFile(),
            callback=_a_figure,
            help="Draw the curve into FILE too: .svg, .pdf or .png.",
        ),
        engine_options,
    )

    def add(command: Command) -> Command:
        @functools.wraps(command)
        def wrapped(*args: Any, **given: Any) -> None:
            names = (
                *("width", "sure", "power", "vary", "studies", "seed", "format_", "figure"),
                *("jobs", "scheduler"),
            )
            for name in ("study", "task"):
                given.pop(name)
            command(*args, wanted=PlanOptions(**{name: given.pop(name) for name in names}), **given)

        with_options: Command = wrapped
        for option in reversed(options):
            with_options = option(with_options)
        return with_options

    return add


class PlanOptions:
    """What the common options say.

    Attributes
    ----------
    vary, format_ : str
        As given.
    studies, seed : int
        As given.
    figure : Path or None
        Where the curve is drawn.
    jobs, scheduler
        Who simulates.
    study : PlannedStudy or None
        The study that it is a plan of.
    """

    def __init__(
        self,
        *,
        width: float | None,
        sure: float,
        power: float | None,
        vary: str,
        studies: int,
        seed: int,
        format_: str,
        figure: Path | None,
        jobs: int,
        scheduler: str | None,
    ) -> None:
        if width is not None and power is not None:
            raise click.UsageError("--width and --power are two questions: give one of them")
        self.vary, self.studies, self.seed = vary, studies, seed
        self.format_, self.figure = format_, figure
        self.jobs, self.scheduler = jobs, scheduler
        self._width, self._sure, self._power = width, sure, power
        self.study, self._same_minutes = study_of_plan()

    @property
    def pairs_each(self) -> int | None:
        """Pairs of a query that one person judges, where the study says that these are not all."""
        return None if self.study is None else self.study.pairs_each

    @property
    def most_pairs(self) -> int | None:
        """Pairs that the systems of the study make in a query."""
        return None if self.study is None else self.study.sizes.get("pairs")

    def priced(self, question: "PlanQuestion") -> "PlanQuestion":
        """Return a question that knows what a person of the study costs."""
        if self.study is None:
            return question
        from dataclasses import replace

        from study_app.cli.plan.question import PersonCost

        seconds = self.study.seconds if self._same_minutes else None
        return replace(
            question,
            person=PersonCost(
                minutes=None if seconds is None else (seconds.low / 60, seconds.high / 60),
                price=self.study.price,
                currency=self.study.currency,
            ),
        )

    def wish(self, *, default_width: float | None = None, tells: bool = True) -> "Wish":
        """Return what the study shall reach.

        Parameters
        ----------
        default_width : float or None
            The width wished for when neither a width nor a power is; None: then the default power is.
        tells : bool
            There is a value to be told from.
        """
        from calibration.plan.search import Wish

        if self._power is not None and not tells:
            raise click.UsageError(
                "--power needs --tell-from: the value that the true one is to be told from"
            )
        if self._width is not None or self._power is not None:
            return Wish(width=self._width, sure=self._sure, power=self._power)
        if default_width is not None:
            return Wish(width=default_width, sure=self._sure)
        return Wish(power=DEFAULT_POWER)


def check_apart(name: str, value: float | None, true: float) -> None:
    """Raise where the value to be told from is the true one."""
    if value == true:
        raise click.UsageError(
            f"{name} and --true are both {true:g}: there is nothing to tell apart; change one"
        )


def answer(design: "Design", question: "PlanQuestion", wish: "Wish", wanted: PlanOptions) -> None:
    """Plan, print the answer and draw it."""
    from calibration.plan.search import plan
    from study_app.cli.output import Output
    from study_app.cli.plan.text import COLUMNS, machine_rows, plan_text

    question = wanted.priced(question)
    try:
        found = plan(
            design,
            wanted.vary,
            wish,
            studies=wanted.studies,
            seed=wanted.seed,
            jobs=wanted.jobs,
            scheduler=wanted.scheduler,
            track=_track(),
        )
    except KeyboardInterrupt:
        click.echo(
            "\nstopped; a plan keeps nothing: run it again, with fewer --studies if it takes too long",
            err=True,
        )
        raise SystemExit(130) from None
    if wanted.figure is not None:
        from metrics.files import write_whole
        from study_app.cli.plan.figure import figure_bytes

        write_whole(wanted.figure, figure_bytes(found, question, wish, wanted.figure.suffix[1:]))
    if wanted.format_ == "table":
        click.echo(plan_text(found, question, wish, seed=wanted.seed), nl=False)
    else:
        Output(format=wanted.format_).rows(COLUMNS, machine_rows(found, question))


def _track() -> "Track":
    """Return how studies are gone through: a bar on a terminal, else a line on stderr now and then."""
    if sys.stderr.isatty():
        from tqdm import tqdm

        return lambda studies, label: tqdm(studies, desc=label, unit="study", leave=False)
    lines = NowAndThen()

    def track(studies: Iterable[int], label: str) -> Iterator[int]:
        for done, study in enumerate(studies):
            lines.say(f"still simulating: {done} studies of {label} are done")
            yield study

    return track


def _a_figure(ctx: click.Context, param: click.Parameter, value: Path | None) -> Path | None:
    if value is not None and value.suffix not in FIGURES:
        raise click.BadParameter(f"name a file that ends in {', '.join(FIGURES)}", ctx=ctx, param=param)
    return value
