"""Pictures and sounds of stored sides by hash, with a cache in memory."""

import time
from collections import OrderedDict
from collections.abc import Iterator
from threading import Lock

from sqlalchemy import String, cast, select
from sqlalchemy.orm import Session

from study_app.protocol.sides import Media, Side
from study_app.store.database import Database, transaction
from study_app.store.models import StoredMedia, StoredSummary, System, Topic

KEPT_BYTES = 64_000_000
"""Bytes of pictures that a process keeps in memory.

Reading one of 2 MB from the database takes three times as long as sending it.
"""
KEPT_SECONDS = 60
"""So long a picture is sent without looking whether some study still shows it."""


class MediaReader:
    """Reader of pictures and sounds with a cache, for all threads of a server.

    Parameters
    ----------
    database : Database
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._kept: OrderedDict[str, tuple[float, str, bytes]] = OrderedDict()
        self._bytes, self._lock = 0, Lock()

    def read(self, sha256: str) -> tuple[str, bytes] | None:
        """Return type and bytes of a picture or sound of a loaded study, or None."""
        kept, now = self._kept.get(sha256), time.monotonic()
        if kept is not None and now - kept[0] < KEPT_SECONDS:
            return kept[1:]
        query = select(StoredMedia.mime, StoredMedia.bytes).where(StoredMedia.sha256 == sha256)
        with transaction(self._database, write=False) as session:
            row = session.execute(query).one_or_none()
        with self._lock:
            if (old := self._kept.pop(sha256, None)) is not None:
                self._bytes -= len(old[2])
            if row is None:
                return None
            self._kept[sha256] = (now, *row)
            self._bytes += len(row.bytes)
            while self._bytes > KEPT_BYTES:
                _, (_, _, content) = self._kept.popitem(last=False)
                self._bytes -= len(content)
        return row.mime, row.bytes


def shown_media(session: Session, task: int | None = None) -> Iterator[tuple[int, str, str, Media]]:
    """Yield row, topic and system of each side with media, and the media.

    The sides are those of one task, or of all.
    """
    sides = (
        select(StoredSummary.id, Topic.name, System.name, StoredSummary.content)
        .join(Topic, Topic.id == StoredSummary.topic_id)
        .join(System, System.id == StoredSummary.system_id)
        .where(
            cast(StoredSummary.content, String).contains('"media"')
        )  # as its words may, too, which does no harm
        .order_by(StoredSummary.id)
    )
    query = sides if task is None else sides.where(Topic.task_id == task)
    for row, topic, system, content in session.execute(query.execution_options(yield_per=1_000)):
        yield from ((row, topic, system, media) for media in Side.of(content).media())
