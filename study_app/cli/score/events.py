"""`prefcal score msu` and `prefcal score updates`: streams of updates about events, and what both read."""

import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from study_app.cli.output import MOST, Output, score_output_options
from study_app.cli.score.durations import durations
from study_app.cli.score.options import (
    check_draws,
    model_options,
    say_left_out,
    say_notes,
    say_of_runs,
    topics_option,
)

if TYPE_CHECKING:
    from metrics.events import EventCollection, UpdateRun
    from metrics.msu.score import MSU, MSUPerSecond, StreamMeasure, Users
    from metrics.readers.tempsum import Lengths
    from metrics.results import Topics
    from metrics.updates.account import Convention, Unsampled

F = TypeVar("F", bound=Callable[..., Any])
DEFAULT_LATENESS = 0.5
DEFAULT_USERS = 1000


def event_options(command: F) -> F:
    """Add `--topics-file`, `--nuggets`, `--matches` and `--updates`, all required."""
    files = {
        "topics-file": "When each event begins and ends: the track's XML.",
        "nuggets": "The facts of each event, when they became known and how important they are.",
        "matches": "Which update tells which nugget, in which words.",
        "updates": "The sampled updates: texts, lengths, and whose copies they are.",
    }
    for name, text in reversed(files.items()):
        command = click.option(f"--{name}", required=True, metavar="F", help=text)(command)
    return command


def read_judged_events(*, topics_file: str, nuggets: str, matches: str, updates: str) -> "EventCollection":
    """Read the judgments, and say on stderr, in one line, how many matches name what is not there."""
    from metrics.readers.tempsum import read_events

    judged = read_events(topics=topics_file, nuggets=nuggets, matches=matches, updates=updates)
    skipped = judged.skipped.sentence(nuggets=nuggets, updates=updates)
    if skipped:
        sys.stderr.write(f"{matches}: {skipped}\n")
    return judged


def read_update_runs(
    paths: "Iterable[str]",
    judged: "EventCollection",
    lengths: "Lengths | None" = None,
    *,
    topics: "Topics" = "judged",
) -> "list[UpdateRun]":
    """Read the runs, and say on stderr what of the judgments and of each run takes no part, or is missing in a mean over ``topics``."""
    from metrics.events import events_left_out, updates_left_out
    from metrics.readers.lines import read_runs
    from metrics.readers.tempsum import read_update_run

    paths = list(paths)
    runs = read_runs(paths, lambda path, name: read_update_run(path, name=name))
    say_left_out(judged.name, events_left_out(judged))
    say_of_runs(
        paths, runs, lambda run: updates_left_out(judged, run, lengths=lengths, topics=topics), lines=True
    )
    return runs


def decay(text: str) -> float:
    """Read a number from 0 to 1; anything else is wrong usage."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        raise click.BadParameter(f"{text!r} is no number from 0 to 1")
    return number


@click.command("msu")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@event_options
@click.option(
    "--lengths", metavar="F", help="Words of updates; of others the words in their texts are counted."
)
@click.option(
    "--away", type=durations, metavar="M,S", help="Times away, mean and sd over users, like 3h,90m."
)
@click.option("--session", type=durations, metavar="M,S", help="Session lengths, likewise, like 2m,60s.")
@click.option(
    "--trails", "given", metavar="F", help="Given users: when they come, how long, and how fast they read."
)
@click.option(
    "--lateness",
    "decays",
    multiple=True,
    type=decay,
    metavar="L",
    help="Worth of a nugget one visit late; repeatable.  [default: the model's, else 0.5]",
)
@click.option(
    "--users",
    "count",
    type=click.IntRange(1, MOST),
    metavar="N",
    help="How many users are simulated.  [default: 1000]",
)
@click.option("--per-user", is_flag=True, help="Print every user's own scores.")
@topics_option("the run has updates for")
@model_options
@score_output_options
def msu(
    *,
    runs: tuple[str, ...],
    lengths: str | None,
    away: tuple[float, float] | None,
    session: tuple[float, float] | None,
    given: str | None,
    decays: tuple[float, ...],
    count: int | None,
    per_user: bool,
    topics: "Topics",
    model: str | None,
    draws: int | None,
    seed: int,
    output: Output,
    **files: str,
) -> None:
    """MSU, its standard error and MSU per second of streams of updates, per topic and over all topics."""
    from metrics.msu.score import msu_scores, msu_user_scores
    from metrics.readers.tempsum import read_lengths

    explicit = {**_explicit("away", away), **_explicit("session", session)}
    if given is not None and explicit:
        raise click.UsageError("--trails says who reads: leave out --away and --session")
    if given is None and model is None and len(explicit) < 4:
        raise click.UsageError(
            "say who reads: --away M,S and --session M,S, or --model FILE, or --trails FILE"
        )
    _check_draws(model, draws, per_user=per_user, takes_something=given is None or not decays)
    judged = read_judged_events(**files)
    words = None if lengths is None else read_lengths(lengths, judged.topics)
    systems = read_update_runs(runs, judged, words, topics=topics)
    people = None if given is None else _given(given, count)
    user = None
    if model is not None:
        from calibration.user_model.msu import stream_model

        user = stream_model(
            model,
            judged,
            explicit=explicit,
            users=people,
            count=count or DEFAULT_USERS,
            seed=seed,
            lateness=not decays,
            lengths=words,
        )
        say_notes(user)
        people = user.users
    elif people is None:
        people = _simulated(explicit, count=count or DEFAULT_USERS, seed=seed)
    floor = 0.0
    if not decays:
        decays = (DEFAULT_LATENESS if user is None or user.lateness is None else user.lateness,)
        floor = 0.0 if user is None else user.floor
    if per_user:
        output.scores(
            msu_user_scores(
                judged, systems, _user_measures(decays, floor), people, lengths=words, topics=topics
            )
        )
    elif user is None:
        output.scores(
            msu_scores(judged, systems, _measures(decays, floor), people, lengths=words, topics=topics)
        )
    else:
        output.scores(*user.scored(systems, _measures(decays, floor), draws=draws, seed=seed, topics=topics))


def _explicit(what: str, given: tuple[float, float] | None) -> dict[str, float]:
    """Name what an option says of the population, as `metrics.msu.score.Population` does."""
    names = (f"{what}_mean_seconds", f"{what}_sd_seconds")
    return {} if given is None else dict(zip(names, given, strict=True))


def _check_draws(model: str | None, draws: int | None, *, per_user: bool, takes_something: bool) -> None:
    """Refuse `--draws` where there is nothing to draw, or no place for its intervals."""
    if draws is None:
        return
    if model is None:
        raise click.UsageError("--draws needs --model FILE")
    if per_user:
        raise click.UsageError("--draws draws other users each time: leave out --per-user")
    if not takes_something:
        raise click.UsageError("--draws has nothing to draw: leave out --trails or --lateness")


def _simulated(explicit: dict[str, Any], *, count: int, seed: int) -> "Users":
    """Draw users from the population of the options."""
    from metrics.msu.score import Population, SimulatedUsers

    try:
        return SimulatedUsers(population=Population(**explicit), count=count, seed=seed)
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def _given(trails: str, count: int | None) -> "Users":
    """Read given users; they are used as they are, whatever number was asked for."""
    from metrics.readers.trails import read_trails

    users = read_trails(trails)
    if count not in {None, len(users)}:
        met = "its user is met" if len(users) == 1 else f"all its {len(users)} users are met"
        sys.stderr.write(f"{trails}: {met}; --users is not looked at\n")
    return users


def _measures(decays: tuple[float, ...], floor: float) -> "list[StreamMeasure]":
    """List what is printed, in order."""
    from metrics.msu.score import MSU, MSUPerSecond, MSUStandardError

    kinds = (MSU, MSUStandardError, MSUPerSecond)
    return [kind(lateness=lateness, floor=floor) for lateness in decays for kind in kinds]


def _user_measures(decays: tuple[float, ...], floor: float) -> "list[MSU | MSUPerSecond]":
    """List what is printed of every user, in order."""
    from metrics.msu.score import MSU, MSUPerSecond

    return [kind(lateness=lateness, floor=floor) for lateness in decays for kind in (MSU, MSUPerSecond)]


@click.command("updates")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@event_options
@click.option(
    "--convention",
    type=click.Choice(["2014", "2013"]),
    default="2014",
    show_default=True,
    help="Count as the track's program of that year does.",
)
@click.option("--binary", is_flag=True, help="Every relevant nugget is worth 1, not exp(importance - 3).")
@click.option(
    "--unsampled",
    type=click.Choice(["count", "skip"]),
    help="An update nobody judged: one word without nuggets, or nothing.  [default: count in 2014, skip in 2013]",
)
@topics_option("the run has updates for")
@model_options
@score_output_options
def updates(
    *,
    runs: tuple[str, ...],
    topics_file: str,
    nuggets: str,
    matches: str,
    updates: str,
    convention: "Convention",
    binary: bool,
    unsampled: "Unsampled | None",
    topics: "Topics",
    model: str | None,
    draws: int | None,
    seed: int,  # noqa: ARG001 - accepted by every score command
    output: Output,
) -> None:
    """Gain, latency, comprehensiveness and verbosity of updates, per topic and over all topics."""
    from metrics.updates.measures import MEASURES
    from metrics.updates.score import update_scores

    check_draws(model, draws)
    judged = read_judged_events(topics_file=topics_file, nuggets=nuggets, matches=matches, updates=updates)
    systems = read_update_runs(runs, judged, topics=topics)
    if model is not None:
        from calibration.user_model.model import read_user_model

        read_user_model(model)
        sys.stderr.write(f"{model}: no parameter of a user model enters these measures\n")
    measures = [one(convention=convention, binary=binary, unsampled=unsampled) for one in MEASURES]
    scores = update_scores(judged, systems, measures, topics=topics)
    output.scores(scores, None if draws is None else {})
