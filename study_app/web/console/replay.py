"""Replay of a worker's page: what stood on its screen at any moment.

The page is made by the same functions and templates as then, and stands in a frame as large as the worker's window was; what was on the
screen is marked, open layers are open, and the option that was picked is picked. Nothing in it can be sent, and no script runs in it.

Texts that were mended since are those that the page showed. What was not stored is not made up: the lists of queries and of streams, whose room and numbers change all the time, and the pages after
the last answer. The error above a form that had come back is not shown either. Nothing is shown of workers who have withdrawn.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial, wraps
from typing import Any

import lxml.html
from flask import Blueprint, Response, jsonify, make_response, render_template, request, url_for
from lxml.html import HtmlElement
from sqlalchemy import select
from sqlalchemy.orm import Session

from metrics.errors import pluralise
from study_app.logs.logged_events import LoggedEvent
from study_app.logs.screen import PageStory, ScreenMoment, ScreenState
from study_app.protocol.sides import Side
from study_app.protocol.steps import Step, part_of, step_of
from study_app.services.researcher.audit import REPLAY, add_audit_entry
from study_app.services.worker.answers import PageRequest
from study_app.services.worker.streams import WAS_USED, FollowedStream, ServedPage, followed, places_read
from study_app.services.worker.worker_progress import load_progress
from study_app.store.console_models import AuditEntry
from study_app.store.database import transaction
from study_app.store.models import EPOCH, MILLISECOND, PageLoad, StoredEvent, Task, Topic, Worker
from study_app.store.results_views import add_results_view
from study_app.store.study_cache import CachedStudy, CachedTopic, Made, StreamViewRow, StudyCache, columns
from study_app.store.submissions import takes_part
from study_app.store.task_models import PastText, StreamView
from study_app.web.console.auth import ConsoleRequest, message_page, viewer_required
from study_app.web.console.facts import Window
from study_app.web.console.layout import page
from study_app.web.console.people import step_words
from study_app.web.console.timeline import SHOW_SYSTEMS
from study_app.web.pages.pages import WorkerPage
from study_app.web.serving import relax_headers, server
from study_app.web.show.step_pages import page_of
from study_app.web.show.tasks import stream_page

blueprint = Blueprint("replay", __name__)
ADDRESS = "/r/<study>/people/<pseudonym>/replay/<key>"
DEFAULT_WINDOW = (390, 844)
"""Window of a page whose log does not say how large it was."""
REPLAYABLE = frozenset({"intro", "search", "vote", "pair", "rate", "questions", "enrol", "stream", "useful"})
"""Kinds of steps whose pages can be shown again."""

STATES = {
    "looked": "in sight and with the focus",
    "unfocused": "in sight, without the focus",
    "hidden": "out of sight",
    "closed": "left",
    "silent": "not known: the page logged nothing for a while, as when the machine sleeps",
    "missing": "not known: events of this time never arrived",
    "over": "over: the page logged nothing more",
}
NEEDS_MANAGE = (
    "Your key ({name}) has the role watch, and this page shows what systems made: somebody who knows them sees whom the worker preferred. "
    "It needs the role manage, and counts as a view of results."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PastPage:
    """A logged page load of a worker (row), the version of the study that it showed, and the keys of the loads beside it."""

    id: int
    key: str
    worker: int
    step: Step
    served_at: datetime
    version: int | None
    before: str | None
    after: str | None


def replayed(
    view: Callable[[ConsoleRequest, str, PastPage], Response],
) -> Callable[[ConsoleRequest, str, str], Response]:
    """Find the page of a worker that a view is about.

    A page with systems' output needs a manager key, and is recorded as a view of results first.
    """

    @wraps(view)
    def found(console_request: ConsoleRequest, pseudonym: str, key: str) -> Response:
        study = console_request.study
        past = past_page(console_request.session, study.id, pseudonym, key)
        if past is None:
            return _no_page(console_request)
        if past.step.kind in SHOW_SYSTEMS:
            if not console_request.may_act:
                reason = NEEDS_MANAGE.format(name=console_request.key.name)
                return message_page(study.name, "Not shown", reason, 403)
            where = step_words(study, past.step)
            _record_view(console_request, f"{pseudonym}, {where}, of {past.served_at:%Y-%m-%d %H:%M:%S}")
        return view(console_request, pseudonym, past)

    return found


def _record_view(console_request: ConsoleRequest, detail: str) -> None:
    """Store once for each key and page that it is viewed."""
    study_id, key, now = console_request.study.id, console_request.key, console_request.now
    known = select(AuditEntry.id).where(
        AuditEntry.study_id == study_id,
        AuditEntry.key_id.is_not_distinct_from(key.id),
        AuditEntry.what == REPLAY,
        AuditEntry.detail == detail,
    )
    if console_request.session.scalar(known.limit(1)) is None:
        with transaction(server().database, write=True) as session:
            add_audit_entry(session, study_id, key, REPLAY, detail, now=now)
            add_results_view(session, study_id, now=now)


@blueprint.get(ADDRESS)
@viewer_required
@replayed
def replay(console_request: ConsoleRequest, pseudonym: str, past: PastPage) -> Response:
    """Show a worker's page at a moment, with a slider and a list of moments."""
    story = story_of(console_request.session, past)
    moments = story.moments()
    first = next((moment.at_ms for moment in moments if moment.changed), moments[0].at_ms if moments else 0)
    at = request.args.get("at", first, type=int)
    size, end = _size(story.screen(at)), max(1, story.end_ms)
    relax_headers(shows_frame=True)
    return page(
        "console/replay.html",
        console_request,
        past=past,
        pseudonym=pseudonym,
        where=step_words(console_request.study, past.step),
        can_show=past.step.kind in REPLAYABLE,
        is_mended=isinstance(plans_then(console_request.session, console_request.study.id, past), PastCache),
        spells=story.spells(),
        end=end,
        at=min(max(0, at), end),
        state=story.state(at),
        states=STATES,
        size=size,
        is_phone=Window(width=size[0], height=size[1]).device == "phone",
        moments=[(moment, moment_words(moment)) for moment in moments],
        current=max((number for number, moment in enumerate(moments) if moment.at_ms <= at), default=0),
        address=console_request.address(f"people/{pseudonym}/replay/{past.key}"),
    )


def _size(screen: ScreenState) -> tuple[int, int]:
    return screen.width or DEFAULT_WINDOW[0], screen.height or DEFAULT_WINDOW[1]


def _no_page(console_request: ConsoleRequest) -> Response:
    text = "There is no log of such a page of this worker, or the worker has taken the answers back."
    return message_page(console_request.study.name, "Nothing to replay", text, 404)


@blueprint.get(f"{ADDRESS}/page")
@viewer_required
@replayed
def framed(console_request: ConsoleRequest, _pseudonym: str, past: PastPage) -> Response:
    """Return the worker's page as it stood at a moment, for the frame."""
    session = console_request.session
    if past.step.kind not in REPLAYABLE:
        return _no_page(console_request)
    shown, part = page_then(session, plans_then(session, console_request.study.id, past), past)
    html = render_template(
        f"{past.step.kind}.html",
        page=shown,
        t=partial(server().messages.text, shown.language),
        tokens={"worker": "-", "page": "-"},
        part=part,
    )
    relax_headers(in_own_frame=True)
    screen = story_of(session, past).screen(request.args.get("at", 0, type=int))
    return make_response(as_it_stood(html, screen))


@blueprint.get(f"{ADDRESS}/moments")
@viewer_required
@replayed
def moments(console_request: ConsoleRequest, _pseudonym: str, past: PastPage) -> Response:
    """Return the changes of the screen at each moment, as JSON for the slider."""
    story = story_of(console_request.session, past)
    return jsonify(
        moments=[_change(moment) for moment in story.moments()],
        spells=[(spell.from_ms, spell.to_ms, STATES[spell.state]) for spell in story.spells()],
        over=STATES["over"],
    )


def past_page(session: Session, study_id: int, pseudonym: str, key: str) -> PastPage | None:
    """Return a page load of a worker; None if unknown, or the worker withdrew."""
    loads = (
        select(PageLoad.id, PageLoad.worker_id, PageLoad.step, PageLoad.served_at, PageLoad.study_version)
        .join(Worker, Worker.id == PageLoad.worker_id)
        .where(takes_part(study_id), Worker.pseudonym == pseudonym, PageLoad.key == key)
    )
    row = session.execute(loads).one_or_none()
    if row is None:
        return None
    load, worker, path, served_at, version = row
    own = select(PageLoad.key).where(PageLoad.worker_id == worker).order_by(PageLoad.served_at, PageLoad.id)
    keys = session.scalars(own).all()
    index = keys.index(key)
    return PastPage(
        id=load,
        key=key,
        worker=worker,
        step=step_of(path),
        served_at=served_at,
        version=version,
        before=keys[index - 1] if index else None,
        after=keys[index + 1] if index + 1 < len(keys) else None,
    )


def story_of(session: Session, page: PastPage) -> PageStory:
    """Return the story of a page, as its log tells it."""
    stored = (
        select(
            StoredEvent.number,
            StoredEvent.kind,
            StoredEvent.page_ms,
            StoredEvent.wall_ms,
            StoredEvent.detail,
            StoredEvent.received_at,
        )
        .where(StoredEvent.page_load_id == page.id)
        .order_by(StoredEvent.number)
    )
    events = [
        LoggedEvent(number, kind, page_ms, wall_ms, detail, (received_at - EPOCH) // MILLISECOND)
        for number, kind, page_ms, wall_ms, detail, received_at in session.execute(stored)
    ]
    return PageStory.of(events, (page.served_at - EPOCH) // MILLISECOND)


class PastCache(StudyCache):
    """Plans in which texts that were mended later are as they were.

    Parameters
    ----------
    texts : mapping of (int, int or None) to mapping
        Row of a topic, and of a system or None for the topic's own texts, to the content of `PastText`.
    """

    def __init__(self, texts: Mapping[tuple[int, int | None], Mapping[str, Any]]) -> None:
        super().__init__()
        self._texts = texts

    def of(self, session: Session, study: int, version: int) -> CachedStudy:
        """Return the plan of a study with the earlier texts of its topics."""
        plan = super().of(session, study, version)
        tasks = [replace(task, topics=tuple(map(self._then, task.topics))) for task in plan.tasks]
        return replace(plan, tasks=tuple(tasks))

    def _then(self, topic: CachedTopic) -> CachedTopic:
        past = self._texts.get((topic.id, None))
        if past is None:
            return topic
        intents = tuple((name, past["intents"].get(name, text)) for name, text in topic.intents)
        return replace(topic, text=past["text"], detail=past["detail"] or {}, intents=intents)

    def side(
        self,
        session: Session,
        plan: CachedStudy,
        topic: CachedTopic,
        system: int,
        make: Callable[[Side, CachedTopic, bool], Made],
        *,
        reveals_silence: bool,
    ) -> Made:
        """Return what ``make`` builds of a system's earlier side, or of today's where it was not mended."""
        past = self._texts.get((topic.id, system))
        if past is None:
            return super().side(session, plan, topic, system, make, reveals_silence=reveals_silence)
        return make(Side.of(past), topic, reveals_silence)


def plans_then(session: Session, study_id: int, past: PastPage) -> StudyCache:
    """Return the plans of a study as a page showed it; those of the server where no text was mended since."""
    mended = (
        select(PastText.topic_id, PastText.system_id, PastText.content)
        .join(Topic, Topic.id == PastText.topic_id)
        .join(Topic.task)
        .where(Task.study_id == study_id, PastText.upto_version >= (past.version or 0))
    )
    texts: dict[tuple[int, int | None], Mapping[str, Any]] = {}
    for topic, system, content in session.execute(mended.order_by(PastText.upto_version)):
        texts.setdefault((topic, system), content)
    return PastCache(texts) if texts else server().plans


def page_then(
    session: Session, plans: StudyCache, past: PastPage
) -> tuple[WorkerPage, tuple[int, int] | None]:
    """Return the content of a page, and its part of the study (see `part_of`)."""
    progress = load_progress(session, plans, past.worker, now=past.served_at)
    request_then = PageRequest(
        session=session,
        plans=plans,
        here=progress,
        step=past.step,
        now=past.served_at,
        until=past.served_at,
    )
    part = part_of(progress.state, past.step)
    if past.step.kind != "stream":
        return page_of(request_then), part
    stream = followed(session, plans, progress, past.step)
    return stream_page(request_then, stream, _served(session, stream, past)), part


def _served(session: Session, stream: FollowedStream, past: PastPage) -> ServedPage:
    """Return a page of a stream as it was served, with the updates read before."""
    views = select(*columns(StreamView, StreamViewRow))
    view = StreamViewRow(*session.execute(views.where(StreamView.key == past.key)).one())
    earlier = views.where(
        StreamView.follow_id == stream.follow.id,
        StreamView.id < view.id,
        StreamView.last >= view.first,
        WAS_USED,
    )
    read = places_read(session, [StreamViewRow(*row) for row in session.execute(earlier)])
    return ServedPage(view=view, read=frozenset(index for index in read if view.first <= index <= view.last))


def _change(moment: ScreenMoment) -> Mapping[str, object]:
    """Return the changes at a moment."""
    change: dict[str, object] = {"at": moment.at_ms, "words": moment_words(moment)}
    if moment.changed:
        change["shown"] = {" ".join(item): share for item, share in moment.changed.items()}
    for event in moment.acts:
        match event.kind:
            case "layer":
                layers: dict[str, bool] = change.setdefault("open", {})  # type: ignore[assignment]
                layers[f"{event.detail['side']} {event.detail['item']}"] = event.detail["open"]
            case "choice" | "submit":
                change["choice"] = event.detail["choice"]
            case "open":
                change["size"] = [event.detail["width"], event.detail["height"]]
    return change


def moment_words(moment: ScreenMoment) -> str:
    """Format a moment."""
    words = [f"{pluralise(moment.missing, 'event')} never arrived"] if moment.missing else []
    words += [_words(event) for event in moment.acts]
    if moment.changed:
        words.append(f"{pluralise(moment.shown, 'item')} on the screen")
    return "; ".join(words)


def _words(event: LoggedEvent) -> str:
    detail = event.detail
    match event.kind:
        case "open":
            return f"ready, {detail['width']} x {detail['height']}{', restored' * detail['restored']}"
        case "layer":
            return f"{'opened' if detail['open'] else 'closed'} {detail['item']} on the {detail['side']}"
        case "choice" | "submit":
            verb = "picked" if event.kind == "choice" else "sent"
            choice = re.sub(r"_(\d)$", r" by \1", detail["choice"])
            return f"{verb} {choice.replace('_', ' ')}"
        case "sleep":
            return f"the machine slept, or its clock was set, by {detail['lost_ms'] / 1000:.0f} s"
    return {
        "leave": "sent the form",
        "visible": "came into sight",
        "hidden": "went out of sight",
        "focus": "got the focus",
        "blur": "lost the focus",
        "close": "was left",
    }[event.kind]


def as_it_stood(html: str, screen: ScreenState) -> str:
    """Return a worker's page marked for a moment, without links and forms.

    An item on the screen has ``data-shown`` = its share; the first of them is ``#on-screen``.
    """
    document: Any = lxml.html.document_fromstring(html)
    width, height = _size(screen)
    for element in document.xpath("//script | //noscript"):
        element.drop_tree()
    for name in ("data-page", "data-events"):
        document.body.attrib.pop(name, None)
    for link in document.xpath("//a[@href]"):
        link.set("href", "#")
    for field in document.xpath("//input | //button | //textarea | //select"):
        field.set("disabled", "")
        if field.get("name") == "choice" and screen.choice is not None:
            _check(field, is_on=field.get("value") == screen.choice)
    style: Any = lxml.html.fragment_fromstring("<link rel='stylesheet'>")
    style.set("href", url_for("static", filename="console_people.css"))
    document.head.append(style)
    document.body.set("data-replay", Window(width=width, height=height).device)
    _mark_items(document, screen)
    return str(lxml.html.tostring(document, doctype="<!doctype html>", encoding="unicode"))


def _mark_items(document: Any, screen: ScreenState) -> None:
    shown, is_first = screen.shown, True
    for side in document.xpath("//*[@data-side]"):
        side.attrib.pop("data-module", None)
        if side.get("data-side") == "stream":
            side.set("data-marked", "by-script")
        for item in side.xpath(".//*[@data-item]"):
            key = side.get("data-side"), item.get("data-item")
            if key in shown:
                item.set("data-shown", f"{shown[key]:g}")
                if is_first:
                    item.set("id", "on-screen")
                    is_first = False
            if item.tag == "details":
                _open(item, is_open=key in screen.opened)
            if key in screen.read and key[0] == "stream":
                item.set("data-read", "")


def _open(details: HtmlElement, *, is_open: bool) -> None:
    details.attrib.pop("open", None)
    if is_open:
        details.set("open", "")


def _check(field: HtmlElement, *, is_on: bool) -> None:
    field.attrib.pop("checked", None)
    if is_on:
        field.set("checked", "")
