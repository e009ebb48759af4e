"""Options of `prefcal plan`, and the run from a design to a printed answer."""

import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from metrics.files import write_atomically
from study_app.cli.options import (
    LEVEL,
    MAX_COUNT,
    OUT_FILE,
    POSITIVE,
    ComputeOptions,
    FiniteFloat,
    one_of,
    option,
    seed_option,
)
from study_app.cli.output import Printed
from study_app.cli.plan.wording import BUSY, PersonCost, PlanWording
from study_app.cli.progress import ProgressLines

if TYPE_CHECKING:
    from calibration.plan.search import Plan, PrecisionGoal
    from calibration.plan.simulation import Design, Track
    from study_app.estimate.planned import PlannedStudy


KEY = "prefcal.planned_study"
FIGURES = (".svg", ".pdf", ".png")
DEFAULT_POWER = 0.8


def _check_figure(ctx: click.Context, param: click.Parameter, value: Path | None) -> Path | None:
    if value is not None and value.suffix not in FIGURES:
        raise click.BadParameter(f"name a file that ends in {', '.join(FIGURES)}", ctx=ctx, param=param)
    return value


@dataclass(frozen=True, kw_only=True)
class PlanOptions(ComputeOptions, Printed):
    """Options of every plan, besides those of `plan_options`."""

    study: Path | None = None
    task: str | None = None
    vary: str = ""
    studies: int = 0
    width: float | None = option(
        type=POSITIVE,
        help="Find the size at which the 95 % interval is at most this wide, from end to end, in the unit of --true.",
    )
    sure: float = option(
        type=FiniteFloat(0, 1, min_open=True),
        default=0.5,
        help="With --width: the share of studies whose interval is to be that narrow. 0.5 is a typical study.",
    )
    power: float | None = option(
        type=LEVEL, help="Find the size at which this share of studies finds the true effect."
    )
    seed: int = seed_option()
    figure: Path | None = option(
        "-o",
        "--output",
        metavar="FILE",
        type=OUT_FILE,
        callback=_check_figure,
        help="Draw the curve into FILE too: .svg, .pdf or .png.",
    )

    def __post_init__(self) -> None:
        """Refuse options that contradict each other."""
        if self.width is not None and self.power is not None:
            raise click.UsageError("--width and --power are two questions: give one of them")
        if self.study is None and self.task:
            raise click.UsageError("--task needs --study: the file that the task is in")

    @property
    def planned(self) -> "PlannedStudy | None":
        """The study of option `--study`, if any."""
        study: PlannedStudy | None = click.get_current_context().meta.get(KEY)
        return study

    @property
    def pairs_each(self) -> int | None:
        """Pairs of a query that one person judges, if the study limits them."""
        return None if self.planned is None else self.planned.pairs_each

    @property
    def most_pairs(self) -> int | None:
        """Pairs that the systems of the study make in a query, if it is known."""
        return None if self.planned is None else self.planned.sizes.get("pairs")

    def priced(self, question: PlanWording) -> PlanWording:
        """Add time and price of a person of the study, if it is known."""
        study = self.planned
        if study is None:
            return question
        asked = click.get_current_context().params
        changed = {name for name, value in study.sizes.items() if asked.get(name) != value}
        seconds = None if changed & set(BUSY) else study.seconds
        person = PersonCost(
            minutes=None if seconds is None else (seconds.low / 60, seconds.high / 60),
            price=study.price,
            currency=study.currency,
        )
        return replace(question, person=person)

    def wish(
        self, *, default_width: float | None = None, tells: bool = True, farthest: float = math.inf
    ) -> "PrecisionGoal":
        """Return the width or the power that the study is to reach.

        Parameters
        ----------
        default_width : float or None
            Width where neither a width nor a power is given; None for the default power.
        tells : bool
            There is a null value to reject.
        farthest : float
            Width that no interval exceeds.
        """
        from calibration.plan.search import PrecisionGoal

        if self.power is not None and not tells:
            raise click.UsageError("--power needs --tell-from: the null value that the study is to reject")
        if self.width is not None and self.width > farthest:
            raise click.UsageError(
                f"--width {self.width:g}: no such interval is wider than {farthest:g}; give a smaller width, such as 0.1"
            )
        if self.width is not None or self.power is not None:
            return PrecisionGoal(width=self.width, sure=self.sure, power=self.power)
        if default_width is not None:
            return PrecisionGoal(width=default_width, sure=self.sure)
        return PrecisionGoal(power=DEFAULT_POWER)


def plan_options(*, sizes: Sequence[str], simulated: int, kinds: Sequence[str]) -> Any:
    """Return the class of options of a plan.

    Parameters
    ----------
    sizes : sequence of str
        The sizes that may be varied, the default first.
    simulated : int
        The default number of simulated studies of each size.
    kinds : sequence of str
        Kinds of task: `--study` fills in the sizes from a task of one of these.
    """

    def fill_in(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
        both = {**ctx.params, param.name: value}
        if both.get("study") and {"study", "task"} <= both.keys():
            from study_app.estimate.content import read_whole_study
            from study_app.estimate.planned import planned_study

            result = planned_study(read_whole_study(both["study"]), kinds, both["task"])
            ctx.meta[KEY] = result
            ctx.default_map = {**(ctx.default_map or {}), **result.sizes}
        return value

    @dataclass(frozen=True, kw_only=True)
    class OptionsOfPlan(PlanOptions):
        study: Path | None = option(
            type=click.Path(path_type=Path),
            metavar="FILE",
            is_eager=True,
            callback=fill_in,
            help="Study file whose sizes become the defaults; the answer then has minutes and costs.",
        )
        task: str | None = option(
            metavar="NAME",
            is_eager=True,
            callback=fill_in,
            help="Task of --study, where several are of a kind that can be planned for.",
        )
        vary: str = one_of(*sizes, help="Size that may change; the others stay as they are given.")
        studies: int = option(
            type=click.IntRange(20, MAX_COUNT),
            default=simulated,
            help="Simulated studies of each size: more is slower and steadier.",
        )

    return OptionsOfPlan


def check_not_true_value(name: str, value: float | None, true: float) -> None:
    """Reject a comparison value equal to the true value."""
    if value == true:
        raise click.UsageError(
            f"{name} and --true are both {true:g}: there is nothing to distinguish; change one"
        )


def tell_from_option(example: str = "", **attributes: Any) -> Any:
    """Return the option `--tell-from`, the null value of a plan with power."""
    return option(help=f"Null value to be rejected{example}. For --power.", **attributes)


def run_plan(
    design: "Design", question: PlanWording, wish: "PrecisionGoal", common_options: PlanOptions
) -> "Plan":
    """Plan, print the answer and draw it; return it."""
    from calibration.plan.search import plan
    from study_app.cli.plan.text import COLUMNS, machine_rows, plan_text

    question = common_options.priced(question)
    try:
        result = plan(
            design,
            common_options.vary,
            wish,
            studies=common_options.studies,
            seed=common_options.seed,
            jobs=common_options.jobs,
            scheduler=common_options.scheduler,
            track=_track(),
        )
    except KeyboardInterrupt:
        click.echo(
            "\nstopped; a plan keeps nothing: run it again, with fewer --studies if it takes too long",
            err=True,
        )
        raise SystemExit(130) from None
    if common_options.figure is not None:
        from study_app.cli.plan.figure import figure_bytes

        write_atomically(
            common_options.figure, figure_bytes(result, question, wish, common_options.figure.suffix[1:])
        )
    if common_options.is_for_people:
        click.echo(plan_text(result, question, wish, seed=common_options.seed), nl=False)
    else:
        common_options.rows(COLUMNS, machine_rows(result, question))
    return result


def _track() -> "Track":
    """Return the progress display: a bar on a terminal, else lines on stderr."""
    if sys.stderr.isatty():
        from tqdm import tqdm

        return lambda studies, label: tqdm(studies, desc=label, unit="study", leave=False)
    lines = ProgressLines()

    def track(studies: Iterable[int], label: str) -> Iterator[int]:
        for done, study in enumerate(studies):
            lines.print_line(f"still simulating: {done} studies of {label} are done")
            yield study

    return track
