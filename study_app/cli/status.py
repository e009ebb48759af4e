"""`prefcal status`: how far each study is."""

from typing import TYPE_CHECKING

import click

from metrics.errors import counted
from study_app.cli.output import Output, database_option, opened, output_options

if TYPE_CHECKING:
    from study_app.services.researcher.progress import CountRange, StudyProgress
    from study_app.services.researcher.reconcile import PaymentCounts

COLUMNS = ("study", "task", "topic", "done", "live", "room")


@click.command()
@click.argument("study", metavar="[STUDY]", required=False)
@database_option
@output_options
def status(study: str | None, database: str | None, *, output: Output) -> None:
    """Show how far STUDY is, or every loaded study: the same as its researcher's page.

    First come numbers of workers, codes, judgments and checks of care. The table below has a line for each query (event, profile):
    done are the places whose work is there, live those that somebody holds now, room those that are still to give. csv and json have
    the table only, with an empty room or null where there is no limit.
    """
    from study_app.services.researcher.completion import complete_workers
    from study_app.services.researcher.progress import study_progress
    from study_app.services.researcher.studies import chosen_study
    from study_app.services.worker.entry import loaded_studies
    from study_app.store.database import transaction
    from study_app.store.plan import Plans
    from study_app.store.tokens import utc_now

    store, known_plans, now = opened(database), Plans(), utc_now()
    with transaction(store, write=False) as session:
        only = None if study is None else chosen_study(session, study).id
        plans = [plan for plan in loaded_studies(session, known_plans) if only in {None, plan.id}]
        progresses = [
            study_progress(
                session, plan, now=now, complete=complete_workers(session, known_plans, plan, now=now)
            )
            for plan in plans
        ]
    store.engine.dispose()
    if output.format == "table":
        for progress in progresses:
            click.echo("\n".join(_sentences(progress)))
    unlimited = "no limit" if output.format == "table" else None
    output.rows(
        COLUMNS,
        [
            (
                *(progress.study, task.name, query.topic, query.done, query.live),
                unlimited if query.room is None else query.room,
            )
            for progress in progresses
            for task in progress.tasks
            for query in task.queries
        ],
    )


def _sentences(progress: "StudyProgress") -> list[str]:
    head = (
        f"{progress.study}: {progress.arrived} arrived, {progress.consented} consented, "
        f"{progress.completed} completed, {progress.withdrawn} withdrawn"
    )
    if progress.paused_at is not None:
        head += f"; paused since {progress.paused_at:%Y-%m-%d %H:%M} UTC"
    pairs = [
        f"  {task.name}: {_between(judgments, 'judgment')} a pair"
        for task in progress.tasks
        if (judgments := task.judgments_per_pair) is not None
    ]
    streams = [
        f"  {task.name}: {counted(follows.following, 'stream')} followed now, {follows.never_came} never read; "
        f"{_between(follows.per_stream, 'worker')} a stream; "
        f"{follows.answered} of {counted(follows.asked, 'question')} answered; {counted(follows.reminders, 'reminder')}"
        for task in progress.tasks
        if (follows := task.streams) is not None
    ]
    checks = _checks(progress) if pairs else []
    return [head, *_payments(progress.payments), *pairs, *streams, *checks, ""]


def _between(counts: "CountRange", thing: str) -> str:
    """Say how many there are, from the smallest number to the largest where they differ."""
    if counts.low == counts.high:
        return counted(counts.low, thing)
    return f"{counts.low} to {counted(counts.high, thing)}, median {counts.middle:g},"


def _checks(progress: "StudyProgress") -> list[str]:
    """Say how many fail each check of care, of how many of whom that can be told."""
    rates = {
        check.name: f"{check.title} (too few answers yet)"
        if check.rate is None
        else f"{check.title} {check.failed} of {check.judged} ({check.rate:.0%})"
        for check in progress.checks
    }
    excluding = ", ".join(rates[check.name] for check in progress.checks if check.excludes)
    flags = ", ".join(rates[check.name] for check in progress.checks if not check.excludes)
    rule = [f"  fail the exclusion rule (version {progress.rule}): {excluding}"] if excluding else []
    return [*rule, f"  flagged only: {flags}"]


def _payments(states: "PaymentCounts") -> list[str]:
    """Say who has complete data and who was told and paid, and how the others ended if any did."""
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
