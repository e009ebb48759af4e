"""Commands `prefcal score msu` and `prefcal score updates`."""

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from study_app.cli.options import COUNT, one_of, option, with_options
from study_app.cli.output import ScoreOutput
from study_app.cli.score.durations import decay, durations
from study_app.cli.score.options import (
    ModelChoice,
    print_unused,
    print_unused_by_run,
    say_notes,
    topics_option,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from metrics.events import EventCollection, UpdateRun
    from metrics.msu.measures import StreamMeasure
    from metrics.msu.trails import Users
    from metrics.readers.tempsum import Lengths
    from metrics.results import Topics
    from metrics.updates.account import Convention, Unsampled

DEFAULT_LATENESS = 0.5
DEFAULT_USERS = 1000


@dataclass(frozen=True, kw_only=True)
class EventOptions:
    """Judgments of updates about events."""

    topics_file: str = option(
        required=True, metavar="F", help="Begin and end of each event: the track's XML."
    )
    nuggets: str = option(
        required=True,
        metavar="F",
        help="Facts of each event, when they became known and how important they are.",
    )
    matches: str = option(
        required=True, metavar="F", help="Nuggets in each update, with the words that match."
    )
    updates: str = option(required=True, metavar="F", help="Sampled updates: texts, lengths, and duplicates.")

    def read(self) -> "EventCollection":
        """Read the judgments, and report on stderr the matches of unknown names."""
        from metrics.readers.tempsum import read_events

        judged = read_events(
            topics=self.topics_file, nuggets=self.nuggets, matches=self.matches, updates=self.updates
        )
        skipped = judged.skipped.sentence(nuggets=self.nuggets, updates=self.updates)
        if skipped:
            sys.stderr.write(f"{self.matches}: {skipped}\n")
        return judged


def lengths_option() -> Any:
    """Return the option `--lengths`."""
    return option(metavar="F", help="Words of updates; of others the words in their texts are counted.")


def read_update_runs(
    paths: "Iterable[str]",
    judged: "EventCollection",
    lengths: "Lengths | None" = None,
    *,
    topics: "Topics" = "judged",
) -> "list[UpdateRun]":
    """Read the runs, and report on stderr their unused and missing input.

    Topics are missing where a mean is over ``topics``.
    """
    from metrics.events import events_left_out, updates_left_out
    from metrics.readers.lines import read_runs
    from metrics.readers.tempsum import read_update_run

    paths = list(paths)
    runs = read_runs(paths, lambda path, name: read_update_run(path, name=name))
    print_unused(judged.name, events_left_out(judged))
    print_unused_by_run(
        paths, runs, lambda run: updates_left_out(judged, run, lengths=lengths, topics=topics), lines=True
    )
    return runs


@dataclass(frozen=True, kw_only=True)
class StreamUtilityOptions:
    """Options of Modeled Stream Utility."""

    lengths: str | None = lengths_option()
    away: tuple[float, float] | None = option(
        type=durations, metavar="M,S", help="Times away, mean and sd over users, like 3h,90m."
    )
    session: tuple[float, float] | None = option(
        type=durations, metavar="M,S", help="Session lengths, likewise, like 2m,60s."
    )
    trails: str | None = option(
        metavar="F", help="Given users: when they come, how long, and how fast they read."
    )
    decays: tuple[float, ...] = option(
        "--lateness",
        type=decay,
        metavar="L",
        help="Worth of a nugget one visit late; repeatable.  [default: the model's, else 0.5]",
    )
    users: int | None = option(type=COUNT, metavar="N", help="Number of simulated users.  [default: 1000]")
    per_user: bool = option(help="Print every user's own scores.")
    topics: "Topics" = topics_option("the run has updates for")

    @property
    def explicit(self) -> dict[str, float]:
        """Parameters of the typed population, named as in `metrics.msu.trails.Population`."""
        given = {"away": self.away, "session": self.session}
        return {
            f"{what}_{moment}_seconds": seconds
            for what, pair in given.items()
            if pair is not None
            for moment, seconds in zip(("mean", "sd"), pair, strict=True)
        }

    def check(self, people: ModelChoice) -> None:
        """Refuse options that contradict each other, or leave the readers undefined."""
        if self.trails is not None and self.explicit:
            raise click.UsageError("--trails says who reads: leave out --away and --session")
        if self.trails is None and people.model is None and len(self.explicit) < 4:
            raise click.UsageError(
                "say who reads: --away M,S and --session M,S, or --model FILE, or --trails FILE"
            )
        if people.draws is not None and self.per_user:
            raise click.UsageError("--draws draws other users each time: leave out --per-user")
        if people.draws is not None and self.trails is not None and self.decays:
            raise click.UsageError("--draws has nothing to draw: leave out --trails or --lateness")


@click.command("msu")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@with_options(files=EventOptions, choices=StreamUtilityOptions, people=ModelChoice, output=ScoreOutput)
def msu(
    runs: tuple[str, ...],
    *,
    files: EventOptions,
    choices: StreamUtilityOptions,
    people: ModelChoice,
    output: ScoreOutput,
) -> None:
    """Score streams of updates by MSU, per topic and over all topics.

    It prints MSU, its standard error, and MSU per second.
    """
    from metrics.msu.measures import MSU, MSUPerSecond
    from metrics.msu.score import msu_scores, msu_user_scores
    from metrics.readers.tempsum import read_lengths

    choices.check(people)
    judged, topics = files.read(), choices.topics
    words = None if choices.lengths is None else read_lengths(choices.lengths, judged.topics)
    systems = read_update_runs(runs, judged, words, topics=topics)
    count = choices.users or DEFAULT_USERS
    users = None if choices.trails is None else _given(choices.trails, choices.users)
    user = None
    if people.model is not None:
        from calibration.user_model.msu import stream_model

        user = stream_model(
            people.model,
            judged,
            explicit=choices.explicit,
            users=users,
            count=count,
            seed=people.seed,
            lateness=not choices.decays,
            lengths=words,
        )
        say_notes(user)
        users = user.users
    elif users is None:
        users = _simulated(choices.explicit, count=count, seed=people.seed)
    decays, floor = choices.decays, 0.0
    if not decays:
        decays = (DEFAULT_LATENESS if user is None or user.lateness is None else user.lateness,)
        floor = 0.0 if user is None else user.floor
    measures = _measures(decays, floor)
    if choices.per_user:
        of_users = [measure for measure in measures if isinstance(measure, MSU | MSUPerSecond)]
        output.scores(msu_user_scores(judged, systems, of_users, users, lengths=words, topics=topics))
    elif user is None:
        output.scores(msu_scores(judged, systems, measures, users, lengths=words, topics=topics))
    else:
        output.scores(*user.scored(systems, measures, draws=people.draws, seed=people.seed, topics=topics))


def _simulated(explicit: dict[str, Any], *, count: int, seed: int) -> "Users":
    """Draw users from the population of the options."""
    from metrics.msu.trails import Population, SimulatedUsers

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
    from metrics.msu.measures import MSU, MSUPerSecond, MSUStandardError

    kinds = (MSU, MSUStandardError, MSUPerSecond)
    return [kind(lateness=lateness, floor=floor) for lateness in decays for kind in kinds]


@dataclass(frozen=True, kw_only=True)
class UpdateOptions:
    """Options of the track's measures."""

    convention: "Convention" = one_of("2014", "2013", help="Count as the track's program of that year does.")
    binary: bool = option(help="Every relevant nugget is worth 1, not exp(importance - 3).")
    unsampled: "Unsampled | None" = option(
        type=click.Choice(["count", "skip"]),
        help="Updates that were not judged: one word without nuggets, or nothing.  [default: count in 2014, skip in 2013]",
    )
    topics: "Topics" = topics_option("the run has updates for")


@click.command("updates")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@with_options(files=EventOptions, choices=UpdateOptions, people=ModelChoice, output=ScoreOutput)
def updates(
    runs: tuple[str, ...],
    *,
    files: EventOptions,
    choices: UpdateOptions,
    people: ModelChoice,
    output: ScoreOutput,
) -> None:
    """Score updates by gain, latency, comprehensiveness and verbosity.

    It prints scores per topic and over all topics.
    """
    from metrics.updates.measures import MEASURES
    from metrics.updates.score import update_scores

    judged = files.read()
    systems = read_update_runs(runs, judged, topics=choices.topics)
    if people.model is not None:
        from calibration.user_model.model import read_user_model

        read_user_model(people.model)
        sys.stderr.write(f"{people.model}: no parameter of a user model enters these measures\n")
    measures = [
        measure(convention=choices.convention, binary=choices.binary, unsampled=choices.unsampled)
        for measure in MEASURES
    ]
    scores = update_scores(judged, systems, measures, topics=choices.topics)
    output.scores(scores, None if people.draws is None else {})
