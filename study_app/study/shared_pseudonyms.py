"""Pseudonyms that several studies share, drawn from platform ids by a key.

A pseudonym is drawn at random, so that nobody can tell which platform id it is. A study whose file says ``pseudonyms: shared KEYFILE``
takes HMAC-SHA256 of platform and id with the key of KEYFILE instead: every study with the same key gives the same person the same
pseudonym. To whom does not have the key they are as random as others. Whoever has it can compute the pseudonym of any id. The key stands in
KEYFILE and in the database. An export has `fingerprint` only, which says whether two studies had the same key.
"""

import base64
import hashlib
import hmac
import os
import secrets
from dataclasses import replace
from pathlib import Path

from metrics.errors import input_fault
from metrics.file_limits import SMALL_BYTES, check_bytes
from study_app.study.file import StudyFile

KEY_BYTES = 32
"""Random bytes of a key that `new_key_file` makes; the file has two characters for each."""
MIN_KEY_CHARACTERS = 32
MIN_DIFFERENT_CHARACTERS = 12
"""Fewest different characters of a key: a key of one letter repeated is soon guessed."""
MAX_KEY_CHARACTERS = 1_000
PSEUDONYM_LETTERS = 16
"""Letters of a shared pseudonym: 80 bits, so that of a million people no two have the same one."""
_LOOKALIKES = str.maketrans("il", "89")
LINKS_STILL = (
    "the pseudonyms of this study come from a key file: whoever has it, or this database, can still compute the pseudonym of a"
    " platform id, and other studies with this key know a person by the same pseudonym"
)
"""What to say where somebody's data were deleted."""
LINKS_BY_FILE = (
    "the key is deleted here, and nobody new is let in until the study is loaded again; whoever has the key file, a backup, or another study with"
    " this key can still compute the pseudonym of a platform id: delete it there too"
)
"""What to say where the key was deleted."""


def shared_pseudonym(key: str, platform: str, worker: str) -> str:
    """Return the pseudonym of a platform's worker under a key.

    Parameters
    ----------
    key : str
        Content of the key file.
    platform : str
        Name of the platform; the same id at two platforms is two people.
    worker : str
        The worker's id there.
    """
    letters = base64.b32encode(_hmac(key, f"worker\n{platform}\n{worker}")).decode().lower()
    return letters[:PSEUDONYM_LETTERS].translate(_LOOKALIKES)


def fingerprint(key: str) -> str:
    """Return 16 hexadecimal digits that are the same for the same key only, and do not tell the key."""
    return _hmac(key, "which key").hex()[:16]


def new_key_file(path: Path) -> None:
    """Write a new key into a file that only its owner can read.

    Raises
    ------
    InputError
        If the file exists, or cannot be written.
    """
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise input_fault(
            "this file exists, and a key in it would be lost", path=path, cure="name a new file"
        ) from None
    except OSError as error:
        raise input_fault(
            f"cannot be written ({error.strerror})", path=path, cure="name a file in a folder that is there"
        ) from error
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        stream.write(f"{secrets.token_hex(KEY_BYTES)}\n")


def with_pseudonym_key(file: StudyFile) -> StudyFile:
    """Return a study file with the key of its pseudonyms, and the key's fingerprint instead of the file's name.

    Raises
    ------
    InputError
        If the key file cannot be read, or has no key. No fault has any part of its content.
    """
    named = file.entry.pseudonyms
    if not isinstance(named, str):
        return file
    name = named.partition(" ")[2].strip()
    path = file.path.parent / name
    try:
        check_bytes(path, path.stat().st_size, most=SMALL_BYTES)
        key = path.read_text(encoding="utf-8-sig").strip()
    except (OSError, ValueError):
        raise file.fault(
            "pseudonyms",
            f"pseudonyms: {name}: cannot be read",
            "name the key file of the other waves, relative to the study file; only the first needs a new one (prefcal study shared-key)",
        ) from None
    problem = _problem(key)
    if problem:
        raise file.fault(
            "pseudonyms",
            f"pseudonyms: {name}: {problem}",
            f"write one line of at least {MIN_KEY_CHARACTERS} letters and digits drawn at random, and nothing else, into the key file;"
            " prefcal study shared-key makes such a file",
        )
    entry = file.entry.model_copy(update={"pseudonyms": (fingerprint(key),)})
    return replace(file, entry=entry, pseudonym_key=key)


def _problem(key: str) -> str | None:
    """Return why a text is no key, or None; the reason has no part of the text."""
    if len(key.splitlines()) > 1 or any(not letter.isprintable() or letter.isspace() for letter in key):
        return "this is no key, but a text with blanks or of several lines"
    if len(key) < MIN_KEY_CHARACTERS:
        return f"the key has {len(key)} characters, fewer than {MIN_KEY_CHARACTERS}"
    if len(key) > MAX_KEY_CHARACTERS:
        return f"the key has {len(key):,} characters, more than {MAX_KEY_CHARACTERS:,}"
    if len(set(key)) < MIN_DIFFERENT_CHARACTERS:
        return f"the key has {len(set(key))} different characters, fewer than {MIN_DIFFERENT_CHARACTERS}, and could be guessed"
    return None


def _hmac(key: str, message: str) -> bytes:
    return hmac.digest(key.encode(), f"prefcal pseudonyms\n{message}".encode(), hashlib.sha256)
