"""What tests of the console do with a client that has signed in: its forms' token, and the keys that open a study."""

from typing import Any

from bs4 import BeautifulSoup
from sqlalchemy import select

from study_app.services.researcher.access import make_key
from study_app.services.researcher.studies import chosen_study
from study_app.store.console_models import AuditEntry
from study_app.store.database import transaction
from study_app.store.tokens import secret_token


def sign_in(client: Any, study: str, key: str) -> Any:
    """Open the address with a key, and send the form that it has."""
    page = client.get(f"/r/{study}?key={key}")
    if page.status_code != 200:
        return page
    fields = BeautifulSoup(page.text, "html.parser").find_all("input")
    return client.post(f"/r/{study}/sign-in", data={field["name"]: field["value"] for field in fields})


def token(client: Any, path: str = "/r/small/") -> str:
    """What the forms of this sign-in carry."""
    return str(BeautifulSoup(client.get(path).text, "html.parser").find("input", {"name": "csrf"})["value"])  # type: ignore[index]


def watcher(study: Any, *, name: str = "small") -> Any:
    """A client that has signed in with a key to watch."""
    with transaction(study.database, write=True) as session:
        row = chosen_study(session, name)
        key = make_key(session, row, role="watch", name="W", now=study.clock(), new_token=secret_token)
    return study.console(key, study=name)


def text_of(answer: Any) -> str:
    """The words of a page, with single blanks."""
    return " ".join(BeautifulSoup(answer.text, "html.parser").get_text(" ").split())


def acts(study: Any) -> list[tuple[str, str]]:
    """The audit: what was done, and its detail."""
    return [
        tuple(row) for row in study.rows(select(AuditEntry.what, AuditEntry.detail).order_by(AuditEntry.id))
    ]
