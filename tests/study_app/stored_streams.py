"""A study of streams in a database, and followers in it, put there row by row; the server plays no part."""

from datetime import timedelta
from itertools import count

from sqlalchemy import select
from sqlalchemy.orm import Session

from study_app.estimate.content import read_whole_study
from study_app.services.researcher.load import load_study
from study_app.store.models import LoadedStudy, System
from study_app.store.task_models import Follow, StoredStream, StreamView, UsefulAnswer, UsefulQuestion
from tests.study_app.small_streams import Told, write_stream_study
from tests.study_app.stored_study import LOADED, NOON, StoredStudy, opened, stored_engine

NEWS = {
    "sysnews": [
        Told("one two three", 1),
        Told("four five", 2),
        Told("six seven eight nine", 3),
        Told("ten", 4),
    ]
}
"""u1 to u4: 3, 2, 4 and 1 words; 11, 8, 17 and 3 counted characters."""


class StoredStreams(StoredStudy):
    """One event of four days with the one stream `NEWS`, in memory or in the database at ``url``."""

    def __init__(self, folder, *, url="sqlite://", **task):
        folder.mkdir(exist_ok=True)
        engine = stored_engine(url)
        StoredStream.metadata.create_all(engine)
        self.session = Session(engine)
        path = write_stream_study(folder, systems=NEWS, events={"TS14.91": "Storm"}, task=task)
        load_study(self.session, read_whole_study(path), now=LOADED)
        self.study = self.session.scalars(select(LoadedStudy)).one()
        self.numbers = count(1)

    def follow(self, worker, *, started_at=NOON, days=4):
        """Let somebody enrol."""
        return self._add(
            Follow(
                slot_id=self.slot(worker, task="news", topic="TS14.91").id,
                system_id=self.session.scalars(select(System.id)).one(),
                started_at=started_at,
                ends_at=started_at + timedelta(days=days),
            )
        )

    def view(self, follow, key, *happenings, at=3600, shows=(0, 0), after=0, upto=None, **view):
        """Serve a page ``at`` seconds after noon that shows the places ``shows``; (seconds, kind, detail) is its log.

        Without any happenings nothing arrived of it.
        """
        served_at = NOON + timedelta(seconds=at)
        self._add(
            StreamView(
                follow_id=follow.id,
                key=key,
                visit=view.get("visit", 1),
                served_at=served_at,
                entry=view.get("entry", "own"),
                after=after,
                upto=shows[1] if upto is None else upto,
                first=shows[0],
                last=shows[1],
                read=view.get("read", []),
                left_at=None if "left" not in view else NOON + timedelta(seconds=view["left"]),
            )
        )
        if happenings:
            in_ms = [(round(1000 * seconds), *rest) for seconds, *rest in happenings]
            worker = follow.slot.assignment.worker
            self.page(worker, None, key, *in_ms, served_at=served_at, received_after=86_400)

    def answer(self, follow, nugget, *answers, late=0):
        """Ask about a nugget and store an answer after the other."""
        question = self._add(
            UsefulQuestion(
                follow_id=follow.id, visit=1, place=1, nugget=nugget, visits_late=late, asked_at=NOON
            )
        )
        for revision, useful in enumerate(answers, start=1):
            self._add(
                UsefulAnswer(
                    question_id=question.id,
                    revision=revision,
                    useful=useful,
                    page_key="p",
                    answered_at=NOON,
                )
            )


def opening(at=0.0):
    """What every page in sight begins with."""
    return [(at, "open", opened()), (at, "visible"), (at, "focus")]


def sees(at, place, share):
    """An update comes into sight, or leaves it."""
    return (at, "see", {"side": "stream", "item": f"u{place}", "share": share})
