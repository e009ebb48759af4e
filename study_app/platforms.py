"""Platforms that send workers, as data: which parameter is the worker's id, and where workers return to."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote

MAX_PARAMETER_LENGTH = 255
PHONE_WORDS = re.compile(r"Mobi|Android|iPhone|iPad|iPod", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    """One platform.

    Attributes
    ----------
    name : str
        As in the study file.
    worker_parameter : str
        Parameter of the entrance that holds the worker's id.
    other_parameters : tuple of str
        Parameters kept with each arrival.
    entrance_query : str
        What to write behind the study's address at the platform.
    return_url : str or None
        Where workers return to, with ``{code}`` for the completion code.
    """

    name: str
    worker_parameter: str
    other_parameters: tuple[str, ...]
    entrance_query: str
    return_url: str | None


PLATFORMS = {
    "generic": Platform(
        name="generic",
        worker_parameter="id",
        other_parameters=("session", "batch"),
        entrance_query="id=WORKER-ID",
        return_url=None,
    ),
    "prolific": Platform(
        name="prolific",
        worker_parameter="PROLIFIC_PID",
        other_parameters=("STUDY_ID", "SESSION_ID"),
        entrance_query="PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}",
        return_url="https://app.prolific.com/submissions/complete?cc={code}",
    ),
}


def worker_id(platform: Platform, parameters: Mapping[str, str]) -> str | None:
    """Return the worker's id at the platform; None when it is missing or cannot be one."""
    given = parameters.get(platform.worker_parameter, "").strip()
    return given if _is_plain(given) else None


def visit_parameters(platform: Platform, parameters: Mapping[str, str]) -> dict[str, str]:
    """Return what the platform says of this visit, as far as it is known and plain."""
    return {
        name: parameters[name] for name in platform.other_parameters if _is_plain(parameters.get(name, ""))
    }


def return_address(platform: Platform, template: str | None, code: str) -> str | None:
    """Return the address that takes a worker back, None when the study has none."""
    address = template or platform.return_url
    return None if address is None else address.replace("{code}", quote(code, safe=""))


def is_phone(user_agent: str, mobile_hint: str | None) -> bool:
    """Say whether a browser is on a phone or tablet, by its client hint (``?1``, ``?0``), else by its own name."""
    if mobile_hint in {"?0", "?1"}:
        return mobile_hint == "?1"
    return PHONE_WORDS.search(user_agent) is not None


def _is_plain(value: str) -> bool:
    return 0 < len(value) <= MAX_PARAMETER_LENGTH and value.isprintable()
