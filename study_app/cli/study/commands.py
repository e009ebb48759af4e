"""Commands `prefcal study check`, `preview`, `load`, `pause` and `resume`."""

import json
import math
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from metrics.errors import input_fault, join_names, pluralise
from metrics.files import write_atomically
from study_app.cli.database import database_option, database_session, open_study, study_session
from study_app.cli.options import output_file, port_option
from study_app.cli.output import simulated_lines

if TYPE_CHECKING:
    from study_app.estimate.content import StudyContent
    from study_app.estimate.estimate import Cost, StudyEstimate, TaskEstimate
    from study_app.services.researcher.differences import Change
    from study_app.study.entries import StudyEntry
    from study_app.tasks.content import TaskContent
    from study_app.tasks.workload import Capacity, SecondsRange

MINUTE_SECONDS = 60
LINE_LENGTH = 100


@click.command(name="check")
@click.argument("file", metavar="FILE", type=click.Path())
@click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Text for people; json for machines, all times in minutes.",
)
def check(file: str, format_: str) -> None:
    """Check the study file FILE and everything it names; changes nothing.

    Prints every fault with file, line and cure. Where there is none: what each task asks of a worker and for how many
    minutes, how many workers the study needs, how many answers each pair gets, and what it costs.
    """
    from study_app.estimate.content import read_ready_study
    from study_app.estimate.estimate import estimate
    from study_app.study.id_list import LOOKED_UP

    content = read_ready_study(file)
    for name in (name for name, digests in content.file.entry.kept_out.items() if LOOKED_UP in digests):
        said = f"note: keep_out: study {name} must be in the database into which this study is loaded; prefcal study load looks"
        click.echo(said, err=True)
    worded = as_json if format_ == "json" else as_text
    click.echo(worded(content, estimate(content), unshown_lines(content)), nl=False)


def unshown_lines(content: "StudyContent") -> list[str]:
    """Return one line per item that no worker will see."""
    return [f"  {task.entry.name}: {note}" for task in content.tasks for note in getattr(task, "notes", ())]


@click.command(name="shared-key")
@click.argument("file", metavar="KEYFILE", type=click.Path())
def shared_key(file: str) -> None:
    """Make a key in KEYFILE, by which several studies give the same person the same pseudonym.

    Write `pseudonyms: shared KEYFILE` into the study file of each, before the first worker comes.
    Keep KEYFILE as you keep the platform's list of ids: whoever has it can compute the pseudonym of any id.
    """
    from study_app.study.shared_pseudonyms import new_key_file

    new_key_file(Path(file))
    click.echo(
        f"{file} has a new key; write into each study file, with the path as seen from there: pseudonyms: shared {Path(file).name}"
    )


@click.command(name="took-part")
@click.argument("study", metavar="STUDY")
@output_file("Write the digests into FILE.")
@database_option
def took_part(study: str, output: Path, database: str | None) -> None:
    """Write a list of who took part in STUDY, for the keep_out of studies that are loaded elsewhere or later.

    FILE has a digest of the platform id of everybody who agreed to take part, and no id. Whoever has FILE and an id can tell whether that
    person took part: keep it as you keep the platform's list.
    """
    from study_app.services.researcher.reconcile import consenters
    from study_app.study.id_list import digest_lines

    with study_session(database, study, write=True) as opened:
        names, nameless = consenters(opened.session, opened.row.id)
        if not names:
            raise input_fault(
                f"nobody who took part in {study} still has a platform id here", cure="look into a backup"
            )
        people = pluralise(len(names), "person", "people")
        opened.note("list who took part", f"digests of the platform ids of {people}")
        lines = digest_lines(opened.row.name, opened.row.config["platform"], names)
        write_atomically(output, "\n".join(lines) + "\n", private=True)
    click.echo(f"{study}: {people} who took part, in {output}")
    if nameless:
        click.echo(f"note: {nameless} more took part, whose platform ids were deleted", err=True)


@click.command(name="load")
@click.argument("file", metavar="FILE", type=click.Path())
@click.option(
    "--accept-text",
    "accept_texts",
    metavar="TASK/TOPIC",
    multiple=True,
    help="Show the changed texts of this topic from now on; both versions stay on record. May be given several times.",
)
@database_option
def load(file: str, database: str | None, accept_texts: tuple[str, ...]) -> None:
    """Check the study file FILE and all it names, and load it into the database.

    Loading the same file again changes nothing. Of a changed file it prints what changes, and what that does once people
    have begun: allowed (it touches no answer), extends (new topics, systems or pairs, more answers, a longer budget), text (a changed
    text, shown once it is named with --accept-text), refused (it would corrupt answers already given). Where anything is refused nothing
    is changed.
    """
    from study_app.estimate.content import read_ready_study
    from study_app.services.researcher.load import LoadRefusedError, load_detail, load_study
    from study_app.services.researcher.studies import create_keys
    from study_app.store.simulated_workers import simulated_studies
    from study_app.store.tokens import secret_token, utc_now

    content = read_ready_study(file)
    with database_session(database, write=True, create=True) as session:
        create_keys(session, new_token=secret_token)
        try:
            report = load_study(session, content, now=utc_now(), accept_texts=accept_texts)
        except LoadRefusedError as refused:
            for line in verdict_lines(refused.changes):
                click.echo(line)
            raise
        if report.outcome != "unchanged":
            open_study(session, report.study).note("load", load_detail(report, content))
        simulated = set(simulated_studies(session)) & {report.study}
    others = report.changes[len(report.differences) :]
    for line in (*verdict_lines(report.differences), *(f"  {change}" for change in others)):
        click.echo(line)
    for line in unshown_lines(content):
        click.echo(line)
    outcome = {
        "new": f"loaded {report.study}",
        "changed": f"loaded the changed {report.study}",
        "unchanged": f"{report.study} is loaded already; nothing changed",
    }
    click.echo(outcome[report.outcome])
    for line in simulated_lines(
        simulated, cure="name a new file with --database, here and for prefcal serve"
    ):
        click.echo(line, err=True)


def verdict_lines(changes: "Sequence[Change]") -> list[str]:
    """Return a line for each change of a running study, with what it does."""
    return [f"  {change.verdict:<8} {change}" for change in changes]


@click.command(name="preview")
@click.argument("file", metavar="FILE", type=click.Path())
@port_option(8001)
def preview(file: str, port: int) -> None:
    """Serve all pages of the study file FILE on this machine, until Ctrl-C.

    They are reached from a list. Each page opens as a worker finds it, at the width of a phone and of a desktop, in a copy of the study of its own that
    is thrown away; searches and days pass by themselves, and one can click on from there.
    """
    import logging
    import signal
    import sys
    from tempfile import TemporaryDirectory

    from waitress import create_server

    from study_app.cli.serve.machine import bound_socket
    from study_app.estimate.content import read_whole_study
    from study_app.preview.app import Preview

    content = read_whole_study(file)
    sock = bound_socket("127.0.0.1", port)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # so that the folder is thrown away then, too
    with TemporaryDirectory(prefix="prefcal-preview-") as folder:
        app = Preview(content, Path(folder))
        logging.getLogger("waitress.queue").setLevel(logging.ERROR)  # two frames at a time are no crowd
        server = create_server(app, sockets=[sock])
        click.echo(f"{len(app.stations)} pages: http://127.0.0.1:{server.effective_port}/\nCtrl-C ends it.")
        sys.stdout.flush()
        server.run()


@click.command(name="pause")
@click.argument("study", metavar="STUDY")
@database_option
def pause(study: str, database: str | None) -> None:
    """Close STUDY to new workers; those who have begun go on.

    New visitors see a notice before any question. Loading the study file again does not end a pause.
    """
    changed = _open_or_close(study, database, "pause", "nobody new is let in")
    click.echo(
        f"{study} {'is paused: no new workers, and those who have begun go on' if changed else 'was paused already'}"
    )


@click.command(name="resume")
@click.argument("study", metavar="STUDY")
@database_option
def resume(study: str, database: str | None) -> None:
    """Open STUDY to new workers again."""
    changed = _open_or_close(study, database, "resume", "new workers are let in again")
    click.echo(f"{study} {'is open to new workers again' if changed else 'was not paused'}")


def _open_or_close(study: str, database: str | None, act: Literal["pause", "resume"], detail: str) -> bool:
    """Pause or resume a study, with an audit line; return whether it changed."""
    from study_app.services.researcher import studies

    with study_session(database, study, write=True) as opened:
        changed = (
            studies.pause(opened.session, opened.row, now=opened.now)
            if act == "pause"
            else studies.resume(opened.session, opened.row)
        )
        if changed:
            opened.note(act, detail)
    return changed


def as_text(content: "StudyContent", estimated: "StudyEstimate", left_out: Sequence[str]) -> str:
    """Format an estimate for people."""
    from study_app.estimate.estimate import assumptions

    entry = content.file.entry
    lines = [
        f"{entry.study}: no faults; platform {entry.platform}, device {entry.device}",
        *_at_the_door(entry),
        "",
        "What a worker does",
        f"  consent: {_minutes(estimated.consent)}",
        *([f"    the page adds: {estimated.added}"] if estimated.added else []),
    ]
    for number, task in enumerate(estimated.tasks, start=1):
        shown = task.content.entry
        lines += [
            f"  task {number}, {shown.name} ({shown.kind}, {shown.language}): {_minutes(task.seconds)}",
            f"    {what_is_done(task.content)}",
        ]
        if task.load is not None:
            lines.append(
                f"    loads up to {_megabytes(task.load.worker)} MB, {_megabytes(task.load.page)} MB for a page"
            )
    lines += [f"  in all: {_minutes(estimated.seconds)}", "", "What the study collects"]
    lines += [
        f"  task {number}, {task.content.entry.name}: {what_is_collected(task.capacity)}"
        for number, task in enumerate(estimated.tasks, start=1)
    ]
    limit = "no limit" if estimated.workers is None else f"{estimated.workers}, then the study is full"
    lines += [
        f"  workers: {limit}",
        f"  cost: {_cost(estimated.cost, estimated.workers)}",
    ]
    if estimated.warnings:
        lines += ["", "Look at this", *(f"  {line}" for line in estimated.warnings)]
    if left_out:
        lines += ["", "What no worker will see", *left_out]
    basis = f"Minutes are estimates: {'; '.join(assumptions(entry.tasks))}. See docs/study-file.md."
    return "\n".join([*lines, "", *textwrap.wrap(basis, LINE_LENGTH)]) + "\n"


def _at_the_door(entry: "StudyEntry") -> list[str]:
    """Return a line that says whom a study lets in and keeps out by lists; none without lists."""
    parts = [f"lets in {pluralise(len(entry.ids), 'id')} only"] if isinstance(entry.ids, tuple) else []
    listed = sum(len(digests - {"*"}) for digests in entry.kept_out.values())
    parts += [f"keeps out {pluralise(listed, 'id')}"] if listed else []
    earlier = [study for study, digests in entry.kept_out.items() if "*" in digests]
    parts += [f"keeps out who took part in {join_names(earlier)}"] if earlier else []
    return ["; ".join(parts)] if parts else []


def as_json(content: "StudyContent", estimated: "StudyEstimate", left_out: Sequence[str]) -> str:
    """Return the same for machines."""
    from study_app.estimate.estimate import assumptions

    entry = content.file.entry
    whole = {
        "study": entry.study,
        "platform": entry.platform,
        "device": entry.device,
        "at_the_door": _at_the_door(entry),
        "minutes": _pair(estimated.seconds),
        "consent_minutes": _pair(estimated.consent),
        "consent_adds": estimated.added,
        "tasks": [_task_json(number, task) for number, task in enumerate(estimated.tasks, start=1)],
        "workers": estimated.workers,
        "cost": _cost_json(estimated.cost),
        "warnings": list(estimated.warnings),
        "left_out": [line.strip() for line in left_out],
        "assumptions": list(assumptions(entry.tasks)),
    }
    return json.dumps(whole, ensure_ascii=False, indent=2) + "\n"


def what_is_done(content: "TaskContent") -> str:
    """Describe in one line what a worker does in a task."""
    from study_app.tasks.kinds import kind_of

    return kind_of(content.entry).work(content)


def what_is_collected(task_capacity: "Capacity | None") -> str:
    """Describe in one line the workers and answers of a full task."""
    from study_app.tasks.workload import count_phrase

    if task_capacity is None:
        return "answers of everybody"
    if task_capacity.budget is not None:
        things = count_phrase(task_capacity.things, task_capacity.thing)
        return f"{task_capacity.workers} workers; at most {task_capacity.budget:,} {task_capacity.answers} {things}"
    if task_capacity.workers is None or task_capacity.each is None:
        return f"no limit of workers; each adds {task_capacity.answers} {task_capacity.a_worker} of {count_phrase(task_capacity.things, task_capacity.thing)}"
    low, high = task_capacity.each
    each = f"{low}" if low == high else f"{low} or {high}"
    return f"{task_capacity.workers} workers; {each} {task_capacity.answers} each of {count_phrase(task_capacity.things, task_capacity.thing)}"


def _exact(amount: float) -> str:
    """Format money with as many decimals as it has, two at least.

    Printed amounts then add up.
    """
    return f"{amount:.2f}" if math.isclose(amount, round(amount, 2)) else f"{amount:.4f}".rstrip("0")


def _cost(cost: "Cost | None", workers: int | None) -> str:
    if cost is None:
        return "write reward (and currency, platform_fee) to have it worked out"
    total = (
        "no limit"
        if cost.total is None
        else f"{workers} workers x {_exact(cost.with_fee)} = {cost.total:.2f}"
    )
    return (
        f"{cost.reward:.2f} {cost.currency} a worker, {_exact(cost.with_fee)} with the platform's fee; {total}; "
        f"a worker earns {cost.an_hour.low:.2f} to {cost.an_hour.high:.2f} {cost.currency} an hour"
    )


def _minutes(span: "SecondsRange") -> str:
    low, high = (_rounded(seconds) for seconds in (span.low, span.high))
    return f"{low} min" if low == high else f"{low} to {high} min"


def _rounded(seconds: float) -> str:
    minutes = seconds / MINUTE_SECONDS
    return f"{minutes:.0f}" if minutes >= 10 else f"{minutes:.1f}"


def _megabytes(number: int) -> str:
    """Write a number of bytes in megabytes, of small ones two digits."""
    return f"{number / 1e6:.1f}" if number >= 1e6 else f"{number / 1e6:.2g}"


def _pair(span: "SecondsRange") -> list[float]:
    return [round(span.low / MINUTE_SECONDS, 2), round(span.high / MINUTE_SECONDS, 2)]


def _task_json(number: int, task: "TaskEstimate") -> dict[str, Any]:
    entry, task_capacity = task.content.entry, task.capacity
    return {
        "number": number,
        "name": entry.name,
        "kind": entry.kind,
        "language": entry.language,
        "minutes": _pair(task.seconds),
        "worker": what_is_done(task.content),
        "workers": None if task_capacity is None else task_capacity.workers,
        "answers": None if task_capacity is None else f"{task_capacity.answers} a {task_capacity.thing}",
        "number_of_these": None if task_capacity is None else task_capacity.things,
        "megabytes": None
        if task.load is None
        else {"page": task.load.page / 1e6, "worker": task.load.worker / 1e6},
        "answers_each": None
        if task_capacity is None or task_capacity.each is None
        else list(task_capacity.each),
        "of_a_worker": None if task_capacity is None else task_capacity.a_worker,
    }


def _cost_json(cost: "Cost | None") -> dict[str, Any] | None:
    if cost is None:
        return None
    return {
        "currency": cost.currency,
        "reward": cost.reward,
        "with_fee": round(cost.with_fee, 4),
        "total": None if cost.total is None else round(cost.total, 2),
        "an_hour": [round(cost.an_hour.low, 2), round(cost.an_hour.high, 2)],
    }
