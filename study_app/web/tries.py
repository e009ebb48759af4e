"""Counts of what a visitor tried within a minute; of this process alone, and forgotten with it."""

from collections import deque
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import Lock

WITHIN = timedelta(minutes=1)
MAX_VISITORS = 10_000


@dataclass(slots=True)
class Tries:
    """Times of the last tries, by visitor; more than ``most`` within a minute are too many."""

    most: int
    times: dict[str, deque[datetime]] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    def add(self, visitor: str, now: datetime) -> bool:
        """Count one more try; True if these are too many."""
        with self.lock:
            if len(self.times) >= MAX_VISITORS:
                self.times = {name: times for name, times in self.times.items() if times[-1] > now - WITHIN}
            times = self.times.setdefault(visitor, deque(maxlen=self.most + 1))
            times.append(now)
            return len(times) > self.most and times[0] > now - WITHIN

    def has_enough(self, visitor: str, now: datetime) -> bool:
        """Return whether one more try would be too many."""
        with self.lock:
            times = self.times.get(visitor, ())
            return sum(time > now - WITHIN for time in times) >= self.most
