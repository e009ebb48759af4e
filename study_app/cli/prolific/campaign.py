"""Commands `prefcal prolific draft`, `publish`, `pause` and `places`: a study on Prolific from its file."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from metrics.errors import PrefcalError
from study_app.cli.database import database_option
from study_app.cli.people.remind import base_option
from study_app.cli.prolific.opened import Opened, opened_study, remote_option, yes_option
from study_app.estimate.content import read_whole_study
from study_app.prolific.api import ProlificApi
from study_app.prolific.studies import (
    ACTIVE,
    PAUSED,
    PUBLISHED,
    UNPUBLISHED,
    chosen_remote,
    cost_words,
    draft_body,
    make_draft,
    set_places,
    transition,
)

SHOWN_IDS = 3
"""Ids of a list of people that a draft shows before it is made."""


@click.command()
@click.argument("file", metavar="STUDY.yaml", type=click.Path(path_type=Path))
@base_option
@click.option(
    "--places",
    type=click.IntRange(1),
    metavar="N",
    help="How many people. [default: all that the study takes]",
)
@click.option(
    "--minutes",
    type=click.IntRange(1),
    metavar="M",
    help="How long it takes. [default: as study check estimates]",
)
@click.option("--project", metavar="ID", help="Project on Prolific. [default: the account's first]")
@yes_option("Make the draft")
@database_option
def draft(
    file: Path,
    base: str,
    places: int | None,
    minutes: int | None,
    project: str | None,
    database: str | None,
    *,
    is_real: bool,
) -> None:
    """Make a draft on Prolific from a study file that is loaded here.

    Codes, reward, places, device and the list of ids to let in are those of the file; every code waits for you, and none approves or
    rejects by itself. A draft costs nothing, and nobody sees it before `prefcal prolific publish`.
    """
    content = read_whole_study(file)
    body = draft_body(content, base=base, places=places, minutes=minutes, project=project)
    with opened_study(database, content.file.entry.study) as study:
        if not is_real:
            click.echo(_shown(body))
            click.echo("nothing was sent; add --yes to make this draft", err=True)
            return
        with study.api() as api:
            made = make_draft(api, body)
            study.note("draft a study on Prolific", made.remote.id)
            was = "is there already, from a command whose answer was lost" if made.was_there else "is made"
            click.echo(
                f"draft {made.remote.id} {was}: https://app.prolific.com/researcher/studies/{made.remote.id}"
            )
            click.echo(cost_words(api, study.entry, made.remote, int(body["total_available_places"])))
    click.echo(f"Next: look at it there, then prefcal prolific publish {study.name}")


@click.command()
@click.argument("study", metavar="STUDY", required=False)
@remote_option
@yes_option("Publish it, which reserves the money")
@database_option
def publish(study: str | None, remote: str | None, database: str | None, *, is_real: bool) -> None:
    """Publish the draft of STUDY on Prolific, or go on with it after a pause.

    With --yes Prolific reserves reward and fees of all places, and people can begin at once. First it says what that costs, and refuses where the account pays in another currency or another reward than the study file says.
    """
    with opened_study(database, study) as opened, opened.api() as api:
        there = api.study(chosen_remote(api, remote))
        state = there.status.upper()
        click.echo(cost_words(api, opened.entry, there, round(there.total_available_places or 0)))
        if state in PUBLISHED:
            click.echo(f"study {there.id} is {state.lower()} already")
            return
        if state not in {UNPUBLISHED, PAUSED}:
            raise PrefcalError(
                f"study {there.id} is {state.lower()}, so it cannot be published; add places to open it again"
            )
        if not is_real:
            click.echo(
                f"study {there.id} is {state.lower()}; nothing was sent: add --yes to publish it", err=True
            )
            return
        action = "START" if state == PAUSED else "PUBLISH"
        _step(opened, api, there.id, action, PUBLISHED)


@click.command()
@click.argument("study", metavar="STUDY", required=False)
@remote_option
@yes_option("Pause it")
@database_option
def pause(study: str | None, remote: str | None, database: str | None, *, is_real: bool) -> None:
    """Let nobody new take STUDY on Prolific; who has begun goes on, and `publish` opens it again.

    It costs nothing, and who has begun is paid as ever.
    """
    with opened_study(database, study) as opened, opened.api() as api:
        there = api.study(chosen_remote(api, remote))
        state = there.status.upper()
        if state != ACTIVE:
            click.echo(f"study {there.id} is {state.lower()}, so there is nothing to pause")
        elif not is_real:
            click.echo(f"study {there.id} is active; nothing was sent: add --yes to pause it", err=True)
        else:
            _step(opened, api, there.id, "PAUSE", frozenset({PAUSED}))


@click.command()
@click.argument("study", metavar="STUDY")
@click.argument("number", metavar="N", type=click.IntRange(1))
@remote_option
@yes_option("Set the places")
@database_option
def places(study: str, number: int, remote: str | None, database: str | None, *, is_real: bool) -> None:
    """Let N people in all take STUDY on Prolific; there can only be more than before.

    Each place more costs one more reward with its fees; people can take it at once where the study is published.
    """
    with opened_study(database, study) as opened, opened.api() as api:
        there = api.study(chosen_remote(api, remote))
        click.echo(cost_words(api, opened.entry, there, number))
        if not is_real:
            click.echo(
                f"study {there.id} has {there.total_available_places or 0:.0f} places; nothing was sent: add --yes to set {number}",
                err=True,
            )
            return
        now_there = set_places(api, there, number)
        opened.note("set places on Prolific", f"{number}")
        click.echo(f"study {there.id} has {now_there or 0:.0f} places")


def _step(opened: Opened, api: ProlificApi, remote: str, action: str, ends_in: frozenset[str]) -> None:
    state = transition(api, remote, action, ends_in)
    opened.note(f"{action.lower()} on Prolific", remote)
    click.echo(f"study {remote} is {state.lower()}")


def _shown(body: Mapping[str, Any]) -> str:
    """Return a draft for the terminal, with the first ids of a list of people."""
    filters = [
        {
            **each,
            "selected_values": [
                *each["selected_values"][:SHOWN_IDS],
                f"{len(each['selected_values']):,} in all",
            ],
        }
        for each in body["filters"]
    ]
    return json.dumps({**body, "filters": filters}, indent=2, ensure_ascii=False)
