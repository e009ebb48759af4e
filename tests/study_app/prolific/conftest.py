"""A campaign on Prolific: a served study, a server that behaves as the platform, and commands by the study's clock."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from sqlalchemy import select

from study_app import http_client
from study_app.store.platform_models import PlatformCall, PlatformOrder
from tests.study_app.prefcal_command import Ended, run_here
from tests.study_app.prolific.campaign_rows import REMOTE, add_people, person, submission
from tests.study_app.prolific.prolific_server import TOKEN, Prolific, prolific_server
from tests.study_app.small_study import votes_task


class ProlificCampaign:
    """A study of some people who have complete data and a submission that awaits review."""

    def __init__(self, study: Any, there: Prolific, run: Callable[..., Ended]) -> None:
        self.study, self.there, self._run = study, there, run

    def run(self, command: str, *arguments: object) -> Ended:
        """Run a command about the study, a second after the one before."""
        self.study.clock.forward(1)
        return self._run("prolific", command, "small", *arguments, "--database", self.study.url)

    def orders(self, kind: str | None = None) -> dict[str, str]:
        """Return the state of the order about each submission."""
        rows = self.study.rows(select(PlatformOrder.submission, PlatformOrder.state, PlatformOrder.kind))
        return {name: state for name, state, of in rows if kind in {None, of}}

    def numbers(self, state: str) -> list[int]:
        """Return the numbers of the orders in a state."""
        wanted = select(PlatformOrder.id).where(PlatformOrder.state == state).order_by(PlatformOrder.id)
        return [row.id for row in self.study.rows(wanted)]

    def calls(self) -> list[Any]:
        """Return the recorded calls."""
        columns = (PlatformCall.method, PlatformCall.path, PlatformCall.status, PlatformCall.ended_at)
        return self.study.rows(select(*columns).order_by(PlatformCall.id))


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Ended]:
    """Return a function that runs a command."""
    return lambda *arguments: run_here(monkeypatch, capsys, *arguments)


@pytest.fixture
def new_prolific(
    campaign: Callable[..., Any], run: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., ProlificCampaign]]:
    """Return a function that makes a campaign of some people; waits are short."""
    monkeypatch.setattr(http_client, "GROWING", lambda _state: 0.001)
    servers = []

    def make(
        people: int = 3,
        *,
        study: dict[str, Any] | None = None,
        remote: str | None = REMOTE,
        **options: Any,
    ) -> ProlificCampaign:
        served = campaign(
            **{
                "platform": "prolific",
                "tasks": [votes_task()],
                "completion_code": "CDONE",
                "reward": 1,
                "currency": "GBP",
                **(study or {}),
            }
        )
        server = prolific_server(**options)
        there = server.__enter__()
        servers.append(server)
        if remote is not None:
            there.study(number=remote)
        monkeypatch.setattr("study_app.store.tokens.utc_now", served.clock)
        monkeypatch.setenv("PREFCAL_PROLIFIC_TOKEN", TOKEN)
        monkeypatch.setenv("PREFCAL_PROLIFIC_API", there.base)
        add_people(served.database, people, now=served.clock(), remote=remote)
        for number in range(1, people + 1):
            there.submit(submission(number), person(number))
        return ProlificCampaign(served, there, run)

    yield make
    for server in servers:
        server.__exit__(None, None, None)
