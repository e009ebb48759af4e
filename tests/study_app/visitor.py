"""A worker's browser in the tests: opens pages of Flask's test client, finds forms in their HTML and posts them."""

from functools import cached_property
from typing import Any

from bs4 import BeautifulSoup
from flask.testing import FlaskClient
from lxml.html import HtmlElement, document_fromstring

PHONE = "Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 Chrome/140.0 Mobile Safari/537.36"
DESKTOP = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140.0 Safari/537.36"


class Visitor:
    """One browser window.

    Parameters
    ----------
    client : FlaskClient
        Of the app under test; cookies are off, as they are to be.
    agent : str
        The User-Agent header.
    """

    def __init__(self, client: FlaskClient, agent: str = DESKTOP) -> None:
        self.client, self.agent = client, agent
        self.log: list[Any] = []

    def open(self, url: str) -> "Visitor":
        """Load a page, following redirects."""
        return self._shown(self.client.get(url, headers={"User-Agent": self.agent}))

    def send(self, *, form: dict[str, Any] | None = None, to: str | None = None, **fields: Any) -> "Visitor":
        """Post the page's form with its hidden fields (or those of ``form``) and load what answers."""
        data = {**(self.form() if form is None else form), **fields}
        return self._shown(self.client.post(to or self.path, data=data, headers={"User-Agent": self.agent}))

    def form(self) -> dict[str, Any]:
        """Return the form's hidden fields."""
        forms = self._tree.xpath("//main//form[@method='post']")
        assert forms, f"no form on {self.path}: {self.text[:300]}"
        return {box.get("name"): box.get("value", "") for box in forms[0].xpath(".//input[@type='hidden']")}

    def _shown(self, response: Any) -> "Visitor":
        self.log.append(response)
        self.sent = response.status_code
        while response.status_code == 303:
            self.log.append(
                response := self.client.get(response.location, headers={"User-Agent": self.agent})
            )
        self.response, self.path = response, response.request.path
        for parsed in ("html", "_tree"):
            self.__dict__.pop(parsed, None)
        return self

    @cached_property
    def html(self) -> BeautifulSoup:
        """The page, for who looks at it."""
        return BeautifulSoup(self.response.text, "lxml")

    @cached_property
    def _tree(self) -> HtmlElement:
        """The page, for who only goes through it: read in a tenth of the time."""
        return document_fromstring(self.response.text)

    @property
    def status(self) -> int:
        """Of the page that is shown."""
        return int(self.response.status_code)

    @property
    def step(self) -> str:
        """The address below the worker's: ``1/1/pair/2``."""
        return self.path.split("/", 3)[3] if self.path.startswith("/w/") else self.path

    @property
    def home(self) -> str:
        """The worker's address."""
        return "/".join(self.path.split("/")[:3]) + "/"

    @property
    def token(self) -> str:
        """The worker's token."""
        return self.path.split("/")[2]

    @property
    def page_token(self) -> str:
        """What the page's events carry."""
        return str(self._tree.body.get("data-page"))

    @property
    def text(self) -> str:
        """What stands on the page."""
        return self.html.get_text(" ", strip=True)

    def options(self, name: str) -> dict[str, str]:
        """Return value -> label of a radio group or of boxes."""
        return {
            box.get("value"): "".join(text.strip() for text in next(box.iterancestors("label")).itertext())
            for box in self._tree.xpath("//input[@name=$name]", name=name)
        }

    def checked(self, name: str) -> list[str]:
        """Return the values that are ticked."""
        return [box.get("value") for box in self._tree.xpath("//input[@name=$name][@checked]", name=name)]
