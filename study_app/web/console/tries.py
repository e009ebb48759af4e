"""How often somebody has tried a wrong key. Counted by this process alone, and forgotten with it.

A right key is never refused: where a proxy hides who asks, a stranger could else keep the researcher out.
"""

from collections import deque
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import Lock

WITHIN = timedelta(minutes=1)
MOST = 5
MOST_KNOWN = 10_000


@dataclass(slots=True)
class Tries:
    """Wrong keys of the last minute, by who tried."""

    wrong: dict[str, deque[datetime]] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    def is_over(self, visitor: str, now: datetime) -> bool:
        """Count one more wrong key, and say whether it is more than `MOST` within a minute."""
        with self.lock:
            if len(self.wrong) >= MOST_KNOWN:
                self.wrong = {name: times for name, times in self.wrong.items() if times[-1] > now - WITHIN}
            times = self.wrong.setdefault(visitor, deque(maxlen=MOST + 1))
            times.append(now)
            return len(times) > MOST and times[0] > now - WITHIN
