"""Values of the installation: the key that signs tokens and the key of the researcher's page."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from study_app.store.models import Setting
from study_app.store.tokens import NewToken

SIGNING_KEY = "signing_key"
RESEARCHER_KEY = "researcher_key"
KEY_LETTERS = {SIGNING_KEY: 52, RESEARCHER_KEY: 24}


def create_keys(session: Session, *, new_token: NewToken) -> None:
    """Make the keys that are not there yet; existing ones stay, so that addresses given out stay valid."""
    for name, letters in KEY_LETTERS.items():
        if session.get(Setting, name) is None:
            session.add(Setting(name=name, value=new_token(letters)))
    session.flush()


def replace_keys(session: Session, *, new_token: NewToken) -> None:
    """Make every key anew: whatever was signed with the old ones, or carries one, opens nothing any more."""
    for name, letters in KEY_LETTERS.items():
        session.merge(Setting(name=name, value=new_token(letters)))
    session.flush()


def setting(session: Session, name: str) -> str | None:
    """Return a setting, None when nothing was loaded yet."""
    return session.scalar(select(Setting.value).where(Setting.name == name))
