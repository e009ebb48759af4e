"""Keys of the pseudonyms that studies share, one a study."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from study_app.store.models import Setting


def pseudonym_key(session: Session, study_id: int) -> str | None:
    """Return the key of a study's pseudonyms, None where they are random."""
    return session.scalar(select(Setting.value).where(Setting.name == _setting_name(study_id)))


def keep_pseudonym_key(session: Session, study_id: int, key: str | None) -> None:
    """Store the key of a study's pseudonyms, or take it out where they are random."""
    if key is not None:
        session.merge(Setting(name=_setting_name(study_id), value=key))
    elif (kept := session.get(Setting, _setting_name(study_id))) is not None:
        session.delete(kept)


def _setting_name(study_id: int) -> str:
    return f"pseudonym_key:{study_id}"
