"""`--study` and `--task` of `prefcal plan`: the sizes come from a study file, where no option says otherwise."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click

if TYPE_CHECKING:
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
