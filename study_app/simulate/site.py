"""Fetching the study's pages and finding one's way in them, as a browser does.

A page is known by the last words of its address; forms are found in its HTML and posted with every field they have.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpx
from bs4 import BeautifulSoup, Tag

Fields = Mapping[str, str | list[str]]


def as_read(text: str) -> str:
    """Return a text as it looks on a page: runs of white space are one space."""
    return " ".join(text.split())


class PageError(RuntimeError):
    """A page that a worker cannot go on from: the study's fault, never the worker's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Element:
    """An iUnit or a link as it stands on a pair page; ``second`` is the layer below a link."""

    key: str
    text: str
    second: "tuple[Element, ...] | None" = None

    @property
    def texts(self) -> tuple[Any, ...]:
        """What can be read, for comparison with what a system wrote."""
        below = None if self.second is None else tuple(item.text for item in self.second)
        return (self.text, below)


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """A form: where it goes, its hidden fields, and the (value, label) of each radio button and box by name."""

    action: str
    hidden: dict[str, str]
    options: dict[str, list[tuple[str, str]]]


@dataclass(frozen=True, slots=True)
class Page:
    """A page as loaded."""

    url: str
    html: BeautifulSoup = field(repr=False)

    @property
    def step(self) -> str:
        """The kind of page: consent, choose, search, vote, pair, finish, done, or the first word of the path."""
        words = [word for word in urlsplit(self.url).path.split("/") if word and not word.isdigit()]
        return words[-1] if words else ""

    @property
    def token(self) -> str:
        """The page token that events carry."""
        return str(self._body.get("data-page", ""))

    @property
    def events_url(self) -> str:
        """Where events go."""
        return urljoin(self.url, str(self._body.get("data-events", "")))

    @property
    def _body(self) -> Tag:
        body = self.html.body
        if body is None:
            raise PageError(f"{self.url}: no body")
        return body

    def form(self) -> Form:
        """Return the page's form; raises `PageError` when it has none."""
        form = self.html.select_one("main form[method=post]") or self.html.select_one("form[method=post]")
        if form is None:
            raise PageError(f"{self.url}: no form on this page: {self.html.get_text(' ', strip=True)[:200]}")
        hidden, options = {}, dict[str, list[tuple[str, str]]]()
        for box in form.select("input[name]"):
            name, value = str(box["name"]), str(box.get("value", "on"))
            if box.get("type") in {"radio", "checkbox"}:
                options.setdefault(name, []).append((value, _label(form, box)))
            elif box.get("type") == "hidden":
                hidden[name] = value
        return Form(action=urljoin(self.url, str(form.get("action") or "")), hidden=hidden, options=options)

    def summaries(self) -> dict[str, tuple[Element, ...]]:
        """Return side -> elements of a pair page."""
        return {
            str(section["data-side"]): tuple(_elements(section))
            for section in self.html.select("section[data-side]")
        }


def _label(form: Tag, box: Tag) -> str:
    label = box.find_parent("label") or form.select_one(f'label[for="{box.get("id")}"]')
    return as_read(label.get_text()) if isinstance(label, Tag) else ""


def _elements(section: Tag) -> Sequence[Element]:
    """First-layer elements in order, each link with its second layer."""
    found: list[Element] = []
    for node in section.select("[data-item]"):
        if node.find_parent("details") is not None:
            continue
        second = None
        text = as_read(node.get_text())
        if node.name == "details":
            head = node.find("summary")
            text = as_read(head.get_text()) if isinstance(head, Tag) else ""
            second = tuple(
                Element(key=str(item["data-item"]), text=as_read(item.get_text()))
                for item in node.select("[data-item]")
            )
        found.append(Element(key=str(node["data-item"]), text=text, second=second))
    return found


class Site:
    """One worker's browser: no cookies, one address after another.

    Parameters
    ----------
    http : httpx.Client
        Shared by all workers of a crowd; its base address is the server's.
    agent : str
        The User-Agent header.
    """

    def __init__(self, http: httpx.Client, agent: str) -> None:
        self._http = http
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
        answer = self._http.post(url, json=batch, headers=self._headers)
        if answer.status_code != httpx.codes.OK:
            raise PageError(f"{url}: events were refused with {answer.status_code}: {answer.text[:200]}")
        return int(answer.json()["upto"])

    def _page(self, answer: httpx.Response) -> Page:
        if answer.status_code >= httpx.codes.INTERNAL_SERVER_ERROR:
            raise PageError(f"{answer.url}: the server failed with {answer.status_code}")
        return Page(str(answer.url), BeautifulSoup(answer.text, "html.parser"))
