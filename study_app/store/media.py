"""The pictures that stored sides show, by their hashes."""

from collections.abc import Iterator

from sqlalchemy import String, cast, select
from sqlalchemy.orm import Session

from study_app.protocol.sides import Media, Side
from study_app.store.models import StoredSummary, System, Topic


def shown_media(session: Session, task: int | None = None) -> Iterator[tuple[int, str, str, Media]]:
    """Yield row, topic and system of each side that shows a picture, and the picture: of one task, or of all."""
    sides = (
        select(StoredSummary.id, Topic.name, System.name, StoredSummary.content)
        .join(Topic, Topic.id == StoredSummary.topic_id)
        .join(System, System.id == StoredSummary.system_id)
        .where(
            cast(StoredSummary.content, String).contains('"media"')
        )  # as its words may, too, which does no harm
        .order_by(StoredSummary.id)
    )
    wanted = sides if task is None else sides.where(Topic.task_id == task)
    for row, topic, system, content in session.execute(wanted.execution_options(yield_per=1_000)):
        yield from ((row, topic, system, media) for media in Side.of(content).media())
