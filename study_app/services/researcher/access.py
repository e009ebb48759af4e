"""Keys to a study's console, and the browsers that signed in with them.

A key is shown once, when it is made; stored is its SHA-256, which tells nothing of 26 random letters. The key that loading a study
prints (`studies.RESEARCHER_KEY`) opens every study of the installation, with the role manage.
"""

import hashlib
import hmac
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from metrics.errors import input_fault
from study_app.services.researcher.audit import INSTALLATION, RESERVED, KeyHolder, add_audit_entry
from study_app.services.researcher.studies import KEY_LETTERS, RESEARCHER_KEY, setting
from study_app.store.console_models import ConsoleSession, ResearcherKey
from study_app.store.models import LoadedStudy
from study_app.store.tokens import ConsoleWatcher, NewToken

WATCH, MANAGE = "watch", "manage"
SESSION_LETTERS = 40
SESSION_TIME = timedelta(hours=12)
WATCHING_TIME = timedelta(hours=1)
"""Length of a sign-in that began while nothing could be written.

Such a sign-in is in no table and cannot be ended by hand.
"""

FORGOTTEN_AFTER = timedelta(days=7)
"""Time for which an ended session is remembered.

Its browser is then asked to sign in again.
"""

MAX_NAME_CHARS = 80


def sha256_of(secret: str) -> str:
    """Return the digest that is stored of a key or of a session's token."""
    return hashlib.sha256(secret.encode()).hexdigest()


def make_key(
    session: Session, study: LoadedStudy, *, role: str, name: str, now: datetime, new_token: NewToken
) -> str:
    """Make a key for a study, and return it: it cannot be shown again.

    Raises
    ------
    InputError
        If the name is empty, too long, one that the audit itself gives, or that of another key that is good.
    """
    name = " ".join(name.split())
    if not name or len(name) > MAX_NAME_CHARS or not name.isprintable():
        raise input_fault(
            f"--name has to be 1 to {MAX_NAME_CHARS} letters",
            cure="say who will use the key: --name 'Ann, lab 2'",
        )
    if plain_name(name) in RESERVED:
        raise input_fault(
            f"the audit itself calls somebody {plain_name(name)!r}, so no key may have that name",
            cure="say who will use the key: --name 'Ann, lab 2'",
        )
    if any(key.name == name and key.revoked_at is None for key in study_keys(session, study.id)):
        raise input_fault(
            f"study {study.name} has a key named {name!r} already",
            cure="take another name, or revoke that one: prefcal key list, then prefcal key revoke NUMBER",
        )
    key = new_token(KEY_LETTERS[RESEARCHER_KEY])
    session.add(ResearcherKey(study_id=study.id, role=role, name=name, sha256=sha256_of(key), made_at=now))
    add_audit_entry(session, study.id, None, "make a key", f"{name}, {role}", now=now)
    return key


def plain_name(name: str) -> str:
    """Return a name in small letters of one form, with single spaces."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def study_keys(session: Session, study_id: int | None = None) -> Sequence[ResearcherKey]:
    """Return the keys of a study or of all studies, also revoked ones."""
    keys = select(ResearcherKey).order_by(ResearcherKey.id)
    return session.scalars(keys if study_id is None else keys.where(ResearcherKey.study_id == study_id)).all()


def revoke_key(session: Session, number: int, *, now: datetime) -> ResearcherKey:
    """Revoke a key, which signs out the browsers that signed in with it.

    Raises
    ------
    InputError
        If there is no such key, or it was revoked before.
    """
    key = session.get(ResearcherKey, number)
    if key is None:
        raise input_fault(f"there is no key {number}", cure="see their numbers: prefcal key list")
    if key.revoked_at is not None:
        raise input_fault(
            f"key {number} ({key.name}) was revoked on {key.revoked_at:%Y-%m-%d %H:%M} UTC",
            cure="nothing is to be done",
        )
    key.revoked_at = now
    add_audit_entry(session, key.study_id, None, "revoke a key", f"{key.name}, {key.role}", now=now)
    return key


def revoke_every_key(session: Session, *, now: datetime) -> None:
    """Revoke the keys of all studies, and sign every browser out."""
    session.execute(update(ResearcherKey).where(ResearcherKey.revoked_at.is_(None)).values(revoked_at=now))
    session.execute(update(ConsoleSession).where(ConsoleSession.ended_at.is_(None)).values(ended_at=now))


def holder_of(session: Session, study_id: int, key: str) -> KeyHolder | None:
    """Return the holder of a key, or None if it does not open this study."""
    installation = setting(session, RESEARCHER_KEY)
    if installation and hmac.compare_digest(key.encode(), installation.encode()):
        return _holder(None)
    known = select(ResearcherKey).where(
        ResearcherKey.study_id == study_id,
        ResearcherKey.sha256 == sha256_of(key),
        ResearcherKey.revoked_at.is_(None),
    )
    row = session.scalars(known).one_or_none()
    return None if row is None else _holder(row)


def _holder(key: ResearcherKey | None) -> KeyHolder:
    """Return the holder of a key by its row; None is the key of the installation."""
    if key is None:
        return KeyHolder(id=None, name=INSTALLATION, role=MANAGE)
    return KeyHolder(id=key.id, name=key.name, role=key.role)


@dataclass(frozen=True, slots=True, kw_only=True)
class SignIn:
    """A browser's sign-in to a study's console.

    Attributes
    ----------
    id : int or None
        Its row; None where it began while nothing could be written: it may only look, and stands in no table.
    holder : KeyHolder
        Whose key it is.
    began_at, ends_at : datetime
        ``ends_at`` is when it ends by itself.
    is_open : bool
        False once it has ended, or its key was revoked.
    """

    id: int | None
    holder: KeyHolder
    began_at: datetime
    ends_at: datetime
    is_open: bool


_SIGN_INS = select(ConsoleSession, ResearcherKey).outerjoin(
    ResearcherKey, ResearcherKey.id == ConsoleSession.key_id
)


def _stored_sign_in(row: ConsoleSession, key: ResearcherKey | None, now: datetime) -> SignIn:
    ends_at = row.began_at + SESSION_TIME
    is_good = key is None or key.revoked_at is None
    return SignIn(
        id=row.id,
        holder=_holder(key),
        began_at=row.began_at,
        ends_at=ends_at,
        is_open=is_good and row.ended_at is None and now < ends_at,
    )


def sign_in(session: Session, study_id: int, holder: KeyHolder, *, now: datetime, new_token: NewToken) -> str:
    """Begin a session; return the token that its browser stores."""
    session.execute(delete(ConsoleSession).where(ConsoleSession.began_at < now - FORGOTTEN_AFTER))
    token = new_token(SESSION_LETTERS)
    session.add(ConsoleSession(sha256=sha256_of(token), study_id=study_id, key_id=holder.id, began_at=now))
    add_audit_entry(session, study_id, holder, "sign in", "", now=now)
    return token


def sign_out(session: Session, study_id: int, token: str, holder: KeyHolder, *, now: datetime) -> None:
    """End a session; its token is void from then on."""
    session.execute(
        update(ConsoleSession).where(ConsoleSession.sha256 == sha256_of(token)).values(ended_at=now)
    )
    add_audit_entry(session, study_id, holder, "sign out", "", now=now)


def find_sign_in(session: Session, study_id: int, token: str, *, now: datetime) -> SignIn | None:
    """Return the sign-in of a token to a study, None when there never was one."""
    sign_in = session.execute(
        _SIGN_INS.where(ConsoleSession.sha256 == sha256_of(token), ConsoleSession.study_id == study_id)
    ).one_or_none()
    return None if sign_in is None else _stored_sign_in(*sign_in, now)


def watcher_sign_in(session: Session, study_id: int, watcher: ConsoleWatcher, *, now: datetime) -> SignIn:
    """Return a sign-in that began while nothing could be written: it may look."""
    key = None if watcher.key is None else session.get(ResearcherKey, watcher.key)
    is_good = watcher.key is None or (key is not None and key.study_id == study_id and key.revoked_at is None)
    ends_at = watcher.began_at + WATCHING_TIME
    return SignIn(
        id=None,
        holder=KeyHolder(id=watcher.key, name=_holder(key).name, role=WATCH),
        began_at=watcher.began_at,
        ends_at=ends_at,
        is_open=is_good and now < ends_at,
    )


def open_sign_ins(session: Session, study_id: int, *, now: datetime) -> list[SignIn]:
    """Return the stored sign-ins to a study that are open now, the newest first."""
    recent = _SIGN_INS.where(
        ConsoleSession.study_id == study_id, ConsoleSession.began_at > now - SESSION_TIME
    ).order_by(ConsoleSession.began_at.desc(), ConsoleSession.id.desc())
    sign_ins = [_stored_sign_in(row, key, now) for row, key in session.execute(recent)]
    return [known for known in sign_ins if known.is_open]


def end_sign_in(session: Session, study_id: int, number: int, *, now: datetime) -> SignIn | None:
    """End one open sign-in to a study; return it, None if there is none."""
    ended = next((known for known in open_sign_ins(session, study_id, now=now) if known.id == number), None)
    if ended is not None:
        session.execute(update(ConsoleSession).where(ConsoleSession.id == number).values(ended_at=now))
    return ended


def form_token(token: str) -> str:
    """Return the CSRF token of a session's forms."""
    return hmac.new(token.encode(), b"form", hashlib.sha256).hexdigest()
