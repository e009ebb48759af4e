"""Who is let in: the list of ids, and the token in which a platform signs whom it sends.

The list of ids that a study lets in, where its file names one: kept as digests, so that the list is no second store of ids.

A rehearsal (simulate, preview) knows no such list: its workers are nobody.

The token in which a platform signs whom it sends: read with the platform's public keys, where a study file names a file of them.

It is a JSON Web Token signed by RS256, made for one site (``aud``) and good for a while (``exp``); one claim of it holds the parameters
of the address. Keys come from a file and never from the network: a server that cannot reach the platform goes on. The package that checks a signature is the extra ``signed``.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from metrics.errors import FaultLog
from metrics.files import SMALL_BYTES, check_bytes
from study_app.study.entries import StudyEntry
from study_app.study.file import StudyFile
from study_app.study.platforms import Platform, platform_of, worker_id

if TYPE_CHECKING:
    from jwt import PyJWKSet

MOST_IDS = 100_000


def digest_of(study: str, name: str) -> str:
    """Return what is kept of an id; another study keeps something else of the same one."""
    return hashlib.sha256(f"{study}\n{name}".encode()).hexdigest()


def lets_in(entry: StudyEntry, name: str) -> bool:
    """Say whether a study lets an id in: everybody where no list was loaded with it."""
    return not isinstance(entry.ids, tuple) or digest_of(entry.study, name) in entry.ids


def with_ids(file: StudyFile) -> StudyFile:
    """Return a study file with the digests of the ids that it lets in, in place of the name of their file.

    Raises
    ------
    InputError
        If the file cannot be read, has no id, or a line that is none of the platform.
    """
    if not isinstance(file.entry.ids, str):
        return file
    names = _listed_names(file, file.entry.ids)
    ids = tuple(dict.fromkeys(digest_of(file.entry.study, name) for name in names))
    return replace(file, entry=file.entry.model_copy(update={"ids": ids}))


def _listed_names(file: StudyFile, named: str) -> list[str]:
    path = file.path.parent / named
    log, platform = FaultLog(file.path), platform_of(file.entry)
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, ValueError):
        cure = "name a text file in UTF-8 with an id on each line; its path is relative to the study file"
        log.add(f"ids: {named} cannot be read", line=file.line("ids"), cure=cure)
        log.raise_if_any()
        raise
    log = FaultLog(path)
    names = [(number, line.strip()) for number, line in enumerate(lines, start=1) if line.strip()]
    for number, name in names:
        if worker_id(platform, {platform.worker_parameter: name}) is None:
            log.add(
                f"no id of platform {platform.name}", line=number, cure="write one id a line and nothing else"
            )
    if not 0 < len(names) <= MOST_IDS:
        log.add(
            f"{len(names)} ids", line=1, cure=f"list at least one and at most {MOST_IDS:,}, or leave ids: out"
        )
    log.raise_if_any()
    return [name for _, name in names]


ALGORITHM = "RS256"
LEEWAY_SECONDS = 60
"""So far may the clocks of platform and server be apart."""
LONGEST_TOKEN = 8_000


class UnsignedError(Exception):
    """An address without a token of the platform that is good here and now; says why, for the log."""


def with_keys(file: StudyFile) -> StudyFile:
    """Return a study file with the platform's public keys in place of the name of their file.

    Raises
    ------
    InputError
        If the platform signs nothing, the package that checks signatures is missing, or the file has no key for it.
    """
    named = file.entry.signing_keys
    if not isinstance(named, str):
        return file
    line, log = file.line("signing_keys"), FaultLog(file.path)
    path = file.path.parent / named
    if platform_of(file.entry).token_parameter is None:
        log.add(f"platform {file.entry.platform} signs no ids", line=line, cure="remove signing_keys")
    elif not _can_check():
        log.add(
            "signing_keys needs the package that checks signatures",
            line=line,
            cure="install it: pip install 'prefcal[signed]'",
        )
    log.raise_if_any()
    try:
        check_bytes(path, path.stat().st_size, most=SMALL_BYTES)
        keys = path.read_text(encoding="utf-8-sig")
        _key_set(keys)
    except OSError as error:
        log.add(
            f"signing_keys: {named} cannot be read ({error.strerror})",
            line=line,
            cure="name the platform's file of public keys; its path is relative to the study file",
        )
    except (ValueError, TypeError, UnsignedError):
        log.add(
            f"signing_keys: {named} has no public key for {ALGORITHM}",
            line=line,
            cure="download the platform's key set (JSON with a list keys) again",
        )
    log.raise_if_any()
    return replace(file, entry=file.entry.model_copy(update={"signing_keys": (keys,)}))


def signed_parameters(
    entry: StudyEntry, given: Mapping[str, str], *, host: str, now: datetime
) -> Mapping[str, str]:
    """Return the parameters of an arrival: those that the platform signed, where the study has its keys; else as they are.

    Parameters
    ----------
    entry : StudyEntry
        The study, as loaded.
    given : mapping of str to str
        Parameters of the address.
    host : str
        By which name the server was asked; the token must be made for it.
    now : datetime
        Instant, with time zone.

    Raises
    ------
    UnsignedError
        If there is no token, or one that is not the platform's, too old, for another site, or about other ids than the address names.
    """
    if not isinstance(entry.signing_keys, tuple):
        return given
    platform = platform_of(entry)
    claims = _claims(entry.signing_keys[0], given.get(platform.token_parameter or "", ""))
    _check_time(claims, now)
    _check_host(claims, host)
    return {**given, **_signed_names(platform, claims, given)}


def _claims(keys: str, token: str) -> Mapping[str, Any]:
    """Return what a token says, if one of the keys signed it."""
    import jwt  # noqa: PLC0415 - the extra; a server of unsigned ids does without

    if not token or len(token) > LONGEST_TOKEN:
        raise UnsignedError("no signed token")
    try:
        named = jwt.get_unverified_header(token).get("kid")
        candidates = [key for key in _key_set(keys).keys if key.key_id == named]
        if not candidates:
            raise UnsignedError(
                "signed with a key that the study does not have: load the study with the platform's keys of today"
            )
        options: Any = {"verify_exp": False, "verify_nbf": False, "verify_iat": False, "verify_aud": False}
        claims: Mapping[str, Any] = jwt.decode(token, candidates[0], algorithms=[ALGORITHM], options=options)
    except jwt.PyJWTError as error:
        raise UnsignedError("not signed by the platform") from error
    return claims


def _check_time(claims: Mapping[str, Any], now: datetime) -> None:
    """Compare with the server's own clock, which on a rehearsal is not the machine's."""
    until, since = claims.get("exp"), claims.get("nbf", 0)
    if not isinstance(until, int | float) or not isinstance(since, int | float):
        raise UnsignedError("a token without an end")
    if not since - LEEWAY_SECONDS <= now.timestamp() <= until + LEEWAY_SECONDS:
        raise UnsignedError("a token whose time is over")


def _check_host(claims: Mapping[str, Any], host: str) -> None:
    named = claims.get("aud")
    sites = named if isinstance(named, list) else [named]
    if host.lower() not in {_host(site) for site in sites if isinstance(site, str)}:
        raise UnsignedError("a token for another site")


def _host(site: str) -> str:
    """Return the host of an address, or of a bare name."""
    try:
        return urlsplit(site if "//" in site else f"//{site}").netloc.lower()
    except ValueError:
        return ""


def _signed_names(platform: Platform, claims: Mapping[str, Any], given: Mapping[str, str]) -> dict[str, str]:
    """Return what the platform signed of the parameters that it is known by."""
    signed = claims.get(platform.token_claim)
    wanted = (platform.worker_parameter, *platform.other_parameters)
    said = signed if isinstance(signed, Mapping) else {}
    names = {name: said[name] for name in wanted if isinstance(said.get(name), str)}
    if platform.worker_parameter not in names:
        raise UnsignedError(f"a token without {platform.worker_parameter}")
    if any(given.get(name, value) != value for name, value in names.items()):
        raise UnsignedError("a token about other ids than those of the address")
    return {name: names.get(name, "") for name in wanted}


def _key_set(keys: str) -> "PyJWKSet":
    """Return the keys of a JSON Web Key Set that are for our algorithm."""
    import jwt  # noqa: PLC0415 - the extra

    try:
        listed = json.loads(keys)["keys"]
        ours = [key for key in listed if key.get("kty") == "RSA" and key.get("alg", ALGORITHM) == ALGORITHM]
        return jwt.PyJWKSet(ours)
    except (jwt.PyJWTError, AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise UnsignedError("no key set") from error


def _can_check() -> bool:
    try:
        import jwt  # noqa: F401, PLC0415 - the extra
        from cryptography.hazmat.primitives.asymmetric import rsa  # noqa: F401, PLC0415 - what jwt checks RS256 with
    except ImportError:
        return False
    return True
