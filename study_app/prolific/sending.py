"""Approvals and bonuses on their way to Prolific, in batches, each made once.

What keeps anybody from being paid twice: the orders of a batch become unknown in the transaction that stores its call, before it is made,
and sent or intended again in the one that stores its answer. A process that ends in between leaves them unknown. A call whose answer is lost ends
the sending.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from metrics.errors import pluralise
from study_app.prolific.answers import ChangedAnswerError
from study_app.prolific.api import CallError, LostAnswerError, ProlificApi, RefusedCallError
from study_app.prolific.stakes import OrderStakes, TakenError
from study_app.services.researcher.orders import (
    OrderKind,
    intended,
    mark_intended,
    money,
    note_bonuses_before,
)
from study_app.store.database import transaction
from study_app.store.platform_models import PlatformOrder, ProlificStudy

BATCH = 200
"""Most submissions in a call; Prolific recommends at most 200 bonuses and 1,000 approvals."""
MAX_WITH_FEES = 2.5
"""Most that a payment costs with fees and tax, as a multiple of what people get: more means another unit or currency."""


@dataclass(kw_only=True)
class Sending:
    """What was sent, what was not and why, and whom it concerns (rows of workers)."""

    sent: int = 0
    unknown: int = 0
    people: set[int] = field(default_factory=set)
    refused: list[str] = field(default_factory=list)
    stopped_by: str = ""

    def __str__(self) -> str:
        """Return the counts, with that of people."""
        people = pluralise(len(self.people), "person", "people")
        return f"{self.sent} sent, {self.unknown} unknown, {len(self.refused)} refused; {people}"


def send_orders(api: ProlificApi, kind: OrderKind) -> Sending:
    """Send every intended approval or bonus of a study.

    A batch that is refused for its content is halved until the orders at fault are alone; these stay intended with the reason.
    """
    result, passed_over = Sending(), set[int]()
    while True:
        with transaction(api.database, write=False) as session:
            orders = intended(session, api.study_id, kind, limit=BATCH, besides=passed_over)
        if not orders:
            return result
        parts = [list(orders)]
        while parts:
            part = parts.pop()
            result.people |= {order.worker_id for order in part}
            try:
                sent = _send(api, kind, part)
            except LostAnswerError as error:
                result.unknown += len(part)
                result.stopped_by = str(error)
                return result
            except RefusedCallError as error:
                if not error.is_about_content:
                    result.stopped_by = str(error)
                    return result
                if len(part) > 1:
                    middle = len(part) // 2
                    parts += [part[middle:], part[:middle]]
                    continue
                passed_over.add(part[0].id)
                result.refused.append(f"order {part[0].id}: {error}")
                with transaction(api.database, write=True) as session:
                    mark_intended(session, [part[0].id], str(error))
            except (CallError, ChangedAnswerError) as error:
                result.stopped_by = str(error)
                return result
            else:
                result.sent += sent


def _send(api: ProlificApi, kind: OrderKind, orders: Sequence[PlatformOrder]) -> int:
    """Send a batch of one study on Prolific; return how many orders were sent.

    Orders that another process has taken meanwhile are left to it.
    """
    ids = [order.id for order in orders]
    try:
        if kind == "approval":
            api.approve([order.submission for order in orders], OrderStakes(ids, api.now))
        else:
            with transaction(api.database, write=False) as session:
                study = str(session.get_one(ProlificStudy, orders[0].prolific_study_id).remote)
            _check_currency(api, orders, study)
            _note_before(api, orders)
            batch = _set_up(api, orders, study)
            _pay(api, batch, OrderStakes(ids, api.now, batch=batch))
    except TakenError:
        return 0
    return len(orders)


def _pay(api: ProlificApi, batch: str, stakes: OrderStakes) -> None:
    try:
        api.pay_bonuses(batch, stakes)
    except RefusedCallError as error:
        raise RefusedCallError(str(error)) from None  # fewer of them would be refused too


def _check_currency(api: ProlificApi, orders: Sequence[PlatformOrder], study: str) -> None:
    """Raise `RefusedCallError` if the study there pays in another currency."""
    currency = api.currency(study)
    if others := {order.currency for order in orders} - {currency}:
        raise RefusedCallError(
            f"study {study} of Prolific pays in {currency}, and these bonuses are in {', '.join(map(str, others))}: nothing was "
            "paid; write the currency of the account into the study file, load it, and list the bonuses anew"
        )


def _note_before(api: ProlificApi, orders: Sequence[PlatformOrder]) -> None:
    """Store the bonuses that each submission has before it is paid another."""
    before = {order.id: api.submission(order.submission).bonuses or [] for order in orders}
    with transaction(api.database, write=True) as session:
        note_bonuses_before(session, before)


def _set_up(api: ProlificApi, orders: Sequence[PlatformOrder], study: str) -> str:
    """Set up a payment that is not made yet; return its name there.

    It raises `ChangedAnswerError` if its price cannot be that of these bonuses.
    """
    lines = "\n".join(f"{order.submission},{(order.cents or 0) / 100:.2f}" for order in orders)
    answer, total = api.set_up_bonuses(study, lines), sum(order.cents or 0 for order in orders)
    if not total <= answer.total_amount <= MAX_WITH_FEES * total:
        currency = orders[0].currency or ""
        raise ChangedAnswerError(
            f"Prolific would take {answer.total_amount / 100:,.2f} {currency} for bonuses of {money(total, currency)}, which no fee "
            "explains: nothing was paid; look at it there"
        )
    return answer.id
