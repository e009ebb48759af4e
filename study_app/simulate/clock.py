"""The clocks on which a crowd lives: one that stands still until it is told to go on, and that of the machine."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Protocol

from study_app.store.tokens import Now, utc_now


class CrowdClock(Protocol):
    """What people who act one after the other need of a clock."""

    def __call__(self) -> datetime:
        """Return the time, aware and in UTC."""

    def go_to(self, time: datetime, /) -> None:
        """Let it be ``time``; nothing for a time that is past."""

    def after(self, seconds: float, /) -> datetime:
        """Return the time ``seconds`` from now."""


class VirtualClock:
    """Time for a simulated study; an instance is called for the time, as `create_app(now=...)` wants it.

    Parameters
    ----------
    start : datetime
        The first time it tells, with a zone.
    """

    def __init__(self, start: datetime) -> None:
        self._now = start.astimezone(UTC)

    def __call__(self) -> datetime:
        """Return the time, aware and in UTC."""
        return self._now

    def go_to(self, time: datetime) -> None:
        """Move on to ``time``; a time already past changes nothing, as time never runs back."""
        self._now = max(self._now, time)

    def after(self, seconds: float) -> datetime:
        """Return the time ``seconds`` from now."""
        return self._now + timedelta(seconds=seconds)


class WallClock:
    """The machine's clock: whoever goes to a time waits for it.

    Parameters
    ----------
    now, sleep : callable
        Tells the time; waits for some seconds.
    """

    def __init__(self, *, now: Now = utc_now, sleep: Callable[[float], object] = time.sleep) -> None:
        self._now, self._sleep = now, sleep

    def __call__(self) -> datetime:
        """Return the time, aware and in UTC."""
        return self._now()

    def go_to(self, time: datetime) -> None:
        """Wait until ``time``."""
        self._sleep(max(0.0, (time - self._now()).total_seconds()))

    def after(self, seconds: float) -> datetime:
        """Return the time ``seconds`` from now."""
        return self._now() + timedelta(seconds=seconds)
