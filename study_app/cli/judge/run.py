"""`prefcal judge run`: a program or a server answers a file of requests."""

import math
import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from metrics.errors import pluralise
from study_app.cli.options import option, output_file, with_options

if TYPE_CHECKING:
    from study_app.judges.programs import ProgramJudge
    from study_app.judges.requests import RequestFile
    from study_app.judges.run import RunRecord
    from study_app.judges.servers import ServerJudge

MILLION = 1_000_000
SHOWN = 60
"""Characters of a line that are shown."""


def _price(value: str) -> tuple[float, float]:
    try:
        prices = tuple(float(part) for part in value.split(","))
    except ValueError:
        prices = ()
    if len(prices) != 2 or not all(math.isfinite(price) and price >= 0 for price in prices):
        raise click.BadParameter(
            f"{value!r} is not like 0.15,0.60: a million tokens in, a million tokens out"
        )
    return prices[0], prices[1]


@dataclass(frozen=True, kw_only=True)
class JudgeOptions:
    """Who answers, how many at a time, and how long they may take."""

    command: str | None = option(
        metavar="CMD", help="A program that reads requests on its input and writes answers on its output."
    )
    url: str | None = option(
        metavar="BASE", help="A server of chat completions, such as http://localhost:8000/v1."
    )
    model: str | None = option(metavar="M", help="The server's model; with --command a name to write down.")
    jobs: int = option(
        type=click.IntRange(min=1),
        default=1,
        metavar="N",
        help="Processes for the whole run, or requests to the server at a time.",
    )
    timeout: float = option(
        type=click.FloatRange(min=0, min_open=True),
        default=120.0,
        metavar="SECONDS",
        help="Longest time without an answer; then what is unanswered is asked once more.",
    )
    temperature: float | None = option(
        type=click.FloatRange(min=0), metavar="T", help="For --url; default: the server's own."
    )

    def judge(self) -> "ProgramJudge | ServerJudge":
        """Return the program or the server."""
        if (self.command is None) == (self.url is None):
            raise click.UsageError("give --command or --url, one of the two")
        return self._program(self.command) if self.command is not None else self._server(str(self.url))

    def _program(self, command: str) -> "ProgramJudge":
        from study_app.judges.programs import ProgramJudge

        try:
            words = shlex.split(command)
        except ValueError as error:
            raise click.UsageError(f"--command cannot be read ({error})") from None
        if not words or self.temperature is not None:
            raise click.UsageError("--temperature is for --url" if words else "--command is empty")
        return ProgramJudge(words, jobs=self.jobs, timeout_seconds=self.timeout)

    def _server(self, url: str) -> "ServerJudge":
        from study_app.judges.servers import KEY_VARIABLE, ServerJudge

        if not self.model:
            raise click.UsageError("--url needs --model")
        return ServerJudge(
            url,
            self.model,
            key=os.environ.get(KEY_VARIABLE, "").strip() or None,
            jobs=self.jobs,
            timeout_seconds=self.timeout,
            temperature=self.temperature,
        )


@click.command(name="run")
@click.argument("file", metavar="REQUESTS", type=click.Path(path_type=Path))
@output_file("File of answers, one JSON object a line. If it is there, the run goes on where it was.")
@with_options(options=JudgeOptions)
@click.option(
    "--price",
    type=_price,
    metavar="IN,OUT",
    help="What a million tokens cost in and out, to say what the run costs.",
)
def run(file: Path, output: Path, options: JudgeOptions, price: tuple[float, float] | None) -> None:
    """Let a judge answer the requests of the file REQUESTS.

    Every answer is in FILE at once, so a run that is stopped goes on when the same command is run again. An answer that nobody can read is
    kept as text; a request that was asked twice in vain is kept as no_answer. The key of a server is taken from PREFCAL_JUDGE_KEY.
    """
    import asyncio

    from study_app.cli.progress import shown_progress
    from study_app.judges.answers import NO_ANSWER, open_answers, read_answers
    from study_app.judges.requests import read_requests
    from study_app.judges.run import RunRecord, run_judge

    judge = options.judge()
    if output.resolve() == file.resolve():
        raise click.UsageError("-o names the file of requests; name another file for the answers")
    requests = read_requests(file)
    with open_answers(output) as answers:
        if answers.dropped_line is not None:
            click.echo(
                f"{output}:{answers.dropped_line}: a line was cut short; its request is asked again", err=True
            )
        before = read_answers(output, requests.requests)
        record = RunRecord(has_answered=any(answer.get("choice") != NO_ANSWER for answer in before))
        answered = {answer["id"] for answer in before}
        left = [request_id for request_id in requests.requests if request_id not in answered]
        _say_size(requests, left, len(before), price)
        with shown_progress(
            len(left), lambda done: f"{done:,} of {len(left):,} answers", unit="answer"
        ) as progress:
            model = options.model if options.url is None else None
            work = run_judge(judge, requests, left, answers, record=record, model=model, progress=progress)
            try:
                asyncio.run(work)
            except KeyboardInterrupt:
                click.echo(f"stopped after {len(record.answers):,}; the same command goes on", err=True)
                sys.exit(130)
            finally:
                _say_stray(judge)
    _say_end(output, [*before, *record.answers], requests, record, price)


def _say_size(
    requests: "RequestFile", left: Sequence[str], answered: int, price: tuple[float, float] | None
) -> None:
    """Say how much is going to be asked, before anything is."""
    if answered:
        click.echo(f"{answered:,} of {len(requests.requests):,} requests are answered already", err=True)
    if left:
        size = requests.size(left)
        cost = "" if price is None else f", {size.tokens * price[0] / MILLION:,.2f} for reading them"
        click.echo(f"{size}{cost}", err=True)


def _say_stray(judge: "ProgramJudge | ServerJudge") -> None:
    """Say how many lines of a program were of no use, and show the first."""
    if judge.stray_lines:
        first = judge.first_stray
        shown = repr(first if len(first) <= SHOWN else f"{first[:SHOWN]}…")
        click.echo(
            f"{pluralise(judge.stray_lines, 'line')} of the program answered no open request, the first {shown};"
            ' each answer is a line such as {"id": "…", "choice": "A"}',
            err=True,
        )


def _say_end(
    output: Path,
    answers: Sequence[Any],
    requests: "RequestFile",
    record: "RunRecord",
    price: tuple[float, float] | None,
) -> None:
    """Say what is in the file of answers, what the judge took, and what comes next."""
    from study_app.judges.answers import describe

    click.echo(f"{output}: {describe(answers, requests.requests)}")
    if any(record.tokens):
        tokens_in, tokens_out = record.tokens
        cost = "" if price is None else f": {(tokens_in * price[0] + tokens_out * price[1]) / MILLION:,.2f}"
        click.echo(f"{tokens_in:,} tokens in and {tokens_out:,} out{cost}")
    place = requests.path
    named = "" if place == output.parent / "requests.jsonl" else f" --requests {place}"
    click.echo(f"Next: prefcal judge import {output}{named} --tables TABLES --name NAME -o DIR")
