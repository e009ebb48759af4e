"""Messages to followers of streams, one each and for one purpose once."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from metrics.errors import input_fault
from study_app.prolific.answers import ChangedAnswerError
from study_app.prolific.api import CallError, LostAnswerError, ProlificApi, RefusedCallError
from study_app.prolific.sending import Sending
from study_app.prolific.stakes import CallEffect, OrderStakes, TakenError
from study_app.services.researcher.orders import (
    CONFIRMED,
    INTENDED,
    UNKNOWN,
    intend_messages,
    mark_confirmed,
    orders_of,
)
from study_app.services.researcher.remind import Reminder, note_reminders
from study_app.store.database import transaction
from study_app.store.platform_models import PlatformOrder, ProlificStudy
from study_app.store.tokens import Signer

ADDRESS, TOPICS = "{address}", "{topics}"
MAX_LETTERS = 5_000
CLOCKS_APART = timedelta(minutes=5)
"""Most that the clocks here and there may differ."""


@dataclass(frozen=True, kw_only=True)
class PersonalText:
    """Message to one follower: platform id, address and text, and the streams that it is about."""

    platform_worker: str
    address: str
    text: str
    reminders: Sequence[Reminder]


def personal_texts(
    text: str, reminders: Sequence[Reminder], *, base: str, signer: Signer
) -> Mapping[int, PersonalText]:
    """Return the message to each follower (row), with their own address.

    Raises
    ------
    InputError
        If the text has no ``{address}``, or is too long.
    """
    if ADDRESS not in text or len(text) > MAX_LETTERS:
        raise input_fault(
            f"a message of {len(text)} letters{'' if ADDRESS in text else f' without {ADDRESS}'}",
            cure=f"write {ADDRESS} where each follower's own address is to stand, and at most {MAX_LETTERS:,} letters",
        )
    followed: defaultdict[int, list[Reminder]] = defaultdict(list)
    for reminder in reminders:
        followed[reminder.worker].append(reminder)
    texts = {}
    for worker, streams in followed.items():
        address = f"{base.rstrip('/')}/w/{signer.worker_token(worker)}/?via=reminder"
        topics = ", ".join(dict.fromkeys(stream.title for stream in streams))
        texts[worker] = PersonalText(
            platform_worker=streams[0].platform_worker,
            address=address,
            text=text.replace(ADDRESS, address).replace(TOPICS, topics),
            reminders=streams,
        )
    return texts


def send_messages(api: ProlificApi, purpose: str, texts: Mapping[int, PersonalText]) -> Sending:
    """Send each follower a message, unless they have it for this purpose.

    A message whose answer was lost is looked for among those that Prolific shows, and not sent again.
    """
    result = Sending()
    with transaction(api.database, write=True) as session:
        intend_messages(session, api.study_id, purpose, texts, now=api.now())
    with transaction(api.database, write=False) as session:
        orders = [
            order
            for order in session.scalars(orders_of(api.study_id))
            if (order.kind, order.purpose) == ("message", purpose) and order.worker_id in texts
        ]
        remotes = {row.id: str(row.remote) for row in session.scalars(select(ProlificStudy))}
    for order in orders:
        message, study = texts[order.worker_id], remotes[order.prolific_study_id]
        if order.state in {UNKNOWN, INTENDED}:
            result.people.add(order.worker_id)
        try:
            if order.state == UNKNOWN:
                result.unknown += not _is_shown(api, order, message)
            elif order.state == INTENDED:
                result.sent += _send(api, order, message, study)
        except RefusedCallError as error:
            if not error.is_about_content:
                result.stopped_by = str(error)
                return result
            result.refused.append(f"order {order.id}: {error}")
        except (CallError, ChangedAnswerError) as error:
            result.unknown += isinstance(error, LostAnswerError)
            result.stopped_by = str(error)
            return result
    return result


def _send(api: ProlificApi, order: PlatformOrder, message: PersonalText, study: str) -> bool:
    """Send one message; False where another process has taken it."""
    stakes = _MessageStakes([order.id], api.now, done=CONFIRMED, message=message)
    try:
        api.send_message(message.platform_worker, study, message.text, stakes)
    except TakenError:
        return False
    return True


@dataclass(frozen=True)
class _MessageStakes(OrderStakes):
    """Message that a call sends, which is recorded as a reminder when it was taken."""

    message: PersonalText = field(kw_only=True)

    def end(self, session: Session, effect: CallEffect, words: str) -> None:
        """Mark it as sent and record the reminder, or mark it as not sent."""
        super().end(session, effect, words)
        if effect is CallEffect.DONE:
            note_reminders(session, self.message.reminders, now=self.now())


def _is_shown(api: ProlificApi, order: PlatformOrder, message: PersonalText) -> bool:
    """Confirm a message that Prolific shows since its call: the same text, with the follower's own address."""
    since = (order.sent_at or order.intended_at) - CLOCKS_APART
    shown = any(
        message.text.strip() in shown.body and shown.sent_at is not None and shown.sent_at >= since
        for shown in api.messages(message.platform_worker)
    )
    if shown:
        with transaction(api.database, write=True) as session:
            mark_confirmed(session, [order.id], now=api.now())
            note_reminders(session, message.reminders, now=api.now())
    return shown
