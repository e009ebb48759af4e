"""What a browser would log of one page, written while a simulated person reads it."""

from datetime import datetime
from typing import Any

from study_app.store.models import EPOCH, MILLISECOND

BEAT_MS = 5_000


class PageLog:
    """The numbered events of one page load, on its own monotonic clock.

    Parameters
    ----------
    token : str
        The page token.
    opened_at : datetime
        Wall time of the load.
    layout : str
        side_by_side or stacked.
    size : (int, int)
        Width and height of the window in pixels.
    """

    def __init__(self, token: str, opened_at: datetime, *, layout: str, size: tuple[int, int]) -> None:
        self._token = token
        self._wall_ms = (opened_at - EPOCH) // MILLISECOND
        self._ms = 0
        self._beat_ms = BEAT_MS
        self.events: list[dict[str, Any]] = []
        self.note("open", layout=layout, width=size[0], height=size[1], restored=False)
        self.note("visible")
        self.note("focus")

    @property
    def seconds(self) -> float:
        """Time since the load."""
        return self._ms / 1000

    def wait(self, seconds: float) -> None:
        """Let time pass, with a heartbeat every five seconds."""
        end = self._ms + round(seconds * 1000)
        while self._beat_ms <= end:
            self._ms = self._beat_ms
            self.note("beat")
            self._beat_ms += BEAT_MS
        self._ms = end

    def jump(self, seconds: float) -> None:
        """Let somebody set the device's clock: wall time jumps, the page's own clock does not."""
        self._wall_ms += round(seconds * 1000)
        self.note("sleep", lost_ms=round(seconds * 1000))

    def note(self, kind: str, **detail: Any) -> None:
        """Add one event at the present time."""
        self.events.append(
            {
                "n": len(self.events) + 1,
                "kind": kind,
                "ms": self._ms,
                "wall": self._wall_ms + self._ms,
                **detail,
            }
        )

    def batches(self, size: int) -> list[dict[str, Any]]:
        """Return everything noted so far in batches of at most ``size`` events."""
        return [
            {
                "page": self._token,
                "sent_ms": self._ms,
                "sent_wall_ms": self._wall_ms + self._ms,
                "events": self.events[start : start + size],
            }
            for start in range(0, len(self.events), size)
        ]
