"""A worker's browser in the tests: opens pages of Flask's test client, finds forms in their HTML and posts them."""

from typing import Any

from bs4 import BeautifulSoup
from flask.testing import FlaskClient

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
        form = self.html.select_one("main form[method=post]")
        assert form is not None, f"no form on {self.path}: {self.text[:300]}"
        return {str(box["name"]): str(box.get("value", "")) for box in form.select("input[type=hidden]")}

    def _shown(self, response: Any) -> "Visitor":
        self.log.append(response)
        self.sent = response.status_code
        while response.status_code == 303:
            self.log.append(
                response := self.client.get(response.location, headers={"User-Agent": self.agent})
            )
        self.response, self.path = response, response.request.path
        self.html = BeautifulSoup(response.text, "lxml")
        return self

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
        return str(self.html.body["data-page"])  # type: ignore[index]

    @property
    def text(self) -> str:
        """What stands on the page."""
        return self.html.get_text(" ", strip=True)

    def options(self, name: str) -> dict[str, str]:
        """Return value -> label of a radio group or of boxes."""
        return {
            str(box["value"]): box.find_parent("label").get_text(strip=True)  # type: ignore[union-attr]
            for box in self.html.select(f"input[name={name}]")
        }

    def checked(self, name: str) -> list[str]:
        """Return the values that are ticked."""
        return [str(box["value"]) for box in self.html.select(f"input[name={name}][checked]")]
