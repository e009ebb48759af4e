"""The study's files beside what is loaded: differences, texts to accept, and earlier loads.

The files are read on the machine of the server, from where they were loaded. Nothing but a load changes what workers see.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from flask import Blueprint, Response, g, request
from sqlalchemy import select

from metrics.errors import Fault, InputError, format_faults
from study_app.store.database import transaction
from study_app.store.models import LoadedStudy
from study_app.store.task_models import StudyLoad
from study_app.web.console.auth import (
    ConsoleRequest,
    RefusedAction,
    authenticate,
    manager_required,
    viewer_required,
)
from study_app.web.console.layout import page
from study_app.web.serving import server

if TYPE_CHECKING:
    from study_app.estimate.content import StudyContent
    from study_app.services.researcher.differences import Change
    from study_app.services.researcher.load import LoadPlan

blueprint = Blueprint("files", __name__)
WORDS = {
    "refused": "Refused: answers before and after could not be analysed together",
    "extends": "Added",
    "allowed": "Allowed: no answer is touched",
}
"""Headings of the changes that are no texts, in their order on the page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileComparison:
    """Differences of the study's files from what is loaded.

    Attributes
    ----------
    texts : mapping of str to sequence of Change
        Changed texts by TASK/TOPIC.
    groups : mapping of str to sequence of Change
        Other changes by the heading that says what they do.
    faults : sequence of str
        What forbids to load them, but for texts that are not accepted yet.
    seen : str
        Digest of the differences: they are loaded only as they were looked at.
    """

    texts: Mapping[str, "Sequence[Change]"]
    groups: Mapping[str, "Sequence[Change]"]
    faults: Sequence[str]
    seen: str


@blueprint.get("/r/<study>/files")
@viewer_required
def files(console_request: ConsoleRequest) -> Response:
    """Show earlier loads and, on request, how the files differ from what is loaded."""
    from study_app.services.researcher.load import plan_load  # noqa: PLC0415 - slow to import, and few requests need it

    session, stored = console_request.session, console_request.stored_study
    comparison, faults = None, []
    if "compare" in request.args and console_request.may_act:
        content = _content(stored)
        if isinstance(content, InputError):
            faults = format_faults(content.faults)
        else:
            comparison = _comparison(plan_load(session, stored, content))
    loads = session.scalars(
        select(StudyLoad).where(StudyLoad.study_id == stored.id).order_by(StudyLoad.version.desc())
    ).all()
    return page(
        "console/files.html",
        console_request,
        status=422 if faults else 200,
        stored=stored,
        place=None if stored.file_name is None else str(Path(stored.folder) / stored.file_name),
        comparison=comparison,
        faults=faults,
        loads=loads,
    )


@blueprint.post("/r/<study>/files/load")
def post_load(study: str) -> Response:
    """Load the files; they are read before the transaction that stores them, so that no worker waits for it."""
    with transaction(server().database, write=False) as session:
        console_request = authenticate(session, study)
        if not isinstance(console_request, ConsoleRequest):
            return console_request
        g.content = _content(console_request.stored_study) if console_request.may_act else None
    return _load(study)


@manager_required("load")
def _load(console_request: ConsoleRequest) -> Response:
    from study_app.services.researcher.load import load_detail, load_study, plan_load  # noqa: PLC0415 - slow to import, and few requests need it

    content = g.content
    if isinstance(content, InputError):
        raise content
    session, stored = console_request.session, console_request.stored_study
    if _seen(plan_load(session, stored, content)) != request.form.get("seen", ""):
        raise RefusedAction(
            "The files, or what is loaded, have changed since you looked. Compare them again.", 409
        )
    accepted = request.form.getlist("accept")
    report = load_study(session, content, now=console_request.now, accept_texts=accepted)
    console_request.note(load_detail(report, content))
    return console_request.back("files")


def _content(stored: LoadedStudy) -> "StudyContent | InputError":
    """Return the content of the study's files, or what is wrong with them."""
    from study_app.estimate.content import read_ready_study  # noqa: PLC0415 - as above

    if stored.file_name is None:
        cure = "load the study once more with prefcal study load FILE"
        return InputError([Fault(problem="an earlier prefcal loaded this study", cure=cure)])
    try:
        content = read_ready_study(Path(stored.folder) / stored.file_name)
    except InputError as error:
        return error
    if content.file.entry.study != stored.name:
        cure = f"write study: {stored.name}, or load the other study with prefcal study load FILE"
        problem = f"the file is of study {content.file.entry.study} now"
        return InputError([Fault(problem=problem, cure=cure, path=str(content.file.path))])
    return content


def _comparison(plan: "LoadPlan") -> FileComparison:
    texts = [change for change in plan.changes if change.text]
    others = [change for change in plan.changes if not change.text]
    waiting = {str(change) + change.why for change in texts}
    return FileComparison(
        texts={
            key: list(changes)
            for key, changes in groupby(texts, key=lambda change: change.text.key if change.text else "")
        }
        if plan.has_answers
        else {},
        groups={
            words: [change for change in others if change.verdict == verdict]
            for verdict, words in WORDS.items()
            if any(change.verdict == verdict for change in others)
        }
        if plan.has_answers
        else {"Nobody has answered anything yet, so that everything may change": others}
        if others
        else {},
        faults=[
            line for fault in plan.faults if fault.problem not in waiting for line in format_faults([fault])
        ],
        seen=_seen(plan),
    )


def _seen(plan: "LoadPlan") -> str:
    """Return the digest of all differences."""
    parts = [(str(change), change.text.new_sha256 if change.text else "") for change in plan.changes]
    return hashlib.sha256(repr(parts).encode()).hexdigest()
