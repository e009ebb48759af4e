"""A clock that runs on and can be put forward, so that searches and days pass at once."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta


class SkippingClock:
    """Time for one copy of a study; an instance is called for the time, as `create_app(now=...)` wants it.

    Parameters
    ----------
    start : datetime
        The first time it tells, with a zone.
    ticks : callable
        Seconds of a clock that never runs back.
    """

    def __init__(self, start: datetime, *, ticks: Callable[[], float] = time.monotonic) -> None:
        self._start, self._ticks, self._first = start.astimezone(UTC), ticks, ticks()

    def __call__(self) -> datetime:
        """Return the time, aware and in UTC."""
        return self._start + timedelta(seconds=self._ticks() - self._first)

    def skip(self, seconds: float) -> None:
        """Let ``seconds`` pass at once."""
        self._start += timedelta(seconds=seconds)
