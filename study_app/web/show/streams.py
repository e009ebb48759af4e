"""What the pages of a task with streams show a worker."""

from datetime import UTC, datetime

from sqlalchemy import func, select

from study_app.protocol.steps import Step
from study_app.protocol.stream_rules import follow_length
from study_app.services.worker.answers import Look
from study_app.services.worker.ends import visit_code
from study_app.services.worker.streams import Followed, Served, followed, questions_on_page
from study_app.store.task_models import StreamView
from study_app.tasks.items import key_of
from study_app.web.pages.pages import (
    AwayPage,
    EnrolPage,
    FollowLine,
    ShownUpdate,
    StreamPage,
    StreamsPage,
    UsefulPage,
)


def enrol_page(look: Look) -> EnrolPage:
    """Return what following means; its length is the event's, whichever system will tell of it."""
    here, step = look.here, look.step
    entry, slot = here.task(step).following, here.slot(step)
    system = next(iter(here.task(step).systems))
    stream = look.plans.stream(look.session, here.plan, slot.topic_id, system)
    length = follow_length(stream.end - stream.start, entry.days, entry.clock_factor)
    return EnrolPage(
        language=look.language,
        query=look.query,
        seconds=length.total_seconds(),
        factor=entry.clock_factor,
        followed=slot.id in here.follows,
    )


def streams_page(look: Look) -> StreamsPage:
    """Return everything the worker follows, with what waits to be read."""
    task = look.here.task(look.step)
    lines = []
    for number, slot in enumerate(look.here.slots[task.number], start=1):
        if slot.id in look.here.follows:
            one = followed(look.session, look.plans, look.here, Step("stream", task.number, number))
            over = one.follow.ends_at <= look.now
            lines.append(
                FollowLine(
                    number=number,
                    title=task.topic(slot.topic_id).text,
                    new=0 if over else _waiting(look, one),
                    over=over,
                )
            )
    return StreamsPage(language=look.language, follows=tuple(lines), arrival=look.arrival)


def _waiting(look: Look, one: Followed) -> int:
    """Return how many updates came since the page last showed what there is."""
    shown = select(func.max(StreamView.upto)).where(StreamView.follow_id == one.follow.id)
    return max(0, one.upto(look.now) - (look.session.scalar(shown) or 0))


def stream_page(look: Look, one: Followed, served: Served) -> StreamPage:
    """Return a page of a stream as it was just served."""
    view = served.view
    shown = range(view.last, view.first - 1, -1) if view.last else range(0)
    return StreamPage(
        language=look.language,
        query=look.query,
        at=moment(one.time(look.now)),
        new=view.upto - view.after,
        updates=tuple(
            ShownUpdate(
                key=key_of(place),
                text=one.stream.update(place).text,
                at=moment(one.stream.update(place).at),
                read=place in served.read,
            )
            for place in shown
        ),
        below=view.first if view.first > view.after + 1 else None,
        is_portion=0 < view.last < view.upto,
        since=moment(one.stream.update(view.after).at) if view.after else None,
        ends_at=one.follow.ends_at,
        several=_follows_several(look),
    )


def useful_page(look: Look) -> UsefulPage:
    """Return the questions about the last visit that has any."""
    one = followed(look.session, look.plans, look.here, look.step)
    asked = questions_on_page(look.session, one.follow)
    return UsefulPage(
        language=look.language,
        query=look.query,
        asked=tuple(
            (
                number,
                key_of(question.place),
                one.stream.update(question.place).text,
                question.answers[-1].useful if question.answers else None,
            )
            for number, question in enumerate(asked, start=1)
        ),
    )


def away_page(look: Look) -> AwayPage:
    """Return the page between two visits, or after the last."""
    follow = look.here.follow(look.step)
    due = visit_code(look.session, look.here)
    return AwayPage(
        language=look.language,
        query=look.query,
        address=look.home,
        ends_at=follow.ends_at,
        over=follow.ends_at <= look.now,
        several=_follows_several(look),
        code=None if due is None else due.code,
        back=None if due is None else due.back,
    )


def moment(seconds: float) -> datetime:
    """Return a time of a stream; one that no calendar has becomes the nearest that it has."""
    lowest, highest = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
    return datetime.fromtimestamp(min(max(seconds, lowest.timestamp()), highest.timestamp() - 1), UTC)


def _follows_several(look: Look) -> bool:
    slots = look.here.slots[look.step.task]
    return sum(slot.id in look.here.follows for slot in slots) > 1
