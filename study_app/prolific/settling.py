"""Orders that a person settles: released to be sent again, or said to be carried out."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from study_app.prolific.api import ProlificApi
from study_app.services.researcher.orders import (
    mark_confirmed,
    mark_intended,
    settled_by_hand,
    shows_bonus,
)
from study_app.store.database import Database, transaction
from study_app.store.platform_models import PlatformOrder
from study_app.store.tokens import Now
from study_app.study.platform_list import submission_of_cells


@dataclass(frozen=True, kw_only=True)
class Settlement:
    """Orders released to be sent again, and those that Prolific shows as carried out, which are not."""

    released: Sequence[int]
    confirmed: Sequence[int]


def release(api: ProlificApi, ids: Collection[int], *, is_real: bool) -> Settlement:
    """Release orders by their numbers, but those that Prolific shows as carried out.

    Raises
    ------
    InputError
        If one of them cannot be released.
    PrefcalError
        If Prolific cannot be asked first.
    """
    with transaction(api.database, write=False) as session:
        orders = settled_by_hand(session, api.study_id, ids)
    shown = {order.id for order in orders if _is_shown(api, order)}
    released = [order.id for order in orders if order.id not in shown]
    with transaction(api.database, write=True) as session:
        mark_confirmed(session, shown, now=api.now())
        if is_real:
            mark_intended(session, released, "released by a person")
    return Settlement(released=released, confirmed=sorted(shown))


def confirm(database: Database, study_id: int, ids: Collection[int], *, now: Now, is_real: bool) -> None:
    """Store that a person saw that orders were carried out.

    Raises
    ------
    InputError
        If one of them is not open.
    """
    with transaction(database, write=is_real) as session:
        settled_by_hand(session, study_id, ids)
        if is_real:
            mark_confirmed(session, ids, now=now())


def _is_shown(api: ProlificApi, order: PlatformOrder) -> bool:
    if order.kind == "message" or not order.submission:
        return False
    answer = api.submission(order.submission)
    if order.kind == "approval":
        return submission_of_cells({"id": "", "status": answer.status}).paid
    return answer.bonuses is not None and shows_bonus(order, answer.bonuses)
