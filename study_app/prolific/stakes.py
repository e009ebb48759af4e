"""Orders that a call carries out, stored together with the call: before it is made, and after its answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from sqlalchemy.orm import Session

from study_app.services.researcher.orders import (
    CONFIRMED,
    SENT,
    claim,
    mark_confirmed,
    mark_intended,
    mark_sent,
)
from study_app.store.tokens import Now


class CallEffect(Enum):
    """What a call did, by its answer."""

    DONE = "done"
    NOTHING = "nothing"
    UNKNOWN = "unknown"


class TakenError(Exception):
    """Orders that another process is sending."""


@dataclass(frozen=True)
class OrderStakes:
    """Orders that a call carries out; ``batch`` is the platform's name for them, else the number of the call.

    ``done`` is their state after a call that was taken.
    """

    orders: Sequence[int]
    now: Now
    batch: str | None = None
    done: str = SENT

    def begin(self, session: Session, call: int) -> None:
        """Mark the orders as unknown before the call; raises `TakenError`, which prevents it."""
        if not claim(session, self.orders, batch=self.batch or str(call), now=self.now()):
            raise TakenError

    def end(self, session: Session, effect: CallEffect, words: str) -> None:
        """Mark them as carried out or as not sent, where the answer says which."""
        if effect is CallEffect.NOTHING:
            mark_intended(session, self.orders, words)
        elif effect is CallEffect.DONE and self.done == CONFIRMED:
            mark_confirmed(session, self.orders, now=self.now())
        elif effect is CallEffect.DONE:
            mark_sent(session, self.orders)
