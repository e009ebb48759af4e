"""Push notifications as a side of a pair page shows them: the days in order, each with what was pushed on it.

The oldest day stands first, and on a day what came first, so that reading down is what living through the days was like.
A day without pushes is there all the same: the system was quiet. Whether it was silent, with nothing to tell of at all,
no user can know; the page says so only where the study reveals it, and then on both sides alike.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from metrics.push.streams import parsed_day
from study_app.store.plan import Content


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownPush:
    """A notification: ``p12`` is the 12th of the stream, with its text and when it came."""

    key: str
    text: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class PushDay:
    """A day: its name ``YYYYMMDD``, its date, what was pushed, and whether to say that it was silent."""

    name: str
    date: date
    pushes: tuple[ShownPush, ...]
    silent: bool


def shown_pushes(
    content: Content, detail: Mapping[str, Any], *, reveals_silence: bool
) -> tuple[PushDay, ...]:
    """Return every day of the profile with a system's pushes; see `models.Summary` and `models.Topic` for the forms."""
    pushes: dict[str, list[ShownPush]] = {day: [] for day in detail["days"]}
    for place, push in enumerate(content["pushes"], start=1):
        at = datetime.fromtimestamp(push["at"], UTC)
        pushes[f"{at:%Y%m%d}"].append(ShownPush(key=f"p{place}", text=push["text"], at=at))
    silent = frozenset(detail["silent"]) if reveals_silence else frozenset()
    return tuple(
        PushDay(name=day, date=parsed_day(day), pushes=tuple(of_day), silent=day in silent)
        for day, of_day in pushes.items()
    )
