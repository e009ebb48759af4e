"""View of ``/s/STUDY``, where workers arrive from their platform."""

import logging
from contextlib import suppress
from ipaddress import ip_address
from typing import TYPE_CHECKING

from flask import Blueprint, current_app, redirect, request
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from study_app.protocol.steps import CONSENT
from study_app.services.researcher.studies import is_paused
from study_app.services.worker.entry import (
    Visitor,
    arrive,
    find_study,
    is_full,
    is_kept_out,
    known_worker,
    lacks_key,
)
from study_app.store.database import is_nearly_full, transaction
from study_app.store.study_cache import CachedStudy
from study_app.store.submissions import other_of_submission
from study_app.study.id_list import lets_in
from study_app.study.platforms import (
    frame_hosts,
    is_phone,
    is_preview,
    platform_of,
    submit_host,
    visit_parameters,
    worker_id,
)
from study_app.study.signed_ids import InvalidTokenError, signed_parameters
from study_app.web.blueprints.step_views import to_step
from study_app.web.pages.pages import PreviewPage
from study_app.web.serving import message_response, note_worker, reference, relax_headers, render_page, server
from study_app.web.show.step_pages import consent_paragraphs, kept_out_page

if TYPE_CHECKING:
    from study_app.web.tries import Tries

STRANGERS = "prefcal_strangers"
MAX_STRANGERS = 20
"""Most people from one address whom lists refuse within a minute; then nobody new comes in from there until it is over."""
LOGGER = logging.getLogger("prefcal.door")
blueprint = Blueprint("entry", __name__)


@blueprint.get("/s/<study>")
def enter(study: str) -> Response:
    """Admit a worker, or show why not.

    A returning worker is led to the current step.
    """
    app = server()
    with transaction(app.database, write=False) as session:
        plan = find_study(session, app.plans, study)
        if plan is None:
            return message_response("no_study", status=404)
        relax_headers(frame_hosts=frame_hosts(plan.entry))
        platform = platform_of(plan.entry)
        if is_preview(platform, request.args):
            return _preview(plan)
        try:
            signed = signed_parameters(plan.entry, request.args, host=request.host, now=app.now())
        except InvalidTokenError as error:
            LOGGER.warning("request %s: not let in: %s", reference(), error)
            return message_response("not_signed", status=403, language=plan.language)
        given = worker_id(platform, signed)
        if given is None:
            return message_response("no_id", status=400, language=plan.language)
        if platform.takes_form and submit_host(plan.entry, request.args) is None:
            return message_response("bad_host", status=400, language=plan.language)
        visitor = Visitor(platform=platform.name, worker=given, parameters=visit_parameters(platform, signed))
        refusal = _refusal(session, plan, visitor)
        other = None if refusal else _other_id(session, plan, visitor)
    return refusal or _let_in(plan, visitor, other)


def _preview(plan: CachedStudy) -> Response:
    """Show the work before it is accepted; nothing is stored and no slot is held."""
    page = PreviewPage(
        language=plan.language,
        title=plan.entry.title,
        paragraphs=consent_paragraphs(plan.consent),
    )
    return render_page("preview", page)


def _refusal(session: Session, plan: CachedStudy, visitor: Visitor) -> Response | None:
    """Return the page that refuses a visitor, None for one who can come in.

    The check comes before any question.
    """
    known = known_worker(session, plan, visitor)
    if (known is None or known.consented_at is None) and is_paused(session, plan.id):
        key, status = "paused", 503
    elif known is not None:
        return None
    elif lacks_key(session, plan):
        key, status = "paused", 503
    elif _tries_too_often(plan):
        key, status = "too_often", 429
    elif not lets_in(plan.entry, visitor.worker):
        _count_stranger("not on the list of ids")
        key, status = "not_invited", 403
    elif is_kept_out(session, plan, visitor.worker):
        _count_stranger("kept out by the study file")
        return _kept_out(plan, visitor)
    elif not _fits_device(plan):
        key, status = f"device_{plan.entry.device}", 403
    elif is_nearly_full(server().database):
        key, status = "no_room", 503
    elif is_full(session, plan, now=server().now()):
        key, status = "full", 409
    else:
        return None
    text = platform_of(plan.entry).full_text if key == "full" else None
    return message_response(key, status=status, language=plan.language, text=text)


def _tries_too_often(plan: CachedStudy) -> bool:
    """Return whether too many were refused by a list who came from this address: then nobody new from there learns more.

    Behind a proxy on this machine every visitor has its address; there the proxy limits the entrance.
    """
    if plan.entry.ids is None and plan.entry.keep_out is None:
        return False
    strangers: Tries = current_app.extensions[STRANGERS]
    address = request.remote_addr or ""
    return not _is_of_this_machine(address) and strangers.has_enough(address, server().now())


def _count_stranger(reason: str) -> None:
    """Count somebody who was refused by a list, and log it without any id."""
    strangers: Tries = current_app.extensions[STRANGERS]
    strangers.add(request.remote_addr or "", server().now())
    LOGGER.warning("request %s: not let in: %s", reference(), reason)


def _is_of_this_machine(address: str) -> bool:
    with suppress(ValueError):
        return ip_address(address).is_loopback
    return True


def _kept_out(plan: CachedStudy, visitor: Visitor) -> Response:
    """Say why somebody is kept out, and lead back; nothing is stored of the visit."""
    page = kept_out_page(plan.entry, worker=visitor.worker, parameters=visitor.parameters)
    if page.back is not None:
        relax_headers(form_host=page.back.host)
    return render_page("message", page, status=403)


def _other_id(session: Session, plan: CachedStudy, visitor: Visitor) -> str | None:
    """Return the worker who came under the visitor's submission with another id.

    It returns None where there is no such worker.
    """
    platform = platform_of(plan.entry)
    submission = visitor.parameters.get(platform.submission_parameter or "")
    return other_of_submission(session, plan.id, platform, worker=visitor.worker, submission=submission)


def _let_in(plan: CachedStudy, visitor: Visitor, other: str | None) -> Response:
    """Admit a visitor, and log a shared submission with ``other``.

    They are admitted all the same: the first arrival may be the one with the made-up id, and only the
    platform's list shows whose submission it is. Payment goes by that list.
    """
    app = server()
    with transaction(app.database, write=True) as session:
        arrived = arrive(session, plan, visitor, now=app.now(), new_token=app.new_token)
    note_worker(arrived.pseudonym)
    if other is not None:
        LOGGER.warning("request %s: %s came under a submission of %s", reference(), arrived.pseudonym, other)
    token = app.signer.worker_token(arrived.worker_id)
    if arrived.is_new:
        return to_step(token, CONSENT)
    reminded = request.args.get("via") == "reminder"
    via = "?via=reminder" if reminded else "?via=invitation" if arrived.is_invited else ""
    return redirect(f"/w/{token}/{via}", code=303)


def _fits_device(plan: CachedStudy) -> bool:
    if plan.entry.device == "any":
        return True
    hint = request.headers.get("Sec-CH-UA-Mobile")
    return is_phone(request.headers.get("User-Agent", ""), hint) == (plan.entry.device == "phone")
