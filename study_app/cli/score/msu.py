"""`prefcal score msu`: Modeled Stream Utility."""

import re
import sys
from typing import TYPE_CHECKING

import click

from study_app.cli.output import Output, score_output_options
from study_app.cli.score.event_files import event_options, read_judged_events, read_update_runs
from study_app.cli.score.model_options import model_options, say_notes, topics_option

if TYPE_CHECKING:
    from metrics.msu.score import MSU, MSUPerSecond, StreamMeasure, Users
    from metrics.results import Topics

DEFAULT_LATENESS = 0.5
DEFAULT_USERS = 1000
SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0}
DURATION = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)([hms])")


def durations(text: str) -> tuple[float, float]:
    """Read ``M,S``, two durations such as ``3h``, ``90m`` or ``120s``, in seconds; anything else is wrong usage."""
    found = [DURATION.fullmatch(part.strip()) for part in text.split(",")]
    seconds = [float(one[1]) * SECONDS[one[2]] for one in found if one]
    if len(found) != 2 or len(seconds) != 2:
        raise click.BadParameter(
            f"{text!r} is no mean and standard deviation; write two durations such as 3h,90m"
        )
    return seconds[0], seconds[1]


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
    type=click.IntRange(min=1),
    metavar="N",
    help="How many users are simulated.  [default: 1000]",
)
@click.option("--per-user", is_flag=True, help="Print every user's own scores.")
@topics_option("the run has updates for")
@model_options
@score_output_options
def command(
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
    systems = read_update_runs(runs, judged, words)
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
    if not decays:
        decays = (DEFAULT_LATENESS if user is None or user.lateness is None else user.lateness,)
    if per_user:
        output.scores(
            msu_user_scores(judged, systems, _user_measures(decays), people, lengths=words, topics=topics)
        )
    elif user is None:
        output.scores(msu_scores(judged, systems, _measures(decays), people, lengths=words, topics=topics))
    else:
        output.scores(*user.scored(systems, _measures(decays), draws=draws, seed=seed, topics=topics))


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


def _simulated(explicit: dict[str, float], *, count: int, seed: int) -> "Users":
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


def _measures(decays: tuple[float, ...]) -> "list[StreamMeasure]":
    """List what is printed, in order."""
    from metrics.msu.score import MSU, MSUPerSecond, MSUStandardError

    kinds = (MSU, MSUStandardError, MSUPerSecond)
    return [kind(lateness=lateness) for lateness in decays for kind in kinds]


def _user_measures(decays: tuple[float, ...]) -> "list[MSU | MSUPerSecond]":
    """List what is printed of every user, in order."""
    from metrics.msu.score import MSU, MSUPerSecond

    return [kind(lateness=lateness) for lateness in decays for kind in (MSU, MSUPerSecond)]
