"""A clock that stands still until it is told to go on."""

from datetime import UTC, datetime, timedelta


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
