"""Who may come into a study's console: keys with a role, browsers that are signed in; and the audit of what was done there.

A key is shown once, when it is made; kept is its SHA-256, which tells nothing of 26 random letters. The key that loading a study
prints (`studies.RESEARCHER_KEY`) opens every study of the installation, with the role manage.
"""

import hashlib
import hmac
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session

from metrics.errors import input_fault
from study_app.services.researcher.studies import KEY_LETTERS, RESEARCHER_KEY, setting
from study_app.store.console_models import Act, ConsoleSession, ResearcherKey
from study_app.store.models import LoadedStudy
from study_app.store.tokens import ConsoleWatcher, NewToken

WATCH, MANAGE = "watch", "manage"
INSTALLATION = "key of the installation"
COMMAND_LINE = "command line"
STRANGER = "nobody known"
RESERVED = frozenset({INSTALLATION, COMMAND_LINE, STRANGER})
"""Names that the audit gives; no key may have one of them."""

MOST_WRONG_KEYS = 20
WRONG_KEYS_WITHIN = timedelta(hours=1)
"""So many wrong keys are lines of a study's audit within that time: strangers must not fill the disk with them."""

WRONG_KEY = "wrong key"
SESSION_LETTERS = 40
SESSION_TIME = timedelta(hours=12)
WATCHING_TIME = timedelta(hours=1)
"""So long somebody may look who signed in while nothing could be written. Such a sign-in stands in no table and cannot be ended by hand."""

FORGOTTEN_AFTER = timedelta(days=7)
"""So long is known of a session that it was one, so that its browser is told to sign in again."""

MOST_NAME_CHARS = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyHolder:
    """Who has signed in: ``id`` is the key's row, None for the key of the installation."""

    id: int | None
    name: str
    role: str


def sha256_of(secret: str) -> str:
    """Return what is kept of a key or a session's token."""
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
    if not name or len(name) > MOST_NAME_CHARS or not name.isprintable():
        raise input_fault(
            f"--name has to be 1 to {MOST_NAME_CHARS} letters",
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
    note_act(session, study.id, None, "make a key", f"{name}, {role}", now=now)
    return key


def plain_name(name: str) -> str:
    """Return a name as somebody reads it: in small letters of one form, and with single spaces."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def study_keys(session: Session, study: int | None = None) -> Sequence[ResearcherKey]:
    """Return the keys of a study, or of every study, also those that were revoked, in the order in which they were made."""
    keys = select(ResearcherKey).order_by(ResearcherKey.id)
    return session.scalars(keys if study is None else keys.where(ResearcherKey.study_id == study)).all()


def revoke_key(session: Session, number: int, *, now: datetime) -> ResearcherKey:
    """Let a key open nothing any more, nor the browsers that signed in with it.

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
    note_act(session, key.study_id, None, "revoke a key", f"{key.name}, {key.role}", now=now)
    return key


def revoke_every_key(session: Session, *, now: datetime) -> None:
    """Let no key of any study's console open anything any more, and sign every browser out."""
    session.execute(update(ResearcherKey).where(ResearcherKey.revoked_at.is_(None)).values(revoked_at=now))
    session.execute(update(ConsoleSession).where(ConsoleSession.ended_at.is_(None)).values(ended_at=now))


def holder_of(session: Session, study: int, key: str) -> KeyHolder | None:
    """Return whose key it is, None for one that does not open this study."""
    installation = setting(session, RESEARCHER_KEY)
    if installation and hmac.compare_digest(key.encode(), installation.encode()):
        return KeyHolder(id=None, name=INSTALLATION, role=MANAGE)
    known = select(ResearcherKey).where(
        ResearcherKey.study_id == study,
        ResearcherKey.sha256 == sha256_of(key),
        ResearcherKey.revoked_at.is_(None),
    )
    row = session.scalars(known).one_or_none()
    return None if row is None else KeyHolder(id=row.id, name=row.name, role=row.role)


def key_holder(session: Session, key: int | None) -> KeyHolder:
    """Return who has a key, by its row; None is the key of the installation."""
    row = None if key is None else session.get_one(ResearcherKey, key)
    if row is None:
        return KeyHolder(id=None, name=INSTALLATION, role=MANAGE)
    return KeyHolder(id=row.id, name=row.name, role=row.role)


def sign_in(session: Session, study: int, holder: KeyHolder, *, now: datetime, new_token: NewToken) -> str:
    """Begin a session; return the token that its browser holds."""
    session.execute(delete(ConsoleSession).where(ConsoleSession.began_at < now - FORGOTTEN_AFTER))
    token = new_token(SESSION_LETTERS)
    session.add(ConsoleSession(sha256=sha256_of(token), study_id=study, key_id=holder.id, began_at=now))
    note_act(session, study, holder, "sign in", "", now=now)
    return token


def sign_out(session: Session, study: int, token: str, holder: KeyHolder, *, now: datetime) -> None:
    """End a session: its token opens nothing any more, whoever has it."""
    session.execute(
        update(ConsoleSession).where(ConsoleSession.sha256 == sha256_of(token)).values(ended_at=now)
    )
    note_act(session, study, holder, "sign out", "", now=now)


@dataclass(frozen=True, slots=True, kw_only=True)
class SignIn:
    """A sign-in that is still good: ``name`` is that of its key, ``is_own`` whether the browser that asks has it."""

    id: int
    name: str
    role: str
    began_at: datetime
    is_own: bool

    @property
    def ends_at(self) -> datetime:
        """When it ends by itself."""
        return self.began_at + SESSION_TIME


def sign_ins(session: Session, study: int, token: str, *, now: datetime) -> list[SignIn]:
    """Return the sign-ins of a study that are good now, the newest first; ``token`` is that of the browser that asks."""
    good = (
        select(ConsoleSession, ResearcherKey)
        .outerjoin(ResearcherKey, ResearcherKey.id == ConsoleSession.key_id)
        .where(
            ConsoleSession.study_id == study,
            ConsoleSession.ended_at.is_(None),
            ConsoleSession.began_at > now - SESSION_TIME,
            ResearcherKey.revoked_at.is_(None),
        )
        .order_by(ConsoleSession.began_at.desc(), ConsoleSession.id.desc())
    )
    return [
        SignIn(
            id=row.id,
            name=INSTALLATION if key is None else key.name,
            role=MANAGE if key is None else key.role,
            began_at=row.began_at,
            is_own=row.sha256 == sha256_of(token),
        )
        for row, key in session.execute(good)
    ]


def end_sign_in(session: Session, study: int, number: int, *, now: datetime) -> SignIn | None:
    """End one sign-in of a study; return which, None where there is none of that number that is good."""
    ended = next((one for one in sign_ins(session, study, "", now=now) if one.id == number), None)
    if ended is not None:
        session.execute(update(ConsoleSession).where(ConsoleSession.id == number).values(ended_at=now))
    return ended


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownSession:
    """A session of this study's console: whose it is, and whether it is still good.

    ``watches_until`` is set where it began while nothing could be written: it may only look.
    """

    holder: KeyHolder
    is_open: bool
    watches_until: datetime | None = None


def known_session(session: Session, study: int, token: str, *, now: datetime) -> KnownSession | None:
    """Return the session of a token, None when there never was one, or of another study."""
    found = session.execute(
        select(ConsoleSession, ResearcherKey)
        .outerjoin(ResearcherKey, ResearcherKey.id == ConsoleSession.key_id)
        .where(ConsoleSession.sha256 == sha256_of(token), ConsoleSession.study_id == study)
    ).one_or_none()
    if found is None:
        return None
    row, key = found
    is_open = row.ended_at is None and now < row.began_at + SESSION_TIME
    is_good = key is None or key.revoked_at is None
    return KnownSession(holder=key_holder(session, row.key_id), is_open=is_open and is_good)


def known_watcher(session: Session, study: int, watcher: ConsoleWatcher, *, now: datetime) -> KnownSession:
    """Return the session of somebody who signed in while nothing could be written: it may look, and lasts an hour."""
    key = None if watcher.key is None else session.get(ResearcherKey, watcher.key)
    is_good = watcher.key is None or (key is not None and key.study_id == study and key.revoked_at is None)
    return KnownSession(
        holder=KeyHolder(id=watcher.key, name=INSTALLATION if key is None else key.name, role=WATCH),
        is_open=is_good and now < watcher.began_at + WATCHING_TIME,
        watches_until=watcher.began_at + WATCHING_TIME,
    )


def form_token(token: str) -> str:
    """Return what the forms of a session carry, which nobody knows who does not know the session's token (CSRF)."""
    return hmac.new(token.encode(), b"form", hashlib.sha256).hexdigest()


def note_act(
    session: Session, study: int, holder: KeyHolder | None, what: str, detail: str, *, now: datetime
) -> Act:
    """Write the next line of a study's audit; without a holder it was done on the command line.

    The study's row is locked first, so that two who act at the same time write one line after the other.
    """
    session.execute(select(LoadedStudy.id).where(LoadedStudy.id == study).with_for_update())
    newest = select(Act.number, Act.sha256).where(Act.study_id == study).order_by(Act.number.desc()).limit(1)
    number, previous = session.execute(newest).one_or_none() or (0, "")
    act = Act(
        study_id=study,
        key_id=None if holder is None else holder.id,
        who=COMMAND_LINE if holder is None else holder.name,
        at=now,
        what=what,
        number=number + 1,
        previous=previous,
    )
    session.add(act)
    describe(session, act, detail)
    return act


def describe(session: Session, act: Act, detail: str) -> None:
    """Say in the newest line of the audit what exactly was done, before its transaction ends."""
    act.detail = detail
    act.sha256 = act.digest
    session.flush()


def note_wrong_key(session: Session, study: int, *, now: datetime) -> None:
    """Write into the audit that a wrong key was tried; the last of `MOST_WRONG_KEYS` within an hour says that more may follow."""
    recent = select(func.count()).where(
        Act.study_id == study, Act.what == WRONG_KEY, Act.at > now - WRONG_KEYS_WITHIN
    )
    there = session.scalar(recent) or 0
    if there < MOST_WRONG_KEYS:
        is_last = there == MOST_WRONG_KEYS - 1
        detail = "no further wrong key is listed until this hour is over" if is_last else ""
        note_act(session, study, KeyHolder(id=None, name=STRANGER, role=""), WRONG_KEY, detail, now=now)


def acts(session: Session, study: int, *, limit: int, before: int | None = None) -> Sequence[Act]:
    """Return lines of the audit, the newest first; with ``before`` those that came before that line."""
    wanted = select(Act).where(Act.study_id == study).order_by(Act.number.desc()).limit(limit)
    return session.scalars(wanted if before is None else wanted.where(Act.number < before)).all()
