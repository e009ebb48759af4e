"""The study that a command is about, its pause, and the server's keys."""

from datetime import datetime

from sqlalchemy import bindparam, delete, select
from sqlalchemy.orm import Session

from metrics.errors import closest_name, input_fault, join_names
from study_app.store.models import LoadedStudy, Setting
from study_app.store.tokens import KeyBefore, NewToken


def chosen_study(session: Session, name: str | None) -> LoadedStudy:
    """Return the study of that name, or the only one when no name is given.

    Raises
    ------
    InputError
        If there is none, or several and no name.
    """
    studies = {study.name: study for study in session.scalars(select(LoadedStudy).order_by(LoadedStudy.name))}
    if name in studies:
        return studies[name]
    if not studies:
        raise input_fault("no study is loaded", cure="load one: prefcal study load FILE")
    if name is not None:
        near = closest_name(name, studies)
        cure = f"did you mean {near!r}?" if near else f"loaded: {join_names(studies)}"
        raise input_fault(f"unknown study {name!r}", cure=cure)
    if len(studies) > 1:
        raise input_fault(
            f"{len(studies)} studies are loaded", cure=f"name one with --study: {join_names(studies)}"
        )
    return next(iter(studies.values()))


_PAUSED_AT = select(LoadedStudy.paused_at).where(LoadedStudy.id == bindparam("study"))


def pause(session: Session, study: LoadedStudy, *, now: datetime) -> bool:
    """Pause a study for new workers; False when it was paused already."""
    if study.paused_at is not None:
        return False
    study.paused_at = now
    session.flush()
    return True


def resume(session: Session, study: LoadedStudy) -> bool:
    """Resume a paused study; False when it was not paused."""
    if study.paused_at is None:
        return False
    study.paused_at = None
    session.flush()
    return True


def is_paused(session: Session, study: int) -> bool:
    """Return whether a study is paused for new workers."""
    return session.connection().scalar(_PAUSED_AT, {"study": study}) is not None


SIGNING_KEY = "signing_key"
RESEARCHER_KEY = "researcher_key"
KEY_BEFORE = "signing_key_before"
BACKED_UP_AT = "backed_up_at"
KEY_LETTERS = {SIGNING_KEY: 52, RESEARCHER_KEY: 26}
"""Letters of each key: more than 128 bits each, since a letter has nearly five."""


def create_keys(session: Session, *, new_token: NewToken) -> None:
    """Make the missing keys; existing ones stay, so that addresses stay valid."""
    for name, letters in KEY_LETTERS.items():
        if session.get(Setting, name) is None:
            session.add(Setting(name=name, value=new_token(letters)))
    session.flush()


def replace_keys(session: Session, *, new_token: NewToken, keep_until: datetime | None = None) -> None:
    """Make every key anew, which invalidates what was signed with the old ones.

    With ``keep_until`` signatures of the previous key are valid until then; those of the researcher's key
    never are.
    """
    before = setting(session, SIGNING_KEY)
    if keep_until is None or before is None:
        session.execute(delete(Setting).where(Setting.name == KEY_BEFORE))
    else:
        session.merge(Setting(name=KEY_BEFORE, value=f"{keep_until.isoformat()} {before}"))
    for name, letters in KEY_LETTERS.items():
        session.merge(Setting(name=name, value=new_token(letters)))
    session.flush()


def key_before(session: Session) -> KeyBefore | None:
    """Return the signing key before this one and its end, None if there is none."""
    value = setting(session, KEY_BEFORE)
    if value is None:
        return None
    until, _, key = value.partition(" ")
    return KeyBefore(key=key, until=datetime.fromisoformat(until))


def note_backup(session: Session, *, now: datetime) -> None:
    """Store the time of the last backup."""
    session.merge(Setting(name=BACKED_UP_AT, value=now.isoformat()))


def setting(session: Session, name: str) -> str | None:
    """Return a setting, None when no study was loaded yet."""
    return session.scalar(select(Setting.value).where(Setting.name == name))
