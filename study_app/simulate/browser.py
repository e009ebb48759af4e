"""Simulated browser: pages, forms, event logs, and the clocks of a crowd.

A clock stands still until it is advanced, or is the machine's. A log has a page's events while the page is
read.
"""

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from http import HTTPStatus
from typing import Any, Protocol, TypeAlias
from urllib.parse import urljoin, urlsplit

import httpx
from lxml.etree import ElementDefaultClassLookup, XPath
from lxml.html import HtmlComment, HtmlElement, HTMLParser, HtmlProcessingInstruction, document_fromstring

from study_app.store.models import EPOCH, MILLISECOND
from study_app.store.tokens import Now, utc_now

Fields: TypeAlias = Mapping[str, str | list[str]]
"""Values of a form by field."""


class CrowdClock(Protocol):
    """Clock of simulated people who act one after another."""

    def __call__(self) -> datetime:
        """Return the time, aware and in UTC."""

    def go_to(self, time: datetime, /) -> None:
        """Set the clock to ``time``, unless it is past."""


class VirtualClock:
    """Clock of a simulated study, called for the time.

    `create_app(now=...)` takes an instance.

    Parameters
    ----------
    start : datetime
        The first time it tells, with a zone.
    """

    def __init__(self, start: datetime) -> None:
        self._now = start.astimezone(UTC)

    def __call__(self) -> datetime:
        """Return the time, aware and in UTC."""
        return self._now

    def go_to(self, time: datetime) -> None:
        """Set the clock to ``time``, unless it is past."""
        self._now = max(self._now, time)


class WallClock:
    """Clock of the machine; going to a time waits for it.

    Parameters
    ----------
    now, sleep : callable
        Tells the time; waits for some seconds.
    """

    def __init__(self, *, now: Now = utc_now, sleep: Callable[[float], object] = time.sleep) -> None:
        self._now, self._sleep = now, sleep

    def __call__(self) -> datetime:
        """Return the time, aware and in UTC."""
        return self._now()

    def go_to(self, time: datetime) -> None:
        """Wait until ``time``."""
        self._sleep(max(0.0, (time - self._now()).total_seconds()))


BEAT_MS = 5_000


def _finder(path: str) -> Callable[..., Any]:
    """Compile an XPath expression, once for all pages."""
    return XPath(path)


_PARSER = HTMLParser()
_PARSER.set_element_class_lookup(
    ElementDefaultClassLookup(element=HtmlElement, comment=HtmlComment, pi=HtmlProcessingInstruction)
)  # by default Python is asked for the class of every element
_FORMS, _BOXES = _finder("descendant-or-self::form"), _finder(".//input[@name]")
_LABEL_OF = _finder("//label[@for=$id]")
MEDIA = "/m/"
"""Begins the address of a picture that a system shows; others belong to the page."""

_SIDES, _UPDATES = _finder("//section[@data-side]"), _finder("//section[@data-side='stream']//li[@data-item]")
_OLDER = _finder("//a[@rel='next']/@href")
_MEDIA = _finder("descendant-or-self::*/@src")
_FRAMES = _finder("descendant-or-self::iframe/@srcdoc")
_ITEMS = _finder(".//*[@data-item]")
_FIRST_ITEMS = _finder(".//*[@data-item][not(ancestor::*[@data-item])]")
_PARAGRAPHS = _finder("./p[not(contains(concat(' ', @class, ' '), ' window '))]")
_TIMES = _finder("./time/@datetime")


def collapse_white_space(text: str) -> str:
    """Return a text as it looks on a page: runs of white space are one space."""
    return " ".join(text.split())


class PageError(RuntimeError):
    """A page that a worker cannot go on from: the study's fault, never the worker's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Element:
    """Block on a pair page: iUnit, link, push, ranked entry or picture.

    ``second`` is the layer below a link, ``at`` the time of a push, ``media`` the hash of a picture or sound.
    """

    key: str
    text: str
    second: "tuple[Element, ...] | None" = None
    at: datetime | None = None
    media: str | None = None

    @property
    def shown(self) -> tuple[Any, ...]:
        """Visible content, comparable with a system's own.

        The content of a picture is the picture itself, without the words around it.
        """
        below = tuple(item.shown for item in self.second or ())
        return (self.key, self.text if self.media is None else self.media, self.at, below)


@dataclass(frozen=True, slots=True)
class SideOnPage:
    """A side of a pair page: the digest by which it is known, and what stands there."""

    content: str
    elements: tuple[Element, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateOnPage:
    """An update as it stands on a stream's page; ``read``: it is marked as read."""

    key: str
    text: str
    read: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """Form of a page: address, hidden fields, and choices.

    Choices are (value, label) of each radio button and box, by field.
    """

    action: str
    hidden: dict[str, str]
    options: dict[str, list[tuple[str, str]]]


@dataclass(frozen=True, slots=True)
class Page:
    """A page as loaded."""

    url: str
    html: HtmlElement = field(repr=False)

    @property
    def step(self) -> str:
        """Kind of page: consent, choose, search, vote, pair, finish, done, or another.

        The last word of the path names any other kind.
        """
        words = [word for word in urlsplit(self.url).path.split("/") if word and not word.isdigit()]
        return words[-1] if words else ""

    @property
    def task(self) -> int:
        """Number of the task of a page at /w/TOKEN/N/..."""
        return int(self.url.split("/w/")[1].split("/")[1])

    @property
    def home(self) -> str:
        """The standing link of the worker whose page this is."""
        before, _, after = self.url.partition("/w/")
        return f"{before}/w/{after.partition('/')[0]}/"

    @property
    def token(self) -> str:
        """The page token that events carry."""
        return str(self.html.body.get("data-page", ""))

    @property
    def events_url(self) -> str:
        """Address to which events are sent."""
        return urljoin(self.url, str(self.html.body.get("data-events", "")))

    def marked(self, attribute: str) -> HtmlElement:
        """Return the element that has ``attribute``.

        It raises `PageError` when there is none.
        """
        nodes = _with(attribute)(self.html)
        if not nodes:
            raise PageError(f"{self.url}: nothing on this page has {attribute}: {self._start()}")
        return nodes[0]

    def form(self) -> Form:
        """Return the page's form; raises `PageError` when it has none."""
        form = next((form for form in _FORMS(self.html) if form.get("method", "").upper() == "POST"), None)
        if form is None:
            raise PageError(f"{self.url}: no form on this page: {self._start()}")
        hidden: dict[str, str] = {}
        options: dict[str, list[tuple[str, str]]] = {}
        for box in _BOXES(form):
            if box.get("type") in {"radio", "checkbox"}:
                options.setdefault(box.get("name"), []).append((box.get("value", "on"), _label(box)))
            else:
                hidden[box.get("name")] = box.get("value", "")
        return Form(action=urljoin(self.url, form.get("action", "")), hidden=hidden, options=options)

    def sides(self) -> dict[str, SideOnPage]:
        """Return the sides of a pair page by name."""
        return {
            section.get("data-side"): SideOnPage(section.get("data-content", ""), tuple(_elements(section)))
            for section in _SIDES(self.html)
        }

    def updates(self) -> tuple[UpdateOnPage, ...]:
        """Return the updates of a stream's page, as they stand."""
        return tuple(
            UpdateOnPage(
                key=item.get("data-item"),
                text=text_of(item.find_class("text")[0]),
                read=item.get("data-read") is not None,
            )
            for item in _UPDATES(self.html)
        )

    def older(self) -> str | None:
        """Return the address of the stream's next portion, None when there is none."""
        links = _OLDER(self.html)
        return urljoin(self.url, str(links[0])) if links else None

    def legends(self) -> dict[str, str]:
        """Return the legend above each group of radio buttons, by field."""
        return {
            str(group.xpath(".//input[@type='radio']/@name")[0]): text_of(group.find("legend"))
            for group in self.html.xpath("//form//fieldset[.//input[@type='radio'][@name]]")
        }

    def questions(self) -> dict[str, str]:
        """Return the key of each update that is asked about, by field."""
        return {
            str(field.xpath(".//input[@type='radio']/@name")[0]): str(field.get("data-item"))
            for field in self.html.xpath("//fieldset[@data-item]")
        }

    def _start(self) -> str:
        return text_of(self.html.body)[:200]


def text_of(node: HtmlElement | None) -> str:
    """Return the text of an element as read."""
    return "" if node is None else collapse_white_space(node.text_content())


@cache
def _with(attribute: str) -> Callable[..., Any]:
    """Compile the search for elements with an attribute."""
    return _finder(f"//*[@{attribute}]")


def _label(box: HtmlElement) -> str:
    around = next(box.iterancestors("label"), None)
    if around is None and box.get("id"):
        around = next(iter(_LABEL_OF(box, id=box.get("id"))), None)
    return text_of(around)


def _elements(section: HtmlElement) -> Iterator[Element]:
    """Return the elements of a side in order.

    They are those of its first layer, each link with its second; of its days; or of its list.
    """
    for node in _FIRST_ITEMS(section):
        element = _element(node)
        if node.tag == "details":
            second = tuple(map(_element, _ITEMS(node)))
            yield replace(element, text=text_of(node.find("summary")), second=second)
        elif node.tag == "li":
            paragraphs, times = _PARAGRAPHS(node), _TIMES(node)
            at = datetime.fromisoformat(times[0]) if times else None
            yield replace(element, text=collapse_white_space(" ".join(map(text_of, paragraphs))), at=at)
        else:
            yield element


def _element(node: HtmlElement) -> Element:
    """Return an element with its own words, or those of the page in its frame."""
    address, frame = next(iter(_MEDIA(node)), None), next(iter(_FRAMES(node)), None)
    return Element(
        key=node.get("data-item"),
        text=text_of(node if frame is None else document_fromstring(frame, parser=_PARSER).find("body")),
        media=None if address is None else urlsplit(address).path.rpartition("/")[2],
    )


class Browser:
    """One worker's browser: no cookies, one address after another.

    Parameters
    ----------
    http : httpx.Client
        Shared by all workers of a crowd; its base address is the server's.
    agent : str
        The User-Agent header.
    media : set of str, optional
        Addresses of the pictures that the browsers of a crowd have loaded, shared by all; without it none are loaded.

    Attributes
    ----------
    events_sent : int
        How many events were posted, repeated ones too.
    """

    def __init__(self, http: httpx.Client, agent: str, media: set[str] | None = None) -> None:
        self.events_sent = 0
        self._http, self._media = http, media
        self._headers = {"User-Agent": agent}

    def open(self, url: str) -> Page:
        """Load a page, following redirects."""
        return self._page(self._http.get(url, headers=self._headers, follow_redirects=True))

    def send(self, form: Form, fields: Fields) -> Page:
        """Post a form with its hidden fields and load the page that answers."""
        data = {**form.hidden, **fields}
        answer = self._http.post(form.action, data=data, headers=self._headers, follow_redirects=True)
        return self._page(answer)

    def log(self, url: str, batch: Mapping[str, Any]) -> int:
        """Post one batch of events; returns the number up to which the server holds them."""
        answer = self._http.post(url, json=batch, headers=self._headers, follow_redirects=False)
        self.events_sent += len(batch["events"])
        if answer.status_code != HTTPStatus.OK:
            raise PageError(f"{url}: events were refused with {answer.status_code}: {answer.text[:200]}")
        return int(answer.json()["upto"])

    def _page(self, answer: httpx.Response) -> Page:
        if answer.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR:
            raise PageError(f"{answer.url}: the server failed with {answer.status_code}")
        page = Page(str(answer.url), document_fromstring(answer.text, parser=_PARSER))
        if self._media is not None:
            self._load_media(page, self._media)
        return page

    def _load_media(self, page: Page, loaded: set[str]) -> None:
        """Load the pictures that no browser of the crowd has yet.

        It raises `PageError` where the bytes do not match the address.
        """
        for section in _SIDES(page.html):
            for address in {
                address_found for address_found in _MEDIA(section) if address_found.startswith(MEDIA)
            } - loaded:
                url = urljoin(page.url, address)
                answer = self._http.get(url, headers=self._headers, follow_redirects=False)
                digest = hashlib.sha256(answer.content).hexdigest()
                if answer.status_code != HTTPStatus.OK or digest != address.rpartition("/")[2]:
                    raise PageError(f"{url}: the picture is not there, or another ({answer.status_code})")
                loaded.add(address)


class PageLog:
    """The numbered events of one page load, on its own monotonic clock.

    Parameters
    ----------
    token : str
        The page token.
    opened_at : datetime
        Wall time of the load.
    layout : str
        side_by_side or stacked.
    size : (int, int)
        Width and height of the window in pixels.
    """

    def __init__(self, token: str, opened_at: datetime, *, layout: str, size: tuple[int, int]) -> None:
        self._token = token
        self._wall_ms = (opened_at - EPOCH) // MILLISECOND
        self._ms = 0
        self._beat_ms = BEAT_MS
        self.events: list[dict[str, Any]] = []
        self.note("open", layout=layout, width=size[0], height=size[1], restored=False)
        self.note("visible")
        self.note("focus")

    @property
    def seconds(self) -> float:
        """Time since the load."""
        return self._ms / 1000

    def wait(self, seconds: float) -> None:
        """Advance the clock, with a heartbeat every five seconds."""
        end = self._ms + round(seconds * 1000)
        while self._beat_ms <= end:
            self._ms = self._beat_ms
            self.note("beat")
            self._beat_ms += BEAT_MS
        self._ms = end

    def jump(self, seconds: float) -> None:
        """Change the device's wall clock; the page's own clock stays."""
        self._wall_ms += round(seconds * 1000)
        self.note("sleep", lost_ms=round(seconds * 1000))

    def note(self, kind: str, **detail: Any) -> None:
        """Add one event at the present time."""
        self.events.append(
            {
                "n": len(self.events) + 1,
                "kind": kind,
                "ms": self._ms,
                "wall": self._wall_ms + self._ms,
                **detail,
            }
        )

    def batches(self, size: int) -> list[dict[str, Any]]:
        """Return everything noted so far in batches of at most ``size`` events."""
        return [
            {
                "page": self._token,
                "sent_ms": self._ms,
                "sent_wall_ms": self._wall_ms + self._ms,
                "events": self.events[start : start + size],
            }
            for start in range(0, len(self.events), size)
        ]
