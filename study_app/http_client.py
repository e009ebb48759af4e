"""What every client of a server has alike: when to ask again, how long to wait, and what never to show."""

import ssl
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache

import httpx
from tenacity import RetryCallState, wait_random_exponential

from metrics.errors import input_fault

BUSY = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
"""Statuses that may be gone a little later."""
DOWN = frozenset({429, 503, 529})
"""Those of them that do not depend on the request."""
TRIES = 8
LONGEST_WAIT_SECONDS = 60.0
GROWING = wait_random_exponential(max=LONGEST_WAIT_SECONDS)
LONGEST_ORDERED_WAIT_SECONDS = 600.0
"""Of a ``Retry-After``; a longer one ends the command."""
SHOWN = 200
"""Characters of what a server says that a message shows."""
HIDDEN = "***"
"""Stands for a key."""


@cache
def tls() -> ssl.SSLContext:
    """Return what checks the certificates of servers; made once, since it reads all authorities."""
    return httpx.create_ssl_context()


def check_key(variable: str, key: str | None) -> None:
    """Raise `InputError` if the key in a variable of the environment cannot be sent."""
    if key is not None and not (key.isascii() and key.isprintable()):
        raise input_fault(f"{variable} has a character that no key has", cure="set it to the key alone")


def hide(text: str, key: str | None) -> str:
    """Return a text without the key."""
    return text.replace(key, HIDDEN) if key else text


def wait_as_ordered(state: RetryCallState) -> float:
    """Return how many seconds to wait: as the error's ``seconds`` say, else a random time that grows."""
    error = None if state.outcome is None else state.outcome.exception()
    ordered: float | None = getattr(error, "seconds", None)
    return GROWING(state) if ordered is None else ordered


def ordered_seconds(response: httpx.Response) -> float | None:
    """Return the seconds of a ``Retry-After``, which may be a date; None without one."""
    header = response.headers.get("Retry-After")
    if header is None:
        return None
    with suppress(ValueError):
        return max(0.0, float(header))
    with suppress(ValueError, TypeError):
        return max(0.0, (parsedate_to_datetime(header) - datetime.now(UTC)).total_seconds())
    return None


def error_words(error: Exception) -> str:
    """Return what an error of the network says, its name where it says nothing."""
    return str(error) or type(error).__name__


def in_one_line(text: object) -> str:
    """Return the beginning of what a server says, in one line."""
    return " ".join(str(text)[:SHOWN].split())
