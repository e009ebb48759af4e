"""Studies on Prolific: drafted from a study file, published, paused, and given more places.

A draft costs nothing and is seen by nobody. Its label there is unique, so that a draft whose answer was lost is found again. What a
published study does is read before it is changed and after.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

from metrics.errors import PrefcalError, input_fault, pluralise
from study_app.estimate.content import StudyContent
from study_app.estimate.estimate import estimate
from study_app.prolific.answers import RemoteStudy
from study_app.prolific.api import LostAnswerError, ProlificApi
from study_app.services.researcher.orders import remote_studies
from study_app.store.database import transaction
from study_app.store.models import LoadedStudy
from study_app.store.platform_models import ProlificStudy
from study_app.store.tokens import secret_token
from study_app.study.entries import StudyEntry
from study_app.study.id_list import listed_names, names_kept_out
from study_app.study.platforms import platform_of

LABEL_LETTERS = 8
REVIEW = {"action": "MANUALLY_REVIEW"}
"""What each code does: nothing by itself."""
DEVICES = {"any": [], "phone": ["mobile", "tablet"], "desktop": ["desktop"]}
CODE_TYPES = {
    "screened_out": "SCREENED_OUT",
    "failed_checks": "FAILED_ATTENTION_CHECK",
    "partial": "OTHER",
}
ACTIVE, PAUSED, UNPUBLISHED = "ACTIVE", "PAUSED", "UNPUBLISHED"
PUBLISHED = frozenset({ACTIVE, "PUBLISHING", "SCHEDULED"})
"""States of a study that takes people, or soon will."""


def draft_body(
    content: StudyContent, *, base: str, places: int | None, minutes: int | None, project: str | None
) -> Mapping[str, Any]:
    """Return what Prolific is told of a study.

    Raises
    ------
    InputError
        If the study file does not say what a study on Prolific needs: platform, reward, completion code, places.
    """
    entry, path = content.file.entry, content.file.path
    if entry.platform != "prolific":
        raise input_fault(f"platform is {entry.platform}", path=path, cure="write platform: prolific")
    code = entry.visit_code or entry.completion_code
    if code is None:
        raise input_fault(
            "no completion_code", path=path, cure="write one, such as completion_code: C1A2B3C4"
        )
    if not entry.reward:
        raise input_fault("no reward", path=path, cure="write what a participant gets, such as reward: 3.50")
    if not base.startswith("https://"):
        raise input_fault(f"not an address with https: {base}", cure="write --base https://HOST")
    figures = estimate(content)
    places = places or figures.workers
    if not places:
        raise input_fault("nothing limits the workers", path=path, cure="give --places N")
    long = max(1, math.ceil((figures.seconds.low + figures.seconds.high) / 120))
    filters = []
    if isinstance(entry.ids, str):
        names = listed_names(content.file, entry.ids)
        filters = [{"filter_id": "custom_allowlist", "selected_values": names}]
    if out := names_kept_out(content.file):
        filters.append({"filter_id": "custom_blocklist", "selected_values": out})
    return {
        "name": entry.title,
        "description": "".join(
            f"<p>{escape(part, quote=False)}</p>" for part in entry.consent.split("\n\n") if part.strip()
        ),
        "external_study_url": f"{base.rstrip('/')}/s/{entry.study}?{platform_of(entry).entrance_query}",
        "prolific_id_option": "url_parameters",
        "completion_codes": _codes(entry, code),
        "total_available_places": places,
        "estimated_completion_time": minutes or long,
        "reward": round(100 * entry.reward),
        "device_compatibility": DEVICES[entry.device],
        "peripheral_requirements": [],
        "filters": filters,
        "submissions_config": {"max_submissions_per_participant": 1},
        **({"is_external_study_url_secure": True} if entry.signing_keys else {}),
        **({"project": project} if project else {}),
    }


def _codes(entry: StudyEntry, code: str) -> list[dict[str, Any]]:
    """Return the codes of a study there, each of which waits for a person."""
    ends = {end: getattr(entry.codes, end) for end in CODE_TYPES}
    return [{"code": code, "code_type": "COMPLETED", "actions": [REVIEW]}] + [
        {"code": given, "code_type": CODE_TYPES[end], "actions": [REVIEW]}
        for end, given in ends.items()
        if given is not None and given != code
    ]


@dataclass(frozen=True, kw_only=True)
class Draft:
    """Draft there; ``was_there`` if it was made by an earlier command whose answer was lost."""

    remote: RemoteStudy
    was_there: bool


def make_draft(api: ProlificApi, body: Mapping[str, Any]) -> Draft:
    """Make a draft on Prolific, or find the one whose answer was lost."""
    with transaction(api.database, write=True) as session:
        name = session.get_one(LoadedStudy, api.study_id).name
        begun = [row for row in remote_studies(session, api.study_id) if row.remote is None]
        row = begun[-1] if begun else None
        was_begun = row is not None
        if row is None:
            label = f"{name} {secret_token(LABEL_LETTERS)}"
            row = ProlificStudy(study_id=api.study_id, label=label, made_at=api.now())
            session.add(row)
            session.flush()
        number, label = row.id, row.label
    known = [study for study in api.studies() if study.internal_name == label] if was_begun else []
    remote = known[0] if known else api.create_study({**body, "internal_name": label})
    with transaction(api.database, write=True) as session:
        session.get_one(ProlificStudy, number).remote = remote.id
    return Draft(remote=remote, was_there=bool(known))


def chosen_remote(api: ProlificApi, named: str | None) -> str:
    """Return the study on Prolific that a command is about.

    Raises
    ------
    InputError
        If there is none, or several and none is named.
    """
    with transaction(api.database, write=False) as session:
        remotes = [row.remote for row in remote_studies(session, api.study_id) if row.remote is not None]
    if named is not None and named in remotes:
        return named
    if named is None and len(remotes) == 1:
        return remotes[0]
    if not remotes:
        raise input_fault(
            "no study on Prolific is known to send workers here",
            cure="make one with prefcal prolific draft, or add one with prefcal prolific sync STUDY --prolific-study ID",
        )
    raise input_fault(
        f"{pluralise(len(remotes), 'study', 'studies')} on Prolific send workers here, and {named or 'none'} is named",
        cure=f"give --prolific-study, one of {', '.join(remotes)}",
    )


def cost_words(api: ProlificApi, entry: StudyEntry, remote: RemoteStudy, places: int) -> str:
    """Return the price of a study there with fees and tax.

    Raises
    ------
    InputError
        If it pays in another currency or another reward than the study file says.
    """
    currency, reward = api.currency(remote.id), round(remote.reward or 0)
    if currency != entry.currency:
        raise input_fault(
            f"the account pays in {currency}, and the study file says {entry.currency}",
            cure=f"write currency: {currency} and the reward in it, and load the study again",
        )
    if reward != round(100 * (entry.reward or 0)):
        raise input_fault(
            f"study {remote.id} pays {reward / 100:.2f} {currency}, and the study file says {entry.reward or 0:.2f}",
            cure="make the two alike",
        )
    total = api.whole_cost(reward, places)
    return f"{pluralise(places, 'place')} at {reward / 100:.2f} {currency}: {total / 100:,.2f} {currency} with fees and tax"


def transition(api: ProlificApi, study: str, action: str, ends_in: frozenset[str]) -> str:
    """Make a step of a study, and return its state as it is read afterwards.

    A step whose answer is lost is looked for and not made again.

    Raises
    ------
    PrefcalError
        If Prolific refuses the step, or it is not known to have been made.
    """
    lost = ""
    try:
        api.transition(study, action)
    except LostAnswerError as error:
        lost = str(error)
    state = api.study(study).status.upper()
    if lost and state not in ends_in:
        raise PrefcalError(
            f"{lost}; the study is {state.lower()} now: look there before you run the command again"
        )
    return state


def set_places(api: ProlificApi, study: RemoteStudy, places: int) -> float | None:
    """Set how many people a study there takes in all; return what is read afterwards.

    Raises
    ------
    InputError
        If it is fewer than there are, which Prolific does not allow.
    """
    if study.total_available_places is not None and places < study.total_available_places:
        raise input_fault(
            f"study {study.id} has {study.total_available_places:.0f} places, and places can only be added",
            cure="give a larger number, or stop the study there",
        )
    api.set_places(study.id, places)
    return api.study(study.id).total_available_places
