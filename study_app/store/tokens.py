"""Signed tokens of workers, pages and console viewers, and random names.

A worker's token is the worker's signed number; it stands in every address and is all that a browser holds. A
page token says which page was served to whom and when; it comes back with the page's form and with its
events.
"""

import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from random import Random
from threading import Lock
from typing import Any, TypeAlias

from itsdangerous import BadSignature, URLSafeSerializer

from study_app.store.models import EPOCH, HOUR_MS, MILLISECOND

NewToken: TypeAlias = Callable[[int], str]
"""Callable that returns a fresh random name of a length."""

Now: TypeAlias = Callable[[], datetime]
"""Callable that returns the time, aware and in UTC."""

LETTERS = "23456789abcdefghjkmnpqrstuvwxyz"
"""Letters of names, without those easily confused when read or copied."""


MAX_KNOWN_TOKENS = 100_000
"""Most valid tokens remembered."""

MAX_SERVED_PAGES = 4_096
"""Most served pages whose tokens are remembered.

Forms and events mostly come within minutes.
"""


class BadTokenError(ValueError):
    """Token that this server did not sign, or signed for something else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageToken:
    """Page that was served, as its token describes it.

    Attributes
    ----------
    worker : int
        Row of the worker who got it.
    key : str
        Name of this page load.
    step : str
        The step's address: ``1/2/pair/3``.
    showing : int or None
        The showing of a pair page.
    served_at : datetime
        By the server's clock.
    version : int
        Of the study whose texts it shows; 0 where an earlier prefcal served it.
    """

    worker: int
    key: str
    step: str
    showing: int | None
    served_at: datetime
    version: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsoleWatcher:
    """Viewer of a study's console who signed in while nothing could be written.

    ``key`` is None for the key of the installation.
    """

    study: int
    key: int | None
    began_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyBefore:
    """Former signing key, with the time until which its signatures are valid."""

    key: str
    until: datetime


class Signer:
    """Signer and reader of tokens with the installation's key.

    Parameters
    ----------
    key : str
        Key that signs.
    before : KeyBefore, optional
        Former key; its signatures are valid until its time is over.
    now : callable
        Clock that decides about that.
    """

    def __init__(self, key: str, *, before: KeyBefore | None = None, now: Now | None = None) -> None:
        self._workers, self._pages, self._watchers = _serializers(key)
        self._before = None if before is None else _serializers(before.key)
        self._until = None if before is None else before.until
        self._now = now or utc_now
        self._known: dict[str, int] = {}
        self._served: dict[str, PageToken] = {}
        self._lock = Lock()

    def worker_token(self, worker: int) -> str:
        """Return the token that carries a worker through the study."""
        return _text(self._workers.dumps(worker))

    def worker(self, token: str) -> int:
        """Return the worker of a token; raises `BadTokenError`.

        Valid tokens are verified once, since they come with every request.
        """
        worker = self._known.get(token)
        if worker is None:
            worker = int(self._read(token, place=0))
            if len(self._known) < MAX_KNOWN_TOKENS and token == self.worker_token(
                worker
            ):  # not every spelling that reads alike
                self._known[token] = worker
        return worker

    def renewed(self, token: str) -> str | None:
        """Return a worker's token signed anew, None unless the former key signed it."""
        if self._before is None or token in self._known:
            return None
        try:
            new = self.worker_token(self.worker(token))
        except BadTokenError:
            return None
        return None if new == token else new

    def page_token(self, page: PageToken) -> str:
        """Return the token of a served page."""
        served_ms = (page.served_at - EPOCH) // MILLISECOND
        token = _text(
            self._pages.dumps(
                {
                    "w": page.worker,
                    "k": page.key,
                    "s": page.step,
                    "h": page.showing,
                    "t": served_ms,
                    "v": page.version,
                }
            )
        )
        with self._lock:
            if len(self._served) >= MAX_SERVED_PAGES:
                del self._served[next(iter(self._served))]
            self._served[token] = replace(page, served_at=EPOCH + served_ms * MILLISECOND)
        return token

    def page(self, token: str) -> PageToken:
        """Return the page of a token; raises `BadTokenError`.

        Tokens that this server has just signed are not verified again.
        """
        served = self._served.get(token)
        if served is not None:
            return served
        claims = self._read(token, place=1)
        return PageToken(
            worker=claims["w"],
            key=claims["k"],
            step=claims["s"],
            showing=claims["h"],
            served_at=EPOCH + claims["t"] * MILLISECOND,
            version=claims.get("v", 0),
        )

    def watcher_token(self, watcher: ConsoleWatcher) -> str:
        """Return the token of a sign-in that is in no table."""
        began_ms = (watcher.began_at - EPOCH) // MILLISECOND
        return _text(self._watchers.dumps({"s": watcher.study, "k": watcher.key, "t": began_ms}))

    def watcher(self, token: str) -> ConsoleWatcher | None:
        """Return the viewer of a token, None unless this very key signed it."""
        try:
            claims = self._watchers.loads(token)
        except BadSignature:
            return None
        began_at = EPOCH + claims["t"] * MILLISECOND
        return ConsoleWatcher(study=claims["s"], key=claims["k"], began_at=began_at)

    def _read(self, token: str, *, place: int) -> Any:
        """Return the content of a token signed by this key, or by a valid former one."""
        try:
            return (self._workers, self._pages)[place].loads(token)
        except BadSignature as error:
            if self._before is None or self._until is None or self._now() >= self._until:
                raise BadTokenError from error
        try:
            return self._before[place].loads(token)
        except BadSignature as error:
            raise BadTokenError from error


def _serializers(key: str) -> tuple[URLSafeSerializer, URLSafeSerializer, URLSafeSerializer]:
    """Return a key's signers of workers, pages and console viewers."""
    sha256 = {"digest_method": hashlib.sha256}
    workers, pages, watchers = (
        URLSafeSerializer(key, salt=salt, signer_kwargs=sha256) for salt in ("worker", "page", "watcher")
    )
    return workers, pages, watchers


def _text(signed: str | bytes) -> str:
    return signed if isinstance(signed, str) else signed.decode()


def secret_token(length: int) -> str:
    """Return an unguessable name.

    It draws all letters at once, since each call for randomness is a system call.
    """
    number = secrets.randbelow(len(LETTERS) ** length)
    letters = []
    for _ in range(length):
        number, index = divmod(number, len(LETTERS))
        letters.append(LETTERS[index])
    return "".join(letters)


def seeded_tokens(seed: int | str) -> NewToken:
    """Return a source of the same names for the same seed; for rehearsals only."""
    rng, lock = Random(seed), Lock()

    def token(length: int) -> str:
        with lock:
            return "".join(rng.choices(LETTERS, k=length))

    return token


def time_shift(secret: str) -> int:
    """Return the time shift of a worker in exports, in milliseconds below an hour.

    It is drawn from a secret of the worker that no export holds, so that a simulation with a seed gives the
    same tables again.
    """
    return int(hashlib.sha256(f"times {secret}".encode()).hexdigest(), 16) % HOUR_MS


def utc_now() -> datetime:
    """Return the time, aware and in UTC."""
    return datetime.now(UTC)
