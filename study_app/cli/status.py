"""Command `prefcal status`: progress of the loaded studies."""

from typing import TYPE_CHECKING

import click

from metrics.errors import percent, pluralise
from study_app.cli.database import database_option, database_session
from study_app.cli.options import with_options
from study_app.cli.output import Cell, Output, simulated_lines, table_text, wrapped
from study_app.services.researcher.completion import complete_workers
from study_app.services.researcher.progress import CountRange, StudyProgress, TaskProgress, study_progress
from study_app.services.researcher.studies import chosen_study
from study_app.services.worker.entry import loaded_studies
from study_app.store import tokens
from study_app.store.simulated_workers import simulated_studies
from study_app.store.study_cache import StudyCache

if TYPE_CHECKING:
    from collections.abc import Iterator

    from study_app.services.researcher.reconcile import PaymentCounts

COLUMNS = ("study", "task", "topic", "done", "live", "room")


@click.command()
@click.argument("study", metavar="[STUDY]", required=False)
@database_option
@with_options(output=Output)
def status(study: str | None, database: str | None, *, output: Output) -> None:
    """Show the progress of STUDY, or of every loaded study, as on the console.

    First come numbers of workers, places, judgments and quality checks. The table below has a line for each query (event, profile):
    done counts finished places, live those that a worker holds now, room the free ones. csv and json have
    the table only, with an empty room or null where there is no limit.
    """
    known_plans, now = StudyCache(), tokens.utc_now()
    with database_session(database, write=False) as session:
        only = None if study is None else chosen_study(session, study).id
        plans = [plan for plan in loaded_studies(session, known_plans) if only in {None, plan.id}]
        progresses = [
            study_progress(
                session, plan, now=now, complete=complete_workers(session, known_plans, plan, now=now)
            )
            for plan in plans
        ]
        simulated = {plan.name for plan in plans} & {*simulated_studies(session)}
    if output.is_for_people:
        output.text("\n\n".join(map(_study_text, progresses)))
        for line in simulated_lines(simulated):
            click.echo(line, err=True)
    else:
        output.rows(COLUMNS, [row for progress in progresses for row in _rows(progress, unlimited=None)])


def _rows(progress: "StudyProgress", *, unlimited: str | None) -> "list[tuple[Cell, ...]]":
    return [
        (
            *(progress.study, task.name, query.topic, query.done, query.live),
            unlimited if query.room is None else query.room,
        )
        for task in progress.tasks
        for query in task.queries
    ]


def _study_text(progress: "StudyProgress") -> str:
    """Return the sentences about a study, and its table without the study's name."""
    rows = [row[1:] for row in _rows(progress, unlimited="no limit")]
    return "\n".join([*_sentences(progress), table_text(COLUMNS[1:], rows)])


def _sentences(progress: "StudyProgress") -> list[str]:
    head = (
        f"{progress.study}: {progress.arrived} arrived, {progress.consented} consented, "
        f"{progress.completed} completed, {progress.withdrawn} withdrawn"
    )
    if progress.paused_at is not None:
        head += f"; paused since {progress.paused_at:%Y-%m-%d %H:%M} UTC"
    tasks = [f"  {task.name}: {'; '.join(_on_task(task))}" for task in progress.tasks]
    has_pairs = any(task.judgments_per_pair is not None for task in progress.tasks)
    checks = _checks(progress) if has_pairs else []
    return [
        head,
        *(wrapped(line, indent="    ") for line in (*tasks, *_payments(progress.payments), *checks)),
        "",
    ]


def _on_task(task: "TaskProgress") -> "Iterator[str]":
    """Yield the progress of a task: places, judgments a pair, followed streams."""
    done, live = sum(query.done for query in task.queries), sum(query.live for query in task.queries)
    room = [query.room for query in task.queries]
    live_text = f", {live} held now" if live else ""
    if task.search is not None:
        at_most = f"{task.search.shown:,} of at most {pluralise(task.search.budget, 'judgment')}{live_text}"
        yield f"{at_most}, the search is over" if task.search.is_over else at_most
        if task.search.best is not None:
            yield f"probability of the best system {task.search.best:.2f}"
    elif None in room:
        yield f"{pluralise(done, 'place')} done{live_text}, no limit"
    else:
        still = sum(each for each in room if each is not None)
        yield f"{done} of {pluralise(done + live + still, 'place')} done{live_text}, {still} still to give"
    if task.judgments_per_pair is not None:
        yield _between(task.judgments_per_pair, "judgment", "a pair")
    if (follows := task.streams) is not None:
        yield f"{pluralise(follows.following, 'stream')} followed now, {follows.never_came} never read"
        yield _between(follows.per_stream, "worker", "a stream")
        yield f"{follows.answered} of {pluralise(follows.asked, 'question')} answered"
        yield pluralise(follows.reminders, "reminder")


def _between(spread: "CountRange", thing: str, each: str) -> str:
    """Format a range of counts, with the median where they differ."""
    if spread.low == spread.high:
        return f"{pluralise(spread.low, thing)} {each}"
    return f"{spread.low} to {pluralise(spread.high, thing)} {each} (median {spread.middle:g})"


def _checks(progress: "StudyProgress") -> list[str]:
    """Return the lines about failed quality checks, as numbers and shares."""
    rates = {
        check.name: f"{check.title} (too few answers yet)"
        if check.rate is None
        else f"{check.title} {check.failed} of {check.judged} ({percent(check.rate)})"
        for check in progress.checks
    }
    excluding = ", ".join(rates[check.name] for check in progress.checks if check.excludes)
    flags = ", ".join(rates[check.name] for check in progress.checks if not check.excludes)
    rule = [f"  fail the exclusion rule (version {progress.rule}): {excluding}"] if excluding else []
    return [*rule, f"  flagged only: {flags}"]


def _payments(states: "PaymentCounts") -> list[str]:
    """Return the lines about complete data, codes, payments and early ends."""
    paid = f"confirmed by the platform {states.confirmed}, paid {states.paid}"
    lines = [f"  data complete {states.complete}, code shown {states.shown}, {paid}"]
    if any(states.early.values()):
        ended = ", ".join(f"{end.replace('_', ' ')} {number}" for end, number in states.early.items())
        lines.append(f"  ended early: {ended}")
    if states.visit_codes:
        lines.append(f"  codes for visits shown: {states.visit_codes}")
    if states.shared:
        lines.append(f"  came under a submission of the platform that another id has too: {states.shared}")
    return lines
