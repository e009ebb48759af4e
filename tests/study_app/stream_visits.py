"""Following streams in the tests: a loaded study, followers, and what their browsers log."""

from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import select

from study_app.store.task_models import StreamView, UsefulQuestion
from tests.study_app.small_streams import write_stream_study
from tests.study_app.visitor import Visitor

HOUR = 3_600
ONE_EVENT = {"TS14.91": "Storm over the islands"}


def stream_study(campaign: Callable[..., Any], **changes: Any) -> Any:
    """Return a served study of streams; see `write_stream_study`. One event and so no choice unless told otherwise."""
    study = campaign()
    study.load_file(write_stream_study(study.folder, **{"events": ONE_EVENT, **changes}))
    return study


def follow(study: Any, name: str = "ann", *, topic: str = "1") -> Visitor:
    """Return the browser of somebody who has just enrolled."""
    visitor: Visitor = study.arrive(name).send()
    if visitor.step.endswith("choose"):
        visitor.send(topic=topic)
    return visitor.send()


def come_back(study: Any, visitor: Visitor, *, after_hours: float) -> Visitor:
    """Open the standing link some hours later."""
    study.clock.forward(after_hours * HOUR)
    return visitor.open(visitor.home)


def shown(visitor: Visitor) -> list[str]:
    """Return the texts of the updates on a page, from the top."""
    return [item.select("p")[1].get_text() for item in visitor.html.select("li[data-item]")]


def keys(visitor: Visitor) -> list[str]:
    """Return the keys of the updates on a page, from the top."""
    return [str(item["data-item"]) for item in visitor.html.select("li[data-item]")]


def marked(visitor: Visitor) -> list[str]:
    """Return the keys of the updates that a page shows as read."""
    return [str(item["data-item"]) for item in visitor.html.select("li[data-item][data-read]")]


def log(
    visitor: Visitor,
    seen: Sequence[str] = (),
    *,
    page: str | None = None,
    share: float = 1,
    after_seconds: float = 0,
) -> None:
    """Send what a browser logs of a page on which updates came on the screen one after the other, so long after it came."""
    events: list[dict[str, Any]] = [
        {"kind": "open", "layout": "stacked", "width": 400, "height": 800, "restored": False}
    ]
    for key in seen:
        place = {"kind": "see", "side": "stream", "item": key}
        events += [{**place, "share": share}, {**place, "share": 0}]
    start_ms = int(1000 * after_seconds)
    numbered = [
        {"n": number, "ms": start_ms + 100 * number, "wall": start_ms + 100 * number, **event}
        for number, event in enumerate(events, start=1)
    ]
    answer = visitor.client.post(
        f"/e/{visitor.token}",
        json={"page": page or visitor.page_token, "sent_ms": 0, "sent_wall_ms": 0, "events": numbered},
    )
    assert answer.status_code == 200, answer.text


def views(study: Any) -> list[StreamView]:
    """Return every page of a stream that was served."""
    return [row for (row,) in study.rows(select(StreamView).order_by(StreamView.id))]


def asked(study: Any) -> list[UsefulQuestion]:
    """Return every question that was drawn."""
    return [row for (row,) in study.rows(select(UsefulQuestion).order_by(UsefulQuestion.id))]
