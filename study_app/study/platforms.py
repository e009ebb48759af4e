"""Table of platforms that send workers: parameters, ids, and ways to return."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

if TYPE_CHECKING:
    from study_app.study.entries import StudyEntry

MAX_PARAMETER_LENGTH = 255
PHONE_WORDS = re.compile(r"Mobi|Android|iPhone|iPad|iPod", re.IGNORECASE)
PLACEHOLDER = "WORKER-ID"
UNFILLED = re.compile(rf"\{{\{{|\}}\}}|\$\{{|%[A-Za-z_]+%|^{PLACEHOLDER}$")
"""Placeholder that a platform did not fill, which everybody would share as id."""

SIMULATED = "simulated-"
"""Beginning of the ids of simulated workers, where ids may be words."""

NOT_ACCEPTED = "ASSIGNMENT_ID_NOT_AVAILABLE"
SUBMIT_PATH = "/mturk/externalSubmit"


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    """Platform that sends workers.

    Attributes
    ----------
    name : str
        Name in the study file.
    worker_parameter : str
        Parameter of the entrance that holds the worker's id.
    other_parameters : tuple of str
        Parameters kept with each arrival.
    entrance_query : str
        Query to append to the study's address at the platform; empty where the platform adds it.
    return_url : str or None
        Address that workers return to, with ``{code}`` for the code; None where only the researcher knows it.
    return_form : str or None
        Form of the ``return_url`` of a study, where a study must have one.
    fixed_code : bool
        The platform compares a worker's code with one code.
    own_keys : tuple of str
        Keys of the study file that are for this platform alone.
    worker_form : str
        Regular expression of a worker's id.
    trial_id : str
        An id of that form, for a researcher who tries a study.
    simulated_ids : str
        Ids of that form for simulated workers, with ``{number}`` (from 0). What stands before it begins no real id, unless it is
        a number.
    token_parameter : str or None
        Parameter of the entrance with a token that the platform signed; None where it signs nothing.
    token_claim : str
        Claim of that token that holds the parameters of the address.
    submission_parameter : str or None
        The one of ``other_parameters`` that the platform gives to one worker only; None where it has none.
    takes_form : bool
        The code is handed in by a form that the browser posts to the platform; pages then stand in its frames.
    frame_hosts : tuple of str
        Hosts besides those of ``submit_hosts`` whose frames may show the pages.
    """

    name: str
    worker_parameter: str
    other_parameters: tuple[str, ...]
    entrance_query: str
    return_url: str | None = None
    return_form: str | None = None
    fixed_code: bool = False
    own_keys: tuple[str, ...] = ()
    worker_form: str = r"[A-Za-z0-9_-]+"
    trial_id: str = "test-1"
    simulated_ids: str = f"{SIMULATED}{{number:05d}}"
    token_parameter: str | None = None
    token_claim: str = ""
    submission_parameter: str | None = None
    takes_form: bool = False
    frame_hosts: tuple[str, ...] = ()

    @property
    def full_text(self) -> str:
        """Catalogue key of the message of a full study.

        A worker who holds a place on a platform is asked to return it.
        """
        return "full.text" if self.name == "generic" else "full.return_place"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReturnLink:
    """Way to hand in a code: an address to open, or to post ``fields`` to.

    ``host`` is that of the address to post to.
    """

    url: str
    fields: tuple[tuple[str, str], ...] = ()
    host: str | None = None


PLATFORMS = {
    "generic": Platform(
        name="generic",
        worker_parameter="id",
        other_parameters=("session", "batch"),
        entrance_query=f"id={PLACEHOLDER}",
        worker_form=r".+",
        own_keys=("id_parameter", "extra_parameters"),
    ),
    "prolific": Platform(
        name="prolific",
        worker_parameter="PROLIFIC_PID",
        other_parameters=("STUDY_ID", "SESSION_ID"),
        entrance_query="PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}",
        return_url="https://app.prolific.com/submissions/complete?cc={code}",
        fixed_code=True,
        worker_form=r"[0-9a-f]{24}",
        trial_id=f"{1:024x}",
        simulated_ids=f"{SIMULATED.encode().hex()}{{number:04x}}",
        own_keys=("signing_keys",),
        token_parameter="prolific_token",  # noqa: S106 - the name of a parameter
        token_claim="prolific",  # noqa: S106 - the name of a claim
        submission_parameter="SESSION_ID",
    ),
    "connect": Platform(
        name="connect",
        worker_parameter="participantId",
        other_parameters=("assignmentId", "projectId"),
        entrance_query="",
        fixed_code=True,
        submission_parameter="assignmentId",
    ),
    "sona": Platform(
        name="sona",
        worker_parameter="id",
        other_parameters=(),
        entrance_query="id=%SURVEY_CODE%",
        return_form="https://SCHOOL.sona-systems.com/webstudy_credit.aspx?experiment_id=…&credit_token=…&survey_code={id}",
        worker_form=r"[1-9][0-9]{1,6}",
        trial_id="12345",
        simulated_ids="1{number:06d}",
    ),
    "mturk": Platform(
        name="mturk",
        worker_parameter="workerId",
        other_parameters=("assignmentId", "hitId", "turkSubmitTo"),
        entrance_query="",
        takes_form=True,
        own_keys=("submit_hosts",),
        submission_parameter="assignmentId",
        frame_hosts=("worker.mturk.com",),
    ),
}


def platform_of(entry: "StudyEntry") -> Platform:
    """Return the platform of a study.

    The generic one has the study's own parameters.
    """
    platform = PLATFORMS[entry.platform]
    if platform.name != "generic":
        return platform
    return replace(
        platform,
        worker_parameter=entry.id_parameter,
        other_parameters=entry.extra_parameters,
        entrance_query=f"{entry.id_parameter}={PLACEHOLDER}",
    )


def worker_id(platform: Platform, parameters: Mapping[str, str]) -> str | None:
    """Return the worker's id at the platform, None for a missing or invalid one."""
    given = parameters.get(platform.worker_parameter, "").strip()
    return given if _is_plain(given) and re.fullmatch(platform.worker_form, given) else None


def simulated_id(platform: Platform, number: int) -> str:
    """Return an id of the platform's form for a simulated worker."""
    return platform.simulated_ids.format(number=number)


def is_simulated_id(name: str) -> bool:
    """Return whether an id is one of `simulated_id`; False if its form is ambiguous."""
    beginnings = (platform.simulated_ids.partition("{")[0] for platform in PLATFORMS.values())
    return any(name.startswith(words) for words in beginnings if words and not words.isdigit())


def visit_parameters(platform: Platform, parameters: Mapping[str, str]) -> dict[str, str]:
    """Return the known, plain parameters of a visit."""
    return {
        name: parameters[name] for name in platform.other_parameters if _is_plain(parameters.get(name, ""))
    }


def is_preview(platform: Platform, parameters: Mapping[str, str]) -> bool:
    """Return whether a worker previews the work before accepting it."""
    return platform.takes_form and parameters.get("assignmentId", NOT_ACCEPTED) == NOT_ACCEPTED


def submit_host(entry: "StudyEntry", parameters: Mapping[str, str]) -> str | None:
    """Return the allowed host to which a worker's code is posted.

    It is the host that the platform names if the study file allows it, or the study's first when none is
    named. Returns None for a host that is not allowed, or not by https.
    """
    named = parameters.get("turkSubmitTo", "").strip()
    if not named:
        return entry.submit_hosts[0] if entry.submit_hosts else None
    try:
        address = urlsplit(named)
    except ValueError:
        return None
    host = address.netloc.lower().removesuffix(":443")
    return host if address.scheme == "https" and host in entry.submit_hosts else None


def frame_hosts(entry: "StudyEntry") -> tuple[str, ...]:
    """Return the hosts whose frames may show the study's pages.

    It returns none for a platform that opens them outside of frames.
    """
    platform = PLATFORMS[entry.platform]
    return (*entry.submit_hosts, *platform.frame_hosts) if platform.takes_form else ()


def way_back(
    entry: "StudyEntry", end: str, code: str | None, *, worker: str | None, parameters: Mapping[str, str]
) -> ReturnLink | None:
    """Return the way in which a worker hands in a code, None without an address.

    Parameters
    ----------
    entry : "StudyEntry"
        The study.
    end : str
        complete, visit, screened_out, failed_checks or partial. An address that does not depend on the code says that the work
        is complete, so it is for the first two only.
    code : str or None
        The code, if there is one.
    worker : str or None
        The worker's id at the platform, if it is still known.
    parameters : mapping of str to str
        Parameters of the arrival that the code is for.
    """
    platform = platform_of(entry)
    if platform.takes_form:
        return _form_back(entry, code, parameters)
    finished = end in {"complete", "visit"}
    address = entry.return_url or platform.return_url
    if not finished:
        address = entry.early_return_url or (address if "{code}" in (address or "") else None)
    values = {"code": code, "id": worker}
    if address is None or any(f"{{{name}}}" in address for name, value in values.items() if value is None):
        return None
    return ReturnLink(url=_filled(address, {name: value or "" for name, value in values.items()}))


def is_phone(user_agent: str, mobile_hint: str | None) -> bool:
    """Return whether a browser is on a phone or tablet.

    Its client hint (``?1``, ``?0``) decides, else its user agent.
    """
    if mobile_hint in {"?0", "?1"}:
        return mobile_hint == "?1"
    return PHONE_WORDS.search(user_agent) is not None


def _form_back(entry: "StudyEntry", code: str | None, parameters: Mapping[str, str]) -> ReturnLink | None:
    host, assignment = submit_host(entry, parameters), parameters.get("assignmentId")
    if host is None or not assignment or code is None:
        return None
    return ReturnLink(
        url=f"https://{host}{SUBMIT_PATH}", fields=(("assignmentId", assignment), ("code", code)), host=host
    )


def _filled(address: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        address = address.replace(f"{{{name}}}", quote(value, safe=""))
    return address


def _is_plain(value: str) -> bool:
    return 0 < len(value) <= MAX_PARAMETER_LENGTH and value.isprintable() and not UNFILLED.search(value)
