"""Replay: a page of a worker as it stood, and what stood on its screen at any moment, from the stored events.

The page is made by the same templates as then and stands in a frame as large as the worker's window was; what was on the screen is
marked, open layers are open, and the option that was picked is picked. Nothing in it can be sent, and no script runs in it.
"""

from collections.abc import Callable, Mapping
from functools import partial, wraps
from typing import Any

import lxml.html
from flask import Blueprint, Response, jsonify, make_response, render_template, request, url_for
from lxml.html import HtmlElement

from study_app.logs.dwell import LoggedEvent
from study_app.logs.screen import Screen, ScreenMoment
from study_app.services.console.facts import device_of
from study_app.services.console.material import is_replay_known, open_replay
from study_app.services.console.replay import PastPage, past_page, story_of
from study_app.store.database import transaction
from study_app.web.console.frame import Seat, page, plain, watch
from study_app.web.console.people import place
from study_app.web.serving import permit, server
from study_app.web.show.show import AS_THEY_STOOD, SHOW_SYSTEMS, page_then

blueprint = Blueprint("replay", __name__)
ADDRESS = "/r/<study>/people/<pseudonym>/replay/<key>"
ROWS = 50
USUAL = (390, 844)
"""A window of which the log does not say how large it was."""

STATES = {
    "looked": "in sight and with the focus",
    "unfocused": "in sight, without the focus",
    "hidden": "out of sight",
    "closed": "left",
    "silent": "not known: the page logged nothing for a while, as when the machine sleeps",
    "missing": "not known: events of this time never arrived",
    "over": "over: the page logged nothing more",
}


RESULTS = (
    "Your key ({name}) has the role watch, and this page shows what systems made: somebody who knows them sees whom the worker preferred. "
    "It needs the role manage, and counts as a look at results."
)


def replayed(view: Callable[[Seat, str, PastPage], Response]) -> Callable[[Seat, str, str], Response]:
    """Find the page of a worker that a view is about.

    A page that shows what systems made is shown to a key to manage only, and once that is on record as a look at results.
    """

    @wraps(view)
    def found(seat: Seat, pseudonym: str, key: str) -> Response:
        past = past_page(seat.session, seat.plan.id, pseudonym, key)
        if past is None:
            return no_page(seat)
        if past.step.kind in SHOW_SYSTEMS:
            if not seat.may_act:
                return plain(seat.plan.name, "Not shown", RESULTS.format(name=seat.key.name), 403)
            _note_look(
                seat, f"{pseudonym}, {place(seat.plan, past.step)}, of {past.served_at:%Y-%m-%d %H:%M:%S}"
            )
        return view(seat, pseudonym, past)

    return found


def _note_look(seat: Seat, what: str) -> None:
    """Store that the holder of a key looks at a page, unless they did before: its moments and its frame are requests of their own."""
    study = seat.plan.id
    if not is_replay_known(seat.session, study, seat.key, what):
        with transaction(server().database, write=True) as session:
            open_replay(session, study, seat.key, what, now=seat.now)


@blueprint.get(ADDRESS)
@watch
@replayed
def replay(seat: Seat, pseudonym: str, past: PastPage) -> Response:
    """Show a page of a worker at a moment, with a slider over its time and a list of its moments."""
    story = story_of(seat.session, past)
    moments = story.moments()
    at = request.args.get("at", _first(moments), type=int)
    current = max((number for number, one in enumerate(moments) if one.at_ms <= at), default=0)
    screen = story.screen(at)
    parts = max(1, -(-len(moments) // ROWS))
    part = min(max(0, request.args.get("part", current // ROWS, type=int)), parts - 1)
    permit(shows_frame=True)
    return page(
        "console/replay.html",
        seat,
        past=past,
        pseudonym=pseudonym,
        where=place(seat.plan, past.step),
        can_show=past.step.kind in AS_THEY_STOOD,
        spells=story.spells(),
        end=max(1, story.end_ms),
        at=min(max(0, at), max(1, story.end_ms)),
        state=story.state(at),
        states=STATES,
        size=(screen.width or USUAL[0], screen.height or USUAL[1]),
        shown=sorted(screen.shown.items()),
        moments=[(number, one, told(one)) for number, one in enumerate(moments)][
            part * ROWS : (part + 1) * ROWS
        ],
        current=current,
        part=part,
        parts=parts,
        address=seat.address(f"people/{pseudonym}/replay/{past.key}"),
    )


def _first(moments: list[ScreenMoment]) -> int:
    """Return the first moment at which something stood on the screen."""
    return next((one.at_ms for one in moments if one.changed), moments[0].at_ms if moments else 0)


def no_page(seat: Seat) -> Response:
    """Return the page for a page load that there is not, or not any more."""
    text = "There is no log of such a page of this worker, or the worker has taken the answers back."
    return plain(seat.plan.name, "Nothing to replay", text, 404)


@blueprint.get(f"{ADDRESS}/page")
@watch
@replayed
def framed(seat: Seat, _pseudonym: str, past: PastPage) -> Response:
    """Return the worker's page itself as it stood at a moment, for the frame of the replay."""
    then = page_then(seat.session, server().plans, past)
    if then is None:
        return no_page(seat)
    story = story_of(seat.session, past)
    shown, part = then
    html = render_template(
        f"{past.step.kind}.html",
        page=shown,
        t=partial(server().messages.text, shown.language),
        tokens={"worker": "-", "page": "-"},
        part=part,
    )
    permit(in_own_frame=True)
    return make_response(as_it_stood(html, story.screen(request.args.get("at", 0, type=int))))


@blueprint.get(f"{ADDRESS}/moments")
@watch
@replayed
def moments(seat: Seat, _pseudonym: str, past: PastPage) -> Response:
    """Return the moments of a page as JSON: what changes on its screen with each, for the slider."""
    story = story_of(seat.session, past)
    return jsonify(
        moments=[_change(one) for one in story.moments()],
        spells=[(one.from_ms, one.to_ms, STATES[one.state]) for one in story.spells()],
        over=STATES["over"],
    )


def _change(moment: ScreenMoment) -> Mapping[str, object]:
    """Return what is different from a moment on; a choice and layers only where they change."""
    change: dict[str, object] = {"at": moment.at_ms, "told": told(moment)}
    if moment.changed:
        change["shown"] = {" ".join(place): share for place, share in moment.changed.items()}
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


def told(moment: ScreenMoment) -> str:
    """Return a moment in words."""
    words = [f"{moment.missing} event{'s' * (moment.missing > 1)} never arrived"] if moment.missing else []
    words += [_words(event) for event in moment.acts]
    if moment.changed:
        words.append(f"{moment.shown} item{'s' * (moment.shown != 1)} on the screen")
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
            return f"{verb} {detail['choice'].replace('_', ' ')}"
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


def as_it_stood(html: str, screen: Screen) -> str:
    """Return a worker's page with a moment's marks on it, and with nothing that leads or sends anywhere.

    An item on the screen has ``data-shown`` = its share; the first of them is ``#on-screen``.
    """
    document: Any = lxml.html.document_fromstring(html)
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
    document.body.set("data-replay", device_of(screen.width or USUAL[0], screen.height or USUAL[1]))
    _mark_items(document, screen)
    return str(lxml.html.tostring(document, doctype="<!doctype html>", encoding="unicode"))


def _mark_items(document: Any, screen: Screen) -> None:
    shown, is_first = screen.shown, True
    for side in document.xpath("//*[@data-side]"):
        side.attrib.pop("data-module", None)
        if side.get("data-side") == "stream":
            side.set("data-marked", "by-script")
        for item in side.xpath(".//*[@data-item]"):
            where = side.get("data-side"), item.get("data-item")
            if where in shown:
                item.set("data-shown", f"{shown[where]:g}")
                if is_first:
                    item.set("id", "on-screen")
                    is_first = False
            if item.tag == "details":
                _open(item, is_open=where in screen.opened)
            if where in screen.read and where[0] == "stream":
                item.set("data-read", "")


def _open(details: HtmlElement, *, is_open: bool) -> None:
    details.attrib.pop("open", None)
    if is_open:
        details.set("open", "")


def _check(field: HtmlElement, *, is_on: bool) -> None:
    field.attrib.pop("checked", None)
    if is_on:
        field.set("checked", "")
