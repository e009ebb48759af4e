"""Tokens in which a platform signs the ids of the workers that it sends.

Such a token is a JSON Web Token signed by RS256, made for one site (``aud``) and good for a while (``exp``); one claim of it
holds the parameters of the address. The public keys come from a file that the study file names, never from the network: a
server that cannot reach the platform goes on. The package that checks a signature is the extra ``signed``.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from metrics.file_limits import SMALL_BYTES, check_bytes
from study_app.study.entries import StudyEntry
from study_app.study.file import StudyFile
from study_app.study.platforms import Platform, platform_of

if TYPE_CHECKING:
    from jwt import PyJWKSet

ALGORITHM = "RS256"
LEEWAY_SECONDS = 60
"""Largest difference between the clocks of platform and server."""
MAX_TOKEN_CHARACTERS = 8_000


class InvalidTokenError(Exception):
    """Address without a valid token of the platform; the message is for the log."""


def with_keys(file: StudyFile) -> StudyFile:
    """Return a study file with the platform's keys instead of their file's name.

    Raises
    ------
    InputError
        If the platform signs nothing, the package that checks signatures is missing, or the file has no key for it.
    """
    named = file.entry.signing_keys
    if not isinstance(named, str):
        return file
    fault = partial(file.fault, "signing_keys")
    path = file.path.parent / named
    if platform_of(file.entry).token_parameter is None:
        raise fault(f"platform {file.entry.platform} signs no ids", "remove signing_keys")
    if not _can_check():
        raise fault(
            "signing_keys needs the package that checks signatures",
            "install it: pip install 'prefcal[signed]'",
        )
    try:
        check_bytes(path, path.stat().st_size, most=SMALL_BYTES)
        keys = path.read_text(encoding="utf-8-sig")
        _key_set(keys)
    except OSError as error:
        raise fault(
            f"signing_keys: {named} cannot be read ({error.strerror})",
            "name the platform's file of public keys; its path is relative to the study file",
        ) from None
    except (ValueError, TypeError, InvalidTokenError):
        raise fault(
            f"signing_keys: {named} has no public key for {ALGORITHM}",
            "download the platform's key set (JSON with a list keys) again",
        ) from None
    return replace(file, entry=file.entry.model_copy(update={"signing_keys": (keys,)}))


def signed_parameters(
    entry: StudyEntry, given: Mapping[str, str], *, host: str, now: datetime
) -> Mapping[str, str]:
    """Return the signed parameters of an arrival, or all where nothing is signed.

    Parameters are signed where the study has the platform's keys.

    Parameters
    ----------
    entry : StudyEntry
        The study, as loaded.
    given : mapping of str to str
        Parameters of the address.
    host : str
        Host by which the server was asked; the token must be made for it.
    now : datetime
        Instant, with time zone.

    Raises
    ------
    InvalidTokenError
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
    """Return the content of a token that one of the keys signed."""
    import jwt  # noqa: PLC0415 - the extra; a server of unsigned ids does without

    if not token or len(token) > MAX_TOKEN_CHARACTERS:
        raise InvalidTokenError("no signed token")
    try:
        named = jwt.get_unverified_header(token).get("kid")
        candidates = [key for key in _key_set(keys).keys if key.key_id == named]
        if not candidates:
            raise InvalidTokenError(
                "signed with an unknown key: load the study with the platform's current keys"
            )
        options: Any = {"verify_exp": False, "verify_nbf": False, "verify_iat": False, "verify_aud": False}
        claims: Mapping[str, Any] = jwt.decode(token, candidates[0], algorithms=[ALGORITHM], options=options)
    except jwt.PyJWTError as error:
        raise InvalidTokenError("not signed by the platform") from error
    return claims


def _check_time(claims: Mapping[str, Any], now: datetime) -> None:
    """Raise `InvalidTokenError` if a token is not valid by the server's clock.

    In a rehearsal that clock is not the machine's.
    """
    until, since = claims.get("exp"), claims.get("nbf", 0)
    if not isinstance(until, int | float) or not isinstance(since, int | float):
        raise InvalidTokenError("token without an expiry (exp)")
    if not since - LEEWAY_SECONDS <= now.timestamp() <= until + LEEWAY_SECONDS:
        raise InvalidTokenError("token expired or not valid yet")


def _check_host(claims: Mapping[str, Any], host: str) -> None:
    named = claims.get("aud")
    sites = named if isinstance(named, list) else [named]
    if host.lower() not in {_host(site) for site in sites if isinstance(site, str)}:
        raise InvalidTokenError("token for another site")


def _host(site: str) -> str:
    """Return the host of an address, or of a bare name."""
    try:
        return urlsplit(site if "//" in site else f"//{site}").netloc.lower()
    except ValueError:
        return ""


def _signed_names(platform: Platform, claims: Mapping[str, Any], given: Mapping[str, str]) -> dict[str, str]:
    """Return the signed parameters by which the platform knows a worker."""
    signed = claims.get(platform.token_claim)
    allowed = (platform.worker_parameter, *platform.other_parameters)
    signed_names = signed if isinstance(signed, Mapping) else {}
    names = {name: signed_names[name] for name in allowed if isinstance(signed_names.get(name), str)}
    if platform.worker_parameter not in names:
        raise InvalidTokenError(f"token without {platform.worker_parameter}")
    if any(given.get(name, value) != value for name, value in names.items()):
        raise InvalidTokenError("token and address name different ids")
    return {name: names.get(name, "") for name in allowed}


def _key_set(keys: str) -> "PyJWKSet":
    """Return the keys of a JSON Web Key Set that are for `ALGORITHM`."""
    import jwt  # noqa: PLC0415 - the extra

    try:
        listed = json.loads(keys)["keys"]
        ours = [key for key in listed if key.get("kty") == "RSA" and key.get("alg", ALGORITHM) == ALGORITHM]
        return jwt.PyJWKSet(ours)
    except (jwt.PyJWTError, AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise InvalidTokenError("invalid key set") from error


def _can_check() -> bool:
    try:
        import jwt  # noqa: F401, PLC0415 - the extra
        from cryptography.hazmat.primitives.asymmetric import rsa  # noqa: F401, PLC0415 - what jwt checks RS256 with
    except ImportError:
        return False
    return True
